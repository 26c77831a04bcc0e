"""The customer guide names a simpler design that is enough, and how long a training takes whose target is no time."""

import re

import pytest

from sizer import SizingRequest, size
from sizer.catalog.loader import shipped_catalog
from sizer.guide.chapters import decisions, growth
from sizer.guide.context import guide_context
from sizer.guide.edition import Edition
from sizer.guide.further_answers import further_answers
from sizer.present.text.verdict import verdict_text
from tests.factories import examples

CATALOG = shipped_catalog()


def test_a_simpler_design_is_the_first_that_was_rejected() -> None:
    """300 epochs of 20,000 CT volumes of 250 MB in two days: one DGX-2 of 16 GPUs replaces a small cluster."""
    volumes = {"name": "CT", "n_samples": 20_000, "sample_bytes": 250e6, "format": "raw files"}
    work = {"dnn": "unet3d", "batch_per_gpu": 2, "epochs": 300, "dataset": volumes}
    work["target"] = {"time_to_train_s": "48 h"}
    request = SizingRequest.from_dict(
        {
            "confidence": 0.9,
            "workload": [work],
            "platforms": {"generations": ["volta"]},
            "data": {"snapshot_share": 0.3},
        }
    )
    context = guide_context(size(request, CATALOG), CATALOG, Edition("guide"))
    simplest = context.simplest
    assert simplest.allowed.simplicity.devices < simplest.described.devices
    tables = [choice.rejected for choice in decisions.content(context)["choices"] if choice.rejected is not None]
    first = [table.rows[0].cells[0].text for table in tables]
    assert simplest.allowed.design.name in first
    assert any(f"with {simplest.allowed.simplicity.devices} devices" in table.note for table in tables)


def test_the_time_of_given_tokens_is_tokens_over_the_rate() -> None:
    """100 billion tokens at the printed rate, as much longer as whole trainings took; no time is asked for."""
    result = examples.sized("gb200-nvl72")
    context = guide_context(result, CATALOG, Edition("guide"))
    assert not any("take" in text for text in further_answers(context))
    days = float(re.search(r"tokens take ([\d.]+)", verdict_text(result))[1])  # type: ignore[index]
    (answer,) = result.design.workloads
    steps_s = 100e9 / float(answer.throughput.value)
    assert days == pytest.approx(float(answer.time.whole_run.value) * steps_s / 86_400, rel=5e-3)  # three digits


def test_free_leaf_ports_take_what_their_wiring_allows() -> None:
    """Llama 3 70B: two ports a server in-band, 8 free, and its switches; the 27 leaves of the compute fabric have 24
    for one server of 8 ports; the wiring of two more takes a 28th leaf.
    """
    design = examples.sized("llama-70b-dgx-h100").design
    rows = {row.cells[0].text: row.cells[1].text.replace("\u00a0", " ") for row in growth.limits_table(design).rows}
    assert rows["Ports of the compute fabric"] == "24 leaf ports free, enough for 1 server more"
    assert rows["Ports of the in-band management"] == "8 leaf ports free, enough for 3 servers more with their switches"
