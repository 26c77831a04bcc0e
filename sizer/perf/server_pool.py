"""Free GPUs on the servers of a cluster, and the jobs that run on it permanently."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Ints


def servers_of(gpus: int, gpus_per_server: int, whole_servers: bool) -> int:
    """Whole servers that a job takes; 0 where it shares one with others."""
    return -(-gpus // gpus_per_server) if whole_servers or gpus > gpus_per_server else 0


class FreeGpus:
    """Servers sorted by their free GPUs, while jobs start and end on them."""

    def __init__(self, free: list[int], gpus_per_server: int) -> None:
        self.free, self.fitted, self.n_free = list(free), gpus_per_server, sum(free)
        # Servers by their free GPUs; dictionaries, as sets that keep their order.
        self.having: list[dict[int, None]] = [{} for _ in range(gpus_per_server + 1)]
        for server, count in enumerate(free):
            self.having[count][server] = None

    def find(self, gpus: int, whole: int, without: frozenset[int] = frozenset()) -> tuple[int, ...] | None:
        """Servers on which a job could start now; None where there is no room."""
        if whole:
            found: list[int] = []
            for server in self.having[self.fitted]:
                if server not in without:
                    found.append(server)
                    if len(found) == whole:
                        return tuple(found)
            return None
        for count in range(gpus, self.fitted + 1):
            for server in self.having[count]:
                if server not in without:
                    return (server,)
        return None

    def take(self, gpus: int, whole: int, without: frozenset[int] = frozenset()) -> tuple[int, ...] | None:
        """Start a job, if there is room."""
        found = self.find(gpus, whole, without)
        if found is not None:
            self.change(found, -(self.fitted if whole else gpus))
        return found

    def change(self, servers: tuple[int, ...], gpus: int) -> None:
        """Give back so many GPUs of each server; take them where it is below 0."""
        for server in servers:
            count = self.free[server]
            del self.having[count][server]
            count += gpus
            self.free[server] = count
            self.having[count][server] = None
        self.n_free += gpus * len(servers)


@dataclass(frozen=True)
class ServerPool:
    """Servers with the GPUs that the permanently running jobs leave free."""

    gpus_per_server: int
    free: Ints  # (servers,) GPUs
    placed: tuple[tuple[int, ...], ...]  # servers of every job that always runs, in the order given; (): no room

    @property
    def n_servers(self) -> int:
        """Servers."""
        return len(self.free)

    @property
    def all_placed(self) -> bool:
        """Whether every job that always runs has its GPUs."""
        return all(self.placed)

    @classmethod
    def of(
        cls, n_servers: int, gpus_per_server: int, gpus: Sequence[int] = (), whole_servers: Sequence[bool] = ()
    ) -> "ServerPool":
        """Place jobs that always run: the largest first, each where it leaves the fewest GPUs free.

        Best fit of falling sizes is no optimum, but wastes little: it fills servers exactly wherever one size divides
        the next.
        """
        places = FreeGpus([gpus_per_server] * n_servers, gpus_per_server)
        wholes = [servers_of(g, gpus_per_server, whole) for g, whole in zip(gpus, whole_servers, strict=True)]
        placed: list[tuple[int, ...]] = [()] * len(gpus)
        for job in sorted(range(len(gpus)), key=lambda job: (-wholes[job], -gpus[job])):
            placed[job] = places.take(gpus[job], wholes[job]) or ()
        return cls(gpus_per_server, np.array(places.free, dtype=np.int64), tuple(placed))
