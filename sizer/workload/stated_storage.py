"""[[stated_storage]]: what the customer or the vendor says of a storage system, in place of the catalogue's facts."""

from typing import Self

from pydantic import model_validator

from sizer.base.quantities import Bytes, BytesPerS
from sizer.workload.table import ItemId, RequestTable


class StatedStorage(RequestTable):
    """Values of one storage system that no source gives, or that differ from the catalogue's."""

    storage: ItemId
    node_read_bytes_per_s: BytesPerS | None = None  # of one node; of the whole system where it has no nodes
    usable_bytes: Bytes | None = None  # of the whole system

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.node_read_bytes_per_s is None and self.usable_bytes is None:
            raise ValueError("give node_read_bytes_per_s, for example '1.2 GB/s', or usable_bytes, for example '2 PB'")
        return self
