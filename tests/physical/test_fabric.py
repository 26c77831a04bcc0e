"""Fabric functions: edges and errors."""

import numpy as np
import pytest

from sizer.physical.networks.fat_tree import fat_tree, gateways, uplinked_leaves


def test_no_end_points_need_no_switch():
    tree = fat_tree(0, 36)
    assert (tree.leaves, tree.spines, tree.ports_used, tree.ports_free) == (0, 0, 0, 0)


def test_arrays_of_any_shape():
    """Three levels of 4-port switches join 4^3 / 4 = 16 end points (Al-Fares et al., 2008)."""
    assert fat_tree(np.array([[1, 16], [17, 0]]), 4).fits.tolist() == [[True, True], [False, True]]


def test_flat_limit_below_the_ports():
    """A back end stays flat up to 32 nodes; the 33rd takes two leaves of 24 + 24 and a spine of 48."""
    tree = fat_tree([32, 33], 48, flat_ports=32)
    assert tree.leaves.tolist() == [1, 2]
    assert tree.spines.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 36), "end_points must be at least 0, got -1"),
        ((1, 1), "ports_per_switch must be at least 2, got 1"),
        ((1, 36, 0.5), "oversubscription must be at least 1, got 0.5"),
        ((1, 36, float("nan")), "oversubscription must be at least 1, got nan"),
        ((1, 36, 1.0), "uplink_ratio must be at least 1, got 0.5"),
    ],
)
def test_refuses(arguments, message):
    more = {"uplink_ratio": 0.5} if "uplink_ratio" in message else {}
    with pytest.raises(ValueError, match=message):
        fat_tree(*arguments, **more)


def test_leaves_with_uplinks():
    """48 x 10GbE with 6 x 40GbE: one leaf for 48; beyond, 24 a leaf at 1:1 (24 x 10 = 6 x 40)."""
    tree = uplinked_leaves([48, 49, 97], 48, 6, 4.0, 32)
    assert tree.leaves.tolist() == [1, 3, 5]
    assert tree.spines.tolist() == [0, 1, 1]  # 5 leaves x 6 uplinks = 30 of 32 ports
    assert tree.leaf_spine_cables.tolist() == [0, 18, 30]


def test_storage_on_the_spine():
    """Two leaves bring 12 uplinks; 20 storage ports fill one spine of 32, the 21st takes a second."""
    tree = uplinked_leaves([49, 49], 48, 6, 4.0, 32, [20, 21], oversubscription=2)
    assert tree.leaves.tolist() == [2, 2]
    assert tree.spines.tolist() == [1, 2]


def test_gateways_share_evenly():
    held = gateways([0, 40], [0, 30], 36)
    assert held.gateways.tolist() == [0, 2]  # 20 + 15 = 35 on each
