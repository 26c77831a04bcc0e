"""[[stated_storage]]: what the customer or the vendor says of a storage system, in place of the catalogue's facts."""

from typing import Annotated, Self

from pydantic import model_validator

from sizer.base.quantities import Bytes, BytesPerS
from sizer.catalog.bounds import CAPACITY_BYTES, RATE_BYTES_PER_S
from sizer.workload.table import ItemId, RequestTable


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
