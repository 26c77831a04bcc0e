"""Figures of speed from what pytest-benchmark measured, compared with the targets, the machine and an earlier run."""

import json
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.base.quantities import NARROW_SPACE, significant

LOOP = "test_reference.py::test_python_loop"
TRIAD = "test_reference.py::test_triad_in_memory"
BARE = "test_reference.py::test_bare_python"
REFERENCES = {LOOP: "loops", TRIAD: "triads", BARE: "starts"}
JUDGE = "test_designs.py::test_judge_by_servers[1024]"
MANY = "test_batch.py::test_requests_to_a_table[many]"
ASKED_REQUESTS = 100_000


@dataclass(frozen=True)
class Bench:
    """One benchmark of a run."""

    median_s: float
    rounds: int
    extra: Mapping[str, Any]

    @property
    def inner_s(self) -> float:
        """Time of the work alone where a process around it was timed, else of a round. [s]"""
        return float(self.extra.get("inner_s", self.median_s))


@dataclass(frozen=True)
class Run:
    """One run of all benchmarks on one machine."""

    date: str
    sizer: str  # its version
    machine: Mapping[str, Any]
    benches: Mapping[str, Bench]

    @classmethod
    def from_kept(cls, data: Mapping[str, Any]) -> "Run":
        """Run from the JSON that :func:`stripped` made."""
        benches = {
            name: Bench(one["median_s"], one["rounds"], one["extra"]) for name, one in data["benchmarks"].items()
        }
        return cls(data["date"], data["sizer"], data["machine"], benches)


def stripped(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of pytest-benchmark's JSON: times and counts, and of the machine what its speed depends on.

    No name of a host or of a user, no path: texts that a benchmark tells are left out too.
    """
    cpu = raw["machine_info"]["cpu"]
    machine = {
        "processor": cpu.get("brand_raw", raw["machine_info"].get("processor", "")),
        "model": [cpu.get(name) for name in ("family", "model", "stepping")],
        "clock_hz": (cpu.get("hz_advertised") or [None])[0],
        "cores": cpu["count"],
        "l2_bytes": cpu.get("l2_cache_size"),
        "l3_bytes": cpu.get("l3_cache_size"),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": raw["machine_info"]["python_version"],
        "numpy": version("numpy"),
    }
    benchmarks = {
        one["fullname"].rpartition("/")[2]: {
            "median_s": one["stats"]["median"],
            "min_s": one["stats"]["min"],
            "rounds": one["stats"]["rounds"],
            "extra": {name: value for name, value in one["extra_info"].items() if _is_number(value)},
        }
        for one in raw["benchmarks"]
    }
    return {"date": raw["datetime"][:10], "sizer": __version__, "machine": machine, "benchmarks": benchmarks}


def _is_number(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(one, int | float) for one in value.values())
    return isinstance(value, int | float)


def read(path: Path) -> Run:
    """A run that was kept."""
    return Run.from_kept(json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Figure:
    """Something that is measured, and what is asked of it."""

    key: str
    name: str
    unit: str  # of the value: s, MB, "/s" for a rate, "" for a quotient
    benches: tuple[str, ...]  # without one of these it is not measured
    of: Callable[..., float]  # of these benches
    asked: float | None = None
    is_rate: bool = False  # at least what is asked, else at most
    reference: str | None = LOOP


@dataclass(frozen=True)
class Found:
    """A figure of one run."""

    figure: Figure
    value: float | None  # None: not measured

    @property
    def is_reached(self) -> bool | None:
        """None where nothing is asked or nothing was measured."""
        if self.value is None or self.figure.asked is None:
            return None
        return self.value >= self.figure.asked if self.figure.is_rate else self.value <= self.figure.asked

    @property
    def used_fraction(self) -> float | None:
        """Part of what may be spent that is spent: 1 is exactly what is asked, more is missed. [-]"""
        if self.value is None or self.figure.asked is None:
            return None
        return self.figure.asked / self.value if self.figure.is_rate else self.value / self.figure.asked

    def against_reference(self, run: Run) -> float | None:
        """Value with time counted in runs of its reference: how long it takes, or how much is done in one."""
        reference = self.figure.reference
        if self.value is None or reference is None or reference not in run.benches:
            return None
        reference_s = run.benches[reference].median_s
        return self.value * reference_s if self.figure.is_rate else self.value / reference_s


def cost_ratio(now: Found, run: Run, before: Found, earlier: Run) -> float | None:
    """Cost in this run by the cost in an earlier one, each in terms of its own machine: 0.5 is twice as fast. [-]"""
    if now.figure.reference is None:
        values = now.value, before.value
    else:
        values = now.against_reference(run), before.against_reference(earlier)
    if not values[0] or not values[1]:
        return None
    return values[1] / values[0] if now.figure.is_rate else values[0] / values[1]


def _median(bench: Bench) -> float:
    return bench.median_s


def _per_second(bench: Bench) -> float:
    return 1 / bench.median_s


def _peak(bench: Bench) -> float:
    return float(bench.extra["peak_megabytes"])


def _whole_batch_s(bench: Bench) -> float:
    """Start of the workers once, and the requests as often as are asked."""
    start_s = bench.median_s - bench.inner_s
    return start_s + bench.inner_s * ASKED_REQUESTS / bench.extra["requests"]


def _growth(of: str) -> Callable[[Bench, Bench], float]:
    """Time of one at the large end by time of one at the small end: 1 is linear, less is a cost shared. [-]"""
    return lambda small, large: large.inner_s / small.inner_s * small.extra[of] / large.extra[of]


def _time(key: str, name: str, bench: str, asked: float | None = None, reference: str = LOOP) -> Figure:
    return Figure(key, name, "s", (bench,), _median, asked, reference=reference)


def _memory(key: str, name: str, bench: str, asked: float | None = None) -> Figure:
    return Figure(key, name, "MB", (bench,), _peak, asked, reference=None)


# What the issue asks for; "a core" is one process with one thread.
ASKED = (
    Figure(
        "judged", "designs judged, all stages with their interval, a core", "/s", (JUDGE,),
        lambda bench: bench.extra["designs"] / bench.median_s, 3e6, True, TRIAD,
    ),
    _time("choice", "one request over the whole catalogue, 1 to 1,024 servers",
          "test_designs.py::test_choice_of_one_request", 0.020),
    *(
        Figure(f"complete-{servers}", f"complete designs of {servers:,} servers, a core", "/s",
               (f"test_speed.py::test_complete_design[{servers}]",), _per_second, asked, True)
        for servers, asked in ((128, 200.0), (1000, 20.0))
    ),
    Figure("batch", "100,000 different requests to an Arrow table, all cores", "s", (MANY,), _whole_batch_s, 1200.0),
    _memory("batch-memory", "memory of that, all processes", MANY, 1000.0),
    _time("draws", "1,000 posterior draws over the whole space of one request",
          "test_monte_carlo.py::test_draws_over_the_whole_space", 15.0),
    _time("import", "import sizer, in a fresh process", "test_starting.py::test_import", 0.25, BARE),
    _time("help", "sizer --help", "test_starting.py::test_help", 0.35, BARE),
    Figure("growth-designs", "time a design, up to 1,024 servers compared with up to 10", "",
           ("test_designs.py::test_judge_by_servers[10]", JUDGE), _growth("designs"), 1.1, reference=None),
    Figure("growth-requests", "time a request, all measured ones compared with 100", "",
           ("test_batch.py::test_requests_to_a_table[few]", MANY), _growth("requests"), 1.1, reference=None),
)  # fmt: skip

OTHERS = (
    _time("answer", "one request with its complete design", "test_designs.py::test_answer_of_one_request"),
    Figure("requests", "requests sized, a core", "/s", (MANY,),
           lambda bench: bench.extra["requests"] / bench.inner_s / bench.extra["workers"], None, True),
    _time("sweep", "sweep of 1,000 points", "test_monte_carlo.py::test_sweep_of_a_thousand_points"),
    _time("sweep-draws", "the same with 1,000 draws of each",
          "test_monte_carlo.py::test_sweep_of_a_thousand_points_with_draws"),
    _time("size", "one request with all that the documents tell, one platform", "test_speed.py::test_size_warm", 0.1),
    _time("size-all", "the same over the whole catalogue", "test_speed.py::test_size_everything_allowed_warm"),
    _time("size-cold", "the same in a fresh process, one platform", "test_speed.py::test_size_cold", 1.0, BARE),
    _time("catalogue", "catalogue read and checked", "test_speed.py::test_load_catalog"),
    _time("calibrate", "calibration fitted again", "test_speed.py::test_calibrate", 20.0),
    _time("guide-summary", "summary.pdf", "test_guides.py::test_guide_warm[summary]"),
    _time("guide", "guide.pdf", "test_guides.py::test_guide_warm[guide]", 3.0),
    _time("guide-engineer", "engineers-file.pdf", "test_guides.py::test_guide_warm[engineer]"),
    _time("workbook", "workbook", "test_documents.py::test_workbook_warm"),
    _time("app-first", "first page of the app", "test_app.py::test_first_page_of_a_warm_server", 1.0),
    _time("app-rerun", "the app after an edit", "test_app.py::test_headline_after_an_edit[restricted]", 0.3),
    _memory("memory-lean", "memory of a process with one lean answer",
            "test_starting.py::test_memory_of_a_lean_answer"),
    _memory("memory-whole", "memory of a process with one whole answer",
            "test_starting.py::test_memory_of_a_whole_answer"),
    _memory("memory-guide", "memory of a process that makes guide.pdf",
            "test_guides.py::test_memory_of_a_process_that_makes_guides[guide]", 250.0),
)  # fmt: skip


def found(run: Run, figures: Sequence[Figure]) -> list[Found]:
    """Figures of a run, in their order."""
    return [
        Found(one, one.of(*(run.benches[name] for name in one.benches)))
        if all(name in run.benches for name in one.benches)
        else Found(one, None)
        for one in figures
    ]


@dataclass(frozen=True)
class Growth:
    """Times of one thing at several sizes, ascending."""

    name: str
    unit: str
    sizes: tuple[float, ...]
    times_s: tuple[float, ...]

    @property
    def of_linear(self) -> float:
        """Time of one at the large end by time of one at the small end. [-]"""
        return self.times_s[-1] / self.times_s[0] * self.sizes[0] / self.sizes[-1]

    @property
    def last_exponent(self) -> float:
        """Power of the size that the time grows with between the two largest. [-]"""
        times, sizes = (math.log(values[-1] / values[-2]) for values in (self.times_s, self.sizes))
        return times / sizes


# Name, unit of the size, where the size stands, benchmarks in ascending order.
_GROWTHS = (
    ("designs, by servers", "designs", "designs",
     tuple(f"test_designs.py::test_judge_by_servers[{n}]" for n in (10, 32, 102, 324, 1024))),
    ("designs, by platforms", "designs", "designs",
     tuple(f"test_designs.py::test_judge_by_platforms[{n}]"
           for n in ("server-and-storage", "server", "three-servers", "all"))),
    ("requests", "requests", "requests",
     tuple(f"test_batch.py::test_requests_to_a_table[{n}]" for n in ("few", "many"))),
    ("servers of a complete design", "servers", "servers",
     tuple(f"test_speed.py::test_complete_design[{n}]" for n in (10, 100, 1000))),
    ("catalogue", "platforms", "platforms",
     tuple(f"test_designs.py::test_judge_by_catalogue[{n}]" for n in (1, 2, 4))),
)  # fmt: skip


def growths(run: Run) -> list[Growth]:
    """What was measured at more than one size."""
    every = []
    for name, unit, size, names in _GROWTHS:
        benches = [run.benches[one] for one in names if one in run.benches]
        if len(benches) > 1:
            sizes, times = zip(*((float(one.extra[size]), one.inner_s) for one in benches), strict=True)
            every.append(Growth(name, unit, sizes, times))
    return every


def amount(value: float | None, figure: Figure) -> str:
    """Value in the unit that reads best."""
    if value is None:
        return "not measured"
    if figure.unit == "MB":
        return f"{significant(value)}{NARROW_SPACE}MB"
    if figure.unit == "/s":
        million = value >= 1e6
        return f"{significant(value / 1e6 if million else value)}{' million' if million else ''} a second"
    return seconds(value) if figure.unit == "s" else significant(value)


def seconds(value: float) -> str:
    """Time: 12.1 ms, 0.18 s, 20.0 min."""
    for least, factor, unit in ((60.0, 60.0, "min"), (1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (0.0, 1e-6, "µs")):
        if value >= least:
            return f"{significant(value / factor)}{NARROW_SPACE}{unit}"
    raise ValueError(f"a time of {value} s")


def asked(figure: Figure) -> str:
    """What is asked, in words."""
    if figure.asked is None:
        return ""
    return f"at {'least' if figure.is_rate else 'most'} {_asked_amount(figure)}"


def _asked_amount(figure: Figure) -> str:
    text = amount(figure.asked, figure)
    # An asked number is exact: 20 ms, not 20.0 ms.
    number, space, unit = text.partition(" " if figure.unit == "/s" else NARROW_SPACE)
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def verdict(one: Found) -> str:
    """Word for a column."""
    return {True: "yes", False: "no", None: ""}[one.is_reached] if one.value is not None else ""


def referred(one: Found, run: Run) -> str:
    """Figure in runs of its reference."""
    value, reference = one.against_reference(run), one.figure.reference
    if value is None or reference is None:
        return ""
    name = REFERENCES[reference]
    return f"{significant(value)} a {name[:-1]}" if one.figure.is_rate else f"{significant(value)} {name}"
