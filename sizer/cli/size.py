"""``sizer size`` prints answers and writes their documents; ``sizer diff`` compares two."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from sizer.base.errors import RequestError, SizerError
from sizer.cli.documents import (
    AsJson,
    CatalogDir,
    CustomerCopy,
    DocumentWriter,
    ProfileFile,
    document_options,
    print_answer,
    print_error,
    print_json,
    print_message,
)

if TYPE_CHECKING:
    from sizer.documents import FileProgress
    from sizer.workload.sentence.reading import Reading

_MOST_ANSWERS = 8


def size_command(
    requests: Annotated[
        list[str],
        typer.Argument(help="Request files (TOML, JSON) or quoted needs in words.", metavar="REQUEST..."),
    ],
    changes: Annotated[
        list[str], typer.Option("--set", help="Key of a request that overrules it, e.g. limits.budget=500000.")
    ] = [],  # noqa: B006 -- typer copies it
    explain: Annotated[bool, typer.Option("--explain", help="Print the request as read, as TOML.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the documents; with several requests, one sub-folder for each.")
    ] = None,
    profile_file: ProfileFile = None,
    customer_copy: CustomerCopy = False,
    formats: Annotated[
        str | None, typer.Option(help="Documents to write, e.g. pdf,xlsx. Default: all except the archive.")
    ] = None,
    archive: Annotated[
        bool, typer.Option("--archive", help="Also write the guide as PDF/A-3 with design and bill attached.")
    ] = False,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size a cluster for each request, print the result, and write its documents with --out.

    A request is a file, or a sentence such as "Llama 3 8B on 1T tokens in 30 days on H100".
    """
    from sizer.catalog.loader import load_catalog
    from sizer.documents import pdf_threads, prepare_drawing
    from sizer.export.design_json import design_document, need_document
    from sizer.export.files import make_folder
    from sizer.guide.context import guide_context
    from sizer.guide.plain_text import answer_text
    from sizer.guide.profile import Edition
    from sizer.sizing.size import size
    from sizer.workload.need import read_need
    from sizer.workload.request import SizingRequest

    if out is None and (formats is not None or archive):
        raise RequestError("--formats and --archive need a folder; add --out FOLDER")
    documents = document_options(profile_file, customer_copy, formats, archive)
    if out is not None:
        prepare_drawing(documents.kinds)  # while this process sizes
    catalog = load_catalog(overlay=catalog_dir)
    read = [(need, read_need(need, catalog, keys_of(changes))) for need in requests]  # fail before long work
    if explain or any(reading.questions for _, reading in read):
        _explain(read, as_json=as_json and not explain)
        return
    names = [Path(need).stem if not reading.sentence else f"need-{n}" for n, (need, reading) in enumerate(read, 1)]
    parsed = [
        (name, SizingRequest.from_dict(reading.request, need), reading)
        for name, (need, reading) in zip(names, read, strict=True)
    ]
    if len(set(names)) < len(names):
        raise RequestError(
            "two request files have the same name, so their documents would overwrite each other; rename one"
        )
    if out is not None:
        make_folder(out)
    edition = Edition("guide", documents.profile, documents.customer_copy)
    answers: list[dict[str, Any]] = []
    texts: list[str] = []
    failures: list[tuple[str, SizerError]] = []
    # First the documents: a terminal that is closed or full loses none of them.
    with _progress() as tell, pdf_threads() as threads:
        writer = DocumentWriter(documents, threads, tell)
        for path, request, reading in parsed:
            try:
                with documents.locale():
                    result = size(request, catalog)
                    shown = documents.for_customer(result)
                    simple = None if as_json else guide_context(shown, catalog, edition).simplest
            except SizerError as error:
                failures.append(("" if len(parsed) == 1 else f"{path}: ", error))
                answers.append(need_document(reading, str(error)))
                continue
            if as_json:
                answers.append(design_document(shown, reading))
            else:
                with documents.locale():
                    texts.append(answer_text(shown, simple))
            if out is not None:
                writer.add(result, catalog, out if len(parsed) == 1 else out / path)
        lines = writer.finish()
    if as_json:
        print_json(answers[0] if len(parsed) == 1 else answers)
    for text in texts:
        print(text, end="\n\n" if len(parsed) > 1 else "\n", flush=True)
    for _, _, reading in parsed:
        _tell(reading)
    for line in lines:
        print_message(line)
    for path, failure in failures:
        print_error(f"{path}{failure}")
    if failures:
        sys.exit(failures[0][1].exit_status)


def keys_of(changes: list[str]) -> dict[str, Any]:
    """Keys of a request and their values as given with --set."""
    from sizer.batch.columns import nested, request_key, unknown_column, value_of_cell

    cells = {}
    for change in changes:
        name, _, value = change.partition("=")
        if request_key(name.strip()) is None:
            raise unknown_column(name.strip(), "--set")
        cells[name.strip()] = value_of_cell(name.strip(), value)
    return nested({name: value for name, value in cells.items() if value is not None})


def _explain(read: "list[tuple[str, Reading]]", *, as_json: bool) -> None:
    """Print each need as it was read: the request, what is assumed, unread and asked. Ends with 2 where one is open."""
    from sizer.base.formats.toml_text import to_toml
    from sizer.export.design_json import need_document

    if as_json:
        documents = [need_document(reading) for _, reading in read]
        print_json(documents[0] if len(documents) == 1 else documents)
    for _, reading in read:
        if not as_json:
            print(to_toml(reading.request), end="", flush=True)
        _tell(reading)
    if any(reading.questions for _, reading in read):
        sys.exit(RequestError.exit_status)


def _tell(reading: "Reading") -> None:
    """Tell on stderr what of a need is assumed, not understood, refused or asked."""
    for text in reading.assumptions:
        print_message(f"assumed: {text}")
    if reading.unread:
        print_message(f"not understood: {', '.join(reading.unread)}")
    for question in reading.questions[:1]:
        print_error(question.text)
        if question.answers:
            print_message(f"answers: {'; '.join(answer.label for answer in question.answers[:_MOST_ANSWERS])}")


@contextmanager
def _progress() -> "Iterator[FileProgress]":
    """Report on stderr what is being written, after 1 s: one changing line on a terminal, else a line for each file."""
    from sizer.guide.pdf.progress import DelayedProgress

    console = Console(stderr=True)
    status = console.status("")
    announced: set[str] = set()

    def show(file: str, word: str) -> None:
        if console.is_terminal:
            status.update(Text(f"{file}: {word}" if word else file))
            status.start()
        elif file not in announced:
            announced.add(file)
            print_message(f"writing {file}")

    try:
        with DelayedProgress(show) as tell:
            yield tell
    finally:
        status.stop()


if TYPE_CHECKING:
    from sizer.catalog.model import Catalog
    from sizer.library.compare import ComparedAnswer

_WHAT = "request file, design.json, or revision of the library: 'Plant 4@r3'"


def diff_command(
    before: Annotated[str, typer.Argument(help=f"A: {_WHAT}.", metavar="A")],
    now: Annotated[
        str | None, typer.Argument(help=f"B: {_WHAT}. Default: A, sized today.", metavar="B", show_default=False)
    ] = None,
    library: Annotated[
        str | None,
        typer.Option(help="Library of designs: a file or an address. Default: as for the app (SIZER_LIBRARY)."),
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Compare two requests, designs or saved revisions: inputs, results, parts, cost, and the cause of each change."""
    from sizer.catalog.loader import load_catalog
    from sizer.library.compare import differences, sized_today
    from sizer.questions.compare.causes import diff
    from sizer.questions.compare.text import difference_document, difference_text

    catalog = load_catalog(overlay=catalog_dir)
    saved = _side(before, library, catalog)
    sides = saved, sized_today(saved, catalog) if now is None else _side(now, library, catalog)
    since = differences(*sides)
    caused = diff(sides[0].sizing_request, sides[1].sizing_request, catalog)
    print_answer(as_json, difference_document, difference_text, sides, since, caused)


def _side(named: str, address: str | None, catalog: "Catalog") -> "ComparedAnswer":
    from sizer.library.compare import answer_in_file

    path = Path(named)
    if "@" not in named or os.path.isfile(path):
        return answer_in_file(path, catalog)
    try:
        from sizer.library.library import Library, answer_of_revision
        from sizer.library.opening import default_address
    except ModuleNotFoundError as error:
        raise RequestError(
            f"{named[:80]}: the library of designs needs {error.name}, which is not installed; "
            "install dl-cluster-configurator[library]"
        ) from None
    address = default_address(os.environ) if address is None else address
    # Opening would create a library where there is none; this command only reads.
    if "://" not in address and not os.path.isfile(os.path.expanduser(address)):
        raise RequestError(f"{named[:80]}: there is no library at {address}; name one with --library")
    library = Library(address)
    try:
        return answer_of_revision(named, library)
    finally:
        library.close()
