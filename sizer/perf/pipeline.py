"""Joins the stages: storage -> network -> host decode -> host-to-GPU link -> GPU step with gradient exchange.

Steady-state throughput is the capacity of the slowest stage. Everything is an array with one entry a design row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.perf.arguments import require_above, require_at_least
from sizer.perf.stage_capacity import Capacity, throughput


def core_seconds_per_sample(sample_bytes: ArrayLike, fixed_core_s: ArrayLike, core_s_per_byte: ArrayLike) -> Floats:
    """Work of physical cores on one sample.

    ``sample_bytes`` (...): sample as stored [B].
    ``fixed_core_s`` (...): part that does not grow with the sample: crop, augmentation, feeding [core s].
    ``core_s_per_byte`` (...): part that grows with it: JPEG decode. 0 for decoded tensors and for decoding on the GPU
        [core s/B].
    Returns (...): a + c x bytes [core s].
    Raises ValueError if a size is not above 0 or a coefficient below 0.

    Cropped images are decoded whole, so the cost follows the stored bytes, not the size that the GPU gets.

    Examples
    --------
    >>> core_seconds_per_sample([113e3, 1.3e6], 1.6e-3, 14e-9).round(4)   # TensorFlow loader, two JPEG sizes
    array([0.0032, 0.0198])
    """
    require_above(0, sample_bytes=sample_bytes)
    require_at_least(0, fixed_core_s=fixed_core_s, core_s_per_byte=core_s_per_byte)
    size, fixed, slope = (np.asarray(a, dtype=float) for a in (sample_bytes, fixed_core_s, core_s_per_byte))
    return np.asarray(fixed + slope * size)


def decode_samples_per_s(n_cores: ArrayLike, core_s_per_sample: ArrayLike) -> Floats:
    """Samples per second that the cores of the hosts can prepare.

    ``n_cores`` (...): physical cores of all servers.
    ``core_s_per_sample`` (...): work on one sample; 0 means that the host does nothing [core s].
    Returns (...): cores / work; infinite where there is no work [samples/s].
    Raises ValueError if there are no cores or the work is below 0.

    Examples
    --------
    >>> decode_samples_per_s(40, [0.0032, 0.0])
    array([12500.,    inf])
    """
    require_above(0, n_cores=n_cores)
    require_at_least(0, core_s_per_sample=core_s_per_sample)
    with np.errstate(divide="ignore"):
        return np.asarray(np.asarray(n_cores, dtype=float) / np.asarray(core_s_per_sample, dtype=float))


def cpu_utilization_fraction(samples_per_s: ArrayLike, core_s_per_sample: ArrayLike, n_cores: ArrayLike) -> Floats:
    """Share of the physical cores that is busy at a rate.

    ``samples_per_s`` (...): rate of the whole system [samples/s].
    ``core_s_per_sample`` (...): work on one sample [core s].
    ``n_cores`` (...): physical cores of all servers.
    Returns (...): rate x work / cores, above 1 where the cores do not suffice.
    Raises ValueError if a rate or work is below 0 or there are no cores.

    Examples
    --------
    >>> float(cpu_utilization_fraction(5808, 3.17e-3, 40).round(2))   # ResNet-50 on one DGX-1
    0.46
    """
    require_above(0, n_cores=n_cores)
    require_at_least(0, samples_per_s=samples_per_s, core_s_per_sample=core_s_per_sample)
    rate, work, cores = (np.asarray(a, dtype=float) for a in (samples_per_s, core_s_per_sample, n_cores))
    return np.asarray(rate * work / cores)


# Width of one value on the link: the host converts to float before it copies (the inference test of hpe-dlbs).
_BYTES_PER_VALUE = 4.0


@dataclass(frozen=True)
class StorageSide:
    """What the data path offers, in bytes per second, for every row."""

    read: Capacity  # all nodes, or all local drives
    mounts: Capacity  # all mounts of all servers
    front_end_bytes_per_s: Floats  # line rate of the storage's ports
    gateway_bytes_per_s: Floats  # inf where there is none
    server_nic_bytes_per_s: Floats  # all servers' NICs that reach the storage; inf for local drives

    @cached_property
    def served(self) -> Capacity:
        """What nodes and mounts together let through, in bytes per second."""
        # The smaller of two brackets: take the ends apart, both ends of the smaller one bound the pair.
        low = np.minimum(self.read.quantile(0.0), self.mounts.quantile(0.0))
        high = np.minimum(self.read.quantile(1.0), self.mounts.quantile(1.0))
        return Capacity.between(low, high)


@dataclass(frozen=True)
class Stages:
    """Capacities in samples/s, warm (after the first epoch) or cold, one array entry a row."""

    storage: Capacity
    network: Capacity
    decode: Capacity
    host_link: Capacity  # links between host and GPUs
    gpu: Capacity  # GPU step including the part of the exchange that is not hidden
    exchange: Capacity  # the exchange alone, hidden or not; never the smallest

    def by_key(self) -> dict[str, Capacity]:
        """Every stage by the key that files and pages use, in the order of the data path."""
        return {
            "storage": self.storage,
            "network": self.network,
            "decode": self.decode,
            "host_link": self.host_link,
            "gpu": self.gpu,
            "exchange": self.exchange,
        }

    def limiting(self) -> tuple[Capacity, ...]:
        """The stages that bound throughput: all but the exchange, whose exposed part counts with the GPUs."""
        return tuple(capacity for key, capacity in self.by_key().items() if key != "exchange")

    @property
    def slowest(self) -> Floats:
        """Smallest median of a stage: no rate at a confidence of half or more lies above it. [samples/s]"""
        return np.asarray(reduce(np.minimum, (stage.median for stage in self.limiting())))


def bottlenecks(stages: Stages, gpu_alone_samples_per_s: Floats) -> tuple[list[str], list[str]]:
    """Key of the stage that limits each row, and of the one that would limit next were it lifted.

    ``stages``: capacities of the rows.
    ``gpu_alone_samples_per_s`` (rows,): rate of the GPUs without the exchange: where they spend longer on that, the
        exchange limits them [samples/s].
    """
    keys = np.array([key for key in stages.by_key() if key != "exchange"])
    shape = gpu_alone_samples_per_s.shape
    medians = np.stack([np.broadcast_to(stage.median, shape) for stage in stages.limiting()])
    exchange = np.broadcast_to(stages.exchange.median, shape)
    order = np.argsort(medians, axis=0, kind="stable")[:2]
    is_exchange = (keys[order] == "gpu") & (exchange < gpu_alone_samples_per_s)
    first, following = np.where(is_exchange, "exchange", keys[order])
    # Faster GPUs would still exchange their gradients.
    second = np.take_along_axis(medians, order[1:], axis=0)[0]
    following = np.where((first == "gpu") & (exchange < second), "exchange", following)
    return first.tolist(), following.tolist()


def throughputs(*evaluated: Stages) -> Estimate:
    """Rates of several evaluations one after the other, sought all at once: the capacity of the slowest stage."""
    return throughput(in_a_row(evaluated))


def in_a_row(evaluated: Sequence[Stages]) -> list[Capacity]:
    """Every limiting stage, with the rows of all evaluations one after the other."""
    shapes = [np.broadcast_shapes(*(stage.median.shape for stage in each.limiting())) for each in evaluated]
    return [
        Capacity.concatenated([stage.broadcast_to(shape) for stage, shape in zip(stages, shapes, strict=True)])
        for stages in zip(*(each.limiting() for each in evaluated), strict=True)
    ]


def storage_stage(side: StorageSide, sample_bytes: ArrayLike, hit_fraction: ArrayLike) -> Capacity:
    """Samples/s that storage and mounts serve when ``hit_fraction`` of the reads end in a server's cache.

    ``side``: rates of the data path, one a row.
    ``sample_bytes`` (...): sample as stored [B].
    ``hit_fraction`` (...): share of the reads that end in a server's cache.
    """
    served, read = side.served, read_demand_bytes_per_s(1.0, sample_bytes, hit_fraction)
    with np.errstate(divide="ignore"):  # what reads nothing is not limited, but by storage that is gone
        return served.scaled(np.where(served.median > 0, 1 / read, 1.0))


def read_demand_bytes_per_s(samples_per_s: ArrayLike, sample_bytes: ArrayLike, hit_fraction: ArrayLike = 0.0) -> Floats:
    """What a rate of samples reads from the storage.

    ``samples_per_s`` (...): rate of the workload [samples/s].
    ``sample_bytes`` (...): sample as stored [B].
    ``hit_fraction`` (...): share of the reads that a server's cache serves; none in the first epoch.
    Returns (...): reads that no cache serves [B/s].
    """
    missed = np.asarray(sample_bytes, float) * (1 - np.asarray(hit_fraction, float))
    return np.asarray(np.asarray(samples_per_s, float) * missed)


def network_stage(
    side: StorageSide, sample_bytes: ArrayLike, hit_fraction: ArrayLike, exchanged_bytes_per_sample: ArrayLike
) -> Capacity:
    """Samples/s that front end, gateway and the servers' NICs carry.

    Gradients and storage reads share a server's NICs (as on DGX-1 over RoCE), so a sample costs its read plus its
    share of the exchange; links are full duplex, and the inbound direction is counted.

    ``side``: rates of the data path, one a row.
    ``sample_bytes`` (...): sample as stored [B].
    ``hit_fraction`` (...): share of the reads that end in a server's cache.
    ``exchanged_bytes_per_sample`` (...): from :func:`exchanged_bytes_per_sample`; 0 where nothing is exchanged [B].
    """
    read = read_demand_bytes_per_s(1.0, sample_bytes, hit_fraction)
    path = np.minimum(side.front_end_bytes_per_s, side.gateway_bytes_per_s)
    nics, moved = side.server_nic_bytes_per_s, read + np.asarray(exchanged_bytes_per_sample, float)
    with np.errstate(divide="ignore", invalid="ignore"):  # what moves nothing is limited by a lost path alone
        return Capacity.exact(np.minimum(np.where(path > 0, path / read, 0.0), np.where(nics > 0, nics / moved, 0.0)))


def exchanged_bytes_per_sample(
    gradient_bytes: ArrayLike, n_servers: ArrayLike, gpus_per_server: ArrayLike, batch_per_gpu: ArrayLike
) -> Floats:
    """Bytes that enter a server's NICs for the exchange, per sample that the server trains: 2 (m-1)/m G / (p b).

    ``gradient_bytes`` (...): gradient G on the wire [B].
    ``n_servers`` (...): servers m of the job.
    ``gpus_per_server`` (...): GPUs p of each server that the job uses.
    ``batch_per_gpu`` (...): samples b of one step on one GPU.
    Returns (...): 0 for one server [B].
    """
    m = np.asarray(n_servers, float)
    samples = np.asarray(gpus_per_server, float) * np.asarray(batch_per_gpu, float)
    return np.asarray(2 * (m - 1) / m * np.asarray(gradient_bytes, float) / samples)


def decode_stage(
    n_servers: ArrayLike, cores_per_server: ArrayLike, core_s_per_sample: ArrayLike, log_sd: ArrayLike
) -> Capacity:
    """Samples/s that the host cores prepare; inf where a sample costs no core time.

    ``n_servers`` (...): servers of the job.
    ``cores_per_server`` (...): physical cores of one server.
    ``core_s_per_sample`` (...): work on one sample; 0 means that the host does nothing [core s].
    ``log_sd`` (...): standard deviation of the logarithm of the rate.
    """
    cores = np.asarray(n_servers, float) * np.asarray(cores_per_server, float)
    return Capacity.log_normal(decode_samples_per_s(cores, core_s_per_sample), log_sd)


def host_link_stage(
    n_servers: ArrayLike,
    n_gpus_per_server: ArrayLike,
    links_per_server: ArrayLike,
    input_values: float,
    link_bytes_per_s: float,
    log_sd: float,
) -> Capacity:
    """Samples/s that the links between hosts and GPUs carry: m min(g, l) B / (4 d).

    ``n_servers``, ``n_gpus_per_server`` (...): servers m of the job, and GPUs g of each that the job uses.
    ``links_per_server`` (...): links l of x16 width that work side by side; one GPU uses one.
    ``input_values``: values d of a decoded sample.
    ``link_bytes_per_s``: rate B of one link [B/s].
    ``log_sd``: standard deviation of its logarithm.

    Examples
    --------
    Two links of 12.6 GB/s carry 41,900 images of 224 x 224 x 3 values, on four GPUs as on eight.

    >>> host_link_stage(1, [4, 8], 2, 150_528, 12.6e9, 0.0).median.round(-2)
    array([41900., 41900.])
    """
    gpus, links = np.asarray(n_gpus_per_server, float), np.asarray(links_per_server, float)
    rate = np.asarray(n_servers, float) * np.minimum(gpus, links) * link_bytes_per_s
    return Capacity.log_normal(rate / link_sample_bytes(input_values), log_sd)


def link_sample_bytes(input_values: float) -> float:
    """Bytes of a sample of so many values on the link between host and GPU. [B]"""
    return _BYTES_PER_VALUE * input_values
