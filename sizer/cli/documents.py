"""Options for writing documents, shared by the commands that write them."""

import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sizer.catalog.model import Catalog
    from sizer.documents import FileProgress, UnfinishedDocuments
    from sizer.guide.profile import Profile
    from sizer.sizing.result import SizingResult

# Answers whose PDFs are still being set, at most: enough to keep the processes at work where guides differ in length.
_MOST_UNFINISHED = 3


@dataclass(frozen=True)
class DocumentOptions:
    """Which documents are written, and how."""

    kinds: tuple[str, ...]
    profile: "Profile"
    customer_copy: bool

    def locale(self) -> AbstractContextManager[None]:
        """Number and date formats of the profile for everything printed inside."""
        from sizer.base.locale import use_locale

        return use_locale(self.profile.locale)

    def for_customer(self, result: "SizingResult") -> "SizingResult":
        """The answer as the documents show it."""
        from sizer.documents import as_handed_over

        return as_handed_over(result, self.profile, self.customer_copy)


def document_options(
    profile_file: Path | None, customer_copy: bool, formats: str | None, archive: bool
) -> DocumentOptions:
    """Documents that the options of a command request.

    Raises RequestError if a kind of document is unknown, a customer does not get it, or the profile cannot be read.
    """
    from sizer.documents import known_kinds, usual_kinds
    from sizer.guide.profile import PLAIN, Profile

    kinds = usual_kinds(customer_copy)
    if formats is not None:
        names = [name.strip() for name in formats.split(",") if name.strip()]
        kinds = known_kinds(names, "--formats", customer_copy)
    profile = PLAIN if profile_file is None else Profile.from_file(profile_file)
    return DocumentOptions((*kinds, "archive") if archive else kinds, profile, customer_copy)


def write_one(result: "SizingResult", catalog: "Catalog", folder: Path, options: DocumentOptions) -> str:
    """Write the documents of one answer; returns the line that names the folder and the files."""
    from sizer.documents import write_documents

    written = write_documents(result, catalog, folder, options.kinds, options.profile, options.customer_copy)
    return _line(folder, *written)


class DocumentWriter:
    """Writes the documents of several answers. The PDFs of one are set while the next is sized and written.

    ``options``: of all answers. ``threads``: those of :func:`sizer.documents.pdf_threads`. ``tell``: Progress, as
    :func:`sizer.documents.write_documents` reports it.
    """

    def __init__(self, options: DocumentOptions, threads: "Executor", tell: "FileProgress") -> None:
        self._options, self._threads, self._tell = options, threads, tell
        self._unfinished: deque[UnfinishedDocuments] = deque()
        self._lines: list[str] = []

    def add(self, result: "SizingResult", catalog: "Catalog", folder: Path) -> None:
        """Make the documents of the next answer, and write those of an earlier one."""
        from sizer.documents import begin_documents

        options = self._options
        self._unfinished.append(
            begin_documents(
                *(result, catalog, folder, self._threads, options.kinds, options.profile, options.customer_copy),
                progress=self._tell,
            )
        )
        if len(self._unfinished) > _MOST_UNFINISHED:
            self._write_first()

    def finish(self) -> list[str]:
        """Write the remaining documents; the lines that name folders and files, in the order of the answers."""
        while self._unfinished:
            self._write_first()
        return self._lines

    def _write_first(self) -> None:
        first = self._unfinished.popleft()
        self._lines.append(_line(first.folder, *first.write()))


def _line(folder: Path, written: Sequence[Path], remark: str) -> str:
    names = ", ".join(file.name for file in written)
    return f"documents: {folder}/ ({names})" + (f"; {remark}" if remark else "")


CatalogDir = Annotated[
    Path | None, typer.Option("--catalog", help="Folder with your own parts and prices, added to the catalogue.")
]
ProfileFile = Annotated[
    Path | None, typer.Option("--profile", help="Company, logo, colours and paper of the documents (TOML).")
]
CustomerCopy = Annotated[
    bool, typer.Option("--customer-copy", help="Omit discounts, internal notes and the engineer's file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_message(text: str) -> None:
    """Print a message on stderr; what a terminal would obey is shown as an escape sequence."""
    from sizer.base.texts import escaped

    print(escaped(text), file=sys.stderr, flush=True)


def print_error(text: str) -> None:
    """Print an error on stderr."""
    print_message(f"sizer: {text}")


def print_json(document: object) -> None:
    """Print a JSON document, or a list of them, for machines."""
    from sizer.base.formats.json_document import json_text

    print(json_text(document), end="")


def print_document(kind: str, **content: object) -> None:
    """Print a JSON document of one kind with these keys and values."""
    from sizer.base.formats.json_document import json_document

    print_json(json_document(kind, **content))


def print_answer(as_json: bool, document: Callable[..., object], text: Callable[..., str], *answer: object) -> None:
    """Print an answer for machines or for people; both functions take the same values."""
    if as_json:
        print_json(document(*answer))
    else:
        print(text(*answer))
