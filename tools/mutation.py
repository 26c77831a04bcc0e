"""Share of planted faults that the tests notice: ``make mutation``.

A mutant is one changed operator, constant or result inside a function of the engine. The list stays in
``tools/mutants.json``, so that the share of two versions is that of the same faults; ``draw`` puts others in the place
of those whose line has gone.

``reach`` runs the tests once and notes which test comes past which mutant. ``run`` then forks a process for every
mutant, changes the code of the loaded function in it, and runs the tests that come past it, fastest first, until one
fails. Tests that start processes of their own do not see the change there.
"""

import argparse
import ast
import builtins
import functools
import gc
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.mutants import (
    ROOT,
    Function,
    described,
    draw,
    import_everything,
    key,
    located,
    mutants,
    mutate,
    sites,
    swap,
)

LIMIT_S = 30.0  # CPU time of one mutant; what no test noticed until then has survived
STOP_S = 90  # a test that a mutant keeps busy for ever: noticed


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
        import_everything()
        by_file: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for number, mutant in enumerate(mutants()):
            by_file.setdefault(mutant["file"], []).append((number, mutant))
        for path, those in by_file.items():
            for _, mutant in those:
                place = located(mutant)
                if place is None:
                    continue
                # Several mutants of one function: their notes are put in together, into one tree.
                tree, function, _ = place
                for other, same in those:
                    if same["function"] == mutant["function"]:
                        self._note(function, path, same, other)
                swap(path, tree, function)

    @staticmethod
    def _note(function: Function, path: str, mutant: dict[str, Any], number: int) -> None:
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        clean = [site for site in sites(function, function) if not hasattr(site.node, "is_note")]
        for site, record in zip(clean, described(path, lines, mutant["function"], clean), strict=True):
            if key(record) == key(mutant):
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
        import_everything()
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
        place = located(mutant)
        n = 0
        if place is None:
            self._keep(number, "gone", "its line has changed", 0.0, 0)
            os._exit(0)
        tree, function, site = place
        mutate(site.node, site.operator, site.position)
        if not swap(mutant["file"], tree, function):
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
    parser.add_argument("tests", nargs="*", help="folders of the tests")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutation")
    parser.add_argument("--count", type=int, default=len(mutants()))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_intermixed_args()  # folders may follow the options
    if asked.what == "draw":
        draw()
        return
    if asked.what == "run":
        asked.out.mkdir(parents=True, exist_ok=True)
        plugin = Run(asked.out, list(range(asked.first, asked.first + asked.count)), asked.jobs)
        pytest.main(
            ["-q", "-p", "no:cacheprovider", "--benchmark-disable", *asked.tests],
            plugins=[plugin],
        )
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
