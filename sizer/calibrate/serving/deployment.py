"""What serves: a model on GPUs with an engine and a layout, in the terms of the model of serving."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.language.cases import USUAL_MATMUL_SHARE, is_through_host, matmul_flop_per_s, pcie_bytes_per_s
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.serving.rows import fitted_rows
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, TransformerShape
from sizer.perf.serving import replica
from sizer.perf.serving.loop import Load
from sizer.workload.serving import ServingWork
from sizer.workload.transformer.number_formats import formats_of

# Vendor of whose GPUs most rows are: launches on others have an effect of their own, where stacks are not tuned.
FITTED_VENDOR = "NVIDIA"
# Engines with fitted effects; an empty name is a mixture of what people use.
ENGINES = ("trtllm", "vllm", "sglang")
# Month from which drift counts, and that of the newest fitted rows: an answer without a date is of then.
EPOCH_MONTH, NEWEST_MONTH = 2026 * 12.0, 2026 * 12 + 3.0
# Tokens that a speculative step verifies: one and three guessed.
SPECULATIVE_TOKENS = 4.0
# Share of the fitted rate of prompts that texts without answers reach in layers of infinite width, and the width at
# which they reach half of it: beside decode steps the fit gives prompts up to 0.86 of a GPU's peak, where large matrix
# products alone reach 0.5 to 0.7, and narrow ones less. Assumed.
_TEXTS_ALONE, _TEXTS_HALF_WIDTH = 0.79, 1024.0
# Element of keys and values where it is not stated: as engines choose by default.
_USUAL_CACHE = {"bf16": "bf16"}


@dataclass(frozen=True)
class ServedModel(replica.ServedModels):
    """A model as serving sees it, with the name under which effects know it."""

    id: str

    @property
    def family(self) -> str:
        """Kind of model that shares an effect: by its attention, else by its blocks."""
        if self.linear_layers:
            return "hybrid"
        if self.kv_rank:
            return "latent"
        return "mixture" if self.is_mixture else "dense"


def served_model(model_id: str, shape: TransformerShape, total_parameters: float | None = None) -> ServedModel:
    """A model of the catalogue, or of a shape of one's own.

    ``total_parameters``: where it is published; else as the shape has it. [-]
    """
    width = float(shape.expert_ffn or shape.ffn)
    sparse = float(shape.layers - shape.dense_layers) if shape.experts > 1 else 0.0
    special = float(shape.window_layers or shape.layers) if shape.attention == "sliding" else 0.0
    is_linear = bool(shape.state_elements)
    names = ("layers", "hidden", "heads", "kv_heads", "head_size", "vocabulary", "experts")
    counts: dict[str, Any] = {name: float(getattr(shape, name)) for name in names}
    return ServedModel(
        id=model_id,
        **counts,
        total_parameters=float(total_parameters or shape.total_parameters),
        active_experts=float(shape.active_experts) if shape.experts > 1 else 1.0,
        mixture_layers=sparse,
        expert_width=width,
        routed_parameters=sparse * (3.0 if shape.gated else 2.0) * shape.hidden * width * shape.experts,
        full_layers=shape.layers - special,
        window_layers=0.0 if is_linear else special,
        window=float(shape.window or 0.0),
        linear_layers=special if is_linear else 0.0,
        state_elements=float(shape.state_elements or 0.0),
        kv_rank=float(shape.kv_rank or 0.0),
        rope=shape.head_size / 2 if shape.kv_rank else 0.0,
        adapted=shape.adapted,
    )


def model_of(dnn: Dnn) -> ServedModel | CalibrationNote:
    """A language model of the catalogue, or why it cannot be served: it has no shape."""
    if dnn.transformer is None:
        return note(FitNote.SHAPE_NOT_STATED, dnn.id)
    return served_model(dnn.id, dnn.transformer, dnn.parameters.value)


@dataclass(frozen=True)
class Deployment:
    """A model on GPUs: what the effects and the physics of serving know of it.

    ``engine`` is one of :data:`ENGINES`, or empty: a mixture of them, with the spread between them. ``tensor`` ranks
    divide attention and dense layers, ``data`` groups of them serve requests of their own with the experts spread over
    all; a replica has ``tensor`` x ``data`` GPUs. Pools apart: ``prefill`` is a deployment of the same model that only
    prefills, with ``prefill_replicas`` of it for ``decode_replicas`` of this one.
    """

    model: ServedModel
    gpu: Gpu
    engine: str = ""
    weights: str = "fp8"
    cache: str = ""  # empty: as engines choose by default
    tensor: int = 1
    data: int = 1
    pipeline: int = 1  # stages, with layers of their own, that the tensor ranks form: at full load each sums within one
    expert: int = 0  # ranks over which whole experts are spread; 0: all with several data ranks, else none
    is_speculative: bool = False
    beams: int = 1  # continuations of a request that are searched side by side
    buffered_tokens: int = 1  # tokens gathered before the first is sent
    burst_share: float = 0.0  # of a benchmark that starts all its requests at once: half of one over its rounds
    is_lockstep: bool = False  # a benchmark whose requests all start and end together, prefills first
    most_running: float = math.inf  # requests that the engine decodes at once, at most
    month: float = NEWEST_MONTH  # year x 12 + month - 1 of the software
    tuning: str = ""  # for what a stack was tuned: "mlperf", "overview"; empty: as people run it
    prefill: "Deployment | None" = None
    prefill_replicas: int = 0
    decode_replicas: int = 0
    link_bytes_per_s: float | None = None  # between GPUs, where it is not that of the GPU itself
    adapters: int = 0  # (LoRA) in memory, and their rank
    adapter_rank: int = 0
    is_embedding: bool = False  # texts go in and vectors come out

    @property
    def is_tuned(self) -> bool:
        """Whether its stack was tuned for a benchmark."""
        return bool(self.tuning)

    @property
    def gpus(self) -> int:
        """GPUs of a replica, or of all pools."""
        if self.prefill is None:
            return self.tensor * self.data
        return self.prefill.gpus * self.prefill_replicas + self.tensor * self.data * self.decode_replicas

    @property
    def computed_in(self) -> str:
        """Format in which the weights are multiplied: BF16 where the GPU lacks that of the weights."""
        return "bf16" if self.is_widened else replica.COMPUTED_IN[self.weights]

    @property
    def is_widened(self) -> bool:
        """Whether weights of fewer bits are multiplied in BF16: the GPU lacks their format, or software its kernels."""
        wanted, widened = replica.COMPUTED_IN[self.weights], self.gpu.widened_formats
        is_without = wanted == "bf16" or _peak(self.gpu, wanted) is None
        return self.weights != "bf16" and (is_without or (widened is not None and self.weights in widened.value))


def missing_facts(gpu: Gpu, tensor: int = 1, link_bytes_per_s: float | None = None) -> CalibrationNote | None:
    """What the catalogue does not know of a GPU that serving needs; None if it knows all.

    Examples
    --------
    >>> from sizer.catalog.loader import shipped_catalog
    >>> missing_facts(shipped_catalog().gpus["h200-sxm-141gb"], tensor=8) is None
    True
    """
    if gpu.memory_bytes_per_s is None:
        return note(FitNote.FACT_NOT_KNOWN, gpu.id, "memory_bytes_per_s")
    if tensor > 1 and link_of(gpu) is None and link_bytes_per_s is None:
        return note(FitNote.FACT_NOT_KNOWN, gpu.id, "nvlink_bytes_per_s")
    return None


def link_of(gpu: Gpu) -> float | None:
    """Rate of a GPU's links to others, one direction; None where it is not known. [B/s]"""
    if gpu.nvlink_bytes_per_s is not None:
        return gpu.nvlink_bytes_per_s.value
    # A card without NVLink goes through the host.
    if gpu.form_factor.value.startswith("pcie"):
        return pcie_bytes_per_s(gpu)
    return None


def _peak(gpu: Gpu, name: str) -> float | None:
    if name == "bf16":
        return gpu.peak_mixed_flop_per_s.value
    found = gpu.peak_flop_per_s.get(name)
    return None if found is None else float(found.value)


@dataclass(frozen=True)
class ServingPoints:
    """Deployments under loads: arrays of one length, of which ``of`` says whose deployment each element is."""

    deployments: tuple[Deployment, ...]
    of: Ints
    input_tokens: Floats
    output_tokens: Floats
    cached_share: Floats
    concurrency: Floats  # requests in flight at one replica, or at the pools of one deployment
    # Variance of the lengths over the square of their mean; NaN: not known, as in the rows of the fit.
    input_variation: Floats
    output_variation: Floats

    @classmethod
    def make(
        cls,
        deployments: Sequence[Deployment],
        *,
        input_tokens: Any,
        output_tokens: Any,
        concurrency: Any = 1.0,
        cached_share: Any = 0.0,
        variations: Sequence[Any] = (math.nan, math.nan),
        of: Any = None,
    ) -> "ServingPoints":
        """Points of deployments; loads broadcast against them.

        ``input_tokens``, ``output_tokens`` (n,): means of a request. ``concurrency``: requests in flight.
        ``cached_share``: share of the input whose keys and values are there already. ``variations``: variances of the
        lengths of input and output over the squares of their means. ``of``: number of the deployment of each point;
        absent: one point for each deployment.
        """
        index = np.arange(len(deployments)) if of is None else np.asarray(of, dtype=np.int64)
        loads = (input_tokens, output_tokens, cached_share, concurrency, *variations)
        whose, *columns = np.broadcast_arrays(index, *(np.asarray(load, dtype=float) for load in loads))
        return cls(tuple(deployments), whose, *columns)

    def __len__(self) -> int:
        return len(self.of)

    def take(self, index: Ints | Bools) -> "ServingPoints":
        """Some of the points, of the same deployments."""
        columns = [field.name for field in fields(self) if field.name != "deployments"]
        return replace(self, **{name: getattr(self, name)[index] for name in columns})

    def at_loads(self, concurrency: Floats) -> "ServingPoints":
        """Each of them at several loads, one after the other; shape (n, loads)."""
        every = np.repeat(np.arange(len(self)), concurrency.shape[1])
        return replace(self.take(every), concurrency=concurrency.ravel())

    @cached_property
    def table(self) -> replica.Replicas:
        """The replicas that decode, one a deployment."""
        return replicas_of(self.deployments)

    @cached_property
    def fill_table(self) -> replica.Replicas:
        """The replicas that prefill: of their pool, where there is one."""
        if all(deployment.prefill is None for deployment in self.deployments):
            return self.table
        return replicas_of([deployment.prefill or deployment for deployment in self.deployments])

    @cached_property
    def room(self) -> Floats:
        """Requests in flight for which memory has room, and which the engine takes; 0: the weights leave none."""
        kept = np.array(
            [replica.RESERVED_OUTPUT.get(one.engine, replica.USUAL_RESERVED_OUTPUT) for one in self.deployments]
        )
        pools = np.array([max(deployment.decode_replicas, 1) for deployment in self.deployments], dtype=float)
        beams = np.array([deployment.beams for deployment in self.deployments])
        filled = np.array([replica.FILLED.get(one.engine, replica.USUAL_FILLED) for one in self.deployments])
        found = replica.most_concurrent(
            self.table.take(self.of),
            self.input_tokens,
            # Long answers stay for longer.
            self.output_tokens * (1 + np.nan_to_num(self.output_variation)),
            (kept * beams)[self.of],
            filled[self.of],
        )
        running = np.array([deployment.most_running for deployment in self.deployments])
        return np.asarray(np.minimum(found, running[self.of]) * pools[self.of])

    def load(self) -> Load:
        """The loads as the closed loop takes them; where memory has no room, as if it had for one request."""
        names = ("buffered_tokens", "burst_share", "is_lockstep", "decode_replicas", "prefill_replicas")
        column = {
            name: np.array([getattr(one, name) for one in self.deployments], dtype=float)[self.of] for name in names
        }
        verified = np.array([SPECULATIVE_TOKENS if one.is_speculative else one.beams for one in self.deployments])
        guessed = np.array([deployment.is_speculative for deployment in self.deployments], dtype=float)
        return Load(
            concurrency=self.concurrency,
            most_concurrent=np.maximum(self.room, 1.0),
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_share=self.cached_share,
            input_variation=np.nan_to_num(self.input_variation),
            output_variation=np.nan_to_num(self.output_variation),
            verified=verified[self.of],
            is_guessed=guessed[self.of],
            **column,
        )


def replicas_of(deployments: Sequence[Deployment]) -> replica.Replicas:
    """Replicas of deployments, shape (deployments,).

    Raises ValueError naming the GPU of which the catalogue does not know enough: see :func:`missing_facts`.
    """
    for one in deployments:
        if (missing := missing_facts(one.gpu, one.tensor * one.data, one.link_bytes_per_s)) is not None:
            raise ValueError(f"{missing.values[0]}: {missing.values[1]} is not known")
    models = replica.ServedModels(
        **{
            part.name: np.array([getattr(deployment.model, part.name) for deployment in deployments], dtype=float)
            for part in fields(replica.ServedModels)
        }
    )
    machines = np.array([_machine(deployment) for deployment in deployments], dtype=float).reshape(-1, 6).T
    weights = (
        np.array([replica.weight_bytes_of(one.weights, bool(one.model.is_mixture)) for one in deployments])
        .reshape(-1, 2)
        .T
    )
    element = [replica.CACHE_BYTES[one.cache or _USUAL_CACHE.get(one.weights, "fp8")] for one in deployments]
    names = ("tensor", "data", "pipeline", "adapters", "adapter_rank")
    tensor, data, *more = ([getattr(deployment, name) for deployment in deployments] for name in names)
    expert = [one.expert or (one.tensor * one.data if one.data > 1 else 1) for one in deployments]
    narrow, wide = weights
    found = replica.replicas(models, replica.ServingGpus(*machines), tensor, data, expert, narrow, wide, element, *more)
    texts = np.array(
        [(1 + _TEXTS_HALF_WIDTH / one.model.hidden) / _TEXTS_ALONE if one.is_embedding else 1.0 for one in deployments]
    )
    return replace(
        found,
        prefill_dense_flop=found.prefill_dense_flop * texts,
        prefill_expert_flop=found.prefill_expert_flop * texts,
    )


def _machine(deployment: Deployment) -> tuple[float, ...]:
    gpu = deployment.gpu
    link = deployment.link_bytes_per_s or link_of(gpu)
    # Clocks under load: large BF16 products on this GPU, where they were measured, against those on a usual one.
    reached = matmul_flop_per_s(gpu, "bf16") / (USUAL_MATMUL_SHARE["bf16"] * gpu.peak_mixed_flop_per_s.value)
    return (
        gpu.memory_bytes.value,
        gpu.memory_bytes_per_s.value if gpu.memory_bytes_per_s else math.nan,
        reached * (_peak(gpu, deployment.computed_in) or math.nan),
        reached * gpu.peak_mixed_flop_per_s.value,
        # Of one GPU, which sums nothing over others, no link is asked.
        link or math.inf,
        # Tensor ranks of one of several groups lie inside a server.
        (link if deployment.data == 1 or is_through_host(gpu) else link_of(gpu)) or math.inf,
    )


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
                deployments = _deployment(work, gpu, tensor, data, None, catalog)
                yield from (deployment for deployment in deployments if data == 1 or _has_groups(deployment))


def _has_groups(one: Deployment) -> bool:
    """Whether runs bear out groups of ranks with requests of their own: of the memory of a GPU nothing depends."""
    if one.model.kv_rank:
        return True
    if not one.model.is_mixture or is_through_host(one.gpu) or one.gpu.nvlink_bytes_per_s is None:
        return False
    return float(replicas_of([replace(one, tensor=1, data=1, adapters=0)]).weight_bytes[0]) >= _LEAST_GROUPED_BYTES


def layouts_over(
    work: ServingWork, gpu: Gpu, gpus: int, nic_bytes_per_s: float | None, catalog: Catalog
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


@lru_cache(maxsize=4)
def _latent_on(catalog: Catalog) -> frozenset[tuple[str | None, bool]]:
    """Generations of GPUs, and whether as cards, on which models with latent attention were published in use."""
    latent = {dnn.id for dnn in catalog.dnns.values() if dnn.transformer and dnn.transformer.attention == "latent"}
    ran = (catalog.gpus[row.gpu] for row in fitted_rows() if row.model in latent and row.gpu in catalog.gpus)
    return frozenset((gpu.generation, is_through_host(gpu)) for gpu in ran)


def kernels_are_unknown(work: ServingWork, gpu: Gpu, catalog: Catalog) -> bool:
    """Whether a model has latent attention, of which no run on such GPUs is published, and none of the customer's.

    Its kernels, and those of its FP8 blocks, are written for each kind of GPU: for months TensorRT-LLM and vLLM refused
    DeepSeek-V3 on cards with Blackwell (NVIDIA/TensorRT-LLM#5581, vllm-project/vllm#31936), and ran it on B200.
    """
    if work.shape.attention != "latent" or gpu.id in {one.gpu for one in work.measured}:
        return False
    return (gpu.generation, is_through_host(gpu)) not in _latent_on(catalog)


def is_untried(deployment: Deployment) -> bool:
    """Whether weights are widened to BF16 on GPUs of a vendor on which no published run does that.

    Kimi K2 in INT4 ran at a fifth of the predicted rate on MI325X (Vultr, March 2026) and MI300X (Metrum AI, 2026).
    """
    return deployment.is_widened and deployment.gpu.vendor != FITTED_VENDOR


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
