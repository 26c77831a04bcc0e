"""What failures and checkpoints leave of the time of a large job; which write rate of the storage pays for itself."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.quantities import by_count, duration, grouped, si, significant
from sizer.bom.prices import PriceBook, prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.model import Catalog
from sizer.perf.availability.goodput import (
    GPUS_OF_THE_RATE,
    INTERRUPTIONS,
    NOTICE_S,
    RESCHEDULE_S,
    CheckpointPlan,
    checkpoint_plan,
    spare_wait_s,
    spares_that_suffice,
    storage_level,
)
from sizer.physical.capacity import counts_nodes, node_limits, nodes_per_unit
from sizer.present.availability import share_text
from sizer.present.tables import Field, Table, record_table, table_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.spares import checkpoint_storage
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.platform_columns import node_write_rates, write_rate_is_unknown

# Time of a repair where none is stated. An example: it depends on the contract.
USUAL_REPAIR_S = 86_400.0
# What a value is called, and the least and the most of it.
_LIMITS = {
    "gpus": ("number of GPUs", 1, 131_072, ""),
    "parameters": ("number of parameters", 1e6, 1e14, ""),
    "write_bytes_per_s": ("write rate", 1e6, 1e14, "B/s"),
    "read_bytes_per_s": ("read rate", 1e6, 1e14, "B/s"),
    "copy_s": ("time to copy the state into host memory", 0.001, 3600, "s"),
    "interval_s": ("checkpoint interval", 1, 1e7, "s"),
    "bytes_per_parameter": ("size of a checkpoint for each parameter", 0.5, 40, "B"),
    "notice_s": ("time from a failure to loading", 0, 1e6, "s"),
    "rate": ("number of interruptions for 1,000 days of 8 GPUs", 0.01, 1000, ""),
    "repair_s": ("time of a repair", 60, 1e7, "s"),
    "spares": ("number of spare servers", 0, 100_000, ""),
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
    spares: int | None = None  # None: one is free at every failure


@dataclass(frozen=True)
class GoodputAnswer:
    """The plan, and spare servers."""

    question: GoodputQuestion
    plan: CheckpointPlan
    level: str | None  # of NVIDIA's published storage levels
    spare_servers: int | None  # None: no time of repair given


def question_of(design: DesignAnswer, answer: WorkloadAnswer) -> GoodputQuestion | None:
    """The job of a workload on the storage of its design; None where the rates are not known or little is written.

    Adapters are written so fast that no storage or interval changes anything.
    """
    job = answer.job
    if job is None or (answer.kind.trains_language and answer.trained.work.method == "lora"):
        return None
    storage = checkpoint_storage(design, job)
    write, read = storage.write_bytes_per_s[0], storage.read_bytes_per_s[0]
    if not (math.isfinite(write) and math.isfinite(read)):
        return None
    return GoodputQuestion(
        gpus=job.plan.gpus,
        parameters=job.parameters,
        write_bytes_per_s=write,
        read_bytes_per_s=read,
        copy_s=None if job.checkpoints.waits else job.plan.blocked_s,
        interval_s=job.checkpoints.every_s,
        bytes_per_parameter=job.checkpoints.written_bytes / job.parameters,
        rate=job.checkpoints.interruptions,
    )


def stated_question(gpus: int, given: Mapping[str, float | None]) -> GoodputQuestion:
    """A job of so many GPUs with the values given.

    Raises RequestError if the parameters or the write rate are missing.
    """
    for name in ("parameters", "write_bytes_per_s"):
        if given.get(name) is None:
            option = {"parameters": "--parameters, e.g. 70e9", "write_bytes_per_s": "--write-gb-per-s, e.g. 40"}[name]
            raise RequestError(f"a number of GPUs needs {option}; or give a request file instead")
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    values.setdefault("read_bytes_per_s", values["write_bytes_per_s"])
    return GoodputQuestion(gpus=gpus, **values)


def job_question(design: DesignAnswer, given: Mapping[str, float | None]) -> GoodputQuestion:
    """The first training of a design that writes checkpoints, with the values given in place of its own.

    Raises RequestError if no training of the design has a size, a write rate and a read rate.
    """
    asked = (question_of(design, answer) for answer in design.workloads)
    question = next((one for one in asked if one is not None), None)
    if question is None:
        raise RequestError(
            "no training of the request is interrupted often or asks for checkpoints on storage with known rates; add "
            "[data] checkpoint_every_s, for example '1 h', or give a number of GPUs with --parameters"
        )
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return replace(question, **values)


def goodput_answer(question: GoodputQuestion) -> GoodputAnswer:
    """Goodput of the job.

    Raises RequestError if a value is out of its range, or checkpoints follow each other faster than they are written.
    """
    for name, (called, low, high, unit) in _LIMITS.items():
        value = getattr(question, name)
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            given, least, most = (_written(one, unit) for one in (value, low, high))
            raise RequestError(f"the {called} is {given}; allowed are {least} to {most}")
    plan = _plan(question)
    if question.interval_s is not None and plan.write_s > question.interval_s:
        raise RequestError(
            f"the checkpoint interval is {duration(question.interval_s)}, but a checkpoint of "
            f"{si(plan.checkpoint_bytes, 'B')} takes {duration(plan.write_s)} to write; give a longer interval or "
            "faster storage"
        )
    servers = max(1, round(question.gpus / GPUS_OF_THE_RATE))
    spares = None
    if question.repair_s is not None:
        spares = spares_that_suffice(servers, question.repair_s, rate=question.rate or INTERRUPTIONS[0])
    level = storage_level(question.read_bytes_per_s, question.write_bytes_per_s, servers)
    return GoodputAnswer(question, plan, level, spares)


def _written(value: float, unit: str) -> str:
    if not math.isfinite(value) or abs(value) > 1e15 or unit == "B":
        return f"{value:g} {unit}".strip()
    if not unit:
        return grouped(value, 0 if value == int(value) else 2)
    return duration(value) if unit == "s" else si(value, unit)


def _plan(question: GoodputQuestion) -> CheckpointPlan:
    rates = INTERRUPTIONS if question.rate is None else (question.rate, question.rate, question.rate)
    notice_s = NOTICE_S + RESCHEDULE_S if question.notice_s is None else question.notice_s
    if question.spares is not None:
        servers = max(1, round(question.gpus / GPUS_OF_THE_RATE))
        repair_s = USUAL_REPAIR_S if question.repair_s is None else question.repair_s
        notice_s += spare_wait_s(servers, repair_s, question.spares, rates[0])
    return checkpoint_plan(
        question.gpus,
        question.parameters * question.bytes_per_parameter,
        question.write_bytes_per_s,
        question.read_bytes_per_s,
        copy_s=question.copy_s,
        interval_s=question.interval_s,
        rates=rates,
        notice_s=notice_s,
    )


def goodput_text(answer: GoodputAnswer) -> str:
    """The plan in lines."""
    asked, plan = answer.question, answer.plan
    how = "while training goes on" if asked.copy_s is not None else "while training waits"
    best = "best interval" if asked.interval_s is None else "interval"
    share, low, high = plan.goodput
    lines = [
        f"{grouped(asked.gpus)} GPUs, {significant(asked.parameters / 1e9)} G parameters: checkpoints of "
        f"{significant(plan.checkpoint_bytes / 1e12)} TB, written {how} in {duration(plan.write_s)}",
        f"interruptions       {significant(plan.interruptions_per_day)} a day, one every {duration(plan.between_s[0])} "
        f"({duration(plan.between_s[2])} to {duration(plan.between_s[1])})",
        f"{best:19} {duration(plan.interval_s)}; training stops for {duration(plan.blocked_s)} each time",
        f"restart             {duration(plan.restart_s)}, of which loading {duration(plan.load_s)}",
        f"goodput             {share:.1%} (90 % interval {low:.1%} to {high:.1%})",
        f"lost                {significant(plan.lost_hours_per_week)} h a week, "
        f"{grouped(round(plan.lost_hours_per_week * asked.gpus))} GPU-hours",
        f"storage writes      {plan.write_share:.0%} of the time",
        f"published level     {answer.level or 'below good'} (NVIDIA DGX SuperPOD, storage by number of servers)",
    ]
    if answer.spare_servers is not None:
        lines.append(f"spare servers       {answer.spare_servers}: the job has all its servers 99 % of the time")
    return "\n".join(lines)


# Years over which servers and storage are written off. A choice of ours, the middle of the usual three to five.
YEARS = 4.0
_WEEKS_A_YEAR = 365.25 / 7
_HOURS_A_WEEK = 7 * 24
_FACTORS = (1, 2, 3, 4, 6, 8)
_LITTLE = 0.01


class Pays(Enum):
    """Whether storage pays for itself by the GPU time that it saves."""

    YES = "yes"  # at the lowest price of GPU time and the highest of storage
    OPEN = "open"
    NO = "no"
    IS_PLANNED = "planned"


_VERDICTS = {Pays.YES: "yes", Pays.OPEN: "depends on the quotes", Pays.NO: "no", Pays.IS_PLANNED: "planned"}


@dataclass(frozen=True)
class MoreStorage:
    """Another number of storage nodes for the same job."""

    nodes: int
    write_bytes_per_s: float
    goodput: float
    gpu_hours_per_week: float  # gained over the nodes planned
    ratio: tuple[float, float] | None  # GPU time saved over storage bought, low and high; None: of the nodes planned
    pays: Pays


@dataclass(frozen=True)
class StorageWorth:
    """More storage nodes, and the most of them that pay for themselves for certain."""

    rows: tuple[MoreStorage, ...]

    @property
    def pays_up_to(self) -> MoreStorage:
        """The fastest storage of which every price in its band says that it pays, or what is planned."""
        sure = [row for row in self.rows if row.pays in (Pays.YES, Pays.IS_PLANNED)]
        return max(sure, key=lambda row: row.nodes)


def storage_worth(evaluated: EvaluatedDesign, question: GoodputQuestion) -> StorageWorth | None:
    """More nodes of the storage of a design, with what each saves; None where nodes, rates or prices are not known."""
    design, catalog = evaluated.result.design, evaluated.catalog
    platform = design.platform
    if not counts_nodes(platform.storage) or not design.storage_nodes or write_rate_is_unknown(platform.storage):
        return None
    costs = _costs(design, catalog, prices_for(evaluated.result.request, catalog))
    if costs is None:
        return None
    of_gpu_hour, of_node = costs
    each, most = node_write_rates(platform)[0], node_limits(platform.storage)[1]
    here = goodput_answer(question)
    rows = [
        MoreStorage(design.storage_nodes, question.write_bytes_per_s, here.plan.goodput[0], 0.0, None, Pays.IS_PLANNED)
    ]
    for factor in _FACTORS[1:]:
        nodes = design.storage_nodes * factor
        if nodes > most:
            break
        rows.append(_row(question, here, nodes, nodes * each, nodes - design.storage_nodes, of_gpu_hour, of_node))
    return StorageWorth(tuple(rows))


def _row(
    question: GoodputQuestion,
    here: GoodputAnswer,
    nodes: int,
    write: float,
    added: int,
    of_gpu_hour: tuple[float, float],
    of_node: tuple[float, float],
) -> MoreStorage:
    faster = GoodputQuestion(**{**vars(question), "write_bytes_per_s": write})
    gained = goodput_answer(faster).plan.goodput[0]
    hours = max(gained - here.plan.goodput[0], 0.0) * question.gpus * _HOURS_A_WEEK
    saved = [hours * _WEEKS_A_YEAR * YEARS * price for price in of_gpu_hour]
    spent = [added * price for price in of_node]
    ratio = (saved[0] / spent[1] if spent[1] else math.inf, saved[1] / spent[0] if spent[0] else math.inf)
    pays = Pays.YES if ratio[0] >= 1 else Pays.NO if ratio[1] < 1 else Pays.OPEN
    return MoreStorage(nodes, write, gained, hours, ratio, pays)


def _costs(
    design: DesignAnswer, catalog: Catalog, book: PriceBook
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Lowest and highest price of an hour of a GPU and of a storage node."""
    platform = design.platform
    prices = unit_prices(catalog, book, design.bill.currency, (0.0, 1.0))
    server = prices.of(platform.server.id, platform)
    part = platform.storage.id if platform.storage_server is None else platform.storage_server.id
    unit = prices.of(part, platform)
    if not (math.isfinite(float(server[-1])) and math.isfinite(float(unit[-1]))):
        return None
    hours = YEARS * _WEEKS_A_YEAR * _HOURS_A_WEEK * platform.gpus_per_server
    per_unit = nodes_per_unit(platform.storage)
    return (
        (float(server[0]) / hours, float(server[-1]) / hours),
        (float(unit[0]) / per_unit, float(unit[-1]) / per_unit),
    )


def worth_table(worth: StorageWorth, number: int) -> Table:
    """More storage nodes: goodput, GPU time that they save, and whether that pays for them."""
    return record_table(
        f"storage-worth-{number}",
        f"Faster storage: GPU time saved over {YEARS:g} years compared with its price",
        worth.rows,
        [
            Field("Nodes", lambda one: grouped(one.nodes), "right", 10),
            Field("Write rate", lambda one: si(one.write_bytes_per_s, "B/s"), "right", 18),
            Field("Goodput", lambda one: share_text(one.goodput), "right", 14),
            Field("GPU-hours a week", _hours, "right", 20),
            Field("Saved over spent", _ratio, "right", 18),
            Field("Pays for itself", lambda one: _VERDICTS[one.pays], "left", 20),
        ],
    )


def worth_text(worth: StorageWorth) -> str:
    """The write rate up to which storage pays."""
    most, planned = worth.pays_up_to, worth.rows[0]
    rate = si(most.write_bytes_per_s, "B/s")
    if most is planned:
        open_rows = [row for row in worth.rows if row.pays is Pays.OPEN]
        if open_rows:
            return f"Whether a write rate above {rate} pays for itself depends on the quotes."
        return f"Storage that writes faster than the planned {rate} would cost more than the GPU time it saves."
    nodes = by_count(most.nodes, "node", "nodes")
    return (
        f"Write rates up to {rate}, {grouped(most.nodes)} {nodes}, pay for themselves by the GPU time that they save."
    )


def worth_lines(worth: StorageWorth) -> str:
    """Table and sentence as plain text."""
    return "\n".join(["", table_text(worth_table(worth, 1)), worth_text(worth)])


def _hours(storage: MoreStorage) -> str:
    hours = round(storage.gpu_hours_per_week)
    return f"+{grouped(hours)}" if hours else "0"


def _ratio(storage: MoreStorage) -> str:
    if storage.ratio is None:
        return ""
    low, high = storage.ratio
    if high < _LITTLE:
        return "under 0.01"
    return f"{significant(low, 1) if low >= _LITTLE else 'under 0.01'} to {significant(high, 1)}"
