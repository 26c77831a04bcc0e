"""The sheet with the lines of the bill: its totals are formulas of prices and discounts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sizer import __version__
from sizer.base.quantities import by_count, duration, rounded_to, scaled_unit, significant
from sizer.bom.bill import BOUGHT, BY_OTHERS, MONTHS_A_YEAR, Bill, BillLine, Status, Sum
from sizer.catalog.labels import sample_unit
from sizer.catalog.model import Catalog
from sizer.export.files import PROVIDED_BY_OTHERS, TO_BE_QUOTED
from sizer.export.tables.table import BillColumn, columns, values
from sizer.export.workbook.sheets import A3, HEAD_ROW, Sheets
from sizer.physical.components import CATEGORIES
from sizer.present import words
from sizer.present.bill_tables import CATEGORY_TITLES
from sizer.present.facts.storage_tiers import system_name, tier_label
from sizer.present.text.bill_warnings import bill_warning_sentences, excluded_text
from sizer.present.text.money import price_basis_text, price_range_text
from sizer.present.text.verdict import verdict_text
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.workload.target_text import target_text

NAME = "BOM"
# Hidden columns for the totals: whether a line counts, whether it recurs, its price of one year.
_COUNTS, _RECURS, _YEARLY = _HELPERS = ("Included in total", "Recurring", "Net price per year")
# What a reader of the workbook sees in place of a status.
_SHOWN: dict[Status, str] = {"computed": "included"}
_STATUSES: tuple[str, ...] = tuple(
    _SHOWN.get(status, status) for status in (*BOUGHT, "existing", "optional", BY_OTHERS)
)
# Binary fractions put 11.00 x (1 - 93.5 %) a hair under 0.715: rounding to six decimals first gives 0.72.
_ROUNDED = "ROUND(ROUND({},6),2)"
_LETTERS = 26


@dataclass(frozen=True)
class BillCells:
    """Places of the lines and totals, for formulas of this sheet and others."""

    columns: tuple[BillColumn, ...]
    first: int  # rows, from 1
    last: int

    @property
    def sum_row(self) -> int:
        """Row with the sum of the lines."""
        return self.last + 2

    @property
    def deal_row(self) -> int:
        """Row with the discount of the deal; a customer's copy has none."""
        return self.last + 3

    @property
    def total_row(self) -> int:
        """Row with the total; in a customer's copy the sum of the lines is the total."""
        return self.last + (4 if self.has("Discount %") else 2)

    def has(self, key: str) -> bool:
        return any(column.key == key for column in self.columns)

    def place(self, key: str) -> int:
        return [*(column.key for column in self.columns), *_HELPERS].index(key)

    def letter(self, key: str) -> str:
        place = self.place(key)
        return chr(ord("A") + place) if place < _LETTERS else f"A{chr(ord('A') + place - _LETTERS)}"

    def column(self, key: str) -> str:
        letter = self.letter(key)
        return f"{NAME}!${letter}${self.first}:${letter}${self.last}"

    def cell(self, key: str, row: int) -> str:
        """One cell, for formulas of other sheets."""
        return f"{NAME}!${self.letter(key)}${row}"

    @property
    def counts(self) -> str:
        """Cells that hold 1 where a line is in the totals."""
        return self.column(_COUNTS)

    def is_open(self, column: str, rule: str = "") -> str:
        """How many lines in the totals have no number in a column; ``rule`` narrows the lines."""
        return f"SUMPRODUCT(({self.counts}=1){rule}*(1-ISNUMBER({column})))"

    def sum_or_open(self, key: str, rule: str = "", condition: str = "") -> str:
        """Formula: sum of the lines in the totals, 'to be quoted' while nothing but zero is known, never 0.

        ``rule`` and ``condition`` narrow the lines: once as a factor, once as further arguments of SUMIFS.
        """
        return self._guarded(self.column(key), rule, condition)

    def recurring(self, is_recurring: bool) -> str:
        """Formula: what is paid for the lines that are bought again, or for the others."""
        column, wanted = self.column(_RECURS), int(is_recurring)
        net = self.column("Extended net")
        rule, condition = f"*({column}={wanted})", f",{column},{wanted}"
        paid = self._after_deal(net, f",{column},0")
        # Both add up to the total, to the cent.
        return self._guarded(net, rule, condition, f"{self._after_deal(net)}-({paid})" if is_recurring else paid)

    @property
    def yearly(self) -> str:
        """Formula: what is paid for one year of the lines that are bought again."""
        column = self.column(_RECURS)
        rule = f"*({column}=1)*({self.column('Qty')}<>0)"
        condition = f",{column},1"
        return self._guarded(self.column(_YEARLY), rule, condition, self._after_deal(self.column(_YEARLY), condition))

    @property
    def longest_lead(self) -> str:
        """Formula: longest lead time of the lines in the totals."""
        weeks = self.column("Lead time (weeks)")
        known = f'COUNTIFS({self.counts},1,{weeks},">=0")'
        return f'=IF({known}=0,"not known",SUMPRODUCT(MAX(({self.counts}=1)*{weeks})))'

    def _guarded(self, amounts: str, rule: str, condition: str, shown: str = "") -> str:
        total = self._sum(amounts, condition)
        return f'=IF(AND({self.is_open(amounts, rule)}>0,{total}=0),"{TO_BE_QUOTED}",{shown or total})'

    def _sum(self, amounts: str, condition: str = "") -> str:
        return f"SUMIFS({amounts},{self.counts},1{condition})"

    def _after_deal(self, amounts: str, condition: str = "") -> str:
        """Sum of some amounts less the discount of the deal, which a customer's copy does not tell."""
        total = self._sum(amounts, condition)
        return f"{total}-ROUND({total}*DealDiscount,2)" if self.has("Discount %") else total


def shown(amount: Sum) -> float | str:
    """Value of the formula of a sum when the file is written."""
    return TO_BE_QUOTED if amount.is_unknown else float(amount.amount)


def write_bill(sheets: Sheets, bill: Bill, catalog: Catalog) -> BillCells:
    """Sheet with all lines, their sum, the discount of the deal and the total."""
    shown_columns = columns(bill)
    sheet = sheets.add(NAME, _widths(bill, shown_columns), "Bill of materials", A3)
    right = [index for index, column in enumerate(shown_columns) if column.kind not in ("text", "wrap")]
    sheets.heads(sheet, [column.head for column in shown_columns], right, frozen_columns=3)
    first = HEAD_ROW + 1
    last = first + max(len(bill.lines), 1) - 1
    cells = BillCells(shown_columns, first + 1, last + 1)
    for row, line in enumerate(bill.lines, first):
        _line(sheets, sheet, row, line, bill, cells, catalog)
    n_columns = len(shown_columns)
    sheet.autofilter(HEAD_ROW, 0, last, n_columns - 1)
    # Line numbers and part numbers are text.
    sheet.ignore_errors({"number_stored_as_text": f"A{cells.first}:{cells.letter('Notes')}{cells.last}"})
    sheet.set_column(n_columns, n_columns + len(_HELPERS) - 1, 9, None, {"hidden": True})
    for column, head in enumerate(_HELPERS, n_columns):
        sheets.text(sheet, HEAD_ROW, column, head)

    # Rules for typed values; a price may also be text, after a question.
    def at(key: str, rule: dict[str, Any]) -> None:
        index = cells.place(key)
        titled = {**rule, "error_title": cells.columns[index].head}
        sheet.data_validation(cells.first - 1, index, cells.last - 1, index, titled)

    whole = {"validate": "integer", "criteria": ">=", "minimum": 0, "error_message": "A whole number, 0 or more."}
    at("Qty", whole)
    at("Term (months)", {**whole, "minimum": 1, "error_message": "A whole number of months."})
    at("Lead time (weeks)", whole)
    price = {"validate": "decimal", "criteria": ">=", "minimum": 0, "error_type": "warning"}
    at("Unit list price", {**price, "error_message": "This is not a price: the line will read “to be quoted”."})
    if cells.has("Discount %"):
        at("Discount %", _SHARE)
    at("Status", {"validate": "list", "source": list(_STATUSES), "error_message": "Choose a status from the list."})
    _totals(sheets, sheet, bill, cells)
    note = (
        "Taxes, freight and duties are not included. Type a quoted price over “to be quoted”, a discount, a lead time "
        "or another status: the totals and the summary follow."
    )
    if bill.is_customer_copy:
        note = (
            "Taxes, freight and duties are not included. Type a price over “to be quoted” or another "
            "status: the totals and the summary follow. Where a unit price reads “in the sum”, the "
            "price is that of the whole line."
        )
    sheets.text(sheet, cells.total_row + 1, 0, note, "muted")
    # Hidden columns and cells outside the table are not printed.
    sheet.print_area(0, 0, cells.total_row + 1, n_columns - 1)
    return cells


def _widths(bill: Bill, shown_columns: Sequence[BillColumn]) -> list[float]:
    """Widths of the columns; a large amount widens its column."""
    largest = max((line.extended_list or Decimal(0) for line in bill.lines), default=Decimal(0))
    needed = len(f"{10 * largest:,.2f}") + 1
    return [max(column.width, needed) if column.kind == "money" else column.width for column in shown_columns]


def _line(sheets: Sheets, sheet: Any, row: int, line: BillLine, bill: Bill, cells: BillCells, catalog: Catalog) -> None:
    is_open = line.unit_price is None and line.fixed_extended is None
    given = values(line, bill)
    for index, (column, value) in enumerate(zip(cells.columns, given, strict=True)):
        if column.key == "Price source" and value in catalog.sources:
            value = catalog.sources[str(value)].title
        if column.key == "Status":
            value = _SHOWN.get(line.status, line.status)
        if isinstance(value, str):
            sheets.text(sheet, row, index, value, "open" if column.kind == "money" else column.kind)
        elif value is None:
            sheet.write_blank(row, index, None, sheets.formats[column.kind])
        else:
            number = value / 100 if column.kind == "percent" else value
            kind = "open" if column.kind == "money" and is_open else column.kind
            sheets.number(sheet, row, index, float(number), kind)
    style = sheets.formats["open" if is_open else "money"]
    for key, formula in _price_formulas(line, row + 1, cells).items():
        index = cells.place(key)
        value = given[index]
        sheet.write_formula(row, index, formula, style, float(value) if isinstance(value, Decimal) else value)
    _helpers(sheets, sheet, row, line, cells)


def _price_formulas(line: BillLine, n: int, cells: BillCells) -> dict[str, str]:
    """Formulas of a line in row ``n`` by their column; an amount that no unit price makes up stays a value."""
    quantity, price, status = (f"{cells.letter(key)}{n}" for key in ("Qty", "Unit list price", "Status"))
    others = f'IF({status}="{BY_OTHERS}","{PROVIDED_BY_OTHERS}","{TO_BE_QUOTED}")'
    word = f'IF({status}="existing","at hand",{others})'
    none = f"IF(AND(ISNUMBER({quantity}),{quantity}=0),0,{word})"

    def extended(unit: str) -> str:
        return f"=IF(ISNUMBER({unit}),{quantity}*{unit},{none})"

    if line.fixed_extended is not None:
        return {}
    if not cells.has("Discount %"):
        return {"Extended net": extended(price)}
    discount, net = f"{cells.letter('Discount %')}{n}", f"{cells.letter('Unit net price')}{n}"
    return {
        "Unit net price": f"=IF(ISNUMBER({price}),{_ROUNDED.format(f'{price}*(1-{discount})')},{word})",
        "Extended list": extended(price),
        "Extended net": extended(net),
    }


def _helpers(sheets: Sheets, sheet: Any, row: int, line: BillLine, cells: BillCells) -> None:
    """Hidden cells of a line, which the totals use."""
    category, amount, term, status = (
        f"{cells.letter(key)}{row + 1}" for key in ("Category", "Extended net", "Term (months)", "Status")
    )
    bought = ",".join(f'{status}="{_SHOWN.get(word, word)}"' for word in BOUGHT)
    plain = sheets.formats["number"]
    sheet.write_formula(row, cells.place(_COUNTS), f"=IF(OR({bought}),1,0)", plain, int(line.is_bought))
    recurs = f'=IF(OR(N({term})>0,{category}="support"),1,0)'
    sheet.write_formula(row, cells.place(_RECURS), recurs, plain, int(line.is_recurring))
    year = _ROUNDED.format(f"{amount}*{MONTHS_A_YEAR}/{term}")
    yearly = TO_BE_QUOTED if line.yearly_net is None else float(line.yearly_net)
    # Two IFs: AND would divide by an empty term before it says no.
    formula = f'=IF(ISNUMBER({amount}),IF(N({term})>0,{year},"{TO_BE_QUOTED}"),"{TO_BE_QUOTED}")'
    sheet.write_formula(row, cells.place(_YEARLY), formula, plain, yearly)


def _totals(sheets: Sheets, sheet: Any, bill: Bill, cells: BillCells) -> None:
    label, amount_net = cells.place("Description"), cells.place("Extended net")
    net = bill.net_total
    sums = f"{cells.letter('Extended net')}{cells.sum_row}"
    formula = cells.sum_or_open("Extended net")
    if not bill.is_customer_copy:
        _before_the_total(sheets, sheet, bill, cells)
        formula = f'=IF(ISNUMBER({sums}),{sums}+{cells.letter("Extended net")}{cells.deal_row},"{TO_BE_QUOTED}")'
    row = cells.total_row - 1
    for column in range(label, amount_net):
        sheet.write_blank(row, column, None, sheets.formats["total"])
    open_ = cells.is_open(cells.column("Extended net"))
    words = "Lines with a price" if net.n_open else "Total"
    sheet.write_formula(row, label, f'=IF({open_}>0,"Lines with a price","Total")', sheets.formats["total"], words)
    total = TO_BE_QUOTED if net.is_unknown else shown(replace(net, amount=bill.total, n_open=0))
    sheet.write_formula(row, amount_net, formula, sheets.formats["total-money"], total)
    sheets.text(sheet, row, cells.place("Currency"), bill.currency, "total")


def _before_the_total(sheets: Sheets, sheet: Any, bill: Bill, cells: BillCells) -> None:
    """Sums of the lines at list and net prices, and the amount of the discount of the deal."""
    label, amount_list, amount_net = (cells.place(key) for key in ("Description", "Extended list", "Extended net"))
    discount = cells.place("Discount %")
    net = bill.net_total
    money = sheets.formats["money"]
    row = cells.sum_row - 1
    sheets.text(sheet, row, label, "Sum of the lines", "text")
    sheet.write_formula(row, amount_list, cells.sum_or_open("Extended list"), money, shown(bill.list_total))
    sheet.write_formula(row, amount_net, cells.sum_or_open("Extended net"), money, shown(net))
    row = cells.deal_row - 1
    sheets.text(sheet, row, label, "Discount of the deal, on the sum of the net prices", "text")
    sheets.number(sheet, row, discount, float(bill.deal_discount_percent / 100), "percent")
    sheet.data_validation(row, discount, row, discount, _SHARE)
    sheets.book.define_name("DealDiscount", f"={cells.cell('Discount %', cells.deal_row)}")
    sums = f"{cells.letter('Extended net')}{cells.sum_row}"
    taken = _ROUNDED.format(f"{sums}*{cells.letter('Discount %')}{cells.deal_row}")
    less = TO_BE_QUOTED if net.is_unknown else -float(bill.deal_reduction)
    sheet.write_formula(row, amount_net, f'=IF(ISNUMBER({sums}),-{taken},"{TO_BE_QUOTED}")', money, less)


_SHARE = {
    "validate": "decimal",
    "criteria": "between",
    "minimum": 0,
    "maximum": 1,
    "error_title": "Discount",
    "error_message": "A share between 0 % and 100 %.",
}


WIDTHS = (34, 26, 22, 62)
_ON_PRICES = "Prices and availability may change without notice; each price has its source and date on the sheet BOM."
_DISCLAIMERS = (
    "Budgetary and not binding: a binding offer needs quotes of the vendors.",
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
        for text in (_DISCLAIMERS[0], excluded_text(bill), *_DISCLAIMERS[1:])
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
    limits = words.stage(answer.bottleneck, inside=True)
    span = f"90 % interval {significant(low)} to {significant(high)}; bottleneck: {limits}"
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
    return _Figure(label, rounded_to(value / factor, 3), note, printed, name)


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
        note = by_count(n_open, "1 line needs a quote", f"{n_open} lines need a quote") if n_open else ""
        sheet.write_formula(row, 3, formula, muted, note)
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
