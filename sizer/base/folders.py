"""Folders that a user names."""

import errno
import os
from pathlib import Path

# Deeper ones end Python's recursion; file systems limit the whole path to 4,096 bytes.
_MOST_FOLDERS = 200


def make_folders(folder: Path) -> None:
    """Make a folder with those above it; one that is there stays.

    Raises
    ------
    OSError
        If it cannot be made, or lies too deep.
    """
    if len(folder.parts) > _MOST_FOLDERS:
        raise OSError(errno.ENAMETOOLONG, f"lies more than {_MOST_FOLDERS} folders deep")
    os.makedirs(folder, exist_ok=True)
