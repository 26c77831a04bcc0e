"""Faults of a catalogue file in words: key, value, what is allowed, and the unit where a number is out of range."""

from typing import Any

from pydantic import BaseModel, ValidationError

from sizer.catalog.model import nearest

_MAX_SHOWN = 60

# End of a field's name -> what the number means. The longest ending that fits is used.
_UNITS = {
    "_bytes": "bytes: 16 GB of memory is 17_179_869_184, 96 TB of drives is 96e12",
    "_bytes_per_s": "bytes per second, one direction: 100 Gbit/s is 12.5e9",
    "bytes_per_node": "bytes: 256 GB of memory is 274_877_906_944",
    "_flop_per_s": "FLOP per second: 125 TFLOPS is 125e12",
    "_flop": "FLOP, two for each multiply-accumulate: 4.1 G multiply-accumulates are 8.2e9",
    "_hz": "hertz: 2.4 GHz is 2.4e9",
    "_w": "watts: 3.5 kW is 3500",
    "_kg": "kilograms",
    "_m": "metres: 889 mm is 0.889",
    "_u": "rack units",
    "_s": "seconds: 90 ns is 90e-9",
}


def shown(value: object) -> str:
    """Value as a message shows it: short, quoted."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def in_words(model: type[BaseModel], error: ValidationError, place: str) -> list[str]:
    """One line for each fault of a file: ``place: key = value is outside low..high; unit``."""
    return [f"{place}: {_sentence(model, fault)}" for fault in error.errors(include_url=False)]


def _sentence(model: type[BaseModel], fault: Any) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    path: tuple[int | str, ...] = fault["loc"]
    key = _joined(path)
    if kind == "extra_forbidden":
        known = list(_fields(model, path[:-1]))
        return f"unknown key {key!r}{nearest(str(path[-1]), known)}; known are {', '.join(known)}"
    if kind == "missing":
        return f"key {key!r} is missing"
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than", "finite_number"):
        return f"{key} = {shown(value)} is outside {_range(model, path, context)}{_unit(path)}"
    if kind == "literal_error":
        return f"{key} = {shown(value)} is not one of {context['expected']}"
    if kind == "string_pattern_mismatch":
        return f"{key} = {shown(value)} does not match {context['pattern']}"
    return f"{key} = {shown(value)}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _joined(path: tuple[int | str, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _unit(path: tuple[int | str, ...]) -> str:
    name = next((str(part) for part in reversed(path) if isinstance(part, str) and part != "value"), "")
    endings = [ending for ending in _UNITS if name.endswith(ending)]
    return f"; {_UNITS[max(endings, key=len)]}" if endings else ""


def _range(model: type[BaseModel], path: tuple[int | str, ...], context: dict[str, Any]) -> str:
    """Allowed range of a field as low..high; from the error alone only one end would be known."""
    bounds = {"ge": "", "le": ""}
    field = _fields(model, path[:-1]).get(str(path[-1]))
    for rule in getattr(field, "metadata", ()):
        for name, end in (("ge", "ge"), ("gt", "ge"), ("le", "le"), ("lt", "le")):
            limit = getattr(rule, name, None)
            if limit is not None:
                bounds[end] = f"{limit:g}" if name == end else f"{limit:g} (excluded)"
    if not any(bounds.values()):
        return " ".join(f"{name} {limit}" for name, limit in context.items()) or "the finite numbers"
    return f"{bounds['ge']}..{bounds['le']}"


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> dict[str, Any]:
    """Fields of the table that a path leads to, by name."""
    current = model
    for part in path:
        field = None if isinstance(part, int) else current.model_fields.get(part)
        inner = [] if field is None else _models_in(field.annotation)
        if inner:
            current = inner[0]
    return dict(current.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]
