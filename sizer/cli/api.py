"""``sizer api``: starts the HTTP service."""

from typing import Annotated

import typer

from sizer.cli.options import CatalogDir


def api_command(
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port.")] = 8502,
    hosts: Annotated[
        str | None, typer.Option(help="Host names that it answers to besides IP addresses and localhost, with commas.")
    ] = None,
    catalog_dir: CatalogDir = None,
) -> None:
    """Answer requests and sentences over HTTP with the JSON of sizer size; by default to this machine only.

    Parts and prices of --catalog are used for callers with the token in SIZER_API_TOKEN alone. See docs/api-service.md.
    """
    from sizer.ui.app_server.api import run
    from sizer.ui.app_server.settings import serving

    run(serving({}, address=address, port=port, hosts=hosts), catalog_dir)
