"""The code in README.md and docs/*.md works: Python runs, TOML and tables are read, commands are known.

Blocks of one page share a folder and a namespace, as they do for somebody who follows the page from top to bottom:

- ``python`` runs; a ``text`` block right behind it is what it prints.
- ``toml`` is read as what its keys say: sources and parts of a catalogue overlay, a profile, else a piece of a request,
  laid over the first example that the page names.
- ``text`` that begins with the columns of a table is that table: prices of the overlay, or requests, which Python
  finds as ``requests``.
- ``sh`` and commands inside the text name verbs, options, make targets and examples that exist; a ``text`` block right
  behind one command is what it prints.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

from sizer import SizingRequest, load_catalog
from sizer.base.resources import data_dir
from sizer.cli import app
from sizer.guide.profile import Profile
from tests.cli.running import run

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ANY_LOGO = min((ROOT / "docs" / "images").glob("*.png")).read_bytes()
DEFAULT_EXAMPLE = "examples/dgx1-f800-resnet50.toml"
TARGETS = frozenset(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, its line, and whether it follows another with nothing but blank lines between."""

    language: str
    line: int
    text: str
    follows: bool


def blocks(page: Path) -> list[Block]:
    """Fenced blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    result: list[Block] = []
    end = 0
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, flags=re.M | re.S):
        line = text.count("\n", 0, match.start()) + 1
        result.append(Block(match[1], line, match[2], bool(result) and not text[end : match.start()].strip()))
        end = match.end()
    return result


# --- Python -------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Current folder with ``examples/`` in it, where a page may write."""
    (tmp_path / "examples").symlink_to(data_dir("examples"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class ThreadsOfAClient:
    """Stands for ``distributed.Client``: a page can name a scheduler that is not there; threads do the work."""

    def __init__(self, address: str) -> None:
        assert address.startswith("tcp://")
        self.executor = ThreadPoolExecutor(2)

    def __enter__(self) -> "ThreadsOfAClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.executor.shutdown()

    def get_executor(self) -> ThreadPoolExecutor:
        return self.executor

    def nthreads(self) -> dict[str, int]:
        return {"tcp://10.0.0.7:40001": 2}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(b.language == "python" for b in blocks(page))], ids=lambda path: path.stem
)
def test_python_runs(
    page: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("distributed.Client", ThreadsOfAClient)
    namespace: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.language == "text" and block.text.startswith("title,"):
            Path("requests.csv").write_text(block.text, encoding="utf-8")
            namespace["requests"] = "requests.csv"
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            # Leading lines keep the page's line numbers in a traceback.
            exec(compile("\n" * block.line + block.text, page, "exec"), namespace)
            printed = capsys.readouterr().out
        elif block.language == "text" and block.follows and printed:
            assert printed == block.text, f"{page.name}:{block.line}: put in what the block above it prints"
            printed = ""
        else:
            printed = ""


# --- TOML and tables ----------------------------------------------------------


def _tables(page: Path) -> Iterator[tuple[Block, dict[str, Any]]]:
    for block in blocks(page):
        if block.language == "toml":
            yield block, tomllib.loads(block.text)


def _is_source_list(table: dict[str, Any]) -> bool:
    return set(table) == {"source"}


def _is_part(table: dict[str, Any]) -> bool:
    return "id" in table


def _is_profile(table: dict[str, Any]) -> bool:
    return "company" in table


@each_page
def test_pieces_of_requests_are_read(page: Path) -> None:
    named = re.search(r"examples/[\w/-]+\.toml", page.read_text(encoding="utf-8"))
    example = tomllib.loads((ROOT / (named[0] if named else DEFAULT_EXAMPLE)).read_text(encoding="utf-8"))
    for block, table in _tables(page):
        if not (_is_source_list(table) or _is_part(table) or _is_profile(table)):
            SizingRequest.from_dict(example | table, place=f"{page.name}:{block.line}")


@each_page
def test_profiles_are_read(page: Path) -> None:
    for block, table in _tables(page):
        if _is_profile(table):
            Profile.from_dict(table, place=f"{page.name}:{block.line}", logo=ANY_LOGO)


def test_overlay_of_the_pages_is_read(tmp_path: Path) -> None:
    """Parts, sources and prices that the pages show make one overlay without a fault."""
    shown = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    written = set()
    for page in PAGES:
        for block in blocks(page):
            table = tomllib.loads(block.text) if block.language == "toml" else {}
            if _is_source_list(table):
                target = tmp_path / "sources.toml"
            elif _is_part(table):
                (folder,) = set(re.findall(rf"(\w+)/{re.escape(table['id'])}\.toml", shown))
                target = tmp_path / folder / f"{table['id']}.toml"
            elif block.language == "text" and block.text.startswith("item,amount,"):
                target = tmp_path / "prices" / f"{page.stem}.csv"
            else:
                continue
            target.parent.mkdir(exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            written.add(target.relative_to(tmp_path).parts[0])
    assert written >= {"sources.toml", "racks", "prices"}
    load_catalog(overlay=tmp_path)


# --- Commands -----------------------------------------------------------------


def _words(line: str) -> Iterator[list[str]]:
    """Words of each command in a shell line: no comment, assignment, prompt or redirection."""
    for part in re.split(r"\s&&\s", line):
        words = shlex.split(part.removeprefix("$ ").split(" > ")[0], comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        if words:
            yield words


def _check_sizer(words: list[str], complete: bool) -> None:
    """Let the parser of the command line read the words; with ``complete`` also what a verb must have."""
    command = typer.main.get_command(app)
    context = command.make_context("sizer", list(words))
    while isinstance(command, typer.core.TyperGroup):
        if not words or words[0].startswith("-"):
            return
        name, command, words = command.resolve_command(context, list(words))
        if complete or isinstance(command, typer.core.TyperGroup):
            context = command.make_context(name, list(words), parent=context)
        else:
            command.make_parser(command.context_class(command, parent=context)).parse_args(list(words))


def _check(words: list[str], complete: bool) -> None:
    program = words[0].rpartition("/")[2]
    if program == "sizer":
        _check_sizer(words[1:], complete)
    if program == "make":
        unknown = {word for word in words[1:] if "=" not in word} - TARGETS
        assert not unknown, f"no such target of the Makefile: {', '.join(unknown)}"
    for word in words:
        if word.startswith(("examples/", "catalog/")):
            assert (ROOT / word).exists(), f"{word} does not exist"


def _faults(page: Path, commands: Iterator[tuple[str, bool]]) -> list[str]:
    faults = []
    for line, complete in commands:
        for words in _words(line):
            try:
                _check(words, complete)
            except typer.Exit:
                continue  # of an option that prints and ends, such as --version
            except (typer.exceptions.TyperException, AssertionError) as error:
                faults.append(f"{page.name}: {shlex.join(words)}: {error}")
    return faults


@each_page
def test_shell_blocks_name_what_exists(page: Path) -> None:
    lines = (
        (line, True)
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.replace("\\\n", " ").splitlines()
    )
    assert not _faults(page, lines)


@each_page
def test_commands_inside_the_text_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    commands = re.findall(r"`((?:\.venv/bin/)?(?:sizer|make) [^`]+)`", text)
    assert not _faults(page, ((" ".join(command.split()), False) for command in commands))


def _commands_with_output() -> list[tuple[Path, Block, Block]]:
    """Blocks of one command that are followed by what it prints."""
    return [
        (page, command, printed)
        for page in PAGES
        for command, printed in pairwise(blocks(page))
        if command.language == "sh" and printed.language == "text" and printed.follows
    ]


@pytest.mark.parametrize(("page", "command", "printed"), _commands_with_output())
def test_a_command_prints_what_follows(
    page: Path, command: Block, printed: Block, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (words,) = _words(command.text.replace("\\\n", " "))
    done = run(*words[1:])
    assert done.stdout == printed.text, f"{page.name}:{printed.line}: put in what the command prints"
