"""Acceptance tests of parts, links and storage, before anything is trained."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from sizer.base import units
from sizer.base.language import tr, trn
from sizer.base.quantities import NARROW_SPACE, grouped, si, significant
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import link_level
from sizer.catalog.links import fabric_ports, kind_name, link_bytes_per_s
from sizer.catalog.schema import LinkKind
from sizer.physical.capacity import capacity_ladder, counts_nodes
from sizer.physical.joined import HEAD, SERVERS
from sizer.sizing.acceptance_limits import AcceptanceTest, at_least, interval
from sizer.sizing.all_reduce import MESSAGE_BYTES, all_reduce_bytes_per_s
from sizer.sizing.columns import rate_is_unknown
from sizer.sizing.data_held import data_held
from sizer.sizing.result import DesignAnswer
from sizer.sizing.run import Run, sequential_bytes_per_s
from sizer.sizing.what_if import Model
from sizer.workload.data_care import DataCare

# A raw RDMA test reached 92.40 of 100 Gbit/s between two DGX-1 ("deepops-roce", raw RDMA test).
RAW_TEST_SHARE = 0.924
RAW_TEST_SOURCE = "deepops-roce"
# Payload of a full TCP segment over what it takes on the wire at an MTU of 1,500 B: 1,500 less 20 B of IP, 20 B of TCP
# and 12 B of time stamps (RFC 791, 9293, 7323); 1,500 plus 14 B of header, 4 B of check sum, 8 B of preamble and 12 B
# of gap (IEEE 802.3).
TCP_PAYLOAD_SHARE = 1448 / 1538
# Where most of the published bandwidths of links come from.
_ALL_REDUCE_SOURCES = ("deepops-roce", "nccl-issues")


def parts_tests(design: DesignAnswer) -> Iterator[AcceptanceTest]:
    """Devices and GPUs against the plan."""
    roles = [device.role for device in design.plan.devices if device.status != "reserved"]
    servers, heads = roles.count(SERVERS), roles.count(HEAD)
    switches = sum(role.endswith("switch") or role == "gateway" for role in roles)
    storage = len(roles) - servers - heads - switches
    counted = [
        trn("{count} GPU server", "{count} GPU servers", servers, count=grouped(servers)),
        trn("{count} head node", "{count} head nodes", heads, count=grouped(heads)) if heads else "",
        trn("{count} storage unit", "{count} storage units", storage, count=grouped(storage)) if storage else "",
        trn("{count} switch", "{count} switches and gateways", switches, count=grouped(switches)) if switches else "",
    ]
    yield AcceptanceTest(
        "inventory",
        "compute",
        tr("Count the devices in the racks and compare their serial numbers with the delivery."),
        ", ".join(text for text in counted if text),
        tr("all of them, each in the rack unit of the plan"),
        tr("the building plan"),
    )
    gpu, n_gpus = design.platform.gpu, design.platform.gpus_per_server
    yield AcceptanceTest(
        "gpus",
        "compute",
        tr("nvidia-smi, then dcgmi diag -r 3, on every server."),
        tr(
            "{count} × {gpu} a server, each with {memory}",
            count=grouped(n_gpus),
            gpu=gpu.name,
            memory=f"{significant(gpu.memory_bytes.value / units.GIB)}{NARROW_SPACE}GiB",
        ),
        tr("all GPUs found, no test failed"),
        tr("the catalogue's data of server and GPU"),
        (gpu.memory_bytes.source,),
    )


def network_tests(design: DesignAnswer, calibration: Calibration) -> Iterator[AcceptanceTest]:
    """Every link, one link under load, and the exchange inside one server and between all of them."""
    platform = design.platform
    if design.plan.n_links:
        counts: dict[LinkKind, int] = {}
        for cable in design.plan.cables:
            counts[cable.run.kind] = counts.get(cable.run.kind, 0) + cable.length_m.size
        yield AcceptanceTest(
            "links",
            "network",
            tr("Read state, speed and neighbour of every port (ibstat, iblinkinfo, ethtool, LLDP) against the cables."),
            ", ".join(f"{grouped(count)} × {kind_name(kind)}" for kind, count in counts.items()),
            tr("every link up at its speed, each neighbour as in the cable list"),
            tr("the cable list of the plan"),
        )
    if design.n_servers > 1:
        yield _link(design)
    inside = tr("90\u202f% interval of the calibrated links between GPUs")
    between = tr("90\u202f% interval of the calibrated links, and what sites differ by")
    share = _fabric_share(design)
    for key, servers in (("all-reduce-server", 1), ("all-reduce", design.n_servers)):
        gpus = servers * platform.gpus_per_server
        bandwidth = all_reduce_bytes_per_s(platform, servers, platform.gpus_per_server, calibration, fabric_share=share)
        if bandwidth is None or (key == "all-reduce" and servers == 1):
            continue
        yield AcceptanceTest(
            key,
            "network",
            tr(
                "nccl-tests all_reduce_perf on {gpus} GPUs of {servers} with messages of {size}; read busbw.",
                gpus=grouped(gpus),
                servers=trn("{count} server", "{count} servers", servers, count=grouped(servers)),
                size=f"{MESSAGE_BYTES / units.GIB:.0f}{NARROW_SPACE}GiB",
            ),
            interval(bandwidth, "B/s"),
            at_least(float(bandwidth.low), "B/s"),
            inside if servers == 1 else between,
            _ALL_REDUCE_SOURCES,
        )


def _fabric_share(design: DesignAnswer) -> float:
    """Share of the line rate that the compute fabric leaves when all send at once."""
    found = [net.oversubscription[0] for net in design.quantities.networks if net.name == "compute fabric"]
    return 1 / float(found[0]) if found else 1.0


def _link(design: DesignAnswer) -> AcceptanceTest:
    """One port of the fabric after the other, between pairs of servers."""
    kind = design.platform.fabric
    line = link_bytes_per_s(kind)
    is_rdma = link_level(kind).endswith("/rdma")
    ports = max(fabric_ports(design.platform.server.ports, kind), 1)
    run = tr(
        "{tool} between pairs of servers, every server once, {each_port}.",
        tool="ib_write_bw" if is_rdma else "iperf3",
        each_port=trn("over its port", "over each of its {count} ports alone", ports, count=ports),
    )
    expected = line if is_rdma else line * TCP_PAYLOAD_SHARE
    basis = (
        tr("line rate of {kind}; a published raw test reached {share} of it", kind=kind_name(kind), share=_reached())
        if is_rdma
        else tr(
            "line rate of {kind} less the headers of Ethernet, IP and TCP; the limit is the share of {share} that a "
            "published raw test reached",
            kind=kind_name(kind),
            share=_reached(),
        )
    )
    port_sources = [port.source for port in design.platform.server.ports if kind in (port.kind, *port.also)]
    return AcceptanceTest(
        "link-rate",
        "network",
        run,
        tr("up to {rate}, {line}", rate=si(expected, "B/s"), line=_gbit(expected)),
        tr("at least {rate}, {line}", rate=si(RAW_TEST_SHARE * line, "B/s"), line=_gbit(RAW_TEST_SHARE * line)),
        basis,
        (RAW_TEST_SOURCE, *port_sources),
    )


def _reached() -> str:
    return f"{significant(100 * RAW_TEST_SHARE)}{NARROW_SPACE}%"


def _gbit(bytes_per_s: float) -> str:
    return f"{significant(units.gbit_per_s_from_bytes_per_s(bytes_per_s))}{NARROW_SPACE}Gbit/s"


def storage_tests(design: DesignAnswer, known: Sequence[Model | None], care: DataCare) -> Iterator[AcceptanceTest]:
    """Reads of all servers together, of one server, and the capacity."""
    storage = design.platform.storage
    rates = (storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s)
    sources = tuple(fact.source for fact in rates if fact is not None)
    is_local = storage.kind == "local"
    where = tr("from the drives of each server") if is_local else tr("from the storage")
    how = tr("fio, sequential reads of 1\u202fMiB blocks with direct I/O, on files larger than all caches")
    model = next((model for model in known if model is not None), None)
    runs: list[tuple[str, str, Run]] = []
    if model is not None:
        runs = [("read-all", tr("all servers at once"), model.run)]
        if model.n_servers > 1:
            runs.append(("read-one", tr("one server alone, over all its mounts"), model.run_on(1)))
    for key, who, run in runs:
        rate = sequential_bytes_per_s(run)
        expect, passes = interval(rate, "B/s"), at_least(float(rate.low), "B/s")
        basis = tr("90\u202f% interval of storage, mounts and links on the way, without decoding")
        if rate_is_unknown(storage):
            need = _need_bytes_per_s(design) * int(run.servers[0]) / design.n_servers
            bound = float(rate.value)
            expect = (
                tr("not published; the links allow {rate}", rate=si(bound, "B/s"))
                if math.isfinite(bound)
                else tr("not published; the drives have no link that bounds them")
            )
            passes = at_least(need, "B/s")
            basis = tr("what the workloads read at the upper end of their rate")
        yield AcceptanceTest(
            key, "storage", tr("{how}: {who}, {where}.", how=how, who=who, where=where), expect, passes, basis, sources
        )
    yield _capacity(design, care)


def _need_bytes_per_s(design: DesignAnswer) -> float:
    """Most that a workload reads, after the first epoch or in it, at the upper end of its rate. [B/s]"""
    reads = ((answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s) for answer in design.workloads)
    return max(float(estimate.high) for pair in reads for estimate in pair)


def _capacity(design: DesignAnswer, care: DataCare) -> AcceptanceTest:
    storage, usable = design.platform.storage, float(design.quantities.usable_bytes[0])
    needed = data_held(design.workloads, care).total_bytes
    steps = capacity_ladder(storage, design.platform.capacity_option, design.storage_nodes)
    expect = tr("not published")
    if np.isfinite(usable):
        tib = f"{significant(usable / units.TIB)}{NARROW_SPACE}TiB"
        expect = tr("{size} ({binary}) less what the file system reserves", size=si(usable, "B"), binary=tib)
    if storage.kind == "local":
        expect = tr("{size} on each server", size=expect)
    run = tr("Mount the file system and read its size (df).")
    if counts_nodes(storage):
        run = tr("Read the usable capacity on the storage system and on a client (df).")
    return AcceptanceTest(
        "usable-capacity",
        "capacity",
        run,
        expect,
        tr("at least {size}, all that must fit", size=si(needed, "B")),
        tr("raw capacity less protection; reserve and snapshots are in no source"),
        tuple(step.source for step in steps if step.source),
    )
