"""An unforeseen error as a sentence, and a report file from which it can be mended."""

import contextlib
import os
import platform
import tempfile
import traceback

from sizer import __version__

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
