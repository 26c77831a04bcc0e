"""The bill as a workbook with formulas: totals are recalculated from quoted prices."""

import datetime
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sizer.base.money import percent
from sizer.base.provenance import ASSUMPTION
from sizer.base.quantities import duration, grouped
from sizer.bom.bill import BY_OTHERS, BillLine
from sizer.bom.overrides import REQUEST
from sizer.bom.ownership import CostKind
from sizer.catalog.labels import capital, item_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Source
from sizer.export.tables.plan_tables import plan_sheets
from sizer.export.tables.table import Number, Sheet, SheetColumn, record_sheet
from sizer.export.workbook.bill_sheet import WIDTHS, BillCells, write_bill, write_summary
from sizer.export.workbook.sheets import A3, A4, HEAD_ROW, Sheets
from sizer.physical.components import Network
from sizer.present.tables import Table
from sizer.present.text.assumptions import AssumptionRow, assumption_rows, part_questions
from sizer.present.text.bill_warnings import change_text, note_text
from sizer.present.text.plan import notes_text, question_text
from sizer.present.words import SECONDARY
from sizer.questions.ownership.analysis import OwnershipAnswer, ownership
from sizer.questions.ownership.text import KIND_NAMES, cost_text, kinds_of, ownership_note, run_cost_text, run_name
from sizer.sizing.assumptions import MissingFacts, MissingReadRate
from sizer.sizing.result import SizingResult
from sizer.workload.request import SizingRequest


@dataclass(frozen=True)
class VendorQuestion:
    """One question; ``line`` is empty where it is about a part instead of a line of the bill."""

    line: str
    vendor: str
    about: str
    sku: str
    quantity: int | None
    question: str


def vendor_questions(result: SizingResult) -> list[VendorQuestion]:
    """Questions of the bill first, then of the plan, then the unknown facts of the parts, one a row."""
    bill = result.design.bill
    questions = [
        VendorQuestion(line.line, line.manufacturer, line.description, line.sku, line.quantity, question)
        for line in bill.lines
        if line.status not in ("existing", BY_OTHERS) and line.quantity
        for question in _about_line(line, bill.currency)
    ]
    of_plan = map(question_text, result.design.plan.questions)
    questions += [VendorQuestion("", "", "Plan of racks and cables", "", None, text) for text in of_plan]
    for point in result.questions:
        # Missing prices are asked line by line above.
        if isinstance(point, MissingFacts | MissingReadRate):
            about, asked = part_questions(point)
            questions += [VendorQuestion("", "", about, "", None, question) for question in asked]
    return questions


def _about_line(line: BillLine, currency: str) -> Iterator[str]:
    missing = []
    if line.unit_price is None:
        missing.append(f"unit list price in {currency} and discount")
    if line.is_recurring and line.term_months is None:
        missing.append("term in months")
    if line.lead_time_weeks is None and line.is_shipped:
        missing.append("lead time in weeks")
    if line.item and not line.sku and line.unit_price != 0:
        missing.append("part number")
    if missing:
        yield ", ".join(missing)
    if line.unit_price and line.price_source != REQUEST and line.price_valid_until is None:
        yield f"whether {line.unit_price:.2f} {currency} of {line.price_date} is still valid"


# Widths in characters: a column is as wide as its longest word needs, within these.
_NARROW, _WIDE = 8, 44
_PADDING = 2
# More columns than this take the larger paper.
_A4_COLUMNS = 12
# Half a million cells take 150 MB while the workbook is written.
_MOST_CELLS = 500_000


def write_lists(sheets: Sheets, result: SizingResult, catalog: Catalog) -> None:
    """Networks, every table of the plan, and what the house knows besides: each on a sheet of its own."""
    tables = [_networks(result, catalog), *plan_sheets(result, catalog)]
    if not result.design.bill.is_customer_copy:
        tables += [_assumptions(result), _questions(result), _changes(result)]
    for table in (*tables, _sources(result, catalog)):
        _write(sheets, table)


def _write(sheets: Sheets, table: Sheet) -> None:
    if (n_rows := len(table.rows)) * len(table.heads) > _MOST_CELLS:
        note = f"{grouped(n_rows)} rows are too many for a sheet; the file netbox.zip lists them."
        table = replace(table, rows=(), notes=(*table.notes, note))
    columns = list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.heads)
    widths = [_width(head, cells) for head, cells in zip(table.heads, columns, strict=True)]
    sheet = sheets.add(table.title, widths, paper=A3 if len(table.heads) > _A4_COLUMNS else A4)
    right = [index for index, head in enumerate(table.heads) if head in table.numeric]
    sheets.heads(sheet, table.heads, right, frozen_columns=1)
    last = HEAD_ROW
    for last, row in enumerate(table.rows, HEAD_ROW + 1):
        for column, value in enumerate(row):
            if isinstance(value, str):
                sheets.text(sheet, last, column, value, "wrap")
            elif value is None:
                sheets.text(sheet, last, column, "not known", "muted")
            else:
                kind = "integer" if isinstance(value, int) else "number" if column in right else "figure"
                sheets.number(sheet, last, column, value, kind)
    sheet.autofilter(HEAD_ROW, 0, max(last, HEAD_ROW + 1), len(table.heads) - 1)
    for offset, note in enumerate(table.notes, 2):
        sheets.paragraph(sheet, last + offset, note)


def _width(head: str, cells: tuple[object, ...]) -> float:
    longest = max((len(str(cell)) for cell in cells), default=0)
    return min(max(_NARROW, max(map(len, head.split())) + _PADDING, longest + _PADDING), _WIDE)


def _networks(result: SizingResult, catalog: Catalog) -> Sheet:
    """Every network with its switches and ports."""

    def count(head: str, key: str) -> Number[Network]:
        return Number(head, lambda net: int(getattr(net, key)[0]))

    columns: tuple[SheetColumn[Network], ...] = (
        SheetColumn("Network", lambda net: capital(str(net.role))),
        SheetColumn("Kind", lambda net: net.kind.name),
        SheetColumn("Switch", lambda net: item_name(net.switch, catalog) if net.switch else "none"),
        SheetColumn("Spine", lambda net: item_name(net.spine, catalog) if int(net.spines[0]) and net.spine else "none"),
        count("End points", "end_points"),
        count("Leaves", "leaves"),
        count("Spines", "spines"),
        count("Cores", "cores"),
        count("Leaf to spine", "leaf_spine_cables"),
        count("Spine to core", "spine_core_cables"),
        count("Ports used", "ports_used"),
        count("Ports free", "ports_free"),
        Number("Oversubscription", lambda net: round(float(net.oversubscription[0]), 2)),
        count("Gateways", "gateways"),
        SheetColumn("Note", lambda net: notes_text(net.notes)),
    )
    used = [net for net in result.design.quantities.networks if int(net.ports_used[0])]
    return record_sheet("Networks", used, columns)


def _assumptions(result: SizingResult) -> Sheet:
    """All assumptions, defaults of the request first."""
    columns: tuple[SheetColumn[AssumptionRow], ...] = (
        SheetColumn("Assumption", lambda assumption: assumption.what),
        SheetColumn("Value", lambda assumption: assumption.value if assumption.number is None else assumption.number),
        SheetColumn("Unit", lambda assumption: "" if assumption.number is None else assumption.unit),
        SheetColumn("Basis", lambda assumption: assumption.basis),
        SheetColumn("Source", lambda assumption: assumption.source),
        SheetColumn("Reason", lambda assumption: assumption.note),
    )
    return record_sheet("Assumptions", assumption_rows(result), columns)


def _questions(result: SizingResult) -> Sheet:
    """Open questions, one row each, with room for the answer."""
    columns: tuple[SheetColumn[VendorQuestion], ...] = (
        SheetColumn("Line", lambda question: question.line),
        SheetColumn("Vendor", lambda question: question.vendor),
        SheetColumn("About", lambda question: question.about),
        SheetColumn("SKU", lambda question: question.sku),
        Number("Qty", lambda question: "" if question.quantity is None else question.quantity),
        SheetColumn("Question", lambda question: question.question),
        SheetColumn("Answer", lambda _: ""),
    )
    return record_sheet("Vendor questions", vendor_questions(result), columns)


def _changes(result: SizingResult) -> Sheet:
    """This revision, and every difference of its bill from the sized one."""
    request, bill = result.request, result.design.bill
    revision = request.quote.revision or "not numbered"
    day = request.date.isoformat() if request.date is not None else "not dated"
    by = f"prepared by {request.quote.prepared_by}" if request.quote.prepared_by else ""
    rows = [("", result.design.name, "sized from the request", by)]
    rows += [(line.line, line.description, change_text(line), note_text(line)) for line in bill.lines if line.changes]
    if bill.deal_discount_percent:
        rows.append(("", "Discount of the deal", f"{percent(bill.deal_discount_percent)} % on the net prices", ""))
    heads = ("Revision", "Date", "Line", "About", "What", "Notes")
    return Sheet("Change log", heads, tuple((revision, day, *texts) for texts in rows), frozenset())


def _sources(result: SizingResult, catalog: Catalog) -> Sheet:
    """Every source of a number; in a customer's copy those of the prices."""
    bill = result.design.bill

    def is_hidden(source: Source) -> bool:
        return bill.is_customer_copy and source.is_weak

    columns: tuple[SheetColumn[Source], ...] = (
        SheetColumn("Title", lambda source: SECONDARY if is_hidden(source) else source.title),
        SheetColumn("Publisher", lambda source: "" if is_hidden(source) else source.publisher),
        SheetColumn("Date", lambda source: source.date or "not dated"),
        # A customer knows no grades.
        *([] if bill.is_customer_copy else [SheetColumn[Source]("Grade", lambda source: source.grade)]),
    )
    keys = dict.fromkeys(line.price_source for line in bill.lines) if bill.is_customer_copy else result.sources
    # An assumption is no document; the sheet of assumptions has its reason.
    known = [catalog.sources[key] for key in keys if key in catalog.sources and key != ASSUMPTION]
    return record_sheet("Sources", known, columns)


NAME = "Ownership"
_FOLLOWS = "The purchase follows the sheet BOM; the other costs are those of the design when the file was written."


def write_ownership(sheets: Sheets, result: SizingResult, cells: BillCells) -> None:
    """Sheet of the cost of ownership; none where the request does not ask for it.

    ``cells``: places on the sheet with the bill, whose total is the purchase of the first year.
    """
    answer = ownership(result)
    if answer is None:
        return
    cost, kinds = answer.cost, kinds_of(answer)
    sheet = sheets.add(NAME, (30, *(20 for _ in kinds), 20, 20), "Cost of ownership")
    heads = ["Year", *(f"{KIND_NAMES[kind]} ({cost.currency})" for kind in kinds), f"Total ({cost.currency})"]
    sheets.heads(sheet, heads, range(1, len(heads)))
    columns: tuple[CostKind | Literal["total"], ...] = (*kinds, "total")
    first, last, row = HEAD_ROW + 2, HEAD_ROW + 1 + len(cost.years), HEAD_ROW
    for year in (*cost.years, None):
        row += 1
        if year is None:
            sheets.text(sheet, row, 0, "All years", "total")
        else:
            sheets.number(sheet, row, 0, year.year, "plain")
        for column, kind in enumerate(columns, 1):
            of_years = f"=SUM({_letter(column)}{first}:{_letter(column)}{last})"
            of_kinds = f"=SUM(B{row + 1}:{_letter(len(kinds))}{row + 1})"
            formula = of_years if year is None else of_kinds if kind == "total" else ""
            if kind == "purchase" and year is cost.years[0]:
                formula = f"={cells.cell('Extended net', cells.total_row)}"
            amount = sum(float(getattr(year_cost, kind) or 0) for year_cost in cost.years if year in (None, year_cost))
            is_open = cost.is_unpriced and kind not in ("energy", "space")
            if is_open:  # a sum of what has a price is no total
                text = cost_text(answer, kind, year)
                if year is cost.years[0] and kind == "purchase":
                    n_open = cells.is_open(cells.column("Extended net"))
                    sheet.write_formula(
                        row, column, f'=IF({n_open}>0,"{text}",{formula[1:]})', sheets.formats["open"], text
                    )
                else:
                    sheets.text(sheet, row, column, text, "open")
            elif formula:
                format_ = "total-money" if year is None else "money"
                sheet.write_formula(row, column, formula, sheets.formats[format_], amount)
            else:
                sheets.number(sheet, row, column, amount, "money")
    follows = "" if cost.is_unpriced else f" {_FOLLOWS}"
    sheets.paragraph(sheet, row + 2, f"{ownership_note(answer)}{follows}")
    if answer.runs:
        _runs(sheets, sheet, row + 4, answer)


def _runs(sheets: Sheets, sheet: Any, row: int, answer: OwnershipAnswer) -> None:
    """Energy and cost of one run of every workload."""
    cost = answer.first
    for column, head in enumerate(
        ("Workload", "Run", "Duration", "Energy (kWh)", f"Cost of one run ({cost.currency})")
    ):
        sheets.text(sheet, row, column, head, "head-right" if column > 2 else "head")
    for run in answer.runs:
        row += 1
        sheets.texts(sheet, row, (run.workload, run_name(run), duration(float(run.duration_s.value))))
        sheets.number(sheet, row, 3, float(f"{run.energy_kwh:.3g}"), "number")
        if cost.is_unpriced:
            sheets.text(sheet, row, 4, run_cost_text(run, answer), "open")
        else:
            sheets.number(sheet, row, 4, float(run.cost), "money")


def _letter(column: int) -> str:
    return chr(ord("A") + column)


# Workbooks carry a date of creation; a fixed one makes the files of equal answers identical.
_UNDATED = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 (Excel knows no time zones)

# Text stays text.
SETTINGS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


def workbook(result: SizingResult, catalog: Catalog) -> bytes:
    """Workbook of the documented design.

    Sheets: Summary, BOM, Ownership (where the request asks for it), Networks, Cables, Power, Racks, Elevations,
    Facility, Growth, Assumptions, Vendor questions, Change log, Sources. A customer's copy has no assumptions,
    questions to vendors or log. Formulas carry their value at
    the time of writing, for viewers that do not calculate. Equal results give equal bytes.
    """
    import xlsxwriter  # type: ignore[import-untyped]

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, SETTINGS) as book:
        request = result.request
        created = _UNDATED if request.date is None else datetime.datetime.combine(request.date, datetime.time())
        book.set_properties({"title": request.title, "created": created, "comments": "Budgetary, not binding."})
        sheets = Sheets(book, request)
        summary = sheets.add("Summary", WIDTHS)
        cells = write_bill(sheets, result.design.bill, catalog)
        write_summary(sheets, summary, result, cells)
        write_ownership(sheets, result, cells)
        write_lists(sheets, result, catalog)
        summary.activate()
    return stream.getvalue()


_FIRST_WIDTH, _WIDTH = 28, 40  # in characters


def comparison_workbook(tables: Sequence[tuple[str, Table]], request: SizingRequest) -> bytes:
    """Workbook of tables.

    ``tables``: name of a sheet with its table. ``request``: its title, customer and date stand on every sheet.
    """
    import xlsxwriter

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, SETTINGS) as book:
        sheets = Sheets(book, request)
        for name, table in tables:
            sheet = sheets.add(name, [_FIRST_WIDTH, *[_WIDTH] * (len(table.columns) - 1)], table.caption)
            sheets.heads(sheet, [column.title for column in table.columns], frozen_columns=1)
            last = HEAD_ROW
            for last, row in enumerate(table.rows, HEAD_ROW + 1):
                kind = "strong" if row.kind == "group" else "wrap"
                for column, cell in enumerate(row.cells):
                    sheets.text(sheet, last, column, cell.text, kind)
            if table.note:
                sheets.paragraph(sheet, last + 2, table.note)
    return stream.getvalue()
