"""``sizer verdict``: whether the customer needs this cluster."""

from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_json


def verdict_command(
    request_file: Annotated[Path, typer.Argument(help="Request file, TOML or JSON.", metavar="REQUEST")],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Do we need this? Claims with what would reverse them, and the simplest sufficient design."""
    from sizer.catalog.loader import load_catalog
    from sizer.guide.plain_text import verdict_answer_text
    from sizer.questions.verdict.analysis import claims
    from sizer.questions.verdict.export import verdict_document
    from sizer.questions.verdict.simplest_design import simplest_design
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    catalog = load_catalog(overlay=catalog_dir)
    result = size(SizingRequest.from_file(request_file), catalog)
    evaluated = EvaluatedDesign(result, catalog)
    answers = claims(evaluated), simplest_design(evaluated)
    if as_json:
        print_json(verdict_document(result, *answers))
    else:
        print(verdict_answer_text(result, *answers))
