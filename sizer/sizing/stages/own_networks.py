"""Rates of networks of one's own: the share of a GPU's peak that published trainings of networks of a kind reached."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import RequestError
from sizer.base.estimate import Z90
from sizer.base.quantities import si
from sizer.calibrate.cases import peak_flop_per_s
from sizer.calibrate.engine import Fit
from sizer.calibrate.modern.rows import published_runs, sourced_accelerators
from sizer.calibrate.own_networks import (
    FILL_FLOP,
    N_TERMS,
    SHARE,
    SHARES,
    TRAINING,
    TUNED,
    OwnRun,
    effects_of,
    load_runs,
    own_networks,
    trainings_of,
)
from sizer.calibrate.serving.deployment import kernels_are_unknown
from sizer.catalog.model import Catalog
from sizer.catalog.sale import era_of_gpu
from sizer.catalog.schema import Gpu
from sizer.perf.step_terms import ABSENT, EFFICIENCY, FILL, LAUNCH, SCALE_OUT, STRAGGLER, StepTerms
from sizer.workload.optional_tables import Measured, far_off
from sizer.workload.resolve import ResolvedWorkload

_THIS = "of the request"
# What kernels make of a GPU: the spread of image networks between generations in MLPerf runs.
_KERNELS_LOG_SD = 0.15
# Whether more GPUs than were ever shown together scale, by doublings beyond them, or beyond one server. Predicted from
# runs on 8 GPUs or fewer, published rates of larger clusters are off by 5 % in the median, 0.074 over about three.
_PER_DOUBLING_LOG_SD, _USUAL_SERVER = 0.025, 8


def operators_are_unknown(work: ResolvedWorkload, gpu: Gpu, catalog: Catalog) -> bool:
    """Whether nobody has shown that GPUs of a vendor run such a network: no run that its rate is fitted to, none of the
    customer's. Rates of language models have a law of their own; kernels of those in use are asked about.
    """
    if work.serving is not None:
        return kernels_are_unknown(work.serving, gpu, catalog)
    if gpu.vendor == "NVIDIA" or work.is_laid_out:
        return False
    known = sourced_accelerators()
    of_mlperf = [known[row.accelerator].gpu for row in published_runs(work.mlperf) if row.accelerator in known]
    runs = [run.gpu for run in load_runs()] if work.own_kind is not None else of_mlperf
    shown = {
        catalog.gpus[name].vendor
        for name in (*runs, *(one.gpu for one in work.request.measured))
        if name in catalog.gpus
    }
    return gpu.vendor not in shown


def run_on(work: ResolvedWorkload, gpu: Gpu, rate: Measured | None = None) -> OwnRun:
    """The training of a workload on a GPU as a run among the published ones: its team is its own.

    So is its network, but one of the catalogue, which published trainings may name by its id.
    """
    batch = (rate and rate.batch_per_gpu) or work.batch_on(gpu.id)
    return OwnRun(
        id=work.request.name,
        team=_THIS,
        network=work.request.dnn if isinstance(work.request.dnn, str) else _THIS,
        kind=work.own_kind or "",
        forward_flop=work.dnn.forward_flop.value,
        gpu=gpu.id,
        generation=gpu.generation or "",
        peak_flop_per_s=gpu.peak_mixed_flop_per_s.value,
        gpus=1 if rate is None else rate.gpus,
        batch_per_gpu=float(np.ravel(batch)[0]),
        precision=_precision(work, gpu),
        measured=TUNED if work.request.run == "benchmark" and rate is None else TRAINING,
        samples_per_s=0.0 if rate is None else rate.samples_per_s,
    )


def _precision(work: ResolvedWorkload, gpu: Gpu) -> str:
    if work.request.precision != "fp32":
        return "mixed"
    return "tf32" if "tf32" in gpu.peak_flop_per_s else "fp32"


def own_fit(work: ResolvedWorkload, gpu: Gpu, catalog: Catalog) -> Fit:
    """The shipped fit after the rates that the customer measured, on this GPU or as its hardware carries them to it."""
    known = [(run_on(work, catalog.gpus[one.gpu], one), one.within_percent / 100) for one in work.request.measured]
    if any(run.gpu == gpu.id for run, _ in known):
        return _updated(tuple(known))
    for rate, (_, sd) in zip(work.request.measured, tuple(known), strict=True):
        least, most = hardware_gains(gpu, catalog.gpus[rate.gpu], work.request.precision)
        there = run_on(work, gpu, rate)
        carried = replace(there, samples_per_s=rate.samples_per_s * float(np.exp((least + most) / 2)))
        # Within the gains, and by what kernels make of them.
        known.append((carried, math.hypot(sd, (most - least) / 2 / Z90, _KERNELS_LOG_SD)))
    return _updated(tuple(known))


def hardware_gains(gpu: Gpu, measured: Gpu, precision: str) -> tuple[float, float]:
    """Logarithms of the smaller and the larger of the gains in peak and in memory bandwidth over a GPU."""
    peak = float(np.log(peak_flop_per_s(gpu, precision) / peak_flop_per_s(measured, precision)))
    if gpu.memory_bytes_per_s is None or measured.memory_bytes_per_s is None:
        return peak, peak
    memory = float(np.log(gpu.memory_bytes_per_s.value / measured.memory_bytes_per_s.value))
    return min(peak, memory), max(peak, memory)


@lru_cache(maxsize=256)
def is_slower_than_usual(gpu: Gpu, catalog: Catalog) -> bool:
    """Whether a GPU has less peak and less bandwidth than the one of its era that most published trainings ran on."""
    era = era_of_gpu(catalog, gpu)
    known = (catalog.gpus.get(run.gpu) for run in load_runs() if run.measured == TRAINING)
    ran = Counter(one.id for one in known if one is not None and era_of_gpu(catalog, one) == era)
    return any(hardware_gains(gpu, catalog.gpus[name], "mixed")[1] < 0 for name, _ in ran.most_common(1))


@lru_cache(maxsize=256)
def _updated(rates: tuple[tuple[OwnRun, float], ...]) -> Fit:
    if not rates:
        return own_networks()
    runs, sd = zip(*rates, strict=True)
    measured = np.log([run.share for run in runs])
    return own_networks().updated([effects_of(run) for run in runs], SHARES.law(runs), N_TERMS, measured, np.array(sd))


def check_measured(work: ResolvedWorkload, place: str, catalog: Catalog) -> None:
    """Refuse a measured rate that its GPUs cannot reach.

    Raises RequestError naming the rate and the peak.
    """
    for number, rate in enumerate(work.request.measured):
        gpu = catalog.gpus[rate.gpu]
        share, peak = run_on(work, gpu, rate).share, gpu.peak_mixed_flop_per_s.value
        if share > 1:
            raise RequestError(
                f"{place}.{number}.samples_per_s = {si(rate.samples_per_s, 'samples/s')} on {rate.gpus} {gpu.name} "
                f"would be {si(share * peak, 'FLOP/s')} a GPU, above its peak of {si(peak, 'FLOP/s')}; check "
                "forward_flop, the number of GPUs and the unit of the rate"
            )


def far_rates(work: ResolvedWorkload, catalog: Catalog) -> list[float]:
    """Rates that the customer measured over what is predicted of them, of those that are far off. [-]"""
    runs = [run_on(work, catalog.gpus[one.gpu], one) for one in work.request.measured]
    if not runs or work.own_kind is None:
        return []
    logs, _ = SHARES.predict(own_networks(), runs)
    return far_off(run.share / float(np.exp(log)) for run, log in zip(runs, logs, strict=True))


def _held_to_hardware(work: ResolvedWorkload, gpu: Gpu, fit: Fit, gpus: Mapping[str, Gpu]) -> float:
    """What a measured rate gains too much or too little on another GPU: ln of the factor that mends it.

    Published trainings say how much faster a GPU is than the one that was measured; by no more than the larger of the
    gains in peak and in memory bandwidth, and by no less than the smaller.
    """
    rates = work.request.measured
    if not rates or any(rate.gpu == gpu.id for rate in rates):
        return 0.0

    def log_rate(one: Gpu) -> float:
        run = run_on(work, one)
        return float(fit.terms(effects_of(run), N_TERMS)[0][SHARE]) + float(np.log(run.peak_flop_per_s))

    mended = []
    for measured in (gpus[rate.gpu] for rate in rates):
        gain = log_rate(gpu) - log_rate(measured)
        least, most = hardware_gains(gpu, measured, work.request.precision)
        mended.append(min(max(gain, least), most) - gain)
    return sum(mended) / len(mended)


def beyond_runs_log_sd(work: ResolvedWorkload, gpu: Gpu, n_gpus: Floats) -> Floats:
    """Spread of the logarithm of a rate on more GPUs than any published training of its kind had of this GPU."""
    ran = [run.gpus for run in trainings_of(work.own_kind or "") if run.gpu == gpu.id]
    most = max([_USUAL_SERVER, *ran, *(rate.gpus for rate in work.request.measured if rate.gpu == gpu.id)])
    return np.asarray(_PER_DOUBLING_LOG_SD * np.log2(np.maximum(n_gpus / most, 1.0)))


def own_terms(work: ResolvedWorkload, gpu: Gpu, fit: Fit, exchange: StepTerms, gpus: Mapping[str, Gpu]) -> StepTerms:
    """Terms of a step on a GPU: arithmetic as published trainings had it, the exchange as of other networks.

    Launches, and GPUs waiting for one another, are part of the published shares. The spread of the arithmetic is one of
    the rate, see :func:`rate_log_sd`: its effects are no parameters of the model of the exchange.
    """
    run = run_on(work, gpu)
    values, _ = fit.terms(effects_of(run), N_TERMS)
    terms = exchange.values.copy()
    # The published shares are those of the peak in mixed precision.
    terms[EFFICIENCY] = values[SHARE] + np.log(run.peak_flop_per_s / peak_flop_per_s(gpu, work.request.precision))
    terms[EFFICIENCY] += _held_to_hardware(work, gpu, fit, gpus)
    terms[FILL] = values[FILL_FLOP] - np.log(run.forward_flop)
    shown = [EFFICIENCY, FILL, LAUNCH, STRAGGLER, SCALE_OUT]
    terms[shown[2:]] = ABSENT
    known = exchange.covariance.copy()
    known[shown, :] = known[:, shown] = 0.0
    return replace(
        exchange,
        values=terms,
        covariance=known,
        scatter_log_sd=np.zeros(()),
        between_log_sd=np.zeros(()),
        effects=tuple(effect for effect in exchange.effects if effect[0] not in shown),
    )


def rate_log_sd(work: ResolvedWorkload, gpu: Gpu, fit: Fit, batch_per_gpu: Floats) -> Floats:
    """Spread of the logarithm of the rate at each batch, between networks of a kind and the teams that train them."""
    run = run_on(work, gpu)
    values, covariance = fit.terms(effects_of(run), N_TERMS)
    batches, place = np.unique(batch_per_gpu, return_inverse=True)
    law = SHARES.law([replace(run, batch_per_gpu=batch) for batch in batches.tolist()])
    _, slopes = law(np.broadcast_to(values, (len(batches), N_TERMS)))
    return fit.interval_sd(np.einsum("ij,jk,ik->i", slopes, covariance, slopes))[place].reshape(batch_per_gpu.shape)
