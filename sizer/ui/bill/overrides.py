"""Changes of computed lines as overrides in the quote: read cell by cell, stored, suspended and applied again."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sizer.base.money import parse_amount, parse_percent
from sizer.bom.lines import bill
from sizer.bom.overrides import EditableLine, editable_lines, override_of
from sizer.bom.prices import prices_for
from sizer.catalog.model import Catalog
from sizer.export.files import is_formula_like, printable
from sizer.sizing.result import SizingResult
from sizer.ui import state
from sizer.workload.quote import QuoteOverride

PLACE = ("quote", "override")
# Status of a line in the quote, in words; ``BY_OTHERS`` is how a request file writes the last one.
BOUGHT, OPTIONAL, PROVIDED_BY_OTHERS = "bought", "optional", "provided by others"
STATES = (BOUGHT, OPTIONAL, PROVIDED_BY_OTHERS)
BY_OTHERS = "by others"
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
        fields = _with_state(fields, _state(written))
    elif is_empty:
        fields.pop(column, None)
    else:
        if fields.get("by_others") and column in (PRICE, DISCOUNT):
            raise CellError(f"an item provided by others has no {COLUMNS[column]}; choose {BOUGHT!r} first")
        fields[column] = _READERS[column](written)
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


def _quantity(written: object) -> int:
    text = _SPACES.sub("", _text(written))
    # Checked before int(), which refuses thousands of digits with its own error.
    if not re.fullmatch("[0-9]{1,7}", text) or int(text) > MAX_PIECES:
        raise CellError(f"{_shown(written)} is not a quantity; write a whole number from 0 to {MAX_PIECES}")
    return int(text)


def _price(written: object) -> Any:
    try:
        return parse_amount(_SPACES.sub("", _text(written)))
    except ValueError:
        raise CellError(
            f"{_shown(written)} is not a price; write for example 149000.00 (up to ten digits, two decimals)"
        ) from None


def _discount(written: object) -> Any:
    try:
        return parse_percent(_SPACES.sub("", _text(written)).removesuffix("%"))
    except ValueError:
        raise CellError(
            f"{_shown(written)} is not a discount; write a percentage from 0 to 100, for example 12.5"
        ) from None


def _state(written: object) -> str:
    if written not in STATES:
        raise CellError(f"{_shown(written)} is not a status; choose {', '.join(STATES)}")
    return str(written)


def _note(written: object) -> str:
    """A note as typed, without surrounding white space.

    Raises CellError if it is too long, has control characters or would be read as a formula by a spreadsheet.
    """
    text = _text(written).strip()
    if is_formula_like(text):
        raise CellError(f"{_shown(written)} would be read as a spreadsheet formula; start with a letter or digit")
    if printable(text) != text:
        raise CellError(f"{_shown(printable(text))} has line breaks or control characters; write one line of text")
    if len(text) > MAX_NOTE:
        raise CellError(f"{_shown(written)} has {len(text)} characters; write at most {MAX_NOTE}")
    return text


_READERS = {QUANTITY: _quantity, PRICE: _price, DISCOUNT: _discount, NOTE: _note}


def _text(written: object) -> str:
    if isinstance(written, bool) or not isinstance(written, (str, int, float)):
        raise CellError(f"{_shown(written)} is neither text nor a number")
    try:
        return str(written).strip()
    except ValueError:  # Python refuses to print integers of thousands of digits
        raise CellError("the number has too many digits") from None


def _shown(written: object) -> str:
    try:
        text = str(written)
    except ValueError:
        return "a number of thousands of digits"
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


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
    state.put(PLACE, [as_typed(one) for one in overrides])


def as_typed(one: QuoteOverride) -> dict[str, Any]:
    """An override as a request file has it; amounts as text, so that no cent is lost."""
    return one.model_dump(mode="json", exclude_defaults=True)


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
