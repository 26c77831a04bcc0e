"""Many requests into one table. SIZER_BENCH_REQUESTS=100000 measures the whole figure, not a share of it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

FEW = 100
MANY = int(os.environ.get("SIZER_BENCH_REQUESTS", "3000"))


@pytest.mark.parametrize("requests", ["few", "many"])
def test_requests_to_a_table(benchmark: Any, requests: str) -> None:
    """Different requests on all cores; the aims are 100,000 in 6 minutes, under 1 GB, in time that grows as they do.

    ``extra_info`` has the time without the start of the workers, ``inner_s``: the shortest of the rounds.
    """
    count = FEW if requests == "few" else MANY
    command = [sys.executable, "-m", "tests.bench.batch_run", str(count)]
    found: list[dict[str, Any]] = []

    def run() -> None:
        found.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    benchmark.pedantic(run, rounds=5 if requests == "few" else 1)
    benchmark.extra_info.update(min(found, key=lambda one: one["inner_s"]))
    benchmark.extra_info["peak_megabytes"] = max(one["peak_megabytes"] for one in found)
