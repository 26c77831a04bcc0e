"""Base class of the tables of a request, shared value types, earlier forms of files, and changed fields."""

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

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


Path = tuple[str | int, ...]

# Keys that tell entries of a list of tables apart, whatever their order.
_NAMES = ("name", "item", "description")


@dataclass(frozen=True)
class FieldChange:
    """A field of the request; None where it has no value."""

    path: Path
    before: Any
    now: Any


def field_changes(before: Any, now: Any, path: Path = ()) -> list[FieldChange]:
    """Differences between two requests as plain data.

    Entries of a list of tables are matched by their names where each has one of its own, else by their order. Where
    each list has one named entry, it is the same one under another name.
    """
    if _are_tables(before, now):
        old, new = before or {}, now or {}
        return [
            change
            for key in dict.fromkeys((*old, *new))
            for change in field_changes(old.get(key), new.get(key), (*path, key))
        ]
    if _is_list_of_tables(before) and _is_list_of_tables(now):
        pairs = matched(before or [], now or [])
        return [change for number, old, new in pairs for change in _entry_changes(old, new, (*path, number))]
    return [] if before == now else [FieldChange(path, before, now)]


def mixed(before: Any, now: Any, takes: Callable[[FieldChange], bool], path: Path = ()) -> Any:
    """The earlier request with some changes of the later one.

    ``before``, ``now``: as for :func:`field_changes`. ``takes``: which of the changes that :func:`field_changes` finds
    are made. ``path``: keys that lead to ``before`` and ``now`` from the top. Returns with all changes it equals the
    later one, with none the earlier one; lists of tables may have another order, and empty tables are omitted.
    """
    if _are_tables(before, now):
        old, new = before or {}, now or {}
        fields = {key: mixed(old.get(key), new.get(key), takes, (*path, key)) for key in dict.fromkeys((*old, *new))}
        return {key: value for key, value in fields.items() if value is not None} or None
    if _is_list_of_tables(before) and _is_list_of_tables(now):
        pairs = matched(before or [], now or [])
        entries = [_mixed_entry(old, new, takes, (*path, number)) for number, old, new in pairs]
        return [entry for entry in entries if entry is not None] or None
    return now if before != now and takes(FieldChange(path, before, now)) else before


def _are_tables(before: Any, now: Any) -> bool:
    return isinstance(before, Mapping | None) and isinstance(now, Mapping | None)


def _is_list_of_tables(value: Any) -> bool:
    return value is None or (isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value))


def _entry_changes(before: Any, now: Any, path: Path) -> list[FieldChange]:
    """An added or removed entry is one change, at its place."""
    if before is None or now is None:
        return [FieldChange(path, before, now)]
    return field_changes(before, now, path)


def _mixed_entry(before: Any, now: Any, takes: Callable[[FieldChange], bool], path: Path) -> Any:
    if before is None or now is None:
        return now if takes(FieldChange(path, before, now)) else before
    return mixed(before, now, takes, path)


def matched(before: list[Any], now: list[Any]) -> list[tuple[int, Any, Any]]:
    """Corresponding entries of two lists, each with its place in the later list; None where one is missing."""
    if len(before) == len(now) == 1 and all(
        isinstance(entry, Mapping) and "name" in entry for entry in (*before, *now)
    ):
        return [(0, before[0], now[0])]
    for key in _NAMES:
        old, new = (
            [entry.get(key) if isinstance(entry, Mapping) else None for entry in entries] for entries in (before, now)
        )
        if all(isinstance(name, str) for name in (*old, *new)) and len({*old}) == len(old) and len({*new}) == len(new):
            places = {name: number for number, name in enumerate(old)}
            present = [
                (number, before[places[name]] if name in places else None, now[number])
                for number, name in enumerate(new)
            ]
            return present + [(number, before[number], None) for number, name in enumerate(old) if name not in set(new)]
    longest = max(len(before), len(now))
    return [
        (number, before[number] if number < len(before) else None, now[number] if number < len(now) else None)
        for number in range(longest)
    ]
