"""``sizer app``: starts the app in the browser."""

import os
from typing import Annotated

import typer

from sizer.cli.options import CatalogDir


def app_command(
    address: Annotated[
        str | None,
        typer.Option(help="Address to listen on; else SIZER_APP_ADDRESS, else 127.0.0.1: this machine only."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; else SIZER_APP_PORT, else 8501.")] = None,
    base_path: Annotated[
        str | None, typer.Option(help="Path behind a reverse proxy, such as /sizer; else SIZER_APP_BASE_PATH.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Start nothing: ask the app that runs with these settings if it is well.")
    ] = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Start the app in the browser, on this machine only unless told otherwise.

    A flag rules over its variable of the environment. Other variables: SIZER_APP_MAX_UPLOAD_MB (largest upload, 2),
    SIZER_CATALOG_FOLDER (as --catalog), SIZER_LIBRARY (where saved designs lie), SIZER_USER (who saves them),
    SIZER_USER_HEADER (HTTP header in which a proxy names the user). docs/serve-a-team.md tells the rest.
    """
    from sizer.ui.settings import serving
    from sizer.ui.start import check_health, run

    chosen = serving(os.environ, address=address, port=port, base_path=base_path)
    if check:
        print(f"{check_health(chosen)}: ok")
    else:
        run(chosen, catalog_dir)
