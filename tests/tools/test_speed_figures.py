"""The table of `make bench`, from a run made up here; expected numbers by hand."""

import json
from pathlib import Path

import pytest

from tools import speed, speed_page
from tools.speed_figures import ASKED, OTHERS, Run, found, read, stripped


def raw(slower: float = 1.0, judged_s: float = 0.5) -> dict:
    """What pytest-benchmark writes, on a machine that is so much slower."""

    def bench(name: str, median_s: float, **extra: object) -> dict:
        time_s = median_s * slower
        return {
            "fullname": f"tests/bench/{name}",
            "stats": {"median": time_s, "min": time_s, "rounds": 3},
            "extra_info": extra,
        }

    cpu = {"brand_raw": "Some CPU", "family": 6, "model": 1, "stepping": 2, "count": 4, "hz_advertised": [2 * 10**9, 0]}
    return {
        "machine_info": {"node": "host-of-somebody", "python_version": "3.12.1", "cpu": cpu},
        "commit_info": {"project": "checkout-of-somebody"},
        "datetime": "2026-01-02T03:04:05+00:00",
        "benchmarks": [
            bench("test_reference.py::test_python_loop", 0.05),
            bench("test_reference.py::test_bare_python", 0.01),
            bench("test_reference.py::test_triad_in_memory", 0.05, bytes=10**9),
            bench("test_designs.py::test_judge_by_servers[10]", 0.01, designs=10_000, distinct_designs=4_000),
            bench("test_designs.py::test_judge_by_servers[1024]", judged_s, designs=10**6, distinct_designs=400_000),
            bench("test_batch.py::test_requests_to_a_table[few]", 3.0, requests=100, inner_s=1.0),
            bench(
                "test_batch.py::test_requests_to_a_table[many]",
                82.0,
                requests=10_000,
                inner_s=80.0,
                workers=4,
                peak_megabytes=400,
                file="/home/somebody/x",
                statuses={"sized": 9_000, "infeasible": 1_000},
            ),
        ],
    }


@pytest.fixture
def run() -> Run:
    return Run.from_kept(stripped(raw()))


def values(run: Run) -> dict[str, float | None]:
    return {one.figure.key: one.value for one in found(run, ASKED)}


def test_figures_are_counts_by_times(run):
    assert values(run)["judged"] == pytest.approx(2e6)  # 10^6 designs in half a second
    assert values(run)["batch"] == pytest.approx(802)  # 2 s to start, 10 times 80 s
    assert values(run)["batch-memory"] == 400
    assert values(run)["growth-designs"] == pytest.approx(0.5)  # 100 times as many in 50 times the time
    assert values(run)["growth-requests"] == pytest.approx(0.8)
    assert values(run)["choice"] is None


def test_nothing_of_a_person_or_a_path_is_kept():
    kept = json.dumps(stripped(raw()))
    assert "somebody" not in kept
    assert "Some CPU" in kept


def test_page_is_that_of_the_kept_run_and_its_charts_are_drawn():
    text = speed_page.PAGE.read_text(encoding="utf-8")
    assert speed_page.page(text, read(speed.KEPT)) == text
    assert len(speed_page.charts(read(speed.KEPT))) == 2


def test_every_figure_names_a_benchmark_that_exists():
    folder = Path(__file__).parent.parent / "bench"
    for figure in (*ASKED, *OTHERS):
        for name in figure.benches:
            file, _, test = name.partition("::")
            assert f"def {test.partition('[')[0]}(" in (folder / file).read_text(encoding="utf-8"), name
