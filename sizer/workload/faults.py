"""Validation faults in words: place, key, value, what is allowed, nearest known name."""

import difflib
from typing import Any

from pydantic import BaseModel, ValidationError

_MAX_SHOWN = 60


def shown(value: object) -> str:
    """Value as an error message shows it: short, quoted."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def nearest(name: str, known: list[str]) -> str:
    """', did you mean X?' when a known name is near, else ''."""
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
    return f", did you mean {close[0]!r}?" if close else ""


def plain_faults(model: type[BaseModel], error: ValidationError, place: str) -> list[str]:
    """One sentence for each fault of a pydantic error."""
    faults: dict[str, None] = {}
    for fault in error.errors(include_url=False):
        path = [part for part in fault["loc"] if not _is_branch(part)]
        key = ".".join(str(part) for part in path)
        faults[f"{place}: {_sentence(model, fault, key, path)}"] = None
    return list(faults)


def _is_branch(part: int | str) -> bool:
    # Pydantic names the branches of a union inside the path ("constrained-str", "CustomDnn").
    return isinstance(part, str) and (part == "constrained-str" or part[:1].isupper() or "[" in part)


def _sentence(model: type[BaseModel], fault: Any, key: str, path: list[int | str]) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        known = _known_keys(model, path[:-1])
        return f"unknown key {key!r}{nearest(str(path[-1]), known)} Known: {', '.join(known)}"
    if kind == "missing":
        return f"key {key!r} is missing"
    if kind == "value_error":
        reason = str(context.get("error", fault["msg"]))
        return f"{key}: {reason}" if key else reason
    if kind == "literal_error":
        allowed = context["expected"]
        options = [option.strip(" '") for option in allowed.replace(" or ", ", ").split(",")]
        hint = ""
        if value in ("inference", "production-inference", "production inference"):
            hint = "; production inference is out of scope of this tool, validation inference is in"
        return f"{key} = {shown(value)} is not one of {allowed}{nearest(str(value), options)}{hint}"
    if kind == "string_pattern_mismatch":
        return f"{key} = {shown(value)} is not a catalogue name (lower-case letters, digits, '.', '+', '-')"
    return f"{key} = {shown(value)}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _known_keys(model: type[BaseModel], path: list[int | str]) -> list[str]:
    """Keys of the table that a path leads to."""
    current: Any = model
    for part in path:
        if isinstance(part, int):
            continue
        field = current.model_fields.get(part)
        inner = _models_in(field.annotation) if field is not None else []
        if not inner:
            return []
        current = inner[0]
    return list(current.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]
