"""Another quote for a sized design gives what sizing the whole request gives, and searches nothing."""

from decimal import Decimal

import pytest

from sizer.base.errors import RequestError
from sizer.bom.bill import LineNoteKind
from sizer.sizing.project import requoted
from sizer.sizing.size import size
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized

RESNET = "dgx1-f800-resnet50"
QUOTE = {
    "discount_percent": "5",
    "override": [
        {"item": "dgx-1", "quantity": 10, "unit_price": "140000"},
        {"item": "isilon-f800", "unit_price": "200000", "discount_percent": "10"},
    ],
    "line": [{"description": "Training", "category": "service", "quantity": 2, "unit_price": "1500"}],
}


def request_with(**changes: object) -> SizingRequest:
    """The example with other tables."""
    data = sized(RESNET).request.model_dump(mode="json", exclude_defaults=True)
    return SizingRequest.from_dict({**data, **changes})


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
    bare = request_with(**changes)
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
