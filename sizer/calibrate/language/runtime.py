"""What the software of a run keeps in GPU memory, and whether the run reports all of it."""

from sizer.catalog.schema import Gpu

# Bytes of a parameter's gradient, where it is not divided: FP32 sums of micro batches are the rule; NVIDIA's recipes
# (performance scripts of NeMo and Megatron-Bridge, submissions to MLPerf) reduce in BF16, Megatron-DeepSpeed keeps FP16
# gradients in FP16, and BF16 ones next to their FP32 sums.
_GRADIENT_BYTES = {"nemo": 2.0, "mlperf": 2.0, "primus": 2.0, "mlperf-rocm": 2.0}
_USUAL_GRADIENT_BYTES = 4.0
# The optimizer's FP32 weights and two FP32 moments; full sharding adds gradients up in FP32. NeMo AutoModel trains the
# BF16 weights that it loads: its benchmark recipes take torch.optim.Adam without FP32 weights, so that moments and
# gradients are BF16, too (NVIDIA-NeMo/Automodel, examples/benchmark/configs, optimizer).
_OPTIMIZER_BYTES, _SHARED_GRADIENT_BYTES = {"nemo-automodel": 6.0}, {"nemo-automodel": 2.0}
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
# difference leaves nothing that TP does not divide. Others print what is reserved (torchtitan, nanotron), or seen from
# outside.
_REPORTS_ALLOCATED = ("mlperf",)


def is_from_hopper_on(gpu: Gpu) -> bool:
    """Whether a GPU is of Hopper's generation or a later one: those have FP8."""
    return "fp8" in gpu.peak_flop_per_s


def is_unfused(stack: str, date: str, gpu: Gpu) -> bool:
    """Whether a run writes its attention scores to memory; the date is of its publication, "" if that is not known."""
    return stack in _UNFUSED_ATTENTION and date < _FUSED_FROM and not is_from_hopper_on(gpu)


def runtime_values(stack: str, precision: str, element_bytes: float) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.memory.Runtime` of a stack and a number format."""
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
