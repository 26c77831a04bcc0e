"""When the first year's equipment is used up: each limit with its load in every year, all else standing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities
from sizer.questions.growth.size import Size
from sizer.sizing.constraints.stored_data import data_held
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.workload_run import Run, run_on
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload, resolve

# Names are English until they are shown.
GPUS, DECODE = "Rate of the GPUs", "Host processors that decode"
READS, CAPACITY = "Storage read rate", "Storage capacity"
GATEWAY, NICS = "Gateway uplinks", "Network ports of the servers"
SWITCH_PORTS, UNITS = "Switch ports", "Rack units of the racks"
FEEDS, WAITS = "Power feeds of the racks", "Servers for the team's waits"
RACK_LIMIT, POWER_LIMIT = "Limit of racks", "Limit of power"
UNIT_LIMIT, SERVER_LIMIT = "Limit of rack units", "Limit of servers"


@dataclass(frozen=True)
class TeamNeed:
    """What the team of one year asks of one kind of server."""

    n_servers: float  # the fewest with which every kind of job starts in time; inf: none looked at
    bytes_per_s: float  # that all jobs together read on the first year's servers


@dataclass(frozen=True)
class Limit:
    """What is asked of one part of the first year's cluster, or of what the request allows, over what it gives."""

    name: str  # English; shown ``translated``
    loads: tuple[float, ...]  # of each year; above 1 it does not do; inf where the year asks what nothing gives
    is_gradual: bool  # the load grows with the data and the target; False: in whole devices
    is_of_request: bool = False  # a limit of the request, met with the equipment of each year

    @property
    def year(self) -> float | None:
        """When the load passes 1; None: not in these years. A fraction where the load grows gradually.

        Growth by a factor a year is a straight line in the logarithm between two years.
        """
        for place, load in enumerate(self.loads):
            if load > 1:
                before = self.loads[place - 1] if place else 0.0
                if not self.is_gradual or before <= 0 or not math.isfinite(load):
                    return float(place + 1)
                return place + math.log(1 / before) / math.log(load / before)
        return None


def used_up(
    platform: Platform,
    needs: Sequence[Size],
    requests: Sequence[SizingRequest],
    teams: Sequence[TeamNeed],
    request: SizingRequest,
    catalog: Catalog,
    calibration: Calibration,
) -> tuple[Limit, ...]:
    """Limits of the first year's equipment on one platform, and of the request, in every year.

    Parameters
    ----------
    platform : Platform
    needs : sequence of Size
        Need of every year; the first is the equipment held fixed.
    requests : sequence of SizingRequest
        Of every year.
    teams : sequence of TeamNeed
        Of every year; empty where the request has no team.
    request : SizingRequest
        As stated: its limits.
    catalog : Catalog
    calibration : Calibration

    Returns
    -------
    tuple of Limit
        Those that are hit first come first; then the others, the fullest first.

    Notes
    -----
    Rates are those that the stages reach with the confidence asked, each alone: together they may miss the target a
    little earlier. Ports, rack units and watts are those of the cluster that each year needs, over what the first
    year's switches, racks and PDUs hold.
    """
    counted = quantities(
        platform,
        [size.n_servers for size in needs],
        [size.storage_nodes for size in needs],
        catalog=catalog,
        limits=request.limits,
        existing=request.existing,
        fabric=request.fabric,
    )
    found = [
        *_rates(platform, needs[0], counted, requests, teams, catalog, calibration),
        *_room(platform, counted, request),
        *_of_request(needs, counted, request),
    ]
    never = math.inf
    return tuple(sorted(found, key=lambda one: (one.year or never, -one.loads[-1])))


def _rates(
    platform: Platform,
    first: Size,
    counted: Quantities,
    requests: Sequence[SizingRequest],
    teams: Sequence[TeamNeed],
    catalog: Catalog,
    calibration: Calibration,
) -> list[Limit]:
    """Loads of the stages of the first year's cluster, and of its capacity."""
    loads: dict[str, list[float]] = {}
    usable, gateway = float(counted.usable_bytes[0]), float(counted.gateway_bytes_per_s[0])
    for year, request in enumerate(requests):
        here: dict[str, float] = {}
        team_bytes_per_s = teams[year].bytes_per_s if teams else 0.0
        works = resolve(request, catalog, calibration.measured)
        for work in works:
            asked = (request, work, platform, [first.n_servers], first.storage_nodes, gateway, catalog, calibration)
            try:
                of_work = _of_stages(run_on(*asked), request, work, gateway, team_bytes_per_s)
            except InfeasibleError:  # not even starting a run leaves time
                of_work = {GPUS: math.inf}
            here = {name: max(load, here.get(name, 0.0)) for name, load in of_work.items()} | {
                name: load for name, load in here.items() if name not in of_work
            }
        if usable > 0:
            here[CAPACITY] = data_held(works, request.data).total_bytes / usable
        for name, load in here.items():
            loads.setdefault(name, []).append(load)
    found = [Limit(name, tuple(of_years), is_gradual=True) for name, of_years in loads.items()]
    if teams:
        waits = tuple(team.n_servers / first.n_servers for team in teams)
        found.append(Limit(WAITS, waits, is_gradual=False))
    return found


def _of_stages(
    run: Run, request: SizingRequest, work: ResolvedWorkload, gateway: float, team_bytes_per_s: float
) -> dict[str, float]:
    """Load of each stage at the rate it has with the confidence asked, or of the team's reads."""
    slow = 1 - evaluate.least_chance(evaluate.share_of(request))
    warm, cold = float(run.need.samples_per_s[0]), float(run.need.cold_samples_per_s[0])
    busy = work.request.target.gpus_busy
    n_gpus = float(run.servers[0] * run.cols.gpus_per_server[0])
    gpus = run.warm.gpu.widened(run.need.gpu_log_sd)
    found = {
        GPUS: busy / n_gpus if busy is not None else float(run.need.gpu_samples_per_s[0] / gpus.quantile(slow)[0]),
        DECODE: float(warm / run.warm.decode.quantile(slow)[0]),
        READS: max(
            float(warm / run.warm.storage.quantile(slow)[0]),
            float(cold / run.cold.storage.quantile(slow)[0]),
            float(team_bytes_per_s / run.side.read.quantile(slow)[0]),
        ),
    }
    reads = work.sample_bytes * np.array([warm * (1 - float(run.comp.hit_fraction[0])), cold])
    exchanged = float(run.comp.exchanged_bytes[0]) * np.array([warm, cold])
    if math.isfinite(gateway):
        found[GATEWAY] = max(float(reads.max()), team_bytes_per_s) / gateway
    if math.isfinite(float(run.side.server_nic_bytes_per_s[0])):
        asked = max(float((reads + exchanged).max()), team_bytes_per_s)
        found[NICS] = asked / float(run.side.server_nic_bytes_per_s[0])
    return found


def _room(platform: Platform, counted: Quantities, request: SizingRequest) -> list[Limit]:
    """What the cluster of each year takes of the first year's switches, racks and PDUs."""
    found = []
    for network in counted.networks:
        ports = int(network.ports_used[0] + network.ports_free[0])
        if network.switch is not None and ports:
            loads = tuple((network.ports_used / ports).tolist())
            found.append(Limit(SWITCH_PORTS, loads, is_gradual=False))
    fullest = [max(column) for column in zip(*(one.loads for one in found), strict=True)]
    limits = [Limit(SWITCH_PORTS, tuple(fullest), is_gradual=False)] if found else []
    racks = int(counted.racks[0])
    if racks:
        units = racks * float(platform.rack.height_u.value)
        limits.append(Limit(UNITS, tuple((counted.rack_units / units).tolist()), is_gradual=False))
        pdus = sum(int(part.quantity[0]) for part in counted.components if part.item == platform.pdu.id)
        watts = pdus / 2 * platform.pdu.capacity_w.value  # either feed carries all
        if request.limits.rack_power_w is not None:
            watts = min(watts, racks * request.limits.rack_power_w)
        limits.append(Limit(FEEDS, tuple((counted.power_max_w / watts).tolist()), is_gradual=False))
    return limits


def _of_request(needs: Sequence[Size], counted: Quantities, request: SizingRequest) -> list[Limit]:
    """What the cluster of each year takes of the limits that the request states."""
    limits = request.limits
    servers = np.array([size.n_servers for size in needs])
    stated = (
        (RACK_LIMIT, counted.racks, limits.racks),
        (POWER_LIMIT, counted.power_max_w, limits.power_w),
        (UNIT_LIMIT, counted.rack_units, limits.rack_units),
        (SERVER_LIMIT, servers, limits.servers),
    )
    return [
        Limit(name, tuple((taken / most).tolist()), is_gradual=False, is_of_request=True)
        for name, taken, most in stated
        if most is not None
    ]
