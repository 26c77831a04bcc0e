"""Writes docs/api.md from the code: ``python -m tools.api_page``."""

import dataclasses
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

import sizer
from sizer import SizerError, SizingRequest, load_catalog, size
from sizer.base.faults import SUCCESSORS
from sizer.cli import app
from sizer.export.design_json import design_document

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
# Answers whose documents have every table: a network of images with a team, and a language model.
EXAMPLES = ("examples/small-team.toml", "examples/llama-70b-dgx-h100.toml")
TABLES = ("", "design", "design.workloads[]", "design.tiers[]", "bill", "bill.lines[]")
_TEXT = """# Stable interface

What programs and scripts can rely on: names of `import sizer`, verbs of the command line, exit statuses, keys of JSON.
What is on this page goes only after a release that warns of it and names what takes its place. Additions may come with
every release; anything that is not on this page may change.

`sizer --version` prints the version; [CHANGELOG.md](../CHANGELOG.md) lists by version which answers moved, what is new
and what is gone. Requests, designs, share links, libraries, price books and profiles of earlier versions open in later
ones.

This page is written by `python -m tools.api_page`, from the code.
"""


def _first_line(thing: Any) -> str:
    line = re.sub(r":\w+:`([^`]*)`", r"`\1`", (inspect.getdoc(thing) or "").splitlines()[0])
    return line.replace("``", "`").replace("|", "\\|")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = [list(head), *map(list, rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(cells[0]), *lines[1:]])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _public() -> Iterator[tuple[str, str, str]]:
    for name in sizer.__all__:
        thing = getattr(sizer, name)
        if isinstance(thing, str):
            yield f"`{name}`", "Version, as text.", ""
        elif inspect.isclass(thing):
            fields = [one.name for one in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else []
            fields += getattr(thing, "model_fields", ())
            own = [key for key, part in vars(thing).items() if key[0] != "_" and _is_read(part) and key not in fields]
            yield f"`{name}`", _first_line(thing), _listed([*(one for one in fields if one[0] != "_"), *own])
        else:
            yield f"`{name}`", _first_line(thing), _listed(inspect.signature(thing).parameters)


def _is_read(part: object) -> bool:
    return isinstance(part, property | classmethod) or inspect.isfunction(part) or hasattr(part, "attrname")


def _verbs() -> Iterator[tuple[str, str, str]]:
    group = typer.main.get_command(app)
    for name, verb in group.commands.items():  # type: ignore[attr-defined]
        for prefix, one in (
            [(f"{name} {key}", part) for key, part in verb.commands.items()]
            if hasattr(verb, "commands")
            else [(name, verb)]
        ):
            if not one.hidden:
                options = [option for part in one.params for option in part.opts if option.startswith("--")]
                yield f"`{prefix}`", _first_line(one.callback), _listed(options)


def _statuses() -> Iterator[tuple[str, str, str]]:
    yield "0", "", "Done."
    errors = [SizerError, *SizerError.__subclasses__()]
    for error in sorted(
        (one for one in errors if one.__module__ == "sizer.base.errors"), key=lambda one: one.exit_status
    ):
        yield str(error.exit_status), f"`{error.__name__}`", _first_line(error)
    yield "130, 143", "", "Interrupted, or asked to end."


def _keys_of(documents: Iterable[Mapping[str, Any]], table: str) -> list[str]:
    """Keys of one table of some documents."""
    parts: list[Any] = list(documents)
    for name in filter(None, table.split(".")):
        parts = [part.get(name.removesuffix("[]")) for part in parts if isinstance(part, dict)]
        if name.endswith("[]"):
            parts = [one for part in parts for one in part or ()]
    return sorted({key for part in parts if isinstance(part, dict) for key in part})


def page(documents: Iterable[Mapping[str, Any]]) -> str:
    """The page, with the keys of some design documents."""
    found = list(documents)
    keys = [(f"`{table}`" if table else "the document", _listed(_keys_of(found, table))) for table in TABLES]
    parts = [
        _TEXT,
        "## Python\n",
        _table(("name", "what it is", "parameters, or fields and methods"), _public()),
        "\n## Command line\n",
        _table(("verb", "what it does", "options"), _verbs()),
        "\n## Exit statuses\n",
        _table(("status", "error in Python", "meaning"), _statuses()),
        "\n## JSON\n",
        "[JSON documents](json.md) lists the documents of all verbs and the form of their values. Of `design.json`:\n",
        _table(("table", "keys"), keys),
        "\n## What went, and its successor\n",
        _table(("earlier", "now"), ((f"`{name}`", then) for name, then in SUCCESSORS.items())),
    ]
    return re.sub(r" +\n", "\n", "\n".join(parts)) + "\n"


if __name__ == "__main__":
    catalog = load_catalog()
    PAGE.write_text(
        page(design_document(size(SizingRequest.from_file(name), catalog)) for name in EXAMPLES), encoding="utf-8"
    )
