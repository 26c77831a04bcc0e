"""What stands behind a figure: the inputs shown give the figure shown, by the formula shown."""

import math
import re
from functools import cache

import numpy as np
import pytest

from sizer.base.quantities import BYTES, FLOP, parse
from sizer.explain.figure import CAPACITY, GPUS, POWER, PRICE, RACK_UNITS, explanation, rate_key, stage_key
from sizer.explain.stages import Explanation
from sizer.present.text.money import price_range_text
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.size import size
from tests.cases import case_book
from tests.factories.examples import EXAMPLES, catalog, sized
from tests.factories.rows import every

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

# Inputs have five digits, most formulas are products of a few of them.
SHOWN = 2e-3


def workloads() -> list[tuple[str, int]]:
    """Every workload of every example."""
    return [(name, place) for name in EXAMPLES for place in range(len(sized(name).design.workloads))]


@cache
def evaluated(name: str) -> EvaluatedDesign:
    return EvaluatedDesign(sized(name), catalog())


def shown(name: str, key: str) -> Explanation:
    return explanation(evaluated(name), key)


def value(text: str) -> float:
    """A printed number with its unit in base units; what follows a comma or bracket is a remark."""
    text = re.split(r",| \(", text)[0].replace("\u202f", " ").replace(" ", " ")
    if text == "not limited":
        return math.inf
    number, _, unit = text.rpartition(" ")
    if not re.search("[A-Za-z]", unit):
        return float(text.replace(" ", ""))
    amount = float(number.replace(" ", ""))
    if amount == 0:
        return 0.0
    unit = unit.removesuffix("/s") if unit != "/s" else unit
    small = {
        "s": 1.0,
        "ms": 1e-3,
        "µs": 1e-6,
        "images": 1.0,
        "samples": 1.0,
        "sentences": 1.0,
        "tokens": 1.0,
        "requests": 1.0,
        "W": 1.0,
        "kW": 1e3,
        "MW": 1e6,
        "U": 1.0,
    }
    if unit in small:
        return amount * small[unit]
    return parse(FLOP if "FLOP" in unit else BYTES, f"{amount:.12g} {unit}")


def inputs(said: Explanation) -> dict[str, float]:
    """Inputs by their symbol."""
    return {row.cells[0].text.split(",")[0]: value(row.cells[1].text) for row in said.inputs.rows}


@every(EXAMPLES)
def test_usable_capacity_is_raw_times_the_shares_that_are_left(name):
    usable = sized(name).design.usable_bytes
    rows = shown(name, CAPACITY).inputs.rows
    if not usable > 0:
        assert rows[-1].cells[1].text == "not published"
        return
    left = value(rows[0].cells[1].text)
    for row in rows[1:]:
        if row.cells[0].text.startswith("Raw"):  # of the next tier, which holds all data
            left = value(row.cells[1].text)
        share = re.match(r"× ([\d.]+), gives", row.cells[1].text)
        left *= float(share[1]) if share else 1.0
    assert left == pytest.approx(usable, rel=SHOWN)


def test_the_price_is_the_sum_of_its_lines():
    """Nine DGX-1 at the published USD 149,000 are all that the example has a price for."""
    said = shown("dgx1-f800-resnet50", PRICE)
    assert said.answer == price_range_text(sized("dgx1-f800-resnet50").design)
    assert said.inputs.rows[0].cells[1].text == "USD 1\u202f341\u202f000"
    assert 9 * 149_000 == 1_341_000


def test_the_ranges_of_the_lines_add_up_to_the_price():
    """Each end to half a unit of its second digit; a line whose ends round alike is shown as one amount."""
    name = "hgx-b200-400gbe"
    ends = np.zeros(2)
    for one in shown(name, PRICE).inputs.rows:
        unit = 1e6 if one.cells[1].text.endswith("million") else 1.0
        amounts = re.findall(r"[\d.\u202f]+", one.cells[1].text)
        ends += [unit * float(amounts[place].replace("\u202f", "")) for place in (0, -1)]
    cost = sized(name).design.cost
    assert ends == pytest.approx([cost.low, cost.high], rel=0.05)


def test_a_customer_reads_the_price_paid_and_no_discount():
    request = sized("dgx1-f800-resnet50").request
    data = request.model_dump(mode="json", exclude_none=True)
    data["quote"] = {"discount_percent": "10", "override": [{"item": "dgx-1", "discount_percent": "20"}]}
    result = size(type(request).from_dict(data), catalog())
    inside, told = (explanation(EvaluatedDesign(one, catalog()), PRICE) for one in (result, customer_copy(result)))
    assert any("less 20" in row.cells[0].text for row in inside.inputs.rows)
    assert "discount" in inside.formula
    text = " ".join([told.formula, told.answer, *told.reasons, *told.uncertainty])
    text += " ".join(cell.text for row in told.inputs.rows for cell in row.cells)
    assert "discount" not in text
    assert "149\u202f000" not in text
    assert "1\u202f341\u202f000" not in text
    assert told.answer == inside.answer  # 9 x 149,000 x 0.8 x 0.9 either way


def _score(above: float, below_ratio: float, above_ratio: float) -> float:
    """Standard normal score of the capacity that lies ``above`` (logarithm) below the median.

    The logarithm of the capacity over its median is c (e^(k z) - 1) with z standard normal (a shifted log-normal); both
    constants follow from its values at z = -1.645 and +1.645, whose quotient is -e^(-1.645 k).
    """
    z90 = 1.6448536
    k = math.log(math.log(above_ratio) / math.log(below_ratio)) / z90
    if abs(k) < 1e-3:
        return above * 2 * z90 / math.log(above_ratio * below_ratio)
    c = math.log(above_ratio) / math.expm1(k * z90)
    inside = 1 - above / c
    return -math.log(inside) / k if inside > 0 else math.copysign(math.inf, above)  # beyond the end of its range


@every(workloads)
def test_a_rate_passes_every_stage_in_half_of_the_cases(name, place):
    """The printed condition, with the printed medians and intervals."""
    answer = sized(name).design.workloads[place]
    rate, chance = float(answer.throughput.value), 1.0
    key = stage_key(place) if answer.workload.target.time_to_train_s is not None else rate_key(place)
    for row in shown(name, key).inputs.rows:
        if "exchange" in row.cells[0].text or row.cells[1].text == "not limited":
            continue
        middle = value(row.cells[1].text)
        ends = re.search(r"\((.*) to (.*)\)", row.cells[1].text)
        above = math.log(middle / rate)
        if ends is None:
            chance *= above >= -1e-4
            continue
        low, high = (float(end.replace("\u202f", "")) for end in ends.groups())
        if row.cells[2].text.startswith("log-normal"):
            chance *= 0.5 * (1 + math.erf(_score(above, middle / low, high / middle) / math.sqrt(2)))
        else:  # log-uniform: the middle 90 % is 0.9 of the width
            chance *= min(max(0.5 + above / (math.log(high / low) / 0.9), 0.0), 1.0)
    assert chance == pytest.approx(0.5, abs=2e-3)


def test_a_time_to_train_is_the_sum_of_its_parts():
    said = shown("small-team", rate_key(0))
    x = inputs(said)
    first = min(x["E"], 1) * x["N"] / x["T cold"]
    total = x["t start"] + first + max(x["E"] - 1, 0) * x["N"] / x["T"] + x["t evaluations"]
    assert total == pytest.approx(float(sized("small-team").design.workloads[0].time.total_s.value), rel=SHOWN)


def _storage(x: dict[str, float]) -> float:
    ends = [
        min(x["n"] * x[f"R {end}"], x.get("m", 0) * x.get("k", 0) * x[f"M {end}"] if "k" in x else math.inf)
        for end in ("low", "high")
    ]
    return math.sqrt(ends[0] * ends[1]) / (x["s"] * (1 - x["h"]))


def _network(x: dict[str, float]) -> float:
    read = x["s"] * (1 - x["h"])
    return min(min(x["B front"], x["B gateway"]) / read, x["m"] * x["B server"] / (read + x["x"]))


def _gpu_s(x: dict[str, float]) -> float:
    compute_s = x["p"] * x["F"] * (x["b"] + x["f"]) / (x["P"] * x["η"])
    return (x["t launch"] ** x["q"] + compute_s ** x["q"]) ** (1 / x["q"])


def _gpu(x: dict[str, float]) -> float:
    if "r" in x and "X" in x:  # a language model in use
        return x["r"] * x["X"]
    if "S" in x:  # a language model
        return x["a"] * x["B"] * x["S"] / sum(time_s for name, time_s in x.items() if name.startswith("t "))
    if "t sample" in x:  # a network of MLPerf
        between_s = 2 * (x["m"] - 1) / x["m"] * x["E"] / x["B server"] if x["m"] > 1 else 0.0
        step_s = x["t launch"] + x["b"] * x["t sample"] + x.get("t inside", 0.0) + between_s
        return x["c"] * x["m"] * x["g"] * x["b"] / step_s
    samples = x["d"] * x["m"] * x["g"] * x["b"]
    if x["p"] == 1:
        return samples / _gpu_s(x)
    beyond_s = x["t x"] - x["k"] * 2 / 3 * _gpu_s(x)
    exposed_s = (beyond_s + math.hypot(beyond_s, 0.2 * x["t x"])) / 2
    wait = x["w"] * math.log2(x["g"]) + 2 * x["r"] * (x["m"] - 1) / x["m"]
    return samples / ((_gpu_s(x) + exposed_s) * (1 + wait))


def _exchange(x: dict[str, float]) -> float:
    looked_up = x.get("V", 0.0) * x["b"]
    time_s = 2 * (x["g"] - 1) / x["g"] * (x["G"] + looked_up / x["m"]) / x["B in"] + 2 * (x["g"] - 1) * x["a in"]
    if "B server" in x:
        time_s += 2 * (x["m"] - 1) / x["m"] * (x["G"] + x["g"] * looked_up) / (x["u"] * x["B server"])
        time_s += 2 * math.ceil(math.log2(x["m"])) * x["a out"]
    return x["m"] * x["g"] * x["b"] / time_s


def _decode(x: dict[str, float]) -> float:
    return x["m"] * x["cores of a server"] / x["c"]


def _host_link(x: dict[str, float]) -> float:
    return x["m"] * min(x["g"], x["l"]) * x["B host"] / (4 * x["d"])


FORMULAS = {
    "storage": _storage,
    "network": _network,
    "decode": _decode,
    "host_link": _host_link,
    "gpu": _gpu,
    "exchange": _exchange,
}


@every(lambda: [(*one, stage) for one in workloads() for stage in FORMULAS])
def test_the_capacity_of_a_stage_follows_from_its_inputs(name, place, stage):
    said = shown(name, stage_key(place, stage))
    capacity = next(one.capacity for one in sized(name).design.workloads[place].stages if one.key == stage)
    x = inputs(said)
    if said.answer == "not limited" and (x.get("h") == 1 or x.get("c") == 0 or not x):
        return  # memory serves every read, nothing is decoded, or nothing is exchanged
    assert FORMULAS[stage](x) == pytest.approx(float(capacity.value), rel=SHOWN)


@pytest.mark.parametrize(("name", "passes"), [("gpt2", 3), ("recommender", 3)])
def test_a_network_divided_over_the_gpus_shows_its_passes_and_vectors(name, passes):
    """Published trainings show the useful work of a step, whatever is computed again; tables send vectors."""
    request = case_book.request(name)
    result = size(request, catalog())
    evaluated = EvaluatedDesign(result, catalog())
    stages = {one.key: float(one.capacity.value) for one in result.design.workloads[0].stages}
    for stage in ("gpu", "exchange"):
        x = inputs(explanation(evaluated, stage_key(0, stage)))
        assert FORMULAS[stage](x) == pytest.approx(stages[stage], rel=SHOWN)
        assert x.get("p", passes) == passes
        assert ("V" in x) == (stage == "exchange" and name == "recommender")


@every(EXAMPLES)
def test_every_figure_says_formula_inputs_and_doubt_and_cites_known_documents(name):
    keys = [GPUS, CAPACITY, POWER, RACK_UNITS, PRICE]
    for place, answer in enumerate(sized(name).design.workloads):
        keys += [rate_key(place), stage_key(place), *(stage_key(place, one.key) for one in answer.stages)]
    for key in keys:
        said = shown(name, key)
        assert said.title
        assert said.answer
        assert said.formula
        assert said.uncertainty
        assert set(said.sources) <= set(catalog().sources), key
        for text in (*said.reasons, *said.uncertainty, *said.assumptions):
            assert text.endswith((".", "?", "!")), text
    assert shown(name, POWER).sources


def test_the_limiting_stage_has_the_smallest_capacity_of_those_that_limit():
    said = shown("dgx1-f800-resnet50", stage_key(0))
    found = {row.cells[0].text: value(row.cells[1].text) for row in said.inputs.rows}
    assert said.answer == "GPU compute"
    assert min(found, key=lambda name: found[name]) == "C GPU compute"


@pytest.mark.parametrize("key", ["", "gpu", "rate-1", "rate-x", "stage-0-oven", "gpus-0", "stage-", "-", "rate-0-gpu"])
def test_an_unknown_key_is_refused(key):
    with pytest.raises(ValueError, match="no figure has the key"):
        shown("dgx1-f800-resnet50", key)


def test_a_key_without_a_number_is_that_of_the_first_workload():
    assert np.array_equal(shown("c4140-f800", "rate").inputs.rows, shown("c4140-f800", rate_key(0)).inputs.rows)
