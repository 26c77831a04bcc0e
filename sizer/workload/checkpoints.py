"""Checkpoints of a training, and what else is written to the storage or read from it while it runs."""

from dataclasses import dataclass, replace

from sizer.base.units import DAY_S
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Dnn
from sizer.workload.data import StorageLevelName
from sizer.workload.request import SizingRequest, Workload

# Weights and momentum in single precision. Assumed: no published design of the catalogue states the size of a
# checkpoint of an image network.
CHECKPOINT_BYTES_PER_PARAMETER = 8.0
# Shortest time in which a checkpoint is to be written while training waits for it, and shortest interval of a language
# model. A choice of ours.
CHECKPOINT_WAIT_S = 60.0


@dataclass(frozen=True)
class Checkpoints:
    """What a training keeps of its state, how, and how often something stops it."""

    written_bytes: float  # each time
    restart_bytes: float  # that a restart loads
    every_s: float | None  # None: the interval that loses least
    waits: bool  # until a checkpoint is written
    interruptions: float | None  # in 1,000 days of 8 GPUs; None: as published
    # What each further replica reads at a restart; 0 where replicas share what they read.
    replica_bytes: float = 0.0
    on_local_drives: bool = False  # waits on drives of the servers until it is written
    is_asked: bool = True  # False: nobody asked for them, and the storage is not sized for them


@dataclass(frozen=True)
class OtherStreams:
    """What is written and read beside trainings, while it lasts. Rates in B/s."""

    ingest_bytes_per_s: float
    snapshot_bytes_per_s: float  # read to copy what changed
    duty_fraction: float  # of the day
    never_together: frozenset[str]  # names of streams of which one at a time runs
    level: StorageLevelName | None = None  # that the storage meets
    level_is_default: bool = False  # the request does not name it
    level_from_unit: bool = False  # counts from a scalable unit of servers on
    # Of the whole storage, whatever is read and written; 0: the request states none.
    minimum_read_bytes_per_s: float = 0.0
    minimum_write_bytes_per_s: float = 0.0
    has_usual_capacity: bool = False  # of a cluster that people share: the request states none
    storage_is_named: bool = False  # then the usual capacity is planned as far as the largest system goes

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is said of them."""
        return not (
            self.ingest_bytes_per_s
            or self.snapshot_bytes_per_s
            or self.never_together
            or self.level
            or self.has_minimum
            or self.has_usual_capacity
        )

    @property
    def has_minimum(self) -> bool:
        """Whether the request states a rate of the storage."""
        return bool(self.minimum_read_bytes_per_s or self.minimum_write_bytes_per_s)

    def without_level(self) -> "OtherStreams | None":
        """The streams without a usual level and capacity; None where nothing is left to say."""
        others = replace(self, level=None, level_is_default=False, level_from_unit=False, has_usual_capacity=False)
        return None if others.is_nothing else others


def checkpoints_of_network(dnn: Dnn, request: SizingRequest) -> Checkpoints:
    """Checkpoints of a network other than a language model: written by one process while training waits."""
    data = request.data
    size = (data.checkpoint_bytes_per_parameter or CHECKPOINT_BYTES_PER_PARAMETER) * dnn.parameters.value
    return Checkpoints(
        written_bytes=size,
        restart_bytes=size,
        every_s=data.checkpoint_every_s,
        waits=True,
        interruptions=request.resilience.interruptions,
        is_asked=data.checkpoint_every_s is not None,
    )


def other_streams(request: SizingRequest) -> OtherStreams:
    """Ingest and copies of snapshots of a request."""
    data = request.data
    window_s = data.daily_window_s or DAY_S
    return OtherStreams(
        ingest_bytes_per_s=(data.daily_ingest_bytes or 0.0) / window_s,
        snapshot_bytes_per_s=(data.daily_snapshot_bytes or 0.0) / window_s,
        duty_fraction=window_s / DAY_S,
        never_together=frozenset(data.never_together),
        level=None if data.storage_level == "none" else data.storage_level,
        minimum_read_bytes_per_s=data.minimum_read_bytes_per_s or 0.0,
        minimum_write_bytes_per_s=data.minimum_write_bytes_per_s or 0.0,
    )


# Levels of RA-11333-001 V11, table 6, by what a training reads: language models "good", compressed images "better",
# large or uncompressed samples "best". Rows of tables and compressed sound, which it does not name, are taken as small.
_LEVEL_OF_FORMAT: dict[SampleFormat, StorageLevelName] = {
    SampleFormat.TOKENS: "good",
    SampleFormat.TEXT: "good",
    SampleFormat.TABULAR: "good",
    SampleFormat.AUDIO: "good",
    SampleFormat.JPEG: "better",
    SampleFormat.SLIDES: "best",
    SampleFormat.TENSORS: "best",
    SampleFormat.VOLUMES: "best",
    SampleFormat.VIDEO: "best",
}


def with_usual_level(streams: OtherStreams, request: SizingRequest, work: Workload, kind: SampleFormat) -> OtherStreams:
    """Streams with the level that NVIDIA names for such data and the capacity of built clusters, where none is stated.

    Where GPUs are asked for by their number every cluster has it, else those of a scalable unit and more: one job reads
    less, but many will run on so many. Stated rates of the storage take its place.
    A capacity is that of trainings on storage that is bought whole; of what stands there already nothing is known.
    Both count for shared storage of today's servers only (``Columns.has_usual_level``).
    """
    data = request.data
    is_stated = data.minimum_capacity_bytes is not None or data.working_set_bytes is not None
    if work.task == "training" and data.storage_level != "none" and not (is_stated or request.existing.storage_nodes):
        named = bool(request.platforms.storage)
        streams = replace(streams, has_usual_capacity=True, storage_is_named=named)
    if request.data.storage_level is not None or streams.has_minimum:
        return streams
    level, from_unit = _LEVEL_OF_FORMAT[kind], work.target.gpus_busy is None
    return replace(streams, level=level, level_is_default=True, level_from_unit=from_unit)
