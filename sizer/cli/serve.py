"""``sizer app`` starts the app in the browser; ``sizer doctor`` checks the installation."""

import os
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_document


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


def doctor_command(as_json: AsJson = False) -> None:
    """Check the installation: what works, what is missing, and the next step."""
    from sizer.guide.pdf.doctor import set_up_state

    checks = set_up_state()
    if as_json:
        print_document(
            "doctor",
            checks=[{name: getattr(c, name) for name in ("name", "ok", "detail", "next_step")} for c in checks],
        )
        return
    for check in checks:
        print(
            f"{'ok     ' if check.ok else 'missing'}  {check.name}: {check.detail}"
            + (f" -> {check.next_step}" if check.next_step else "")
        )


def app_command(
    address: Annotated[
        str | None,
        typer.Option(help="Address to listen on. Default: SIZER_APP_ADDRESS, else 127.0.0.1 (this machine only)."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port. Default: SIZER_APP_PORT, else 8501.")] = None,
    base_path: Annotated[
        str | None, typer.Option(help="Path behind a reverse proxy, such as /sizer. Default: SIZER_APP_BASE_PATH.")
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            help="Host names that the app answers to besides IP addresses and localhost, separated by commas, such "
            "as sizer.example.com. Default: SIZER_APP_HOSTS."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the health of the running app instead of starting one.")
    ] = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Start the app in the browser; by default it is reachable from this machine only.

    A flag overrides its environment variable. Other variables: SIZER_APP_MAX_UPLOAD_MB (largest upload, default 2),
    SIZER_CATALOG_FOLDER (as --catalog), SIZER_LIBRARY (location of saved designs), SIZER_USER (their author),
    SIZER_USER_HEADER (HTTP header with the user name, set by a proxy). See docs/serve-a-team.md.
    """
    from sizer.ui.app_server.settings import serving
    from sizer.ui.app_server.start import check_health, run

    chosen = serving(os.environ, address=address, port=port, base_path=base_path, hosts=hosts)
    if check:
        print(f"{check_health(chosen)}: ok")
    else:
        run(chosen, catalog_dir)
