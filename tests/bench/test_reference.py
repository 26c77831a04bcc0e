"""What the machine gives: every other figure is told as a ratio to one of these, measured in the same run."""

import json
import subprocess
import sys
from typing import Any

import numpy as np

LOOP_STEPS = 1_000_000
# Three arrays of 240 MB: more than the last cache of a processor holds for one core.
MEMORY_DOUBLES = 30_000_000
# Three arrays of 128 kB: a block of the judge stays in the same cache.
CACHE_DOUBLES, CACHE_TIMES = 16_384, 500
POLYNOMIAL_DEGREE = 32
MATRIX_ROWS, MATRIX_TIMES = 768, 8


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


def test_triad_in_cache(benchmark: Any) -> None:
    """The same triad over arrays that the second cache holds."""
    benchmark.extra_info["bytes"] = CACHE_TIMES * triad_bytes(CACHE_DOUBLES)
    benchmark.pedantic(_triad(CACHE_DOUBLES, CACHE_TIMES), rounds=9, warmup_rounds=1)


def test_polynomial_in_cache(benchmark: Any) -> None:
    """A polynomial by Horner's rule, array operation by array operation: what numpy's arithmetic reaches at most."""
    x = np.linspace(0.0, 1.0, CACHE_DOUBLES)
    value = np.ones(CACHE_DOUBLES)

    def polynomial() -> None:
        value.fill(1.0)
        for _ in range(POLYNOMIAL_DEGREE):
            np.multiply(value, x, out=value)
            np.add(value, 1.0, out=value)

    benchmark.extra_info["flop"] = 2 * POLYNOMIAL_DEGREE * CACHE_DOUBLES
    benchmark.pedantic(polynomial, rounds=50, warmup_rounds=5)


def test_matrix_product(benchmark: Any) -> None:
    """Products of two matrices on one core, by the linear algebra that numpy brings: the practical peak of arithmetic.

    In a process of its own, so that it has one thread whatever was imported here.
    """
    code = (
        "import json, time, numpy as np\n"
        f"a, b = np.ones(({MATRIX_ROWS},) * 2), np.ones(({MATRIX_ROWS},) * 2)\n"
        "c = a @ b\n"
        "took = []\n"
        f"for _ in range({MATRIX_TIMES}):\n"
        "    start = time.perf_counter(); np.matmul(a, b, out=c); took.append(time.perf_counter() - start)\n"
        "print(json.dumps(min(took)))\n"
    )
    command = [sys.executable, "-c", code]
    best_s = []

    def run() -> None:
        best_s.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    benchmark.pedantic(run, rounds=3)
    benchmark.extra_info["flop"] = 2 * MATRIX_ROWS**3
    benchmark.extra_info["inner_s"] = min(best_s)


def test_bare_python(benchmark: Any) -> None:
    """An interpreter that starts and ends."""
    benchmark.pedantic(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), rounds=15, warmup_rounds=2)
