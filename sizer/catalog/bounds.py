"""Bounds of the numbers of a catalogue file, and of the same numbers in a request.

They catch a slip of unit (a bare 16 meant as GB), not unusual hardware.
"""

from typing import Annotated

from pydantic import Field

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
