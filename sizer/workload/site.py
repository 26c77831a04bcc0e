"""What a request says of the room: racks and PDUs, feeds, cooling, floor."""

from typing import Annotated, Literal

from pydantic import Field

from sizer.workload.table import ItemId, RequestTable

# Feeds of a rack: either of two sides carries it; all but one of several do; all of them together.
FeedRedundancy = Literal["2N", "N+1", "N"]
# What the room takes heat away with; "liquid": water for coolant units, and air.
Cooling = Literal["air", "liquid"]


class Site(RequestTable):
    """The room."""

    rack: ItemId = "ar3300"
    pdu: ItemId | None = None  # absent: the usual one of the servers' generation
    pue_ratio: Annotated[float, Field(ge=1, le=5, allow_inf_nan=False)] | None = None
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
