"""What the rows say in the terms of the model: shape, layout, machine, and the levels that share an effect."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.identity_cache import cached_by_catalog
from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.perf.language.shape import Shapes
from sizer.perf.language.step import Layouts, Machines

# Decoder models of which the parameters alone are known have about these widths: GPT-3's table and Llama 3.1.
_USUAL_WIDTHS = ((0.125, 768), (0.35, 1024), (1.3, 2048), (6.7, 4096), (13, 5120), (30, 7168), (70, 8192),
                 (175, 12288), (405, 16384), (1008, 25600))  # fmt: skip
_USUAL_VOCABULARY = 50_304.0
_VOCABULARIES = (("llama3", 128_256), ("llama-3", 128_256), ("llama4", 202_048), ("llama2", 32_000), ("grok", 131_072),
                 ("nemotron", 256_000), ("mixtral", 32_000), ("gpt3", 51_200))  # fmt: skip
# Plain feed-forward blocks of two matrices; others are gated and have three.
_PLAIN = ("gpt3", "gpt-1", "gpt-3", "gpt-7", "gpt-5", "bloom", "mpt", "nemotron4", "nemotron-4")
# Measured rate of large matrix products over the peak where nobody measured it: the median of those measured.
_USUAL_MATMUL_SHARE = {"bf16": 0.75, "fp8": 0.72, "fp4": 0.45}
# Bytes of an element of a matrix; other formats have two.
_ELEMENT_BYTES = {"fp8": 1.0, "fp4": 0.5}
_NEAR_BF16 = ("bf16", "fp16")
GBIT = 1e9 / 8
_USUAL_NIC_GBIT = 400.0


@dataclass(frozen=True)
class RunLevels:
    """Names of the groups that a run belongs to; runs of one group share an effect."""

    gpu_precision: str
    stack: str
    stack_group: str
    release: str
    family: str
    model_gpu: str
    mixture: str  # empty for dense models
    mixture_stack: str
    lora: str


@dataclass(frozen=True)
class LanguageCase:
    """One run that the model can describe."""

    row: LanguageRow
    shape: dict[str, float]
    layout: dict[str, float]
    machine: dict[str, float]
    levels: RunLevels
    guessed: tuple[str, ...] = ()  # parts of the layout or shape that the source does not state

    @property
    def log_step_s(self) -> float | None:
        """Natural logarithm of the published seconds of a step."""
        rate = self.row.tokens_per_s_per_gpu
        if rate:
            tokens = self.layout["batch"] * self.layout["sequence"]
            return math.log(tokens / (rate * self.layout["gpus"]))
        return math.log(self.row.step_time_s) if self.row.step_time_s else None


def cases_of(
    rows: Sequence[LanguageRow], catalog: Catalog, known: Sequence[LanguageRow] = ()
) -> list[LanguageCase | CalibrationNote]:
    """Each row as a case, or why it cannot be one.

    Parameters
    ----------
    rows : sequence of LanguageRow
    catalog : Catalog
        For the GPUs.
    known : sequence of LanguageRow
        Rows whose models lend their shape to rows that name the model only.
    """
    shapes = {one.model.lower(): one for one in known if one.layers and one.hidden and one.role == "calibration"}
    gpus = _gpus_by_name(catalog)
    return [_case(row, gpus, shapes) for row in rows]


def _case(row: LanguageRow, gpus: dict[str, Gpu], shapes: dict[str, LanguageRow]) -> LanguageCase | CalibrationNote:
    gpu = gpu_named(row.gpu, gpus)
    if gpu is None:
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.gpu)
    if not row.seq:
        return note(FitNote.SEQUENCE_NOT_STATED)
    guessed: list[str] = []
    shape = _shape(row, shapes.get(row.model.lower()), guessed)
    if isinstance(shape, CalibrationNote):
        return shape
    layout = _layout(row, shape, gpu, guessed)
    precision = number_format(row.precision)
    machine = _machine(row, gpu, precision)
    return LanguageCase(row, shape, layout, machine, _levels(row, gpu.id, precision), tuple(guessed))


@cached_by_catalog
def _gpus_by_name(catalog: Catalog) -> dict[str, Gpu]:
    found = {}
    for gpu in catalog.gpus.values():
        for name in (gpu.id, gpu.name, *gpu.aliases):
            found[_plain(name)] = gpu
    return found


def gpu_of_case(case: LanguageCase, catalog: Catalog) -> Gpu:
    """The catalogue's GPU of a case."""
    found = gpu_named(case.row.gpu, _gpus_by_name(catalog))
    assert found is not None  # or there were no case
    return found


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def gpu_named(text: str, gpus: dict[str, Gpu]) -> Gpu | None:
    """The GPU that a source means: the longest known name with which its wording starts, or which it contains."""
    wanted = _plain(text)
    starts = [name for name in gpus if wanted.startswith(name)] or [name for name in gpus if name in wanted]
    return gpus[max(starts, key=len)] if starts else None


def number_format(text: str) -> str:
    """Number format of the matrix products: "bf16", "fp8", "fp4"."""
    plain = text.lower()
    if "fp4" in plain:
        return "fp4"
    return "fp8" if "fp8" in plain else "fp16" if "fp16" in plain else "bf16"


def _shape(row: LanguageRow, like: LanguageRow | None, guessed: list[str]) -> dict[str, float] | CalibrationNote:
    name = row.model.lower()
    get = {key: getattr(row, key) for key in ("layers", "hidden", "ffn", "heads", "kv_heads", "head_dim", "experts",
                                              "top_k", "moe_ffn", "vocab")}  # fmt: skip
    if not (get["layers"] and get["hidden"]) and like is not None and not get["hidden"]:
        get = {key: value or getattr(like, key) for key, value in get.items()}
        guessed.append("shape")
    elif get["experts"] and not get["moe_ffn"] and like is not None and like.hidden == get["hidden"]:
        # The dense layers' width would make experts many times too wide.
        get["moe_ffn"] = like.moe_ffn
        guessed.append("shape")
    gates = 2.0 if name.startswith(_PLAIN) else 3.0
    vocabulary = get["vocab"] or next((float(v) for key, v in _VOCABULARIES if key in name), _USUAL_VOCABULARY)
    if not get["hidden"]:
        if not row.params_b or row.arch not in ("", "dense"):
            return note(FitNote.SHAPE_NOT_STATED, row.model)
        sizes, widths = zip(*_USUAL_WIDTHS, strict=True)
        wide = math.exp(np.interp(math.log(row.params_b), np.log(sizes), np.log(widths)))
        get["hidden"] = float(max(64, round(wide / 64) * 64))
        guessed.append("shape")
    hidden = get["hidden"]
    heads = get["heads"] or max(1.0, round(hidden / (get["head_dim"] or 128.0)))
    head_size = get["head_dim"] or hidden / heads
    kv_heads = get["kv_heads"] or heads
    ffn = get["ffn"] or (4.0 * hidden if gates == 2.0 else 3.5 * hidden)
    experts = get["experts"] or 1.0
    if experts > 1 and not get["moe_ffn"]:
        return note(FitNote.SHAPE_NOT_STATED, row.model)
    latent = "deepseek" in name or "kimi" in name
    if not get["layers"]:
        if not row.params_b or experts > 1:
            return note(FitNote.SHAPE_NOT_STATED, row.model)
        each = hidden * head_size * (2 * heads + 2 * kv_heads) + gates * hidden * ffn
        get["layers"] = max(1.0, round((row.params_b * 1e9 - vocabulary * hidden) / each))
        guessed.append("layers")
    expert_ffn = get["moe_ffn"] or ffn
    if "maverick" in name:  # the file has the vocabulary of the router there
        expert_ffn, vocabulary = 8192.0, 202_048.0
    return {
        "layers": get["layers"],
        "hidden": hidden,
        "ffn": ffn,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_size": head_size,
        "vocabulary": vocabulary,
        "gates": gates,
        "experts": experts,
        "active_experts": (get["top_k"] or 1.0) if experts > 1 else 1.0,
        "expert_ffn": expert_ffn,
        "shared_ffn": expert_ffn if latent or "llama4" in name else 0.0,
        "dense_layers": 3.0 if latent and get["layers"] > 3 else 0.0,
        "window": math.inf,
        "q_rank": 1536.0 if latent else 0.0,
        "kv_rank": 512.0 if latent else 0.0,
    }


def _layout(row: LanguageRow, shape: dict[str, float], gpu: Gpu, guessed: list[str]) -> dict[str, float]:
    gpus = row.gpus
    is_lora = row.kind == "lora"
    full = any(word in row.sharding for word in ("fsdp", "zero3"))
    tensor, pipeline, context = row.tp, row.pp, row.cp
    batch = row.global_batch
    micro = row.micro_batch
    if tensor is None:
        guessed.append("layout")
        pipeline, context = pipeline or 1.0, context or 1.0
        if is_lora:
            # The frozen model must fit; a step is often one sequence a replica, and GPUs beyond divide the sequence.
            tensor = min(gpus, _least_tensor(row, gpu))
            context = max(context, gpus / (tensor * min(gpus / tensor, batch or gpus)))
        elif full or row.params_b is None or row.params_b < 20:
            tensor = 1.0
        else:
            tensor = min(8.0, gpus)
    pipeline, context = pipeline or 1.0, context or 1.0
    if micro is None and not is_lora:
        # An adapter's step has one sequence a replica; elsewhere the micro batch is a choice that decides much.
        guessed.append("micro batch")
    micro = micro or 1.0
    data = max(1.0, gpus / (tensor * pipeline * context))
    if batch is None:
        # Enough micro batches to fill a pipeline four times, as is usual, where the source does not count them.
        batch = data * micro * (row.grad_accum or (4.0 * pipeline if pipeline > 1 else 1.0))
        guessed.append("global batch")
    chunks = row.vp
    if chunks is None:
        chunks = 1.0
        if pipeline > 1 and row.source != "bigscience-bloom":
            guessed.append("interleaving")
            chunks = max(1.0, min(4.0, shape["layers"] // pipeline))
    return {
        "gpus": gpus,
        "batch": batch,
        "micro_batch": min(micro, max(1.0, batch / data)),
        "sequence": row.seq or 0.0,
        "tensor": tensor,
        "pipeline": pipeline,
        "virtual": max(1.0, chunks),
        "context": context,
        "expert": row.ep or 1.0,
        "is_fully_sharded": float(full),
        "is_optimizer_sharded": float(not full and row.sharding not in ("ddp", "zero0")),
        "recompute": {"full": 1.0, "selective": 0.15}.get(row.recompute, 0.0),
        "is_lora": float(is_lora),
        "element_bytes": _ELEMENT_BYTES.get(number_format(row.precision), 2.0),
        "is_tuned": float(stack_named(row).startswith(TUNED)),
    }


def _least_tensor(row: LanguageRow, gpu: Gpu) -> float:
    """Least tensor parallelism, a power of two, at which the weights take at most 40 % of a GPU's memory."""
    weights = (row.params_b or 1.0) * 1e9 * _ELEMENT_BYTES.get(number_format(row.precision), 2.0)
    return 2.0 ** max(0, min(3, math.ceil(math.log2(weights / (0.4 * gpu.memory_bytes.value)))))


def _machine(row: LanguageRow, gpu: Gpu, precision: str) -> dict[str, float]:
    matmul = {name: _matmul(gpu, name) for name in ("bf16", precision)}
    domain = 72.0 if re.match(r"gb[23]00", gpu.id) else row.gpus_per_node or 8.0
    return {
        "matmul_flop_per_s": matmul[precision],
        "attention_flop_per_s": matmul["bf16"],
        "memory_bytes_per_s": gpu.memory_bytes_per_s.value if gpu.memory_bytes_per_s else 2e12,
        "domain_gpus": domain,
        "domain_bytes_per_s": gpu.nvlink_bytes_per_s.value if gpu.nvlink_bytes_per_s else 3e10,
        "nic_bytes_per_s": _nic_gbit(row, gpu) * GBIT,
    }


def _matmul(gpu: Gpu, precision: str) -> float:
    """Rate of large matrix products, measured where it was, else the usual share of the peak. [FLOP/s]"""
    name = "bf16" if precision in _NEAR_BF16 else precision
    if name in gpu.matmul_flop_per_s:
        return gpu.matmul_flop_per_s[name].value
    if name == "bf16":
        return gpu.peak_mixed_flop_per_s.value * _USUAL_MATMUL_SHARE[name]
    peak = gpu.peak_flop_per_s.get(name)
    # A GPU without the format computes in the next wider one.
    return peak.value * _USUAL_MATMUL_SHARE[name] if peak else _matmul(gpu, "fp8" if name == "fp4" else "bf16")


def _nic_gbit(row: LanguageRow, gpu: Gpu) -> float:
    """Line rate of the network of one GPU, as the text says it; else that of the usual adapter. [Gbit/s]"""
    text = row.network.lower().replace("gb/sec", "gb/s").replace("gbps", "gb/s")
    a_node = row.gpus_per_node or 8.0
    if found := re.search(r"([0-9]+) ?gb/s per gpu", text):
        return float(found[1])
    if found := re.search(r"([0-9]+)x[^;,]*?([0-9]{2,3}) ?gb/s per node", text):
        return float(found[1]) * float(found[2]) / a_node
    if found := re.search(r"([0-9]+) gb/s per node", text):
        return float(found[1]) / a_node
    if "omni-path" in text:
        return 400.0 / a_node
    pairs = [float(n) * float(rate) for n, rate in re.findall(r"([0-9]+)x [^;,]*?([0-9]{3}) ?gb/s", text)]
    if pairs:
        return max(pairs) / a_node
    if gpu.id.startswith("a100"):
        return 200.0
    return 800.0 if re.match(r"g?b300", gpu.id) else _USUAL_NIC_GBIT


# Words of a software column and the stack that they mean; the first that is found counts.
_STACKS = (("automodel", "nemo-automodel"), ("megatron-deepspeed", "megatron-deepspeed"), ("deepspeed", "deepspeed"),
           ("llm-foundry", "llm-foundry"), ("nanotron", "nanotron"), ("torchtitan", "torchtitan"),
           ("maxtext", "maxtext"), ("paxml", "paxml"), ("megatron-lm", "megatron-lm"), ("megatron", "nemo"),
           ("nemo", "nemo"), ("fsdp", "pytorch-fsdp"), ("primus", "primus"), ("pytorch", "pytorch"))  # fmt: skip
_GROUPS = {"nemo-automodel": "pytorch", "llm-foundry": "pytorch", "torchtitan": "pytorch", "pytorch-fsdp": "pytorch",
           "pytorch": "pytorch", "maxtext": "jax", "paxml": "jax"}  # fmt: skip
TUNED = "mlperf"


def stack_named(row: LanguageRow) -> str:
    """The software stack: submissions to MLPerf are tuned for their benchmark and count as one of their own."""
    if "mlperf" in row.source.lower():
        return f"{TUNED}-rocm" if row.gpu.lower().startswith("mi") else TUNED
    text = row.software.lower()
    return next((stack for word, stack in _STACKS if word in text), f"other:{text[:40]}")


def _levels(row: LanguageRow, gpu_id: str, precision: str) -> RunLevels:
    stack = stack_named(row)
    name = row.model.lower()
    family = re.split(r"[-0-9.]", name)[0] or name
    mixture = row.arch.endswith("moe")
    release = f"{stack}/{row.version or row.date or row.source}" + ("" if stack != TUNED else f"/{row.source}")
    # A GPU run at less than its usual power is another one to the fit.
    power = re.search(r"[0-9]{3,4}w", row.gpu.lower())
    gpu = gpu_id if power is None else f"{gpu_id}/{power[0]}"
    return RunLevels(
        gpu_precision=f"{gpu}/{precision}",
        stack=stack,
        stack_group=_GROUPS.get(stack, stack.split("-")[0] if stack.startswith(TUNED) else "megatron"),
        release=release,
        family=family,
        model_gpu=f"{name}/{gpu}/{precision}",
        mixture=f"{release}/{name}/{gpu}" if mixture else "",
        mixture_stack=release if mixture else "",
        lora=stack if row.kind == "lora" else "",
    )


def arrays(cases: Sequence[LanguageCase]) -> tuple[Shapes, Layouts, Machines]:
    """The cases as the arrays of the step model."""

    def column(of: str, name: str) -> Floats:
        return np.array([getattr(case, of)[name] for case in cases], dtype=float)

    shapes = Shapes(**{one.name: column("shape", one.name) for one in fields(Shapes)})
    flags = {
        name: column("layout", name) > 0 for name in ("is_fully_sharded", "is_optimizer_sharded", "is_lora", "is_tuned")
    }
    numbers = {one.name: column("layout", one.name) for one in fields(Layouts) if one.name not in flags}
    layouts = Layouts(**numbers, **flags)  # type: ignore[arg-type]  # numbers and flags are both arrays of one length
    return shapes, layouts, Machines(**{one.name: column("machine", one.name) for one in fields(Machines)})
