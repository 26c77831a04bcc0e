"""The sheet with the cost of ownership: years and kinds, whose purchase and totals follow the bill, and single runs."""

from typing import Any

from sizer.base.quantities import duration
from sizer.bom.ownership import CostKind, OwnershipCost
from sizer.export.text import TO_BE_QUOTED
from sizer.export.workbook.bill_sheet import BillCells
from sizer.export.workbook.sheets import HEAD_ROW, Sheets
from sizer.questions.ownership.analysis import OwnershipAnswer, ownership
from sizer.questions.ownership.tables import KIND_NAMES, kinds_of, ownership_note, run_name
from sizer.sizing.result import SizingResult

NAME = "Ownership"
_FOLLOWS = "The purchase follows the sheet BOM; the other costs are those of the design when the file was written."


def write_ownership(sheets: Sheets, result: SizingResult, cells: BillCells) -> None:
    """Sheet of the cost of ownership; none where the request does not ask for it.

    Parameters
    ----------
    sheets : Sheets
    result : SizingResult
    cells : BillCells
        Places on the sheet with the bill, whose total is the purchase of the first year.
    """
    answer = ownership(result)
    if answer is None:
        return
    cost, kinds = answer.cost, kinds_of(answer.cost)
    sheet = sheets.add(NAME, (30, *(20 for _ in kinds), 20, 20), "Cost of ownership")
    heads = ["Year", *(f"{KIND_NAMES[kind]} ({cost.currency})" for kind in kinds), f"Total ({cost.currency})"]
    sheets.heads(sheet, heads, range(1, len(heads)))
    purchase = f"={cells.cell('Extended net', cells.total_row)}"
    row = HEAD_ROW
    for year in cost.years:
        row += 1
        sheets.number(sheet, row, 0, year.year, "plain")
        for column, kind in enumerate(kinds, 1):
            amount = float(getattr(year, kind))
            if kind == "purchase" and year.year == 1:
                value = TO_BE_QUOTED if cost.is_unpriced and not cost.purchase else amount
                sheet.write_formula(row, column, purchase, sheets.formats["money"], value)
            else:
                sheets.number(sheet, row, column, amount, "money")
        _sum(
            sheets, sheet, row, len(kinds) + 1, f"B{row + 1}:{_letter(len(kinds))}{row + 1}", float(year.total), "money"
        )
    row = _totals(sheets, sheet, row + 1, cost, kinds)
    sheets.paragraph(sheet, row, f"{ownership_note(cost)} {_FOLLOWS}")
    _runs(sheets, sheet, row + 2, answer)


def _totals(sheets: Sheets, sheet: Any, row: int, cost: OwnershipCost, kinds: tuple[CostKind, ...]) -> int:
    """Row of the sums; gives the row after the next."""
    sheets.text(sheet, row, 0, "All years, lines with a price" if cost.is_unpriced else "All years", "total")
    amounts = [*(float(cost.of(kind) or 0) for kind in kinds), float(cost.total)]
    for column, amount in enumerate(amounts, 1):
        letter = _letter(column)
        _sum(sheets, sheet, row, column, f"{letter}{HEAD_ROW + 2}:{letter}{row}", amount, "total-money")
    return row + 2


def _runs(sheets: Sheets, sheet: Any, row: int, answer: OwnershipAnswer) -> None:
    """Energy and cost of one run of every workload."""
    cost = answer.cost
    for column, head in enumerate(
        ("Workload", "Run", "Duration", "Energy (kWh)", f"Cost of one run ({cost.currency})")
    ):
        sheets.text(sheet, row, column, head, "head-right" if column > 2 else "head")
    for run in answer.runs:
        row += 1
        sheets.texts(sheet, row, (run.workload, run_name(run), duration(float(run.duration_s.value))))
        sheets.number(sheet, row, 3, round(run.energy_kwh, 1), "number")
        if cost.is_unpriced:
            sheets.text(sheet, row, 4, TO_BE_QUOTED, "open")
        else:
            sheets.number(sheet, row, 4, float(run.cost), "money")


def _sum(sheets: Sheets, sheet: Any, row: int, column: int, cells: str, amount: float, format_: str) -> None:
    sheet.write_formula(row, column, f"=SUM({cells})", sheets.formats[format_], amount)


def _letter(column: int) -> str:
    return chr(ord("A") + column)
