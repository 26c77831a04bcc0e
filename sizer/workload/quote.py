"""The quote: heading, discounts, changed lines and own lines."""

from collections import Counter
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sizer.base.money import Amount, Percent
from sizer.base.texts import Note, ShortText, line
from sizer.workload.table import RequestTable

# Categories of a bill in their order (guide outline, chapter 11).
Category = Literal[
    "compute",
    "head node",
    "storage",
    "network",
    "cable and optic",
    "rack and power",
    "cooling",
    "software",
    "support",
    "service",
]
Pieces = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]


class QuoteOverride(RequestTable):
    """Change of one item of the computed bill in the quote. It does not affect the sizing."""

    item: Annotated[str, Field(min_length=1, max_length=60), AfterValidator(line)]  # catalogue id of a line
    category: Category | None = None  # where the item stands in two categories
    quantity: Pieces | None = None
    unit_price: Amount | None = None  # list price, in the request's currency
    discount_percent: Percent | None = None
    optional: Annotated[bool, Field(strict=True)] | None = None  # False takes an option into the total
    by_others: Annotated[bool, Field(strict=True)] = False
    note: Note = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        changed = (self.quantity, self.unit_price, self.discount_percent, self.optional)
        if all(value is None for value in changed) and not self.by_others:
            raise ValueError("changes nothing; give quantity, unit_price, discount_percent, optional or by_others")
        if self.by_others and self.optional:
            raise ValueError("give either optional or by_others, not both")
        if self.by_others and (self.unit_price is not None or self.discount_percent is not None):
            raise ValueError("an item with by_others is not in this quote; remove unit_price and discount_percent")
        return self


class QuoteLine(RequestTable):
    """A line without a catalogue item."""

    description: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(line)]
    category: Category
    quantity: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
    unit: Annotated[str, Field(min_length=1, max_length=12), AfterValidator(line)] = "EA"
    manufacturer: ShortText = ""
    sku: ShortText = ""
    unit_price: Amount | None = None  # list price of one unit, for the whole term where there is one
    discount_percent: Percent = Decimal(0)
    term_months: Annotated[int, Field(ge=1, le=240, strict=True)] | None = None
    lead_time_weeks: Annotated[int, Field(ge=0, le=260, strict=True)] | None = None
    status: Literal["added", "optional", "by others"] = "added"
    note: Note = ""

    @model_validator(mode="after")
    def _others_have_no_price(self) -> Self:
        if self.status == "by others" and self.unit_price is not None:
            raise ValueError("a line with status 'by others' is not in this quote; remove unit_price")
        return self


class Quote(RequestTable):
    """Heading and terms of the quote."""

    number: ShortText = ""
    revision: ShortText = ""
    prepared_by: ShortText = ""
    # 30 days is the usual term; 14 where memory or GPUs drive the prices.
    valid_days: Annotated[int, Field(ge=1, le=365, strict=True)] = 30
    discount_percent: Percent = Decimal(0)  # of the deal, on top of the discounts of the lines
    override: Annotated[tuple[QuoteOverride, ...], Field(max_length=500)] = ()
    line: Annotated[tuple[QuoteLine, ...], Field(max_length=500)] = ()

    @model_validator(mode="after")
    def _one_override_an_item(self) -> Self:
        times = Counter((override.item, override.category) for override in self.override)
        twice = [item for (item, _), count in times.items() if count > 1]
        if twice:
            raise ValueError(f"more than one override of {', '.join(twice)}; combine them into one")
        return self
