"""Counts that serve later requests, too: a changed price book gets its own amounts.

What is expected is arithmetic on the prices given here, or the whole count of the same platforms.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sizer import Catalog, SizingRequest
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import unit_prices
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.recommend import search
from sizer.sizing.search.part_counts import PartCounts
from tests.factories.prices import priced
from tests.property.law_examples import law

WORK = {"dnn": "resnet50", "dataset_bytes": "2 TB", "target": {"gpus_busy": 16}}


def counts_of(parts: Catalog, **asked: object) -> PartCounts:
    """Designs of 16 V100 in DGX-1 servers with an F800, at one to three servers."""
    platforms = {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["edr"]}
    request = {"workload": [WORK], "platforms": platforms, "limits": {"servers": 3}, **asked}
    return search(SizingRequest.from_dict(request), parts, stored_calibration())


@law(40)
@given(price=st.integers(100_000, 400_000), other=st.integers(100_000, 400_000))
def test_a_changed_price_never_gets_an_old_amount(price: int, other: int) -> None:
    """Two servers cost twice the difference of their prices more, whichever book was asked first."""
    books = [priced({"dgx-1": str(amount)}) for amount in (price, other, price)]
    counted = [counts_of(book) for book in books]
    amounts = [float(counts.cost[counts.count(0, np.array([1]))[0]]) for counts in counted]
    assert amounts[1] - amounts[0] == 2 * (other - price)
    assert amounts[2] == amounts[0]


def test_prices_belong_to_one_price_book():
    """One price of a server a book: 149,000 and 150,000 USD, at any height, as neither is a band."""
    books = [priced({"dgx-1": amount}) for amount in ("149000", "150000")]
    platform = counts_of(books[0]).evaluated.platforms[0]
    prices = [unit_prices(book, price_book(book), "USD", (0.0, 0.9)) for book in books]
    assert [one.of("dgx-1", platform).tolist() for one in prices] == [[149e3, 149e3], [150e3, 150e3]]
    assert unit_prices(books[0], price_book(books[0]), "USD", (0.0, 0.9)) is prices[0]
    assert unit_prices(books[0], price_book(books[0]), "USD", (0.0, 0.5)) is not prices[0]
