"""Which way to divide the training of a language model over GPUs: every layout that divides, by rate and memory."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate
from sizer.base.faults import nearest
from sizer.base.interruption import pause_point
from sizer.base.normal import normal_cdf
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import LanguageCase, cases_of, gpu_of_case, stack_named
from sizer.calibrate.language.gpu_memory import memory_stack
from sizer.calibrate.language.rows import LanguageRow
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.perf.language.memory import GIB, MEMORY_FACTORS, MemoryFactors, memory_use
from sizer.perf.language.shape import Shapes
from sizer.perf.language.step import COEFFICIENTS, Efficiencies, Layouts, Machines, StepTime, step_time

# Memory that a run may fill before allocation fails, and the probability at which a layout counts as one that fits.
_FILLED, CERTAIN = 0.94, 0.9
_MICRO_BATCHES = (1, 2, 4, 8, 16)
_LEAST_TOKENS = 1024  # of a sequence on one context-parallel GPU
_MOST_CONTEXT, _MOST_PIPELINE, _MOST_VIRTUAL = 64, 32, 8
MOST_GPUS = 131_072
# Stacks whose runs divide weights, gradients and optimizer over all replicas; the others divide the optimizer.
_FULLY_SHARDED = ("nemo-automodel", "llm-foundry", "torchtitan", "pytorch-fsdp", "nanotron", "pytorch", "deepspeed")
# The fastest of thousands of layouts owes part of its lead to errors of the model. Over 140 published runs of models of
# the catalogue the rate found is 3 % above that published in the median, and four fifths of them lie within a fifth.
_SELECTION_LOG, _SELECTION_SD = -0.03, 0.12


@dataclass(frozen=True)
class LayoutQuestion:
    """A training to divide. ``model`` names a language model of the catalogue, ``gpu`` a GPU."""

    model: str
    gpu: str
    gpus: int
    sequence: int
    batch: int  # sequences of a step
    precision: str = "bf16"
    software: str = "NeMo"
    kind: str = "pretrain"  # or "lora"
    gpus_per_server: int | None = None  # that NVLink or the like joins; None: eight
    nic_gbit_per_gpu: float | None = None  # line rate of the network of one GPU; None: the usual one of its kind
    # Fixed by the user; None: searched.
    tensor: int | None = None
    pipeline: int | None = None
    context: int | None = None
    expert: int | None = None
    micro_batch: int | None = None
    is_fully_sharded: bool | None = None  # None: as the runs of the stack are

    @property
    def is_chosen(self) -> bool:
        """Whether the degrees that decide are searched, not stated."""
        return None in (self.tensor, self.pipeline, self.context)


EXPOSED = "exposed traffic"
# Terms of a step in the order that a reader asks for them.
_STEP_PARTS = {
    "compute": ("linear", "elementwise"),
    "attention": ("attention",),
    EXPOSED: ("tensor", "expert", "context", "data"),
    "pipeline bubble": ("bubble",),
    "optimizer": ("optimizer",),
    "fixed": ("fixed",),
}


@dataclass(frozen=True)
class LayoutAnswer:
    """One layout. Times in seconds of a step, memory in bytes of one GPU."""

    tensor: int
    pipeline: int
    virtual: int
    context: int
    expert: int
    data: int
    micro_batch: int
    is_fully_sharded: bool
    recompute: float
    step_s: dict[str, float]  # by what it is spent on
    tokens_per_s: Estimate  # of the whole system
    memory_bytes: Estimate
    probability_fits: float

    @property
    def step_shares(self) -> dict[str, float]:
        """Share of a step by what it is spent on, in the order that a reader asks for them. [-]"""
        step = sum(self.step_s.values())
        return {name: sum(self.step_s[part] for part in parts) / step for name, parts in _STEP_PARTS.items()}


@dataclass(frozen=True)
class LayoutSearch:
    """The fastest layouts that fit, the fastest first."""

    question: LayoutQuestion
    answers: tuple[LayoutAnswer, ...]
    n_judged: int
    n_fitting: int


def search_layouts(
    question: LayoutQuestion, catalog: Catalog, calibration: LanguageCalibration, count: int = 5
) -> LayoutSearch:
    """Judge every layout that divides and return the fastest that fit.

    Raises
    ------
    RequestError
        If the model or GPU is not known, a count is out of its range, nothing divides, or nothing fits.
    """
    case = _case(question, catalog)
    if question.is_fully_sharded is not None:
        return _judge(question, case, catalog, calibration, count)
    usual = stack_named(case.row) in _FULLY_SHARDED
    try:
        return _judge(replace(question, is_fully_sharded=usual), case, catalog, calibration, count)
    except RequestError:
        if usual:
            raise
    # What no layout of the stack holds, dividing everything may.
    return _judge(replace(question, is_fully_sharded=True), case, catalog, calibration, count)


def _judge(
    question: LayoutQuestion, case: LanguageCase, catalog: Catalog, calibration: LanguageCalibration, count: int
) -> LayoutSearch:
    memory_bytes = _memory_of(case, catalog)
    ways = _layouts(question, case)
    if not len(ways.gpus):
        raise RequestError(
            f"no layout divides {question.model} and a batch of {question.batch} sequences over {question.gpus} GPUs; "
            "give a batch that is a multiple of the number of GPUs, or fewer fixed degrees"
        )
    pause_point()
    shapes = Shapes(**{one.name: np.array([case.shape[one.name]]) for one in fields(Shapes)})
    machines = Machines(**{one.name: np.array([case.machine[one.name]]) for one in fields(Machines)})
    n = len(COEFFICIENTS)
    factors = Efficiencies(**dict(zip(COEFFICIENTS, np.exp(calibration.fit.values[:n]).tolist(), strict=True)))
    times = step_time(shapes, ways, machines, factors)
    peaks = _peaks(case, ways, shapes, calibration)
    fits = np.asarray(normal_cdf(np.log(_FILLED * memory_bytes / peaks.value) / peaks.log_sd))
    good = np.flatnonzero(fits >= CERTAIN)
    if not len(good):
        least = int(np.argmin(peaks.value))
        raise RequestError(
            f"{question.model} does not fit {question.gpus} x {question.gpu}: the smallest layout takes "
            f"{peaks.value[least] / GIB:.0f} GiB of the {memory_bytes / GIB:.0f} GiB of a GPU; take more GPUs or GPUs "
            "with more memory"
        )
    order = good[np.argsort(times.total[good], kind="stable")][:count]
    answers = tuple(_answer(question, i, case, ways, times, peaks, fits, calibration) for i in order.tolist())
    return LayoutSearch(question, answers, len(ways.gpus), len(good))


def language_models(catalog: Catalog) -> dict[str, Dnn]:
    """Language models of the catalogue by their ids."""
    return {name: dnn for name, dnn in catalog.dnns.items() if dnn.transformer is not None}


def language_model(catalog: Catalog, text: str) -> Dnn:
    """The language model that a text names: by id, name, alias, or as measurements name it.

    Raises
    ------
    RequestError
        If none has this name.
    """
    known = language_models(catalog)
    names = {
        name.lower(): dnn
        for dnn in known.values()
        for name in (dnn.id, dnn.name, *dnn.aliases, dnn.transformer.measured_as if dnn.transformer else "")
        if name
    }
    if text.strip().lower() not in names:
        hint = nearest(text, [dnn.name for dnn in known.values()])
        raise RequestError(
            f"model {text[:60]!r} is not known{hint}; known are {', '.join(dnn.name for dnn in known.values())}"
        )
    return names[text.strip().lower()]


def _case(question: LayoutQuestion, catalog: Catalog) -> LanguageCase:
    dnn = language_model(catalog, question.model)
    shape = dnn.transformer
    assert shape is not None
    for name, least, most in (("gpus", 1, MOST_GPUS), ("batch", 1, 10**6), ("sequence", 128, 2**20)):
        value = getattr(question, name)
        if not least <= value <= most:
            raise RequestError(f"{name} is {value}; allowed are {least} to {most}")
    row = LanguageRow(
        row_id="question",
        source="question",
        model=shape.measured_as or dnn.name,
        gpu=question.gpu,
        precision=question.precision,
        gpus=float(question.gpus),
        kind=question.kind,
        seq=float(question.sequence),
        global_batch=float(question.batch),
        software=question.software,
        tp=1.0,
        sharding="dist_optimizer",
        arch="moe" if shape.experts > 1 else "dense",
        params_b=dnn.parameters.value / 1e9,
        layers=float(shape.layers),
        hidden=float(shape.hidden),
        ffn=float(shape.ffn),
        heads=float(shape.heads),
        kv_heads=float(shape.kv_heads),
        head_dim=float(shape.head_size),
        vocab=float(shape.vocabulary),
        experts=float(shape.experts) if shape.experts > 1 else None,
        top_k=float(shape.active_experts) if shape.experts > 1 else None,
        moe_ffn=None if shape.expert_ffn is None else float(shape.expert_ffn),
        gpus_per_node=None if question.gpus_per_server is None else float(question.gpus_per_server),
        network="" if question.nic_gbit_per_gpu is None else f"{question.nic_gbit_per_gpu:.0f} gb/s per gpu",
    )
    found = cases_of([row], catalog)[0]
    if not isinstance(found, LanguageCase):
        raise RequestError(f"GPU {question.gpu[:60]!r} is not in the catalogue; known are {', '.join(catalog.gpus)}")
    return found


def _memory_of(case: LanguageCase, catalog: Catalog) -> float:
    return gpu_of_case(case, catalog).memory_bytes.value


def _powers(most: float) -> list[int]:
    return [2**i for i in range(int(np.log2(max(1, most))) + 1)]


def _layouts(question: LayoutQuestion, case: LanguageCase) -> Layouts:
    """Every combination that divides heads, layers, experts, GPUs and batch, as arrays of one length."""
    n, shape = question.gpus, case.shape
    domain = case.machine["domain_gpus"]
    mixture = shape["experts"] > 1

    def asked(name: str, values: Sequence[int]) -> Sequence[int]:
        fixed = getattr(question, name)
        return values if fixed is None else (fixed,)

    tensors = asked("tensor", [t for t in _powers(min(domain, n)) if not shape["heads"] % t])
    stages = [p for p in range(1, _MOST_PIPELINE + 1) if not shape["layers"] % p and p <= n]
    pipelines = asked("pipeline", stages)
    contexts = asked("context", [c for c in _powers(_MOST_CONTEXT) if question.sequence / c >= _LEAST_TOKENS or c == 1])
    experts = asked("expert", [e for e in _powers(domain) if not shape["experts"] % e] if mixture else [1])
    micro = asked("micro_batch", _MICRO_BATCHES)
    degrees = np.array(list(itertools.product(tensors, pipelines, contexts, experts, micro)), dtype=int).reshape(-1, 5)
    t, p, c, e, b = degrees.T
    divides = (n % (t * p * c) == 0) & (question.batch % (np.maximum(n // (t * p * c), 1) * b) == 0)
    divides &= (n // p % e == 0) & ((p == 1) | (not question.is_fully_sharded))
    degrees = degrees[divides]
    chunks = [_chunks_and_recomputing(pipeline, int(shape["layers"])) for pipeline in degrees[:, 1].tolist()]
    repeated = np.repeat(degrees, [len(ways) for ways in chunks], axis=0)
    table = np.concatenate([repeated, np.concatenate([np.zeros((0, 2)), *chunks])], axis=1).T
    every = np.ones(table.shape[1])
    return Layouts(
        gpus=n * every,
        batch=question.batch * every,
        sequence=question.sequence * every,
        tensor=table[0],
        pipeline=table[1],
        context=table[2],
        expert=table[3],
        micro_batch=table[4],
        virtual=table[5],
        recompute=table[6],
        is_fully_sharded=np.full(len(every), bool(question.is_fully_sharded)),
        is_optimizer_sharded=np.full(len(every), not question.is_fully_sharded),
        is_lora=np.full(len(every), case.layout["is_lora"] > 0),
        is_tuned=np.full(len(every), case.layout["is_tuned"] > 0),
    )


@lru_cache(maxsize=1024)
def _chunks_and_recomputing(stages: int, layers: int) -> Floats:
    """Chunks of a pipeline stage and share of the forward pass computed again, shape (ways, 2)."""
    chunks = [v for v in range(1, _MOST_VIRTUAL + 1) if not layers % (stages * v)] if stages > 1 else [1]
    return np.array(list(itertools.product(chunks, (0.0, 1.0))))


def _peaks(case: LanguageCase, ways: Layouts, shapes: Shapes, calibration: LanguageCalibration) -> Estimate:
    """Memory of every layout, with the spread of the case's stack."""
    fit = calibration.memory
    n = len(MEMORY_FACTORS)
    factors = MemoryFactors(**dict(zip(MEMORY_FACTORS, np.exp(fit.values[:n]).tolist(), strict=True)))
    no = np.zeros(len(ways.gpus), dtype=bool)
    use = memory_use(shapes, ways, no, np.full(len(no), case.layout["element_bytes"]), factors)
    stacks = fit.model.stacks
    stack = memory_stack(case)
    level = fit.values[n + stacks.index(stack)] if stack in stacks else 0.0
    sd = calibration.once(("memory", case.levels), lambda: float(fit.bytes_of([case]).log_sd[0]))
    return Estimate.log_normal(use.total * np.exp(level), np.full(len(no), sd))


def _answer(
    question: LayoutQuestion,
    i: int,
    case: LanguageCase,
    ways: Layouts,
    times: StepTime,
    peaks: Estimate,
    fits: Floats,
    calibration: LanguageCalibration,
) -> LayoutAnswer:
    here = {one.name: float(getattr(ways, one.name)[i]) for one in fields(Layouts)}
    work = here["batch"] * here["sequence"]

    def known() -> tuple[float, float]:
        # The layout is known, so that nothing of it is a guess.
        chosen = replace(case, layout=case.layout | here, guessed=())
        rate = calibration.tokens_per_s_per_gpu([chosen])[0].scaled(here["gpus"])
        return float(rate.value) * float(times.total[i]) / work, float(rate.log_sd)

    # The effects of stack, GPU and model scale every term alike, and their spread changes little with the layout.
    factor, log_sd = calibration.once(("rate", case.levels), known)
    if question.is_chosen:
        factor, log_sd = factor * math.exp(_SELECTION_LOG), math.hypot(log_sd, _SELECTION_SD)
    return LayoutAnswer(
        tensor=int(here["tensor"]),
        pipeline=int(here["pipeline"]),
        virtual=int(here["virtual"]),
        context=int(here["context"]),
        expert=int(here["expert"]),
        data=int(ways.data[i]),
        micro_batch=int(here["micro_batch"]),
        is_fully_sharded=here["is_fully_sharded"] > 0,
        recompute=here["recompute"],
        step_s={
            one.name: float(np.broadcast_to(getattr(times, one.name), times.total.shape)[i]) / factor
            for one in fields(StepTime)
        },
        tokens_per_s=Estimate.log_normal(factor * work / float(times.total[i]), log_sd),
        memory_bytes=peaks[i],
        probability_fits=float(fits[i]),
    )
