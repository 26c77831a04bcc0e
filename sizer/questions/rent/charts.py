"""Cost of renting and of buying by utilization of the GPUs, with the break-even marked."""

from decimal import Decimal
from typing import Any

import altair as alt

from sizer.bom.rental import RentOrBuy
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, axis, chart_of, finish, money_unit, point_layers
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import percent
from sizer.questions.rent.rent_or_buy import short_finding, years_text

_HEIGHT = 210
# Room above the highest line for its label.
_ROOM = 1.12
# Line ends closer than this share of the chart's height have no room for two labels.
_NEAR = 0.14


def rent_chart(
    comparison: RentOrBuy, use: Decimal | None, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Both costs from 0 to 100 % utilization; None if a line of the purchase has no price.

    ``use``: share of all hours to mark.
    """
    if comparison.owning.is_unpriced:
        return None
    own = float(comparison.owning.total)
    rents = {share: float(comparison.renting(Decimal(share) / 100)) for share in (0, 100)}
    unit, name = money_unit(max(own, rents[100]), comparison.currency)
    top = max(own, rents[100]) / unit * _ROOM
    scale = alt.Scale(domain=[0, top], nice=False)
    across = alt.Scale(domain=[0, 100], nice=False)
    y_axis = axis(tickCount=5)
    x = alt.X(
        "use:Q",
        scale=across,
        axis=axis(grid=False, labelExpr="datum.value + '\u202f%'"),
        title="utilization: share of all hours",
    )
    y = alt.Y("cost:Q", scale=scale, axis=y_axis, title=f"cost over {years_text(comparison)}, {name}")
    renting = chart_of([{"use": share, "cost": cost / unit} for share, cost in rents.items()])
    buying = chart_of([{"use": share, "cost": own / unit} for share in (0, 100)])
    layers: list[Any] = [
        renting.mark_line(color=palette.muted, strokeWidth=2).encode(x=x, y=y),
        buying.mark_line(color=palette.accent, strokeWidth=2).encode(x=x, y=y),
        *_names(own / unit, rents[0] / unit, rents[100] / unit, top, scale, across, palette),
        *_stated_use(use, across, palette),
        *_break_even(comparison, own / unit, scale, across, palette),
    ]
    return finish(layers, short_finding(comparison), palette, width, _HEIGHT)


def _names(
    own: float,
    idle: float,
    full: float,
    top: float,
    scale: alt.Scale,
    across: alt.Scale,
    palette: Palette,
) -> list[Any]:
    """Names of the lines: buying above its left end, renting left of its right end or below its middle."""
    is_crowded = abs(full - own) < _NEAR * top
    at = 60 if is_crowded else 100
    row = {"use": at, "cost": idle + (full - idle) * at / 100, "text": "renting"}
    place: dict[str, Any] = (
        {"align": "left", "dx": 8, "dy": 10} if is_crowded else {"align": "right", "dx": -8, "dy": -8}
    )
    # A line of renting that starts near that of buying would cross a name above its left end.
    starts_near = abs(own - idle) < _NEAR * top
    end = {"use": 100 if starts_near else 0, "cost": own, "text": "buying"}
    side: dict[str, Any] = (
        {"align": "right", "dx": -4, "dy": 12} if starts_near else {"align": "left", "dx": 5, "dy": -8}
    )
    x, y = alt.X("use:Q", scale=across), alt.Y("cost:Q", scale=scale)
    return [
        chart_of([row]).mark_text(color=palette.muted, **place).encode(x=x, y=y, text=alt.Text("text:N")),
        chart_of([end]).mark_text(color=palette.accent, **side).encode(x=x, y=y, text=alt.Text("text:N")),
    ]


def _stated_use(use: Decimal | None, across: alt.Scale, palette: Palette) -> list[Any]:
    """The stated utilization as a thin dashed line, labelled at the bottom."""
    if use is None:
        return []
    share = 100 * float(use)
    is_late = share > 75
    mark = chart_of([{"use": share, "text": f"stated: {percent(float(use))}"}])
    x = alt.X("use:Q", scale=across)
    return [
        mark.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=x),
        mark.mark_text(align="right" if is_late else "left", baseline="bottom", dx=-4 if is_late else 4, dy=-4).encode(
            x=x, y=alt.value(_HEIGHT), text=alt.Text("text:N")
        ),
    ]


def _break_even(comparison: RentOrBuy, own: float, scale: alt.Scale, across: alt.Scale, palette: Palette) -> list[Any]:
    """The utilization at which both cost the same, with its value."""
    if not 0 < comparison.break_even <= 1:
        return []
    share = float(comparison.break_even)
    axes = (alt.X("use:Q", scale=across), alt.Y("cost:Q", scale=scale))
    is_late = share > 0.85
    return point_layers(
        (100 * share, own),
        percent(share),
        axes,
        palette,
        palette.ink,
        align="right" if is_late else "left",
        dx=-9 if is_late else 9,
        dy=-10 if is_late else 12,
    )
