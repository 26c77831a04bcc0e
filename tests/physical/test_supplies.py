"""Power supplies that remain after the loss of a feed, against those that a full draw takes."""

import pytest

from sizer.physical.notes import PlanNoteKind
from tests.published.test_racks import plan_of, platform_of


@pytest.mark.parametrize(
    ("server", "feeds", "expected"),
    [
        # DGX H100, user guide: six supplies, 4+2. Three remain on one of two feeds; four on two of three.
        # Four carry its 10.2 kW, so three carry three quarters: 7.65 kW.
        ("dgx-h100", "2N", [("DGX H100", 6, 3, 4, True, 7650.0)]),
        # DGX B200: 5+1. Even two of three feeds leave four. Three carry three fifths of 14.3 kW: 8.58 kW.
        ("dgx-b200", "2N", [("DGX B200", 6, 3, 5, False, 8580.0)]),
        # No feed may be lost: nothing is promised.
        ("dgx-h100", "N", []),
        # XE9680: 3+3, but the GPUs are throttled when two or more of six fail, so its full draw takes five. Three
        # carry three fifths of 11.5 kW: 6.9 kW.
        ("xe9680", "2N", [("XE9680", 6, 3, 5, False, 6900.0)]),
        # Six supplies, of which nobody says how many carry the server: 0.
        ("sys-a21ge-nbrt", "2N", [("SYS-A21GE-NBRT", 6, 3, 0, False, 0.0)]),
        # Two supplies, 1+1.
        ("r760xa", "2N", []),
    ],
)
def test_supplies_after_the_loss_of_a_feed(server, feeds, expected):
    storage = f"{server}-nvme" if server.startswith("dgx") else "ai400x2-turbo"
    rack = {"rack": "ar3357", "network_racks": True, "feeds": feeds}
    platform, nodes = platform_of(server, storage, rack, ["ndr"]), 0 if server.startswith("dgx") else 1
    _, plan = plan_of(platform, 2, nodes, rack_power_w="41 kW")
    assert [note.values for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES] == expected


def test_three_feeds_leave_enough():
    """Four DGX H100 on three circuits, the published rack: each of them keeps four of its six supplies."""
    rack = {"rack": "ar3357", "network_racks": True, "feeds": "N+1"}
    _, plan = plan_of(platform_of("dgx-h100", "dgx-h100-nvme", rack, ["ndr"]), 4, rack_power_w="41 kW")
    assert not [note for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES]
