"""Pango for WeasyPrint, also where it was unpacked beside the code instead of installed.

``make setup`` unpacks Debian's libraries into ``.vendor/pango`` when the user may not install packages. The dynamic
linker does not look there, but it does find by name what the process has already loaded.
"""

import contextlib
import ctypes
import importlib
import io
import os
import sys
import warnings
from functools import cache
from pathlib import Path

from sizer.base.resources import checkout_dir, data_dir

_NEEDED = ("libpangoft2-1.0.so.0", "libharfbuzz-subset.so.0")
_SYSTEM_FONT_SETTINGS = Path("/etc/fonts/fonts.conf")


@cache
def load_pango() -> None:
    """Prepare this process for ``import weasyprint``; the second call does nothing.

    Loads the unpacked libraries where the system has none, and points fontconfig to the shipped settings where the
    system has none: without any font Pango ends the process.
    """
    if sys.platform != "linux":
        return
    checkout = checkout_dir()
    if checkout is not None and missing_libraries():
        _load_all(sorted((checkout / ".vendor" / "pango").glob("**/lib/*-linux-gnu*/*.so.*")))
    told = {"FONTCONFIG_FILE", "FONTCONFIG_PATH"} & set(os.environ)
    if not told and not _SYSTEM_FONT_SETTINGS.is_file():
        os.environ["FONTCONFIG_FILE"] = str(data_dir("reports") / "fonts" / "fonts.conf")


def missing_libraries() -> list[str]:
    """Libraries for the PDF that this process cannot load, by name; WeasyPrint works slowly without HarfBuzz-Subset."""
    return [name for name in _NEEDED if sys.platform == "linux" and not _loads(name)]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


def _load_all(libraries: list[Path]) -> None:
    """Load each library after those it needs: what fails waits for the next round, until a round brings nothing."""
    waiting = libraries
    while waiting:
        failed = [path for path in waiting if not _loads(str(path))]
        if len(failed) == len(waiting):
            return  # the import of WeasyPrint names what is missing
        waiting = failed


@cache
def weasyprint_state() -> str | None:
    """None when PDFs can be made, else one sentence that says what is missing and what to do."""
    load_pango()
    try:
        # When a library is missing WeasyPrint prints a banner, or warns where it can do without.
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            importlib.import_module("weasyprint")
    except ImportError as error:
        return (
            f"PDFs need the Python package {error.name or 'weasyprint'}, which is not installed; "
            "install dl-cluster-configurator[report]."
        )
    except OSError as error:
        return f"PDFs need the Pango library ({_first_line(error)}); {_pango_advice()}."
    return None


def _first_line(error: OSError) -> str:
    """What failed: "cannot load library 'libpango-1.0-0'"; the linker's own reason follows its colon."""
    return str(error).partition("\n")[0].partition(": ")[0].removesuffix(".")


def _pango_advice() -> str:
    if sys.platform == "darwin":
        return 'run "brew install pango" and export DYLD_FALLBACK_LIBRARY_PATH="$(brew --prefix)/lib"'
    return "on Debian or Ubuntu install libpangoft2-1.0-0 and libharfbuzz-subset0"
