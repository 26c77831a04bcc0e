"""A splitter has one plug for a cage and a leg for each port of it (data sheets of NVIDIA MCP7Y10 and MFA7U10)."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

from sizer.catalog.loader import shipped_catalog
from sizer.physical.layout import planned_cables
from sizer.physical.networks.links import LinkGroup
from sizer.physical.roles import Role
from tests.factories import examples

CATALOG = shipped_catalog()
CABLES = tuple(CATALOG.cables.values())


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
