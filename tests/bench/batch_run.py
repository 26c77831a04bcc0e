"""Sizes many requests into an Arrow table and tells time and memory: ``python -m tests.bench.batch_run 10000``."""

import json
import os
import resource
import sys
import time
from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context

from sizer.batch.run import size_batch
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
    # Of the children the largest is known: that many of it is the most that they held together.
    own, child = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    sys.stdout.write(json.dumps({**found, "peak_megabytes": round((own + workers * child) / 1000)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
