"""Published measurements of language-model training as typed rows."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.faults import nearest
from sizer.base.formats.csv_rows import number_within, rows_of_file, typed_row
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import benchmark_file, stated_table
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Gpu, Transformer, TransformerShape
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
    found = re.search(r"(?<![a-z0-9.])([0-9]+(?:\.[0-9]+)?)b(?![a-z])", name)
    return float(found[1]) if found and float(found[1]) > 0 else None


def _active_named(name: str) -> float | None:
    """G parameters used by a token, of a mixture, as "30b-a3b" states them or as known."""
    found = re.search(r"a([0-9]+(?:\.[0-9]+)?)b(?![a-z])", name)
    if found and float(found[1]) > 0:
        return float(found[1])
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
