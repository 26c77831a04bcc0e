"""Answers compared, and the causes of their differences."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest, diff, size
from sizer.base.quantities import si
from sizer.present.tables import Table
from sizer.questions.compare.causes import AnswerDifference
from sizer.questions.compare.designs import Compared, card_figures, count_difference, difference, figures_table
from sizer.sizing.best_design import best_design
from sizer.sizing.customer_copy import customer_copy
from sizer.workload.table import FieldChange, field_changes, mixed
from tests.factories.examples import catalog, sized

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
    assert found.total("gpus") > 0
    for key in found.compared:
        assert cause.effect(found.before, key) == found.total(key)
    # Price lists of the catalogue are incomplete, and the difference of two lower bounds says nothing.
    assert "price" not in found.compared


def test_a_request_differs_in_nothing_from_itself() -> None:
    found = told(asked(), asked())
    assert found.changes == ()
    assert all(found.total(key) == 0 for key in found.compared)
    renamed = told(asked(), asked(work={"name": "other"}, title="Other", rental={"per_gpu_hour": 2}))
    assert not renamed.causes
    assert {change.path[0] for change in renamed.informational} == {"title", "rental"}


def test_each_change_alone_is_the_request_sized_with_it() -> None:
    before = asked("20000 images/s")
    steps: dict[str, SizingRequest] = {
        "workload.sample_bytes": asked("20000 images/s", {"sample_bytes": "1.3 MB"}),
        "workload.target": asked("40000 images/s"),
        "confidence": asked("20000 images/s", confidence=0.6),
    }
    now = asked("40000 images/s", {"sample_bytes": "1.3 MB"}, confidence=0.6)
    found = told(before, now)
    assert {cause.key for cause in found.causes} == set(steps)
    for cause in found.causes:
        design = best_design(steps[cause.key], catalog()).design
        assert cause.alone.design == design.name
        assert (cause.alone.numbers["gpus"], cause.alone.numbers["storage-nodes"]) == (
            design.n_gpus,
            design.storage_nodes,
        )


def test_a_change_that_leads_to_no_design_is_told() -> None:
    """One server is too few for the rate unless the limit goes up with it."""
    before = asked("3000 images/s", limits={"servers": 1})
    now = asked("40000 images/s", limits={"servers": 20})
    found = told(before, now)
    by_key = {cause.key: cause for cause in found.causes}
    assert not by_key["workload.target"].alone.is_answered
    assert by_key["workload.target"].effect(found.before, "gpus") is None
    assert by_key["limits.servers"].effect(found.before, "gpus") == 0
    assert found.total("gpus") > 0


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
    """Small against large images on nine DGX-1 (dell-isilon-dgx1-blog-2018): the nodes come from the sample size.

    1.3 MB images at the rate of the small ones would take 24 nodes; the lower target of the heavier network 8.
    """
    found = told(sized("dgx1-f800-resnet50").request, sized("dgx1-f800-inception-v4").request)
    assert found.total("storage-nodes") == 4
    assert found.total("gpus") == 0
    effects = {cause.key: cause.effect(found.before, "storage-nodes") for cause in found.causes}
    assert effects["workload.dnn"] == effects["workload.target"] == 0
    assert effects["workload.sample_bytes"] == 20


RESNET, INCEPTION, TEAM = "dgx1-f800-resnet50", "dgx1-f800-inception-v4", "small-team"


def pair(*names: str) -> list[Compared]:
    return [Compared(name, sized(name)) for name in names]


def cells(table: Table, label: str) -> list[str]:
    (found,) = [row for row in table.rows if row.cells[0].text == label]
    return [cell.text for cell in found.cells[1:]]


def larger(**changes):
    """The first example with another target or with other keys of the request."""
    request = sized(RESNET).request
    return size(request.model_copy(update=changes), catalog())


@pytest.mark.parametrize(
    ("value", "base", "expected"),
    [
        (112, 100, "+12\u202f%"),
        (88, 100, "\u221212\u202f%"),
        (100, 100, "same"),
        (1005, 1000, "+0.50\u202f%"),
        (100.01, 100, "same"),
        (5, 0, ""),
        (30, 1, "+2\u202f900\u202f%"),
    ],
)
def test_a_difference_has_its_sign_and_percent(value, base, expected):
    assert difference(value, base) == expected


@pytest.mark.parametrize(
    ("value", "base", "expected"), [(80, 72, "+8"), (64, 72, "\u22128"), (7, 7, "same"), (41.5, 41, "+0.5")]
)
def test_a_difference_of_counts_is_a_count(value, base, expected):
    assert count_difference(value, base) == expected


def test_overlapping_intervals_are_no_difference_and_other_workloads_have_none():
    work = sized(RESNET).request.workload[0]
    faster = larger(
        workload=(work.model_copy(update={"target": work.target.model_copy(update={"samples_per_s": 56e3})}),)
    )
    one, other = sized(RESNET).design.workloads[0].throughput, faster.design.workloads[0].throughput
    assert other.low < one.high
    assert other.value > one.value
    table = figures_table([Compared("as asked", sized(RESNET)), Compared("faster", faster)], 0)
    assert cells(table, "Rate")[1].endswith("(within the interval)")
    assert cells(table, "Probability of the targets")[1].endswith("(other targets)")
    mixed = figures_table(pair(RESNET, INCEPTION), 0)
    assert cells(mixed, "Rate")[1].startswith("Inception-v4: ")
    assert cells(mixed, "Rate")[1].endswith("(other workload)")


def test_ranges_of_prices_that_overlap_have_no_difference_and_none_is_a_lower_bound():
    designs = pair(RESNET, INCEPTION)
    costs = [one.result.design.cost for one in designs]
    assert costs[0].low < costs[1].high
    assert costs[1].low < costs[0].high
    first, second = cells(figures_table(designs, 0), "Price")
    assert first.startswith("USD ")
    assert second.endswith("(within the interval)")
    apart = figures_table(pair(RESNET, TEAM), 0)
    cost = sized(TEAM).design.cost
    assert cost.high < costs[0].low
    share = 100 * (1 - cost.expected / costs[0].expected)
    assert cells(apart, "Price")[1].endswith(f"(\u2212{share:.0f}\u202f%)")
    prices = [row for row in apart.rows if row.cells[0].text.startswith("Price")]
    assert not [cell.text for row in prices for cell in row.cells if "at least" in cell.text]
    assert cells(apart, "Price per GPU")[0].startswith("USD ")


def test_the_price_is_what_is_paid_in_the_house_and_to_a_customer():
    quote = sized(RESNET).request.quote.model_copy(update={"discount_percent": Decimal(10)})
    cut = larger(quote=quote)
    less = sized(RESNET).design.cost.low - cut.design.cost.low
    assert less >= 0.1 * float(sized(RESNET).design.bill.total)  # and support costs a share of it
    inside = figures_table([Compared("list", sized(RESNET)), Compared("cut", cut)], 0)
    told = figures_table([Compared("list", customer_copy(sized(RESNET))), Compared("cut", customer_copy(cut))], 0)
    assert cells(inside, "Price") == cells(told, "Price")


def test_values_side_by_side_have_one_unit():
    """0.95 kW beside 38.0 kW, never 950 W."""
    assert si(950.0, "W", like=38e3) == "0.950\u202fkW"
    assert si(38e3, "W") == "38.0\u202fkW"
    large = sized(RESNET).design
    small = replace(large, quantities=replace(large.quantities, power_max_w=np.array([950.0])))
    shown = {figure.label: figure for figure in card_figures(small, large)}
    assert shown["Power, maximum"].value == "0.950\u202fkW"
