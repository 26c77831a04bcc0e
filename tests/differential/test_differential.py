"""Every place that prints a number of a design prints the same one.

Requests are drawn anew by the commit's hash; what once failed stands in ``requests/`` and is asked in every run.
``DIFFERENTIAL=n`` asks n requests in place of 200, ``SEED=text`` draws others.
"""

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sizer import InfeasibleError, SizingRequest
from sizer.base.errors import RequestError
from sizer.base.formats.toml_text import to_toml
from sizer.calibrate.calibration import stored_calibration
from tests.differential.drawn import request_data
from tests.differential.places import disagreements
from tests.factories.examples import catalog

pytestmark = pytest.mark.differential
FAILED_ONCE = sorted((Path(__file__).parent / "requests").glob("*.toml"))
# Requests in one test, so that two workers share them evenly; one in twenty is written as documents, too.
_TOGETHER, _DOCUMENTS = 10, 20


def commit() -> str:
    """Hash of the commit, so that every commit draws other requests; empty outside a checkout."""
    found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


SEED = os.environ.get("SEED") or commit()


def problems(data: dict[str, Any], *, documents: bool) -> list[str]:
    """What the places disagree on; nothing where the request is refused."""
    try:
        request = SizingRequest.from_dict(data)
        return disagreements(request, catalog(), stored_calibration(), documents=documents)
    except (InfeasibleError, RequestError):
        return []


@pytest.mark.parametrize("start", range(0, int(os.environ.get("DIFFERENTIAL", "200")), _TOGETHER))
def test_all_places_print_the_same_numbers(start: int) -> None:
    failures = []
    for number in range(start, start + _TOGETHER):
        data = request_data(SEED, number)
        if found := problems(data, documents=number % _DOCUMENTS == 0):
            failures.append("\n".join([f"# seed {SEED}, number {number}", to_toml(data), *found]))
    assert not failures, "\n\n".join(failures)


@pytest.mark.parametrize("path", FAILED_ONCE, ids=lambda path: path.stem)
def test_requests_that_failed_once(path: Path) -> None:
    assert problems(tomllib.loads(path.read_text()), documents=True) == []


def test_most_drawn_requests_are_sized() -> None:
    """Requests that are refused compare nothing."""
    refused = 0
    for number in range(0, 60, 3):
        try:
            SizingRequest.from_dict(request_data("share", number))
        except RequestError:
            refused += 1
    assert refused <= 1
