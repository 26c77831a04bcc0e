"""The most that the limits of a request give: the highest rate, and what more of each limit brings."""

from dataclasses import dataclass

from sizer.sizing.limits import SizeLimit


@dataclass(frozen=True)
class LimitDesign:
    """A design with the rate that it reaches at the confidence of the request."""

    server: str
    server_name: str
    gpu: str
    gpu_name: str
    host_memory: str | None  # id of the memory in place of the server's standard one
    storage: str
    storage_name: str
    n_servers: int
    n_gpus: int
    storage_nodes: int
    samples_per_s: float
    cost: float | None  # at most, with the confidence of the request; None: not told
    power_w: float
    racks: int
    rack_units: float

    @property
    def parts(self) -> tuple[str, str, str | None, str, int, int, int]:
        """What tells one design from another."""
        return (
            *(self.server, self.gpu, self.host_memory, self.storage),
            *(self.n_servers, self.n_gpus, self.storage_nodes),
        )

    def amount(self, limit: SizeLimit) -> float | None:
        """What it takes of a limited quantity; None: not told."""
        amounts = {
            SizeLimit.BUDGET: self.cost,
            SizeLimit.POWER: self.power_w,
            SizeLimit.RACKS: float(self.racks),
            SizeLimit.RACK_UNITS: self.rack_units,
            SizeLimit.SERVERS: float(self.n_servers),
        }
        return amounts[limit]


@dataclass(frozen=True)
class LimitStep:
    """What more of one limit brings while the others stay as they are."""

    limit: SizeLimit
    bound: float  # as the request states it
    following: LimitDesign | None  # the next faster design beyond the limit; None: more of it alone brings nothing

    @property
    def binds(self) -> bool:
        """Whether more of this limit alone makes a faster design possible."""
        return self.following is not None


@dataclass(frozen=True)
class Maximum:
    """The most that the limits of a request give."""

    workload: int
    samples_per_s: float  # that the described design reaches at the confidence of the request: its target
    highest_samples_per_s: float  # of all designs within the limits; at most 1 % more
    confidence: float
    design: LimitDesign  # the cheapest of those within 1 % of the highest rate
    steps: tuple[LimitStep, ...]  # one for each limit that the request sets
    runner_up: LimitDesign | None  # the fastest on another platform within the limits
    is_largest: bool  # no limit but the largest cluster that is looked at stops it
