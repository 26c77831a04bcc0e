"""What a design depends on that nobody knows, and its checks on bounds: met, not met or open."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.physical.components import Quantities
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.physical.platform import Platform
from sizer.physical.racks.site_rules import floor_load_kg_per_m2
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck, FactKind, MissingFact, at_most
from sizer.sizing.constraints.tiers import StorageTier, TierContent
from sizer.sizing.stages.checkpoints import write_demand_matters
from sizer.sizing.stages.gpu_memory import fit_is_open
from sizer.sizing.stages.laid_out_models import lacks_rate, laid_out_model
from sizer.sizing.stages.own_networks import operators_are_unknown
from sizer.sizing.stages.platform_columns import capacity_is_unknown, rate_is_unknown, write_rate_is_unknown
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.request import Limits, SizingRequest


def missing_for_rate(platform: Platform, run: WorkloadRun, catalog: Catalog) -> tuple[MissingFact, ...]:
    """What decides whether one workload meets its target and no source gives.

    That are the storage's rates and its capacity, the rate of a language model on GPUs of a generation that nobody
    measured, and the operators of a network of one's own and the memory that it takes. Data that stay in the servers'
    memory need no rate, unless the first epoch has to be in time.
    """
    is_read = bool((run.comp.hit_fraction < 1).any() or (run.need.cold_samples_per_s > 0).any())
    found = list(_of_storage(platform, is_read=is_read))
    nodes = run.servers if platform.storage.kind == "local" else np.maximum(run.nodes, 1)
    is_written = write_demand_matters(run.need.checkpoints, nodes, run.cols).any()
    if is_written and write_rate_is_unknown(platform.storage):
        found.append(MissingFact(FactKind.WRITE_RATE, platform.storage.id, platform.storage.name))
    model = laid_out_model(run.work)
    if model is not None and lacks_rate(run.work, platform.gpu, catalog):
        found.append(MissingFact(model.missing, platform.gpu.id, platform.gpu.name))
    if operators_are_unknown(run.work, platform.gpu, catalog):
        found.append(MissingFact(FactKind.OPERATORS, platform.gpu.id, platform.gpu.name))
    if fit_is_open([run.work], run.hosts(platform, catalog)).any():
        found.append(MissingFact(FactKind.GPU_MEMORY, run.work.dnn.id, run.work.dnn.name))
    return tuple(found)


def conditional_on(
    platform: Platform,
    of_workloads: Iterable[Sequence[MissingFact]],
    unknown_power: Iterable[str],
    limits: Limits,
    catalog: Catalog,
) -> tuple[MissingFact, ...]:
    """Every unknown fact on which it depends whether a design meets its request, each once."""
    found = [*_of_storage(platform, is_read=False), *(fact for facts in of_workloads for fact in facts)]
    if limits.power_w is not None or limits.rack_power_w is not None:
        found += [MissingFact(FactKind.POWER, item, catalog.item(item).name) for item in unknown_power]
    return tuple(dict.fromkeys(found))


def _of_storage(platform: Platform, *, is_read: bool) -> Iterator[MissingFact]:
    storage = platform.storage
    if is_read and rate_is_unknown(storage):
        yield MissingFact(FactKind.READ_RATE, storage.id, storage.name)
    tier = platform.capacity_storage
    if is_read and tier is not None and rate_is_unknown(tier):
        yield MissingFact(FactKind.READ_RATE, tier.id, tier.name)
    if capacity_is_unknown(storage, platform.capacity_option):
        yield MissingFact(FactKind.USABLE_CAPACITY, storage.id, storage.name)


def design_checks(
    request: SizingRequest,
    tiers: Sequence[StorageTier],
    platform: Platform,
    parts: Quantities,
    plan: Plan,
    catalog: Catalog,
) -> tuple[DesignCheck, ...]:
    """Checks of one design on capacity, watts and kilograms; those that the request or the plan ask for.

    ``parts``: of one row.
    """
    return (
        *(_capacity(tier, tier.storage) for tier in tiers if tier.storage is not None),
        *_power(request.limits, parts, plan, catalog),
        *_racks(plan, catalog),
        *_floor(plan, platform, catalog),
    )


def _capacity(tier: StorageTier, storage: Storage) -> DesignCheck:
    kind = CheckKind.WORKING_SET if tier.content is TierContent.WORKING_SET else CheckKind.CAPACITY
    needed, usable = tier.planned_bytes, tier.usable_bytes
    if not tier.is_published:
        missing = (MissingFact(FactKind.USABLE_CAPACITY, storage.id, storage.name),)
        return DesignCheck(kind, CheckResult.OPEN, needed, None, missing)
    return DesignCheck(kind, CheckResult.MET if usable >= needed else CheckResult.NOT_MET, needed, usable)


def _power(limits: Limits, parts: Quantities, plan: Plan, catalog: Catalog) -> Iterator[DesignCheck]:
    if limits.power_w is not None:
        missing = tuple(MissingFact(FactKind.POWER, item, catalog.item(item).name) for item in parts.unknown_power)
        watts = float(parts.power_max_w[0])
        yield DesignCheck(CheckKind.POWER, at_most(watts, limits.power_w, missing), limits.power_w, watts, missing)
    if limits.rack_power_w is not None:
        watts = max((rack.max_w for rack in plan.racks), default=0.0)
        missing = _without_power((device for rack in plan.racks for device in rack.devices), catalog)
        result = at_most(watts, limits.rack_power_w, missing)
        yield DesignCheck(CheckKind.RACK_POWER, result, limits.rack_power_w, watts, missing)


def _racks(plan: Plan, catalog: Catalog) -> Iterator[DesignCheck]:
    """Feeds and load of the new racks; those that are there have limits of their own."""
    racks = [rack for rack in plan.racks if not rack.is_existing]
    feeds = [feed for rack in racks for feed in rack.feeds]
    if feeds:
        most = max(feeds, key=lambda feed: feed.alone_w / feed.capacity_w)
        missing = _without_power((device for rack in racks for device in rack.devices), catalog)
        result = at_most(most.alone_w, most.capacity_w, missing)
        yield DesignCheck(CheckKind.FEED_POWER, result, most.capacity_w, most.alone_w, missing)
    if racks:
        loads = [
            (sum(device.weight_kg or 0.0 for device in rack.devices), catalog.racks[rack.item].load_kg.value)
            for rack in racks
        ]
        most_kg, load_kg = max(loads, key=lambda pair: pair[0] / pair[1])
        missing = _without_weight(racks, catalog)
        yield DesignCheck(CheckKind.RACK_WEIGHT, at_most(most_kg, load_kg, missing), load_kg, most_kg, missing)


def _floor(plan: Plan, platform: Platform, catalog: Catalog) -> Iterator[DesignCheck]:
    """Load on the floor below the heaviest new rack, where the request states what the floor carries."""
    most, racks = platform.site.floor_kg_per_m2, [rack for rack in plan.racks if not rack.is_existing]
    if most is None or not racks:
        return
    loads = [floor_load_kg_per_m2(rack.weight_kg, catalog.racks[rack.item]) for rack in racks]
    known = [load for load in loads if load is not None]
    own = dict.fromkeys(
        rack.item for rack, load in zip(racks, loads, strict=True) if load is None or rack.own_weight_kg is None
    )
    missing = (
        *_without_weight(racks, catalog),
        *(MissingFact(FactKind.WEIGHT, item, catalog.racks[item].name) for item in own),
    )
    worst = max(known, default=0.0)
    yield DesignCheck(CheckKind.FLOOR_LOAD, at_most(worst, most, missing), most, worst if known else None, missing)


def _without_weight(racks: Iterable[PlacedRack], catalog: Catalog) -> tuple[MissingFact, ...]:
    unknown = {device.item for rack in racks for device in rack.devices if device.weight_kg is None}
    return tuple(MissingFact(FactKind.WEIGHT, item, catalog.item(item).name) for item in sorted(unknown))


def _without_power(devices: Iterable[PlacedDevice], catalog: Catalog) -> tuple[MissingFact, ...]:
    unknown = dict.fromkeys(device.item for device in devices if not device.power.is_known)
    return tuple(MissingFact(FactKind.POWER, item, catalog.item(item).name) for item in unknown)
