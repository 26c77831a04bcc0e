"""Laws of losses, rates and unknown values."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import Catalog, InfeasibleError, SizingRequest, SizingResult, size
from sizer.base.arrays import Floats
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Items
from sizer.physical.capacity import node_limits, nodes_per_unit
from sizer.physical.layout import building_plan
from sizer.physical.losses import Losses
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import Role
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.constraints.remaining_capacity import capacity_after
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.platform_columns import fabric_shares
from sizer.sizing.stages.workload_run import run_on
from tests.factories.examples import catalog
from tests.factories.requests import CATALOG
from tests.property.law_examples import law

PARTS = [
    ("dgx-1", "isilon-f800", "100gbe"),
    ("dgx-1", "isilon-f800", "edr"),
    ("dgx-1", "dgx1-ssd", "edr"),
    ("c4140", "isilon-f800", "edr"),
    ("c4140", "isilon-h500", "10gbe"),
    ("c4140", "isilon-f800", "10gbe"),
    ("c4140", "hnas", "edr"),
    ("apollo-6500", "wekaio", "edr"),
    ("dgx-2h", "isilon-f800", "edr"),
    ("c4140", "head-node-nfs", "edr"),
]
ROLES = {
    "switch": (
        *(f"{network} {level} switch" for network in ("compute", "storage") for level in ("leaf", "spine", "core")),
        "back-end switch",
    ),
    "gateway": (Role.GATEWAY,),
}


@pytest.mark.laws
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(PARTS),
    st.integers(1, 60),
    st.integers(4, 24),
    st.sampled_from(["switch", "gateway"]),
    st.sampled_from([{}, {"rails_apart": True}, {"oversubscription": 2}, {"directors": True}, {"spare_servers": 5}]),
)
def test_the_search_takes_no_more_to_be_left_than_the_plan_has(parts, servers, nodes, loss, fabric):
    _holds(parts, servers, nodes, loss, fabric)


def test_servers_of_several_ports_leave_room_on_every_leaf_for_what_is_dealt():
    _holds(("dgx-2h", "isilon-f800", "edr"), 28, 13, "switch", {"spare_servers": 5})


def _holds(parts, servers, nodes, loss, fabric):
    server, storage, kind = parts
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
            "platforms": {"servers": [server], "storage": [storage], "fabrics": [kind]},
            "fabric": fabric,
            "resilience": {"keeps_targets_without": [loss]},
        }
    )
    platform = platforms(CATALOG, request)[0]
    counted = slice_row(quantities(platform, [servers], [nodes], catalog=CATALOG, fabric=request.fabric), 0)
    if counted.violations:
        return
    plan = building_plan(platform, counted, servers, nodes, catalog=CATALOG, fabric=request.fabric)
    ends = [(end.device, end.port) for link in plan.connections for end in (link.a, link.z)]
    assert len(set(ends)) == len(ends)  # no port is used twice
    losses = Losses(plan)
    there = len(losses.storage_nodes)
    states = list(capacity_after(loss, platform, np.array([servers]), there, request.fabric))
    for device in losses.named(*ROLES[loss]):
        left = losses.without([device])
        # One way of losing a part is at most as good as what the walk finds for this device.
        assert any(_is_at_most(state, left, there, losses) for state in states), (device, left, states)


def _is_at_most(state, left, there, losses):
    """Whether a state of the search promises no more than a plan keeps."""
    if not state.is_running[0]:
        return True
    cut = int(state.nodes_lost[0]) + (-(-there // int(state.node_ways[0])) if state.node_ways[0] else 0)
    ways = int(state.gateway_ways[0])
    uplinks = len(losses.links(Role.GATEWAY))
    gateway = (uplinks - (-(-uplinks // ways) if ways else 0)) / uplinks if uplinks else 1.0
    # Whether the nodes that are left hold the data is asked when their number is known.
    reaches = left.reaches_storage or state.node_ways[0] > 0
    return bool(
        state.n_servers[0] <= left.n_servers
        and (left.n_servers == 1 or state.exchange[0] <= left.exchange_share + 1e-9)
        and state.file[0] <= left.file_share + 1e-9
        and there - cut <= left.storage_nodes
        and state.ports[0] * (there - cut) <= left.node_port_share * left.storage_nodes + 1e-9
        and reaches
        and min(gateway, 0.5 if uplinks and not ways else 1.0) <= left.gateway_share + 1e-9
    )


# Sums of logarithms and powers; a loss of rate that anybody sees is a million times as large.
ROUNDING = 1 - 1e-9
numbers = st.integers(0, 2**32)
dnns = st.sampled_from(["resnet50", "vgg16", "alexnet", "inception-v4"])
ratios = st.sampled_from([1.0, 2.0, 3.0, 5.0])
SERVERS = np.arange(2, 161)


def asked(dnn: str, ratio: float) -> SizingRequest:
    work = {"dnn": dnn, "dataset": "imagenet", "target": {"gpus_busy": 8}}
    return SizingRequest.from_dict(
        {"workload": [work], "platforms": {"generations": ["volta"]}, "fabric": {"oversubscription": ratio}}
    )


@cache
def options() -> list[Platform]:
    return platforms(catalog(), asked("resnet50", 1.0))


def rate(request: SizingRequest, platform: Platform, servers: list[int], nodes: int) -> Floats:
    """Median rates of warm and cold epochs, shape (2, sizes). [samples/s]"""
    (work,) = resolved(request, catalog(), stored_calibration())
    run = run_on(request, work, platform, servers, nodes, np.inf, catalog(), stored_calibration())
    return np.array([np.min([stage.median for stage in stages.limiting()], axis=0) for stages in (run.warm, run.cold)])


@law()
@given(number=numbers, dnn=dnns, ratio=ratios, units=st.integers(0, 9))
def test_more_servers_are_slower_only_where_the_fabric_becomes_oversubscribed(number, dnn, ratio, units):
    """On one leaf all ports have their line rate; a second level of a fabric of 3:1 leaves each a third of it.

    That happens once: from then on the ports have the same share at every size, and more servers are faster.
    """
    request, platform = asked(dnn, ratio), options()[number % len(options())]
    nodes = node_limits(platform.storage)[0] + units * nodes_per_unit(platform.storage)
    share = fabric_shares([platform], np.zeros_like(SERVERS), SERVERS, np.full(SERVERS.shape, nodes), request.fabric)
    assert share.min() >= ROUNDING / ratio
    assert (np.diff(share) <= 0).all()
    found = rate(request, platform, SERVERS.tolist(), nodes)
    is_slower = (found[:, 1:] < ROUNDING * found[:, :-1]).any(axis=0)
    assert not (is_slower & (np.diff(share) == 0)).any()


@law()
@given(
    number=numbers, dnn=dnns, ratio=ratios, servers=st.integers(1, 160), units=st.integers(0, 9), more=st.integers(1, 9)
)
def test_more_storage_is_never_slower_on_the_same_fabric(number, dnn, ratio, servers, units, more):
    """Storage on the fabric takes ports, so that it may be what makes a second level necessary."""
    request, platform = asked(dnn, ratio), options()[number % len(options())]
    step, least = nodes_per_unit(platform.storage), node_limits(platform.storage)[0]
    nodes = [least + units * step, least + (units + more) * step]
    few, many = (rate(request, platform, [servers], one) for one in nodes)
    pair = np.array([servers, servers])
    before, after = fabric_shares([platform], np.zeros_like(pair), pair, np.array(nodes), request.fabric)
    assert after < before or (many >= ROUNDING * few).all()
    assert ratio > 1 or before == after == 1


# A sizing of two platforms takes 0.2 s: data in memory, on one chassis and on many.
EXAMPLES = law()
RATES = st.sampled_from([500.0, 4_000.0, 20_000.0])
DATA = st.sampled_from([1e11, 5e12, 3e14, 2e15])
READ_RATES = ("node_read_low_bytes_per_s", "node_read_high_bytes_per_s")


@cache
def _without(folder: str, item: str, *fields: str) -> Catalog:
    """The catalogue without some facts of an item."""
    shipped = shipped_catalog()
    items = dict(shipped.folder(folder))
    items[item] = items[item].model_copy(update=dict.fromkeys(fields, () if fields == ("capacity_options",) else None))
    return replace(shipped, **{folder: Items(folder, items)}, digest=f"without {item} {fields}")


def _request(rate: float, data_bytes: float, storage: list[str], **limits: float) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset_bytes": data_bytes, "target": {"samples_per_s": rate}}
    chosen = {"servers": ["dgx-1"], "storage": storage, "fabrics": ["100gbe"]}
    return SizingRequest.from_dict({"workload": [work], "platforms": chosen, "limits": limits})


def _sized(request: SizingRequest, catalog: Catalog) -> SizingResult | None:
    try:
        return size(request, catalog)
    except InfeasibleError:
        return None


@EXAMPLES
@given(rate=RATES, data_bytes=DATA, fields=st.sampled_from([READ_RATES, ("capacity_options",)]))
def test_a_storage_without_facts_never_wins_against_one_with_facts(
    rate: float, data_bytes: float, fields: tuple[str, ...]
) -> None:
    """Without the F800's rate or capacity the other system is described, exactly as if the F800 were not allowed."""
    known = _sized(_request(rate, data_bytes, ["isilon-h600"]), shipped_catalog())
    mixed = _sized(
        _request(rate, data_bytes, ["isilon-f800", "isilon-h600"]), _without("storage", "isilon-f800", *fields)
    )
    if known is None or mixed is None:
        assert known is None
        assert mixed is None or mixed.design.probability is None
        return
    if mixed.design.platform.storage.id == "isilon-f800":
        # Only data that stay in memory need no rate; what it holds is needed always.
        assert fields == READ_RATES
        assert mixed.design.workloads[0].cache_hit_fraction == 1
        return
    assert mixed.design.name == known.design.name
    assert mixed.design.probability == known.design.probability


@EXAMPLES
@given(rate=RATES, data_bytes=DATA, fields=st.sampled_from([READ_RATES, ("capacity_options",)]))
def test_a_missing_fact_never_raises_a_probability(rate: float, data_bytes: float, fields: tuple[str, ...]) -> None:
    request = _request(rate, data_bytes, ["isilon-f800"])
    known, open_ = _sized(request, shipped_catalog()), _sized(request, _without("storage", "isilon-f800", *fields))
    if open_ is None or known is None:
        return
    if open_.design.conditional_on:
        assert open_.design.probability is None
        assert open_.design.target_check is not CheckResult.MET
    else:
        assert open_.design.probability is not None
        assert known.design.probability is not None
        assert open_.design.probability <= known.design.probability


@EXAMPLES
@given(rate=RATES, power_w=st.sampled_from([5e3, 30e3, 100e3, 1e6]))
def test_an_unknown_draw_never_keeps_a_limit(rate: float, power_w: float) -> None:
    """Without the draw of the server the check of the limit is never met, and the design is conditional."""
    request = _request(rate, 1e11, ["isilon-f800"], power_w=power_w)
    facts = ("power_max_w", "power_typical_w", "power_low_w", "power_high_w")
    result = _sized(request, _without("servers", "dgx-1", *facts))
    if result is None:
        return
    check = next(check for check in result.design.checks if check.kind is CheckKind.POWER)
    assert check.result is CheckResult.OPEN
    assert "dgx-1" in [fact.item for fact in check.missing]
    assert result.design.probability is None
