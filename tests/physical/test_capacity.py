"""Capacity: smallest systems, limits, unknowns and the ladder of documents."""

import numpy as np
import pytest

from sizer.physical.capacity import (
    capacity_ladder,
    changing_steps,
    is_extrapolated,
    nodes_there,
    smallest_nodes,
    usable_bytes,
)
from sizer.physical.notes import PlanNoteKind


@pytest.mark.parametrize(
    ("storage", "option", "needed", "nodes", "fits"),
    [
        # 96 TB chassis: 72 TB on 4 nodes; 8 nodes 192 x 0.875 = 168 TB, which the table's 1/n gives.
        ("isilon-f800", 0, [1.0, 72e12, 72.1e12, 168e12, 169e12], [4, 4, 8, 8, 12], [True] * 5),
        ("isilon-f800", 1, [1e17], [252], [False]),
        ("head-node-nfs", 0, [119e12, 121e12], [0, 0], [True, False]),  # a fixed system has no nodes
    ],
)
def test_smallest_nodes(catalog, storage, option, needed, nodes, fits):
    found = smallest_nodes(catalog.storage[storage], option, needed)
    assert (found.nodes.tolist(), found.fits.tolist()) == (nodes, fits)


def test_unknown_capacity_is_not_zero(catalog):
    assert np.isnan(usable_bytes(catalog.storage["nfs-generic"], 0, 0))
    assert smallest_nodes(catalog.storage["nfs-generic"], 0, 1e15).fits


def test_raw_capacity_bounds_what_is_not_known(catalog):
    """A pair has 369 TB raw and a protection that nobody prints: 1.2 PB take four pairs. Half a pair is one."""
    found = smallest_nodes(catalog.storage["netapp-a90"], 0, [3e14, 1.2e15])
    assert found.nodes.tolist() == [2, 8]
    assert found.fits.all()
    pair = catalog.storage["netapp-a800"]
    assert [nodes_there(pair, n) for n in (0, 1, 2, 3)] == [0, 2, 2, 4]


def test_weka_needs_its_minimum(catalog):
    """Six hosts: one spare, 3 + 2 on the rest; the stripe grows to 16 + 2 from 20 hosts on (16 + 2 + 2 spares)."""
    weka = catalog.storage["wekaio"]
    raw = weka.capacity_options[0].raw_bytes.value
    assert usable_bytes(weka, 0, [5, 6, 20]) == pytest.approx([0, raw * 5 * 3 / 5 * 0.8, raw * 18 * 16 / 18 * 0.8])


@pytest.mark.parametrize(
    ("storage", "nodes"), [("isilon-f800", 8), ("wekaio", 8), ("head-node-nfs", 0), ("dgx1-ssd", 0)]
)
def test_ladder_goes_down_to_usable(catalog, storage, nodes):
    item = catalog.storage[storage]
    steps = capacity_ladder(item, 0, nodes)
    sizes = [step.capacity_bytes for step in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert steps[-1].label == "usable"
    assert steps[-1].capacity_bytes == usable_bytes(item, 0, nodes)
    assert all(step.source in catalog.sources for step in steps if step.source)


def test_ladder_of_an_unknown_system_is_empty(catalog):
    assert capacity_ladder(catalog.storage["nfs-generic"], 0, 0) == ()


def test_extrapolation_is_flagged(catalog):
    f800 = catalog.storage["isilon-f800"]
    assert not is_extrapolated(f800, 4)
    assert is_extrapolated(f800, 8)
    assert capacity_ladder(f800, 0, 8)[1].how.kind is PlanNoteKind.ONEFS_EXTRAPOLATED


def test_steps_that_take_nothing_are_not_listed(catalog):
    """One AI400X2 has no hot spare and no parity of its own: 250 TB raw, 71 % of it usable."""
    steps = changing_steps(capacity_ladder(catalog.storage["ai400x2"], 0, 1))
    assert [step.label for step in steps] == ["raw", "reserve", "usable"]
    assert steps[0].capacity_bytes > steps[1].capacity_bytes == steps[2].capacity_bytes
