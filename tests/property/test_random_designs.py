"""Random requests over the whole catalogue, each answer held against every law that needs no second one.

``make random-designs`` draws a thousand of them; they take about four seconds of a processor each.
"""

import json
import math
import os
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, size
from sizer.base.errors import RequestError
from sizer.base.formats.json_document import json_text
from sizer.export.design_json import design_document
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.result import SizingResult
from tests.differential.drawn import request_data
from tests.factories.requests import CATALOG
from tests.property.law_examples import law


@law(int(os.environ.get("RANDOM_DESIGNS", "10")))
@given(number=st.integers(0, 10**9), names_parts=st.sampled_from((True, True, True, False)))
def test_a_random_design_keeps_the_laws(number: int, names_parts: bool) -> None:
    data = request_data("laws", number)
    if not names_parts:  # the whole catalogue is searched
        del data["platforms"]
    try:
        result = size(SizingRequest.from_dict(data), CATALOG)
    except (InfeasibleError, RequestError) as refused:
        message = str(refused)
        assert message.strip()
        assert len(message) < 6_000
        return
    keeps_its_promises(result, data["confidence"], data.get("limits", {}))
    totals_are_the_sums(result)
    every_number_can_be_written(result)


def keeps_its_promises(result: SizingResult, confidence: float, limit: dict[str, Any]) -> None:
    """Probability, targets and limits as printed; what depends on an unknown promises nothing."""
    design = result.design
    assert (design.probability is None) == bool(design.conditional_on)
    for check in design.checks:
        if check.kind is CheckKind.CAPACITY or (check.kind is CheckKind.POWER and "power_w" in limit):
            assert check.result is not CheckResult.NOT_MET, check
    if design.probability is not None:
        assert 0 <= design.probability <= 1
        # As printed: whole percent, never rounded up to what is asked.
        assert (
            math.floor(100 * design.probability + 1e-9) >= round(100 * confidence) or design.probability >= confidence
        )
    for answer in design.workloads:
        assert float(answer.throughput.low) <= float(answer.throughput.value) <= float(answer.throughput.high)
        assert all(
            float(answer.throughput.value) <= float(stage.capacity.value) * (1 + 1e-6) for stage in answer.stages
        )
        if design.probability is not None:
            assert not design.usable_bytes < answer.dataset_bytes


def totals_are_the_sums(result: SizingResult) -> None:
    """The bill adds up line by line, and nothing is bought in negative numbers."""
    bill = result.design.bill
    lines = [line for line in bill.lines if line.is_bought]
    assert all(line.quantity > 0 for line in lines)
    assert bill.total == sum((line.extended_net for line in lines if line.extended_net is not None), Decimal(0))
    assert bill.is_complete == all(line.extended_net is not None for line in lines)


def every_number_can_be_written(result: SizingResult) -> None:
    """The design document is JSON without NaN, and reads back as the same request."""
    content = json.loads(
        json_text(design_document(result)), parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name))
    )
    assert SizingRequest.from_dict(content["request"]) == result.request
