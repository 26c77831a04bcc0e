"""Time-varying limits: utilization of each part of the year-1 cluster in every year, nothing else added."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import storage_tiers
from sizer.sizing.growth.result import CapacityLimit, ClusterSize, LimitKind
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.workload_run import WorkloadRun, run_on
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class TeamDemand:
    """Demand of one year's team on one kind of server."""

    n_servers: float  # fewest with which every kind of job meets its queue-wait target; inf: no count examined does
    bytes_per_s: float  # read by all jobs together on the year-1 servers


def limits_over_time(
    platform: Platform,
    needs: Sequence[ClusterSize],
    requests: Sequence[SizingRequest],
    teams: Sequence[TeamDemand],
    request: SizingRequest,
    catalog: Catalog,
    calibration: Calibration,
) -> tuple[CapacityLimit, ...]:
    """Load on each limit of one platform's year-1 equipment, and on each limit of the request, in every year.

    ``needs``: need of every year; the first is the fixed equipment. ``requests``: of every year. ``teams``: of every
    year; empty where the request has no team. ``request``: as stated: its limits. In order of the year in which
    they are exceeded; then the others, the highest load first.

    Rates are those that each stage alone reaches with the requested confidence: together the stages may miss the
    target a little earlier. Ports, rack units and watts are those of the cluster that each year needs, divided by the
    capacity of the year-1 switches, racks and PDUs.
    """
    sized = quantities(
        platform,
        [size.n_servers for size in needs],
        [size.storage_nodes for size in needs],
        catalog=catalog,
        limits=request.limits,
        existing=request.existing,
        fabric=request.fabric,
    )
    limits = [
        *_rates(platform, needs[0], sized, requests, teams, catalog, calibration),
        *_space_and_power(platform, sized, request),
        *_stated_limits(needs, sized, request),
    ]
    never = math.inf
    return tuple(sorted(limits, key=lambda limit: (limit.year or never, -limit.loads[-1])))


def _rates(
    platform: Platform,
    first: ClusterSize,
    sized: Quantities,
    requests: Sequence[SizingRequest],
    teams: Sequence[TeamDemand],
    catalog: Catalog,
    calibration: Calibration,
) -> list[CapacityLimit]:
    """Loads on the stages of the year-1 cluster, and on its storage capacity."""
    loads: dict[LimitKind, list[float]] = {}
    gateway = float(sized.gateway_bytes_per_s[0])
    for year, request in enumerate(requests):
        of_year: dict[LimitKind, float] = {}
        team_bytes_per_s = teams[year].bytes_per_s if teams else 0.0
        works = resolved(request, catalog, calibration)
        for work in works:
            arguments = (request, work, platform, [first.n_servers], first.storage_nodes, gateway, catalog, calibration)
            try:
                of_work = _stage_loads(run_on(*arguments), request, work, gateway, team_bytes_per_s)
            except InfeasibleError:  # not even starting a run leaves time
                of_work = {LimitKind.GPU_RATE: math.inf}
            of_year |= {kind: max(load, of_year.get(kind, 0.0)) for kind, load in of_work.items()}
        tiers = storage_tiers(platform, first.storage_nodes, storage_demand(works, request.data), request.data)
        if full := [tier.planned_bytes / tier.usable_bytes for tier in tiers if tier.usable_bytes > 0]:
            of_year[LimitKind.STORAGE_CAPACITY] = max(full)
        for kind, load in of_year.items():
            loads.setdefault(kind, []).append(load)
    limits = [CapacityLimit(kind, tuple(of_years), is_gradual=True) for kind, of_years in loads.items()]
    if teams:
        waits = tuple(team.n_servers / first.n_servers for team in teams)
        limits.append(CapacityLimit(LimitKind.QUEUE_WAIT, waits, is_gradual=False))
    return limits


def _stage_loads(
    run: WorkloadRun, request: SizingRequest, work: ResolvedWorkload, gateway: float, team_bytes_per_s: float
) -> dict[LimitKind, float]:
    """Load on each stage at the rate that it reaches with the requested confidence, team reads included."""
    slow = 1 - evaluate.least_chance(evaluate.share_of(request))
    warm, cold = float(run.need.samples_per_s[0]), float(run.need.cold_samples_per_s[0])
    # A cached data set's first epoch is given time from the margin of the servers, which is no load on these.
    least = evaluate.required_samples_per_s(work, run.length, run.calibration)
    of_servers = 1.0 if least is None else float(least.flat[0] / run.need.gpu_samples_per_s[0])
    busy = work.request.target.gpus_busy
    n_gpus = float(run.servers[0] * run.cols.gpus_per_server[0])
    gpus = run.warm.gpu.widened(run.need.gpu_log_sd)
    loads = {
        LimitKind.GPU_RATE: busy / n_gpus
        if busy is not None
        else float(of_servers * run.need.gpu_samples_per_s[0] / gpus.quantile(slow)[0]),
        LimitKind.HOST_DECODE: float(of_servers * warm / run.warm.decode.quantile(slow)[0]),
        LimitKind.HOST_LINK: float(of_servers * warm / run.warm.host_link.quantile(slow)[0]),
        LimitKind.STORAGE_READS: max(
            float(warm / run.warm.storage.quantile(slow)[0]),
            float(cold / run.cold.storage.quantile(slow)[0]),
            float(team_bytes_per_s / run.side.read.quantile(slow)[0]),
        ),
    }
    reads = read_demand_bytes_per_s([warm, cold], work.sample_bytes, [float(run.comp.hit_fraction[0]), 0.0])
    exchanged = float(run.comp.exchanged_bytes[0]) * np.array([warm, cold])
    if math.isfinite(gateway):
        loads[LimitKind.GATEWAY_UPLINKS] = max(float(reads.max()), team_bytes_per_s) / gateway
    if math.isfinite(float(run.side.server_nic_bytes_per_s[0])):
        carried = max(float((reads + exchanged).max()), team_bytes_per_s)
        loads[LimitKind.SERVER_PORTS] = carried / float(run.side.server_nic_bytes_per_s[0])
    return loads


def _space_and_power(platform: Platform, sized: Quantities, request: SizingRequest) -> list[CapacityLimit]:
    """Loads of the cluster of each year on the year-1 switches, racks and PDUs."""
    of_networks = []
    for network in sized.networks:
        # Ports of leaves: those of spines take no end point.
        ports = int(network.end_points[0] + network.leaf_ports_free[0])
        if network.switch is not None and ports:
            of_networks.append(((network.end_points / ports).tolist(), str(network.role)))
    highest = tuple(max(column) for column in zip(*(loads for loads, _ in of_networks), strict=True))
    _, fullest = max(of_networks, key=lambda one: one[0][-1], default=((), ""))
    limits = [CapacityLimit(LimitKind.SWITCH_PORTS, highest, is_gradual=False, network=fullest)] if fullest else []
    racks = int(sized.racks[0])
    if racks:
        units = racks * float(platform.rack.height_u.value)
        limits.append(CapacityLimit(LimitKind.RACK_UNITS, tuple((sized.rack_units / units).tolist()), is_gradual=False))
        pdus = sum(int(part.quantity[0]) for part in sized.components if part.item == platform.pdu.id)
        # Either of two sides carries all, or all PDUs but one of each rack, or all of them.
        carrying = {"2N": pdus / 2, "N+1": pdus - racks, "N": pdus}[platform.site.feeds]
        watts = carrying * platform.pdu.capacity_w.value
        if request.limits.rack_power_w is not None:
            watts = min(watts, racks * request.limits.rack_power_w)
        limits.append(
            CapacityLimit(LimitKind.POWER_FEEDS, tuple((sized.power_max_w / watts).tolist()), is_gradual=False)
        )
    return limits


def _stated_limits(needs: Sequence[ClusterSize], sized: Quantities, request: SizingRequest) -> list[CapacityLimit]:
    """Loads of the cluster of each year on the limits that the request states."""
    limits = request.limits
    servers = np.array([size.n_servers for size in needs])
    stated = (
        (LimitKind.REQUESTED_RACKS, sized.racks, limits.racks),
        (LimitKind.REQUESTED_POWER, sized.power_max_w, limits.power_w),
        (LimitKind.REQUESTED_RACK_UNITS, sized.rack_units, limits.rack_units),
        (LimitKind.REQUESTED_SERVERS, servers, limits.servers),
    )
    return [
        CapacityLimit(kind, tuple((taken / most).tolist()), is_gradual=False, is_of_request=True)
        for kind, taken, most in stated
        if most is not None
    ]
