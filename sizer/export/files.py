"""Writes a set of files whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sizer.base.errors import OutputError


def make_folder(folder: Path) -> None:
    """Create the folder for documents before the work starts, so that a missing permission is found early.

    Raises
    ------
    OutputError
        Naming the path and the reason.
    """
    write_whole(folder, {})


def write_whole(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder so that a reader never sees half of one.

    Each file is first written to a temporary file in the same folder and then moved over its target. A full disk or a
    missing permission leaves the files of an earlier run unchanged.

    Parameters
    ----------
    folder : Path
        Made if it is missing.
    files : mapping of str to bytes
        File name, without folders, to content.

    Returns
    -------
    list of Path
        The files in the order given.

    Raises
    ------
    OutputError
        Naming the path and the reason.
    """
    for name in files:
        if not name or name in (".", "..") or Path(name).name != name:
            raise OutputError(f"{folder}: {name!r} is not a plain file name")
    targets = [folder / name for name in files]
    waiting: list[tuple[Path, Path]] = []
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for target in targets:
            place = target
            if target.is_dir():
                raise IsADirectoryError(None, "a folder has this name")
            waiting.append((_temporary_file(target, files[target.name]), target))
        while waiting:
            part, place = waiting[0]
            part.replace(place)
            waiting.pop(0)
    except OSError as error:
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}") from error
    finally:
        for part, _ in waiting:
            with contextlib.suppress(OSError):
                part.unlink()
    return targets


def _temporary_file(target: Path, data: bytes) -> Path:
    """Temporary file with the data in the folder of the target, on disk when this returns."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp denies access to others; a document has the permissions of any new file.
        part.chmod(0o666 & ~_umask())
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return part


def _umask() -> int:
    """Mask of the process. It can only be read by setting it; another thread meanwhile sees the stricter one."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
