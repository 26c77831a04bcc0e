"""The design that answers a request, without the analyses that documents add: what a batch asks for."""

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np

from sizer.base.arrays import Floats
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.physical.networks.ports import nodes_of
from sizer.physical.platform import Platform
from sizer.sizing.checks import Limit
from sizer.sizing.growth.growth_plan import first_purchases
from sizer.sizing.maximum import with_fixed_target
from sizer.sizing.recommend import MAX_PLATFORMS_SHOWN, answerable, design_of, most_servers, options_of, search
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.feasibility import Space, design_space, evaluate_space
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, UnsettledError, is_by_cost
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest

# Sizes of a first look at many platforms, which tells of each what no design of it costs less than; fewer designs than
# these are searched at once. Then those that cost at most so many times what servers and storage of the cheapest of
# the first look do are searched, and where these settle nothing, as many more as do, or so many times more.
_SIZES, _FEW_DESIGNS = 2 ** np.arange(8), 8192
_MARGIN, _MOST = 1.75, 8.0


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
    if (look := FirstLook.of(request, catalog, calibration)) is not None:
        beyond = _MARGIN * look.likely
        while beyond < _MOST * look.likely:
            counts = look.search(beyond, catalog, calibration)
            try:
                return _best(Ranking(counts, beyond=beyond), counts, look.counts)
            except UnsettledError as unsettled:
                # A hair more: what costs just as much ties, too.
                beyond = unsettled.least * (1 + 1e-9) if unsettled.least > beyond else _MARGIN * beyond
    counts = search(request, catalog, calibration)
    ranking = Ranking(counts)
    if ranking.first(1):
        return _best(ranking, counts, counts)
    return best_row(answerable(counts, calibration), catalog, calibration)


@dataclass(frozen=True)
class FirstLook:
    """All platforms of a request that money orders, at a few sizes; and what no design of each costs less than."""

    counts: PartCounts
    likely: float  # least key of what was looked at; inf where none of it could be built
    least: Floats  # (platforms,) key that no design is below
    server: Floats  # (platforms,) what one more server adds to it

    @classmethod
    def of(cls, request: SizingRequest, catalog: Catalog, calibration: Calibration) -> "FirstLook | None":
        """None where all designs are searched at once: few, or ordered by something else.

        Bands of prices are amounts in a currency of their own; whether they compare the designs depends on all of them.
        """
        prices, most = prices_for(request, catalog), most_servers(request)
        is_ranked = is_by_cost(request) or request.ranks_by_rate
        if not is_ranked or prices.per_usd(request.currency) is None:
            return None
        works = resolved(request, catalog, calibration)
        options = options_of(request, works, catalog, calibration)
        if len(options) * most < _FEW_DESIGNS:
            return None
        space = Space(len(options), _SIZES[most >= _SIZES])
        evaluated = evaluate_space(request, works, options, space, catalog, calibration)
        counts = PartCounts(request, evaluated, catalog, prices)
        main = counts.main_cost
        # The rate of a GPU falls with their number.
        rate = evaluated.class_gpu_rate.max(axis=1)[evaluated.class_of] if request.ranks_by_rate else 1.0
        fewest = np.minimum(evaluated.fewest, most).astype(np.int64)[:, None]
        could = np.any(evaluated.class_passes[Limit.STORAGE_CAPACITY], axis=1)[evaluated.class_of]
        could &= evaluated.fewest <= most
        with np.errstate(divide="ignore", invalid="ignore"):
            keys = np.where(counts.candidates, main.cost / np.reshape(rate, (-1, 1)), np.inf)
            least = main.bounds(fewest, evaluated.class_least_nodes[:, None])[:, 0] / rate
            least = np.where(could, least, np.inf)
            server = np.maximum(main.server, 1.0) / rate
        return cls(counts, float(keys.min()), least, server)

    def search(self, beyond: float, catalog: Catalog, calibration: Calibration) -> PartCounts:
        """All designs that may come before a key, and others of their platforms; what is there is looked at, too."""
        evaluated, request = self.counts.evaluated, self.counts.request
        owned = [platform.server.id in request.existing.servers for platform in evaluated.platforms]
        some = np.flatnonzero((self.least <= beyond) | owned)
        money = np.maximum(beyond - self.least[some], 0.0) / self.server[some]
        largest = np.max(np.where(self.least[some] <= beyond, evaluated.fewest[some] + money, 1.0))
        options = tuple(evaluated.platforms[place] for place in some)
        space = design_space(len(options), 1, min(math.ceil(largest), most_servers(request)))
        evaluated_space = evaluate_space(request, evaluated.works, options, space, catalog, calibration)
        return PartCounts(request, evaluated_space, catalog, self.counts.prices)


def _best(ranking: Ranking, counts: PartCounts, every: PartCounts) -> BestRow:
    [row] = ranking.first(1)
    return BestRow(counts, row, _needs_cluster(counts, ranking, row, every))


def _needs_cluster(counts: PartCounts, ranking: Ranking, row: int, every: PartCounts) -> bool:
    """Whether none of the platforms that documents compare a design with does it with one server.

    ``every``: designs of all platforms, those of one server first.
    """
    evaluated, sizes = counts.evaluated, counts.evaluated.space.sizes

    def is_host(row: int) -> bool:
        index, size = divmod(row, len(sizes))
        return bool(sizes[size] == nodes_of(evaluated.platforms[index].server) == 1)

    if is_host(row):
        return False
    servers = (every.evaluated.platforms[index].server for index in np.flatnonzero(every.candidates[:, 0]).tolist())
    if not any(nodes_of(server) == 1 for server in servers):
        return True
    shown = islice(ranking.varied(), MAX_PLATFORMS_SHOWN)  # the first of one server answers it
    return not any(is_host(other) and not counts.conditional[other] and not evaluated.is_late[other] for other in shown)
