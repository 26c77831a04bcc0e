"""Whole trainings: how many times as long as their makers' tuned steps published runs took, from start to end.

A published benchmark shows what hardware does after months of tuning. What teams report of whole trainings holds slower
steps of their own software, failures, restarts, evaluations and idle time. The factor between both is log-normal,

    ln(days published / days predicted) = sum of effects + family + run,

with normal priors on effects; runs of a family (Llama 2, Falcon, ...) share an error. Days are predicted from the
fastest layout of the default stack, of which each prediction has a spread of its own.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sizer.base.arrays import Floats, Rows
from sizer.base.errors import CalibrationError, RequestError
from sizer.base.estimate import Z90, Estimate
from sizer.base.formats.csv_rows import bounded, rows_of_file, typed_row
from sizer.base.units import DAY_S
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.language.cases import (
    USUAL_SEQUENCE,
    LanguageRow,
    ModelNames,
    gpu_of_run,
    lending_rows,
    row_of,
    shape_from,
    shape_named,
    shape_of_row,
    shapes_by_name,
    usual_words,
)
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.observations import benchmark_file, digest_of_files, read_stored, stored_path, write_stored
from sizer.calibrate.validate import ValidatedRow
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, TransformerShape

# Effects on the logarithm: mean and standard deviation of their priors. The mean of the first says that whole runs are
# slower than benchmarks; the others may go either way.
_BASE, _HOPPER, _CLOUD_40 = "base", "GPUs since 2022", "A100 with 40 GB"
_MIXTURE, _OLD, _MEGATRON_DEEPSPEED = "mixture of experts", "software before 2023", "Megatron-DeepSpeed, GPT-NeoX"
_EFFECT_SD = 0.3
_PRIOR = {_BASE: (0.4, 1.0)} | dict.fromkeys(
    (_HOPPER, _CLOUD_40, _MIXTURE, _OLD, _MEGATRON_DEEPSPEED), (0.0, _EFFECT_SD)
)
# Standard deviations that families and runs may have.
_SPREADS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5)
_SMALL_BYTES, _HOPPER_YEAR, _FUSED_ATTENTION_YEAR = 48e9, 2022, 2023
# Steps of the team itself: trainings that print the rate of their own steps kept 0.60 to 1.0 of it over the whole run,
# 0.87 in the median; failures, restarts, evaluations and idle time took the rest.
OWN_STEPS = Estimate(*np.array([1 / 0.87, 1.0, 1 / 0.60]))
_SHIPPED = ("language", "whole_trainings.csv")
# Columns of a shape.
_SIZES = ("layers", "hidden", "ffn", "heads", "kv_heads", "vocabulary")


@dataclass(frozen=True)
class WholeTraining:
    """A published training with what it took."""

    id: str
    family: str  # of models that one team trained alike
    source: str
    model: str
    shape: TransformerShape
    gpu: str  # id
    gpus: int
    precision: str
    kind: str  # "pretrain", "continued", "finetune"
    sequence: int  # tokens
    batch_sequences: int  # 0: not stated
    tokens: float
    days: float
    software: str
    year: int
    role: str  # "calibration", or "check" of what is not fitted
    notes: str


@lru_cache(maxsize=1)
def load_trainings() -> tuple[WholeTraining, ...]:
    """The published trainings.

    Raises CalibrationError naming the line and the column of a cell that is wrong.
    """

    def training(cells: dict[str, str], _: str) -> WholeTraining:
        sizes: dict[str, Any] = {name: int(cells[name]) for name in _SIZES}
        if int(cells["experts"]) > 1:
            counts = {name: int(cells[name]) for name in ("experts", "active_experts")}
            sizes |= {**counts, "expert_ffn": sizes["ffn"]}
        head_size = sizes["hidden"] // sizes["heads"]
        shape = TransformerShape(**sizes, head_size=head_size, gated=cells["gates"] == "3")
        return typed_row(WholeTraining, cells, bounded, shape=shape)

    return tuple(rows_of_file(benchmark_file(*_SHIPPED), "whole trainings", training, key="id"))


@dataclass(frozen=True)
class WholeRuns:
    """The fit: effects, their covariance, and the spreads of families and of runs."""

    effects: Floats  # of _PRIOR, in its order
    covariance: Floats
    family_sd: float
    run_sd: float
    generations: frozenset[str | None]  # of GPUs with a published run

    def factor(
        self, gpu: Gpu, is_mixture: bool, stack: str, catalog: Catalog, year: int = _FUSED_ATTENTION_YEAR
    ) -> Estimate:
        """How many times as long as its tuned steps a training takes, without the spread of these. [-]

        ``gpu``: one of a generation without a published run has the effect of the newest with one, and a wider
        interval. ``is_mixture``: whether the model is a mixture of experts. ``stack``: software that is asked for, by
        name; "" where none is. ``year``: of the training.
        """
        row = _row(_facts(gpu, is_mixture, stack, year, catalog))
        unknown = 0.0 if gpu.generation in self.generations else _EFFECT_SD**2
        variance = row @ self.covariance @ row + self.family_sd**2 + self.run_sd**2 + unknown
        return Estimate.log_normal(float(np.exp(row @ self.effects)), float(np.sqrt(variance)))


def _facts(gpu: Gpu, is_mixture: bool, software: str, year: int, catalog: Catalog) -> dict[str, bool]:
    generation = catalog.generations.get(gpu.generation or "")
    introduced = "" if generation is None or generation.introduced is None else str(generation.introduced.value)
    is_new = introduced >= str(_HOPPER_YEAR)
    name = software.lower()
    return {
        _BASE: True,
        _HOPPER: is_new,
        _CLOUD_40: not is_new and gpu.generation == "ampere" and gpu.memory_bytes.value < _SMALL_BYTES,
        _MIXTURE: is_mixture,
        _OLD: year < _FUSED_ATTENTION_YEAR,
        _MEGATRON_DEEPSPEED: "megatron" in name and "deepspeed" in name,
    }


def _row(facts: dict[str, bool]) -> Floats:
    return np.array([float(facts[name]) for name in _PRIOR])


@dataclass(frozen=True)
class _Problem(Rows):
    """Rows with their predictions. Arrays over the rows."""

    log_ratio: Floats  # published over predicted days
    step_sd: Floats  # of the logarithm of the prediction
    design: Floats  # (rows, effects)
    families: Floats  # (rows, families), 1 for that of a row
    generations: frozenset[str | None]

    def variance(self, family_sd: float, run_sd: float) -> Floats:
        """(rows, rows) covariance of the errors."""
        shared = family_sd**2 * self.families @ self.families.T
        return np.asarray(np.diag(self.step_sd**2 + run_sd**2) + shared)

    def evidence(self, family_sd: float, run_sd: float) -> float:
        """Logarithm of the probability of the rows with the effects integrated out, up to a constant."""
        mean, sd = _priors()
        total = self.variance(family_sd, run_sd) + (self.design * sd**2) @ self.design.T
        error = self.log_ratio - self.design @ mean
        return float(-0.5 * (np.linalg.slogdet(total)[1] + error @ np.linalg.solve(total, error)))

    def fit(self, family_sd: float, run_sd: float) -> WholeRuns:
        """Most probable effects at given spreads."""
        mean, sd = _priors()
        weighted = np.linalg.solve(self.variance(family_sd, run_sd), self.design).T
        covariance = np.linalg.inv(weighted @ self.design + np.diag(1 / sd**2))
        effects = covariance @ (weighted @ self.log_ratio + mean / sd**2)
        return WholeRuns(effects, np.asarray(covariance), family_sd, run_sd, self.generations)

    def spreads(self) -> tuple[float, float]:
        """The most probable spreads of families and of runs."""
        return max(itertools.product(_SPREADS, _SPREADS), key=lambda spreads: self.evidence(*spreads))


def _priors() -> tuple[Floats, Floats]:
    mean, sd = np.array(list(_PRIOR.values())).T
    return mean, sd


def _problem(predicted: dict[str, Estimate], catalog: Catalog) -> _Problem:
    rows = _fitted_rows()
    families = sorted({row.family for row in rows})
    days = [predicted[row.id] for row in rows]
    gpus = [catalog.gpus[row.gpu] for row in rows]
    facts = [
        _facts(gpu, row.shape.experts > 1, row.software, row.year, catalog) for row, gpu in zip(rows, gpus, strict=True)
    ]
    return _Problem(
        np.log([row.days / float(estimate.value) for row, estimate in zip(rows, days, strict=True)]),
        np.array([float(estimate.log_sd) for estimate in days]),
        np.array([_row(fact) for fact in facts]),
        np.array([[float(row.family == name) for name in families] for row in rows]),
        frozenset(gpu.generation for gpu in gpus),
    )


def _fitted_rows() -> list[WholeTraining]:
    return [load_training for load_training in load_trainings() if load_training.role == "calibration"]


def n_fitted_trainings() -> int:
    """How many published trainings the factor is fitted to."""
    return len(_fitted_rows())


@lru_cache(maxsize=1)
def whole_runs(catalog: Catalog) -> WholeRuns:
    """The fit to the published trainings with the stored predictions of their days."""
    return _problem(predicted_days(), catalog).fit(*_stored()["family_and_run_sd"])


def whole_run_accuracy(catalog: Catalog) -> tuple[AccuracyTarget, ...]:
    """Errors of the days of whole trainings with each family of models left out."""
    problem, spreads = _problem(predicted_days(), catalog), _stored()["family_and_run_sd"]
    errors, sds = np.zeros(len(problem.log_ratio)), np.zeros(len(problem.log_ratio))
    for family in problem.families.T:
        out = family > 0
        fit, left = problem.take(~out).fit(*spreads), problem.take(out)
        errors[out] = left.design @ fit.effects - left.log_ratio
        known = ((left.design @ fit.covariance) * left.design).sum(axis=1)
        sds[out] = np.sqrt(known + left.step_sd**2 + sum(sd**2 for sd in spreads))

    def figure(measure: str, value: float, low: float, high: float) -> AccuracyTarget:
        return AccuracyTarget(measure, value, low, high, len(errors))

    inside = float(np.mean(np.abs(errors) <= Z90 * sds))
    return (
        figure("whole-run-coverage", inside, 0.85, 0.96),
        figure("whole-run-bias", abs(float(np.median(errors))), 0.0, 0.10),
        figure("whole-run-half-width", float(np.expm1(Z90 * np.median(sds))), 0.0, 0.65),
    )


# --- predictions of the days of the published trainings, which need a search of layouts and are stored


_PREDICTED = stored_path().with_name("whole-runs.json")


def _digest() -> str:
    steps = read_stored(stored_path().with_name("language.json"))["digest"]
    return digest_of_files(benchmark_file(*_SHIPPED), more=steps.encode())


def save_predicted(tokens_per_s: Callable[[WholeTraining], Estimate], catalog: Catalog) -> Path:
    """Store what is predicted of every published training, and the spreads about these predictions.

    ``tokens_per_s``: rate of a training over its days, with the software that is taken where none is named. [tokens/s]
    """
    rates = {training.id: (training.tokens, tokens_per_s(training)) for training in load_trainings()}
    days = {
        name: [round(tokens / float(rate.value) / DAY_S, 4), round(float(rate.log_sd), 4)]
        for name, (tokens, rate) in rates.items()
    }
    spreads = _problem({name: Estimate.log_normal(*one) for name, one in days.items()}, catalog).spreads()
    content = {"digest": _digest(), "family_and_run_sd": spreads, "days_and_log_sd": days}
    return write_stored(content, _PREDICTED)


def predicted_days() -> dict[str, Estimate]:
    """Stored predictions of the days of each published training, by its id, with their spread.

    Raises CalibrationError if rows or the fit of steps have changed since.
    """
    return {name: Estimate.log_normal(*one) for name, one in _stored()["days_and_log_sd"].items()}


def _stored() -> dict[str, Any]:
    content = read_stored(_PREDICTED)
    if content.get("digest") != _digest():
        raise CalibrationError(
            "whole trainings, or the fit of language models, have changed since their days were predicted; run "
            "'sizer calibrate'"
        )
    return content


# --- trainings of other files, by the columns of published lists


# Columns by which a file of whole trainings is known.
NEEDED_COLUMNS = ("run_id", "model", "gpu", "gpus", "tokens", "days_published")
_TASK, _DAYS = "whole training", "days"
_LANGUAGE_MODELS = ("", "dense", "moe", "encoder")
# First word of what a training was -> our kind.
_KINDS = {"": "pretrain", "pretrain": "pretrain", "bio": "pretrain", "continued": "continued", "sft": "finetune"}


@dataclass(frozen=True)
class StatedTraining:
    """A training as a file of others states it; what is not stated is None or empty."""

    run: LanguageRow  # its name, source, model, machine, kind and software
    family: str
    tokens: float | None
    global_batch_tokens: float | None
    days_published: float | None
    year: int = _FUSED_ATTENTION_YEAR
    use: str = ""


def load_stated(path: Path) -> tuple[StatedTraining, ...]:
    """Trainings of a file of others.

    Raises CalibrationError naming the line and the column of a cell that is wrong.
    """

    def stated(cells: dict[str, str], place: str) -> StatedTraining:
        # Lists state one width, of a mixture that of its experts.
        width = {"moe_ffn": cells.get("ffn", "")} if cells.get("experts") else {}
        run = row_of(cells | width | {"row_id": cells["run_id"]}, place)
        return typed_row(StatedTraining, cells, bounded, run=run)

    return tuple(rows_of_file(path, "whole trainings", stated, key="run_id"))


def validate_trainings(
    rows: Sequence[StatedTraining],
    catalog: Catalog,
    known: Sequence[LanguageRow],
    tokens_per_s: Callable[[WholeTraining], Estimate],
) -> list[ValidatedRow]:
    """Days of each training as they would be sized: the steps of the default stack and what whole runs lose.

    ``known``: runs whose models lend their shapes. ``tokens_per_s``: as of :func:`save_predicted`.
    """
    days_of = {load_training.id: load_training.days for load_training in load_trainings()}
    lending, names = lending_rows(known), ModelNames(catalog, known)
    trainings = []
    for row in rows:
        training = _training(row, catalog, lending, names)
        estimate = None
        if isinstance(training, CalibrationNote):
            status = RowStatus(RowUse.OUTSIDE, training)
        elif (estimate := _days(training, catalog, tokens_per_s)) is None:
            status = RowStatus(RowUse.OUTSIDE, note(FitNote.NO_ROOM, training.gpus))
        elif row.use not in ("", "score"):
            status = RowStatus(RowUse.EXCLUDED, note(FitNote.FOR_CHECKS_ONLY))
        else:
            status = CALIBRATED if days_of.get(row.run.row_id) == row.days_published else PREDICTED
        days = math.nan if row.days_published is None else row.days_published
        trainings.append(ValidatedRow(row.run.row_id, _TASK, _DAYS, row.run.source, days, estimate, status))
    return trainings


def _training(
    one: StatedTraining, catalog: Catalog, lending: dict[str, LanguageRow], names: ModelNames
) -> WholeTraining | CalibrationNote:
    row, told = usual_words(one.run, names), one.run.kind
    kind, gpu = _KINDS.get(told.lower().partition(" ")[0]), gpu_of_run(row.gpu, catalog)
    if kind is None or row.arch not in _LANGUAGE_MODELS:
        return note(FitNote.TASK_NOT_MODELLED, told if kind is None else row.arch)
    if gpu is None:
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.gpu)
    if not row.gpus or not one.tokens or not one.days_published:
        return note(FitNote.NOTHING_PUBLISHED if row.gpus else FitNote.COUNTS_NOT_STATED)
    shape = shape_of_row(row, lending.get(row.model.lower()), shape_named(row.model, shapes_by_name(catalog)), [])
    if isinstance(shape, CalibrationNote):
        return shape
    sequence = round(row.seq or USUAL_SEQUENCE)
    batch = round((one.global_batch_tokens or 0.0) / sequence)
    return WholeTraining(
        row.row_id, one.family, row.source, row.model, shape_from(shape), gpu.id, round(row.gpus), row.precision, kind,
        sequence, batch, one.tokens, one.days_published, row.software, one.year, one.use, ""
    )  # fmt: skip


def _days(one: WholeTraining, catalog: Catalog, tokens_per_s: Callable[[WholeTraining], Estimate]) -> Estimate | None:
    """Days from start to end; None where the model does not fit so many GPUs."""
    try:
        rate = tokens_per_s(one)
    except RequestError:
        return None
    factor = whole_runs(catalog).factor(catalog.gpus[one.gpu], one.shape.experts > 1, one.software, catalog, one.year)
    steps = one.tokens / float(rate.value) / DAY_S
    return Estimate.log_normal(steps * float(factor.value), math.hypot(float(rate.log_sd), float(factor.log_sd)))
