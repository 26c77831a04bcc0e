"""Parts of a sizing result: estimates, bills and their lines, and the result around one design."""

from decimal import Decimal
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.stored_answers import Deferred
from sizer.bom.bill import Bill, BillLine, BillWarning, BillWarningKind, LineNote
from sizer.physical.notes import PlanNote
from sizer.sizing.best_design import best_design
from sizer.sizing.design.decisions import verdict_of
from sizer.sizing.reasons import RunnerUpKind, RunnerUpReason, Selection, SelectionKind
from sizer.sizing.result import SizingResult
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog


def spread(value: float, relative: float) -> Estimate:
    """Estimate whose 90 % interval is about plus and minus ``relative``."""
    return Estimate.log_normal(value, np.log1p(relative) / 1.645)


def line(
    number: str,
    category: str,
    item: str,
    maker: str,
    description: str,
    quantity: int,
    price: str | None = None,
    sku: str = "",
    notes: tuple[PlanNote | LineNote, ...] = (),
    status: Any = "computed",
    **more: Any,
) -> BillLine:
    """One line of a bill."""
    return BillLine(
        line=number,
        category=category,
        item=item,
        manufacturer=maker,
        sku=sku,
        description=description,
        quantity=quantity,
        unit="EA",
        unit_price=None if price is None else Decimal(price),
        price_source="price list" if price else "",
        price_date="2017-05" if price else "",
        status=status,
        notes=notes,
        **more,
    )


def bill(lines: list[BillLine], **more: Any) -> Bill:
    """Bill of those lines."""
    return Bill("USD", tuple(lines), (BillWarning(BillWarningKind.SALE_ENDED, ("DGX-1", "2020-03-31")),), **more)


def recommended(req: SizingRequest) -> SizingResult:
    """The recommended design of a request alone: without other designs, its nearest runs and its scaling curve."""
    design = best_design(req, catalog()).design
    return SizingResult(
        request=req,
        catalog_digest=catalog().digest,
        calibration_digest="",
        verdict=verdict_of(design, (design,), catalog()),
        design=design,
        spare_cost=None,
        selection=Selection(SelectionKind.LIKELY_CHEAPEST, 3),
        platforms=(design,),
        deciding_prices=(),
        runner_up=None,
        runner_up_reason=RunnerUpReason(RunnerUpKind.NONE),
        pareto=Deferred(tuple),
        n_designs=1,
        ruled_out={},
        assumptions=(),
        questions=(),
        sources=(),
    )
