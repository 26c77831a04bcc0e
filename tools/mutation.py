"""Share of planted faults that the tests notice: ``make mutation``.

A mutant is one changed operator, constant or result inside a function of the packages below. The list was drawn once
(``draw``) and stays in ``tools/mutants.json``, so that the share of two versions is that of the same faults; a mutant
whose line has gone is reported as gone.

``reach`` runs the tests once and notes which test comes past which mutant. ``run`` then forks a process for every
mutant, changes the code of the loaded function in it, and runs the tests that come past it, fastest first, until one
fails. Tests that start processes of their own do not see the change there.
"""

import argparse
import ast
import builtins
import functools
import gc
import importlib
import json
import math
import os
import random
import resource
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).parent / "mutants.json"
PACKAGES = ("sizer/perf", "sizer/sizing/stages", "sizer/sizing/search", "sizer/physical")
SEED = 38
COUNT = 300
LIMIT_S = 30.0  # CPU time of one mutant; what no test noticed until then has survived
STOP_S = 90  # a test that a mutant keeps busy for ever: noticed

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


def _mutated(node: ast.AST, operator: str, position: int) -> None:
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


def _sites(node: ast.AST, statement: ast.stmt) -> Iterator[_Site]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _SKIPPED):
                continue
            inner = child if isinstance(child, ast.stmt) else statement
            yield from _own_sites(child, inner)
            yield from _sites(child, inner)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Outermost functions and methods of a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef | ast.If | ast.Try):
            yield from _functions(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)


def _described(path: str, lines: list[str], name: str, found: list[_Site]) -> Iterator[dict[str, Any]]:
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


def draw() -> None:
    """Draw the list of mutants and store it."""
    everything: list[dict[str, Any]] = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            tree, lines = _read(path)
            for name, function in _functions(tree):
                everything.extend(_described(path, lines, name, list(_sites(function, function))))
    drawn = random.Random(SEED).sample(everything, COUNT)
    content = ",\n".join(json.dumps(mutant, ensure_ascii=False) for mutant in drawn)
    LIST.write_text(f"[\n{content}\n]\n", encoding="utf-8")
    print(f"{COUNT} of {len(everything)} mutants drawn with seed {SEED}")


def mutants() -> list[dict[str, Any]]:
    """The stored list."""
    listed: list[dict[str, Any]] = json.loads(LIST.read_text(encoding="utf-8"))
    return listed


def _located(mutant: dict[str, Any]) -> tuple[ast.Module, Function, _Site] | None:
    """A mutant in today's source, or None where it has gone."""
    if not (ROOT / mutant["file"]).exists():
        return None
    tree, lines = _read(mutant["file"])
    for name, function in _functions(tree):
        if name != mutant["function"]:
            continue
        found = list(_sites(function, function))
        for site, record in zip(found, _described(mutant["file"], lines, name, found), strict=True):
            if all(record[key] == mutant[key] for key in ("operator", "text", "occurrence")):
                return tree, function, site
    return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _swap(path: str, tree: ast.Module, function: Function) -> int:
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


def _import_everything() -> None:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


class Reach:
    """Plugin of pytest: which mutants every test comes past, as bits of an integer.

    What a test takes from a cache or a fixture counts as its own, because a fault there is one that it could notice.
    """

    def __init__(self, out: Path) -> None:
        self.bits = 0
        self.out = out
        self.tests: dict[str, list[Any]] = {}
        self.fixtures: dict[Any, int] = {}
        builtins.__reached__ = self._reached  # type: ignore[attr-defined]
        self._real = functools.lru_cache
        functools.lru_cache = self._lru_cache  # type: ignore[assignment]
        functools.cache = lambda function: self._lru_cache(maxsize=None)(function)

    def _reached(self, number: int) -> None:
        self.bits |= 1 << number

    def _tracked(self, function: Callable[..., Any], cached: Callable[[Callable[..., Any]], Any]) -> Any:
        union = 0

        @functools.wraps(function)
        def compute(*args: Any, **kwargs: Any) -> Any:
            nonlocal union
            outer, self.bits = self.bits, 0
            try:
                return function(*args, **kwargs)
            finally:
                union |= self.bits
                self.bits |= outer

        stored = cached(compute)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            answer = stored(*args, **kwargs)
            self.bits |= union
            return answer

        for name in ("cache_clear", "cache_info", "cache_parameters"):
            if hasattr(stored, name):
                setattr(call, name, getattr(stored, name))
        return call

    def _lru_cache(self, maxsize: Any = 128, typed: bool = False) -> Any:
        own = sys._getframe(1).f_globals.get("__name__", "")
        if own == __name__:
            own = sys._getframe(2).f_globals.get("__name__", "")
        if not own.startswith(("sizer", "tests")):
            return self._real(maxsize, typed)
        if callable(maxsize):
            return self._tracked(maxsize, self._real())
        return lambda function: self._tracked(function, self._real(maxsize, typed))

    def prepare(self) -> None:
        """Load everything with a note in front of the statement of every mutant."""
        identity_cache = importlib.import_module("sizer.base.identity_cache")
        real = identity_cache._cached
        identity_cache._cached = lambda function, most: self._tracked(function, lambda compute: real(compute, most))
        _import_everything()
        by_file: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for number, mutant in enumerate(mutants()):
            by_file.setdefault(mutant["file"], []).append((number, mutant))
        for path, those in by_file.items():
            for _, mutant in those:
                located = _located(mutant)
                if located is None:
                    continue
                # Several mutants of one function: their notes are put in together, into one tree.
                tree, function, _ = located
                for other, same in those:
                    if same["function"] == mutant["function"]:
                        self._note(function, path, same, other)
                _swap(path, tree, function)

    @staticmethod
    def _note(function: Function, path: str, mutant: dict[str, Any], number: int) -> None:
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        clean = [site for site in _sites(function, function) if not hasattr(site.node, "is_note")]
        for site, record in zip(clean, _described(path, lines, mutant["function"], clean), strict=True):
            if all(record[key] == mutant[key] for key in ("operator", "text", "occurrence")):
                note = ast.copy_location(
                    ast.Expr(ast.Call(ast.Name("__reached__", ast.Load()), [ast.Constant(number)], [])), site.statement
                )
                for node in ast.walk(note):
                    ast.copy_location(node, site.statement)
                    node.is_note = True  # type: ignore[attr-defined]
                for parent in ast.walk(function):
                    for name in ("body", "orelse", "finalbody"):
                        block = getattr(parent, name, None)
                        if isinstance(block, list) and site.statement in block:
                            block.insert(block.index(site.statement), note)
                            return

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        """Note what a fixture comes past."""
        outer, self.bits = self.bits, 0
        try:
            return (yield)
        finally:
            self.fixtures[fixturedef] = self.fixtures.get(fixturedef, 0) | self.bits
            self.bits |= outer

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Note what a test comes past, and its CPU time."""
        self.bits = 0
        start = time.process_time()
        answer = yield
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            for definition in definitions:
                self.bits |= self.fixtures.get(definition, 0)
        # The distribution by groups adds the group to the name.
        name = item.nodeid.rsplit("@", 1)[0] if "PYTEST_XDIST_WORKER" in os.environ else item.nodeid
        self.tests[name] = [f"{self.bits:x}", round(time.process_time() - start, 4)]
        return answer

    def pytest_sessionfinish(self) -> None:
        """Keep the notes of this process."""
        if self.tests:
            self.out.mkdir(parents=True, exist_ok=True)
            worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
            (self.out / f"reach-{worker}.json").write_text(json.dumps(self.tests), encoding="utf-8")


class Run:
    """Plugin of pytest: a process for every mutant in place of one run of the tests."""

    def __init__(self, out: Path, numbers: list[int], jobs: int) -> None:
        self.out, self.numbers, self.jobs = out, numbers, jobs
        self.failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the first failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: Any) -> bool:
        """Fork for every mutant, so many at once."""
        _import_everything()
        reach = reached_tests(self.out)
        items = {item.nodeid: item for item in session.items}
        listed = mutants()
        running: dict[int, int] = {}
        gc.collect()
        gc.freeze()  # fewer pages that a fork copies
        gc.unfreeze()
        for number in self.numbers:
            while len(running) >= self.jobs:
                self._wait(running)
            tests = sorted((cost, name) for name, (bits, cost) in reach.items() if bits >> number & 1 and name in items)
            pid = os.fork()
            if pid == 0:
                self._child(number, listed[number], [(cost, items[name]) for cost, name in tests])
            running[pid] = number
        while running:
            self._wait(running)
        return True

    def _wait(self, running: dict[int, int]) -> None:
        pid, status = os.wait()
        number = running.pop(pid)
        if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 1):
            self._keep(number, "killed", f"process ended with status {status}", 0.0, 0)

    def _keep(self, number: int, verdict: str, why: str, seconds: float, n_tests: int) -> None:
        with (self.out / "results.jsonl").open("a", encoding="utf-8") as file:
            record = {"mutant": number, "verdict": verdict, "why": why, "cpu_s": round(seconds, 1), "tests": n_tests}
            file.write(json.dumps(record) + "\n")

    def _child(self, number: int, mutant: dict[str, Any], tests: list[tuple[float, Any]]) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (STOP_S, STOP_S + 5))
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(null, stream)
        located = _located(mutant)
        n = 0
        if located is None:
            self._keep(number, "gone", "its line has changed", 0.0, 0)
            os._exit(0)
        tree, function, site = located
        _mutated(site.node, site.operator, site.position)
        if not _swap(mutant["file"], tree, function):
            self._keep(number, "gone", "no loaded function", 0.0, 0)
            os._exit(0)
        why = "all tests pass"
        for place, (cost, item) in enumerate(tests):
            if time.process_time() + cost > LIMIT_S:
                why = "limit of time"
                break
            following = tests[place + 1][1] if place + 1 < len(tests) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            n += 1
            if self.failed:
                self._keep(number, "killed", self.failed, time.process_time(), n)
                os._exit(1)
        self._keep(number, "survived", why if tests else "no test", time.process_time(), n)
        os._exit(0)


def reached_tests(out: Path) -> dict[str, tuple[int, float]]:
    """Bits and CPU seconds of every test, from the notes of all processes."""
    tests: dict[str, tuple[int, float]] = {}
    for file in sorted(out.glob("reach-*.json")):
        for name, (bits, cost) in json.loads(file.read_text(encoding="utf-8")).items():
            tests[name] = (int(bits, 16), cost)
    return tests


def report(out: Path) -> None:
    """Print the share that the tests noticed, with its binomial error, and the survivors."""
    latest = {
        record["mutant"]: record for record in map(json.loads, (out / "results.jsonl").read_text("utf-8").splitlines())
    }
    listed = mutants()
    judged = {number: record for number, record in latest.items() if record["verdict"] != "gone"}
    killed = sum(record["verdict"] == "killed" for record in judged.values())
    for number, record in sorted(judged.items()):
        if record["verdict"] == "survived":
            mutant = listed[number]
            print(
                f"{number:4} {mutant['file']}:{mutant['line']} {mutant['operator']} ({record['why']}): {mutant['text']}"
            )
    n = max(len(judged), 1)
    share = killed / n
    error = math.sqrt(share * (1 - share) / n)
    gone = len(latest) - len(judged)
    print(f"noticed {killed} of {len(judged)} mutants: {share:.1%} +- {error:.1%} (1 sigma), {gone} gone")


def main() -> None:
    """Draw, reach, run or report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("draw", "run", "report"))
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutation")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if asked.what == "draw":
        draw()
        return
    if asked.what == "run":
        asked.out.mkdir(parents=True, exist_ok=True)
        plugin = Run(asked.out, list(range(asked.first, asked.first + asked.count)), asked.jobs)
        pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--benchmark-disable"], plugins=[plugin])
    report(asked.out)


# `pytest -p tools.mutation` with this variable set notes what the tests reach.
if "MUTATION_REACH" in os.environ:
    _reach = Reach(Path(os.environ["MUTATION_REACH"]))


def pytest_configure(config: Any) -> None:
    """Register the notes of a run that asks for them."""
    if "MUTATION_REACH" in os.environ:
        _reach.prepare()
        config.pluginmanager.register(_reach, "reach")


if __name__ == "__main__":
    main()
