"""A language model that is not in the catalogue, given by its shape or by its number of parameters."""

import bisect
import math
from typing import Any, Self

from pydantic import ValidationError, model_validator

from sizer.base.errors import RequestError
from sizer.base.faults import in_words, nearest
from sizer.base.texts import Name
from sizer.catalog.items import Parameters
from sizer.catalog.schema import TransformerShape

# Decoder models of so many G parameters have about these widths: GPT-3's table and Llama 3.1.
_USUAL_WIDTHS = ((0.125, 768), (0.35, 1024), (1.3, 2048), (6.7, 4096), (13, 5120), (30, 7168), (70, 8192),
                 (175, 12288), (405, 16384), (1008, 25600))  # fmt: skip
USUAL_HEAD_SIZE = 128
# Llama 3: vocabulary, groups of query heads that share keys and values, and width of a gated block over the model's.
USUAL_VOCABULARY = 128_256
_KV_HEADS, _BLOCK = 8, 3.5
_GATED = 3


def usual_width(parameters: float, multiple: int = USUAL_HEAD_SIZE) -> int:
    """Width of a dense decoder of so many parameters, between published ones in proportion of the logarithms."""
    sizes = [math.log(size) for size, _ in _USUAL_WIDTHS]
    widths = [math.log(width) for _, width in _USUAL_WIDTHS]
    at = min(max(math.log(parameters / 1e9), sizes[0]), sizes[-1])
    right = max(1, bisect.bisect_left(sizes, at))
    share = (at - sizes[right - 1]) / (sizes[right] - sizes[right - 1])
    wide = math.exp(widths[right - 1] + share * (widths[right] - widths[right - 1]))
    return max(1, round(wide / multiple)) * multiple


def usual_shape(parameters: float) -> dict[str, int]:
    """Fields of a :class:`sizer.catalog.schema.TransformerShape` of a dense model of so many parameters.

    Layers are a multiple of four, so that stages of a pipeline divide them; the width of the feed-forward blocks makes
    up the number.

    Examples
    --------
    >>> usual_shape(8e9)["hidden"], usual_shape(70e9)["layers"]
    (4096, 80)
    """
    is_wide = parameters > 3e9
    hidden = usual_width(parameters, 1024 if is_wide else USUAL_HEAD_SIZE)
    heads = hidden // USUAL_HEAD_SIZE
    kv_heads = _KV_HEADS if heads % _KV_HEADS == 0 else heads
    attention = hidden * USUAL_HEAD_SIZE * 2 * (heads + kv_heads)
    vocabulary = USUAL_VOCABULARY if 4 * USUAL_VOCABULARY * hidden < parameters else 32_000
    rest = max(parameters - 2 * vocabulary * hidden, 0.25 * parameters)
    each = attention + _GATED * hidden * _BLOCK * hidden
    multiple = 4 if is_wide else 1
    layers = max(1, round(rest / each / multiple)) * multiple
    ffn = max(64, round((rest / layers - attention) / (_GATED * hidden) / 64) * 64)
    return {
        "layers": layers,
        "hidden": hidden,
        "ffn": ffn,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_size": USUAL_HEAD_SIZE,
        "vocabulary": vocabulary,
    }


# By these keys a table of a network is known as a shape.
SHAPE_KEYS = frozenset(TransformerShape.model_fields) - {"window"}
MOST_PARAMETERS = 1e13
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


class CustomTransformer(TransformerShape):
    """A language model given by its shape; ``parameters`` alone stands for a usual dense model of that size.

    What a shape leaves out is filled in as it is usual: heads of 128, keys and values of each head, gated blocks of 3.5
    times the width, a vocabulary of 128,256.
    """

    name: Name
    parameters: Parameters | None = None  # instead of layers and hidden

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        stated = {key: value for key, value in data.items() if value is not None}
        parameters = stated.get("parameters")
        if parameters is not None:
            if "layers" in stated or "hidden" in stated:
                raise ValueError("give either parameters, or layers and hidden with the rest of the shape, not both")
            if not _is_number(parameters) or not 1e6 <= parameters <= MOST_PARAMETERS:
                raise ValueError(f"parameters = {str(parameters)[:40]!s} must be between 1e6 and 1e13")
            return usual_shape(float(parameters)) | {key: stated[key] for key in stated if key != "parameters"}
        hidden, heads = _count(stated.get("hidden")), _count(stated.get("heads"))
        if hidden and not {"heads", "head_size"} & set(stated) and hidden % USUAL_HEAD_SIZE == 0:
            stated["heads"] = heads = hidden // USUAL_HEAD_SIZE
        missing = [key for key in ("layers", "hidden") if key not in stated]
        if missing:
            # A misspelt key is the better reason.
            known = list(cls.model_fields)
            for key in stated:
                if key not in known:
                    raise ValueError(
                        f"unknown key {str(key)[:40]!r}{nearest(str(key), known)}; known are {', '.join(known)}"
                    )
            raise ValueError(f"{' and '.join(missing)} missing: give layers and hidden, or parameters alone")
        if hidden and "heads" not in stated:
            raise ValueError(f"heads is missing: hidden = {hidden} is no multiple of the usual head size of 128")
        if hidden and heads and "head_size" not in stated:
            if hidden % heads:
                raise ValueError(
                    f"heads = {heads} does not divide hidden = {hidden}; write a number that does, or give head_size"
                )
            stated["head_size"] = hidden // heads
        if heads:
            stated.setdefault("kv_heads", heads)
        if hidden:
            stated.setdefault("ffn", 4 * hidden if stated.get("gated") is False else 7 * hidden // 2)
        stated.setdefault("vocabulary", USUAL_VOCABULARY)
        return stated

    @model_validator(mode="after")
    def _is_not_too_large(self) -> Self:
        if (number := self.total_parameters) > MOST_PARAMETERS:
            raise ValueError(f"the shape has {number:.2g} parameters; at most 1e13 are allowed")
        return self


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: object) -> int:
    """A positive whole number, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def is_shape(data: object) -> bool:
    """Whether the table of a network describes a transformer."""
    if isinstance(data, CustomTransformer):
        return True
    if not isinstance(data, dict):
        return False
    # A network given by its numbers has its arithmetic; parameters alone mean a transformer of that size.
    return "forward_flop" not in data and "input_bytes" not in data and bool({*SHAPE_KEYS, "parameters"} & set(data))


def shape_from_text(name: str, text: str) -> CustomTransformer:
    """A shape as a command takes it: "13B", or "layers=40 hidden=5120 heads=40 kv_heads=8".

    Raises RequestError naming each value that is not allowed.

    Examples
    --------
    >>> shape_from_text("ours", "layers=40 hidden=5120").heads, shape_from_text("ours", "70B").layers
    (40, 80)
    """
    values: dict[str, Any] = {"name": name}
    for part in text.replace(",", " ").split():
        key, mark, value = part.partition("=")
        values |= {key: _value(value)} if mark else {"parameters": _value(part)}
    try:
        return CustomTransformer.model_validate(values)
    except ValidationError as error:
        raise RequestError("\n".join(in_words(CustomTransformer, error, "shape"))) from None


def _value(text: str) -> int | float | bool | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    scale = _SCALES.get(text[-1:].lower(), 1.0)
    try:
        number = float(text[:-1] if scale > 1 else text) * scale
    except ValueError:
        return text
    return int(number) if math.isfinite(number) and number == int(number) else number
