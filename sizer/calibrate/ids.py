"""Ids of an observation: what they stand for, those of files without id columns, and names that mean nothing known."""

import csv
import fnmatch
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sizer.base.errors import CalibrationError
from sizer.base.faults import nearest, shown
from sizer.base.formats.csv_rows import csv_records
from sizer.base.provenance import Sourced
from sizer.calibrate import observations
from sizer.calibrate.notes import CalibrationNote, FitNote
from sizer.calibrate.observations import Observation, stated_table
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Server, SoftwareLine, Stack

# Software that the catalogue does not hold stands in the column ``stack`` as framework:line:release, then ":xla" where
# that compiler is used, e.g. pytorch:upstream:2020-10. No id of the catalogue has a colon.
LINES: tuple[SoftwareLine, ...] = ("ngc", "tensorpack", "cnn-benchmarks", "official", "horovod", "upstream")
UNDATED = "undated"
_OTHER_STACK = re.compile(
    r"(?P<framework>[^:]+):(?P<line>[a-z-]+):(?P<released>20\d\d(?:-\d\d)?|undated)(?P<xla>:xla)?"
)
_ISO_DATES = re.compile(r"(?<![0-9])(20[0-9]{2})(?:-(0[1-9]|1[0-2])(?![0-9]))?(?![0-9])")
_MAX_NAME_CHARACTERS = 60
# Year and month of an NVIDIA container.
_CONTAINER = re.compile(r"(?<![0-9.])(1[7-9]|2[0-9])\.(0[1-9]|1[0-2])(?![0-9])")
_MONTH = re.compile(r"20[0-9]{2}(?:-(?:0[1-9]|1[0-2])(?![0-9]))?")

T = TypeVar("T", bound=Item)


def stack_of(row: observations.Observation, catalog: Catalog) -> Stack | None:
    """Software stack of a row; None where the row names none.

    Software that the catalogue does not hold becomes a stack with the facts that the column states.

    Raises CalibrationError if the column is neither an id of the catalogue nor a description, or the row was read
    without id columns.
    """
    if not row.has_ids:
        raise CalibrationError(
            f"{row.place}: the file has no columns {', '.join(observations.ID_COLUMNS)}; "
            "'sizer validate FILE --with-ids FOLDER' writes a copy that has them"
        )
    other = _OTHER_STACK.fullmatch(row.stack)
    line = next((line for line in LINES if other and line == other["line"]), None)
    if other is None or line is None:
        return _item(row, "stack", row.stack, catalog.stacks)
    released = "" if other["released"] == UNDATED else other["released"]
    said = " ".join("".join(c if c.isprintable() else " " for c in row.software).split())[:_MAX_NAME_CHARACTERS]
    stack = Stack(
        id="other",
        name=said or f"{other['framework']}, release not stated",
        vendor="not stated",
        orderable=False,
        framework=other["framework"],
        line=line,
        xla=bool(other["xla"]),
        released=Sourced[str](
            value=released, basis="assumed", source="assumption", where="column stack", note=row.assumed
        ),
        precisions=("mixed", "fp32"),
        loader="framework",
        task="both",
    )
    # A validated id has no colon.
    return stack.model_copy(update={"id": row.stack})


def catalogue_stack_of(row: observations.Observation, catalog: Catalog) -> Stack | None:
    """:func:`stack_of` a row where the catalogue holds it, else None."""
    stack = stack_of(row, catalog)
    return stack if stack is not None and stack.id in catalog.stacks else None


def gpu_of(row: observations.Observation, catalog: Catalog) -> Gpu | None:
    """GPU that stands for the one of a row; None where the catalogue has no such chip.

    Raises CalibrationError if ``gpu_id`` is filled and no GPU of the catalogue.
    """
    return _item(row, "gpu_id", row.gpu_id, catalog.gpus) or catalog.gpus.get(row.gpu)


def server_of(row: observations.Observation, catalog: Catalog) -> Server | None:
    """Server with the same host as the one of a row; None where the catalogue has none.

    Raises CalibrationError if ``server_id`` is filled and no server of the catalogue.
    """
    return _item(row, "server_id", row.server_id, catalog.servers) or catalog.servers.get(row.server)


def _item(row: observations.Observation, column: str, name: str, known: Mapping[str, T]) -> T | None:
    if name and name not in known:
        raise CalibrationError(
            f"{row.place}, column {column}: {shown(name)} is not in the catalogue{nearest(name, known)}"
        )
    return known.get(name)


def release_years(text: str) -> list[float]:
    """ISO months and years of a text as decimal years: mid-month, or mid-year where only the year is known. [a]"""
    return [int(year) + ((int(month) - 0.5) / 12 if month else 0.5) for year, month in _ISO_DATES.findall(text)]


def release_year(stack: Stack) -> float | None:
    """Release as a decimal year; None where nothing tells it. [a]"""
    return next(iter(release_years(stack.released.value)), None)


@dataclass(frozen=True)
class UnknownName:
    """A name in a column of a file that means nothing known."""

    place: str  # file and line
    column: str
    name: str
    suggestion: str  # what may be meant, as a clause; empty where nothing is near


def _words(table: str) -> Mapping[str, str]:
    """Shipped words of a kind, and what they stand for."""
    return dict(observations.stated_table("wordings.toml")[table])


def _note(key: str, *values: str) -> str:
    """Content of the column ``assumed`` for what a name left open."""
    return _words("notes")[key].format(*values)


def with_ids(rows: Iterable[observations.Observation], catalog: Catalog) -> tuple[observations.Observation, ...]:
    """The rows, those of files without id columns with the ids that their columns name.

    A name that means nothing known stays as it is; the prediction then says what is not known. ``assumed`` tells
    what a name left open and how it was taken.
    """
    return tuple(row if row.has_ids else _identified(row, catalog) for row in rows)


def unknown_names(rows: Iterable[observations.Observation], catalog: Catalog) -> tuple[UnknownName, ...]:
    """Each name of the rows that is none of those that its column may hold, at its first place."""
    allowed: dict[str, Iterable[str]] = {
        "task": observations.TASKS,
        "dnn": catalog.dnns,
        "precision": observations.PRECISIONS,
        "gpu": (*catalog.gpus, *_words("gpus")),
        "intra_link": observations.INTRA_LINKS,
        "inter_link": catalog.links,
        "loader": observations.LOADERS,
        "quantity": observations.QUANTITIES,
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

    Raises CalibrationError as :func:`~sizer.calibrate.observations.load_observations`, and if two files have one name.
    """
    texts: dict[str, str] = {}
    for path in paths:
        found = observations.observation_texts(path)
        twice = sorted(found.keys() & texts.keys())
        if twice:
            raise CalibrationError(f"{twice[0]}: two files have this name; write their copies one after the other")
        texts |= found
    return {name: _filled(text, name, catalog).encode() for name, text in texts.items()}


def _filled(text: str, place: str, catalog: Catalog) -> str:
    rows = with_ids(observations.read_rows(text, place), catalog)
    out = io.StringIO()
    writer = csv.DictWriter(out, (*observations.COLUMNS, *observations.ID_COLUMNS), lineterminator="\n")
    writer.writeheader()
    head, *records = (record for record in csv_records(text) if not record.is_blank)
    for record, row in zip(records, rows, strict=True):
        writer.writerow(record.by_column(head.cells) | {name: getattr(row, name) for name in observations.ID_COLUMNS})
    return out.getvalue()


def _identified(row: observations.Observation, catalog: Catalog) -> observations.Observation:
    gpu, gpu_note = "", ""
    if row.gpu and row.gpu not in catalog.gpus:
        # Board that stands for one that a row leaves open: that of its server or its link, else the usual one.
        usual = _words("gpus").get(row.gpu, "")
        server = catalog.servers.get(row.server)
        boards = server.gpus if server else []
        forms = {"pcie3": "pcie", "nvswitch": "sxm3"}.get(row.intra_link, "")
        boards = [*boards, *(id_ for id_ in catalog.gpus if forms and id_.startswith(f"{row.gpu}-{forms}-"))]
        gpu = next((board for board in boards if usual and board.startswith(f"{row.gpu}-")), usual)
        gpu_note = _note("gpu", shown(row.gpu), catalog.gpus[gpu].name) if gpu else ""
    stack, stack_note = _stack_id(row, catalog)
    return replace(
        row,
        stack=stack,
        gpu_id=gpu,
        server_id=_words("servers").get(row.server, ""),
        assumed=" ".join(filter(None, (gpu_note, stack_note))),
        has_ids=True,
    )


def _stack_id(row: observations.Observation, catalog: Catalog) -> tuple[str, str]:
    """Content of the column ``stack``, and what was taken and why; the latter is empty where the catalogue has it."""
    known = _observed(row, catalog)
    if known is not None:
        return known.id, ""
    framework = re.sub(r"[^a-z0-9.]+", "-", row.framework.lower()).strip("-.")
    written = row.software.lower().replace("-", "_")
    framework = framework or next((id_ for word, id_ in _words("frameworks").items() if word in written), "")
    if not framework:
        return "", ""
    line = next((line for word, line in _words("lines").items() if word in written), "upstream")
    released = _released(row, catalog, line == "ngc")
    xla = ":xla" if "xla" in written else ""
    note = _note("stack", shown(row.software), framework, line, released or UNDATED)
    return f"{framework}:{line}:{released or UNDATED}{xla}", note


def _observed(row: observations.Observation, catalog: Catalog) -> Stack | None:
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


def _released(row: observations.Observation, catalog: Catalog, is_container: bool) -> str:
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


def rules(name: str) -> Any:
    """One table of the rules."""
    return stated_table("rules.toml")[name]


def covers(rule: Mapping[str, Any], row: Observation) -> bool:
    """Whether a rule speaks of a row; what it does not state matches anything."""
    columns = {"sources": row.source, "dnns": row.dnn, "gpus": row.gpu, "precisions": row.precision}
    return (
        _is_among(row.id, rule.get("ids", ("*",)))
        and all(value in rule.get(name, (value,)) for name, value in columns.items())
        and rule.get("software_has", "") in row.software
        and row.gpus == rule.get("n_gpus", row.gpus)
    )


def _is_among(id_: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(id_, pattern) for pattern in patterns)


# Rates that a fact of the catalogue is derived from, so that they test nothing: the read rate of the Apollo's drives is
# 17,000 images/s x 150,528 B.
CATALOGUE_DERIVES_FROM = frozenset({"weka2018-googlenet-nvme-8g"})


def stated_of(row: Observation) -> str:
    """Id of the row whose rate a stated rate is a share of; empty for a printed rate."""
    main, at, _ = row.id.partition("@")
    return main if at and any(stated["id"] == main for stated in rules("stated_linear")) else ""


def stated_rows(rows: tuple[Observation, ...]) -> tuple[Observation, ...]:
    """Rates that sources state in words: the share of the servers in the rate of the largest run."""
    by_id = {row.id: row for row in rows}
    found = []
    for stated in rules("stated_linear"):
        row = by_id.get(stated["id"])
        if row is not None and row.servers and row.gpus:
            share = stated["servers"] / row.servers
            gpus = round(row.gpus * share)
            found.append(
                replace(
                    row,
                    id=f"{row.id}@{gpus}gpus",
                    servers=stated["servers"],
                    gpus=gpus,
                    value=row.value * share,
                    basis="derived",
                    where=stated["where"],
                )
            )
    return tuple(found)


def speedup_base(row: Observation) -> str | None:
    """``gpu`` or ``server``: one of which a speed-up is over; None where the row does not describe it."""
    if row.gpus is None or row.gpus < 2:
        return None
    if _is_among(row.id, rules("speedup")["over_one_gpu"]):
        return "gpu"
    said = row.notes.lower()
    return next((base for words, base in rules("speedup")["words"].items() if words in said), None)


# Batches of these DNNs are printed in tokens while their samples are sentence pairs; the catalogue's mean length.
TOKENS_PER_SAMPLE = {"transformer-big": 27.0}

# Words of the observations for a GPU whose board they do not state: levels of their own in the fit.
UNSTATED_BOARDS = ("v100", "p100", "pascal")

# Link between the GPUs of a server where a source does not state it, by the part that stands for the GPU.
USUAL_INTRA_LINK = {"sxm2": {"v100": "nvlink2", "p100": "nvlink1"}, "sxm3": {"v100": "nvswitch"}, "pcie": {}}


def exclusion_of(row: Observation) -> CalibrationNote | None:
    """Why the fit of rates excludes a row; None where it belongs."""
    return next((CalibrationNote(FitNote(rule["reason"])) for rule in rules("excluded") if covers(rule, row)), None)


def precision_of(row: Observation) -> str:
    """Precision as stated, or as a rule reads it; empty where neither knows."""
    return row.precision or next((str(rule["is"]) for rule in rules("precision") if covers(rule, row)), "")


def batch_of(row: Observation, precision: str) -> float:
    """Batch per GPU as stated, or the typical one."""
    if row.batch_per_gpu is not None:
        return row.batch_per_gpu / TOKENS_PER_SAMPLE.get(row.dnn, 1.0)
    typical = rules("typical_batch")
    return float(typical.get(row.dnn, typical["other"])[precision])


def usual_intra_link(gpu: str, form_factor: str) -> str:
    """Link between GPUs that a part of this form factor usually has."""
    family = "p100" if gpu.startswith("p100") else "v100"
    return USUAL_INTRA_LINK.get(form_factor, {}).get(family, "pcie3")
