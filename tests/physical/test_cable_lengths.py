"""Cables: lengths and splitters."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

from sizer.physical.layout import planned_cables
from sizer.physical.networks.cables import choose_cable
from sizer.physical.networks.links import LinkGroup
from sizer.physical.racks.positions import OUTSIDE_M, DevicePlaces, link_lengths_m
from sizer.physical.roles import Role
from tests.factories import examples
from tests.factories.requests import CATALOG

CABLES = tuple(CATALOG.cables.values())


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


def run(ports, cages=("qsfp112", "osfp-finned"), kind="ndr"):
    """Links from devices of one port to (switch, port)."""
    switch, port = np.array(ports).T
    far = np.arange(len(ports))
    return LinkGroup("storage", Role.STORAGE_CABLE, CATALOG.links[kind], far, 0 * far, switch, port, cages)


def chosen(runs, lengths_m):
    """Items of each link with the pieces of each, in the order of the links."""
    found = planned_cables(runs, [np.array(one) for one in lengths_m], CABLES)
    return [dict(choices[number].items) for choices, numbers in found for number in numbers]


def test_two_ports_of_one_cage_share_a_splitter_as_long_as_the_longer_leg():
    assert chosen([run([(100, 0), (100, 1)])], [[0.8, 1.4]]) == 2 * [{"mcp7y10-n01a": Fraction(1, 2)}]


def test_links_of_two_runs_share_one_too():
    runs = run([(100, 2)]), run([(100, 3)])
    assert chosen(runs, [[0.8], [1.4]]) == 2 * [{"mcp7y10-n01a": Fraction(1, 2)}]


@pytest.mark.parametrize(
    "ports",
    [
        [(100, 0), (101, 0)],  # two switches
        [(100, 1), (100, 2)],  # neighbours in two cages
    ],
)
def test_ports_of_two_cages_take_transceivers_and_a_fibre_each(ports):
    for items in chosen([run(ports)], [[1.0, 1.0]]):
        assert sorted(CATALOG.cables[item].media for item in items) == ["fibre", "transceiver", "transceiver"]


def test_a_port_alone_takes_a_whole_splitter_where_nothing_else_joins_it():
    """200 Gbit/s from an OSFP cage: the catalogue has the active optical splitter alone; a leg stays spare."""
    lone = chosen([run([(100, 0), (101, 0)], ("", "osfp-finned"), "hdr")], [[2.0, 2.0]])
    assert lone == 2 * [{"mfa7u10-h003": Fraction(1)}]


@pytest.mark.parametrize("name", ["llama-70b-dgx-h100", "superpod-h100-su", "gb200-nvl72", "llama-8b-continued-mi300x"])
def test_a_plan_has_every_splitter_in_one_cage(name):
    plan = examples.sized(name).design.plan
    legs, media, pieces = defaultdict(list), defaultdict(set), Counter()
    for cable in plan.cables:
        of_run = cable.run
        for device, port, number in zip(of_run.b_device, of_run.b_port, cable.choice, strict=True):
            for item, each in cable.choices[number].items:
                one = CATALOG.cables[item]
                if len(one.connectors) > 1 and one.ports_each > 1:
                    legs[item, device, port // 2].append(each)
                    pieces[item] += each
                media[device, port // 2].add(one.media)
    assert all(sum(each) == 1 for each in legs.values())
    bought = Counter()
    for part in plan.components:
        bought[part.item] += int(part.quantity[0])
    assert {item: bought[item] for item in pieces} == pieces
    assert all(len(media[device, cage]) == 1 for _, device, cage in legs)
