"""Changes of computed lines as overrides of the request's quote: read cell by cell, kept, set aside, brought back."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st
from pydantic import ValidationError

from sizer.base.errors import RequestError
from sizer.base.money import parse_amount, parse_percent
from sizer.bom.editing import EditableLine, editable_lines, fits, override_of
from sizer.bom.lines import bill
from sizer.bom.prices import price_book
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.export.text import is_formula_like, printable
from sizer.present.words import listed
from sizer.sizing.result import SizingResult
from sizer.ui import state
from sizer.workload.quote import QuoteOverride
from sizer.workload.request import SizingRequest

PLACE = ("quote", "override")
# What a line can be in the quote, in words.
BOUGHT, OPTIONAL, BY_OTHERS = "bought", "optional", "by others"
STATES = (BOUGHT, OPTIONAL, BY_OTHERS)
QUANTITY, PRICE, DISCOUNT, STATE, NOTE = "quantity", "unit_price", "discount_percent", "state", "note"
# Columns that can be edited, as sentences call them.
COLUMNS = {QUANTITY: "quantity", PRICE: "unit list price", DISCOUNT: "discount", STATE: "in the quote", NOTE: "note"}
MAX_PIECES = 1_000_000
MAX_NOTE = 300
MAX_OVERRIDES = 500
_ASIDE = "set_aside"
_SPACES = re.compile(r"\s+")
_LONGEST_SHOWN = 40


class CellError(ValueError):
    """A cell that says something that the quote cannot: value and what is allowed."""


def lines_of(result: SizingResult, overrides: Sequence[QuoteOverride], catalog: Catalog) -> tuple[EditableLine, ...]:
    """Lines of a design's bill as computed and as changed."""
    request = result.request
    computed = bill(result.design.quantities.components, catalog, price_book(catalog), request.currency, request.date)
    return editable_lines(computed.lines, overrides, request.currency, request.date)


def lines_now(lines: Sequence[EditableLine], currency: str) -> tuple[EditableLine, ...]:
    """The same rows with the overrides of the request as typed."""
    return editable_lines((line.computed for line in lines), typed(), currency, None)


def edited(
    overrides: Sequence[QuoteOverride], lines: Sequence[EditableLine], row: int, column: str, written: object
) -> tuple[QuoteOverride, ...]:
    """Overrides after one cell was edited.

    Parameters
    ----------
    overrides : sequence of QuoteOverride
        As they were.
    lines : sequence of EditableLine
        Rows of the table.
    row : int
        Which of them.
    column : str
        Key of :data:`COLUMNS`.
    written : object
        What the cell holds now. Nothing, or what was computed, takes the change of this column back.

    Raises
    ------
    CellError
        With value and what is allowed; its caller names the line.
    """
    line = lines[row]
    before = override_now(overrides, line)
    fields = {} if before is None else before.model_dump(exclude_defaults=True)
    is_empty = written is None or (isinstance(written, str) and not written.strip())
    if column == STATE:
        fields = _with_state(fields, _state(written))
    elif is_empty:
        fields.pop(column, None)
    else:
        if fields.get("by_others") and column in (PRICE, DISCOUNT):
            raise CellError(f"what others deliver has no {COLUMNS[column]} in this quote; choose {BOUGHT!r} first")
        fields[column] = _READERS[column](written)
    return _replaced(overrides, lines, line, _normal(fields, line))


def override_now(overrides: Sequence[QuoteOverride], line: EditableLine) -> QuoteOverride | None:
    """What the overrides say of a line now; ``line`` may be of before an edit."""
    return override_of(line.computed, overrides)


def state_of(line: EditableLine) -> str:
    """Whether a line is bought, an option, or delivered by others."""
    return line.shown.status if line.shown.status in (OPTIONAL, BY_OTHERS) else BOUGHT


def without(
    overrides: Sequence[QuoteOverride], lines: Sequence[EditableLine], key: tuple[str, str]
) -> tuple[QuoteOverride, ...]:
    """Overrides without what they say of one line."""
    line = next((one for one in lines if one.key == key), None)
    return tuple(overrides) if line is None else _replaced(overrides, lines, line, None)


def _with_state(fields: dict[str, Any], wanted: str) -> dict[str, Any]:
    kept = {key: value for key, value in fields.items() if key not in ("optional", "by_others")}
    if wanted == BY_OTHERS:
        gone = ("unit_price", "discount_percent")
        return {**{key: value for key, value in kept.items() if key not in gone}, "by_others": True}
    return {**kept, "optional": wanted == OPTIONAL}


def _normal(fields: dict[str, Any], line: EditableLine) -> QuoteOverride | None:
    """The override in its shortest form; None where it says nothing."""
    computed = line.computed
    is_option = computed.status == "optional"
    as_computed = {
        "quantity": computed.quantity,
        "unit_price": computed.unit_price,
        "discount_percent": computed.discount_percent,
        "optional": is_option,
        "by_others": False,
        "note": "",
    }
    said = {key: value for key, value in fields.items() if key in as_computed and value != as_computed[key]}
    if not said:
        return None
    if set(said) == {"note"}:
        # A note needs something that it stands beside: the state that the line has anyway.
        said["optional"] = is_option
    category = computed.category if line.needs_category else None
    return QuoteOverride.model_validate({"item": computed.item, "category": category, **said})


def _replaced(
    overrides: Sequence[QuoteOverride], lines: Sequence[EditableLine], line: EditableLine, new: QuoteOverride | None
) -> tuple[QuoteOverride, ...]:
    """Overrides in which one line has another; what meant its item in all categories is said of each of the others."""
    item, category = line.key
    own: list[QuoteOverride] = []
    if line.needs_category:
        for other in lines:
            said = new if other.key == line.key else override_of(other.computed, overrides)
            if other.key[0] == item and said is not None:
                own.append(said.model_copy(update={"category": other.key[1]}))
    elif new is not None:
        own.append(new)
    meant = [one.item == item and (line.needs_category or one.category in (None, category)) for one in overrides]
    place = meant.index(True) if any(meant) else len(overrides)
    before, after = (
        [one for one, is_meant in zip(part, flags, strict=True) if not is_meant]
        for part, flags in ((overrides[:place], meant[:place]), (overrides[place:], meant[place:]))
    )
    found = (*before, *own, *after)
    if len(found) > MAX_OVERRIDES:
        raise CellError(f"a quote changes at most {MAX_OVERRIDES} lines")
    return found


def _quantity(written: object) -> int:
    text = _SPACES.sub("", _text(written))
    # The sentence comes before int(), which refuses thousands of digits in its own words.
    if not re.fullmatch("[0-9]{1,7}", text) or int(text) > MAX_PIECES:
        raise CellError(f"{_shown(written)} is not a number of pieces; write a whole number from 0 to {MAX_PIECES}")
    return int(text)


def _price(written: object) -> Any:
    try:
        return parse_amount(_SPACES.sub("", _text(written)))
    except ValueError:
        raise CellError(
            f"{_shown(written)} is not a price; write up to ten digits, a point and two decimals, for example 149000.00"
        ) from None


def _discount(written: object) -> Any:
    try:
        return parse_percent(_SPACES.sub("", _text(written)).removesuffix("%"))
    except ValueError:
        raise CellError(
            f"{_shown(written)} is not a discount; write per cent from 0 to 100, for example 12.5"
        ) from None


def _state(written: object) -> str:
    if written not in STATES:
        raise CellError(f"{_shown(written)} is not one of {', '.join(STATES)}")
    return str(written)


def note_text(written: object) -> str:
    """A note as typed, without white space around it.

    Raises
    ------
    CellError
        If it is too long, holds control characters or would be taken for a formula by a spreadsheet.
    """
    text = _text(written).strip()
    if is_formula_like(text):
        raise CellError(f"{_shown(written)} starts like a formula of a spreadsheet; start with a letter or digit")
    if printable(text) != text:
        raise CellError(f"{_shown(printable(text))} holds line ends or control characters; a note is one line")
    if len(text) > MAX_NOTE:
        raise CellError(f"{_shown(written)} has {len(text)} characters; a note has at most {MAX_NOTE}")
    return text


_READERS = {QUANTITY: _quantity, PRICE: _price, DISCOUNT: _discount, NOTE: note_text}


def _text(written: object) -> str:
    if isinstance(written, bool) or not isinstance(written, (str, int, float)):
        raise CellError(f"{_shown(written)} is neither text nor a number")
    try:
        return str(written).strip()
    except ValueError:  # Python refuses to print integers of thousands of digits
        raise CellError("a number of thousands of digits is none that a quote can hold") from None


def _shown(written: object) -> str:
    try:
        text = str(written)
    except ValueError:
        return "a number of thousands of digits"
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


# --- the request of the session


def typed() -> tuple[QuoteOverride, ...]:
    """Overrides of the request as typed; one that is not understood is left out, the page says so elsewhere."""
    found = []
    for one in state.get(PLACE) or ():
        try:
            found.append(QuoteOverride.model_validate(one))
        except ValidationError:
            continue
    return tuple(found)


def keep(overrides: Iterable[QuoteOverride]) -> None:
    """Write overrides into the request."""
    state.put(PLACE, [as_typed(one) for one in overrides])


def as_typed(one: QuoteOverride) -> dict[str, Any]:
    """An override as a request file holds it; amounts as text, so that no cent is lost."""
    return one.model_dump(mode="json", exclude_defaults=True)


def apply(edits: Mapping[int, Mapping[str, object]], lines: Sequence[EditableLine]) -> list[str]:
    """Take the edited cells into the request, each by itself.

    Parameters
    ----------
    edits : mapping
        Row -> column -> what was written, as the table hands it over.
    lines : sequence of EditableLine
        Rows of the table.

    Returns
    -------
    list of str
        A sentence for each cell that was refused: line, value, what is allowed.
    """
    overrides = typed()
    refused = []
    for row, cells in edits.items():
        for column, written in cells.items():
            if not 0 <= int(row) < len(lines) or column not in COLUMNS:
                continue
            line = lines[int(row)].shown
            try:
                overrides = edited(overrides, lines, int(row), column, written)
            except CellError as error:
                refused.append(f"{line.description}, {COLUMNS[column]}: {error}.")
    keep(overrides)
    return refused


# --- overrides whose item left the bill


def settle(parts: Catalog) -> bool:
    """Set aside overrides of items that are not in the bill any more, and bring back those that are in it again.

    Returns
    -------
    bool
        Whether the request changed.
    """
    aside = set_aside()
    present = typed()
    if not present and not aside:
        return False
    try:
        request = SizingRequest.from_dict(state.draft())
    except RequestError:
        return False  # other faults come first
    found = state.outcome(request, parts)
    if found.refused:
        bare = request.model_copy(update={"quote": request.quote.model_copy(update={"override": ()})})
        found = state.outcome(bare, parts)
    if found.result is None:
        return False
    lines = found.result.design.bill.lines
    known = {(one.item, one.category) for one in present}
    waiting = tuple(one for one in aside if (one.item, one.category) not in known)
    leaving = tuple(one for one in present if not fits(one, lines))
    coming = tuple(one for one in waiting if fits(one, lines))
    if not leaving and not coming:
        _put_aside(waiting)
        return False
    keep((*(one for one in present if one not in leaving), *coming))
    _put_aside((*(one for one in waiting if one not in coming), *leaving))
    state.refresh()
    if not state.is_customer_mode():
        st.session_state.notice = _told(leaving, coming, parts)
    return True


def _told(leaving: Sequence[QuoteOverride], coming: Sequence[QuoteOverride], parts: Catalog) -> str:
    said = []
    if leaving:
        said.append(f"Not in the bill any more, so your changes of it are set aside: {_names(leaving, parts)}.")
    if coming:
        said.append(f"In the bill again, with your changes: {_names(coming, parts)}.")
    return " ".join(said)


def _names(overrides: Iterable[QuoteOverride], parts: Catalog) -> str:
    return listed(item_name(one.item, parts) for one in overrides)


def set_aside() -> tuple[QuoteOverride, ...]:
    """Overrides that wait for their item to return; those of another request are forgotten."""
    kept = st.session_state.get(_ASIDE) or {}
    if not isinstance(kept, Mapping) or kept.get("of") != _of_request():
        return ()
    return tuple(QuoteOverride.model_validate(one) for one in kept.get("overrides", ()))


def forget_aside() -> None:
    """Drop what was set aside."""
    _put_aside(())


def _put_aside(overrides: Iterable[QuoteOverride]) -> None:
    st.session_state[_ASIDE] = {"of": _of_request(), "overrides": [as_typed(one) for one in overrides]}


def _of_request() -> str:
    """Names the request that the session started from: another one has nothing to do with what was set aside."""
    said = json.dumps(st.session_state.get("original"), sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()
