"""A library in a file, and one in a database of a PostgreSQL server: the same tests for both."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from sizer.library.library import Library

SERVER = "SIZER_TEST_POSTGRES"
BOTH = [pytest.param("sqlite"), pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(scope="module", params=BOTH)
def new_address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Makes addresses at which nothing lies yet."""
    if request.param == "sqlite":
        yield lambda: str(tmp_path_factory.mktemp("library") / "designs.sqlite")
        return
    server = os.environ.get(SERVER)
    assert server, f"{SERVER} names no server; run make test-postgres"
    url = make_url(server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    made: list[str] = []

    def make() -> str:
        name = f"t{secrets.token_hex(6)}"
        with admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        made.append(name)
        return url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    yield make
    with admin.connect() as connection:
        for name in made:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def address(new_address: Callable[[], str]) -> str:
    """An address at which nothing lies yet."""
    return new_address()


@pytest.fixture
def library(address: str) -> Iterator[Library]:
    """An empty library."""
    with ExitStack() as stack:
        opened = Library(address)
        stack.callback(opened.close)
        yield opened


@pytest.fixture(scope="module")
def shared(new_address: Callable[[], str]) -> Iterator[Library]:
    """One library for many examples of a property."""
    opened = Library(new_address())
    yield opened
    opened.close()
