"""Errors of a library, each in one sentence. No sentence contains an address with its password."""

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sizer.base.errors import SizerError
from sizer.library.tables import designs, revisions


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

    Parameters
    ----------
    place : str
        Name of the library, without a password.
    error : SQLAlchemyError or UnicodeDecodeError
        What the database or its driver raised. Its text is never shown, because it may contain the address.
    engine : Engine
        Of the library; a damaged file is read once more to tell which part of it.
    """
    cause = str(error.orig).lower() if isinstance(error, DBAPIError) else ""
    is_damaged = isinstance(error, UnicodeDecodeError) or any(words in cause for words in _DAMAGED)
    if engine.dialect.name == "sqlite" and is_damaged:
        return DatabaseError(
            f"{place} is damaged: {_lost(engine)}. Put its newest backup in its place, or save what can still be read "
            "with 'sqlite3 OLD .recover | sqlite3 NEW' and use the new file"
        )
    message = next((text for words, text in _MESSAGES if words in cause), _DEFAULT_MESSAGE)
    return DatabaseError(f"{place} {message}")


def _lost(engine: Engine) -> str:
    """Which tables of a damaged file cannot be read to their ends."""
    lost, whole = [], []
    for table, held in _HELD:
        try:
            with engine.connect() as connection:
                for _ in connection.execute(table.select()):
                    pass
            whole.append(held)
        except FAULTS:
            lost.append(held)
    if not lost:
        return "every record can be read, but its index or its free space is damaged, so nothing is saved in it"
    return f"its {' and '.join(lost)} cannot all be read" + (f", its {' and '.join(whole)} can" if whole else "")
