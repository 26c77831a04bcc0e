"""``sizer grow``: purchases by year."""

from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_json


def grow_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with a [growth] table.", metavar="REQUEST")],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Plan purchases by year, at once or in steps, and show when the year-1 cluster reaches its limits."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.growth.export import growth_document
    from sizer.questions.growth.text import growth_text
    from sizer.sizing.growth.growth_plan import growth_plan
    from sizer.workload.request import SizingRequest

    catalog = load_catalog(overlay=catalog_dir)
    request = SizingRequest.from_file(request_file)
    plan = growth_plan(request, catalog)
    if as_json:
        print_json(growth_document(plan))
    else:
        print(growth_text(plan, catalog, request))
