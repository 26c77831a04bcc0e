"""What a workload reaches on fewer servers than a design has, storage and gateway held fixed."""

import numpy as np

from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import throughputs
from sizer.physical.platform import Platform
from sizer.sizing.design.training_time import training_time
from sizer.sizing.result import SmallerSize
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.gpu_memory import sizes_that_fit
from sizer.sizing.stages.language_rates import gpus_at_work
from sizer.sizing.stages.platform_columns import columns
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# No model makes an outcome certain: tails beyond this are not known.
MOST_CERTAIN = 0.999
# The expected rate is a median: it is reached as often as it is missed.
EVEN_ODDS = 0.5
# One server fewer says what a smaller design reaches; two fewer, what that design reaches after a loss.
_FEWER = (1, 2)


def smaller_sizes(
    request: SizingRequest,
    work: ResolvedWorkload,
    platform: Platform,
    n_servers: int,
    storage_nodes: int,
    gateway_bytes_per_s: float,
    catalog: Catalog,
    calibration: Calibration,
    *,
    is_open: bool,
) -> tuple[SmallerSize, ...]:
    """One and two servers fewer, as far as so many hold the workload; ``is_open``: a fact that decides is not known."""
    fewer = np.array([n_servers - fewer for fewer in _FEWER if n_servers > fewer], dtype=np.int64)
    cols = columns([platform], catalog, request.platforms.gpus_per_server)
    counts = sizes_that_fit(work, platform, cols, fewer, calibration, catalog).tolist()
    if not counts:
        return ()
    run = run_on(request, work, platform, counts, storage_nodes, gateway_bytes_per_s, catalog, calibration)
    warm, cold = (throughputs(stages) for stages in (run.warm, run.cold))
    chances = evaluate.probability(run.warm, run.cold, run.need)
    found = []
    for place, count in enumerate(counts):
        sized = work.on(platform.gpu.id, count * float(run.cols.gpus_per_server[place]))
        at = np.array([place])
        length = evaluate.run_epochs(sized, run.comp.take(at), run.cols.take(at), run.servers[at], calibration)
        time_s = None
        if length is not None and not work.is_inference:
            time = training_time(sized, length[0], warm[place], cold[place], calibration)
            time_s = float(time.total_s.value)
        chance = None if is_open else min(float(chances[place]), MOST_CERTAIN)
        gpus = gpus_at_work(work, platform, count, catalog)
        found.append(SmallerSize(count, gpus, float(warm.value[place]), time_s, chance))
    return tuple(found)


def servers_at_even_odds(
    request: SizingRequest,
    work: ResolvedWorkload,
    platform: Platform,
    n_servers: int,
    storage_nodes: int,
    gateway_bytes_per_s: float,
    catalog: Catalog,
    calibration: Calibration,
) -> int | None:
    """Fewest of 1 to ``n_servers`` servers whose expected rate meets the target of a workload; None: no size does.

    Every size is evaluated by itself: the rate of a language model does not grow in proportion to the servers.
    """
    counts = range(1, n_servers + 1)
    run = run_on(request, work, platform, counts, storage_nodes, gateway_bytes_per_s, catalog, calibration)
    meets = evaluate.probability(run.warm, run.cold, run.need) >= evaluate.least_chance(EVEN_ODDS)
    return counts[int(np.argmax(meets))] if meets.any() else None
