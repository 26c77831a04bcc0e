"""The date of need: days for the order, what comes too late, whose sale or service ends too soon.

Expected dates are counted by hand on the calendar.
"""

import datetime

import numpy as np
import pytest

from sizer.bom.bill import BillWarning, BillWarningKind
from sizer.bom.lines import bill
from sizer.bom.prices import PriceBook
from sizer.catalog.price_books import Price
from sizer.physical.components import Component
from tests.factories.examples import catalog

KIND = BillWarningKind
QUOTED = datetime.date(2026, 11, 21)
# 21 November to 1 March: 9 days of November, 31 + 31 + 28 days of the months between, and the first of March: 100.
NEEDED = datetime.date(2027, 3, 1)
OF_LEAD_TIMES = (KIND.LONGEST_LEAD_TIME, KIND.LEAD_TIME_UNKNOWN, KIND.NO_LEAD_TIME)
OF_NEED = (KIND.TOO_LATE, KIND.ORDER_BY, KIND.LEAD_TIME_OPEN, KIND.SALE_ENDS_BEFORE_NEED, KIND.SERVICE_ENDS)


def warnings_of(
    items: dict[str, str],
    weeks: dict[str, int],
    needed_by: datetime.date | None = NEEDED,
    date: datetime.date | None = QUOTED,
) -> tuple[BillWarning, ...]:
    """Warnings of a bill of one piece each of ``items`` (id to category), with the lead times of a price book."""
    parts = [Component("part", category, item, np.array([1]), "", "computed") for item, category in items.items()]
    rows = [
        Price(item=item, amount="1", currency="USD", date="2026-11", source="q", where="", lead_time_weeks=known)
        for item, known in weeks.items()
    ]
    found = bill(parts, catalog(), PriceBook(rows), "USD", date, needed_by=needed_by).warnings
    return tuple(warning for warning in found if warning.kind in (*OF_NEED, *OF_LEAD_TIMES, KIND.SALE_ENDED))


DEVICES = {"dgx-1": "compute", "c4140": "compute", "sb7800": "network", "slurm": "software"}


def test_the_longest_lead_time_gives_the_day_of_the_order():
    """8 weeks are 56 days: 28 of February, 28 of January back from 1 March are 4 January."""
    found = warnings_of(DEVICES, {"dgx-1": 8, "c4140": 3, "sb7800": 8})
    assert found == (BillWarning(KIND.ORDER_BY, ("2027-01-04", 8, "2027-03-01", "DGX-1", "SB7800")),)


def test_each_lead_time_that_is_too_long_is_told_with_its_days():
    """Of 16 weeks (112 days) 100 days are left: 12 late; of 15 weeks (105): 5; 14 weeks (98): order in two days."""
    found = warnings_of(DEVICES, {"dgx-1": 15, "c4140": 16, "sb7800": 14})
    assert found == (
        BillWarning(KIND.TOO_LATE, (12, 16, "2027-03-01", "C4140")),
        BillWarning(KIND.TOO_LATE, (5, 15, "2027-03-01", "DGX-1")),
        BillWarning(KIND.ORDER_BY, ("2026-11-23", 14, "2027-03-01", "SB7800")),
    )


def test_a_delivery_on_the_day_itself_is_not_late():
    """1 March less 14 weeks is 23 November: a quote of that day is in time, one of the next day is a day late."""
    on_time = warnings_of({"dgx-1": "compute"}, {"dgx-1": 14}, date=datetime.date(2026, 11, 23))
    late = warnings_of({"dgx-1": "compute"}, {"dgx-1": 14}, date=datetime.date(2026, 11, 24))
    assert on_time[0].kind is KIND.ORDER_BY
    assert late == (BillWarning(KIND.TOO_LATE, (1, 14, "2027-03-01", "DGX-1")),)


def test_lead_times_that_nobody_publishes_are_told_once():
    everything = warnings_of(DEVICES, {})
    others = warnings_of(DEVICES, {"dgx-1": 8})
    assert everything == (BillWarning(KIND.LEAD_TIME_OPEN, (100, "2027-03-01")),)
    assert others[1:] == (BillWarning(KIND.LEAD_TIME_OPEN, (100, "2027-03-01", "C4140", "SB7800")),)


def test_without_a_quote_date_nothing_is_late():
    found = warnings_of(DEVICES, {"dgx-1": 200}, date=None)
    # 200 weeks are 1,400 days: 1,095 lead from 1 March 2027 to 1 March 2024, 60 (29 + 31) to 1 January 2024, and the
    # other 245 = 31 + 30 + 31 + 30 + 31 + 31 + 30 + 31 from December back through May to 1 May 2023.
    assert found[0] == BillWarning(KIND.ORDER_BY, ("2023-05-01", 200, "2027-03-01", "DGX-1"))
    assert found[1].values[0] is None


@pytest.mark.parametrize(
    ("item", "needed_by", "kind"),
    [
        # h16346, table 4: sold until 2023-01-31 and 2021-03-31.
        ("z9100-on", "2023-01-31", None),
        ("z9100-on", "2023-02-01", KIND.SALE_ENDS_BEFORE_NEED),
        ("celestica-d4040", "2021-03-31", None),
        ("celestica-d4040", "2021-04-01", KIND.SALE_ENDS_BEFORE_NEED),
        # PowerScale hardware concepts: service ends in May 2029 (flash) and May 2028 (hybrid); three years before.
        ("isilon-f800", "2026-05-01", None),
        ("isilon-f800", "2026-05-02", KIND.SERVICE_ENDS),
        ("isilon-f810", "2027-03-01", KIND.SERVICE_ENDS),
        ("isilon-h500", "2025-05-01", None),
        ("isilon-h500", "2025-05-02", KIND.SERVICE_ENDS),
        ("isilon-h600", "2028-02-29", KIND.SERVICE_ENDS),
        ("isilon-h5600", "2025-06-01", KIND.SERVICE_ENDS),
    ],
)
def test_ends_of_sale_and_service_are_judged_by_the_date_of_need(item, needed_by, kind):
    start = datetime.date(2020, 1, 1)
    found = warnings_of({item: "network"}, {item: 0}, datetime.date.fromisoformat(needed_by), start)
    assert [warning.kind for warning in found if warning.kind is not KIND.ORDER_BY] == ([] if kind is None else [kind])
    assert all(warning.values[0] == catalog().item(item).name for warning in found if warning.kind is kind)
