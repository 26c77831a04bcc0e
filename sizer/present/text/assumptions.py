"""Assumptions of an answer, and points that vendors must confirm, in words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from sizer.base import units
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.catalog.labels import capital, fact_label, fact_value_text, unit_of_field, with_vendor
from sizer.catalog.schema import Dnn, Port, Software, Support
from sizer.physical.notes import CableQuestion
from sizer.physical.platform import Platform
from sizer.present.tables import PORT_USES
from sizer.present.text.plan import question_text
from sizer.present.text.result_text import whole_run_text
from sizer.present.words import inside_sentence, percent
from sizer.sizing.assumptions import (
    AssumedFact,
    AssumedWriteRate,
    CableRoute,
    CacheReserve,
    CheckpointTimes,
    DefaultTaken,
    DesignAssumption,
    InterruptionRate,
    MissingFacts,
    MissingPrices,
    MissingReadRate,
    OpenPoint,
    RestartTimes,
    StorageLevelTaken,
    UsualExchangeRate,
    WholeRunFactor,
)
from sizer.sizing.result import SizingResult
from sizer.workload.language import DefaultKind
from sizer.workload.resolve import WorkloadDefault

_BASIS = "assumed"
# Units that a table prints as they are stored; others take a prefix.
_PLAIN_UNITS = ("", "W", "kg", "m", "U")
_DEFAULTS = {
    DefaultKind.BATCH_PER_GPU: (
        "Batch per GPU",
        "a usual batch that fits in the GPU memory with a reserve, no larger than a published one, or than one that "
        "fills the GPU where the network is your own; state yours",
    ),
    DefaultKind.BATCH_OF_RUNS: (
        "Batch per GPU",
        "the largest usual one that trains about as soon as any on so many GPUs: a larger one takes more epochs; the "
        "request can state another",
    ),
    DefaultKind.SEQUENCE_TOKENS: ("Tokens of a sequence", "as Llama 3 was trained; the request can state another"),
    DefaultKind.SEQUENCE_OF_MODEL: (
        "Tokens of a sequence",
        "as this model is usually pre-trained; the request can state another",
    ),
    DefaultKind.STEP_TOKENS: (
        "Tokens of a step",
        "usual for models of this kind; pre-training on more than 512 GPUs takes 8,192 for each of them, up to 16.8 "
        "million; the nearest number that the GPUs divide is taken, and the request can state a batch",
    ),
    DefaultKind.TOKENS: (
        "Tokens of the training",
        "only their size on storage is derived from it; the request can state them",
    ),
    DefaultKind.TOKENS_OF_SET: (
        "Tokens of the data set",
        "four bytes of the set for each, as token numbers and English text have; the request can state tokens",
    ),
    DefaultKind.INPUT_TOKENS: (
        "Tokens into a request",
        "usual for this use by published traces, as of Azure 2023 and LMSYS-Chat-1M; the request can state its own",
    ),
    DefaultKind.OUTPUT_TOKENS: (
        "Tokens out of a request",
        "usual for this use by published traces, as of Azure 2023 and LMSYS-Chat-1M; the request can state its own",
    ),
    DefaultKind.OUTPUT_TAIL: (
        "95th percentile of the tokens out of a request",
        "of chat and code as in Azure's traces of 2023, else nothing was measured; the request can state its own",
    ),
    DefaultKind.DAILY_PROFILE: (
        "Peak hour over the mean of the day",
        "as a week of Azure's services of coding (office) or conversation (consumer); measure a week of your own",
    ),
    DefaultKind.PREFIX_CACHED: (
        "Share of the input that a cache of earlier prompts holds",
        "usual for this use; nothing was measured",
    ),
    DefaultKind.ADAPTER_RANK: (
        "Rank of the adapters",
        "usual for published adapters; their memory grows in proportion",
    ),
    DefaultKind.FIRST_TOKEN: ("Limit of the first token", "usual for this use; MLPerf Inference has 2 s and 0.45 s"),
    DefaultKind.TOKEN_TIME: ("Limit of each later token", "50 ms are 20 tokens/s, faster than people read"),
    DefaultKind.PERCENTILE: ("Percentile of the latency limits", "as service levels usually state it"),
    DefaultKind.REQUESTS_PER_USER: (
        "Requests an hour of an active user",
        "no source for it is known to us; measure a trial group, as servers grow in proportion",
    ),
    DefaultKind.ACTIVE_SHARE: (
        "Share of the users who are active in the peak hour",
        "no source for it is known to us; measure a trial group, as servers grow in proportion",
    ),
    DefaultKind.SAMPLE_BYTES: (
        "Size of a sample",
        "that of the data set of published runs; the samples of an epoch, and with them the time to train, follow from "
        "it: state yours",
    ),
    DefaultKind.EPOCHS_OF_LARGER_DATA: (
        "Epochs, of those that the recipe takes on its own, smaller data",
        "published pre-trainings read larger data fewer times, about by the square root of their size; time to train "
        "follows from it: state your epochs",
    ),
    DefaultKind.SAMPLES_PER_EPOCH: (
        "Samples of one epoch",
        "data set size over sample size, because the request states the size",
    ),
}
_VALUES: dict[DefaultKind, Callable[[float], str]] = {
    DefaultKind.SAMPLE_BYTES: partial(si, unit="B"),
    DefaultKind.EPOCHS_OF_LARGER_DATA: percent,
    DefaultKind.PREFIX_CACHED: percent,
    DefaultKind.DAILY_PROFILE: significant,
    DefaultKind.ACTIVE_SHARE: percent,
    DefaultKind.FIRST_TOKEN: duration,
    DefaultKind.TOKEN_TIME: duration,
}
# What is asked about a storage without a published rate, and about parts without a price.
_READ_RATE = "sustained read rate of one node, large sequential and small random"
_PRICES = "Price, lead time and availability"
# Heads what is assumed of no single part.
_WHOLE = "Whole design"
# What is asked about facts, where a few words must do: what the room, the feeds, the cables and the storage depend on.
# Rates of chips and links inside a server are ours to look up.
_SUBJECTS = {
    "height_u": "size",
    "depth_m": "size",
    "weight_kg": "weight",
    "power_low_w": "power",
    "power_high_w": "power",
    "power_typical_w": "power",
    "power_max_w": "power",
    "shelf_w": "power",
    "power_inlets": "inlets",
    "inlet_kind": "inlets",
    "c14": "outlets",
    "c20": "outlets",
    "memory_bytes": "memory",
    "n_gpus": "GPUs",
    "ports": "ports",
    "front_end_kind": "ports",
    "front_end_ports_per_node": "ports",
    "node_read_low_bytes_per_s": "read rate",
    "node_read_high_bytes_per_s": "read rate",
    "mount_low_bytes_per_s": "read rate",
    "mount_high_bytes_per_s": "read rate",
    "mounts_per_server": "read rate",
    "node_write_bytes_per_s": "write rate",
    "usable_bytes": "capacity",
    "raw_bytes": "capacity",
    "usable_share": "capacity",
    "max_usable_bytes": "capacity",
    "min_nodes": "capacity",
    "max_nodes": "capacity",
    "max_gpus": "capacity",
    "nodes_per_unit": "capacity",
    "stripe_data": "protection",
    "stripe_parity": "protection",
    "protection": "protection",
    "hot_spare_nodes": "protection",
    "controllers": "protection",
}


@dataclass(frozen=True)
class AssumptionRow:
    """An assumption as tables show it."""

    what: str
    value: str
    basis: str
    source: str  # key of a document; empty where there is none
    note: str
    number: float | None = None  # where the value is one number of a unit without prefixes
    unit: str = ""


def assumption_rows(result: SizingResult) -> list[AssumptionRow]:
    """All assumptions of an answer: defaults of the request first, then assumed facts of parts."""
    return [_row(assumption, result) for assumption in result.assumptions]


def _row(assumption: DesignAssumption, result: SizingResult) -> AssumptionRow:
    match assumption:
        case DefaultTaken(workload, default):
            what, note = _DEFAULTS[default.kind]
            value = _VALUES.get(default.kind, grouped)(_taken(workload, default, result))
            return AssumptionRow(f"{workload}: {what}", value, _BASIS, assumption.source, note)
        case CacheReserve(reserve_bytes):
            return AssumptionRow(
                "Server memory not used as page cache",
                f"a copy of the GPU memory and {reserve_bytes / units.GIB:.0f} GiB",
                _BASIS,
                assumption.source,
                "the Dell guide asks for RAM of at least the GPU memory; the reserve of the system is our assumption",
            )
        case CableRoute():
            slack = f"{100 * assumption.slack_fraction:.0f}{NARROW_SPACE}%"
            return AssumptionRow(
                "Cable route",
                f"{plain(assumption.lead_m)} m at each end, tray {plain(assumption.tray_m)} m above the racks, "
                f"aisles of {plain(assumption.aisle_m)} m, {slack} slack",
                _BASIS,
                assumption.source,
                "measured on the drawing of the room; confirm it on site before cables are ordered",
            )
        case UsualExchangeRate(currency, usd):
            return AssumptionRow(
                "Exchange rate",
                f"USD {plain(usd)} for one {currency}",
                _BASIS,
                assumption.source,
                "converts price ranges alone; the request can state the rate",
            )
        case AssumedFact():
            return _fact_row(assumption, result.design.platform)
        case InterruptionRate(median, low, high):
            return AssumptionRow(
                "Interruptions of a job",
                f"{plain(median)} in 1,000 days of a server with 8 GPUs (90{NARROW_SPACE}% interval {plain(low)} to "
                f"{plain(high)})",
                _BASIS,
                assumption.source,
                "between published jobs of 384 to 16,384 GPUs; the request can state another rate",
            )
        case WholeRunFactor(workload, factor, n_trainings, steps_are_own):
            return AssumptionRow(
                f"{workload}: Whole run",
                whole_run_text(factor, steps_are_own=steps_are_own),
                _BASIS,
                assumption.source,
                "failures, evaluations, idle time of published trainings beside the rate of their own steps"
                if steps_are_own
                else f"fitted to {n_trainings} published trainings: slower software, failures, idle time; a step rate "
                "measured on the customer's system narrows it",
            )
        case RestartTimes(notice_s, replace_s, warm_up_s):
            return AssumptionRow(
                "Restart after an interruption",
                f"{duration(notice_s)} until it is noticed, {duration(replace_s)} to replace servers, "
                f"{duration(warm_up_s)} to the first step",
                _BASIS,
                assumption.source,
                "middles of published ranges; the last one from MLPerf Training v5.0 on 64 and 1,024 GPUs",
            )
        case CheckpointTimes(transfer_s, blocked_s):
            return AssumptionRow(
                "Checkpoint",
                f"training stops for {duration(blocked_s)}; written and read back in {duration(transfer_s)} at most",
                _BASIS,
                assumption.source,
                "the storage is sized for it; copies into host memory take 0.5 to 5 s in publications",
            )
        case StorageLevelTaken(workload, level, read, write):
            return AssumptionRow(
                f"{workload}: Storage level",
                f"{level}: {si(read, 'B/s')} read and {si(write, 'B/s')} written",
                _BASIS,
                assumption.source,
                "NVIDIA's for such data and so many GPUs; the request can state another, or none",
            )
        case AssumedWriteRate(storage, low_share, high_share):
            return AssumptionRow(
                f"{storage.name}: write rate",
                f"{plain(low_share)} to {plain(high_share)} of the read rate",
                _BASIS,
                assumption.source,
                "none is known to us",
            )


def _taken(workload: str, default: WorkloadDefault, result: SizingResult) -> float:
    """The value that the design is sized with: of the tokens of a step the nearest that its GPUs divide."""
    for answer in result.design.workloads:
        # Several kinds of work may have one name.
        trained = answer.language if answer.workload.name == workload else None
        if default.kind is DefaultKind.STEP_TOKENS and trained is not None:
            return trained.batch * trained.work.sequence
    return default.value


def _fact_row(assumption: AssumedFact, platform: Platform) -> AssumptionRow:
    """An assumed fact; ``platform``: of the design, whose server draws what its GPUs do and holds the drives sold."""
    item, fact, server = assumption.item, assumption.fact, platform.server
    draws = {"power_low_w": server.power_low_w, "power_high_w": server.power_high_w}
    fitted = {(server.id, name): draw.value for name, draw in draws.items() if draw is not None}
    fitted |= {(platform.storage.id, "usable_bytes"): platform.stored_bytes} if platform.stored_bytes else {}
    fact = replace(fact, value=fitted.get((item.id, fact.last_field), fact.value))
    if isinstance(fact.value, Port):
        use = PORT_USES[fact.value.use]
        what, value = f"{fact.value.kind.name} ports{f' ({use})' if use else ''}", str(fact.value.count)
    elif assumption.named is not None:
        what, value = fact_label(fact.last_field), with_vendor(assumption.named)
    else:
        what, value = fact_label(fact.last_field), fact_value_text(fact.last_field, fact.value)
    unit = unit_of_field(fact.last_field)[1]
    is_plain = isinstance(fact.value, int | float) and not isinstance(fact.value, bool) and unit in _PLAIN_UNITS
    number = float(fact.value) if is_plain and fact.last_field != "usable_share" else None
    return AssumptionRow(f"{item.name}: {what}", value, _BASIS, fact.source, fact.note, number, unit)


def question_texts(result: SizingResult) -> list[str]:
    """Points that vendors must confirm: 'Dell EMC R740xd: depth; weight'."""
    return list(dict.fromkeys(_question(point) for point in result.questions))


def _question(point: OpenPoint) -> str:
    if isinstance(point, CableQuestion):
        return capital(question_text(point))
    if isinstance(point, MissingPrices):
        return f"{_PRICES}: {', '.join(with_vendor(item) for item in point.items)}"
    about, asked = part_questions(point)
    return f"{about}: {'; '.join(asked)}"


def part_questions(point: MissingFacts | MissingReadRate) -> tuple[str, tuple[str, ...]]:
    """The part of an open point, and what is asked about it."""
    if isinstance(point, MissingReadRate):
        return with_vendor(point.storage), (_READ_RATE,)
    return with_vendor(point.item), tuple(dict.fromkeys(inside_sentence(fact_label(field)) for field in point.fields))


@dataclass(frozen=True)
class ValuesOfPart:
    """What is assumed of one part, or of the whole design, and what is not known of it."""

    part: str
    assumed: tuple[str, ...]  # 'weight 45.0 kg'
    unknown: tuple[str, ...]  # 'inlets': what room, order or storage depend on


def values_to_confirm(result: SizingResult) -> list[ValuesOfPart]:
    """What is to be confirmed before an order, part by part."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    # How a licence counts, the bytes of a network's input, the length of a cord without a maker, and the height of a
    # PDU that takes no unit are no vendor's to confirm.
    listed = (one for one in result.assumptions if not (isinstance(one, AssumedFact) and _is_of_no_vendor(one)))
    for row in (_row(one, result) for one in listed):
        part, _, what = row.what.rpartition(": ")
        assumed, _ = found.setdefault(part or _WHOLE, ([], []))
        assumed.append(f"{inside_sentence(what)} {row.value}")
    for point in result.questions:
        if isinstance(point, MissingFacts):
            subjects = [_SUBJECTS[field] for field in point.fields if field in _SUBJECTS]
            found.setdefault(point.item.name, ([], []))[1].extend(subjects)
        elif isinstance(point, MissingReadRate):
            found.setdefault(point.storage.name, ([], []))[1].append("sustained read rate")
        elif isinstance(point, CableQuestion):
            found.setdefault(_WHOLE, ([], []))[1].append(question_text(point))
    design = result.design
    server, there = design.platform.server, () if design.existing is None else design.existing.used
    if server.memory_bytes is not None and any(one.item == server.id for one in there):
        # Of a machine that is there nobody said what it was ordered with.
        held = f"memory of each one there {server.memory_bytes.value / units.GIB:.0f}\u202fGiB"
        drives = (
            f"; its drives {si(design.usable_bytes, 'B')} usable" if design.platform.storage.kind == "local" else ""
        )
        found.setdefault(server.name, ([], []))[0].append(held + drives)
    return [
        ValuesOfPart(part, tuple(dict.fromkeys(assumed)), tuple(dict.fromkeys(unknown)))
        for part, (assumed, unknown) in found.items()
        if assumed or unknown
    ]


def _is_of_no_vendor(assumption: AssumedFact) -> bool:
    is_whole = isinstance(assumption.item, Software | Support | Dnn)
    return is_whole or assumption.fact.last_field == "length_m" or assumption.fact.value == 0
