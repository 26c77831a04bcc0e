"""The software stack and the number format that a run names."""

import re

from sizer.calibrate.language.rows import LanguageRow

# Words of a software column and the stack that they mean; the first that is found counts.
STACK_WORDS = (
    ("automodel", "nemo-automodel"), ("megatron-deepspeed", "megatron-deepspeed"), ("deepspeed", "deepspeed"),
    ("llm-foundry", "llm-foundry"), ("nanotron", "nanotron"), ("torchtitan", "torchtitan"), ("maxtext", "maxtext"),
    ("paxml", "paxml"), ("megatron-lm", "megatron-lm"), ("megatron", "nemo"), ("nemo", "nemo"),
    ("fsdp", "pytorch-fsdp"), ("primus", "primus"), ("pytorch", "pytorch"),
)  # fmt: skip
_GROUPS = {"nemo-automodel": "pytorch", "llm-foundry": "pytorch", "torchtitan": "pytorch", "pytorch-fsdp": "pytorch",
           "pytorch": "pytorch", "maxtext": "jax", "paxml": "jax"}  # fmt: skip
TUNED = "mlperf"


def stack_named(row: LanguageRow) -> str:
    """The software stack: submissions to MLPerf are tuned for their benchmark and count as one of their own."""
    if "mlperf" in row.source.lower() or row.software.lower().startswith(TUNED):
        return f"{TUNED}-rocm" if re.search(r"\bmi[0-9]", row.gpu.lower()) else TUNED
    text = row.software.lower()
    return next((stack for word, stack in STACK_WORDS if word in text), f"other:{text[:40]}")


def group_of_stack(stack: str) -> str:
    """The group of stacks that share an effect."""
    return _GROUPS.get(stack, stack.split("-")[0] if stack.startswith(TUNED) else "megatron")


def number_format(text: str) -> str:
    """Number format of the matrix products: "bf16", "fp8", "fp4"."""
    plain = text.lower().replace("bfloat", "bf").replace("float", "fp")
    return next((name for name in ("fp4", "fp8", "bf16", "fp16") if name in plain), "bf16")
