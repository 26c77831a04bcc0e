"""[data]: ingest, snapshots, reserve, checkpoints, tiers, preparation; [[stated_storage]]: facts of the customer."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sizer.base.quantities import Bytes, BytesPerS, Seconds
from sizer.base.units import DAY_S
from sizer.catalog.items import CAPACITY_BYTES, RATE_BYTES_PER_S, SAMPLE_BYTES
from sizer.workload.table import ItemId, RequestTable, Share

Stream = Literal["training", "checkpoints", "ingest", "snapshots"]
# Levels of NVIDIA's DGX SuperPOD reference architecture; ``sizer.perf.availability.goodput`` has their rates.
StorageLevelName = Literal["good", "better", "best"]
StorageLevelChoice = Literal["good", "better", "best", "none"]
# Checkpoints of a training that are retained by default: the last one stays until the next is written.
USUAL_CHECKPOINTS = 2
# Name of a capacity tier that the customer has: object storage that delivers ``source_bytes_per_s``.
OBJECT_STORAGE = "object-storage"
IngestPath = Literal["front-end", "gateway", "head-node"]


class DataRequest(RequestTable):
    """Settings for the data of all workloads together."""

    # Ingest path: front end of the storage, free ports of the gateway, or head node.
    ingest: IngestPath | None = None  # None: the shortest path of the design
    source_bytes_per_s: BytesPerS | None = None  # rate of the customer's source and its network
    # Space for snapshots and for future data, each as a share of the data.
    snapshot_share: Share = 0.0
    reserve_share: Annotated[float, Field(ge=0, le=20, allow_inf_nan=False)] = 0.0
    # Usable capacity that the storage has at least, whatever the data need.
    minimum_capacity_bytes: Bytes | None = None
    # Checkpoints of a training: interval, number retained, and bytes per parameter.
    checkpoint_every_s: Seconds | None = None
    checkpoints_kept: Annotated[int, Field(ge=1, le=100_000, strict=True)] = USUAL_CHECKPOINTS
    checkpoint_bytes_per_parameter: Annotated[float, Field(ge=1, le=64, allow_inf_nan=False)] | None = None
    # Of a language model: training waits until a checkpoint is written, instead of for its copy into host memory only.
    checkpoint_waits: Annotated[bool, Field(strict=True)] = False
    # Of a language model: where a checkpoint waits while it is written. On drives of the servers it may take until the
    # next one, in their memory as long as that costs next to nothing at an interruption.
    checkpoint_buffer: Literal["host-memory", "local-drives"] = "host-memory"
    # At a restart replicas of a language model share what they read, or each reads its weights for itself.
    restart_reads: Literal["shared", "each-replica"] = "shared"
    # Published level of read and write rates by the number of servers that the storage meets with its low ends. Absent:
    # where today's GPUs are asked for by their number, or fill 32 servers, the level that NVIDIA names for such data;
    # "none": no level.
    storage_level: StorageLevelChoice | None = None
    # Rates of the whole storage that its low ends reach, whatever the workloads read and write.
    minimum_read_bytes_per_s: Annotated[BytesPerS, Field(ge=1e6)] | None = None
    minimum_write_bytes_per_s: Annotated[BytesPerS, Field(ge=1e6)] | None = None
    # New data that arrive in a day, and changed data that copies of snapshots read in a day, each in a window of it.
    daily_ingest_bytes: Bytes | None = None
    daily_snapshot_bytes: Bytes | None = None
    daily_window_s: Annotated[Seconds, Field(le=DAY_S)] | None = None  # absent: all day
    # What the operator keeps from running at the same time; everything else may.
    never_together: Annotated[tuple[Stream, ...], Field(max_length=4)] = ()
    # Data that trainings read for some days. With them the storage may have two tiers: a fast one for the working set,
    # and a capacity tier for everything, from which the next working set is staged in a time.
    working_set_bytes: Bytes | None = None
    capacity_tier: ItemId | None = None  # absent: any, or none
    staging_s: Seconds | None = None  # absent: a week
    # Transformation of the whole set ahead of training: core-seconds of one sample, and the size it comes in.
    transform_core_s: Annotated[float, Field(ge=1e-9, le=1e6, allow_inf_nan=False)] | None = None
    raw_sample_bytes: Annotated[Bytes, SAMPLE_BYTES] | None = None
    # Copy the set to the servers' own drives before a training instead of reading shared storage in every epoch.
    copy_to_local: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.checkpoint_every_s is None and (
            self.checkpoints_kept > USUAL_CHECKPOINTS or self.checkpoint_bytes_per_parameter is not None
        ):
            raise ValueError(
                "checkpoints_kept and checkpoint_bytes_per_parameter need checkpoint_every_s, for example '1 h'"
            )
        if self.working_set_bytes is None and (self.capacity_tier is not None or self.staging_s is not None):
            raise ValueError("capacity_tier and staging_s need working_set_bytes, for example '500 TB'")
        if self.daily_window_s is not None and self.daily_ingest_bytes is None and self.daily_snapshot_bytes is None:
            raise ValueError("daily_window_s needs daily_ingest_bytes or daily_snapshot_bytes, for example '20 TB'")
        if len(self.never_together) == 1 or len(set(self.never_together)) < len(self.never_together):
            raise ValueError('never_together names at least two different streams, for example ["ingest", "training"]')
        return self


class StatedStorage(RequestTable):
    """Values of one storage system that no source gives, or that differ from the catalogue's."""

    storage: ItemId
    # Of one node; of the whole system where it has no nodes.
    node_read_bytes_per_s: Annotated[BytesPerS, RATE_BYTES_PER_S] | None = None
    node_write_bytes_per_s: Annotated[BytesPerS, RATE_BYTES_PER_S] | None = None
    usable_bytes: Annotated[Bytes, CAPACITY_BYTES] | None = None  # of the whole system

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        stated = (self.node_read_bytes_per_s, self.node_write_bytes_per_s, self.usable_bytes)
        if all(value is None for value in stated):
            raise ValueError(
                "give node_read_bytes_per_s, for example '1.2 GB/s', node_write_bytes_per_s, or usable_bytes, for "
                "example '2 PB'"
            )
        return self


def larger_data_share(times_samples: float) -> float:
    """Epochs that a training takes on more data than its length is known of, over those it takes there.

    ``times_samples``: samples of the data over those of the known length; fewer take as many epochs.

    One over the square root: pre-trainings of the Vision Transformer took 300 epochs of 1.3 million images, 90 of 14
    million and 7 or 14 of 303 million (Dosovitskiy et al. 2021, arXiv:2010.11929, table 3).

    Examples
    --------
    >>> [round(300 * larger_data_share(times)) for times in (0.5, 14 / 1.28, 303 / 1.28)]
    [300, 91, 19]
    """
    return 1 / math.sqrt(max(times_samples, 1.0))
