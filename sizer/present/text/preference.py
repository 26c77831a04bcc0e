"""Preferred vendors in words: what the preference does to the choice, and what it costs."""

from sizer.base.quantities import NARROW_SPACE, significant
from sizer.present import words
from sizer.sizing.reasons import Preference, PreferenceKind, Selection
from sizer.workload.request import ranks_by_cost

# How a design compares with another one by each key that platforms are ranked by.
_MORE = {
    "cost": "costs about {by} more",
    "ownership": "costs about {by} more to own",
    "time": "takes {by} longer",
    "gpus": "has {by} more GPUs",
    "rack-units": "takes {by} more rack units",
    "watts": "draws {by} more power",
    "rate": "costs {by} more for the rate of its GPUs",
}


def preference_text(selection: Selection, currency: str, *, with_amounts: bool) -> str:
    """What the preference does, in one sentence or two; "" where the request prefers no vendor.

    ``currency``: of the request. ``with_amounts``: whether to say how much more the preferred design costs; a
    customer's copy never does.
    """
    preference = selection.preference
    if preference is None:
        return ""
    vendors = _vendors(preference)
    within = f"{preference.within_percent:g}{NARROW_SPACE}%"
    more = _more(preference, selection.rank_by or "cost", currency, with_amounts=with_amounts)
    match preference.kind:
        case PreferenceKind.LEADS:
            first = f"{preference.other}, which leads without the preference"
            if not more:
                return f"It is of {vendors} and at most {within} behind {first}."
            text = f"It is of {vendors} and {more} than {first}; the preference is worth up to {within}."
            if ranks_by_cost(selection.rank_by) and not preference.is_exact:
                text = f"{text} Missing prices could still change which of the two costs less."
            return text
        case PreferenceKind.LEADS_ANYWAY:
            return f"It leads without the preference for {vendors}, too."
        case PreferenceKind.NO_DESIGN:
            return f"No design with servers or storage of {vendors} meets the request."
        case PreferenceKind.CONDITIONAL:
            reason = "it depends on a value that no source gives"
        case PreferenceKind.OVER_BUDGET:
            reason = "it is less likely to keep the budget than was asked"
        case PreferenceKind.TOO_FAR:
            reason = (
                f"it {more}, and the preference is worth up to {within}" if more else f"it is more than {within} behind"
            )
    return f"The best design with more parts of {vendors} is {preference.other}; {reason}."


def _vendors(preference: Preference) -> str:
    noun = "vendor" if len(preference.vendors) == 1 else "vendors"
    return f"the preferred {noun} {words.listed(preference.vendors)}"


def _more(preference: Preference, rank_by: str, currency: str, *, with_amounts: bool) -> str:
    """By how much the preferred design of the two is behind the other; "" where that is not told."""
    if preference.chosen_value is None or preference.other_value is None:
        return ""
    least = min(preference.chosen_value, preference.other_value)
    gap = abs(preference.chosen_value - preference.other_value)
    if ranks_by_cost(rank_by) and not with_amounts:
        return ""
    if not gap:
        return ""
    by = f"{significant(100 * gap / least, 2)}{NARROW_SPACE}%" if least else significant(gap, 2)
    if ranks_by_cost(rank_by):
        by = f"{significant(gap, 2)} {currency} ({by})"
    return _MORE[rank_by].format(by=by)
