"""Which input caused a difference: all orders by brute force, the laws of fair shares, and real requests."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.questions.compare.causes import AnswerDifference, diff, order_means
from sizer.sizing.best_design import best_design
from sizer.workload.changes import FieldChange, field_changes, mixed
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized

numbers = st.one_of(st.none(), st.integers(-20, 20).map(Fraction))


def brute_force(values: list[Fraction | None], n: int) -> tuple[tuple[Fraction, ...], int]:
    """Every order of n changes, one by one."""
    kept = []
    for order in permutations(range(n)):
        places = [sum(1 << i for i in order[:k]) for k in range(n + 1)]
        steps = [values[place] for place in places]
        if None not in steps:
            kept.append({i: steps[k + 1] - steps[k] for k, i in enumerate(order)})  # type: ignore[operator]
    means = (Fraction(sum(one[i] for one in kept), len(kept)) for i in range(n)) if kept else ()
    return tuple(means), len(kept)


@given(st.integers(0, 4).flatmap(lambda n: st.lists(numbers, min_size=2**n, max_size=2**n)))
def test_the_lattice_agrees_with_every_order(values: list[Fraction | None]) -> None:
    n = len(values).bit_length() - 1
    assert order_means(values) == brute_force(values, n)


def test_shares_of_the_glove_game() -> None:
    """Players 0 and 1 hold a left glove each, 2 the right one (the textbook example): 1/6, 1/6, 4/6."""
    pairs = [Fraction(bool(place & 4 and place & 3)) for place in range(8)]
    assert order_means(pairs) == ((Fraction(1, 6), Fraction(1, 6), Fraction(4, 6)), 6)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(numbers, min_size=2**n, max_size=2**n)))
def test_shares_add_up_exactly_and_turn_with_the_sides(values: list[Fraction | None]) -> None:
    shares, count = order_means(values)
    back, as_many = order_means(values[::-1])  # the changes taken back
    assert as_many == count
    assert back == tuple(-one for one in shares)
    if shares:
        assert sum(shares) == values[-1] - values[0]  # type: ignore[operator]


# --- requests


def asked(rate: str = "10000 images/s", work: dict[str, Any] | None = None, **more: Any) -> SizingRequest:
    wish = {"name": "w", "dnn": "resnet50", "target": {"samples_per_s": rate}, **(work or {})}
    platforms = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}
    return SizingRequest.from_dict({"workload": [wish], "platforms": platforms, **more})


def told(before: SizingRequest, now: SizingRequest) -> AnswerDifference:
    return diff(before, now, catalog())


def test_one_changed_key_carries_the_whole_difference() -> None:
    found = told(asked(), asked("60000 images/s"))
    (cause,) = found.causes
    assert cause.key == "workload.target"
    assert cause.changes == (FieldChange(("workload", 0, "target", "samples_per_s"), 10_000.0, 60_000.0),)
    assert cause.alone == found.now
    assert cause.left_out == found.before
    assert found.total("gpus") > 0
    for key in found.compared:
        assert cause.shares[key] == found.total(key)
        assert found.together(key) == 0
    # Price lists of the catalogue are incomplete, and the difference of two lower bounds says nothing.
    assert "price" not in found.compared


def test_a_request_differs_in_nothing_from_itself() -> None:
    found = told(asked(), asked())
    assert found.changes == ()
    assert all(found.total(key) == 0 for key in found.compared)
    renamed = told(asked(), asked(work={"name": "other"}, title="Other", rental={"per_gpu_hour": 2}))
    assert not renamed.causes
    assert {change.path[0] for change in renamed.informational} == {"title", "rental"}


def test_shares_of_real_requests_add_up_and_turn_with_the_sides() -> None:
    before = asked("20000 images/s")
    now = asked("40000 images/s", {"sample_bytes": "1.3 MB", "precision": "fp32"}, confidence=0.6)
    found, back = told(before, now), told(now, before)
    assert {cause.key for cause in found.causes} == {
        "confidence",
        "workload.sample_bytes",
        "workload.precision",
        "workload.target",
    }
    for key in found.compared:
        assert found.n_orders[key] == 24
        assert sum(cause.shares[key] for cause in found.causes) == found.total(key)
        mirrored = {cause.key: -cause.shares[key] for cause in back.causes}
        assert mirrored == {cause.key: cause.shares[key] for cause in found.causes}
        assert back.total(key) == -found.total(key)


@pytest.mark.laws
def test_three_inputs_by_sizing_every_order() -> None:
    before = asked("20000 images/s")
    steps: list[dict[str, Any]] = [
        {"work": {"sample_bytes": "1.3 MB"}},
        {"rate": "40000 images/s"},
        {"confidence": 0.6},
    ]

    def gpus_and_nodes(places: tuple[int, ...]) -> tuple[int, int]:
        made: dict[str, Any] = {"rate": "20000 images/s"}
        for place in places:
            made.update(steps[place])
        design = best_design(asked(**made), catalog()).design
        return design.n_gpus, design.storage_nodes

    now = asked(**{key: value for step in steps for key, value in step.items()})
    found = told(before, now)
    by_key = {cause.key: cause for cause in found.causes}
    keys = ["workload.sample_bytes", "workload.target", "confidence"]
    for place, key in enumerate(keys):
        added = []
        for order in permutations(range(3)):
            at = order.index(place)
            with_, without = gpus_and_nodes(order[: at + 1]), gpus_and_nodes(order[:at])
            added.append([a - b for a, b in zip(with_, without, strict=True)])
        means = [Fraction(sum(column), 6) for column in zip(*added, strict=True)]
        assert [by_key[key].shares["gpus"], by_key[key].shares["storage-nodes"]] == means


def test_a_request_without_an_answer_is_told_and_its_orders_left_out() -> None:
    """One server is too few for the rate unless the limit goes up with it: only that order has answers."""
    before = asked("3000 images/s", limits={"servers": 1})
    now = asked("40000 images/s", limits={"servers": 20})
    found = told(before, now)
    by_key = {cause.key: cause for cause in found.causes}
    assert not by_key["workload.target"].alone.is_answered
    assert by_key["limits.servers"].alone.is_answered
    assert found.n_orders["gpus"] == 1
    assert by_key["limits.servers"].shares["gpus"] == 0
    assert by_key["workload.target"].shares["gpus"] == found.total("gpus") > 0
    assert found.together("gpus") is None


def test_workloads_that_come_and_go_are_inputs() -> None:
    one = asked()
    work = one.model_dump(exclude_none=True)["workload"][0]
    other = {**work, "name": "other", "target": {"samples_per_s": 20_000.0}}
    two = SizingRequest.from_dict({**one.model_dump(exclude_none=True), "workload": [work, other]})
    (cause,) = told(one, two).causes
    assert cause.key == "workload 'other' added"
    (cause,) = told(two, one).causes
    assert cause.key == "workload 'other' removed"
    three = SizingRequest.from_dict({**one.model_dump(exclude_none=True), "workload": [other, {**work, "name": "x"}]})
    assert {cause.key for cause in told(two, three).causes} == {"workload 'w' removed", "workload 'x' added"}


# --- plain data


DATA = st.recursive(
    st.one_of(st.integers(0, 3), st.sampled_from(["a", "b"])),
    lambda inner: st.one_of(
        st.lists(
            st.fixed_dictionaries({"name": st.sampled_from("abc"), "x": inner}),
            min_size=1,
            max_size=3,
            unique_by=lambda one: one["name"],
        ),
        st.dictionaries(st.sampled_from(["name", "p", "q"]), inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)
TABLES = st.dictionaries(st.sampled_from(["a", "b", "c"]), DATA, min_size=1, max_size=3)


@given(TABLES, TABLES)
def test_all_changes_make_the_later_request_and_none_the_earlier(old: Any, new: Any) -> None:
    assert field_changes(mixed(old, new, lambda _: True), new) == []
    assert field_changes(mixed(old, new, lambda _: False), old) == []


@given(TABLES, TABLES, st.integers(0, 9))
def test_one_change_alone_is_the_one_that_was_asked(old: Any, new: Any, number: int) -> None:
    changes = field_changes(old, new)
    if changes:
        chosen = changes[number % len(changes)]
        made = field_changes(old, mixed(old, new, lambda one: one == chosen))
        assert [(one.before, one.now) for one in made] == [(chosen.before, chosen.now)]


def test_the_published_examples_differ_by_four_storage_nodes() -> None:
    """Small against large images on nine DGX-1 (dell-isilon-dgx1-blog-2018): the nodes come from the sample size."""
    found = told(sized("dgx1-f800-resnet50").request, sized("dgx1-f800-inception-v4").request)
    assert found.total("storage-nodes") == 4
    assert found.total("gpus") == 0
    by_key = {cause.key: cause for cause in found.causes}
    assert by_key["workload.dnn"].shares["storage-nodes"] == 0
    assert by_key["workload.sample_bytes"].left_out.numbers["storage-nodes"] == 4
