"""``sizer failures``: effect of each single loss, and the cost of redundancy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sizer.cli.options import AsJson, CatalogDir, print_json


def failures_command(
    request_file: Annotated[Path, typer.Argument(help="Request file, TOML or JSON.", metavar="REQUEST")],
    without: Annotated[
        str | None,
        typer.Option(
            help="Tolerate the loss of any one of these: server, storage-node, switch, gateway, feed, "
            'head-node, separated by commas; "" for none. Default: as in the request.'
        ),
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Throughput, targets and queue waits after each single loss; parts that can be serviced while jobs run."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.failures.analysis import failure_cases
    from sizer.questions.failures.export import failures_document
    from sizer.questions.failures.text import failures_text
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.redundancy_cost import spare_cost
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    if without is not None:
        losses = [part.strip() for part in without.split(",") if part.strip()]
        data: dict[str, Any] = request.model_dump(exclude_none=True)
        request = SizingRequest.from_dict({**data, "resilience": {"keeps_targets_without": losses}}, "--without")
    catalog = load_catalog(overlay=catalog_dir)
    result = size(request, catalog)
    cases = failure_cases(EvaluatedDesign(result, catalog))
    cost = spare_cost(request, result.design, catalog)
    if as_json:
        print_json(failures_document(result, cases, cost))
    else:
        print(failures_text(result, cases, cost))
