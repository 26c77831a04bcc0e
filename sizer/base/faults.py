"""Faults of a file or request in words: place, key, value, what is allowed, nearest known name, unit."""

import difflib
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sizer.base.errors import MAX_FAULTS, RequestError, others

# Units of fields, patterns, successors of keys that went, and types, in words.
_WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SUCCESSORS = _WORDS["successors"]
_MAX_SHOWN = 60
_KNOWN = "; known are "
# Of a sentence of another library about a value.
_MAX_REASON = 300
# A larger bound is written with an exponent.
_READABLE = 1e6


# The letters around a number of a name: ("dgx", "1", ""), ("mi", "250", "x"), and of "80gb" the unit.
_MODEL_NUMBER = re.compile(r"([a-z]*)-?(\d+)([a-z]*)")
_UNIT = {"g": "gb", "gib": "gb"}  # of a memory size, as it is often written
_LEAST_ALIKE = 0.6  # "dxg" and "dgx" share two of three letters in order


def shown(value: object) -> str:
    """Value as a message shows it: short, quoted."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` when a known name is near, what took the place of an earlier name, else an empty text.

    A model number is no typing error of another one: H20 is not H200, GH200 is not GB200, L40 is not L40S. So every
    number of the name with letters beside it must stand in the known one, between the same letters; only a word of
    three letters or more before it may be misspelt.

    Examples
    --------
    >>> nearest("Isilon F800", ["isilon-f810", "isilon-f800"]), nearest("gh200", ["gb200-186gb"])
    ("; did you mean 'isilon-f800'?", '')
    """
    if successor := SUCCESSORS.get(name.rpartition(".")[2]):
        return f"; it is now {successor}"
    if len(name) > _MAX_SHOWN:  # near to none, and would take long to compare
        return ""
    by_plain_name = {plain: one for one in known if _may_mean(_plain(name), plain := _plain(one))}
    close = difflib.get_close_matches(_plain(name), by_plain_name, n=1, cutoff=0.5)
    return f"; did you mean {by_plain_name[close[0]]!r}?" if close else ""


def _may_mean(name: str, known: str) -> bool:
    """Whether a known name has every model number of another name."""

    def are_alike(word: str, own: str) -> bool:
        is_word = min(len(word), len(own)) > 2
        return word == own or (is_word and difflib.SequenceMatcher(None, word, own).ratio() >= _LEAST_ALIKE)

    return all(
        any(
            (digits, _UNIT.get(after, after)) == (own, own_after) and are_alike(before, own_before)
            for own_before, own, own_after in _MODEL_NUMBER.findall(known)
        )
        for before, digits, after in _MODEL_NUMBER.findall(name)
        if before or after
    )


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-")


def in_words(
    model: type[BaseModel], error: ValidationError, place: str | Callable[[tuple[int | str, ...]], str]
) -> list[str]:
    """One line for each fault: ``place: key = value must be between low and high; unit``.

    ``place`` may be a function that tells where in a file the value with a path of keys stands. After the first
    ``MAX_FAULTS`` faults a last line counts the others.
    """
    faults = error.errors(include_url=False)
    paths = [_path(fault) for fault in faults]
    parents = {path[:depth] for path in paths for depth in range(len(path))}
    times = Counter(paths)
    lines: dict[str, None] = {}
    listed: set[str] = set()
    for number, (fault, path) in enumerate(zip(faults, paths, strict=True)):
        if len(lines) == MAX_FAULTS:
            lines[others(len(faults) - number)] = None
            break
        if not _follows_from_another(fault, path in parents, times[path] > 1):
            here = place if isinstance(place, str) else place(path)
            text, _, known = _sentence(model, fault, path).partition(_KNOWN)
            # The keys of a table are listed once.
            lines[f"{here}: {text}{f'{_KNOWN}{known}' if known and known not in listed else ''}"] = None
            listed.add(known)
    return list(lines)


def _path(fault: Any) -> tuple[int | str, ...]:
    # Pydantic names the branch of a union inside the path ("ItemId", "CustomDnn"): no key of the file.
    # An unknown key may look like one, and is the last part.
    loc = fault["loc"]
    n_keys = len(loc) - (fault["type"] == "extra_forbidden")
    return tuple(part for i, part in enumerate(loc) if i >= n_keys or not (isinstance(part, str) and _is_branch(part)))


def _is_branch(part: str) -> bool:
    return part == "constrained-str" or part[:1].isupper() or "[" in part


def _follows_from_another(fault: Any, has_deeper: bool, has_twin: bool) -> bool:
    """Whether a fault only repeats a deeper one: a list emptied by its faulty entries, the other branch of a union."""
    if fault["type"] == "too_short":
        return has_deeper
    if fault["type"] == "string_type":
        return has_deeper and isinstance(fault["input"], dict)
    # A text where a name or a table is allowed: the fault of the name is reported as well.
    return fault["type"] == "model_type" and isinstance(fault["input"], str) and has_twin


def _sentence(model: type[BaseModel], fault: Any, path: tuple[int | str, ...]) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    key = _joined(path)
    if kind == "extra_forbidden":
        known = list(_fields(model, path[:-1], fault["loc"]))
        return f"unknown key {shown(key)}{nearest(str(path[-1]), known)}{_KNOWN}{', '.join(known)}"
    if kind == "missing":
        return f"key {key!r} is missing"
    if kind == "value_error":
        reason = str(context.get("error", fault["msg"]))
        return f"{key}: {reason}" if key else reason
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than", "finite_number"):
        # A quantity as typed, such as '5 TB', has no size to compare.
        size = math.inf if kind.startswith("less") and isinstance(value, str) else value
        # Allowed range of a field; from the error alone only one end would be known.
        field = _fields(model, path[:-1], fault["loc"]).get(str(path[-1]))
        low, high = bounds_of(field) if field is not None else (context.get("ge"), context.get("le"))
        limits = limits_text(low, high, size)
        return f"{key} = {shown(value)} {limits}{_unit(path)}"
    if kind == "literal_error":
        allowed = str(context["expected"])
        options = [option.strip(" '") for option in allowed.replace(" or ", ", ").split(",")]
        return f"{key} = {shown(value)} is not one of {allowed}{nearest(str(value), options)}"
    if kind in ("int_type", "int_from_float", "int_parsing"):
        return f"{key} = {shown(value)} is not a whole number"
    if kind.startswith("date_"):
        return f"{key} = {shown(value)} is not a date; write 2026-11-21"
    if kind == "too_short":
        return f"{key} is empty; give at least {context['min_length']} entry"
    if kind == "string_pattern_mismatch":
        pattern = context["pattern"]
        return f"{key} = {shown(value)} {_WORDS['patterns'].get(pattern, f'does not match {pattern}')}"
    if kind in _WORDS["types"]:
        return f"{key} = {shown(value)} {_WORDS['types'][kind]}"
    if kind == "too_long":
        return (
            f"{key} has {context['actual_length'] or 'too many'} entries; at most {context['max_length']} are allowed"
        )
    if kind == "string_too_long":
        return f"{key} = {shown(value)} has {len(value)} characters; at most {context['max_length']} are allowed"
    return f"{key} = {shown(value)}: {fault['msg'][:1].lower()}{fault['msg'][1:_MAX_REASON]}"


def _joined(path: tuple[int | str, ...]) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        # Keys are typed by users, too.
        name = part if part.isprintable() and len(part) <= _MAX_SHOWN else shown(part)
        text += f".{name}" if text else name
    return text


def _unit(path: tuple[int | str, ...]) -> str:
    name = next((str(part) for part in reversed(path) if isinstance(part, str) and part != "value"), "")
    endings = [ending for ending in _WORDS["units"] if name.endswith(ending)]
    return f"; {_WORDS['units'][max(endings, key=len)]}" if endings else ""


def limits_text(low: float | None, high: float | None, value: object = None) -> str:
    """What is allowed: "must be between 1 and 365", "must be at least 1e9", "must be at most 1000000".

    ``low``, ``high``: bounds; None: there is none. ``value``: what was given. Where the bounds are orders of
    magnitude apart, only the one that it breaks is named.

    Examples
    --------
    >>> limits_text(1, 365), limits_text(1e-6, 1e12, 0), limits_text(1e9, 1e14, 16), limits_text(0, None)
    ('must be between 1 and 365', 'must be at least 1e-6', 'must be at least 1e9', 'must be at least 0')
    """
    if value != value:
        return "must be a number"
    least = "" if low is None else f"must be at least {_number(low)}"
    most = "" if high is None else f"must be at most {_number(high)}"
    if low is None or high is None:
        return least or most or "must be a finite number"
    if high <= 1e6:
        return f"must be between {_number(low)} and {_number(high)}"
    return most if isinstance(value, int | float) and value > high else least


def _number(limit: float) -> str:
    text = f"{limit:.15g}" if abs(limit) <= _READABLE else f"{limit:g}"
    return re.sub(r"e\+?(-?)0*", r"e\1", text)


def field_at(model: type[BaseModel], path: tuple[int | str, ...]) -> Any:
    """Field of a table, given by the keys that lead to it (numbers of list entries may be left out); None: no field."""
    return _fields(model, path[:-1]).get(str(path[-1]))


def bounds_of(field: Any) -> tuple[float | None, float | None]:
    """Lowest and highest value that a field of a table takes; None where it has no such bound."""
    low, high = None, None
    for rule in _rules(field):
        low = getattr(rule, "ge", low)
        high = getattr(rule, "le", high)
    return low, high


def _rules(field: Any) -> list[Any]:
    """Bounds of a field, also where they stand inside ``... | None``."""
    rules = list(getattr(field, "metadata", ()))
    inner = [getattr(field, "annotation", None)]
    while inner:
        annotation = inner.pop()
        for rule in getattr(annotation, "__metadata__", ()):
            rules += getattr(rule, "metadata", [rule])
        inner += list(getattr(annotation, "__args__", ()))
    return rules


def _fields(
    model: type[BaseModel], path: tuple[int | str, ...], branches: tuple[int | str, ...] = ()
) -> dict[str, Any]:
    """Fields of the table that a path leads to, by the key that a file gives them.

    Of a union those of the branch; without one those of all its tables, of two with the same key the first.
    """
    current = _by_key(model)
    for part in path:
        field = None if isinstance(part, int) else current.get(part)
        inner = [] if field is None else _models_in(field.annotation)
        if inner:
            chosen = [one for one in inner if one.__name__ in branches][:1] or inner
            current = {key: found for one in reversed(chosen) for key, found in _by_key(one).items()}
    return current


def _by_key(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]


# The largest request that the tables allow has some 13,000 values, 1,000 of them lines and overrides of a quote.
MAX_VALUES = 20_000
MAX_ENTRIES = 2_000  # of one table or list
MAX_DEPTH = 20


def check_size(data: object, place: str) -> None:
    """Refuse data with more, longer or deeper tables and lists than any file that a person writes.

    ``data``: tables, lists and values, as a TOML or JSON parser returns them. ``place``: name of the file in the error.
    Raises RequestError naming the first bound that is exceeded. The work is bounded by ``MAX_VALUES``, not by the size
    of the data.
    """
    level, n_values = [data], 0
    for _ in range(MAX_DEPTH + 1):
        inner: list[object] = []
        for table in level:
            if not isinstance(table, Mapping | list | tuple):
                continue
            if len(table) > MAX_ENTRIES:
                kind = "table has" if isinstance(table, Mapping) else "list has"
                raise RequestError(f"{place}: a {kind} {len(table)} entries; at most {MAX_ENTRIES} are allowed")
            n_values += len(table)
            if n_values > MAX_VALUES:
                raise RequestError(f"{place}: has more than {MAX_VALUES} values; remove some")
            inner += table.values() if isinstance(table, Mapping) else table
        if not inner:
            return
        level = inner
    raise RequestError(f"{place}: tables are nested more than {MAX_DEPTH} deep; remove some levels")
