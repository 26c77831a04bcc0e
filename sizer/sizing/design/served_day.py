"""A day of models in use on a design: tokens, idle share, energy, carbon and cost of a million tokens."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.base.units import DAY_S
from sizer.bom.prices import PriceBook
from sizer.bom.rental import run_rental
from sizer.catalog.model import Catalog
from sizer.sizing.result import DesignAnswer, Night, ServedDay, TokenCost, WorkloadAnswer
from sizer.sizing.stages.serving_rates import night_share
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.loads import DAY_HOURS
from sizer.workload.request import SizingRequest

# Years over which hardware is written off, straight, where a cost per token is shown.
YEARS = 4
YEAR_S = 365.25 * DAY_S
_MILLION, _G_PER_KG, _W_PER_KW = 1e6, 1e3, 1e3


def with_days(
    design: DesignAnswer, request: SizingRequest, runs: Sequence[WorkloadRun], catalog: Catalog, prices: PriceBook
) -> DesignAnswer:
    """A design that tells what its models in use do in a day, and what works at night gets."""
    found = [
        replace(
            answer,
            day=None if answer.serving is None else _day(design, answer, request, catalog, prices),
            night=_night(design, answer, run, catalog),
        )
        for answer, run in zip(design.workloads, runs, strict=True)
    ]
    return replace(design, workloads=tuple(found))


def _day(
    design: DesignAnswer, answer: WorkloadAnswer, request: SizingRequest, catalog: Catalog, prices: PriceBook
) -> ServedDay | None:
    served, work = answer.served, answer.served.work
    tokens = served.mean_tokens_per_s * DAY_S
    most = float(served.tokens_per_s.value) * DAY_S * (work.mean_load if work.night_hours else 1.0)
    if not most or not tokens:  # nothing is served within the limits
        return None
    day = ServedDay(tokens=tokens, idle_share=max(1 - tokens / most, 0.0))
    if len(design.workloads) > 1:  # of several, none of what follows is one's own
        return day
    millions = tokens / _MILLION
    # Idle equipment counts as busy: no source tells what it draws.
    kwh = float(design.quantities.power_typical_w[0]) / _W_PER_KW * DAY_HOURS / millions
    grid, pue = request.site.carbon_g_per_kwh, request.site.pue_ratio or 1.0
    cost = design.cost
    bought = None
    if cost is not None and cost.expected > 0:
        written_off = YEARS * YEAR_S / DAY_S * millions
        bought = TokenCost(cost.currency, *(end / written_off for end in (cost.low, cost.expected, cost.high)))
    hours = design.gpus_at_work(answer) * (work.night_hours or DAY_HOURS)
    rent = run_rental(design.platform.gpu, hours, catalog, prices, request.currency, request.rental)
    return replace(
        day,
        kwh_per_million=kwh,
        kg_co2_per_million=None if grid is None else kwh * pue * grid / _G_PER_KG,
        bought_per_million=bought,
        rented_per_million=None
        if rent is None
        else TokenCost(rent.currency, *(end / millions for end in (rent.low, rent.expected, rent.high))),
    )


def _night(design: DesignAnswer, answer: WorkloadAnswer, run: WorkloadRun, catalog: Catalog) -> Night | None:
    if (night := run.work.night) is None:
        return None
    if answer.serving is not None:
        gpus = float(answer.serving.gpus_used)
    else:
        gpus = float(np.ravel(night_share(night, run.hosts(design.platform, catalog)))[0]) * design.n_gpus
    return Night(night.first_hour, night.hours, gpus)
