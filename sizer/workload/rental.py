"""[rental]: what the same GPUs cost by the hour elsewhere, from the user's own offer."""

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from sizer.base.money import Percent, UnitRate
from sizer.workload.table import Name, Part


def _costs_something(rate: Decimal) -> Decimal:
    if rate == 0:
        raise ValueError("a rented GPU costs something; write the rate of the offer, or leave [rental] out")
    return rate


class Rental(Part):
    """An offer to compare a purchase with; amounts in the request's currency, rates with up to four decimals."""

    offer: Name = "rented GPUs"
    per_gpu_hour: Annotated[UnitRate, AfterValidator(_costs_something)]
    # Rate of a rented GPU over that of a GPU of the design; 1: they are alike.
    speed_ratio: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.0
    storage_per_tb_month: UnitRate | None = None  # of 1e12 bytes; None: the offer names none
    years: Annotated[int, Field(ge=1, le=10, strict=True)] = 3
    # What running one's own cluster costs.
    electricity_per_kwh: UnitRate | None = None
    yearly_cost_percent: Percent = Decimal(0)  # of the purchase, for staff, space and maintenance
    # Share of all hours in which the GPUs are used; None: only the break-even is told.
    utilization_fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = None
