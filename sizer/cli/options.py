"""Options and output that several commands share."""

import sys
from pathlib import Path
from typing import Annotated

import typer

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
