"""Ids of observation rows of files without id columns, and the names in rows that mean nothing known."""

import csv
import io
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sizer.base.errors import CalibrationError
from sizer.base.faults import nearest, shown
from sizer.base.formats.csv_records import csv_records
from sizer.base.resources import data_dir
from sizer.calibrate.cases import INTRA_LINKS
from sizer.calibrate.ids import UNDATED, release_years
from sizer.calibrate.observations import (
    COLUMNS,
    ID_COLUMNS,
    LOADERS,
    PRECISIONS,
    QUANTITIES,
    TASKS,
    Observation,
    observation_texts,
    read_rows,
)
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Stack

# Year and month of an NVIDIA container.
_CONTAINER = re.compile(r"(?<![0-9.])(1[7-9]|2[0-9])\.(0[1-9]|1[0-2])(?![0-9])")
_MONTH = re.compile(r"20[0-9]{2}(?:-(?:0[1-9]|1[0-2])(?![0-9]))?")


@dataclass(frozen=True)
class UnknownName:
    """A name in a column of a file that means nothing known."""

    place: str  # file and line
    column: str
    name: str
    suggestion: str  # what may be meant, as a clause; empty where nothing is near


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    """Content of the shipped file of words."""
    return tomllib.loads((data_dir("catalog") / "benchmarks" / "wordings.toml").read_text(encoding="utf-8"))


def with_ids(rows: Iterable[Observation], catalog: Catalog) -> tuple[Observation, ...]:
    """The rows, those of files without id columns with the ids that their columns name.

    A name that means nothing known stays as it is; the prediction then says what is not known. ``assumed`` tells
    what a name left open and how it was taken.
    """
    return tuple(row if row.has_ids else _identified(row, catalog) for row in rows)


def unknown_names(rows: Iterable[Observation], catalog: Catalog) -> tuple[UnknownName, ...]:
    """Each name of the rows that is none of those that its column may hold, at its first place."""
    allowed: dict[str, Iterable[str]] = {
        "task": TASKS,
        "dnn": catalog.dnns,
        "precision": PRECISIONS,
        "gpu": (*catalog.gpus, *_words()["gpus"]),
        "intra_link": INTRA_LINKS,
        "inter_link": catalog.links,
        "loader": LOADERS,
        "quantity": QUANTITIES,
    }
    found: dict[tuple[str, str], UnknownName] = {}
    for row in rows:
        for column, known in allowed.items():
            name = str(getattr(row, column))
            plain = name.split("-")[0] if column == "inter_link" else name
            if plain and plain not in known and not (column == "gpu" and row.gpu_id) and (column, name) not in found:
                found[column, name] = UnknownName(row.place, column, shown(name), nearest(name, known))
    return tuple(found.values())


def files_with_ids(paths: Iterable[Path], catalog: Catalog) -> dict[str, bytes]:
    """Content of observation files with their id columns filled, by name.

    Raises
    ------
    CalibrationError
        As :func:`~sizer.calibrate.observations.load_observations`, and if two files have one name.
    """
    texts: dict[str, str] = {}
    for path in paths:
        found = observation_texts(path)
        twice = sorted(found.keys() & texts.keys())
        if twice:
            raise CalibrationError(f"{twice[0]}: two files have this name; write their copies one after the other")
        texts |= found
    return {name: _filled(text, name, catalog).encode() for name, text in texts.items()}


def _filled(text: str, place: str, catalog: Catalog) -> str:
    rows = with_ids(read_rows(text, place), catalog)
    out = io.StringIO()
    writer = csv.DictWriter(out, (*COLUMNS, *ID_COLUMNS), lineterminator="\n")
    writer.writeheader()
    head, *records = (record for record in csv_records(text) if not record.is_blank)
    for record, row in zip(records, rows, strict=True):
        writer.writerow(record.by_column(head.cells) | {name: getattr(row, name) for name in ID_COLUMNS})
    return out.getvalue()


def _identified(row: Observation, catalog: Catalog) -> Observation:
    gpu, gpu_note = "", ""
    if row.gpu and row.gpu not in catalog.gpus:
        gpu = _gpu_id(row, catalog)
        gpu_note = f"{shown(row.gpu)} read as {catalog.gpus[gpu].name}: board not stated." if gpu else ""
    stack, stack_note = _stack_id(row, catalog)
    return replace(
        row,
        stack=stack,
        gpu_id=gpu,
        server_id=_words()["servers"].get(row.server, ""),
        assumed=" ".join(filter(None, (gpu_note, stack_note))),
        has_ids=True,
    )


def _gpu_id(row: Observation, catalog: Catalog) -> str:
    """Board that stands for one that a row leaves open: that of its server or its link, else the usual one."""
    usual = _words()["gpus"].get(row.gpu, "")
    server = catalog.servers.get(row.server)
    boards = server.gpus if server else []
    forms = {"pcie3": "pcie", "nvswitch": "sxm3"}.get(row.intra_link, "")
    boards = [*boards, *(id_ for id_ in catalog.gpus if forms and id_.startswith(f"{row.gpu}-{forms}-"))]
    return next((board for board in boards if usual and board.startswith(f"{row.gpu}-")), usual)


def _stack_id(row: Observation, catalog: Catalog) -> tuple[str, str]:
    """Content of the column ``stack``, and what was taken and why; the latter is empty where the catalogue has it."""
    known = _observed(row, catalog)
    if known is not None:
        return known.id, ""
    framework = re.sub(r"[^a-z0-9.]+", "-", row.framework.lower()).strip("-.")
    written = row.software.lower().replace("-", "_")
    framework = framework or next((id_ for word, id_ in _words()["frameworks"].items() if word in written), "")
    if not framework:
        return "", ""
    line = next((line for word, line in _words()["lines"].items() if word in written), "upstream")
    released = _released(row, catalog, line == "ngc")
    xla = ":xla" if "xla" in written else ""
    software = shown(row.software) if row.software else "software that is not named"
    note = f"{software} taken as {framework}, {line}, {f'released {released}' if released else 'release date unknown'}."
    return f"{framework}:{line}:{released or UNDATED}{xla}", note


def _observed(row: Observation, catalog: Catalog) -> Stack | None:
    """Stack whose id, name or observed wording a row has: of several, the one with the most stated."""

    def stated(stack: Stack) -> int:
        found = [
            bool(seen.software) + bool(seen.source) + bool(seen.precision)
            for seen in stack.observed_as
            # An empty software matches rows that name none; else every row of that source would fall to it.
            if (seen.software or not row.software) and seen.matches(row.software, row.source, row.precision)
        ]
        return max(found, default=1 if row.software and row.software in (stack.id, stack.name) else -1)

    best = max(catalog.stacks.values(), key=stated)
    return best if stated(best) >= 0 else None


def _released(row: Observation, catalog: Catalog, is_container: bool) -> str:
    """Release as an ISO month or year by the container, the software's wording or the source; empty: not known."""
    container, month = _CONTAINER.search(row.software), _MONTH.search(row.software)
    if container and is_container:
        return f"20{container[1]}-{container[2]}"
    if month:
        return month[0]
    date = catalog.sources[row.source].date if row.source in catalog.sources else ""
    years = release_years(date)
    if not years or "onward" in date or "later" in date:
        return ""
    if len(years) == 1:
        return str(_MONTH.findall(date)[0])
    middle = (min(years) + max(years)) / 2
    return f"{int(middle)}-{int((middle % 1) * 12) + 1:02d}"
