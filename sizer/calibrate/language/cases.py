"""What the rows say in the terms of the model: shape, layout, machine, and the levels that share an effect."""

import difflib
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import RequestError
from sizer.base.faults import nearest
from sizer.base.formats.csv_rows import number_within, rows_of_file, typed_row
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import benchmark_file, stated_table
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, Transformer, TransformerShape
from sizer.perf.language import step
from sizer.perf.language.step import RECOMPUTE, Shapes
from sizer.workload.transformer.custom_transformer import USUAL_HEAD_SIZE, usual_shape, usual_width

# Columns by which a file of this kind is known. It may have any field of :class:`LanguageRow`; others are left out.
NEEDED_COLUMNS = ("row_id", "source", "model", "gpu", "gpus", "precision")
SHIPPED = ("language", "training.csv")
# Numbers of a row and what is allowed: anything else is a fault of the file.
_LIMITS = {"params_b": (1e-4, 1e6), "step_time_s": (1e-6, 1e6), "gpus": (1, 1e7)}
_ANY_NUMBER = (0.0, 1e15)
# Counts: at least 1. A dense model's experts and a GPU without expert parallelism may be written 0, which says as much
# as an empty cell; so may other counts.
_COUNTS = (
    "layers", "dense_layers", "hidden", "ffn", "heads", "kv_heads", "head_dim", "experts", "top_k", "moe_ffn", "vocab",
    "seq", "global_batch", "micro_batch", "grad_accum", "tp", "pp", "cp", "ep", "vp", "dp", "gpus_per_node",
)  # fmt: skip
_ANY_COUNT = (1.0, 1e9)


@dataclass(frozen=True)
class LanguageRow:
    """One published run. Fields are the columns; what a source does not state is empty or None.

    Rates are tokens/s of one GPU, memory GiB of one GPU, times seconds and minutes as the names say.
    """

    row_id: str
    source: str
    model: str
    gpu: str
    precision: str
    gpus: float = 0.0  # 0: not stated
    kind: str = ""
    arch: str = ""
    params_b: float | None = None
    layers: float | None = None
    dense_layers: float | None = None  # without experts, of a mixture
    hidden: float | None = None
    ffn: float | None = None
    heads: float | None = None
    kv_heads: float | None = None
    head_dim: float | None = None
    experts: float | None = None
    top_k: float | None = None
    moe_ffn: float | None = None
    vocab: float | None = None
    seq: float | None = None
    global_batch: float | None = None
    micro_batch: float | None = None
    grad_accum: float | None = None
    tp: float | None = None
    pp: float | None = None
    cp: float | None = None
    ep: float | None = None
    vp: float | None = None
    dp: float | None = None
    sharding: str = ""
    recompute: str = ""
    gpus_per_node: float | None = None
    network: str = ""
    software: str = ""
    version: str = ""
    date: str = ""
    place: str = ""
    step_time_s: float | None = None
    tokens_s_gpu: float | None = None
    tokens_s_gpu_adj: float | None = None
    tflops_gpu: float | None = None
    flop_convention: str = ""
    mem_gib: float | None = None
    ttt_min: float | None = None
    series: str = ""
    role: str = "calibration"
    flag: str = ""

    @property
    def tokens_per_s_per_gpu(self) -> float | None:
        """Published rate of one GPU: corrected where it was printed rounded, else from the time of a step."""
        if self.tokens_s_gpu_adj or self.tokens_s_gpu:
            return self.tokens_s_gpu_adj or self.tokens_s_gpu
        if self.step_time_s and self.global_batch and self.seq and self.gpus:
            return self.global_batch * self.seq / self.step_time_s / self.gpus
        return None


def load_language_rows(path: Path | None = None) -> tuple[LanguageRow, ...]:
    """Rows of one file, by default of the shipped one.

    Raises CalibrationError naming the line and the column of every cell that is no number in its range, and every id
    that stands twice.
    """
    return tuple(rows_of_file(path or benchmark_file(*SHIPPED), "language-model measurements", row_of, key="row_id"))


def row_of(cells: dict[str, str], place: str) -> LanguageRow:
    """A run as its cells state it; ``place`` names one without an id. Raises ValueError for a cell that is wrong."""
    row = typed_row(LanguageRow, cells | {"row_id": cells.get("row_id") or place}, _number)
    return row if row.gpus else replace(row, gpus=_gpus_of(row, cells.get("nodes", "")))


def _gpus_of(row: LanguageRow, nodes: str) -> float:
    """GPUs of a run that states them otherwise: nodes times their GPUs, or the product of the degrees; else 0."""
    if row.gpus_per_node is not None and nodes.isdecimal():
        return row.gpus_per_node * float(nodes[:9])
    degrees = (row.dp, row.tp, row.pp, row.cp)
    return math.prod(degree for degree in degrees if degree is not None) if row.dp is not None else 0.0


def _number(name: str, text: str) -> float | None:
    low, high = _LIMITS.get(name, _ANY_COUNT if name in _COUNTS else _ANY_NUMBER)
    value = number_within(text, low, high, or_zero=name in _COUNTS)
    return None if name in _COUNTS and value == 0 else value


TUNED = "mlperf"


def stated_stacks() -> dict[str, Any]:
    """How software is known, and what it keeps in memory."""
    return stated_table("language/stacks.toml")


def stack_named(row: LanguageRow) -> str:
    """The software stack: submissions to MLPerf are tuned for their benchmark and count as one of their own."""
    if "mlperf" in row.source.lower() or row.software.lower().startswith(TUNED):
        return f"{TUNED}-rocm" if re.search(r"\bmi[0-9]", row.gpu.lower()) else TUNED
    text = row.software.lower()
    return next((stack for word, stack in stated_stacks()["words"].items() if word in text), f"other:{text[:40]}")


def group_of_stack(stack: str) -> str:
    """The group of stacks that share an effect; a framework without a stack of its own counts as of PyTorch."""
    usual = stack.split("-")[0] if stack.startswith(TUNED) else "pytorch" if stack.startswith("other:") else "megatron"
    return str(stated_stacks()["groups"].get(stack, usual))


def stack_on(stack: str, generation: str | None) -> str:
    """A stack on a generation of GPUs; "" of submissions to a benchmark, which are tuned for every GPU."""
    return "" if stack.startswith(TUNED) else f"{stack}/{generation or ''}"


def number_format(text: str) -> str:
    """Number format of the matrix products: "bf16", "fp8", "fp4"."""
    plain = text.lower().replace("bfloat", "bf").replace("float", "fp")
    return next((name for name in ("fp4", "fp8", "bf16", "fp16") if name in plain), "bf16")


_MEASURED_VOCABULARY = 50_304.0
# Tokens, of a run that does not state its sequence, and no other run of its model does.
USUAL_SEQUENCE = 4096.0
# Values of a shape that a row may state, by the names of its columns.
_STATED = {"layers": "layers", "dense_layers": "dense_layers", "hidden": "hidden", "ffn": "ffn", "heads": "heads",
           "kv_heads": "kv_heads", "head_dim": "head_size", "experts": "experts", "top_k": "active_experts",
           "moe_ffn": "expert_ffn", "vocab": "vocabulary"}  # fmt: skip
# Share of a mixture's parameters that a token uses, as of the catalogue's median mixture.
_USUAL_ACTIVE = 0.1
# Share of a model's parameters below which a run of its name has fewer layers; others count no embeddings or round.
_LEAST_SHARE = 0.75
_ACTIVE_EXPERTS = 4.0
# State-space layers (Mamba-2) work on chunks of so many tokens, as attention with a window does; of hybrid models about
# nine layers in ten are such.
_CHUNK, _CHUNKED_SHARE = 256.0, 0.9


# Words before the name of a GPU that tell none from another.
GPU_MAKERS = frozenset(("nvidia", "amd", "tesla", "instinct", "geforce"))


def _stated_models() -> dict[str, Any]:
    return stated_table("language/models.toml")


def plain_name(text: str) -> str:
    """Letters and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


_SIZES = ("layers", "hidden", "ffn", "heads", "kv_heads", "head_size", "vocabulary")
# A model without experts, windows and latent attention.
_PLAIN = {"experts": 1.0, "active_experts": 1.0, "shared_ffn": 0.0, "dense_layers": 0.0, "window": math.inf,
          "window_share": 0.0, "q_rank": 0.0, "kv_rank": 0.0}  # fmt: skip


def shape_values(shape: TransformerShape) -> dict[str, float]:
    """A shape as the step model takes it: fields of :class:`sizer.perf.language.step.Shapes`."""
    mixture = shape.experts > 1
    width = float(shape.expert_ffn or shape.ffn)
    same = (*_SIZES, "experts", "dense_layers", "q_rank", "kv_rank")
    return {name: float(getattr(shape, name) or 0.0) for name in same} | {
        "gates": 3.0 if shape.gated else 2.0,
        "active_experts": float(shape.active_experts) if mixture else 1.0,
        "expert_ffn": width,
        "shared_ffn": shape.shared_experts * width,
        "window": float(shape.window or math.inf),
        "window_share": (shape.window_layers or shape.layers) / shape.layers if shape.window else 0.0,
    }


def shape_from(values: dict[str, float]) -> TransformerShape:
    """The shape of which :func:`shape_values` gives the values."""
    counts: dict[str, Any] = {name: round(values[name]) for name in _SIZES}
    if values["experts"] > 1:
        counts |= {name: round(values[name]) for name in ("experts", "active_experts", "expert_ffn", "dense_layers")}
        counts["shared_experts"] = round(values["shared_ffn"] / values["expert_ffn"])
    if values["kv_rank"]:
        ranks = {name: round(values[name]) or None for name in ("q_rank", "kv_rank")}
        counts |= {"attention": "latent", **ranks}
    if values["window_share"]:
        layers = round(values["window_share"] * values["layers"])
        counts |= {"attention": "sliding", "window": round(values["window"]), "window_layers": layers}
    return TransformerShape(**counts, gated=values["gates"] > 2)


@lru_cache(maxsize=8)
def _by_name(catalog: Catalog) -> dict[str, tuple[Dnn, Transformer]]:
    """The catalogue's language models by each of their names, as :func:`plain_name` writes it."""
    found: dict[str, tuple[Dnn, Transformer]] = {}
    for dnn in catalog.dnns.values():
        if dnn.transformer is not None:
            for name in (dnn.id, dnn.name, *dnn.aliases, dnn.transformer.measured_as):
                found.setdefault(plain_name(name), (dnn, dnn.transformer))
    found.pop("", None)
    return found


def shapes_by_name(catalog: Catalog) -> dict[str, TransformerShape]:
    """Shapes of the catalogue's language models by each of their names, as :func:`plain_name` writes it."""
    return {name: shape for name, (_, shape) in _by_name(catalog).items()}


def shape_named(text: str, models: dict[str, TransformerShape]) -> TransformerShape | None:
    """The shape of the model that a source names: by its name, or by the longest name before a word such as "chat"."""
    wanted = plain_name(text)
    if wanted in models:
        return models[wanted]
    starts = [name for name in models if wanted.startswith(name) and not wanted[len(name)].isdigit()]
    return models[max(starts, key=len)] if starts else None


def shape_of_row(
    row: LanguageRow, like: LanguageRow | None, named: TransformerShape | None, guessed: list[str]
) -> dict[str, float] | CalibrationNote:
    """Shape of a row's model: as it states it, else as the catalogue or another row of the model does.

    ``like``: a row of the same model that states the shape. ``guessed``: takes what is neither stated nor known.
    """
    stated: dict[str, float] = {ours: value for theirs, ours in _STATED.items() if (value := getattr(row, theirs))}
    if named is not None and _is_of(stated, named):
        known = shape_values(named)
        found = known | {"layers": _layers_of(row, named)} | stated
        # Of a shortened model the first layers are dense as in the whole one, if it has more.
        found["dense_layers"] = stated.get("dense_layers", _dense_layers(known, found["layers"]))
        if found["experts"] <= 1 or row.arch == "dense":
            found |= {"experts": 1.0, "active_experts": 1.0, "dense_layers": 0.0, "shared_ffn": 0.0}
        if found["kv_rank"]:
            found["kv_heads"] = found["heads"]
        return found
    return _from_row(row, stated, like, guessed)


def _is_of(stated: dict[str, float], named: TransformerShape) -> bool:
    """Whether what a row states is the shape of a model of its name: sizes of a family share names."""
    return all(stated.get(name, getattr(named, name)) == getattr(named, name) for name in ("hidden", "heads"))


def _layers_of(row: LanguageRow, named: TransformerShape) -> float:
    """Layers of a known model in a run that does not state them: of a proxy the share that its parameters are.

    Published proxies state their parameters so: Grok-1 with 4 of 64 layers has 19.6 G of 314 G.
    """
    share = (row.params_b or math.inf) * 1e9 / named.total_parameters
    return float(named.layers) if share >= _LEAST_SHARE else max(1.0, round(named.layers * share))


def _dense_layers(known: dict[str, float], layers: float) -> float:
    dense = known["dense_layers"]
    if dense >= known["layers"] / 4:  # every second layer, say
        return round(dense * layers / known["layers"])
    return dense if layers > dense else 0.0


def _from_row(
    row: LanguageRow, get: dict[str, float], like: LanguageRow | None, guessed: list[str]
) -> dict[str, float] | CalibrationNote:
    name = row.model.lower()
    if like is not None and "hidden" not in get:
        lent = {ours: value for theirs, ours in _STATED.items() if (value := getattr(like, theirs))}
        get = lent | get
        guessed.append("shape")
    elif like is not None and "experts" in get and "expert_ffn" not in get and like.hidden == get.get("hidden"):
        # The dense layers' width would make experts many times too wide.
        if like.moe_ffn:
            get["expert_ffn"] = like.moe_ffn
        guessed.append("shape")
    gates = 2.0 if name.startswith(tuple(_stated_models()["plain"])) else 3.0
    vocabulary = get.get("vocabulary") or next(
        (float(v) for key, v in _stated_models()["vocabularies"].items() if key in name), _MEASURED_VOCABULARY
    )
    size = row.params_b or _size_named(name)
    if "hidden" not in get:
        if not size:
            return note(FitNote.SHAPE_NOT_STATED, row.model)
        guessed.append("shape")
        if row.arch not in ("", "dense"):
            return _usual_mixture(size, _active_named(name) or _USUAL_ACTIVE * size, row.arch, guessed)
        get["hidden"] = float(usual_width(size * 1e9, 64))
    hidden = get["hidden"]
    heads = get.get("heads") or max(1.0, round(hidden / get.get("head_size", float(USUAL_HEAD_SIZE))))
    head_size = get.get("head_size") or hidden / heads
    kv_heads = get.get("kv_heads") or heads
    ffn = get.get("ffn") or (4.0 * hidden if gates == 2.0 else 3.5 * hidden)
    experts = get.get("experts", 1.0)
    if experts > 1 and "expert_ffn" not in get:
        return note(FitNote.SHAPE_NOT_STATED, row.model)
    latent = "deepseek" in name or "kimi" in name
    if "layers" not in get:
        if not size or experts > 1:
            return note(FitNote.SHAPE_NOT_STATED, row.model)
        each = hidden * head_size * (2 * heads + 2 * kv_heads) + gates * hidden * ffn
        get["layers"] = max(1.0, round((size * 1e9 - vocabulary * hidden) / each))
        guessed.append("layers")
    expert_ffn = get.get("expert_ffn") or ffn
    sizes = (get["layers"], hidden, ffn, heads, kv_heads, head_size, vocabulary)
    shape = _PLAIN | dict(zip(_SIZES, sizes, strict=True)) | {"gates": gates, "expert_ffn": expert_ffn}
    if experts > 1:
        shape |= {"experts": experts, "active_experts": min(get.get("active_experts", 1.0), experts)}
    if latent:
        shape |= {"dense_layers": 3.0 if get["layers"] > 3 else 0.0, "q_rank": 1536.0, "kv_rank": 512.0}
    if latent or "llama4" in plain_name(name):
        shape["shared_ffn"] = expert_ffn
    return shape | {"dense_layers": get.get("dense_layers", shape["dense_layers"])}


def _size_named(name: str) -> float | None:
    """G parameters that a model's name states, as "llama-13b" does."""
    match = re.search(r"(?<![a-z0-9.])([0-9]+(?:\.[0-9]+)?)b(?![a-z])", name)
    return float(match[1]) if match and float(match[1]) > 0 else None


def _active_named(name: str) -> float | None:
    """G parameters used by a token, of a mixture, as "30b-a3b" states them or as known."""
    match = re.search(r"a([0-9]+(?:\.[0-9]+)?)b(?![a-z])", name)
    if match and float(match[1]) > 0:
        return float(match[1])
    return next((active for start, active in _stated_models()["active"].items() if name.startswith(start)), None)


def _usual_mixture(size: float, active: float, arch: str, guessed: list[str]) -> dict[str, float]:
    """Shape of a mixture or of a model with state-space layers that states none; sizes in G parameters."""
    is_mixture, is_hybrid = arch.endswith("moe"), arch.startswith("hybrid")
    shape = {name: float(value) for name, value in usual_shape((active if is_mixture else size) * 1e9).items()}
    block = 3.0 * shape["layers"] * shape["hidden"] * shape["ffn"]
    found = shape | _PLAIN | {"gates": 3.0, "expert_ffn": shape["ffn"]}
    if more := max(0.0, size - active) * 1e9 if is_mixture else 0.0:
        experts = float(round(_ACTIVE_EXPERTS * (1 + more / block)))
        found |= {"experts": experts, "active_experts": _ACTIVE_EXPERTS, "expert_ffn": shape["ffn"] / _ACTIVE_EXPERTS}
    if is_hybrid:
        guessed.append("hybrid layers")
        found |= {"window": _CHUNK, "window_share": _CHUNKED_SHARE}
    return found


# Makers that stand before a model's name.
_MAKERS = frozenset(("meta", "nvidia", "openai", "google", "mosaicml", "xai", "moonshotai"))
_KINDS = ("pretrain", "pretrain_proxy", "sft", "lora")
_RECOMPUTE = ("", "none", "selective", "full")
_FULLY_SHARDED = ("fsdp", "zero3", "hsdp", "fullshard", "hybridshard")
_NOT_SHARDED = ("ddp", "zero0", "noshard", "none")


class ModelNames:
    """Models by their names in the catalogue and in known rows, whatever case and punctuation."""

    def __init__(self, catalog: Catalog, known: Iterable[LanguageRow]) -> None:
        self._models = {plain_name(row.model): row.model for row in known}
        self._models |= {name: shape.measured_as or dnn.name for name, (dnn, shape) in _by_name(catalog).items()}

    def model_of(self, row: LanguageRow) -> str:
        """Name of a row's model in the shipped rows or the catalogue; else the row's own without its organisation."""
        model = row.model.rsplit("/", 1)[-1].strip() or row.model
        return self._models.get(plain_name(row.model)) or self._models.get(plain_name(model)) or model


def family_of(model: str) -> str:
    """The first word of a model's name, without its version."""
    words = re.split(r"[\s_-]+", model.lower().rsplit("/", 1)[-1].strip())
    while len(words) > 1 and words[0] in _MAKERS:
        words = words[1:]
    usual = "-".join(words)
    return re.split(r"v?[0-9]|[-.]", usual)[0] or usual


def usual_words(row: LanguageRow, names: ModelNames) -> LanguageRow:
    """A row with the words of the shipped rows for its model, task, sharding and recomputation."""
    kind, recompute = row.kind.lower(), row.recompute.lower()
    return replace(
        row,
        model=names.model_of(row),
        kind=kind if kind in _KINDS else "pretrain",
        sharding=_sharding(row.sharding),
        recompute=recompute if recompute in _RECOMPUTE else "",
    )


def lending_rows(known: Iterable[LanguageRow]) -> dict[str, LanguageRow]:
    """Rows that lend their shape to rows of the same model which state none, by its name; fitted ones before others."""
    stated = sorted((one for one in known if one.layers and one.hidden), key=lambda one: one.role == "calibration")
    return {one.model.lower(): one for one in stated}


def _sharding(text: str) -> str:
    plain = plain_name(text)
    if any(word in plain for word in _FULLY_SHARDED):
        return "fsdp"
    return "ddp" if plain.startswith(_NOT_SHARDED) else text


# What may follow the name of software: its release, or what kind of thing it is.
_AFTER_SOFTWARE = re.compile(r"[\s_-]*(?:framework|stack|containers?|v?\d+(?:\.\d+)*)$", re.I)


def gpu_asked(text: str, catalog: Catalog) -> Gpu:
    """The GPU of the catalogue with a name: its id, name or alias, or leading words of them.

    Of a family alone, such as V100, the one in servers: SXM.

    Raises RequestError if none has this name.
    """
    gpu = gpu_named(text, catalog)
    if gpu is None:
        hint = (
            nearest(text, [name for one in catalog.gpus.values() for name in one.aliases or (one.name, one.id)]) or "."
        )
        raise RequestError(f"GPU {text[:60]!r} is not in the catalogue{hint} Known are {', '.join(catalog.gpus)}")
    return gpu


def gpu_of_run(name: str, catalog: Catalog) -> Gpu | None:
    """The GPU of a published run: one that the catalogue does not have may have one that stands for it."""
    return gpu_named(stated_table("wordings.toml")["language_gpus"].get(name, name), catalog)


def gpu_named(text: str, catalog: Catalog) -> Gpu | None:
    """As :func:`gpu_asked`; None if no GPU has this name."""
    if text in catalog.gpus:
        return catalog.gpus[text]
    whole, parts = _gpu_names(catalog)
    name = "".join(word for word in _words(text) if word not in GPU_MAKERS)
    return whole.get(name) or parts.get(name)


@lru_cache(maxsize=8)
def _gpu_names(catalog: Catalog) -> tuple[dict[str, Gpu], dict[str, Gpu]]:
    """GPUs by their whole names, and by the words with which these begin."""
    whole: dict[str, Gpu] = {}
    parts: dict[str, Gpu] = {}
    for gpu in sorted(catalog.gpus.values(), key=lambda gpu: ("sxm" not in gpu.id, len(gpu.id))):
        for name in (gpu.id, gpu.name, *gpu.aliases):
            words = [word for word in _words(name) if word not in GPU_MAKERS]
            whole.setdefault("".join(words), gpu)
            for count in range(1, len(words)):
                parts.setdefault("".join(words[:count]), gpu)
    return whole, parts


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def check_software(text: str, catalog: Catalog) -> None:
    """Refuse the name of software that neither the catalogue nor the published runs have.

    Raises RequestError with the nearest name and those that are known.
    """
    if plain_name(text) not in _software_names(catalog) and (
        plain_name(_AFTER_SOFTWARE.sub("", text.strip()[:100])) not in _software_names(catalog)
    ):
        names = software_names(catalog)
        by_case = {name.lower(): name for name in names}
        near = difflib.get_close_matches(text[:60].lower(), by_case, n=1, cutoff=0.5)
        hint = f"; did you mean {by_case[near[0]]!r}?" if near else "."
        raise RequestError(f"software {text[:60]!r} is not known{hint} Known are {', '.join(names)}")


def software_names(catalog: Catalog) -> list[str]:
    """Names of software for language models: frameworks of the catalogue, their other names, and others that ran."""
    stacks = [stack for stack in catalog.stacks.values() if stack.trains_language]
    named = [name for stack in stacks for name in (stack.framework, *stack.aliases)]
    known = {plain_name(name) for name in named}
    return sorted(
        [*named, *(word for word in stated_stacks()["words"] if plain_name(word) not in known)], key=str.lower
    )


@lru_cache(maxsize=8)
def _software_names(catalog: Catalog) -> frozenset[str]:
    stacks = [stack for stack in catalog.stacks.values() if stack.trains_language]
    own = (name for stack in stacks for name in (stack.id, stack.name))
    return frozenset(plain_name(name) for name in (*software_names(catalog), *own))


# What a source that does not print recomputation recomputes, where recipes say so: activation_checkpointing is true in
# most of NeMo AutoModel's. Elsewhere the least that fits.
USUAL_RECOMPUTE = {"nemo-automodel": "full"}
# Attention without a fused kernel: Megatron before FlashAttention (May 2022), which runs from the next year on have, as
# have all on GPUs that are younger.
_UNFUSED_ATTENTION, _FUSED_FROM = ("megatron-deepspeed", "megatron-lm"), "2023"
# Attention by the FlashAttention of 2023, the year of MosaicML's benchmarks of llm-foundry.
EARLY_ATTENTION = ("llm-foundry",)
# PyTorch's own attention is FlashAttention-2: 35 % of the peak of an H100, where kernels for Hopper reach 75 % (Shah et
# al. 2024, arXiv:2407.08608).
PORTED_ATTENTION = (*EARLY_ATTENTION, "torchtitan", "pytorch-fsdp")


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


_FP32 = 4.0  # bytes of an element


def software_flags(stack: str, precision: str, gpu: Gpu) -> dict[str, float]:
    """Fields of :class:`sizer.perf.language.step.Layouts` that a stack decides, with a number format on a GPU."""
    return {
        "is_tuned": float(stack.startswith(TUNED)),
        "is_early": float(stack in EARLY_ATTENTION),
        "is_ported": float(stack in PORTED_ATTENTION and is_from_hopper_on(gpu)),
        "is_reduced_narrow": float(runtime_values(stack, precision, 2.0)["gradient_bytes"] < _FP32),
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
    return software_flags(stack, number_format(row.precision), gpu) | {
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
        "is_unfused": float(is_unfused(stack, row.date, gpu)),
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
    if match := re.search(r"([0-9]+) ?gb/s per gpu", text):
        return float(match[1])
    if match := re.search(r"([0-9]+)x[^;,]*?([0-9]{2,3}) ?gb/s per node", text):
        return float(match[1]) * float(match[2]) / a_node
    if match := re.search(r"([0-9]+) gb/s per node", text):
        return float(match[1]) / a_node
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
    stack_generation: str  # empty where software is tuned for each GPU
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
    return LanguageCase(row, shape, layout, machine, runtime, _levels(row, gpu, precision), gpu.id, tuple(guessed))


def gpu_of_case(case: LanguageCase, catalog: Catalog) -> Gpu:
    """The catalogue's GPU of a case."""
    return catalog.gpus[case.gpu_id]


def _levels(row: LanguageRow, gpu: Gpu, precision: str) -> RunLevels:
    stack = stack_named(row)
    name = row.model.lower()
    mixture = row.arch.endswith("moe")
    release = f"{stack}/{row.version or row.date or row.source}" + ("" if stack != TUNED else f"/{row.source}")
    # A GPU run at less than its usual power is another one to the fit.
    power = re.search(r"[0-9]{3,4}w", row.gpu.lower())
    board = gpu.id if power is None else f"{gpu.id}/{power[0]}"
    return RunLevels(
        gpu_precision=f"{board}/{precision}",
        stack=stack,
        stack_group=group_of_stack(stack),
        stack_generation=stack_on(stack, gpu.generation),
        release=release,
        family=family_of(row.model),
        model_gpu=f"{name}/{board}/{precision}",
        mixture=f"{release}/{name}/{board}" if mixture else "",
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

    numbers = {field.name: column(field.name) for field in fields(step.Runtime) if field.name != "is_allocated"}
    return step.Runtime(is_allocated=column("is_allocated") > 0, **numbers)


def arrays(cases: Sequence[LanguageCase]) -> tuple[step.Shapes, step.Layouts, step.Machines]:
    """The cases as the arrays of the step model."""

    def column(of: str, name: str) -> Floats:
        return np.array([getattr(case, of)[name] for case in cases], dtype=float)

    shapes = step.Shapes(**{field.name: column("shape", field.name) for field in fields(step.Shapes)})
    names = [field.name for field in fields(step.Layouts)]
    flags = {name: column("layout", name) > 0 for name in names if name.startswith("is_")}
    numbers = {name: column("layout", name) for name in names if name not in flags}
    layouts = step.Layouts(**numbers, **flags)  # type: ignore[arg-type]  # numbers and flags are both arrays of one length
    return shapes, layouts, step.Machines(**{one.name: column("machine", one.name) for one in fields(step.Machines)})
