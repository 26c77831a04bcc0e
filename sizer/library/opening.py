"""Opens a library by its address: a file of SQLite, or a PostgreSQL database that a team shares."""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from sizer.base.folders import make_folders
from sizer.library.faults import FAULTS, LibraryError, database_error
from sizer.library.tables import DATABASE_VERSION, metadata, schema

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
    folder = Path(data) if Path(data).is_absolute() else Path("~/.local/share").expanduser()
    return str(folder / "dl-cluster-configurator" / "designs.sqlite")


def open_engine(address: str) -> tuple[Engine, str]:
    """Engine of a library whose tables exist, and the name of the library without a password.

    Parameters
    ----------
    address : str
        ``postgresql://user@host/database``, ``sqlite:///file``, or the path of a file.

    Raises
    ------
    LibraryError
        If the address is none of these, nothing answers there, or this program cannot read what is there.
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
        return URL.create("sqlite", database=str(Path(address).expanduser().absolute()))
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
    found = connection.execute(select(schema.c.version)).scalars().all()
    if not found or max(found) < 1:
        raise LibraryError(f"{place} is damaged: the version of its tables is missing; restore a backup")
    if max(found) > DATABASE_VERSION:
        raise LibraryError(
            f"{place} was written by a newer version of this program (tables {max(found)}, this one reads "
            f"{DATABASE_VERSION}); update the program"
        )
