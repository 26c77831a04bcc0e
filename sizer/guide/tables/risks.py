"""Tables of the chapter on risks: inputs that move the answer, risks, and why each alternative lost."""

from collections.abc import Callable, Iterator

from sizer.base.quantities import duration, grouped, si, significant
from sizer.guide.chapters.case import Case
from sizer.present import result_text, words
from sizer.present.calibration_text import note_texts
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.questions.what_if.sensitivity import Sensitivity
from sizer.sizing.result import DesignAnswer, SizingResult

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
    gives = "Time to train" if one.metric == "s" else unit
    heads = columns(
        ("Input", "left", 21),
        ("From", "left", 18),
        (gives, "right", 13),
        ("Servers", "right", 9),
        ("To", "left", 18),
        (gives, "right", 12),
        ("Servers", "right", 9),
    )
    note = (
        "The rate is that of this design; “servers” is how many the request would then need on "
        "this platform, where the tool can tell."
    )
    return Table(f"influences-{number}", f"What would change the answer, {one.workload}", heads, tuple(rows), note)


def risk_table(case: Case) -> Table | None:
    """What could go otherwise than planned, why, and what to do about it; None where nothing is known."""
    rows = tuple(_risks(case))
    if not rows:
        return None
    heads = columns(("Risk", "left", 24), ("Why", "left", 42), ("What to do", "left", 34))
    return Table("risks", "Risks", heads, rows)


def _risks(case: Case) -> Iterator[Row]:
    result, design = case.result, case.design
    for answer in case.answers:
        if answer.probability < 0.9:
            yield row(
                "The target is missed",
                (f"{answer.workload.name}: the probability of meeting it is {words.percent(answer.probability)}"),
                "ask for a higher confidence, which adds servers or storage, or accept the interval",
            )
        if answer.extrapolations:
            yield row(
                "The rate lies beyond what was measured",
                words.sentence("; ".join(note_texts(answer.extrapolations))).rstrip("."),
                "run the one-server acceptance test first; scale the order by its result",
            )
        if answer.bottleneck in ("storage", "decode", "network"):
            yield row(
                "The GPUs wait",
                f"{words.stage(answer.bottleneck)} sets the pace",
                "newer software or faster GPUs will not help until that stage grows",
            )
    unknown = [one for one in design.quantities.unknown_power if one]
    if unknown:
        yield row(
            "More power than planned",
            f"the maximum draw of {words.plural(len(unknown), 'device type')} is not published",
            "ask the vendor before the feeds are ordered; measure the first rack",
        )
    missing = design.bill.net_total.n_open
    if missing:
        yield row(
            "A higher price",
            f"{missing} of {len(design.bill.bought)} lines have no published price",
            "have them quoted; the bill names each",
        )
    ending = [text for text in design.bill.warnings if "sale" in text.lower()]
    if ending:
        yield row(
            "A part is no longer sold",
            words.sentence(ending[0]).rstrip("."),
            "check availability, or have a successor quoted",
        )
    assumed = sum(one.basis == "assumed" for one in result.assumptions)
    if assumed:
        yield row(
            "An assumption is wrong",
            f"{words.plural(assumed, 'fact')} behind this design are assumed",
            "put the questions of this chapter to the vendors",
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
                words.capital(words.listed(worse)) if worse else Cell("nothing that is known", is_muted=True),
                words.capital(words.listed(better)) if better else Cell("nothing", is_muted=True),
            )
        )
    heads = columns(("Design", "left", 30), ("Worse than the design of this guide", "left", 38), ("Better", "left", 32))
    return Table("lost", "Why each alternative lost", heads, tuple(rows))


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
            said = f"{text(theirs)} against {text(ours)}"
            (worse if theirs > ours else better).append(said)
    if design.bill.is_complete and other.bill.is_complete and design.bill.total != other.bill.total:
        said = f"{result_text.price(other.bill)} against {result_text.price(design.bill)}"
        (worse if other.bill.total > design.bill.total else better).append(said)
    if not all(answer.meets_target for answer in other.workloads):
        worse.insert(0, f"it misses the target, with a probability of {words.percent(other.probability)}")
    elif abs(other.probability - design.probability) > _SAME:
        said = f"a probability of {words.percent(other.probability)} against {words.percent(design.probability)}"
        (worse if other.probability < design.probability else better).append(said)
    return worse, better


def _gpus(count: float) -> str:
    return words.plural(int(count), "GPU")


def _units(count: float) -> str:
    return f"{grouped(count)}{words.NO_BREAK}U"


def _watts(power_w: float) -> str:
    return si(power_w, "W")
