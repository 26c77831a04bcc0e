"""A request: read from TOML, JSON or Python, and checked."""

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from sizer.base.errors import RequestError
from sizer.base.faults import check_size, in_words
from sizer.base.formats.json_document import parse_json
from sizer.base.formats.toml_text import parse_toml
from sizer.base.quantities import Bytes, Latency, RequestsPerS, SamplesPerS, Seconds, Tokens, TokensPerS, Watts
from sizer.base.resources import text_of_file
from sizer.base.texts import Name, ShortText, line
from sizer.catalog.items import MEMORY_BYTES, SAMPLE_BYTES, Samples, SamplesOrZero
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import StorageTier
from sizer.workload.custom_network import AnyDnn
from sizer.workload.data import DataRequest, StatedStorage
from sizer.workload.kinds import of_file
from sizer.workload.optional_tables import Cooling as Cooling
from sizer.workload.optional_tables import Fabric as Fabric
from sizer.workload.optional_tables import FeedRedundancy as FeedRedundancy
from sizer.workload.optional_tables import Growth, Measured, Ownership, Rental
from sizer.workload.optional_tables import Site as Site
from sizer.workload.quote import Quote
from sizer.workload.table import (
    DEFAULT_DATASET,
    Count,
    Day,
    ItemCounts,
    ItemId,
    ItemIds,
    People,
    RequestTable,
    empty_as_none,
    with_one_customer,
)
from sizer.workload.team import Team
from sizer.workload.transformer.layout_pins import LayoutPins

# A request is typed by a person; a larger file is something else.
MAX_REQUEST_BYTES = 1_000_000

Task = Literal["training", "validation-inference", "serving", "generation"]
# Tasks of language models in use: with people who wait, and without.
SERVING_TASKS = ("serving", "generation")
# What people do with a language model: sets the lengths and rates that the request leaves open.
Use = Literal["chat", "rag", "code", "code-chat", "agent", "summary", "reasoning", "embedding"]
# How the load of a day varies.
DailyProfile = Literal["office", "consumer", "flat"]
# Load of an hour, in any unit.
HourlyLoad = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Access = Literal["random", "sharded"]
# Of a language model: "full" is pre-training, from random weights; the next two start from a trained model.
Method = Literal["full", "continued", "fine-tuning", "lora"]
Cache = Literal["page-cache", "pinned", "none"]
RankBy = Literal["cost", "ownership", "time", "gpus", "rack-units", "watts"]
Loss = Literal["server", "storage-node", "switch", "gateway", "feed", "head-node"]
# Keys of ``limits`` that bound the size of a cluster.
SIZE_LIMITS = ("budget", "power_w", "racks", "rack_units", "servers")


def ranks_by_cost(rank_by: str | None) -> bool:
    """Whether an amount of money orders designs: what they cost to buy or to own."""
    return rank_by in (None, "cost", "ownership")


class CustomDataset(RequestTable):
    """A data set given by its numbers."""

    name: Name = "custom data set"
    n_samples: Samples
    sample_bytes: Annotated[Bytes, SAMPLE_BYTES]
    n_validation_samples: SamplesOrZero = 0.0
    format: Literal["raw files", "records", "decoded tensors"] = "records"


class Target(RequestTable):
    """Target of a workload. Exactly one of them."""

    samples_per_s: SamplesPerS | None = None
    tokens_per_s: TokensPerS | None = None  # of a language model; in use: output tokens
    time_to_train_s: Seconds | None = None
    gpus_busy: Count | None = None
    # The highest rate that the limits of the request allow.
    maximum: Literal["rate"] | None = None
    # Of a language model in use: arrivals, requests in flight at once, people who ask and read, and all who may ask.
    requests_per_s: RequestsPerS | None = None
    concurrent_requests: People | None = None
    active_users: People | None = None
    users: People | None = None
    requests_per_day: Annotated[float, Field(ge=1, le=1e12, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            names = list(type(self).model_fields)
            raise ValueError(
                f"needs exactly one of {', '.join(names[:-1])} or {names[-1]}, "
                f"got {' and '.join(given) if given else 'none'}"
            )
        return self


class Workload(RequestTable):
    """One thing to run."""

    name: Name = "workload"
    task: Annotated[Task, BeforeValidator(of_file(*get_args(Task)))] = "training"
    dnn: AnyDnn
    stack: ItemId | None = None
    precision: Literal["mixed", "fp32", "fp16", "bf16", "fp8", "mxfp8", "fp4", "nvfp4", "mxfp4", "int4"] = "mixed"
    batch_per_gpu: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None
    dataset: ItemId | CustomDataset = DEFAULT_DATASET
    # Size of the whole set on storage where it is not samples x sample_bytes, e.g. many copies of one set.
    dataset_bytes: Bytes | None = None
    sample_bytes: Annotated[Bytes, SAMPLE_BYTES] | None = None
    # What the host reads for one sample; absent: derived from the data set and the network.
    sample_format: SampleFormat | None = None
    access: Access = "random"
    cache: Cache = "page-cache"
    target: Target
    # Of a language model: tokens in all and of a sequence, sequences of a step over all GPUs, all or adapters only.
    tokens: Tokens | None = None
    sequence_tokens: Annotated[int, Field(ge=128, le=1_048_576, strict=True)] | None = None
    batch_sequences: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    method: Annotated[Method | None, BeforeValidator(of_file(*get_args(Method)))] = None
    # Documents shorter than a sequence: their mean length, and whether several are packed into one sequence.
    document_tokens: Annotated[int, Field(ge=1, le=1_048_576, strict=True)] | None = None
    packing: bool = True
    # What is fixed of the parallel layout.
    layout: LayoutPins | None = None
    # Of a language model in use: mean lengths of a request, the share of its input that a cache of earlier prompts
    # holds, limits of the times to the first and to each later token at a percentile of the requests, the software.
    use: Use | None = None
    input_tokens: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    output_tokens: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    # Medians in place of the means, and the 95th percentiles: how the lengths vary.
    input_tokens_p50: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    input_tokens_p95: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    output_tokens_p50: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    output_tokens_p95: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    # The day of the load: the target counts the peak hour. Of a generation or a training: hours of the night in which
    # it has what the models in use leave.
    daily_profile: DailyProfile | None = None
    load_by_hour: Annotated[tuple[HourlyLoad, ...], Field(min_length=24, max_length=24)] | None = None
    night_hours: Annotated[int, Field(ge=1, le=23, strict=True)] | None = None
    prefix_cached: Annotated[float, Field(ge=0, le=0.999, allow_inf_nan=False)] | None = None
    first_token_s: Latency | None = None
    token_s: Latency | None = None
    latency_percentile: Literal[50, 90, 95, 99] | None = None
    engine: ItemId | None = None
    cache_precision: Literal["bf16", "fp8"] | None = None
    # Adapters (LoRA) on one base that requests choose among, and their rank.
    adapters: Annotated[int, Field(ge=1, le=1_000, strict=True)] | None = None
    adapter_rank: Annotated[int, Field(ge=1, le=512, strict=True)] | None = None
    # Training length: a fixed number of epochs, or a recipe that derives them from the global batch.
    epochs: Annotated[float, Field(ge=0.001, le=100_000, allow_inf_nan=False)] | None = None
    recipe: ItemId | None = None
    # "benchmark": its steps alone, as makers tune and publish them, without what whole trainings take beyond these.
    run: Annotated[Literal["whole", "benchmark"], BeforeValidator(of_file("whole", "benchmark"))] = "whole"
    # Rates that the customer measured of this training: they narrow what is predicted.
    measured: Annotated[tuple[Measured, ...], Field(max_length=10)] = ()
    # Core time that the host works on one sample, all of it; absent: the published line of its format and loader.
    host_core_s: Annotated[Seconds, Field(ge=1e-7, le=3600)] | None = None

    @model_validator(mode="after")
    def _length_known(self) -> Self:
        if self.epochs is not None and self.recipe is not None:
            raise ValueError("give either epochs or recipe, not both")
        if self.target.time_to_train_s is not None and self.task != "training":
            raise ValueError(
                "a target time_to_train_s needs task = 'training'; use samples_per_s, requests_per_s or gpus_busy "
                "for inference"
            )
        return self


class Platforms(RequestTable):
    """Allowed equipment. An empty list allows everything that can be ordered."""

    servers: ItemIds = ()
    forbidden_servers: ItemIds = ()
    gpus: ItemIds = ()
    generations: ItemIds = ()  # of GPUs: ids in generations/
    storage: ItemIds = ()
    forbidden_storage: ItemIds = ()
    fabrics: ItemIds = ()  # ids in links/
    # Vendors of servers and storage that lead while their designs rank at most so many percent behind the best.
    prefer_vendors: Annotated[tuple[Name, ...], Field(max_length=10)] = ()
    prefer_within_percent: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = 10.0
    # GPUs of each server that the job uses; absent: all of them.
    gpus_per_server: Count | None = None
    # Memory of each GPU server, at least: the smallest published size that is enough; absent: the standard one, or a
    # larger one whose page cache holds a data set where that costs less.
    host_memory_bytes: Annotated[Bytes, MEMORY_BYTES] | None = None
    # Shared flash, shared disks or the drives of the servers; absent: any.
    storage_tier: StorageTier | None = None


class Limits(RequestTable):
    """Limits of the design."""

    budget: Annotated[float, Field(ge=1, le=1e12, allow_inf_nan=False)] | None = None
    racks: Count | None = None
    rack_power_w: Watts | None = None
    power_w: Watts | None = None
    rack_units: Count | None = None
    servers: Count | None = None
    gpus: Count | None = None

    @property
    def bound_size(self) -> bool:
        """Whether any of them bounds how large a design may be."""
        bounds = (self.budget, self.racks, self.power_w, self.rack_units, self.servers, self.gpus)
        return any(bound is not None for bound in bounds)


class ExistingRack(RequestTable):
    """Free space in an existing rack, of the model in ``site.rack``."""

    name: Annotated[str, Field(min_length=1, max_length=40), AfterValidator(line)]
    free_u: Annotated[int, Field(ge=1, le=60, strict=True)]  # contiguous
    first_free_u: Annotated[int, Field(ge=1, le=60, strict=True)] = 1  # lowest free unit
    power_w: Watts  # free on each of both feeds
    # Absent: in proportion to the free units, of the load of the rack and the outlets of a PDU.
    load_kg: Annotated[float, Field(ge=0, le=5_000, allow_inf_nan=False)] | None = None
    outlets_c13: Annotated[int, Field(ge=0, le=200, strict=True)] | None = None  # free on each feed
    outlets_c19: Annotated[int, Field(ge=0, le=200, strict=True)] | None = None


class Existing(RequestTable):
    """Equipment that the customer has and the design may use; it is listed but not bought."""

    servers: ItemCounts = Field(default_factory=dict)
    # What the servers hold; absent: any of the GPUs that they are sold with, as many as the job takes.
    gpus: ItemIds = ()
    gpus_per_server: Count | None = None
    storage_nodes: ItemCounts = Field(default_factory=dict)
    switches: ItemCounts = Field(default_factory=dict)
    racks: Annotated[tuple[ExistingRack, ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _rack_names_differ(self) -> Self:
        names = [rack.name for rack in self.racks]
        if len(set(names)) < len(names):
            raise ValueError(f"rack names must be unique; names: {', '.join(sorted(names))}")
        return self


class Resilience(RequestTable):
    """Losses that the design tolerates, one at a time, without missing a target (of a head node: jobs still start)."""

    keeps_targets_without: Annotated[tuple[Loss, ...], Field(max_length=6)] = ()
    # Interruptions of a job in 1,000 days of 8 GPUs; absent: as published, 4 with a 90 % interval of 2 to 9.
    interruptions: Annotated[float, Field(ge=0.01, le=1_000, allow_inf_nan=False)] | None = None


class SizingRequest(RequestTable):
    """A request: one or more workloads, allowed equipment, limits and options."""

    schema_version: Literal[1] = 1
    title: Name = "Deep-learning cluster"
    customer: ShortText = ""  # on documents and in file names
    # Date of the quote; documents print it, nothing reads a clock.
    date: Day | None = None
    # Day on which the cluster must be there: the bill warns of what comes too late or ends too soon for it.
    needed_by: Day | None = None
    confidence: Annotated[float, Field(ge=0.5, le=0.99, allow_inf_nan=False)] = 0.9
    rank_by: RankBy | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    # US dollars for one unit of ``currency``: prices and price bands in USD are converted with it.
    exchange_rate_usd: Annotated[float, Field(ge=1e-6, le=1e4, allow_inf_nan=False)] | None = None
    workload: Annotated[tuple[Workload, ...], Field(min_length=1, max_length=20)]
    platforms: Platforms = Platforms()
    limits: Limits = Limits()
    fabric: Fabric = Fabric()
    existing: Existing = Existing()
    stated_storage: Annotated[tuple[StatedStorage, ...], Field(max_length=20)] = ()
    site: Site = Site()
    quote: Quote = Quote()
    team: Annotated[Team | None, BeforeValidator(empty_as_none)] = None
    growth: Annotated[Growth | None, BeforeValidator(empty_as_none)] = None
    data: DataRequest = DataRequest()
    resilience: Resilience = Resilience()
    ownership: Ownership | None = None
    rental: Rental | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_customer(cls, data: object) -> object:
        return with_one_customer(data)

    @property
    def electricity_per_kwh(self) -> Decimal | None:
        """Price of a kilowatt-hour, of whichever table states it; None where none does. [currency/kWh]"""
        if self.ownership is not None and self.ownership.electricity_per_kwh is not None:
            return self.ownership.electricity_per_kwh
        return None if self.rental is None else self.rental.electricity_per_kwh

    @model_validator(mode="after")
    def _ownership_is_consistent(self) -> Self:
        if self.rank_by == "time" and not self.limits.bound_size:
            raise ValueError(
                "rank_by = 'time' needs a limit, because more servers take less time; state limits.servers, "
                "limits.budget, limits.power_w, limits.racks or limits.rack_units"
            )
        if self.rank_by == "ownership" and self.ownership is None:
            raise ValueError("rank_by = 'ownership' needs an [ownership] table; add one, for example years = 5")
        prices = {
            table.electricity_per_kwh
            for table in (self.ownership, self.rental)
            if table is not None and table.electricity_per_kwh is not None
        }
        if len(prices) > 1:
            raise ValueError("ownership.electricity_per_kwh and rental.electricity_per_kwh differ; give the price once")
        return self

    @model_validator(mode="after")
    def _rate_is_of_another_currency(self) -> Self:
        if self.exchange_rate_usd is not None and self.currency == "USD":
            raise ValueError("exchange_rate_usd needs a currency other than USD; add currency = 'EUR', or remove it")
        return self

    @model_validator(mode="after")
    def _need_follows_quote(self) -> Self:
        if self.needed_by is not None and self.date is not None and self.needed_by < self.date:
            raise ValueError(f"needed_by = {self.needed_by} is before date = {self.date}; write {self.date} or later")
        return self

    @model_validator(mode="after")
    def _stated_once(self) -> Self:
        names = Counter(stated.storage for stated in self.stated_storage)
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise ValueError(f"stated_storage names {', '.join(twice)} more than once; put all its values in one table")
        return self

    @property
    def ranks_by_rate(self) -> bool:
        """Whether a number of GPUs is all that is asked: what their rate costs then ranks the kinds of GPUs.

        The cheapest of a number of GPUs would be the slowest ones.
        """
        return self.rank_by is None and all(work.target.gpus_busy is not None for work in self.workload)

    @property
    def maximized(self) -> int | None:
        """Number of the workload whose rate is to be as high as the limits allow; None where every target is given."""
        return next((index for index, work in enumerate(self.workload) if work.target.maximum is not None), None)

    @model_validator(mode="after")
    def _maximum_is_bounded(self) -> Self:
        """One rate at most grows, some limit stops it, and nothing else needs that rate beforehand."""
        place = self.maximized
        if place is None:
            return self
        target = f"workload.{place}.target: maximum = 'rate'"
        if sum(work.target.maximum is not None for work in self.workload) > 1:
            raise ValueError(
                f"{target}: only one workload can have the highest rate; give the others samples_per_s, "
                "time_to_train_s or gpus_busy"
            )
        if all(getattr(self.limits, name) is None for name in SIZE_LIMITS):
            raise ValueError(
                f"{target} needs a limit of the size; add one of limits.{', limits.'.join(SIZE_LIMITS)}, "
                "for example limits.budget = 500000"
            )
        for name in ("team", "growth"):
            if getattr(self, name) is not None:
                raise ValueError(f"{target} cannot be combined with [{name}]; give samples_per_s, or remove [{name}]")
        return self

    @model_validator(mode="after")
    def _growing_team_is_there(self) -> Self:
        if self.growth is not None and self.growth.team != 1 and self.team is None:
            raise ValueError("growth.team needs a [team] table; add one, or remove growth.team")
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
                fault = "two workloads have this name" if job.workload in names else "is not the name of a workload"
                raise ValueError(f"{place}: {fault}; names: {known}")
            work = self.workload[names.index(job.workload)]
            has_length = work.epochs is not None or work.recipe is not None or work.tokens is not None
            if job.duration_s is None and job.always_running is None and not has_length:
                raise ValueError(
                    f"{place}: this workload has no training length; add epochs, a recipe or, of a language model, "
                    "tokens to it, or duration_s here"
                )
        return self

    @classmethod
    def from_dict(cls, data: object, place: str = "request") -> Self:
        """Request from a plain mapping.

        Raises RequestError listing every error: place, key, value, what to write instead.
        """
        if not isinstance(data, dict):
            raise RequestError(f"{place}: expected a table with [[workload]], got {type(data).__name__}")
        if not data:
            raise RequestError(f"{place}: is empty; add at least one [[workload]] with dnn and target")
        check_size(data, place)
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise RequestError("\n".join(in_words(cls, error, place))) from None

    @classmethod
    def from_text(cls, text: str, format_: Literal["toml", "json"], place: str = "request") -> Self:
        """Request from TOML or JSON text, as typed or uploaded; of a design.json the request inside it."""
        if len(text) > MAX_REQUEST_BYTES:
            raise RequestError(f"{place}: has {len(text)} characters; a request has at most {MAX_REQUEST_BYTES}")
        try:
            data = parse_toml(text) if format_ == "toml" else parse_json(text)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits are a plain ValueError
            raise RequestError(f"{place}: is not valid {format_.upper()}: {error}") from None
        if isinstance(data, dict) and data.get("kind") == "design":
            data = data.get("request")
        return cls.from_dict(data, place)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Request from a .toml or .json file; a design.json made by ``sizer size`` is read too.

        Raises RequestError if the file is missing, unreadable, too large, not UTF-8, or not a request.
        """
        path = Path(path)
        text = text_of_file(path, MAX_REQUEST_BYTES, "a request")
        if path.suffix.lower() == ".toml":
            return cls.from_text(text, "toml", str(path))
        if path.suffix.lower() == ".json":
            return cls.from_text(text, "json", str(path))
        raise RequestError(
            f"{path}: unknown file type {path.suffix!r}; give a .toml or .json file, or a table (.csv or .parquet) to "
            "sizer batch"
        )
