"""Acceptance tests of a design: what to run, what to expect, and the limit that passes."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from sizer.base import units
from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, probability_text, si, significant
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import link_level
from sizer.calibrate.engine import Effect
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.labels import sample_unit
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Gpu, Storage
from sizer.perf.exchange import (
    bus_bytes_per_s,
    hierarchical_allreduce_time_s,
    ring_allreduce_time_s,
    tree_allreduce_time_s,
)
from sizer.perf.step_terms import INTER, INTRA, TERM_NAMES
from sizer.perf.training_step import INTER_HOP_S, INTRA_HOP_S
from sizer.physical.capacity import capacity_ladder, counts_nodes
from sizer.physical.networks.ports import nodes_of
from sizer.physical.platform import Platform
from sizer.physical.racks.feed_loads import feed_loads
from sizer.physical.roles import NetworkRole, Role
from sizer.present import words
from sizer.present.facts.storage_tiers import TIER_CONTENTS, system_name
from sizer.present.text.calibration import compared_time_s
from sizer.present.text.layouts import settings_text
from sizer.present.text.plan import feed_loss_is_open, feed_names
from sizer.present.text.serving import replicas_text
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import StorageTier, TierContent
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.platform_columns import (
    fabric_bytes_per_s,
    mount_rate,
    mount_rates,
    node_read_rate,
    rate_is_unknown,
    storage_nic_bytes_per_s,
)
from sizer.sizing.stages.serving_rates import ServingAnswer, rate_sources
from sizer.sizing.stages.workload_run import WorkloadRun, rate_in_one_server, sequential_bytes_per_s
from sizer.workload.data import DataRequest

Area = Literal["network", "storage", "compute", "training", "power", "capacity"]


@dataclass(frozen=True)
class Criterion:
    """Limit of a measured value: no laxer than the design's requirement, no stricter than its parts can pass."""

    value: float
    unit: str
    is_least: bool  # at least, else at most
    required: float | None = None  # what the requirement of the design needs of this test; None: nothing
    bound: float = math.inf  # most that ports pass in a raw test, or that storage holds
    expected: float = math.inf  # result that is printed beside the limit, where it is a number

    @property
    def text(self) -> str:
        """The limit in words."""
        return at_least(self.value, self.unit) if self.is_least else at_most(self.value, self.unit)


def least(
    sound: float, unit: str, required: float | None = None, bound: float = math.inf, expected: float = math.inf
) -> Criterion:
    """Limit from below: what sound parts reach, at least what is required, at most what the parts can pass."""
    return Criterion(min(max(sound, required or 0.0), bound), unit, True, required, bound, expected)


def most(sound: float, unit: str, required: float | None = None) -> Criterion:
    """Limit from above: what the requirement allows, else what sound parts stay below."""
    return Criterion(sound if required is None else required, unit, False, required)


@dataclass(frozen=True)
class AcceptanceTest:
    """One test."""

    key: str
    area: Area
    run: str  # what to run, with the tool where a common open one exists
    expect: str  # expected result with its unit
    passes: str  # "at least 11.6 GB/s"
    basis: str  # origin of the numbers
    sources: tuple[str, ...] = ()  # keys of catalog/sources.toml
    criterion: Criterion | None = None  # of a measured value, which ``passes`` prints; None: a count, a state, a record
    about: str = ""  # what several tests share, which heads them: workload, software and settings


def number(value: float, unit: str, like: float | None = None) -> str:
    """Value with its unit; seconds in the most readable unit, or in that of ``like``."""
    return duration(value, like) if unit == "s" else si(value, unit)


def interval(estimate: Estimate, unit: str, like: float | None = None) -> str:
    """Median and 90 % interval; only the value where it has no spread; ``like``: a time whose unit it takes. [s]"""
    value, low, high = estimate
    if low == high:
        return number(value, unit, like)
    texts = [number(end, unit, like) for end in (value, low, high)]
    # A common unit is printed once.
    if len({text.rpartition(NARROW_SPACE)[2] for text in texts}) == 1:
        texts[1:] = [text.rpartition(NARROW_SPACE)[0] for text in texts[1:]]
    return in_interval(*texts)


def in_interval(value: str, low: str, high: str) -> str:
    """Three texts as a value with its 90 % interval."""
    return f"{value} (90\u202f% interval {low} to {high})"


def at_least(value: float, unit: str) -> str:
    """Limit from below."""
    return f"at least {number(value, unit)}"


def at_most(value: float, unit: str) -> str:
    """Limit from above."""
    return f"at most {number(value, unit)}"


# A raw RDMA test reached 92.40 of 100 Gbit/s between two DGX-1 ("deepops-roce", raw RDMA test).
RAW_TEST_SHARE = 0.924
RAW_TEST_SOURCE = "deepops-roce"
# Payload of a full TCP segment over what it takes on the wire at an MTU of 1,500 B: 1,500 less 20 B of IP, 20 B of TCP
# and 12 B of time stamps (RFC 791, 9293, 7323); 1,500 plus 14 B of header, 4 B of check sum, 8 B of preamble and 12 B
# of gap (IEEE 802.3).
TCP_PAYLOAD_SHARE = 1448 / 1538
# Assumed of links that no published test of the calibration is about: a sound server passes at least so much of the
# line rate in collectives, over the links between its GPUs and over its ports. Operators publish 75 to 105 % of the
# links (A100: 230 to 250 of 300 GB/s, H100: 460 to 480 of 450 GB/s with sums in the switch), 85 to 95 % of the ports.
GPU_LINK_SHARE, PORT_SHARE = 0.7, 0.8
# Where most of the published bandwidths of links come from.
_ALL_REDUCE_SOURCES = ("deepops-roce", "nccl-issues")

_STORAGE = (Role.STORAGE_SERVER, Role.STORAGE_CHASSIS, Role.STORAGE_NODE, Role.CAPACITY_TIER)
# Far beyond the sizes whose time latency sets, and what published tests end with.
MESSAGE_BYTES = units.GIB


def all_reduce_bytes_per_s(
    platform: Platform,
    n_servers: int,
    gpus_per_server: int,
    calibration: Calibration,
    *,
    fabric_share: float = 1.0,
    message_bytes: float = MESSAGE_BYTES,
) -> Estimate | None:
    """Bus bandwidth of one all-reduce, as nccl-tests prints it.

    ``platform``: links inside the server and the fabric between servers. ``n_servers``, ``gpus_per_server``: ranks of
    the test. [-] ``calibration``: its rates of links, fitted to published tests. ``fabric_share``: share of the line
    rate that an oversubscribed fabric leaves. [-] ``message_bytes``: size of the message. [B] Spread of the
    parameters, of runs of one site and of what sites differ by; None for one GPU. [B/s] Raises ValueError if a count
    is below 1 or a size or share not above 0.
    """
    if n_servers * gpus_per_server == 1:
        return None
    effects: list[Effect] = []
    if gpus_per_server > 1:
        effects.append((INTRA, f"intra:{platform.intra_link}", 1.0))
    if n_servers > 1:
        level = link_level(platform.fabric.id)
        effects += [(INTER, f"inter:{level.partition('/')[2]}", 1.0), (INTER, f"inter-link:{level}", 1.0)]
        effects.append((INTER, "inter-site:", 1.0))  # a site that was never measured: the spread of those that were
    terms = calibration.terms_from(effects)
    intra = float(np.exp(terms.values[INTRA]))
    inter = fabric_bytes_per_s(platform.server, platform.fabric) * fabric_share * float(np.exp(terms.values[INTER]))
    time_s = float(
        hierarchical_allreduce_time_s(message_bytes, gpus_per_server, n_servers, intra, inter, INTRA_HOP_S, INTER_HOP_S)
    )
    # Delta method: the logarithm of the time falls by the share of each link in it.
    slope = np.zeros(len(TERM_NAMES))
    slope[INTRA] = float(ring_allreduce_time_s(message_bytes, gpus_per_server, intra)) / time_s
    slope[INTER] = float(tree_allreduce_time_s(message_bytes, n_servers, inter)) / time_s
    variance = float(slope @ terms.covariance @ slope) + float(terms.scatter_log_sd) ** 2
    return Estimate.log_normal(bus_bytes_per_s(message_bytes, n_servers * gpus_per_server, time_s), np.sqrt(variance))


class _Tools(NamedTuple):
    """Test programs of a maker of GPUs."""

    diagnostics: str
    collectives: str


_TOOLS = {
    "NVIDIA": _Tools("nvidia-smi, then dcgmi diag -r 3", "nccl-tests"),
    "AMD": _Tools("amd-smi, then the ROCm Validation Suite (rvs)", "rccl-tests"),
}


def parts_tests(design: DesignAnswer) -> Iterator[AcceptanceTest]:
    """Devices and GPUs, compared with the plan."""
    roles = [device.role for device in design.plan.devices]
    servers, heads = roles.count(Role.GPU_SERVER), roles.count(Role.HEAD_NODE)
    switches = sum(role.forwards for role in roles)
    storage = sum(role in _STORAGE for role in roles)
    named, is_racked = (Role.GPU_SERVER, Role.HEAD_NODE, *_STORAGE), not design.is_workstation
    others = Counter(role for role in roles if role not in named and not role.forwards)
    parts = [
        by_count(servers, "1 GPU server", f"{grouped(servers)} GPU servers"),
        by_count(heads, f"{grouped(heads)} head node", f"{grouped(heads)} head nodes") if heads else "",
        by_count(storage, f"{grouped(storage)} storage unit", f"{grouped(storage)} storage units") if storage else "",
        *(words.plural(count, role) for role, count in others.items()),
        _switches(switches, design.platform.gateway is not None),
    ]
    yield AcceptanceTest(
        "inventory",
        "compute",
        f"Count the devices{' in the racks' * is_racked}; compare serial numbers with the delivery note.",
        ", ".join(text for text in parts if text),
        f"all present{', each in its planned rack unit' * is_racked}",
        "building plan",
    )
    if heads > 1:
        yield AcceptanceTest(
            "head-failover",
            "compute",
            "While a job runs and another one waits, switch off the active head node; log in and submit a job.",
            "The standby head node takes over; the running job continues.",
            "the waiting and the new job start, and no running job ends early",
            "redundancy of the request; the time to take over is not published, so write it down",
        )
    # Of a system that arrives as a rack each host sees its own GPUs.
    gpu, n_gpus = design.platform.gpu, design.platform.gpus_per_server // nodes_of(design.platform.server)
    unit, place = ("server", _place(design)) if design.n_hosts == design.n_servers else ("host", "every host")
    memory = f"{significant(gpu.memory_bytes.value / units.GIB)}{NARROW_SPACE}GiB"
    yield AcceptanceTest(
        "gpus",
        "compute",
        f"Run {_tools(gpu).diagnostics}, on {place}.",
        f"{grouped(n_gpus)} × {gpu.name} per {unit}, each with {memory}",
        "all GPUs detected, no diagnostic failed",
        "catalogue data of server and GPU",
        (gpu.memory_bytes.source,),
    )


def _switches(count: int, has_gateway: bool) -> str:
    """Switches and gateways of the plan; "" where there is none."""
    if not count:
        return ""
    several = "switches and gateways" if has_gateway else "switches"
    return by_count(count, f"{grouped(count)} switch", f"{grouped(count)} {several}")


def _tools(gpu: Gpu) -> _Tools:
    return _TOOLS.get(gpu.vendor, _TOOLS["NVIDIA"])


def _link_tools(kinds: Iterable[LinkType]) -> str:
    """Programs that show the state of the links that a design has."""
    is_infiniband = {kind.is_infiniband for kind in kinds}
    tools = ("ibstat, iblinkinfo",) if True in is_infiniband else ()
    return ", ".join((*tools, "ethtool, LLDP") if False in is_infiniband else tools)


def _place(design: DesignAnswer) -> str:
    """The GPU servers as the place of a test."""
    return "every server" if design.n_servers > 1 else "the server"


def _servers(count: int) -> str:
    return by_count(count, f"{grouped(count)} server", f"{grouped(count)} servers")


def network_tests(design: DesignAnswer, calibration: Calibration) -> Iterator[AcceptanceTest]:
    """Every link, one link under load, and the gradient exchange inside one server and between all servers."""
    if design.plan.n_links:
        counts: dict[LinkType, int] = {}
        for cable in design.plan.cables:
            counts[cable.run.kind] = counts.get(cable.run.kind, 0) + cable.length_m.size
        yield AcceptanceTest(
            "links",
            "network",
            f"Compare state, speed and neighbour of every port ({_link_tools(counts)}) with the file cables.csv.",
            ", ".join(f"{grouped(count)} × {kind.name}" for kind, count in counts.items()),
            "every link up at its rated speed, every neighbour as listed",
            "cable list of the plan, cables.csv",
        )
    joined = 1 if design.platform.has_replicas_apart else design.n_servers
    if joined > 1:
        yield _link(design)
    # Replicas of one GPU exchange nothing.
    is_alone = all(one.serving is not None and one.serving.gpus_of_replica == 1 for one in design.workloads)
    for servers in dict.fromkeys((1, joined)) if not is_alone else ():
        if (test := _collectives(design, servers, calibration)) is not None:
            yield test


def _collectives(design: DesignAnswer, servers: int, calibration: Calibration) -> AcceptanceTest | None:
    """All-reduce and all-gather on all GPUs of one server, or of all of them; None where nothing gives a rate."""
    found = [net.oversubscription[0] for net in design.quantities.networks if net.role is NetworkRole.COMPUTE]
    platform, share = design.platform, (1 / float(found[0]) if found else 1.0)
    gpus = servers * platform.gpus_per_server
    bandwidth = all_reduce_bytes_per_s(platform, servers, platform.gpus_per_server, calibration, fabric_share=share)
    if bandwidth is None:
        return None
    # Cards reach each other over PCIe, bridged or not: no line rate tells what collectives pass there.
    is_card = platform.gpu.form_factor.value == "pcie"
    gpu_link = None if is_card else platform.gpu.nvlink_bytes_per_s
    ports = share * fabric_bytes_per_s(platform.server, platform.fabric) if servers > 1 else math.inf
    line = min(ports, math.inf if gpu_link is None else gpu_link.value)
    has_fitted_link = f"intra:{platform.intra_link}" in calibration.fit.index
    sound = min(PORT_SHARE * ports, math.inf if gpu_link is None else GPU_LINK_SHARE * gpu_link.value)
    sources: tuple[str, ...] = ()
    expect, limit, basis = f"line rate {si(line, 'B/s')}", sound, "share of the line rate, assumed"
    if has_fitted_link:
        bandwidth = Estimate(*(np.minimum(end, line if servers == 1 else ports) for end in bandwidth))
        expect, sources = interval(bandwidth, "B/s"), _ALL_REDUCE_SOURCES
        basis = "90\u202f% interval of the calibrated links, including differences between sites"
        limit = float(bandwidth.low)
        if servers == 1 and limit < sound < math.inf:
            limit, basis = sound, f"{words.percent(GPU_LINK_SHARE)} of the line rate of the links between the GPUs"
    key = "all-reduce" if servers > 1 else "all-reduce-server"
    tools = _tools(platform.gpu).collectives
    run = (
        f"Run {tools} all_reduce_perf and all_gather_perf on {grouped(gpus)} GPUs of {_servers(servers)} with messages "
        f"of {MESSAGE_BYTES / units.GIB:.0f}{NARROW_SPACE}GiB; read busbw of each."
    )
    if not math.isfinite(limit) or (is_card and not has_fitted_link):
        return None  # nothing tells what to accept
    criterion = least(limit, "B/s", bound=min(line, RAW_TEST_SHARE * ports))
    return AcceptanceTest(key, "network", run, expect, criterion.text, basis, sources, criterion)


def _link(design: DesignAnswer) -> AcceptanceTest:
    """Every fabric port, between pairs of servers."""
    kind = design.platform.fabric
    line = kind.bytes_per_s
    is_rdma = link_level(kind.id).endswith("/rdma")
    ports = max(fabric_ports(design.platform.server.ports, kind), 1)
    tool = "ib_write_bw" if is_rdma else "iperf3"
    port = by_count(ports, "over its fabric port", f"over each of its {ports} fabric ports separately")
    run = f"Run {tool} between pairs of servers, with every server once, {port}."
    expected = line if is_rdma else line * TCP_PAYLOAD_SHARE
    basis = (
        f"line rate of {kind.name}; a published raw test reached {_reached()} of it"
        if is_rdma
        else (
            f"line rate of {kind.name} less Ethernet, IP and TCP headers; the limit is {_reached()} "
            "of the line rate, as in a published raw test"
        )
    )
    criterion = least(RAW_TEST_SHARE * line, "B/s", bound=RAW_TEST_SHARE * line)
    port_sources = [port.source for port in design.platform.server.ports if port.runs(kind)]
    return AcceptanceTest(
        "link-rate",
        "network",
        run,
        f"up to {si(expected, 'B/s')}, {_gbit(expected)}",
        f"{criterion.text}, {_gbit(criterion.value)}",
        basis,
        (RAW_TEST_SOURCE, *port_sources),
        criterion,
    )


def _reached() -> str:
    return f"{significant(100 * RAW_TEST_SHARE)}{NARROW_SPACE}%"


def _gbit(bytes_per_s: float) -> str:
    return f"{significant(units.gbit_per_s_from_bytes_per_s(bytes_per_s))}{NARROW_SPACE}Gbit/s"


def storage_tests(
    design: DesignAnswer, known: Sequence[WorkloadOnDesign | None], data_request: DataRequest
) -> Iterator[AcceptanceTest]:
    """Reads of all servers concurrently, of one server, and the capacity."""
    storage = design.platform.storage
    published = node_read_rate(storage)
    sources = () if published is None else published.sources
    is_local = storage.kind == "local"
    if storage.kind == "parallel-file-system":
        sources = (*sources, *mount_rate(storage, design.plan.catalog).sources)
    where = "from the local drives" if is_local else "from the storage"
    how = "Run fio with sequential 1\u202fMiB reads and direct I/O on files larger than all caches"
    model = next((model for model in known if model is not None), None)
    runs: list[tuple[str, str, WorkloadRun]] = []
    if model is not None:
        clients = "on the server" if model.n_servers == 1 else "on all servers concurrently"
        runs = [("read-all", clients, model.run)]
        if model.n_servers > 1:
            mounts = "" if storage.kind in ("parallel-file-system", "local") else ", over all its mounts"
            runs.append(("read-one", f"on one server{mounts}", model.run_on(1)))
    for key, who, run in runs:
        rate, share = sequential_bytes_per_s(run), int(run.servers[0]) / design.n_servers
        # What the workloads may read at most, and no more than the median of what mounts and links let through.
        need = min(_need_bytes_per_s(design) * share, float(rate.value))
        bound = RAW_TEST_SHARE * _line_bytes_per_s(design, int(run.servers[0]))
        required = max((answer.required_bytes_per_s or 0.0 for answer in design.workloads), default=0.0) * share
        if key == "read-all":
            restarts = (
                (0.0 if answer.job is None else checkpoint_storage(design, answer.job).restart_need_bytes_per_s)
                for answer in design.workloads
            )
            required = max(required, data_request.minimum_read_bytes_per_s or 0.0, *restarts)
        expect, limit = interval(rate, "B/s"), float(rate.low)
        basis = "90\u202f% interval of storage, mounts and links, without decoding"
        if float(rate.low) == float(rate.value) and is_local:
            # Drives of one published rate are taken to vary as much as a line.
            limit = RAW_TEST_SHARE * float(rate.value)
            basis = f"one published rate; a published raw test of a link reached {_reached()} of its line"
        elif float(rate.low) == float(rate.value) or float(rate.low) > bound:
            # No source says which part of a line the protocols of a file system leave.
            expect, limit = f"up to {si(float(rate.value), 'B/s')}", need
            basis = "line rate of the ports, an upper bound; the limit is what the workloads read on as many servers"
        if rate_is_unknown(storage):
            linked = float(rate.value)
            expect = (
                f"not published; at most {si(linked, 'B/s')} over the links"
                if math.isfinite(linked)
                else "not published, and no link limits the drives"
            )
            limit = need
            basis = "read rate of the workloads at the upper end of their interval"
        sheet = 0.0 if key == "read-one" else RAW_TEST_SHARE * _stated_bytes_per_s(design)
        if limit < sheet:
            stated = sheet / RAW_TEST_SHARE
            expect = f"{si(stated, 'B/s')} by the data sheet"
            enough = f"; the targets take {si(required, 'B/s')}"
            limit, basis = sheet, f"{_reached()} of the vendor's data sheet, which no published test confirms{enough}"
            rate = Estimate(*(np.array(stated) for _ in rate))
        criterion = least(limit, "B/s", required, bound, float(rate.value))
        run_text = f"{how}, {who}, {where}."
        yield AcceptanceTest(key, "storage", run_text, expect, criterion.text, basis, sources, criterion)
    is_minimum = storage_demand(design.workloads, data_request).is_minimum
    for tier in design.tiers:
        if tier.storage is not None:
            yield _capacity(tier, tier.storage, is_minimum)


def _stated_bytes_per_s(design: DesignAnswer) -> float:
    """What a data sheet promises where nobody published a test, as far as the clients take it; else 0. [B/s]"""
    rate = node_read_rate(design.platform.storage)
    if rate is None or rate.low.basis != "assumed" or rate.high.basis == "assumed":
        return 0.0
    fixed, of_a_node, mount, _ = mount_rates(design.platform, design.plan.catalog)
    clients = design.n_servers * (fixed + design.storage_nodes * of_a_node) * mount
    return min(max(design.storage_nodes, 1) * rate.high.value, clients)


def _line_bytes_per_s(design: DesignAnswer, servers: int) -> float:
    """Line rate of the ports between some servers and the storage; inf of drives in the servers. [B/s]"""
    platform, counts = design.platform, design.quantities
    if platform.storage.kind == "local":
        return math.inf
    lines = (counts.front_end_bytes_per_s[0], counts.gateway_bytes_per_s[0])
    return min(servers * storage_nic_bytes_per_s(platform), *(float(line) for line in lines if line > 0))


def _need_bytes_per_s(design: DesignAnswer) -> float:
    """Highest read rate of a workload in any epoch, at the upper end of its interval. [B/s]"""
    reads = ((answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s) for answer in design.workloads)
    return max(float(estimate.high) for pair in reads for estimate in pair)


# Of the usable capacity that a client sees: ext4 keeps back 5 % for its administrator by default, and its tables 1 to
# 2 % (mke2fs manual page, reserved-blocks-percentage and bytes-per-inode); other file systems keep less.
_FILE_SYSTEM_SHARE = 0.9


def _capacity(tier: StorageTier, storage: Storage, is_minimum: bool) -> AcceptanceTest:
    """Usable capacity of a tier."""
    steps = capacity_ladder(storage, tier.capacity_option, tier.nodes)
    what = "requested minimum" if is_minimum else TIER_CONTENTS.get(tier.content, "total stored data")
    expect = "not published"
    if tier.is_published:
        tib = f"{significant(tier.usable_bytes / units.TIB)}{NARROW_SPACE}TiB"
        expect = f"{si(tier.usable_bytes, 'B')} ({tib}) less the reserve of the file system"
    if storage.kind == "local":
        expect = f"{expect}, on each server"
    run = "Mount the file system and read its size (df)."
    if counts_nodes(storage):
        where = "the storage system" if tier.content is TierContent.EVERYTHING else system_name(tier)
        run = f"Read the usable capacity on {where} and on a client (df)."
    bound = tier.usable_bytes if tier.is_published else math.inf
    limit, note = tier.required_bytes, f"the {what}"
    if tier.is_published and (bought := _FILE_SYSTEM_SHARE * tier.usable_bytes) > limit:
        limit, note = bought, f"{_FILE_SYSTEM_SHARE:.0%} of the planned capacity, assumed".replace("%", "\u202f%")
    key, criterion = "usable-capacity", least(limit, "B", tier.required_bytes, bound)
    return AcceptanceTest(
        key if tier.content is not TierContent.WORKING_SET else f"{key}-fast-tier",
        "capacity",
        run,
        expect,
        f"{criterion.text}, {note}",
        "raw capacity less protection; reserve and snapshots are not published",
        tuple(step.source for step in steps if step.source),
        criterion,
    )


# A limit cites the sources that weigh most; the engineer's file has all of them.
_MOST_SOURCES = 3
# Of an acceptance test: three days.
_LONGEST_TEST_S = 259_200.0
# Expected share of the processors below which a measured load says nothing: the training processes themselves and the
# operating system take as much.
_LEAST_LOAD = 0.05


def training_tests(design: DesignAnswer, known: Sequence[WorkloadOnDesign | None]) -> Iterator[AcceptanceTest]:
    """Rates of one GPU, one server and the whole cluster, host load and time to train, workload by workload."""
    several = len(design.workloads) > 1
    for number, (answer, model) in enumerate(zip(design.workloads, known, strict=True), start=1):
        if not answer.rate_is_predicted:
            continue
        mark = f"-{number}" if several else ""
        tests = _serving(answer, answer.served) if not answer.kind.reads_data else _runs(design, answer, model)
        for test in tests:
            if number == 1 or test.key != "one-gpu":  # whether each GPU is sound, the first workload has told
                yield replace(test, key=test.key + mark, about=_about(answer))


def _runs(design: DesignAnswer, answer: WorkloadAnswer, model: WorkloadOnDesign | None) -> Iterator[AcceptanceTest]:
    """One GPU, one server, and the whole cluster."""
    yield from _alone(answer, model, design.gpus_at_work(answer))
    yield from _together(design, answer)


def _serving(answer: WorkloadAnswer, serving_answer: ServingAnswer) -> Iterator[AcceptanceTest]:
    """A public load generator against all replicas: latencies at the asked load, and the most within the limits."""
    work, unit = serving_answer.work, sample_unit(answer.dnn)
    cached = work.input_tokens * work.prefix_cached
    count = load_test_requests(serving_answer)
    rate = serving_answer.served_per_s if work.asked_rate is None else work.asked_rate
    run = (
        f"Run the load test below (vllm bench serve, or aiperf with the same load): {grouped(count)} requests at "
        f"{significant(rate)} {unit}, about {duration(count / serving_answer.served_per_s)}; read the"
    )
    again = "In the same run read the"
    basis = "90\u202f% interval of published serving runs"
    for key, what, _, expected, limit, chance in serving_answer.latencies if work.first_token_s is not None else ():
        criterion = most(float(expected.high), "s", limit)
        yield AcceptanceTest(
            key,
            "training",
            f"{run} time {'to the' if key == 'first-token' else 'of'} {what}, {work.percentile}th percentile.",
            interval(expected, "s"),
            criterion.text,
            basis if limit is None else f"limit of the request; {_odds(chance)}",
            _sources(answer),
            criterion,
        )
        run = again  # described once
    if cached and serving_answer.replicas > 1:
        share = 100 * work.prefix_cached
        # The first request of each prefix finds nothing.
        hits = least(_LEAST_HITS * share, "%", expected=share * (1 - 1 / _load_test(serving_answer)[1]))
        yield AcceptanceTest(
            "session-affinity",
            "training",
            f"{run} tokens found in the prefix cache of each replica.",
            f"{si(hits.expected, '%')} of all tokens in",
            f"{hits.text}, and each session at one replica",
            f"{si(share, '%')} of the request, less a tenth for first prompts; assumed",
            criterion=hits,
        )
    rate_s = answer.throughput
    criterion = least(float(rate_s.low), unit, answer.required_samples_per_s, expected=float(rate_s.value))
    ends = "the rate stops rising" if work.first_token_s is None else "a latency limit is reached"
    yield AcceptanceTest(
        "most-requests",
        "training",
        f"Run the load test below with more and more load until {ends}.",
        interval(answer.throughput, unit),
        criterion.text,
        basis if criterion.value == float(answer.throughput.low) else f"required rate; {_odds(answer.probability)}",
        _sources(answer),
        criterion,
    )


# Seconds of a load test, and requests beyond its percentile, at least: fewer tell no percentile. A choice of ours.
_LEAST_TEST_S, _LEAST_BEYOND = 1800.0, 20
# Share of the cached tokens that a test must find, and requests of each prefix, of which the first finds nothing.
_LEAST_HITS, _REQUESTS_A_PREFIX = 0.9, 20


def _load_test(answer: ServingAnswer) -> tuple[int, int]:
    """Different prefixes of a load test and requests of each: the generator sends as many of every prefix.

    The prefixes are those of all sessions as far as each comes often enough: one for all requests would be found in the
    cache however small it is.
    """
    count = math.ceil(max(_LEAST_TEST_S * answer.served_per_s, _LEAST_BEYOND / (1 - answer.work.percentile / 100)))
    if not answer.work.prefix_cached:
        return count, 1
    sessions = max(answer.sessions_stored if answer.work.people is None else answer.active_users or 1.0, 1.0)
    each = max(_REQUESTS_A_PREFIX, math.ceil(count / sessions))
    return math.ceil(count / each), each


def load_test_requests(answer: ServingAnswer) -> int:
    """Requests of a load test."""
    return math.prod(_load_test(answer))


def load_test_options(answer: ServingAnswer) -> Iterator[str]:
    """Options of vLLM's load generator that give the asked load, and report what the tests read."""
    work = answer.work
    cached, out = work.input_tokens * work.prefix_cached, f"{work.output_tokens:.0f}"
    if cached:
        yield f"--dataset-name prefix_repetition --prefix-repetition-num-prefixes {_load_test(answer)[0]}"
        yield f"--prefix-repetition-prefix-len {cached:.0f} --prefix-repetition-output-len {out}"
        yield f"--prefix-repetition-suffix-len {work.input_tokens - cached:.0f}"
    else:
        answers = "" if work.is_embedding else f" --random-output-len {out}"
        yield f"--dataset-name random --random-input-len {work.input_tokens:.0f}{answers}"
    if work.is_embedding:
        yield "--backend openai-embeddings --endpoint /v1/embeddings"
    else:
        yield "--ignore-eos"
    is_open = work.comes_at_random
    load = f"--request-rate {answer.served_per_s:.4g}" if is_open else ""
    in_flight = f"--max-concurrency {work.in_flight or answer.concurrency * answer.replicas:.0f}"
    yield f"{load or in_flight} --num-prompts {load_test_requests(answer)}"
    if work.first_token_s is not None and work.token_s is not None:
        yield f"--percentile-metrics ttft,tpot --metric-percentiles {work.percentile}"
        yield f"--goodput ttft:{1e3 * work.first_token_s:.4g} tpot:{1e3 * work.token_s:.4g}"


def _alone(answer: WorkloadAnswer, model: WorkloadOnDesign | None, n_gpus: int) -> Iterator[AcceptanceTest]:
    """One GPU and one server with synthetic data, without storage and decoding."""
    if model is None:
        return
    gpus = int(model.run.cols.gpus_per_server[0])
    basis = "90\u202f% interval of runs on real data; synthetic data is at least as fast"
    if model.work.is_inference:
        basis = "90\u202f% interval of the calibration"
    for key, count in (("one-gpu", 1), ("one-server", gpus)):
        if key == "one-server" and gpus == 1:
            continue
        rate = rate_in_one_server(model.work, model.platform, model.run.cols, count, model.catalog, model.calibration)
        if rate is None:
            continue
        unit = sample_unit(answer.dnn)
        required = _required_while_running(answer)
        share = None if required is None else required * count / n_gpus
        criterion = least(float(rate.low), unit, share, expected=float(rate.value))
        yield AcceptanceTest(
            key,
            "training",
            f"Run on synthetic data with {_gpus(count)} of one server.",
            interval(rate, unit),
            criterion.text,
            basis if criterion.value == float(rate.low) else "share of the required rate",
            _sources(answer),
            criterion,
        )


def _together(design: DesignAnswer, answer: WorkloadAnswer) -> Iterator[AcceptanceTest]:
    """The whole cluster on its own data."""
    unit = sample_unit(answer.dnn)
    n_gpus = design.gpus_at_work(answer)
    n_servers = -(-n_gpus // design.platform.gpus_per_server)
    servers = by_count(n_servers, "1 server", f"{grouped(n_servers)} servers")
    run = f"Run on the data set with {_gpus(n_gpus)} of {servers}"
    basis = "90\u202f% interval of the slowest stage"
    limiting = (source for stage in answer.stages if stage.is_limiting for source in stage.sources)
    sources = tuple(dict.fromkeys((*_sources(answer), *limiting)))[:_MOST_SOURCES]
    warm, read, size = answer.throughput, answer.cold_storage_bytes_per_s, answer.sample_bytes
    cold = Estimate(read.value / size, read.low / size, read.high / size)
    phases = [
        ("cluster-cold", "first epoch, after all caches are dropped", cold),
        ("cluster-warm", "after the first epoch", warm),
    ]
    if interval(cold, unit) == interval(warm, unit):
        phases = [("cluster-warm", "first epoch, after all caches are dropped, and later ones", warm)]
    if answer.is_one_epoch:
        phases = [("cluster-warm", "the whole epoch, after all caches are dropped", cold)]
    if not answer.kind.rereads:  # tokens are read once or from afar: no cache makes a difference
        phases = [("cluster-warm", "after the first 100 steps", answer.running_throughput)]
    for key, when, rate in phases:
        text = f"{run}; {when}."
        required = None if key == "cluster-cold" else _required_while_running(answer)
        criterion = least(float(rate.low), unit, required, expected=float(rate.value))
        why = basis if criterion.value == float(rate.low) else f"required rate; {_odds(answer.probability)}"
        yield AcceptanceTest(key, "training", text, interval(rate, unit), criterion.text, why, sources, criterion)
    load = answer.cpu_utilization_fraction
    if answer.kind.rereads and float(load.value) >= _LEAST_LOAD:
        limit = most(100 * float(load.high), "%") if load.high < 1 else None
        yield AcceptanceTest(
            "cpu-load",
            "training",
            f"{run}; read the load of the physical cores (mpstat) after the first epoch.",
            in_interval(*(_percent(end) for end in load)),
            f"at most {_percent(float(load.high))}"
            if limit is not None
            else "recorded only: the host data path may be the bottleneck",
            "rate times the calibrated host time per sample",
            _sources(answer),
            limit,
        )
    yield from _time(answer, run)


def _required_while_running(answer: WorkloadAnswer) -> float | None:
    """Rate that a run without interruptions must reach, so that the target holds with them."""
    if answer.required_samples_per_s is None or not answer.throughput.value:
        return answer.required_samples_per_s
    return answer.required_samples_per_s * float(answer.running_throughput.value) / float(answer.throughput.value)


def _time(answer: WorkloadAnswer, run: str) -> Iterator[AcceptanceTest]:
    if answer.time is None:
        return
    target = answer.workload.target.time_to_train_s
    total, like = answer.time.total_s, compared_time_s(answer)
    if not answer.kind.rereads and float(total.value) > _LONGEST_TEST_S:
        return  # weeks of training are no acceptance test; the rate is
    criterion = most(float(total.high), "s", target)
    basis = (
        "90\u202f% interval of epochs and rate"
        if target is None
        else f"target of the request; {_odds(answer.probability)}"
    )
    whole = "complete training" if not answer.kind.rereads else "complete training with evaluations"
    text = f"{run}; {whole}."
    points = answer.recipe.points if answer.recipe is not None else ()
    sources = tuple(dict.fromkeys((*_sources(answer), *(point.source for point in points))))[:_MOST_SOURCES]
    yield AcceptanceTest(
        "time-to-train", "training", text, interval(total, "s", like), criterion.text, basis, sources, criterion
    )


def _odds(probability: float | None) -> str:
    """How likely a system without faults passes a test of the target."""
    if probability is None:
        return "the probability of reaching it is not known"
    return f"the design reaches it with {probability_text(probability)} probability"


def _about(answer: WorkloadAnswer) -> str:
    """Workload, software and settings of its runs."""
    if not answer.kind.reads_data:
        found = answer.served
        engine = found.engine or words.listed(found.engines, "or")
        return f"{answer.workload.name}: {replicas_text(found)}, {found.weights.upper()} weights, {engine}"
    return f"{answer.workload.name}: {answer.stack.name}, {settings_text(answer)}"


def _gpus(count: int) -> str:
    return by_count(count, f"{grouped(count)} GPU", f"{grouped(count)} GPUs")


def _sources(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Sources of the nearest runs that the rate is calibrated on."""
    if answer.serving is not None:
        return rate_sources(answer.serving)[:_MOST_SOURCES]
    return tuple(dict.fromkeys(row.source for row in answer.evidence if row.calibrates))[:_MOST_SOURCES]


def _percent(share: float) -> str:
    return f"{significant(100 * share, 2)}{NARROW_SPACE}%"


def power_tests(design: DesignAnswer) -> Iterator[AcceptanceTest]:
    """Power at the PDUs with all GPUs training, and after the loss of one feed."""
    found, loads = design.quantities, feed_loads(design.plan.racks, design.plan.catalog)
    names = feed_names(loads)
    limits = ", ".join(
        f"no {name} above its {si(load.capacity_w, 'W')}" for name, load in zip(names, loads, strict=True)
    )
    typical, most = float(found.power_typical_w[0]), float(found.power_max_w[0])
    expect = f"{si(typical, 'W')} to {si(most, 'W')}"
    if typical == most:
        expect = f"up to {si(most, 'W')}"
    passes, basis = f"never above {si(most, 'W')}", "typical and maximum power, summed over the devices"
    if found.unknown_power:
        expect = f"at least {si(typical, 'W')}; the power of some devices is not published"
        passes = limits or "no PDU above its rating"
        basis = "devices with published power; rating of the PDUs"
    meters = "the power at the wall socket" if design.is_workstation else "all PDUs"
    yield AcceptanceTest("power", "power", f"Read {meters} with all GPUs under load.", expect, passes, basis)
    if not loads or design.platform.site.feeds == "N" or design.is_workstation:
        return
    alone = words.listed(f"{si(load.alone_w, 'W')} per {name}" for name, load in zip(names, loads, strict=True))
    expected = f"at most {alone}"
    if found.unknown_power:
        expected = f"more than {alone}; the power of some devices is not published"
    stays_on = "no dual-corded device off"
    if feed_loss_is_open(design.plan):
        stays_on = "devices that keep enough power supplies stay on"
    yield AcceptanceTest(
        "feed-loss",
        "power",
        "With all GPUs under load, switch off one feed, then the other; read the live PDUs.",
        expected,
        f"{limits}, {stays_on}",
        "maximum power of all devices on a feed" if len(loads) > 1 else "maximum power of all devices on a PDU",
    )


def acceptance_tests(evaluated: EvaluatedDesign) -> tuple[AcceptanceTest, ...]:
    """Tests of a design, in the order in which they are run: from parts and links to training and power.

    A limit is the end of the 90 % interval on the side that counts, which one run in twenty of a sound system misses;
    or a line rate times a share that was reached; or a count. It is never laxer than the requirement of the design, and
    never stricter than what the ports of the test pass (:class:`~sizer.guide.acceptance.limits.Criterion`). Where the
    catalogue does not hold the parts of an answer, tests that need the rate of one GPU, one server or the storage alone
    are left out.

    Those of training once a workload, their keys then numbered. Sources are keys of the catalogue.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    design, known = result.design, evaluated.workloads
    found = (
        *parts_tests(design),
        *network_tests(design, fitted),
        *storage_tests(design, known, result.request.data),
        *training_tests(design, known),
        *power_tests(design),
    )
    return tuple(
        replace(test, sources=tuple(key for key in dict.fromkeys(test.sources) if key in catalog.sources))
        for test in found
    )
