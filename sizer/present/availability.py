"""Checkpoints, interruptions and goodput of large jobs: tables, a chart of one cycle, and sentences."""

import math

from sizer.base.quantities import NARROW_SPACE, by_count, duration, si, significant
from sizer.perf.availability.goodput import INTERRUPTIONS, NOTICE_S, RESCHEDULE_S, WARM_UP_S, CheckpointPlan
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, basis_note, fact_table, row
from sizer.sizing.assumptions import InterruptionRate, RestartTimes
from sizer.sizing.design.spares import COVERED_SHARE, SpareServers, checkpoint_storage, spare_servers, wait_for_repairs
from sizer.sizing.design.storage_need import writes_one_checkpoint
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.checkpoints import CheckpointedJob

# Fewer interruptions of a run than this read as none: nine runs in ten end without one.
_NONE_EXPECTED = 0.1


def checkpoint_table(design: DesignAnswer, answer: WorkloadAnswer, number: int) -> Table | None:
    """What checkpoints ask of the storage and what it delivers; None of other workloads."""
    job = answer.job
    if job is None:
        return None
    kept = checkpoint_storage(design, job)
    rows = [
        _moved(
            "Checkpoint, written",
            kept.written_bytes,
            kept.write_allowed_s,
            kept.write_need_bytes_per_s,
            kept.write_bytes_per_s,
        ),
        _moved(
            "Checkpoint, read at a restart",
            kept.restart_bytes,
            kept.restart_allowed_s,
            kept.restart_need_bytes_per_s,
            kept.read_bytes_per_s,
        ),
    ]
    if job.replicas > 1 and not job.checkpoints.replica_bytes:
        rows.append(
            _moved("Restart, every replica reads its own copy", kept.storm_bytes, None, None, kept.read_bytes_per_s)
        )
    return fact_table(
        f"checkpoints-{number}",
        "Checkpoints and restarts",
        [row(*cells) for cells in rows],
        titles=("What", "Size", "Allowed", "Needed", "Delivered", "Takes"),
        widths=(30, 13, 12, 14, 19, 12),
        aligns=("left", "right", "right", "right", "right", "right"),
        style="",
    )


def checkpoint_tables(design: DesignAnswer) -> list[Table]:
    """That of each workload whose checkpoints are asked for."""
    return [
        table
        for number, answer in enumerate(design.workloads, 1)
        if answer.job is not None
        and answer.job.checkpoints.is_asked
        and (table := checkpoint_table(design, answer, number)) is not None
    ]


def _moved(
    what: str, size: float, allowed_s: float | None, need: float | None, rate: tuple[float, float]
) -> tuple[str, ...]:
    low, high = rate
    is_known = math.isfinite(low)
    delivered = si(low, "B/s") if low == high else f"{si(low, 'B/s')} to {si(high, 'B/s')}"
    return (
        what,
        si(size, "B"),
        "" if allowed_s is None else duration(allowed_s),
        "" if need is None else si(need, "B/s"),
        delivered if is_known else "not published",
        duration(size / low) if is_known else "not known",
    )


def checkpoint_text(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    """Peak and average of the writing, and what the write rate rests on; "" of other workloads."""
    job = answer.job
    if job is None:
        return ""
    kept, plan = checkpoint_storage(design, job), job.plan
    average = kept.written_bytes / (plan.interval_s + plan.blocked_s)
    if writes_one_checkpoint(answer):
        parts = [f"A checkpoint of {si(kept.written_bytes, 'B')} is written at the end of the run."]
    else:
        first = (
            f"A checkpoint of {si(kept.written_bytes, 'B')} is written every {duration(plan.interval_s)}: "
            f"{si(average, 'B/s')} on average"
        )
        if math.isfinite(kept.write_s):
            first += (
                f". The storage delivers {si(kept.write_bytes_per_s[0], 'B/s')}: one takes {duration(kept.write_s)}"
            )
        parts = [f"{first}."]
    storage = design.platform.storage
    if not kept.write_is_published:
        tested = storage.test_write_bytes_per_s
        known = f"Our catalogue has no write rate of {storage.name}"
        assumed = "a quarter to a half of its read rate"
        if storage.node_write_bytes_per_s is not None:
            assumed = si(kept.write_bytes_per_s[0], "B/s")
        if tested is not None:
            known = (
                f"The only published write rate of {storage.name}, {si(tested.value, 'B/s')}, is of a test whose nodes "
                "or files are not fully stated"
            )
        parts.append(f"{known}: {assumed} is assumed, to be confirmed.")
    return " ".join(parts)


def availability_table(design: DesignAnswer, answer: WorkloadAnswer, number: int) -> Table | None:
    """Interruptions, checkpoints and what they leave of the time; None of other workloads."""
    job, spares = answer.job, spare_servers(design, answer)
    if job is None or spares is None:
        return None
    plan = job.plan
    share = plan.goodput[0]
    unit = words.sample_unit(answer.dnn)
    assumed = basis_note("assumed")
    restart = RestartTimes(NOTICE_S, RESCHEDULE_S, WARM_UP_S)
    lost = words.percent(1 - share)
    while_it_runs = float(answer.running_throughput.value)
    kept, waits = checkpoint_storage(design, job), job.checkpoints.waits
    lost_s, undone_s = _lost_work_s(answer, job), _undone_s(job.plan, waits)
    undone = f"at most {duration(lost_s)}: half {'of the run' if lost_s < undone_s else 'an interval'}"
    each: list[tuple[str, str | Cell] | Row] = [
        ("Interruptions", _between(job)),
        *([("Interruptions of one run", expected)] if (expected := _expected_in_the_run(answer)) else []),
        ("Checkpoint interval", _interval(answer, job)),
        ("Training stops for a checkpoint", duration(plan.blocked_s) + ("" if waits else assumed)),
        (
            "Work lost at an interruption, on average",
            undone if waits or lost_s < undone_s else f"{undone} and the time allowed for a write{_here(kept.write_s)}",
        ),
        ("Detection of a failure and restart", duration(restart.notice_s + restart.replace_s) + assumed),
        (
            "Loading the checkpoint, then warm-up",
            Cell(
                f"at most {duration(plan.load_s)}{_here(kept.restart_s)}, then {duration(restart.warm_up_s)}",
                cites=(restart.source,),
            ),
        ),
        ("Rate without and with interruptions", f"{_rate(while_it_runs, unit)}; {_rate(while_it_runs * share, unit)}"),
        ("Lost", f"{lost} of the time, {significant(plan.lost_hours_per_week * plan.gpus, 2)} GPU-hours a week"),
        ("Spare servers, if a repair takes a day", _spares_text(spares)),
        row("Goodput", f"{goodput_text(plan.goodput)}, with the times allowed", kind="total"),
    ]
    return fact_table(f"availability-{number}", "Availability and goodput", each)


def _here(takes_s: float) -> str:
    """What the storage of the design takes, of a time that is allowed; "" where no rate is known."""
    return f" ({duration(takes_s)} here)" if math.isfinite(takes_s) and takes_s > 0 else ""


def _spares_text(spares: SpareServers) -> str:
    """Spares that are needed and those that the design has: 'Two, to run 99 % of the time; the design has none'."""
    if not spares.needed:
        return f"none needed: repairs take under {words.percent(1 - COVERED_SHARE)} of the time"
    runs = f"to run {words.percent(COVERED_SHARE)} of the time"
    if spares.gpus_each is not None:
        needed = f"{spares.needed * spares.gpus_each} GPUs, {runs}"
        return f"{needed}; {'the job leaves some free' if spares.available else 'the job uses all GPUs'}"
    needed = f"{words.spelled(spares.needed)}, {runs}"
    free = f"the job leaves {words.spelled(spares.available)} free"
    return f"{needed}; {free if spares.available else 'the design has none'}"


def missing_spares_text(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    """What a time or rate assumes of spare servers that the bill lacks, and what repairs cost without; "" of others."""
    job, spares = answer.job, spare_servers(design, answer)
    if job is None or spares is None or not job.counts or not spares.missing:
        return ""
    lacks = spares.missing
    servers = f"{words.spelled(lacks)} spare {by_count(lacks, 'server', 'servers')}"
    if spares.gpus_each is not None:
        lacks *= spares.gpus_each
        servers = f"{lacks} spare GPUs"
    verb = f"which {by_count(lacks, 'is', 'are')} not in the bill"
    waits = wait_for_repairs(answer)
    if waits is None:
        return f"The rate assumes {servers}, {verb}."
    assert answer.time is not None  # of which the waits are
    if waits.failures < _NONE_EXPECTED or waits.total_s <= float(answer.time.total_s.value):
        return ""
    chance = (
        "" if waits.probability is None else f" and meets the target with {words.chance(waits.probability)} confidence"
    )
    return (
        f"The time to train assumes {servers}, {verb}. If the job waits for repairs of a day each instead "
        f"({significant(waits.failures, 2)} expected), it takes {duration(waits.total_s)}{chance}."
    )


def goodput_sentence(answer: WorkloadAnswer) -> str:
    """'99.2 % (98.3 to 99.6): an interruption every 4.8 d'; "" of other workloads."""
    job = answer.job
    if job is None:
        return ""
    every = f"an interruption every {duration(job.plan.between_s[0])}"
    expected = _expected_in_the_run(answer)
    return f"{goodput_text(job.plan.goodput)}: {every if not expected else f'{every}, {expected}'}"


def checkpoint_sentence(design: DesignAnswer, answer: WorkloadAnswer) -> str:
    """'988 GB, written in 17 min of every 2.04 h; a restart reads 988 GB in 8 min'; "" of other workloads."""
    job = answer.job
    if job is None:
        return ""
    kept, plan = checkpoint_storage(design, job), job.plan
    if not (math.isfinite(kept.write_s) and math.isfinite(kept.restart_s)):
        return f"{si(kept.written_bytes, 'B')}; the vendor must confirm the rates of the storage"
    every = f" of every {duration(plan.interval_s + plan.blocked_s)}"
    written = f"written in {duration(kept.write_s)}{' at the end' if writes_one_checkpoint(answer) else every}"
    if not kept.write_is_published:
        written += " at an assumed rate"
        if kept.write_s > kept.write_allowed_s:
            written = f"to be written in {duration(kept.write_allowed_s)}: {si(kept.write_need_bytes_per_s, 'B/s')}"
            written += "; the write rate of the storage is not published"
    return (
        f"{si(kept.written_bytes, 'B')}, {written}; a restart reads {si(kept.restart_bytes, 'B')} in "
        f"{duration(kept.restart_s)}"
    )


def _lost_work_s(answer: WorkloadAnswer, job: CheckpointedJob) -> float:
    """Half of the interval and what was done while the last checkpoint was written, at most half of the run."""
    undone_s = _undone_s(job.plan, job.checkpoints.waits)
    return undone_s if answer.time is None else min(undone_s, float(answer.time.total_s.value) / 2)


def _undone_s(plan: CheckpointPlan, waits: bool) -> float:
    return plan.interval_s / 2 + (0.0 if waits else plan.write_s)


def _between(job: CheckpointedJob) -> Cell:
    value, low, high = job.plan.between_s
    text = f"one every {duration(value)}"
    if job.checkpoints.interruptions is not None:
        return Cell(f"{text}, as requested")
    published = InterruptionRate(*INTERRUPTIONS).source
    return Cell(f"{text} ({duration(low)} to {duration(high)}), from published jobs", cites=(published,))


def _expected_in_the_run(answer: WorkloadAnswer) -> str:
    """Interruptions to expect within a run; "" where the length of the run is not asked for."""
    if answer.job is None or answer.time is None:
        return ""
    run_s = float(answer.time.total_s.value)
    number = run_s / answer.job.plan.between_s[0]
    if number < _NONE_EXPECTED:
        return f"none to be expected within a run of {duration(run_s)}"
    return f"{significant(number, 2)} on average within a run of {duration(run_s)}"


def _interval(answer: WorkloadAnswer, job: CheckpointedJob) -> str:
    every = duration(job.plan.interval_s)
    if writes_one_checkpoint(answer):
        return f"one, at the end: the run is shorter than {every}"
    return f"{every}, {'which loses the least time' if job.checkpoints.every_s is None else 'as requested'}"


def _rate(value: float, unit: str) -> str:
    return f"{significant(value)} {unit}"


def goodput_text(goodput: tuple[float, float, float]) -> str:
    """Goodput with its interval where both ends read otherwise: '99.2 % (90 % interval 98.3 % to 99.6 %)'."""
    share, low, high = map(share_text, goodput)
    return share if low == high else f"{share} (90{NARROW_SPACE}% interval {low} to {high})"


def share_text(share: float) -> str:
    """A share of the time at three digits: '99.2 %'."""
    return f"{significant(100 * share)}{NARROW_SPACE}%"
