"""Widgets that show one field of the request as typed and write it back.

A widget is filled under its key before it is made and has no value of its own; its key changes whenever the request is
replaced, so that it shows the new one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from sizer.base.quantities import parse
from sizer.ui import state
from sizer.ui.error_messages import Path_, kind_of, sentences
from sizer.ui.typed import plain, understood, written

# After a field changed: brings fields that hang on it in line.
After = Callable[[], None]


def key(path: Path_) -> str:
    """Key of the widget of a field."""
    return f"{st.session_state.generation}/{'.'.join(map(str, path))}"


def _fill(path: Path_, value: Any) -> str:
    name = key(path)
    if name not in st.session_state:
        st.session_state[name] = value
    return name


def _store(path: Path_, after: After | None = None) -> None:
    if key(path) not in st.session_state:
        return  # the browser tells of a field late, after its page was left; its value was taken then
    value = st.session_state[key(path)]
    state.put(path, None if value is False else value)
    if after is not None:
        after()


def store_all(paths: Sequence[Path_]) -> None:
    """Write the fields of a form, once it is sent."""
    for path in paths:
        _store(path)


def _change(path: Path_, after: After | None, in_form: bool) -> dict[str, Any]:
    return {} if in_form else {"on_change": _store, "args": (path, after)}


def fold(what: str, said: str, name: str) -> ExpanderContainer:
    """A fold that says in its head what is in it; what it holds is drawn once it is open, as ``fold.open`` tells.

    Closed ones would cost the browser more than the whole page without them.
    """
    # A fold whose head says something else is another one to Streamlit, and would close under the reader's eyes.
    is_open = st.session_state.get("folds", {}).get(name, False)
    return st.expander(f"**{what}:** {plain(said)}", is_open, key=name, on_change=_note_fold, args=(name,))


def _note_fold(name: str) -> None:
    st.session_state.folds = {**st.session_state.get("folds", {}), name: bool(st.session_state.get(name))}


def quantity(label: str, path: Path_, hint: str, placeholder: str = "", *, in_form: bool = False) -> None:
    """Text field of a quantity with its unit; under it what was understood, or what is wrong."""
    kind = kind_of(path)
    assert kind is not None
    name = _fill(path, written(kind, state.get(path)))
    with st.container(gap="xxsmall"):
        st.text_input(
            label,
            key=name,
            max_chars=60,
            placeholder=placeholder or kind.example,
            help=hint,
            **_change(path, None, in_form),
        )
        typed = state.get(path)
        if typed is None:
            return
        try:
            value = parse(kind, typed)
        except ValueError as error:
            st.caption(f":red[:material/error: {plain(sentences(str(error)))}]")
        else:
            st.caption(plain(f"read as {understood(kind, value, typed)}"))


def text(label: str, path: Path_, hint: str, longest: int, placeholder: str = "", *, in_form: bool = False) -> None:
    """Free text."""
    name = _fill(path, str(state.get(path) or ""))
    st.text_input(
        label, key=name, max_chars=longest, placeholder=placeholder, help=hint, **_change(path, None, in_form)
    )


def whole(
    label: str,
    path: Path_,
    hint: str,
    most: int,
    placeholder: str = "none",
    *,
    after: After | None = None,
    in_form: bool = False,
) -> None:
    """A count of 1 or more; empty says nothing."""
    value = state.get(path)
    name = _fill(path, value if isinstance(value, int) and 1 <= value <= most else None)
    st.number_input(
        label,
        min_value=1,
        max_value=most,
        step=1,
        value=None,
        key=name,
        placeholder=placeholder,
        help=hint,
        **_change(path, after, in_form),
    )


def number(
    label: str, path: Path_, hint: str, low: float, high: float, placeholder: str = "none", *, in_form: bool = False
) -> None:
    """A number without a unit; empty says nothing."""
    value = state.get(path)
    fits = isinstance(value, (int, float)) and low <= value <= high
    name = _fill(path, float(value) if fits else None)
    st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=None,
        key=name,
        placeholder=placeholder,
        help=hint,
        format="%.10g",
        **_change(path, None, in_form),
    )


def flag(label: str, path: Path_, hint: str, *, in_form: bool = True) -> None:
    """Yes or no; no is what a request says that leaves it out."""
    st.checkbox(label, key=_fill(path, state.get(path) is True), help=hint, **_change(path, None, in_form))


def choice(
    label: str,
    path: Path_,
    options: Mapping[Any, str],
    default: Any,
    hint: str,
    *,
    after: After | None = None,
    in_form: bool = False,
) -> None:
    """One of several; ``default`` stands for a field that the request leaves out."""
    value = state.get(path)
    shown = default if value is None else value
    known = dict(options) if shown in options else {**options, shown: str(shown)}
    st.selectbox(
        label,
        list(known),
        format_func=lambda option: known.get(option, str(option)),
        key=_fill(path, shown),
        help=hint,
        **_change(path, after, in_form),
    )


def switch(
    label: str,
    path: Path_,
    options: Mapping[str, str],
    default: str,
    hint: str,
    *,
    after: After | None = None,
) -> None:
    """One of two or three, all in sight."""
    value = state.get(path)
    name = _fill(path, value if value in options else default)
    st.segmented_control(
        label,
        list(options),
        required=True,
        format_func=lambda option: options.get(option, option),
        key=name,
        help=hint,
        **_change(path, after, False),
    )


def several(
    label: str,
    path: Path_,
    options: Mapping[str, str],
    hint: str,
    placeholder: str = "all that fit",
    *,
    in_form: bool = False,
) -> None:
    """Any number of several; ``placeholder`` says what choosing none means."""
    value = [item for item in state.get(path) or () if isinstance(item, str)]
    known = {**{item: item for item in value}, **options}
    st.multiselect(
        label,
        list(known),
        format_func=lambda option: known.get(option, option),
        key=_fill(path, value),
        placeholder=placeholder,
        help=hint,
        **_change(path, None, in_form),
    )


def kept_choice(label: str, names: Sequence[str], kept: str) -> str:
    """One of some names, no part of the request; the choice stays under ``kept`` while other pages are shown."""
    if st.session_state.get(kept) not in names:
        st.session_state[kept] = names[0]
    chosen: str = st.selectbox(
        label,
        names,
        index=names.index(st.session_state[kept]),
        key=f"{kept}-{st.session_state.generation}-{len(names)}",
        width=520,
    )
    st.session_state[kept] = chosen
    return chosen
