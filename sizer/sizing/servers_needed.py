"""Fewest servers of one platform that meet a request, without counting parts: a fast form of the search."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.perf.storage import read_capacity
from sizer.physical import capacity
from sizer.physical.platform import Platform
from sizer.sizing.constraints.redundancy import AfterLoss, Known, LossTargets, after_losses
from sizer.sizing.constraints.stored_data import asks_for_local_drives, lacks_shared_storage
from sizer.sizing.constraints.team_limits import TeamLimits, team_limits
from sizer.sizing.design.evaluated_design import pinned
from sizer.sizing.search.storage_units import StorageUnits
from sizer.sizing.stages import compute_side, evaluate, gpu_memory
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.evaluate import Need
from sizer.sizing.stages.platform_columns import Columns, columns, narrowed
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


class Pin(NamedTuple):
    """A stage of one workload that is known to have the capacity which it stays below with ``probability``."""

    workload: int
    stage: str
    probability: float


@dataclass(frozen=True)
class Sizes:
    """One platform with 1 to so many servers."""

    request: SizingRequest
    works: Sequence[ResolvedWorkload]
    platform: Platform
    calibration: Calibration
    cols: Columns
    n_servers: Ints
    computes: tuple[Compute, ...]  # one a workload
    fits: Bools  # the batches of all workloads fit the GPUs
    team: TeamLimits | None = None  # arrays (1, sizes)
    asks_for_local: bool = False  # the request names local drives as the storage
    losses: tuple[AfterLoss, ...] = ()  # that the request asks the designs to tolerate; arrays (1, sizes)

    @classmethod
    def of(
        cls,
        request: SizingRequest,
        works: Sequence[ResolvedWorkload],
        platform: Platform,
        most: int,
        catalog: Catalog,
        calibration: Calibration,
    ) -> "Sizes":
        """Sizes from 1 to ``most`` servers."""
        servers = np.arange(1, most + 1)
        index = np.zeros(most, dtype=np.int64)
        facts = columns([platform], catalog, request.platforms.gpus_per_server)
        cols = facts.take(index)
        fewest = np.full(most, capacity.node_limits(platform.storage)[0])
        cols = narrowed(cols, [platform], index, servers, fewest, request.fabric)
        computes = tuple(compute_side.compute(work, [platform], cols, servers, calibration, catalog) for work in works)
        fits = gpu_memory.all_fit(works, [platform], cols, servers, calibration, catalog)
        team = None
        if request.team is not None:
            every = np.ones(1, dtype=bool)
            team = team_limits(request.team, works, [platform], facts, servers, every, catalog, calibration)
        losses = after_losses(
            request, works, [platform], servers, cols.shaped((1, most)), fewest[:1], team, catalog, calibration
        )
        local = asks_for_local_drives(request, catalog)
        return cls(request, works, platform, calibration, cols, servers, computes, fits, team, local, tuple(losses))

    def fewest(self, pin: Pin | None = None) -> int | None:
        """Fewest servers that meet all targets at the confidence asked; None where none of the sizes does.

        Notes
        -----
        The limits are those of the search (``evaluate_space``), with the storage nodes that each size needs. Racks,
        watts and budget are not checked: they need the parts, and counting these takes most of the time of a search.
        """
        confidence = evaluate.share_of(self.request)
        asked = evaluate.least_chance(confidence)
        known = _Pinned(pin)
        computes = [known.compute(index, comp) for index, comp in enumerate(self.computes)]
        try:
            needs = [
                evaluate.need(work, comp, self.cols, self.n_servers, confidence, self.calibration)
                for work, comp in zip(self.works, computes, strict=True)
            ]
            after = [loss.asked(self.request, self.works, self.calibration, known) for loss in self.losses]
        except InfeasibleError:
            return None
        nodes, passes = self._storage_nodes(computes, needs, confidence, known, after)
        side = evaluate.storage_side(self.cols, self.n_servers, nodes, np.full(nodes.shape, np.inf))
        chance = np.ones(nodes.shape)
        passes &= self.fits
        for index, (work, comp, need) in enumerate(zip(self.works, computes, needs, strict=True)):
            busy = work.request.target.gpus_busy
            passes &= self.n_servers * self.cols.gpus_per_server >= (busy or 0)
            passes &= evaluate.gpu_probability(comp.gpu, need) >= asked
            passes &= comp.decode.probability_at_least(need.samples_per_s) >= asked
            passes &= comp.host_link.probability_at_least(need.samples_per_s) >= asked
            passes &= side.mounts.probability_at_least(evaluate.read_bytes_per_s(work, comp, need)) >= asked
            warm, cold = (
                known.path(index, evaluate.stages(work, comp, side, is_warm=is_warm)) for is_warm in (True, False)
            )
            chance = chance * evaluate.probability(warm, cold, need)
        passes &= chance >= evaluate.least_chance(self.request.confidence)
        if self.team is not None:
            reads = self.team.bytes_per_s[0]
            passes &= self.team.waits[0]
            passes &= side.mounts.probability_at_least(reads) >= asked
            passes &= self.n_servers * self.cols.storage_nic_bytes_per_s >= reads
        for loss in after:
            passes &= loss.keeps(nodes[None])[0]
        return int(self.n_servers[np.argmax(passes)]) if passes.any() else None

    def _storage_nodes(
        self,
        computes: Sequence[Compute],
        needs: Sequence[Need],
        confidence: float,
        known: Known,
        after: Sequence[LossTargets],
    ) -> tuple[Ints, Bools]:
        """Storage nodes of every size in whole units, and whether they hold the data and give the rate."""
        wanted = [
            evaluate.storage_nodes(work, comp, known.node(index, self.cols), need, confidence)
            for index, (work, comp, need) in enumerate(zip(self.works, computes, needs, strict=True))
        ]
        if self.team is not None:
            wanted.append(evaluate.nodes_for(self.team.bytes_per_s[0], self.cols, confidence))
        units = StorageUnits.of(self.works, [self.platform], self.request.data)
        fewest = np.max(wanted, axis=0)[None]
        nodes, enough = units.whole(fewest, self.n_servers, self.cols.is_local)
        if after:
            spare = np.max([fewest, *(loss.nodes() for loss in after)], axis=0)
            nodes, _ = units.whole(spare, self.n_servers, self.cols.is_local)
        apart = lacks_shared_storage(
            self.works, self.asks_for_local, self.cols.is_local, self.n_servers * self.cols.hosts
        )
        return nodes[0], enough[0] & units.holds_data[0] & ~apart


@dataclass(frozen=True)
class _Pinned(Known):
    """One stage of one workload is known."""

    pin: Pin | None

    def compute(self, index: int, comp: Compute) -> Compute:
        pin = self._of(index, "gpu", "decode", "host_link")
        if pin is None:
            return comp
        known: Capacity = getattr(comp, pin.stage)
        changed: dict[str, Any] = {pin.stage: Capacity.exact(known.quantile(pin.probability))}
        return replace(comp, **changed)

    def node(self, index: int, cols: Columns) -> Columns:
        pin = self._of(index, "storage")
        if pin is None:
            return cols
        node = read_capacity(1.0, cols.node_low_bytes_per_s, cols.node_high_bytes_per_s, cols.node_line_bytes_per_s)
        rate: Floats = node.quantile(pin.probability)
        return replace(cols, node_low_bytes_per_s=rate, node_high_bytes_per_s=rate)

    def path(self, index: int, stages: Stages) -> Stages:
        pin = self._of(index, "storage", "network")
        return stages if pin is None else pinned(stages, pin.stage, pin.probability)

    def _of(self, index: int, *stages: str) -> Pin | None:
        """The pin, where it is one of some stages of a workload."""
        pin = self.pin
        return pin if pin is not None and pin.workload == index and pin.stage in stages else None
