"""Changed inputs: break-even points and a grid of two."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.questions.what_if.answer import (
    CACHED_READS,
    CONFIDENCE,
    DATASET_SIZE,
    GPU_SPEED,
    SAMPLE_SIZE,
    STORAGE_NODES,
    TARGET,
    BreakEven,
    Span,
    VariedInput,
    fixed_design_along,
    fixed_design_break_evens,
    fixed_design_inputs,
    fixed_design_rates,
    spans,
    with_gpu_speed,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.project import project
from sizer.workload.request import SizingRequest
from tests.factories.examples import EXAMPLES, WORKLOADS, catalog, sized
from tests.factories.rows import every

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them


@cache
def model_of(name: str, index: int = 0) -> WorkloadOnDesign:
    """WorkloadOnDesign of one workload of an example."""
    found = EvaluatedDesign(sized(name), catalog()).workloads[index]
    assert found is not None
    return found


def held_input(model: WorkloadOnDesign, key: str) -> VariedInput:
    """Input of a fixed design by its key."""
    return next(one for one in fixed_design_inputs(model) if one.key == key)


def along(model: WorkloadOnDesign, one: VariedInput, **others: float) -> dict[str, BreakEven]:
    """Break-even points of a fixed design along an input, by what changes."""
    line = fixed_design_along(model, one, others)
    return {found.what: found for found in fixed_design_break_evens(model, one, line, others)}


def test_spans_are_the_runs_of_equal_values():
    assert spans("aabba") == (Span("a", 0, 1), Span("b", 2, 3), Span("a", 4, 4))
    assert spans("") == ()


def test_where_storage_becomes_the_limit_is_where_given_clusters_change():
    """``project`` runs the same cluster with every image size by itself."""
    model = model_of("dgx1-f800-resnet50")
    one = held_input(model, SAMPLE_SIZE)
    data = model.request.model_dump(exclude_none=True)
    n_samples = data["workload"][0]["dataset_bytes"] / data["workload"][0]["sample_bytes"]

    def limit(image: float) -> str:
        work = {**data["workload"][0], "sample_bytes": image, "dataset_bytes": image * n_samples}
        cluster = project(
            SizingRequest.from_dict({**data, "workload": [work]}),
            catalog(),
            server="dgx-1",
            servers=9,
            storage="isilon-f800",
            storage_nodes=4,
            fabric="100gbe",
        )
        return cluster.workloads[0].bottleneck

    places = range(one.base, len(one.values))
    first = next(place for place in places if limit(one.values[place]) == "storage")
    text = along(model, one)["Bottleneck"].text
    up_to, onwards = one.texts[first - 1], one.texts[first]
    assert text == f"GPU compute is the bottleneck up to {up_to}; storage is the bottleneck from {onwards} on."


NAMES = (*EXAMPLES, *WORKLOADS)
# Bisection of the joint rate stops at a billionth of its bracket; a median may fall by that.
SAME = 1e-8


@cache
def workloads(name: str) -> tuple[WorkloadOnDesign, ...]:
    """Models of the workloads of an example."""
    found = EvaluatedDesign(sized(name), catalog()).workloads
    assert all(one is not None for one in found)
    return tuple(one for one in found if one is not None)


@every(NAMES)
def test_each_input_has_the_design_among_its_values(name):
    for model in workloads(name):
        for one in fixed_design_inputs(model):
            assert list(one.values) == sorted(set(one.values)), one.key
            assert len(set(one.texts)) == len(one.texts) == len(one.values), one.key
            assert 0 <= one.base < len(one.values)
            assert one.name
            assert one.note
        base = {one.key: one.values[one.base] for one in fixed_design_inputs(model)}
        assert_allclose(fixed_design_rates(model, base).rate.value, fixed_design_rates(model, {}).rate.value, rtol=1e-9)


@every(
    (name, *way)
    for name in NAMES
    for way in [(SAMPLE_SIZE, -1), (CACHED_READS, 1), (STORAGE_NODES, 1), (GPU_SPEED, 1), (DATASET_SIZE, -1)]
)
def test_the_rate_moves_one_way_only(name, key, direction):
    """Larger samples, colder caches and larger data sets never raise it; more nodes and faster GPUs never lower it."""
    for model in workloads(name):
        one = next((one for one in fixed_design_inputs(model) if one.key == key), None)
        if one is None:
            assert key == STORAGE_NODES or model.work.language is not None
            continue
        rate = np.asarray(fixed_design_rates(model, {key: np.array(one.values)}).rate.value)
        if key == GPU_SPEED and model.work.serving is not None and (asked := model.work.serving.asked_rate) is not None:
            # With more than the asked load a layout is taken that carries it with a card less, and others beside it.
            rate = np.minimum(rate, asked)
        # The rate of a faster GPU is known less well, which costs the median of the slowest stage up to 1 in 1,000;
        # that of decoding smaller samples a millionth.
        slack = {GPU_SPEED: 1e-3, SAMPLE_SIZE: 1e-6}.get(key, SAME)
        assert (direction * np.diff(rate) >= -slack * rate[:-1]).all()


def test_a_harder_target_is_met_less_surely_and_the_rate_stays():
    for name in EXAMPLES:
        for model in workloads(name):
            one = next(one for one in fixed_design_inputs(model) if one.key == TARGET)
            found = fixed_design_rates(model, {TARGET: np.array(one.values)})
            steps = np.diff(found.probability)
            assert (steps * (1 if model.is_timed else -1) >= -1e-12).all()
            assert_allclose(found.rate.value, found.rate.value[0])


def test_a_higher_confidence_never_meets_what_a_lower_one_misses():
    model = workloads("dgx1-f800-resnet50")[0]
    found = fixed_design_rates(model, {CONFIDENCE: np.linspace(0.5, 0.99, 12)})
    assert (np.diff(found.meets_target.astype(int)) <= 0).all()
    assert found.meets_target[0]
    assert not found.meets_target[-1]


def test_storage_that_is_too_small_for_the_data_misses_the_target():
    model = workloads("dgx1-f800-resnet50")[0]
    usable = sized("dgx1-f800-resnet50").design.usable_bytes
    found = fixed_design_rates(model, {DATASET_SIZE: [0.99 * usable, 1.01 * usable]})
    assert found.holds_data.tolist() == [True, False]
    assert not found.meets_target[1]
    assert found.storage_nodes[1] > model.storage_nodes


def test_a_gpu_of_twice_the_peak_halves_the_arithmetic_only():
    """Launches and exchange stay, so the rate grows by less than the factor, and by more than nothing."""
    model = workloads("dgx1-f800-resnet50")[0]
    found = fixed_design_rates(model, {GPU_SPEED: [1.0, 2.0]}).stages["gpu"]
    assert found[0] < found[1] < 2 * found[0]
    gpu = model.platform.gpu
    twice = with_gpu_speed(catalog(), gpu, 2.0).gpus[gpu.id]
    assert twice.peak_mixed_flop_per_s.value == 2 * catalog().gpus[gpu.id].peak_mixed_flop_per_s.value
    assert with_gpu_speed(catalog(), gpu, 1.0) is catalog()
