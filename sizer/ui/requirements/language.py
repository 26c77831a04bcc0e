"""Language models on the page Requirements: what only they have, and what changes with the kind of network."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.present.words import plural
from sizer.sizing.stages.language_rates import measured_language_stacks
from sizer.ui import fields, state
from sizer.ui.request_form import language_model as form
from sizer.ui.request_form.field import RequestPath
from sizer.workload.resolve import usual_dataset
from sizer.workload.table import DEFAULT_DATASET
from sizer.workload.transformer.custom_transformer import is_shape
from sizer.workload.transformer.number_formats import NUMBER_FORMATS
from sizer.workload.transformer.usual_shape import usual_shape

OWN_NAME = "Own model"
_OWN_PARAMETERS = 13e9
_BY_HINT = "By its number of parameters alone a usual dense decoder is meant; a shape may also have experts."
DEFAULT_TOKENS = "1 trillion tokens"
# What only language models have, and what they do not have.
_OF_LANGUAGE = ("tokens", "sequence_tokens", "batch_sequences", "method", "document_tokens", "packing", "layout")
_OF_OTHERS = ("dataset", "dataset_bytes", "sample_bytes", "sample_format", "batch_per_gpu", "epochs", "recipe")
_RATE_TOKENS_PER_S = 1e5


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


def switch_kind(parts: Catalog, path: RequestPath) -> None:
    """After the network changed: entries that only the other kind of network has go, and the target gets its unit."""
    is_language = trains_language(parts, path)
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
        state.put((*path, "tokens"), DEFAULT_TOKENS)
    if is_language and state.get((*path, "task")) == "validation-inference":
        state.put((*path, "task"), None)
    if removed:
        state.refresh()


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
        fields.draw(form.MODEL_NAME, number)
        fields.selector("Given by", kinds, "size" if by_size else "shape", f"{fields.key(here)}/by", changed, _BY_HINT)
        for field in (form.PARAMETERS,) if by_size else (*form.SHAPE, *form.EXPERTS):
            fields.draw(field, number)


def layout_fields(number: int, path: RequestPath) -> None:
    """Fold with what is fixed of the parallel layout; all else is searched."""
    fixed: Any = state.get((*path, "layout"))
    stated = [key for key, value in fixed.items() if value is not None] if isinstance(fixed, Mapping) else []
    summary = f"{plural(len(stated), 'choice')} fixed, the others are searched" if stated else "searched"
    folded = fields.fold("Parallel layout", summary, "layout")
    if not folded.open:
        return
    with folded:
        fields.draw_columns((form.LAYOUT[:4], form.LAYOUT[4:7], form.LAYOUT[7:]), number)
        fields.reset_button("layout", (*path, "layout"))


def start_own_model(path: RequestPath, parts: Catalog) -> None:
    """Fill in a language model of one's own."""
    state.put((*path, "dnn"), {"name": OWN_NAME, "parameters": _OWN_PARAMETERS})
    switch_kind(parts, path)
    state.refresh()


def chosen_dnn(parts: Catalog, path: RequestPath) -> Dnn | None:
    """Network of the catalogue that a workload names."""
    chosen = state.get((*path, "dnn"))
    return parts.dnns[chosen] if isinstance(chosen, str) and chosen in parts.dnns else None


def dataset_of_runs(parts: Catalog, path: RequestPath) -> str:
    """Data set (id) that a workload reads where it names none."""
    dnn = chosen_dnn(parts, path)
    return DEFAULT_DATASET if dnn is None else usual_dataset(dnn)
