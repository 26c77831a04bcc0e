"""Ranking by the cost of ownership: exact over all designs, equal to the bill, unknown energy comes last."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from sizer import Catalog, SizingRequest, SizingResult, size
from sizer.base.errors import RequestError
from sizer.bom.bill import LineNoteKind
from sizer.bom.lines import is_free
from sizer.bom.ownership import OwnershipRates, footprint_of, ownership_cost, row_totals
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import UnitPrices
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import with_prices
from sizer.catalog.price_books import Price
from sizer.sizing.best_design import best_design
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.project import requoted
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import Ranking
from sizer.workload.quote import Quote
from tests.factories.examples import catalog, sized
from tests.factories.prices import priced

RATES = {"electricity_per_kwh": 0.2, "space_per_rack_unit_month": 25}


def request(servers: list[str], ownership: dict[str, Any] | None = None, **tables: Any) -> SizingRequest:
    work = {
        "dnn": "resnet50",
        "stack": "mxnet-ngc19.05-dali",
        "batch_per_gpu": 192,
        "dataset": "imagenet",
        "target": tables.pop("target", {"samples_per_s": 8000}),
    }
    tables.setdefault("rank_by", "ownership")
    asked = {"years": 5, **RATES} if ownership is None else ownership
    return SizingRequest.from_dict(
        {"workload": [work], "platforms": {"servers": servers}, "site": {"pue_ratio": 1.5}, "ownership": asked} | tables
    )


def fully_priced() -> Catalog:
    """Every part at 1,000 and more; support pays for two years, software is bought once."""
    rows = [
        Price(
            item=item.id,
            amount=Decimal(1000 + number),
            currency="USD",
            date="2020",
            source="test",
            where="test",
            term_months=24 if folder == "support" else None,
        )
        for number, (folder, item) in enumerate(catalog().items())
        if folder not in ("gpus", "dnns", "stacks", "datasets", "recipes") and not is_free(item)
    ]
    return with_prices(catalog(), rows)


@pytest.fixture(scope="module")
def complete() -> tuple[SizingResult, Catalog]:
    book = fully_priced()
    return size(request(["dgx-1"], rank_by="cost", target={"gpus_busy": 32}), book), book


@pytest.mark.parametrize(
    "rates",
    [
        OwnershipRates(5, Decimal("0.2"), 1.5, None, Decimal("25")),
        OwnershipRates(4, Decimal("0.31"), None, Decimal("12.5"), None, Decimal("900"), Decimal("3")),
        OwnershipRates(1),
    ],
)
def test_the_arrays_of_the_search_give_the_amount_of_the_documents(
    complete: tuple[SizingResult, Catalog], rates: OwnershipRates
) -> None:
    """One formula in floats over all designs, one in exact money over the bill: the same to a dollar in a million."""
    result, book = complete
    design = result.design
    assert design.bill.is_complete
    prices = UnitPrices(book, price_book(book), "USD", (0.0, 0.9))
    arrays = row_totals(design.quantities, design.platform, prices, rates)[:, 0]
    exact = ownership_cost(design.bill, rates, footprint_of(design.plan, design.quantities)).total
    assert arrays == pytest.approx(float(exact), rel=1e-6)


@pytest.mark.laws
@pytest.mark.parametrize(
    ("rank_by", "asked"),
    [
        ("cost", None),
        ("ownership", None),
        ("ownership", {"years": 10}),
        ("ownership", {"years": 7, "support_percent": 15, "electricity_per_kwh": 0.5, "space_per_rack_month": 2000}),
    ],
)
def test_the_order_is_that_of_all_designs_counted(rank_by: str, asked: dict[str, Any] | None) -> None:
    """Bounds that spare the counting of platforms never hide a cheaper one: every platform's best by brute force."""
    servers = ["dgx-1", "dgx-2", "c4140", "apollo-6500"]
    counts = search(request(servers, asked, rank_by=rank_by), catalog(), stored_calibration())
    found = list(Ranking(counts).one_by_one())
    evaluated = counts.evaluated
    rows = np.flatnonzero(counts.feasible)  # counts every platform
    amount = counts.ranking_cost
    best: dict[tuple[str, str], float] = {}
    for row in rows[~counts.conditional[rows] & ~counts.energy_is_open[rows]].tolist():
        key = evaluated.platforms[int(evaluated.space.platform[row])].key
        best[key] = min(best.get(key, np.inf), float(amount[row]))
    known = [row for row in found if not counts.conditional[row] and not counts.energy_is_open[row]]
    assert [float(amount[row]) for row in known] == sorted(best.values())
    assert len(known) > 3
    # What servers and storage alone cost is a bound of every design, so that no platform is passed over.
    bound = counts.main_cost.cost[
        evaluated.space.platform, np.tile(np.arange(len(evaluated.space.sizes)), len(evaluated.platforms))
    ]
    assert (bound[rows] <= amount[rows] + 0.01).all()


def test_a_dear_kilowatt_hour_turns_the_order() -> None:
    """16 GPUs in one DGX-2 (10 kW) at 300,000 USD, or in two DGX-1 (7 kW) at 298,000 USD, with switch and head node.

    At 0.01 USD/kWh ten years of 3 kW x 1.5 are 3,942 USD, less than a head node; at 3 USD/kWh they are 1.18 million.
    """
    book = priced({"dgx-1": "149000", "dgx-2": "300000"})

    def servers(price: float) -> str:
        asked = {"years": 10, "electricity_per_kwh": price, "support_percent": 0}
        return best_design(request(["dgx-1", "dgx-2"], asked, target={"gpus_busy": 16}), book).design.platform.server.id

    assert servers(0.01) == "dgx-2"
    assert servers(3.0) == "dgx-1"


@pytest.mark.laws
def test_an_unpublished_draw_never_wins() -> None:
    """The DSS 8440 has a floor of its draw only: at 1,000 USD it would lead by cost, and does not by ownership."""
    book = priced({"dss-8440": "1000", "dgx-1": "149000"})
    by_cost = size(request(["dss-8440", "dgx-1"], rank_by="cost"), book)
    assert by_cost.design.platform.server.id == "dss-8440"
    owned = size(request(["dss-8440", "dgx-1"]), book)
    assert owned.design.platform.server.id == "dgx-1"
    is_unknown = [bool(design.quantities.unknown_power) for design in owned.platforms]
    assert is_unknown == sorted(is_unknown)
    without_energy = size(request(["dss-8440", "dgx-1"], {"years": 5}), book)
    assert without_energy.design.platform.server.id == "dss-8440"


def test_a_customer_is_told_what_owning_the_offer_costs_and_nothing_of_other_designs() -> None:
    found = size(request(["dgx-1", "dgx-2"]), catalog())
    assert found.design.ownership.low > found.design.cost.low
    copy = customer_copy(found)
    assert copy.design.ownership == found.design.ownership
    assert all(design.ownership is None for design in copy.platforms if design is not copy.design)
    assert (copy.runner_up_reason.chosen, copy.runner_up_reason.other) == (None, None)


def test_money_of_two_currencies_is_never_added() -> None:
    with pytest.raises(RequestError, match="not every allowed server and storage system has a price in KZT"):
        best_design(request(["dgx-1"], currency="KZT"), catalog())
    assert best_design(request(["dgx-1"], currency="KZT", rank_by="cost"), catalog()).design.ownership is None


RESNET = "dgx1-f800-resnet50"
QUOTE = {
    "discount_percent": "5",
    "override": [
        {"item": "dgx-1", "quantity": 10, "unit_price": "140000"},
        {"item": "isilon-f800", "unit_price": "200000", "discount_percent": "10"},
    ],
    "line": [{"description": "Training", "category": "service", "quantity": 2, "unit_price": "1500"}],
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"limits": {"budget": 2_500_000}},
        {"resilience": {"keeps_targets_without": ["server"]}},
        {"ownership": {"years": 3}},
        {"currency": "EUR", "exchange_rate_usd": 1.15, "limits": {"budget": 2_000_000}},
        {"platforms": {"servers": ["dgx-1", "dgx-2"], "storage": ["isilon-f800"]}},
    ],
    ids=["plain", "budget", "losses", "ownership", "euro", "platforms"],
)
def test_a_new_quote_is_what_sizing_the_whole_request_gives(changes):
    data = sized(RESNET).request.model_dump(mode="json", exclude_defaults=True)
    bare = SizingRequest.from_dict({**data, **changes})
    quote = Quote.model_validate(QUOTE)
    asked = bare.model_copy(update={"quote": quote})
    again = requoted(size(bare, catalog()), quote, catalog())
    whole = size(asked, catalog())
    assert again.request == whole.request
    assert again.questions == whole.questions
    assert again.sources == whole.sources
    for one, other in zip(again.platforms, whole.platforms, strict=True):
        assert one.bill == other.bill
        assert one.cost == other.cost
        assert one.ownership == other.ownership
        assert one.checks == other.checks
        assert one.warnings == other.warnings
    assert (again.spare_cost is None) == (whole.spare_cost is None)
    if again.spare_cost is not None:
        assert again.spare_cost.amount == whole.spare_cost.amount
        assert again.spare_cost.open_items == whole.spare_cost.open_items
        assert again.spare_cost.cost == whole.spare_cost.cost


def test_the_total_follows_by_hand():
    """Ten DGX-1 at 140,000 and one chassis at 200,000 less 10 %, two days at 1,500; 5 % off the deal."""
    again = requoted(sized(RESNET), Quote.model_validate(QUOTE), catalog())
    assert again.design.bill.total == (Decimal(1_400_000) + 180_000 + 3_000) * Decimal("0.95")
    (changed,) = again.design.bill.changed_quantities
    assert any(note.kind is LineNoteKind.NEW_QUANTITY and note.values == (10, 9) for note in changed.changes)
    assert again.design.n_servers == 9


def test_a_quote_for_an_item_that_is_not_there_is_refused():
    quote = Quote.model_validate({"override": [{"item": "dgx-2", "quantity": 1}]})
    with pytest.raises(RequestError, match="dgx-2"):
        requoted(sized(RESNET), quote, catalog())
