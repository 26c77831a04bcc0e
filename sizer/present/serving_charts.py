"""Charts of a language model in use: output against the pace that users see, and what fills the memory of a GPU."""

import altair as alt

from sizer.base.quantities import significant
from sizer.base.units import GIB
from sizer.present import words
from sizer.present.charting import (
    COLUMN_PX,
    HEIGHT_PX,
    LIGHT,
    Chart,
    ChartBar,
    Palette,
    Rows,
    axis,
    band_layers,
    bar_chart,
    chart_of,
    finish,
    point_layers,
)
from sizer.present.text.serving import gib_text
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.serving_curve import ServingCurve, serving_curve
from sizer.sizing.stages.serving_rates import ServingAnswer

_MS = 1e3


def load_chart(answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Output of a GPU over the time between tokens, with its 90 % band, the design and runs of the same GPU and model.

    None of other workloads, and of embeddings, which have no tokens to wait for.
    """
    found = answer.serving
    if found is None or found.work.is_embedding:
        return None
    curve, limit = serving_curve(found), found.work.token_s
    ends = curve.tokens_per_s.value, curve.tokens_per_s.low, curve.tokens_per_s.high
    rows: Rows = [
        {"ms": float(t) * _MS, "value": float(v), "low": float(lo), "high": float(hi)}
        for t, v, lo, hi in zip(curve.token_s, *ends, strict=True)
    ]
    longest = 1.05 * max(rows[-1]["ms"], _MS * (limit or 0.0))
    top = 1.05 * max(row["high"] for row in rows)
    x = alt.X("ms:Q", title="time between tokens, ms", scale=alt.Scale(domain=[0, longest], nice=False), axis=axis())
    scale = alt.Scale(domain=[0, top], nice=True)
    y = alt.Y("value:Q", scale=scale)
    layers = band_layers(rows, x, "output of a GPU, tokens/s", scale, palette)
    if limit is not None:
        rule = chart_of([{"ms": limit * _MS}]).mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink)
        layers.append(rule.encode(x=x))
    at, name = (curve.at[0] * _MS, curve.at[1]), "this load" if found.load == "asked" else "most within the limits"
    layers += point_layers(at, name, (x, y), palette, palette.accent, align="right", dx=-10, dy=-8)
    runs = [
        {"ms": one.token_s * _MS, "value": one.tokens_per_s, "source": one.source}
        for one in curve.published
        if one.token_s * _MS <= longest and one.tokens_per_s <= top
    ]
    if runs:
        points = chart_of(runs).mark_point(filled=False, size=60, strokeWidth=1.2, color=palette.ink, opacity=1)
        layers.append(points.encode(x=x, y=y, tooltip=[alt.Tooltip("source:N")]))
    return finish(layers, load_finding(found, curve), palette, width, HEIGHT_PX, _load_caption(found, curve))


def load_finding(found: ServingAnswer, curve: ServingCurve) -> str:
    """What a GPU and a request get at the load."""
    token_s, output = curve.at
    at = "this load" if found.load == "asked" else "most"
    return (
        f"At {at}, each GPU delivers {significant(output)} tokens/s, and each request gets a token every "
        f"{significant(token_s * _MS)} ms"
    )


def load_caption(answer: WorkloadAnswer) -> str:
    """What is drawn."""
    assert answer.serving is not None  # asked of language models in use only
    return _load_caption(answer.serving, serving_curve(answer.serving))


def _load_caption(found: ServingAnswer, curve: ServingCurve) -> str:
    shown = ["Line and band: the chosen layout, from one request in flight upwards, with its 90 % interval"]
    if found.work.token_s is not None:
        shown.append(f"dashed: the limit of the {found.work.percentile}th percentile")
    if curve.published:
        shown.append(f"circles: {words.plural(len(curve.published), 'published run')} of this model on this GPU")
    return "; ".join(shown)


def serving_memory_chart(
    answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """What a GPU holds at the load, each part beginning where the last one ends, with its memory as a line."""
    found, memory = answer.serving, answer.memory
    if found is None:
        return None
    parts = (
        ("Weights", found.weight_bytes),
        ("Keys, values", found.cache_bytes),
        ("Workspace", found.reserve_bytes),
        ("Free", memory.memory_bytes - found.weight_bytes - found.cache_bytes - found.reserve_bytes),
    )
    bars, start = [], 0.0
    for name, size in parts:
        end = start + max(size, 0.0) / GIB
        colour = palette.other if name == "Free" else palette.stages["gpu"]
        bars.append(ChartBar(f"{name}: {gib_text(size)}", end, "", colour, start=start))
        start = end
    size = memory.memory_bytes / GIB
    used = 1 - max(parts[-1][1], 0.0) / memory.memory_bytes
    finding = f"{words.percent(used)} of the {significant(size)} GiB of a GPU are filled at this load"
    reference = (size, f"memory {significant(size)}{words.NO_BREAK}GiB")
    return bar_chart(bars, finding, "GiB of a GPU", palette, width, reference=reference)
