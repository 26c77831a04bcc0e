"""The software stack that the free wording of a row means: one of the catalogue, or a description of another one."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sizer.base.faults import shown
from sizer.calibrate.free_wording.vocabulary import note, vocabulary
from sizer.calibrate.free_wording.wording import (
    Version,
    Wording,
    dotted,
    plain,
    read_wording,
    software_line,
)
from sizer.calibrate.ids import UNDATED, release_years
from sizer.calibrate.observations import Observation
from sizer.catalog.model import Catalog
from sizer.catalog.networks import ObservedAs
from sizer.catalog.schema import Stack

_NO_FRAMEWORK = frozenset(("", "n-a", "na", "nan", "none", "null", "unknown", "not-stated", "other", "various"))
_MAX_FRAMEWORK_CHARACTERS = 40

# Without a separator only 05 to 07 and v10 are rounds: mlperf-10 may be somebody's tenth row.
_MLPERF = re.compile(r"mlperf([^0-9]{0,24})([0-9](?=[._-])|0|(?<=v)[0-9])[._-]?([0-9])(?![0-9])")
_OTHER_MLPERF = ("storage", "inference", "hpc", "tiny", "mobile")


def suggest_stack(catalog: Catalog, row: Observation) -> tuple[str, str] | None:
    """Content of the column ``stack``, and what was taken and why; the latter is empty where the catalogue has it.

    A stack with the same wording, or with the same one spelled otherwise, counts; else the wording is described as
    framework:line:release. None where neither the column nor the wording names a framework.
    """
    wording = read_wording(row.software)
    framework = _framework_of(row)
    stack = _worded_alike(catalog, row) or _spelled_alike(catalog, row, wording, framework)
    if stack is not None:
        return stack.id, ""
    if not framework:
        return None
    released, why = _released(catalog, row, wording, framework)
    line = software_line(wording, framework)
    subject = note("not-in-catalogue", shown(row.software)) if row.software else note("no-software")
    xla = note("xla") if wording.has_xla else ""
    named = vocabulary()
    assumed = note("taken-as", subject, named.framework_name(framework), named.line_names[line], xla, why)
    return f"{framework}:{line}:{released or UNDATED}{':xla' if wording.has_xla else ''}", assumed


def _worded_alike(catalog: Catalog, row: Observation) -> Stack | None:
    """Stack whose wording a row has word for word: of several, the one with the most stated."""
    best: Stack | None = None
    most = -1
    for stack in catalog.stacks.values():
        for seen in stack.observed_as:
            # An empty software matches rows that name none; else every row of that source would fall to it.
            if (seen.software or not row.software) and seen.matches(row.software, row.source, row.precision):
                stated = sum(bool(word) for word in (seen.software, seen.source, seen.precision))
                if stated > most:
                    best, most = stack, stated
    return best


def _framework_of(row: Observation) -> str:
    """Framework as the catalogue spells it; one that no table knows as written; empty where none is named."""
    for text in (row.framework, row.software):
        named = read_wording(text).frameworks
        if named:
            return named[0]
    name = re.sub(r"[^a-z0-9.]+", "-", plain(row.framework)).strip("-.")[:_MAX_FRAMEWORK_CHARACTERS]
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
        return bound, ("horovod" in known.wording.lines) == ("horovod" in wording.lines)

    return max(fits, key=closeness).stack


def _fits(known: _Known, row: Observation, wording: Wording) -> bool:
    return (
        known.wording.core == wording.core
        # "tensorflow/mxnet" is neither.
        and all(name == known.stack.framework or name in known.wording.frameworks for name in wording.frameworks)
        and known.stack.xla == wording.has_xla
        and known.seen.source in ("", row.source)
        and known.seen.precision in ("", row.precision)
        # "TensorFlow" alone is a stack only of the source that means one by it, and "tf.data" is a library.
        and bool(wording.core or (known.seen.source and not wording.names_library_only))
        and _same_loader(known, row, wording)
    )


def _same_loader(known: _Known, row: Observation, wording: Wording) -> bool:
    dali = wording.dali
    if row.loader == "dali-cpu" or not dali:
        dali = {"dali": "dali", "dali-cpu": "dali-cpu", "framework": "no"}.get(row.loader, "")
    if dali == "":
        return known.wording.dali in ("", "no")
    if dali == "no":
        return not known.stack.loader.startswith("dali")
    return known.stack.loader == dali


def _released(catalog: Catalog, row: Observation, wording: Wording, framework: str) -> tuple[str, str]:
    """Release as an ISO month or year, empty where nothing tells, and how it was found."""
    if wording.tag:
        date = f"20{wording.tag.replace('.', '-')}"
        return date, note("by-tag", date)
    if wording.date:
        return wording.date, note("by-wording", wording.date)
    date = _mlperf_date((row.software, row.source, row.id))
    if date:
        return date, note("by-round", date)
    version = next((number for name, number in wording.versions if name == framework), None)
    dated = _version_date(catalog, framework, version) if version else None
    if dated:
        return dated[0], note("by-version", *dated)
    date = _source_date(catalog, row.source)
    return date, note("by-source", date) if date else note("undated")


def _mlperf_date(texts: Iterable[str]) -> str:
    """Month of the first round of MLPerf Training that the texts name, empty without one."""
    for text in texts:
        for match in _MLPERF.finditer(plain(text)):
            date = vocabulary().mlperf_training.get(f"{match[2]}.{match[3]}")
            if date and not any(word in match[1] for word in _OTHER_MLPERF):
                return date
    return ""


def _source_date(catalog: Catalog, source: str) -> str:
    """Middle of the time that a source covers, as an ISO month or year; empty where it is open-ended or unknown."""
    date = catalog.sources[source].date if source in catalog.sources else ""
    years = release_years(date)
    if not years or "onward" in date or "later" in date:
        return ""
    if len(years) == 1:
        month = re.search(r"20[0-9]{2}(?:-(?:0[1-9]|1[0-2])(?![0-9]))?", date)
        return month[0] if month else ""
    return _iso_month((min(years) + max(years)) / 2)


def _version_date(catalog: Catalog, framework: str, version: Version) -> tuple[str, str] | None:
    """Month of a release by the catalogue's releases of the same framework, and how; None without any.

    Between two releases of its major version the date is interpolated; elsewhere it is that of the nearest one.
    """
    known = _version_dates(catalog, framework)
    below = max((v for v in known if v <= version), default=None)
    above = min((v for v in known if v >= version), default=None)
    name = vocabulary().framework_name(framework)
    at, low, high = (_place(v or version) for v in (version, below, above))
    if below and above and low < high and below[0] == above[0] == version[0]:
        first, last = (release_years(known[v])[0] for v in (below, above))
        month = _iso_month(first + (at - low) / (high - low) * (last - first))
        return month, f"between {name} {dotted(below)} and {dotted(above)}"
    near = [v for v in (below, above) if v]
    near = [v for v in near if v[0] == version[0]] or near
    if not near:
        return None
    return known[near[0]], f"as {'' if near[0] == version else 'the nearest, '}{name} {dotted(near[0])}"


@lru_cache(maxsize=64)
def _version_dates(catalog: Catalog, framework: str) -> dict[Version, str]:
    """Earliest month or year of every version of a framework that the catalogue dates."""
    found: dict[Version, str] = {}
    for stack in catalog.stacks.values():
        said = (stack.id, stack.name, *(seen.software for seen in stack.observed_as))
        for wording in map(read_wording, said) if stack.framework == framework else ():
            # An adapted release is dated by its entry, not by the release that it was made from.
            for name, version in () if "custom" in wording.core else wording.versions:
                dates = [date for date in (stack.released.value[:7], found.get(version, "")) if release_years(date)]
                if name == framework and dates:
                    found[version] = min(dates, key=lambda date: release_years(date)[0])
    return found


def _iso_month(year: float) -> str:
    return f"{int(year)}-{int((year % 1) * 12) + 1:02d}"


def _place(version: Version) -> float:
    """Minor version with the patch as decimals: what the releases of one major version are spaced by."""
    minor, patch = (*version[1:3], 0, 0)[:2]
    return minor + min(patch, 99) / 100
