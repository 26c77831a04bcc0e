"""A design with all that questions about it start from: each workload on it, as asked or with inputs changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from numpy.typing import ArrayLike

from sizer.base.errors import RequestError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.physical.platform import Platform
from sizer.sizing.design.design_checks import missing_for_rate
from sizer.sizing.design.rate_models import design_rates
from sizer.sizing.result import SizingResult
from sizer.sizing.stages.gpu_memory import resolved, resolved_one
from sizer.sizing.stages.workload_run import WorkloadRun, run_on
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class WorkloadOnDesign:
    """One workload on one design, ready to be run."""

    request: SizingRequest
    works: tuple[ResolvedWorkload, ...]  # of the whole request
    index: int  # of this workload among them
    platform: Platform
    n_servers: int
    storage_nodes: int
    gateway_bytes_per_s: float
    catalog: Catalog
    calibration: Calibration

    @property
    def work(self) -> ResolvedWorkload:
        """The workload, with its batch on the GPUs of the design."""
        used = self.request.platforms.gpus_per_server or self.platform.gpus_per_server
        n_gpus = self.n_servers * min(used, self.platform.gpus_per_server)
        return self.works[self.index].on(self.platform.gpu.id, n_gpus)

    @property
    def exchange_is_in_step(self) -> bool:
        """Whether what is exposed of the exchange is part of a fitted step: known for the fast networks of its runs."""
        return design_rates(self.work, self.platform.gpu.id).exchange_is_in_step

    @property
    def is_timed(self) -> bool:
        """Whether the target is a time to train."""
        return self.work.request.target.time_to_train_s is not None

    @property
    def is_open(self) -> bool:
        """Whether a fact that no source gives decides if the target is met."""
        return bool(missing_for_rate(self.platform, self.run, self.catalog))

    @cached_property
    def run(self) -> WorkloadRun:
        return self.run_on(self.n_servers)

    def run_on(self, n_servers: ArrayLike) -> WorkloadRun:
        """The workload on numbers of servers, storage and gateway held fixed."""
        return run_on(
            self.request,
            self.works[self.index],
            self.platform,
            n_servers,
            self.storage_nodes,
            self.gateway_bytes_per_s,
            self.catalog,
            self.calibration,
        )

    def asked(self, **changes: object) -> "WorkloadOnDesign | None":
        """The same design for a request whose workload differs in some keys; None where it does not allow them."""
        data = self.request.model_dump(exclude_none=True)
        tables = list(data["workload"])
        tables[self.index] = {**tables[self.index], **changes}
        try:
            request = SizingRequest.from_dict({**data, "workload": tables}, "what if")
            work = resolved_one(request, self.index, self.catalog, self.calibration)
        except RequestError:
            return None
        works = (*self.works[: self.index], work, *self.works[self.index + 1 :])
        return replace(self, request=request, works=works)


@dataclass(frozen=True)
class EvaluatedDesign:
    """A sizing result with the catalogue and the calibration it rests on: what every question about it starts from.

    ``catalog``: the one that made the result. ``calibration``: default: the stored one.
    """

    result: SizingResult
    catalog: Catalog
    calibration: Calibration = field(default_factory=stored_calibration)

    @cached_property
    def workloads(self) -> tuple[WorkloadOnDesign, ...]:
        """Every workload on the design."""
        design, request = self.result.design, self.result.request
        works = resolved(request, self.catalog, self.calibration)
        gateway = float(design.quantities.gateway_bytes_per_s[0])
        return tuple(
            WorkloadOnDesign(
                request,
                works,
                index,
                design.platform,
                design.n_servers,
                design.storage_nodes,
                gateway,
                self.catalog,
                self.calibration,
            )
            for index in range(len(works))
        )


def pinned(stages: Stages, key: str, probability: float) -> Stages:
    """Stages of which one is known to have the capacity that it stays below with ``probability``.

    The others keep their spread, so that a stage that has none changes nothing.
    """
    known: Mapping[str, Capacity] = {key: Capacity.exact(stages.by_key()[key].quantile(probability))}
    return replace(stages, **known)
