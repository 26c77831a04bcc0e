"""Base class of the tables of a request, value types that they share, and what files of earlier versions had."""

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

# Names as people write them pass: where the request is resolved they are refused with the nearest id.
ItemId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.+-]*$", max_length=60)]
Count = Annotated[int, Field(ge=1, le=100_000, strict=True)]
# Users of a service, and requests in flight.
People = Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)]
# Parts that a request names: fewer than the catalogue and an overlay have.
ItemIds = Annotated[tuple[ItemId, ...], Field(max_length=200)]
ItemCounts = Annotated[dict[ItemId, Count], Field(max_length=200)]
# Data set of a request that names none; networks of one era's systems alone read that of their published runs.
DEFAULT_DATASET = "imagenet"
# Between nothing and the whole.
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


# Quotes and plans: lead times of years can be counted back from a day, and validities forward.
FIRST_DAY, LAST_DAY = datetime.date(2000, 1, 1), datetime.date(2100, 12, 31)
_DAY_WRITTEN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _as_written(day: object) -> object:
    # Pydantic takes times and counts of seconds for days as well.
    is_time = isinstance(day, datetime.datetime)
    if (isinstance(day, datetime.date) and not is_time) or (isinstance(day, str) and _DAY_WRITTEN.fullmatch(day)):
        return day
    raise PydanticCustomError("date_type", "not a date")


def _plausible(day: datetime.date) -> datetime.date:
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"{day} must lie between {FIRST_DAY} and {LAST_DAY}")
    return day


Day = Annotated[datetime.date, BeforeValidator(_as_written), AfterValidator(_plausible)]


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
