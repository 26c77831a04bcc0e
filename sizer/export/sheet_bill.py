"""The sheet with the lines of the bill: fill in a quoted price or a discount and every total follows."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sizer.bom.bill import BOUGHT, MONTHS_A_YEAR, Bill, BillLine, Status, Sum
from sizer.export.bill_columns import COLUMNS, LETTER, PLACE, values
from sizer.export.text import TO_BE_QUOTED
from sizer.export.workbook_sheets import A3, HEAD_ROW, Sheets

NAME = "BOM"
# Hidden columns that the totals look at: whether a line counts, whether it is bought again, its price of one year.
_COUNTS, _RECURS, _YEARLY = len(COLUMNS), len(COLUMNS) + 1, len(COLUMNS) + 2
_HELPERS = {_COUNTS: "Y", _RECURS: "Z", _YEARLY: "AA"}
_STATUSES: tuple[Status, ...] = (*BOUGHT, "existing", "optional", "by others")
# Binary fractions put 11.00 x (1 - 93.5 %) a hair under 0.715: rounding to six decimals first gives 0.72.
_ROUNDED = "ROUND(ROUND({},6),2)"


@dataclass(frozen=True)
class BillCells:
    """Where the lines and totals stand, for formulas of other sheets."""

    first: int  # rows as a spreadsheet counts them
    last: int
    sum_row: int
    deal_row: int
    total_row: int

    def column(self, title: str) -> str:
        """Cells of all lines in a column."""
        return self._range(LETTER[title])

    @property
    def counts(self) -> str:
        """Cells that hold 1 where a line is in the totals."""
        return self._range(_HELPERS[_COUNTS])

    def is_open(self, column: str, rule: str = "") -> str:
        """How many lines in the totals have no number in a column; ``rule`` narrows the lines."""
        return f"SUMPRODUCT(({self.counts}=1){rule}*(1-ISNUMBER({column})))"

    def sum_or_open(self, title: str, rule: str = "", condition: str = "") -> str:
        """Formula: sum of the lines in the totals, 'to be quoted' while nothing but zero is known, never 0.

        ``rule`` and ``condition`` narrow the lines: once as a factor, once as further arguments of SUMIFS.
        """
        return self._guarded(self.column(title), rule, condition)

    def recurring(self, is_recurring: bool) -> str:
        """Formula: net prices of the lines that are bought again, or of the others."""
        column, wanted = self._range(_HELPERS[_RECURS]), int(is_recurring)
        return self._guarded(self.column("Extended net"), f"*({column}={wanted})", f",{column},{wanted}")

    @property
    def yearly(self) -> str:
        """Formula: net prices of one year of the lines that are bought again."""
        column = self._range(_HELPERS[_RECURS])
        rule = f"*({column}=1)*({self.column('Qty')}<>0)"
        return self._guarded(self._range(_HELPERS[_YEARLY]), rule, f",{column},1")

    @property
    def longest_lead(self) -> str:
        """Formula: longest lead time of the lines in the totals."""
        weeks = self.column("Lead time (weeks)")
        known = f'COUNTIFS({self.counts},1,{weeks},">=0")'
        return f'=IF({known}=0,"not known",SUMPRODUCT(MAX(({self.counts}=1)*{weeks})))'

    def _guarded(self, amounts: str, rule: str, condition: str) -> str:
        total = f"SUMIFS({amounts},{self.counts},1{condition})"
        return f'=IF(AND({self.is_open(amounts, rule)}>0,{total}=0),"{TO_BE_QUOTED}",{total})'

    def _range(self, letter: str) -> str:
        return f"{NAME}!${letter}${self.first}:${letter}${self.last}"


def shown(amount: Sum) -> float | str:
    """Value that the formula of a sum gives today."""
    return TO_BE_QUOTED if amount.is_unknown else float(amount.amount)


def write_bill(sheets: Sheets, bill: Bill) -> BillCells:
    """Sheet with all lines, their sum, the discount of the deal and the total."""
    sheet = sheets.add(NAME, _widths(bill), "Bill of materials", A3)
    right = [place for place, column in enumerate(COLUMNS) if column.kind not in ("text", "wrap")]
    sheets.heads(sheet, [column.title for column in COLUMNS], right, frozen_columns=3)
    first = HEAD_ROW + 1
    for row, line in enumerate(bill.lines, first):
        _line(sheets, sheet, row, line, bill)
    last = first + max(len(bill.lines), 1) - 1
    sheet.autofilter(HEAD_ROW, 0, last, len(COLUMNS) - 1)
    # Line numbers and part numbers are text on purpose.
    sheet.ignore_errors({"number_stored_as_text": f"A{first + 1}:X{last + 1}"})
    sheet.set_column(_COUNTS, _YEARLY, 9, None, {"hidden": True})
    for column, head in ((_COUNTS, "In the total"), (_RECURS, "Bought again"), (_YEARLY, "Net a year")):
        sheets.text(sheet, HEAD_ROW, column, head)
    _validations(sheet, first, last)
    cells = BillCells(first + 1, last + 1, last + 3, last + 4, last + 5)
    _totals(sheets, sheet, bill, cells)
    note = (
        "Taxes, freight and duties are not included. Type a quoted price over “to be quoted”, a discount, a lead time "
        "or another status: the totals and the summary follow."
    )
    sheets.text(sheet, last + 6, 0, note, "muted")
    # The hidden columns and what is typed beside the table are not printed.
    sheet.print_area(0, 0, last + 6, len(COLUMNS) - 1)
    return cells


def _widths(bill: Bill) -> list[float]:
    """Widths of the columns; a larger amount than usual gets the room that it needs."""
    largest = max((line.extended_list or Decimal(0) for line in bill.lines), default=Decimal(0))
    needed = len(f"{10 * largest:,.2f}") + 1
    return [max(column.width, needed) if column.kind == "money" else column.width for column in COLUMNS]


def _line(sheets: Sheets, sheet: Any, row: int, line: BillLine, bill: Bill) -> None:
    is_open = line.unit_price is None
    for place, (column, value) in enumerate(zip(COLUMNS, values(line, bill), strict=True)):
        if isinstance(value, str):
            sheets.text(sheet, row, place, value, "open" if column.kind == "money" else column.kind)
        elif value is None:
            sheet.write_blank(row, place, None, sheets.formats[column.kind])
        else:
            number = value / 100 if column.kind == "percent" else value
            kind = "open" if column.kind == "money" and is_open else column.kind
            sheets.number(sheet, row, place, float(number), kind)
    n = row + 1
    word = f'IF(W{n}="existing","at hand",IF(W{n}="by others","by others","{TO_BE_QUOTED}"))'
    none = f"IF(AND(ISNUMBER(G{n}),G{n}=0),0,{word})"
    given = dict(zip((column.title for column in COLUMNS), values(line, bill), strict=True))
    formulas = {
        PLACE["Unit net price"]: f"=IF(ISNUMBER(I{n}),{_ROUNDED.format(f'I{n}*(1-J{n})')},{word})",
        PLACE["Extended list"]: f"=IF(ISNUMBER(I{n}),G{n}*I{n},{none})",
        PLACE["Extended net"]: f"=IF(ISNUMBER(K{n}),G{n}*K{n},{none})",
    }
    style = sheets.formats["open" if is_open else "money"]
    for place, formula in formulas.items():
        value = given[COLUMNS[place].title]
        sheet.write_formula(row, place, formula, style, float(value) if isinstance(value, Decimal) else value)
    bought = ",".join(f'W{n}="{status}"' for status in BOUGHT)
    plain = sheets.formats["number"]
    sheet.write_formula(row, _COUNTS, f"=IF(OR({bought}),1,0)", plain, int(line.is_bought))
    sheet.write_formula(row, _RECURS, f'=IF(OR(N(O{n})>0,C{n}="support"),1,0)', plain, int(line.is_recurring))
    year = _ROUNDED.format(f"M{n}*{MONTHS_A_YEAR}/O{n}")
    yearly = TO_BE_QUOTED if line.yearly_net is None else float(line.yearly_net)
    # Two IFs: AND would divide by an empty term before it says no.
    formula = f'=IF(ISNUMBER(M{n}),IF(N(O{n})>0,{year},"{TO_BE_QUOTED}"),"{TO_BE_QUOTED}")'
    sheet.write_formula(row, _YEARLY, formula, plain, yearly)


def _totals(sheets: Sheets, sheet: Any, bill: Bill, cells: BillCells) -> None:
    label, amount_list, amount_net = PLACE["Description"], PLACE["Extended list"], PLACE["Extended net"]
    discount = PLACE["Discount %"]
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
    sheets.book.define_name("DealDiscount", f"={NAME}!${LETTER['Discount %']}${cells.deal_row}")
    sums, deal = f"M{cells.sum_row}", f"M{cells.deal_row}"
    taken = _ROUNDED.format(f"{sums}*J{cells.deal_row}")
    less = TO_BE_QUOTED if net.is_unknown else -float(bill.deal_reduction)
    sheet.write_formula(row, amount_net, f'=IF(ISNUMBER({sums}),-{taken},"{TO_BE_QUOTED}")', money, less)
    row = cells.total_row - 1
    for column in range(label, amount_net):
        sheet.write_blank(row, column, None, sheets.formats["total"])
    open_ = cells.is_open(cells.column("Extended net"))
    words = "Total, at least" if net.n_open else "Total"
    sheet.write_formula(row, label, f'=IF({open_}>0,"Total, at least","Total")', sheets.formats["total"], words)
    formula = f'=IF(ISNUMBER({sums}),{sums}+{deal},"{TO_BE_QUOTED}")'
    total = TO_BE_QUOTED if net.is_unknown else shown(replace(net, amount=bill.total, n_open=0))
    sheet.write_formula(row, amount_net, formula, sheets.formats["total-money"], total)
    sheets.text(sheet, row, PLACE["Currency"], bill.currency, "total")


_SHARE = {
    "validate": "decimal",
    "criteria": "between",
    "minimum": 0,
    "maximum": 1,
    "error_title": "Discount",
    "error_message": "A share between 0 % and 100 %.",
}


def _validations(sheet: Any, first: int, last: int) -> None:
    """What may be typed where; a price may also be a word, with a question."""

    def at(title: str, rule: dict[str, Any]) -> None:
        sheet.data_validation(first, PLACE[title], last, PLACE[title], {**rule, "error_title": title})

    whole = {"validate": "integer", "criteria": ">=", "minimum": 0, "error_message": "A whole number, 0 or more."}
    at("Qty", whole)
    at("Term (months)", {**whole, "minimum": 1, "error_message": "A whole number of months."})
    at("Lead time (weeks)", whole)
    price = {"validate": "decimal", "criteria": ">=", "minimum": 0, "error_type": "warning"}
    at("Unit list price", {**price, "error_message": "This is no price: the line will read “to be quoted”."})
    at("Discount %", _SHARE)
    at("Status", {"validate": "list", "source": list(_STATUSES), "error_message": "One of the words of the list."})
