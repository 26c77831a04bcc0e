"""A server that is enough alone takes any number of cards that it is sold with; clusters the usual ones."""

from typing import Any

import pytest

from sizer import InfeasibleError, SizingRequest, size
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.physical.allowed_parts import gpus_fitted
from sizer.physical.platforms import platforms
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking

DNN = {"name": "ViT-L", "forward_flop": 1.23e11, "parameters": 303e6, "input_bytes": 602_112, "kind": "transformer"}
DATASET = {"name": "tiles", "n_samples": 20e6, "sample_bytes": "100 kB", "format": "records"}


def asked(samples_per_s: float, **limits: float) -> SizingRequest:
    work = {"dnn": DNN, "dataset": DATASET, "epochs": 10, "target": {"samples_per_s": samples_per_s}}
    allowed = {"servers": ["xe7745"], "gpus": ["rtx-pro-6000-96gb"], "storage": ["xe7745-nvme"], "fabrics": ["ndr"]}
    return SizingRequest.from_dict({"workload": [work], "platforms": allowed, "limits": limits})


def first_of(samples_per_s: float) -> tuple[int, int, set[int]]:
    counts = search(asked(samples_per_s), shipped_catalog(), stored_calibration(), most=8)
    row = Ranking(counts).first(1)[0]
    evaluated = counts.evaluated
    gpus = evaluated.gpus_per_server
    return int(evaluated.space.n_servers[row]), int(gpus[evaluated.space.platform[row]]), {int(one) for one in gpus}


def test_one_server_is_fitted_with_as_many_cards_as_the_work_takes():
    """A card trains about 100 images/s at 90 % confidence: 560 take six, 3,000 take servers of the usual numbers."""
    servers, gpus, choices = first_of(560)
    assert servers == 1
    assert gpus == 6
    assert choices == {1, 2, 3, 4, 5, 6, 8}
    servers, _, choices = first_of(3000)
    assert servers > 1
    assert choices == {2, 4, 8}


@pytest.mark.parametrize(("asked_for", "fitted"), [(1, [1]), (3, [3]), (7, [8]), (9, [])])
def test_a_number_that_is_asked_for_is_fitted(asked_for: int, fitted: list[int]):
    assert gpus_fitted(shipped_catalog().servers["xe7745"], asked_for) == fitted


@pytest.mark.parametrize("gpu", ["rtx-pro-6000-max-q-96gb", "rtx-6000-ada-48gb"])
def test_a_workstation_holds_one_to_three_cards(gpu: str):
    server = shipped_catalog().servers["thinkstation-p8"]
    assert gpu in server.gpus
    assert gpus_fitted(server, None) == [1, 2, 3]


@pytest.mark.parametrize(
    ("target", "named", "is_offered"),
    [
        ({"users": 50}, {}, True),
        ({"users": 51}, {}, False),
        ({"active_users": 6}, {}, False),  # a tenth of 60
        ({"users": 2000}, {"servers": ["thinkstation-p8"]}, True),
        ({"users": 2000}, {"gpus": ["rtx-pro-6000-max-q-96gb"]}, True),  # in no other server
        ({"concurrent_requests": 50}, {}, True),
        ({"concurrent_requests": 51}, {}, False),
        ({"requests_per_s": 50 * 12 / 3600}, {}, True),  # fifty people, twelve an hour each
        ({"requests_per_s": 51 * 12 / 3600}, {}, False),
    ],
)
@pytest.mark.parametrize("limits", [{}, {"rack_units": 8}, {"rack_power_w": "5 kW"}])
def test_a_machine_at_a_desk_serves_the_people_of_an_office(
    target: Any, named: dict[str, list[str]], is_offered: bool, limits: dict[str, Any]
):
    """Named, or for few people who state no place in a rack."""
    work = {"task": "serving", "dnn": "qwen3-8b", "use": "chat", "target": target}
    asked_for = SizingRequest.from_dict({"workload": [work], "platforms": named, "limits": limits})
    offered = {one.server.id for one in platforms(shipped_catalog(), asked_for)}
    assert ("thinkstation-p8" in offered) is (is_offered and (not limits or bool(named)))


@pytest.mark.parametrize(("task", "is_apart"), [("validation-inference", True), ("training", False)])
def test_servers_that_only_evaluate_share_no_work(task: str, is_apart: bool):
    work = {"task": task, "dnn": "resnet50", "target": {"samples_per_s": 1e5}}
    offered = platforms(shipped_catalog(), SizingRequest.from_dict({"workload": [work]}))
    assert {one.has_replicas_apart for one in offered} == {is_apart}


def test_more_budget_never_gives_a_smaller_chance():
    """Of targets and budget together, by the described design or the likelier one that the answer names."""
    chances = [_best_chance(asked(500, budget=budget)) for budget in (60_000, 80_000, 100_000, 140_000)]
    assert chances == sorted(chances)
    assert chances[-1] >= 0.85


def _best_chance(request: SizingRequest) -> float:
    try:
        result: Any = size(request, shipped_catalog())
    except InfeasibleError:
        return 0.0
    likelier = None if result.likelier is None else result.likelier.value
    chances = [one.joint_probability for one in (result.design, likelier) if one is not None]
    if likelier is not None:
        assert likelier.joint_probability > result.design.joint_probability
    return max(chances)
