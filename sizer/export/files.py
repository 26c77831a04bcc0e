"""Writes a set of files whole or not at all."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sizer.base.errors import OutputError
from sizer.base.folders import make_folders
from sizer.base.run_lock import left_behind, running

# Folders of a run inside the folder that it writes into: not finished, and ready to be moved.
_PREFIX, _UNFINISHED, _READY = ".sizer-", ".unfinished", ".ready"


def make_folder(folder: Path) -> None:
    """Create the folder for documents before the work starts, so that a missing permission is found early.

    Raises OutputError naming the path and the reason.
    """
    write_whole(folder, {})


def write_whole(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder so that a reader never sees half of one.

    All files are first written into a folder of their own inside it, and then moved over their targets. A full disk, a
    missing permission or an interruption leaves the files of an earlier run unchanged. A run that was killed while it
    moved is completed by the next one, and what a killed run had not finished is removed.

    ``folder``: made if it is missing. ``files``: file name, without folders, to content. The files in the order
    given. Raises OutputError naming the path and the reason.
    """
    for name in files:
        if not name or name in (".", "..") or Path(name).name != name:
            raise OutputError(f"{folder}: {name!r} is not a plain file name")
    targets = [folder / name for name in files]
    place = folder
    try:
        if folder.is_file():
            raise FileExistsError(None, "is a file; name a folder")
        make_folders(folder)
        _recover(folder)
        for place in targets:
            if place.is_dir():
                raise IsADirectoryError(None, "a folder has this name")
        if files:
            with _staging(folder) as staged:
                for place in targets:
                    _write(staged / place.name, files[place.name])
                place = folder
                _move(staged.rename(staged.with_suffix(_READY)), folder)
    except OSError as error:
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}") from error
    return targets


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """Folder for files that are not complete, held by a lock while this process lives; removed in the end."""
    staged = Path(tempfile.mkdtemp(prefix=_PREFIX, suffix=_UNFINISHED, dir=folder))
    try:
        with running(staged):
            yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _recover(folder: Path) -> None:
    """Complete what a killed run had begun to move, and remove what it had not finished."""
    for staged in folder.glob(f"{_PREFIX}*"):
        if staged.suffix not in (_UNFINISHED, _READY) or not staged.is_dir() or staged.is_symlink():
            continue
        with contextlib.suppress(FileNotFoundError), left_behind(staged) as is_over:  # its run may just have ended
            if is_over:
                if staged.suffix == _READY:
                    _move(staged, folder)
                shutil.rmtree(staged, ignore_errors=True)


def _move(staged: Path, folder: Path) -> None:
    for part in sorted(staged.iterdir()):
        part.replace(folder / part.name)
    staged.rmdir()


def _write(path: Path, data: bytes) -> None:
    """Write a file that is on disk when this returns, with the permissions of any new file."""
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
