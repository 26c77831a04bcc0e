"""What the rows say in the terms of the model: shape, layout, machine, and the levels that share an effect."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.identity_cache import cached_by_catalog
from sizer.calibrate.language.degrees import usual_degrees
from sizer.calibrate.language.machine import machine_values
from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.language.runtime import UNFUSED_ATTENTION, USUAL_RECOMPUTE, runtime_values
from sizer.calibrate.language.shapes import plain_name, shape_named, shape_of_row, shapes_by_name
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.model import Catalog
from sizer.catalog.networks import TransformerShape
from sizer.catalog.schema import Gpu
from sizer.perf.language.memory import FILLED, MemoryFactors, MemoryUse, Runtime, memory_use
from sizer.perf.language.shape import Shapes
from sizer.perf.language.step import RECOMPUTE, Layouts, Machines

# Bytes of an element of a matrix; other formats have two.
_ELEMENT_BYTES = {"fp8": 1.0, "fp4": 0.5}
# Of a run that does not state its sequence, and no other run of its model does.
_USUAL_SEQUENCE = 4096.0
# Of a micro batch on one GPU that a source does not state.
_USUAL_TOKENS = 16_384
# GPUs that compute as another one and have slower links only, for export.
_SAME_CHIP = {"h800": "h100", "a800": "a100"}


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

    Parameters
    ----------
    rows : sequence of LanguageRow
    catalog : Catalog
        For the GPUs.
    known : sequence of LanguageRow
        Rows whose models lend their shape to rows that name the model only.
    """
    stated = sorted((one for one in known if one.layers and one.hidden), key=lambda one: one.role == "calibration")
    shapes = {one.model.lower(): one for one in stated}
    models, gpus = shapes_by_name(catalog), _gpus_by_name(catalog)
    domains = _domains(catalog)
    return _recomputing([_case(row, gpus, shapes, models, domains) for row in rows])


def _recomputing(cases: list[LanguageCase | CalibrationNote]) -> list[LanguageCase | CalibrationNote]:
    """The cases with what sources do not print of recomputation and sharding: the least with which they fit a GPU."""
    places = [i for i, case in enumerate(cases) if isinstance(case, LanguageCase) and not case.row.recompute]
    silent = [case for place in places if isinstance(case := cases[place], LanguageCase)]
    if not silent:
        return cases
    shapes, layouts, machines = arrays(silent)
    runtime = replace(runtimes(silent), is_allocated=np.zeros(len(silent), dtype=bool))

    def use(level: float, is_fully_sharded: Bools) -> MemoryUse:
        ways = replace(layouts, recompute=np.full(len(silent), level), is_fully_sharded=is_fully_sharded)
        return memory_use(shapes, ways, runtime, MemoryFactors())

    def fits(level: float, is_fully_sharded: Bools) -> Bools:
        return np.asarray(use(level, is_fully_sharded).total <= machines.memory_bytes)

    # A question mark: the default of the stack, not printed. A misprint: the state of the training alone fills the GPU.
    usual = layouts.is_fully_sharded
    misprinted = ~usual & (use(RECOMPUTE["full"], usual).state > FILLED * machines.memory_bytes)
    may_divide = np.array([case.row.sharding.endswith("?") for case in silent]) | misprinted
    divided = usual | (may_divide & ~fits(RECOMPUTE["full"], usual))
    level = np.full(len(silent), RECOMPUTE["full"])
    may_keep = np.array([stack_named(case.row) not in USUAL_RECOMPUTE for case in silent])
    for less in (RECOMPUTE["selective"], RECOMPUTE["none"]):
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
    gpus: dict[str, Gpu],
    shapes: dict[str, LanguageRow],
    models: dict[str, TransformerShape],
    domains: dict[str, int],
) -> LanguageCase | CalibrationNote:
    gpu = gpu_named(row.gpu, gpus)
    if gpu is None:
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.gpu) if row.gpu else note(FitNote.GPU_NOT_NAMED)
    if not row.gpus:
        return note(FitNote.COUNTS_NOT_STATED)
    guessed: list[str] = [] if row.precision else ["precision"]
    like = shapes.get(row.model.lower())
    sequence = row.seq
    if sequence is None:
        if not row.tokens_s_gpu and not row.tokens_s_gpu_adj and not row.mem_gib:
            return note(FitNote.SEQUENCE_NOT_STATED)
        sequence = like.seq if like is not None and like.seq else _USUAL_SEQUENCE
        guessed.append("sequence")
    shape = shape_of_row(row, like, shape_named(row.model, models), guessed)
    if isinstance(shape, CalibrationNote):
        return shape
    layout = _layout(row, shape, gpu, sequence, guessed)
    precision = number_format(row.precision)
    machine = machine_values(row, gpu, precision, domains.get(gpu.form_factor.value))
    runtime = runtime_values(stack_named(row), precision, layout["element_bytes"])
    return LanguageCase(row, shape, layout, machine, runtime, _levels(row, gpu.id, precision), gpu.id, tuple(guessed))


@cached_by_catalog
def _gpus_by_name(catalog: Catalog) -> dict[str, Gpu]:
    found = {}
    for gpu in catalog.gpus.values():
        for name in (gpu.id, gpu.name, *gpu.aliases):
            found[plain_name(name)] = gpu
    return found


def gpu_of_case(case: LanguageCase, catalog: Catalog) -> Gpu:
    """The catalogue's GPU of a case."""
    return catalog.gpus[case.gpu_id]


def gpu_named(text: str, gpus: dict[str, Gpu]) -> Gpu | None:
    """The GPU that a source means: the longest known name with which its wording starts, or which it contains.

    Of a family alone, such as V100, the one in servers: SXM.
    """
    wanted = plain_name(text)
    for other, chip in _SAME_CHIP.items():
        wanted = wanted.replace(other, chip)
    starts = [name for name in gpus if wanted.startswith(name)] or [name for name in gpus if name in wanted]
    if starts:
        return gpus[max(starts, key=len)]
    family = [name for name in gpus if wanted and name.startswith(wanted) and not name[len(wanted)].isdigit()]
    return gpus[min(family, key=lambda name: ("sxm" not in name, len(name)))] if family else None


def number_format(text: str) -> str:
    """Number format of the matrix products: "bf16", "fp8", "fp4"."""
    plain = text.lower()
    if "fp4" in plain:
        return "fp4"
    return "fp8" if "fp8" in plain else "fp16" if "fp16" in plain else "bf16"


def _layout(
    row: LanguageRow, shape: dict[str, float], gpu: Gpu, sequence: float, guessed: list[str]
) -> dict[str, float]:
    gpus = row.gpus
    is_lora = row.kind == "lora"
    full = any(word in row.sharding for word in ("fsdp", "zero3"))
    tensor, pipeline, context, expert = row.tp, row.pp, row.cp, row.ep
    batch = row.global_batch
    micro = row.micro_batch
    if tensor is None:
        guessed.append("layout")
        pipeline, context = pipeline or 1.0, context or 1.0
        if is_lora:
            # The frozen model must fit; a step is often one sequence a replica, and GPUs beyond divide the sequence.
            tensor = min(gpus, _least_tensor(row, gpu))
            context = max(context, gpus / (tensor * min(gpus / tensor, batch or gpus)))
        elif full:
            tensor = 1.0
    if not full and not is_lora and (None in (tensor, pipeline) or (expert is None and shape["experts"] > 1)):
        tensor, pipeline, expert = usual_degrees(row, shape, gpu.memory_bytes.value, row.gpus_per_node or 8.0)
        if "layout" not in guessed:
            guessed.append("layout")
    tensor = tensor or 1.0
    pipeline, context = pipeline or 1.0, context or 1.0
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
    if chunks is None:
        chunks = 1.0
        if pipeline > 1 and row.source != "bigscience-bloom":
            guessed.append("interleaving")
            chunks = max(1.0, min(4.0, shape["layers"] // pipeline))
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
        "is_tuned": float(stack_named(row).startswith(TUNED)),
        "is_unfused": float(stack_named(row) in UNFUSED_ATTENTION),
    }


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
        return f"{TUNED}-rocm" if row.gpu.lower().startswith("mi") else TUNED
    text = row.software.lower()
    return next((stack for word, stack in STACK_WORDS if word in text), f"other:{text[:40]}")


def group_of_stack(stack: str) -> str:
    """The group of stacks that share an effect."""
    return _GROUPS.get(stack, stack.split("-")[0] if stack.startswith(TUNED) else "megatron")


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
        stack_group=group_of_stack(stack),
        release=release,
        family=family,
        model_gpu=f"{name}/{gpu}/{precision}",
        mixture=f"{release}/{name}/{gpu}" if mixture else "",
        mixture_stack=release if mixture else "",
        lora=stack if row.kind == "lora" else "",
    )


def runtimes(cases: Sequence[LanguageCase]) -> Runtime:
    """What the software of each case keeps in memory."""

    def column(name: str) -> Floats:
        return np.array([case.runtime[name] for case in cases], dtype=float)

    numbers = {one.name: column(one.name) for one in fields(Runtime) if one.name != "is_allocated"}
    return Runtime(is_allocated=column("is_allocated") > 0, **numbers)


def arrays(cases: Sequence[LanguageCase]) -> tuple[Shapes, Layouts, Machines]:
    """The cases as the arrays of the step model."""

    def column(of: str, name: str) -> Floats:
        return np.array([getattr(case, of)[name] for case in cases], dtype=float)

    shapes = Shapes(**{one.name: column("shape", one.name) for one in fields(Shapes)})
    names = [one.name for one in fields(Layouts)]
    flags = {name: column("layout", name) > 0 for name in names if name.startswith("is_")}
    numbers = {name: column("layout", name) for name in names if name not in flags}
    layouts = Layouts(**numbers, **flags)  # type: ignore[arg-type]  # numbers and flags are both arrays of one length
    return shapes, layouts, Machines(**{one.name: column("machine", one.name) for one in fields(Machines)})
