"""Observations of rates, resolved against the catalogue into what the performance functions take."""

import csv
import fnmatch
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.base.faults import nearest, shown
from sizer.base.formats.csv_rows import csv_records
from sizer.base.provenance import Sourced
from sizer.calibrate import observations
from sizer.calibrate.engine import Effect, stated_prior
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import INTRA_LINKS, Observation, stated_table
from sizer.catalog.items import Item
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, Server, SoftwareLine, Stack
from sizer.perf.exchange import gradient_bytes
from sizer.perf.step_terms import (
    EFFICIENCY,
    FILL,
    HOST_LINK,
    INTER,
    INTRA,
    LAUNCH,
    OVERLAP,
    RUN_AHEAD,
    SCALE_OUT,
    STRAGGLER,
)
from sizer.perf.training_step import InferenceRun, TrainingRun

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


# A row that names no servers and no link between them, with as many GPUs as one server holds.
_ONE_SERVER_GPUS = 16
# Link of most published clusters, for rows that name none.
_USUAL_INTER_LINK = "edr"
# Links that traffic crosses by TCP where their name does not say it, as in the clouds that were measured. InfiniBand is
# crossed by RDMA, and Ethernet from 100 Gbit/s on by RoCE, which every adapter of that speed in the catalogue can.
_TCP_LINKS = ("1gbe", "10gbe", "25gbe", "40gbe")


def is_known_link(link: str, links: Mapping[str, LinkType]) -> bool:
    """Whether a link between servers is one of the catalogue's, alone or with the protocol that crosses it."""
    kind, _, protocol = link.partition("-")
    return kind in links and protocol in ("", "roce", "rdma", "tcp", "efa")


def observed_link_bytes_per_s(link: str, links: Mapping[str, LinkType]) -> float:
    """Line rate of one port of a link such as ``edr``, ``25gbe`` or ``100gbe-roce``, one direction. [B/s]

    Raises ValueError if the link is unknown.
    """
    kind = link.split("-")[0]
    if kind not in links:
        raise ValueError(f"unknown link {link!r}; known are {', '.join(links)}, with -roce, -rdma or -tcp")
    return links[kind].bytes_per_s


def link_protocol(link: str) -> str:
    """``rdma``, ``tcp`` or ``efa`` (a cloud's own transport): how the exchange crosses a link."""
    kind, _, said = link.partition("-")
    if said in ("roce", "rdma"):
        return "rdma"
    if said in ("tcp", "efa"):
        return said
    return "tcp" if kind in _TCP_LINKS else "rdma"


def link_level(link: str) -> str:
    """Name under which the fit keeps a link: kind and protocol, so that ``100gbe`` and ``100gbe-roce`` are one."""
    return f"{link.split('-')[0]}/{link_protocol(link)}"


@dataclass(frozen=True)
class Levels:
    """Names that the parameters of one case depend on."""

    task: str
    precision: str
    framework: str
    stack: str
    dnn: str
    family: str
    gpu: str
    generation: str
    intra_link: str
    inter_link: str = ""  # empty on one server
    server: str = ""  # empty where it is not named
    line: str = "upstream"  # who builds and tunes the software
    has_xla: bool = False
    year: float | None = None  # release date; None where nothing tells it
    is_real: bool = False  # reads and decodes data while it trains


@dataclass(frozen=True)
class RateCase:
    """One rate, ready for the performance functions."""

    row: Observation
    levels: Levels
    stack: Stack
    dnn: Dnn
    gpu: Gpu
    batch_per_gpu: float
    n_gpus_per_server: int
    n_servers: int
    nic_bytes_per_s: float
    is_other_board: bool = False  # the GPU stands for another board of its chip
    notes: tuple[CalibrationNote, ...] = ()  # what was assumed about the row


def resolve(row: Observation, catalog: Catalog, *, for_fit: bool) -> RateCase | CalibrationNote:
    """Case of a rate, or the reason why it is none.

    ``row``: a row with quantity ``samples_per_s`` and task training or inference. ``catalog``: where its names are
    looked up. ``for_fit``: whether rows that do not belong to the fit are refused.
    """
    reason = exclusion_of(row) if for_fit else None
    if reason is not None:
        return reason
    dnn, gpu = catalog.dnns.get(row.dnn), gpu_of(row, catalog)
    if dnn is None:
        return note(FitNote.DNN_NOT_IN_CATALOGUE, row.dnn) if row.dnn else note(FitNote.DNN_NOT_NAMED)
    if gpu is None:
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.gpu) if row.gpu else note(FitNote.GPU_NOT_NAMED)
    precision = precision_of(row)
    if precision not in ("mixed", "fp32"):
        is_stated = bool(precision)
        return note(FitNote.PRECISION_WITHOUT_PEAK, precision) if is_stated else note(FitNote.PRECISION_NOT_STATED)
    layout = _layout(row, catalog.links, for_fit)
    if isinstance(layout, CalibrationNote):
        return layout
    stack = stack_of(row, catalog)
    if stack is None or (for_fit and stack.id not in catalog.stacks):
        return note(FitNote.STACK_UNKNOWN, row.software)
    server = server_of(row, catalog)
    is_own_gpu = row.gpu == gpu.id or row.gpu in UNSTATED_BOARDS
    levels = Levels(
        task=row.task,
        precision=precision,
        framework=stack.framework,
        stack=stack.id,
        dnn=dnn.id,
        family=dnn.family,
        gpu=row.gpu if row.gpu in UNSTATED_BOARDS else gpu.id,
        generation=generation(gpu),
        intra_link=row.intra_link if row.intra_link in INTRA_LINKS else usual_intra_link(gpu.id, gpu.form_factor.value),
        inter_link=link_level(layout.inter_link) if layout.servers > 1 else "",
        server=server.id if server else row.server,
        line=stack.line,
        has_xla=stack.xla,
        year=release_year(stack),
        is_real=row.task == "training" and row.data == "real",
    )
    recorded = (note(FitNote.AS_RECORDED, row.assumed),) if row.assumed else ()
    return RateCase(
        row=row,
        levels=levels,
        stack=stack,
        dnn=dnn,
        gpu=gpu,
        batch_per_gpu=batch_of(row, precision),
        n_gpus_per_server=layout.gpus // layout.servers,
        n_servers=layout.servers,
        nic_bytes_per_s=layout.nic_bytes_per_s,
        is_other_board=not is_own_gpu,
        notes=(*recorded, *layout.assumptions),
    )


@dataclass(frozen=True)
class _Placement:
    gpus: int
    servers: int
    inter_link: str
    nic_bytes_per_s: float
    assumptions: tuple[CalibrationNote, ...]


def _layout(row: Observation, links: Mapping[str, LinkType], for_fit: bool) -> _Placement | CalibrationNote:
    """Servers, GPUs and the link between servers, with what was assumed; or why they are not known."""
    servers = row.servers
    assumptions: tuple[CalibrationNote, ...] = ()
    if servers is None and row.gpus and not row.inter_link and row.gpus <= _ONE_SERVER_GPUS and not for_fit:
        servers, assumptions = 1, (note(FitNote.ONE_SERVER_ASSUMED, row.gpus),)
    if not row.gpus or not servers:
        return note(FitNote.COUNTS_NOT_STATED)
    if row.gpus % servers:
        return note(FitNote.UNEVEN_GPUS, row.gpus, servers)
    if servers == 1:
        # Not read on one server; the arguments still need a rate.
        return _Placement(row.gpus, 1, "", links[_USUAL_INTER_LINK].bytes_per_s, assumptions)
    if row.inter_link and not is_known_link(row.inter_link, links):
        return note(FitNote.INTER_LINK_UNKNOWN, row.inter_link)
    if not row.inter_link and for_fit:
        return note(FitNote.INTER_LINK_NOT_STATED)
    if not row.inter_link:
        assumptions = (note(FitNote.INTER_LINK_ASSUMED, _USUAL_INTER_LINK),)
    inter_link = row.inter_link or _USUAL_INTER_LINK
    rate = observed_link_bytes_per_s(inter_link, links) * (row.nics_per_server or 1)
    return _Placement(row.gpus, servers, inter_link, rate, assumptions)


def generation(gpu: Gpu) -> str:
    """Chip of a GPU, such as v100."""
    return "p100" if gpu.id.startswith("p100") else "v100"


def peak_flop_per_s(gpu: Gpu, precision: str) -> float:
    """Peak of the unit that a precision uses. [FLOP/s]"""
    return peak_fact(gpu, precision).value


def peak_fact(gpu: Gpu, precision: str) -> Sourced[float]:
    """The peak that :func:`peak_flop_per_s` takes, with its source.

    Frameworks compute FP32 networks in TF32 where a GPU has it; one whose single-precision peak no source gives counts
    as mixed precision at half its rate would be a guess, so its mixed peak stands in.
    """
    if precision == "mixed":
        return gpu.peak_mixed_flop_per_s
    return gpu.peak_fp32_flop_per_s or gpu.peak_flop_per_s.get("tf32") or gpu.peak_mixed_flop_per_s


def runs_of(cases: Sequence[RateCase]) -> TrainingRun | InferenceRun:
    """Cases that all have one task as runs of the functions that size clusters, shape (cases,)."""

    def column(value_of: Callable[[RateCase], float]) -> Floats:
        return np.array([value_of(case) for case in cases], dtype=float)

    shared: dict[str, Any] = {
        "batch_per_gpu": column(lambda c: c.batch_per_gpu),
        "n_gpus_per_server": column(lambda c: c.n_gpus_per_server),
        "n_servers": column(lambda c: c.n_servers),
        "forward_flop": column(lambda c: c.dnn.forward_flop.value),
        "peak_flop_per_s": column(lambda c: peak_flop_per_s(c.gpu, c.levels.precision)),
    }
    if cases[0].levels.task != "training":
        return InferenceRun.of(**shared, input_bytes=column(lambda c: c.dnn.input_bytes.value))
    gradients = column(lambda c: float(gradient_bytes(c.dnn.parameters.value, c.levels.precision)))
    return TrainingRun.of(**shared, gradient_bytes=gradients, nic_bytes_per_s=column(lambda c: c.nic_bytes_per_s))


# Parameter of the rate of one x16 link between host and GPUs.
HOST_LINK_RATE = "host-link:all"

prior_of = partial(stated_prior, "vision")


# Releases gained fast while half precision was new and hardly after: the gain follows 1 - exp(-(t - 2017) / 0.5 years).
_TREND_START, _TREND_YEARS = 2017.0, 0.5
# Where nothing tells a release's date: the middle of the published ones.
_UNKNOWN_YEAR = 2019.0

# Families of image classifiers: every framework trains them with much the same code.
_CLASSIFIERS = ("alexnet", "inception", "resnet", "vgg")


def maturity(year: float | None) -> float:
    """Share of the gain of later releases that one of this date has, 0..1; a saturating trend. [-]"""
    known = _UNKNOWN_YEAR if year is None else year
    return 1.0 - math.exp(-max(0.0, known - _TREND_START) / _TREND_YEARS)


def active_effects(levels: Levels, n_gpus: int) -> tuple[Effect, ...]:
    """Effects that the rate of a measurement can tell something about: no exchange on one GPU."""
    only_exchange = (INTRA, INTER, OVERLAP, STRAGGLER, SCALE_OUT)
    return tuple(
        (term, name, coefficient)
        for term, name, coefficient in effects(levels)
        if not (term in only_exchange and (n_gpus == 1 or levels.task == "inference"))
        and not (term == HOST_LINK and levels.task == "training")
        and not (term in (INTER, SCALE_OUT) and not levels.inter_link)
        # Servers without a name are not one server: in a prediction they count with their prior.
        and not (name.startswith(("server:", "launch-server:")) and not levels.server)
    )


def effects(levels: Levels) -> tuple[Effect, ...]:
    """(term, parameter, coefficient) of every effect that a combination adds up."""
    found = [*_efficiency(levels), *_launch(levels), *_exchange(levels)]
    found += [(HOST_LINK, HOST_LINK_RATE), (RUN_AHEAD, "run-ahead:all"), (FILL, "fill:all")]
    found += [(FILL, f"fill-dnn:{levels.dnn}"), (FILL, f"fill-framework:{levels.framework}")]
    found += [(FILL, f"fill-task:{levels.task}")]
    with_one = [(term, name, 1.0) for term, name in found]
    gained, p = maturity(levels.year), levels.precision
    trend = [(EFFICIENCY, name, gained) for name in (f"trend:{p}", f"trend-framework:{levels.framework}/{p}")]
    return (*with_one, *trend)


def _efficiency(levels: Levels) -> list[tuple[int, str]]:
    e, p = levels, levels.precision
    line = f"{e.framework}-{e.line}"
    names = [
        f"base:{p}",
        f"framework:{e.framework}/{p}",
        f"line:{line}",
        f"line-precision:{line}/{p}",
        f"stack:{e.stack}",
        f"stack-precision:{e.stack}/{p}",
        f"family:{e.family}/{p}",
        f"dnn:{e.dnn}/{p}",
        f"gpu:{e.gpu}",
        f"gpu-generation:{e.generation}/{p}",
        f"server:{e.server}/{e.gpu}",
        f"pair:{e.stack}/{e.dnn}/{p}/{e.task}",
    ]
    if e.family not in _CLASSIFIERS:
        names.append(f"line-dnn:{line}/{e.dnn}/{p}")
    if e.has_xla:
        names.append(f"xla:{p}")
    if e.is_real:
        names += ["real:all", f"real-stack:{e.stack}"]
    if e.task == "inference":
        names += [f"inference:{p}", f"inference-framework:{e.framework}/{p}", f"inference-stack:{e.stack}/{p}"]
        names += [f"inference-dnn:{e.dnn}/{p}"]
    return [(EFFICIENCY, name) for name in names]


def _launch(levels: Levels) -> list[tuple[int, str]]:
    e, p = levels, levels.precision
    names = [
        "launch:all",
        f"launch-framework:{e.framework}",
        f"launch-stack:{e.stack}",
        f"launch-precision:{p}",
        f"launch-stack-precision:{e.stack}/{p}",
        f"launch-dnn:{e.dnn}",
        f"launch-dnn-precision:{e.dnn}/{p}",
        f"launch-server:{e.server}",
    ]
    if e.task == "inference":
        names += ["launch-inference:all", f"launch-inference-stack:{e.stack}", f"launch-inference-dnn:{e.dnn}"]
    return [(LAUNCH, name) for name in names]


def _exchange(levels: Levels) -> list[tuple[int, str]]:
    e, p = levels, levels.precision
    found = [
        (INTRA, f"intra:{e.intra_link}"),
        (OVERLAP, "overlap:all"),
        (OVERLAP, f"overlap-framework:{e.framework}"),
        (OVERLAP, f"overlap-stack:{e.stack}"),
        (STRAGGLER, "straggler:all"),
        (STRAGGLER, f"straggler-framework:{e.framework}"),
        (STRAGGLER, f"straggler-stack:{e.stack}/{p}"),
        (SCALE_OUT, "scale-out:all"),
    ]
    # On one server the share is not read; it still needs a value, the one of RDMA.
    found += [(INTER, f"inter:{e.inter_link.partition('/')[2] or 'rdma'}")]
    if e.inter_link:
        found += [(INTER, f"inter-link:{e.inter_link}"), (INTER, f"inter-stack:{e.stack}/{p}")]
        found += [(SCALE_OUT, f"scale-out-framework:{e.framework}"), (SCALE_OUT, f"scale-out-stack:{e.stack}/{p}")]
    return found
