"""Money decides, whatever the prices are: laws of the order of designs over random price books and targets."""

import re
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import Catalog, DesignAnswer, InfeasibleError, SizingRequest, size
from sizer.bom.unit_prices import amount_at
from sizer.calibrate.calibration import stored_calibration
from sizer.physical.platform import Platform
from sizer.present.text.money import tie_text
from sizer.present.text.verdict import selection_text
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.sizing.reasons import RunnerUpKind, SelectionKind
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking
from tests.factories.examples import catalog as plain
from tests.factories.prices import priced as with_book
from tests.property.law_examples import law

SERVERS = ["dgx-1", "dgx-2", "c4140", "apollo-6500", "dss-8440"]
STORAGE = ["isilon-f800", "isilon-h600", "wekaio", "head-node-nfs"]


def request(samples_per_s: float, **tables: Any) -> SizingRequest:
    """ResNet-50 by the published runs of one stack, on five kinds of server unless ``tables`` name others."""
    work = {
        "dnn": "resnet50",
        "stack": "mxnet-ngc19.05-dali",
        "batch_per_gpu": 192,
        "dataset": "imagenet-x10",
        "target": {"samples_per_s": samples_per_s},
    }
    return SizingRequest.from_dict({"workload": [work], "platforms": {"servers": SERVERS}, **tables})


def priced(amounts: dict[str, float]) -> Catalog:
    """The catalogue with a book of one's own."""
    return with_book({item: f"{amount:.2f}" for item, amount in amounts.items()})


def of_band(folder: str, item: str, height: float) -> float:
    """Amount at a height of a part's band."""
    band = plain().bands.band(folder, item)
    assert band is not None
    return float(amount_at(band.low, band.high, np.array([height]))[0])


PIECES = ("servers", "switches", "gateways", "nics", "racks", "pdus")
SMALL = ("cables", "accessories")
SOLD = [
    (folder, item)
    for folder, item in plain().items()
    if item.orderable and folder not in ("dnns", "stacks", "datasets", "recipes")
]
PRICED = sorted(item.id for folder, item in plain().items() if folder in PIECES and item.orderable)


def book(draw: st.DrawFn, folders: tuple[str, ...]) -> dict[str, float]:
    """A price inside its band for every part of some folders."""
    parts = [(folder, item.id) for folder, item in plain().items() if folder in folders and item.orderable]
    heights = draw(st.lists(st.integers(0, 20), min_size=len(parts), max_size=len(parts)))
    return {item: of_band(folder, item, h / 20) for (folder, item), h in zip(parts, heights, strict=True)}


main_books = st.composite(lambda draw: book(draw, PIECES))
small_books = st.composite(lambda draw: book(draw, SMALL))


@st.composite
def band_books(draw: st.DrawFn) -> dict[str, float]:
    """A price inside its band for every part of which no price is published: these are what quotes will add."""
    published = {row.item for row in plain().prices}
    return {item: amount for item, amount in draw(main_books()).items() if item not in published}


rates = st.floats(3.3, 4.7).map(lambda power: float(round(10**power)))
some_platforms = st.fixed_dictionaries(
    {
        "servers": st.lists(st.sampled_from(SERVERS), min_size=2, max_size=3, unique=True),
        "storage": st.lists(st.sampled_from(STORAGE), min_size=1, max_size=2, unique=True),
    }
)


def order(of: SizingRequest, catalog: Catalog) -> list[tuple[str, str, int]]:
    """Platforms in their order, with their servers."""
    counts = search(of, catalog, stored_calibration())
    evaluated = counts.evaluated
    rows = list(Ranking(counts).one_by_one())
    keys = [evaluated.platforms[int(evaluated.space.platform[row])].key for row in rows]
    return [(*key, int(evaluated.space.n_servers[row])) for key, row in zip(keys, rows, strict=True)]


def least_cost(of: SizingRequest, catalog: Catalog) -> float:
    """What the recommended design costs by the amount that ranks designs; infinite where there is none."""
    counts = search(of, catalog, stored_calibration())
    first = Ranking(counts).first(1)
    return float(counts.likely_cost[first[0]]) if first else float("inf")


def budget_of(design: DesignAnswer) -> DesignCheck:
    """The check of the budget."""
    return next(check for check in design.checks if check.kind is CheckKind.BUDGET)


def identity(platform: Platform) -> tuple[object, ...]:
    """What tells a platform from the others of a request."""
    chosen = (platform.gpu.id, platform.gpus_per_server, platform.fabric.id, platform.capacity_option)
    return *platform.key, *chosen, platform.host_memory


def keeps_all_limits(design: DesignAnswer, of: SizingRequest, catalog: Catalog) -> bool:
    """Whether a design is among those that meet a request with other prices."""
    counts = search(of, catalog, stored_calibration())
    # Platforms of another catalogue are others, built of the same parts.
    listed = enumerate(counts.evaluated.platforms)
    (index,) = (index for index, platform in listed if identity(platform) == identity(design.platform))
    return design.n_servers in counts.evaluated.space.n_servers[counts.feasible_of(index)]


@law()
@given(main=main_books(), small=small_books(), rate=rates, platforms=some_platforms)
def test_the_order_is_the_same_with_and_without_prices_of_cables(
    main: dict[str, float], small: dict[str, float], rate: float, platforms: dict[str, list[str]]
) -> None:
    """Small items never block or turn a ranking."""
    asked = request(rate, platforms=platforms)
    assert order(asked, priced(main)) == order(asked, priced(main | small))


@law()
@given(
    main=main_books(),
    rate=rates,
    less=st.dictionaries(st.sampled_from(PRICED), st.floats(0.1, 1), min_size=1),
    platforms=some_platforms,
)
def test_cheaper_parts_never_raise_the_recommended_cost(
    main: dict[str, float], rate: float, less: dict[str, float], platforms: dict[str, list[str]]
) -> None:
    cheaper = {item: amount * less.get(item, 1.0) for item, amount in main.items()}
    asked = request(rate, platforms=platforms)
    assert least_cost(asked, priced(cheaper)) <= least_cost(asked, priced(main)) + 0.01


@law()
@given(main=main_books(), rate=rates, more=st.floats(1, 3), platforms=some_platforms)
def test_tighter_targets_never_lower_the_recommended_cost(
    main: dict[str, float], rate: float, more: float, platforms: dict[str, list[str]]
) -> None:
    catalog = priced(main)
    loose, tight = request(rate, platforms=platforms), request(more * rate, platforms=platforms)
    assert least_cost(loose, catalog) <= least_cost(tight, catalog) + 0.01


@law()
@given(main=band_books(), rate=rates, platforms=some_platforms)
def test_true_prices_inside_their_bands_never_make_the_chosen_design_infeasible(
    main: dict[str, float], rate: float, platforms: dict[str, list[str]]
) -> None:
    """Without a budget, prices only rank."""
    asked = request(rate, platforms=platforms)
    catalog = priced(main)
    if least_cost(asked, plain()) == float("inf"):
        assert least_cost(asked, catalog) == float("inf")
        return
    assert keeps_all_limits(best_design(asked, plain()).design, asked, catalog)


@law()
@given(
    main=band_books(),
    rate=rates,
    budget=st.floats(5.0, 6.3).map(lambda power: float(round(10**power))),
    platforms=some_platforms,
)
def test_true_prices_inside_their_bands_never_contradict_the_answer(
    main: dict[str, float], rate: float, budget: float, platforms: dict[str, list[str]]
) -> None:
    """A budget that is met for certain is met by the same design with the true prices.

    Where it is only likely, the true prices may exclude the design, and all others with it: that was said. Where no
    design is expected to keep the budget, the answer names the nearest, and only prices below the expected ones help.
    """
    asked = request(rate, limits={"budget": budget}, platforms=platforms)
    catalog = priced(main)
    if least_cost(asked, plain()) == float("inf"):
        return
    before = best_design(asked, plain()).design
    chance = budget_of(before).probability
    assert chance is not None
    if not keeps_all_limits(before, asked, catalog):
        assert chance < 1


@law()
@given(seed=st.integers(0, 2**32), rate=rates, platforms=some_platforms, confidence=st.sampled_from([0.5, 0.9]))
def test_no_alternative_has_a_lower_bill_where_the_design_is_said_to_cost_least(
    seed: int, rate: float, platforms: dict[str, list[str]], confidence: float
) -> None:
    """Every part has a price of its own, and cables and accessories weigh as much as a tenth of a server."""
    random = Random(seed)
    powers = {"servers": (3.5, 4.5), "storage": (3.5, 4.5), "cables": (1.5, 3), "accessories": (1.5, 3)}
    amounts = {item.id: 10 ** random.uniform(*powers.get(folder, (2, 4))) for folder, item in SOLD}
    try:
        result = size(request(rate, platforms=platforms, confidence=confidence), priced(amounts))
    except InfeasibleError:
        return
    design, *others = result.platforms
    if result.selection.kind not in (SelectionKind.CHEAPEST, SelectionKind.LIKELY_CHEAPEST):
        return
    less = {
        place
        for place, other in enumerate(others, start=1)
        if other.bill.is_complete and design.bill.is_complete and other.bill.total < design.bill.total
        if design.conditional_on or not other.conditional_on
    }
    assert less <= set(result.selection.less_on_bill)
    claims = selection_text(result)
    assert bool(re.search("costs? least", claims)) != bool(result.selection.less_on_bill or tie_text(result))


def test_two_dgx1_lead_before_one_dgx2():
    """20,000 images/s within 500,000 USD: 2 x 149,000 against 399,000 USD, both with support at 8 to 20 % a year.

    At 90 % of the height support costs 0.08 x 2.5^0.9 = 18.2 %: 352,400 against 471,800 USD for servers alone.
    """
    result = size(request(20_000, confidence=0.9, rank_by="cost", limits={"budget": 500_000}), plain())
    assert (result.design.platform.server.id, result.design.n_servers) == ("dgx-1", 2)
    place = [design.platform.server.id for design in result.platforms].index("dgx-2")
    assert place > 0
    check = budget_of(result.design)
    assert (check.result, check.probability) == (CheckResult.MET, 1.0)
    assert result.selection.kind is SelectionKind.LIKELY_CHEAPEST
    assert result.runner_up_reason.kind is RunnerUpKind.DEARER
    assert 1 <= len(result.quotes_to_settle) <= 3
    assert result.deciding_prices == tuple(quote.item for quote in result.quotes_to_settle)


def test_an_unpriced_main_item_is_never_a_pass():
    """A C4140 costs 34,000 to 87,000 USD, 54,000 in the middle: 50,000 exclude it, 200,000 are certain."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"samples_per_s": 1_500}}
    data = {"workload": [work], "platforms": {"servers": ["c4140"], "storage": ["c4140-nvme"]}, "confidence": 0.9}

    def check(budget: float) -> DesignCheck:
        design = best_design(SizingRequest.from_dict({**data, "limits": {"budget": budget}}), plain()).design
        found = budget_of(design)
        assert found.probability is not None
        assert design.joint_probability == pytest.approx(design.probability * found.probability)
        return found

    with pytest.raises(InfeasibleError, match="is expected to cost about"):
        check(50_000)
    likely, certain = check(80_000), check(200_000)
    assert likely.result is CheckResult.OPEN
    assert likely.probability is not None
    assert 0.4 < likely.probability < 0.9
    assert (certain.result, certain.probability) == (CheckResult.MET, 1.0)


@pytest.mark.laws
def test_a_quote_at_the_turning_price_turns_the_order():
    """Just below the price named, the other design leads; just above it, the first."""
    result = size(request(20_000, confidence=0.9), plain())
    turning = [quote for quote in result.quotes_to_settle if quote.turns_at is not None]
    for quote in turning:
        assert quote.turns_at is not None
        leaders = {
            best_design(request(20_000, confidence=0.9), priced({quote.item: quote.turns_at * factor})).design.name
            for factor in (0.995, 1.005)
        }
        assert len(leaders) == 2
