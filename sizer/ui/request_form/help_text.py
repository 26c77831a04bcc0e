"""Help of a field: what it is, what range it takes, and what holds while it is empty; from the model of the request."""

import re
from collections.abc import Mapping
from typing import Any

from sizer.base.faults import bounds_of, field_at
from sizer.base.quantities import QuantityKind, duration, grouped, plain, si
from sizer.present.words import percent
from sizer.ui.request_form.field import (
    Checkbox,
    Dropdown,
    FormField,
    MultiSelect,
    Percentage,
    Segments,
    Text,
    Typed,
)
from sizer.workload.request import SizingRequest

# A bound just above 0 keeps out zero alone.
_NEARLY_ZERO = 0.001
# Numbers from here on have their thousands apart.
_GROUPED = 1000
# Numbers and terms of the quote are typed into short texts; their explanation gives the range.
_SHORT = 20
_DEFAULT = "Default:"


def help_text(field: FormField) -> str:
    """Explanation, range and default of a field in sentences."""
    explanation, mark, default = field.help.partition(_DEFAULT)
    return " ".join(
        part for part in (explanation.strip(), range_text(field), f"{mark}{default}" or default_text(field)) if part
    )


def range_text(field: FormField) -> str:
    """What the field takes; "" where its options are all there is, or its explanation says it."""
    widget = field.widget
    if isinstance(widget, Text):
        return f"At most {widget.longest} characters." if widget.longest > _SHORT else ""
    if isinstance(widget, Percentage):
        return f"From {percent(min(widget.levels))} to {percent(max(widget.levels))}."
    if not isinstance(widget, Typed):
        return ""
    low, high = bounds_of(field_at(SizingRequest, field.keys))
    # A form may offer less than a file may say.
    low = widget.kind.low if low is None else max(low, widget.kind.low)
    high = widget.kind.high if high is None else min(high, widget.kind.high)
    if 0 < low < _NEARLY_ZERO:
        return f"Greater than 0, at most {_number(widget.kind, high)}."
    return f"From {_number(widget.kind, low)} to {_number(widget.kind, high)}."


def _number(kind: QuantityKind, value: float) -> str:
    if kind.unit == "s":
        return duration(value)
    text = si(value, kind.unit) if kind.unit else grouped(value) if value >= _GROUPED else plain(value)
    return re.sub(r"\.0+(?!\d)", "", text)


def default_text(field: FormField) -> str:
    """What holds while the field is empty, of a field whose explanation does not say so."""
    widget, described = field.widget, field_at(SizingRequest, field.keys)
    if isinstance(widget, Checkbox):
        return "Default: no."
    if isinstance(widget, Percentage):
        return f"Default: {percent(widget.default)}."
    if isinstance(widget, Dropdown | Segments) and (name := _options(widget).get(widget.default)):
        return f"Default: {name}."
    if described is not None and described.is_required():
        return "Required."
    if field.empty:
        return f"Default: {field.empty}."
    value = None if described is None else described.default
    if isinstance(widget, MultiSelect) or (isinstance(widget, Typed) and widget.kind.unit) or value in (None, "", ()):
        return "Default: none."
    return f"Default: {plain(value) if isinstance(value, int | float) else value}."


def _options(widget: Dropdown | Segments) -> Mapping[Any, str]:
    return widget.options() if callable(widget.options) else widget.options
