"""Layouts of a replica of a served model: number formats, ranks, and groups of them, as published runs have them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from sizer.base.arrays import Floats
from sizer.calibrate.language.cases import is_through_host, pcie_bytes_per_s
from sizer.calibrate.serving.deployment import (
    Deployment,
    ServingPoints,
    missing_facts,
    replicas_of,
    served_model,
)
from sizer.calibrate.serving.fit import FITTED_VENDOR
from sizer.calibrate.serving.rows import fitted_rows
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.workload.serving import ServingWork
from sizer.workload.transformer.number_formats import formats_of

# Ranks that divide attention and dense layers, and groups of them over which experts are spread: as published runs.
# Groups are for latent attention, whose cache tensor ranks do not divide, and on GPUs with links of their own for
# mixtures of grouped heads as large as those of rows that bear them out: 39 of MiniMax M2.5, of 134 and 230 GB, lie
# within a tenth of the fit. Those of gpt-oss-120b (65 GB), and of Qwen3 30B over PCIe, ran up to 1.8 times slower.
_TENSOR, _DATA = (1, 2, 4, 8), (1, 2, 4, 8, 16)
_LEAST_GROUPED_BYTES = 130e9
# Requests in flight of a GPU, at most, in published runs that guess tokens ahead.
MOST_GUESSED = 64.0
# Servers that hold one replica where one does not, or leaves room for fewer requests than these: that copies of the
# weights fill the memory of every server is then the dearer way. Assumed.
_SERVERS_OF_REPLICA = (2, 4, 8)
_LEAST_ROOM = 8.0
# Weights as requests name them -> as the model of serving has them.
_WEIGHTS = {"fp16": "bf16", "bf16": "bf16", "fp8": "fp8", "mxfp8": "fp8", "fp4": "nvfp4", "nvfp4": "nvfp4"}
# Formats that GPUs without them widen as they read the weights.
_WIDENED = ("mxfp4", "int4")
# Engines that keep keys and values in the type of the activations unless they are told otherwise (their "auto").
_WIDE_CACHE = ("vllm", "sglang")
# Ids of stacks -> engines of the fit.
_ENGINES = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "trtllm"}


def weights_on(work: ServingWork, gpu: Gpu, catalog: Catalog) -> str | None:
    """Number format of the weights on a GPU; None where it lacks the one that is asked for.

    Where none is asked for: as the model is published with fewer than 16 bits, else FP8 on GPUs that multiply it, but
    for embeddings, which are compared with those of other days.
    """
    known = formats_of(gpu, catalog)
    if work.precision == "mixed":
        return work.shape.published_in or ("fp8" if "fp8" in known and not work.is_embedding else "bf16")
    if work.precision in _WIDENED:
        return work.precision
    wanted = _WEIGHTS.get(work.precision)
    if wanted in (None, "bf16"):
        return wanted
    return wanted if any(_WEIGHTS.get(name) == wanted for name in known) else None


def runs_on(work: ServingWork, gpu: Gpu, catalog: Catalog) -> bool:
    """Whether the software that is asked for runs on a GPU; software that is not named is one that does."""
    stack = None if work.engine is None else catalog.stacks.get(work.engine)
    return stack is None or not stack.gpu_vendors or gpu.vendor in stack.gpu_vendors


@lru_cache(maxsize=512)
def engines_on(gpu: Gpu, catalog: Catalog) -> tuple[str, ...]:
    """Ids of the software that serves on a GPU."""
    found = [stack for stack in catalog.stacks.values() if stack.serves_language]
    return tuple(stack.id for stack in found if not stack.gpu_vendors or gpu.vendor in stack.gpu_vendors)


def layouts_inside(work: ServingWork, gpu: Gpu, gpus: int, catalog: Catalog) -> Iterator[Deployment]:
    """Layouts of replicas inside a server."""
    for tensor in _TENSOR:
        for data in _DATA:
            if tensor * data <= gpus and work.shape.heads % tensor == 0:
                found = _deployment(work, gpu, tensor, data, None, catalog)
                yield from (one for one in found if data == 1 or _has_groups(one))


def _has_groups(one: Deployment) -> bool:
    """Whether runs bear out groups of ranks with requests of their own: of the memory of a GPU nothing depends."""
    if one.model.kv_rank:
        return True
    if not one.model.is_mixture or is_through_host(one.gpu) or one.gpu.nvlink_bytes_per_s is None:
        return False
    return float(replicas_of([replace(one, tensor=1, data=1, adapters=0)]).weight_bytes[0]) >= _LEAST_GROUPED_BYTES


def layouts_over(
    work: ServingWork, gpu: Gpu, gpus: int, nic_bytes_per_s: float, catalog: Catalog
) -> Iterator[tuple[Deployment, int]]:
    """Layouts of replicas over whole servers, which NICs join, and the servers of each."""
    is_latent = work.shape.attention == "latent"
    for servers in _SERVERS_OF_REPLICA:
        for tensor in (1, gpus) if is_latent else (gpus * servers,):
            if work.shape.heads % tensor == 0:
                for one in _deployment(work, gpu, tensor, gpus * servers // tensor, nic_bytes_per_s, catalog):
                    yield one, servers


@lru_cache(maxsize=4096)
def fits_inside(work: ServingWork, gpu: Gpu, gpus: int, catalog: Catalog) -> bool:
    """Whether so many GPUs of one server hold the model, with room for requests that share the reading of weights."""
    layouts = list(layouts_inside(work, gpu, gpus, catalog))
    return bool(layouts) and bool((points_of(work, layouts, 1.0).room >= _LEAST_ROOM).any())


def _deployment(
    work: ServingWork, gpu: Gpu, tensor: int, data: int, link_bytes_per_s: float | None, catalog: Catalog
) -> Iterator[Deployment]:
    weights = weights_on(work, gpu, catalog)
    if link_bytes_per_s is None and is_through_host(gpu):
        link_bytes_per_s = pcie_bytes_per_s(gpu)
    if (
        weights is None
        or not runs_on(work, gpu, catalog)
        or missing_facts(gpu, tensor * data, link_bytes_per_s) is not None
    ):
        return
    model = served_model(work.model_id, work.shape, work.parameters)
    engine = "" if work.engine is None else _ENGINES.get(work.engine, "")
    cache = _cache(work, gpu, weights, catalog)
    may_guess = (work.model_id, gpu.generation) in _guessing(catalog) and not work.adapters
    for guesses in (False, True) if may_guess else (False,):
        yield Deployment(
            *(model, gpu, engine, weights, cache, tensor, data),
            link_bytes_per_s=link_bytes_per_s,
            is_speculative=guesses,
            adapters=work.adapters,
            adapter_rank=work.adapter_rank,
            is_embedding=work.is_embedding,
        )


@lru_cache(maxsize=16)
def _guessing(catalog: Catalog) -> frozenset[tuple[str, str | None]]:
    """Models that guess tokens ahead with layers of their own, and generations of GPUs, as published runs bear out.

    What guesses gain depends on the kernels of a GPU: on MI325X InferenceX shows none (DeepSeek-R1, 1k/1k, 2026).
    """
    return frozenset((row.model, catalog.gpus[row.gpu].generation) for row in fitted_rows() if row.guesses)


def is_untried(one: Deployment) -> bool:
    """Whether weights are widened to BF16 on GPUs of a vendor on which no published run does that.

    Kimi K2 in INT4 ran at a fifth of the predicted rate on MI325X (Vultr, March 2026) and MI300X (Metrum AI, 2026).
    """
    return one.is_widened and one.gpu.vendor != FITTED_VENDOR


def _cache(work: ServingWork, gpu: Gpu, weights: str, catalog: Catalog) -> str:
    """Number format of keys and values: as asked, else the default of the engine, or of all that run on the GPU."""
    if work.cache is not None:
        return work.cache
    engines = engines_on(gpu, catalog) if work.engine is None else (work.engine,)
    is_wide = weights == "bf16" or set(engines) <= set(_WIDE_CACHE) or "fp8" not in formats_of(gpu, catalog)
    return "bf16" if is_wide else "fp8"


def points_of(work: ServingWork, deployments: Sequence[Deployment], concurrency: Floats | float) -> ServingPoints:
    """Layouts at numbers of requests in flight."""
    return ServingPoints.make(
        deployments,
        input_tokens=work.input_tokens,
        output_tokens=work.output_tokens,
        cached_share=work.prefix_cached,
        variations=[math.nan if one is None else one for one in (work.input_variation, work.output_variation)],
        concurrency=concurrency,
    )
