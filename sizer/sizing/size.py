"""From a request to a SizingResult: the one place that joins models, parts, prices and search."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sizer.base.errors import InfeasibleError
from sizer.base.language import Texts, mark, tr, translated, trn
from sizer.base.quantities import duration, plain, si, with_commas
from sizer.bom.prices import PriceBook, price_book
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.design.search import best_row, counts_ruled_out, pareto_rows
from sizer.design.space import lay_out
from sizer.physical.capacity import node_limits
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms as all_platforms
from sizer.sizing import advice, assumptions, evaluate
from sizer.sizing.answer import design_answer
from sizer.sizing.columns import columns, narrowed, rate_is_unknown
from sizer.sizing.judge import Judged, judge
from sizer.sizing.result import DesignAnswer, ParetoPoint, SizingResult
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload, resolve

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Largest cluster looked at where the request states none: beyond it a two-level fabric of 36-port switches ends
# (648 end points, four ports a DGX-1).
MAX_SERVERS = 160
# Platforms shown side by side; further ones are counted, not drawn.
MAX_PLATFORMS_SHOWN = 8
# Points of the Pareto front that documents show.
MAX_PARETO_POINTS = 60
# What the first keys of the order count.
_COUNTS = Texts(
    {
        "servers": mark("servers"),
        "storage nodes": mark("storage nodes"),
        "rack units": mark("rack units"),
        "watts": mark("watts"),
    }
)
# What the first platform has by each key that a user may rank by; cost has a sentence of its own.
_RANK_KEYS = Texts(
    {
        "time": mark("shortest time"),
        "gpus": mark("fewest GPUs"),
        "rack-units": mark("fewest rack units"),
        "watts": mark("least power"),
    }
)


def size(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> SizingResult:
    """Size the cluster of a request.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

    Returns
    -------
    SizingResult

    Raises
    ------
    RequestError
        If the request names something that the catalogue does not have.
    InfeasibleError
        If no design meets it: the sentence names the limit that rules every design out and what would be enough.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    works = resolve(request, catalog, fitted.measured)
    options = all_platforms(catalog, request)
    most = request.limits.servers or MAX_SERVERS
    space = lay_out([most] * len(options))
    cols = columns(options, catalog, request.platforms.gpus_per_server).take(space.platform)
    fewest = np.array([node_limits(option.storage)[0] for option in options])
    cols = narrowed(cols, options, space.platform, space.n_servers, fewest[space.platform], request.fabric)
    book = price_book(catalog)
    judged = judge(request, works, options, space, cols, catalog, fitted, book)
    feasible = judged.feasible
    if not feasible.any():
        raise InfeasibleError(advice.why_infeasible(works, options, judged, request.confidence))
    best = _best_of_each_platform(options, judged, feasible)
    order = _ranked(request, judged, options, best)
    chosen = order[0]
    shown = order[:MAX_PLATFORMS_SHOWN]

    def answer(row: int) -> DesignAnswer:
        return _answer(row, row == chosen, request, works, options, judged, catalog, fitted, book)

    designs = {row: answer(row) for row in shown}
    design = designs[chosen]
    deciding = judged.deciding_prices(np.array(order)) if len(order) > 1 else ()
    front = _pareto(judged, options, chosen, feasible)
    runner_up, reason = _runner_up(request, judged, options, feasible, order)
    verdict, needs_cluster, sentences = advice.verdict(design, tuple(designs.values()))
    taken = assumptions.collect(works, design, catalog)
    return SizingResult(
        request=request,
        catalog_digest=catalog.digest,
        calibration_digest=fitted.digest,
        verdict=verdict,
        needs_cluster=needs_cluster,
        advice=sentences,
        design=design,
        selection=_selection(request, order, deciding),
        platforms=tuple(designs[row] for row in shown),
        deciding_prices=deciding,
        runner_up=runner_up,
        runner_up_reason=reason,
        pareto=front,
        n_designs=space.n_rows,
        ruled_out={translated(limit): count for limit, count in counts_ruled_out(judged.passes).items()},
        assumptions=taken,
        questions=assumptions.questions(design, catalog),
        sources=assumptions.sources(design, taken, catalog),
    )


def _keys(judged: Judged, rows: Ints) -> list[Floats]:
    """Order of designs without prices: fewest servers, storage nodes, rack units, watts, slower fabric, smaller drives.

    The last two stand for cost where nothing is priced: no faster network and no larger drives than needed.
    """
    return [
        judged.space.n_servers[rows].astype(float),
        judged.storage_nodes[rows].astype(float),
        judged.rack_units[rows],
        judged.power_w[rows],
        judged.columns.exchange_bytes_per_s[rows],
        judged.raw_bytes[rows],
    ]


def _best_of_each_platform(options: Sequence[Platform], judged: Judged, feasible: Bools) -> list[int]:
    """Best row of each (server, storage), over its fabrics, GPUs and drive sizes."""
    groups: dict[tuple[str, str], list[int]] = {}
    for index, option in enumerate(options):
        groups.setdefault(option.key, []).append(index)
    found = []
    for members in groups.values():
        rows = np.flatnonzero(np.isin(judged.space.platform, members) & feasible)
        if rows.size:
            found.append(best_of(judged, rows))
    return found


def best_of(judged: Judged, rows: Ints) -> int:
    """Best of some feasible rows: the cheapest where prices decide, else the one with the fewest servers and so on."""
    keys = _keys(judged, rows)
    if not judged.deciding_prices(rows):
        keys = [judged.cost[rows], *keys]
    return int(rows[best_row(keys[0], np.ones(rows.size, dtype=bool), keys[1:])])


def _rank_key(request: SizingRequest, judged: Judged, rows: Ints) -> Floats | None:
    """Key that the user chose to rank platforms by, or cost where the prices allow it; None: vendors are not ranked."""
    if request.rank_by == "time":
        return judged.time_s[rows]
    if request.rank_by == "gpus":
        return judged.space.n_servers[rows] * judged.columns.gpus_per_server[rows]
    if request.rank_by == "rack-units":
        return judged.rack_units[rows]
    if request.rank_by == "watts":
        return judged.power_w[rows]
    return None if judged.deciding_prices(rows) else judged.cost[rows]


def _ranked(request: SizingRequest, judged: Judged, options: Sequence[Platform], best: Sequence[int]) -> list[int]:
    """Best rows of the platforms in the order in which documents show them; the first is described in full.

    Storage that no source gives a rate of comes last unless the servers' memory holds the data: its line rate is an
    upper bound, and the answer must not be optimistic by default.
    """
    rows = np.array(best, dtype=np.int64)
    is_cached = np.logical_and.reduce([evaluate.is_cached(comp)[rows] for comp in judged.computes])
    is_guess = np.array([rate_is_unknown(options[int(judged.space.platform[row])].storage) for row in rows])
    keys = [(is_guess & ~is_cached).astype(float), *_keys(judged, rows)]
    rank = _rank_key(request, judged, rows)
    if rank is not None:
        keys = [rank, *keys]
    return [int(row) for row in rows[np.lexsort(keys[::-1])]]


def _selection(request: SizingRequest, order: Sequence[int], deciding: Sequence[str]) -> str:
    if len(order) == 1:
        return tr("It is the only platform that the request allows and that meets it.")
    if request.rank_by is not None and request.rank_by in _RANK_KEYS:
        return tr(
            "Of {n} platforms that meet the request it has the {key}, the key asked for.",
            n=len(order),
            key=_RANK_KEYS[request.rank_by],
        )
    if not deciding:
        return tr("Of {n} platforms that meet the request it costs least at the prices known.", n=len(order))
    return tr(
        "{n} platforms meet the request. Prices that would rank them are missing, so they stand side by side; this one "
        "is described because it has the fewest servers, then storage nodes, rack units and watts. That is no ranking "
        "of vendors.",
        n=len(order),
    )


def _answer(
    row: int,
    is_documented: bool,
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    options: Sequence[Platform],
    judged: Judged,
    catalog: Catalog,
    fitted: Calibration,
    book: PriceBook,
) -> DesignAnswer:
    platform = options[int(judged.space.platform[row])]
    return design_answer(
        request,
        works,
        platform,
        int(judged.space.n_servers[row]),
        int(judged.storage_nodes[row]),
        catalog,
        fitted,
        book,
        _binding(judged, row),
        is_documented,
    )


def _binding(judged: Judged, row: int) -> str:
    """What the next smaller size of the same platform breaks."""
    if judged.space.n_servers[row] == 1:
        return tr("One server is the smallest there is.")
    smaller = row - 1  # rows of a platform stand in order of servers
    broken = [limit for limit, passes in judged.passes.items() if not passes[smaller]]
    count = int(judged.space.n_servers[smaller])
    if not broken:
        return ""
    limit = translated(broken[0])
    return trn(
        "With {n} server this fails: {limit}.", "With {n} servers this fails: {limit}.", count, n=count, limit=limit
    )


def _point(row: int, chosen: int, judged: Judged, options: Sequence[Platform]) -> ParetoPoint:
    platform = options[int(judged.space.platform[row])]
    servers, nodes = int(judged.space.n_servers[row]), int(judged.storage_nodes[row])
    storage = f"{nodes} × {platform.storage.name}" if nodes else platform.storage.name
    return ParetoPoint(
        name=tr(
            "{servers} + {storage} over {link}",
            servers=f"{servers} × {platform.server.name}",
            storage=storage,
            link=kind_name(platform.fabric),
        ),
        server=platform.server.id,
        storage=platform.storage.id,
        n_servers=servers,
        n_gpus=int(servers * judged.columns.gpus_per_server[row]),
        storage_nodes=nodes,
        throughput_samples_per_s=float(judged.throughput[row]),
        time_s=float(judged.time_s[row]),
        power_w=float(judged.power_w[row]),
        rack_units=float(judged.rack_units[row]),
        cost=None if judged.unpriced[int(judged.space.platform[row])] else float(judged.cost[row]),
        is_documented=row == chosen,
    )


def _pareto(judged: Judged, options: Sequence[Platform], chosen: int, feasible: Bools) -> tuple[ParetoPoint, ...]:
    """Front over GPUs (stand-in for cost while prices are missing) or cost, time, power and rack units."""
    is_priced = not any(judged.unpriced.values())
    spend = judged.cost if is_priced else judged.space.n_servers * judged.columns.gpus_per_server
    rows = pareto_rows([spend, judged.time_s, judged.power_w, judged.rack_units], feasible)
    # The smallest designs first: beyond a few dozen points the front only says that more hardware is faster.
    rows = rows[np.argsort(spend[rows], kind="stable")][:MAX_PARETO_POINTS]
    listed = [int(row) for row in rows]
    if chosen not in listed:
        listed.insert(0, chosen)
    return tuple(_point(row, chosen, judged, options) for row in listed)


def _runner_up(
    request: SizingRequest, judged: Judged, options: Sequence[Platform], feasible: Bools, order: Sequence[int]
) -> tuple[ParetoPoint | None, str]:
    """The next best design and why it lost: the second platform, else the next on the same one.

    The same counts with other drives or another GPU memory are no other design.
    """
    chosen = order[0]
    if len(order) > 1:
        second = order[1]
    else:
        is_same = (
            (judged.space.n_servers == judged.space.n_servers[chosen])
            & (judged.storage_nodes == judged.storage_nodes[chosen])
            & (judged.columns.exchange_bytes_per_s == judged.columns.exchange_bytes_per_s[chosen])
        )
        others = np.flatnonzero(feasible & ~is_same)
        if others.size == 0:
            return None, tr("No other design meets the request.")
        second = best_of(judged, others)
    return _point(second, chosen, judged, options), _why_lost(request, judged, chosen, second)


def _why_lost(request: SizingRequest, judged: Judged, chosen: int, second: int) -> str:
    pair = np.array([chosen, second])
    rank = _rank_key(request, judged, pair)
    if rank is not None and rank[1] > rank[0]:
        if request.rank_by == "time":
            return tr("It takes {more} instead of {less}.", more=duration(rank[1]), less=duration(rank[0]))
        if request.rank_by is None or request.rank_by == "cost":
            amount = f"{with_commas(rank[1] - rank[0])} {request.currency}"
            return tr("Its priced lines cost {amount} more.", amount=amount)
    for name, (first, other) in zip(_COUNTS, _keys(judged, pair), strict=False):
        if other > first:
            if name == "watts":
                return tr("It draws up to {more} instead of {less}.", more=si(other, "W"), less=si(first, "W"))
            return tr(
                "It takes {more} {what} instead of {less}.", more=plain(other), less=plain(first), what=_COUNTS[name]
            )
        if other < first:
            return tr(
                "It has fewer {what} ({fewer} instead of {more}), but lost on an earlier key.",
                what=_COUNTS[name],
                fewer=plain(other),
                more=plain(first),
            )
    return tr(
        "It is equal in servers, storage nodes, rack units and power; its network or its drives are larger than needed."
    )
