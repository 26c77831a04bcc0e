"""Forms of a team and of the surroundings of the cluster."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sizer.base.quantities import number_kind
from sizer.catalog.model import Catalog
from sizer.present.words import plural
from sizer.ui import fields, look, state
from sizer.ui.request_form import forms
from sizer.ui.request_form import forms as form
from sizer.ui.request_form.forms import (
    EXISTING_RACK,
    EXISTING_SERVERS,
    STATED_STORAGE,
    Columns,
    FormField,
    RequestPath,
    Typed,
    existing_items,
    shared_storage,
)
from sizer.ui.session_catalog import catalog
from sizer.ui.state import View


@dataclass(frozen=True)
class OptionalTable:
    """One such table; its first values are assumptions, which a notice names."""

    key: str  # in the request
    title: str
    enter: str
    icon: str
    without: str  # what the design is without it
    start: Callable[[], dict[str, Any]]
    columns: Callable[[], Columns]
    more: Callable[[], None] | None = None  # draws what is no field of the columns

    @property
    def is_given(self) -> bool:
        """Whether the request has it."""
        return state.get((self.key,)) is not None

    def show(self) -> None:
        """Draw its fold."""
        look.folded(self.title, self.key, self._inside, fields.summary(self.columns()))

    def _inside(self) -> None:
        fields.draw_columns(self.columns())
        if self.more is not None:
            self.more()
        remove = f"Remove {self.title[0].lower()}{self.title[1:]}"
        name = f"remove-{self.key}"
        st.button(remove, key=name, on_click=self._remove, icon=":material/delete:", type="tertiary")

    def begin_button(self, key: str) -> None:
        """Button that enters first values."""
        st.button(self.enter, on_click=self.begin, key=key, icon=f":material/{self.icon}:", help=self.without)

    def begin(self) -> None:
        """Enter first values."""
        state.put((self.key,), self.start())
        st.session_state.folds = {**st.session_state.get("folds", {}), self.key: True}
        state.refresh(f"Assumed values, editable on the page Requirements: {fields.summary(self.columns())}.")

    def _remove(self) -> None:
        state.put((self.key,), None)
        state.refresh()


GROWTH_START: dict[str, Any] = {"years": 3, "data": 1.5, "target": 1.3}


def factor_fields() -> tuple[FormField, ...]:
    """Fields of the yearly factors; the team's only where there is a team."""
    has_team = state.get(("team",)) is not None
    return tuple(field for field in forms.GROWTH_FACTORS if has_team or field.keys != ("growth", "team"))


def _growth_columns() -> Columns:
    years, save = forms.GROWTH_PERIOD
    factors = factor_fields()
    return (years, *factors[:2]), (save, *factors[2:4]), factors[4:]


GROWTH = OptionalTable(
    key="growth",
    title="Growth",
    enter="Enter growth",
    icon="trending_up",
    without="Without growth the design is sized for the present need.",
    start=lambda: dict(GROWTH_START),
    columns=_growth_columns,
)
OWNERSHIP = OptionalTable(
    key="ownership",
    title="Cost of ownership",
    enter="Add the cost of ownership",
    icon="savings",
    without="Without it the documents show the purchase only. Electricity, support and space are yours to enter.",
    start=lambda: {"years": 3},  # rates are the user's alone
    columns=lambda: forms.OWNERSHIP,
)
RENTAL = OptionalTable(
    key="rental",
    title="Rental offer",
    enter="Enter an offer",
    icon="add_card",
    without="Without an offer buying is not compared with its price.",
    start=lambda: {"per_gpu_hour": 2.5, "years": 3, "utilization_fraction": 0.5},
    columns=lambda: forms.RENTAL,
)


def entries(path: RequestPath) -> list[Any]:
    """Entries of a list as typed."""
    found = state.get(path)
    return found if isinstance(found, list) else []


def box(form: Columns, path: RequestPath, number: int, name: str, removal: str) -> None:
    """One entry and the button that removes it; ``name`` is part of the keys."""
    with st.container(border=True, key=f"{name}-{number}"):
        fields.draw_columns(form, number)
        remove_button(removal, path, number, name)


def remove_button(label: str, path: RequestPath, number: int, name: str, *, disabled: bool = False) -> None:
    """Button that removes an entry."""

    def remove() -> None:
        state.put(path, [entry for index, entry in enumerate(entries(path)) if index != number])
        state.refresh()

    key = f"remove-{name}-{number}"
    st.button(label, key=key, on_click=remove, icon=":material/delete:", type="tertiary", disabled=disabled)


def add_button(label: str, path: RequestPath, new: Callable[[], dict[str, Any]], most: int, name: str) -> None:
    """Button that adds an entry with first values, up to the most that a request may have."""

    def add() -> None:
        state.put(path, [*entries(path), new()])
        state.refresh()

    is_full = len(entries(path)) >= most
    st.button(label, key=f"add-{name}", on_click=add, icon=":material/add:", type="tertiary", disabled=is_full)


def unused_name(path: RequestPath, noun: str) -> str:
    """A name that no entry has: Rack 2."""
    taken = {str(entry.get("name")) for entry in entries(path) if isinstance(entry, dict)}
    return next(name for n in range(1, len(taken) + 2) if (name := f"{noun} {n}") not in taken)


_KINDS = {
    "servers": "Existing servers",
    "storage_nodes": "Existing storage nodes",
    "switches": "Existing switches",
}
_RACKS: RequestPath = ("existing", "racks")
_STATED: RequestPath = ("stated_storage",)
_PIECES = Typed(number_kind(1, 100_000, is_whole=True))
_MAX_RACKS = 100  # of a request
_MAX_STATED = 20  # of a request


def existing(view: View) -> None:
    """Equipment that the customer has: the design uses it, the bill lists it without a price."""
    counts = {item: n for kind in _KINDS for item, n in _mapping(("existing", kind)).items()}
    racks = entries(_RACKS)
    names = {item: name for kind in _KINDS for item, name in existing_items(view.catalog, kind).items()}
    summary = [f"{n} × {names.get(item, item)}" for item, n in counts.items()]
    summary += [plural(len(racks), "rack")] if racks else []

    def draw() -> None:
        columns = st.columns(3, gap="large")
        for column, (kind, label) in zip(columns, _KINDS.items(), strict=True):
            with column:
                _item_counts(view.catalog, kind, label)
        fields.draw_columns(EXISTING_SERVERS)
        for number in range(len(racks)):
            box(EXISTING_RACK, _RACKS, number, "existing-rack", "Remove this rack")
        add_button("Add a rack with free space", _RACKS, _new_rack, _MAX_RACKS, "existing-rack")

    look.folded("Existing equipment", "existing", draw, ", ".join(summary) or "none")


def _mapping(path: RequestPath) -> dict[str, Any]:
    table = state.get(path)
    return dict(table) if isinstance(table, Mapping) else {}


def _item_counts(parts: Catalog, kind: str, label: str) -> None:
    """Which items exist, and how many of each."""
    here = ("existing", kind)
    present = _mapping(here)
    known = {**{item: item for item in present}, **existing_items(parts, kind)}
    key = f"{fields.key(here)}/which"
    if key not in st.session_state:
        st.session_state[key] = list(present)

    def changed() -> None:
        chosen = st.session_state[key]
        state.put(here, {item: present.get(item, 1) for item in chosen})

    st.multiselect(
        label,
        list(known),
        format_func=lambda item: known.get(item, item),
        key=key,
        placeholder="none",
        on_change=state.if_stored(key, fields.unless_replaced(changed)),
        help="The design may use them. They are listed on the bill but not priced. Default: none.",
    )
    for item in present:
        quantity = FormField((*here, item), f"Quantity: {known[item]}", "Pieces that the customer has.", _PIECES, "1")
        fields.draw(quantity, after=state.refresh)


def _new_rack() -> dict[str, Any]:
    return {"name": unused_name(_RACKS, "Rack"), "free_u": 20, "power_w": "5 kW"}


def stated_storage(view: View) -> None:
    """Values of storage systems that the customer or the vendor states."""
    stated = entries(_STATED)
    names = shared_storage()
    summary = ", ".join(names.get(str(entry.get("storage")), str(entry.get("storage"))) for entry in stated)

    def draw() -> None:
        st.caption(
            "A read rate or a capacity that no source publishes makes a design conditional. State it here as the "
            "customer or the vendor gives it; the documents list it as an assumption."
        )
        for number in range(len(stated)):
            box(STATED_STORAGE, _STATED, number, "stated-storage", "Remove these values")
        first = _first_unstated(view, stated)
        add_button(
            "State values of a storage system", _STATED, lambda: {"storage": first}, _MAX_STATED, "stated-storage"
        )

    look.folded("Stated storage values", "stated-storage", draw, summary or "none")


def _first_unstated(view: View, stated: Sequence[Mapping[str, Any]]) -> str:
    """Storage of the design where nothing is stated of it, else the first without stated values."""
    taken = {entry.get("storage") for entry in stated}
    names = list(shared_storage())
    own = [view.result.design.platform.storage.id] if view.sized is not None else []
    return next((item for item in (*own, *names) if item in names and item not in taken), names[0])


_TEAM: RequestPath = ("team",)
_JOBS: RequestPath = ("team", "job")
_MAX_JOBS = 20  # of a request
# First values of a request without a team; a notice names them as assumptions.
_PEOPLE = 10


def _draw_jobs() -> None:
    for number in range(len(entries(_JOBS))):
        path: RequestPath = (*_JOBS, number)
        with st.container(border=True, key=f"team-job-{number}"):
            columns = st.columns(4, gap="medium", vertical_alignment="top")
            for column, described in zip(columns, (form.JOB_WHO, form.JOB_SIZE), strict=False):
                with column:
                    for field in described:
                        fields.draw(field, number)
            with columns[2]:
                _frequency_fields(path, number)
            with columns[3]:
                _duration_fields(path, number)
                remove_button("Remove this job type", _JOBS, number, "job", disabled=len(entries(_JOBS)) < 2)
    add_button("Add a job type", _JOBS, _new_job, _MAX_JOBS, "job")


def start(draft: Mapping[str, Any]) -> dict[str, Any]:
    """A first team for a request that has none: trainings of its first workload, and notebooks."""
    works = [work for work in draft.get("workload", ()) if isinstance(work, Mapping)]
    training: dict[str, Any] = {"name": "training", "gpus": 4, "jobs_a_day_each": 0.5}
    names = [_name(work) for work in works]
    work = next((work for work in works if work.get("task", "training") == "training"), None)
    # One training of a language model is divided over the whole cluster: no job that several people start a day.
    dnn = None if work is None else catalog().dnns.get(str(work.get("dnn")))
    is_one_job = work is not None and (dnn.transformer is not None if dnn is not None else "tokens" in work)
    if work is not None and not is_one_job and names.count(_name(work)) == 1:
        training["workload"] = _name(work)
    if work is None or "workload" not in training or not _has_length(work):
        training["duration_s"] = form.DEFAULT_JOB_DURATION
    notebook = {"name": "notebook", "kind": "notebook", "gpus": 1, "jobs_a_day_each": 1.0, "duration_s": "3 h"}
    return {"data_scientists": _PEOPLE, "wait_s": "1 h", "job": [training, notebook]}


def _name(work: Mapping[str, Any]) -> str:
    return str(work.get("name", "workload"))


def _has_length(work: Mapping[str, Any]) -> bool:
    return any(work.get(key) is not None for key in ("epochs", "recipe", "tokens"))


def _frequency(path: RequestPath) -> str:
    return next((key for key in form.FREQUENCIES if state.get((*path, key)) is not None), "jobs_a_day")


def _frequency_fields(path: RequestPath, number: int) -> None:
    present = _frequency(path)
    fields.selector(
        "Frequency",
        form.FREQUENCIES,
        present,
        f"{fields.key(path)}/often",
        lambda chosen: _change_frequency(path, present, chosen),
        "Exactly one of the three. A job that always runs neither ends nor waits.",
    )
    fields.draw(form.FIELDS[f"team.job.{present}"], number)


def _change_frequency(path: RequestPath, before: str, now: str) -> None:
    """Give the frequency of a job in another way, and keep the request complete."""
    people = state.get((*_TEAM, "data_scientists"))
    state.put((*path, before), None)
    if now == "always_running":
        state.put((*path, now), 1)
        for part in ("duration_s", "duration_gpu", "wait_s", "durations"):
            state.put((*path, part), None)
    else:
        state.put((*path, now), 1.0)
        _complete_duration(path)
    if now == "jobs_a_day_each" and people is None:
        state.put((*_TEAM, "data_scientists"), _PEOPLE)
        st.session_state.notice = f"Assumed: {_PEOPLE} data scientists."
    state.refresh()


def _workload_has_length(path: RequestPath) -> bool:
    """Whether the workload of a job has a training length."""
    chosen = state.get((*path, "workload"))
    works = [work for work in state.draft().get("workload", ()) if isinstance(work, Mapping)]
    return any(_name(work) == chosen and _has_length(work) for work in works)


def _complete_duration(path: RequestPath) -> None:
    """Give a job that ends a duration: the default where its workload has no training length."""
    ends = state.get((*path, "always_running")) is None
    if ends and state.get((*path, "duration_s")) is None and not _workload_has_length(path):
        state.put((*path, "duration_s"), form.DEFAULT_JOB_DURATION)
        state.refresh()


def _duration_fields(path: RequestPath, number: int) -> None:
    """The workload of a job, and its duration and wait where it ends."""
    works = [work for work in state.draft().get("workload", ()) if isinstance(work, Mapping)]
    options = {"": "None: no read load", **{_name(work): _name(work) for work in works}}
    fields.draw(form.FIELDS["team.job.workload"], number, options=options, after=lambda: _complete_duration(path))
    if _frequency(path) == "always_running":
        return
    empty = "as the workload" if _workload_has_length(path) else form.DEFAULT_JOB_DURATION
    fields.draw(form.FIELDS["team.job.duration_s"], number, empty=empty)
    for field in form.JOB_LENGTHS:
        fields.draw(field, number)


def _new_job() -> dict[str, Any]:
    return {"name": unused_name(_JOBS, "Job"), "gpus": 1, "jobs_a_day": 1.0, "duration_s": form.DEFAULT_JOB_DURATION}


TEAM = OptionalTable(
    key="team",
    title="Team",
    enter="Enter a team",
    icon="group_add",
    without="Without a team queue waits are not calculated. Its first jobs are trainings and notebooks.",
    start=lambda: start(state.draft()),
    columns=lambda: form.TEAM,
    more=_draw_jobs,
)
