"""Tables of the chapter on operation: deployment phases, acceptance tests, monitoring, growth limits."""

from collections.abc import Iterator, Sequence

from sizer.base.quantities import duration, grouped, significant
from sizer.catalog.links import fabric_ports, link_bytes_per_s
from sizer.guide.acceptance.tests import AcceptanceTest
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, fact_table, row
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.result import STAGES, DesignAnswer
from sizer.workload.data import DataRequest

_AREAS = {
    "network": "Networks",
    "storage": "Storage",
    "compute": "One GPU, one server",
    "training": "Training",
    "power": "Power",
    "capacity": "Inventory and capacity",
}


def phases_table(design: DesignAnswer, data_request: DataRequest, has_head: bool) -> Table:
    """Deployment phases in order, each with its completion criterion."""
    phases = enumerate(_phases(design, data_request, has_head), 1)
    rows = ((f"{number}. {name}", work, done) for number, (name, work, done) in phases)
    titles = ("Phase", "Work", "Complete when")
    return fact_table("phases", "Deployment phases", rows, titles=titles, widths=(18, 42, 40), style="")


def _phases(design: DesignAnswer, data_request: DataRequest, has_head: bool) -> Iterator[tuple[str, str, str]]:
    plan = design.plan
    devices = words.plural(sum(device.status != "reserved" for device in plan.devices), "device")
    yield (
        "Room",
        "Racks in place, both feeds live, cooling running",
        "Each feed alone carries the load given in the chapter on physical design",
    )
    yield (
        "Racking",
        f"Mount {devices} as shown in the rack elevations",
        "Every device is in its planned rack unit, and blanking panels close the open units",
    )
    yield (
        "Cabling",
        f"Install {words.plural(plan.n_links, 'cable')} from the cable list",
        "Every link runs at its planned rate, and both ends are labelled",
    )
    if has_head:
        yield (
            "Head node",
            "Install the cluster manager, then deploy the servers from it",
            "All servers boot one image and respond on the management network",
        )
    else:
        yield (
            "System",
            "Install operating system, drivers and containers on the server",
            "The driver lists every GPU",
        )
    if design.storage_nodes:
        yield (
            "Storage",
            "Create the storage cluster, set its protection level, export the file system",
            "Usable capacity equals that in the chapter on storage",
        )
    yield "Data", _ingest_text(design, data_request), "Number and total size of the files match the source"
    yield (
        "Acceptance",
        "Run the tests of this chapter, from single components to the full system",
        "Every test passes, or the cause of each miss is found and fixed",
    )
    yield (
        "Handover",
        "Train the users; hand over this guide with the measured results",
        "The first user job runs at the accepted rate",
    )


def _ingest_text(design: DesignAnswer, data_request: DataRequest) -> str:
    """Ingest of the data, with the shortest time that one 10 Gbit/s link allows."""
    stored = storage_demand(design.workloads, data_request)
    time_s = (stored.raw_bytes or stored.sets_bytes) / link_bytes_per_s("10gbe")
    return f"Copy the data sets to {design.platform.storage.name}; at least {duration(time_s)} over one 10 GbE link"


def tests_table(tests: Sequence[AcceptanceTest]) -> Table | None:
    """Acceptance tests with expected results and limits; None without tests."""
    rows: list[Row] = []
    for area, title in _AREAS.items():
        in_area = [test for test in tests if test.area == area]
        if in_area:
            rows.append(row(title, kind="group"))
        for test in in_area:
            basis = Cell(words.sentence(test.basis), test.sources)
            rows.append(row(test.run.rstrip(".") + ".", test.expect, test.passes, basis))
    if not rows:
        return None
    titles = ("Test", "Expected result", "Pass criterion", "Basis")
    caption = "Acceptance tests with expected results"
    return fact_table("acceptance", caption, rows, titles=titles, widths=(34, 21, 20, 25), style="")


def monitoring_table(design: DesignAnswer) -> Table:
    """Metrics to monitor with their normal values and the meaning of deviations."""
    titles = ("Metric", "Normal value", "Meaning of a deviation")
    return fact_table(
        "watch", "Monitoring in operation", _metrics(design), titles=titles, widths=(20, 24, 56), style=""
    )


def _metrics(design: DesignAnswer) -> Iterator[tuple[str, str, str]]:
    first = design.workloads[0]
    storage = next((stage for stage in first.stages if stage.key == "storage"), None)
    yield (
        "GPU utilization",
        words.percent(first.gpu_busy_fraction),
        "lower: the GPUs wait for data or synchronization; check storage, processors and links",
    )
    load = float(first.cpu_utilization_fraction.value)
    if load > 0:
        yield (
            "Processor utilization",
            words.percent(load),
            "close to 100 %: the loader is the bottleneck; give it more threads or decode on the GPU",
        )
    if storage is not None and storage.load_fraction > 0.005:
        yield (
            "Storage reads",
            words.rounded(first.storage_bytes_per_s, "B/s"),
            f"normal storage utilization is {words.percent(storage.load_fraction)}; higher means a cache is lost",
        )
    elif float(first.storage_bytes_per_s.value) <= 0:
        yield (
            "Storage reads",
            "none after the first epoch",
            "reads in later epochs: the data no longer fits in memory",
        )
    if design.n_servers > 1:
        yield "Links", "no errors", "a link with errors or a reduced rate slows every server that waits for it"
    else:
        yield "Temperature", "no throttling", "clocks below the maximum: check airflow and power limit"


def limits_table(design: DesignAnswer) -> Table:
    """Headroom of the design for growth, limit by limit."""
    titles = ("Limit", "Headroom", "Next step")
    return fact_table(
        "growth-limits", "Headroom for growth", _limits(design), titles=titles, widths=(30, 30, 40), style=""
    )


def _limits(design: DesignAnswer) -> Iterator[tuple[str, str, str]]:
    platform = design.platform
    for net in design.quantities.networks:
        if net.role is not NetworkRole.COMPUTE or not int(net.ports_used[0]):
            continue
        free = int(net.ports_free[0])
        servers = words.plural(free // max(fabric_ports(platform.server.ports, platform.fabric), 1), "server")
        yield (
            "Ports of the compute fabric",
            f"{words.plural(free, 'port')} free, enough for {servers} more",
            "another leaf switch, later another level"
            if int(net.spines[0])
            else "another switch, and links between the switches",
        )
    units = sum(len(rack.empty_units) for rack in design.plan.racks)
    height = platform.server.height_u
    if height is not None:
        servers = words.plural(int(units // height.value), "server")
        yield (
            "Rack units",
            f"{units}{words.NO_BREAK}U free, room for {servers} if power allows",
            "another rack with its own pair of feeds",
        )
    if counts_nodes(platform.storage):
        _, most = node_limits(platform.storage)
        flat = platform.storage.back_end_flat_nodes
        yield (
            "Storage nodes",
            f"{grouped(design.storage_nodes)} of {grouped(most)} in use",
            f"leaf and spine in the back end above {flat.value} nodes" if flat is not None else "a second file system",
        )
    for answer in design.workloads:
        stage = next(stage for stage in answer.stages if stage.key == answer.next_bottleneck)
        ratio = float(stage.capacity.value) / float(answer.throughput.value)
        if 1 < ratio < 1000:
            yield (
                f"{STAGES[stage.key]}, {answer.workload.name}",
                f"{significant(ratio, 2)} times the projected rate",
                "above it, faster GPUs or newer software bring no gain",
            )
