"""GPU memory of a workload, and memory of the servers, in words."""

from sizer.base import units
from sizer.base.quantities import by_count, grouped, probability_text, si
from sizer.physical.host_memory import OS_RESERVE_BYTES, page_cache_bytes
from sizer.present.words import listed
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.gpu_memory import MemoryAnswer
from sizer.sizing.stages.sharding import Sharding

_SHARDING = {
    Sharding.NONE: "",
    Sharding.OPTIMIZER: "; optimizer state divided over all GPUs, activations recomputed",
    Sharding.STATE: "; weights, gradients and optimizer state divided over all GPUs (FSDP), activations recomputed",
    Sharding.EMBEDDINGS: "; embedding tables divided over all GPUs, trained by plain SGD without optimizer state",
    Sharding.LAYOUT: "; divided as the parallel layout says",
}


def memory_text(memory: MemoryAnswer) -> str:
    """Need, memory and probability of a fit: "9.1 of 16 GiB per GPU; fits: 97 %; largest batch: 285"."""
    need, has = (value / units.GIB for value in (memory.need_bytes, memory.memory_bytes))
    if memory.sharding is Sharding.LAYOUT:
        return (
            f"{need:.3g} of {has:.3g} GiB per GPU; probability that it fits: {probability_text(memory.probability)}; "
            f"micro batches of {by_count(memory.largest_batch, 'one sequence', f'{memory.largest_batch} sequences')}"
        )
    fits = f"probability that it fits: {probability_text(memory.probability)}"
    if memory.has_run:
        fits = "your run shows that it fits" if memory.is_guess else "published runs show that it fits"
    # The need is a median; a batch that may take as much as the upper end of a guess still has to fit.
    largest = "largest batch that surely fits" if memory.is_guess else "largest batch that fits"
    again = "; activations recomputed" if memory.is_recomputed else ""
    guess = "; its activations are estimated" if memory.is_guess else ""
    return (
        f"{need:.3g} of {has:.3g} GiB per GPU{guess}; {fits}; "
        f"{largest}: {_rounded_down(memory.largest_batch)}{_SHARDING[memory.sharding]}{again}"
    )


def _rounded_down(batch: int) -> str:
    """A batch to three digits, never above it."""
    unit = 10 ** max(len(str(batch)) - 3, 0)
    return grouped(batch // unit * unit)


def host_memory_sentences(design: DesignAnswer) -> list[str]:
    """Why servers have more than their standard memory; nothing where they have the standard one."""
    platform = design.platform
    option = platform.host_memory
    if option is None:
        return []
    standard = design.plan.catalog.servers[option.server]
    before = 0.0 if standard.memory_bytes is None else standard.memory_bytes.value
    cache = page_cache_bytes(standard, platform.gpus_per_server, platform.gpu)
    held = [
        f"the {si(answer.dataset_bytes, 'B')} of {answer.workload.name}"
        for answer in design.workloads
        if answer.cache_hit_fraction >= 1 and answer.dataset_bytes > cache
    ]
    text = (
        f"Each server has {grouped(option.memory_bytes.value / units.GIB)} GiB of host memory instead of the standard "
        f"{grouped(before / units.GIB)} GiB"
    )
    if not held:
        return [f"{text}, as requested."]
    copies = platform.gpus_per_server * platform.gpu.memory_bytes.value + OS_RESERVE_BYTES
    left = si(cache, "B") if cache > 0 else "nothing"
    return [
        f"{text}: it caches {listed(held)}, so that only the first epoch reads the storage. The standard memory leaves "
        f"{left} for that after {grouped(copies / units.GIB)} GiB for the system and the buffers of the GPUs."
    ]
