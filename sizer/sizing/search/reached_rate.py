"""The rate that a design reaches at the confidence of its request."""

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.calibration import Calibration
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.workload_run import run_on

# Points of a grid of rates, and refinements of it: what remains of a factor of e is below a millionth.
_GRID, _REFINEMENTS = 65, 4


def reached_rate(counts: PartCounts, row: int, place: int, calibration: Calibration) -> float:
    """Highest rate that one workload reaches on a row with the confidence of the request, its storage as it is.

    Parameters
    ----------
    counts : PartCounts
        Designs of a request whose workload at ``place`` has a rate as its target.
    row : int
        A row that reaches that rate.
    place : int
        Number of the workload.
    calibration : Calibration

    Returns
    -------
    float
        At least the target. Where losses are to be tolerated it is the target: what remains after a loss would have to
        be judged anew at each rate. [samples/s]
    """
    evaluated, request = counts.evaluated, counts.request
    asked = request.workload[place].target.samples_per_s
    assert asked is not None  # every search of this module has one
    if request.resilience.keeps_targets_without:
        return asked
    platform, nodes = evaluated.platforms[int(evaluated.space.platform[row])], int(evaluated.storage_nodes[row])
    servers = [int(evaluated.space.n_servers[row])]
    runs = [
        run_on(request, work, platform, servers, nodes, np.inf, counts.catalog, calibration) for work in evaluated.works
    ]
    run = runs.pop(place)
    others = float(np.prod([evaluate.probability(one.warm, one.cold, one.need)[0] for one in runs]))

    def is_met(each: Floats) -> Floats:
        need = evaluate.need_of_rate(run.comp, each[:, None])
        alone = evaluate.probability(run.warm, run.cold, need)
        share = evaluate.share_of(request)
        reads = evaluate.read_bytes_per_s(evaluated.works[place], run.comp, need)
        met = (alone >= evaluate.least_chance(share)) & (alone * others >= evaluate.least_chance(request.confidence))
        met &= run.side.mounts.probability_at_least(reads) >= evaluate.least_chance(share)
        return np.asarray(met[:, 0])

    low = asked
    # At a confidence of half or more no stage passes more than its median.
    high = max(low, min(float(stage.median.flat[0]) for stage in run.warm.limiting()))
    for _ in range(_REFINEMENTS):
        rates = np.geomspace(low, high, _GRID)
        last = int(np.flatnonzero(is_met(rates)).max(initial=0))
        low, high = float(rates[last]), float(rates[min(last + 1, _GRID - 1)])
    return max(low, asked)
