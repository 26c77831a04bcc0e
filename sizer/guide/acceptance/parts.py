"""Acceptance tests of parts, links and storage, before anything is trained."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from sizer.base import units
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, si, significant
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import link_level
from sizer.catalog.links import fabric_ports, kind_name, link_bytes_per_s
from sizer.catalog.schema import LinkKind
from sizer.guide.acceptance.all_reduce import MESSAGE_BYTES, all_reduce_bytes_per_s
from sizer.guide.acceptance.limits import AcceptanceTest, at_least, interval
from sizer.physical.capacity import capacity_ladder, counts_nodes
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.constraints.stored_data import data_held
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.storage_rates import node_read_rate, rate_is_unknown
from sizer.sizing.stages.workload_run import WorkloadRun, sequential_bytes_per_s
from sizer.workload.data import DataCare

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
    servers, heads = roles.count(Role.GPU_SERVER), roles.count(Role.HEAD_NODE)
    switches = sum(role.forwards for role in roles)
    storage = len(roles) - servers - heads - switches
    counted = [
        by_count(servers, f"{grouped(servers)} GPU server", f"{grouped(servers)} GPU servers"),
        by_count(heads, f"{grouped(heads)} head node", f"{grouped(heads)} head nodes") if heads else "",
        by_count(storage, f"{grouped(storage)} storage unit", f"{grouped(storage)} storage units") if storage else "",
        by_count(switches, f"{grouped(switches)} switch", f"{grouped(switches)} switches and gateways")
        if switches
        else "",
    ]
    yield AcceptanceTest(
        "inventory",
        "compute",
        "Count the devices in the racks and compare their serial numbers with the delivery.",
        ", ".join(text for text in counted if text),
        "all of them, each in the rack unit of the plan",
        "the building plan",
    )
    gpu, n_gpus = design.platform.gpu, design.platform.gpus_per_server
    yield AcceptanceTest(
        "gpus",
        "compute",
        "nvidia-smi, then dcgmi diag -r 3, on every server.",
        "{count} × {gpu} a server, each with {memory}".format(
            count=grouped(n_gpus),
            gpu=gpu.name,
            memory=f"{significant(gpu.memory_bytes.value / units.GIB)}{NARROW_SPACE}GiB",
        ),
        "all GPUs found, no test failed",
        "the catalogue's data of server and GPU",
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
            ("Read state, speed and neighbour of every port (ibstat, iblinkinfo, ethtool, LLDP) against the cables."),
            ", ".join(f"{grouped(count)} × {kind_name(kind)}" for kind, count in counts.items()),
            "every link up at its speed, each neighbour as in the cable list",
            "the cable list of the plan",
        )
    if design.n_servers > 1:
        yield _link(design)
    inside = "90\u202f% interval of the calibrated links between GPUs"
    between = "90\u202f% interval of the calibrated links, and what sites differ by"
    share = _fabric_share(design)
    for key, servers in (("all-reduce-server", 1), ("all-reduce", design.n_servers)):
        gpus = servers * platform.gpus_per_server
        bandwidth = all_reduce_bytes_per_s(platform, servers, platform.gpus_per_server, calibration, fabric_share=share)
        if bandwidth is None or (key == "all-reduce" and servers == 1):
            continue
        yield AcceptanceTest(
            key,
            "network",
            ("nccl-tests all_reduce_perf on {gpus} GPUs of {servers} with messages of {size}; read busbw.").format(
                gpus=grouped(gpus),
                servers=by_count(servers, f"{grouped(servers)} server", f"{grouped(servers)} servers"),
                size=f"{MESSAGE_BYTES / units.GIB:.0f}{NARROW_SPACE}GiB",
            ),
            interval(bandwidth, "B/s"),
            at_least(float(bandwidth.low), "B/s"),
            inside if servers == 1 else between,
            _ALL_REDUCE_SOURCES,
        )


def _fabric_share(design: DesignAnswer) -> float:
    """Share of the line rate that the compute fabric leaves when all send at once."""
    found = [net.oversubscription[0] for net in design.quantities.networks if net.role is NetworkRole.COMPUTE]
    return 1 / float(found[0]) if found else 1.0


def _link(design: DesignAnswer) -> AcceptanceTest:
    """One port of the fabric after the other, between pairs of servers."""
    kind = design.platform.fabric
    line = link_bytes_per_s(kind)
    is_rdma = link_level(kind).endswith("/rdma")
    ports = max(fabric_ports(design.platform.server.ports, kind), 1)
    run = "{tool} between pairs of servers, every server once, {each_port}.".format(
        tool="ib_write_bw" if is_rdma else "iperf3",
        each_port=by_count(ports, "over its port", f"over each of its {ports} ports alone"),
    )
    expected = line if is_rdma else line * TCP_PAYLOAD_SHARE
    basis = (
        f"line rate of {kind_name(kind)}; a published raw test reached {_reached()} of it"
        if is_rdma
        else (
            f"line rate of {kind_name(kind)} less the headers of Ethernet, IP and TCP; the limit is "
            f"the share of {_reached()} that a published raw test reached"
        )
    )
    port_sources = [port.source for port in design.platform.server.ports if kind in (port.kind, *port.also)]
    return AcceptanceTest(
        "link-rate",
        "network",
        run,
        f"up to {si(expected, 'B/s')}, {_gbit(expected)}",
        f"at least {si(RAW_TEST_SHARE * line, 'B/s')}, {_gbit(RAW_TEST_SHARE * line)}",
        basis,
        (RAW_TEST_SOURCE, *port_sources),
    )


def _reached() -> str:
    return f"{significant(100 * RAW_TEST_SHARE)}{NARROW_SPACE}%"


def _gbit(bytes_per_s: float) -> str:
    return f"{significant(units.gbit_per_s_from_bytes_per_s(bytes_per_s))}{NARROW_SPACE}Gbit/s"


def storage_tests(
    design: DesignAnswer, known: Sequence[WorkloadOnDesign | None], care: DataCare
) -> Iterator[AcceptanceTest]:
    """Reads of all servers together, of one server, and the capacity."""
    storage = design.platform.storage
    published = node_read_rate(storage)
    sources = () if published is None else published.sources
    is_local = storage.kind == "local"
    where = "from the drives of each server" if is_local else "from the storage"
    how = "fio, sequential reads of 1\u202fMiB blocks with direct I/O, on files larger than all caches"
    model = next((model for model in known if model is not None), None)
    runs: list[tuple[str, str, WorkloadRun]] = []
    if model is not None:
        runs = [("read-all", "all servers at once", model.run)]
        if model.n_servers > 1:
            runs.append(("read-one", "one server alone, over all its mounts", model.run_on(1)))
    for key, who, run in runs:
        rate = sequential_bytes_per_s(run)
        expect, passes = interval(rate, "B/s"), at_least(float(rate.low), "B/s")
        basis = "90\u202f% interval of storage, mounts and links on the way, without decoding"
        if rate_is_unknown(storage):
            need = _need_bytes_per_s(design) * int(run.servers[0]) / design.n_servers
            bound = float(rate.value)
            expect = (
                f"not published; the links allow {si(bound, 'B/s')}"
                if math.isfinite(bound)
                else "not published; the drives have no link that bounds them"
            )
            passes = at_least(need, "B/s")
            basis = "what the workloads read at the upper end of their rate"
        yield AcceptanceTest(key, "storage", f"{how}: {who}, {where}.", expect, passes, basis, sources)
    yield _capacity(design, care)


def _need_bytes_per_s(design: DesignAnswer) -> float:
    """Most that a workload reads, after the first epoch or in it, at the upper end of its rate. [B/s]"""
    reads = ((answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s) for answer in design.workloads)
    return max(float(estimate.high) for pair in reads for estimate in pair)


def _capacity(design: DesignAnswer, care: DataCare) -> AcceptanceTest:
    storage, usable = design.platform.storage, float(design.quantities.usable_bytes[0])
    needed = data_held(design.workloads, care).total_bytes
    steps = capacity_ladder(storage, design.platform.capacity_option, design.storage_nodes)
    expect = "not published"
    if np.isfinite(usable):
        tib = f"{significant(usable / units.TIB)}{NARROW_SPACE}TiB"
        expect = f"{si(usable, 'B')} ({tib}) less what the file system reserves"
    if storage.kind == "local":
        expect = f"{expect} on each server"
    run = "Mount the file system and read its size (df)."
    if counts_nodes(storage):
        run = "Read the usable capacity on the storage system and on a client (df)."
    return AcceptanceTest(
        "usable-capacity",
        "capacity",
        run,
        expect,
        f"at least {si(needed, 'B')}, all that must fit",
        "raw capacity less protection; reserve and snapshots are in no source",
        tuple(step.source for step in steps if step.source),
    )
