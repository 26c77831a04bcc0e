"""Tables of the chapter on operation: phases, acceptance tests, what to watch, limits of growth."""

from collections.abc import Iterator, Sequence

from sizer.base.quantities import by_count, duration, grouped, significant
from sizer.catalog.links import fabric_ports, link_bytes_per_s
from sizer.guide.acceptance.tests import AcceptanceTest
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.sizing.constraints.stored_data import data_held
from sizer.sizing.result import STAGES, DesignAnswer
from sizer.workload.data import DataCare

_AREAS = {
    "network": "Networks",
    "storage": "Storage",
    "compute": "One GPU, one server",
    "training": "Training",
    "power": "Power",
    "capacity": "Count and capacity",
}


def phases_table(design: DesignAnswer, care: DataCare, has_head: bool) -> Table:
    """What is done in which order, and when a phase is done."""
    plan = design.plan
    n_devices = sum(device.status != "reserved" for device in plan.devices)
    phases = [
        (
            "Room",
            "Racks stand, both feeds are live, cooling is on",
            "Each feed alone carries the load of the chapter on physical design",
        ),
        (
            "Racking",
            by_count(
                n_devices,
                f"Mount {grouped(n_devices)} device by the rack drawings",
                f"Mount {grouped(n_devices)} devices by the rack drawings",
            ),
            "Every device stands in its rack unit, blanking panels close the rest",
        ),
        (
            "Cabling",
            by_count(
                plan.n_links,
                f"Pull {grouped(plan.n_links)} cable by the cable list",
                f"Pull {grouped(plan.n_links)} cables by the cable list",
            ),
            "Every link runs at its planned rate, both ends labelled",
        ),
    ]
    if has_head:
        phases.append(
            (
                "Head node",
                "Install the cluster manager, then the servers from it",
                "All servers boot one image and answer on the management network",
            )
        )
    else:
        phases.append(
            (
                "System",
                "Install operating system, drivers and containers on the server",
                "The driver lists every GPU",
            )
        )
    if design.storage_nodes:
        phases.append(
            (
                "Storage",
                "Form the storage cluster, set its protection, export the file system",
                "The usable capacity is that of the chapter on storage",
            )
        )
    phases += [
        ("Data", _load_text(design, care), "Number and sum of the files match the source"),
        (
            "Acceptance",
            "Run the tests of this chapter, small ones first",
            "Every test passes; what misses is found before users come",
        ),
        (
            "Hand-over",
            "Train the users, hand over this guide with the measured numbers",
            "The first job of a user runs at the accepted rate",
        ),
    ]
    heads = columns(("Phase", "left", 18), ("Work", "left", 42), ("Done when", "left", 40))
    rows = tuple(row(f"{number}. {name}", work, done) for number, (name, work, done) in enumerate(phases, 1))
    return Table("phases", "Phases of the deployment", heads, rows)


def _load_text(design: DesignAnswer, care: DataCare) -> str:
    """Importing the data, with the shortest time that one 10 Gbit/s link allows."""
    held = data_held(design.workloads, care)
    size = held.raw_bytes or held.sets_bytes
    return (
        f"Copy the data sets to {design.platform.storage.name}; over one 10 GbE link that takes "
        f"at least {duration(size / link_bytes_per_s('10gbe'))}"
    )


def tests_table(tests: Sequence[AcceptanceTest]) -> Table | None:
    """What to run, what to expect, what passes."""
    rows: list[Row] = []
    for area, title in _AREAS.items():
        found = [one for one in tests if one.area == area]
        if found:
            rows.append(row(title, kind="group"))
            rows += [
                row(one.run.rstrip(".") + ".", one.expect, one.passes, Cell(words.sentence(one.basis), one.sources))
                for one in found
            ]
    if not rows:
        return None
    heads = columns(
        ("Run", "left", 34),
        ("Expect", "left", 21),
        ("Passes with", "left", 20),
        ("Where from", "left", 25),
    )
    return Table("acceptance", "Acceptance tests with the numbers to expect", heads, tuple(rows))


def watch_table(design: DesignAnswer) -> Table:
    """What to watch in operation, its normal value, and what a departure means."""
    first = design.workloads[0]
    loads = {stage.key: stage for stage in first.stages}
    rows = [
        row(
            "GPUs",
            f"{words.percent(first.gpu_busy_fraction)} busy",
            "below: the GPUs wait for data or for one another; look at storage, processors and links",
        )
    ]
    busy = float(first.cpu_utilization_fraction.value)
    if busy > 0:
        rows.append(
            row(
                "Processors",
                f"{words.percent(busy)} busy",
                "towards 100 %: the loader limits; give it more threads or let the GPU decode",
            )
        )
    storage = loads.get("storage")
    if storage is not None and storage.load_fraction > 0.005:
        rows.append(
            row(
                "Storage reads",
                words.rounded(first.storage_bytes_per_s, "B/s"),
                (
                    f"the load is {words.percent(storage.load_fraction)} of what it gives; more than planned "
                    "means that a cache is lost"
                ),
            )
        )
    elif float(first.storage_bytes_per_s.value) <= 0:
        rows.append(
            row(
                "Storage reads",
                "none after the first epoch",
                "reads in later epochs: the data no longer fit in memory",
            )
        )
    rows.append(
        row(
            "Links",
            "no errors",
            "a link that counts errors or runs below its rate slows every server that waits for it",
        )
        if design.n_servers > 1
        else row(
            "Temperature",
            "no throttling",
            "clocks below the maximum: check the air flow and the power limit",
        )
    )
    heads = columns(("Watch", "left", 18), ("Normal", "left", 24), ("What a departure means", "left", 58))
    return Table("watch", "What to watch while jobs run", heads, tuple(rows))


def limits_table(design: DesignAnswer) -> Table:
    """Where this design stops growing, limit by limit."""
    heads = columns(("Limit", "left", 30), ("Room left", "left", 30), ("Beyond it", "left", 40))
    return Table("growth-limits", "Where each limit is reached", heads, tuple(_limit_rows(design)))


def _limit_rows(design: DesignAnswer) -> Iterator[Row]:
    platform = design.platform
    for net in design.quantities.networks:
        free = int(net.ports_free[0])
        if net.role is not NetworkRole.COMPUTE or not int(net.ports_used[0]):
            continue
        each = max(fabric_ports(platform.server.ports, platform.fabric), 1)
        more = free // each
        yield row(
            "Ports of the compute fabric",
            f"{words.plural(free, 'port')} free, {words.plural(more, 'server')} more",
            "another switch, and links between switches"
            if not int(net.spines[0])
            else "another leaf switch, later another level",
        )
    units = sum(len(rack.empty_units) for rack in design.plan.racks)
    height = platform.server.height_u
    if height is not None:
        yield row(
            "Rack units",
            "{units} free, room for {servers} if power allows".format(
                units=f"{units}{words.NO_BREAK}U", servers=words.plural(int(units // height.value), "server")
            ),
            "another rack with its own pair of feeds",
        )
    if counts_nodes(platform.storage):
        _, most = node_limits(platform.storage)
        flat = platform.storage.back_end_flat_nodes
        yield row(
            "Storage nodes",
            f"{grouped(design.storage_nodes)} of {grouped(most)}",
            f"leaf and spine in the back end above {flat.value} nodes" if flat is not None else "a second file system",
        )
    for answer in design.workloads:
        stage = next(one for one in answer.stages if one.key == answer.next_bottleneck)
        ratio = float(stage.capacity.value) / float(answer.throughput.value)
        if 1 < ratio < 1000:
            yield row(
                f"{STAGES[stage.key]}, {answer.workload.name}",
                f"{significant(ratio, 2)} times the rate",
                "faster GPUs or newer software stop helping there",
            )
