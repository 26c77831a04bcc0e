"""The tree keeps its vocabulary: names, and where sentences may stand.

``python -m tests.structure.test_layout`` prints every finding; with names of checks, only theirs.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# Packages whose answers are numbers and typed reasons; words are made above them.
ENGINE = ("perf", "calibrate", "physical", "bom", "sizing")

# Words of public names that a newcomer cannot guess -> what a name says instead.
DIALECT = {
    "anew": "resize",
    "beside": "comparison",
    "left_of": "remaining",
    "used_up": "limits over time, exhausted",
    "held": "stored, required",
    "kept": "fixed, stored, retained",
    "joined": "connected",
    "counted": "part counts",
    "counting": "part counts",
    "desk": "the field's term",
    "crew": "workers",
    "retarget": "with_target",
    "overturn": "break-even change",
    "judge": "feasibility, evaluate",
    "said": "the value's own name",
    "found": "the value's own name",
    "came": "the value's own name",
}
# Keys of request files, which stay as users have written them.
KEYS_OF_REQUESTS = {"checkpoints_kept"}
# Names that say nothing when they stand alone.
PRONOUNS = {"one", "rest"}


@cache
def sources(*folders: str) -> list[Path]:
    """Python files below folders of the checkout."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    """Syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def shown(path: Path) -> str:
    """Path as the checkout names it."""
    return path.relative_to(ROOT).as_posix()


# --- Names --------------------------------------------------------------------


def repeated_classes() -> Iterator[str]:
    """Public class names that two modules define."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources("sizer"):
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{shown(path)}:{node.lineno}")
    for name, where in sorted(places.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(where) > 1:
            yield f"class {name} is defined {len(where)} times; name each for what it holds: {', '.join(where)}"


def public_names(path: Path) -> Iterator[tuple[str, int]]:
    """Public names that a module gives: its own, functions, classes, their methods and fields."""
    yield path.stem, 1
    for node in parsed(path).body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        yield node.name, node.lineno
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(inner, ast.FunctionDef):
                yield inner.name, inner.lineno
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                yield inner.target.id, inner.lineno


def dialect_names() -> Iterator[str]:
    """Public names with words that a newcomer cannot guess."""
    for path in sources("sizer"):
        for name, line in public_names(path):
            words = f"_{re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', name).lower()}_"
            if name.startswith("_"):
                continue
            for word, instead in DIALECT.items():
                if f"_{word}_" in words and name not in KEYS_OF_REQUESTS:
                    yield f"{shown(path)}:{line} {name}: no {word!r} in a public name; say {instead}"
            if name in PRONOUNS:
                yield f"{shown(path)}:{line} {name}: name the value for what it holds"


# --- Sentences ----------------------------------------------------------------


def _called(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_FAULT = re.compile(r"(?<!de)fault|error", re.I)


def _dotted(node: ast.AST) -> list[str]:
    """Names of an attribute chain: ``content.faults.append``; empty where it begins with no name."""
    if isinstance(node, ast.Attribute):
        return [*_dotted(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


def _is_error_text(node: ast.AST) -> bool:
    """Whether everything below a node ends in an error: raised, or collected as faults."""
    if isinstance(node, ast.Raise | ast.Assert):
        return True
    if isinstance(node, ast.Call):
        return _called(node) == "warn" or _FAULT.search(".".join(_dotted(node.func))) is not None
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_FAULT.search(".".join(_dotted(target))) for target in targets)
    return isinstance(node, ast.FunctionDef) and _FAULT.search(node.name) is not None


def _no_sentences(tree: ast.Module) -> set[int]:
    """Nodes whose text is no sentence of an answer: errors, docstrings, keys, patterns, reasons of constants."""
    excluded: set[int] = set()
    helpers: set[str] = set()

    def exclude(node: ast.AST) -> None:
        excluded.update(id(inner) for inner in ast.walk(node))

    for node in ast.walk(tree):
        if _is_error_text(node):
            exclude(node)
            helpers |= {_called(inner) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            exclude(node)
        elif isinstance(node, ast.Dict):
            for key in filter(None, node.keys):
                exclude(key)
        elif isinstance(node, ast.Subscript):
            exclude(node.slice)
        elif isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            exclude(node.format_spec)
        elif isinstance(node, ast.Call) and (
            isinstance(node.func, ast.Attribute)
            and (node.func.attr == "split" or ast.unparse(node.func.value) in ("re", "logger", "warnings"))
        ):
            exclude(node)
    for node in tree.body:
        # A private function that only a raise calls makes an error text.
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and node.name in helpers:
            exclude(node)
        # A table of records at module level gives each constant its reason, Prior(0.3, 0.1, "releases ..."), or lists
        # the words that a reader of files knows, _words("no without non").
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for inner in ast.walk(node.value):
                if isinstance(inner, ast.Call):
                    exclude(inner)
    return excluded


def texts(tree: ast.Module, excluded: set[int]) -> Iterator[tuple[int, str]]:
    """Lines and texts of the string literals; ``{}`` stands for what an f-string puts in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):  # comes before its parts
            excluded.update(id(part) for part in node.values if isinstance(part, ast.Constant))
        if id(node) in excluded:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
            yield node.lineno, "".join(parts)


def is_sentence(text: str) -> bool:
    """Whether a text reads as one: four words of two letters or more, apart by blanks."""
    plain = re.sub(r"\{[^}]*\}", "{}", text)
    words = [word for word in plain.split() if re.fullmatch(r"[(\"']?[^\W\d_]{2,}(['-][^\W\d_]+)*[.,;:)\"']*", word)]
    return len(words) >= 4


def engine_sentences() -> Iterator[str]:
    """Sentences that the engine builds."""
    for path in sources(*(f"sizer/{package}" for package in ENGINE)):
        tree = parsed(path)
        for line, text in texts(tree, _no_sentences(tree)):
            if is_sentence(text):
                yield (
                    f"{shown(path)}:{line} {' '.join(text.split())[:70]!r}: return a number or a typed reason; "
                    "words are made in present/, questions/ and guide/"
                )


# --- Tests and command --------------------------------------------------------

CHECKS: tuple[Callable[[], Iterator[str]], ...] = (
    repeated_classes,
    dialect_names,
    engine_sentences,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_layout(check: Callable[[], Iterator[str]]) -> None:
    findings = list(check())
    assert not findings, f"{len(findings)} findings\n" + "\n".join(findings)


if __name__ == "__main__":
    for check in CHECKS:
        if len(sys.argv) == 1 or check.__name__ in sys.argv[1:]:
            findings = list(check())
            sys.stdout.write("\n  ".join([f"{check.__name__}: {len(findings)}", *findings]) + "\n")
