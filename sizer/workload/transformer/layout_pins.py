"""What a request fixes of the parallel layout of a language model."""

import math
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sizer.base.errors import RequestError
from sizer.base.faults import in_words
from sizer.catalog.schema import TransformerShape
from sizer.workload.table import RequestTable

_Degree = Annotated[int, Field(ge=1, le=131_072, strict=True)]


class LayoutPins(RequestTable):
    """Degrees and choices that the search of layouts leaves as they are; absent: searched."""

    tensor: _Degree | None = None
    pipeline: _Degree | None = None
    chunks: _Degree | None = None  # of a pipeline stage, which take turns (virtual pipeline)
    context: _Degree | None = None
    expert: _Degree | None = None
    data: _Degree | None = None
    micro_batch: _Degree | None = None  # sequences
    # Divided over the replicas: nothing, the optimizer's state (ZeRO 1), or weights and gradients, too (ZeRO 3, FSDP).
    sharding: Literal["none", "optimizer", "all"] | None = None
    recompute: Literal["none", "selective", "full"] | None = None
    # Tensor parallelism over more GPUs than NVLink, or its like, joins.
    across_servers: bool = False

    @property
    def fixes_degrees(self) -> bool:
        """Whether the degrees that decide are stated, not searched."""
        return None not in (self.tensor, self.pipeline, self.context)


NO_PINS = LayoutPins()


def layout_pins(values: dict[str, object]) -> LayoutPins:
    """Pins as a command takes them; None: searched.

    Raises RequestError naming each value that is not allowed.
    """
    try:
        return LayoutPins.model_validate(values)
    except ValidationError as error:
        raise RequestError("\n".join(in_words(LayoutPins, error, "layout"))) from None


# Layers that the fullest of nearly even parts may have more than the mean, over all. [-]
_MOST_UNEVEN = 1 / 16


def divides_layers(parts: int, layers: int) -> bool:
    """Whether stages, or their chunks, hold as many layers each, or nearly.

    Embedding and output count as a layer each where that divides: Llama 3.1 405B has 126 layers in 8 stages of 8 chunks
    (MLPerf v5.0, NVIDIA). Powers of two may leave the fullest part a sixteenth above the mean: DeepSeek-V3 has 61
    layers in 8 stages of 4 chunks (Megatron-Bridge, NVIDIA).
    """
    with_ends = layers + 2
    is_even = layers % parts == 0 or (parts > 1 and with_ends % parts == 0)
    return is_even or (parts.bit_count() == 1 and -with_ends % parts <= _MOST_UNEVEN * with_ends)


def wide_tensor_error_text(pins: LayoutPins, domain_gpus: int, place: str) -> str:
    """Why the tensor parallelism of a layout is too wide for GPUs that are joined by so many; "" where it is not."""
    if pins.tensor is None or pins.tensor <= domain_gpus or pins.across_servers:
        return ""
    return (
        f"{place}.tensor = {pins.tensor} is more than the {domain_gpus} GPUs that NVLink or its like joins; write at "
        f"most {domain_gpus}, or allow it over the network with across_servers = true"
    )


def check_pins(pins: LayoutPins, shape: TransformerShape, sequence: int, name: str, place: str) -> None:
    """Degrees must divide what they divide, whatever the GPUs are; ``sequence`` is in tokens.

    Raises RequestError naming the first that does not.
    """
    tensor, stages, expert = pins.tensor or 1, (pins.pipeline or 1) * (pins.chunks or 1), pins.expert or 1
    if shape.heads % tensor:
        raise RequestError(
            f"{place}.tensor = {tensor} does not divide the {shape.heads} attention heads of {name}; write "
            f"{_divisors(shape.heads, tensor)}"
        )
    if not divides_layers(stages, shape.layers):
        key = "pipeline" if pins.chunks is None else "pipeline x chunks"
        raise RequestError(
            f"{place}.{key} = {stages} does not divide the {shape.layers} layers of {name}, or {shape.layers + 2} with "
            f"embedding and output; write {_divisors(shape.layers, stages)}"
        )
    if sequence % (pins.context or 1):
        # The largest power of two that divides it, as degrees are.
        raise RequestError(
            f"{place}.context = {pins.context} does not divide the sequence of {sequence} tokens; write at most "
            f"{sequence & -sequence}, or a sequence that is a multiple of {pins.context}"
        )
    if (pins.chunks or 1) > 1 and pins.pipeline == 1:
        raise RequestError(
            f"{place}.chunks = {pins.chunks} needs pipeline = 2 or more: one stage has nothing to wait for"
        )
    if expert > 1 and shape.experts == 1:
        raise RequestError(f"{place}.expert = {expert}: {name} is a dense model without experts; remove expert")
    if shape.experts % expert:
        raise RequestError(
            f"{place}.expert = {expert} does not divide the {shape.experts} experts of {name}; write "
            f"{_divisors(shape.experts, expert)}"
        )


def undivided_error_text(pins: LayoutPins, gpus: int, batch: int, place: str) -> str:
    """Which fixed degrees divide neither so many GPUs nor a batch of so many sequences; "" where they all do."""
    degrees = {key: value for key in ("tensor", "pipeline", "context", "data") if (value := getattr(pins, key))}
    product = math.prod(degrees.values())
    if gpus % product:
        return (
            f"{place}.{' x '.join(degrees)} = {product} does not divide {gpus} GPUs; write {_divisors(gpus, product)}"
        )
    if batch % (pins.micro_batch or 1):
        return (
            f"{place}.micro_batch = {pins.micro_batch} does not divide the batch of {batch} sequences; write "
            f"{_divisors(batch, pins.micro_batch or 1)}"
        )
    return ""


def _divisors(number: int, near: int) -> str:
    """The divisors just below and above a number."""
    known = [one for one in range(1, number + 1) if number % one == 0]
    below, above = [one for one in known if one < near][-1:], [one for one in known if one > near][:1]
    return " or ".join(str(one) for one in below + above)
