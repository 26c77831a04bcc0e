"""Tables of the chapter on storage: raw to usable, rates asked against rates given, classes of storage."""

from collections.abc import Sequence

from sizer.base.quantities import si, with_decimal_sign
from sizer.base.units import TIB
from sizer.catalog.schema import Storage
from sizer.physical.capacity import CapacityStep
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

_HITACHI = "hitachi-dl-2019"
_STEPS = {
    "raw": "Raw",
    "hot spare": "Hot spare",
    "protection": "Protection",
    "reserve": "Reserve",
    "usable": "Usable",
}


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
        ("Step", "left", 15),
        ("Left", "right", 13),
        ("TiB", "right", 10),
        ("Why", "left", 48),
        ("Source", "left", 14),
    )
    return Table("ladder", "From raw to usable capacity", heads, tuple(rows))


def supply_table(design: DesignAnswer) -> Table | None:
    """Read rates that the storage gives, by level of evidence, beside those asked; None where none is known."""
    storage, nodes = design.platform.storage, max(design.storage_nodes, 1)
    if storage.kind == "local":
        nodes = design.n_servers
    levels = (
        ("Demonstrated, lower bound", storage.node_read_low_bytes_per_s),
        ("Vendor's maximum", storage.node_read_high_bytes_per_s),
    )
    given = [
        row(label, si(fact.value, "B/s"), si(fact.value * nodes, "B/s"), Cell("", (fact.source,), fact.where))
        for label, fact in levels
        if fact is not None
    ]
    line = float(design.quantities.front_end_bytes_per_s[0])
    if line > 0 and storage.kind != "local":
        given.append(row("Line rate of the front end", si(line / nodes, "B/s"), si(line, "B/s"), "ports in use"))
    if not given:
        return None
    asked: list[Row] = []
    for answer in design.workloads:
        asked += _asked(answer, len(design.workloads) > 1)
    unit = "A server" if storage.kind == "local" else "A node"
    heads = columns(("Read rate", "left", 40), (unit, "right", 16), ("Together", "right", 18), ("Source", "left", 26))
    rows = (row("Given", kind="group"), *given, row("Asked at the projected rate", kind="group"), *asked)
    return Table("supply", "Read rate asked against read rate given", heads, rows)


def _asked(answer: WorkloadAnswer, is_named: bool) -> list[Row]:
    name = f"{answer.workload.name}: " if is_named else ""
    warm = answer.storage_bytes_per_s
    text = words.estimate(warm, "B/s") if float(warm.value) > 0 else "nothing"
    return [
        row(name + "warm epochs", "", text, ""),
        row(name + "first epoch, cold", "", words.estimate(answer.cold_storage_bytes_per_s, "B/s"), ""),
    ]


def classes_table(storage: Storage) -> Table:
    """Which class of storage fits which work, and which one this design takes."""
    chosen = {"local": 0, "nfs-server": 1}.get(storage.kind, 2)
    rows = (
        (
            "Drives in the server",
            "one server, or a cache in front of shared storage",
            "easy and fast; nothing is shared, and every server needs its copy",
        ),
        (
            "NFS server",
            "data that are read once and then held in memory; homes and results",
            "usually there already; one access path, whose rate bounds all readers",
        ),
        (
            "Scale-out NAS or clustered file system",
            "data that fit no memory, read by many servers at once",
            "grows in rate and capacity by the node; dearest, with a higher smallest size",
        ),
    )
    heads = columns(("Class", "left", 22), ("Fits", "left", 37), ("To weigh", "left", 41))
    lines = tuple(
        row(
            f"{name} (this design)" if place == chosen else name,
            fits,
            Cell(weigh, (_HITACHI,)) if place == chosen else weigh,
            kind="strong" if place == chosen else "",
        )
        for place, (name, fits, weigh) in enumerate(rows)
    )
    return Table("classes", "Classes of storage and the work that each fits", heads, lines)
