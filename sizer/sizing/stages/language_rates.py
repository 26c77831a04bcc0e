"""Rates of language models on designs: at every number of GPUs those of the fastest layout that fits in memory.

Over days, with what interruptions and checkpoints leave of the time: the rate that a target asks for is sustained.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate
from sizer.base.quantities import si
from sizer.base.stored_answers import Deferred
from sizer.base.units import bytes_per_s_from_gbit_per_s
from sizer.calibrate.language.calibration import RunBasis, language_calibration, stack_worths
from sizer.calibrate.language.cases import gpu_of_case
from sizer.calibrate.language.rows import LanguageRow, stack_named
from sizer.calibrate.language.whole_runs import OWN_STEPS, WholeTraining, whole_runs
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Stack
from sizer.perf.availability.goodput import CheckpointPlan
from sizer.physical.platform import Platform
from sizer.sizing.stages.checkpoints import CheckpointedJob, goodput_of, plan_of
from sizer.sizing.stages.laid_out import LaidOutRun
from sizer.sizing.stages.language_layouts import (
    MOST_GPUS,
    LayoutAnswer,
    LayoutQuestion,
    basis_of_question,
    domain_gpus,
    inputs_of,
    search_layouts,
    search_sizes,
)
from sizer.sizing.stages.platform_columns import ServerRows, fabric_bytes_per_s
from sizer.workload.language import DEFAULT_LANGUAGE_STACK, LanguageWork
from sizer.workload.optional_tables import Measured, far_off
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload, resolve
from sizer.workload.transformer.layout_pins import wide_tensor_error_text
from sizer.workload.transformer.number_formats import computed_as, stack_precision

# Rate of what does not fit. [tokens/s]
_NO_RATE = 0.0
# Numbers of servers that are judged between one and twice as many: every one up to 128, as layouts that divide well may
# lie anywhere, then every second.
_STEPS_TO_DOUBLE = 64
# Layouts asked for: enough that the next one of other degrees is among them.
_JUDGED = 24
_LORA, _FULL = "lora", "pretrain"
# Kinds of published trainings as requests name their methods, and the GPUs of one of their servers.
_METHODS = {"pretrain": "full", "continued": "continued", "finetune": "fine-tuning"}
_GPUS_PER_SERVER = 8
# Of the rate on GPUs of a generation without any published run, by the peak alone: a factor of 1.8 either way in 90 %
# of cases. A choice of ours, three times the prior spread between GPUs that were measured.
_GENERATION_LOG_SD = 0.35
# Stacks (ids) for the vendors whose GPUs the default stack does not run on.
_STACK_OF_VENDOR = {"AMD": "primus"}


@dataclass(frozen=True)
class OtherStack:
    """Another software stack and what it is worth."""

    stack: Stack
    rate_ratio: Estimate  # its rate over that of the chosen stack, with the same layout
    runs: int  # published ones that the fit has


@dataclass(frozen=True)
class LanguageAnswer:
    """How the training of a language model is divided over the GPUs of a design."""

    work: LanguageWork
    layout: LayoutAnswer
    runner_up: LayoutAnswer | None  # the fastest layout of other degrees
    gpus_used: int  # of the design: models divide well over some numbers of servers only
    batch: int  # sequences of a step
    stack: str  # id of the software that runs on these GPUs
    plan: CheckpointPlan  # checkpoints and interruptions, on storage that is sized for them
    basis: RunBasis  # published runs that the rate rests on
    model_flop: float  # of training on one token, nothing recomputed
    peak_flop_per_s: float  # of a GPU in the format of the training, dense
    stacks: Deferred[tuple[OtherStack, ...]]  # for these GPUs, the fastest first

    def model_flop_per_s(self, tokens_per_s: float) -> float:
        """Useful FLOP/s of one GPU at a rate of the whole system."""
        return self.model_flop * tokens_per_s / self.gpus_used

    def utilization(self, tokens_per_s: float) -> float:
        """Model FLOP utilization (MFU): useful FLOP/s over the peak of the number format. [-]"""
        return self.model_flop_per_s(tokens_per_s) / self.peak_flop_per_s

    @property
    def job(self) -> CheckpointedJob:
        """The training with its checkpoints; rates and times count its interruptions."""
        work = self.work
        return CheckpointedJob(work.checkpoints, self.plan, work.parameters, max(self.layout.data, 1), counts=True)


@dataclass(frozen=True)
class _Cluster:
    """Servers that compute alike."""

    gpu: str
    vendor: str
    gpus_per_server: int
    nic_gbit_per_gpu: float | None  # None: the usual one of its kind


def language_run(work: ResolvedWorkload, hosts: ServerRows) -> LaidOutRun:
    """Rates of every row.

    Layouts are judged at every number of servers up to 128, at every second one up to 256 and so on; one between them
    has the rate of the fastest one below it.
    """
    shape, cols, catalog, groups = hosts.shape, hosts.cols, hosts.catalog, hosts.groups
    group, per_server, servers = (
        np.broadcast_to(part, shape).reshape(-1) for part in (cols.compute, cols.gpus_per_server, hosts.n_servers)
    )
    rate, sd, fits = np.full(group.size, _NO_RATE), np.full(group.size, 0.2), np.zeros(group.size, dtype=bool)
    replicas = np.ones(group.size)
    busy = work.request.target.gpus_busy
    kinds = np.stack([group, per_server]).astype(np.int64)
    first = np.sort(np.unique(kinds, axis=1, return_index=True)[1])
    for number, used in {(int(a), int(b)) for a, b in kinds[:, first].T}:
        rows = np.flatnonzero((group == number) & (per_server == used))
        one = _cluster(catalog, groups[number].server, groups[number].gpu, used, groups[number].fabric)
        table = _table(work.trained, one, int(servers[rows].max()), busy, catalog)
        at = np.searchsorted(table.servers, servers[rows], side="right") - 1
        rate[rows], sd[rows], fits[rows] = table.tokens_per_s[at], table.log_sd[at], table.tokens_per_s[at] > _NO_RATE
        replicas[rows] = table.replicas[at]
    return LaidOutRun(rate.reshape(shape), sd.reshape(shape), fits.reshape(shape), replicas.reshape(shape))


def whole_run(work: ResolvedWorkload, hosts: ServerRows) -> Estimate | None:
    """How many times as long as its steps the training of a language model takes, of every row; None of other work."""
    if work.language is None or work.request.run == "benchmark":
        return None
    catalog = hosts.catalog
    shape = work.language.shape or catalog.dnns[work.language.model].transformer
    assert shape is not None
    name = "" if work.request.stack is None else work.stack.framework
    measured = {rate.gpu for rate in work.language.measured}
    factors = [
        OWN_STEPS
        if group.gpu in measured
        else whole_runs(catalog).factor(catalog.gpus[group.gpu], shape.experts > 1, name, catalog)
        for group in hosts.groups
    ]
    rows = np.broadcast_to(hosts.cols.compute, hosts.shape).astype(np.int64)
    value, low, high = np.array([tuple(factor) for factor in factors]).T
    return Estimate(value[rows], low[rows], high[rows])


def language_answer(work: ResolvedWorkload, platform: Platform, n_gpus: int, catalog: Catalog) -> LanguageAnswer | None:
    """Layout of a workload on so many GPUs of a platform, with the next one; None of what is no language model."""
    if work.language is None:
        return None
    used = min(platform.gpus_per_server, n_gpus)
    one = _cluster(catalog, platform.server.id, platform.gpu.id, used, platform.fabric)
    table = _table(work.language, one, math.ceil(n_gpus / used), work.request.target.gpus_busy, catalog)
    if table.tokens_per_s[-1] <= _NO_RATE:
        return None
    servers = int(table.fastest[-1])
    gpus, found = servers * used, _layouts(work.language, one, (servers,), catalog, _JUDGED)[0]
    others = (layout for layout in found if _degrees(layout) != _degrees(found[0]))
    batch, stack = work.language.batch(gpus), stack_on(work.language, one.vendor)
    plan = plan_of(work.language.checkpoints, gpus)
    stacks = Deferred(partial(_other_stacks, work.language, one, stack, found[0], gpus, catalog))
    basis = basis_of_question(_question(work.language, one, catalog), catalog, language_calibration())
    trained = replace(work.language, number_format=work.language.format_on(platform.gpu, catalog))
    flop = _model_flop(work.language, one, found[0], gpus, catalog)
    peak = _peak_flop_per_s(work.language, platform.gpu, catalog)
    return LanguageAnswer(trained, found[0], next(others, None), gpus, batch, stack, plan, basis, flop, peak, stacks)


def _model_flop(work: LanguageWork, one: _Cluster, layout: LayoutAnswer, gpus: int, catalog: Catalog) -> float:
    """FLOP of training on one token, nothing recomputed."""
    question = replace(_question(work, one, catalog), gpus=gpus, batch=work.batch(gpus))
    shapes, layouts, _ = inputs_of(question, layout, catalog)
    return float(shapes.model_flop(layouts.sequence, layouts.is_lora)[0])


def _peak_flop_per_s(work: LanguageWork, gpu: Gpu, catalog: Catalog) -> float:
    """Of a GPU in the format of a training, dense."""
    computed = computed_as(work.format_on(gpu, catalog))
    return gpu.peak_flop_per_s.get(computed, gpu.peak_mixed_flop_per_s).value


def rate_of_training(training: WholeTraining, catalog: Catalog) -> Estimate:
    """Rate of a published training over its days, as it would be sized: by the fastest layout of the default stack.

    In tokens/s, with the spread of the steps.
    """
    request = {
        "workload": [
            {
                "name": training.model,
                "dnn": {"name": training.model, **training.shape.model_dump(exclude_defaults=True)},
                "tokens": training.tokens,
                "sequence_tokens": training.sequence,
                **({"batch_sequences": training.batch_sequences} if training.batch_sequences else {}),
                "method": _METHODS[training.kind],
                "target": {"gpus_busy": training.gpus},
            }
        ]
    }
    (work,) = resolve(SizingRequest.from_dict(request), catalog, {})
    assert work.language is not None
    one = _usual_cluster(catalog.gpus[training.gpu], training.gpus)
    table = _table(work.language, one, training.gpus // one.gpus_per_server, training.gpus, catalog)
    return Estimate.log_normal(table.tokens_per_s[-1], table.log_sd[-1])


def gpus_at_work(work: ResolvedWorkload, platform: Platform, n_servers: int, catalog: Catalog) -> int:
    """GPUs of some servers that the fastest layout of a workload uses; all of them of what is no language model."""
    if work.language is None:
        return n_servers * platform.gpus_per_server
    one = _cluster(catalog, platform.server.id, platform.gpu.id, platform.gpus_per_server, platform.fabric)
    table = _table(work.language, one, n_servers, work.request.target.gpus_busy, catalog)
    return int(table.fastest[-1]) * platform.gpus_per_server


def _degrees(layout: LayoutAnswer) -> tuple[int, ...]:
    return layout.tensor, layout.pipeline, layout.context, layout.expert


def _cluster(catalog: Catalog, server: str, gpu: str, used: int, fabric: LinkType) -> _Cluster:
    rate = fabric_bytes_per_s(catalog.servers[server], fabric) / used / bytes_per_s_from_gbit_per_s(1.0)
    return _Cluster(gpu, catalog.gpus[gpu].vendor, used, rate)


def _usual_cluster(gpu: Gpu, gpus: int) -> _Cluster:
    """So many GPUs of a kind in servers of eight, or where they do not fill these, of the most that they fill."""
    used = gpus if gpus <= _GPUS_PER_SERVER else math.gcd(gpus, _GPUS_PER_SERVER)
    return _Cluster(gpu.id, gpu.vendor, used, None)


def judged_sizes(most: int, asked: int) -> list[int]:
    """Numbers of servers to judge: the usual ones up to a number, and one that the request asks for."""
    parts = range(_STEPS_TO_DOUBLE, 2 * _STEPS_TO_DOUBLE)
    usual = {part * 2**k // _STEPS_TO_DOUBLE for k in range(most.bit_length() + 1) for part in parts}
    return sorted(step for step in usual | {asked} if step <= most)


class _Table(NamedTuple):
    """Numbers of servers that were judged, and for each the fastest up to it. Arrays of one length."""

    servers: Ints
    fastest: Ints  # servers that are used
    tokens_per_s: Floats
    log_sd: Floats
    replicas: Floats  # data parallel


@lru_cache(maxsize=1024)  # several questions about one request ask for the same
def _table(work: LanguageWork, one: _Cluster, most: int, busy: int | None, catalog: Catalog) -> _Table:
    """Rates on up to so many servers, ``busy`` GPUs of them asked for.

    More servers never have less: a batch that divides badly over them is trained on some of them, as is one on more
    GPUs than layouts are judged for.
    """
    steps = judged_sizes(
        min(most, MOST_GPUS // one.gpus_per_server), 1 if busy is None else math.ceil(busy / one.gpus_per_server)
    )
    found = _layouts(work, one, tuple(steps), catalog, 1)
    shares = [goodput_of(work.checkpoints, servers * one.gpus_per_server) for servers in steps]
    rate, sd = np.full(len(steps), _NO_RATE), np.full(len(steps), 0.2)
    for place, (answers, (share, share_sd)) in enumerate(zip(found, shares, strict=True)):
        if answers:
            rate[place] = float(answers[0].tokens_per_s.value) * share
            sd[place] = math.hypot(float(answers[0].tokens_per_s.log_sd), share_sd)
    servers = np.array(steps)
    best = np.maximum.accumulate(rate)
    places = np.maximum.accumulate(np.where(rate >= best, np.arange(len(rate)), 0))
    replicas = np.array([float(answers[0].data) if answers else 1.0 for answers in found])
    return _Table(servers, servers[places], best, sd[places], replicas[places])


def layout_refusal(work: LanguageWork, platform: Platform, n_gpus: int, catalog: Catalog) -> str:
    """Why no layout trains a language model on so many GPUs of a platform."""
    used = min(platform.gpus_per_server, n_gpus)
    one = _cluster(catalog, platform.server.id, platform.gpu.id, used, platform.fabric)
    question = _question(work, one, catalog)
    try:
        search_layouts(
            replace(question, gpus=n_gpus, batch=work.batch(n_gpus)), catalog, language_calibration(), count=1
        )
    except RequestError as error:
        return str(error)
    return ""


def wide_tensor_refusal(
    resolved_work: ResolvedWorkload, platforms: Sequence[Platform], place: str, catalog: Catalog
) -> str:
    """Why the tensor parallelism of a request runs on no platform: none joins as many GPUs; "" where one does."""
    work = resolved_work.language
    if work is None or work.pins.tensor is None:
        return ""
    groups = {
        (one.server.id, one.gpu.id): _cluster(catalog, one.server.id, one.gpu.id, one.gpus_per_server, one.fabric)
        for one in platforms
    }
    most = max(domain_gpus(_question(work, one, catalog), catalog) for one in groups.values())
    return wide_tensor_error_text(work.pins, most, place)


def _layouts(
    work: LanguageWork, one: _Cluster, servers: tuple[int, ...], catalog: Catalog, count: int
) -> tuple[tuple[LayoutAnswer, ...], ...]:
    """The fastest layouts on each of several numbers of servers; rates of what fills the sequences."""
    gpus = tuple(number * one.gpus_per_server for number in servers)
    batches = tuple(work.batch(number) for number in gpus)
    found = _searched(_question(work, one, catalog), gpus, batches, catalog, count)
    learned = _learned(work, one.gpu, catalog)
    is_guess = learned is None and is_unmeasured(catalog.gpus[one.gpu], catalog)
    if work.filled_share == 1 and learned is None and not is_guess:
        return found

    def rate(tokens_per_s: Estimate) -> Estimate:
        filled = tokens_per_s.scaled(work.filled_share)
        if is_guess:
            return Estimate.log_normal(filled.value, np.hypot(filled.log_sd, _GENERATION_LOG_SD))
        return filled if learned is None else learned.applied(filled)

    return tuple(
        tuple(replace(layout, tokens_per_s=rate(layout.tokens_per_s)) for layout in answers) for answers in found
    )


class _Learned(NamedTuple):
    """What rates of the customer tell of a training on a kind of GPU (Bayes, normal in the logarithm)."""

    factor: float  # on rates
    before_log_sd: float  # of the rates that were measured, without them
    log_sd: float  # and with them

    def applied(self, rate: Estimate) -> Estimate:
        """A rate on other numbers of GPUs: what is less sure there than where it was measured stays so."""
        more = np.sqrt(np.maximum(np.square(rate.log_sd) - self.before_log_sd**2, 0.0))
        return Estimate.log_normal(rate.value * self.factor, np.hypot(self.log_sd, more))


def _learned(work: LanguageWork, gpu: str, catalog: Catalog) -> _Learned | None:
    """None where nothing was measured on this kind of GPU."""
    found = [(rate, _where_measured(work, rate, catalog)) for rate in work.measured if rate.gpu == gpu]
    if not found:
        return None
    before = max(float(layout.tokens_per_s.log_sd) for _, layout in found)
    weights = np.array([(rate.within_percent / 100) ** -2 for rate, _ in found])
    gaps = np.log([rate.samples_per_s / float(layout.tokens_per_s.value) for rate, layout in found])
    known = 1 / (1 + before**2 * weights.sum())
    return _Learned(math.exp(before**2 * known * float(weights @ gaps)), before, before * math.sqrt(known))


def _where_measured(work: LanguageWork, rate: Measured, catalog: Catalog) -> LayoutAnswer:
    """The fastest layout on the GPUs of a rate of the customer in the usual servers, as it is predicted without it.

    Raises RequestError if no layout fits in their memory.
    """
    there = _usual_cluster(catalog.gpus[rate.gpu], rate.gpus)
    [answers] = _layouts(replace(work, measured=()), there, (rate.gpus // there.gpus_per_server,), catalog, 1)
    if not answers:
        raise RequestError(
            f"workload.measured: {work.model} in training does not fit on {rate.gpus} {catalog.gpus[rate.gpu].name} "
            "as its memory is predicted; give the number of GPUs of the run that was measured"
        )
    return answers[0]


def check_measured_tokens(work: ResolvedWorkload, place: str, catalog: Catalog) -> None:
    """Refuse measured rates of a language model that its GPUs cannot reach, or on which no layout fits.

    Raises RequestError naming the rate and the peak.
    """
    for number, rate in enumerate(work.trained.measured):
        gpu, one = catalog.gpus[rate.gpu], _usual_cluster(catalog.gpus[rate.gpu], rate.gpus)
        layout = _where_measured(work.trained, rate, catalog)
        per_gpu = _model_flop(work.trained, one, layout, rate.gpus, catalog) * rate.samples_per_s / rate.gpus
        peak = _peak_flop_per_s(work.trained, gpu, catalog)
        if per_gpu > peak:
            raise RequestError(
                f"{place}.{number}.samples_per_s = {si(rate.samples_per_s, 'tokens/s')} on {rate.gpus} {gpu.name} "
                f"would be {si(per_gpu, 'FLOP/s')} a GPU, above its peak of {si(peak, 'FLOP/s')}; check the number of "
                "GPUs and that the rate is in tokens"
            )


def far_token_rates(work: LanguageWork, catalog: Catalog) -> list[float]:
    """Rates that the customer measured over what is predicted of them, of those that are far off. [-]"""
    return far_off(
        rate.samples_per_s / float(_where_measured(work, rate, catalog).tokens_per_s.value) for rate in work.measured
    )


def _question(work: LanguageWork, one: _Cluster, catalog: Catalog) -> LayoutQuestion:
    return LayoutQuestion(
        model=work.model,
        gpu=one.gpu,
        gpus=one.gpus_per_server,
        sequence=work.sequence,
        batch=1,
        precision=work.format_on(catalog.gpus[one.gpu], catalog),
        software=catalog.stacks[stack_on(work, one.vendor)].framework,
        kind=_LORA if work.method == "lora" else _FULL,
        gpus_per_server=one.gpus_per_server,
        nic_gbit_per_gpu=one.nic_gbit_per_gpu,
        pins=work.pins,
        shape=work.shape,
        document_tokens=work.document_tokens,
    )


@lru_cache(maxsize=8)
def _measured(catalog: Catalog) -> frozenset[str | None]:
    """Ids and generations of the GPUs with published runs of language models."""
    gpus = [gpu_of_case(case, catalog) for case in language_calibration().cases]
    return frozenset(name for gpu in gpus for name in (gpu.id, gpu.generation)) - {None}


def is_unmeasured(gpu: Gpu, catalog: Catalog) -> bool:
    """Whether nobody published a run of a language model on a GPU, or on another one of its generation."""
    return _measured(catalog).isdisjoint((gpu.id, gpu.generation))


def stack_on(work: LanguageWork, vendor: str) -> str:
    """Software on the GPUs of a vendor: as asked, or where that is the default, the vendor's own."""
    return _STACK_OF_VENDOR.get(vendor, work.stack) if work.stack == DEFAULT_LANGUAGE_STACK else work.stack


def stack_in_fit(stack: Stack, gpu: str) -> str:
    """Name of a stack of the catalogue in the fit of the published runs; ``gpu`` is an id."""
    return stack_named(LanguageRow("", "", "", gpu, "", 1.0, software=stack.framework))


def measured_language_stacks(dnn: str, catalog: Catalog) -> frozenset[str]:
    """Ids of the stacks with published runs of a language model (id) among those that the rates rest on."""
    shape = catalog.dnns[dnn].transformer if dnn in catalog.dnns else None
    if shape is None:
        return frozenset()
    cases = [case for case in language_calibration().cases if case.row.model == shape.measured_as]
    return frozenset(
        stack.id
        for stack in catalog.stacks.values()
        if stack.trains_language and any(stack_in_fit(stack, case.gpu_id) == case.levels.stack for case in cases)
    )


def _other_stacks(
    work: LanguageWork, one: _Cluster, chosen: str, layout: LayoutAnswer, gpus: int, catalog: Catalog
) -> tuple[OtherStack, ...]:
    """Other stacks for the GPUs of a cluster that have the number format of the training."""
    wanted = stack_precision(work.number_format)
    makers = {gpu.vendor for gpu in catalog.gpus.values()} - {one.vendor}  # whose software is for their own GPUs
    stacks = {
        stack.id: stack_in_fit(stack, one.gpu)
        for stack in catalog.stacks.values()
        if stack.id == chosen or (stack.trains_language and wanted in stack.precisions and stack.vendor not in makers)
    }
    question = replace(_question(work, one, catalog), gpus=gpus, batch=work.batch(gpus))
    inputs = inputs_of(question, layout, catalog)
    found = stack_worths(language_calibration(), stacks, chosen, is_lora=work.method == _LORA, inputs=inputs)
    return tuple(OtherStack(catalog.stacks[worth.stack], worth.rate_ratio, worth.runs) for worth in found)


@lru_cache(maxsize=4096)
def _searched(
    question: LayoutQuestion, gpus: tuple[int, ...], batches: tuple[int, ...], catalog: Catalog, count: int
) -> tuple[tuple[LayoutAnswer, ...], ...]:
    try:
        found = search_sizes(question, gpus, batches, catalog, language_calibration(), count)
    except RequestError:  # of a platform that a fixed degree rules out
        return ((),) * len(gpus)
    return tuple(one.answers for one in found)
