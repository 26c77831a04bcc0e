"""The bill as a workbook with formulas: fill in a quoted price and the totals follow."""

import datetime
import io
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from sizer.base.quantities import duration, si, significant
from sizer.bom.bill import Bill, BillLine
from sizer.bom.money import round_money
from sizer.catalog.model import Catalog
from sizer.catalog.wording import sample_unit
from sizer.export.design_json import design_document
from sizer.export.formats import base, formats
from sizer.export.text import TO_BE_QUOTED, is_formula_like
from sizer.physical.plan import CATEGORIES
from sizer.sizing.result import STAGES, SizingResult

# Workbooks carry a date of creation; a fixed one keeps equal answers equal to the byte.
_UNDATED = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 (Excel knows no time zones)
_BOM_COLUMNS: tuple[tuple[str, float, str], ...] = (
    ("Line", 6, "text"),
    ("Category", 15, "text"),
    ("Manufacturer", 14, "text"),
    ("SKU", 20, "text"),
    ("Description", 46, "wrap"),
    ("Qty", 7, "integer"),
    ("Unit", 7, "text"),
    ("Unit list price", 15, "money"),
    ("Discount", 10, "percent"),
    ("Unit net price", 15, "money"),
    ("Extended list", 16, "money"),
    ("Extended net", 16, "money"),
    ("Currency", 9, "text"),
    ("Price date", 11, "text"),
    ("Price source", 22, "text"),
    ("Status", 11, "text"),
    ("Notes", 44, "wrap"),
)
_HEAD_ROW = 3  # zero-based row of the column heads on every sheet


def workbook(result: SizingResult, catalog: Catalog) -> bytes:
    """Workbook of the documented design.

    Sheets: Summary, BOM, Networks, Assumptions, Sources, Data. Formulas carry the value that they had when the file
    was written, so that viewers that do not calculate show it. Equal results give equal bytes.
    """
    import xlsxwriter  # type: ignore[import-untyped]

    stream = io.BytesIO()
    settings = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(stream, settings) as book:
        request = result.request
        created = _UNDATED if request.date is None else datetime.datetime.combine(request.date, datetime.time())
        book.set_properties({"title": request.title, "created": created, "comments": "Budgetary, not binding."})
        _Writer(book, result, catalog).write()
    return stream.getvalue()


class _Writer:
    """Writes the sheets; formats are made once and shared."""

    def __init__(self, book: Any, result: SizingResult, catalog: Catalog) -> None:
        self.book, self.result, self.catalog = book, result, catalog
        self.bill: Bill = result.design.bill
        self.formats = {name: book.add_format({**base(), **properties}) for name, properties in formats().items()}

    def write(self) -> None:
        """All sheets in their order. The summary's formulas look into the BOM."""
        summary = self._sheet("Summary", (34, 22, 60))
        bom = self._sheet("BOM", tuple(width for _, width, _ in _BOM_COLUMNS), "Bill of materials")
        first, last = self._bom(bom)
        self._summary(summary, first, last)
        self._networks()
        self._assumptions()
        self._sources()
        self._data()
        summary.activate()

    def _sheet(self, name: str, widths: Sequence[float], title: str = "") -> Any:
        sheet = self.book.add_worksheet(name)
        sheet.hide_gridlines(2)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.set_landscape()
        sheet.set_paper(9)  # A4
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.6)
        sheet.set_footer("&L&8&A&R&8Page &P of &N")
        self._text(sheet, 0, 0, title or name, "title")
        request = self.result.request
        day = request.date.isoformat() if request.date is not None else "not dated"
        self._text(sheet, 1, 0, " · ".join(part for part in (request.title, request.customer, day) if part), "muted")
        return sheet

    def _text(self, sheet: Any, row: int, column: int, text: str, format_: str = "text") -> None:
        """Text as text. What a spreadsheet might calculate keeps its quote mark when it is edited or copied."""
        name = f"{format_}-quoted" if is_formula_like(text) and f"{format_}-quoted" in self.formats else format_
        sheet.write_string(row, column, text, self.formats[name])

    def _heads(self, sheet: Any, heads: Sequence[str], right: Sequence[int] = ()) -> None:
        for column, head in enumerate(heads):
            self._text(sheet, _HEAD_ROW, column, head, "head-right" if column in right else "head")
        sheet.freeze_panes(_HEAD_ROW + 1, 0)
        sheet.repeat_rows(_HEAD_ROW)

    # --- the bill

    def _bom(self, sheet: Any) -> tuple[int, int]:
        """Lines and totals; returns the first and the last row of the lines, counted from 1."""
        money = [column for column, (_, _, kind) in enumerate(_BOM_COLUMNS) if kind in ("money", "percent", "integer")]
        self._heads(sheet, [title for title, _, _ in _BOM_COLUMNS], money)
        sheet.freeze_panes(_HEAD_ROW + 1, 5)
        first = _HEAD_ROW + 1
        for row, line in enumerate(self.bill.lines, first):
            self._line(sheet, row, line)
        last = first + max(len(self.bill.lines), 1) - 1
        sheet.autofilter(_HEAD_ROW, 0, last, len(_BOM_COLUMNS) - 1)
        sheet.data_validation(
            first,
            8,
            last,
            8,
            {
                "validate": "decimal",
                "criteria": "between",
                "minimum": 0,
                "maximum": 1,
                "error_title": "Discount",
                "error_message": "A share between 0 % and 100 %.",
            },
        )
        total = last + 2
        span = (first + 1, last + 1)
        label, amount = self._total()
        open_ = _open_condition(span)
        sheet.write_formula(total, 4, f'=IF({open_}>0,"Total, at least","Total")', self.formats["total"], label)
        for column in (5, 6, 7, 8, 9):
            sheet.write_blank(total, column, None, self.formats["total"])
        for column, letter in ((10, "K"), (11, "L")):
            sheet.write_formula(total, column, _sum_or_open(span, letter), self.formats["total-money"], amount)
        self._text(sheet, total, 12, self.bill.currency, "total")
        note = (
            "List prices without taxes, freight and duties. Type a quoted price over “to be quoted”; the totals follow."
        )
        self._text(sheet, total + 2, 0, note, "muted")
        return first + 1, last + 1

    def _line(self, sheet: Any, row: int, line: BillLine) -> None:
        n = row + 1
        texts = {
            0: line.line,
            1: line.category,
            2: line.manufacturer,
            3: line.sku,
            6: line.unit,
            12: self.bill.currency,
            13: line.price_date,
            14: line.price_source,
            15: line.status,
        }
        for column, text in texts.items():
            self._text(sheet, row, column, text)
        self._text(sheet, row, 4, line.description, "wrap")
        self._text(sheet, row, 16, line.note, "wrap")
        sheet.write_number(row, 5, line.quantity, self.formats["integer"])
        if line.unit_price is None:
            self._text(sheet, row, 7, TO_BE_QUOTED, "open")
        else:
            sheet.write_number(row, 7, float(line.unit_price), self.formats["money"])
        sheet.write_blank(row, 8, None, self.formats["percent"])
        unit = TO_BE_QUOTED if line.unit_price is None else float(round_money(line.unit_price))
        extended = TO_BE_QUOTED if line.extended is None else float(round_money(line.extended))
        style = self.formats["open" if line.unit_price is None else "money"]
        formulas = (
            (9, f'=IF(ISNUMBER(H{n}),ROUND(H{n}*(1-I{n}),2),"{TO_BE_QUOTED}")', unit),
            (10, f'=IF(ISNUMBER(H{n}),ROUND(F{n}*H{n},2),"{TO_BE_QUOTED}")', extended),
            (11, f'=IF(ISNUMBER(J{n}),ROUND(F{n}*J{n},2),"{TO_BE_QUOTED}")', extended),
        )
        for column, formula, value in formulas:
            sheet.write_formula(row, column, formula, style, value)

    def _bought(self, category: str = "") -> list[BillLine]:
        return [line for line in self.bill.lines if line.status == "computed" and category in ("", line.category)]

    def _total(self, category: str = "") -> tuple[str, float | str]:
        """What the total formulas give today: their label and their value."""
        lines = self._bought(category)
        known = [line.extended for line in lines if line.extended is not None]
        label = "Total, at least" if len(known) < len(lines) else "Total"
        return label, float(sum(known, Decimal(0))) if known else TO_BE_QUOTED

    # --- the other sheets

    def _summary(self, sheet: Any, first: int, last: int) -> None:
        row = 3
        for label, value, note in _summary_rows(self.result):
            self._text(sheet, row, 0, label, "label")
            self._text(sheet, row, 1, value, "strong")
            self._text(sheet, row, 2, note, "wrap")
            row += 1
        row += 1
        for column, head in enumerate(("List price by category", self.bill.currency, "")):
            self._text(sheet, row, column, head, "head-right" if column == 1 else "head")
        span = (first, last)
        for category in [one for one in CATEGORIES if self._bought(one)]:
            row += 1
            label, amount = self._total(category)
            self._text(sheet, row, 0, category)
            sheet.write_formula(row, 1, _sum_or_open(span, "K", category, "BOM!"), self.formats["money"], amount)
            self._text(
                sheet,
                row,
                2,
                "without the lines to be quoted" if "least" in label and value != TO_BE_QUOTED else "",
                "muted",
            )
        row += 1
        label, amount = self._total()
        open_ = _open_condition(span, "BOM!")
        sheet.write_formula(row, 0, f'=IF({open_}>0,"Total, at least","Total")', self.formats["total"], label)
        sheet.write_formula(row, 1, _sum_or_open(span, "K", "", "BOM!"), self.formats["total-money"], amount)
        sheet.write_blank(row, 2, None, self.formats["total"])
        closing = (
            "Budgetary and not binding. Performance is projected, not guaranteed. Availability and prices may change.",
            f"Catalogue {self.result.catalog_digest[:16]}, calibration {self.result.calibration_digest[:16]}.",
        )
        for offset, text in enumerate(closing, 2):
            self._text(sheet, row + offset, 0, text, "muted")

    def _networks(self) -> None:
        sheet = self._sheet("Networks", (24, 12, 22, 12, 10, 10, 14, 12, 12, 12, 10, 40), "Networks and cables")
        heads = (
            "Network",
            "Kind",
            "Switch",
            "End points",
            "Leaves",
            "Spines",
            "Leaf to spine",
            "Ports used",
            "Ports free",
            "Down : up",
            "Gateways",
            "Note",
        )
        self._heads(sheet, heads, range(3, 11))
        row = _HEAD_ROW
        counts = self.result.design.quantities
        for net in counts.networks:
            row += 1
            for column, text in enumerate((net.name, net.kind, net.switch or "none")):
                self._text(sheet, row, column, text)
            numbers = (net.end_points, net.leaves, net.spines, net.leaf_spine_cables, net.ports_used, net.ports_free)
            for column, number in enumerate(numbers, 3):
                sheet.write_number(row, column, int(number[0]), self.formats["integer"])
            sheet.write_number(row, 9, round(float(net.oversubscription[0]), 2), self.formats["ratio"])
            sheet.write_number(row, 10, int(net.gateways[0]), self.formats["integer"])
            self._text(sheet, row, 11, net.note, "wrap")
        row += 2
        for column, head in enumerate(("Cables and parts by role", "Quantity", "Item", "Note")):
            self._text(sheet, row, column, head, "head-right" if column == 1 else "head")
        for part in counts.components:
            if not int(part.quantity[0]):
                continue
            row += 1
            self._text(sheet, row, 0, part.role)
            sheet.write_number(row, 1, int(part.quantity[0]), self.formats["integer"])
            self._text(sheet, row, 2, part.item)
            self._text(sheet, row, 3, part.note)

    def _assumptions(self) -> None:
        sheet = self._sheet("Assumptions", (44, 26, 12, 24, 80), "Assumptions and questions")
        self._heads(sheet, ("Assumption", "Value", "Basis", "Source", "Reason"))
        row = _HEAD_ROW
        for one in sorted(self.result.assumptions, key=lambda one: one.basis != "assumed"):
            row += 1
            for column, text in enumerate((one.what, one.value, one.basis, one.source, one.note)):
                self._text(sheet, row, column, text, "wrap")
        row += 2
        self._text(sheet, row, 0, "To ask the vendors", "head")
        for question in self.result.questions:
            row += 1
            self._text(sheet, row, 0, question)

    def _sources(self) -> None:
        sheet = self._sheet("Sources", (30, 80, 30, 16, 8))
        self._heads(sheet, ("Key", "Title", "Publisher", "Date", "Grade"))
        row = _HEAD_ROW
        for key in self.result.sources:
            source = self.catalog.sources.get(key)
            if source is None:
                continue
            row += 1
            for column, text in enumerate(
                (source.id, source.title, source.publisher, source.date or "not dated", source.grade)
            ):
                self._text(sheet, row, column, text, "wrap")

    def _data(self) -> None:
        sheet = self._sheet("Data", (70, 60), "Data: every number of the design document")
        self._heads(sheet, ("Key", "Value"))
        for row, (key, value) in enumerate(_flat(design_document(self.result)), _HEAD_ROW + 1):
            self._text(sheet, row, 0, key)
            if isinstance(value, bool) or not isinstance(value, int | float):
                self._text(sheet, row, 1, "not known" if value is None else str(value))
            else:
                sheet.write_number(row, 1, value, self.formats["plain"])


def _columns(span: tuple[int, int], letter: str, sheet: str) -> str:
    return f"{sheet}${letter}${span[0]}:${letter}${span[1]}"


def _open_condition(span: tuple[int, int], sheet: str = "") -> str:
    """How many bought lines have no price."""
    return f'COUNTIFS({_columns(span, "P", sheet)},"computed",{_columns(span, "K", sheet)},"{TO_BE_QUOTED}")'


def _sum_or_open(span: tuple[int, int], letter: str, category: str = "", sheet: str = "") -> str:
    """Sum of the bought lines, of one category if given; 'to be quoted' while none has a price, never 0."""
    amounts, status, names = (_columns(span, column, sheet) for column in (letter, "P", "B"))
    chosen = f'{status},"computed"' + (f',{names},"{category}"' if category else "")
    factor = f'*({names}="{category}")' if category else ""
    priced = f'SUMPRODUCT(({status}="computed"){factor}*ISNUMBER({amounts}))'
    return f'=IF({priced}=0,"{TO_BE_QUOTED}",SUMIFS({amounts},{chosen}))'


def _summary_rows(result: SizingResult) -> Iterator[tuple[str, str, str]]:
    design = result.design
    counts = design.quantities
    at_least = "at least " if counts.unknown_power else ""
    yield "Answer", design.name, result.verdict
    yield "GPU servers", str(design.n_servers), design.platform.server.name
    yield "GPUs", str(design.n_gpus), design.platform.gpu.name
    usable = float(counts.usable_bytes[0])
    yield "Storage nodes", str(design.storage_nodes) if design.storage_nodes else "none", design.platform.storage.name
    if usable > 0:
        yield "Usable capacity", si(usable, "B"), ""
    yield "Rack units", significant(float(counts.rack_units[0])), f"in {int(counts.racks[0])} rack(s)"
    yield (
        "Power, maximum",
        at_least + si(float(counts.power_max_w[0]), "W"),
        f"typical {at_least}{si(float(counts.power_typical_w[0]), 'W')}",
    )
    for answer in design.workloads:
        unit = sample_unit(answer.dnn)
        value, low, high = answer.throughput
        span = f"90 % interval {significant(low)} to {significant(high)}; {STAGES[answer.bottleneck].lower()} limits"
        yield f"Throughput, {answer.workload.name}", si(value, unit), span
        if answer.time is not None:
            value, low, high = answer.time.total_s
            yield (
                f"Time to train, {answer.workload.name}",
                duration(value),
                f"90 % interval {duration(low)} to {duration(high)}",
            )
        yield (
            f"Target, {answer.workload.name}",
            answer.target,
            f"met with a probability of {100 * answer.probability:.0f} %",
        )


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of nested data with their paths, in sorted order."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _flat(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _flat(one, f"{path}[{number}]")
    else:
        yield path, value
