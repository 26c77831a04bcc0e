"""Cost of ownership at the end of each year, stacked by kind of cost."""

from typing import Any

import altair as alt

from sizer.base.quantities import significant
from sizer.bom.ownership import CostKind
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import HEIGHT_PX, Chart, Rows, axis, chart_of, finish, money_unit
from sizer.present.theme import LIGHT, Palette
from sizer.questions.ownership.analysis import OwnershipAnswer
from sizer.questions.ownership.text import KIND_NAMES, kinds_of, short_finding

# Role or stage of the palette whose colour a kind takes.
_COLOURS: dict[CostKind, str] = {
    "purchase": "accent",
    "support": "network",
    "energy": "decode",
    "space": "storage",
    "care": "other",
}
# Room above the highest bar for its number.
_ROOM = 1.12


def ownership_chart(answer: OwnershipAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Bars of what was paid by the end of each year; None where a price is missing."""
    cost = answer.cost
    if not cost.total or cost.is_unpriced:
        return None
    unit, name = money_unit(float(cost.total), cost.currency)
    kinds = [kind for kind in kinds_of(cost) if cost.of(kind)]
    paid = dict.fromkeys(kinds, 0.0)
    rows: Rows = []
    totals: Rows = []
    for year in cost.years:
        start = 0.0
        label = f"year {year.year}"
        for kind in kinds:
            paid[kind] += float(getattr(year, kind)) / unit
            rows.append({"year": label, "kind": KIND_NAMES[kind], "from": start, "to": start + paid[kind]})
            start += paid[kind]
        totals.append({"year": label, "to": start, "text": significant(start)})
    order = [row["year"] for row in totals]
    scale = alt.Scale(domain=[0, totals[-1]["to"] * _ROOM], nice=False)
    x = alt.X("year:O", sort=order, title=None, axis=alt.Axis(labelAngle=0, labelColor=palette.ink))
    names = [KIND_NAMES[kind] for kind in kinds]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=names, range=[palette.colour(_COLOURS[kind]) for kind in kinds]),
        legend=alt.Legend(title=None, orient="top", labelLimit=0, columnPadding=12),
        sort=names,
    )
    y = alt.Y("from:Q", scale=scale, axis=axis(tickCount=5), title=f"paid by the end of the year, {name}")
    layers: list[Any] = [
        chart_of(rows)
        .mark_bar(width=alt.RelativeBandSize(0.6))
        .encode(x=x, y=y, y2=alt.Y2("to:Q"), color=colour, tooltip=[alt.Tooltip("year:N"), alt.Tooltip("kind:N")]),
        chart_of(totals)
        .mark_text(baseline="bottom", dy=-4)
        .encode(x=x, y=alt.Y("to:Q", scale=scale), text=alt.Text("text:N")),
    ]
    return finish(layers, short_finding(answer), palette, width, HEIGHT_PX)
