"""Options and output that several verbs share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

CatalogDir = Annotated[
    Path | None, typer.Option("--catalog", help="Folder with your own parts and prices, laid over the catalogue.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def print_json(data: Any) -> None:
    """Print plain data for machines: sorted keys, no NaN."""
    print(json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False))
