"""Costs are equal where neither is likely to be the lower: what a building and a team need not change leads, then what
is worth something beyond the target."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sizer import SizingRequest
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.reasons import TieBreak
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import MOST_TIED, SETTLED, Ranking, is_tied, row_difference, tie_break

WORK = {
    "name": "tracks",
    "epochs": 100,
    "dnn": {
        "name": "tracks",
        "forward_flop": 2.5e12,
        "parameters": 186e6,
        "input_bytes": 8.4e6,
        "kind": "transformer",
    },
    "dataset": {"name": "sequences", "n_samples": 1.5e6, "sample_bytes": "10 MB", "format": "records"},
    "target": {"time_to_train_s": "7 d"},
}


def test_of_designs_that_cost_the_same_the_faster_leads():
    """Three servers with eight H100 and two with eight B200 cost as much within the bands."""
    catalog = shipped_catalog()
    platforms = {"servers": ["as-8125gs-tnhr", "as-a126gs-tnbr"], "storage": ["ai400x2-turbo"], "fabrics": ["ndr"]}
    data = {"minimum_capacity_bytes": "200 TB"}
    asked = SizingRequest.from_dict({"workload": [WORK], "platforms": platforms, "data": data})
    counts = search(asked, catalog, stored_calibration())
    first, second = Ranking(counts).first(2)
    assert 1 - SETTLED < row_difference(counts, second, first).p_more < SETTLED
    assert is_tied(counts, first, second)
    assert is_tied(counts, second, first)
    times = counts.evaluated.time_at(np.array([first, second]))
    assert times[0] <= times[1]


def test_of_designs_that_cost_the_same_the_one_for_x86_and_cuda_leads():
    """Two GH200 in an Arm server and eight L40S in an x86 one: a tenth of the price decides nothing."""
    work = WORK | {"dataset": WORK["dataset"] | {"n_samples": 1e5}, "target": {"time_to_train_s": "7 d"}}
    platforms = {"servers": ["hpe-dl384", "xe7745"], "gpus": ["gh200-144gb", "l40s-48gb"]}
    local = {"storage": ["nvme-to-confirm", "xe7745-nvme"]}
    asked = SizingRequest.from_dict({"workload": [work], "platforms": platforms | local})
    counts = search(asked, shipped_catalog(), stored_calibration())
    leader, *others = Ranking(counts).all()
    platform = counts.evaluated.platforms[int(counts.evaluated.space.platform[leader])]
    assert (platform.server.id, platform.other_software) == ("xe7745", None)
    assert [is_tied(counts, leader, row) for row in others] == [True]
    assert counts.ranking_cost[leader] > counts.ranking_cost[others[0]]


def test_what_cannot_cost_as_little_as_the_leader_is_not_counted():
    """A platform whose servers and storage alone cost more than a tie with the leader may is left alone."""
    work = {"dnn": "resnet50", "dataset": "imagenet-x10", "target": {"samples_per_s": 2_000}}
    platforms = {"servers": ["dgx-1", "dgx-2"], "storage": ["isilon-f800"]}
    asked = SizingRequest.from_dict({"workload": [work], "platforms": platforms})
    counts = search(asked, shipped_catalog(), stored_calibration(), most=24)
    leader = Ranking(counts).first(1)[0]
    least = np.where(counts.candidates, counts.main_cost.cost, np.inf).min(axis=1)
    counted = counts.has_parts.reshape(counts.candidates.shape).any(axis=1)
    assert least[counted].max() <= MOST_TIED * counts.ranking_cost[leader]


def two_designs(target: dict[str, Any], technology=((False, None), (False, None)), **site: Any) -> Any:
    """Four cards in 4 U and two slower ones in 2 U, in two servers each, at one cost."""
    work = WORK | {"target": target}
    return SimpleNamespace(
        request=SizingRequest.from_dict({"workload": [work], "site": site}),
        catalog=shipped_catalog(),
        evaluated=SimpleNamespace(
            space=SimpleNamespace(platform=np.array([0, 1]), n_servers=np.array([2, 2])),
            platforms=[SimpleNamespace(technology=one) for one in technology],
            storage_nodes=np.array([0, 0]),
            time_at=lambda rows, *_confidence: np.array([1.0, 2.0])[rows],
        ),
        power_w=np.array([6000.0, 3600.0]),
        rack_units=np.array([8.0, 4.0]),
        expected_cost=np.array([100_000.0, 100_000.0]),
        parts=lambda _row: SimpleNamespace(draw_is_open=np.array([False])),
    )


def test_speed_beyond_a_rate_that_is_asked_is_worth_nothing_and_less_power_is():
    rate, deadline = {"samples_per_s": 10}, {"time_to_train_s": "7 d"}
    assert tie_break(two_designs(rate), 1, 0) is TieBreak.LESS_POWER
    assert tie_break(two_designs(rate), 0, 1) is None
    assert tie_break(two_designs(deadline), 0, 1) is TieBreak.FASTER
    assert tie_break(two_designs(deadline), 1, 0) is None


@pytest.mark.parametrize("target", [{"samples_per_s": 10}, {"time_to_train_s": "7 d"}])
def test_air_leads_where_nobody_spoke_of_water(target: dict[str, Any]):
    liquid, air = (True, None), (False, None)
    for technology, row in (((liquid, air), 1), ((air, liquid), 0)):
        assert tie_break(two_designs(target, technology), row, 1 - row) is TieBreak.AIR
        assert tie_break(two_designs(target, technology), 1 - row, row) is None
        with_water = two_designs(target, technology, cooling="liquid")
        assert TieBreak.AIR not in (tie_break(with_water, 0, 1), tie_break(with_water, 1, 0))


def test_owned_equipment_on_water_speaks_of_water():
    designs = two_designs({"samples_per_s": 10}, ((True, None), (False, None)))
    existing = {"existing": {"servers": {"dell-xe9640": 1}}}
    designs.request = SizingRequest.from_dict({"workload": [WORK | {"target": {"samples_per_s": 10}}], **existing})
    assert tie_break(designs, 1, 0) is TieBreak.LESS_POWER


@pytest.mark.parametrize(
    ("gpus", "leader"),
    [
        (("rtx-pro-6000-96gb", "l40s-48gb"), 0),  # Blackwell with twice the memory of Ada Lovelace
        (("h200-nvl-141gb", "h100-nvl-94gb"), 0),  # of one generation: more memory
        (("rtx-pro-6000-96gb", "h200-nvl-141gb"), None),  # newer with less: what follows decides
    ],
)
def test_newer_gpus_with_no_less_memory_lead_where_models_are_in_use(gpus, leader):
    designs = two_designs({"samples_per_s": 10})
    work = {"dnn": "llama-3-8b", "task": "serving", "use": "chat", "target": {"requests_per_s": 1}}
    designs.request = SizingRequest.from_dict({"workload": [work]})
    designs.evaluated.platforms = [
        SimpleNamespace(technology=(False, None), gpu=shipped_catalog().gpus[gpu], gpus_per_server=4) for gpu in gpus
    ]
    first, second = tie_break(designs, 0, 1), tie_break(designs, 1, 0)
    assert (first is TieBreak.NEWER) == (leader == 0)
    assert second is (None if leader == 0 else TieBreak.LESS_POWER)
