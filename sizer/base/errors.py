"""Errors of the configurator. Each class carries the exit status that the command line ends with."""

from collections.abc import Sequence


class SizerError(Exception):
    """Anything the user can act on; ``str(error)`` is a sentence that names place, value and what is allowed."""

    exit_status = 1


class RequestError(SizerError):
    """A request, a command-line argument or an uploaded file that cannot be understood."""

    exit_status = 2


class CatalogError(SizerError):
    """One or more faults in the catalogue or in an overlay; all of them are listed."""

    exit_status = 3

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))

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
