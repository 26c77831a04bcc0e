"""Language models on the page Requirements: what only they have, and what changes with the kind of network."""

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.ui import state
from sizer.ui.request_form.field import RequestPath

DEFAULT_TOKENS = "1 trillion tokens"
# What only language models have, and what they do not have.
_OF_LANGUAGE = ("tokens", "sequence_tokens", "batch_sequences", "method", "document_tokens", "packing", "layout")
_OF_OTHERS = ("dataset", "dataset_bytes", "sample_bytes", "sample_format", "batch_per_gpu", "epochs", "recipe")
_RATE_TOKENS_PER_S = 1e5


def trains_language(parts: Catalog, path: RequestPath) -> bool:
    """Whether the network of a workload is a language model with a known shape."""
    dnn = chosen_dnn(parts, path)
    return dnn is not None and dnn.transformer is not None


def switch_kind(parts: Catalog, path: RequestPath) -> None:
    """After the network changed: entries that only the other kind of network has go, and the target gets its unit."""
    is_language = trains_language(parts, path)
    wrong = _OF_OTHERS if is_language else _OF_LANGUAGE
    removed = [name for name in wrong if state.get((*path, name)) is not None]
    for name in removed:
        state.put((*path, name), None)
    if state.get((*path, "precision")) in (("fp32",) if is_language else ("fp8", "fp4")):
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


def chosen_dnn(parts: Catalog, path: RequestPath) -> Dnn | None:
    """Network of the catalogue that a workload names."""
    chosen = state.get((*path, "dnn"))
    return parts.dnns[chosen] if isinstance(chosen, str) and chosen in parts.dnns else None
