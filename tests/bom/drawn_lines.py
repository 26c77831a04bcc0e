"""Lines of bills as Hypothesis draws them."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from sizer.bom.bill import BillLine
from sizer.physical.components import CATEGORIES
from tests import factories

BOUGHT = ("computed", "overridden", "added")
NOT_BOUGHT = ("existing", "optional", "by others")

amounts = st.none() | st.decimals(Decimal(0), Decimal(10**7), places=2)
percents = st.decimals(Decimal(0), Decimal(100), places=2)


def drawn_line(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[BillLine]:
    """A line with any price, quantity, discount and category, and these fields."""
    return st.builds(
        lambda price, quantity, category, **more: factories.line(
            "1.1", category, "x", "X", "Part", quantity, None if price is None else str(price), **more
        ),
        amounts,
        st.integers(0, 10_000),
        st.sampled_from(CATEGORIES),
        **{"discount_percent": percents, **fields},
    )
