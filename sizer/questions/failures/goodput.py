"""What failures and checkpoints leave of the time of a large job, with slower and faster storage."""

import math
from dataclasses import dataclass

from sizer.base.errors import RequestError
from sizer.perf.availability.goodput import (
    GPUS_OF_THE_RATE,
    INTERRUPTIONS,
    NOTICE_S,
    RESCHEDULE_S,
    CheckpointPlan,
    checkpoint_plan,
    spares_that_suffice,
    storage_level,
)
from sizer.sizing.design.checkpoint_storage import checkpoint_storage
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

# Write rates compared with the one asked about.
_WRITE_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_LIMITS = {
    "gpus": (1, 131_072, ""),
    "parameters": (1e6, 1e14, ""),
    "write_bytes_per_s": (1e6, 1e14, " B/s"),
    "read_bytes_per_s": (1e6, 1e14, " B/s"),
    "copy_s": (0.001, 3600, " s"),
    "interval_s": (1, 1e7, " s"),
    "bytes_per_parameter": (0.5, 40, " B"),
    "notice_s": (0, 1e6, " s"),
    "rate": (0.01, 1000, ""),
    "repair_s": (60, 1e7, " s"),
}


@dataclass(frozen=True)
class GoodputQuestion:
    """A job and its storage. ``copy_s`` None: training waits for the checkpoint; other None: the published usual."""

    gpus: int
    parameters: float
    write_bytes_per_s: float
    read_bytes_per_s: float
    copy_s: float | None = None
    interval_s: float | None = None
    bytes_per_parameter: float = 14.0
    notice_s: float | None = None
    rate: float | None = None
    repair_s: float | None = None


@dataclass(frozen=True)
class OtherWriteRate:
    """Another write rate, everything else as asked."""

    write_bytes_per_s: float
    goodput: float
    interval_s: float
    gpu_hours_per_week: float  # gained over the rate asked about; below 0 lost


@dataclass(frozen=True)
class GoodputAnswer:
    """The plan at the rate asked about, the same at other rates, and spare servers."""

    question: GoodputQuestion
    plan: CheckpointPlan
    others: tuple[OtherWriteRate, ...]
    level: str | None  # of NVIDIA's published storage levels
    spare_servers: int | None  # None: no time of repair given


def question_of(design: DesignAnswer, answer: WorkloadAnswer) -> GoodputQuestion | None:
    """The job of a workload on the storage of its design; None where the rates are not known or little is written.

    Adapters are written so fast that no storage or interval changes anything.
    """
    found = answer.language
    if found is None or found.work.method == "lora":
        return None
    kept = checkpoint_storage(design, found)
    write, read = kept.write_bytes_per_s[0], kept.read_bytes_per_s[0]
    if not (math.isfinite(write) and math.isfinite(read)):
        return None
    return GoodputQuestion(
        gpus=found.gpus_used,
        parameters=found.work.parameters,
        write_bytes_per_s=write,
        read_bytes_per_s=read,
        copy_s=None if found.work.checkpoints.waits else found.plan.blocked_s,
        interval_s=found.work.checkpoints.every_s,
        bytes_per_parameter=found.work.checkpoints.written_bytes / found.work.parameters,
        rate=found.work.checkpoints.interruptions,
    )


def goodput_answer(question: GoodputQuestion) -> GoodputAnswer:
    """Goodput of the job, at several write rates.

    Raises
    ------
    RequestError
        If a value is out of its range, or checkpoints follow each other faster than they are written.
    """
    for name, (low, high, unit) in _LIMITS.items():
        value = getattr(question, name)
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            raise RequestError(f"{name} is {value:g}{unit}; allowed are {low:g} to {high:g}{unit}")
    plan = _plan(question, 1.0)
    if question.interval_s is not None and plan.write_s > question.interval_s:
        raise RequestError(
            f"interval_s is {question.interval_s:g} s, but a checkpoint of {plan.checkpoint_bytes / 1e12:.3g} TB takes "
            f"{plan.write_s:.3g} s to write; give a longer interval or faster storage"
        )
    others = []
    for factor in _WRITE_FACTORS:
        other = _plan(question, factor)
        gained = (other.goodput[0] - plan.goodput[0]) * question.gpus * 7 * 24
        others.append(OtherWriteRate(question.write_bytes_per_s * factor, other.goodput[0], other.interval_s, gained))
    servers = max(1, round(question.gpus / GPUS_OF_THE_RATE))
    spares = None
    if question.repair_s is not None:
        spares = spares_that_suffice(servers, question.repair_s, rate=question.rate or INTERRUPTIONS[0])
    level = storage_level(question.read_bytes_per_s, question.write_bytes_per_s, servers)
    return GoodputAnswer(question, plan, tuple(others), level, spares)


def _plan(question: GoodputQuestion, faster: float) -> CheckpointPlan:
    rates = INTERRUPTIONS if question.rate is None else (question.rate, question.rate, question.rate)
    return checkpoint_plan(
        question.gpus,
        question.parameters * question.bytes_per_parameter,
        question.write_bytes_per_s * faster,
        question.read_bytes_per_s,
        copy_s=question.copy_s,
        interval_s=question.interval_s,
        rates=rates,
        notice_s=NOTICE_S + RESCHEDULE_S if question.notice_s is None else question.notice_s,
    )
