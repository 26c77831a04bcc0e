"""Where the data folders lie: beside the code in a checkout, inside the package once installed; files of a user."""

import stat
from pathlib import Path
from typing import Literal, get_args

from sizer.base.errors import RequestError

DataName = Literal["catalog", "reports", "examples"]

_PACKAGE = Path(__file__).resolve().parent.parent


def checkout_dir() -> Path | None:
    """Folder of the checkout that this code runs from, or None when it runs from an installed package."""
    parent = _PACKAGE.parent
    return parent if (parent / "pyproject.toml").is_file() else None


def resource_path(in_checkout: str, installed: str) -> Path:
    """Path of a file or folder that the project ships; it may not exist.

    ``in_checkout``: where it lies in a checkout, relative to its top folder. ``installed``: where the wheel puts it,
    relative to ``sizer/_data``.
    """
    checkout = checkout_dir()
    return _PACKAGE / "_data" / installed if checkout is None else checkout / in_checkout


def data_dir(name: DataName) -> Path:
    """Folder of shipped data.

    ``name``: which folder. Returns the checkout's folder, or ``sizer/_data/<name>`` in an installed package. Raises
    ValueError if the name is none of the three. Raises FileNotFoundError if the folder is missing, which means a
    damaged checkout or installation.
    """
    if name not in get_args(DataName):
        raise ValueError(f"no data folder is called {name!r}; there are {', '.join(get_args(DataName))}")
    folder = resource_path(name, name)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: the data folder {name} is missing; restore the checkout or install again")
    return folder


def require_file(path: Path) -> None:
    """Refuse a device or a pipe: it has no end, or none for a long time. A folder fails where it is opened.

    Raises RequestError if the path is a device or a pipe. Raises OSError if there is nothing.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise RequestError(f"{path}: cannot be read: is a device or a pipe; give a file")


def text_of_file(path: Path, max_bytes: int, what: str) -> str:
    """Text of a file that a user names.

    ``max_bytes``: largest size that is read [B]. ``what``: what the file should be, with its article, for the error of
    a larger one. Raises RequestError if the file is missing, no file but a device or a pipe, unreadable, too large or
    not UTF-8.
    """
    try:
        require_file(path)
        if path.stat().st_size > max_bytes:
            raise RequestError(f"{path}: is larger than {max_bytes} B, the most for {what}")
        return path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        raise RequestError(f"{path}: is a folder; give a file") from None
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path}: is not UTF-8 text (byte {error.start})") from None
