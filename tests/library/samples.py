"""States of a design to save, and moments to save them at."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256

from sizer.library.library import DesignContent, content_of
from tests.factories.examples import catalog, sized

EXAMPLE = "small-team"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@cache
def answered() -> DesignContent:
    """An example as it is saved."""
    result = sized(EXAMPLE)
    draft = result.request.model_dump(mode="json", exclude_defaults=True)
    return content_of(draft, "", result, catalog())


def state(name: str, customer: str = "", price_book: str = "") -> DesignContent:
    """A state of a design that differs from every other one in its title."""
    base = answered()
    digest = sha256(f"{name}\0{price_book}".encode()).hexdigest()
    return replace(
        base, request={**base.request, "title": name}, digest=digest, customer=customer, price_book=price_book
    )


def at(minutes: int) -> datetime:
    """So many minutes after the start."""
    return START + timedelta(minutes=minutes)
