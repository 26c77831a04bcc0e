"""Names that the catalogue never saw, resolved to the nearest that it knows: stacks here, parts beside it."""

import hashlib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sizer.base.faults import shown
from sizer.base.provenance import Sourced
from sizer.calibrate.observations import Observation
from sizer.calibrate.part_names import resolve_dnn, resolve_gpu, resolve_intra_link, resolve_link, resolve_server
from sizer.calibrate.rules import STACK_READ_AS
from sizer.calibrate.stack_names import (
    FRAMEWORK_NAMES,
    LINES,
    Wording,
    has_xla,
    line_of,
    line_of_wordings,
    mlperf_date,
    plain,
    read_wording,
    source_date,
    version_date,
    year_of,
)
from sizer.catalog.model import Catalog
from sizer.catalog.schema import ObservedAs, Stack

__all__ = [
    "LINES",
    "StackGuess",
    "has_xla",
    "line_of",
    "match_stack",
    "resolve_dnn",
    "resolve_gpu",
    "resolve_intra_link",
    "resolve_link",
    "resolve_server",
    "resolve_stack",
    "year_of",
]

_NO_FRAMEWORK = frozenset(("", "n-a", "na", "nan", "none", "null", "unknown", "not-stated", "other", "various"))
_MAX_SLUG = 40


@dataclass(frozen=True)
class StackGuess:
    """Software that a row was run with, as far as its wording tells."""

    stack: Stack
    is_known: bool  # whether the stack is one of the catalogue
    line: str  # key of LINES: who builds and tunes it
    has_xla: bool
    year: float | None  # of its release, None where nothing tells [a]
    note: str  # what was taken and why; empty when known


def match_stack(catalog: Catalog, row: Observation) -> Stack | None:
    """Stack whose wording a row has word for word: of several, the one with the most stated."""
    best: Stack | None = None
    most = -1
    if row.source in STACK_READ_AS:
        best = catalog.stacks[STACK_READ_AS[row.source]]
    for stack in catalog.stacks.values():
        for seen in stack.observed_as:
            # An empty software matches rows that name none; else every row of that source would fall to it.
            if (seen.software or not row.software) and seen.matches(row.software, row.source, row.precision):
                stated = sum(bool(word) for word in (seen.software, seen.source, seen.precision))
                if stated > most:
                    best, most = stack, stated
    return best


def resolve_stack(catalog: Catalog, row: Observation) -> StackGuess | None:
    """Stack of a row: the exact wording, the same one spelled otherwise, or one made from what the wording says.

    Returns
    -------
    StackGuess or None
        None where neither the column nor the wording names a framework.
    """
    wording = read_wording(row.software)
    framework = _framework_of(row)
    stack = match_stack(catalog, row) or _spelled_alike(catalog, row, wording, framework)
    if stack is not None:
        return StackGuess(stack, True, line_of(stack), has_xla(stack), _year(stack), "")
    if not framework:
        return None
    released, why = _released(catalog, row, wording, framework)
    line = line_of_wordings((wording,), framework)
    subject = f"{shown(row.software)} is not in the catalogue" if row.software else "The row names no software"
    xla = ", with XLA" if wording.has_xla else ""
    note = f"{subject}: taken as {FRAMEWORK_NAMES.get(framework, framework)}, {LINES[line]}{xla}, {why}."
    stack = _unlisted(row, wording, framework, released, why)
    return StackGuess(stack, False, line, wording.has_xla, _year(stack), note)


def _year(stack: Stack) -> float | None:
    year = year_of(stack)
    return None if math.isnan(year) else year


def _framework_of(row: Observation) -> str:
    """Framework as the catalogue spells it; one that no table knows as written; empty where none is named."""
    for text in (row.framework, row.software):
        named = read_wording(text).frameworks
        if named:
            return named[0]
    name = _slug((row.framework,))
    return "" if name in _NO_FRAMEWORK else name


@dataclass(frozen=True)
class _Known:
    stack: Stack
    seen: ObservedAs
    wording: Wording


@lru_cache(maxsize=4)
def _known_wordings(catalog: Catalog) -> dict[str, tuple[_Known, ...]]:
    """Wordings of the catalogue by framework; a row without software is matched by its source alone."""
    known = [
        _Known(stack, seen, read_wording(seen.software))
        for stack in catalog.stacks.values()
        for seen in stack.observed_as
        if seen.software
    ]
    return {name: tuple(k for k in known if k.stack.framework == name) for name in {k.stack.framework for k in known}}


@lru_cache(maxsize=4)
def _titles(catalog: Catalog) -> dict[str, Stack]:
    """Stacks by name and by id: what the program itself prints."""
    stacks = catalog.stacks.values()
    return {plain(stack.name): stack for stack in stacks} | {stack.id: stack for stack in stacks}


def _spelled_alike(catalog: Catalog, row: Observation, wording: Wording, framework: str) -> Stack | None:
    """Stack with the same wording up to case, order, punctuation and words that change nothing."""
    titled = _titles(catalog).get(plain(row.software))
    fits = [known for known in _known_wordings(catalog).get(framework, ()) if _fits(known, row, wording)]
    if titled is not None or not fits:
        return titled

    def closeness(known: _Known) -> tuple[int, bool]:
        bound = bool(known.seen.source) + bool(known.seen.precision)
        return bound, known.wording.has_horovod == wording.has_horovod

    return max(fits, key=closeness).stack


def _fits(known: _Known, row: Observation, wording: Wording) -> bool:
    return (
        known.wording.core == wording.core
        # "tensorflow/mxnet" is neither.
        and all(name == known.stack.framework or name in known.wording.frameworks for name in wording.frameworks)
        and known.wording.has_xla == wording.has_xla
        and known.seen.source in ("", row.source)
        and known.seen.precision in ("", row.precision)
        # "TensorFlow" alone is a stack only of the source that means one by it.
        and bool(wording.core or known.seen.source)
        and _same_loader(known, _dali(row, wording))
    )


def _same_loader(known: _Known, dali: str) -> bool:
    if dali == "":
        return known.wording.dali in ("", "no")
    if dali == "no":
        return not known.stack.loader.startswith("dali")
    return known.stack.loader == dali


def _dali(row: Observation, wording: Wording) -> str:
    """``dali``, ``dali-cpu``, ``no``, or empty where neither the wording nor the column tells."""
    if row.loader == "dali-cpu" or not wording.dali:
        return {"dali": "dali", "dali-cpu": "dali-cpu", "framework": "no"}.get(row.loader, "")
    return wording.dali


def _unlisted(row: Observation, wording: Wording, framework: str, released: str, why: str) -> Stack:
    loaders: dict[str, Literal["dali", "dali-cpu"]] = {"dali": "dali", "dali-cpu": "dali-cpu"}
    loader = loaders.get(_dali(row, wording))
    stack = Stack(
        id="unlisted",
        name=plain(row.software)[:60] or f"{FRAMEWORK_NAMES.get(framework, framework)}, release not stated",
        vendor="NVIDIA" if "ngc" in wording.lines else "not stated",
        orderable=False,
        framework=framework,
        released=Sourced[str](value=released, basis="assumed", source="assumption", where="software column", note=why),
        precisions=("mixed", "fp32"),
        loader=loader or ("none" if framework == "tensorrt" else "framework"),
        task="both",
        observed_as=(ObservedAs(software=row.software, source=row.source),),
    )
    # One for every spelling of a wording; where it names no release, one for each source.
    words = [*sorted(wording.core), "xla" if wording.has_xla else "", loader or ""]
    words += [] if wording.tag or wording.date or wording.versions else ["of", row.source]
    # The colons, which no id of a file can have, keep it apart from the catalogue's.
    return stack.model_copy(update={"id": f"unlisted:{framework}:{_slug(words) or 'unnamed'}"})


def _slug(words: Iterable[str]) -> str:
    text = "-".join(word for word in words if word)
    slug = re.sub(r"[^a-z0-9.]+", "-", plain(text)).strip("-.")
    if len(slug) <= _MAX_SLUG and text.isascii():
        return slug
    # A cut, or letters that a slug cannot hold, would give two wordings one name.
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{slug[: _MAX_SLUG - 9]}-{digest}".strip("-.")


def _released(catalog: Catalog, row: Observation, wording: Wording, framework: str) -> tuple[str, str]:
    """Release as an ISO month or year, empty where nothing tells, and how it was found."""
    if wording.tag:
        date = f"20{wording.tag.replace('.', '-')}"
        return date, f"released {date} by its tag"
    if wording.date:
        return wording.date, f"dated {wording.date} by its wording"
    date = mlperf_date((row.software, row.source, row.id))
    if date:
        return date, f"dated {date} by its MLPerf round"
    version = next((number for name, number in wording.versions if name == framework), None)
    dated = version_date(catalog, framework, version) if version else None
    if dated:
        return dated[0], f"dated {dated[0]} {dated[1]}"
    date = source_date(catalog, row.source)
    return date, f"dated {date} by its source" if date else "release date unknown"
