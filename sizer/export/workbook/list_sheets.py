"""Sheets that list: networks, assumptions, questions to the vendors, changes, sources, data."""

from collections.abc import Iterator
from typing import Any

from sizer.base.money import percent
from sizer.catalog.model import Catalog
from sizer.export.design_json import design_document
from sizer.export.workbook.sheets import HEAD_ROW, Sheets
from sizer.export.workbook.vendor_questions import vendor_questions
from sizer.present.text.assumptions import assumption_rows
from sizer.present.text.bill_lines import change_text, note_text
from sizer.present.text.plan import notes_text, part_note_text
from sizer.sizing.result import SizingResult


def write_networks(sheets: Sheets, result: SizingResult) -> None:
    """Every network with its switches and ports, and the parts by role."""
    sheet = sheets.add("Networks", (24, 12, 22, 22, 12, 10, 10, 10, 14, 14, 12, 12, 12, 10, 40), "Networks and cables")
    heads = (
        "Network",
        "Kind",
        "Switch",
        "Spine",
        "End points",
        "Leaves",
        "Spines",
        "Cores",
        "Leaf to spine",
        "Spine to core",
        "Ports used",
        "Ports free",
        "Down : up",
        "Gateways",
        "Note",
    )
    sheets.heads(sheet, heads, range(4, 14))
    row = HEAD_ROW
    counts = result.design.quantities
    for net in counts.networks:
        row += 1
        spine = net.spine if int(net.spines[0]) and net.spine else "none"
        sheets.texts(sheet, row, (net.role, net.kind, net.switch or "none", spine))
        numbers = (
            net.end_points,
            net.leaves,
            net.spines,
            net.cores,
            net.leaf_spine_cables,
            net.spine_core_cables,
            net.ports_used,
            net.ports_free,
        )
        for column, number in enumerate(numbers, 4):
            sheets.number(sheet, row, column, int(number[0]), "integer")
        sheets.number(sheet, row, 12, round(float(net.oversubscription[0]), 2), "ratio")
        sheets.number(sheet, row, 13, int(net.gateways[0]), "integer")
        sheets.text(sheet, row, 14, notes_text(net.notes), "wrap")
    row += 2
    for column, head in enumerate(("Cables and parts by role", "Quantity", "Item", "Note")):
        sheets.text(sheet, row, column, head, "head-right" if column == 1 else "head")
    for part in counts.components:
        if not int(part.quantity[0]):
            continue
        row += 1
        sheets.text(sheet, row, 0, part.role)
        sheets.number(sheet, row, 1, int(part.quantity[0]), "integer")
        sheets.text(sheet, row, 2, part.item)
        sheets.text(sheet, row, 3, part_note_text(part))


def write_assumptions(sheets: Sheets, result: SizingResult) -> None:
    """All assumptions, defaults of the request first."""
    sheet = sheets.add("Assumptions", (44, 26, 12, 24, 80))
    sheets.heads(sheet, ("Assumption", "Value", "Basis", "Source", "Reason"))
    for row, assumption in enumerate(assumption_rows(result), HEAD_ROW + 1):
        texts = (assumption.what, assumption.value, assumption.basis, assumption.source, assumption.note)
        sheets.texts(sheet, row, texts, "wrap")


def write_questions(sheets: Sheets, result: SizingResult) -> None:
    """Open questions, one row each, with room for the answer."""
    sheet = sheets.add("Vendor questions", (7, 24, 52, 20, 8, 60, 36))
    sheets.heads(sheet, ("Line", "Vendor", "About", "SKU", "Qty", "Question", "Answer"), (4,))
    for row, question in enumerate(vendor_questions(result), HEAD_ROW + 1):
        texts = (question.line, question.vendor, question.about, question.sku)
        sheets.texts(sheet, row, texts, "wrap")
        sheets.text(sheet, row, 5, question.question, "wrap")
        if question.quantity is not None:
            sheets.number(sheet, row, 4, question.quantity, "integer")


def write_changes(sheets: Sheets, result: SizingResult) -> None:
    """This revision, and every difference of its bill from the computed one."""
    request, bill = result.request, result.design.bill
    sheet = sheets.add("Change log", (12, 12, 8, 50, 60, 60))
    sheets.heads(sheet, ("Revision", "Date", "Line", "About", "What", "Notes"))
    revision = request.quote.revision or "not numbered"
    day = request.date.isoformat() if request.date is not None else "not dated"
    by = f"prepared by {request.quote.prepared_by}" if request.quote.prepared_by else ""
    rows = [("", result.design.name, "computed from the request", by)]
    rows += [(line.line, line.description, change_text(line), note_text(line)) for line in bill.lines if line.changes]
    if bill.deal_discount_percent:
        rows.append(("", "Discount of the deal", f"{percent(bill.deal_discount_percent)} % on the net prices", ""))
    for row, texts in enumerate(rows, HEAD_ROW + 1):
        sheets.texts(sheet, row, (revision, day, *texts), "wrap")


def write_sources(sheets: Sheets, result: SizingResult, catalog: Catalog) -> None:
    """Every source of a number."""
    sheet = sheets.add("Sources", (30, 80, 30, 16, 8))
    sheets.heads(sheet, ("Key", "Title", "Publisher", "Date", "Grade"))
    known = [catalog.sources[key] for key in result.sources if key in catalog.sources]
    for row, source in enumerate(known, HEAD_ROW + 1):
        texts = (source.id, source.title, source.publisher, source.date or "not dated", source.grade)
        sheets.texts(sheet, row, texts, "wrap")


def write_data(sheets: Sheets, result: SizingResult) -> None:
    """The design document, one row for each value."""
    sheet = sheets.add("Data", (70, 60), "Data: every number of the design document")
    sheets.heads(sheet, ("Key", "Value"))
    for row, (key, value) in enumerate(_flat(design_document(result)), HEAD_ROW + 1):
        sheets.text(sheet, row, 0, key, "wrap")
        if isinstance(value, bool) or not isinstance(value, int | float):
            sheets.text(sheet, row, 1, "not known" if value is None else str(value), "wrap")
        else:
            sheets.number(sheet, row, 1, value, "plain")


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
