"""Planted faults: the list of them, where they are in today's source, and how one is put into the loaded code.

A mutant is one changed operator, constant or result inside a function of the packages below.
"""

import ast
import gc
import importlib
import json
import random
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).parent / "mutants.json"
PACKAGES = ("sizer/perf", "sizer/sizing/stages", "sizer/sizing/search", "sizer/physical")
SEED = 38

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Site:
    """A node that can be changed, with what is needed to find it again in a later version."""

    def __init__(self, node: ast.AST, operator: str, position: int, statement: ast.stmt) -> None:
        self.node, self.operator, self.position, self.statement = node, operator, position, statement


def mutate(node: ast.AST, operator: str, position: int) -> None:
    """Change a node in place."""
    match operator:
        case "comparison":
            assert isinstance(node, ast.Compare)
            node.ops[position] = _SWAPS[type(node.ops[position])]()  # type: ignore[call-overload]
        case "arithmetic" | "boolean":
            assert isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp)
            node.op = _SWAPS[type(node.op)]()  # type: ignore[assignment]
        case "constant":
            assert isinstance(node, ast.Constant)
            node.value = (not node.value) if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]
        case "not":
            assert isinstance(node, ast.UnaryOp)
            node.operand = ast.copy_location(ast.UnaryOp(ast.Not(), node.operand), node.operand)
        case "return":
            assert isinstance(node, ast.Return)
            node.value = ast.copy_location(ast.Constant(None), node)


def _own_sites(node: ast.AST, statement: ast.stmt) -> Iterator[_Site]:
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                if type(op) in _SWAPS:
                    yield _Site(node, "comparison", place, statement)
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _SWAPS:
            yield _Site(node, "arithmetic", 0, statement)
        case ast.BoolOp():
            yield _Site(node, "boolean", 0, statement)
        case ast.UnaryOp(op=ast.Not()):
            yield _Site(node, "not", 0, statement)
        case ast.Constant(value=bool() | int() | float()):
            yield _Site(node, "constant", 0, statement)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield _Site(node, "return", 0, statement)


# Messages, types and our own invariants say nothing about a number.
_SKIPPED = (ast.JoinedStr, ast.Raise, ast.Assert)


def sites(node: ast.AST, statement: ast.stmt) -> Iterator[_Site]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _SKIPPED):
                continue
            inner = child if isinstance(child, ast.stmt) else statement
            yield from _own_sites(child, inner)
            yield from sites(child, inner)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Outermost functions and methods of a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef | ast.If | ast.Try):
            yield from _functions(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)


def described(path: str, lines: list[str], name: str, found: list[_Site]) -> Iterator[dict[str, Any]]:
    """Sites of one function as records: the text of the line and which of its equals tells them apart."""
    seen: dict[tuple[str, str], int] = {}
    for site in found:
        line = getattr(site.node, "lineno", site.statement.lineno)
        text = lines[line - 1].strip()
        key = (site.operator, text)
        seen[key] = seen.get(key, 0) + 1
        yield {
            "file": path,
            "line": line,
            "function": name,
            "operator": site.operator,
            "text": text,
            "occurrence": seen[key],
        }


def _read(path: str) -> tuple[ast.Module, list[str]]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return ast.parse(text), text.splitlines()


def key(mutant: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a mutant from every other; its line number may move."""
    return tuple(mutant[name] for name in ("file", "function", "operator", "text", "occurrence"))


def draw() -> None:
    """Draw others in the place of those mutants whose line has gone, and store the list."""
    listed = mutants()
    everything: list[dict[str, Any]] = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            tree, lines = _read(path)
            for name, function in _functions(tree):
                everything.extend(described(path, lines, name, list(sites(function, function))))
    gone = [number for number, mutant in enumerate(listed) if located(mutant) is None]
    there = {key(mutant) for mutant in listed}
    others = [mutant for mutant in everything if key(mutant) not in there]
    for number, mutant in zip(gone, random.Random(SEED).sample(others, len(gone)), strict=True):
        listed[number] = mutant
    content = ",\n".join(json.dumps(mutant, ensure_ascii=False) for mutant in listed)
    LIST.write_text(f"[\n{content}\n]\n", encoding="utf-8")
    print(f"{len(gone)} of {len(listed)} mutants drawn anew with seed {SEED}")


def mutants() -> list[dict[str, Any]]:
    """The stored list."""
    listed: list[dict[str, Any]] = json.loads(LIST.read_text(encoding="utf-8"))
    return listed


def located(mutant: dict[str, Any]) -> tuple[ast.Module, Function, _Site] | None:
    """A mutant in today's source, or None where it has gone."""
    if not (ROOT / mutant["file"]).exists():
        return None
    tree, lines = _read(mutant["file"])
    for name, function in _functions(tree):
        if name != mutant["function"]:
            continue
        found = list(sites(function, function))
        for site, record in zip(found, described(mutant["file"], lines, name, found), strict=True):
            if key(record) == key(mutant):
                return tree, function, site
    return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def swap(path: str, tree: ast.Module, function: Function) -> int:
    """Give the loaded functions of a file the code of a changed tree, inside one function; how many they were."""
    lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    file = str(ROOT / path)
    changed = {
        (code.co_qualname, code.co_firstlineno): code
        for code in _codes(compile(ast.fix_missing_locations(tree), file, "exec"))
    }
    n = 0
    for loaded in gc.get_objects():
        if not isinstance(loaded, types.FunctionType) or loaded.__code__.co_filename != file:
            continue
        key = (loaded.__code__.co_qualname, loaded.__code__.co_firstlineno)
        # Decorators begin a function above its first line.
        if key in changed and (key[1] in lines or key[1] + len(function.decorator_list) >= lines.start > key[1]):
            loaded.__code__ = changed[key]
            n += 1
    return n


def import_everything() -> None:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
