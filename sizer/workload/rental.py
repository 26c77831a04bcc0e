"""[rental]: what the same GPUs cost by the hour elsewhere, from the user's own offer."""

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from sizer.base.money import Percent, UnitRate
from sizer.base.texts import Name
from sizer.workload.table import RequestTable


def _costs_something(rate: Decimal) -> Decimal:
    if rate == 0:
        raise ValueError("must be greater than 0; write the price per GPU-hour of the offer, or remove [rental]")
    return rate


class Rental(RequestTable):
    """An offer to compare a purchase with; amounts in the request's currency, rates with up to four decimals."""

    offer: Name = "rented GPUs"
    per_gpu_hour: Annotated[UnitRate, AfterValidator(_costs_something)]
    # Rate of a rented GPU divided by that of a GPU of the design; 1: equal.
    speed_ratio: Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)] = 1.0
    storage_per_tb_month: UnitRate | None = None  # of 1e12 bytes; None: not in the offer
    years: Annotated[int, Field(ge=1, le=10, strict=True)] = 3
    # What running one's own cluster costs.
    electricity_per_kwh: UnitRate | None = None
    yearly_cost_percent: Percent = Decimal(0)  # of the purchase, for staff, space and maintenance
    # GPU utilization as a share of all hours; None: only the break-even is shown.
    utilization_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False)] | None = None
