"""Fields of language models in training and in service, and of their software."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from sizer.base.quantities import TOKENS, parse
from sizer.base.units import DAY_S
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.present.words import plural
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.language_rates import measured_language_stacks
from sizer.ui import fields, look, state
from sizer.ui.request_form import forms as form
from sizer.ui.request_form.forms import FormField, RequestPath, Typed, names_by_id
from sizer.ui.typed import written
from sizer.workload.language import USUAL_TOKENS
from sizer.workload.request import SERVING_TASKS
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
