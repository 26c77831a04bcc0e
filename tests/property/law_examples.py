"""How many examples a law of whole searches gets: a few in every run of the tests, hundreds in ``make laws``."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

THOROUGH_PROFILE = "laws"  # ``make laws`` loads it
Test = Callable[..., Any]


def examples(quick: int, thorough: int = 300) -> Callable[[Test], Test]:
    """Decorator of a law.

    Parameters
    ----------
    quick : int
        Examples of ``make test``.
    thorough : int
        Examples of ``make laws``.
    """
    is_thorough = settings.get_current_profile_name() == THOROUGH_PROFILE
    limited = settings(
        max_examples=thorough if is_thorough else quick, deadline=None, suppress_health_check=list(HealthCheck)
    )
    return lambda test: pytest.mark.more_examples(limited(test))
