"""The design that answers a request, without the analyses that documents add: what a batch asks for."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.physical.networks.ports import nodes_of
from sizer.sizing.growth.first_purchase import first_purchases
from sizer.sizing.maximum import with_fixed_target
from sizer.sizing.recommend import MAX_PLATFORMS_SHOWN, design_of, most_servers, search, unmet_error
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking, UnsettledError
from sizer.workload.request import SizingRequest

# Servers that most requests do with. Where designs are ordered by their size, no larger one needs to be looked at.
_FIRST_LOOK = 32


@dataclass(frozen=True)
class BestDesign:
    """The design of a request; the numbers are those of :func:`sizer.sizing.size.size`."""

    design: DesignAnswer
    needs_cluster: bool


def best_design(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> BestDesign:
    """Find the design of a request, counting only what could be it.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

    Raises
    ------
    RequestError, InfeasibleError
        As :func:`sizer.sizing.size.size`.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    request = with_fixed_target(request, catalog, fitted)
    planned = first_purchases(request, catalog, fitted, only_first=True)
    if planned is not None:
        bought = planned.designs[0]
        return BestDesign(bought, needs_cluster=bought.n_hosts > 1)
    most = most_servers(request)
    if most > _FIRST_LOOK:
        with suppress(UnsettledError):
            return _best(search(request, catalog, fitted, most=_FIRST_LOOK), fitted, goes_on=True)
    return _best(search(request, catalog, fitted), fitted, goes_on=False)


def _best(counts: PartCounts, calibration: Calibration, *, goes_on: bool) -> BestDesign:
    ranking = Ranking(counts, goes_on=goes_on)
    found = ranking.first(1)
    if not found:
        raise unmet_error(counts, calibration)
    row = found[0]
    needs_cluster = _needs_cluster(counts, ranking, row)
    return BestDesign(design_of(counts, row, calibration, is_documented=False), needs_cluster)


def _needs_cluster(counts: PartCounts, ranking: Ranking, row: int) -> bool:
    """Whether none of the platforms that documents compare a design with does it with one server."""
    evaluated = counts.evaluated

    def is_host(row: int) -> bool:
        server = evaluated.platforms[int(evaluated.space.platform[row])].server
        return bool(evaluated.space.n_servers[row] == 1) and nodes_of(server) == 1

    if is_host(row):
        return False
    if not evaluated.runs[:, 0].any():
        return True
    shown = islice(ranking.one_by_one(), MAX_PLATFORMS_SHOWN)  # the first of one server answers it
    return not any(is_host(other) and not counts.conditional[other] for other in shown)
