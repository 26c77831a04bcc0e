"""Break-even points and sizing anew, against brute force with the public functions of the sizing."""

from dataclasses import replace
from functools import cache

import pytest

from sizer.base.errors import InfeasibleError
from sizer.questions.what_if.answer import (
    BreakEven,
    Span,
    changed_request,
    fixed_design_break_evens,
    resize,
    resized_break_evens,
    spans,
)
from sizer.questions.what_if.input_grid import fixed_design_along, hardware_along
from sizer.questions.what_if.varied_input import (
    CACHE,
    DATASET_SIZE,
    SAMPLE_SIZE,
    SERVERS,
    TARGET,
    VariedInput,
    fixed_design_inputs,
    resize_inputs,
)
from sizer.sizing.best_design import best_design
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.project import project
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized

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
    line, parts = fixed_design_along(model, one, others), hardware_along(model, one, others)
    return {found.what: found for found in fixed_design_break_evens(model, one, line, parts, others, one.base)}


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


def test_where_a_second_switch_comes_in_is_where_counted_fabrics_change():
    model = model_of("dgx1-f800-resnet50")
    one = held_input(model, SERVERS)
    counts = []
    for servers in one.values:
        cluster = project(
            model.request,
            catalog(),
            server="dgx-1",
            servers=int(servers),
            storage="isilon-f800",
            storage_nodes=4,
            fabric="100gbe",
        )
        fabric = cluster.quantities.networks[0]
        counts.append(int((fabric.leaves + fabric.spines + fabric.cores)[0]))
    first = next(place for place, count in enumerate(counts) if count > 1)
    assert along(model, one)["Second compute switch"].text == (
        f"One switch is enough up to {one.texts[first - 1]}; "
        f"{min(counts[first:])} or more are needed from {one.texts[first]} on."
    )


# --- sized anew

CHANGES = [
    ("dgx1-f800-resnet50", TARGET, 0.5),
    ("dgx1-f800-resnet50", TARGET, 3.0),
    ("dgx1-f800-resnet50", SAMPLE_SIZE, 5.0),
    ("dgx1-f800-inception-v4", SAMPLE_SIZE, 0.2),
    ("dgx1-f800-resnet50", DATASET_SIZE, 8.0),
    ("small-team", TARGET, 0.2),
    ("small-team", DATASET_SIZE, 6.0),
]


@pytest.mark.parametrize(("name", "key", "factor"), CHANGES)
def test_sized_anew_is_what_the_whole_sizing_finds(name, key, factor):
    """Where a request allows one kind of server and storage, the search on the platform is the whole search."""
    model = model_of(name)
    one = next(one for one in resize_inputs(model) if one.key == key)
    values = {key: one.values[one.base] * factor}
    found = resize(model, values)
    design = best_design(changed_request(model, values), catalog()).design
    assert (found.n_servers, found.storage_nodes, found.n_gpus) == (
        design.n_servers,
        design.storage_nodes,
        design.n_gpus,
    )
    counted = design.quantities
    assert found.racks == counted.racks[0] + counted.existing_racks[0]
    assert found.power_w == pytest.approx(counted.power_max_w[0])
    assert found.switches == sum(int((one.leaves + one.spines + one.cores)[0]) for one in counted.networks)


def test_more_servers_come_in_where_whole_sizings_change():
    model = model_of("dgx1-f800-resnet50")
    whole = next(one for one in resize_inputs(model) if one.key == TARGET)
    one = replace(whole, values=whole.values[10:19], texts=whole.texts[10:19], base=whole.base - 10)
    line = [resize(model, {TARGET: value}, says_why=False) for value in one.values]
    brute = [best_design(changed_request(model, {TARGET: value}), catalog()).design.n_servers for value in one.values]
    up = next(place for place in range(one.base, len(brute)) if brute[place] != brute[one.base])
    down = next(place for place in range(one.base, -1, -1) if brute[place] != brute[one.base])
    found = {each.what: each for each in resized_break_evens(one, line, one.base)}
    assert found["GPU servers"].text == (
        f"{brute[one.base]} at {one.texts[one.base]}; {brute[up]} once it reaches {one.texts[up]}; "
        f"{brute[down]} once it is down to {one.texts[down]}."
    )


def test_a_request_that_no_design_meets_says_why():
    model = model_of("dgx1-f800-resnet50")
    found = resize(model, {TARGET: 1e9})
    assert not found.is_feasible
    assert "no design meets the request" in found.reason
    with pytest.raises(InfeasibleError):
        best_design(changed_request(model, {TARGET: 1e9}), catalog())
    assert not resize(model_of("small-team"), {TARGET: 1.0}).is_feasible
    assert resize(model, {DATASET_SIZE: 10.0}).reason


def test_a_request_keeps_what_is_not_changed():
    model = model_of("dgx1-f800-resnet50")
    changed = changed_request(model, {CACHE: 0.0})
    assert changed.workload[0].cache == "none"
    assert changed.workload[0].model_copy(update={"cache": "page-cache"}) == model.request.workload[0]
    assert changed_request(model, {}) == model.request
    team = model_of("small-team")
    assert changed_request(team, {SAMPLE_SIZE: 2e5}).workload[0].dataset_bytes is None
