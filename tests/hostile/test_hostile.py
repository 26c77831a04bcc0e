"""Hostile inputs of every surface: a status, a sentence with place and remedy, no traceback, nothing left behind."""

from collections import Counter
from typing import Any

import pytest

from tests.drawn_examples import SEED
from tests.hostile import (
    fuzz,
    language_models,
    links,
    measurements,
    modern_parts,
    outputs,
    overlays,
    price_books,
    requests,
    sentences,
    sized_requests,
    sizes,
    texts,
)
from tests.hostile.harness import Entry, check, run

TABLES: dict[str, tuple[Entry, ...]] = {
    "requests": requests.ENTRIES,
    "overlays": overlays.ENTRIES,
    "price_books": price_books.ENTRIES,
    "links": links.ENTRIES,
    "outputs": outputs.ENTRIES,
    "sentences": sentences.ENTRIES,
    "texts of requests": texts.REQUESTS,
    "texts of overlays": texts.OVERLAYS,
    "texts of price books": texts.PRICE_BOOKS,
    "profiles": texts.PROFILES,
    "sizes of requests": sizes.REQUESTS,
    "sizes of links": sizes.LINKS,
    "numbers of overlays": sizes.OVERLAYS,
    "options": sizes.OPTIONS,
    "language models": language_models.ENTRIES,
    "overlays of today's parts": modern_parts.OVERLAYS,
    "requests for today's parts": modern_parts.REQUESTS,
    "measurements": measurements.ENTRIES,
}

pytestmark = pytest.mark.hostile


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=f"{table}:{entry.name}", marks=pytest.mark.xdist_group(table))
        for table, entries in TABLES.items()
        for entry in entries
    ],
)
def test_hostile_input(entry: Entry) -> None:
    check(entry)


@pytest.mark.parametrize("surface", fuzz.SURFACES)
def test_random_input(surface: str) -> None:
    fuzz.draw(surface, SEED, examples=300)


@pytest.mark.parametrize(
    ("name", "data"), sized_requests.kept(), ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_request_that_failed_once_is_sized_with_all_its_files(name: str, data: dict[str, Any]) -> None:
    assert sized_requests.fault(run(sized_requests.entry(name, data, 1), sized_requests.LIMITS)) == ""


def test_drawn_requests_are_sized_with_all_their_files() -> None:
    assert sized_requests.failing(SEED, 10) == {}


def test_there_are_at_least_three_hundred() -> None:
    assert sum(map(len, TABLES.values())) >= 300


def test_entries_have_names_of_their_own() -> None:
    for table, entries in TABLES.items():
        repeated = [name for name, count in Counter(entry.name for entry in entries).items() if count > 1]
        assert not repeated, f"{table}: {repeated}"
