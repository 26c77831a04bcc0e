"""The design that answers a request, without the analyses that documents add: what a batch asks for."""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.physical.networks.ports import nodes_of
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.sizing.growth.growth_plan import first_purchases
from sizer.sizing.maximum import with_fixed_target
from sizer.sizing.recommend import MAX_PLATFORMS_SHOWN, answerable, design_of, most_servers, search
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, UnsettledError, is_by_cost
from sizer.workload.request import SizingRequest

# Servers that most requests do with: where money orders designs, no larger one need be looked at. Of many platforms,
# the newest GPUs among them, a few do. Where larger ones may come before, so many times as many at least are looked at,
# and at most; all of them where that is more than half.
_FIRST_LOOK, _FEW, _MANY_PLATFORMS = 32, 8, 1000
_LEAST_MORE, _MOST_MORE = 2, 4


@dataclass(frozen=True)
class BestDesign:
    """The design of a request; the numbers are those of :func:`sizer.sizing.size.size`."""

    design: DesignAnswer
    needs_cluster: bool


@dataclass(frozen=True)
class BestRow:
    """The design of a request as a row of the designs that were searched; nothing of it is written out."""

    counts: PartCounts
    row: int
    needs_cluster: bool

    @property
    def platform(self) -> Platform:
        """Its parts, as so many servers are connected."""
        evaluated = self.counts.evaluated
        platform = evaluated.platforms[int(evaluated.space.platform[self.row])]
        return platform.of_size(int(evaluated.space.n_servers[self.row]))


def best_design(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> BestDesign:
    """Find the design of a request, counting only what could be it.

    ``calibration``: default: the stored one. Raises RequestError, InfeasibleError as :func:`sizer.sizing.size.size`.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    found = best_row(request, catalog, fitted)
    if isinstance(found, BestDesign):
        return found
    return BestDesign(design_of(found.counts, found.row, fitted, is_documented=False), found.needs_cluster)


def best_row(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> BestRow | BestDesign:
    """The same before the design is written out; a request that grows has a design of its growth plan.

    Raises RequestError, InfeasibleError as :func:`best_design`.
    """
    request = with_fixed_target(request, catalog, calibration)
    planned = first_purchases(request, catalog, calibration, only_first=True)
    if planned is not None:
        bought = planned.designs[0]
        return BestDesign(bought, needs_cluster=bought.n_hosts > 1)
    # What a larger design cannot be kept out of by its cost is not settled by a few sizes.
    most = most_servers(request)
    few = _FEW if len(platforms(catalog, request)) > _MANY_PLATFORMS else _FIRST_LOOK
    while 2 * few <= most and is_by_cost(request):
        try:
            first_look = search(request, catalog, calibration, most=few, only_running=True)
            return _best(Ranking(first_look, goes_on=True), first_look)
        except UnsettledError as error:
            few = int(np.clip(error.n_servers, _LEAST_MORE * few, _MOST_MORE * few))
    counts = search(request, catalog, calibration, only_running=True)
    ranking = Ranking(counts)
    if ranking.first(1):
        return _best(ranking, counts)
    complete = counts if counts.evaluated.is_complete else search(request, catalog, calibration)
    return best_row(answerable(complete, calibration), catalog, calibration)


def _best(ranking: Ranking, counts: PartCounts) -> BestRow:
    [row] = ranking.first(1)
    return BestRow(counts, row, _needs_cluster(counts, ranking, row))


def _needs_cluster(counts: PartCounts, ranking: Ranking, row: int) -> bool:
    """Whether none of the platforms that documents compare a design with does it with one server."""
    evaluated, sizes = counts.evaluated, counts.evaluated.space.sizes

    def is_host(row: int) -> bool:
        index, size = divmod(row, len(sizes))
        return bool(sizes[size] == nodes_of(evaluated.platforms[index].server) == 1)

    if is_host(row):
        return False
    if not any(is_host(index * len(sizes)) for index in np.flatnonzero(counts.candidates[:, 0]).tolist()):
        return True
    shown = islice(ranking.varied(), MAX_PLATFORMS_SHOWN)  # the first of one server answers it
    return not any(is_host(other) and not counts.conditional[other] and not evaluated.is_late[other] for other in shown)
