"""Starts the server of the app, from a checkout or an installed package, and checks its health."""

import errno
import gc
import os
import socket
import sys
import tomllib
import urllib.error
import urllib.request
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from sizer.base.errors import OutputError, SizerError
from sizer.base.resources import resource_path
from sizer.base.worker_process import MOST_WORKERS, within_budget
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.ui.app_server.gate import Gate
from sizer.ui.app_server.settings import Serving

_ENTRY = Path(__file__).parent.with_name("main.py")
_HEALTH_SECONDS = 5
# When cyclic garbage is collected: Python's usual thresholds, in place of the rare ones of the commands.
_COLLECTIONS = (2_000, 10, 10)
# How long a thread waits for another to leave the interpreter: each message of a page waits so long for a calculation.
_SWITCH_S = 0.001
# What worker processes size before anybody waits for them: their first answers take five times as long as later ones.
_USUAL_NEEDS = (
    "Train ResNet-50 on 20 TB of images of 110 kB at 40,000 images/s",
    "Pre-train Llama 3 8B on 300 billion tokens within 30 days",
    "Fine-tune Llama 3 70B with LoRA on 500 million tokens within 12 hours",
    "Serve Llama 3.3 70B to 300 users for chat",
)


def run(serving: Serving, catalog_dir: Path | None = None) -> None:
    """Serve the app until it is interrupted.

    ``serving``: Address, port and path. ``catalog_dir``: folder with own parts and prices, added to the catalogue; by
    default the one in the environment. Raises OutputError if the port is in use or may not be opened, or Streamlit is
    not installed. Raises CatalogError if the folder has errors.
    """
    check_port(serving)
    try:
        from starlette.middleware import Middleware
        from streamlit import App, config, net_util
        from streamlit.web import bootstrap
        from streamlit.web.server.starlette.starlette_server import UvicornRunner
    except ModuleNotFoundError:
        raise OutputError(
            "the app needs Streamlit, which is not installed; install dl-cluster-configurator[ui]"
        ) from None
    from sizer.ui.session_catalog import CATALOG_FOLDER

    if catalog_dir is not None:
        os.environ[CATALOG_FOLDER] = str(catalog_dir.resolve())
    folder = os.environ.get(CATALOG_FOLDER, "")
    load_catalog(overlay=Path(folder) if folder else None)  # its faults belong on the terminal, before a browser opens
    flags = {**settings(), **serving.flags()}
    # Streamlit asks a service on the internet for the outer address of the machine, and the routes of the machine for
    # the inner one, to print them and to judge where a page comes from. The server asks nobody: proxies pass on the
    # name under which they were called.
    net_util.get_external_ip = net_util.get_internal_ip = lambda: None
    if serving.is_everywhere:
        flags["browser_serverAddress"] = "localhost"  # for the line that it prints
    # The steps of ``streamlit run``, in this process: one setting, the fonts, has no flag.
    Thread(target=_import_pages, daemon=True).start()
    config._main_script_path = str(_ENTRY)
    bootstrap.load_config_options(flags)
    sys.setswitchinterval(_SWITCH_S)
    gated = App(_ENTRY, middleware=[Middleware(Gate, names=serving.hosts)])
    bootstrap._prepare_asgi_app_run_context(str(_ENTRY), [], flags)
    UvicornRunner(gated).run()


def _import_pages() -> None:
    """Import and read what the first page needs while the server starts and the browser loads its own scripts."""
    import_module("sizer.ui.main")
    from altair.utils.schemapi import disable_debug_mode

    from sizer.ui.app_server import turns
    from sizer.ui.session_catalog import catalog

    disable_debug_mode()  # checking every part of a chart takes half of its time; the tests do that
    catalog()
    # What is here now lives as long as the server: to look through it at each collection would stop all pages.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTIONS)
    # Who works alone is answered by this process.
    turns.several_windows.wait()
    for _ in range(MOST_WORKERS):
        Thread(target=_prepare_worker, args=(catalog(),), daemon=True).start()


def _prepare_worker(parts: Catalog) -> None:
    from sizer.calibrate.calibration import stored_calibration
    from sizer.sizing.size import size
    from sizer.workload.need import read_words
    from sizer.workload.request import SizingRequest

    for need in _USUAL_NEEDS:
        request = SizingRequest.from_dict(read_words(need, parts).request, "a usual need")
        with suppress(SizerError):
            within_budget(size, request, parts, stored_calibration())


def check_health(serving: Serving) -> str:
    """Check the health of the server that runs with these settings.

    Address that answered. Raises OutputError if no server answers there, or not with "ok".
    """
    url = serving.health_url
    # No proxy of the environment: the question stays on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_HEALTH_SECONDS) as answer:
            if answer.read(10).strip() == b"ok":
                return url
            reason = "another program answers there"
    except urllib.error.HTTPError as error:
        reason = f"the answer has status {error.code}"
    except (urllib.error.URLError, OSError, ValueError):
        reason = "no answer"
    raise OutputError(f"health check failed at {url}: {reason}")


def settings() -> dict[str, Any]:
    """The shipped settings under the names of Streamlit's flags: ``server_headless`` for ``[server] headless``."""
    file = resource_path(".streamlit/config.toml", "streamlit.toml")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise OutputError(f"{file}: the settings of the app are missing; restore the checkout or reinstall") from None
    return dict(_flat(tables, ""))


def _flat(table: dict[str, Any], prefix: str) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        flat += _flat(value, f"{name}_") if isinstance(value, dict) else [(name, value)]
    return flat


def check_port(serving: Serving) -> None:
    """Whether the port can be opened.

    Raises OutputError if it is in use or may not be opened.
    """
    address, port = serving.address, serving.port
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise OutputError(
                    f"{address} is not an address of this machine; choose another with --address"
                ) from None
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be opened ({error.strerror})"
            raise OutputError(f"port {port} of {address} {reason}; choose another with --port") from None
