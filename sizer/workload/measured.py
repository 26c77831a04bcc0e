"""A rate that the customer measured of a training: it narrows what is predicted of it."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from sizer.base.quantities import Bytes, SamplesPerS
from sizer.workload.table import Count, Day, ItemId, RequestTable

# A rate so many times what is predicted, or so many times below it, is more often another unit than another network.
_FAR = 5.0


class Measured(RequestTable):
    """Samples per second that a training of this network ran at, from end to end, on some GPUs.

    Of a language model tokens per second, of its steps.
    """

    samples_per_s: SamplesPerS
    gpu: ItemId
    gpus: Count = 1
    batch_per_gpu: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None  # absent: that of the workload
    gpu_memory_bytes: Bytes | None = None  # that it took of each GPU at this batch
    day: Day | None = None
    # Standard deviation of the rate: what another run, another release or another day would show.
    within_percent: Annotated[float, Field(ge=1, le=100, allow_inf_nan=False)] = 10.0


def far_off(factors: Iterable[float]) -> list[float]:
    """Measured rates over predicted ones, of those that are far from them. [-]"""
    return [float(f"{factor:.2g}") for factor in factors if not 1 / _FAR <= factor <= _FAR]
