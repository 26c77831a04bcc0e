"""Chart of compared designs: what each costs, as a range."""

import math
from collections.abc import Sequence

import altair as alt

from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.drawings.shapes import wrapped
from sizer.present.charting import Chart, Rows, axis, chart_of, finish
from sizer.present.text.money import price_range_text
from sizer.present.theme import CHART_LABEL_PX
from sizer.questions.compare.designs import Compared

_NAME_PX, _ROW_PX = 170, 36
_ROOM = 1.6  # length of the axis by the longest bar: the prices stand behind the bars


def price_chart(
    designs: Sequence[Compared], baseline: int, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Expected price of each design with its range; None where a price is missing or they are in several currencies."""
    costs = [one.result.design.cost for one in designs]
    known = [cost for cost in costs if cost is not None and math.isfinite(cost.high)]
    if len(known) < len(designs) or len({cost.currency for cost in known}) > 1:
        return None
    rows: Rows = [
        {
            "name": "\n".join(wrapped(one.name, CHART_LABEL_PX, _NAME_PX, max_lines=2)),
            **{key: getattr(cost, key) / 1e3 for key in ("low", "expected", "high")},
            "text": price_range_text(one.result.design),
            "colour": palette.accent if place == baseline else palette.other,
        }
        for place, (one, cost) in enumerate(zip(designs, known, strict=True))
    ]
    scale = alt.Scale(domain=[0, _ROOM * max(row["high"] for row in rows)], nice=False)
    names = alt.Axis(labelExpr="split(datum.label, '\\n')", labelLimit=_NAME_PX, domain=False, ticks=False)
    base = chart_of(rows).encode(y=alt.Y("name:N", sort=None, title=None, axis=names))
    bars = base.mark_bar(strokeWidth=1, height=alt.RelativeBandSize(0.6), fillOpacity=0.35).encode(
        x=alt.X("expected:Q", scale=scale, axis=axis(grid=False), title=f"price, thousand {known[0].currency}"),
        color=alt.Color("colour:N", scale=None),
        stroke=alt.Stroke("colour:N", scale=None),
        tooltip=["name:N", "text:N"],
    )
    ranges = base.mark_rule(strokeWidth=1.2, color=palette.ink).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    texts = base.mark_text(align="left", dx=6).encode(x=alt.X("high:Q", scale=scale), text="text:N")
    least = min(zip(known, designs, strict=True), key=lambda pair: pair[0].expected)
    finding = f"{least[1].name} is expected to cost least"
    if any(cost.low < least[0].high for cost in known if cost is not least[0]):
        finding += "; the ranges overlap"
    return finish([bars, ranges, texts], finding, palette, width, _ROW_PX * len(rows))
