"""What a person waits for at the prompt, and the memory of one answer."""

import subprocess
import sys
from pathlib import Path
from typing import Any

ROUNDS = 15
SIZER = str(Path(sys.executable).with_name("sizer"))
MEMORY = """
from sizer.catalog.loader import load_catalog
from sizer.sizing.best_design import best_design
from sizer.sizing.size import size
from tests.bench.memory import peak_megabytes
from tests.bench.requests import open_request
{call}(open_request(50_000.0, 1024), load_catalog())
print(peak_megabytes())
"""


def test_import(benchmark: Any) -> None:
    """``import sizer`` in a fresh process; the aim is 0.25 s."""
    command = [sys.executable, "-c", "import sizer"]
    benchmark.pedantic(lambda: subprocess.run(command, check=True), rounds=ROUNDS, warmup_rounds=2)


def test_help(benchmark: Any) -> None:
    """``sizer --help``; the aim is 0.35 s."""
    command = [SIZER, "--help"]
    benchmark.pedantic(
        lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), rounds=ROUNDS, warmup_rounds=2
    )


def _peak_megabytes(benchmark: Any, call: str) -> None:
    command = [sys.executable, "-c", MEMORY.format(call=call)]
    found: list[float] = []

    def run() -> None:
        found.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info["peak_megabytes"] = round(max(found))


def test_memory_of_a_lean_answer(benchmark: Any) -> None:
    """Largest memory of a fresh process that finds the best of 1 to 1,024 servers on every platform."""
    _peak_megabytes(benchmark, "best_design")


def test_memory_of_a_whole_answer(benchmark: Any) -> None:
    """The same with all that the documents tell."""
    _peak_megabytes(benchmark, "size")
