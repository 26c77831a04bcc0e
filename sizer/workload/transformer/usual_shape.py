"""Shape of a usual dense decoder of a number of parameters."""

import bisect
import math

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
    """Fields of a :class:`sizer.catalog.networks.TransformerShape` of a dense model of so many parameters.

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
