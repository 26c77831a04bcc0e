"""What the storage must hold: every data set once, checkpoints and snapshots, and a reserve.

One rule for the search, the tests of acceptance and the documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dataset, Dnn
from sizer.perf.storage import needed_bytes
from sizer.workload.checkpoints import CHECKPOINT_BYTES_PER_PARAMETER, Checkpoints
from sizer.workload.data import DataRequest
from sizer.workload.request import SizingRequest


class Reader(Protocol):
    """What reads a data set: a resolved workload, or its answer on a design."""

    @property
    def dnn(self) -> Dnn:
        """Its neural network."""

    @property
    def dataset(self) -> Dataset:
        """Its data set."""

    @property
    def dataset_bytes(self) -> float:
        """Size of the whole set. [B]"""

    @property
    def sample_bytes(self) -> float:
        """Size of a sample as stored. [B]"""

    @property
    def is_inference(self) -> bool:
        """Whether it only reads: nothing is trained, so nothing is kept."""

    @property
    def language_checkpoints(self) -> Checkpoints | None:
        """What a language model keeps of its state; None of other networks."""


@dataclass(frozen=True)
class DataSet:
    """One set of data on the storage, with the workloads that read it."""

    name: str
    readers: tuple[int, ...]  # places among the workloads
    size_bytes: float
    sample_bytes: float

    @property
    def n_samples(self) -> float:
        return self.size_bytes / self.sample_bytes


@dataclass(frozen=True)
class StorageDemand:
    """What must fit on the storage. Of a design with drives in the servers: on the drives of each."""

    sets: tuple[DataSet, ...]
    raw_bytes: float  # the sets before they were transformed, where that is asked
    checkpoint_bytes: float  # of every training together, one of each
    frozen_bytes: float  # weights under the adapters of trainings, kept once
    n_retained: int  # checkpoints of each training
    snapshot_share: float
    reserve_share: float
    minimum_bytes: float  # usable capacity that the request asks for, whatever the data need; 0 where it asks for none

    @cached_property
    def checkpoints_bytes(self) -> float:
        """All checkpoints that are kept, with the frozen weights that a restart loads, too. [B]"""
        return self.n_retained * self.checkpoint_bytes + self.frozen_bytes

    @cached_property
    def sets_bytes(self) -> float:
        """All sets as they are read. [B]"""
        return sum(data_set.size_bytes for data_set in self.sets)

    @cached_property
    def data_bytes(self) -> float:
        """All sets, raw ones included: what snapshots and reserve are a share of. [B]"""
        return self.sets_bytes + self.raw_bytes

    @cached_property
    def snapshots_bytes(self) -> float:
        """Space of the snapshots. [B]"""
        return self.data_bytes * self.snapshot_share

    @cached_property
    def reserve_bytes(self) -> float:
        """Space that stays free for data to come. [B]"""
        return self.data_bytes * self.reserve_share

    @cached_property
    def stored_bytes(self) -> float:
        """Data, checkpoints, snapshots and reserve together. [B]"""
        return float(needed_bytes(self.data_bytes, self.checkpoints_bytes, self.snapshot_share, self.reserve_share))

    @cached_property
    def total_bytes(self) -> float:
        """Usable capacity that the storage must have: what is stored, and at least the minimum of the request. [B]"""
        return max(self.stored_bytes, self.minimum_bytes)

    @cached_property
    def is_minimum(self) -> bool:
        """Whether the minimum of the request calls for more than what is stored."""
        return self.minimum_bytes > self.stored_bytes


def data_sets(readers: Sequence[Reader]) -> tuple[DataSet, ...]:
    """The distinct sets of some workloads, in the order in which they are first read.

    Two workloads read the same set when they name the same one with samples of the same size; of sizes that they state
    apart the largest counts, since the smaller is a part of it.
    """
    return tuple(
        DataSet(
            readers[places[0]].dataset.name,
            places,
            max(readers[place].dataset_bytes for place in places),
            readers[places[0]].sample_bytes,
        )
        for places in _places(readers)
    )


def storage_demand(readers: Sequence[Reader], data_request: DataRequest) -> StorageDemand:
    """What must fit on the storage for some workloads.

    ``readers``: resolved workloads, or answers of a design. ``data_request``: table ``[data]`` of the request.
    """
    sets = data_sets(readers)
    return StorageDemand(
        sets=sets,
        raw_bytes=sum(one.n_samples * float(raw_sample_bytes(one.sample_bytes, data_request)) for one in sets),
        checkpoint_bytes=checkpoint_bytes(readers, data_request),
        frozen_bytes=frozen_bytes(readers),
        n_retained=data_request.checkpoints_kept,
        snapshot_share=data_request.snapshot_share,
        reserve_share=data_request.reserve_share,
        minimum_bytes=data_request.minimum_capacity_bytes or 0.0,
    )


def checkpoint_bytes(readers: Sequence[Reader], data_request: DataRequest) -> float:
    """One checkpoint of every training that is asked to write them, and of every language model. [B]"""
    each = data_request.checkpoint_bytes_per_parameter or CHECKPOINT_BYTES_PER_PARAMETER
    found = 0.0
    for reader in readers:
        if reader.language_checkpoints is not None:
            found += reader.language_checkpoints.written_bytes
        elif data_request.checkpoint_every_s is not None and not reader.is_inference:
            found += each * reader.dnn.parameters.value
    return found


def frozen_bytes(readers: Sequence[Reader]) -> float:
    """Weights of language models whose checkpoints hold their adapters only. [B]"""
    kept = [checkpoints for reader in readers if (checkpoints := reader.language_checkpoints) is not None]
    return sum(one.restart_bytes - one.written_bytes for one in kept)


# Servers of a training that read a copy of the data from their own drives each, while homes and checkpoints lie on the
# head node: more of them, and nobody keeps the copies alike by hand. A choice of ours.
MOST_COPIES = 4


def asks_for_local_drives(request: SizingRequest, catalog: Catalog) -> bool:
    """Whether a request names the servers' own drives as its storage."""
    asked = request.platforms
    return asked.storage_tier == "local" or any(catalog.storage[name].kind == "local" for name in asked.storage)


def lacks_shared_storage(
    readers: Sequence[Reader], request: SizingRequest, catalog: Catalog, is_local: ArrayLike, n_hosts: ArrayLike
) -> Bools:
    """Designs whose hosts (servers, or trays of a system that arrives as a rack) keep apart what all must reach.

    That are checkpoints of a language model, which nobody can restart from after a loss, homes and data of trainings on
    more hosts than :data:`MOST_COPIES`, a capacity that is demanded, and storage that tolerates the loss of a node. A
    request that asks for local drives gets them all the same.
    """
    is_shared = request.data.minimum_capacity_bytes is not None
    is_shared |= "storage-node" in request.resilience.keeps_targets_without
    is_shared |= any(reader.dnn.transformer is not None for reader in readers)
    most = 1 if is_shared else MOST_COPIES if any(not reader.is_inference for reader in readers) else np.inf
    is_apart = (np.asarray(is_local) > 0) & (np.asarray(n_hosts) > most)
    return np.asarray(is_apart & (not asks_for_local_drives(request, catalog)))


def is_transformed(data_request: DataRequest) -> bool:
    """Whether the set comes raw and is transformed ahead of training."""
    return data_request.transform_core_s is not None or data_request.raw_sample_bytes is not None


def raw_sample_bytes(sample_bytes: ArrayLike, data_request: DataRequest) -> Floats:
    """Raw form of a sample, kept in addition to the one that is read; 0 where nothing is transformed ahead. [B]

    A raw size that the request leaves out is taken to be that of the prepared sample.
    """
    sample = np.asarray(sample_bytes, dtype=float)
    if not is_transformed(data_request):
        return np.zeros_like(sample)
    return sample if data_request.raw_sample_bytes is None else np.full_like(sample, data_request.raw_sample_bytes)


def _places(readers: Sequence[Reader]) -> list[tuple[int, ...]]:
    """Places of the workloads that read the same set, set by set."""
    found: list[list[int]] = []
    for index, reader in enumerate(readers):
        same = next((places for places in found if _read_the_same(readers[places[0]], reader)), None)
        if same is None:
            found.append([index])
        else:
            same.append(index)
    return [tuple(places) for places in found]


def _read_the_same(reader: Reader, other: Reader) -> bool:
    # Sets that a request states are objects of their own, alike where all their numbers are.
    same = reader.dataset is other.dataset or reader.dataset.model_dump() == other.dataset.model_dump()
    return same and reader.sample_bytes == other.sample_bytes


# Most of the usable capacity that data, checkpoints and snapshots fill. An assumption of this program; no source read
# gives a limit. Scale-out NAS and parallel file systems rebuild a failed drive or node into free space and slow down as
# they fill, and raw capacity less protection leaves out what the file system keeps for itself: a tenth stays free.
MOST_FILL = 0.9


def planned_bytes(needed_bytes: ArrayLike, filled_bytes: ArrayLike) -> Floats:
    """Usable capacity to plan for so that no more than ``MOST_FILL`` of it is filled.

    ``needed_bytes`` (...): capacity that is called for: everything stored with the reserve of the request, or the
    minimum that it asks [B]. ``filled_bytes`` (...): what is stored without that reserve, which stays free and counts
    as free space [B]. Returns (...): usable capacity [B].

    Examples
    --------
    >>> planned_bytes([90e12, 150e12], [90e12, 100e12]) / 1e12   # a reserve of half the data leaves enough free
    array([100., 150.])
    """
    needed, filled = (np.asarray(one, dtype=float) for one in (needed_bytes, filled_bytes))
    return np.asarray(np.maximum(needed, filled / MOST_FILL))
