"""Tables of the chapter on storage: raw to usable, rates asked against rates given, classes of storage."""

from collections.abc import Sequence

from sizer.base.language import Texts, mark, tr
from sizer.base.quantities import si, with_decimal_sign
from sizer.base.units import TIB
from sizer.catalog.schema import Storage
from sizer.physical.capacity import CapacityStep
from sizer.report import words
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

_HITACHI = "hitachi-dl-2019"
_STEPS = Texts(
    {
        "raw": mark("Raw"),
        "hot spare": mark("Hot spare"),
        "protection": mark("Protection"),
        "reserve": mark("Reserve"),
        "usable": mark("Usable"),
    }
)


def ladder_table(steps: Sequence[CapacityStep]) -> Table:
    """What each step from raw to usable leaves, in decimal and binary units."""
    rows = [
        row(
            _STEPS[step.label],
            si(step.capacity_bytes, "B"),
            with_decimal_sign(f"{step.capacity_bytes / TIB:.1f}"),
            words.sentence(step.how),
            Cell("", (step.source,)) if step.source else "",
            kind="total" if step.label == "usable" else "",
        )
        for step in steps
    ]
    heads = columns(
        (tr("Step"), "left", 15), (tr("Left"), "right", 13), (tr("TiB"), "right", 10), (tr("Why"), "left", 48),
        (tr("Source"), "left", 14),
    )  # fmt: skip
    return Table("ladder", tr("From raw to usable capacity"), heads, tuple(rows))


def supply_table(design: DesignAnswer) -> Table | None:
    """Read rates that the storage gives, by level of evidence, beside those asked; None where none is known."""
    storage, nodes = design.platform.storage, max(design.storage_nodes, 1)
    if storage.kind == "local":
        nodes = design.n_servers
    levels = (
        (tr("Demonstrated, lower bound"), storage.node_read_low_bytes_per_s),
        (tr("Vendor's maximum"), storage.node_read_high_bytes_per_s),
    )
    given = [
        row(label, si(fact.value, "B/s"), si(fact.value * nodes, "B/s"), Cell("", (fact.source,), fact.where))
        for label, fact in levels
        if fact is not None
    ]
    line = float(design.quantities.front_end_bytes_per_s[0])
    if line > 0 and storage.kind != "local":
        given.append(
            row(tr("Line rate of the front end"), si(line / nodes, "B/s"), si(line, "B/s"), tr("ports in use"))
        )
    if not given:
        return None
    asked: list[Row] = []
    for answer in design.workloads:
        asked += _asked(answer, len(design.workloads) > 1)
    unit = tr("A server") if storage.kind == "local" else tr("A node")
    heads = columns(
        (tr("Read rate"), "left", 40), (unit, "right", 16), (tr("Together"), "right", 18), (tr("Source"), "left", 26)
    )
    rows = (row(tr("Given"), kind="group"), *given, row(tr("Asked at the projected rate"), kind="group"), *asked)
    return Table("supply", tr("Read rate asked against read rate given"), heads, rows)


def _asked(answer: WorkloadAnswer, is_named: bool) -> list[Row]:
    name = f"{answer.workload.name}: " if is_named else ""
    warm = answer.storage_bytes_per_s
    text = words.estimate(warm, "B/s") if float(warm.value) > 0 else tr("nothing")
    return [
        row(name + tr("warm epochs"), "", text, ""),
        row(name + tr("first epoch, cold"), "", words.estimate(answer.cold_storage_bytes_per_s, "B/s"), ""),
    ]


def classes_table(storage: Storage) -> Table:
    """Which class of storage fits which work, and which one this design takes."""
    chosen = {"local": 0, "nfs-server": 1}.get(storage.kind, 2)
    rows = (
        (
            tr("Drives in the server"),
            tr("one server, or a cache in front of shared storage"),
            tr("easy and fast; nothing is shared, and every server needs its copy"),
        ),
        (
            tr("NFS server"),
            tr("data that are read once and then held in memory; homes and results"),
            tr("usually there already; one access path, whose rate bounds all readers"),
        ),
        (
            tr("Scale-out NAS or clustered file system"),
            tr("data that fit no memory, read by many servers at once"),
            tr("grows in rate and capacity by the node; dearest, with a higher smallest size"),
        ),
    )
    heads = columns((tr("Class"), "left", 22), (tr("Fits"), "left", 37), (tr("To weigh"), "left", 41))
    lines = tuple(
        row(
            tr("{name} (this design)", name=name) if place == chosen else name,
            fits,
            Cell(weigh, (_HITACHI,)) if place == chosen else weigh,
            kind="strong" if place == chosen else "",
        )
        for place, (name, fits, weigh) in enumerate(rows)
    )
    return Table("classes", tr("Classes of storage and the work that each fits"), heads, lines)
