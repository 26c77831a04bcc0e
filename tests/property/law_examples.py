"""How many examples a law of whole searches gets in ``make laws``."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

Test = Callable[..., Any]


def law(examples: int = 100) -> Callable[[Test], Test]:
    """Decorator of a law that is searched for counterexamples, with the number of examples."""
    limited = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    return lambda test: pytest.mark.laws(limited(test))
