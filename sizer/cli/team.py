"""``sizer team``: queue waits on the cluster, and the combined read rate of the jobs."""

from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_json


def team_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with a [team] table.", metavar="REQUEST")],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the cluster for a team: queue waits with fewer and more servers, and the combined read rate of all jobs."""
    from sizer.base.errors import RequestError
    from sizer.catalog.loader import load_catalog
    from sizer.questions.team.analysis import team_answer
    from sizer.questions.team.export import team_document
    from sizer.questions.team.text import team_text
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    if request.team is None:
        raise RequestError(f"{request_file}: has no [team] table; add one with wait_s and at least one [[team.job]]")
    catalog = load_catalog(overlay=catalog_dir)
    result = size(request, catalog)
    answer = team_answer(EvaluatedDesign(result, catalog))
    assert answer is not None  # the request has a team, and its design is of this catalogue
    if as_json:
        print_json(team_document(result.design.name, answer))
    else:
        print(team_text(request.title, result.design.name, answer))
