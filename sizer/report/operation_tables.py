"""Tables of the chapter on operation: phases, acceptance tests, what to watch, limits of growth."""

from collections.abc import Iterator, Sequence

from sizer.base.language import mark, tr, translated, trn
from sizer.base.quantities import duration, grouped, significant
from sizer.catalog.links import fabric_ports, link_bytes_per_s
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.report import words
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.sizing.acceptance import AcceptanceTest
from sizer.sizing.data_held import data_held
from sizer.sizing.result import STAGES, DesignAnswer
from sizer.workload.data_care import DataCare

_AREAS = {
    "network": mark("Networks"),
    "storage": mark("Storage"),
    "compute": mark("One GPU, one server"),
    "training": mark("Training"),
    "power": mark("Power"),
    "capacity": mark("Count and capacity"),
}


def phases_table(design: DesignAnswer, care: DataCare, has_head: bool) -> Table:
    """What is done in which order, and when a phase is done."""
    plan = design.plan
    n_devices = sum(device.status != "reserved" for device in plan.devices)
    phases = [
        (
            tr("Room"),
            tr("Racks stand, both feeds are live, cooling is on"),
            tr("Each feed alone carries the load of the chapter on physical design"),
        ),
        (
            tr("Racking"),
            trn(
                "Mount {n} device by the rack drawings",
                "Mount {n} devices by the rack drawings",
                n_devices,
                n=grouped(n_devices),
            ),
            tr("Every device stands in its rack unit, blanking panels close the rest"),
        ),
        (
            tr("Cabling"),
            trn(
                "Pull {n} cable by the cable list",
                "Pull {n} cables by the cable list",
                plan.n_links,
                n=grouped(plan.n_links),
            ),
            tr("Every link runs at its planned rate, both ends labelled"),
        ),
    ]
    if has_head:
        phases.append(
            (
                tr("Head node"),
                tr("Install the cluster manager, then the servers from it"),
                tr("All servers boot one image and answer on the management network"),
            )
        )
    else:
        phases.append(
            (
                tr("System"),
                tr("Install operating system, drivers and containers on the server"),
                tr("The driver lists every GPU"),
            )
        )
    if design.storage_nodes:
        phases.append(
            (
                tr("Storage"),
                tr("Form the storage cluster, set its protection, export the file system"),
                tr("The usable capacity is that of the chapter on storage"),
            )
        )
    phases += [
        (tr("Data"), _load_text(design, care), tr("Number and sum of the files match the source")),
        (
            tr("Acceptance"),
            tr("Run the tests of this chapter, small ones first"),
            tr("Every test passes; what misses is found before users come"),
        ),
        (
            tr("Hand-over"),
            tr("Train the users, hand over this guide with the measured numbers"),
            tr("The first job of a user runs at the accepted rate"),
        ),
    ]
    heads = columns((tr("Phase"), "left", 18), (tr("Work"), "left", 42), (tr("Done when"), "left", 40))
    rows = tuple(row(f"{number}. {name}", work, done) for number, (name, work, done) in enumerate(phases, 1))
    return Table("phases", tr("Phases of the deployment"), heads, rows)


def _load_text(design: DesignAnswer, care: DataCare) -> str:
    """Importing the data, with the shortest time that one 10 Gbit/s link allows."""
    held = data_held(design.workloads, care)
    size = held.raw_bytes or held.sets_bytes
    return tr(
        "Copy the data sets to {storage}; over one 10 GbE link that takes at least {time}",
        storage=design.platform.storage.name,
        time=duration(size / link_bytes_per_s("10gbe")),
    )


def tests_table(tests: Sequence[AcceptanceTest]) -> Table | None:
    """What to run, what to expect, what passes."""
    rows: list[Row] = []
    for area, title in _AREAS.items():
        found = [one for one in tests if one.area == area]
        if found:
            rows.append(row(translated(title), kind="group"))
            rows += [
                row(one.run.rstrip(".") + ".", one.expect, one.passes, Cell(words.sentence(one.basis), one.sources))
                for one in found
            ]
    if not rows:
        return None
    heads = columns(
        (tr("Run"), "left", 34),
        (tr("Expect"), "left", 21),
        (tr("Passes with"), "left", 20),
        (tr("Where from"), "left", 25),
    )
    return Table("acceptance", tr("Acceptance tests with the numbers to expect"), heads, tuple(rows))


def watch_table(design: DesignAnswer) -> Table:
    """What to watch in operation, its normal value, and what a departure means."""
    first = design.workloads[0]
    loads = {stage.key: stage for stage in first.stages}
    rows = [
        row(
            tr("GPUs"),
            tr("{share} busy", share=words.percent(first.gpu_busy_fraction)),
            tr("below: the GPUs wait for data or for one another; look at storage, processors and links"),
        )
    ]
    busy = float(first.cpu_utilization_fraction.value)
    if busy > 0:
        rows.append(
            row(
                tr("Processors"),
                tr("{share} busy", share=words.percent(busy)),
                tr("towards 100 %: the loader limits; give it more threads or let the GPU decode"),
            )
        )
    storage = loads.get("storage")
    if storage is not None and storage.load_fraction > 0.005:
        rows.append(
            row(
                tr("Storage reads"),
                words.rounded(first.storage_bytes_per_s, "B/s"),
                tr(
                    "the load is {share} of what it gives; more than planned means that a cache is lost",
                    share=words.percent(storage.load_fraction),
                ),
            )
        )
    elif float(first.storage_bytes_per_s.value) <= 0:
        rows.append(
            row(
                tr("Storage reads"),
                tr("none after the first epoch"),
                tr("reads in later epochs: the data no longer fit in memory"),
            )
        )
    rows.append(
        row(
            tr("Links"),
            tr("no errors"),
            tr("a link that counts errors or runs below its rate slows every server that waits for it"),
        )
        if design.n_servers > 1
        else row(
            tr("Temperature"),
            tr("no throttling"),
            tr("clocks below the maximum: check the air flow and the power limit"),
        )
    )
    heads = columns((tr("Watch"), "left", 18), (tr("Normal"), "left", 24), (tr("What a departure means"), "left", 58))
    return Table("watch", tr("What to watch while jobs run"), heads, tuple(rows))


def limits_table(design: DesignAnswer) -> Table:
    """Where this design stops growing, limit by limit."""
    heads = columns((tr("Limit"), "left", 30), (tr("Room left"), "left", 30), (tr("Beyond it"), "left", 40))
    return Table("growth-limits", tr("Where each limit is reached"), heads, tuple(_limit_rows(design)))


def _limit_rows(design: DesignAnswer) -> Iterator[Row]:
    platform = design.platform
    for net in design.quantities.networks:
        free = int(net.ports_free[0])
        if net.name != "compute fabric" or not int(net.ports_used[0]):
            continue
        each = max(fabric_ports(platform.server.ports, platform.fabric), 1)
        more = free // each
        yield row(
            tr("Ports of the compute fabric"),
            tr(
                "{ports} free, {servers} more",
                ports=words.plural(free, tr("port")),
                servers=words.plural(more, tr("server")),
            ),
            tr("another switch, and links between switches")
            if not int(net.spines[0])
            else tr("another leaf switch, later another level"),
        )
    units = sum(len(rack.empty_units) for rack in design.plan.racks)
    height = platform.server.height_u
    if height is not None:
        yield row(
            tr("Rack units"),
            tr(
                "{units} free, room for {servers} if power allows",
                units=f"{units}{words.NO_BREAK}U",
                servers=words.plural(int(units // height.value), tr("server")),
            ),
            tr("another rack with its own pair of feeds"),
        )
    if counts_nodes(platform.storage):
        _, most = node_limits(platform.storage)
        flat = platform.storage.back_end_flat_nodes
        yield row(
            tr("Storage nodes"),
            tr("{n} of {most}", n=grouped(design.storage_nodes), most=grouped(most)),
            tr("leaf and spine in the back end above {n} nodes", n=flat.value)
            if flat is not None
            else tr("a second file system"),
        )
    for answer in design.workloads:
        stage = next(one for one in answer.stages if one.key == answer.next_bottleneck)
        ratio = float(stage.capacity.value) / float(answer.throughput.value)
        if 1 < ratio < 1000:
            yield row(
                tr("{stage}, {workload}", stage=STAGES[stage.key], workload=answer.workload.name),
                tr("{ratio} times the rate", ratio=significant(ratio, 2)),
                tr("faster GPUs or newer software stop helping there"),
            )
