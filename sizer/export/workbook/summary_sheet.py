"""The first sheet: quote, design, cost, warnings and conditions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sizer import __version__
from sizer.base.quantities import by_count, duration, scaled_unit, significant
from sizer.bom.bill import Bill
from sizer.catalog.labels import sample_unit
from sizer.export.workbook.bill_sheet import BillCells, shown
from sizer.export.workbook.sheets import Sheets
from sizer.physical.components import CATEGORIES
from sizer.present import words
from sizer.present.bill_tables import CATEGORY_TITLES
from sizer.present.facts.storage_tiers import system_name, tier_label
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.money import price_basis_text, price_range_text
from sizer.present.text.verdict import verdict_text
from sizer.sizing.result import STAGES, SizingResult, WorkloadAnswer
from sizer.workload.target_text import target_text

WIDTHS = (34, 26, 22, 62)
_ON_PRICES = "Prices and availability may change without notice; each price has its source and date on the sheet BOM."
_DISCLAIMERS = (
    "Budgetary and not binding: a binding offer needs quotes of the vendors.",
    "Taxes, freight, duties, installation on site and electricity are not included.",
    "Performance is projected from published measurements. It is stated with an interval and not guaranteed.",
    _ON_PRICES,
    "Part numbers are as of the dates of their sources. Check them in the vendor's configurator before ordering.",
    "Product names are trademarks of their owners.",
)


@dataclass(frozen=True)
class _Figure:
    """A line of the sheet: a text, or a number with its unit; ``name`` defines the cell for formulas."""

    label: str
    value: str | float
    note: str = ""
    unit: str = ""
    name: str = ""


def write_summary(sheets: Sheets, sheet: Any, result: SizingResult, cells: BillCells) -> None:
    """Fill the sheet; its formulas look into the sheet of the bill."""
    sheet.freeze_panes(2, 0)
    row = 3
    for label, value, note in _heading(result):
        sheets.text(sheet, row, 0, label, "label")
        sheets.text(sheet, row, 1, value, "strong")
        sheets.text(sheet, row, 3, note, "wrap")
        row += 1
    row += 1
    for column, head in enumerate(("Answer", "Value", "Unit", "")):
        sheets.text(sheet, row, column, head, "head-right" if column == 1 else "head")
    row += 1
    for figure in _answer(result):
        sheets.text(sheet, row, 0, figure.label, "label")
        if isinstance(figure.value, str):
            sheets.text(sheet, row, 1, figure.value, "strong")
        else:
            sheets.figure(sheet, row, 1, figure.value)
        sheets.text(sheet, row, 2, figure.unit)
        sheets.text(sheet, row, 3, figure.note, "wrap")
        if figure.name:
            sheets.book.define_name(figure.name, f"={sheet.name}!$B${row + 1}")
        row += 1
    bill = result.design.bill
    row = _categories(sheets, sheet, row + 1, bill, cells)
    row = _terms(sheets, sheet, row + 1, bill, cells)
    conditions = tuple(
        "Prices and availability may change without notice." if bill.is_customer_copy and text == _ON_PRICES else text
        for text in _DISCLAIMERS
    )
    for head, texts in (("Warnings", bill_warning_sentences(bill.warnings)), ("Conditions", conditions)):
        if texts:
            row += 1
            sheets.texts(sheet, row, (head, "", "", ""), "head")
            for text in texts:
                row += 1
                sheets.paragraph(sheet, row, text)
            row += 1


def _heading(result: SizingResult) -> Iterator[tuple[str, str, str]]:
    request, quote = result.request, result.request.quote
    until = result.design.bill.valid_until
    if quote.number:
        yield "Quote", quote.number, ""
    if quote.revision:
        is_told = not result.design.bill.is_customer_copy
        yield "Revision", quote.revision, "changes on the sheet Change log" if is_told else ""
    yield "Date", request.date.isoformat() if request.date is not None else "not dated", ""
    yield (
        "Valid until",
        until.isoformat() if until is not None else f"{quote.valid_days} days",
        f"{quote.valid_days} days from the date of the quote" if until is not None else "from the date of the quote",
    )
    if request.customer:
        yield "Prepared for", request.customer, ""
    if quote.prepared_by:
        yield "Prepared by", quote.prepared_by, ""
    yield "Status", "budgetary, not binding", ""
    if not result.design.bill.is_customer_copy:
        yield (
            "Based on",
            f"catalogue {result.catalog_digest[:8]}",
            f"calibration {result.calibration_digest[:8]}, configurator {__version__}",
        )


def _answer(result: SizingResult) -> Iterator[_Figure]:
    design = result.design
    counts = design.quantities
    at_least = "at least; " if counts.unknown_power else ""
    yield _Figure("Design", design.name, verdict_text(result))
    yield _Figure("GPU servers", design.n_servers, design.platform.server.name, name="GpuServers")
    yield _Figure("GPUs", design.n_gpus, design.platform.gpu.name, name="Gpus")
    for tier in design.tiers:
        yield _Figure(tier_label(tier, "Storage nodes"), tier.nodes or "none", system_name(tier))
        if tier.usable_bytes > 0:
            yield _figure(tier_label(tier, "Usable capacity"), tier.usable_bytes, "B")
    n_racks = counts.n_racks
    yield _Figure("Racks", n_racks, name="Racks")
    yield _Figure("Rack units", float(counts.rack_units[0]), unit="U", name="RackUnits")
    maximum, typical = float(counts.power_max_w[0]), float(counts.power_typical_w[0])
    yield _figure("Power, maximum", maximum, "W", f"{at_least}basis of feeds and cooling", "MaximumPower")
    yield _figure("Power, typical", typical, "W", f"{at_least}basis of energy", "TypicalPower", like=maximum)
    for answer in design.workloads:
        yield from _performance(answer)
    yield _Figure("Price", price_range_text(design), price_basis_text(design))


def _performance(answer: WorkloadAnswer) -> Iterator[_Figure]:
    unit, name = sample_unit(answer.dnn), answer.workload.name
    value, low, high = answer.throughput
    span = f"90 % interval {significant(low)} to {significant(high)}; bottleneck: {_inside(STAGES[answer.bottleneck])}"
    if answer.rate_is_predicted:
        yield _figure(f"Throughput, {name}", value, unit, span)
    if answer.rate_is_predicted and answer.time is not None:
        value, low, high = answer.time.total_s
        yield _figure(f"Time to train, {name}", value, "s", f"90 % interval {duration(low)} to {duration(high)}")
    chance = f"probability of meeting it: {words.chance(answer.probability)}"
    rate = answer.workload.target.samples_per_s
    if rate is not None:
        yield _figure(f"Target, {name}", rate, unit, f"at least; {chance}")
    else:
        yield _Figure(f"Target, {name}", target_text(answer.workload, answer.dnn), chance)


def _figure(label: str, value: float, unit: str, note: str = "", name: str = "", like: float | None = None) -> _Figure:
    """A number of three digits in the unit in which the guide prints it."""
    factor, printed = scaled_unit(value if like is None else like, unit)
    return _Figure(label, float(f"{value / factor:.3g}"), note, printed, name)


def _inside(label: str) -> str:
    """Label of a stage inside a sentence; an abbreviation stays as it is."""
    return label if label[:2].isupper() else f"{label[:1].lower()}{label[1:]}"


def _categories(sheets: Sheets, sheet: Any, row: int, bill: Bill, cells: BillCells) -> int:
    """Totals by category, the discount of the deal and the total; returns the last row."""
    is_told = not bill.is_customer_copy
    heads = (f"List, {bill.currency}", f"Net, {bill.currency}")
    if not is_told:
        heads = ("", f"Price, {bill.currency}")
    for column, head in enumerate(("Price by category", *heads, "")):
        sheets.text(sheet, row, column, head, "head-right" if column in (1, 2) else "head")
    money, muted, total = (sheets.formats[name] for name in ("money", "muted", "total"))
    names = cells.column("Category")
    for category in CATEGORIES:
        part = bill.part(category)
        if not part.bought:
            continue
        row += 1
        sheets.text(sheet, row, 0, CATEGORY_TITLES[category])
        rule, condition = f'*({names}="{category}")', f',{names},"{category}"'
        for column, key, amount in ((1, "Extended list", part.list_total), (2, "Extended net", part.net_total)):
            if cells.has(key):
                sheet.write_formula(row, column, cells.sum_or_open(key, rule, condition), money, shown(amount))
        open_ = cells.is_open(cells.column("Extended net"), rule)
        n_open = part.net_total.n_open
        formula = f'=IF({open_}=0,"",IF({open_}=1,"1 line needs a quote",{open_}&" lines need a quote"))'
        told = by_count(n_open, "1 line needs a quote", f"{n_open} lines need a quote") if n_open else ""
        sheet.write_formula(row, 3, formula, muted, told)
    if is_told:
        row = _discounted(sheets, sheet, row, bill, cells)
    row += 1
    label = "Lines with a price" if bill.net_total.n_open else "Total"
    sheet.write_formula(row, 0, f"={cells.cell('Description', cells.total_row)}", total, label)
    sheet.write_blank(row, 1, None, total)
    amount = bill.net_total if bill.net_total.is_unknown else replace(bill.purchase, n_open=0)
    place = cells.cell("Extended net", cells.total_row)
    sheet.write_formula(row, 2, f"={place}", sheets.formats["total-money"], shown(amount))
    sheets.book.define_name("TotalPrice", f"={place}")
    sheet.write_blank(row, 3, None, total)
    return row + 1


def _discounted(sheets: Sheets, sheet: Any, row: int, bill: Bill, cells: BillCells) -> int:
    """Sums at list and net prices, and the discount of the deal; returns the last row."""
    money = sheets.formats["money"]
    row += 1
    sheets.text(sheet, row, 0, "Sum of the lines")
    for column, key, amount in ((1, "Extended list", bill.list_total), (2, "Extended net", bill.net_total)):
        sheet.write_formula(row, column, f"={cells.cell(key, cells.sum_row)}", money, shown(amount))
    row += 1
    sheets.text(sheet, row, 0, "Discount of the deal")
    sheet.write_formula(row, 1, "=DealDiscount", sheets.formats["percent"], float(bill.deal_discount_percent / 100))
    less = shown(bill.net_total) if bill.net_total.is_unknown else -float(bill.deal_reduction)
    sheet.write_formula(row, 2, f"={cells.cell('Extended net', cells.deal_row)}", money, less)
    return row


def _terms(sheets: Sheets, sheet: Any, row: int, bill: Bill, cells: BillCells) -> int:
    """One-off and recurring costs, and the longest lead time; returns the last row."""
    is_told = not bill.is_customer_copy
    price = f"Net, {bill.currency}" if is_told else f"Price, {bill.currency}"
    for column, head in enumerate(("One-off and recurring", "", price, "")):
        sheets.text(sheet, row, column, head, "head-right" if column == 2 else "head")
    money = sheets.formats["money"]
    rows = (
        ("Bought once (CapEx)", cells.recurring(False), bill.one_off, "lines without a term, except support"),
        ("Support and subscriptions", cells.recurring(True), bill.recurring, "for the terms of the lines"),
        (
            "Of that per year (OpEx)",
            cells.yearly,
            bill.yearly,
            "net price x 12 / months of the term" if is_told else "price x 12 / months of the term",
        ),
    )
    for label, formula, amount, note in rows:
        row += 1
        sheets.text(sheet, row, 0, label)
        sheet.write_formula(row, 2, formula, money, shown(amount))
        sheets.text(sheet, row, 3, note, "muted")
    row += 1
    sheets.text(sheet, row, 0, "Longest known lead time")
    weeks = bill.longest_lead_weeks
    sheet.write_formula(
        row, 2, cells.longest_lead, sheets.formats["weeks"], "not known" if weeks is None else float(weeks)
    )
    n_known = sum(line.lead_time_weeks is not None for line in bill.bought)
    sheets.text(sheet, row, 3, f"{n_known} of {len(bill.bought)} lines have a lead time", "muted")
    return row + 1
