"""What the machine gives: every other figure is told as a ratio to one of these, measured in the same run."""

import subprocess
import sys
from typing import Any

import numpy as np

LOOP_STEPS = 1_000_000
# Three arrays of 240 MB: more than the last cache of a processor holds for one core.
MEMORY_DOUBLES = 30_000_000


def triad_bytes(doubles: int) -> int:
    """Bytes of a = b + s c as numpy does it: read c, write a; read a and b, write a."""
    return 5 * 8 * doubles


def test_python_loop(benchmark: Any) -> None:
    """A plain loop of the interpreter; what it adds does not matter."""

    def loop() -> int:
        total = 0
        for number in range(LOOP_STEPS):
            total += number * number % 7
        return total

    benchmark.extra_info["steps"] = LOOP_STEPS
    benchmark.pedantic(loop, rounds=9, warmup_rounds=1)


def _triad(doubles: int, times: int) -> Any:
    a, b, c = np.zeros(doubles), np.ones(doubles), np.ones(doubles)

    def triad() -> None:
        for _ in range(times):
            np.multiply(c, 3.0, out=a)
            np.add(a, b, out=a)

    return triad


def test_triad_in_memory(benchmark: Any) -> None:
    """The triad of the STREAM benchmark over arrays that no cache holds: bandwidth of the memory for one core."""
    benchmark.extra_info["bytes"] = triad_bytes(MEMORY_DOUBLES)
    benchmark.pedantic(_triad(MEMORY_DOUBLES, 1), rounds=9, warmup_rounds=1)


def test_bare_python(benchmark: Any) -> None:
    """An interpreter that starts and ends."""
    benchmark.pedantic(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), rounds=15, warmup_rounds=2)
