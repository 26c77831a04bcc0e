"""Errors of the configurator. Each class carries the exit status that the command line ends with."""

import re
from collections.abc import Sequence

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
