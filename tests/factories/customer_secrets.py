"""A quote full of things that a customer must not read, and the texts by which a document would give them away."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from sizer import Catalog, SizingRequest, load_catalog
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.schema import Software

EXAMPLE = "dgx1-f800-inception-v4"
SOURCE = "internal-partner-list"
# Numbers with odd cents, so that none of them stands in a document by chance.
QUOTE = {
    "number": "Q-2026-017",
    "revision": "C",
    "prepared_by": "Presales",
    "valid_days": 21,
    "discount_percent": "2.39",
    "override": [
        {"item": "ar3300", "quantity": 7, "unit_price": "18123.57", "discount_percent": "7.43", "note": "INTERNAL-1"},
        {"item": "s3048-on", "discount_percent": "41.93", "note": "INTERNAL-SWITCH lost the last deal here"},
        {"item": "ap8886", "by_others": True, "note": "INTERNAL-PDU the reseller has them"},
        {"item": "smartconnect-advanced", "optional": True, "note": "INTERNAL-OPTION never sold yet"},
        {"item": "blanking-panel-1u", "quantity": 0, "note": "INTERNAL-PANEL thrown in"},
    ],
    "line": [
        {
            "description": "Installation",
            "category": "service",
            "quantity": 3,
            "unit_price": "18777.77",
            "discount_percent": "11.29",
            "note": "INTERNAL-CREW costs us a third of that",
        },
        {
            "description": "Training",
            "category": "service",
            "quantity": 2,
            "unit_price": "19333.31",
            "discount_percent": "13.71",
            "status": "optional",
            "note": "INTERNAL-COURSE",
        },
        {"description": "Crane", "category": "service", "quantity": 1, "status": "by others", "note": "INTERNAL-CRANE"},
    ],
}
# Renting beside buying: what buying costs must be what the customer pays.
RENTAL = {"per_gpu_hour": "2.4871", "years": 5, "electricity_per_kwh": "0.1313", "yearly_cost_percent": "4.6"}
# What no customer's copy says in words.
WORDS = ("changed by the quote", "added by the quote", "of the price book", "no list price in", "not computed")
_BOUGHT = ("servers", "storage", "switches", "gateways", "nics", "cables", "racks", "pdus", "accessories", "support")


def secret_request() -> SizingRequest:
    """Nine DGX-1 with eight F800 nodes, and a quote with discounts, overrides, lines of its own and internal notes."""
    asked = SizingRequest.from_file(data_dir("examples") / f"{EXAMPLE}.toml").model_dump(exclude_none=True)
    return SizingRequest.from_dict({**asked, "date": "2026-11-21", "quote": QUOTE, "rental": RENTAL})


def secret_catalog(folder: Path) -> Catalog:
    """The catalogue under a private price book: a discounted price of every item that costs something, and its source.

    Parameters
    ----------
    folder : Path
        An empty folder for the overlay.
    """
    (folder / "prices").mkdir()
    (folder / "sources.toml").write_text(
        f'[[source]]\nid = "{SOURCE}"\ntitle = "INTERNAL-LIST of the partner programme"\npublisher = "Distributor"\n'
        'date = "2026-10"\ngrade = "B"\n',
        encoding="utf-8",
    )
    rows = ["item,amount,currency,date,source,where,note,discount_percent,term_months,lead_time_weeks,valid_until"]
    shipped = shipped_catalog()
    for number, item in enumerate(_priced_items(shipped)):
        amount, discount = Decimal(11_003_17 + 71_10 * number) / 100, Decimal(10_13 + 10 * number) / 100
        months = "36" if item in shipped.support else ""
        rows.append(
            f"{item},{amount},USD,2025-03-09,{SOURCE},line {number},INTERNAL-COST plus three,{discount},{months},9,"
            "2026-11-30"
        )
    (folder / "prices" / "book.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return load_catalog(overlay=folder)


def secrets(request: SizingRequest, catalog: Catalog | None = None) -> list[str]:
    """Texts that no document for the customer may hold, each in the spellings that documents use.

    Internal notes, discounts with their sign, list prices behind a discount; with a catalogue also what its own price
    book says. List prices need odd cents to be no other number's spelling by chance.
    """
    found = list(WORDS)
    quote = request.quote
    found += [one.note for one in (*quote.override, *quote.line) if one.note]
    discounts = {
        quote.discount_percent,
        *(one.discount_percent or Decimal(0) for one in (*quote.override, *quote.line)),
    }
    amounts = {
        one.unit_price
        for one in (*quote.override, *quote.line)
        if one.unit_price and (one.discount_percent or quote.discount_percent)
    }
    if catalog is not None:
        own = [row for row in catalog.prices if row.item in catalog.own_prices]
        found += dict.fromkeys(text for row in own for text in (row.source, row.note) if text)
        found += [catalog.sources[row.source].title for row in own[:1] if row.source in catalog.sources]
        discounts |= {row.discount_percent for row in own}
        amounts |= {row.amount for row in own if row.discount_percent}
    found += [f"{percent}{space}%" for percent in sorted(discounts) if percent for space in ("", " ", "\xa0", "\u202f")]
    found += [text for amount in sorted(amounts) for text in spellings(amount)]
    return found


def spellings(amount: Decimal) -> Iterator[str]:
    """An amount of money as documents may print it."""
    plain = f"{amount:,.2f}"
    for group in ("", ",", " ", "\xa0", "\u202f", "'"):
        yield plain.replace(",", group)
    yield plain.translate(str.maketrans(",.", ".,"))


def _priced_items(catalog: Catalog) -> list[str]:
    free = ("free", "included")
    software = [
        item.id for item in catalog.software.values() if isinstance(item, Software) and item.metric.value not in free
    ]
    return [*software, *(item_id for folder in _BOUGHT for item_id in catalog.folder(folder))]
