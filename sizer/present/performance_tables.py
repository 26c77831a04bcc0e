"""Tables of the chapters on performance and alternatives."""

from collections.abc import Sequence

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, duration, grouped, probability_text, significant, stated
from sizer.base.units import GIB
from sizer.drawings.datapath import is_limit
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, fact_table, record_table, row
from sizer.present.text import result_text
from sizer.present.text.calibration import NOT_PREDICTED, rounded_throughput, throughput_text, time_text
from sizer.present.text.checks import missing_text
from sizer.present.text.design_size import limit_text
from sizer.present.text.layouts import recompute_text, sharding_text, step_sentence, useful_text
from sizer.present.text.money import price_range_text
from sizer.present.text.serving import serving_rows
from sizer.present.text.stages import measurement_text, stage_text
from sizer.sizing.checks import AnyLimit, bound_of
from sizer.sizing.result import (
    STAGES,
    DesignAnswer,
    NearbyMeasurement,
    SizingResult,
    Stage,
    WorkloadAnswer,
)
from sizer.sizing.stages.serving_rates import ServingAnswer

_NEXT_TO_NOTHING = 0.001
# What a GPU of the fullest pipeline stage holds, in the order in which it is told.
_MEMORY_PARTS = {
    "state": "model state",
    "activations": "activations",
    "logits": "output layer",
    "runtime": "libraries and buffers",
}


def stage_table(answer: WorkloadAnswer, number: int) -> Table:
    """Capacity and utilization of every stage."""

    def capacity(stage: Stage) -> Cell:
        is_used = is_limit(stage, answer)
        return Cell(words.estimate(stage.capacity, unit, bare=True) if is_used else "not limited", is_muted=not is_used)

    def load(stage: Stage) -> str:
        if not is_limit(stage, answer):
            return "–"
        return "bottleneck" if stage.is_limiting else words.percent(stage.load_fraction)

    unit = words.sample_unit(answer.dnn)
    return record_table(
        f"stages-{number}",
        "Capacity and utilization of every stage, medians with 90 % intervals",
        answer.stages,
        [
            Field("Stage", lambda stage: Cell(STAGES[stage.key], stage=stage.key), width=18),
            Field(f"Capacity, {unit}", capacity, "right", 21),
            Field("Utilization", load, "right", 12),
            Field(
                "Derived from",
                lambda stage: Cell(words.sentence(stage_text(stage.reason)), cites=stage.sources),
                width=49,
            ),
        ],
        kind=lambda stage: "strong" if stage.is_limiting else "",
        note=stage_note(answer),
    )


def stage_note(answer: WorkloadAnswer) -> str:
    """Why the throughput is below the capacity of the bottleneck, where the printed numbers differ."""
    unit = words.sample_unit(answer.dnn)
    slowest = next((stage for stage in answer.stages if stage.is_limiting), None)
    if slowest is None or words.rounded(slowest.capacity, unit) == words.rounded(answer.throughput, unit):
        return ""
    return (
        f"Each stage alone. The expected rate is {words.rounded(answer.throughput, unit)}: the slowest stage sets it, "
        "and within the intervals another stage may be the slowest."
    )


def figures_table(answer: WorkloadAnswer, number: int) -> Table:
    """Rates and utilization of a workload on the design."""
    return fact_table(
        f"figures-{number}",
        f"Expected rates{', interruptions included' if answer.kind.trains_language else ' in steady state'}",
        [
            row("Throughput", throughput_text(answer), kind="strong"),
            *_reads(answer),
            # Of a language model the share of the peak says it; exchange and bubbles are within the GPUs' step.
            *([] if answer.kind.trains_language else [("GPU utilization", words.percent(answer.gpu_busy_fraction))]),
            ("Processor utilization", _processor_text(answer.cpu_utilization_fraction)),
            *scaling_rows(answer),
        ],
    )


def _processor_text(share: Estimate) -> str:
    """Share of the processors, with its interval unless it is next to nothing."""
    middle = float(share.value)
    return words.percent(middle) if middle < _NEXT_TO_NOTHING else words.estimate(share, "%")


def _reads(answer: WorkloadAnswer) -> list[tuple[str, str]]:
    cold, warm = answer.cold_storage_bytes_per_s, answer.storage_bytes_per_s
    if not answer.kind.reads_data:
        return []
    if answer.kind.trains_language:
        return [("Tokens read from storage", words.estimate(cold, "B/s"))]
    if answer.is_one_epoch:
        return [("Read from storage", words.estimate(cold, "B/s"))]
    return [
        (
            "Read from storage, warm",
            words.estimate(warm, "B/s") if warm.value > 0 else "nothing: the caches hold the data set",
        ),
        ("Read from storage, first epoch", words.estimate(cold, "B/s")),
        ("Read from memory, warm", words.percent(answer.cache_hit_fraction)),
    ]


def scaling_rows(answer: WorkloadAnswer) -> list[tuple[str, str]]:
    """How the rate scales: of a language model the rate per GPU, which another layout may raise above that of fewer."""
    share = words.percent(answer.scaling_efficiency)
    if not answer.kind.reads_data:  # replicas add up
        return []
    if answer.kind.trains_language:
        each = float(answer.throughput.value) / answer.trained.gpus_used
        rate = f"{significant(each)} {words.sample_unit(answer.dnn)}" if answer.rate_is_predicted else NOT_PREDICTED
        compared = (f"{words.scaling_name(is_language=True)} compared with the fewest servers", share)
        is_more = answer.trained.gpus_used > np.min(answer.scaling.n_gpus)
        useful = ("Useful arithmetic of one GPU", useful_text(answer.trained, float(answer.throughput.value)))
        shown = [useful] if answer.rate_is_predicted else []
        return [("Rate of one GPU", rate), *shown, *([compared] if is_more else [])]
    # Where something else limits, the GPUs wait for it: that is no matter of scaling.
    if answer.bottleneck not in ("gpu", "exchange"):
        return []
    return [("Scaling efficiency compared with one GPU", share)]


# Rows of a table of their own, and those that tell the room.
_OF_LATENCY = ("First token", "Later tokens")
_OF_ROOM = (
    *("Needed", "After a loss", "In flight", "Day", "Users", "Sensitivity"),
    *("Prefix cache", "Without cache", "Offload", "Memory"),
)


def serving_tables(
    design: DesignAnswer,
    answer: WorkloadAnswer,
    number: int,
    *,
    with_cost: bool = False,
    elsewhere: Sequence[str] = (),
) -> tuple[Table, ...]:
    """What serves a language model, how soon it answers, and what it has room for; empty of other workloads.

    ``elsewhere``: rows that other tables and drawings of the document say. ``with_cost``: estimates for the house.
    """
    rows = serving_rows(design, answer, with_cost=with_cost)
    if not rows:
        return ()
    rows = [one for one in rows if one[0] not in (*_OF_LATENCY, *elsewhere)]
    serves, room = ([one for one in rows if (one[0] in _OF_ROOM) is is_room] for is_room in (False, True))
    latencies = latency_table(answer, number)
    return (
        fact_table(f"serving-{number}", "Serving performance", serves, widths=(18, 82)),
        *([] if latencies is None else [latencies]),
        fact_table(f"room-{number}", "Capacity", room, widths=(18, 82)),
    )


def latency_table(answer: WorkloadAnswer, number: int) -> Table | None:
    """Latencies at the load with their limits and the probability to keep them; None where nobody waits for tokens."""
    found = answer.served
    if not found.latencies:
        return None
    return record_table(
        f"latency-{number}",
        f"Latency at {'the asked load' if found.load == 'asked' else 'most'}",
        found.latencies,
        [
            Field("Time", lambda one: words.capital(one.name), width=18),
            Field("Mean", lambda one: words.estimate(one.mean, "s"), "right", 26),
            Field(
                f"{found.work.percentile}th percentile", lambda one: words.estimate(one.at_percentile, "s"), "right", 28
            ),
            Field("Limit", lambda one: "none" if one.limit_s is None else stated(one.limit_s, "s"), "right", 12),
            Field("Probability", lambda one: "–" if one.chance is None else probability_text(one.chance), "right", 16),
        ],
        note="In brackets: 90\u202f% intervals.",
    )


def models_table(answers: Sequence[WorkloadAnswer]) -> Table:
    """Models in use side by side."""
    served = [answer for answer in answers if answer.serving is not None]
    return record_table(
        "models",
        "Models in use at the same time",
        served,
        [
            Field("Use", lambda one: one.workload.name, width=16),
            Field("Model", lambda one: f"{one.dnn.name}, {one.served.weights.upper()}", width=21),
            Field(
                "Replicas",
                lambda one: f"{one.served.replicas} × {words.plural(one.served.gpus_of_replica, 'GPU')}",
                width=13,
            ),
            Field("First token", lambda one: _latency(one.served, 0), "right", 11),
            Field("Later tokens", lambda one: _latency(one.served, 1), "right", 12),
            Field("Asked", lambda one: _asked(one.served), "right", 9),
            Field(
                "At most", lambda one: words.estimate(one.served.requests_per_s, "requests/s", bare=True), "right", 18
            ),
        ],
        note="Times are those of the percentile of the limits, at the asked load; asked and at most: requests/s.",
    )


def _latency(answer: ServingAnswer, place: int) -> str:
    shown = answer.latencies[place : place + 1]
    return words.rounded(shown[0].at_percentile, "s") if shown else "–"


def _asked(answer: ServingAnswer) -> str:
    rate = answer.work.asked_rate
    return "–" if rate is None or answer.work.in_flight is not None else significant(rate)


def layout_table(answer: WorkloadAnswer, number: int) -> Table | None:
    """Layout of a language model and the next one; None of other workloads."""
    found = answer.language
    if found is None:
        return None
    unit = words.sample_unit(answer.dnn)
    layouts = [("Chosen", found.layout), *([("Next", found.runner_up)] if found.runner_up is not None else [])]
    fits = " and ".join(f"{probability_text(one.probability_fits)} ({name.lower()})" for name, one in layouts)
    step = step_sentence(found)
    parts = ", ".join(f"{name} {_gib(found.layout.memory_parts[part])}" for part, name in _MEMORY_PARTS.items())
    return record_table(
        f"layout-{number}",
        f"Parallel layout on {grouped(found.gpus_used)} GPUs, {grouped(found.batch)} sequences a step",
        layouts,
        [
            Field("Layout", lambda one: one[0], width=9),
            Field("TP", lambda one: str(one[1].tensor), "right", 5),
            Field("PP (VP)", lambda one: f"{one[1].pipeline} ({one[1].virtual})", "right", 8),
            Field("CP", lambda one: str(one[1].context), "right", 5),
            Field("EP", lambda one: str(one[1].expert), "right", 5),
            Field("DP", lambda one: grouped(one[1].data), "right", 7),
            Field("Micro batch", lambda one: str(one[1].micro_batch), "right", 8),
            Field("Divided state", lambda one: sharding_text(one[1]), width=12),
            Field("Recompute", lambda one: recompute_text(one[1]), width=11),
            Field(unit, lambda one: significant(float(one[1].tokens_per_s.value)), "right", 11),
            Field("GPU memory", lambda one: _gib(float(one[1].memory_bytes.value)), "right", 10),
        ],
        note=f"{words.capital(unit)} while training runs, without interruptions. "
        f"Probability that it fits in GPU memory: {fits}. "
        f"A step of the chosen layout takes {step}. Its memory: {parts}.",
    )


def _gib(size_bytes: float) -> str:
    return f"{significant(size_bytes / GIB)}{NARROW_SPACE}GiB"


def stacks_table(answer: WorkloadAnswer, number: int) -> Table | None:
    """What other software stacks are worth for a language model; None of other workloads."""
    found = answer.language
    if found is None or not found.stacks.value:
        return None
    compared = f"Rate compared with {answer.stack.name}"
    return record_table(
        f"stacks-{number}",
        f"Other software stacks compared with {answer.stack.name}",
        found.stacks.value,
        [
            Field("Software stack", lambda one: one.stack.name, width=44),
            Field(compared, lambda one: words.estimate(one.rate_ratio, "%"), "right", 36),
            Field("Published runs", lambda one: grouped(one.runs) if one.runs else "none", "right", 20),
        ],
        note="From the published runs of each stack after GPU, model, layout and precision are accounted for.",
    )


def time_table(answer: WorkloadAnswer, number: int) -> Table | None:
    """Parts of a training; None where no length is requested."""
    time = answer.time
    if time is None:
        return None
    if answer.kind.trains_language:
        return fact_table(
            f"time-{number}",
            "Time to train",
            [
                ("Length", result_text.epochs_text(answer)),
                ("Rate", throughput_text(answer)),
                *(
                    []
                    if time.whole_run is None
                    else [
                        (
                            "Whole run",
                            result_text.whole_run_text(
                                time.whole_run, steps_are_own=answer.before_measured is not None
                            ),
                        )
                    ]
                ),
                row("Time to train", time_text(answer), kind="total"),
            ],
        )
    return fact_table(
        f"time-{number}",
        "Time to train and its parts",
        [
            ("Start-up", duration(time.start_up_s) if time.start_up_s > 0 else "none"),
            ("The epoch" if answer.is_one_epoch else "First epoch, cold", words.estimate(time.first_epoch_s, "s")),
            *([] if answer.is_one_epoch else [("Each later epoch", words.estimate(time.epoch_s, "s"))]),
            ("Epochs", result_text.epochs_text(answer)),
            ("Evaluations", words.estimate(time.evaluations_s, "s") if time.evaluations_s.value > 0 else "none"),
            row("Time to train", time_text(answer), kind="total"),
        ],
    )


def evidence_table(answer: WorkloadAnswer, number: int) -> Table | None:
    """Published measurements, the nearest first, with their predictions."""
    if not answer.evidence:
        return None
    unit = words.sample_unit(answer.dnn)
    fields: list[Field[NearbyMeasurement]] = [
        Field("Published run", lambda one: Cell(measurement_text(one), cites=(one.source,), where=one.where), width=42),
        Field(f"Measured, {unit}", lambda one: grouped(float(f"{one.published:.4g}")), "right", 13),
        Field("Predicted", lambda one: words.estimate(one.predicted, unit, bare=True), "right", 17),
        Field("Gap", lambda one: result_text.gap(one.published, float(one.predicted.value)), "right", 9),
        Field(
            "90 % interval",
            lambda one: "inside" if one.predicted.low <= one.published <= one.predicted.high else "outside",
            width=10,
        ),
        Field("Role", lambda one: "calibrates" if one.calibrates else "tests", width=9),
    ]
    note = "Runs that calibrate were used to fit the model; runs that test were not."
    return record_table(f"evidence-{number}", "Nearest published measurements", answer.evidence, fields, note=note)


def platforms_table(
    result: SizingResult, listed: Sequence[DesignAnswer] = (), *, mark: str = "this document"
) -> Table | None:
    """The best design of each platform side by side; None where there is only one.

    ``listed``: the platforms of the result in another order. ``mark``: what the described design is called.
    """
    if len(result.platforms) < 2:
        return None
    documented = result.design
    watts = max(float(platform.quantities.power_max_w[0]) for platform in result.platforms)
    # A customer's copy has no price of what is not offered.
    is_priced = not documented.bill.is_customer_copy
    prices = [Field[DesignAnswer]("Price", price_range_text, "right", 15)] if is_priced else []
    fields: list[Field[DesignAnswer]] = [
        Field("Design", lambda one: _design_name(one, documented, mark), width=27),
        Field("GPUs", lambda one: grouped(one.n_gpus), "right", 7),
        Field("Throughput", lambda one: rounded_throughput(one.workloads[0]), "right", 16),
        Field("Probability", lambda one: words.chance(one.probability), "right", 13),
        Field("Rack units", lambda one: grouped(float(one.quantities.rack_units[0])), "right", 9),
        Field("Power", lambda one: result_text.power(one, like_w=watts), "right", 13),
        *prices,
    ]
    note = "Throughput of the first workload." if len(documented.workloads) > 1 else ""
    return record_table(
        "platforms",
        "The best design of each platform",
        listed or result.platforms,
        fields,
        kind=lambda one: "strong" if one is documented else "",
        note=note,
    )


def _design_name(design: DesignAnswer, documented: DesignAnswer, mark: str) -> str:
    remarks = [mark] if design is documented else []
    if design.conditional_on:
        remarks.append(f"not known: {missing_text(design.conditional_on)}")
    return f"{design.name} ({'; '.join(remarks)})" if remarks else design.name


def ruled_out_table(result: SizingResult) -> Table | None:
    """Number of designs that each limit of the stages excludes, before room and money are looked at."""
    limits = list(result.ruled_out.items())
    if not limits:
        return None
    fields: list[Field[tuple[AnyLimit, int]]] = [
        Field("Limit", lambda pair: _limit_name(pair[0], result), width=70),
        Field("Designs", lambda pair: grouped(pair[1]), "right", 30),
    ]
    note = f"Of {words.plural(result.n_designs, 'design')}, before room and money; a design may miss several limits."
    return record_table("ruled-out", "Designs excluded by each limit", limits, fields, note=note)


def _limit_name(limit: AnyLimit, result: SizingResult) -> str:
    return words.sentence(limit_text(limit, bound_of(limit, result.request.limits))).rstrip(".")
