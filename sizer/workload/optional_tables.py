"""Tables of a request that may be missing: fabric, room, growth, ownership and an offer to rent."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sizer.base.money import Percent, UnitRate
from sizer.base.quantities import Bytes, SamplesPerS
from sizer.base.texts import Name
from sizer.workload.table import Count, Day, ItemId, RequestTable


class Fabric(RequestTable):
    """How the networks of the cluster are built."""

    # Largest allowed ratio of ports down to ports up of a leaf; 1 is non-blocking.
    oversubscription: Annotated[float, Field(ge=1, le=16, allow_inf_nan=False)] = 1.0
    # A separate network for each port of a server.
    rails_apart: bool = False
    # Files of the storage travel over the compute fabric, on Ethernet: no switches of the storage's own.
    converged: Annotated[bool, Field(strict=True)] = False
    # Director switches where one switch is not enough, instead of more levels.
    directors: bool = False
    # Servers to add later: their ports, rack units and power are reserved.
    spare_servers: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0
    # Where the subnet manager of an InfiniBand fabric runs: in a switch, or on two UFM appliances with two ports each.
    subnet_manager: Literal["switch", "ufm"] = "switch"
    # Head and management servers of the cluster; absent: one, or two from eight hosts of today on and
    # where a loss of one is tolerated.
    management_servers: Annotated[int, Field(ge=1, le=100, strict=True)] | None = None


# Feeds of a rack: either of two sides carries it; all but one of several do; all of them together.
FeedRedundancy = Literal["2N", "N+1", "N"]
# What the room takes heat away with; "liquid": water for coolant units, and air.
Cooling = Literal["air", "liquid"]


class Site(RequestTable):
    """The room."""

    rack: ItemId = "ar3300"
    pdu: ItemId | None = None  # absent: the usual one of the servers' generation
    pue_ratio: Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)] | None = None
    # Emissions of the grid, of the carbon of a million tokens of models in use.
    carbon_g_per_kwh: Annotated[float, Field(ge=0, le=2_000, allow_inf_nan=False)] | None = None
    racks_per_row: Annotated[int, Field(ge=1, le=100, strict=True)] = 10
    feeds: FeedRedundancy = "2N"
    # Switches, head nodes and storage in racks of their own, as in the large reference architectures.
    network_racks: bool = False
    network_pdu: ItemId | None = None  # of such racks; absent: as of the others
    # What the room has; absent: not stated, so it excludes nothing.
    cooling: Cooling | None = None
    feed_volts: Annotated[float, Field(ge=100, le=600, allow_inf_nan=False)] | None = None  # between phases
    feed_phases: Annotated[int, Field(ge=1, le=3, strict=True)] | None = None
    floor_kg_per_m2: Annotated[float, Field(ge=100, le=10_000, allow_inf_nan=False)] | None = None


# One year's need over that of the year before; below 1 it shrinks.
YearlyFactor = Annotated[float, Field(ge=0.1, le=20, allow_inf_nan=False)]
GROWING = ("data", "sample_size", "dnn_size", "target", "team")


class Growth(RequestTable):
    """Every factor is that of one year: 2 doubles each year. The first year is the request as it stands."""

    years: Annotated[int, Field(ge=2, le=10, strict=True)] = 3
    data: YearlyFactor = 1.0  # samples of every data set
    sample_size: YearlyFactor = 1.0  # bytes of a sample as stored
    dnn_size: YearlyFactor = 1.0  # operations and parameters of every neural network
    target: YearlyFactor = 1.0  # rates and numbers of GPUs; a time to train is divided by it
    team: YearlyFactor = 1.0  # jobs a day, and jobs that always run
    price: YearlyFactor = 1.0  # of everything that is bought; alone it is no growth
    save: Literal["cost", "watts"] = "cost"

    @model_validator(mode="after")
    def _something_grows(self) -> Self:
        if all(getattr(self, key) == 1 for key in GROWING):
            raise ValueError(
                f"has no factor other than 1; give at least one of {', '.join(GROWING)}, for example data = 1.5"
            )
        return self


MAX_YEARS = 15


class Ownership(RequestTable):
    """Period and rates of the cost of ownership; amounts in the request's currency, rates with up to four decimals.

    The PUE is that of the room, ``site.pue_ratio``. A rate that is not stated is not guessed: its cost is left out, and
    the total reads "at least".
    """

    years: Annotated[int, Field(ge=1, le=MAX_YEARS, strict=True)] = 3
    electricity_per_kwh: UnitRate | None = None
    # A year, of the net price of what is bought once; absent: what the bill's support costs, renewed at its price.
    support_percent: Percent | None = None
    # One of the two at most.
    space_per_rack_unit_month: UnitRate | None = None
    space_per_rack_month: UnitRate | None = None
    # Share of all hours in which training runs; absent: runs follow each other without a pause.
    utilization_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False)] | None = None

    # Of a language model: the most that training on a million tokens may cost. Absent: the cost is shown only.
    cost_per_million_tokens: UnitRate | None = None

    @model_validator(mode="after")
    def _one_price_of_space(self) -> Self:
        if self.space_per_rack_unit_month is not None and self.space_per_rack_month is not None:
            raise ValueError("give either space_per_rack_unit_month or space_per_rack_month, not both")
        return self


def _costs_something(rate: Decimal) -> Decimal:
    if rate == 0:
        raise ValueError("must be greater than 0; write the price per GPU-hour of the offer, or remove [rental]")
    return rate


class Rental(RequestTable):
    """An offer to compare a purchase with; amounts in the request's currency, rates with up to four decimals."""

    offer: Name = "rented GPUs"
    per_gpu_hour: Annotated[UnitRate, AfterValidator(_costs_something)]
    # Rate of a rented GPU divided by that of a GPU of the design; 1: equal.
    speed_ratio: Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)] = 1.0
    storage_per_tb_month: UnitRate | None = None  # of 1e12 bytes; None: not in the offer
    years: Annotated[int, Field(ge=1, le=10, strict=True)] = 3
    # What running one's own cluster costs.
    electricity_per_kwh: UnitRate | None = None
    yearly_cost_percent: Percent = Decimal(0)  # of the purchase, for staff, space and maintenance
    # GPU utilization as a share of all hours; None: only the break-even is shown.
    utilization_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False)] | None = None


# A rate so many times what is predicted, or so many times below it, is more often another unit than another network.
_FAR = 5.0


class Measured(RequestTable):
    """Samples per second that a training of this network ran at, from end to end, on some GPUs.

    Of a language model tokens per second, of its steps; in use, the requests per second of one replica with the
    lengths of the workload.
    """

    samples_per_s: SamplesPerS
    gpu: ItemId
    gpus: Count = 1
    batch_per_gpu: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None  # absent: that of the workload
    gpu_memory_bytes: Bytes | None = None  # that it took of each GPU at this batch
    concurrent_requests: Count | None = None  # in flight, of a model in use
    day: Day | None = None
    # Standard deviation of the rate: what another run, another release or another day would show.
    within_percent: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = 10.0


def far_off(factors: Iterable[float]) -> list[float]:
    """Measured rates over predicted ones, of those that are far from them. [-]"""
    return [float(f"{factor:.2g}") for factor in factors if not 1 / _FAR <= factor <= _FAR]
