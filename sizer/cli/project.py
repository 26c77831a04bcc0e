"""``sizer project``: how a given cluster performs."""

from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_json


def project_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with the workload.", metavar="REQUEST")],
    server: Annotated[str, typer.Option(help="Server, e.g. dgx-1.")],
    servers: Annotated[int, typer.Option(help="Number of servers.")],
    storage: Annotated[str, typer.Option(help="Storage, e.g. isilon-f800.")],
    storage_nodes: Annotated[int, typer.Option(help="Number of storage nodes; 0 for local drives.")] = 0,
    gpu: Annotated[str | None, typer.Option(help="GPU. Default: the default GPU of the server.")] = None,
    gpus_per_server: Annotated[int | None, typer.Option(help="GPUs used per server. Default: all.")] = None,
    stack: Annotated[str | None, typer.Option(help="Software stack. Default: as in the request.")] = None,
    fabric: Annotated[str | None, typer.Option(help="edr, 100gbe, 40gbe, 25gbe or 10gbe.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Predict the performance of a given cluster."""
    from sizer.catalog.loader import load_catalog
    from sizer.export.design_json import projection_document
    from sizer.guide.plain_text import projection_text
    from sizer.sizing.project import project
    from sizer.workload.request import SizingRequest

    design = project(
        SizingRequest.from_file(request_file),
        load_catalog(overlay=catalog_dir),
        server=server,
        servers=servers,
        storage=storage,
        storage_nodes=storage_nodes,
        gpu=gpu,
        gpus_per_server=gpus_per_server,
        stack=stack,
        fabric=fabric,
    )
    if as_json:
        print_json(projection_document(design))
    else:
        print(projection_text(design))
