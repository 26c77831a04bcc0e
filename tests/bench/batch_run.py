"""Sizes many requests into an Arrow table and tells time and memory: ``python -m tests.bench.batch_run 10000``."""

import json
import os
import sys
import time
from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import active_children, get_context

from sizer.batch.run import size_batch
from tests.bench.memory import peak_megabytes
from tests.bench.requests import many_requests


def measured(count: int, executor: Executor, workers: int) -> dict[str, object]:
    """Size so many requests with workers that are warm; they are made one by one as workers become free."""
    size_batch(many_requests(64 * workers, seed=0), executor=executor, in_flight=2 * workers + 1)
    start = time.perf_counter()
    table = size_batch(many_requests(count), executor=executor, in_flight=2 * workers + 1)
    took_s = time.perf_counter() - start
    assert table.num_rows == count
    statuses = Counter(table.column("answer.status").to_pylist())
    return {"inner_s": took_s, "requests": count, "statuses": dict(statuses), "workers": workers}


def main(count: int) -> None:
    """Measure with a process a core, and print."""
    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers, get_context("spawn")) as executor:
        found = measured(count, executor, workers)
        own, of_workers = peak_megabytes(), [peak_megabytes(child.pid) for child in active_children() if child.pid]
    peaks = {"peak_megabytes": round(own + sum(of_workers)), "own_megabytes": round(own)}
    sys.stdout.write(json.dumps({**found, **peaks}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
