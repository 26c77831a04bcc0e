"""Maps and charts of what-if: what they show, in both palettes."""

import numpy as np
import pytest

from sizer.drawings.palette import DARK, LIGHT
from sizer.present.charting import chart_svg
from sizer.questions.what_if.answer import fixed_design_map, resized_figures, resized_map
from sizer.questions.what_if.input_grid import fixed_design_rates
from sizer.questions.what_if.map_charts import MapCell, map_chart, with_point
from sizer.questions.what_if.rate_charts import change_charts, no_cache_note
from sizer.questions.what_if.resize import ResizedDesign, resize
from sizer.questions.what_if.varied_input import (
    DATASET_SIZE,
    SAMPLE_SIZE,
    SERVERS,
    TARGET,
    VariedInput,
    fixed_design_inputs,
    resize_inputs,
)
from tests.factories.examples import EXAMPLES
from tests.questions.what_if.test_input_grid import workloads

X = VariedInput("x", "GPU load", (1.0, 2.0, 3.0, 4.0), ("1 s", "2 s", "3 s", "4 s"), 1, "a note")
Y = VariedInput("y", "Depth", (1.0, 2.0, 3.0), ("1 m", "2 m", "3 m"), 0, "a note")


def values(spec: dict, layer: dict) -> list[dict]:
    """Rows that a layer draws; charts name them once for all layers."""
    data = layer["data"]
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


def cell(value: float | None, region: tuple[str, ...]) -> MapCell:
    return MapCell(value, "" if value is None else f"{value:g}", "gpu" if value else "other", region, "a tip")


def held_spec(name: str, palette):
    model = workloads(name)[0]
    known = {one.key: one for one in fixed_design_inputs(model)}
    x, y = known.get(SAMPLE_SIZE, known[DATASET_SIZE]), known[SERVERS]  # tokens keep their size
    across, up = np.meshgrid(x.values, y.values)
    found = fixed_design_rates(model, {x.key: across.ravel(), y.key: up.ravel()})
    return fixed_design_map(model, x, y, found, palette)


@pytest.mark.guides
@pytest.mark.parametrize(
    ("name", "palette"),
    [(name, LIGHT) for name in EXAMPLES] + [(name, DARK) for name in EXAMPLES[::4]],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_map_of_every_example_draws(name, palette):
    chart = held_spec(name, palette)
    spec = chart.to_dict()  # checked compared with the schema
    svg = chart_svg(chart)
    assert "NaN" not in svg
    assert "undefined" not in svg
    assert any(word in svg for word in ("target met", "target missed"))
    assert spec["title"]["text"]


def test_borders_run_between_cells_whose_words_differ_and_only_there():
    left, right = ("storage", "met"), ("network", "met")
    cells = [[cell(1, left), cell(2, left), cell(3, right), cell(4, right)] for _ in range(3)]
    spec = map_chart(X, Y, range(4), range(3), cells, "A title", "how").to_dict()
    rules = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    assert len(rules) == 1  # none for the second word, which is the same everywhere
    assert values(spec, rules[0]) == [{"x": 1.5, "x2": 1.5, "y": -0.5, "y2": 2.5}]
    names = {row["text"] for layer in spec["layer"] if layer["mark"]["type"] == "text" for row in values(spec, layer)}
    assert {"storage, met", "network, met"} <= names


def test_a_map_without_any_value_draws():
    cells = [[cell(None, ("no design", "")) for _ in range(4)] for _ in range(3)]
    assert "no design" in chart_svg(map_chart(X, Y, range(4), range(3), cells, "A title", "how"))


def test_the_point_is_added_without_changing_the_map():
    spec = held_spec("small-team", LIGHT).to_dict(validate=False)
    before = len(spec["layer"])
    moved = with_point(spec, (3, 2), (1, 0), LIGHT)
    words = {row.get("text") for layer in moved["layer"][before:] for row in layer["data"]["values"]}
    assert words == {"as set", "this design"}
    unmoved = with_point(spec, (1, 0), (1, 0), LIGHT)
    assert {row["text"] for layer in unmoved["layer"][before:] for row in layer["data"]["values"]} == {"this design"}
    assert len(spec["layer"]) == before


def test_a_map_of_requests_sized_anew_names_what_differs():
    model = workloads("apollo-weka-resnet50")[0]
    known = {one.key: one for one in resize_inputs(model)}
    x, y = known[SAMPLE_SIZE], known[TARGET]
    across, up = (x.base, len(x.values) - 1), (0, y.base)
    found = [[resize(model, {x.key: x.values[i], y.key: y.values[j]}, says_why=False) for i in across] for j in up]
    assert not found[0][1].is_feasible
    chart = resized_map(x, y, across, up, found, model.storage_nodes, LIGHT)
    svg = chart_svg(chart)
    assert "no design" in svg
    assert "1 to 4" in chart.to_dict()["title"]["text"][0]


@pytest.mark.guides
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda one: one.name)
@pytest.mark.parametrize("name", EXAMPLES)
def test_charts_of_changes_draw_for_every_workload(name, palette):
    for model in workloads(name):
        drawn = change_charts(model, palette)
        # Either a chart of colder caches, or the sentence why there is none.
        of_compute = 2 if model.work.language is None else 1  # larger samples and faster GPUs, or more servers
        assert len(drawn) == of_compute + (0 if no_cache_note(model) else 1)
        for chart in drawn:
            chart.to_dict()
            svg = chart_svg(chart)
            assert "NaN" not in svg
            assert "undefined" not in svg
            assert ">now<" in svg


def test_differences_carry_a_sign_and_the_value_before():
    base = ResizedDesign(n_servers=9, n_gpus=72, storage_nodes=4, racks=3, rack_units=41, power_w=38_809)
    now = ResizedDesign(n_servers=11, n_gpus=88, storage_nodes=4, racks=2, rack_units=41, power_w=30_000)
    found = {one.label: one for one in resized_figures(now, base)}
    assert found["GPU servers"].under == "+2 compared with 9"
    assert found["Racks"].under == "\u22121 compared with 3"
    assert found["Storage nodes"].under == "unchanged"
    assert found["Power, at most"].under == "\u221223\u202f% compared with 38.8\u202fkW"  # 30 000 / 38 809 = 0.773
    assert "Compute switches" not in found
