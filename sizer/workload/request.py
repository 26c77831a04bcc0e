"""What a customer wants: read from TOML, JSON or Python, checked, and echoed as understood."""

import datetime
import json
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from sizer.base.errors import RequestError
from sizer.base.faults import in_words
from sizer.base.quantities import Bytes, Flop, SamplesPerS, Seconds, Watts
from sizer.base.resources import text_of_file
from sizer.workload.data import DataRequest
from sizer.workload.growth import Growth
from sizer.workload.quote import Quote
from sizer.workload.rental import Rental
from sizer.workload.table import Count, ItemId, Name, Part
from sizer.workload.team import Team

# A request is typed by a person; a larger file is something else.
MAX_REQUEST_BYTES = 1_000_000

Task = Literal["training", "validation-inference"]
Access = Literal["random", "sharded"]
Cache = Literal["page-cache", "pinned", "none"]
FabricKind = Literal["edr", "100gbe", "40gbe", "25gbe", "10gbe"]
RankBy = Literal["cost", "time", "gpus", "rack-units", "watts"]
Loss = Literal["server", "storage-node", "switch", "gateway", "feed"]


def _in_scope(task: object) -> object:
    if task in ("inference", "production-inference", "production inference", "serving"):
        raise ValueError(
            f"{task!r}: production inference is out of scope, no published measurement of these systems covers it; "
            "training and validation-inference are in scope"
        )
    return task


class CustomDnn(Part):
    """A neural network that the catalogue does not hold, given by its numbers."""

    name: Name
    forward_flop: Flop  # 2 x multiply-accumulates of one sample
    parameters: Annotated[float, Field(ge=1e3, le=1e13, allow_inf_nan=False)]
    input_bytes: Bytes  # one decoded sample as the GPU gets it
    like: ItemId | None = None  # catalogue DNN whose efficiency it borrows; absent: the pool of all


class CustomDataset(Part):
    """A data set given by its numbers."""

    name: Name = "custom data set"
    n_samples: Annotated[float, Field(ge=1, le=1e15, allow_inf_nan=False)]
    sample_bytes: Bytes
    n_validation_samples: Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)] = 0.0
    format: Literal["raw files", "records", "decoded tensors"] = "records"


class Target(Part):
    """What must be reached. Exactly one of the three."""

    samples_per_s: SamplesPerS | None = None
    time_to_train_s: Seconds | None = None
    gpus_busy: Count | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in ("samples_per_s", "time_to_train_s", "gpus_busy") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                "a target is exactly one of samples_per_s, time_to_train_s or gpus_busy, "
                f"got {' and '.join(given) if given else 'none'}"
            )
        return self


class Workload(Part):
    """One thing to run."""

    name: Name = "workload"
    task: Annotated[Task, BeforeValidator(_in_scope)] = "training"
    dnn: ItemId | CustomDnn
    stack: ItemId | None = None
    precision: Literal["mixed", "fp32"] = "mixed"
    batch_per_gpu: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None
    dataset: ItemId | CustomDataset = "imagenet"
    # Size of the whole set on storage where it is not samples x sample_bytes, e.g. many copies of one set.
    dataset_bytes: Bytes | None = None
    sample_bytes: Bytes | None = None
    access: Access = "random"
    cache: Cache = "page-cache"
    target: Target
    # Length of a training: a fixed number of epochs, or a recipe that tells epochs from the global batch.
    epochs: Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)] | None = None
    recipe: ItemId | None = None

    @model_validator(mode="after")
    def _length_known(self) -> Self:
        if self.epochs is not None and self.recipe is not None:
            raise ValueError("give epochs or recipe, not both")
        if self.target.time_to_train_s is not None:
            if self.task != "training":
                raise ValueError("time_to_train_s is a target of task 'training' only")
            if self.epochs is None and self.recipe is None:
                raise ValueError("a time_to_train_s target needs epochs or recipe")
        return self


class Platforms(Part):
    """What may be used. An empty list allows everything the catalogue can order."""

    servers: tuple[ItemId, ...] = ()
    forbidden_servers: tuple[ItemId, ...] = ()
    gpus: tuple[ItemId, ...] = ()
    storage: tuple[ItemId, ...] = ()
    forbidden_storage: tuple[ItemId, ...] = ()
    fabrics: tuple[FabricKind, ...] = ()
    # GPUs of each server that the job uses; absent: all of them.
    gpus_per_server: Count | None = None


class Limits(Part):
    """What must not be exceeded."""

    budget: Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)] | None = None
    racks: Count | None = None
    rack_power_w: Watts | None = None
    power_w: Watts | None = None
    rack_units: Count | None = None
    servers: Count | None = None


class ExistingRack(Part):
    """What is free in a rack that the customer has, of the kind that ``site.rack`` names."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    free_u: Annotated[int, Field(ge=1, le=60, strict=True)]  # in one piece
    first_free_u: Annotated[int, Field(ge=1, le=60, strict=True)] = 1  # lowest free unit
    power_w: Watts  # left on each of both feeds
    # Absent: the share of the rack's load, and of a PDU's outlets, that the free units make up.
    load_kg: Annotated[float, Field(ge=0, le=5_000, allow_inf_nan=False)] | None = None
    outlets_c13: Annotated[int, Field(ge=0, le=200, strict=True)] | None = None  # left on each feed
    outlets_c19: Annotated[int, Field(ge=0, le=200, strict=True)] | None = None


class Existing(Part):
    """Equipment that the customer has and the design may use; it is listed but not bought."""

    servers: dict[ItemId, Count] = Field(default_factory=dict)
    storage_nodes: dict[ItemId, Count] = Field(default_factory=dict)
    switches: dict[ItemId, Count] = Field(default_factory=dict)
    racks: Annotated[tuple[ExistingRack, ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _rack_names_differ(self) -> Self:
        names = [rack.name for rack in self.racks]
        if len(set(names)) < len(names):
            raise ValueError(f"two racks have the same name: {', '.join(sorted(names))}")
        return self


class Fabric(Part):
    """How the compute fabric is built."""

    # Accepted ratio of ports down to ports up of a leaf; 1 is non-blocking.
    oversubscription: Annotated[float, Field(ge=1, le=16, allow_inf_nan=False)] = 1.0
    # One network for each port of a server, not joined with each other.
    rails_apart: bool = False
    # Director switches where one switch is not enough, instead of more levels.
    directors: bool = False
    # Servers that can be added later: their ports, rack units and watts are kept free.
    spare_servers: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0


class Resilience(Part):
    """What may fail, one at a time, without a target being missed."""

    keeps_targets_without: Annotated[tuple[Loss, ...], Field(max_length=5)] = ()


class Site(Part):
    """The room."""

    rack: ItemId = "ar3300"
    pdu: ItemId = "ap8886"
    pue_ratio: Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)] | None = None
    racks_per_row: Annotated[int, Field(ge=1, le=100, strict=True)] = 10


def _empty_as_none(table: object) -> object:
    # Files of earlier versions hold empty tables where nothing is asked.
    return None if table == {} else table


class SizingRequest(Part):
    """A request: one or more workloads, what may be used, what must not be exceeded."""

    schema_version: Literal[1] = 1
    title: Name = "Deep-learning cluster"
    customer: Annotated[str, Field(max_length=120)] = ""
    # Date of the quote; documents print it, nothing reads a clock.
    date: datetime.date | None = None
    confidence: Annotated[float, Field(ge=0.5, le=0.99, allow_inf_nan=False)] = 0.9
    rank_by: RankBy | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    workload: Annotated[tuple[Workload, ...], Field(min_length=1, max_length=20)]
    platforms: Platforms = Platforms()
    limits: Limits = Limits()
    fabric: Fabric = Fabric()
    existing: Existing = Existing()
    site: Site = Site()
    quote: Quote = Quote()
    team: Annotated[Team | None, BeforeValidator(_empty_as_none)] = None
    growth: Annotated[Growth | None, BeforeValidator(_empty_as_none)] = None
    data: DataRequest = DataRequest()
    resilience: Resilience = Resilience()
    rental: Rental | None = None

    @model_validator(mode="after")
    def _growing_team_is_there(self) -> Self:
        if self.growth is not None and self.growth.team != 1 and self.team is None:
            raise ValueError("growth.team needs a [team]; leave it out or say who shares the cluster")
        return self

    @model_validator(mode="after")
    def _jobs_name_workloads(self) -> Self:
        names = [work.name for work in self.workload]
        for number, job in enumerate(self.team.job if self.team is not None else ()):
            if job.workload is None:
                continue
            place = f"team.job[{number}].workload = {job.workload!r}"
            if names.count(job.workload) != 1:
                known = ", ".join(repr(name) for name in dict.fromkeys(names))
                fault = "two workloads have this name" if job.workload in names else "is the name of no workload"
                raise ValueError(f"{place}: {fault}; names: {known}")
            work = self.workload[names.index(job.workload)]
            if job.duration_s is None and job.always_running is None and work.epochs is None and work.recipe is None:
                raise ValueError(f"{place}: has no length; give it epochs or a recipe, or the job a duration_s")
        return self

    @classmethod
    def from_dict(cls, data: object, place: str = "request") -> Self:
        """Request from a plain mapping.

        Raises
        ------
        RequestError
            Listing every fault: place, key, value, what is allowed, nearest known key.
        """
        if not isinstance(data, dict):
            raise RequestError(f"{place}: expected a table with [[workload]], got {type(data).__name__}")
        if not data:
            raise RequestError(f"{place}: is empty; a request has at least one [[workload]] with dnn and target")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise RequestError("\n".join(in_words(cls, error, place))) from None

    @classmethod
    def from_text(cls, text: str, format_: Literal["toml", "json"], place: str = "request") -> Self:
        """Request from TOML or JSON text, as typed or uploaded; of a design.json the request inside it."""
        if len(text) > MAX_REQUEST_BYTES:
            raise RequestError(f"{place}: {len(text)} characters is more than a request holds ({MAX_REQUEST_BYTES})")
        try:
            data = tomllib.loads(text) if format_ == "toml" else json.loads(text)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits are a plain ValueError
            raise RequestError(f"{place}: is not valid {format_.upper()}: {error}") from None
        if isinstance(data, dict) and data.get("kind") == "design":
            data = data.get("request")
        return cls.from_dict(data, place)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Request from a .toml or .json file; a design.json made by ``sizer size`` is read too.

        Raises
        ------
        RequestError
            If the file is missing, unreadable, too large, not UTF-8, or not a request.
        """
        path = Path(path)
        text = text_of_file(path, MAX_REQUEST_BYTES, "a request")
        if path.suffix == ".toml":
            return cls.from_text(text, "toml", str(path))
        if path.suffix == ".json":
            return cls.from_text(text, "json", str(path))
        raise RequestError(f"{path}: unknown ending {path.suffix!r}; a request is a .toml or .json file")
