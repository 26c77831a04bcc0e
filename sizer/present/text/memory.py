"""GPU memory of a workload in words."""

from sizer.base import units
from sizer.base.quantities import grouped, probability_text
from sizer.sizing.stages.gpu_memory import MemoryAnswer, Sharding

_SHARDING = {
    Sharding.NONE: "",
    Sharding.OPTIMIZER: "; optimizer state divided over all GPUs, activations recomputed",
    Sharding.EMBEDDINGS: "; embedding tables divided over all GPUs",
}


def memory_text(memory: MemoryAnswer) -> str:
    """Need, memory and probability of a fit: "9.1 of 16 GiB per GPU; fits: 97 %; largest batch: 285"."""
    need, has = (value / units.GIB for value in (memory.need_bytes, memory.memory_bytes))
    return (
        f"{need:.3g} of {has:.3g} GiB per GPU; probability that it fits: {probability_text(memory.probability)}; "
        f"largest batch that fits: {grouped(memory.largest_batch)}{_SHARDING[memory.sharding]}"
    )
