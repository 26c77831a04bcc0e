"""The layout of a run: as its source states it; what is left open follows from it or is the usual."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.calibrate.language.rows import TUNED, LanguageRow, number_format, stack_named
from sizer.catalog.schema import Gpu
from sizer.perf.language.step import RECOMPUTE, Shapes

# Bytes of a parameter's gradient, where it is not divided: FP32 sums of micro batches are the rule; NVIDIA's recipes
# (performance scripts of NeMo and Megatron-Bridge, submissions to MLPerf) reduce in BF16, Megatron-DeepSpeed keeps FP16
# gradients in FP16, and BF16 ones next to their FP32 sums; so does PaddlePaddle at level O2 without master gradients.
_GRADIENT_BYTES = dict.fromkeys(("nemo", "mlperf", "primus", "mlperf-rocm", "other:paddlenlp"), 2.0)
_USUAL_GRADIENT_BYTES = 4.0
# The optimizer's FP32 weights and two FP32 moments; full sharding adds gradients up in FP32. NeMo AutoModel trains the
# BF16 weights that it loads: its benchmark recipes take torch.optim.Adam without FP32 weights, so that moments and
# gradients are BF16, too (NVIDIA-NeMo/Automodel, examples/benchmark/configs, optimizer). DeepSpeed keeps
# FP16 gradients in FP16.
_OPTIMIZER_BYTES, _SHARED_GRADIENT_BYTES = {"nemo-automodel": 6.0}, {"nemo-automodel": 2.0, "deepspeed": 2.0}
_USUAL_OPTIMIZER_BYTES, _USUAL_SHARED_GRADIENT_BYTES = 12.0, 4.0
_DEEPSPEED = "megatron-deepspeed"
_DEEPSPEED_GRADIENT_BYTES = {"fp16": 2.0, "bf16": 6.0}
# Bytes of logits an element: BF16, FP32 and gradient. The fused loss of llm-foundry leaves BF16 logits and a gradient
# in their place; NeMo AutoModel computes the loss in BF16 (recipes, fp32_upcast: false).
_LOGIT_BYTES = {"llm-foundry": 4.0, "nemo-automodel": 6.0}
_USUAL_LOGIT_BYTES = 10.0
# What a source that does not print recomputation recomputes, where recipes say so: activation_checkpointing is true in
# most of NeMo AutoModel's. Elsewhere the least that fits.
USUAL_RECOMPUTE = {"nemo-automodel": "full"}
# Attention without a fused kernel: Megatron before FlashAttention (May 2022), which runs from the next year on have, as
# have all on GPUs that are younger.
_UNFUSED_ATTENTION, _FUSED_FROM = (_DEEPSPEED, "megatron-lm"), "2023"
# Attention by the FlashAttention of 2023, the year of MosaicML's benchmarks of llm-foundry.
EARLY_ATTENTION = ("llm-foundry",)
# Submissions to MLPerf log what is allocated: at TP 4 and TP 8 Llama 3.1 405B takes 109.1 and 58.8 GiB, and twice the
# difference leaves nothing that TP does not divide. LitGPT prints torch.cuda.max_memory_allocated, others what is
# reserved (torchtitan, nanotron), or seen from outside.
_REPORTS_ALLOCATED = ("mlperf", "other:litgpt")


def is_from_hopper_on(gpu: Gpu) -> bool:
    """Whether a GPU is of Hopper's generation or a later one: those have FP8."""
    return "fp8" in gpu.peak_flop_per_s


def is_unfused(stack: str, date: str, gpu: Gpu) -> bool:
    """Whether a run writes its attention scores to memory; the date is of its publication, "" if that is not known."""
    return stack in _UNFUSED_ATTENTION and date < _FUSED_FROM and not is_from_hopper_on(gpu)


def runtime_values(stack: str, precision: str, element_bytes: float) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.step.Runtime` of a stack and a number format."""
    gradient = _GRADIENT_BYTES.get(stack, _USUAL_GRADIENT_BYTES)
    if stack == _DEEPSPEED:
        gradient = _DEEPSPEED_GRADIENT_BYTES.get(precision, gradient)
    return {
        "element_bytes": element_bytes,
        "gradient_bytes": gradient,
        "shared_gradient_bytes": _SHARED_GRADIENT_BYTES.get(stack, _USUAL_SHARED_GRADIENT_BYTES),
        "optimizer_bytes": _OPTIMIZER_BYTES.get(stack, _USUAL_OPTIMIZER_BYTES),
        "logit_bytes": _LOGIT_BYTES.get(stack, _USUAL_LOGIT_BYTES),
        "is_allocated": float(stack in _REPORTS_ALLOCATED),
    }


# Share of a GPU's memory that weights, gradients and optimizer may take, so that activations have the rest.
_STATE_SHARE = 0.6
# Bytes of weights and gradients of a parameter, and of its optimizer, which replicas divide.
_WHOLE, _DIVIDED = 4.0, 12.0
_TENSOR, _PIPELINE, _EXPERT = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32, 64)


def usual_degrees(
    row: LanguageRow, shape: dict[str, float], memory_bytes: float, domain: float
) -> tuple[float, float, float]:
    """Tensor, pipeline and expert parallelism of a run: as stated, else the least that fits.

    ``shape``: of its model. ``memory_bytes``: of a GPU. [B] ``domain``: GPUs that NVLink or its like joins.
    """
    counts = Shapes(**{name: np.array([value]) for name, value in shape.items()})
    dense = float(counts.dense_parameters_used[0]) + float(2 * counts.vocabulary[0] * counts.hidden[0])
    experts = float(counts.expert_parameters[0]) if shape["experts"] > 1 else 0.0
    context = row.cp or 1.0

    def choices(stated: float | None, known: Sequence[int], most: float, whole: float) -> list[float]:
        if stated is not None:
            return [stated]
        return [float(n) for n in known if n <= most and whole % n == 0]

    tensors = choices(row.tp, _TENSOR, min(domain, row.gpus), shape["heads"])
    # With the replicas stated the stages are what is left: any number that divides the layers, such as 35 of 105.
    numbers = range(1, int(min(shape["layers"], row.gpus)) + 1) if row.dp else _PIPELINE
    stages = choices(row.pp, numbers, row.gpus, shape["layers"])
    parts = choices(row.ep, _EXPERT, min(domain, row.gpus), shape["experts"]) if experts else [row.ep or 1.0]
    found = [
        (t, p, e)
        for t, p, e in itertools.product(tensors, stages, parts)
        if row.gpus % (t * p * context) == 0 and e * p <= row.gpus
    ]
    if row.dp:
        found = [one for one in found if one[0] * one[1] * context * row.dp == row.gpus] or found
    if not found:
        return row.tp or 1.0, row.pp or 1.0, row.ep or 1.0

    def state_bytes(t: float, p: float, e: float) -> float:
        held, routed = dense / (t * p), experts / (p * e)
        once = held / (row.gpus / (t * p)) + routed / max(1.0, row.gpus / (p * e))
        return _WHOLE * (held + routed) + _DIVIDED * once

    fitting = [one for one in found if state_bytes(*one) <= _STATE_SHARE * memory_bytes]
    if fitting:
        return min(fitting, key=lambda one: (one[0] * one[1], one[2], one[1]))
    return min(found, key=lambda one: state_bytes(*one))


# Bytes of an element of a matrix; other formats have two.
_ELEMENT_BYTES = {"fp8": 1.0, "fp4": 0.5}
# Of a micro batch on one GPU that a source does not state.
_USUAL_TOKENS = 16_384
# A stated layout that cannot be, among the parts that are guessed.
CONTRADICTION = "contradictory layout"
_DEGREES = ("tp", "pp", "cp", "dp")


def layout_of(
    row: LanguageRow, shape: dict[str, float], gpu: Gpu, sequence: float, guessed: list[str]
) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.step.Layouts` of a row.

    ``shape``: of its model. ``sequence``: its tokens. ``guessed``: takes what is neither stated nor follows from what
    is.
    """
    if _is_contradictory(row, shape):
        guessed.append(CONTRADICTION)
        row = replace(row, tp=None, pp=None, cp=None, ep=None, vp=None, dp=None)
    row = _completed(row)
    gpus = row.gpus
    is_lora = row.kind == "lora"
    full = any(word in row.sharding for word in ("fsdp", "zero3"))
    tensor, pipeline, expert = row.tp, row.pp, row.ep
    batch = row.global_batch
    micro = row.micro_batch
    if tensor is None:
        guessed.append("layout")
        pipeline = pipeline or 1.0
        if is_lora:
            # The frozen model must fit; a step is often one sequence a replica, and GPUs beyond divide the sequence.
            tensor = min(gpus, _least_tensor(row, gpu))
        elif full:
            tensor = 1.0
    if not full and not is_lora and (None in (tensor, pipeline) or (expert is None and shape["experts"] > 1)):
        tensor, pipeline, expert = usual_degrees(row, shape, gpu.memory_bytes.value, row.gpus_per_node or 8.0)
        if "layout" not in guessed:
            guessed.append("layout")
    tensor = tensor or 1.0
    pipeline = pipeline or 1.0
    context = row.cp or _usual_context(row, gpus / (tensor * pipeline))
    if context > 1 and row.cp is None and "layout" not in guessed:
        guessed.append("layout")
    if expert is None and full and shape["experts"] > 1:
        # Experts lie on as many GPUs as divide them, as frameworks that shard fully do.
        expert = float(math.gcd(int(shape["experts"]), max(1, int(gpus / pipeline))))
        guessed.append("layout")
    if micro is None and not is_lora:
        # An adapter's step has one sequence a replica; elsewhere the micro batch is a choice that decides much.
        guessed.append("micro batch")
    data = max(1.0, gpus / (tensor * pipeline * context))
    if micro is None and not is_lora:
        micro = _usual_micro_batch(row, pipeline, data, sequence / context)
    micro = micro or 1.0
    if batch is None:
        # Enough micro batches to fill a pipeline four times, as is usual, where the source does not count them.
        batch = data * micro * (row.grad_accum or (4.0 * pipeline if pipeline > 1 else 1.0))
        guessed.append("global batch")
    chunks = row.vp
    if chunks is None or pipeline * (chunks - 1.0) > shape["layers"]:
        chunks = 1.0
        if pipeline > 1 and row.source != "bigscience-bloom":
            guessed.append("interleaving")
            chunks = max(1.0, min(4.0, shape["layers"] // pipeline))
    stack = stack_named(row)
    is_early = stack in EARLY_ATTENTION
    return {
        "gpus": gpus,
        "batch": batch,
        "micro_batch": min(micro, max(1.0, batch / data)),
        "sequence": sequence,
        "tensor": tensor,
        "pipeline": pipeline,
        "virtual": max(1.0, chunks),
        "context": context,
        "expert": expert or 1.0,
        "is_fully_sharded": float(full),
        "is_optimizer_sharded": float(not full and row.sharding not in ("ddp", "zero0")),
        "recompute": RECOMPUTE.get(row.recompute, 0.0),
        "is_lora": float(is_lora),
        "element_bytes": _ELEMENT_BYTES.get(number_format(row.precision), 2.0),
        "is_tuned": float(stack.startswith(TUNED)),
        "is_unfused": float(is_unfused(stack, row.date, gpu)),
        "is_early": float(is_early),
        "is_ported": float(is_early and is_from_hopper_on(gpu)),
    }


def _is_contradictory(row: LanguageRow, shape: dict[str, float]) -> bool:
    """Whether no run can have the degrees that a row states: they do not divide its GPUs, layers or batch."""
    stated = [float(degree) for name in _DEGREES if (degree := getattr(row, name)) is not None]
    whole = math.prod(stated)
    if row.gpus % whole or (len(stated) == len(_DEGREES) and whole != row.gpus):
        return True
    if (row.pp or 1.0) > shape["layers"] or (row.ep or 1.0) > min(row.gpus, row.experts or row.gpus):
        return True
    # Replicas without a sequence: those that are stated, or those that the other degrees leave.
    replicas = row.dp or (row.gpus / whole if row.tp and row.pp and row.cp else 1.0)
    return row.global_batch is not None and row.global_batch < replicas


def _completed(row: LanguageRow) -> LanguageRow:
    """A row with the one degree that it leaves out: the product of all is the number of GPUs."""
    missing = [name for name in _DEGREES if getattr(row, name) is None]
    if len(missing) != 1:
        return row
    others = math.prod(getattr(row, name) for name in _DEGREES if name != missing[0])
    return replace(row, **{missing[0]: row.gpus / others})


def _usual_context(row: LanguageRow, gpus: float) -> float:
    """Context parallelism that a source does not state, of GPUs of a stage: those without a sequence divide one."""
    replicas = row.dp or (gpus if row.global_batch is None else row.global_batch)
    return max(1.0, gpus / replicas)


def _usual_micro_batch(row: LanguageRow, pipeline: float, data: float, tokens: float) -> float:
    """Sequences of a micro batch that a source does not state: from what it counts, else about 16,384 tokens.

    Stages of a pipeline take one sequence, because many short micro batches fill it best.
    """
    if row.global_batch is None or pipeline > 1:
        return 1.0
    replica = row.global_batch / data
    if row.grad_accum:
        return max(1.0, replica / row.grad_accum)
    sizes = [2.0**i for i in range(6) if 2**i * tokens <= _USUAL_TOKENS and replica % 2**i == 0]
    return max(sizes, default=1.0)


def _least_tensor(row: LanguageRow, gpu: Gpu) -> float:
    """Least tensor parallelism, a power of two, at which the weights take at most 40 % of a GPU's memory."""
    weights = (row.params_b or 1.0) * 1e9 * _ELEMENT_BYTES.get(number_format(row.precision), 2.0)
    return 2.0 ** max(0, min(3, math.ceil(math.log2(weights / (0.4 * gpu.memory_bytes.value)))))
