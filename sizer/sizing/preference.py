"""What a preference for some vendors does to the choice of a design."""

from collections.abc import Callable

import numpy as np

from sizer.sizing.reasons import Preference, PreferenceKind
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, beyond_budget, rank_key, row_difference, uncertainty
from sizer.workload.request import ranks_by_cost


def preference_of(
    counts: PartCounts, ranking: Ranking, chosen: int, name_of: Callable[[int], str]
) -> Preference | None:
    """What the preference of a request does; None where it prefers no vendor.

    ``ranking``: of these designs. ``chosen``: its first row. ``name_of``: name of the design of a row.
    """
    asked = counts.request.platforms
    if not asked.prefer_vendors:
        return None
    parts = ranking.parts_of_preferred_vendors
    before = next(ranking.without_preference())
    if chosen != before:
        return _compared(counts, PreferenceKind.LEADS, chosen, before, name_of)
    better = next((row for row in ranking.without_preference() if parts(row) > parts(chosen)), None)
    if better is None:
        kind = PreferenceKind.LEADS_ANYWAY if parts(chosen) else PreferenceKind.NO_DESIGN
        return Preference(kind, asked.prefer_vendors, asked.prefer_within_percent)
    over = beyond_budget(counts, counts.likely_cost[np.array([chosen, better])])
    unknown = uncertainty(counts, np.array([chosen, better]))
    if unknown[1] > unknown[0]:
        kind = PreferenceKind.CONDITIONAL
    else:
        kind = PreferenceKind.OVER_BUDGET if over[1] and not over[0] else PreferenceKind.TOO_FAR
    return _compared(counts, kind, chosen, better, name_of)


def _compared(
    counts: PartCounts, kind: PreferenceKind, chosen: int, other: int, name_of: Callable[[int], str]
) -> Preference:
    asked = counts.request.platforms
    by_cost = ranks_by_cost(counts.request.rank_by) and not counts.request.ranks_by_rate
    values = rank_key(counts, np.array([chosen, other]))
    pair = (chosen, other) if values[0] < values[1] else (other, chosen)
    return Preference(
        kind=kind,
        vendors=asked.prefer_vendors,
        within_percent=asked.prefer_within_percent,
        other=name_of(other),
        chosen_value=float(values[0]),
        other_value=float(values[1]),
        is_exact=by_cost and row_difference(counts, pair[1], pair[0]).low > 0,
    )
