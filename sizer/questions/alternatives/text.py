"""Alternatives to a design in words."""

from sizer.catalog.labels import item_name, sentence
from sizer.catalog.model import Catalog
from sizer.present.text.comparison import chance, changes, outcome
from sizer.present.text.money import difference_text, quotes_for
from sizer.present.words import inside_sentence
from sizer.questions.alternatives.analysis import MissingNeighbour, MissingReason, Neighbour
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult
from sizer.workload.request import SizingRequest

_REASONS = {
    MissingReason.CHEAPEST: "No other platform that the request allows meets it.",
    MissingReason.NONE_CHEAPER: "No other platform that meets the request costs less.",
    MissingReason.ONE_SERVER: "The design already has only one server.",
    MissingReason.NO_LOOSER_TARGET: "No lower confidence or looser target in a useful range needs fewer servers.",
    MissingReason.NOT_FASTER: "No larger size of the platform is noticeably faster.",
}


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
