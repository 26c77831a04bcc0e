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
from tests.factories.requests import CATALOG
from tests.property.law_examples import law

SERVERS = sorted(item.id for item in CATALOG.servers.values() if item.n_gpus is not None)
STORAGE = sorted(CATALOG.storage)
MODELS = sorted(dnn.id for dnn in CATALOG.dnns.values() if dnn.transformer is not None)
IMAGES = ("resnet50", "inception-v4", "vgg16", "alexnet", "googlenet", "unet3d", "bert-large", "mask-rcnn")

powers = st.floats(0, 1)


def between(low: float, high: float) -> st.SearchStrategy[float]:
    """A number on a scale of powers, with three digits."""
    return powers.map(lambda part: float(f"{low * (high / low) ** part:.3g}"))


images = st.fixed_dictionaries(
    {
        "dnn": st.sampled_from(IMAGES),
        "dataset_bytes": between(1e11, 1e14),
        "target": st.one_of(
            between(10, 2e5).map(lambda rate: {"samples_per_s": rate}),
            st.integers(1, 300).map(lambda gpus: {"gpus_busy": gpus}),
        ),
    }
)
models = st.fixed_dictionaries(
    {
        "dnn": st.sampled_from(MODELS),
        "tokens": between(1e9, 1e13),
        "target": st.one_of(
            between(3, 200).map(lambda days: {"time_to_train_s": f"{days} d"}),
            st.sampled_from([8, 64, 256]).map(lambda gpus: {"gpus_busy": gpus}),
        ),
    }
)
# The whole catalogue is searched for one in four.
some_parts = st.sampled_from((True, True, True, False)).flatmap(
    lambda is_named: st.fixed_dictionaries(
        {
            "servers": st.lists(st.sampled_from(SERVERS), min_size=1, max_size=4, unique=True),
            "storage": st.lists(st.sampled_from(STORAGE), min_size=1, max_size=4, unique=True),
        }
        if is_named
        else {}
    )
)
limits = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"power_w": between(5e3, 2e6)}),
    st.fixed_dictionaries({"racks": st.integers(1, 60)}),
    st.fixed_dictionaries({"budget": between(1e5, 5e7)}),
)


@law(int(os.environ.get("RANDOM_DESIGNS", "10")))
@given(
    works=st.one_of(st.lists(images, min_size=1, max_size=3), st.lists(models, min_size=1, max_size=1)),
    platforms=some_parts,
    limit=limits,
    confidence=st.sampled_from([0.5, 0.8, 0.9, 0.95]),
    redundancy=st.sampled_from([(), ("server",), ("storage-node",), ("switch",)]),
)
def test_a_random_design_keeps_the_laws(
    works: list[dict[str, Any]],
    platforms: dict[str, Any],
    limit: dict[str, Any],
    confidence: float,
    redundancy: tuple[str, ...],
) -> None:
    data = {
        "confidence": confidence,
        "workload": [{"name": f"w{place}", **work} for place, work in enumerate(works)],
        "platforms": platforms,
        "limits": limit,
        "resilience": {"keeps_targets_without": list(redundancy)} if redundancy else {},
    }
    try:
        result = size(SizingRequest.from_dict(data), CATALOG)
    except (InfeasibleError, RequestError) as refused:
        message = str(refused)
        assert message.strip()
        assert len(message) < 6_000
        return
    keeps_its_promises(result, confidence, limit)
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
