"""Scale-up compared with scale-out: the same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from typing import Literal

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.draws import Draws, streams
from sizer.catalog.model import Catalog
from sizer.questions.scale.arrangements import (
    Arrangement,
    ExcludedServer,
    ExclusionReason,
    StepBreakdown,
    arrangements,
    drawn_estimates,
    gpus_used,
    is_same_host,
    request_of,
)
from sizer.sizing.customer_copy import not_offered
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.search.feasibility import evaluate_space
from sizer.sizing.search.space import design_space
from sizer.sizing.stages.gpu_memory import all_fit, resolved
from sizer.sizing.stages.platform_columns import columns
from sizer.workload.request import SizingRequest, Target
from sizer.workload.resolve import ResolvedWorkload

RowOrder = Literal["listed", "rate", "rack-units", "watts", "ports"]

# More GPUs than any published cluster of these parts has (1,536) several times over; a larger number is a slip.
MAX_GPUS = 10_000
# Storage that is resized feeds the GPUs at full utilization with this probability, whatever the request asks for.
_STORAGE_CONFIDENCE = 0.9
# Draws with which two arrangements are compared: the ends of their ratio's interval are then known to half a percent.
_DRAWS = 2_000
_SEED = 0
# Rates nearer than this are equal. [-]
_EQUAL = 1e-9


@dataclass(frozen=True)
class ArrangementRun:
    """One workload on one arrangement."""

    answer: WorkloadAnswer
    step: StepBreakdown | None  # None for inference, which exchanges no gradients
    drawn_samples_per_s: Floats = field(repr=False, compare=False)  # rate in every draw
    equipment: tuple[object, ...] = ()  # as of ``DrawnRates``

    def over(self, other: "ArrangementRun", scale: float = 1.0) -> Estimate:
        """Rate over that of another run, times ``scale``: of the medians, with the 90 % interval over the draws.

        Without an interval where the models know no difference: equal equipment at an equal rate.
        """
        value = float(self.answer.throughput.value) / float(other.answer.throughput.value)
        if self.equipment == other.equipment and abs(value - 1) < _EQUAL:
            return Estimate.exact(scale)
        low, high = (
            float(end) for end in np.quantile(self.drawn_samples_per_s / other.drawn_samples_per_s, (0.05, 0.95))
        )
        return Estimate(
            np.asarray(scale * value), np.asarray(scale * min(low, value)), np.asarray(scale * max(high, value))
        )


@dataclass(frozen=True)
class ArrangedDesign:
    """One arrangement as a whole design."""

    arrangement: Arrangement
    design: DesignAnswer
    runs: tuple[ArrangementRun, ...]  # of every workload

    @property
    def n_gpus(self) -> int:
        """GPUs in use."""
        return self.arrangement.n_gpus

    @property
    def rack_units(self) -> float:
        """Rack units of the whole design, network and storage included. [U]"""
        return float(self.design.quantities.rack_units[0])

    @property
    def power_low_w(self) -> float:
        """Lower end of the draw of all that has a published one. [W]"""
        return float(self.design.quantities.power_low_w[0])

    @property
    def power_max_w(self) -> float:
        """Upper end of the same. [W]"""
        return float(self.design.quantities.power_max_w[0])

    @property
    def has_unknown_power(self) -> bool:
        """Whether a device has no published upper end: both ends then read "at least"."""
        return bool(self.design.quantities.unknown_power)

    @property
    def n_switches(self) -> int:
        """Switches and gateways of all networks."""
        return self.design.quantities.n_switches

    @property
    def n_ports(self) -> int:
        """Ports used on the switches and end points of the compute fabric and the other networks."""
        return sum(int(net.ports_used[0]) for net in self.design.quantities.networks)

    @property
    def n_cables(self) -> int:
        """Cables of all networks."""
        return self.design.plan.n_links


@dataclass(frozen=True)
class ArrangementPair:
    """Two arrangements, the second compared with the first."""

    first: ArrangedDesign
    second: ArrangedDesign

    @cached_property
    def rate_ratios(self) -> tuple[Estimate, ...]:
        """Of every workload: rate of the second over that of the first, in the same draws. [-]"""
        return tuple(two.over(one) for one, two in zip(self.first.runs, self.second.runs, strict=True))


@dataclass(frozen=True)
class EqualGpuComparison:
    """One number of GPUs in all its arrangements."""

    n_gpus: int
    designs: tuple[ArrangedDesign, ...]
    excluded: tuple[ExcludedServer, ...]
    storage_nodes: int  # the same in all arrangements on this storage; 0 for local drives and NFS servers
    storage_is_sized: bool  # False: that of the design, which is no bottleneck
    form_pairs: tuple[ArrangementPair, ...]  # the same host with SXM2 modules and, second, with PCIe cards

    @property
    def first(self) -> ArrangedDesign:
        """The arrangement that the others are compared with."""
        return self.designs[0]

    @property
    def pairs(self) -> tuple[ArrangementPair, ...]:
        """The first arrangement against each of the others."""
        return tuple(ArrangementPair(self.first, way) for way in self.designs[1:])

    def ordered(self, order: RowOrder) -> tuple[ArrangedDesign, ...]:
        """Arrangements in an order that the user chose; ties stay as listed."""
        key = {
            "listed": lambda _: 0.0,
            "rate": lambda way: -float(way.runs[0].answer.throughput.value),
            "rack-units": lambda way: way.rack_units,
            "watts": lambda way: way.power_max_w,
            "ports": lambda way: way.n_ports,
        }
        return tuple(sorted(self.designs, key=key[order]))


@dataclass(frozen=True)
class ScalingStep:
    """Scaling efficiency from fewer to more servers of the same kind."""

    few: ArrangedDesign
    many: ArrangedDesign
    efficiency: tuple[Estimate, ...]  # of every workload: rate per GPU among the many over that among the few [-]


@dataclass(frozen=True)
class ScaleComparison:
    """The comparison, one entry a number of GPUs."""

    comparisons: tuple[EqualGpuComparison, ...]

    @cached_property
    def scaling_steps(self) -> tuple[ScalingStep, ...]:
        """From each number of GPUs to the next larger one, where the same servers are used to the same degree."""
        firsts = sorted((one.first for one in self.comparisons), key=lambda way: way.n_gpus)
        return tuple(
            ScalingStep(
                few,
                many,
                tuple(two.over(one, few.n_gpus / many.n_gpus) for one, two in zip(few.runs, many.runs, strict=True)),
            )
            for few, many in pairwise(firsts)
            if few.arrangement.gpus_used == many.arrangement.gpus_used
        )

    @cached_property
    def has_training(self) -> bool:
        """Whether any workload exchanges gradients."""
        return any(run.step is not None for one in self.comparisons for way in one.designs for run in way.runs)


def scale_comparison(evaluated: EvaluatedDesign, n_gpus: int | Sequence[int] | None = None) -> ScaleComparison:
    """The same number of GPUs arranged in servers of several kinds and numbers.

    Every number comes from the models that size clusters
    (:func:`~sizer.sizing.design.evaluate_design.design_answer`). Storage is the same in all arrangements: that of the
    design where it is no bottleneck of a full server, else as many nodes as the servers that read most need. Idle GPUs
    of half-used servers are included in rack units, watts and price. Ratios of rates come from 2,000 draws of the
    calibration in which both arrangements share every parameter, so that they are far better known than the rates; the
    seed is fixed.

    ``evaluated``: the servers, storage and fabric of its design come first in the comparison. ``n_gpus``: GPUs of the
    arrangements, 2 to 10,000; default: those that the design uses. [-] Without comparisons where the catalogue no
    longer holds the parts of a design. Raises RequestError if a number of GPUs is out of range, or servers of the
    design's kind with so many do not hold the networks.
    """
    counts = [_gpus(evaluated.result)] if n_gpus is None else [n_gpus] if isinstance(n_gpus, int) else list(n_gpus)
    for count in counts:
        if isinstance(count, bool) or not 1 <= count <= MAX_GPUS:
            raise RequestError(f"the number of GPUs is {count}; allowed are 1 to {MAX_GPUS}")
    if any(model is None for model in evaluated.workloads):
        return ScaleComparison(())
    draws = Draws(evaluated.calibration, _DRAWS, streams(_SEED))
    return ScaleComparison(tuple(_comparison(evaluated, count, draws) for count in dict.fromkeys(counts)))


def n_allowed_kinds(evaluated: EvaluatedDesign) -> int:
    """Kinds of full servers that a request allows for as many GPUs as the design uses, without evaluating them."""
    result = evaluated.result
    arranged, _ = arrangements(result.request, result.design, _gpus(result), evaluated.catalog)
    return sum(one.kind != "spread" and one.is_allowed for one in arranged)


def _comparison(evaluated: EvaluatedDesign, n_gpus: int, draws: Draws) -> EqualGpuComparison:
    result, catalog = evaluated.result, evaluated.catalog
    possible, excluded = arrangements(result.request, result.design, n_gpus, catalog)
    works = resolved(result.request, catalog, draws.calibration)
    arranged = [one for one in possible if _fits(result.request, one, works, catalog, draws.calibration)]
    if possible[0] not in arranged:
        raise RequestError(
            f"{possible[0].name}: too little GPU memory for the networks of the request; choose more GPUs"
        )
    excluded += tuple(
        ExcludedServer(one.name, ExclusionReason.TOO_LITTLE_MEMORY) for one in possible if one not in arranged
    )
    nodes = result.design.storage_nodes
    is_sized = result.design.storage_nodes > 0 and n_gpus != _gpus(result)
    if is_sized:
        nodes = _nodes_needed(result.request, arranged, catalog, draws.calibration)
    designs = [_design(result, one, nodes, works, catalog, draws.calibration) for one in arranged]
    is_storage_bound = any(
        one.kind != "spread" and any(answer.bottleneck in ("storage", "network") for answer in of.workloads)
        for one, of in zip(arranged, designs, strict=True)
    )
    if result.design.storage_nodes and not is_sized and is_storage_bound:
        is_sized, nodes = True, max(nodes, _nodes_needed(result.request, arranged, catalog, draws.calibration))
        designs = [_design(result, one, nodes, works, catalog, draws.calibration) for one in arranged]
    drawn = [
        [
            drawn_estimates(result.request, work, one, design, catalog, draws)
            for one, design in zip(arranged, designs, strict=True)
        ]
        for work in works
    ]
    ways = tuple(
        ArrangedDesign(
            arrangement=one,
            design=_told(result, design),
            runs=tuple(
                ArrangementRun(answer, rates.breakdown(answer), rates.samples_per_s, rates.equipment)
                for answer, rates in zip(design.workloads, (of_work[place] for of_work in drawn), strict=True)
            ),
        )
        for place, (one, design) in enumerate(zip(arranged, designs, strict=True))
    )
    forms = tuple(
        ArrangementPair(ways[one], ways[other])
        for one, other in product(range(len(ways)), repeat=2)
        if _is_form_pair(arranged[one], arranged[other])
    )
    return EqualGpuComparison(n_gpus, ways, excluded, nodes, is_sized, forms)


def _fits(
    request: SizingRequest,
    one: Arrangement,
    works: Sequence[ResolvedWorkload],
    catalog: Catalog,
    calibration: Calibration,
) -> bool:
    """Whether the GPUs of an arrangement hold every workload: one that they do not hold has no rate to compare."""
    cols = columns([one.platform], catalog, request_of(request, one).platforms.gpus_per_server)
    return bool(all_fit(works, [one.platform], cols, np.array([one.n_servers]), calibration, catalog).all())


def _is_form_pair(one: Arrangement, other: Arrangement) -> bool:
    forms = tuple(of.platform.gpu.form_factor.value for of in (one, other))
    is_like = one.is_full and other.is_full and one.n_servers == other.n_servers
    return (
        is_like
        and forms[0] != "pcie"
        and forms[1] == "pcie"
        and is_same_host(one.platform.server, other.platform.server)
    )


def _gpus(result: SizingResult) -> int:
    return result.design.n_servers * gpus_used(result.request, result.design.platform)


def _nodes_needed(
    request: SizingRequest, arranged: Sequence[Arrangement], catalog: Catalog, calibration: Calibration
) -> int:
    """Storage nodes with which every arrangement uses its GPUs fully, or the most that the system has.

    Half-used servers do not count: validation runs faster on more hosts, and all rows would get more storage for it.
    """
    most = 0
    for one in arranged:
        if one.kind == "spread" or one.platform.storage.id != arranged[0].platform.storage.id:
            continue
        target = Target(gpus_busy=one.n_gpus)
        wanted = request_of(request, one).model_copy(
            update={
                "confidence": max(request.confidence, _STORAGE_CONFIDENCE),
                "workload": tuple(work.model_copy(update={"target": target}) for work in request.workload),
            }
        )
        works = resolved(wanted, catalog, calibration)
        space = design_space(1, one.n_servers, one.n_servers)
        evaluated = evaluate_space(wanted, works, [one.platform], space, catalog, calibration)
        most = max(most, int(evaluated.storage_nodes[0]))
    return most


def _design(
    result: SizingResult,
    one: Arrangement,
    nodes: int,
    works: Sequence[ResolvedWorkload],
    catalog: Catalog,
    calibration: Calibration,
) -> DesignAnswer:
    design = result.design
    is_same = (one.kind, one.n_servers, nodes) == ("design", design.n_servers, design.storage_nodes)
    if is_same and one.gpus_used == gpus_used(result.request, one.platform):
        return design
    return design_answer(
        request_of(result.request, one),
        works,
        one.platform,
        one.n_servers,
        nodes if one.platform.storage.id == design.platform.storage.id else 0,
        catalog,
        calibration,
        prices_for(result.request, catalog),
        Binding(BindingKind.NONE),
        is_documented=False,
    )


def _told(result: SizingResult, design: DesignAnswer) -> DesignAnswer:
    """The design; a customer's copy has prices of the offer only."""
    is_shown = design is result.design or not result.design.bill.is_customer_copy
    return design if is_shown else not_offered(design)
