"""Widgets that show one field of the request as typed and write it back.

A widget is filled under its key before it is made and has no value of its own; its key changes whenever the request is
replaced, so that it shows the new one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ParamSpec

import streamlit as st

from sizer.base.faults import bounds_of, field_at
from sizer.base.quantities import AMOUNT, QuantityKind, duration, grouped, parse, si
from sizer.base.quantities import plain as digits
from sizer.present.words import inside_sentence, percent
from sizer.ui import look, state
from sizer.ui.error_messages import in_words, name_of, sentences
from sizer.ui.request_form.forms import (
    Checkbox,
    Columns,
    Day,
    Dropdown,
    FormField,
    MultiSelect,
    RequestPath,
    Text,
    Typed,
)
from sizer.ui.typed import plain, understood, written
from sizer.workload.request import SizingRequest
from sizer.workload.table import FIRST_DAY, LAST_DAY

P = ParamSpec("P")
# After a field changed: updates the fields that depend on it.
After = Callable[[], None]
# Called with the option that was selected.
OnSelect = Callable[[str], None]
_LONGEST_QUANTITY = 60
# Tables of a request that are lists; their entries have numbers.
_LISTS = (("workload",), ("team", "job"), ("existing", "racks"), ("stated_storage",), ("quote", "line"))
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
    text = si(value, kind.unit) if kind.unit else grouped(value) if value >= _GROUPED else digits(value)
    return re.sub(r"\.0+(?!\d)", "", text)


def default_text(field: FormField) -> str:
    """What holds while the field is empty, of a field whose explanation does not say so."""
    widget, described = field.widget, field_at(SizingRequest, field.keys)
    if isinstance(widget, Checkbox):
        return "Default: no."
    if isinstance(widget, Dropdown) and (name := _named_options(widget).get(widget.default)):
        return f"Default: {name}."
    if described is not None and described.is_required():
        return "Required."
    if field.empty:
        return f"Default: {field.empty}."
    value = None if described is None else described.default
    if isinstance(widget, MultiSelect) or (isinstance(widget, Typed) and widget.kind.unit) or value in (None, "", ()):
        return "Default: none."
    return f"Default: {digits(value) if isinstance(value, int | float) else value}."


def _named_options(widget: Dropdown | MultiSelect) -> Mapping[Any, str]:
    return widget.options() if callable(widget.options) else widget.options


def _other_option(value: Any) -> str:
    """Name of an option from a file that is none of those offered."""
    return percent(value) if isinstance(value, float) else name_of(str(value))


def path_of(field: FormField, entry: int = 0) -> RequestPath:
    """Path of a field; ``entry`` is the number in the list that holds it, if any."""
    for keys in _LISTS:
        if field.keys[: len(keys)] == keys:
            return (*keys, entry, *field.keys[len(keys) :])
    return field.keys


def key(path: RequestPath) -> str:
    """Key of the widget of a field."""
    return f"{st.session_state.generation}/{'.'.join(map(str, path))}"


def draw(
    field: FormField,
    entry: int = 0,
    *,
    options: Mapping[Any, str] | None = None,
    empty: str = "",
    after: After | None = None,
    in_form: bool = False,
) -> None:
    """Draw the widget of a field of the request.

    ``entry``: number in the list that holds the field. ``options``: of a choice, where they depend on other fields.
    ``empty``: Placeholder, where it depends on other fields. ``after``: called when the value has changed.
    ``in_form``: whether the value is stored only when the form is submitted.
    """
    path = path_of(field, entry)
    name = key(path)
    change: dict[str, Any] = (
        {}
        if in_form
        else {"on_change": state.if_stored(name, unless_replaced(_store)), "args": (name, path, field, after)}
    )
    if not isinstance(field.widget, Typed):
        draw_widget(field, name, state.get(path), options=options, empty=empty, **change)
        return
    with st.container(gap="xxsmall"):
        draw_widget(field, name, state.get(path), empty=empty, **change)
        _echo(field.widget.kind, state.get(path))


def draw_columns(columns: Columns, entry: int = 0, *, in_form: bool = False) -> None:
    """Draw fields side by side in columns."""
    for column, fields in zip(st.columns(len(columns), gap="large"), columns, strict=True):
        with column:
            for field in fields:
                draw(field, entry, in_form=in_form)


def draw_form(title: str, columns: Columns, key: str, name: str, on_submit: After | None = None) -> None:
    """Draw a fold with fields that are stored together when the button is pressed; ``name`` is part of their keys."""
    button = f"Apply {title[0].lower()}{title[1:]}"
    look.folded(title, key, lambda: _form(columns, name, button, on_submit), summary(columns) or "defaults")


def summary(columns: Columns, entry: int = 0) -> str:
    """What the request states in the fields of some columns, in one line; ``entry``: number in their list."""
    given = ((field, state.get(path_of(field, entry))) for column in columns for field in column)
    return ", ".join(_stated(field, value) for field, value in given if value not in (None, "", [], ()))


def _stated(field: FormField, value: Any) -> str:
    label = inside_sentence((field.name or field.label).partition(",")[0])
    match field.widget:
        case Checkbox():
            return label
        case MultiSelect() | Dropdown() as widget:
            names = _named_options(widget)
            values = value if isinstance(value, list | tuple) else [value]
            words = ", ".join(re.sub(r" \(.*\)", "", names.get(one) or _other_option(one)) for one in values)
            return words if callable(widget.options) and not field.name else f"{label} {words}"
        case _:
            return f"{label} {in_words(field.keys[-1], value)}"


def _form(columns: Columns, name: str, button: str, on_submit: After | None) -> None:
    drawn = [(key(path_of(field)), path_of(field), field) for column in columns for field in column]

    def submit() -> None:
        for widget, path, field in drawn:
            if widget in st.session_state:
                _store(widget, path, field)
        if on_submit is not None:
            on_submit()

    with st.form(f"{name}-form", border=False):
        draw_columns(columns, in_form=True)
        st.form_submit_button(button, on_click=unless_replaced(submit), key=f"apply-{name}")


def draw_widget(
    field: FormField,
    name: str,
    value: Any,
    *,
    options: Mapping[Any, str] | None = None,
    empty: str = "",
    **more: Any,
) -> None:
    """Draw the widget that a field describes, under the key ``name`` and filled with ``value``."""
    widget = field.widget
    label = field.label.replace("{currency}", str(state.get(("currency",)) or "USD"))
    common = {"key": name, "help": help_text(field), **more}
    empty = empty or field.empty
    match widget:
        case Text():
            _fill(name, str(value or ""))
            st.text_input(label, max_chars=widget.longest, placeholder=empty, **common)
        case Typed():
            _fill(name, written(widget.kind, value))
            st.text_input(label, max_chars=_LONGEST_QUANTITY, placeholder=empty or _example(widget.kind), **common)
        case Checkbox():
            _fill(name, value is True)
            st.checkbox(label, **common)
        case Dropdown():
            selected = widget.default if value is None else value
            known = dict(options if options is not None else _named_options(widget))
            known.setdefault(selected, _other_option(selected))
            _fill(name, selected)
            st.selectbox(label, list(known), format_func=lambda option: known.get(option, str(option)), **common)
        case MultiSelect():
            selected = [item for item in value or () if isinstance(item, str)]
            known = {**{item: name_of(item) for item in selected}, **_named_options(widget)}
            _fill(name, selected)
            st.multiselect(
                label, list(known), format_func=lambda option: known.get(option, option), placeholder=empty, **common
            )
        case Day():
            _fill(name, value)
            st.date_input(label, value=None, min_value=FIRST_DAY, max_value=LAST_DAY, format="YYYY-MM-DD", **common)


def selector(label: str, options: Mapping[str, str], selected: str, name: str, changed: OnSelect, hint: str) -> None:
    """One of several kinds of entry, which decides what other fields are shown; ``changed`` is called with the kind."""

    def chosen() -> None:
        changed(st.session_state[name])

    _fill(name, selected)
    shown = st.session_state[name]
    known = options if shown in options else {shown: str(shown), **options}
    st.selectbox(
        label,
        list(known),
        format_func=lambda option: known.get(option, str(option)),
        key=name,
        help=hint,
        on_change=state.if_stored(name, unless_replaced(chosen)),
    )


def _example(kind: QuantityKind) -> str:
    """Placeholder of a field that shows none of its own."""
    return kind.example if kind.unit or kind is AMOUNT else "none"


def _echo(kind: QuantityKind, typed: Any) -> None:
    """Under a quantity: how it was read where that differs, or what is wrong; a number is rewritten in the field."""
    if typed is None or not (kind.unit or kind is AMOUNT or isinstance(typed, str)):
        return
    try:
        value = parse(kind, typed)
    except ValueError as error:
        st.caption(f":red[:material/error: {plain(sentences(str(error)))}]")
    else:
        read = understood(kind, value, typed)
        if re.sub(r"\.0+(?!\d)|\s", "", read) != "".join(str(typed).split()):
            st.caption(plain(f"read as {read}"))


def _fill(name: str, value: Any) -> None:
    if name not in st.session_state:
        st.session_state[name] = value


def unless_replaced(changed: Callable[P, None]) -> Callable[P, None]:
    """``changed`` for a widget of the request that is drawn now, called only while that request is the one at hand.

    The browser may send an entry of a field together with, or after, what replaces the request: a need, a template,
    Undo. The place of the field may be another one by then, or none.
    """
    drawn = state.draft()

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        if state.draft() is drawn:
            changed(*args, **kwargs)
        else:
            st.session_state.notice = "An entry was not taken: the request was replaced meanwhile. Enter it again."

    return call


def _store(name: str, path: RequestPath, field: FormField, after: After | None = None) -> None:
    """Store what the widget of that key holds: the key it was made with, as it has another once the request changed."""
    value = st.session_state[name]
    if isinstance(field.widget, Typed) and not field.widget.kind.unit:
        with suppress(ValueError):  # what cannot be read stays as typed, and is named
            number = parse(field.widget.kind, value)
            value = int(number) if field.widget.kind.is_whole else number
            st.session_state[name] = written(field.widget.kind, value)
    widget = field.widget
    if isinstance(widget, Dropdown) and value == widget.default and state.get(path) is None:
        return  # a form submits what nobody touched, too
    state.put(path, None if value is False and isinstance(field.widget, Checkbox) else value)
    if after is not None:
        after()


def stored_choice(label: str, options: Sequence[str] | Mapping[str, str], key: str, hint: str | None = None) -> str:
    """One of several that is no part of the request; the same after a change of page. ``options``: may have names."""
    if st.session_state.get(key) not in options:
        st.session_state[key] = next(iter(options))
    names = options if isinstance(options, Mapping) else {}
    chosen: str = st.selectbox(
        label, list(options), format_func=lambda one: names.get(one, one), key=key, persist_state="session", help=hint
    )
    return chosen
