"""Speed of the Monte-Carlo over a whole space, and of sweeps."""

from typing import Any

from sizer.base.resources import data_dir
from sizer.batch.monte_carlo import monte_carlo
from sizer.batch.sweep import sweep
from sizer.catalog.loader import load_catalog
from sizer.workload.request import SizingRequest
from tests.bench.requests import open_request

DRAWS = 1000
RATE = "workload.0.target.samples_per_s"


def test_draws_over_the_whole_space(benchmark: Any) -> None:
    """1,000 draws x every platform of the catalogue at 1 to 160 servers; the aim is under 15 s."""
    catalog, request = load_catalog(), open_request(50_000.0, 160)
    table = benchmark.pedantic(monte_carlo, (request, catalog), {"draws": DRAWS}, rounds=5, warmup_rounds=1)
    benchmark.extra_info.update(designs=table.num_rows, draws=DRAWS)


def test_draws_of_a_time_to_train(benchmark: Any) -> None:
    """The same with epochs by a recipe: quantiles of the time beside those of the rate."""
    catalog = load_catalog()
    data = open_request(50_000.0, 160).model_dump(exclude_unset=True)
    work = {**data["workload"][0], "recipe": "resnet50-mlperf-v0.6", "target": {"time_to_train_s": 50_000.0}}
    request = SizingRequest.from_dict({**data, "workload": [work]})
    table = benchmark.pedantic(monte_carlo, (request, catalog), {"draws": DRAWS}, rounds=5, warmup_rounds=1)
    benchmark.extra_info.update(designs=table.num_rows, draws=DRAWS)


def _sweep(benchmark: Any, **draws: int) -> None:
    """50 rates x 20 sizes of the data set of the first example, on two processes."""
    request = SizingRequest.from_file(data_dir("examples") / "dgx1-f800-resnet50.toml")
    axes = {
        RATE: [2000.0 + 1500.0 * step for step in range(50)],
        "workload.0.dataset_bytes": [1e12 * (1 + step) for step in range(20)],
    }
    table = benchmark.pedantic(sweep, (request, axes, load_catalog()), {"workers": 2, **draws}, rounds=2)
    benchmark.extra_info.update(points=table.num_rows, **draws)


def test_sweep_of_a_thousand_points(benchmark: Any) -> None:
    """The design of every point."""
    _sweep(benchmark)


def test_sweep_of_a_thousand_points_with_draws(benchmark: Any) -> None:
    """The same with 1,000 draws of each."""
    _sweep(benchmark, draws=DRAWS)
