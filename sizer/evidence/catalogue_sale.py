"""Which parts can be ordered on a day, by what is published of the end of their sale, and their generations."""

import datetime
from collections.abc import Iterable
from enum import Enum

from sizer.catalog.items import Item
from sizer.catalog.schema import Gpu, Server


class Sale(Enum):
    """Whether a part is still sold."""

    ENDS_LATER = "on sale, end published"
    NOT_KNOWN = "end of sale not published"
    ENDED = "sale ended"
    NOT_SOLD = "not sold on its own"


def sale_on(item: Item, day: datetime.date) -> Sale:
    """Whether a part is sold on a day; a part of which no source tells the end stays unknown.

    A date without its day, or without its month, has passed when the whole month or year has.
    """
    if not item.orderable:
        return Sale.NOT_SOLD
    if item.end_of_sale is None:
        return Sale.NOT_KNOWN
    end = item.end_of_sale.value
    return Sale.ENDED if end < day.isoformat()[: len(end)] else Sale.ENDS_LATER


def orderable_on(items: Iterable[Item], day: datetime.date) -> list[Item]:
    """Parts that are sold on a day as far as anybody published it; those of unknown end are among them."""
    return [item for item in items if sale_on(item, day) in (Sale.ENDS_LATER, Sale.NOT_KNOWN)]


def of_generation(items: Iterable[Item], generation: str, gpus: dict[str, Gpu]) -> list[Item]:
    """GPUs of a generation, and servers that take one of them."""
    return [item for item in items if generation in _generations(item, gpus)]


def _generations(item: Item, gpus: dict[str, Gpu]) -> set[str | None]:
    if isinstance(item, Gpu):
        return {item.generation}
    if isinstance(item, Server):
        return {gpus[name].generation for name in item.gpus if name in gpus}
    return set()
