"""Published MLPerf runs of today's accelerators by network: newest round, batches, and what fitted which memory."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sizer.base.resources import data_dir
from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.modern.rows import ModernRow, fits_rate, load_modern
from sizer.perf.exchange import gradient_bytes
from sizer.perf.training_step import TRAINING_PASSES


@cache
def published_runs(benchmark: str) -> tuple[ModernRow, ...]:
    """Runs of a network that the fit of the rates uses; empty for one that MLPerf does not have."""
    return _by_benchmark().get(benchmark, ())


@cache
def newest_round(benchmark: str) -> str:
    """Newest round with runs of a network."""
    return max(published_runs(benchmark), key=lambda row: row.round_order).round


@cache
def published_batches(benchmark: str) -> tuple[float, float]:
    """Least and largest published global batch of a network."""
    batches = [row.global_batch for row in published_runs(benchmark) if row.global_batch]
    return min(batches), max(batches)


@cache
def n_runs(generation: str) -> int:
    """Runs of all networks on the accelerators of a generation."""
    known = sourced_accelerators()
    accelerators = {name for name, gpu in known.items() if gpu.generation == generation}
    return sum(row.accelerator in accelerators for rows in _by_benchmark().values() for row in rows)


@cache
def largest_batches(benchmark: str, generation: str = "") -> tuple[tuple[float, float], ...]:
    """Memory of accelerators of the catalogue, and the largest batch of one pass published on each. [B], [-]

    By default those of all generations.
    """
    known = sourced_accelerators()
    found: defaultdict[float, float] = defaultdict(float)
    for row in published_runs(benchmark):
        gpu = known.get(row.accelerator)
        if gpu is None or generation not in ("", gpu.generation):
            continue
        if row.global_batch and row.accelerators:
            found[gpu.memory_bytes] = max(found[gpu.memory_bytes], micro_batch(row))
    return tuple(sorted(found.items()))


def micro_batch(row: ModernRow) -> float:
    """Samples of one pass of one accelerator. The row states batch and accelerators."""
    assert row.global_batch is not None
    assert row.accelerators is not None
    return math.ceil(row.global_batch / (row.accelerators * row.accumulation))


@cache
def fitted_ids() -> frozenset[str]:
    """Runs of all networks that the fit of the rates uses."""
    return frozenset(row.id for rows in _by_benchmark().values() for row in rows)


@cache
def fitted_accelerators() -> frozenset[str]:
    """Accelerators of these runs, by their names in them."""
    return frozenset(row.accelerator for rows in _by_benchmark().values() for row in rows)


@cache
def _by_benchmark() -> dict[str, tuple[ModernRow, ...]]:
    found: defaultdict[str, list[ModernRow]] = defaultdict(list)
    for row in load_modern():
        if fits_rate(row):
            found[row.benchmark].append(row)
    return {name: tuple(rows) for name, rows in found.items()}


# Networks of MLPerf without a run in the fits: whose effects they take, scaled by what is counted of both.
#
# A sample costs the arithmetic and memory traffic of a sample of the network of the same family that has most runs,
# times the ratio of their forward passes. How much of the exchange computing hides is a matter of each implementation,
# so that a share of the gradient is exposed as it is on average over the fitted networks. What the two reach of the
# hardware is not known to be alike: the effect ``network`` has the spread of the fitted networks, and no run
# narrows it.

# Of the gradient, bytes between servers that computing does not hide: geometric mean over the eight fitted networks
# whose step is arithmetic (0.04 of Stable Diffusion to 2.6 of Mask R-CNN; without recommenders and graphs). Inside
# servers without NVLink the mean is 0.47.
EXPOSED_SHARE = 0.45


@dataclass(frozen=True)
class Length:
    """Training of a network by its recipe, as logarithms."""

    log_samples: float  # to the target at small batches
    log_steps: float  # below which no larger batch helps
    log_evaluation: float  # the evaluations' share of the training time


@dataclass(frozen=True)
class RelatedNetwork:
    """Fitted network whose effects another one of its family takes, and what differs between them."""

    benchmark: str  # whose effects count
    name: str  # as the catalogue has it
    own_name: str  # of the network without runs
    log_flop: float  # ln of the forward pass over that of the other
    log_exposed_bytes: float  # ln of the exchange that computing does not hide [B]
    length: Length


def related_network(benchmark: str) -> RelatedNetwork | None:
    """The fitted relative of a network of MLPerf without runs; None for one with runs, or not in the catalogue."""
    return None if published_runs(benchmark) else _related_networks().get(benchmark)


def levels_of(benchmark: str) -> str:
    """Network whose effects are taken: the network itself, or its fitted relative."""
    found = related_network(benchmark)
    return benchmark if found is None else found.benchmark


@cache
def _related_networks() -> dict[str, RelatedNetwork]:
    """Networks of the catalogue without runs, with a recipe and a relative with runs, by their name in MLPerf rows."""
    networks = [one for one in _items("dnns").values() if one.get("mlperf")]
    recipes = {one["dnn"]: one for one in _items("recipes").values() if one.get("points")}  # the newest of each
    found = {}
    for one in networks:
        others = [other for other in networks if other["family"] == one["family"] and published_runs(other["mlperf"])]
        if published_runs(one["mlperf"]) or not others or one["id"] not in recipes:
            continue
        other = max(others, key=lambda network: len(published_runs(network["mlperf"])))
        exposed = EXPOSED_SHARE * float(gradient_bytes(one["parameters"]["value"], "mixed"))
        found[one["mlperf"]] = RelatedNetwork(
            other["mlperf"],
            other["name"],
            one["name"],
            math.log(one["forward_flop"]["value"] / other["forward_flop"]["value"]),
            math.log(exposed),
            _length(recipes[one["id"]], _items("datasets")[one["dataset"]]),
        )
    return found


def _length(recipe: Mapping[str, Any], dataset: Mapping[str, Any]) -> Length:
    """Length of a training by a recipe: samples grow in proportion to the batch, as the fit of the times has it."""
    epoch = recipe["epoch_samples"]["value"]
    points = np.array([(point["global_batch"], point["epochs"] * epoch) for point in recipe["points"]])
    steps, samples = np.polyfit(points[:, 0], points[:, 1], 1)
    # An evaluation is a forward pass over the held-back samples.
    held_back = dataset["n_validation_samples"]["value"] / TRAINING_PASSES
    evaluations = held_back / (recipe["evaluate_every_epochs"]["value"] * epoch)
    return Length(math.log(samples), math.log(steps), math.log(evaluations))


@cache
def _items(kind: str) -> dict[str, dict[str, Any]]:
    # The whole catalogue would take half a second, and these are a few of its files.
    return {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted((data_dir("catalog") / kind).glob("*.toml"))
    }
