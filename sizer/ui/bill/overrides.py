"""Changes of computed lines as overrides in the quote: read cell by cell, stored, suspended and applied again."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st
from pydantic import ValidationError

from sizer.base.errors import RequestError
from sizer.base.money import parse_amount, parse_percent
from sizer.bom.bill import BY_OTHERS
from sizer.bom.lines import bill
from sizer.bom.overrides import EditableLine, editable_lines, fits, override_of
from sizer.bom.prices import prices_for
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.export.files import is_formula_like, printable
from sizer.sizing.result import SizingResult
from sizer.ui import state
from sizer.workload.quote import QuoteOverride
from sizer.workload.request import SizingRequest

PLACE = ("quote", "override")
# Status of a line in the quote, in words.
BOUGHT, OPTIONAL, PROVIDED_BY_OTHERS = "bought", "optional", "provided by others"
STATES = (BOUGHT, OPTIONAL, PROVIDED_BY_OTHERS)
QUANTITY, PRICE, DISCOUNT, STATE, NOTE = "quantity", "unit_price", "discount_percent", "state", "note"
# Columns that can be edited, as sentences call them.
COLUMNS = {QUANTITY: "quantity", PRICE: "unit list price", DISCOUNT: "discount", STATE: "in the quote", NOTE: "note"}
MAX_PIECES = 1_000_000
MAX_NOTE = 300
MAX_OVERRIDES = 500
_SPACES = re.compile(r"\s+")
_LONGEST_SHOWN = 40


class CellError(ValueError):
    """A cell with a value that a quote cannot have: the value, and what to write instead."""


def lines_of(result: SizingResult, overrides: Sequence[QuoteOverride], catalog: Catalog) -> tuple[EditableLine, ...]:
    """Lines of a design's bill as computed and as changed."""
    request = result.request
    design = result.design
    book = prices_for(request, catalog).fitted(design.platform)
    platform, parts = design.platform, design.quantities.components
    server, stored_bytes = platform.server, platform.stored_bytes
    computed = bill(parts, catalog, book, request.currency, request.date, server=server, stored_bytes=stored_bytes)
    return editable_lines(computed.lines, overrides, request.currency, request.date)


def lines_now(lines: Sequence[EditableLine], currency: str) -> tuple[EditableLine, ...]:
    """The same rows with the overrides of the request as typed."""
    return editable_lines((line.computed for line in lines), typed(), currency, None)


def edited(
    overrides: Sequence[QuoteOverride], lines: Sequence[EditableLine], row: int, column: str, written: object
) -> tuple[QuoteOverride, ...]:
    """Overrides after one cell was edited.

    ``overrides``: as they were. ``row``: which of them. ``column``: key of :data:`COLUMNS`. ``written``: new content
    of the cell. Empty, or the computed value, undoes the change of this column. Raises CellError with the value and
    what to write instead; its caller names the line.
    """
    line = lines[row]
    before = override_of(line.computed, overrides)
    fields = {} if before is None else before.model_dump(exclude_defaults=True)
    is_empty = written is None or (isinstance(written, str) and not written.strip())
    if column == STATE:
        fields = _with_state(fields, _read(column, written))
    elif is_empty:
        fields.pop(column, None)
    else:
        if fields.get("by_others") and column in (PRICE, DISCOUNT):
            raise CellError(f"an item provided by others has no {COLUMNS[column]}; choose {BOUGHT!r} first")
        fields[column] = _read(column, written)
    return _replaced(overrides, lines, line, _normal(fields, line))


def state_of(line: EditableLine) -> str:
    """Whether a line is bought, optional, or provided by others."""
    return {OPTIONAL: OPTIONAL, BY_OTHERS: PROVIDED_BY_OTHERS}.get(line.shown.status, BOUGHT)


def without(
    overrides: Sequence[QuoteOverride], lines: Sequence[EditableLine], key: tuple[str, str]
) -> tuple[QuoteOverride, ...]:
    """Overrides without those of one line."""
    line = next((one for one in lines if one.key == key), None)
    return tuple(overrides) if line is None else _replaced(overrides, lines, line, None)


def _with_state(fields: dict[str, Any], wanted: str) -> dict[str, Any]:
    others = {key: value for key, value in fields.items() if key not in ("optional", "by_others")}
    if wanted == PROVIDED_BY_OTHERS:
        gone = ("unit_price", "discount_percent")
        return {**{key: value for key, value in others.items() if key not in gone}, "by_others": True}
    return {**others, "optional": wanted == OPTIONAL}


def _normal(fields: dict[str, Any], line: EditableLine) -> QuoteOverride | None:
    """The override in its shortest form; None where it changes nothing."""
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
    changed = {key: value for key, value in fields.items() if key in as_computed and value != as_computed[key]}
    if not changed:
        return None
    if set(changed) == {"note"}:
        # An override with only a note is not allowed; it gets the status that the line has anyway.
        changed["optional"] = is_option
    category = computed.category if line.needs_category else None
    return QuoteOverride.model_validate({"item": computed.item, "category": category, **changed})


def _replaced(
    overrides: Sequence[QuoteOverride], lines: Sequence[EditableLine], line: EditableLine, new: QuoteOverride | None
) -> tuple[QuoteOverride, ...]:
    """Overrides with a new one for one line; one that applied to all categories is split over the others."""
    item, category = line.key
    own: list[QuoteOverride] = []
    if line.needs_category:
        for other in lines:
            override = new if other.key == line.key else override_of(other.computed, overrides)
            if other.key[0] == item and override is not None:
                own.append(override.model_copy(update={"category": other.key[1]}))
    elif new is not None:
        own.append(new)
    meant = [one.item == item and (line.needs_category or one.category in (None, category)) for one in overrides]
    place = meant.index(True) if any(meant) else len(overrides)
    before, after = (
        [one for one, is_meant in zip(part, flags, strict=True) if not is_meant]
        for part, flags in ((overrides[:place], meant[:place]), (overrides[place:], meant[place:]))
    )
    replaced = (*before, *own, *after)
    if len(replaced) > MAX_OVERRIDES:
        raise CellError(f"a quote changes at most {MAX_OVERRIDES} lines")
    return replaced


def _quantity(text: str) -> int:
    # Checked before int(), which refuses thousands of digits with its own error.
    count = int(text) if re.fullmatch("[0-9]{1,7}", text) else -1
    if not 0 <= count <= MAX_PIECES:
        raise ValueError
    return count


def _note(text: str) -> str:
    if is_formula_like(text) or printable(text) != text or len(text) > MAX_NOTE:
        raise ValueError
    return text


# How the text of a cell is read, and what a cell that cannot be read is not.
_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    QUANTITY: (
        lambda text: _quantity(_SPACES.sub("", text)),
        f"a quantity; write a whole number from 0 to {MAX_PIECES}",
    ),
    PRICE: (
        lambda text: parse_amount(_SPACES.sub("", text)),
        "a price; write for example 149000.00 (up to ten digits, two decimals)",
    ),
    DISCOUNT: (
        lambda text: parse_percent(_SPACES.sub("", text)),
        "a discount; write a percentage from 0 to 100, for example 12.5",
    ),
    STATE: (lambda text: STATES[STATES.index(text)], f"a status; choose {', '.join(STATES)}"),
    NOTE: (_note, f"a note; write one line of at most {MAX_NOTE} characters that begins with a letter or digit"),
}


def _read(column: str, written: object) -> Any:
    """A cell as a quote holds it; raises CellError as :func:`edited`."""
    read, wanted = _READERS[column]
    try:
        text = str(written).strip()
    except ValueError:  # Python refuses to print integers of thousands of digits
        raise CellError("the number has too many digits") from None
    try:
        if isinstance(written, bool) or not isinstance(written, str | int | float):
            raise ValueError
        return read(text)
    except ValueError:
        shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
        raise CellError(f"{printable(shown)!r} is not {wanted}") from None


# --- the request of the session


def typed() -> tuple[QuoteOverride, ...]:
    """Overrides of the request as typed, without those that have errors; the page reports them elsewhere."""
    valid = []
    for one in state.get(PLACE) or ():
        try:
            valid.append(QuoteOverride.model_validate(one))
        except ValidationError:
            continue
    return tuple(valid)


def store(overrides: Iterable[QuoteOverride]) -> None:
    """Write overrides into the request."""
    state.put(PLACE, [as_typed(override) for override in overrides])


def as_typed(override: QuoteOverride) -> dict[str, Any]:
    """An override as a request file has it; amounts as text, so that no cent is lost."""
    return override.model_dump(mode="json", exclude_defaults=True)


def apply(edits: Mapping[int, Mapping[str, object]], lines: Sequence[EditableLine]) -> list[str]:
    """Write the edited cells into the request, one at a time.

    ``edits``: row -> column -> new content, as the table reports it. A sentence for each refused cell: line, value,
    and what to write instead.
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
    store(overrides)
    return refused


# Plain keys of the session: computed quantities for which others were set, and sentences on what was dropped.
COMPUTED, DROPPED = "computed_quantities", "dropped_quantities"


def reconcile(parts: Catalog) -> None:
    """Drop changes of lines that the bill no longer has, with a sentence for each; Undo restores them."""
    present = typed()
    if not present:
        return
    try:
        request = SizingRequest.from_dict(state.draft())
    except RequestError:
        return  # the request has other errors
    sized = state.outcome(request, parts)
    if sized.refused:
        bare = request.model_copy(update={"quote": request.quote.model_copy(update={"override": ()})})
        sized = state.outcome(bare, parts)
    if sized.result is None:
        return
    lines = sized.result.design.bill.lines
    kept, told = _without_outdated([one for one in present if fits(one, lines)], sized.result, parts)
    told += [
        f"{item_name(one.item, parts)}: not in this bill, so your changes of its line no longer apply."
        for one in present
        if not fits(one, lines)
    ]
    if not told:
        return
    store(kept)
    state.refresh()
    st.session_state[DROPPED] = told
    if not state.is_customer_mode():
        st.session_state.notice = " ".join(told)


def _without_outdated(
    present: Sequence[QuoteOverride], result: SizingResult, parts: Catalog
) -> tuple[list[QuoteOverride], list[str]]:
    """Overrides without quantities that were set for another computed quantity, and a sentence for each of those.

    A quantity is remembered with the computed one that it was set for, as long as the request is the same one.
    """
    given = [one for one in present if one.quantity is not None]
    stored = st.session_state.get(COMPUTED) or {}
    of = st.session_state.original
    before: Mapping[str, int] = stored.get("quantities", {}) if stored.get("of") == of else {}
    lines = lines_of(result, (), parts) if given else ()
    now = {_key(one): sum(line.computed.quantity for line in lines if _is_of(one, line)) for one in given}
    st.session_state[COMPUTED] = {"of": of, "quantities": now}
    kept, told = [], []
    for one in present:
        needed = now.get(_key(one))
        was = before.get(_key(one), needed)
        if one.quantity is None or was == needed or not needed:
            kept.append(one)
            continue
        told.append(
            f"{item_name(one.item, parts)}: the design now needs {needed} instead of {was}, so your quantity of "
            f"{one.quantity} no longer applies."
        )
        fields = one.model_dump(exclude_defaults=True, exclude={"quantity"})
        if set(fields) - {"item", "category", "note"}:
            kept.append(QuoteOverride.model_validate(fields))
    return kept, told


def _key(override: QuoteOverride) -> str:
    return f"{override.item}/{override.category or ''}"


def _is_of(override: QuoteOverride, line: EditableLine) -> bool:
    item, category = line.key
    return override.item == item and override.category in (None, category)
