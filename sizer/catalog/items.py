"""What every catalogue file says: the fields that all items share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sizer.base.dates import PartialDate
from sizer.base.provenance import Sourced
from sizer.base.texts import LongText, Name, ShortText

# Vendor of parts that anybody may supply.
ANY_VENDOR = "any"


def is_of_vendor(vendor: str, name: str) -> bool:
    """Whether a name means a vendor: its words, without regard to case, stand in the vendor's in this order.

    Examples
    --------
    >>> is_of_vendor("Dell EMC Isilon", "Dell EMC"), is_of_vendor("Dell EMC", "dell"), is_of_vendor("HPE", "HP")
    (True, True, False)
    """
    asked, known = " ".join(name.casefold().split()), " ".join(vendor.casefold().split())
    return bool(asked) and vendor != ANY_VENDOR and f" {asked} " in f" {known} "


class Frozen(BaseModel):
    """Immutable; unknown keys are refused."""

    # A class is built when it first reads something: most are only ever read inside another one.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Sku(Frozen):
    """A part number and the source that names it."""

    value: ShortText
    source: ShortText
    where: LongText
    note: LongText = ""


class Item(Frozen):
    """What every catalogue item carries.

    Two items are the same only as one object: items of two catalogues may share an id and differ.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=60)]
    name: Name  # as a headline says it
    description: LongText = ""  # what a bill adds to the name
    vendor: ShortText
    skus: tuple[Sku, ...] = ()
    # False: a role or a part that comes inside another item; it is never a line of a bill.
    orderable: bool = True
    introduced: Sourced[PartialDate] | None = None
    end_of_sale: Sourced[PartialDate] | None = None  # warns in every quote
    end_of_service: Sourced[PartialDate] | None = None
    successor: Sourced[ShortText] | None = None  # id of the item that takes its place after the end of sale
    # Facts worth printing that no formula reads, as "label: text with source" rows of the component tables.
    features: dict[ShortText, Sourced[LongText]] = {}
    aliases: tuple[Name, ...] = ()  # other names that people use for it

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


# Bounds that a request has, too, where it writes the number with a unit.
MEMORY_BYTES = Field(ge=1e9, le=1e14)
CAPACITY_BYTES = Field(ge=1e9, le=1e17)
RATE_BYTES_PER_S = Field(ge=1e6, le=1e14)
INPUT_BYTES = Field(ge=1, le=1e10)
SAMPLE_BYTES = Field(ge=1, le=1e12)

Count = Annotated[int, Field(ge=1, le=1_000_000)]
CountOrZero = Annotated[int, Field(ge=0, le=1_000_000)]
CountInServer = Annotated[
    int, Field(ge=1, le=1_000)
]  # GPUs or processors of one server, or of a rack that is one system
MemoryBytes = Annotated[float, MEMORY_BYTES]
CapacityBytes = Annotated[float, CAPACITY_BYTES]
BytesPerS = Annotated[float, RATE_BYTES_PER_S]
FlopPerS = Annotated[float, Field(ge=1e12, le=1e18)]
Flop = Annotated[float, Field(ge=1e3, le=1e16)]
Watts = Annotated[float, Field(ge=0, le=300_000)]  # a rack of 72 GPUs is one server
Kilograms = Annotated[float, Field(ge=0.001, le=5_000)]
Metres = Annotated[float, Field(ge=0.001, le=1_000)]
RackUnits = Annotated[float, Field(ge=0, le=60)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]
Hertz = Annotated[float, Field(ge=1e8, le=1e11)]
Parameters = Annotated[float, Field(ge=1e3, le=1e13)]
InputBytes = Annotated[float, INPUT_BYTES]
SampleBytes = Annotated[float, SAMPLE_BYTES]
Samples = Annotated[float, Field(ge=1, le=1e15)]
SamplesOrZero = Annotated[float, Field(ge=0, le=1e15)]
