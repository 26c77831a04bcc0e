"""Cost of renting and of buying over the use of the GPUs, with the use at which they are the same."""

from decimal import Decimal
from typing import Any

import altair as alt

from sizer.bom.rental import RentOrBuy
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, Rows, axis, chart_of, finish
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import percent
from sizer.questions.rent.tables import short_finding, years_text

_HEIGHT = 210
# Room above the highest line for its label.
_ROOM = 1.12
# Closer together than this part of the chart's height the ends of the two lines have no room for two labels.
_NEAR = 0.14


def rent_chart(
    found: RentOrBuy, use: Decimal | None, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Both costs from no use to full use; None where nothing of the purchase has a price.

    Parameters
    ----------
    found : RentOrBuy
    use : Decimal or None
        Share of the hours that is marked.
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.
    """
    if found.owning.is_unpriced:
        return None
    own = float(found.owning.total)
    rents = {share: float(found.renting(Decimal(share) / 100)) for share in (0, 100)}
    unit, name = _unit(max(own, rents[100]), found.currency)
    top = max(own, rents[100]) / unit * _ROOM
    scale = alt.Scale(domain=[0, top], nice=False)
    across = alt.Scale(domain=[0, 100], nice=False)
    y_axis = axis(tickCount=5)
    x = alt.X(
        "use:Q",
        scale=across,
        axis=axis(grid=False, labelExpr="datum.value + '\u202f%'"),
        title="hours in which the GPUs are used, share of all",
    )
    y = alt.Y("cost:Q", scale=scale, axis=y_axis, title=f"cost over {years_text(found)}, {name}")
    renting = chart_of([{"use": share, "cost": cost / unit} for share, cost in rents.items()])
    buying = chart_of([{"use": share, "cost": own / unit} for share in (0, 100)])
    layers: list[Any] = [
        renting.mark_line(color=palette.muted, strokeWidth=2).encode(x=x, y=y),
        buying.mark_line(color=palette.accent, strokeWidth=2).encode(x=x, y=y),
        *_names(found, own / unit, rents[0] / unit, rents[100] / unit, top, scale, across, palette),
        *_use(use, across, palette),
        *_tie(found, own / unit, scale, across, palette),
    ]
    return finish(layers, short_finding(found), palette, width, _HEIGHT)


def _unit(most: float, currency: str) -> tuple[float, str]:
    """Money of the unit in which the axis reads best, and its name."""
    if most >= 2e6:
        return 1e6, f"million {currency}"
    return (1e3, f"thousand {currency}") if most >= 2e3 else (1.0, currency)


def _names(
    found: RentOrBuy,
    own: float,
    idle: float,
    full: float,
    top: float,
    scale: alt.Scale,
    across: alt.Scale,
    palette: Palette,
) -> list[Any]:
    """Names beside the lines: buying above its left end, renting left of its right end or below its middle."""
    bought = "buying, at least" if found.owning.is_at_least else "buying"
    rented = "renting, at least" if found.is_rent_at_least else "renting"
    is_crowded = abs(full - own) < _NEAR * top
    at = 60 if is_crowded else 100
    row = {"use": at, "cost": idle + (full - idle) * at / 100, "text": rented}
    place: dict[str, Any] = (
        {"align": "left", "dx": 8, "dy": 10} if is_crowded else {"align": "right", "dx": -8, "dy": -8}
    )
    # Renting that starts near the line of buying would run through a name above its left end.
    starts_near = abs(own - idle) < _NEAR * top
    end = {"use": 100 if starts_near else 0, "cost": own, "text": bought}
    side: dict[str, Any] = (
        {"align": "right", "dx": -4, "dy": 12} if starts_near else {"align": "left", "dx": 5, "dy": -8}
    )
    x, y = alt.X("use:Q", scale=across), alt.Y("cost:Q", scale=scale)
    return [
        chart_of([row]).mark_text(color=palette.muted, **place).encode(x=x, y=y, text="text:N"),
        chart_of([end]).mark_text(color=palette.accent, **side).encode(x=x, y=y, text="text:N"),
    ]


def _use(use: Decimal | None, across: alt.Scale, palette: Palette) -> list[Any]:
    """The stated use, as a thin dashed line with its value at its foot."""
    if use is None:
        return []
    share = 100 * float(use)
    is_late = share > 75
    mark = chart_of([{"use": share, "text": f"stated: {percent(float(use))}"}])
    x = alt.X("use:Q", scale=across)
    return [
        mark.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=x),
        mark.mark_text(align="right" if is_late else "left", baseline="bottom", dx=-4 if is_late else 4, dy=-4).encode(
            x=x, y=alt.value(_HEIGHT), text="text:N"
        ),
    ]


def _tie(found: RentOrBuy, own: float, scale: alt.Scale, across: alt.Scale, palette: Palette) -> list[Any]:
    """The use at which both cost the same, with its value."""
    if not 0 < found.break_even <= 1:
        return []
    share = float(found.break_even)
    rows: Rows = [{"use": 100 * share, "cost": own, "text": percent(share)}]
    x, y = alt.X("use:Q", scale=across), alt.Y("cost:Q", scale=scale)
    is_late = share > 0.85
    return [
        chart_of(rows).mark_point(filled=True, size=60, color=palette.ink, opacity=1).encode(x=x, y=y),
        chart_of(rows)
        .mark_text(
            align="right" if is_late else "left",
            dx=-9 if is_late else 9,
            dy=-10 if is_late else 12,
            fontWeight=600,
            color=palette.ink,
        )
        .encode(x=x, y=y, text="text:N"),
    ]
