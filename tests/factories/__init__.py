"""What many tests start from: hand-made results, sized examples, plans and a quote with secrets."""

from tests.factories.answers import bill, line, spread
from tests.factories.catalogue import BLOG, GUIDE, MLPERF, catalog
from tests.factories.drawings import drawings
from tests.factories.results import ALL, four_apollo, nine_dgx1, one_c4140, single_server

__all__ = [
    "ALL",
    "BLOG",
    "GUIDE",
    "MLPERF",
    "bill",
    "catalog",
    "drawings",
    "four_apollo",
    "line",
    "nine_dgx1",
    "one_c4140",
    "single_server",
    "spread",
]
