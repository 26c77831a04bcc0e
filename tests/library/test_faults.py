"""Libraries that cannot be opened, read or written: one sentence each, and never a password."""

import os
import sqlite3

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from sizer.library.library import Library
from sizer.library.opening import DatabaseError, LibraryError
from tests.factories.full_disk import full_disk
from tests.library.conftest import SERVER
from tests.library.samples import answered, at

SECRET = "s3cret-pass"


def sentence_of(address: str) -> str:
    """What opening an address says, which is one line and does not hold the password."""
    with pytest.raises(LibraryError) as caught:
        Library(address)
    said = str(caught.value)
    assert "\n" not in said
    assert SECRET not in said
    # The cause is not shown either where a traceback is printed.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return said


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("\0", "is empty"),
        (f"mysql://user:{SECRET}@host/x", "names neither"),
        (f"oracle+thin://user:{SECRET}@host/x", "names neither"),
        ("nonsense://x", "names neither"),
        (f"nonsense{SECRET}://x", "is not valid"),
        (f"postgresql://user:{SECRET}@host:port/x", "is not valid"),
        ("://", "is not valid"),
        ("sqlite://", "names neither"),
        ("sqlite:///:memory:", "names neither"),
        (f"postgresql://user:{SECRET}@127.0.0.1:1/x?connect_timeout=2", "cannot be reached"),
        (f"postgres://127.0.0.1:1/x?password={SECRET}&connect_timeout=2", "cannot be reached"),
        (f"postgresql+asyncpg://user:{SECRET}@127.0.0.1:1/x", "cannot be reached"),
        (f"postgresql://user:{SECRET}@127.0.0.1:1/x?nonsense={SECRET}", "cannot be reached"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence(address, words):
    assert words in sentence_of(address)


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"these are notes, and no database at all\n" * 100)
    assert sentence_of(str(path)) == "The library notes.txt is not a design library: the file has another format"
    assert path.read_bytes().startswith(b"these are notes")


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE designs (id INTEGER)")
    connection.close()
    assert "belongs to another program" in sentence_of(str(path))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("designs",)]
    connection.close()


def test_a_folder_is_no_library(tmp_path):
    assert "cannot be opened" in sentence_of(str(tmp_path))


def test_a_file_where_the_folder_should_be_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    assert "cannot be created" in sentence_of(str(tmp_path / "file" / "designs.sqlite"))


def test_missing_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "designs.sqlite"
    Library(str(path)).close()
    assert path.is_file()


def with_version(address: str, version: int | None) -> None:
    """Give the tables of a library another version, or none."""
    Library(address).close()
    url = make_url(address if "://" in address else f"sqlite:///{address}")
    engine = create_engine(url.set(drivername="postgresql+psycopg") if "://" in address else url)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM library_schema"))
        if version is not None:
            connection.execute(text(f"INSERT INTO library_schema VALUES ({version})"))
    engine.dispose()


def test_a_newer_library_says_what_to_update(address):
    with_version(address, 2)
    assert "was written by a newer version of this program (tables 2, this one reads 1); update" in sentence_of(address)


@pytest.mark.parametrize("version", [None, 0])
def test_a_library_without_a_version_is_damaged(address, version):
    with_version(address, version)
    assert "the version of its tables is missing" in sentence_of(address)


def test_a_library_that_may_only_be_read_opens_and_says_so_when_saving(tmp_path):
    path = tmp_path / "designs.sqlite"
    whole = Library(str(path))
    whole.create("design-0001", "x", answered(), author="", comment="", now=at(0))
    whole.close()
    library = Library(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert library.design("design-0001").name == "x"
    for attempt in (
        lambda: library.create("design-0002", "y", answered(), author="", comment="", now=at(0)),
        lambda: library.rename("design-0001", "y"),
    ):
        with pytest.raises(DatabaseError, match=r"designs\.sqlite is read-only, so nothing can be saved in it$"):
            attempt()
    library.close()


@pytest.mark.parametrize("most_bytes", [0, 5_000, 20_000])
def test_a_full_disk_loses_no_design_that_was_saved(tmp_path, most_bytes):
    path = tmp_path / "designs.sqlite"
    library = Library(str(path))
    library.create("design-0001", "x", answered(), author="", comment="", now=at(0))
    with full_disk(most_bytes), pytest.raises(DatabaseError, match="the disk may be full"):
        library.create("design-0002", "y" * 50, answered(), author="", comment="z" * 1_000, now=at(0))
    library.close()
    again = Library(str(path))
    assert [found.name for found in again.search().designs] == ["x"]
    again.create("design-0002", "y", answered(), author="", comment="", now=at(0))
    again.close()


def test_a_file_that_was_removed_is_told(tmp_path):
    path = tmp_path / "designs.sqlite"
    library = Library(str(path))
    for left in tmp_path.iterdir():
        left.unlink()
    with pytest.raises(DatabaseError, match="has no tables"):
        library.search()
    library.close()


def test_a_library_that_another_program_holds_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("sizer.library.opening._BUSY_S", 0.1)
    path = tmp_path / "designs.sqlite"
    library = Library(str(path))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseError, match="is locked by another program"):
        library.create("design-0001", "x", answered(), author="", comment="", now=at(0))
    other.close()
    library.create("design-0001", "x", answered(), author="", comment="", now=at(0))
    library.close()


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"password": SECRET}, "rejects the user name or the password"),
        ({"database": "no_such_database"}, "has no such database or user"),
        ({"password": None}, "rejects the user name or the password"),
    ],
)
def test_a_server_that_refuses_is_told(change, words):
    url = make_url(os.environ[SERVER]).set(**change)
    if "password" in change and change["password"] is None:
        url = url._replace(password=None)
    assert words in sentence_of(url.render_as_string(hide_password=False))


@pytest.mark.postgres
def test_a_user_without_rights_is_told():
    owner = make_url(os.environ[SERVER]).set(drivername="postgresql+psycopg")
    engine = create_engine(owner, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE closed"))
        connection.execute(text(f"CREATE ROLE guest LOGIN PASSWORD '{SECRET}'"))
    try:
        guest = owner.set(username="guest", password=SECRET, database="closed", drivername="postgresql")
        assert "does not grant this user" in sentence_of(guest.render_as_string(hide_password=False))
    finally:
        with engine.connect() as connection:
            connection.execute(text("DROP DATABASE closed"))
            connection.execute(text("DROP ROLE guest"))
        engine.dispose()


@pytest.mark.postgres
@pytest.mark.parametrize("new_address", ["postgres"], indirect=True)
def test_a_connection_that_the_server_ended_is_opened_anew(library, address):
    library.create("design-0001", "x", answered(), author="", comment="", now=at(0))
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        ended = connection.execute(
            text(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid()"
            )
        ).scalar_one()
    engine.dispose()
    assert ended >= 1
    assert library.design("design-0001").name == "x"
