"""Ways of cables, computed by hand from the stated rules, and the parts that span them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.loader import shipped_catalog
from sizer.physical.networks.cables import choose_cable, choose_cables
from sizer.physical.racks.positions import OUTSIDE_M, DevicePlaces, link_lengths_m, unit_runs

CATALOG = shipped_catalog()
CABLES = tuple(CATALOG.cables.values())
KINDS = ["edr", "fdr", "100gbe", "40gbe", "25gbe", "10gbe", "1gbe"]


def standing(racks, units, heights, places=((0, 0),)):
    row, column = np.array(places).T
    return DevicePlaces(np.array(racks), np.array(units), np.array(heights), row, column)


def test_inside_a_rack():
    """One unit is 44.45 mm (EIA-310): U1 and U42 lie 41 units apart; 0.3 m at each end; 10 % slack."""
    where = standing([0, 0, 0], [1, 42, 2], [1, 1, 1])
    a, b = np.array([0, 0]), np.array([1, 2])
    lengths = link_lengths_m(where, CATALOG.racks["ar3300"], a, b)
    assert lengths == pytest.approx([(41 * 0.04445 + 0.6) * 1.1, (0.04445 + 0.6) * 1.1])


def test_between_racks():
    """Rack of 42U, 0.6 x 1.2 m: up to the tray 0.3 m above it, three racks along, one row of 2.4 m across, down."""
    where = standing([0, 1], [1, 42], [1, 1], ((0, 0), (1, 3)))
    tray = 42 * 0.04445 + 0.3
    rise = (tray - 0.5 * 0.04445) + (tray - 41.5 * 0.04445)
    expected = (rise + 3 * 0.6 + 2.4 + 0.6) * 1.1
    assert link_lengths_m(where, CATALOG.racks["ar3300"], np.array([0]), np.array([1])) == pytest.approx([expected])


def test_to_the_customers_lan():
    where = standing([0], [1], [1])
    assert link_lengths_m(where, CATALOG.racks["ar3300"], np.array([-1]), np.array([0])) == [OUTSIDE_M]


@pytest.mark.parametrize(
    ("kind", "length_m", "items"),
    [
        # Catalogue of cables: EDR copper ends at 2 m, active optical cables have 3 and 30 m.
        ("edr", 0.5, ["mcp1600-e00a"]),
        ("edr", 1.2, ["mcp1600-e01a"]),
        ("edr", 2.0, ["mcp1600-e002"]),
        ("edr", 2.1, ["mfa1a00-e003"]),
        ("edr", 3.5, ["mfa1a00-e030"]),
        # 100GbE copper 1 and 3 m, optical 3 and 10 m: copper while it reaches.
        ("100gbe", 2.0, ["mcp1600-c003"]),
        ("100gbe", 3.1, ["mfa1a00-c010"]),
        # 40GbE copper 3 and 5 m; beyond, two transceivers and a fibre.
        ("40gbe", 4.0, ["mc2210126-005"]),
        ("40gbe", 6.0, ["mc2210411-sr4e", "mpo-fibre-30m"]),
    ],
)
def test_shortest_part_of_the_right_medium(kind, length_m, items):
    assert [item for item, _ in choose_cable(CABLES, CATALOG.links[kind], length_m).items] == items


@given(kind=st.sampled_from(KINDS), lengths=st.lists(st.floats(0.3, 99), min_size=1, max_size=30))
def test_many_links_choose_as_one_does(kind, lengths):
    choices, number = choose_cables(CABLES, CATALOG.links[kind], np.array(lengths))
    for length, choice in zip(lengths, number, strict=True):
        one = choose_cable(CABLES, CATALOG.links[kind], length)
        assert choices[choice].items == one.items
        spans = [fact.value for item, _ in one.items if (fact := CATALOG.cables[item].length_m) is not None]
        assert max(spans) >= length - 1e-9


@given(units=st.sets(st.integers(1, 48)))
def test_runs_of_units_are_the_units(units):
    runs = list(unit_runs(units))
    assert [unit for low, count in runs for unit in range(low, low + count)] == sorted(units)
    assert all(later[0] > low + count for (low, count), later in pairwise(runs))
