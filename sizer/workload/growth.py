"""[growth]: yearly growth of the need, and what the purchase plan minimizes."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sizer.workload.table import RequestTable

# One year's need over that of the year before; below 1 it shrinks.
YearlyFactor = Annotated[float, Field(ge=0.1, le=20, allow_inf_nan=False)]
GROWING = ("data", "sample_size", "dnn_size", "target", "team")


class Growth(RequestTable):
    """Every factor is that of one year: 2 doubles each year. The first year is the request as it stands."""

    years: Annotated[int, Field(ge=2, le=10, strict=True)] = 3
    data: YearlyFactor = 1.0  # samples of every data set
    sample_size: YearlyFactor = 1.0  # bytes of a sample as stored
    dnn_size: YearlyFactor = 1.0  # operations and parameters of every neural network
    target: YearlyFactor = 1.0  # rates and numbers of GPUs; a time to train is divided by it
    team: YearlyFactor = 1.0  # jobs a day, and jobs that always run
    price: YearlyFactor = 1.0  # of everything that is bought; alone it is no growth
    save: Literal["cost", "watts"] = "cost"

    @model_validator(mode="after")
    def _something_grows(self) -> Self:
        if all(getattr(self, key) == 1 for key in GROWING):
            raise ValueError(
                f"has no factor other than 1; give at least one of {', '.join(GROWING)}, for example data = 1.5"
            )
        return self
