"""A job leaves whole replicas of its model out as spares: no other number of GPUs runs its layout."""

from sizer.guide.chapters.risks import risk_table
from sizer.guide.context import GuideContext
from sizer.guide.edition import Edition
from tests.factories import examples


def test_spares_of_nvl72_are_whole_replicas():
    """576 GPUs in replicas of 4 x 16 = 64: nine of them. 16 GPUs are needed, so one replica is left out."""
    result = examples.sized("llama-405b-gb200-nvl72")
    (answer,) = result.design.workloads
    layout = answer.language.layout
    assert (layout.tensor, layout.pipeline, layout.context, layout.data) == (4, 16, 1, 9)
    table = risk_table(GuideContext(result, examples.catalog(), Edition("guide")))
    text = " ".join(str(cell.text) for row in table.rows for cell in row.cells).replace("\xa0", " ")
    assert "leave 1 of 9 replicas (64 GPUs) out of the job as spares, add one GB200 NVL72, or accept" in text
    assert "leave 16 GPUs" not in text
