"""Explanation of a figure: its formula, the inputs with their sources, the uncertainty and the assumptions."""

import math
from collections.abc import Sequence

from sizer.base.quantities import NARROW_SPACE, grouped, plain, significant
from sizer.drawings.datapath import is_limit
from sizer.explain import parts
from sizer.explain.inputs import Explanation as Explanation
from sizer.explain.inputs import assumed, in_unit, input_row, inputs_table, number
from sizer.explain.stages import stage_inputs
from sizer.present import words
from sizer.present.tables import Cell, Row, row
from sizer.present.text import result_text
from sizer.present.text.calibration import note_texts
from sizer.present.text.result_text import default_stack_texts
from sizer.present.text.stages import stage_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import STAGES, SizingResult, Stage, TrainingTime, WorkloadAnswer

# Keys of the figures; those of a workload end in its number, those of a stage in the stage's key, too.
GPUS = "gpus"
RATE = "rate"
CAPACITY = "capacity"
POWER = "power"
RACK_UNITS = "rack-units"
PRICE = "price"
STAGE = "stage"
# Digits of the ends of an interval among the inputs.
_DIGITS = 5
# A product of the ends of an interval that is this close to the square of its median shows no skew.
_SYMMETRIC = 1e-3


def rate_key(workload: int) -> str:
    """Key of the rate, or time to train, of a workload by its place."""
    return f"{RATE}-{workload}"


def stage_key(workload: int, stage: str = "") -> str:
    """Key of the limiting stage of a workload, or of the capacity of one of its stages."""
    return f"{STAGE}-{workload}-{stage}" if stage else f"{STAGE}-{workload}"


def explanation(evaluated: EvaluatedDesign, key: str) -> Explanation:
    """Explanation of a figure of the described design.

    ``key``: ``GPUS``, ``CAPACITY``, ``POWER``, ``RACK_UNITS`` or ``PRICE``; :func:`rate_key` or :func:`stage_key` of
    a workload; ``RATE`` and ``STAGE`` alone are those of the first. Raises ValueError if no figure has that key.
    """
    kind, _, rest = key.partition("-") if key != RACK_UNITS else (key, "", "")
    result, catalog = evaluated.result, evaluated.catalog
    plain_figures = {
        GPUS: parts.gpus,
        CAPACITY: parts.capacity,
        POWER: parts.power,
        RACK_UNITS: parts.rack_units,
        PRICE: parts.price,
    }
    if kind in plain_figures and not rest:
        return plain_figures[kind](result, catalog)
    number, _, stage = rest.partition("-")
    place = int(number) if number.isdigit() else 0 if not rest else -1
    if kind in (RATE, STAGE) and not key.endswith("-") and 0 <= place < len(result.design.workloads):
        answer = result.design.workloads[place]
        if kind == RATE and not stage:
            return _time(result, answer, answer.time) if _is_timed(answer) and answer.time else _rate(result, answer)
        if kind == STAGE and not stage:
            return _limiting(result, answer)
        found = next((one for one in answer.stages if one.key == stage), None)
        if kind == STAGE and found is not None:
            return _stage(evaluated, place, found)
    raise ValueError(f"no figure has the key {key!r}")


def _rate(result: SizingResult, answer: WorkloadAnswer) -> Explanation:
    unit = words.sample_unit(answer.dnn)
    rows = [_capacity_row(stage, answer) for stage in answer.stages if stage.key != "exchange"]
    return Explanation(
        f"Rate of {answer.workload.name}",
        words.estimate(answer.throughput, unit),
        "T: P(C storage ≥ T) · P(C network ≥ T) · P(C decode ≥ T) · P(C GPU ≥ T) = 1/2",
        inputs_table(RATE, rows),
        (
            "A pipeline runs at the rate of its slowest stage. All stages reach the printed rate with a probability of "
            "one half; where one stage is far below the others, the rate is the median of that stage.",
            result_text.limit(answer, named=False),
            result_text.measured(answer),
        ),
        (
            "All stages reach the ends of the interval with probabilities of 95 % and 5 %.",
            *_cautions(answer),
        ),
        assumed(result, [f"{answer.workload.name}"]),
    )


def _capacity_row(stage: Stage, answer: WorkloadAnswer) -> Row:
    """Median and 90 % interval of a stage with the form of its spread."""
    name = f"C {STAGES[stage.key].lower() if stage.key != 'gpu' else STAGES[stage.key]}"
    value, low, high = stage.capacity
    if not is_limit(stage, answer):
        return row(name, "not limited", Cell("far above the bottleneck, or not used", is_muted=True))
    unit = words.sample_unit(answer.dnn)
    spread = _spread_text(stage)
    text = in_unit(value, unit)
    ends = f" ({significant(low, _DIGITS)} to {significant(high, _DIGITS)})" if low != high else ""
    return row(name, text + ends, spread)


def _spread_text(stage: Stage) -> str:
    """Form of the distribution of a capacity."""
    value, low, high = stage.capacity
    if low == high:
        return "exact"
    if stage.key == "storage":
        return "between two published ends"
    is_symmetric = math.isclose(low * high, value * value, rel_tol=_SYMMETRIC)
    return "log-normal" if is_symmetric else "log-normal, skewed as its ends show"


def _time(result: SizingResult, answer: WorkloadAnswer, time: TrainingTime) -> Explanation:
    unit = words.sample_unit(answer.dnn)
    count = float(time.epochs.value)
    samples = float(time.epoch_s.value) * float(answer.throughput.value)
    cold = samples / float(time.first_epoch_s.value)
    recipe = answer.recipe
    length = "request" if recipe is None else f"{recipe.name} at a global batch of {_batch(result, answer)}"
    rows = [
        input_row("t start, loading and compiling", _seconds(time.start_up_s), note="fitted to published runs"),
        input_row("N, samples of an epoch", grouped(samples), note=answer.dataset.name),
        input_row("E, epochs", number(count), note=length),
        input_row(
            "T, rate after the first epoch",
            in_unit(float(answer.throughput.value), unit),
            note="explained separately",
        ),
        input_row("T cold, rate in the first epoch", in_unit(cold, unit), note="no reads from the servers' memory"),
        input_row(
            "t evaluations",
            _seconds(float(time.evaluations_s.value)),
            note="forward passes over the validation samples",
        ),
    ]
    cautions = [*_cautions(answer)]
    formula = "t = t start + min(E, 1) · N / T cold + max(E − 1, 0) · N / T + t evaluations"
    if time.whole_run is not None:
        formula = "t = t start + W · E · N / T"
        rows.insert(
            3,
            input_row(
                "W, whole run over its steps", number(float(time.whole_run.value)), note="published whole trainings"
            ),
        )
    if recipe is not None and time.epochs.high > time.epochs.low:
        cautions.insert(0, f"The number of epochs is uncertain as well: {words.estimate(time.epochs, 'epochs')}.")
    return Explanation(
        f"Time to train {answer.workload.name}",
        words.estimate(time.total_s, "s"),
        formula,
        inputs_table(RATE, rows),
        (result_text.cold_epoch(answer), result_text.limit(answer, named=False), result_text.measured(answer)),
        tuple(cautions),
        assumed(result, [answer.workload.name]),
    )


def _batch(result: SizingResult, answer: WorkloadAnswer) -> str:
    used = result.request.platforms.gpus_per_server or result.design.platform.gpus_per_server
    used = min(used, result.design.platform.gpus_per_server)
    return grouped(answer.batch_per_gpu * used * result.design.n_servers)


def _seconds(value: float) -> str:
    return f"{plain(value, _DIGITS)}{NARROW_SPACE}s"


def _cautions(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Parts of the uncertainty of the GPUs, and what was not measured."""
    return (
        result_text.width(answer),
        *(
            words.sentence(text)
            for text in (*answer.warnings, *default_stack_texts(answer), *note_texts(answer.unmeasured))
        ),
    )


def _limiting(result: SizingResult, answer: WorkloadAnswer) -> Explanation:
    return Explanation(
        f"Bottleneck of {answer.workload.name}",
        STAGES[answer.bottleneck],
        "bottleneck = the stage with the smallest capacity C",
        inputs_table(STAGE, [_capacity_row(stage, answer) for stage in answer.stages]),
        (
            result_text.limit(answer, named=False),
            "The part of the gradient exchange that computation does not hide belongs to the GPU stage. It is named "
            "as the bottleneck where it takes longer than the arithmetic.",
        ),
        ("Where intervals overlap, another stage may be the bottleneck.",),
        assumed(result, [answer.workload.name]),
    )


def _stage(evaluated: EvaluatedDesign, place: int, stage: Stage) -> Explanation:
    result = evaluated.result
    answer = result.design.workloads[place]
    unit = words.sample_unit(answer.dnn)
    found = stage_inputs(evaluated, place, stage.key)
    rows = [input_row(one.name, one.value, one.fact, one.note) for one in found.inputs]
    cautions: Sequence[str] = found.cautions if stage.key != "gpu" else (*found.cautions, *_cautions(answer))
    return Explanation(
        f"{STAGES[stage.key]}, {answer.workload.name}",
        words.estimate(stage.capacity, unit) if is_limit(stage, answer) else "not limited",
        found.formula,
        inputs_table(stage_key(place, stage.key), rows),
        (words.sentence(stage_text(stage.reason)),),
        tuple(cautions),
        assumed(result, [answer.workload.name, *found.parts], found.fields),
    )


def _is_timed(answer: WorkloadAnswer) -> bool:
    return answer.workload.target.time_to_train_s is not None
