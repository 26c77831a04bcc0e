"""Prices of a part, and where a design uses it."""

from collections import Counter

from sizer.base.quantities import grouped
from sizer.catalog.model import Catalog
from sizer.evidence.catalogue_tables import cited_cell
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import money, plural
from sizer.sizing.result import DesignAnswer

_NONE = " "  # a cell without text would show its source


def price_table(item_id: str, catalog: Catalog, *, shows_own: bool) -> Table | None:
    """Prices of a part; None where there is none to show.

    Parameters
    ----------
    item_id : str
        Part.
    catalog : Catalog
        Where its prices lie.
    shows_own : bool
        Whether prices of the user's own book, their discounts and their notes may be shown.
    """
    is_own = item_id in catalog.own_prices
    if is_own and not shows_own:
        return None
    rows = [
        row(
            money(price.amount, price.currency),
            str(price.date),
            f"{price.discount_percent:f} %" if price.discount_percent else _NONE,
            Cell(price.source, is_muted=True) if is_own else cited_cell(price.source, price.where),
            price.note or _NONE,
        )
        for price in catalog.prices
        if price.item == item_id
    ]
    heads = columns(("List price", "right"), "Date", ("Discount", "right"), "Source and place", "Remark")
    return Table(f"prices-{item_id}", "Prices", heads, tuple(rows)) if rows else None


def uses_of(item_id: str, design: DesignAnswer) -> list[str]:
    """Sentences: where a part stands in a design; empty where it does not."""
    quantities: Counter[str] = Counter()
    for part in design.quantities.components:
        if part.item == item_id:
            quantities[part.role] += int(part.quantity[0])
    found = [f"{grouped(count)} × {role}" for role, count in quantities.items() if count]
    platform = design.platform
    if item_id == platform.gpu.id:
        found.append(f"{plural(design.n_gpus, 'GPU')} in {plural(design.n_servers, 'server')}")
    if platform.server.cpu is not None and item_id == platform.server.cpu.value:
        found.append("processor of the GPU servers")
    if item_id == platform.storage.id and not quantities:
        found.append("storage of the design")
    for answer in design.workloads:
        parts = {
            "neural network": answer.dnn,
            "data set": answer.dataset,
            "software stack": answer.stack,
            "training recipe": answer.recipe,
        }
        found += [
            f"{role} of the workload {answer.workload.name}"
            for role, used in parts.items()
            if used is not None and used.id == item_id
        ]
    return found
