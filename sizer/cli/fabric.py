"""``sizer fabric``: switches and cables of a single fabric."""

from typing import Annotated, Literal

import typer

from sizer.cli.options import AsJson, CatalogDir, print_document


def fabric_command(
    end_points: Annotated[
        int | None, typer.Argument(help="Number of end points to connect, over all rails.", metavar="END_POINTS")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(help="Servers, instead of END_POINTS: the fabric is then rail-optimised.")
    ] = None,
    links_per_node: Annotated[int, typer.Option(help="Links of each server, one for each GPU index (rail).")] = 8,
    unit: Annotated[
        int | None,
        typer.Option(help="Servers of a scalable unit (SU). Default: as many as a leaf has ports down.", metavar="N"),
    ] = None,
    full_units: Annotated[
        bool,
        typer.Option("--full-units", help="Build leaves and uplinks for full units, also for a partly filled one."),
    ] = False,
    other_ports: Annotated[
        int,
        typer.Option(
            "--ufm-ports", "--other-ports", help="Further ports on the leaves: UFM appliances, management servers."
        ),
    ] = 0,
    switch: Annotated[
        str | None, typer.Option(help="Switch from the catalogue, e.g. sb7800, qm9700, q3400-ra.")
    ] = None,
    ports: Annotated[
        int | None,
        typer.Option(help="Ports per switch, instead of --switch. 64 x 800G run as 128 x 400G: --ports 128."),
    ] = None,
    oversubscription: Annotated[
        float | None,
        typer.Option(
            help="Oversubscription ratio: ports down to ports up of a leaf. 1 is non-blocking (default); "
            "a storage fabric has 4:3 towards the servers."
        ),
    ] = None,
    rails: Annotated[
        int,
        typer.Option("--rails", "--planes", help="Number of separate, identical networks (rails kept apart, planes)."),
    ] = 1,
    network: Annotated[
        Literal["compute", "storage", "in-band"],
        typer.Option(
            help="compute: fat tree. storage: two ports of each server on a pair of leaves, storage devices on leaves "
            "of their own. in-band: pairs of connected leaves."
        ),
    ] = "compute",
    storage_ports: Annotated[int, typer.Option(help="Ports of storage devices, with --network storage.")] = 0,
    storage_link_share: Annotated[
        float, typer.Option(help="Rate of a storage port over that of a switch port: 0.5 for 200 on 400 Gbit/s.")
    ] = 1.0,
    pair: Annotated[
        bool, typer.Option("--pair", help="Two switches connected to each other where one would do (BasePOD).")
    ] = False,
    links_per_cable: Annotated[
        int, typer.Option(help="Links that one cable carries: 2 for twin-port cables and 2x breakouts.")
    ] = 1,
    ports_per_module: Annotated[
        int, typer.Option(help="Ports of one cage and module: 2 for twin-port OSFP. Modules are counted by cage.")
    ] = 1,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Design a fabric of up to three tiers: switches, cables and modules.

    One scalable unit of a DGX H100 SuperPOD: sizer fabric --nodes 31 --ufm-ports 4 --ports 64
    """
    from sizer.catalog.loader import load_catalog
    from sizer.physical.networks.single_fabric import FabricAsked, single_fabric
    from sizer.present.text.plan import fabric_text

    asked = FabricAsked(
        end_points=end_points,
        nodes=nodes,
        links_per_node=links_per_node,
        unit=unit,
        full_units=full_units,
        other_ports=other_ports,
        storage_ports=storage_ports,
        storage_link_share=storage_link_share,
        network=network,
        ports=ports,
        switch=switch,
        oversubscription=oversubscription,
        rails=rails,
        pair=pair,
        links_per_cable=links_per_cable,
        ports_per_module=ports_per_module,
    )
    found = single_fabric(asked, load_catalog(overlay=catalog_dir) if switch is not None else None)
    if as_json:
        print_document("fabric", **vars(found))
    else:
        print(fabric_text(found))
