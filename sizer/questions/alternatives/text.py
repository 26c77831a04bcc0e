"""Alternatives to a design in words."""

from collections.abc import Sequence

from sizer.base.quantities import NARROW_SPACE, plain, probability_text, si, significant
from sizer.catalog.labels import item_name, sentence
from sizer.catalog.model import Catalog
from sizer.present.text.money import difference_text, quotes_for
from sizer.present.words import inside_sentence
from sizer.questions.alternatives.analysis import MissingNeighbour, MissingReason, Neighbour
from sizer.sizing.design.decisions import speed_up
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.workload.request import SizingRequest
from sizer.workload.target_text import target_text

_REASONS = {
    MissingReason.CHEAPEST: "No other platform that the request allows meets it.",
    MissingReason.NONE_CHEAPER: "No other platform that meets the request costs less.",
    MissingReason.ONE_SERVER: "The design already has only one server.",
    MissingReason.NO_LOOSER_TARGET: "No lower confidence or looser target in a useful range needs fewer servers.",
    MissingReason.NOT_FASTER: "No larger size of the platform is noticeably faster.",
}
# A difference below this share is none that the model could tell. [-]
_SEEN = 0.005
# Prices named in one sentence; the others are counted.
_NAMED = 4
# Digits of a rate asked: a changed target differs from the old one in the third or fourth.
_DIGITS = 4


def changes(before: SizingRequest, after: SizingRequest, design: DesignAnswer, catalog: Catalog) -> str:
    """What differs between two requests of the same workloads, as one sentence.

    ``design``: of ``before``: it has the words of its targets. ``catalog``: for the names of parts.
    """
    said = []
    if after.confidence != before.confidence:
        said.append(f"confidence {_percent(after.confidence)} instead of {_percent(before.confidence)}")
    for old, new, answer in zip(before.workload, after.workload, design.workloads, strict=True):
        if new.target != old.target:
            of_which = f"{answer.workload.name}: " if len(before.workload) > 1 else ""
            targets = (target_text(one, answer.dnn, _DIGITS) for one in (new, old))
            said.append(f"{of_which}{' instead of '.join(targets)}")
    left = [
        item_name(ids[0], catalog)
        for ids, known in (
            (after.platforms.servers, before.platforms.servers),
            (after.platforms.storage, before.platforms.storage),
        )
        if ids != known and len(ids) == 1
    ]
    if left:
        said.append(f"only {' with '.join(left)}")
    if after.platforms.fabrics != before.platforms.fabrics and len(after.platforms.fabrics) == 1:
        said.append(f"only {item_name(after.platforms.fabrics[0], catalog)}")
    return sentence("; ".join(said)) if said else "The request does not change."


def outcome(design: DesignAnswer, base: DesignAnswer) -> str:
    """Advantages and disadvantages of a design compared with another one, without prices, as two short sentences."""
    better: list[str] = []
    worse: list[str] = []
    ratio = speed_up(design, base)
    if abs(ratio - 1) >= _SEEN:
        text = (
            f"{significant(100 * abs(ratio - 1), 2)}{NARROW_SPACE}% {'faster' if ratio > 1 else 'slower'} at the median"
        )
        (better if ratio > 1 else worse).append(text)
    one, other = design.quantities, base.quantities
    counts = (
        (design.n_gpus - base.n_gpus, "GPU", "GPUs"),
        (design.storage_nodes - base.storage_nodes, "storage node", "storage nodes"),
        (float(one.rack_units[0] - other.rack_units[0]), "rack unit", "rack units"),
    )
    for number, single, several in counts:
        if number:
            noun = single if abs(number) == 1 else several
            text = f"{plain(abs(number))} {noun} {'more' if number > 0 else 'fewer'}"
            (worse if number > 0 else better).append(text)
    watts = float(one.power_max_w[0] - other.power_max_w[0])
    if abs(watts) >= _SEEN * float(other.power_max_w[0]):
        text = f"{si(abs(watts), 'W')} {'more' if watts > 0 else 'less'}"
        (worse if watts > 0 else better).append(text)
    sides = [
        f"{label}: {', '.join(said)}." for label, said in (("Advantages", better), ("Disadvantages", worse)) if said
    ]
    return " ".join(sides) if sides else "It is equal in rate, GPUs, storage nodes, rack units and power."


def names(items: Sequence[str], catalog: Catalog) -> str:
    """Names of items in a sentence; of many the first ones and how many more."""
    named = [item_name(item, catalog) for item in items[:_NAMED]]
    more = len(items) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def chance(probability: float) -> str:
    """A probability in words that claims no certainty."""
    percent = probability_text(probability)
    return f"a probability {percent}" if percent.startswith(("over", "under")) else f"a probability of {percent}"


def _percent(fraction: float) -> str:
    return f"{plain(100 * fraction, 2)}{NARROW_SPACE}%"


def change_text(request: SizingRequest, evaluated: EvaluatedDesign) -> str:
    """What differs between the request of the result and that of an alternative."""
    result = evaluated.result
    return changes(result.request, request, result.design, evaluated.catalog)


def outcome_text(neighbour: Neighbour, result: SizingResult) -> str:
    """What the alternative gains and gives up; of a cheaper one with the amount saved, for use in the house."""
    text = outcome(neighbour.design, result.design)
    if neighbour.cost is not None:
        return f"{difference_text(neighbour.cost)} {text}"
    if neighbour.target_probability is not None:
        return f"{text} It meets the original target with {chance(neighbour.target_probability)}."
    return text


def missing_text(missing: MissingNeighbour, catalog: Catalog) -> str:
    """Why an alternative does not exist, as a sentence."""
    part = "storage" if missing.kind == "other storage" else "server"
    match missing.reason:
        case MissingReason.NONE_LIKELY_CHEAPER:
            quotes = inside_sentence(quotes_for([item_name(item, catalog) for item in missing.items]))
            return (
                "No other platform that meets the request is expected to cost less. "
                f"The order is not settled: {quotes} would settle it."
            )
        case MissingReason.NO_USEFUL_SIZE:
            server, storage = (item_name(item, catalog) for item in missing.items)
            return f"Another stage limits all larger sizes of {server} with {storage}."
        case MissingReason.NO_OTHER_VENDOR:
            return f"The catalogue has no {part} of another vendor than {missing.vendor} that the request allows."
        case MissingReason.INFEASIBLE if missing.kind in ("other server", "other storage"):
            return f"No {part} of another vendor meets the request: {missing.detail}"
        case MissingReason.INFEASIBLE:
            return sentence(missing.detail)
    return _REASONS[missing.reason]
