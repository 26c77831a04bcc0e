"""A GPU that nobody measured: the design for a number of GPUs is complete, and its rates are not called predictions."""

import re

import pytest

from sizer import SizingRequest, load_catalog, size
from sizer.calibrate.notes import FitNote
from sizer.guide.pdf.render import guide_html
from sizer.guide.plain_text import answer_text
from sizer.present.text.verdict import verdict_text
from sizer.present.words import sample_unit
from sizer.sizing.best_design import best_design
from tests.catalog.test_new_generation import FOLDER
from tests.factories import examples

LANGUAGE = {"dnn": "llama-3-70b", "sequence_tokens": 8192}
IMAGES = {"dnn": "bert-large", "dataset": "wikipedia-bert"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog(overlay=FOLDER)


@pytest.mark.laws
@pytest.mark.parametrize("workload", [LANGUAGE, IMAGES])
def test_a_made_up_gpu_is_sized_by_its_number_and_no_rate_is_claimed(catalog, workload):
    """32 GPUs of eight a server are four servers, with racks, cables and a bill."""
    asked = {
        "workload": [{**workload, "target": {"gpus_busy": 32}}],
        "platforms": {"servers": ["zbox"], "fabrics": ["zdr"], "storage": ["local-nvme"]},
        "stated_storage": [{"storage": "local-nvme", "usable_bytes": "400 TB"}],
    }
    result = size(SizingRequest.from_dict(asked), catalog)
    design, answer = result.design, result.design.workloads[0]
    assert (design.n_servers, design.n_gpus) == (4, 32)
    assert design.plan.n_links
    assert design.plan.racks
    assert {line.item: line.quantity for line in design.bill.lines}["zbox"] == 4
    assert not answer.rate_is_predicted
    assert FitNote.GENERATION_NOT_MEASURED in {one.kind for one in answer.unmeasured}
    assert "not predicted" in verdict_text(result)
    assert "not predicted" in answer_text(result)
    # Neither the answer nor the guide prints a rate of these GPUs.
    page = re.sub(r"<[^>]+>", " ", re.sub(r"<style.*?</style>", "", guide_html(result, catalog), flags=re.S))
    unit = sample_unit(answer.dnn)
    assert "not predicted" in page
    assert not re.search(rf"[0-9]\s*{unit}", page)
    assert not re.search(rf"[0-9]\s*{unit}", answer_text(result))


def test_a_measured_generation_is_predicted():
    asked = {"workload": [{**LANGUAGE, "target": {"gpus_busy": 32}}], "platforms": {"servers": ["dgx-h200"]}}
    answer = best_design(SizingRequest.from_dict(asked), examples.catalog()).design.workloads[0]
    assert answer.rate_is_predicted
