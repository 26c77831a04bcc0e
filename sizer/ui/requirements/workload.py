"""The workload on the page Requirements: what runs, on which data, and the target."""

import copy
from collections.abc import Mapping
from itertools import count
from typing import Any

import streamlit as st

from sizer.base.quantities import SAMPLES_PER_S, si
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dataset
from sizer.present.words import plural, sample_unit
from sizer.ui import fields, look, state
from sizer.ui.request_form import forms as form
from sizer.ui.request_form.forms import FormField, RequestPath, capitalized_name, names_by_id
from sizer.ui.requirements import language
from sizer.ui.requirements.language import (
    chosen_dnn,
    dataset_of_runs,
    layout_fields,
    own_model_fields,
    start_length,
    start_own_model,
    switch_kind,
    trains_language,
)
from sizer.ui.state import View
from sizer.ui.typed import plain, written
from sizer.workload.request import SIZE_LIMITS
from sizer.workload.table import DEFAULT_DATASET
from sizer.workload.transformer.custom_transformer import is_shape
from sizer.workload.transformer.number_formats import NUMBER_FORMATS

CUSTOM, CUSTOM_MODEL = "own numbers", "own language model"
MAX_WORKLOADS = 20  # of a request
_DEFAULT_EPOCHS = 90


def selected_workload() -> int:
    """Number of the workload that the fields show; with several there is a selector, and one can always be added."""
    works = state.draft().get("workload", [])
    key = f"which/{st.session_state.generation}"
    if key not in st.session_state:
        st.session_state[key] = max(0, min(st.session_state.workload, len(works) - 1))
    chosen: int | None = 0
    with st.container(horizontal=True, vertical_alignment="bottom", key="workloads"):
        st.header("Workload", anchor=False, width="content")
        if len(works) > 1:
            chosen = st.segmented_control(
                f"{plural(len(works), 'workload')} on this cluster; edit",
                range(len(works)),
                required=True,
                format_func=lambda number: plain(_name_of(works[number], number)),
                key=key,
            )
            st.button(
                "Remove this workload",
                on_click=_remove,
                args=(chosen or 0,),
                type="tertiary",
                icon=":material/delete:",
            )
        st.button(
            "Add a workload",
            on_click=_add,
            args=(chosen or 0,),
            type="tertiary",
            icon=":material/add:",
            disabled=len(works) >= MAX_WORKLOADS,
            help="Adds a copy of this workload. The design must meet the target of each workload when it runs alone.",
        )
    st.session_state.workload = chosen or 0
    return chosen or 0


def _name_of(work: Any, number: int) -> str:
    name = work.get("name") if isinstance(work, Mapping) else None
    return str(name or f"Workload {number + 1}")


def _remove(number: int) -> None:
    del state.draft()["workload"][number]
    state.refresh()


def _add(number: int) -> None:
    works = state.draft().setdefault("workload", [])
    names = [_name_of(work, place) for place, work in enumerate(works)]
    new = copy.deepcopy(works[number]) if works else {"dnn": "resnet50", "target": {"samples_per_s": "1000 images/s"}}
    new["name"] = next(name for n in count(2) if (name := f"Workload {n}") not in names)
    works.append(new)
    st.session_state.workload = len(works) - 1
    state.refresh()


def draw(view: View, number: int) -> None:
    """Draw the fields of one workload: what everybody states in three columns, the others in a fold."""
    parts, path = view.catalog, ("workload", number)
    left, middle, right = st.columns(3, gap="large")
    with left:
        fields.draw(form.FIELDS["workload.name"], number)
        fields.draw(form.FIELDS["workload.task"], number, after=lambda: _after_task(view, path))
        _dnn_fields(parts, number, path)
        fields.draw(form.FIELDS["confidence"])
    with middle:
        if language.is_served(path):
            language.draw_fields(form.SERVING, path)
        elif trains_language(parts, path):
            for field in form.LANGUAGE:
                fields.draw(field, number)
        else:
            _dataset_fields(parts, number, path)
            fields.draw(form.FIELDS["workload.dataset_bytes"], number)
    with right:
        _target_fields(view, number, path)
        if state.get((*path, "task")) == "serving":
            language.draw_fields(form.SERVING_LIMITS, path)
    _expert_fields(parts, number, path)
    if trains_language(parts, path) and not language.is_served(path):
        layout_fields(number, path)


_PRECISIONS = {"fp32": "single precision"} | {name: name.upper() for name in NUMBER_FORMATS}
_MIXED = {False: "mixed precision", True: "BF16"}  # by whether a language model is trained


def _expert_fields(parts: Catalog, number: int, path: RequestPath) -> None:
    """Fields whose default fits most requests."""
    stack, batch = state.get((*path, "stack")), state.get((*path, "batch_per_gpu"))
    is_language, is_served = trains_language(parts, path), language.is_served(path)
    precision = str(state.get((*path, "precision")))
    if is_served:
        engine = state.get((*path, "engine"))
        named = parts.stacks[engine].name if engine in parts.stacks else "a mixture of serving engines"
        summary = [named, _PRECISIONS.get(precision, "usual number format")]
        columns = (
            "engine cache_precision adapters latency_percentile precision",
            "daily_profile input_tokens_p50 input_tokens_p95 output_tokens_p50 output_tokens_p95 night_hours",
        )
    else:
        summary = [
            parts.stacks[stack].name if stack in parts.stacks else "default software stack",
            _PRECISIONS.get(precision, _MIXED[is_language]),
            *([] if is_language else [f"batch {batch}" if batch else "default batch"]),
            capitalized_name(state.get((*path, "access")) or "random").lower(),
            capitalized_name(state.get((*path, "cache")) or "page-cache").lower(),
        ]
        columns = "stack precision batch_per_gpu", "sample_bytes sample_format access cache"
        if is_language:
            columns = "stack precision", "document_tokens packing dataset_bytes access cache"

    def draw() -> None:
        dataset = _dataset(parts, path)
        size = "" if dataset is None else f"{si(dataset.sample_bytes.value, 'B')}, from the data set"
        more: dict[str, dict[str, Any]] = {
            "engine": {"options": language.engines(parts)},
            "stack": {"options": language.stack_options(parts, path)},
            "precision": {"after": lambda: _remove_unsuitable(parts, path)},
            "dataset_bytes": {"empty": "4 bytes a token"},
            "sample_bytes": {"empty": size},
        }
        *drawn, last = st.columns(3, gap="large")
        for column, names in zip(drawn, columns, strict=True):
            with column:
                for name in names.split():
                    field = form.FIELDS[f"workload.{name}"]
                    if is_language and name == "precision":
                        field = form.SERVED_FORMAT if is_served else form.NUMBER_FORMAT
                    fields.draw(field, number, **more.get(name, {}))
                if not names:
                    look.note("A model in use reads its weights when it starts, and no data set.")
        with last:
            fields.draw(form.FIELDS["rank_by"])

    look.folded("Expert settings", "expert", draw, ", ".join(summary))


# --- neural network and data set


def _dataset(parts: Catalog, path: RequestPath) -> Dataset | None:
    chosen = state.get((*path, "dataset")) or dataset_of_runs(parts, path)
    return parts.datasets[chosen] if isinstance(chosen, str) and chosen in parts.datasets else None


def _dnn_fields(parts: Catalog, number: int, path: RequestPath) -> None:
    here = (*path, "dnn")

    def changed(chosen: str) -> None:
        before, was_language = chosen_dnn(parts, path), trains_language(parts, path)
        # A batch that fits the memory with one network may not fit with the next.
        batch = state.get((*path, "batch_per_gpu"))
        if batch is not None:
            state.put((*path, "batch_per_gpu"), None)
            st.session_state.notice = f"The batch of {batch} was set for another network; the default applies."
        if chosen == CUSTOM_MODEL:
            start_own_model(path, parts)
        else:
            like = before or next(iter(parts.dnns.values()))
            custom = {
                "name": "Own network",
                "forward_flop": like.forward_flop.value,
                "parameters": like.parameters.value,
                "input_bytes": like.input_bytes.value,
                "like": like.id,
            }
            state.put(here, custom if chosen == CUSTOM else chosen)
            switch_kind(parts, path, was_language=was_language)
        if chosen == CUSTOM:
            state.refresh()
        else:
            _remove_unsuitable(parts, path)

    hint = "A network with published operations and parameters, or your own with its numbers or its shape."
    named = {**names_by_id(parts.dnns), CUSTOM_MODEL: "Own language model …"}
    is_own_model = is_shape(state.get(here))
    _listed_or_custom(
        "Neural network", here, named, "resnet50", changed, hint, CUSTOM_MODEL if is_own_model else CUSTOM
    )
    if is_own_model:
        own_model_fields(number, path)
    elif isinstance(state.get(here), Mapping):
        _custom_fields(form.CUSTOM_DNN, number)


def _dataset_fields(parts: Catalog, number: int, path: RequestPath) -> None:
    here = (*path, "dataset")

    def changed(chosen: str) -> None:
        like = _dataset(parts, path) or parts.datasets[DEFAULT_DATASET]
        custom = {
            "name": "Own data set",
            "n_samples": like.n_samples.value,
            "sample_bytes": like.sample_bytes.value,
            "format": like.format,
        }
        state.put(here, custom if chosen == CUSTOM else chosen)
        if chosen == CUSTOM:
            state.refresh()

    hint = "A published data set, or your own with its numbers."
    _listed_or_custom("Data set", here, names_by_id(parts.datasets), dataset_of_runs(parts, path), changed, hint)
    if isinstance(state.get(here), Mapping):
        _custom_fields(form.CUSTOM_DATASET, number)


def _listed_or_custom(
    label: str,
    path: RequestPath,
    names: Mapping[str, str],
    default: str,
    changed: fields.OnSelect,
    hint: str,
    custom: str = CUSTOM,
) -> None:
    """Selector of a catalogue item or of own numbers; ``custom`` is the choice that own numbers are."""
    value = state.get(path)
    selected = custom if isinstance(value, Mapping) else str(value or default)
    fields.selector(label, {**names, CUSTOM: "Own numbers …"}, selected, f"{fields.key(path)}/which", changed, hint)


def _custom_fields(described: tuple[FormField, ...], number: int) -> None:
    with st.container(border=True):
        for field in described:
            fields.draw(field, number)


def _remove_unsuitable(parts: Catalog, path: RequestPath) -> None:
    """After task, network or precision changed: remove a stack or recipe that does not fit, with a notice."""
    notices = []
    stack = state.get((*path, "stack"))
    if stack in parts.stacks and not language.stack_fits(parts, stack, path):
        state.put((*path, "stack"), None)
        notices.append(
            f"{parts.stacks[stack].name} has no measurements for this choice; the default software stack applies."
        )
    recipe = state.get((*path, "recipe"))
    if recipe in parts.recipes and parts.recipes[recipe].dnn != state.get((*path, "dnn")):
        state.put((*path, "recipe"), None)
        if state.get((*path, "target", "time_to_train_s")) is not None:
            state.put((*path, "epochs"), _DEFAULT_EPOCHS)
        notices.append("The recipe belongs to another network; a fixed number of epochs replaces it.")
    if notices:
        earlier = st.session_state.get("notice")
        state.refresh(" ".join([earlier, *notices] if earlier else notices))


def _after_task(view: View, path: RequestPath) -> None:
    if language.switch(path):
        state.refresh()
    if state.get((*path, "task")) == "validation-inference":
        for part in ("epochs", "recipe"):
            state.put((*path, part), None)
        if state.get((*path, "target", "time_to_train_s")) is not None:
            _start_target(view, path, "samples_per_s")
        state.refresh()
    _remove_unsuitable(view.catalog, path)


# --- target


def _target_fields(view: View, number: int, path: RequestPath) -> None:
    is_training = state.get((*path, "task")) in (None, "training")
    is_language = trains_language(view.catalog, path)
    other_rate = "samples_per_s" if is_language else "tokens_per_s"
    kinds = {
        kind: text
        for kind, text in form.TARGETS.items()
        if kind != other_rate and (is_training or kind != "time_to_train_s")
    }
    if language.is_served(path):
        kinds = language.targets(path)
    else:
        kinds = {kind: text for kind, text in kinds.items() if language.start_value(kind) is None}
    present = next((kind for kind in form.TARGETS if state.get((*path, "target", kind)) is not None), None)
    kind = present or st.session_state.get("target_kind", "samples_per_s")
    if kind not in kinds:
        kind = "requests_per_s" if language.is_served(path) else "tokens_per_s" if is_language else "samples_per_s"
    fields.selector(
        "Target",
        kinds,
        kind,
        f"{fields.key(path)}/target",
        lambda chosen: _start_target(view, path, chosen),
        "Exactly one of them.",
    )
    dnn = chosen_dnn(view.catalog, path)
    unit = sample_unit(dnn) if dnn is not None else "samples/s"
    if kind == "maximum":
        look.note(form.FIELDS[f"workload.target.{kind}"].help)
    else:
        fields.draw(
            form.FIELDS[f"workload.target.{kind}"], number, empty=f"10000 {unit}" if kind == "samples_per_s" else ""
        )
    if is_training and not is_language:
        _training_length_fields(view.catalog, number, path)


def _start_target(view: View, path: RequestPath, kind: str) -> None:
    """Another kind of target, filled with what the present design reaches so that the request stays complete."""
    st.session_state.target_kind = kind
    number = path[-1]
    answers = view.result.design.workloads if view.sized is not None else ()
    design = view.result.design if view.sized is not None else None
    value: Any = language.start_value(kind)
    if kind in ("tokens_per_s", "samples_per_s"):
        usual = 1e5 if kind == "tokens_per_s" else 1000.0
        rate = float(answers[number].throughput.value) if isinstance(number, int) and number < len(answers) else usual
        value = float(f"{rate:.3g}")
        if kind == "samples_per_s":
            value = written(SAMPLES_PER_S, value).replace("samples", "images")
    elif kind == "gpus_busy":
        value = design.n_gpus if design is not None else 8
    elif kind == "maximum":
        value = "rate"
        _bound_size(design.n_servers if design is not None else 8)
    elif value is None:
        value = "24 h"
        if trains_language(view.catalog, path):
            value = start_length(path, answers)
        elif state.get((*path, "epochs")) is None and state.get((*path, "recipe")) is None:
            state.put((*path, "epochs"), _DEFAULT_EPOCHS)
    state.put((*path, "target"), {kind: value})
    state.refresh()


def _bound_size(n_servers: int) -> None:
    """A limit of the size where the request has none, so that the most within it is an answer."""
    if any(state.get(("limits", key)) is not None for key in SIZE_LIMITS):
        return
    state.put(("limits", "servers"), n_servers)
    st.session_state.notice = f"Limit added: {plural(n_servers, 'server')}. Change it, or set a budget, under Limits."


def _training_length_fields(parts: Catalog, number: int, path: RequestPath) -> None:
    """Epochs or recipe; one of the two, or neither where the target is not a time."""
    dnn = state.get((*path, "dnn"))
    like = dnn.get("like") if isinstance(dnn, Mapping) else dnn
    recipes = names_by_id({key: item for key, item in parts.recipes.items() if item.dnn == like})
    is_required = state.get((*path, "target", "time_to_train_s")) is not None
    selected = state.get((*path, "recipe")) or ("epochs" if state.get((*path, "epochs")) is not None else "")
    options = {**({} if is_required else {"": "Not given"}), "epochs": "A fixed number of epochs", **recipes}
    if selected not in options:
        selected = "epochs" if selected else ""
        options.setdefault(selected, "Not given")

    def changed(chosen: str) -> None:
        state.put((*path, "recipe"), chosen if chosen in recipes else None)
        state.put((*path, "epochs"), _DEFAULT_EPOCHS if chosen == "epochs" else None)
        state.refresh()

    hint = "A recipe sets the number of epochs to its accuracy as the global batch grows."
    fields.selector("Training length", options, selected, f"{fields.key(path)}/length", changed, hint)
    if state.get((*path, "epochs")) is not None:
        fields.draw(form.FIELDS["workload.epochs"], number)
