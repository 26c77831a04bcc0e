"""State of a session: the request as typed, and the last request that had a result.

Streamlit forgets the values of widgets that a page does not show. So the request is stored under plain keys of the
session; widgets are filled from it and write to it.
"""

import copy
import tomllib
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from sizer.base.errors import InfeasibleError, RequestError, SizerError, reported
from sizer.base.resources import data_dir
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.model import Catalog
from sizer.present.words import capital
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.project import requoted
from sizer.sizing.recommend import is_long
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.ui.app_server import turns
from sizer.ui.error_messages import RequestFault, quantity_faults, request_faults, sentences
from sizer.ui.request_form.forms import RequestPath
from sizer.ui.session_catalog import ENTERED, catalog
from sizer.ui.sharing import MAX_BOOK_NAME, read_upload, unpacked, without_empty_values
from sizer.ui.typed import plain
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest
from sizer.workload.table import with_one_customer

P = ParamSpec("P")
T = TypeVar("T")

FIRST_EXAMPLE = "workloads/fine-tune-overnight"
UPLOADED = "an uploaded file"
# Steps that can be undone.
MAX_STEPS = 50


@dataclass(frozen=True)
class SizingOutcome:
    """Result of sizing one request, or the sentence why there is none."""

    result: SizingResult | None
    infeasible: str = ""
    refused: str = ""
    is_unforeseen: bool = False  # ``refused`` tells of an error of the program


@dataclass(frozen=True)
class View:
    """What the pages show: the last result, and the errors of the request as typed."""

    catalog: Catalog
    sized: SizingResult | None  # as shown: in the customer view without discounts and notes. None: no result yet
    request_json: str  # of ``sized``
    faults: tuple[RequestFault, ...] = ()
    infeasible: str = ""
    is_customer_mode: bool = False
    has_question: bool = False  # the need in words has a question that is not answered yet

    @property
    def is_current(self) -> bool:
        """Whether the result belongs to the request as typed."""
        return not self.faults and not self.infeasible and not self.has_question

    @property
    def key(self) -> str:
        """Identifies the result as shown; values derived from it may be cached under this key."""
        return f"{self.is_customer_mode:d} {self.catalog.digest} {self.request_json}"

    @property
    def result(self) -> SizingResult:
        """The result as shown, for pages that need one."""
        assert self.sized is not None
        return self.sized

    @property
    def evaluated(self) -> EvaluatedDesign:
        """The design as shown, as every question takes it."""
        return EvaluatedDesign(self.result, self.catalog)

    def once(self, what: str, compute: Callable[[], T], *inputs: Hashable, doing: str = "") -> T:
        """A value derived from the result and some inputs, computed once for all sessions; ``doing`` while it is."""
        return once(self.key, what, compute, *inputs, doing=doing)


def once(key: str, what: str, compute: Callable[[], T], *inputs: Hashable, doing: str = "") -> T:
    """A value derived from what ``key`` names and some inputs, computed once for all sessions."""
    with st.spinner(doing) if doing else nullcontext():
        value: T = _computed((key, what, *inputs), compute)
    return value


@st.cache_resource(show_spinner=False, max_entries=1024)
def _computed(key: tuple[Hashable, ...], _compute: Callable[[], Any]) -> Any:  # noqa: ARG001  (names the value)
    return _compute()


@st.cache_resource(show_spinner="Sizing the cluster", max_entries=64)
def _outcome(request_json: str, digest: str, _parts: Catalog) -> SizingOutcome:  # noqa: ARG001  (the digest is part of the key)
    request = SizingRequest.model_validate_json(request_json)
    try:
        return SizingOutcome(
            turns.in_turn(size, request, _parts, stored_calibration(), is_long=is_long(request, _parts))
        )
    except InfeasibleError as error:
        return SizingOutcome(None, infeasible=str(error))
    except SizerError as error:
        return SizingOutcome(None, refused=str(error))


# What documents print and no design depends on, where the request has none.
_PRINTED: dict[str, Any] = {name: SizingRequest.model_fields[name].default for name in ("title", "customer", "quote")}


@st.cache_resource(show_spinner=False, max_entries=64)
def _printed(request_json: str, digest: str, _parts: Catalog) -> SizingOutcome:  # noqa: ARG001  (the digest is part of the key)
    request = SizingRequest.model_validate_json(request_json)
    sized = _outcome(request.model_copy(update=_PRINTED).model_dump_json(), _parts.digest, _parts)
    if sized.result is None:
        return sized
    try:
        result = sized.result if request.quote == Quote() else requoted(sized.result, request.quote, _parts)
    except RequestError as error:
        return SizingOutcome(None, refused=str(error))
    names = {"title": request.title, "customer": request.customer}
    return SizingOutcome(replace(result, request=result.request.model_copy(update=names)))


def outcome(request: SizingRequest, parts: Catalog) -> SizingOutcome:
    """Result of a request; the same request on the same catalogue is sized once, whatever its names and quote are."""
    answer = _outcome if request == request.model_copy(update=_PRINTED) else _printed
    try:
        return answer(request.model_dump_json(), parts.digest, parts)
    except Exception as error:  # the pages and their navigation stay, and the next request is sized
        return SizingOutcome(None, refused=f"{capital(reported(error))}.", is_unforeseen=True)


def whole(view: View) -> EvaluatedDesign:
    """The design as shown with discounts and notes, also in the customer view."""
    result = outcome(SizingRequest.model_validate_json(view.request_json), view.catalog).result
    assert result is not None  # it is the answer that the page shows
    return EvaluatedDesign(result, view.catalog)


def if_stored(key: str, changed: Callable[P, None]) -> Callable[P, None]:
    """``changed`` for the widget of that key, called only while the session holds a value of the widget.

    On a change of page, Streamlit drops the values of widgets that the browser did not list, and calls what they call
    when the browser names them again: for one that nobody touched, and even where the value is gone.
    """

    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        if key in st.session_state:
            changed(*args, **kwargs)

    return call


def stores(widget: str, *place: str) -> Callable[[], None]:
    """Callback of a widget that stores its value in the session, where a change of page does not lose it."""

    def store() -> None:
        *tables, last = place
        here: Any = st.session_state
        for name in tables:
            here = here[name]
        here[last] = st.session_state[widget]

    return if_stored(widget, store)


def shown(request_json: str, parts: Catalog) -> SizingResult | None:
    """Result of a request as the session shows it: in the customer view without discounts, costs and notes."""
    result = outcome(SizingRequest.model_validate_json(request_json), parts).result
    if result is None or not is_customer_mode():
        return result
    return once(f"{parts.digest} {request_json}", "customer copy", partial(customer_copy, result))


def is_customer_mode() -> bool:
    """Whether the customer view is on: costs and internal notes are hidden on all pages and in all files."""
    return bool(st.session_state.get("customer_mode", False))


@st.cache_resource(show_spinner=False)
def examples() -> dict[str, str]:
    """Title of each request to start from by its place: published architectures first, then common workloads,
    then questions."""
    folder = data_dir("examples")
    kinds = (("Published", ""), ("Workload", "workloads/"), ("Question", "questions/"))
    return {
        f"{place}{file.stem}": f"{kind}: {SizingRequest.from_file(file).title}"
        for kind, place in kinds
        for file in sorted((folder / place).glob("*.toml"))
    }


def load_first() -> None:
    """Fill a new session with the first example."""
    known = examples()
    load_example(FIRST_EXAMPLE if FIRST_EXAMPLE in known else next(iter(known)))


def note_step() -> None:
    """Store what changed since the last run as a step that can be undone."""
    steps = st.session_state.steps
    if steps[-1] != draft():
        steps.append(copy.deepcopy(draft()))
        del steps[:-MAX_STEPS]
        st.session_state.undone = []
        st.session_state.refused = st.session_state.told = ""


def load_example(name: str) -> None:
    """Load an example as the request."""
    take(dated(tomllib.loads((data_dir("examples") / f"{name}.toml").read_text(encoding="utf-8"))), name)


def dated(data: dict[str, Any]) -> dict[str, Any]:
    """A new request, with the date of today if it has none: the validity of prices depends on it."""
    return {"date": datetime.now(UTC).date(), **data}


def load_upload(name: str, content: bytes) -> None:
    """Load an uploaded request, or report its error and keep the present one."""
    st.session_state.refused = ""
    try:
        data = read_upload(name, content)
        answer = outcome(SizingRequest.from_dict(data, name), catalog())
        if answer.refused:
            raise RequestError(answer.refused)
    except RequestError as error:
        st.session_state.refused = f"**The file was not loaded.** {plain(f'{name}: {sentences(str(error), name)}')}"
        return
    take(data, UPLOADED)
    st.session_state.notice = f"{name} is loaded."


def load_link(text: str, price_book: str = "") -> None:
    """Load the request of a link, or report its error.

    ``price_book`` names the price book that its sender used; it is not part of the link.
    """
    try:
        data = unpacked(text)
        SizingRequest.from_dict(data, "The link")
    except RequestError as error:
        st.session_state.refused = f"**The link was not opened.** {plain(sentences(str(error), 'The link'))}"
        return
    take(data, "a shared link")
    if price_book == ENTERED:
        st.session_state.notice = (
            "The sender had entered prices in the app, which are not in the link. Upload a price book under Bill for "
            "the same prices."
        )
    elif price_book:
        name = price_book[:MAX_BOOK_NAME]
        st.session_state.notice = f"The sender used the price book {name}. Upload it under Bill for the same prices."


def take(data: dict[str, Any], origin: str) -> None:
    """Replace the request by another; changes are listed relative to it.

    ``data``: as a request file holds it. ``origin``: file name of an example, or words for its origin.
    """
    draft: Any = copy.deepcopy(with_one_customer(data))
    for key in ("date", "needed_by"):
        if isinstance(draft.get(key), str):
            draft[key] = date.fromisoformat(draft[key])
    st.session_state.draft = draft
    st.session_state.original = copy.deepcopy(draft)
    st.session_state.setdefault("steps", []).append(copy.deepcopy(draft))
    st.session_state.undone = []
    st.session_state.origin = origin
    st.session_state.answered = ""  # what another request was answered with is no answer to this one
    st.session_state.workload = 0
    st.session_state.refused = st.session_state.told = ""
    refresh()


def undo() -> None:
    """Undo the last change of the request."""
    steps = st.session_state.steps
    if len(steps) > 1:
        st.session_state.undone.append(steps.pop())
        _back_to(steps[-1])


def redo() -> None:
    """Redo the last undone change."""
    if st.session_state.undone:
        step = st.session_state.undone.pop()
        st.session_state.steps.append(step)
        _back_to(step)


def _back_to(step: dict[str, Any]) -> None:
    st.session_state.draft = copy.deepcopy(step)
    refresh()


def refresh(notice: str = "") -> None:
    """Give every widget a new identity, so that it shows the request as it is now; ``notice`` says what changed."""
    if notice:
        st.session_state.notice = notice
    st.session_state.generation += 1


def draft() -> dict[str, Any]:
    """The request as typed."""
    request: dict[str, Any] = st.session_state.draft
    return request


def shareable_request(view: View) -> dict[str, Any]:
    """The request as it may leave the session: without discounts, and in the customer view without notes."""
    if view.sized is None or not view.is_customer_mode:
        return without_discounts(draft())
    data: dict[str, Any] = without_empty_values(
        view.result.asked_request.model_dump(mode="json", exclude_defaults=True)
    )
    return data


def without_discounts(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request without the discounts of its quote; an override that only grants one is left out."""
    data = copy.deepcopy(dict(request))
    quote = data.get("quote")
    if not isinstance(quote, dict):
        return data
    quote.pop("discount_percent", None)
    for key in ("override", "line"):
        rows = [
            {name: value for name, value in row.items() if name != "discount_percent"} if isinstance(row, dict) else row
            for row in quote.get(key) or ()
        ]
        quote[key] = [row for row in rows if key == "line" or set(row) - {"item", "category", "note"}]
        if not quote[key]:
            del quote[key]
    if not quote:
        del data["quote"]
    return data


def get(path: RequestPath) -> Any:
    """Value of a field as typed, or None."""
    return value_at(draft(), path)


def value_at(data: Any, path: RequestPath) -> Any:
    """Value at a place of nested tables and lists, or None."""
    for part in path:
        if isinstance(data, Mapping):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def put(path: RequestPath, value: Any, request: dict[str, Any] | None = None) -> None:
    """Set a field of a request, else of the one as typed; None, an empty text and an empty list remove it.

    A table that is empty then goes, too.
    """
    if value is None or value in ("", [], ()):
        _remove(draft() if request is None else request, path)
        return
    here: Any = draft() if request is None else request
    for part in path[:-1]:
        here = here[part] if isinstance(part, int) else here.setdefault(part, {})
    here[path[-1]] = value


def _remove(table: Any, path: RequestPath) -> None:
    key, *rest = path
    below = value_at(table, (key,))
    if rest and below is not None:
        _remove(below, tuple(rest))
    if isinstance(table, dict) and key in table and (not rest or below in ({}, [])):
        del table[key]


def _note_design(request_json: str, name: str) -> None:
    """Note which design answers a request; another one for the same request comes from other prices, which is told."""
    before = st.session_state.get("design_name", name)
    if before != name and st.session_state.get("answered") == request_json:
        st.session_state.told = f"**The prices changed the design:** {plain(name)} instead of {plain(before)}."
    st.session_state.answered, st.session_state.design_name = request_json, name


def view(parts: Catalog, *, has_question: bool = False) -> View:
    """Result of the request as typed, or else the last result and the errors."""
    faults = quantity_faults(draft())
    infeasible = ""
    if not faults:
        try:
            request = SizingRequest.from_dict(draft())
        except RequestError as error:
            faults = request_faults(str(error))
        else:
            sized = outcome(request, parts)
            infeasible = sentences(sized.infeasible)
            if sized.is_unforeseen:
                faults = [RequestFault((), sized.refused)]
            elif sized.refused:
                faults = request_faults(sized.refused)
            elif sized.result is not None:
                _note_design(request.model_dump_json(), sized.result.design.name)
    answered = st.session_state.get("answered", "")
    result = shown(answered, parts) if answered and not infeasible else None  # none stands under what cannot be met
    return View(parts, result, answered, tuple(faults), infeasible, is_customer_mode(), has_question)
