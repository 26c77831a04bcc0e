"""What the rows say in the terms of the model: shape, layout, machine, and the levels that share an effect."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.calibrate.language.rows import (
    TUNED,
    USUAL_SEQUENCE,
    LanguageRow,
    ModelNames,
    family_of,
    gpu_of_run,
    group_of_stack,
    lending_rows,
    number_format,
    shape_named,
    shape_of_row,
    shapes_by_name,
    stack_named,
    stated_stacks,
    usual_words,
)
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, TransformerShape
from sizer.perf.language import step
from sizer.perf.language.step import RECOMPUTE, Shapes

# What a source that does not print recomputation recomputes, where recipes say so: activation_checkpointing is true in
# most of NeMo AutoModel's. Elsewhere the least that fits.
USUAL_RECOMPUTE = {"nemo-automodel": "full"}
# Attention without a fused kernel: Megatron before FlashAttention (May 2022), which runs from the next year on have, as
# have all on GPUs that are younger.
_UNFUSED_ATTENTION, _FUSED_FROM = ("megatron-deepspeed", "megatron-lm"), "2023"
# Attention by the FlashAttention of 2023, the year of MosaicML's benchmarks of llm-foundry.
EARLY_ATTENTION = ("llm-foundry",)


def is_from_hopper_on(gpu: Gpu) -> bool:
    """Whether a GPU is of Hopper's generation or a later one: those have FP8."""
    return "fp8" in gpu.peak_flop_per_s


def is_unfused(stack: str, date: str, gpu: Gpu) -> bool:
    """Whether a run writes its attention scores to memory; the date is of its publication, "" if that is not known."""
    return stack in _UNFUSED_ATTENTION and date < _FUSED_FROM and not is_from_hopper_on(gpu)


def runtime_values(stack: str, precision: str, element_bytes: float) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.step.Runtime` of a stack and a number format."""
    stated = stated_stacks()["memory"]
    usual, of_stack, of_both = (stated.get(name, {}) for name in ("usual", stack, f"{stack}/{precision}"))
    return {"element_bytes": element_bytes, **usual, **of_stack, **of_both}


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


# Measured rate of large matrix products over the peak where nobody measured it: the median of those measured.
USUAL_MATMUL_SHARE = {"bf16": 0.75, "fp8": 0.72, "fp4": 0.45}
_NEAR_BF16 = ("bf16", "fp16")
GBIT = 1e9 / 8
# Logarithm of the ratio of two sizes of memory, below which they are one rounded differently.
_SAME_SIZE = 0.12
_USUAL_NIC_GBIT = 400.0
_PCIE_BYTES_PER_S = {"pcie4": 25e9, "pcie5": 50e9}
# Of that a ring of an exchange passes where cards reach each other through the host's memory, which every byte is
# written to and read from. Assumed.
_RING_THROUGH_HOST = 0.7


def machine_values(row: LanguageRow, gpu: Gpu, precision: str, domain: int | None) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.step.Machines` of a row, and the memory of its GPU."""
    matmul = {name: matmul_flop_per_s(gpu, name) for name in ("bf16", precision)}
    # Memory of the GPU; of a size that the catalogue does not have, as the row names it. Sizes are sold in GiB.
    stated = re.search(r"([0-9]{2,3}) ?gb", row.gpu.lower())
    named = float(stated[1]) * step.GIB if stated else gpu.memory_bytes.value
    return {
        "matmul_flop_per_s": matmul[precision],
        "attention_flop_per_s": matmul["bf16"],
        "memory_bytes": named if abs(math.log(named / gpu.memory_bytes.value)) > _SAME_SIZE else gpu.memory_bytes.value,
        "memory_bytes_per_s": gpu.memory_bytes_per_s.value if gpu.memory_bytes_per_s else 2e12,
        "domain_gpus": float(domain or row.gpus_per_node or 8.0),
        "domain_bytes_per_s": gpu.nvlink_bytes_per_s.value if gpu.nvlink_bytes_per_s else 3e10,
        "nic_bytes_per_s": _nic_gbit(row, gpu) * GBIT,
    }


def is_through_host(gpu: Gpu) -> bool:
    """Whether GPUs of a design reach each other through the host alone: cards, as no bill has bridges between them."""
    return gpu.form_factor.value.startswith("pcie")


def ring_through_host_bytes_per_s(gpu: Gpu) -> float:
    """What a ring of an exchange passes over the PCIe of such cards. [B/s]"""
    return _RING_THROUGH_HOST * pcie_bytes_per_s(gpu)


def pcie_bytes_per_s(gpu: Gpu) -> float:
    """Measured one-way rate of the PCIe link of a card, 16 lanes of its generation. [B/s]"""
    return _PCIE_BYTES_PER_S["pcie5" if gpu.generation in ("hopper", "blackwell", "cdna4") else "pcie4"]


def matmul_flop_per_s(gpu: Gpu, precision: str) -> float:
    """Rate of large matrix products, measured where it was, else the usual share of the peak. [FLOP/s]"""
    name = "bf16" if precision in _NEAR_BF16 else precision
    if name in gpu.matmul_flop_per_s:
        return gpu.matmul_flop_per_s[name].value
    if name == "bf16":
        return gpu.peak_mixed_flop_per_s.value * USUAL_MATMUL_SHARE[name]
    peak = gpu.peak_flop_per_s.get(name)
    # A GPU without the format computes in the next wider one.
    return peak.value * USUAL_MATMUL_SHARE[name] if peak else matmul_flop_per_s(gpu, "fp8" if name == "fp4" else "bf16")


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
    runtime: dict[str, float]
    levels: RunLevels
    gpu_id: str  # of the catalogue
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

    ``known``: rows whose models lend their name and shape to rows that name the model only, and whose number formats
    and tasks are the usual ones.
    """
    shapes = lending_rows(known)
    models = shapes_by_name(catalog)
    domains, names = _domains(catalog), ModelNames(catalog, known)

    @cache
    def formats() -> list[tuple[str | None, str, str]]:
        machines = {text: gpu_of_run(text, catalog) for text in {one.gpu for one in known}}
        stated = [(machines[one.gpu], one) for one in known if one.precision and one.role == "calibration"]
        return [(gpu.generation, stack_named(one), number_format(one.precision)) for gpu, one in stated if gpu]

    @cache
    def usual_format(generation: str | None, stack: str) -> str:
        """Number format of most runs with GPUs of a generation and a stack, else of the generation, else BF16."""
        alike = [one for one in formats() if one[0] == generation]
        chosen = Counter(one[2] for one in [one for one in alike if one[1] == stack] or alike)
        return chosen.most_common(1)[0][0] if chosen else number_format("")

    def case_of(row: LanguageRow) -> LanguageCase | CalibrationNote:
        guessed: list[str] = []
        usual = usual_words(row, names)
        return _case(usual, gpu_of_run(row.gpu, catalog), shapes, models, domains, guessed, usual_format)

    return _recomputing([case_of(row) for row in rows])


def _recomputing(cases: list[LanguageCase | CalibrationNote]) -> list[LanguageCase | CalibrationNote]:
    """The cases with what sources do not print of recomputation and sharding: the least with which they fit a GPU."""
    places = [i for i, case in enumerate(cases) if isinstance(case, LanguageCase) and not case.row.recompute]
    silent = [case for place in places if isinstance(case := cases[place], LanguageCase)]
    if not silent:
        return cases
    shapes, layouts, machines = arrays(silent)
    runtime = replace(runtimes(silent), is_allocated=np.zeros(len(silent), dtype=bool))

    def use(level: float, is_fully_sharded: Bools) -> step.MemoryUse:
        ways = replace(layouts, recompute=np.full(len(silent), level), is_fully_sharded=is_fully_sharded)
        return step.memory_use(shapes, ways, runtime, step.MemoryFactors())

    def fits(level: float, is_fully_sharded: Bools) -> Bools:
        return np.asarray(use(level, is_fully_sharded).total <= machines.memory_bytes)

    # A question mark: the default of the stack, not printed. A misprint: the state of the training alone fills the GPU.
    usual = layouts.is_fully_sharded
    misprinted = ~usual & (use(step.RECOMPUTE["full"], usual).state > step.FILLED * machines.memory_bytes)
    may_divide = np.array([case.row.sharding.endswith("?") for case in silent]) | misprinted
    divided = usual | (may_divide & ~fits(step.RECOMPUTE["full"], usual))
    level = np.full(len(silent), step.RECOMPUTE["full"])
    may_keep = np.array([stack_named(case.row) not in USUAL_RECOMPUTE for case in silent])
    for less in (step.RECOMPUTE["selective"], step.RECOMPUTE["none"]):
        level = np.where(may_keep & fits(less, divided), less, level)
    for i, place in enumerate(places):
        if level[i] or divided[i]:
            known = {"recompute": float(level[i]), "is_fully_sharded": float(divided[i])}
            if divided[i]:
                known["is_optimizer_sharded"] = 0.0
            guessed = (*silent[i].guessed, *(["sharding"] if misprinted[i] else []))
            cases[place] = replace(silent[i], layout=silent[i].layout | known, guessed=guessed)
    return cases


def _domains(catalog: Catalog) -> dict[str, int]:
    """GPUs of an NVLink domain larger than a server, by the form of the GPUs that it connects."""
    known = ((link, link.domain_gpus) for link in catalog.gpu_links.values())
    return {form: size.value for link, size in known if size is not None for form in link.form_factors}


def _case(
    row: LanguageRow,
    gpu: Gpu | None,
    shapes: dict[str, LanguageRow],
    models: dict[str, TransformerShape],
    domains: dict[str, int],
    guessed: list[str],
    usual_format: Callable[[str | None, str], str],
) -> LanguageCase | CalibrationNote:
    if gpu is None:
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.gpu) if row.gpu else note(FitNote.GPU_NOT_NAMED)
    if not row.gpus:
        return note(FitNote.COUNTS_NOT_STATED)
    if not row.precision:
        guessed.append("precision")
        row = replace(row, precision=usual_format(gpu.generation, stack_named(row)))
    like = shapes.get(row.model.lower())
    sequence = row.seq
    if sequence is None:
        if not row.tokens_s_gpu and not row.tokens_s_gpu_adj and not row.mem_gib:
            return note(FitNote.SEQUENCE_NOT_STATED)
        sequence = like.seq if like is not None and like.seq else USUAL_SEQUENCE
        guessed.append("sequence")
    shape = shape_of_row(row, like, shape_named(row.model, models), guessed)
    if isinstance(shape, CalibrationNote):
        return shape
    layout = layout_of(row, shape, gpu, sequence, guessed)
    precision = number_format(row.precision)
    machine = machine_values(row, gpu, precision, domains.get(gpu.form_factor.value))
    runtime = runtime_values(stack_named(row), precision, layout["element_bytes"])
    return LanguageCase(row, shape, layout, machine, runtime, _levels(row, gpu.id, precision), gpu.id, tuple(guessed))


def gpu_of_case(case: LanguageCase, catalog: Catalog) -> Gpu:
    """The catalogue's GPU of a case."""
    return catalog.gpus[case.gpu_id]


def _levels(row: LanguageRow, gpu_id: str, precision: str) -> RunLevels:
    stack = stack_named(row)
    name = row.model.lower()
    mixture = row.arch.endswith("moe")
    release = f"{stack}/{row.version or row.date or row.source}" + ("" if stack != TUNED else f"/{row.source}")
    # A GPU run at less than its usual power is another one to the fit.
    power = re.search(r"[0-9]{3,4}w", row.gpu.lower())
    gpu = gpu_id if power is None else f"{gpu_id}/{power[0]}"
    return RunLevels(
        gpu_precision=f"{gpu}/{precision}",
        stack=stack,
        stack_group=group_of_stack(stack),
        release=release,
        family=family_of(row.model),
        model_gpu=f"{name}/{gpu}/{precision}",
        mixture=f"{release}/{name}/{gpu}" if mixture else "",
        mixture_stack=release if mixture else "",
        lora=stack if row.kind == "lora" else "",
    )


def work_flop(cases: Sequence[LanguageCase]) -> Floats:
    """Model FLOP of a step on one GPU, causal."""
    shapes, layouts, _ = arrays(cases)
    each = shapes.model_flop(layouts.sequence, layouts.is_lora)
    return np.asarray(each * layouts.batch * layouts.sequence / layouts.gpus)


def runtimes(cases: Sequence[LanguageCase]) -> step.Runtime:
    """What the software of each case keeps in memory."""

    def column(name: str) -> Floats:
        return np.array([case.runtime[name] for case in cases], dtype=float)

    numbers = {one.name: column(one.name) for one in fields(step.Runtime) if one.name != "is_allocated"}
    return step.Runtime(is_allocated=column("is_allocated") > 0, **numbers)


def arrays(cases: Sequence[LanguageCase]) -> tuple[step.Shapes, step.Layouts, step.Machines]:
    """The cases as the arrays of the step model."""

    def column(of: str, name: str) -> Floats:
        return np.array([getattr(case, of)[name] for case in cases], dtype=float)

    shapes = step.Shapes(**{one.name: column("shape", one.name) for one in fields(step.Shapes)})
    names = [one.name for one in fields(step.Layouts)]
    flags = {name: column("layout", name) > 0 for name in names if name.startswith("is_")}
    numbers = {name: column("layout", name) for name in names if name not in flags}
    layouts = step.Layouts(**numbers, **flags)  # type: ignore[arg-type]  # numbers and flags are both arrays of one length
    return shapes, layouts, step.Machines(**{one.name: column("machine", one.name) for one in fields(step.Machines)})
