"""Starts the server of the app on this machine, from a checkout or an installed package."""

import errno
import os
import socket
import tomllib
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from sizer.base.errors import OutputError, RequestError
from sizer.base.resources import resource_path
from sizer.catalog.loader import load_catalog

ADDRESS = "127.0.0.1"
_PORTS = range(1, 65_536)
_ENTRY = Path(__file__).with_name("main.py")


def run(port: int, catalog_dir: Path | None = None) -> None:
    """Serve the app until it is interrupted.

    Parameters
    ----------
    port : int
        Port on the loopback address.
    catalog_dir : Path, optional
        Folder with own parts and prices, laid over the catalogue.

    Raises
    ------
    RequestError
        If the port is no port number.
    OutputError
        If the port is in use or may not be opened, or Streamlit is not installed.
    CatalogError
        If the folder has faults.
    """
    check_port(port)
    if catalog_dir is not None:
        load_catalog(overlay=catalog_dir)  # its faults belong on the terminal, before a browser opens
    try:
        from streamlit import config
        from streamlit.web import bootstrap
    except ModuleNotFoundError:
        raise OutputError(
            "the app needs Streamlit, which is not installed; install dl-cluster-configurator[ui]"
        ) from None
    from sizer.ui.state import CATALOG_FOLDER

    if catalog_dir is not None:
        os.environ[CATALOG_FOLDER] = str(catalog_dir.resolve())
    flags = {**settings(), "server_address": ADDRESS, "server_port": port}
    # The steps of ``streamlit run``, in this process: one setting, the fonts, has no flag.
    Thread(target=_import_pages, daemon=True).start()
    config._main_script_path = str(_ENTRY)
    bootstrap.load_config_options(flags)
    bootstrap.run(str(_ENTRY), False, [], flags)


def _import_pages() -> None:
    """Import what the first page needs while the server starts and the browser loads its own scripts."""
    import_module("sizer.ui.main")


def settings() -> dict[str, Any]:
    """The shipped settings under the names of Streamlit's flags: ``server_headless`` for ``[server] headless``."""
    file = resource_path(".streamlit/config.toml", "streamlit.toml")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise OutputError(
            f"{file}: the settings of the app are missing; restore the checkout or install again"
        ) from None
    return dict(_flat(tables, ""))


def _flat(table: dict[str, Any], prefix: str) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        flat += _flat(value, f"{name}_") if isinstance(value, dict) else [(name, value)]
    return flat


def check_port(port: int) -> None:
    """Whether the port can be served.

    Raises
    ------
    RequestError, OutputError
        As for ``run``.
    """
    if port not in _PORTS:
        raise RequestError(f"--port {port} is no port; choose one from {_PORTS[0]} to {_PORTS[-1]}")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be opened ({error.strerror})"
            raise OutputError(f"port {port} of {ADDRESS} {reason}; choose another with --port") from None
