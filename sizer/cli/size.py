"""``sizer size``: sizes requests, prints the answers and writes their documents."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from sizer.base.errors import RequestError, SizerError
from sizer.cli.documents import DocumentWriter, document_options
from sizer.cli.options import AsJson, CatalogDir, CustomerCopy, ProfileFile, print_error, print_json, print_message

if TYPE_CHECKING:
    from sizer.documents import FileProgress


def size_command(
    requests: Annotated[list[Path], typer.Argument(help="Request files, TOML or JSON.", metavar="REQUEST...")],
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
    """Size a cluster for each request, print the result, and write its documents with --out."""
    from sizer.catalog.loader import load_catalog
    from sizer.documents import pdf_threads, prepare_drawing
    from sizer.export.design_json import design_document
    from sizer.export.files import make_folder
    from sizer.guide.context import guide_context
    from sizer.guide.edition import Edition
    from sizer.guide.plain_text import answer_text
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    if out is None and (formats is not None or archive):
        raise RequestError("--formats and --archive need a folder; add --out FOLDER")
    documents = document_options(profile_file, customer_copy, formats, archive)
    if out is not None:
        prepare_drawing(documents.kinds)  # while this process sizes
    catalog = load_catalog(overlay=catalog_dir)
    parsed = [(path, SizingRequest.from_file(path)) for path in requests]  # fail before long work
    if len({path.stem for path in requests}) < len(requests):
        raise RequestError(
            "two request files have the same name, so their documents would overwrite each other; rename one"
        )
    if out is not None:
        make_folder(out)
    edition = Edition("guide", documents.profile, documents.customer_copy)
    answers: list[dict[str, Any]] = []
    texts: list[str] = []
    failures: list[tuple[Path, SizerError]] = []
    # First the documents: a terminal that is closed or full loses none of them.
    with _progress() as tell, pdf_threads() as threads:
        writer = DocumentWriter(documents, threads, tell)
        for path, request in parsed:
            try:
                with documents.locale():
                    result = size(request, catalog)
                    shown = documents.for_customer(result)
                    simple = None if as_json else guide_context(shown, catalog, edition).simplest
            except SizerError as error:
                if len(parsed) == 1:
                    raise
                failures.append((path, error))
                continue
            if as_json:
                answers.append(design_document(shown))
            else:
                with documents.locale():
                    texts.append(answer_text(shown, simple))
            if out is not None:
                writer.add(result, catalog, out if len(parsed) == 1 else out / path.stem)
        lines = writer.finish()
    if as_json:
        print_json(answers[0] if len(parsed) == 1 else answers)
    for text in texts:
        print(text, end="\n\n" if len(parsed) > 1 else "\n", flush=True)
    for line in lines:
        print_message(line)
    for path, failure in failures:
        print_error(f"{path}: {failure}")
    if failures:
        sys.exit(failures[0][1].exit_status)


@contextmanager
def _progress() -> "Iterator[FileProgress]":
    """Report on stderr what is being written, after 1 s: one changing line on a terminal, else a line for each file."""
    from sizer.guide.pdf.progress import DelayedProgress

    console = Console(stderr=True)
    status = console.status("")
    told: set[str] = set()

    def show(file: str, word: str) -> None:
        if console.is_terminal:
            status.update(Text(f"{file}: {word}" if word else file))
            status.start()
        elif file not in told:
            told.add(file)
            print_message(f"writing {file}")

    try:
        with DelayedProgress(show) as tell:
            yield tell
    finally:
        status.stop()
