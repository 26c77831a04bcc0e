"""How many examples a law of whole searches gets in ``make laws``."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, seed, settings

from tests.drawn_examples import SEED

Test = Callable[..., Any]


def law(examples: int = 60) -> Callable[[Test], Test]:
    """Decorator of a law, with its number of examples; with ``TIMES=n`` in the environment n times as many."""
    many = examples * int(os.environ.get("TIMES", "1"))
    limited = settings(max_examples=many, deadline=None, suppress_health_check=list(HealthCheck))
    return lambda test: pytest.mark.laws(limited(seed(SEED)(test)))
