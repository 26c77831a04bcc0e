"""What many tests start from: published designs, sized examples, plans and a quote with secrets."""

from tests.factories.answers import bill, line, spread
from tests.factories.drawings import drawings
from tests.factories.examples import catalog
from tests.factories.results import ALL, nine_dgx1, one_apollo, one_c4140, single_server

# Sources of published runs.
GUIDE, BLOG, MLPERF = "dell-ready-ai-nvidia-2018", "dell-isilon-dgx1-blog-2018", "mlperf-v0.6"

__all__ = [
    "ALL",
    "BLOG",
    "GUIDE",
    "MLPERF",
    "bill",
    "catalog",
    "drawings",
    "line",
    "nine_dgx1",
    "one_apollo",
    "one_c4140",
    "single_server",
    "spread",
]
