"""Options and output that several verbs share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

CatalogDir = Annotated[
    Path | None, typer.Option("--catalog", help="Folder with your own parts and prices, laid over the catalogue.")
]
ProfileFile = Annotated[
    Path | None, typer.Option("--profile", help="Company, logo, colours and paper of the documents (TOML).")
]
CustomerCopy = Annotated[
    bool, typer.Option("--customer-copy", help="Leave discounts and internal notes out of everything.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def print_json(data: Any) -> None:
    """Print plain data for machines: sorted keys, no NaN."""
    print(json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False))
