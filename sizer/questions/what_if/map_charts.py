"""Map of the answer over two inputs, shown by the app."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from sizer.drawings.shapes import text_width
from sizer.present.charting import Chart, Rows, chart_of, finish
from sizer.present.theme import CHART_LABEL_PX, LIGHT, Palette
from sizer.present.words import inside_sentence
from sizer.questions.what_if.along_input import spans
from sizer.questions.what_if.varied_input import VariedInput

Spec = dict[str, Any]

# Fill of the lowest and the highest value of a map: text over it stays readable in both themes.
_FAINT, _STRONG = 0.08, 0.42
# Pixels that a map is laid out for; it is drawn as wide as its column.
_MAP_PX = 760.0
# Numbers printed in a map, at most so many in a row and in a column.
_NUMBERS = 6
# Half the width of what marks the design. [px]
_MARK_PX = 32.0
# Ticks of an axis of a map, at most.
_TICKS = 7


@dataclass(frozen=True)
class MapCell:
    """One combination of two inputs, as a map shows it."""

    value: float | None  # what is printed and what the strength of the fill follows; None: there is none
    text: str  # the value in words, short
    colour: str  # key of a stage, or a role of the palette
    region: tuple[str, ...]  # cells with the same words lie in one region; borders run between words that differ
    tip: str  # what is said where the pointer rests


def map_chart(
    x: VariedInput,
    y: VariedInput,
    columns: Sequence[int],
    rows: Sequence[int],
    cells: Sequence[Sequence[MapCell]],
    title: str,
    subtitle: str,
    palette: Palette = LIGHT,
    width: int | str = "container",
    height: int = 380,
) -> Chart:
    """Map over two inputs: fill by value, borders between regions, each region named.

    ``columns``, ``rows``: places among the values of ``x`` and of ``y`` that are drawn. ``cells``:
    ``cells[row][column]``. ``title``, ``subtitle``: Finding, and how to read the map.
    """
    across, up = _edges(columns, len(x.values)), _edges(rows, len(y.values))
    drawn = _filled(across, up, cells, palette)
    x_of = alt.X("x:Q", scale=_place_scale(x), axis=_place_axis(x, palette), title=axis_title(x))
    y_of = alt.Y("y:Q", scale=_place_scale(y), axis=_place_axis(y, palette), title=axis_title(y))
    tips = [
        alt.Tooltip("across:N", title=x.name),
        alt.Tooltip("up:N", title=y.name),
        alt.Tooltip("tip:N", title="there"),
    ]
    named = [{**row, "across": x.texts[columns[row["column"]]], "up": y.texts[rows[row["row"]]]} for row in drawn]
    layers: list[Any] = [
        chart_of(named)
        .mark_rect(strokeWidth=0)
        .encode(
            x=x_of,
            x2=alt.X2("x2:Q"),
            y=y_of,
            y2=alt.Y2("y2:Q"),
            color=alt.Color("colour:N", scale=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=tips,
        )
    ]
    for depth, dash in ((0, [1, 0]), (1, [5, 3])):
        borders = _borders(across, up, cells, depth)
        if borders:
            layers.append(
                chart_of(borders)
                .mark_rule(strokeWidth=1.4, color=palette.ink, strokeDash=dash)
                .encode(
                    x=alt.X("x:Q", scale=_place_scale(x)),
                    x2=alt.X2("x2:Q"),
                    y=alt.Y("y:Q", scale=_place_scale(y)),
                    y2=alt.Y2("y2:Q"),
                )
            )
    layers += _words(across, up, cells, x, y, palette, height)
    return finish(layers, title, palette, width, height, subtitle)


def with_point(spec: Spec, at: tuple[int, int], base: tuple[int, int], palette: Palette) -> Spec:
    """Map with the place of the sliders, and the place of the design where it is another.

    The map itself takes long to build and is kept; only these marks follow the sliders.
    """
    marks: list[Spec] = []
    if base != at:
        marks += _point(base, "this design", palette.muted, palette, is_filled=False)
    marks += _point(at, "this design" if base == at else "as set", palette.accent, palette, is_filled=True)
    return {**spec, "layer": [*spec["layer"], *marks]}


def _point(at: tuple[int, int], text: str, colour: str, palette: Palette, *, is_filled: bool) -> list[Spec]:
    data = {"values": [{"x": at[0], "y": at[1], "text": text}]}
    place = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}}
    words: Spec = {"type": "text", "dy": -13, "fontWeight": 600}
    named = {**place, "text": {"field": "text", "type": "nominal"}}
    dot: Spec = {"type": "point", "size": 95, "opacity": 1, "strokeWidth": 2, "filled": is_filled, "color": colour}
    return [
        {"data": data, "mark": {**dot, "size": 150, "filled": True, "color": palette.background}, "encoding": place},
        {"data": data, "mark": dot, "encoding": place},
        {"data": data, "mark": {**words, "stroke": palette.background, "strokeWidth": 4}, "encoding": named},
        {"data": data, "mark": {**words, "color": colour}, "encoding": named},
    ]


def _edges(places: Sequence[int], count: int) -> list[float]:
    """Edges of cells whose middles are some of the places 0, 1, ... of an axis; one more than cells."""
    inner = [(low + high) / 2 for low, high in pairwise(places)]
    return [-0.5, *inner, count - 0.5]


def _filled(across: Sequence[float], up: Sequence[float], cells: Sequence[Sequence[MapCell]], palette: Palette) -> Rows:
    known = [math.log(cell.value) for row in cells for cell in row if cell.value]
    low, high = min(known, default=0.0), max(known, default=1.0)
    span = (high - low) or 1.0
    found: Rows = []
    for row, line in enumerate(cells):
        for column, cell in enumerate(line):
            share = (math.log(cell.value) - low) / span if cell.value else 0.0
            found.append(
                {
                    "row": row,
                    "column": column,
                    "x": across[column],
                    "x2": across[column + 1],
                    "y": up[row],
                    "y2": up[row + 1],
                    "colour": palette.colour(cell.colour),
                    "fill": round(_FAINT + share * (_STRONG - _FAINT), 3),
                    "tip": cell.tip,
                }
            )
    return found


def _borders(across: Sequence[float], up: Sequence[float], cells: Sequence[Sequence[MapCell]], depth: int) -> Rows:
    """Lines between cells whose region differs in one of its words, runs of them joined."""
    found: Rows = []
    n_rows, n_columns = len(cells), len(cells[0])

    def word(row: int, column: int) -> Hashable:
        region = cells[row][column].region
        return region[depth] if depth < len(region) else ""

    for column in range(n_columns - 1):
        for span in spans([word(row, column) != word(row, column + 1) for row in range(n_rows)]):
            if span.value:
                at = across[column + 1]
                found.append({"x": at, "x2": at, "y": up[span.first], "y2": up[span.last + 1]})
    for row in range(n_rows - 1):
        for span in spans([word(row, column) != word(row + 1, column) for column in range(n_columns)]):
            if span.value:
                at = up[row + 1]
                found.append({"x": across[span.first], "x2": across[span.last + 1], "y": at, "y2": at})
    return found


def _words(
    across: Sequence[float],
    up: Sequence[float],
    cells: Sequence[Sequence[MapCell]],
    x: VariedInput,
    y: VariedInput,
    palette: Palette,
    height: int,
) -> list[Any]:
    """Name of each region where it is widest, and some values between the names."""
    pixel = (_MAP_PX / len(x.values), height / len(y.values))
    names = _region_names(across, up, cells, pixel)
    # The mark of the design takes room, too.
    taken = [(one["x"], one["y"], one["half"]) for one in names] + [(x.base, y.base, _MARK_PX)]
    numbers: Rows = []
    for row in _spread(len(cells)):
        for column in _spread(len(cells[0])):
            cell = cells[row][column]
            at_x, at_y = (across[column] + across[column + 1]) / 2, (up[row] + up[row + 1]) / 2
            half = text_width(cell.text, CHART_LABEL_PX) / 2
            is_clear = all(
                abs(at_x - other_x) * pixel[0] > half + other_half + 6 or abs(at_y - other_y) * pixel[1] > 14
                for other_x, other_y, other_half in taken
            )
            # A border would run through a number beside it.
            beside = cells[row][max(column - 1, 0) : column + 2]
            is_inside = all(other.region == cell.region for other in beside)
            if cell.text and is_clear and is_inside:
                numbers.append({"x": at_x, "y": at_y, "text": cell.text})
                taken.append((at_x, at_y, half))
    x_of, y_of = alt.X("x:Q", scale=_place_scale(x)), alt.Y("y:Q", scale=_place_scale(y))
    layers: list[Any] = []
    if numbers:
        layers.append(chart_of(numbers).mark_text(color=palette.muted).encode(x=x_of, y=y_of, text=alt.Text("text:N")))
    if names:
        halo: dict[str, Any] = {
            "stroke": palette.background,
            "strokeWidth": 3,
            "strokeOpacity": 0.75,
            "fontWeight": 600,
        }
        marks: tuple[dict[str, Any], ...] = ({"fontWeight": 600, **halo}, {"fontWeight": 600, "color": palette.ink})
        layers += [
            chart_of(names).mark_text(**style).encode(x=x_of, y=y_of, text=alt.Text("text:N")) for style in marks
        ]
    return layers


def _spread(count: int) -> list[int]:
    """Places at even distances, at most as many as a map prints numbers, off the very edge."""
    step = max(1, math.ceil(count / _NUMBERS))
    first = (count - 1) % step // 2
    return list(range(first, count, step))


def _region_names(
    across: Sequence[float], up: Sequence[float], cells: Sequence[Sequence[MapCell]], pixel: tuple[float, float]
) -> Rows:
    """Words of every region in the middle of the longest stretch that has room for them."""
    found: Rows = []
    regions = dict.fromkeys(cell.region for row in cells for cell in row)
    for region in regions:
        text = ", ".join(word for word in region if word)
        half = text_width(text, CHART_LABEL_PX, semibold=True) / 2
        best: tuple[float, float, float] | None = None
        for row, line in enumerate(cells):
            for span in spans([cell.region == region for cell in line]):
                length = (across[span.last + 1] - across[span.first]) * pixel[0]
                if not span.value or length < 2 * half + 8:
                    continue
                depth = _depth(cells, row, span.first, span.last)
                middle = (across[span.first] + across[span.last + 1]) / 2
                score = min(length, 3 * half) * depth
                if best is None or score > best[0]:
                    best = (score, middle, (up[row] + up[row + 1]) / 2)
        if best is not None:
            found.append({"x": best[1], "y": best[2], "text": text, "half": half})
    return found


def _depth(cells: Sequence[Sequence[MapCell]], row: int, first: int, last: int) -> int:
    """Rows above and below that belong to the same region over the middle of a stretch; the fewer of both, and one."""
    middle = (first + last) // 2
    region = cells[row][middle].region
    below = next((k for k in range(1, row + 1) if cells[row - k][middle].region != region), row + 1)
    above = next((k for k in range(1, len(cells) - row) if cells[row + k][middle].region != region), len(cells) - row)
    return min(below, above)


def _place_scale(x: VariedInput) -> alt.Scale:
    return alt.Scale(domain=[-0.5, len(x.values) - 0.5], nice=False, zero=False)


def _place_axis(x: VariedInput, palette: Palette) -> alt.Axis:
    """Axis of the places of an input, labelled with its texts; the base is among the labels."""
    step = max(1, math.ceil(len(x.values) / _TICKS))
    places = list(range(x.base % step, len(x.values), step))
    labels = "[" + ",".join(repr(text) for text in x.texts) + "][datum.value]"
    return alt.Axis(
        values=places, labelExpr=labels, grid=False, ticks=True, tickColor=palette.hairline, labelOverlap=True
    )


def axis_title(x: VariedInput) -> str:
    """Name of an input as an axis has it; the labels carry the unit."""
    return inside_sentence(x.name)
