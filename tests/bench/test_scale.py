"""Speed of the largest design asked for: 2,048 servers of eight GPUs. Run apart (`make bench`): a time is no test."""

from typing import Any

import pytest

from sizer import SizingRequest, project, size
from sizer.guide.pdf import render
from sizer.guide.profile import Edition
from tests.factories.examples import catalog
from tests.guide.engine import guide_pdf

SERVERS = 2_048
ASKED = SizingRequest.from_dict(
    {
        "workload": [{"dnn": "llama-3-70b", "sequence_tokens": 8192, "target": {"gpus_busy": 8 * SERVERS}}],
        "platforms": {"servers": ["dgx-h100"], "storage": ["ai400x2-turbo"], "fabrics": ["ndr"]},
        "limits": {"rack_power_w": 41_000},
    }
)


def test_design_with_all_cables(benchmark: Any) -> None:
    """Placed, cabled and powered, every cable with both ends; asked: 3 s."""

    def lay_out() -> int:
        design = project(
            ASKED, catalog(), server="dgx-h100", servers=SERVERS, storage="ai400x2-turbo", storage_nodes=64
        )
        return len(design.plan.connections)

    benchmark.extra_info["cables"] = benchmark.pedantic(lay_out, rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("part", ["answer", "guide"])
def test_answer_and_guide(benchmark: Any, part: str) -> None:
    """The sizing from the request, and the guide of the answer; asked of the guide: 30 s."""
    answer = size(ASKED, catalog())

    def make() -> object:
        render._last = None  # the page is made anew
        return size(ASKED, catalog()) if part == "answer" else guide_pdf(answer, catalog(), Edition("guide"))

    benchmark.pedantic(make, rounds=2)
