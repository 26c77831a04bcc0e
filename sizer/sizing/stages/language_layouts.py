"""Which way to divide the training of a language model over GPUs: every layout that divides, by rate and memory."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate
from sizer.base.faults import nearest
from sizer.base.quantities import si
from sizer.calibrate.language.calibration import LanguageCalibration, RunBasis, basis_of
from sizer.calibrate.language.cases import (
    LanguageCase,
    arrays,
    cases_of,
    gpu_of_case,
    is_through_host,
    ring_through_host_bytes_per_s,
)
from sizer.calibrate.language.fit import StepInputs
from sizer.calibrate.language.rows import LanguageRow, stack_named
from sizer.calibrate.language.shapes import check_software, gpu_asked, shape_values
from sizer.catalog.model import Catalog
from sizer.catalog.networks import TransformerShape
from sizer.catalog.schema import Dnn
from sizer.perf.language.step import GIB, MemoryUse, StepTime
from sizer.sizing.stages.language_search import FastestLayouts, fastest_layouts
from sizer.workload.transformer.layout_pins import NO_PINS, LayoutPins, check_pins, undivided_error_text
from sizer.workload.transformer.number_formats import check_format, number_format_named

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
    pins: LayoutPins = NO_PINS  # fixed by the user; without a sharding, that of the stack's runs
    shape: TransformerShape | None = None  # of a model that is not in the catalogue; ``model`` is its name
    document_tokens: float | None = None  # of which attention sees one, where sequences are packed; None: all


EXPOSED = "exposed traffic"
_TERMS = tuple(one.name for one in fields(StepTime))
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
    is_fully_sharded: bool  # weights, gradients and optimizer are divided over the replicas
    is_optimizer_sharded: bool  # only the optimizer's state is
    recompute: float
    step_s: dict[str, float]  # by what it is spent on
    tokens_per_s: Estimate  # of the whole system
    memory_bytes: Estimate
    memory_parts: dict[str, float]  # bytes by what they hold
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
    least_bytes: float  # of a GPU, of the smallest layout; infinite where none divides
    least_state_bytes: float  # of a GPU, least of weights, gradients and optimizer; likewise


def search_layouts(
    question: LayoutQuestion, catalog: Catalog, calibration: LanguageCalibration, count: int = 5
) -> LayoutSearch:
    """Judge every layout that divides and return the fastest that fit.

    Raises RequestError if the model, GPU, software or number format is not known, the GPU does not have the format, a
    count is out of its range, nothing divides, or nothing fits.
    """
    found = search_sizes(question, (question.gpus,), (question.batch,), catalog, calibration, count)[0]
    if found.answers:
        return found
    if math.isinf(found.least_bytes):
        raise RequestError(
            undivided_error_text(question.pins, question.gpus, question.batch, "layout")
            or f"no layout divides {model_name(question, catalog)} and a batch of {question.batch} sequences over "
            f"{question.gpus} GPUs; give a batch that is a multiple of the number of GPUs, or fewer fixed degrees"
        )
    memory_bytes = _memory_of(_case(question, catalog), catalog)
    raise RequestError(
        f"{model_name(question, catalog)} does not fit {question.gpus} x {question.gpu}: the smallest layout takes "
        f"{found.least_bytes / GIB:.0f} GiB of the {memory_bytes / GIB:.0f} GiB of a GPU, and weights, gradients and "
        f"optimizer alone {si(question.gpus * found.least_state_bytes, 'B')} of the "
        f"{si(question.gpus * memory_bytes, 'B')} of all; take more GPUs, GPUs with more memory, or fewer fixed degrees"
    )


def search_sizes(
    question: LayoutQuestion,
    gpus: Sequence[int],
    batches: Sequence[int],
    catalog: Catalog,
    calibration: LanguageCalibration,
    count: int = 1,
) -> tuple[LayoutSearch, ...]:
    """Layouts on each of several numbers of GPUs, judged together; a number on which none fits has no answers.

    ``gpus`` and ``batch`` of the question are those of the parameters here.

    Raises RequestError if the model, GPU, software or number format is not known, the GPU does not have the format, a
    count is out of its range, or a fixed degree divides nothing.
    """
    asked = tuple(replace(question, gpus=n, batch=b) for n, b in zip(gpus, batches, strict=True))
    case = _case(asked[0], catalog)
    for one in asked:
        _check_counts(one)
    sizes = np.array(gpus, dtype=int), np.array(batches, dtype=int)
    if question.pins.sharding is not None:
        return _searched(asked, case, sizes, question.pins.sharding, catalog, calibration, count)
    is_whole = stack_named(case.row) in _FULLY_SHARDED
    found = _searched(asked, case, sizes, "all" if is_whole else "optimizer", catalog, calibration, count)
    without = [place for place, one in enumerate(found) if not one.answers]
    if is_whole or not without:
        return found
    # What no layout of the stack holds, dividing everything may.
    fewer = sizes[0][without], sizes[1][without]
    again = _searched(tuple(asked[i] for i in without), case, fewer, "all", catalog, calibration, count)
    better = {place: one for place, one in zip(without, again, strict=True) if one.answers}
    return tuple(better.get(place, one) for place, one in enumerate(found))


def _searched(
    asked: Sequence[LayoutQuestion],
    case: LanguageCase,
    sizes: tuple[Ints, Ints],
    sharding: str,
    catalog: Catalog,
    calibration: LanguageCalibration,
    count: int,
) -> tuple[LayoutSearch, ...]:
    pins = asked[0].pins.model_copy(update={"sharding": sharding})
    found = fastest_layouts(case, *sizes, pins, _memory_of(case, catalog), calibration, count)
    answers = _answers(asked[0], found)
    ends = np.searchsorted(found.place, np.arange(len(asked) + 1))
    return tuple(
        LayoutSearch(
            question,
            answers[ends[i] : ends[i + 1]],
            int(found.n_judged[i]),
            int(found.n_fitting[i]),
            float(found.least_bytes[i]),
            float(found.least_state_bytes[i]),
        )
        for i, question in enumerate(asked)
    )


def model_name(question: LayoutQuestion, catalog: Catalog) -> str:
    """Name of the model of a question: that of the catalogue, or what its own shape is called."""
    return language_model(catalog, question.model).name if question.shape is None else question.model


def language_models(catalog: Catalog) -> dict[str, Dnn]:
    """Language models of the catalogue by their ids."""
    return {name: dnn for name, dnn in catalog.dnns.items() if dnn.transformer is not None}


def language_model(catalog: Catalog, text: str) -> Dnn:
    """The language model that a text names: by id, name, alias, or as measurements name it.

    Raises RequestError if none has this name.
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


def domain_gpus(question: LayoutQuestion, catalog: Catalog) -> int:
    """GPUs that NVLink or its like joins."""
    return int(_case(question, catalog).machine["domain_gpus"])


def basis_of_question(question: LayoutQuestion, catalog: Catalog, calibration: LanguageCalibration) -> RunBasis:
    """The published runs that the rates of a training rest on."""
    return basis_of(_case(question, catalog), calibration)


def inputs_of(question: LayoutQuestion, answer: LayoutAnswer, catalog: Catalog) -> StepInputs:
    """One layout of a training as the step model takes it."""
    case = _case(question, catalog)
    degrees = ("tensor", "pipeline", "virtual", "context", "expert", "micro_batch", "recompute")
    stated = {name: float(getattr(answer, name)) for name in (*degrees, "is_fully_sharded", "is_optimizer_sharded")}
    return arrays([replace(case, layout=case.layout | stated)])


def _check_counts(question: LayoutQuestion) -> None:
    for name, least, most in (("gpus", 1, MOST_GPUS), ("batch", 1, 10**6), ("sequence", 128, 2**20)):
        value = getattr(question, name)
        if not least <= value <= most:
            raise RequestError(f"{name} is {value}; allowed are {least} to {most}")


def _case(question: LayoutQuestion, catalog: Catalog) -> LanguageCase:
    shape, name, measured_as = question.shape, question.model, ""
    if shape is None:
        dnn = language_model(catalog, question.model)
        shape, name = dnn.transformer, dnn.name
        assert shape is not None
        measured_as = dnn.transformer.measured_as if dnn.transformer is not None else ""
    _check_counts(question)
    gpu = gpu_asked(question.gpu, catalog)
    check_software(question.software, catalog)
    check_format(number_format_named(question.precision, "precision"), gpu, catalog)
    check_pins(question.pins, shape, question.sequence, name, "layout")
    row = LanguageRow(
        row_id="question",
        source="question",
        model=measured_as or name,
        gpu=gpu.id,
        precision=question.precision,
        gpus=float(question.gpus),
        kind=question.kind,
        seq=float(question.sequence),
        global_batch=float(question.batch),
        software=question.software,
        tp=1.0,
        sharding="dist_optimizer",
        arch="moe" if shape.experts > 1 else "dense",
        # A shape of the request is taken as it is, whatever models have its name.
        layers=1.0,
        hidden=float(shape.hidden),
        moe_ffn=1.0,
        gpus_per_node=None if question.gpus_per_server is None else float(question.gpus_per_server),
        network="" if question.nic_gbit_per_gpu is None else f"{question.nic_gbit_per_gpu:.0f} gb/s per gpu",
    )
    found = cases_of([row], catalog)[0]
    assert isinstance(found, LanguageCase), found  # all that a case needs is stated
    values = shape_values(shape)
    if question.document_tokens is not None:
        # Attention of packed sequences ends with each document, in every layer.
        seen = min(values["window"], question.document_tokens)
        values |= {"window": seen, "window_share": 1.0}
    machine = found.machine
    if is_through_host(gpu):
        machine = machine | {"domain_bytes_per_s": ring_through_host_bytes_per_s(gpu), "is_through_host": 1.0}
    return replace(found, shape=values, machine=machine)


def _memory_of(case: LanguageCase, catalog: Catalog) -> float:
    return gpu_of_case(case, catalog).memory_bytes.value


def _answers(question: LayoutQuestion, found: FastestLayouts) -> tuple[LayoutAnswer, ...]:
    if not len(found.place):
        return ()
    ways, n = found.ways, len(found.place)
    slower, log_sd = 1.0, found.log_sd
    if not question.pins.fixes_degrees:
        slower, log_sd = math.exp(-_SELECTION_LOG), np.hypot(log_sd, _SELECTION_SD)
    rates = Estimate.log_normal(ways.batch * ways.sequence / (found.times.total * slower), log_sd)
    peaks = Estimate.log_normal(found.memory.total, found.peak_log_sd)
    terms = {name: np.broadcast_to(getattr(found.times, name), (n,)) * slower for name in _TERMS}
    return tuple(
        LayoutAnswer(
            tensor=int(ways.tensor[i]),
            pipeline=int(ways.pipeline[i]),
            virtual=int(ways.virtual[i]),
            context=int(ways.context[i]),
            expert=int(ways.expert[i]),
            data=int(ways.data[i]),
            micro_batch=int(ways.micro_batch[i]),
            is_fully_sharded=bool(ways.is_fully_sharded[i]),
            is_optimizer_sharded=bool(ways.is_optimizer_sharded[i]),
            recompute=float(ways.recompute[i]),
            step_s={name: float(values[i]) for name, values in terms.items()},
            tokens_per_s=rates[i],
            memory_bytes=peaks[i],
            memory_parts={one.name: float(getattr(found.memory, one.name)[i]) for one in fields(MemoryUse)},
            probability_fits=float(found.probability[i]),
        )
        for i in range(n)
    )
