"""What fails and what each failure costs: one case for every kind of part that a design has."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import normal_quantile
from sizer.perf.pipeline import throughputs
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.losses import Losses, Remaining, drives_survived, nodes_survived, on_one_side
from sizer.physical.networks.ports import nodes_of
from sizer.physical.racks.feed_loads import FeedLoad, FewSupplies, feed_loads, few_supplies
from sizer.physical.racks.site_rules import coolant_parts
from sizer.physical.roles import NetworkRole, Role
from sizer.questions.team.analysis import TeamModel, team_model
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.evaluate import least_chance
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import ServerRows
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.request import Loss

# Outage that a design tolerates where the lost part is not needed for the target. [s]
UNLIMITED_S = float("inf")


class HardwareAfterLoss(NamedTuple):
    """What a job has after a loss."""

    remaining: Remaining
    n_gpus_per_server: int | None = None  # None: as many as before


def rate_shares(model: WorkloadOnDesign, whole: Remaining, options: Sequence[HardwareAfterLoss]) -> Floats:
    """Rate of a workload after each of some losses, as a share of its rate before.

    ``model``: the workload as it runs on the whole design. ``whole``: the hardware before the loss. 0 where the job
    stops, never above 1: a part of a design is not faster than all of it. [-]
    """
    run, runs = _run(model, [HardwareAfterLoss(whole), *options])
    reads = np.array([option.remaining.reaches_storage for option in (HardwareAfterLoss(whole), *options)])
    # A running job reads from memory alone once its first epoch is over.
    path = [
        replace(stage, median=np.where(reads, stage.median, np.inf)) for stage in (run.warm.storage, run.warm.network)
    ]
    rates = throughputs(replace(run.warm, storage=path[0], network=path[1])).value
    before, *after = np.where(runs & (reads | (run.comp.hit_fraction >= 1)), rates, 0.0).tolist()
    if before <= 0:
        return np.zeros(len(options))
    return np.asarray(np.minimum(np.asarray(after) / before, 1.0))


def target_probabilities(model: WorkloadOnDesign, options: Sequence[HardwareAfterLoss]) -> Floats:
    """Probability that a workload meets its target on the remaining hardware, run after run.

    The target is evaluated as for a design of the remaining hardware: a time to train is that of a run during which
    the part stays out. That is the worst case; a part that is repaired during the run does less harm.

    ``model``: the workload on the whole design. 0 where a run cannot start: no server, GPUs that do not hold the
    network, no path to the data, or fewer GPUs than the target asks for. [-]
    """
    run, runs = _run(model, options)
    reads = np.array([option.remaining.reaches_storage for option in options])
    has_gpus = run.servers * run.cols.gpus_per_server >= (model.work.request.target.gpus_busy or 0)
    return np.where(runs & reads & has_gpus, run.probability, 0.0)


def longest_outage_s(answer: WorkloadAnswer, share: float, confidence: float, *, is_met: bool) -> float:
    """Longest outage of a part, once in a run, with which the target is still met. [s]

    Only a time to train can make up for a slow hour: a run that takes T at the required confidence has t - T to spare,
    and loses 1 - share of every second. A target rate is missed as long as the part is out: 0.

    ``answer``: the workload on the whole design. ``share``: of its rate while the part is out, 0 to 1. [-]
    ``confidence``: with which the target is to be met. [-] ``is_met``: whether it is met even if the part stays out.
    """
    if is_met:
        return UNLIMITED_S
    asked = answer.workload.target.time_to_train_s
    if asked is None or answer.time is None:
        return 0.0
    total = answer.time.total_s
    takes_s = float(total.value * np.exp(total.log_sd * normal_quantile(confidence)))
    # A full rate with a missed target: the job continues from memory, and the next one cannot start.
    return max(asked - takes_s, 0.0) / (1 - share if share < 1 else 1.0)


def _run(model: WorkloadOnDesign, options: Sequence[HardwareAfterLoss]) -> tuple[WorkloadRun, Bools]:
    """The workload on the hardware that remains, row by row, and whether there are servers that hold it."""
    left, cols = [option.remaining for option in options], model.run.cols
    used = float(cols.gpus_per_server[0])
    shares = {
        "exchange_bytes_per_s": [one.exchange_share or 1.0 for one in left],
        "storage_nic_bytes_per_s": [one.file_share or 1.0 for one in left],
        # Storage that no link of the plan leads to keeps its ports: their cabling is out of scope.
        "node_line_bytes_per_s": (ports := [one.node_port_share if one.storage_nodes else 1.0 for one in left]),
        "mounts_per_node": ports,
    }
    cols = cols.take(np.zeros(len(options), dtype=np.int64))
    cols = replace(
        cols,
        gpus_per_server=np.array([float(option.n_gpus_per_server or used) for option in options]),
        **{name: getattr(cols, name) * np.array(share) for name, share in shares.items()},
    )
    servers, gateway = np.array([one.n_servers for one in left]), model.gateway_bytes_per_s
    hosts = ServerRows([model.platform], cols, np.maximum(servers, 1), model.catalog, model.calibration)
    run = WorkloadRun(
        work=model.work,
        comp=compute_side.compute(model.work, hosts),
        cols=cols,
        servers=hosts.n_servers,
        nodes=np.array([one.storage_nodes or model.storage_nodes for one in left]),
        gateway_bytes_per_s=np.array([gateway * (one.gateway_share or 1.0) for one in left]),
        confidence=evaluate.share_of(model.request),
        calibration=model.calibration,
    )
    return run, (servers > 0) & all_fit([model.work], hosts)


FailureKey = Literal[
    "gpu",
    "server",
    "storage-node",
    "drive",
    "leaf",
    "spine",
    "core",
    "switch-cable",
    "front-end-switch",
    "gateway",
    "gateway-uplink",
    "back-end-switch",
    "in-band-switch",
    "management-switch",
    "head",
    "subnet-manager",
    "power-feed",
    "coolant-unit",
]


@dataclass(frozen=True)
class JobsRestart:
    """Jobs restart on other hardware; training from its last checkpoint, if it writes any."""

    on: Literal["another GPU", "GPUs", "servers"]
    count: int  # of these
    has_training: bool
    has_checkpoints: bool = False  # whether the storage is sized for checkpoints of the training


@dataclass(frozen=True)
class WorkStops:
    """Nothing runs until the part is repaired."""


@dataclass(frozen=True)
class NodeLost:
    """A storage node is lost; whether the data survive depends on the protection of the storage."""

    storage: str
    n_survived: int | None  # nodes that the protection survives; None: no source says
    remaining_nodes: int
    min_nodes: int | None  # that a rebuild needs, where fewer remain
    controllers: int = 1  # of an appliance: one of them is lost, and the others go on with all data


@dataclass(frozen=True)
class DriveLost:
    """A drive is lost; whether the data survive depends on the protection of the storage."""

    storage: str
    n_survived: int | None  # drives that the protection survives; None: no source says
    is_local: bool
    n_servers: int


@dataclass(frozen=True)
class CapacityReduced:
    """Servers, storage nodes, ports or uplinks are out of reach."""

    whole: Remaining
    remaining: Remaining
    is_cached: bool  # whether the servers' memory holds all data


@dataclass(frozen=True)
class FeedLost:
    """One power feed is lost."""

    unpowered: tuple[str, ...]  # single-corded devices on the larger side
    unknown: tuple[str, ...]  # devices whose feeds the plan does not know
    few_supplies: tuple[FewSupplies, ...]  # kinds of devices that keep too few supplies for their full draw
    loads: tuple[FeedLoad, ...]  # of the PDUs, power shelves and inlets that carry the load of both feeds
    capacity: CapacityReduced
    load_is_known: bool = True  # False: some device of a rack has no published maximum, and more may be drawn


@dataclass(frozen=True)
class JobsContinue:
    """Running jobs go on; what is missing meanwhile follows from the part."""

    n_servers: int
    has_in_band: bool = False  # whether operating systems have a network of their own


@dataclass(frozen=True)
class StandbyTakesOver:
    """Running jobs go on; the standby head node starts the next ones."""

    n_left: int  # head nodes


@dataclass(frozen=True)
class CoolantLost:
    """One coolant distribution unit is lost."""

    needed_w: float  # heat that the coolant of the design carries at most
    remaining_w: float  # that the other units take: one is spare


FailureEffect = (
    JobsRestart
    | WorkStops
    | NodeLost
    | DriveLost
    | CapacityReduced
    | FeedLost
    | CoolantLost
    | JobsContinue
    | StandbyTakesOver
)


class FailureScenario(NamedTuple):
    """A failure before its rates are known.

    Of several ways to go on, the one that meets most targets counts, then the fastest.
    """

    key: FailureKey
    is_only: bool  # whether the design has only one such part
    options: tuple[HardwareAfterLoss, ...]
    effect: Callable[[Remaining], FailureEffect]
    is_certain: bool = True  # False: no source says whether the data survive, or the devices run on


# The kind of loss that a request names for a failure.
_LOSSES: Mapping[str, Loss] = {
    "server": "server",
    "storage-node": "storage-node",
    "leaf": "switch",
    "spine": "switch",
    "core": "switch",
    "front-end-switch": "switch",
    "back-end-switch": "switch",
    "gateway": "gateway",
    "power-feed": "feed",
    "head": "head-node",
}


class FailureScenarios:
    """The scenarios of one design."""

    def __init__(self, result: SizingResult, losses: Losses) -> None:
        self.design: DesignAnswer = result.design
        self.losses, self.whole = losses, losses.whole
        per_server = self.design.platform.gpus_per_server
        self.n_gpus = min(result.request.platforms.gpus_per_server or per_server, per_server)
        self.is_cached = all(answer.cache_hit_fraction >= 1 for answer in self.design.workloads)
        self.has_training = any(answer.workload.task == "training" for answer in self.design.workloads)
        jobs = [answer.job for answer in self.design.workloads]
        self.has_checkpoints = any(job is not None and job.checkpoints.is_asked for job in jobs)

    def loss_of(self, key: FailureKey) -> Loss | None:
        """Kind of loss that a request names for a failure; a head node that serves the files is a storage node."""
        return "storage-node" if key == "head" and self._head_serves_files else _LOSSES.get(key)

    def all(self) -> Iterator[FailureScenario]:
        """All scenarios that apply, in the order of the data path."""
        yield self._gpu()
        yield self._server()
        yield from self._storage()
        yield from self._fabric()
        gateways, uplinks = self.losses.named(Role.GATEWAY), self.losses.links(Role.GATEWAY)
        if gateways:
            yield self._reduced("gateway", gateways[0], is_only=len(gateways) == 1)
        if uplinks:
            yield self._reduced("gateway-uplink", cables=[uplinks[0].id])
        if self.losses.named(Role.BACK_END_LEAF):
            yield self._unharmed("back-end-switch", JobsContinue(self.design.n_servers))
        yield from self._management()
        yield from self._power()
        yield from self._cooling()

    def _reduced(
        self, key: FailureKey, *devices: str, cables: Sequence[str] = (), is_only: bool = False
    ) -> FailureScenario:
        """Loss of some devices or cables."""
        options = tuple(
            HardwareAfterLoss(self.losses.without(devices, cables, only_whole=only_whole))
            for only_whole in (False, True)
        )
        return FailureScenario(key, is_only, options, self._capacity)

    def _unharmed(self, key: FailureKey, effect: FailureEffect) -> FailureScenario:
        return FailureScenario(key, False, (HardwareAfterLoss(self.whole),), lambda _: effect)

    def _stopped(self, key: FailureKey, effect: FailureEffect, *, is_only: bool = False) -> FailureScenario:
        nothing = Remaining(0, 0.0, False, 0.0, 0, 0.0, 0.0)
        return FailureScenario(key, is_only, (HardwareAfterLoss(nothing),), lambda _: effect)

    def _server_less(
        self, key: FailureKey, effect: Callable[[Remaining], FailureEffect] | None = None
    ) -> FailureScenario:
        option = HardwareAfterLoss(self.losses.without(self.losses.named(Role.GPU_SERVER)[:1]))
        return FailureScenario(key, False, (option,), effect or self._restart_on_servers)

    def _capacity(self, remaining: Remaining) -> CapacityReduced:
        return CapacityReduced(self.whole, remaining, self.is_cached)

    def _restart_on_servers(self, remaining: Remaining) -> JobsRestart:
        return self._restart("servers", remaining.n_servers)

    def _restart(self, on: Literal["another GPU", "GPUs", "servers"], count: int) -> JobsRestart:
        return JobsRestart(on, count, self.has_training, self.has_checkpoints)

    def _gpu(self) -> FailureScenario:
        if self.n_gpus < self.design.platform.gpus_per_server:
            return self._unharmed("gpu", self._restart("another GPU", 1))
        if self.design.n_servers > 1:
            return self._server_less("gpu")
        if self.n_gpus > 1:
            # A tray of a system that arrives as a rack is taken out whole.
            hosts = nodes_of(self.design.platform.server)
            rest = self.n_gpus - (self.n_gpus // hosts if hosts > 1 else 1)
            effect = self._restart("GPUs", rest)
            return FailureScenario("gpu", False, (HardwareAfterLoss(self.whole, rest),), lambda _: effect)
        return self._stopped("gpu", WorkStops())

    def _server(self) -> FailureScenario:
        if self.design.n_servers == 1:
            return self._stopped("server", WorkStops(), is_only=True)
        return self._server_less("server")

    def _storage(self) -> Iterator[FailureScenario]:
        storage, nodes = self.design.platform.storage, self.losses.storage_nodes
        if nodes:
            links = next(iter(nodes.values()))
            controllers = 1 if storage.controllers is None else storage.controllers.value
            each = 1 if nodes_per_unit(storage) == controllers else controllers  # nodes may be the controllers
            remaining = self.losses.without(cables=[link.id for link in links[: -(-len(links) // each)]])
            survives = nodes_survived(storage)
            least = storage.min_nodes.value if storage.min_nodes is not None else 0
            has_room = storage.stripe_parity is None or remaining.storage_nodes >= least
            lost = NodeLost(
                storage.name, survives, remaining.storage_nodes, None if has_room else int(least), controllers
            )
            if controllers > 1:
                # The ports of one controller are lost; that the data remain is as sure as the fact.
                is_certain = storage.controllers is not None and storage.controllers.basis != "assumed"
                yield FailureScenario(
                    "storage-node", False, (HardwareAfterLoss(remaining),), lambda _: lost, is_certain
                )
            elif remaining.storage_nodes == 0 or survives == 0:
                yield self._stopped("storage-node", lost)
            else:
                options, is_certain = (HardwareAfterLoss(remaining),), survives is not None
                yield FailureScenario("storage-node", False, options, lambda _: lost, is_certain)
        if nodes or storage.kind == "local" or self._head_serves_files:
            yield self._drive()

    @property
    def _head_serves_files(self) -> bool:
        storage = self.design.platform.storage
        return storage.kind == "nfs-server" and storage.server is not None

    def _drive(self) -> FailureScenario:
        storage, n_servers = self.design.platform.storage, self.design.n_servers
        lost = DriveLost(storage.name, drives_survived(storage), storage.kind == "local", n_servers)
        if lost.n_survived:
            return self._unharmed("drive", lost)
        if not lost.is_local:
            return self._unharmed("drive", lost)._replace(is_certain=False)
        return self._stopped("drive", lost) if n_servers == 1 else self._server_less("drive", lambda _: lost)

    def _fabric(self) -> Iterator[FailureScenario]:
        leaves, spines = (self.losses.named(role) for role in (Role.COMPUTE_LEAF, Role.COMPUTE_SPINE))
        if len(leaves or spines) == 1:
            yield self._reduced("leaf", (leaves or spines)[0], is_only=True)
        elif leaves:
            yield self._reduced("leaf", self._worst(leaves))
        if leaves and spines:
            yield self._reduced("spine", spines[0])
        cores = self.losses.named(Role.COMPUTE_CORE)
        if cores:
            yield self._reduced("core", cores[0])
        between = self.losses.links_between_switches()
        cable = next((link.id for link in between if link.network.network is NetworkRole.COMPUTE), None)
        if cable is not None:
            yield self._reduced("switch-cable", cables=[cable])
        fronts = self.losses.named(Role.STORAGE_LEAF)
        if fronts:
            yield self._reduced("front-end-switch", self._worst(fronts))

    def _worst(self, switches: Sequence[str]) -> str:
        """The switch that alone carries the most servers, then the one with the most ports of servers and storage."""
        of_servers = [link for link in self.losses.links(Role.GPU_SERVER) if link.z.device in switches]
        ports = Counter(link.z.device for link in of_servers)
        of_nodes = Counter(link.z.device for links in self.losses.storage_nodes.values() for link in links)
        reached: dict[str, set[str]] = {}
        for link in of_servers:
            reached.setdefault(link.a.device, set()).add(link.z.device)
        alone = Counter(next(iter(ways)) for ways in reached.values() if len(ways) == 1)
        return max(switches, key=lambda name: (alone[name], ports[name], of_nodes[name]))

    def _management(self) -> Iterator[FailureScenario]:
        jobs_continue = JobsContinue(self.design.n_servers)
        has_in_band = bool(self.losses.named(Role.IN_BAND_LEAF))
        if has_in_band:  # a pair, on each of which every server has a port
            yield self._unharmed("in-band-switch", jobs_continue)
        if self.losses.named(Role.MANAGEMENT_LEAF):
            yield self._unharmed("management-switch", JobsContinue(self.design.n_servers, has_in_band))
        heads = self.losses.named(Role.HEAD_NODE)
        if heads and self._head_serves_files:
            yield self._reduced("head", heads[0])
        elif heads:
            has_standby = len(heads) > 1
            yield self._unharmed("head", StandbyTakesOver(len(heads) - 1) if has_standby else jobs_continue)
        has_manager = any(net.subnet_manager for net in self.design.quantities.networks)
        if has_manager and self.losses.named(Role.COMPUTE_LEAF, Role.COMPUTE_SPINE):
            yield self._unharmed("subnet-manager", jobs_continue)

    def _power(self) -> Iterator[FailureScenario]:
        plan = self.design.plan
        feeds = [feed for rack in plan.racks for feed in rack.feeds]
        if not feeds or self.design.is_workstation:
            return  # all devices are in racks whose feeds the plan does not know, or at a desk
        unpowered = max(on_one_side(plan).values(), key=len, default=())
        fed = {plan.devices[inlet.device].name for feed in feeds for inlet in feed.inlets}
        unknown = tuple(device.name for rack in plan.racks for device in rack.devices if device.name not in fed)
        loads = feed_loads(plan.racks, plan.catalog)
        few = tuple(few_supplies(plan.racks, plan.device))
        is_known = not any(rack.has_unknown_power for rack in plan.racks)

        def effect(remaining: Remaining) -> FailureEffect:
            capacity = self._capacity(remaining)
            return FeedLost(tuple(unpowered), unknown, few, loads, capacity, load_is_known=is_known)

        # Whether a device with too few supplies runs on depends on its load, as does whether a PDU carries it.
        is_certain = is_known and not few and not unknown
        yield self._reduced("power-feed", *unpowered)._replace(effect=effect, is_certain=is_certain)

    def _cooling(self) -> Iterator[FailureScenario]:
        """Loss of the largest coolant distribution unit, of which one is spare."""
        design, catalog = self.design, self.design.plan.catalog
        needed_w = float(design.quantities.liquid_heat_w[0])
        units_w = [
            catalog.cooling[part.item].capacity_w.value
            for part in coolant_parts(design.quantities)
            for _ in range(int(part.quantity[0]))
        ]
        if needed_w and units_w:
            lost = CoolantLost(needed_w, sum(units_w) - max(units_w))
            whole = HardwareAfterLoss(self.losses.whole)
            yield FailureScenario("coolant-unit", False, (whole,), lambda _: lost)


@dataclass(frozen=True)
class FailureCase:
    """One failure with what it costs."""

    key: FailureKey
    effect: FailureEffect
    throughput: tuple[float, ...]  # of every workload after it, at the median; 0: it stops [samples/s]
    share: tuple[float, ...]  # of its normal rate, 0..1
    is_only: bool = False  # whether the design has only one such part
    loss: Loss | None = None  # the kind of loss that a request can ask a design to tolerate
    # Of every workload: the probability that a run meets the target if the part stays out, whether that is enough, and
    # how long the part may be out once in a run [s]; empty where no source says whether the data survive.
    probability: tuple[float, ...] = ()
    meets_target: tuple[bool, ...] = ()
    outage_s: tuple[float, ...] = ()
    # Share of the jobs of the team that start within their wait limit on the remaining servers, of the worst kind of
    # job; None without a team.
    within_wait: float | None = None
    # Whether all targets are still met together at the required confidence, and the waits of a team; None where it is
    # not known.
    keeps_targets: bool | None = None
    # Whether a source says what the loss does to the rate; of data and power supplies it may be open.
    rate_is_known: bool = True
    # Where that is open: whether the targets are met, and how likely, if the data survive and the devices run on.
    met_if_so: tuple[bool, float] | None = None
    # GPUs that remain, and those that a target asks for in one job; None where enough or none remain.
    too_few_gpus: tuple[int, int] | None = None


def failure_cases(evaluated: EvaluatedDesign) -> tuple[FailureCase, ...]:
    """Failures of single parts of a design, each with what it costs.

    A target is evaluated at the required confidence for runs during which the part stays out. Planned maintenance is
    the same loss, one part after the other.

    Rates are those of the same models on the remaining hardware: fewer servers or storage nodes, ports that are cut
    off, and the share of its uplinks that the worst switch retains. Switches are assumed to route around a loss. Not
    modelled, because no source gives them: the read rate that a rebuild takes, its duration, and how often parts fail.

    In the order of the data path: compute, storage, fabric, management, power. Only parts that the design has.
    """
    result = evaluated.result
    scenarios = FailureScenarios(result, Losses(result.design.plan))
    found = tuple(scenarios.all())
    rates = _ScenarioRates(result, evaluated.workloads, scenarios, found, team_model(evaluated))
    return tuple(rates.case(index, one, scenarios.loss_of(one.key)) for index, one in enumerate(found))


class _ScenarioRates:
    """What the workloads achieve in each scenario, computed for all of them in one pass."""

    def __init__(
        self,
        result: SizingResult,
        models: Sequence[WorkloadOnDesign],
        design: FailureScenarios,
        scenarios: Sequence[FailureScenario],
        team: TeamModel | None,
    ) -> None:
        self._answers, self._gpus_per_server = result.design.workloads, design.n_gpus
        self._confidence = result.request.confidence
        self._required = least_chance(self._confidence)
        options: list[HardwareAfterLoss] = [option for scenario in scenarios for option in scenario.options]
        counts = {option.remaining.n_servers for option in options}
        runs = {count: team.on(count) for count in counts if count} if team else {}
        # No job starts that cannot read its data.
        self._team_runs = [
            runs.get(option.remaining.n_servers) if option.remaining.reaches_storage else None for option in options
        ]
        self._has_team = team is not None
        starts = np.cumsum([0, *(len(scenario.options) for scenario in scenarios)])
        self._options, self._places = options, [range(first, last) for first, last in pairwise(starts.tolist())]
        self._shares = np.array([rate_shares(model, design.whole, options) for model in models])
        is_known = not any(model.is_open for model in models)
        self._probabilities = np.array([target_probabilities(model, options) for model in models]) if is_known else None

    def case(self, place: int, scenario: FailureScenario, loss: Loss | None) -> FailureCase:
        """The case of a scenario."""
        best = max(self._places[place], key=lambda index: (self._keeps(index), float(self._shares[:, index].sum())))
        share = tuple(self._shares[:, best].tolist())
        known, met_if_so = self._probabilities, None
        if known is not None and not scenario.is_certain:
            met_if_so, known = (self._keeps(best), float(known[:, best].prod())), None
        probability = tuple(known[:, best].tolist()) if known is not None else ()
        meets = tuple(one >= self._required for one in probability)
        return FailureCase(
            key=scenario.key,
            effect=scenario.effect(self._options[best].remaining),
            throughput=tuple(
                part * float(answer.throughput.value) for part, answer in zip(share, self._answers, strict=True)
            ),
            share=share,
            is_only=scenario.is_only,
            loss=loss,
            probability=probability,
            meets_target=meets,
            outage_s=tuple(
                longest_outage_s(answer, part, self._confidence, is_met=is_met)
                for answer, part, is_met in zip(self._answers, share, meets, strict=bool(meets))
            ),
            within_wait=self._within_wait(best),
            keeps_targets=self._keeps(best) if meets else None,
            rate_is_known=scenario.is_certain,
            met_if_so=met_if_so,
            too_few_gpus=self._too_few_gpus(self._options[best]),
        )

    def _too_few_gpus(self, option: HardwareAfterLoss) -> tuple[int, int] | None:
        """GPUs that remain, where a target asks for more of them in one job."""
        remaining = option.remaining.n_servers * (option.n_gpus_per_server or self._gpus_per_server)
        asked = max((answer.workload.target.gpus_busy or 0 for answer in self._answers), default=0)
        return (remaining, asked) if 0 < remaining < asked else None

    def _keeps(self, index: int) -> bool:
        """Whether all workloads together meet their targets at the required confidence, and a team its waits."""
        run = self._team_runs[index]
        waits = not self._has_team or (run is not None and run.meets)
        probabilities = self._probabilities
        return probabilities is not None and waits and float(probabilities[:, index].prod()) >= self._required

    def _within_wait(self, index: int) -> float | None:
        """Share of the jobs that start within their wait limit, of the worst kind of job; None without a team."""
        if not self._has_team:
            return None
        run = self._team_runs[index]
        return 0.0 if run is None else min((kind.share_within for kind in run.kinds), default=1.0)
