"""Tables of the chapter on software: what is installed, what the workloads run on, who does what."""

from sizer.base.quantities import grouped
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Software, Support
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import DesignAnswer


def software_table(design: DesignAnswer, catalog: Catalog) -> Table | None:
    """Software of the design with its purpose and what a licence counts; None where there is none."""
    return _lines(design, catalog, "software", "software", "Software of the design")


def support_table(design: DesignAnswer, catalog: Catalog) -> Table | None:
    """Support that the vendors sell for these parts; None where there is none."""
    return _lines(design, catalog, "support", "support-lines", "Support")


def _lines(design: DesignAnswer, catalog: Catalog, category: str, id_: str, caption: str) -> Table | None:
    rows: list[Row] = []
    for part in design.quantities.components:
        item = catalog.item(part.item)
        if part.category != category or not int(part.quantity[0]) or not isinstance(item, Software | Support):
            continue
        metric = words.name(item.metric.value)
        counted = f"{grouped(int(part.quantity[0]))}, {f'per {metric}'}"
        is_free = item.metric.value in ("free", "included")
        rows.append(
            row(
                with_vendor(item) + (", optional" if part.status == "optional" else ""),
                Cell(item.purpose.value.rstrip(".") + ".", (item.purpose.source,)),
                metric if is_free else counted,
            )
        )
    if not rows:
        return None
    heads = columns(("Component", "left", 28), ("Purpose", "left", 52), ("Licence", "left", 20))
    return Table(id_, caption, heads, tuple(rows))


def stacks_table(design: DesignAnswer) -> Table:
    """The software stack that each workload is sized with."""
    rows = []
    for answer in design.workloads:
        stack = answer.stack
        rows.append(
            row(
                answer.workload.name,
                stack.name,
                Cell(str(stack.released.value), (stack.released.source,)),
                words.name(stack.loader) if stack.loader != "none" else "none, decoded samples",
                words.name(answer.workload.precision),
            )
        )
    heads = columns(
        ("Workload", "left", 24),
        ("Stack", "left", 26),
        ("Released", "left", 15),
        ("Loader", "left", 20),
        ("Precision", "left", 15),
    )
    return Table("stacks", "What the workloads run on", heads, tuple(rows))


def duties_table(has_head: bool) -> Table:
    """Who does what once the system runs."""
    where = "head node" if has_head else "server"
    rows = (
        row(
            "Data scientist",
            "logs in, opens a notebook or submits a job, watches its curves, keeps the result",
            where,
        ),
        row(
            "Administrator",
            "adds users, updates images and containers, sets queues and quotas, replaces parts",
            where,
        ),
        row(
            "Storage administrator",
            "imports data sets, sets access and snapshots, watches capacity and load",
            "storage",
        ),
        row("Buyer", "renews licences and support before their terms end", "–"),
    )
    heads = columns(("Who", "left", 24), ("Does", "left", 58), ("Where", "left", 18))
    return Table("duties", "Who does what", heads, rows)
