"""Base class of the tables of a request, value types that they share, and what files of earlier versions had."""

import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# Names as people write them pass: where the request is resolved they are refused with the nearest id.
ItemId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.+-]*$", max_length=60)]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
# Parts that a request names: fewer than the catalogue and an overlay have.
ItemIds = Annotated[tuple[ItemId, ...], Field(max_length=200)]
ItemCounts = Annotated[dict[ItemId, Count], Field(max_length=200)]
# Data set of a request that names none; networks of one era's systems alone read that of their published runs.
DEFAULT_DATASET = "imagenet"
# Between nothing and the whole.
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _plausible(day: datetime.date) -> datetime.date:
    if not 2000 <= day.year <= 2100:
        raise ValueError(f"{day} must lie between 2000-01-01 and 2100-12-31")
    return day


# A day that a project plans for; lead times of years can be counted back from it.
PlannedDay = Annotated[datetime.date, AfterValidator(_plausible)]


class RequestTable(BaseModel):
    """A table of a request: immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def with_one_customer(data: object) -> object:
    """A request as its file holds it, with the customer in one place.

    Files could name the customer in the quote as well, as ``prepared_for``. Documents printed that name, so that it is
    the customer.
    """
    quote = data.get("quote") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(quote, dict) or "prepared_for" not in quote:
        return data
    others = {key: value for key, value in quote.items() if key != "prepared_for"}
    return {**data, "quote": others, **({"customer": quote["prepared_for"]} if quote["prepared_for"] else {})}


def empty_as_none(table: object) -> object:
    """A table of the request; an empty one, as files had where nothing is requested, is none."""
    return None if table == {} else table
