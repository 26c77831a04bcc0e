"""Page Requirements: what is to run, on what, within which limits."""

import re
from typing import get_args

import streamlit as st

from sizer.base.errors import RequestError
from sizer.base.toml_text import to_toml
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.present.words import slug
from sizer.ui import fields, state
from sizer.ui.error_messages import LABELS, Path_, sentences
from sizer.ui.requirements import (
    data_form,
    growth_form,
    rental_form,
    resilience_form,
    surroundings,
    team_form,
    workload,
)
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import FabricKind
from sizer.workload.sentence import EXAMPLE, MAX_CHARACTERS, read_sentence

_CURRENCIES = ("USD", "EUR", "GBP", "CHF", "JPY")
_MEGABYTES = 1  # upload limit of the browser's file field


def show(view: View) -> None:
    """Draw the page."""
    _sentence(view.catalog)
    _start_from()
    st.header("Workload", anchor=False)
    work = workload.which()
    workload.draw(view, ("workload", work))
    st.header("Choices and limits", anchor=False)
    _platforms(view.catalog)
    _limits()
    surroundings.existing(view)
    surroundings.fabric_and_room(view)
    data_form.show()
    team_form.show()
    resilience_form.show()
    growth_form.show()
    rental_form.show()
    _project()


# --- where the request comes from


def _start_from() -> None:
    left, middle, right = st.columns([5, 2, 2], vertical_alignment="bottom", gap="small")
    with left:
        names = dict(state.examples())
        origin = st.session_state.origin
        if origin not in names:
            names[origin] = f"({origin})"
        name = f"origin/{st.session_state.generation}"
        if name not in st.session_state:
            st.session_state[name] = origin
        st.selectbox(
            "Start from",
            list(names),
            format_func=lambda stem: names.get(stem, stem),
            key=name,
            on_change=_example_chosen,
            args=(name,),
            help="Requests after published architectures, and templates of common workloads. Choosing one replaces the "
            "request; undo brings it back.",
        )
    with middle, st.popover("Open a request", icon=":material/upload_file:", width="stretch"):
        upload = f"upload/{st.session_state.generation}"
        st.file_uploader(
            "Request (TOML or JSON) or design.json",
            type=["toml", "json"],
            key=upload,
            max_upload_size=_MEGABYTES,
            on_change=_uploaded,
            args=(upload,),
        )
    with right:
        title = slug(str(state.get(("title",)) or "")) or "cluster"
        st.download_button(
            "Save the request",
            to_toml(state.draft()),
            f"{title}.toml",
            "application/toml",
            on_click="ignore",
            icon=":material/download:",
            width="stretch",
            help="The request as typed. Opening it gives the same design.",
        )


def _sentence(parts: Catalog) -> None:
    """The need as it stands in a mail, and what was made of it."""
    key = f"sentence/{st.session_state.generation}"
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get("sentence", "")
    st.text_input(
        "The need in one sentence",
        key=key,
        max_chars=MAX_CHARACTERS,
        placeholder=EXAMPLE,
        on_change=_sentence_given,
        args=(key, parts),
        help="Neural network, data, and what must be reached: a rate, a time to train or a number of GPUs. Servers, "
        "storage, epochs and certainty may follow. It replaces the request; undo brings that back.",
    )
    fault, told = st.session_state.get("sentence_fault", ""), st.session_state.get("sentence_read", "")
    if fault:
        st.caption(f":red[:material/error: {plain(fault)}]")
    elif told:
        st.caption(plain(told))


def _sentence_given(key: str, parts: Catalog) -> None:
    text = st.session_state[key].strip()
    st.session_state.sentence_fault = st.session_state.sentence_read = ""
    st.session_state.sentence = text
    if not text:
        return
    try:
        reading = read_sentence(text, parts)
    except RequestError as error:
        st.session_state.sentence_fault = sentences(str(error), "sentence")
        return
    told = ", ".join(f"{words} ({meaning})" if words else meaning for words, meaning in reading.read)
    left = f" Not understood: {', '.join(reading.unread)}." if reading.unread else ""
    st.session_state.sentence_read = f"Read: {told}.{left}"
    state.take(state.dated(reading.request), "one sentence")


def _example_chosen(name: str) -> None:
    st.session_state.sentence = st.session_state.sentence_read = st.session_state.sentence_fault = ""
    if st.session_state[name] in state.examples():
        state.load_example(st.session_state[name])


def _uploaded(name: str) -> None:
    file = st.session_state[name]
    if file is not None:
        state.load_upload(file.name, file.getvalue())
        state.refresh()


# --- what may be used, what must not be exceeded


def _platforms(parts: Catalog) -> None:
    here: Path_ = ("platforms",)
    servers = workload.named(
        {key: item for key, item in parts.servers.items() if item.role == "gpu" and item.orderable}
    )
    usable = {gpu for item in servers for gpu in parts.servers[item].gpus}
    gpus = workload.named({key: item for key, item in parts.gpus.items() if item.orderable and key in usable})
    storage = workload.named(
        {key: item for key, item in parts.storage.items() if item.orderable or item.kind == "nfs-server"}
    )
    fabrics = {kind: kind_name(kind) for kind in get_args(FabricKind)}
    names = {**servers, **storage, **fabrics}
    chosen = [
        names.get(item, item) for part in ("servers", "storage", "fabrics") for item in state.get((*here, part)) or ()
    ]
    said = ", ".join(re.sub(r" \(.*\)", "", name) for name in chosen) if chosen else "all that the catalogue can order"
    folded = fields.fold("What may be used", said, "may-be-used")
    if not folded.open:
        return
    with folded, st.form("platforms", border=False):
        left, right = st.columns(2, gap="large")
        with left:
            fields.several("Servers", (*here, "servers"), servers, "GPU servers that may be offered.", in_form=True)
            fields.several("GPUs", (*here, "gpus"), gpus, "GPUs that the servers may carry.", in_form=True)
            fields.whole(
                "GPUs that the job uses in each server",
                (*here, "gpus_per_server"),
                "Without a wish: all of them.",
                64,
                "all",
                in_form=True,
            )
        with right:
            fields.several(
                "Storage", (*here, "storage"), storage, "Storage that may be offered or that is at hand.", in_form=True
            )
            fields.several(
                "Fabrics", (*here, "fabrics"), fabrics, "Network that carries gradients and data.", in_form=True
            )
        paths = [(*here, part) for part in ("servers", "gpus", "gpus_per_server", "storage", "fabrics")]
        st.form_submit_button("Apply these choices", on_click=fields.store_all, args=(paths,))


def _limits() -> None:
    here: Path_ = ("limits",)
    given = [
        part
        for part in ("budget", "racks", "rack_power_w", "power_w", "rack_units", "servers")
        if state.get((*here, part))
    ]
    said = ", ".join(f"{LABELS[part].lower()} {state.get((*here, part))}" for part in given) or "nothing stated"
    folded = fields.fold("What must not be exceeded", said, "not-exceeded")
    if not folded.open:
        return
    with folded, st.form("limits", border=False):
        left, middle, right = st.columns(3, gap="large")
        with left:
            fields.whole("Racks", (*here, "racks"), "Racks of 42 units in the room.", 100_000, "no limit", in_form=True)
            fields.whole(
                "Rack units", (*here, "rack_units"), "In all racks together.", 100_000, "no limit", in_form=True
            )
        with middle:
            fields.quantity(
                "Power per rack",
                (*here, "rack_power_w"),
                "What feed and cooling allow in one rack.",
                "no limit",
                in_form=True,
            )
            fields.quantity("Power in all", (*here, "power_w"), "What the room allows.", "no limit", in_form=True)
        with right:
            fields.whole(
                "GPU servers",
                (*here, "servers"),
                "Without a limit 160 are looked at.",
                100_000,
                "no limit",
                in_form=True,
            )
            fields.number(
                "Budget",
                (*here, "budget"),
                "In the currency of the bill; counts only where prices are known.",
                1.0,
                1e12,
                "no limit",
                in_form=True,
            )
        paths = [(*here, part) for part in ("racks", "rack_units", "rack_power_w", "power_w", "servers", "budget")]
        st.form_submit_button("Apply these limits", on_click=fields.store_all, args=(paths,))


def _project() -> None:
    title = str(state.get(("title",)) or "Deep-learning cluster")
    customer = str(state.get(("customer",)) or "no customer named")
    folded = fields.fold("Printed on the documents", f"{title}, {customer}", "printed")
    if not folded.open:
        return
    with folded, st.form("project", border=False):
        left, right = st.columns(2, gap="large")
        with left:
            fields.text("Title", ("title",), "Heading of the documents.", 120, "Deep-learning cluster", in_form=True)
            fields.text("Customer", ("customer",), "May stay empty.", 120, in_form=True)
        with right:
            name = fields.key(("date",))
            if name not in st.session_state:
                st.session_state[name] = state.get(("date",))
            st.date_input(
                "Date of the quote",
                value=None,
                key=name,
                format="YYYY-MM-DD",
                help="Documents print it; nothing else reads it.",
            )
            fields.choice(
                "Currency",
                ("currency",),
                {code: code for code in _CURRENCIES},
                "USD",
                "Prices in another currency are not converted; they are to be quoted.",
                in_form=True,
            )
        st.form_submit_button(
            "Apply", on_click=fields.store_all, args=([("title",), ("customer",), ("date",), ("currency",)],)
        )
