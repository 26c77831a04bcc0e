"""Observations of rates, resolved against the catalogue into what the performance functions take."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.provenance import Sourced
from sizer.calibrate.engine import Effect, stated_prior
from sizer.calibrate.ids import (
    UNSTATED_BOARDS,
    batch_of,
    exclusion_of,
    gpu_of,
    precision_of,
    release_year,
    server_of,
    stack_of,
    usual_intra_link,
)
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import INTRA_LINKS, Observation
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, Stack
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
