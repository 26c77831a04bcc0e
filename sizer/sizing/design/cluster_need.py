"""The arithmetic of the arguments for and against a cluster, each a function of plain numbers or of a run.

What is argued is that of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
("hitachi-dl-2019"); the numbers are those of the models.
"""

from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.fabrics import joining
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.perf.pipeline import decode_stage, read_demand_bytes_per_s
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.platform import Platform
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages import compute_side, evaluate, gpu_side
from sizer.sizing.stages.gpu_side import GpuRates
from sizer.sizing.stages.platform_columns import Columns, columns, node_read_rate, rate_is_unknown

# Links that a customer's network has anyway, the slower first.
_USUAL_LINKS = ("10gbe", "25gbe")
# Sizes up to which the gradient exchange over two networks is compared: beyond it no published run lies.
MAX_SERVERS = 64
# A faster fabric pays from this share of the rate on: less is hardly visible within the 90 % interval of a rate.
LEAST_FABRIC_LOSS = 0.05


def usual_links(catalog: Catalog) -> tuple[LinkType, ...]:
    """Links that a customer's network has anyway, the slower first."""
    return tuple(catalog.links[name] for name in _USUAL_LINKS)


def first_read_s(data_bytes: float, kind: LinkType) -> float:
    """Time of reading a data set once over one link. [s]

    Examples
    --------
    >>> from sizer import load_catalog
    >>> links = load_catalog().links
    >>> round(first_read_s(148e9, links["10gbe"])), round(first_read_s(148e9, links["25gbe"]))  # ImageNet as TFRecords
    (118, 47)
    """
    return data_bytes / kind.bytes_per_s


def smallest_link(bytes_per_s: float, catalog: Catalog) -> LinkType | None:
    """The slowest usual link that carries a rate; None where none does."""
    return next((kind for kind in usual_links(catalog) if bytes_per_s <= kind.bytes_per_s), None)


@dataclass(frozen=True)
class Consumption:
    """What one server takes in while nothing but its GPUs and processors holds it up."""

    samples_per_s: float
    first_bytes_per_s: float  # in the first epoch
    later_bytes_per_s: float  # what its memory does not hold


def consumption(model: WorkloadOnDesign) -> Consumption:
    """Consumption of one server of a design, at the median."""
    run = model.run
    rate = float(min(one.median[0] for one in (run.comp.gpu, run.comp.decode, run.comp.host_link))) / model.n_servers
    first, later = (
        float(read_demand_bytes_per_s(rate, model.work.sample_bytes, hits))
        for hits in (0.0, float(run.comp.hit_fraction[0]))
    )
    return Consumption(rate, first, later)


def storage_read_bytes_per_s(model: WorkloadOnDesign) -> float:
    """What a design reads from its storage after the first epoch, at the median. [B/s]"""
    run = model.run
    rate, hits = float(run.rates[0].value[0]), run.comp.hit_fraction[0]
    return float(read_demand_bytes_per_s(rate, model.work.sample_bytes, hits))


def smallest_system_bytes_per_s(storage: Storage) -> float:
    """Read rate, at least, of the smallest system of a storage that can be bought; inf where no source gives one."""
    rate = node_read_rate(storage)
    return np.inf if rate is None else node_limits(storage)[0] * rate.low.value


def shared_storage(storage: Storage, catalog: Catalog) -> Storage | None:
    """A storage itself where it is bought by the node and its rate is known, else the slowest such system to order."""
    if counts_nodes(storage) and not rate_is_unknown(storage):
        return storage
    known = [
        one for one in catalog.storage.values() if one.orderable and counts_nodes(one) and not rate_is_unknown(one)
    ]
    return min(known, key=lambda one: (smallest_system_bytes_per_s(one), one.id), default=None)


def exchange_loss(model: WorkloadOnDesign, slow: LinkType, fast: LinkType, slow_ports: int | None = None) -> Floats:
    """Share of the rate that a training loses over one network against another, on 1 to 64 servers.

    ``model``: its servers run the training; a server that has no port of a kind is taken to have one, else all its
    ports work. ``slow_ports``: of each server, where not all of its ports join the slower network. Returns
    (MAX_SERVERS,): 1 - rate over ``slow`` / rate over ``fast``, both of the GPUs with the exchange that is not hidden;
    0 on one server.
    """
    servers = np.arange(1, MAX_SERVERS + 1)
    networks = (_on_network(model.platform, slow, slow_ports), _on_network(model.platform, fast))
    one, other = (_gpu_rate(model, platform, servers) for platform in networks)
    return np.where(servers > 1, np.maximum(1 - one / other, 0.0), 0.0)


def _on_network(platform: Platform, kind: LinkType, n_ports: int | None = None) -> Platform:
    """A platform whose servers join one kind of network, all their ports of it or the first ``n_ports``."""
    if n_ports is None:
        return replace(platform, fabric=kind)
    left, ports, joined = n_ports, [], joining(platform.server.ports, kind)
    for port in platform.server.ports:
        if port in joined:
            port, left = port.model_copy(update={"count": min(port.count, left)}), max(left - port.count, 0)
        ports.append(port)
    shown = tuple(port for port in ports if port.count)
    return replace(platform, fabric=kind, server=platform.server.model_copy(update={"ports": shown}))


def exchange_s(model: WorkloadOnDesign, kind: LinkType, n_servers: int, n_ports: int | None = None) -> float:
    """Time of the gradient exchange of one step over all ports of a network or some, hidden or not. [s]"""
    rates = _rates(model, _on_network(model.platform, kind, n_ports), np.array([n_servers]))
    return step_samples(model, n_servers) / float(rates.exchange[0])


def step_samples(model: WorkloadOnDesign, n_servers: int) -> float:
    """Samples of one step of a training on so many servers."""
    return float(model.run.cols.gpus_per_server[0]) * n_servers * model.work.batch_per_gpu


def _gpu_rate(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> Floats:
    """Median rate of the GPUs with the exchange that is not hidden, on some numbers of servers. [samples/s]"""
    return _rates(model, platform, servers).gpu.median


def _rates(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> GpuRates:
    cols = _columns(model, platform, servers)
    return gpu_side.step_rates(model.work, [platform], cols, servers, model.calibration, model.catalog)


def _columns(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> Columns:
    found = columns([platform], model.catalog, model.request.platforms.gpus_per_server)
    return found.take(np.zeros(servers.size, dtype=np.int64))


@dataclass(frozen=True)
class Doubling:
    """What twice the servers of a design bring; storage and network grow with them."""

    rate_ratio: float
    speed_ratio: float  # time to train before over after
    epochs: tuple[float, float]
    global_batch: tuple[int, int]


def doubling(model: WorkloadOnDesign) -> Doubling | None:
    """Twice the GPUs at the same batch for each; None where no recipe gives the epochs at a global batch."""
    return times_the_gpus(model, model.n_servers, 2 * model.n_servers)


def times_the_gpus(model: WorkloadOnDesign, few: int, many: int) -> Doubling | None:
    """More servers compared with fewer at the same batch per GPU; None where no recipe gives the epochs at a batch."""
    work = model.work
    if work.recipe is None or work.is_inference:
        return None
    servers = np.array([few, many])
    cols = _columns(model, model.platform, servers)
    decode = decode_stage(servers, cols.cores, *compute_side.core_seconds(work, model.calibration))
    rate = np.minimum(_gpu_rate(model, model.platform, servers), decode.median)
    batch = (servers * cols.gpus_per_server * work.batch_per_gpu).astype(int)
    epochs = model.calibration.epochs(work.recipe, batch).value
    time_s = evaluate.time_s(work, epochs, rate, rate, model.calibration.start_up_s)
    return Doubling(
        rate_ratio=float(rate[1] / rate[0]),
        speed_ratio=float(time_s[0] / time_s[1]),
        epochs=(float(epochs[0]), float(epochs[1])),
        global_batch=(int(batch[0]), int(batch[1])),
    )
