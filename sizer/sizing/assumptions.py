"""Assumptions of an answer and points that vendors must confirm: kinds and values, shown by the presentation."""

from dataclasses import dataclass
from typing import ClassVar

from sizer.base.estimate import Estimate
from sizer.catalog.items import Item
from sizer.catalog.model import Statement
from sizer.physical.notes import CableQuestion
from sizer.workload.resolve import WorkloadDefault


@dataclass(frozen=True)
class DefaultTaken:
    """A default of the request, where it states nothing."""

    workload: str  # name
    default: WorkloadDefault
    source: ClassVar[str] = ""  # no document: the default is ours


@dataclass(frozen=True)
class CacheReserve:
    """Memory of a server that does not cache data: a copy of the GPU memory and a reserve for the system."""

    reserve_bytes: float
    source: ClassVar[str] = "dell-ready-ai-nvidia-2018"  # key of the document with the rule on the GPU memory


@dataclass(frozen=True)
class CableRoute:
    """How the length of a cable is planned."""

    lead_m: float  # at each end
    tray_m: float  # above the racks
    aisle_m: float
    slack_fraction: float
    source: ClassVar[str] = ""  # no document: the rule is ours


@dataclass(frozen=True)
class AssumedFact:
    """A fact of a part that no source gives."""

    item: Item
    fact: Statement
    named: Item | None  # the catalogue item that the value names, where it names one

    @property
    def source(self) -> str:
        """Key of the document that the value was derived from."""
        return self.fact.source


@dataclass(frozen=True)
class InterruptionRate:
    """How often something stops a job, where the request states nothing: in 1,000 days of a server with 8 GPUs."""

    median: float
    low: float
    high: float
    source: ClassVar[str] = "klockwood-reliability"  # key of the document with the rates of large jobs


@dataclass(frozen=True)
class WholeRunFactor:
    """How many times as long as its benchmark's steps a training is taken to last, from published trainings."""

    workload: str  # name
    factor: Estimate
    n_trainings: int  # that it is fitted to
    steps_are_own: bool  # the customer's measured ones
    source: ClassVar[str] = "whole-trainings"  # key of the collection of trainings


@dataclass(frozen=True)
class RestartTimes:
    """From a failure to the first step after it, without loading. [s]"""

    notice_s: float
    replace_s: float
    warm_up_s: float
    source: ClassVar[str] = "mlperf-training-v5.0"  # logs with times of the first step; the others are middles


@dataclass(frozen=True)
class CheckpointTimes:
    """What storage is sized for, and how long training stops for a checkpoint. [s]"""

    transfer_s: float
    blocked_s: float
    source: ClassVar[str] = ""  # no document: the rule is ours


@dataclass(frozen=True)
class StorageLevelTaken:
    """A published level of storage rates for a number of GPUs, where the request names none. Rates in B/s."""

    workload: str
    level: str
    read_bytes_per_s: float
    write_bytes_per_s: float
    source: ClassVar[str] = "nv-ra-h100"  # the reference architecture that has the levels


@dataclass(frozen=True)
class AssumedWriteRate:
    """A write rate as shares of the read rate, where no source gives one."""

    storage: Item
    low_share: float
    high_share: float
    source: ClassVar[str] = ""  # no document: the rule is ours


@dataclass(frozen=True)
class UsualExchangeRate:
    """What a unit of the currency of the request is worth, where it states nothing: price bands are converted by it."""

    currency: str
    usd: float
    source: ClassVar[str] = ""  # no document: the rate is ours


DesignAssumption = (
    DefaultTaken
    | UsualExchangeRate
    | InterruptionRate
    | WholeRunFactor
    | RestartTimes
    | CheckpointTimes
    | AssumedWriteRate
    | StorageLevelTaken
    | CacheReserve
    | CableRoute
    | AssumedFact
)


@dataclass(frozen=True)
class MissingFacts:
    """Facts of a part that are unknown or assumed."""

    item: Item
    fields: tuple[str, ...]


@dataclass(frozen=True)
class MissingReadRate:
    """No source gives the sustained read rate of a storage."""

    storage: Item


@dataclass(frozen=True)
class MissingPrices:
    """Parts of the bill without a price."""

    items: tuple[Item, ...]


OpenPoint = MissingFacts | MissingReadRate | CableQuestion | MissingPrices
