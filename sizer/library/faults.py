"""What can go wrong with a library, each in one sentence. No sentence holds an address with its password."""

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sizer.base.errors import SizerError


class LibraryError(SizerError):
    """A library that cannot be opened, read or written, or something that it does not hold or take."""

    exit_status = 7


class DatabaseError(LibraryError):
    """The database behind a library fails."""


# Words of SQLite's and PostgreSQL's own messages, in lower case -> what is said of the library's place. The first that
# is found counts.
_SAID = (
    ("file is not a database", "is not a library of designs: it is a file of another kind"),
    ("malformed", "is damaged; restore it from a backup"),
    ("readonly", "may only be read, so nothing can be saved in it"),
    ("read-only", "may only be read, so nothing can be saved in it"),
    ("unable to open", "cannot be opened; its folder is missing, or this user may not write there"),
    ("locked", "is in use by another program that does not let go; try again"),
    ("disk", "cannot be written; the disk may be full"),
    ("no such table", "has lost its tables; was the file removed while the program ran?"),
    ("relation", "has lost its tables; was the database restored from something else?"),
    ("password", "refuses the user or the password"),
    ("pg_hba.conf", "lets this user or this machine not in"),
    ("permission denied", "does not allow this user what the library needs"),
    ("does not exist", "has no such database or user"),
    ("timeout", "does not answer in time"),
)
_OTHERWISE = "cannot be reached; is it running, and is its address right?"


def said(place: str, error: SQLAlchemyError) -> DatabaseError:
    """Error of the database in the words of this program.

    Parameters
    ----------
    place : str
        The library in words, without a password.
    error : SQLAlchemyError
        What the database or its driver raised. Its text is looked at and never passed on: it may quote the address.
    """
    cause = str(error.orig).lower() if isinstance(error, DBAPIError) else ""
    return DatabaseError(f"{place} {next((text for words, text in _SAID if words in cause), _OTHERWISE)}")
