"""``sizer ingest``: required capacity, time to ingest and local copies of a design."""

from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_json


def ingest_command(
    request_file: Annotated[
        Path, typer.Argument(help="Request file, with a [data] table if needed.", metavar="REQUEST")
    ],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the cluster and show required capacity, time to ingest, and whether local copies pay off."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.data.analysis import data_plan
    from sizer.questions.data.export import data_document
    from sizer.questions.data.text import data_text
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    catalog = load_catalog(overlay=catalog_dir)
    result = size(request, catalog)
    plan = data_plan(EvaluatedDesign(result, catalog))
    if as_json:
        print_json(data_document(result.design.name, plan))
    else:
        print(data_text(request.title, result.design.name, plan))
