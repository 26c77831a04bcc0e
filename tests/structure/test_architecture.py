"""The map of the code names what exists, and every package."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_path_on_the_map_exists():
    paths = re.findall(r"`((?:sizer|catalog|reports|tests|docs)/[\w/.]*\*?[\w/.]*)`", TEXT)
    assert len(paths) > 40
    assert [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] == []


def test_every_package_is_on_the_map():
    packages = {path.parent.name for path in (ROOT / "sizer").glob("*/__init__.py")}
    assert packages - set(re.findall(r"`sizer/(\w+)`", TEXT)) == set()


def test_layers_are_those_of_the_contract():
    rows = re.findall(r"^\| \d+ \| (.*?) \|", TEXT, flags=re.M)
    layers = [set(re.findall(r"`sizer/(\w+)(?:\.py)?`", row)) for row in rows]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    asked = [set(re.findall(r"\w+", layer)) for layer in reversed(contract)]
    assert layers == [layer for layer in asked if layer != {"__main__"}]
