"""Sheets that list: networks, assumptions, questions to the vendors, changes, sources."""

from sizer.base.money import percent
from sizer.base.provenance import ASSUMPTION
from sizer.catalog.labels import capital, item_name
from sizer.catalog.model import Catalog
from sizer.export.workbook.sheets import HEAD_ROW, Sheets
from sizer.export.workbook.vendor_questions import vendor_questions
from sizer.present.text.assumptions import assumption_rows
from sizer.present.text.bill_lines import change_text, note_text
from sizer.present.text.plan import notes_text, part_note_text
from sizer.sizing.result import SizingResult


def write_networks(sheets: Sheets, result: SizingResult, catalog: Catalog) -> None:
    """Every network with its switches and ports, and the parts by role."""
    sheet = sheets.add("Networks", (30, 16, 30, 26, 30, 10, 10, 10, 14, 14, 12, 12, 12, 10, 40), "Networks and parts")
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
        "Oversubscription",
        "Gateways",
        "Note",
    )
    sheets.heads(sheet, heads, range(4, 14), frozen_columns=1)
    row = HEAD_ROW
    counts = result.design.quantities
    for net in counts.networks:
        row += 1
        switch = item_name(net.switch, catalog) if net.switch else "none"
        spine = item_name(net.spine, catalog) if int(net.spines[0]) and net.spine else "none"
        sheets.texts(sheet, row, (capital(str(net.role)), net.kind.name, switch, spine), "wrap")
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
    for column, head in enumerate(("Part by role", "Quantity", "Item", "Part number", "Note")):
        sheets.text(sheet, row, column, head, "head-right" if column == 1 else "head")
    for part in counts.components:
        if not int(part.quantity[0]):
            continue
        row += 1
        sheets.text(sheet, row, 0, capital(str(part.role)), "wrap")
        sheets.number(sheet, row, 1, int(part.quantity[0]), "integer")
        sheets.text(sheet, row, 2, item_name(part.item, catalog), "wrap")
        sheets.text(sheet, row, 3, _part_number(part.item, catalog), "wrap")
        sheets.text(sheet, row, 4, part_note_text(part), "wrap")


def _part_number(item: str, catalog: Catalog) -> str:
    """Part number as the vendor publishes it; "" where no source gives one."""
    try:
        skus = catalog.item(item).skus
    except KeyError:
        return ""
    return skus[0].value if skus else ""


def write_assumptions(sheets: Sheets, result: SizingResult) -> None:
    """All assumptions, defaults of the request first."""
    sheet = sheets.add("Assumptions", (44, 26, 8, 12, 24, 80))
    sheets.heads(sheet, ("Assumption", "Value", "Unit", "Basis", "Source", "Reason"), frozen_columns=1)
    for row, assumption in enumerate(assumption_rows(result), HEAD_ROW + 1):
        unit = "" if assumption.number is None else assumption.unit
        texts = (assumption.what, assumption.value, unit, assumption.basis, assumption.source, assumption.note)
        sheets.texts(sheet, row, texts, "wrap")
        if assumption.number is not None:
            sheets.figure(sheet, row, 1, assumption.number)


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
    """This revision, and every difference of its bill from the sized one."""
    request, bill = result.request, result.design.bill
    sheet = sheets.add("Change log", (12, 12, 8, 50, 60, 60))
    sheets.heads(sheet, ("Revision", "Date", "Line", "About", "What", "Notes"))
    revision = request.quote.revision or "not numbered"
    day = request.date.isoformat() if request.date is not None else "not dated"
    by = f"prepared by {request.quote.prepared_by}" if request.quote.prepared_by else ""
    rows = [("", result.design.name, "sized from the request", by)]
    rows += [(line.line, line.description, change_text(line), note_text(line)) for line in bill.lines if line.changes]
    if bill.deal_discount_percent:
        rows.append(("", "Discount of the deal", f"{percent(bill.deal_discount_percent)} % on the net prices", ""))
    for row, texts in enumerate(rows, HEAD_ROW + 1):
        sheets.texts(sheet, row, (revision, day, *texts), "wrap")


def write_sources(sheets: Sheets, result: SizingResult, catalog: Catalog) -> None:
    """Every source of a number; in a customer's copy those of the prices."""
    sheet = sheets.add("Sources", (80, 40, 16, 8))
    sheets.heads(sheet, ("Title", "Publisher", "Date", "Grade"))
    bill = result.design.bill
    keys = dict.fromkeys(line.price_source for line in bill.lines) if bill.is_customer_copy else result.sources
    # An assumption is no document; the sheet of assumptions has its reason.
    known = [catalog.sources[key] for key in keys if key in catalog.sources and key != ASSUMPTION]
    for row, source in enumerate(known, HEAD_ROW + 1):
        texts = (source.title, source.publisher, source.date or "not dated", source.grade)
        sheets.texts(sheet, row, texts, "wrap")
