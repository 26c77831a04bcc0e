"""The bill of materials as data: lines, money and what is missing."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class BillLine:
    """One line. ``unit_price`` None reads "to be quoted"; it never counts as zero."""

    line: str  # "3.2"
    category: str
    item: str  # catalogue id
    manufacturer: str
    sku: str  # "" where no source names a part number
    description: str
    quantity: int
    unit: str  # EA, YR ...
    unit_price: Decimal | None
    price_source: str
    price_date: str
    status: str  # "computed", "existing", "optional"
    note: str

    @property
    def extended(self) -> Decimal | None:
        """Quantity x unit price, or None."""
        return None if self.unit_price is None else self.unit_price * self.quantity


@dataclass(frozen=True)
class Bill:
    """A bill. ``total`` sums the priced lines; it reads "at least" while ``unpriced`` is not empty."""

    currency: str
    lines: tuple[BillLine, ...]
    total: Decimal
    unpriced: tuple[str, ...]  # item ids without a price
    warnings: tuple[str, ...]  # end of sale, old prices

    @property
    def is_complete(self) -> bool:
        """Whether every bought line has a price."""
        return not self.unpriced

    def part(self, category: str) -> "Bill":
        """The lines of one category as a bill of their own, with their total."""
        lines = tuple(line for line in self.lines if line.category == category)
        bought = [line for line in lines if line.status == "computed"]
        return Bill(
            currency=self.currency,
            lines=lines,
            total=sum((line.extended for line in bought if line.extended is not None), Decimal("0.00")),
            unpriced=tuple(dict.fromkeys(line.item for line in bought if line.unit_price is None)),
            warnings=(),
        )
