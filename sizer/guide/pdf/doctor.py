"""Checks of the set-up on this machine, with the next step for each that fails."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sizer.base.resources import DataName, checkout_dir, data_dir, resource_path
from sizer.present.fonts.pango import weasyprint_state

_OLDEST_PYTHON = (3, 11)
_CORE = ("jinja2", "numpy", "pydantic", "rich", "scipy", "typer")
_CHARTS = ("altair", "vl-convert-python")
_FONT_FILES = ("Inter-Regular.ttf", "Inter-Italic.ttf", "Inter-SemiBold.ttf", "Inter-Bold.ttf", "fonts.conf")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Check:
    """One check of the set-up."""

    name: str  # subject of the check
    ok: bool  # whether the check passes
    detail: str  # result in words
    next_step: str = ""  # what to do when ``ok`` is false, else empty
    optional: bool = False  # whether sizing, documents and app work without it


def set_up_state(out: Path = Path("out")) -> list[Check]:
    """Every check of the set-up, in the order in which to fix failures.

    ``out``: folder that the documents are to be written into; it need not exist and is not made.
    """
    found = f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    wanted = ".".join(map(str, _OLDEST_PYTHON))
    ok = sys.version_info >= _OLDEST_PYTHON
    return [
        Check("Python", ok, found, "" if ok else f"install Python {wanted} or newer"),
        _dependencies(),
        _folder("catalogue", "catalog", "*/*.toml"),
        _folder("examples", "examples", "*.toml"),
        _fonts(),
        _pdf_engine(),
        _packages("chart engine", _CHARTS, "report"),
        _packages("app", ("streamlit",), "ui"),
        _browser(),
        _out_folder(out),
    ]


def _installed_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _dependencies() -> Check:
    lock = resource_path("requirements.lock", "requirements.lock")
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    locked = dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", text, flags=re.MULTILINE))
    if not locked:
        return Check("packages", False, "requirements.lock is missing", "restore the checkout or install again")
    found = {package: _installed_version(package) for package in locked}
    missing = [package for package in _CORE if found.get(package) is None]
    other = [
        f"{name} {have} ({locked[name]} tested)" for name, have in found.items() if have not in (None, locked[name])
    ]
    fix = "run make setup" if checkout_dir() else "install the versions of requirements.lock"
    if missing:
        return Check("packages", False, f"not installed: {', '.join(missing)}", fix)
    if other:
        return Check("packages", False, f"not the tested versions: {', '.join(other)}", fix, optional=True)
    n_installed = sum(have is not None for have in found.values())
    return Check("packages", True, f"{n_installed} of {len(locked)} packages installed in the tested versions")


def _folder(name: str, data_name: DataName, pattern: str) -> Check:
    try:
        folder = data_dir(data_name)
    except FileNotFoundError:
        return Check(name, False, f"the folder {data_name}/ is missing", "restore the checkout or install again")
    n_files = sum(1 for _ in folder.glob(pattern))
    step = "" if n_files else "restore the checkout or install again"
    return Check(name, n_files > 0, f"{n_files} files in {folder}", step)


def _fonts() -> Check:
    folder = resource_path("reports", "reports") / "fonts"
    missing = [name for name in _FONT_FILES if not (folder / name).is_file()]
    if missing:
        return Check("fonts", False, f"{folder} lacks {', '.join(missing)}", "restore the checkout or install again")
    return Check("fonts", True, f"Inter in {folder}")


def _pdf_engine() -> Check:
    state = weasyprint_state()
    if state is None:
        return Check("PDF engine", True, f"WeasyPrint {_installed_version('weasyprint')}")
    step = "run make setup" if checkout_dir() else "install what is missing"
    return Check("PDF engine", False, state, f"{step}; until then the guide is one HTML file", optional=True)


def _packages(name: str, packages: tuple[str, ...], extra: str) -> Check:
    found = {package: _installed_version(package) for package in packages}
    missing = [package for package, have in found.items() if have is None]
    if missing:
        step = f"install dl-cluster-configurator[{extra}]"
        return Check(name, False, f"not installed: {', '.join(missing)}", step, optional=True)
    return Check(name, True, ", ".join(f"{package} {have}" for package, have in found.items()))


def _browser() -> Check:
    found = next((path for path in map(shutil.which, _BROWSERS) if path), None)
    if found:
        return Check("browser tests", True, found, optional=True)
    return Check("browser tests", False, "no Chromium found", "run make browser as root, or install chromium", True)


def _out_folder(out: Path) -> Check:
    nearest = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    if not nearest.is_dir():
        return Check("output folder", False, f"{nearest} is a file", "choose another folder with --out")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Check("output folder", False, f"{nearest} is not writable", "choose another folder with --out")
    return Check("output folder", True, f"{out.absolute()} is writable")
