"""``sizer scale``: the same GPUs in fewer or in more servers."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sizer.base.errors import RequestError
from sizer.cli.options import AsJson, CatalogDir, print_json

# Rows that a person compares on a page; each takes about as long as a sizing.
_MAX_COUNTS = 50
_MAX_DIGITS = 6
# Keys of ``sizer.questions.scale.analysis.RowOrder``, written out so that ``--help`` stays quick.
_Order = Literal["listed", "rate", "rack-units", "watts", "ports"]


def scale_command(
    request_file: Annotated[Path, typer.Argument(help="Request file, TOML or JSON.", metavar="REQUEST")],
    gpus: Annotated[
        str | None, typer.Option(help="Numbers of GPUs, e.g. 8,16,32. Default: the GPUs of the design.")
    ] = None,
    order_by: Annotated[_Order, typer.Option(help="Order of the rows; the listed order is not a ranking.")] = (
        "listed"
    ),
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Compare the same GPUs in fewer, larger servers or in more, smaller ones: rate, space, power and price."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.scale.analysis import scale_comparison
    from sizer.questions.scale.export import scale_document
    from sizer.questions.scale.text import scale_text
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    counts = None if gpus is None else _counts(gpus)
    catalog = load_catalog(overlay=catalog_dir)
    result = size(SizingRequest.from_file(request_file), catalog)
    evaluated = EvaluatedDesign(result, catalog)
    comparison = scale_comparison(evaluated, counts)
    if as_json:
        print_json(scale_document(comparison, catalog))
    else:
        print(scale_text(comparison, evaluated, order_by))


def _counts(text: str) -> list[int]:
    parts = text.split(",")
    if len(parts) > _MAX_COUNTS:
        raise RequestError(f"--gpus: {len(parts)} numbers of GPUs; give at most {_MAX_COUNTS}")
    return [_count(part.strip()) for part in parts]


def _count(text: str) -> int:
    from sizer.base.faults import shown

    if not text.isascii() or not text.isdigit() or len(text) > _MAX_DIGITS:
        raise RequestError(f"--gpus: {shown(text)} is not a number of GPUs; write for example --gpus 8,16,32")
    return int(text)
