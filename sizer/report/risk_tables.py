"""Tables of the chapter on risks: inputs that move the answer, risks, and why each alternative lost."""

from collections.abc import Callable, Iterator

from sizer.base.language import tr
from sizer.base.quantities import duration, grouped, si, significant
from sizer.report import prose, words
from sizer.report.chapters.case import Case
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.sizing.sensitivity import Sensitivity

# Differences smaller than this share are no reason for or against a design.
_SAME = 0.02


def influence_table(one: Sensitivity, unit: str, number: int) -> Table:
    """Inputs with both ends tried, what the design then does, and how many servers would be needed."""

    def value(amount: float) -> str:
        return duration(amount) if one.metric == "s" else significant(amount)

    def servers(count: int | None) -> str | Cell:
        return Cell("–", is_muted=True) if count is None else grouped(count)

    rows = [
        row(
            Cell(each.label, stage=each.stage) if each.stage else each.label,
            each.low_text,
            value(each.low),
            servers(each.low_servers),
            each.high_text,
            value(each.high),
            servers(each.high_servers),
        )
        for each in one.influences
    ]
    gives = tr("Time to train") if one.metric == "s" else unit
    heads = columns(
        (tr("Input"), "left", 21), (tr("From"), "left", 18), (gives, "right", 13), (tr("Servers"), "right", 9),
        (tr("To"), "left", 18), (gives, "right", 12), (tr("Servers"), "right", 9),
    )  # fmt: skip
    note = tr(
        "The rate is that of this design; “servers” is how many the request would then need on this platform, "
        "where the "
        "tool can tell."
    )
    return Table(
        f"influences-{number}", tr("What would change the answer, {name}", name=one.workload), heads, tuple(rows), note
    )


def risk_table(case: Case) -> Table | None:
    """What could go otherwise than planned, why, and what to do about it; None where nothing is known."""
    rows = tuple(_risks(case))
    if not rows:
        return None
    heads = columns((tr("Risk"), "left", 24), (tr("Why"), "left", 42), (tr("What to do"), "left", 34))
    return Table("risks", tr("Risks"), heads, rows)


def _risks(case: Case) -> Iterator[Row]:
    result, design = case.result, case.design
    for answer in case.answers:
        if answer.probability < 0.9:
            yield row(
                tr("The target is missed"),
                tr(
                    "{workload}: the probability of meeting it is {chance}",
                    workload=answer.workload.name,
                    chance=words.percent(answer.probability),
                ),
                tr("ask for a higher confidence, which adds servers or storage, or accept the interval"),
            )
        if answer.extrapolations:
            yield row(
                tr("The rate lies beyond what was measured"),
                words.sentence("; ".join(answer.extrapolations)).rstrip("."),
                tr("run the one-server acceptance test first; scale the order by its result"),
            )
        if answer.bottleneck in ("storage", "decode", "network"):
            yield row(
                tr("The GPUs wait"),
                tr("{stage} sets the pace", stage=words.stage(answer.bottleneck)),
                tr("newer software or faster GPUs will not help until that stage grows"),
            )
    unknown = [one for one in design.quantities.unknown_power if one]
    if unknown:
        yield row(
            tr("More power than planned"),
            tr("the maximum draw of {n} is not published", n=words.plural(len(unknown), tr("device type"))),
            tr("ask the vendor before the feeds are ordered; measure the first rack"),
        )
    missing = design.bill.net_total.n_open
    if missing:
        yield row(
            tr("A higher price"),
            tr("{n} of {all} lines have no published price", n=missing, all=len(design.bill.bought)),
            tr("have them quoted; the bill names each"),
        )
    ending = [text for text in design.bill.warnings if "sale" in text.lower()]
    if ending:
        yield row(
            tr("A part is no longer sold"),
            words.sentence(ending[0]).rstrip("."),
            tr("check availability, or have a successor quoted"),
        )
    assumed = sum(one.basis == "assumed" for one in result.assumptions)
    if assumed:
        yield row(
            tr("An assumption is wrong"),
            tr("{n} behind this design are assumed", n=words.plural(assumed, tr("fact"))),
            tr("put the questions of this chapter to the vendors"),
        )


def lost_table(result: SizingResult) -> Table | None:
    """In what each other platform is worse and better than the design; None where there is no other."""
    others = [other for other in result.platforms if other is not result.design]
    if not others:
        return None
    rows = []
    for other in others:
        worse, better = _compared(result.design, other)
        rows.append(
            row(
                other.name,
                words.capital(words.listed(worse)) if worse else Cell(tr("nothing that is known"), is_muted=True),
                words.capital(words.listed(better)) if better else Cell(tr("nothing"), is_muted=True),
            )
        )
    heads = columns(
        (tr("Design"), "left", 30), (tr("Worse than the design of this guide"), "left", 38), (tr("Better"), "left", 32)
    )
    return Table("lost", tr("Why each alternative lost"), heads, tuple(rows))


def _compared(design: DesignAnswer, other: DesignAnswer) -> tuple[list[str], list[str]]:
    """What is worse and what is better in another design, with its number and ours."""
    worse: list[str] = []
    better: list[str] = []
    sizes: list[tuple[float, float, Callable[[float], str]]] = [
        (design.n_gpus, other.n_gpus, _gpus),
        (float(design.quantities.rack_units[0]), float(other.quantities.rack_units[0]), _units),
    ]
    if not (design.quantities.unknown_power or other.quantities.unknown_power):
        sizes.append((float(design.quantities.power_max_w[0]), float(other.quantities.power_max_w[0]), _watts))
    for ours, theirs, text in sizes:
        if abs(theirs - ours) > _SAME * max(ours, theirs):
            said = tr("{theirs} against {ours}", theirs=text(theirs), ours=text(ours))
            (worse if theirs > ours else better).append(said)
    if design.bill.is_complete and other.bill.is_complete and design.bill.total != other.bill.total:
        said = tr("{theirs} against {ours}", theirs=prose.price(other.bill), ours=prose.price(design.bill))
        (worse if other.bill.total > design.bill.total else better).append(said)
    if not all(answer.meets_target for answer in other.workloads):
        worse.insert(
            0, tr("it misses the target, with a probability of {chance}", chance=words.percent(other.probability))
        )
    elif abs(other.probability - design.probability) > _SAME:
        said = tr(
            "a probability of {theirs} against {ours}",
            theirs=words.percent(other.probability),
            ours=words.percent(design.probability),
        )
        (worse if other.probability < design.probability else better).append(said)
    return worse, better


def _gpus(count: float) -> str:
    return words.plural(int(count), "GPU")


def _units(count: float) -> str:
    return f"{grouped(count)}{words.NO_BREAK}U"


def _watts(power_w: float) -> str:
    return si(power_w, "W")
