"""Errors of a library, each in one sentence. No sentence contains an address with its password."""

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sizer.base.errors import SizerError


class LibraryError(SizerError):
    """A library cannot be opened, read or written, or does not contain or accept something."""

    exit_status = 7


class DatabaseError(LibraryError):
    """The database behind a library fails."""


# Words of messages of SQLite and PostgreSQL, in lower case -> message after the name of the library. The first match
# counts.
_MESSAGES = (
    ("file is not a database", "is not a design library: the file has another format"),
    ("malformed", "is damaged; restore it from a backup"),
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
_DEFAULT_MESSAGE = "cannot be reached; check that it is running and that the address is correct"


def database_error(place: str, error: SQLAlchemyError) -> DatabaseError:
    """Error of the database as a message for the user.

    Parameters
    ----------
    place : str
        Name of the library, without a password.
    error : SQLAlchemyError
        What the database or its driver raised. Its text is never shown, because it may contain the address.
    """
    cause = str(error.orig).lower() if isinstance(error, DBAPIError) else ""
    message = next((text for words, text in _MESSAGES if words in cause), _DEFAULT_MESSAGE)
    return DatabaseError(f"{place} {message}")
