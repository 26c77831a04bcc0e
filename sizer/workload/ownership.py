"""[ownership]: years over which the cost of owning the cluster is computed; rates of energy, space and support."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from sizer.base.money import Percent, UnitRate
from sizer.workload.table import RequestTable

MAX_YEARS = 15


class Ownership(RequestTable):
    """Period and rates of the cost of ownership; amounts in the request's currency, rates with up to four decimals.

    The PUE is that of the room, ``site.pue_ratio``. A rate that is not stated is not guessed: its cost is left out, and
    the total reads "at least".
    """

    years: Annotated[int, Field(ge=1, le=MAX_YEARS, strict=True)] = 3
    electricity_per_kwh: UnitRate | None = None
    # A year, of the net price of what is bought once; absent: what the bill's support costs, renewed at its price.
    support_percent: Percent | None = None
    # One of the two at most.
    space_per_rack_unit_month: UnitRate | None = None
    space_per_rack_month: UnitRate | None = None
    # Share of all hours in which training runs; absent: runs follow each other without a pause.
    utilization_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False)] | None = None

    # Of a language model: the most that training on a million tokens may cost. Absent: the cost is shown only.
    cost_per_million_tokens: UnitRate | None = None

    @model_validator(mode="after")
    def _one_price_of_space(self) -> Self:
        if self.space_per_rack_unit_month is not None and self.space_per_rack_month is not None:
            raise ValueError("give either space_per_rack_unit_month or space_per_rack_month, not both")
        return self
