"""What rows say in the terms of the model: a deployment under a load, or why there is none."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import ValidationError

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.language.cases import gpu_named
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.serving.calibration import CALIBRATED_TOKENS, LatencyLimits, ServingCalibration
from sizer.calibrate.serving.deployment import (
    ENGINES,
    Deployment,
    ServedModel,
    ServingPoints,
    missing_facts,
    model_of,
    served_model,
)
from sizer.calibrate.serving.rows import CLOSED_LOOP, MLPERF, OFFLINE, ServingRow, fitted_rows
from sizer.calibrate.validate import ValidatedRow
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, TransformerShape
from sizer.perf.serving.replica import WEIGHT_BYTES

# Month of a row without a date, by its source: the middle of those that it states.
_USUAL_MONTH = 2026 * 12 + 1.0
# Half of the prefills of all requests in flight, over the ten rounds of a run that starts them at once.
_BURST_SHARE = 0.05
# For what the stack of a row was tuned.
_TUNING = {CLOSED_LOOP: "", OFFLINE: "overview", MLPERF: "mlperf"}
# Requests that a tuned engine decodes at once where that is not stated.
_USUAL_RUNNING = 2048.0
# Width of the values of linear attention over the model's, and of its keys: Qwen3-Next and Qwen3.5.
_LINEAR_WIDTH, _LINEAR_KEYS = 2.0, 128.0
# Beams with which MLPerf's rules have GPT-J decode.
_BEAMS = 4
# Requests for which memory has room in a tuned run whose layout is not stated.
_LEAST_ROOM = 64.0
# GPUs of a server, and the rate of the adapter of each of them.
_USUAL_DOMAIN, _NIC_BYTES_PER_S = 8, 50e9


@dataclass(frozen=True)
class ServingCase:
    """One row that the model can describe."""

    row: ServingRow
    deployment: Deployment
    replicas: float  # that the measured rate is of
    input_tokens: float
    output_tokens: float
    cached_share: float
    concurrency: float | None  # of all replicas; None: not stated
    guessed: tuple[str, ...] = ()  # what the source does not state


def cases_of(rows: Sequence[ServingRow], catalog: Catalog) -> list[ServingCase | CalibrationNote]:
    """Each row as a case, or why it cannot be one."""
    return [_case(row, catalog) for row in rows]


def _case(row: ServingRow, catalog: Catalog) -> ServingCase | CalibrationNote:
    gpu = gpu_named(row.gpu, catalog) if row.gpu else None
    if gpu is None:
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.gpu) if row.gpu else note(FitNote.GPU_NOT_NAMED)
    model = model_of_row(row, catalog)
    if isinstance(model, CalibrationNote):
        return model
    if not row.input_tokens or not row.output_tokens:
        return note(FitNote.LENGTHS_NOT_STATED)
    guessed: list[str] = []
    base = Deployment(
        model=model,
        gpu=gpu,
        engine=row.engine if row.engine in ENGINES else "",
        weights=_weights(row, gpu, guessed),
        cache=row.kv_precision.rstrip("?") if row.kv_precision.rstrip("?") in ("bf16", "fp8") else "",
        is_speculative=row.guesses,
        beams=_BEAMS if row.benchmark.startswith("gptj") else 1,
        # Only SGLang counts the tokens that it gathers before it sends to the first one.
        buffered_tokens=int(row.stream_interval or 1) if row.engine == "sglang" else 1,
        is_lockstep=row.engine == "sglang" and row.kind == CLOSED_LOOP and row.length_mean_ratio == 1.0,
        burst_share=_BURST_SHARE if row.kind == CLOSED_LOOP else 0.0,
        most_running=row.max_batch or (math.inf if row.kind == CLOSED_LOOP else _USUAL_RUNNING),
        month=row.month or _USUAL_MONTH,
        tuning=_TUNING[row.kind],
    )
    if row.speculative.rstrip("?") == "unknown":
        guessed.append("speculation")
    placed = _apart(row, base) if row.split == "apart" else _together(row, base, guessed)
    if isinstance(placed, CalibrationNote):
        return placed
    deployment, copies = _linked(placed[0], catalog), placed[1]
    if (missing := missing_facts(gpu, deployment.tensor * deployment.data)) is not None:
        return missing
    ratio = row.length_mean_ratio or 1.0
    in_flight = row.concurrency or row.concurrency_mean
    return ServingCase(
        row,
        deployment,
        copies,
        row.input_tokens * ratio,
        row.output_tokens * ratio,
        row.prefix_hit or 0.0,
        in_flight,
        tuple(guessed),
    )


def _linked(deployment: Deployment, catalog: Catalog) -> Deployment:
    """A deployment with the links of its ranks: beyond an NVLink domain they go through the network."""
    domains = (link for link in catalog.gpu_links.values() if deployment.gpu.form_factor.value in link.form_factors)
    domain = max((link.domain_gpus.value for link in domains if link.domain_gpus), default=_USUAL_DOMAIN)
    far = _NIC_BYTES_PER_S if deployment.tensor * deployment.data > domain else None
    prefill = None if deployment.prefill is None else _linked(deployment.prefill, catalog)
    return replace(deployment, link_bytes_per_s=far, prefill=prefill)


def _weights(row: ServingRow, gpu: Gpu, guessed: list[str]) -> str:
    """Precision of the weights: of a tuned engine that in which it computes."""
    for stated in (row.engine_precision, row.weight_precision):
        name = stated.rstrip("?")
        if name in WEIGHT_BYTES:
            return name
    guessed.append("precision")
    return "fp8" if "fp8" in gpu.peak_flop_per_s else "bf16"


def _together(row: ServingRow, base: Deployment, guessed: list[str]) -> tuple[Deployment, float] | CalibrationNote:
    gpus = row.gpus or 0.0
    # One GPU has one layout.
    tensor, data = int(row.tp or gpus == 1), int(row.dp or 1)
    if not tensor:
        # The least that loads is what tuned runs take; the model says which that is.
        guessed.append("layout")
        tensor = _least_tensor(base, int(gpus or 8))
        if not gpus:
            return note(FitNote.COUNTS_NOT_STATED)
    pipeline = row.pp or 1.0
    if gpus and tensor * pipeline > gpus:
        # The file of another system.
        tensor, pipeline = int(gpus), 1.0
    if row.kind == MLPERF and base.model.kv_rank and not row.dp:
        # One printed number of ranks, each with requests of its own.
        each = replace(base, data=tensor, expert=tensor, most_running=base.most_running * tensor)
        return each, max(1.0, gpus / tensor)
    found = replace(base, tensor=tensor * int(pipeline), pipeline=int(pipeline), data=data, expert=int(row.ep or 0))
    return found, max(1.0, (gpus or tensor * pipeline * data) / (tensor * pipeline * data))


def _least_tensor(base: Deployment, most: int) -> int:
    """Tensor ranks, the fewest with room for the requests of a tuned run."""
    some = [replace(base, tensor=tensor) for tensor in (1, 2, 4, 8, 16) if tensor < most]
    room = ServingPoints.make(some, input_tokens=1000, output_tokens=1000).room
    return next((one.tensor for one, has in zip(some, room >= _LEAST_ROOM, strict=True) if has), max(1, min(most, 8)))


def _apart(row: ServingRow, base: Deployment) -> tuple[Deployment, float] | CalibrationNote:
    needed = (row.prefill_workers, row.prefill_tp, row.decode_workers, row.decode_tp)
    if not all(needed):
        return note(FitNote.PART_GUESSED, "layout")
    prefill = replace(
        base, tensor=int(row.prefill_tp or 1), data=int(row.prefill_dp or 1), expert=int(row.prefill_ep or 0)
    )
    return (
        replace(
            base,
            tensor=int(row.decode_tp or 1),
            data=int(row.decode_dp or 1),
            expert=int(row.decode_ep or 0),
            prefill=prefill,
            prefill_replicas=int(row.prefill_workers or 1),
            decode_replicas=int(row.decode_workers or 1),
        ),
        1.0,
    )


def model_of_row(row: ServingRow, catalog: Catalog) -> ServedModel | CalibrationNote:
    """The catalogue's model of a row, else that of the shape which it states."""
    dnn = catalog.dnns.get(row.model)
    if dnn is not None and dnn.transformer is not None:
        return model_of(dnn)
    if not (row.layers and row.hidden and row.heads and row.head_dim and row.vocab and row.total_params):
        return note(FitNote.DNN_NOT_IN_CATALOGUE, row.model)
    sizes = {"layers": row.layers, "hidden": row.hidden, "heads": row.heads, "head_size": row.head_dim}
    sizes |= {"kv_heads": row.kv_heads or row.heads, "vocabulary": row.vocab, "ffn": row.ffn or row.hidden}
    if row.experts and row.experts > 1:
        sizes |= {"experts": row.experts, "active_experts": row.top_k or 1.0, "expert_ffn": row.moe_ffn or 1.0}
        sizes["dense_layers"] = row.dense_layers or 0.0
    special = row.layers - (row.layers if row.full_layers is None else row.full_layers)
    attention = "latent" if row.kv_rank else "sliding" if special else "full"
    if attention == "latent":
        sizes["kv_rank"] = row.kv_rank or 0.0
    elif attention == "sliding":
        sizes |= {"window_layers": special, "window": row.window or 1.0}
        if row.attention == "hybrid":
            sizes["state_elements"] = _LINEAR_WIDTH * row.hidden * _LINEAR_KEYS
    try:
        shape = TransformerShape.model_validate(
            {"attention": attention} | {name: round(one) for name, one in sizes.items()}
        )
    except ValidationError:
        return note(FitNote.SHAPE_NOT_STATED, row.model)
    return served_model(row.model, shape, row.total_params)


# Quantities of a row.
TOKENS, TPOT, TTFT = "output_tokens_per_s", "tpot_s", "ttft_s"
# Of a limit on a whole request, what its first token may take.
_FIRST_SHARE = 0.1
# A server at its limit: MLPerf's are as busy as they can be, and fill their memory.
_BUSY, _FILLED, _PERCENTILE = 0.97, 1.0, 99.0
# More spread of the logarithm of a rate where it is searched, from that of the percentile over the mean, and where the
# layout is guessed.
_SEARCHED_SD, _GUESSED_SD = 0.10, 0.35
# Steps that a request which arrives at random waits before its prefill, and that this shares with those in flight: half
# a step and a whole one. How a server at its limit schedules prefills differs: it may hold them back for a fifth to the
# double of that. Estimated from MLPerf's servers, v4.1 and v5.1.
_STEPS_WAITED, _SCHEDULED_SD = 1.5, 0.45


@dataclass(frozen=True)
class Predicted:
    """Medians and spreads of the logarithms, shape (n,); not a number where the model does not load."""

    value: Floats
    log_sd: Floats

    def estimate(self, row: int) -> Estimate | None:
        """One of them; None where the model does not load."""
        if not self.value[row] > 0:
            return None
        return Estimate.log_normal(float(self.value[row]), float(self.log_sd[row]))


def predict(cases: Sequence[ServingCase], calibration: ServingCalibration) -> Mapping[str, Predicted]:
    """Throughput of the whole system, time per token and time to the first token of measurements.

    A fixed number of requests in flight: at that number. Offline: as many as memory and engine take. Servers with
    limits: the largest load within them; their times are those at the measured number in flight, where it is stated.
    They meet their limits, so that all in flight are served: a measured number beyond the room of memory is no queue.
    """
    n = len(cases)
    points = ServingPoints.make(
        [case.deployment for case in cases],
        input_tokens=[case.input_tokens for case in cases],
        output_tokens=[case.output_tokens for case in cases],
        cached_share=[case.cached_share for case in cases],
    )
    replicas = np.array([case.replicas for case in cases])
    stated = np.array([case.concurrency or np.nan for case in cases]) / replicas
    is_limited_here = np.array([is_limited(case) for case in cases], dtype=bool)
    room = np.maximum(points.room, 1.0)
    in_flight = np.where(np.isfinite(stated), np.where(is_limited_here, np.minimum(stated, room), stated), room)
    rates = calibration.rates(replace(points, concurrency=in_flight))
    ttft, ttft_sd = rates.ttft_s.copy(), rates.ttft_log_sd.copy()
    tokens, log_sd = rates.tokens_per_s.copy(), rates.log_sd.copy()
    is_offline = np.array([case.row.kind != CLOSED_LOOP and not is_limited(case) for case in cases], dtype=bool)
    if is_offline.any():
        full = replace(points, concurrency=room)
        found = calibration.rates(full.take(is_offline))
        tokens[is_offline], log_sd[is_offline] = found.tokens_per_s, found.log_sd
    if is_limited_here.any():
        some, of_some = [case for case in cases if is_limited(case)], points.take(is_limited_here)
        largest = calibration.largest_load(of_some, limits_of(some))
        alone = calibration.rates(replace(of_some, concurrency=np.ones(len(some)))).ttft_s
        waited = alone + _STEPS_WAITED * rates.tpot_s[is_limited_here]
        ttft[is_limited_here] = np.maximum(ttft[is_limited_here], waited)
        ttft_sd[is_limited_here] = np.hypot(ttft_sd[is_limited_here], _SCHEDULED_SD)
        tokens[is_limited_here] = largest.tokens_per_s
        log_sd[is_limited_here] = np.hypot(largest.log_sd, _SEARCHED_SD)
    guessed = _GUESSED_SD * np.array([bool(case.guessed) for case in cases], dtype=float)
    tokens = np.where(rates.fits, tokens * replicas, np.nan).reshape(n)
    return {
        TOKENS: Predicted(tokens, np.hypot(log_sd, guessed)),
        TPOT: Predicted(np.where(rates.fits, rates.tpot_s, np.nan), np.hypot(rates.tpot_log_sd, guessed)),
        TTFT: Predicted(np.where(rates.fits, ttft, np.nan), np.hypot(ttft_sd, guessed)),
    }


def is_limited(case: ServingCase) -> bool:
    """Whether a row states the largest rate within limits of latency."""
    return case.row.kind == MLPERF and case.row.scenario != "Offline"


def limits_of(cases: Sequence[ServingCase]) -> LatencyLimits:
    """Limits of rows of MLPerf's servers; one on a whole request is one on its tokens, a tenth for the first."""

    def first(case: ServingCase) -> float:
        whole = case.row.latency_limit_s
        return case.row.ttft_limit_s or (np.inf if whole is None else _FIRST_SHARE * whole)

    def each(case: ServingCase) -> float:
        whole = case.row.latency_limit_s
        rest = np.inf if whole is None else (1 - _FIRST_SHARE) * whole / case.output_tokens
        return case.row.tpot_limit_s or rest

    return LatencyLimits(
        np.array([first(case) for case in cases]), np.array([each(case) for case in cases]), _PERCENTILE, _BUSY, _FILLED
    )


_TASK = "serving"


def validate_serving(
    rows: Sequence[ServingRow], catalog: Catalog, calibration: ServingCalibration
) -> tuple[ValidatedRow, ...]:
    """Predict throughput, time per token and time to the first token of every row.

    Returns a row for each published quantity: output tokens/s of the whole system, seconds. A row that cannot be
    predicted has its reason.
    """
    cases = cases_of(rows, catalog)
    known = [case for case in cases if isinstance(case, ServingCase)]
    predicted = predict(known, calibration) if known else {}
    fitted = {row.row_id: row for row in fitted_rows()}
    place = {id(case): number for number, case in enumerate(known)}
    validated_rows: list[ValidatedRow] = []
    for row, case in zip(rows, cases, strict=True):
        values = published(row)
        reason = case if isinstance(case, CalibrationNote) else None
        if not values:
            values, reason = {TOKENS: math.nan}, note(FitNote.NOTHING_PUBLISHED)
        for quantity, value in values.items():
            estimate, why = None, reason
            notes: tuple[CalibrationNote, ...] = ()
            if isinstance(case, ServingCase) and reason is None:
                estimate = predicted[quantity].estimate(place[id(case)])
                why = note(FitNote.NO_ROOM, case.deployment.gpus)
            status = RowStatus(RowUse.OUTSIDE, why)
            if estimate is not None and isinstance(case, ServingCase):
                status = CALIBRATED if _is_fitted(row, case, fitted) else PREDICTED
                notes = (*extrapolations(case.deployment, calibration), *beyond(case))
                if not row.calibrates:
                    status = RowStatus(RowUse.EXCLUDED, note(FitNote.FOR_CHECKS_ONLY))
            validated_rows.append(ValidatedRow(row.row_id, _TASK, quantity, row.source, value, estimate, status, notes))
    return tuple(validated_rows)


def published(row: ServingRow) -> dict[str, float]:
    """What a row prints, by quantity."""
    values = {TOKENS: row.output_tokens_s, TPOT: row.tpot_s or row.tpot_mean_s, TTFT: row.ttft_s or row.ttft_mean_s}
    return {quantity: value for quantity, value in values.items() if value}


def _is_fitted(row: ServingRow, case: ServingCase, fitted: dict[str, ServingRow]) -> bool:
    """Whether a row is one of the fit, with the same numbers."""
    mine = fitted.get(row.row_id)
    return mine is not None and not case.guessed and published(mine) == published(row)


def extrapolations(deployment: Deployment, calibration: ServingCalibration) -> tuple[CalibrationNote, ...]:
    """Where a deployment lies beyond the fitted rows."""
    known = calibration.fit.index
    checks = (
        (f"time/engine:{deployment.engine}", note(FitNote.STACK_NOT_MEASURED, deployment.engine or "engine not named")),
        (f"time/gpu:{deployment.gpu.id}", note(FitNote.GPU_PRECISION_NOT_MEASURED, deployment.gpu.id)),
        (f"time/model:{deployment.model.id}", note(FitNote.MODEL_NOT_MEASURED, deployment.model.id)),
    )
    return tuple(words for name, words in checks if name not in known)


def beyond(case: ServingCase) -> tuple[CalibrationNote, ...]:
    """What of a measurement was guessed, or lies beyond the fitted lengths."""
    guessed = [note(FitNote.PART_GUESSED, part) for part in case.guessed]
    if case.input_tokens + case.output_tokens > CALIBRATED_TOKENS:
        guessed.append(note(FitNote.CONTEXT_NOT_MEASURED, round(case.input_tokens + case.output_tokens)))
    return tuple(guessed)
