"""The chart of predicted over published numbers: what it draws and states."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from sizer.drawings.palette import DARK, LIGHT
from sizer.evidence import rows as facts
from sizer.evidence.parity import parity_chart
from sizer.present.charting import chart_svg
from tests.evidence.reports import mixed, row, values_of


@pytest.mark.guides
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_chart_is_valid_and_draws(palette):
    chart = parity_chart(mixed(), palette)
    chart.to_dict()  # validates against the schema
    root = ET.fromstring(chart_svg(chart))
    assert root[0].text


@pytest.mark.parametrize("values", [(1e-6, 1e12), (1.0, 1.0), (1e12, 1.1e12), (1e-6, 1e-6)])
def test_axes_hold_every_point_and_every_bar(values):
    published, predicted = values
    chart = parity_chart([row(published, predicted, spread=1e9)])
    spec = chart.to_dict()
    low, high = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert 0 < low < min(values) <= max(values) < high
    for one in values_of(spec, "point"):
        assert low <= one["low"] <= one["high"] <= high
    for line in (*values_of(spec, "line"), *values_of(spec, "area")):
        for number in line.values():
            assert low * (1 - 1e-9) <= number <= high * (1 + 1e-9)  # guides end on the frame
    ticks = spec["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert 2 <= len(ticks) <= 10
    assert all(low <= tick <= high for tick in ticks)


def test_of_many_rows_the_farthest_are_drawn_and_the_chart_says_how_many_are_not():
    rng = np.random.default_rng(1)
    rows = [row(1000.0, 1000.0 * float(np.exp(off)), id=str(n)) for n, off in enumerate(rng.normal(0, 0.1, 5000))]
    chart = parity_chart(rows)
    spec = chart.to_dict()
    drawn = {one["run"] for one in values_of(spec, "point")}
    assert len(drawn) == 2000
    assert {one.id for one in facts.worst_rows(rows, 100)} <= drawn
    assert "3\u202f000" in spec["title"]["subtitle"]


def test_a_mark_is_filled_where_the_interval_missed():
    chart = parity_chart([row(100, 101, id="in"), row(100, 300, id="out")])
    filled = {one["run"]: one["filled"] for one in values_of(chart.to_dict(), "point")}
    assert filled == {"in": 0.0, "out": 1.0}
