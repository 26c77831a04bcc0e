"""The evidence as a chart and as tables."""

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import altair as alt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.base.errors import ReportError
from sizer.base.estimate import Z90
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.notes import FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import Summary, ValidatedRow, ValidationReport, summarise
from sizer.drawings.palette import DARK, LIGHT
from sizer.evidence import rows as facts
from sizer.evidence.parity import parity_spec
from sizer.evidence.tables import reasons_table, report_text, summary_tables
from sizer.present.chart_engine.engine import vega_svg
from sizer.present.tables import Table
from tests.evidence.reports import SOURCES, mixed, row, values_of


@pytest.mark.guides
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_chart_is_valid_and_draws(palette):
    spec = parity_spec(mixed(), SOURCES, palette)
    alt.Chart.from_dict(spec).to_dict()  # validates against the schema
    assert "median error" in "".join(ET.fromstring(vega_svg(spec)).itertext())


@pytest.mark.parametrize("values", [(1e-6, 1e12), (1.0, 1.0), (1e12, 1.1e12), (1e-6, 1e-6)])
def test_axes_hold_every_point_and_every_bar(values):
    published, predicted = values
    spec = parity_spec([row(published, predicted, spread=1e9)], SOURCES)
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
    spec = parity_spec(rows, SOURCES)
    drawn = {one["run"] for one in values_of(spec, "point")}
    assert len(drawn) == 2000
    assert {one.id for one in sorted(rows, key=lambda one: -abs(one.log_error))[:100]} <= drawn
    assert "3\u202f000" in spec["title"]["subtitle"]


def test_a_mark_is_filled_where_the_interval_missed():
    spec = parity_spec([row(100, 101, id="in"), row(100, 300, id="out")], SOURCES)
    filled = {one["run"]: one["filled"] for one in values_of(spec, "point")}
    assert filled == {"in": 0.0, "out": 1.0}


HOSTILE = "<script>alert(1)</script>\"'&{{ 7 * 7 }}"


def report(
    rows: list[ValidatedRow], unseen: tuple[ValidatedRow, ...] = (), figures: tuple[AccuracyTarget, ...] = ()
) -> ValidationReport:
    """What ``validate`` gives; the page makes its groups from the rows."""
    return ValidationReport(tuple(rows), (), (), (), summarise("all", rows), unseen, figures)


def cells(table: Table | None) -> list[list[str]]:
    """Texts of a table."""
    return [[re.sub(r"[\u202f\u00a0]", " ", cell.text) for cell in line.cells] for line in table.rows]


def test_the_counts_of_the_page_are_those_of_the_rows():
    rows = mixed()
    by_task, by_kind, by_source = (cells(table) for table in summary_tables(report(rows), SOURCES))
    for table in (by_task, by_kind, by_source):
        assert table[-1][:3] == ["All", "10", "7"]
        assert sum(int(line[1]) for line in table[:-1]) == 10
        assert sum(int(line[2]) for line in table[:-1]) == 7
    assert {line[0]: line[1] for line in by_task[:-1]} == {
        "Training": "6",
        "Inference": "1",
        "Accuracy": "1",
        "Host data path": "1",
        "Storage": "1",
    }
    assert cells(reasons_table(rows)) == [
        ["Not predicted"],
        ["Not modelled: share of time stalled", "1"],
        ["Not predicted: names no GPU", "1"],
        ["Total", "2"],
        ["Predicted, but excluded"],
        ["Excluded from the fit: parameter server: another exchange scheme", "1"],
        ["Total", "1"],
    ]


@pytest.mark.parametrize(("inside", "judged"), [(81, 263), (4, 4), (0, 7), (9, 10)])
def test_the_range_of_a_share_is_wilsons(inside, judged):
    """The ends are the shares p from which the observed one lies z standard errors: |s - p| = z sqrt(p (1 - p) / n)."""
    one = Summary("", judged, judged, coverage=inside / judged, judged_rows=judged)
    for end in facts.coverage_range(one):
        assert_allclose(
            abs(inside / judged - end), Z90 * math.sqrt(end * (1 - end) / judged), atol=1e-9
        )  # rounding near 0 and 1


def hostile_rows() -> list[ValidatedRow]:
    """Every text of a row is an attack, every number an extreme."""
    names: dict[str, Any] = {"id": HOSTILE, "task": HOSTILE, "quantity": HOSTILE, "source": HOSTILE}
    names["status"] = RowStatus(RowUse.OUTSIDE, note(FitNote.DNN_NOT_IN_CATALOGUE, HOSTILE))
    return [
        row(1e-6, 1e12, **names),
        row(1e12, 1e-6, **names),
        row(1e12, 1e12, **{**names, "quantity": "samples_per_s"}),
        row(0.0, 0.1, **{**names, "quantity": "stall_fraction"}),
        row(3.0, None, **names),
        row(3.0, math.nan, **{**names, "source": "other"}),
        row(3.0, math.inf, **{**names, "source": "x" * 5000}),
    ]


def test_text_of_a_file_is_shown_in_short():
    rows = hostile_rows()
    text = report_text(report(rows, tuple(rows), (AccuracyTarget("time-to-train-median", 0.5, 0, 1, 3),)), SOURCES)
    for word in ("nan", "NaN", "inf", "None(?! of)", "undefined"):
        assert not re.search(rf"(?<![A-Za-z]){word}(?![A-Za-z])", text), word
    assert "x" * 200 not in text


@pytest.mark.parametrize("rows", [[row(3, None)], hostile_rows(), mixed()])
def test_every_chart_is_drawn(rows):
    spec = parity_spec(rows, SOURCES)
    if spec is not None:
        svg = vega_svg(spec)
        assert "NaN" not in svg
        ET.fromstring(svg)


def test_a_chart_that_crashes_the_renderer_is_an_error_of_the_page():
    """U+0007 in a label aborts vl-convert; texts with it are refused, so the chart here is made by hand."""
    spec = {"data": {"values": [{"text": "a\x07b"}]}, "mark": "text", "encoding": {"text": {"field": "text"}}}
    with pytest.raises(ReportError, match=r"the process that draws charts ended with signal 6"):
        vega_svg(spec)
    assert "<svg" in vega_svg(parity_spec(mixed(), SOURCES))
