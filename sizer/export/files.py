"""Files: names that are safe to write, and writing them whole."""

import contextlib
import datetime
import io
import os
import re
import shutil
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sizer.base.errors import OutputError
from sizer.base.folders import make_folders, running, taken
from sizer.sizing.result import SizingResult

# Characters of customer, design and revision in a file's name; together they stay far below what file systems take.
_LONGEST_NAMES = (40, 60, 20)


def file_stem(result: SizingResult, revision: str = "", today: datetime.date | None = None) -> str:
    """What the names of all files of an answer start with: customer, design, revision, date.

    ``revision``: used where the quote names none, for example "r3" of a saved design. ``today``: used where the
    request has no date. Lower-case letters of ASCII, digits and hyphens, joined by underscores. A name that leaves
    nothing of these reads "customer" or "design".

    Examples
    --------
    ``acme-motors_nine-dgx-1_r3_2026-11-22``
    """
    request = result.request
    day = request.date or today
    parts = (
        (request.customer, "customer"),
        (request.title, "design"),
        (request.quote.revision or revision, "draft"),
    )
    names = [_name_part(text, longest) or empty for (text, empty), longest in zip(parts, _LONGEST_NAMES, strict=True)]
    return "_".join([*names, "undated" if day is None else day.isoformat()])


def _name_part(text: str, longest: int) -> str:
    """Text without what a path, a shell or Windows would read something into."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:longest].rstrip("-")


# A ZIP states a time for each of its files; a fixed one makes the files of equal answers identical.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files in one ZIP, by their names; the same files give the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.create_system, info.external_attr = 0, 0o644 << 16  # else they differ between operating systems
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


# A spreadsheet reads a cell that starts with one of these as a formula, or skips the character and reads on.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
TO_BE_QUOTED = "to be quoted"
PROVIDED_BY_OTHERS = "provided by others"
# Control characters, lone surrogates, and the two code points that XML does not allow.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Letters and marks that have no width; the categories of Unicode have the other characters that nobody sees.
_WITHOUT_WIDTH = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_UNSEEN_CATEGORIES = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs")


def printable(text: str) -> str:
    """Text with a space for every unprintable character, line ends included."""
    return _UNPRINTABLE.sub(" ", text)


def is_formula_like(text: str) -> bool:
    """Whether a spreadsheet might calculate the text.

    Spaces and unseen characters before the first letter do not count. Full-width, small and raised forms of a sign
    count as the sign: input methods and conversions between encodings make one of the other.

    Examples
    --------
    >>> [is_formula_like(text) for text in ("=1", " \\u200b=1", "\\uff1d1", "1+1", "")]
    [True, True, True, False, False]
    """
    # Most texts begin with a plain letter or digit; a workbook has tens of thousands of them.
    if text[:1].isascii() and text[:1].isalnum():
        return False
    first = next((character for character in text if not _is_unseen(character)), "")
    return text.startswith(FORMULA_STARTS) or unicodedata.normalize("NFKC", first).startswith(FORMULA_STARTS)


def harmless(text: str) -> str:
    """Text with an apostrophe before what a spreadsheet might calculate; control characters become spaces."""
    clean = printable(text)
    return f"'{clean}" if is_formula_like(text) else clean


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN_CATEGORIES or _WITHOUT_WIDTH.match(character) is not None


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
    file = folder
    try:
        if folder.is_file():
            raise FileExistsError(None, "is a file; name a folder")
        make_folders(folder)
        _recover(folder)
        for file in targets:
            if file.is_dir():
                raise IsADirectoryError(None, "a folder has this name")
        if files:
            with _staging(folder) as staged:
                for file in targets:
                    _write(staged / file.name, files[file.name])
                file = folder
                _move(staged.rename(staged.with_suffix(_READY)), folder)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror or error}") from error
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
        with contextlib.suppress(FileNotFoundError), taken(staged) as is_over:  # its run may just have ended
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
