"""What the rows say in the terms of the model: shape, layout, machine, and the levels that share an effect."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.calibrate.language.layout import USUAL_RECOMPUTE, layout_of, runtime_values
from sizer.calibrate.language.rows import TUNED, LanguageRow, group_of_stack, number_format, stack_named
from sizer.calibrate.language.shapes import (
    USUAL_SEQUENCE,
    ModelNames,
    family_of,
    gpu_of_run,
    lending_rows,
    shape_named,
    shape_of_row,
    shapes_by_name,
    usual_words,
)
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, TransformerShape
from sizer.perf.language import step

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
