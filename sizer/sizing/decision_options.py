"""What a customer may buy besides the design that was asked for: built as we would, and on what is sold today."""

import datetime
from contextlib import suppress

from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold, since
from sizer.catalog.schema import Gpu
from sizer.physical.allowed_parts import narrowed_to
from sizer.physical.networks.ports import nodes_of
from sizer.sizing.best_design import best_design
from sizer.sizing.result import DecisionOption, DesignAnswer, SizingResult
from sizer.workload.data import OBJECT_STORAGE
from sizer.workload.request import Loss, Platforms, Resilience, SizingRequest, Target

# Below it a document says what the confidence means, and shows the design that reaches it.
USUAL_CONFIDENCE = 0.9
# Two head nodes in redundancy; beyond a few hosts a login node and a monitoring node as well. NVIDIA's DGX BasePOD has
# five such servers.
_FEW_HOSTS, _FEW_MANAGERS, _MANAGERS = 4, 2, 4


def as_built(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> DecisionOption | None:
    """The design of the same servers with what a cluster that people depend on has.

    ``calibration``: default: the stored one. Returns with 90 % confidence at least and two feeds; where there are
    several servers with one in reserve and management servers in redundancy; the design itself where it has all of it.
    On other storage where its own takes no further server; where none does, with that confidence alone. None where the
    request asks for the highest rate instead of a target, where a fact that no source gives decides, where no size
    reaches more, or where no server is bought.
    """
    if _asks_most(request) or design.probability is None or not design.servers_bought:
        return None
    surer = request.model_copy(update={"confidence": max(request.confidence, USUAL_CONFIDENCE)})
    wanted = _with_reserves(surer, design)
    same = narrowed_to(wanted, design.platform).platforms
    kept = {name: getattr(same, name) for name in ("servers", "gpus", "gpus_per_server")}
    for asked, parts in ((wanted, same), (wanted, request.platforms.model_copy(update=kept)), (surer, same)):
        with suppress(InfeasibleError, RequestError):
            found = best_design(asked.model_copy(update={"platforms": parts}), catalog, calibration).design
            if _parts(found) != _parts(design):
                return DecisionOption(asked, found)
            return DecisionOption(asked, design) if asked is wanted else None
    return None


def on_sale_today(result: SizingResult, catalog: Catalog) -> DecisionOption | None:
    """What :func:`sold_today` gives of an answer with the stored calibration, built as :func:`as_built` says."""
    option = sold_today(result.request, result.design, catalog) if result.newer is None else result.newer.value
    return None if option is None else as_built(option.request, option.design, catalog) or option


def sold_today(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> DecisionOption | None:
    """The best design of all parts that are sold on the day of the request.

    ``request``, ``design``, ``catalog``, ``calibration``: as for :func:`as_built`. Returns of a number of GPUs that are
    no longer sold what does as much as they surely do. None where the request names no parts, where it has some or
    means certain ones (by the number of its GPUs, or with a team, whose waits are simulated on them), or where nothing
    on sale meets it or is better.
    """
    free, gpu, day = _of_all_parts(request.platforms), design.platform.gpu, request.date
    works = request.workload
    if not can_be_bought(design, catalog, day):
        works = tuple(
            workload.workload.model_copy(update={"target": Target(samples_per_s=float(workload.throughput.low))})
            if workload.workload.target.gpus_busy is not None
            else workload.workload
            for workload in design.workloads
        )
    means_parts = any(work.target.gpus_busy is not None for work in works) or request.team is not None
    has_parts = request.existing.servers or request.stated_storage
    if names_no_parts(request) or means_parts or _asks_most(request) or has_parts:
        return None
    gpus = tuple(one.id for one in no_less_on_sale(catalog, gpu, day))
    # A second tier that is named belongs to the parts of its era; the working set asks for one of any kind.
    data = request.data
    if data.capacity_tier != OBJECT_STORAGE:
        data = data.model_copy(update={"capacity_tier": None})
    changes = {"platforms": free.model_copy(update={"gpus": gpus}), "workload": works, "data": data}
    opened = request.model_copy(update={**changes, "confidence": max(request.confidence, USUAL_CONFIDENCE)})
    with suppress(InfeasibleError, RequestError):
        found = best_design(opened, catalog, calibration).design
        if found.platform.key != design.platform.key:
            return DecisionOption(opened, found)
    return None


def names_no_parts(request: SizingRequest) -> bool:
    """Whether a request leaves the parts to us: the best of its designs is the best of all that is sold."""
    return _of_all_parts(request.platforms) == request.platforms


def _of_all_parts(asked: Platforms) -> Platforms:
    """What a customer excludes, prefers or has stays so; every other part is allowed."""
    return Platforms(
        forbidden_servers=asked.forbidden_servers,
        forbidden_storage=asked.forbidden_storage,
        prefer_vendors=asked.prefer_vendors,
        prefer_within_percent=asked.prefer_within_percent,
        storage_tier=asked.storage_tier,
    )


def can_be_bought(design: DesignAnswer, catalog: Catalog, day: datetime.date | None) -> bool:
    """Whether the servers that a design buys are sold on a day; without a day they are taken to be."""
    parts = (design.platform.server, design.platform.gpu)
    return day is None or not design.servers_bought or all(is_sold(catalog, part, day) for part in parts)


def no_less_on_sale(catalog: Catalog, gpu: Gpu, day: datetime.date | None) -> list[Gpu]:
    """GPUs that are sold on a day and run what another does as it is: of its vendor, with no less memory, no older."""

    def key(one: Gpu) -> tuple[float, datetime.date]:
        return one.memory_bytes.value, since(catalog, one)

    memory, day_of = key(gpu)
    return [
        one
        for one in catalog.gpus.values()
        if one.vendor == gpu.vendor and key(one)[0] >= memory and key(one)[1] >= day_of and is_sold(catalog, one, day)
    ]


def _asks_most(request: SizingRequest) -> bool:
    return any(work.target.maximum is not None for work in request.workload)


def _with_reserves(request: SizingRequest, design: DesignAnswer) -> SizingRequest:
    """The request with two feeds and, of several servers, one in reserve and more than one for management."""
    changes: dict[str, object] = {}
    if request.site.feeds == "N":
        changes["site"] = request.site.model_copy(update={"feeds": "2N"})
    losses: list[Loss] = list(request.resilience.keeps_targets_without)
    # A system that arrives as a rack has trays in reserve; a second one is no spare. Users of a service wait for none.
    needs_spare = design.n_servers > 1 or any(answer.serving is not None for answer in design.workloads)
    if needs_spare and nodes_of(design.platform.server) == 1:
        losses.append("server")
    n_hosts = design.n_hosts + ("server" in losses)
    if n_hosts > 1:
        usual = _FEW_MANAGERS if n_hosts <= _FEW_HOSTS else _MANAGERS
        servers = max(request.fabric.management_servers or 0, usual)
        changes["fabric"] = request.fabric.model_copy(update={"management_servers": servers})
    changes["resilience"] = Resilience(
        keeps_targets_without=tuple(dict.fromkeys(losses)), interruptions=request.resilience.interruptions
    )
    return request.model_copy(update=changes)


def _parts(design: DesignAnswer) -> list[tuple[str, int]]:
    """Parts with their numbers, as far as two designs of one platform differ in them."""
    return [(part.item, int(part.quantity[0])) for part in design.quantities.components if int(part.quantity[0])]
