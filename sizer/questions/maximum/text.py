"""The most that the limits give, in sentences."""

from sizer.base.formats.json_document import fields_of
from sizer.base.quantities import by_count, plain, si, significant, stated
from sizer.catalog.labels import sample_unit
from sizer.present.words import listed, money, percent, whole
from sizer.sizing.checks import SizeLimit
from sizer.sizing.result import LimitDesign, LimitStep, Maximum, SizingResult

LIMIT_NAMES = {
    SizeLimit.BUDGET: "budget",
    SizeLimit.POWER: "power",
    SizeLimit.RACKS: "racks",
    SizeLimit.RACK_UNITS: "rack units",
    SizeLimit.SERVERS: "servers",
}


# Share of a budget of which the rest is no reserve but money that is left.
_MOST_SPENT = 0.9
_SOFTWARE = {None: "for x86 and CUDA", "arm": "with Arm processors", "rocm": "on ROCm", "gaudi": "on Gaudi"}


def maximum_content(maximum: Maximum | None) -> dict[str, object] | None:
    """Rate, what more of each limit brings, and the runner-up; None where every target was given."""
    if maximum is None:
        return None
    return {
        **fields_of(maximum, "workload", "samples_per_s", "highest_samples_per_s", "confidence", "is_largest"),
        "design": _point(maximum.design),
        "runner_up": None if maximum.runner_up is None else _point(maximum.runner_up),
        "cheaper": None if maximum.cheaper is None else _point(maximum.cheaper),
        "fronts": [
            {
                "limit": step.limit.value,
                **fields_of(step, "bound", "binds"),
                "following": None if step.following is None else _point(step.following),
            }
            for step in maximum.steps
        ],
    }


def _point(point: LimitDesign) -> dict[str, object]:
    shown = ("server", "gpu", "host_memory", "storage", "n_servers", "n_gpus", "storage_nodes", "samples_per_s")
    taken = ("cost", "power_w", "racks", "rack_units")
    return {"name": point_name(point), **fields_of(point, *shown, *taken)}


def is_same(point: LimitDesign, other: LimitDesign) -> bool:
    """Whether two points are the same servers and storage."""
    return point.parts == other.parts


def point_name(point: LimitDesign) -> str:
    """Short name of a design: '3 × DGX-1 (24 × Tesla V100 SXM2 16 GB) + 4 × Isilon F800'."""
    storage = f"{point.storage_nodes} × {point.storage_name}" if point.storage_nodes else point.storage_name
    return f"{point.n_servers} × {point.server_name} ({point.n_gpus} × {point.gpu_name}) + {storage}"


def amount_text(limit: SizeLimit, amount: float, currency: str, *, is_exact: bool = False) -> str:
    """An amount of a limited quantity with its unit; money to three digits unless it is exact."""
    if limit is SizeLimit.BUDGET:
        return money(whole(amount if is_exact else float(f"{amount:.3g}")), currency)
    if limit is SizeLimit.POWER:
        return stated(amount, "W") if is_exact else si(amount, "W")
    noun = LIMIT_NAMES[limit].removesuffix("s")
    return by_count(round(amount), f"{plain(amount)} {noun}", f"{plain(amount)} {noun}s")


def rate_text(samples_per_s: float, unit: str) -> str:
    """A rate with its unit."""
    return f"{significant(samples_per_s)} {unit}"


def percent_more(new: float, old: float) -> str:
    """By how much a rate is higher: '12 %'."""
    return percent(new / old - 1)


def maximum_sentences(result: SizingResult, *, with_amounts: bool) -> list[str]:
    """What the limits give, which of them binds, what its next step brings, and the fastest other platform.

    ``result``: without a maximum, no sentence. ``with_amounts``: whether to state costs, which rest on price ranges:
    customers' documents do not.
    """
    found = result.maximum
    if found is None:
        return []
    unit, rate = _unit(result, found), found.samples_per_s
    limits = listed(amount_text(step.limit, step.bound, result.request.currency, is_exact=True) for step in found.steps)
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
    idle = [LIMIT_NAMES[step.limit] for step in found.steps if not step.binds]
    if idle and len(idle) < len(found.steps):
        sentences.append(f"A higher limit of {listed(idle)} alone brings nothing.")
    elif idle:
        sentences.append(_nothing_binds(idle, found))
    if found.runner_up is not None and not is_same(found.runner_up, found.design):
        slower = rate_text(found.runner_up.samples_per_s, unit)
        sentences.append(f"{_runner_up_name(found.runner_up, found.design)}: {point_name(found.runner_up)}, {slower}.")
    if found.cheaper is not None and found.cheaper.cost is not None and found.design.cost is not None:
        slower = f"{percent(1 - found.cheaper.samples_per_s / found.design.samples_per_s)} less"
        by = f", and costs {percent(1 - found.cheaper.cost / found.design.cost)} less" if with_amounts else ""
        sentences.append(
            f"Far cheaper: {point_name(found.cheaper)} reaches {rate_text(found.cheaper.samples_per_s, unit)}, {slower}"
            f"{by}."
        )
    budget, cost = result.request.limits.budget, result.design.cost
    if with_amounts and budget is not None and cost is not None and cost.expected <= _MOST_SPENT * budget:
        currency = result.request.currency
        left, middle = (amount_text(SizeLimit.BUDGET, one, currency) for one in (budget - cost.expected, cost.expected))
        sentences.append(f"In the middle of the price ranges the design costs {middle}: {left} of the budget remain.")
    return sentences


def _runner_up_name(other: LimitDesign, chosen: LimitDesign) -> str:
    """What the fastest other design differs in."""
    (is_liquid, software), chosen_technology = other.technology, chosen.technology
    if other.technology == chosen_technology:
        return "Runner-up on another platform"
    differs = []
    if is_liquid != chosen_technology[0]:
        differs.append("cooled by liquid" if is_liquid else "cooled by air")
    if software != chosen_technology[1]:
        differs.append(_SOFTWARE[software])
    return f"The fastest {listed(differs)}"


def binding_limit_sentences(result: SizingResult, *, with_amounts: bool) -> list[str]:
    """Each limit that binds, and what its next step brings; ``with_amounts`` as in :func:`maximum_sentences`."""
    found = result.maximum
    if found is None:
        return []
    return [_following(step, result, found, with_amounts) for step in found.steps if step.binds]


def _nothing_binds(idle: list[str], maximum: Maximum) -> str:
    if maximum.is_largest:
        return f"{maximum.design.n_servers} servers are the largest cluster considered; the limits leave room for more."
    if len(idle) > 1:
        return f"No single limit binds: a higher limit of {listed(idle, 'or')} alone brings nothing."
    return f"The limit of {idle[0]} does not bind: no larger design is faster."


def _following(step: LimitStep, result: SizingResult, maximum: Maximum, with_amounts: bool) -> str:
    point = step.following
    assert point is not None  # the limit binds
    amount = point.amount(step.limit)
    unit = _unit(result, maximum)
    name = LIMIT_NAMES[step.limit]
    needs = ""
    if amount is not None and (with_amounts or step.limit is not SizeLimit.BUDGET):
        more = amount_text(step.limit, amount - step.bound, result.request.currency)
        needs = f" for {amount_text(step.limit, amount, result.request.currency)}, {more} over the limit"
    return (
        f"The limit that binds is the {name}: the next faster design is {point_name(point)}{needs}, with "
        f"{rate_text(point.samples_per_s, unit)} (+{percent_more(point.samples_per_s, maximum.design.samples_per_s)})."
    )


def maximum_text(result: SizingResult) -> list[str]:
    """Lines for a terminal."""
    sentences = maximum_sentences(result, with_amounts=True)
    return ["Most that the limits give:", *(f"  {sentence}" for sentence in sentences)] if sentences else []


def _unit(result: SizingResult, maximum: Maximum) -> str:
    return sample_unit(result.design.workloads[maximum.workload].dnn)
