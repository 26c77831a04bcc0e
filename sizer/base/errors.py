"""Errors of the configurator with the exit status of each, and the report of an unforeseen one."""

import contextlib
import os
import platform
import re
import tempfile
import traceback
from collections.abc import Sequence

from sizer import __version__

# Faults of one file, request or catalogue that are shown; the others are counted.
MAX_FAULTS = 20


def others(count: int) -> str:
    """Line that counts the faults that are not shown."""
    return f"and {count} more error{'' if count == 1 else 's'}"


def _counted(fault: str) -> int:
    """Number of faults that a line reports: one, or those that it counts."""
    match = re.fullmatch("and ([0-9]+) more errors?", fault)
    return 1 if match is None else int(match[1])


class SizerError(Exception):
    """Anything the user can act on; ``str(error)`` is a sentence that names place, value and what is allowed."""

    exit_status = 1


class RequestError(SizerError):
    """A request, a command-line argument or an uploaded file that cannot be understood."""

    exit_status = 2


class CatalogError(SizerError):
    """One or more faults in the catalogue or in an overlay: all in ``faults``, the first of them in the message."""

    exit_status = 3

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        more = sum(map(_counted, self.faults[MAX_FAULTS:]))
        super().__init__("\n".join((*self.faults[:MAX_FAULTS], *([others(more)] if more else []))))

    def __reduce__(self) -> tuple[type["CatalogError"], tuple[tuple[str, ...]]]:
        # Exceptions are pickled by their message, which would come back as one fault a character.
        return type(self), (self.faults,)


class BudgetError(SizerError):
    """An answer takes more processor time or memory than it may."""

    def __str__(self) -> str:
        return f"the answer takes more than {self.args[0] if self.args else 'it may'}; limit the request"


class InfeasibleError(SizerError):
    """No design meets the request; the sentence names the limit that rules every design out."""

    exit_status = 4


class ReportError(SizerError):
    """A document could not be made."""

    exit_status = 5


class CalibrationError(SizerError):
    """Observations that cannot be read, or a fit that does not hold."""

    exit_status = 6


class OutputError(SizerError):
    """A file or folder that cannot be written."""

    exit_status = 7


class BatchError(SizerError):
    """A batch that cannot go on, or that ended with requests that were not sized."""

    exit_status = 8


_MOST_REPORTS = 20
_PREFIX = "sizer-error-"


def reported(error: BaseException) -> str:
    """Write a report about an error of the program; returns the sentence for the user.

    The report names the places in the code, the versions and nothing else: values and messages of an error may hold
    prices, names or passwords.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {os.path.basename(frames[-1].filename)} line {frames[-1].lineno}" if frames else ""
    what = f"an error of the program ({type(error).__name__}{place}) stopped this step; your inputs are unchanged"
    file = _written(error)
    if file is None:
        return f"{what}. Try again, and report the error if it occurs again"
    return f"{what}. Send the report {file} to the maintainers; it holds none of your data"


def _written(error: BaseException) -> str | None:
    with contextlib.suppress(OSError):
        _remove_old()
        handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".txt")  # readable by this user only
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(_lines(error)) + "\n")
        return name
    return None


def _lines(error: BaseException) -> list[str]:
    lines = [f"sizer {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"]
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        lines.append(f"{type(cause).__module__}.{type(cause).__qualname__}")
        lines += [f"  {f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(cause.__traceback__)]
        cause = cause.__cause__ or cause.__context__
    return lines


def _remove_old() -> None:
    """Keep a few reports: a fault that occurs in every row of a batch must not fill the disk."""
    folder = tempfile.gettempdir()
    names = [name for name in os.listdir(folder) if name.startswith(_PREFIX) and name.endswith(".txt")]
    own = [entry for name in names if os.access(entry := os.path.join(folder, name), os.W_OK)]
    for path in sorted(own, key=os.path.getmtime)[: 1 - _MOST_REPORTS or None] if len(own) >= _MOST_REPORTS else ():
        os.unlink(path)
