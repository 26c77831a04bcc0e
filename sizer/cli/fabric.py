"""``sizer fabric``: switches and cables of a single fabric."""

from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_document


def fabric_command(
    end_points: Annotated[int, typer.Argument(help="Number of end points to connect.", metavar="END_POINTS")],
    switch: Annotated[str | None, typer.Option(help="Switch from the catalogue, e.g. sb7800.")] = None,
    ports: Annotated[int | None, typer.Option(help="Ports per switch, instead of --switch.")] = None,
    oversubscription: Annotated[
        float, typer.Option(help="Oversubscription ratio: ports down to ports up of a leaf. 1 is non-blocking.")
    ] = 1.0,
    rails: Annotated[int, typer.Option(help="Number of separate, identical rails.")] = 1,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Design a fabric of up to three tiers: switches and cables."""
    from sizer.catalog.loader import load_catalog
    from sizer.physical.networks.single_fabric import single_fabric
    from sizer.present.text.plan import fabric_text

    catalog = load_catalog(overlay=catalog_dir) if switch is not None else None
    found = single_fabric(
        end_points, ports=ports, switch=switch, oversubscription=oversubscription, rails=rails, catalog=catalog
    )
    if as_json:
        print_document("fabric", **vars(found))
    else:
        print(fabric_text(found))
