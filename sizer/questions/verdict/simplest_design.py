"""The simplest design that is enough for a request, and the choice of the request that stands in its way."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.present.comparison_text import changes, outcome
from sizer.questions.alternatives.analysis import Neighbour, narrowed_to
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.recommend import search
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.sizing.search.part_counts import Counting
from sizer.sizing.size import size
from sizer.sizing.stages.platform_columns import rate_is_unknown
from sizer.workload.request import Platforms, SizingRequest

# From the simplest kind of storage to the least simple one (hitachi-dl-2019, storage classes): drives in the server,
# a file server, a NAS of several nodes, a clustered file system. Both kinds of NAS of one node are file servers.
STORAGE_ORDER = ("local", "nfs-server", "scale-out-nas", "parallel-file-system")
# What is racked, powered and kept running; cables, PDUs and adapters come with it.
_DEVICES = ("compute", "head node", "storage", "network")
# Keys of the request that leave platforms out.
CHOICES = (
    "platforms.servers",
    "platforms.forbidden_servers",
    "platforms.gpus",
    "platforms.storage",
    "platforms.forbidden_storage",
    "platforms.fabrics",
)


class Simplicity(NamedTuple):
    """How simple a design is; the smaller the simpler, and an earlier part goes before all later ones."""

    servers_beyond_one: bool  # a cluster needs a fabric, a head node and code for several servers
    storage: int  # place in STORAGE_ORDER
    network_kinds: int  # kinds of links that switches of the design join
    devices: int  # servers, storage nodes or chassis, switches, gateways, head nodes


@dataclass(frozen=True)
class Simple:
    """A design with the request that leads to it."""

    request: SizingRequest
    design: DesignAnswer
    simplicity: Simplicity


@dataclass(frozen=True)
class SimplestDesign:
    """The simplest design that is enough.

    ``lifted`` is a simpler one that only the choices of the request leave out, None where they leave out none;
    ``in_the_way`` are the keys of these choices.
    """

    described: Simplicity
    allowed: Simple
    lifted: Simple | None
    in_the_way: tuple[str, ...]

    @property
    def is_described(self) -> bool:
        """Whether nothing that the request allows is simpler than the described design."""
        return self.described <= self.allowed.simplicity


def simplest(evaluated: EvaluatedDesign) -> SimplestDesign:
    """Simplest design that meets every target and limit of a request.

    Parameters
    ----------
    evaluated : EvaluatedDesign

    Returns
    -------
    SimplestDesign

    Notes
    -----
    The order is that of :class:`Simplicity`: one server before several; drives in the server, then a file server, a
    NAS of several nodes, a clustered file system; fewer kinds of networks; fewer devices. Ties fall to what breaks
    fewer choices of the request, then to rack units and watts. The whole space is looked at, nothing is sampled, and
    what is found is sized again. Storage whose rate no source gives counts as enough only where the servers' memory
    holds the data, or where there is nothing else. With a team the servers and GPUs asked for stay: its waits take too
    long to work out for every server of the catalogue.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    request, design = result.request, result.design
    mine = Simple(request, design, _simplicity(design, catalog))
    found = _simplest(request, request, catalog, fitted)
    allowed = mine if found is None or mine.simplicity <= found.simplicity else found
    free = _without_choices(request)
    lifted = None if free == request else _simplest(free, request, catalog, fitted)
    if lifted is None or lifted.simplicity >= allowed.simplicity:
        return SimplestDesign(mine.simplicity, allowed, None, ())
    return SimplestDesign(mine.simplicity, allowed, lifted, _broken(request.platforms, lifted.design.platform))


def simpler_neighbours(found: SimplestDesign, result: SizingResult, catalog: Catalog) -> tuple[Neighbour, ...]:
    """Simpler designs than the described one, as its neighbours; empty where it is the simplest."""
    listed = [] if found.is_described else [found.allowed]
    if found.lifted is not None:
        listed.append(found.lifted)
    return tuple(
        Neighbour(
            "simplest",
            one.request,
            one.design,
            changes(result.request, one.request, result.design, catalog),
            outcome(one.design, result.design),
        )
        for one in listed
    )


def _simplicity(design: DesignAnswer, catalog: Catalog) -> Simplicity:
    found = design.quantities
    kinds, devices = _network_kinds(found), _devices(found, catalog)
    return Simplicity(
        design.n_servers > 1, STORAGE_ORDER.index(design.platform.storage.kind), int(kinds[0]), int(devices[0])
    )


def _network_kinds(found: Quantities) -> Ints:
    """(rows,) kinds of links that switches of the designs join."""
    used = {
        kind: np.any([net.ports_used > 0 for net in found.networks if net.kind == kind and net.switch is not None], 0)
        for kind in {net.kind for net in found.networks if net.switch is not None}
    }
    return np.asarray(np.sum([np.zeros(found.rack_units.shape, dtype=bool), *used.values()], axis=0, dtype=np.int64))


def _devices(found: Quantities, catalog: Catalog) -> Ints:
    """(rows,) servers, storage nodes or chassis, switches, gateways and head nodes."""
    counts = [
        part.quantity
        for part in found.components
        if part.category in _DEVICES and part.status != "optional" and isinstance(catalog.item(part.item), Device)
    ]
    return np.asarray(np.sum([np.zeros(found.rack_units.shape, dtype=np.int64), *counts], axis=0, dtype=np.int64))


def _without_choices(request: SizingRequest) -> SizingRequest:
    """The request with everything allowed that the catalogue orders."""
    kept: dict[str, object] = {"gpus_per_server": request.platforms.gpus_per_server}
    if request.team is not None:
        asked = request.platforms
        kept |= {"servers": asked.servers, "forbidden_servers": asked.forbidden_servers, "gpus": asked.gpus}
    return request.model_copy(update={"platforms": Platforms().model_copy(update=kept)})


def _simplest(request: SizingRequest, asked: SizingRequest, catalog: Catalog, fitted: Calibration) -> Simple | None:
    """Simplest design of a request, sized again; None where it has none. ``asked`` is the request before its change."""
    try:
        counting = search(request, catalog, fitted)
    except InfeasibleError:
        return None
    row = _simplest_row(counting, asked.platforms)
    if row is None:
        return None
    judged = counting.judged
    narrow = narrowed_to(request, judged.platforms[int(judged.space.platform[row])])
    try:
        design = size(narrow, catalog, fitted).design
    except (InfeasibleError, RequestError):  # a limit that the row keeps by less than rounding
        return None
    return Simple(narrow, design, _simplicity(design, catalog))


def _simplest_row(counting: Counting, asked: Platforms) -> int | None:
    """Row of the simplest design of a space; platforms are counted class by class until one has a design."""
    judged = counting.judged
    runs = [index for index in range(judged.space.n_platforms) if counting.candidates[index].any()]
    for may_be_guess in (False, True):
        for is_cluster in (False, True):
            for kind in STORAGE_ORDER:
                group = [index for index in runs if judged.platforms[index].storage.kind == kind]
                found = [_best_of(counting, index, asked, is_cluster, may_be_guess) for index in group]
                keys = [key for key in found if key is not None]
                if keys:
                    return int(min(keys)[-1])
    return None


def _best_of(
    counting: Counting, index: int, asked: Platforms, is_cluster: bool, may_be_guess: bool
) -> tuple[float, ...] | None:
    """Simplest single server, or cluster, of a platform: what it is ordered by, its row last."""
    judged = counting.judged
    here = slice(1, None) if is_cluster else slice(0, 1)
    if not counting.candidates[index, here].any():
        return None
    rows = counting.feasible_of(index) if may_be_guess else sure_rows(counting, index)
    rows = rows[(judged.space.n_servers[rows] > 1) == is_cluster]
    if not rows.size:
        return None
    local = rows % len(judged.space.sizes)
    found, platform = counting.of(index).found, judged.platforms[index]
    keys = zip(
        _network_kinds(found)[local].tolist(),
        _devices(found, counting.catalog)[local].tolist(),
        [len(_broken(asked, platform))] * rows.size,
        found.rack_units[local].tolist(),
        found.power_max_w[local].tolist(),
        [float(judged.exchange_bytes_per_s[index])] * rows.size,
        counting.raw_bytes[rows].tolist(),
        rows.tolist(),
        strict=True,
    )
    return min(keys)


def sure_rows(counting: Counting, index: int) -> Ints:
    """Feasible rows of a platform but those whose storage has no published rate and has to be read again and again."""
    judged = counting.judged
    rows = counting.feasible_of(index)
    if not rate_is_unknown(judged.platforms[index].storage):
        return rows
    is_cached = judged.class_is_cached[judged.class_of[index], rows % len(judged.space.sizes)]
    return np.asarray(rows[is_cached])


def _broken(asked: Platforms, platform: Platform) -> tuple[str, ...]:
    """Choices of a request that leave a platform out."""
    kept = (
        not asked.servers or platform.server.id in asked.servers,
        platform.server.id not in asked.forbidden_servers,
        not asked.gpus or platform.gpu.id in asked.gpus,
        not asked.storage or platform.storage.id in asked.storage,
        platform.storage.id not in asked.forbidden_storage,
        not asked.fabrics or platform.fabric in asked.fabrics,
    )
    return tuple(name for name, is_kept in zip(CHOICES, kept, strict=True) if not is_kept)
