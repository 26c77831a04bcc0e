"""The most that the limits give, in sentences, and as plain text for a terminal."""

from sizer.catalog.labels import sample_unit
from sizer.present.plain_table import table_text
from sizer.present.words import listed, percent
from sizer.questions.maximum.tables import (
    LIMIT_NAMES,
    amount_text,
    front_table,
    is_same,
    percent_more,
    point_name,
    rate_text,
)
from sizer.sizing.limits import SizeLimit
from sizer.sizing.maximum_result import LimitFront, Maximum
from sizer.sizing.result import SizingResult


def maximum_sentences(result: SizingResult, *, with_amounts: bool) -> list[str]:
    """What the limits give, which of them binds, what its next step brings, and the fastest other platform.

    Parameters
    ----------
    result : SizingResult
        Without a maximum, no sentence.
    with_amounts : bool
        Whether to state costs, which rest on price ranges: customers' documents do not.
    """
    found = result.maximum
    if found is None:
        return []
    unit, rate = _unit(result, found), found.samples_per_s
    limits = listed(
        amount_text(front.limit, front.bound, result.request.currency, is_exact=True) for front in found.fronts
    )
    sentences = [
        f"Within {limits}, {point_name(found.design)} reaches {rate_text(rate, unit)}, the highest rate at "
        f"{percent(found.confidence)} confidence."
    ]
    if found.highest_samples_per_s > rate * 1.002:
        sentences.append(
            f"The fastest design reaches {percent_more(found.highest_samples_per_s, rate)} more and costs more; "
            "designs within 1 % count as equally fast."
        )
    sentences += binding_limit_sentences(result, with_amounts=with_amounts)
    idle = [LIMIT_NAMES[front.limit] for front in found.fronts if not front.binds]
    if idle and len(idle) < len(found.fronts):
        sentences.append(f"A higher limit of {listed(idle)} alone brings nothing.")
    elif idle:
        sentences.append(_nothing_binds(idle, found))
    if found.runner_up is not None and not is_same(found.runner_up, found.design):
        slower = rate_text(found.runner_up.samples_per_s, unit)
        sentences.append(f"Runner-up on another platform: {point_name(found.runner_up)}, {slower}.")
    return sentences


def binding_limit_sentences(result: SizingResult, *, with_amounts: bool) -> list[str]:
    """Each limit that binds, and what its next step brings; ``with_amounts`` as in :func:`maximum_sentences`."""
    found = result.maximum
    if found is None:
        return []
    return [_following(front, result, found, with_amounts) for front in found.fronts if front.binds]


def _nothing_binds(idle: list[str], found: Maximum) -> str:
    if found.is_largest:
        return f"{found.design.n_servers} servers are the largest cluster considered; the limits leave room for more."
    if len(idle) > 1:
        return f"No single limit binds: a higher limit of {listed(idle, 'or')} alone brings nothing."
    return f"The limit of {idle[0]} does not bind: no larger design is faster."


def _following(front: LimitFront, result: SizingResult, found: Maximum, with_amounts: bool) -> str:
    point = front.following
    assert point is not None  # the front binds
    amount = point.amount(front.limit)
    unit = _unit(result, found)
    name = LIMIT_NAMES[front.limit]
    needs = ""
    if amount is not None and (with_amounts or front.limit is not SizeLimit.BUDGET):
        more = amount_text(front.limit, amount - front.bound, result.request.currency)
        needs = f" for {amount_text(front.limit, amount, result.request.currency)}, {more} over the limit"
    return (
        f"The limit that binds is the {name}: the next faster design is {point_name(point)}{needs}, with "
        f"{rate_text(point.samples_per_s, unit)} (+{percent_more(point.samples_per_s, found.design.samples_per_s)})."
    )


def maximum_text(result: SizingResult) -> list[str]:
    """Lines for a terminal: the sentences, then the front of each limit."""
    found = result.maximum
    if found is None:
        return []
    lines = ["Most that the limits give:", *(f"  {one}" for one in maximum_sentences(result, with_amounts=True))]
    for front in found.fronts:
        table = front_table(front, result, with_amounts=True)
        if table is not None:
            lines += ["", table_text(table)]
    return lines


def _unit(result: SizingResult, found: Maximum) -> str:
    return sample_unit(result.design.workloads[found.workload].dnn)
