"""A Dask cluster on this machine."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def dask_client() -> Iterator[Any]:
    """Client of two worker processes, reached on the loopback address alone; they end with the test.

    Each test has its own: in minutes of other tests between two of them, the event loop of one has ended.
    """
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            scheduler_port=0,
            dashboard_address="127.0.0.1:0",  # two workers of the tests may each have a cluster
            silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
