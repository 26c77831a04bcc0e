"""Speed of the search: designs evaluated a second, one request, and how it grows with servers, platforms, catalogue."""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sizer.base.formats.toml_text import to_toml
from sizer.base.resources import data_dir
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.sizing import recommend as best
from sizer.sizing.best_design import best_design
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking
from sizer.workload.request import SizingRequest
from tests.bench.requests import open_request

MOST_SERVERS = 1024
ROUNDS, WARM_ROUNDS = 15, 3
# What the request allows; the platforms that come of it are counted in the run.
NARROW: dict[str, dict[str, list[str]]] = {
    "server-and-storage": {"servers": ["dgx-1"], "storage": ["isilon-f800"]},
    "server": {"servers": ["dgx-1"]},
    "three-servers": {"servers": ["dgx-1", "c4140", "apollo-6500"]},
    "all": {},
}


def _rates() -> Iterator[float]:
    """Rates that were never asked for: no answer is remembered."""
    number = 0
    while True:
        number += 1
        yield 50_000.0 + number


def _judging(benchmark: Any, catalog: Catalog, most_servers: int, **allowed: list[str]) -> None:
    """Judge the whole space of a new request in each round, all stages with their interval, and choose the best."""
    calibration, rates = stored_calibration(), _rates()
    sizes = {}

    def asked() -> tuple[tuple[SizingRequest], dict[str, Any]]:
        return (open_request(next(rates), most_servers, **allowed),), {}

    def judged(request: SizingRequest) -> None:
        counts = search(request, catalog, calibration)
        Ranking(counts).first(1)
        sizes.update(designs=counts.evaluated.space.n_rows, distinct_designs=counts.evaluated.class_nodes.size)
        sizes.update(platforms=counts.evaluated.space.n_platforms)

    benchmark.pedantic(judged, setup=asked, rounds=ROUNDS, warmup_rounds=WARM_ROUNDS)
    benchmark.extra_info.update(sizes)


@pytest.mark.parametrize("most_servers", [10, 32, 102, 324, MOST_SERVERS])
def test_judge_by_servers(benchmark: Any, most_servers: int) -> None:
    """Every platform of the catalogue at 1 to so many servers; the aim is 3 million designs a second and core."""
    _judging(benchmark, load_catalog(), most_servers)


@pytest.mark.parametrize("allowed", NARROW)
def test_judge_by_platforms(benchmark: Any, allowed: str) -> None:
    """Platforms of a narrow request to all of them, at 1 to 1,024 servers."""
    _judging(benchmark, load_catalog(), MOST_SERVERS, **NARROW[allowed])


@pytest.mark.parametrize("times", [1, 2, 4])
def test_judge_by_catalogue(benchmark: Any, tmp_path: Path, times: int) -> None:
    """A catalogue with so many servers for each one that it ships."""
    _judging(benchmark, _larger(tmp_path, times), 128)


def _larger(folder: Path, times: int) -> Catalog:
    """The shipped catalogue, and copies of its servers under other names laid over it."""
    (folder / "servers").mkdir()
    for file in sorted((data_dir("catalog") / "servers").glob("*.toml")):
        item = tomllib.loads(file.read_text(encoding="utf-8"))
        for copy in range(2, times + 1):
            renamed = {**item, "id": f"{item['id']}-copy{copy}", "name": f"{item['name']} copy {copy}"}
            (folder / "servers" / f"{renamed['id']}.toml").write_text(to_toml(renamed), encoding="utf-8")
    return load_catalog(overlay=folder)


def _asking(most_servers: int = MOST_SERVERS) -> Callable[[], tuple[tuple[SizingRequest], dict[str, Any]]]:
    rates = _rates()
    return lambda: ((open_request(next(rates), most_servers),), {})


def test_choice_of_one_request(benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of 1 to 1,024 servers on every platform, chosen and not yet written out; the aim is 20 ms."""
    catalog = load_catalog()
    monkeypatch.setattr(best, "design_of", lambda *_, **__: None)
    benchmark.pedantic(
        lambda request: best_design(request, catalog), setup=_asking(), rounds=ROUNDS, warmup_rounds=WARM_ROUNDS
    )


def test_answer_of_one_request(benchmark: Any) -> None:
    """The same with the design itself: rates and interval, parts, plan, bill."""
    catalog = load_catalog()
    benchmark.pedantic(
        lambda request: best_design(request, catalog), setup=_asking(), rounds=ROUNDS, warmup_rounds=WARM_ROUNDS
    )
