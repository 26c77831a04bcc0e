"""Monte-Carlo over the calibration's posterior: one table with the distribution of every design of a space."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from sizer import __version__
from sizer.base.arrays import Ints
from sizer.base.errors import BatchError, RequestError
from sizer.base.faults import shown
from sizer.batch.columns import PREFIX, memory_bytes
from sizer.batch.run import calibration_digest
from sizer.calibrate.calibration import Calibration, Draws, stored_calibration, streams
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.sizing.recommend import search
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.posterior import BLOCK_ELEMENTS, STATISTICS, Block, Reached, posterior, reached
from sizer.workload.request import SizingRequest

# A share of 10,000 draws is known to half a per cent, well below the uncertainty of the model; more cost memory.
MAX_DRAWS = 10_000
# Blocks submitted for each worker at a time: a few hundred kilobytes each.
_IN_FLIGHT = 4
# Prefix of the columns of distributions.
POSTERIOR = f"{PREFIX}posterior."


def monte_carlo(
    request: SizingRequest,
    catalog: Catalog | None = None,
    *,
    calibration: Calibration | None = None,
    draws: int = 1000,
    seed: int = 0,
    executor: Executor | None = None,
    block_elements: int = BLOCK_ELEMENTS,
) -> pa.Table:
    """Distribution of rate and time to train, and chance to meet the targets, of every design of a request's space.

    ``catalog``: default: the shipped one. ``calibration``: default: the stored one. ``draws``: sets of coefficients, 1
    to 10,000. ``seed``: of the random numbers, 0 or more. The same seed gives the same table to the last bit on every
    executor and with every block size. ``executor``: where blocks are evaluated; default: a thread a core.
    ``block_elements``: designs x draws evaluated at once; it determines the memory used. Returns one row a design:
    every platform that the request allows, at every number of servers, with the storage nodes that the sizing gives it.
    ``answer.design.*`` says what it is and whether it keeps every limit of the request, ``answer.probability`` is the
    probability that the sizing works with, ``answer.posterior.*`` are the shares of the draws in which the targets are
    met, and 5, 50 and 95 % quantiles and mean of rate and time to train (null where the length of the training is not
    known) of each workload. Raises RequestError if draws or seed are out of range, or the request names something that
    the catalogue does not have. Raises InfeasibleError if no platform is allowed, or no run can start in the time
    asked. Raises BatchError if the executor is broken.

    :func:`sizer.sizing.search.posterior.posterior` says what draws share among designs. The sizing takes a rate at the
    fitted coefficients for its median; the median over the draws lies below it where much is lost by waiting, because
    losses add up, and each can be several times its median.
    """
    sampled = draws_of(calibration if calibration is not None else stored_calibration(), draws, seed)
    catalog = load_catalog() if catalog is None else catalog
    counts = search(request, catalog, sampled.calibration)
    with _workers(executor) as each:
        distribution = posterior(counts.evaluated, sampled, catalog, block_elements=block_elements, each=each)
    return _table(counts, distribution, sampled, seed)


def draws_of(calibration: Calibration, draws: int, seed: int) -> Draws:
    """Draws whose every quantity has a stream of random numbers of its own, from seed and name.

    Raises RequestError if the number of draws or the seed is out of range.
    """
    _require_whole("draws", draws, 1, MAX_DRAWS)
    _require_whole("seed", seed, 0, 2**64 - 1)
    return Draws(calibration, draws, streams(seed))


def _require_whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise RequestError(f"{name} = {shown(value)} is not a whole number from {least} to {most}")


@contextmanager
def _workers(executor: Executor | None) -> Iterator[Callable[[Iterable[Block]], Iterator[Reached]]]:
    """Applies ``reached`` to blocks on an executor, a few at a time, in their order."""
    count = os.cpu_count() or 1
    ours = ThreadPoolExecutor(count) if executor is None else None
    used = executor or ours
    assert used is not None

    def each(blocks: Iterable[Block]) -> Iterator[Reached]:
        sent: deque[Future[Reached]] = deque()
        try:
            for block in blocks:
                sent.append(used.submit(reached, block))
                if len(sent) >= _IN_FLIGHT * count:
                    yield sent.popleft().result()
            while sent:
                yield sent.popleft().result()
        except BrokenExecutor as error:
            raise BatchError(f"a worker process ended, which broke the executor of the caller: {error}") from error
        finally:
            for waiting in sent:
                waiting.cancel()

    try:
        yield each
    finally:
        if ours is not None:
            ours.shutdown(cancel_futures=True)


def _table(counts: PartCounts, distribution: Reached, draws: Draws, seed: int) -> pa.Table:
    evaluated = counts.evaluated
    index, servers = evaluated.space.platform, evaluated.space.n_servers
    per_server = np.array([platform.gpus_per_server for platform in evaluated.platforms])[index]
    columns = {
        "design.server": _texts(evaluated.platforms, index, lambda one: one.server.id),
        "design.servers": servers,
        "design.gpu": _texts(evaluated.platforms, index, lambda one: one.gpu.id),
        "design.gpus": servers * per_server,
        "design.gpus_per_server": per_server,
        "design.host_memory_bytes": np.array([memory_bytes(one) for one in evaluated.platforms], dtype=float)[index],
        "design.storage": _texts(evaluated.platforms, index, lambda one: one.storage.id),
        "design.storage_option": _texts(evaluated.platforms, index, _option),
        "design.storage_nodes": evaluated.storage_nodes,
        "design.fabric": _texts(evaluated.platforms, index, lambda one: one.fabric.id),
        "design.is_feasible": counts.feasible,
        # Null where a fact that no source gives decides: it never counts as good enough.
        "probability": pa.array(evaluated.probability, pa.float64(), mask=counts.conditional),
    }
    cells = {PREFIX + name: column for name, column in columns.items()}
    sizes = np.tile(np.arange(len(evaluated.space.sizes)), evaluated.space.n_platforms)
    taken = distribution.take(evaluated.class_of[index], sizes)
    cells |= posterior_cells(taken.without_shares(counts.conditional))
    metadata = {
        "sizer.version": __version__,
        "sizer.catalog_digest": counts.catalog.digest,
        "sizer.calibration_digest": calibration_digest(draws.calibration),
        "sizer.draws": str(draws.n),
        "sizer.seed": str(seed),
    }
    return pa.table(cells).replace_schema_metadata(metadata)


def _option(platform: Platform) -> str:
    options = platform.storage.capacity_options
    return options[platform.capacity_option].name if options else ""


def _texts(platforms: Sequence[Platform], index: Ints, text_of: Callable[[Platform], str]) -> pa.Array:
    """A text of the platform of each row."""
    return pa.array([text_of(platform) for platform in platforms], pa.string()).take(pa.array(index))


def posterior_cells(distribution: Reached) -> dict[str, pa.Array]:
    """Columns of distributions, one entry a design; null where a time is not known."""
    cells = {"probability": distribution.all_met}
    for number, met in enumerate(distribution.met):
        cells[f"workload.{number}.probability"] = met
        for key, values in (
            ("throughput_samples_per_s", distribution.rate[number]),
            ("time_to_train_s", distribution.time_s[number]),
        ):
            cells |= {f"workload.{number}.{key}.{name}": values[..., i] for i, name in enumerate(STATISTICS)}
    return {POSTERIOR + name: pa.array(column, pa.float64(), mask=np.isnan(column)) for name, column in cells.items()}
