"""Page Compare: up to four designs of any requests side by side, and which input caused what differs."""

import re
from functools import partial

import streamlit as st

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.export.workbook.book import comparison_workbook
from sizer.present.tables import Table
from sizer.present.words import capital
from sizer.questions.alternatives.analysis import on_platform
from sizer.questions.compare.causes import diff
from sizer.questions.compare.designs import MOST, Compared, bill_table, figures_table, price_chart, request_table
from sizer.questions.compare.text import effects_table, no_answer, summary
from sizer.sizing.result import DesignAnswer
from sizer.ui import fields, look, state
from sizer.ui.designs.saving import draw_tables, fields_table
from sizer.ui.error_messages import name_of, sentences
from sizer.ui.request_form.forms import label_of
from sizer.ui.sharing import without_empty_values
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

# A plain key of the session, so that pins survive page switches: [{"name": ..., "request_json": ...}, ...]
PINS = "pins"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def pins() -> list[dict[str, str]]:
    """Pinned designs in the order in which they were pinned."""
    pinned: list[dict[str, str]] = st.session_state.setdefault(PINS, [])
    return pinned


def is_pinned(request_json: str) -> bool:
    """Whether a design is among the pinned ones."""
    return any(pin["request_json"] == request_json for pin in pins())


def pin(name: str, request_json: str) -> None:
    """Pin a design, or show why not."""
    if is_pinned(request_json):
        st.session_state.notice = "This design is already pinned."
    elif len(pins()) >= MOST:
        st.session_state.notice = f"Already {MOST} designs are pinned; unpin one first."
    else:
        pins().append({"name": _unique(name), "request_json": request_json})
        st.session_state.notice = f"Pinned: {name}. The page Compare shows it next to the others."


def _unique(name: str) -> str:
    """The name, with a number where another pinned design has it."""
    taken = {one["name"] for one in pins()}
    number, unique = 2, name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique


def unpin(request_json: str) -> None:
    """Unpin a design."""
    st.session_state[PINS] = [one for one in pins() if one["request_json"] != request_json]


def pin_name(design: DesignAnswer) -> str:
    """The name of a design; of servers that are sold with several GPUs with theirs, which tell such designs apart."""
    platform = design.platform
    gpus = f" ({platform.gpus_per_server} × {platform.gpu.name} each)" if len(platform.server.gpus) > 1 else ""
    return f"{design.name}{gpus}"


def pin_button(name: str, request_json: str, key: str) -> None:
    """Button that pins a design, or unpins it."""
    if is_pinned(request_json):
        st.button("Unpin", key=key, icon=":material/keep_off:", on_click=unpin, args=(request_json,))
    else:
        st.button("Pin", key=key, icon=":material/keep:", on_click=pin, args=(name, request_json))


def use_button(request_json: str, origin: str, key: str, label: str = "Use this design") -> None:
    """Button that makes a design the one shown on all pages."""
    st.button(label, key=key, icon=":material/swap_horiz:", on_click=_use, args=(request_json, origin))


def _use(request_json: str, origin: str) -> None:
    """Make the request of a design the present one."""
    request = SizingRequest.model_validate_json(request_json)
    state.take(without_empty_values(request.model_dump(mode="json", exclude_defaults=True)), origin)
    st.session_state.notice = "The request now gives this design. Undo restores the previous request."


def show(view: View) -> None:
    """Draw the page."""
    st.header("Compare", anchor=False)
    if not is_pinned(view.request_json):
        pin_button(pin_name(view.result.design), view.request_json, "pin-present")
    known = [found for one in pins() if (found := _compared(one, view)) is not None]
    if not is_pinned(view.request_json) and len(known) < MOST:
        known.insert(0, Compared("Present design", view.result))
    if len(known) > 1:
        _side_by_side(known, view)
    else:
        look.note(
            f"Pin up to {MOST} designs, also of different requests, here or on the page Architecture, to compare them."
        )
        here = view.result.design.platform.key
        other = next((platform for platform in view.result.platforms if platform.platform.key != here), None)
        if other is not None and not view.is_customer_mode:
            request = on_platform(SizingRequest.model_validate_json(view.request_json), other.platform)
            args = (pin_name(other), request.model_dump_json())
            st.button(f"Compare with {plain(other.name)}", key="pin-next", on_click=pin, args=args)
    _manage(pins(), view)
    if not view.is_customer_mode and (others := _others(view)):

        def causes() -> None:
            chosen = fields.stored_choice("Compare the present request with", list(others), "causes-baseline")
            draw(others[chosen], view.result.request, ("Before", "Now"), view.catalog)

        look.folded("Effect of each changed input", "compare-causes", causes)


def _side_by_side(known: list[Compared], view: View) -> None:
    """Figures, parts and requests of at least two designs, and the same as a workbook."""
    names = [design.name for design in known]
    baseline = names.index(fields.stored_choice("Baseline of the comparison", names, "baseline"))
    sources, has_price = view.catalog.sources, not view.is_customer_mode
    figures = figures_table(known, baseline, has_price=has_price)
    look.table(figures, sources)
    if has_price:
        look.chart(look.spec_of(price_chart(known, baseline, look.palette(), "container")))
    tables: list[tuple[str, Table]] = [("Figures", figures)]
    asked = request_table(known, baseline, label_of, name_of)
    for name, table in (("Parts", bill_table(known, baseline)), ("Requests", asked)):
        if table is not None:
            tables.append((name, table))
            look.folded(f"{name} that differ", f"compare-{name.lower()}", partial(look.table, table, sources))
    request = view.result.request
    st.download_button(
        "Comparison, workbook",
        lambda: comparison_workbook(tables, request),
        "comparison.xlsx",
        _XLSX,
        key="download-comparison",
        on_click="ignore",
        icon=":material/download:",
    )


def _compared(one: dict[str, str], view: View) -> Compared | None:
    """A pinned design with its result; None, and a warning, where the present catalogue gives none."""
    try:
        SizingRequest.from_text(one["request_json"], "json", one["name"])
    except RequestError as error:
        fault = sentences(str(error), one["name"])
    else:
        result = state.shown(one["request_json"], view.catalog)
        if result is not None:
            return Compared(one["name"], result)
        outcome = state.outcome(SizingRequest.model_validate_json(one["request_json"]), view.catalog)
        fault = sentences(outcome.refused or outcome.infeasible)
    st.warning(
        f"{plain(one['name'])} has no result with the present catalogue: {plain(fault)}", icon=":material/warning:"
    )
    return None


def _manage(listed: list[dict[str, str]], view: View) -> None:
    for number, one in enumerate(listed):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            shown = " (present design)" if one["request_json"] == view.request_json else ""
            st.markdown(f"{plain(one['name'])}{shown}", width=420)
            if not shown:
                use_button(one["request_json"], "a pinned design", f"take-pin-{number}")
            st.button(
                "Unpin", key=f"unpin-{number}", icon=":material/keep_off:", on_click=unpin, args=(one["request_json"],)
            )


# --- causes


def draw(before: SizingRequest, now: SizingRequest, names: tuple[str, str], catalog: Catalog) -> None:
    """Sentences and tables of the effect of each changed input.

    ``names``: names of the two in table heads.
    """
    try:
        found = state.once(
            catalog.digest,
            "causes",
            lambda: diff(before, now, catalog),
            *(before.model_dump_json(), now.model_dump_json()),
            doing="Sizing the request with each change",
        )
    except RequestError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    texts = [summary(found), *no_answer(found, *names)]
    st.markdown("\n\n".join(plain(text) for text in texts))
    effects = effects_table(found, names[0], now.currency, input_label)
    draw_tables((effects, fields_table(found.changes, *names)), catalog)


def input_label(key: str) -> str:
    """Name of an input; of several workloads with its number."""
    if key.startswith("workload '"):
        return capital(key)
    number = re.search(r"\[(\d+)\]", key)
    return f"{label_of(key)} ({int(number[1]) + 1})" if number else label_of(key)


def _others(view: View) -> dict[str, SizingRequest]:
    """Requests that the present one can be compared with, by name."""
    named = [("Request as opened", st.session_state.original), *((one["name"], one["request_json"]) for one in pins())]
    others: dict[str, SizingRequest] = {}
    for name, data in named:
        try:
            request = SizingRequest.from_text(data, "json") if isinstance(data, str) else SizingRequest.from_dict(data)
        except RequestError:  # the session started from a request with an error
            continue
        if request != view.result.request and _tasks(request) == _tasks(view.result.request):
            others[name] = request
    return others


def _tasks(request: SizingRequest) -> tuple[str, ...]:
    """What is done with each workload: inputs of one kind of work mean nothing to another."""
    return tuple(work.task for work in request.workload)
