"""Opens a library by its address: a file of SQLite, or a PostgreSQL database that a team shares."""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from sizer.base.errors import SizerError
from sizer.base.folders import make_folders

# Raised with every change of the tables that an older program cannot read.
DATABASE_VERSION = 1
# ISO 8601 with its offset, such as 2026-11-22T05:30:00.000000+00:00: sorts as text, the same in both databases.
_INSTANT = String(40)
_DIGEST = String(64)

metadata = MetaData()

schema = Table("library_schema", metadata, Column("version", Integer, primary_key=True))

designs = Table(
    "designs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("search_text", Text, nullable=False),  # the name as searches compare it
    Column("created_at", _INSTANT, nullable=False),
    Column("is_hidden", Boolean, nullable=False),
)

# Rows are added and read, never changed.
revisions = Table(
    "revisions",
    metadata,
    Column("design_id", String(64), ForeignKey("designs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("parent", Integer),  # revision of the same design that it was made from
    Column("author", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("created_at", _INSTANT, nullable=False),
    Column("customer", Text, nullable=False),
    Column("search_text", Text, nullable=False),  # customer and parts as searches compare them
    Column("request", Text, nullable=False),  # JSON, as typed
    Column("price_book", Text, nullable=False),  # CSV, or empty
    Column("digest", _DIGEST, nullable=False),  # of request, price book, catalogue and calibration
    Column("catalog_digest", _DIGEST, nullable=False),
    Column("calibration_digest", _DIGEST, nullable=False),
    Column("snapshot", Text, nullable=False),  # JSON
    Index("revisions_by_time", "created_at"),
)


class LibraryError(SizerError):
    """A library cannot be opened, read or written, or does not contain or accept something."""

    exit_status = 7


class DatabaseError(LibraryError):
    """The database behind a library fails."""


# Words of messages of SQLite and PostgreSQL, in lower case -> message after the name of the library. The first match
# counts.
_MESSAGES = (
    ("file is not a database", "is not a design library: the file has another format"),
    ("readonly", "is read-only, so nothing can be saved in it"),
    ("read-only", "is read-only, so nothing can be saved in it"),
    ("unable to open", "cannot be opened; its folder is missing, or this user has no write permission"),
    ("locked", "is locked by another program; try again"),
    ("disk", "cannot be written; the disk may be full"),
    ("no such table", "has no tables; was the file removed while the program ran?"),
    ("relation", "has no tables; was the database restored from another backup?"),
    ("password", "rejects the user name or the password"),
    ("pg_hba.conf", "does not accept connections from this user or machine (pg_hba.conf)"),
    ("permission denied", "does not grant this user the permissions that the library needs"),
    ("does not exist", "has no such database or user"),
    ("timeout", "did not answer in time"),
)
# SQLite names damaged parts of a file in messages that are no UTF-8; its driver fails on them.
FAULTS = (SQLAlchemyError, UnicodeDecodeError)
_DEFAULT_MESSAGE = "cannot be reached; check that it is running and that the address is correct"


# What SQLite says of a file whose pages contradict each other.
_DAMAGED = ("malformed", "corrupt", "disk i/o error")
# What a table holds, in the words of a user.
_HELD = ((designs, "names of designs"), (revisions, "revisions"))


def database_error(place: str, error: SQLAlchemyError | UnicodeDecodeError, engine: Engine) -> DatabaseError:
    """Error of the database as a message for the user.

    ``place``: name of the library, without a password. ``error``: what the database or its driver raised. Its text is
    never shown, because it may contain the address. ``engine``: of the library; a damaged file is read once more to
    tell which part of it.
    """
    cause = str(error.orig).lower() if isinstance(error, DBAPIError) else ""
    code = getattr(error.orig, "sqlite_errorname", "") if isinstance(error, DBAPIError) else ""
    # "disk i/o error" is of a file that ends too early, or of a disk that takes no more.
    is_unwritten = code.startswith("SQLITE_IOERR") and not code.endswith("READ")
    is_damaged = isinstance(error, UnicodeDecodeError) or any(words in cause for words in _DAMAGED)
    if engine.dialect.name == "sqlite" and is_damaged and not is_unwritten:
        return DatabaseError(
            f"{place} is damaged: {_lost(engine)}. Put its newest backup in its place, or save what can still be read "
            "with 'sqlite3 OLD .recover | sqlite3 NEW' and use the new file"
        )
    message = next((text for words, text in _MESSAGES if words in cause), _DEFAULT_MESSAGE)
    return DatabaseError(f"{place} {message}")


def _lost(engine: Engine) -> str:
    """Which tables of a damaged file cannot be read to their ends."""
    lost, whole = [], []
    for table, column in _HELD:
        try:
            with engine.connect() as connection:
                for _ in connection.execute(table.select()):
                    pass
            whole.append(column)
        except FAULTS:
            lost.append(column)
    if not lost:
        return "every record can be read, but its index or its free space is damaged, so nothing is saved in it"
    return f"its {' and '.join(lost)} cannot all be read" + (f", its {' and '.join(whole)} can" if whole else "")


# Environment: URL of a PostgreSQL database, or path of a file.
LIBRARY = "SIZER_LIBRARY"
# Longest wait for another writer, and for a server to answer. [s]
_BUSY_S = 20
_CONNECT_S = 5
# Key of the lock that lets one process at a time create the tables; any number that no other program uses.
_LOCK = 7_305_121_907
# Option of a connection whose transaction will write.
WRITES = "sizer_writes"


def default_address(environ: Mapping[str, str]) -> str:
    """Address of the library: from the environment, else a file among the user's data."""
    named = environ.get(LIBRARY, "").strip()
    if named:
        return named
    data = environ.get("XDG_DATA_HOME", "")
    folder = Path(data) if Path(data).is_absolute() else Path(os.path.expanduser("~/.local/share"))
    return str(folder / "dl-cluster-configurator" / "designs.sqlite")


def open_engine(address: str) -> tuple[Engine, str]:
    """Engine of a library whose tables exist, and the name of the library without a password.

    ``address``: ``postgresql://user@host/database``, ``sqlite:///file``, or the path of a file. Raises LibraryError
    if the address is none of these, nothing answers there, or this program cannot read what is there.
    """
    url = _url(address)
    place = _place(url)
    is_file = url.get_backend_name() == "sqlite"
    if is_file:
        _make_folder(url, place)
    try:
        engine = _file_engine(url) if is_file else _server_engine(url)
    except (ImportError, ArgumentError, SQLAlchemyError, ValueError, TypeError):
        raise LibraryError(f"{place} cannot be opened; its address is not valid") from None
    try:
        _make_tables(engine, place)
    except FAULTS as error:
        fault = database_error(place, error, engine)
        engine.dispose()
        raise fault from None
    except BaseException:
        engine.dispose()
        raise
    return engine, place


def _url(address: str) -> URL:
    if "://" not in address:
        if not address.strip() or "\0" in address:
            raise LibraryError("the address of the library is empty; name a file or a PostgreSQL database")
        return URL.create("sqlite", database=os.path.abspath(os.path.expanduser(address)))
    try:
        url = make_url(address)
        kind = url.get_backend_name()
    except (ArgumentError, ValueError):
        raise LibraryError(
            "the address of the library is not valid; write postgresql://user@host/database or the path of a file"
        ) from None
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return url.set(drivername="sqlite")
    raise LibraryError("a library is an SQLite file or a PostgreSQL database; the address names neither")


def _place(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        return f"The library {Path(str(url.database).removeprefix('file:')).name}"
    return f"The library's database {url.database or url.username or ''} on {url.host or 'this machine'}"


def _make_folder(url: URL, place: str) -> None:
    if str(url.database).startswith("file:"):
        return
    try:
        make_folders(Path(str(url.database)).parent)
    except OSError as error:
        raise LibraryError(f"{place} cannot be created: {error.strerror or 'its folder is missing'}") from None


def _file_engine(url: URL) -> Engine:
    # No pool: opening a file takes 0.1 ms, and a pooled connection would outlive a file that is moved away.
    engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": _BUSY_S, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        # By default the driver begins transactions late, which would let two writers read the same newest revision.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        # One damaged text must not hide every other row.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _server_engine(url: URL) -> Engine:
    return create_engine(url, pool_pre_ping=True, pool_size=5, connect_args={"connect_timeout": _CONNECT_S})


def _make_tables(engine: Engine, place: str) -> None:
    """Create the tables where there are none; refuse those of a newer or of another program."""
    is_file = engine.dialect.name == "sqlite"
    with engine.connect() as connection, connection.begin():
        names = set(inspect(connection).get_table_names())
        if schema.name in names:
            _check_version(connection, place)
            return
    if is_file:
        _use_write_ahead_log(engine)
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        if not is_file:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        names = set(inspect(connection).get_table_names())
        if schema.name in names:  # another process created them
            _check_version(connection, place)
            return
        # A server's database may contain other tables; a file with other tables belongs to another program.
        if names if is_file else names & set(metadata.tables):
            raise LibraryError(f"{place} belongs to another program: it has tables, but not those of a design library")
        metadata.create_all(connection)
        connection.execute(schema.insert().values(version=DATABASE_VERSION))


def _use_write_ahead_log(engine: Engine) -> None:
    """Let readers read during a write. Not every file system supports it; the file also works without."""
    connection = engine.raw_connection()
    try:
        with suppress(sqlite3.Error):
            connection.cursor().execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _check_version(connection: Connection, place: str) -> None:
    scenarios = connection.execute(select(schema.c.version)).scalars().all()
    if not scenarios or max(scenarios) < 1:
        raise LibraryError(f"{place} is damaged: the version of its tables is missing; restore a backup")
    if max(scenarios) > DATABASE_VERSION:
        raise LibraryError(
            f"{place} was written by a newer version of this program (tables {max(scenarios)}, this one reads "
            f"{DATABASE_VERSION}); update the program"
        )
