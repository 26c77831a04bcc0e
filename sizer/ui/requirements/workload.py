"""The workload on the page Requirements: what runs, on which data, and the target."""

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import streamlit as st

from sizer.base.quantities import SAMPLES_PER_S, TOKENS, parse, si
from sizer.base.units import DAY_S
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dataset, Dnn
from sizer.present.words import plural, sample_unit
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.language_rates import measured_language_stacks
from sizer.ui import fields, look, state
from sizer.ui.request_form import forms as form
from sizer.ui.request_form.forms import FormField, RequestPath, Typed, capitalized_name, names_by_id
from sizer.ui.state import View
from sizer.ui.typed import plain, written
from sizer.workload.language import USUAL_TOKENS
from sizer.workload.request import SERVING_TASKS, SIZE_LIMITS
from sizer.workload.resolve import usual_dataset
from sizer.workload.serving import NOT_OF_SERVING, OF_SERVING, USES
from sizer.workload.table import DEFAULT_DATASET
from sizer.workload.transformer.custom_transformer import is_shape, usual_shape
from sizer.workload.transformer.number_formats import NUMBER_FORMATS, stack_precision


def stack_options(parts: Catalog, path: RequestPath) -> dict[str, str]:
    """Names by id: the default, those with published runs of the network, then the others."""
    dnn = state.get((*path, "dnn"))
    known = measured_stacks(parts, dnn) if isinstance(dnn, str) else frozenset()
    suitable = {stack: item for stack, item in parts.stacks.items() if stack_fits(parts, stack, path)}
    measured = names_by_id({stack: item for stack, item in suitable.items() if stack in known})
    others = names_by_id({stack: item for stack, item in suitable.items() if stack not in known})
    return {
        "": "Default: the newest well-measured stack",
        **measured,
        **{stack: f"{label} (not measured with this network)" for stack, label in others.items()},
    }


def stack_fits(parts: Catalog, stack: str, path: RequestPath) -> bool:
    """Whether a stack (id) runs the task of a workload in its precision."""
    item = parts.stacks[stack]
    task = "inference" if state.get((*path, "task")) == "validation-inference" else "training"
    if item.serves_language or item.trains_language is not trains_language(parts, path):
        return False
    return (
        item.task in (task, "both") and stack_precision(state.get((*path, "precision")) or "mixed") in item.precisions
    )


OWN_NAME = "Own model"
_OWN_PARAMETERS = 13e9
_BY_HINT = "By its number of parameters alone a usual dense decoder is meant; a shape may also have experts."
# What a language model may have, and what it does not share with other networks: the size of a data set goes with it.
_OF_LANGUAGE = (
    *("tokens", "sequence_tokens", "batch_sequences", "method"),
    *("document_tokens", "packing", "layout", "dataset_bytes"),
)
_OF_OTHERS = ("dataset", "dataset_bytes", "sample_bytes", "sample_format", "batch_per_gpu", "epochs", "recipe")
_RATE_TOKENS_PER_S = 1e5
_USUAL_TIME = "30 d"


def trains_language(parts: Catalog, path: RequestPath) -> bool:
    """Whether the network of a workload is a language model with a known shape, of the catalogue or one's own."""
    if is_shape(state.get((*path, "dnn"))):
        return True
    dnn = chosen_dnn(parts, path)
    return dnn is not None and dnn.transformer is not None


def measured_stacks(parts: Catalog, dnn: str) -> frozenset[str]:
    """Ids of the stacks with published runs of a network."""
    if dnn in parts.dnns and parts.dnns[dnn].transformer is not None:
        return measured_language_stacks(dnn, parts)
    return frozenset(stored_calibration().stacks_of(dnn))


def switch_kind(parts: Catalog, path: RequestPath, *, was_language: bool) -> None:
    """After the network changed: entries that only the other kind of network has go, and the target gets its unit."""
    is_language = trains_language(parts, path)
    if is_language is was_language:
        return
    wrong = _OF_OTHERS if is_language else _OF_LANGUAGE
    removed = [name for name in wrong if state.get((*path, name)) is not None]
    for name in removed:
        state.put((*path, name), None)
    if state.get((*path, "precision")) in (("fp32",) if is_language else NUMBER_FORMATS):
        state.put((*path, "precision"), None)
    target = (*path, "target")
    if is_language and state.get((*target, "samples_per_s")) is not None:
        state.put(target, {"tokens_per_s": _RATE_TOKENS_PER_S})
    elif not is_language and state.get((*target, "tokens_per_s")) is not None:
        state.put(target, {"samples_per_s": "1000 images/s"})
    if is_language and state.get((*target, "time_to_train_s")) is not None:
        _state_tokens(path)
    # A language model has no test set, and no other network is served.
    if state.get((*path, "task")) in (("validation-inference",) if is_language else SERVING_TASKS):
        state.put((*path, "task"), None)
    if removed:
        state.refresh()


def start_length(path: RequestPath, answers: Sequence[WorkloadAnswer]) -> str:
    """A time to train that the present design reaches with the tokens of a workload, which are stated if they are not.

    By the lower end of its rate; a month where the design trains no language model.
    """
    _state_tokens(path)
    number = path[-1]
    answer = answers[number] if isinstance(number, int) and number < len(answers) else None
    try:
        tokens = parse(TOKENS, state.get((*path, "tokens")))
    except ValueError:
        return _USUAL_TIME
    if answer is None or not answer.kind.trains_language:
        return _USUAL_TIME
    return f"{math.ceil(tokens / float(answer.throughput.low) / DAY_S)} d"


def _state_tokens(path: RequestPath) -> None:
    """State the usual tokens of what is trained where a workload states none."""
    if state.get((*path, "tokens")) is None:
        usual = USUAL_TOKENS.get(str(state.get((*path, "method"))), USUAL_TOKENS["full"])
        state.put((*path, "tokens"), written(TOKENS, usual))


def own_model_fields(number: int, path: RequestPath) -> None:
    """Fields of a language model of one's own: its size, or its shape."""
    here = (*path, "dnn")
    model: Any = state.get(here)
    by_size = "parameters" in model

    def changed(kind: str) -> None:
        known = usual_shape(float(model.get("parameters") or _OWN_PARAMETERS))
        shape = {key: known[key] for key in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocabulary")}
        size = {"parameters": _OWN_PARAMETERS}
        state.put(here, {"name": model.get("name", OWN_NAME), **(size if kind == "size" else shape)})
        state.refresh()

    kinds = {"size": "Number of parameters", "shape": "Layers, width and heads"}
    with st.container(border=True):
        fields.draw(form.FIELDS["workload.dnn.name"], number)
        fields.selector("Given by", kinds, "size" if by_size else "shape", f"{fields.key(here)}/by", changed, _BY_HINT)
        for field in (form.OWN_MODEL_PARAMETERS,) if by_size else form.OWN_MODEL_SHAPE:
            fields.draw(field, number)


def layout_fields(number: int, path: RequestPath) -> None:
    """Fold with what is fixed of the parallel layout; all else is searched."""
    fixed: Any = state.get((*path, "layout"))
    stated = [key for key, value in fixed.items() if value is not None] if isinstance(fixed, Mapping) else []
    summary = f"{plural(len(stated), 'choice')} fixed, the others are searched" if stated else "searched"

    look.folded("Parallel layout", "layout", partial(fields.draw_columns, form.LAYOUT, number), summary)


def start_own_model(path: RequestPath, parts: Catalog) -> None:
    """Fill in a language model of one's own."""
    was_language = trains_language(parts, path)
    state.put((*path, "dnn"), {"name": OWN_NAME, "parameters": _OWN_PARAMETERS})
    switch_kind(parts, path, was_language=was_language)
    state.refresh()


def chosen_dnn(parts: Catalog, path: RequestPath) -> Dnn | None:
    """Network of the catalogue that a workload names."""
    chosen = state.get((*path, "dnn"))
    return parts.dnns[chosen] if isinstance(chosen, str) and chosen in parts.dnns else None


def dataset_of_runs(parts: Catalog, path: RequestPath) -> str:
    """Data set (id) that a workload reads where it names none."""
    dnn = chosen_dnn(parts, path)
    return DEFAULT_DATASET if dnn is None else usual_dataset(dnn)


_START: dict[str, float] = {
    "requests_per_s": 10.0,
    "requests_per_day": 1e5,
    "concurrent_requests": 50,
    "active_users": 100,
    "users": 300,
}


def is_served(path: RequestPath) -> bool:
    """Whether a workload is a language model in use."""
    return state.get((*path, "task")) in SERVING_TASKS


def targets(path: RequestPath) -> dict[str, str]:
    """Targets of a language model in use; nobody waits for a generation."""
    people = ("concurrent_requests", "active_users", "users") if state.get((*path, "task")) == "serving" else ()
    kinds = ("requests_per_s", "requests_per_day", *people, "tokens_per_s", "gpus_busy", "maximum")
    return {kind: form.TARGETS[kind] for kind in kinds}


def start_value(kind: str) -> Any:
    """A first value of a target that only such work has."""
    return _START.get(kind)


def draw_fields(described: Iterable[FormField], path: RequestPath) -> None:
    """Fields of a language model in use; an empty one shows what its use stands for."""
    use = USES.get(state.get((*path, "use")) or "chat", USES["chat"])
    for field in described:
        value = getattr(use, str(field.keys[-1]), None)
        kind = field.widget.kind if isinstance(field.widget, Typed) else None
        usual = "" if value is None or kind is None else f"{written(kind, value)}, as the use"
        fields.draw(field, int(path[-1]), empty=usual)


def engines(parts: Catalog) -> dict[str, str]:
    """Software that serves, by id."""
    known = {key: item for key, item in parts.stacks.items() if item.serves_language}
    return {"": "Not named: a mixture of those in use", **names_by_id(known)}


def switch(path: RequestPath) -> bool:
    """After the task changed: entries of the other kind of work go; whether any did."""
    served = is_served(path)
    wrong = NOT_OF_SERVING if served else OF_SERVING
    removed = [name for name in wrong if state.get((*path, name)) is not None]
    for name in removed:
        state.put((*path, name), None)
    present = next((kind for kind in form.TARGETS if state.get((*path, "target", kind)) is not None), None)
    if served and present not in targets(path):
        state.put((*path, "target"), {"requests_per_s": _START["requests_per_s"]})
        return True
    if not served and present in _START:
        state.put((*path, "target"), {"gpus_busy": 8})
        return True
    return bool(removed)


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
    names = [_name_of(work, index) for index, work in enumerate(works)]
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
        if is_served(path):
            draw_fields(form.SERVING, path)
        elif trains_language(parts, path):
            for field in form.LANGUAGE:
                fields.draw(field, number)
        else:
            _dataset_fields(parts, number, path)
            fields.draw(form.FIELDS["workload.dataset_bytes"], number)
    with right:
        _target_fields(view, number, path)
        if state.get((*path, "task")) == "serving":
            draw_fields(form.SERVING_LIMITS, path)
    _expert_fields(parts, number, path)
    if trains_language(parts, path) and not is_served(path):
        layout_fields(number, path)


_PRECISIONS = {"fp32": "single precision"} | {name: name.upper() for name in NUMBER_FORMATS}
_MIXED = {False: "mixed precision", True: "BF16"}  # by whether a language model is trained


def _expert_fields(parts: Catalog, number: int, path: RequestPath) -> None:
    """Fields whose default fits most requests."""
    stack, batch = state.get((*path, "stack")), state.get((*path, "batch_per_gpu"))
    is_language, serves = trains_language(parts, path), is_served(path)
    precision = str(state.get((*path, "precision")))
    if serves:
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
            "engine": {"options": engines(parts)},
            "stack": {"options": stack_options(parts, path)},
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
                        field = form.SERVED_FORMAT if serves else form.NUMBER_FORMAT
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
    if stack in parts.stacks and not stack_fits(parts, stack, path):
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
    if switch(path):
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
    if is_served(path):
        kinds = targets(path)
    else:
        kinds = {kind: text for kind, text in kinds.items() if start_value(kind) is None}
    present = next((kind for kind in form.TARGETS if state.get((*path, "target", kind)) is not None), None)
    kind = present or st.session_state.get("target_kind", "samples_per_s")
    if kind not in kinds:
        kind = "requests_per_s" if is_served(path) else "tokens_per_s" if is_language else "samples_per_s"
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
    value: Any = start_value(kind)
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
