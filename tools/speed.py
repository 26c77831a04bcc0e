"""Prints what `make bench` measured, compared with targets and an earlier run; --keep stores it and makes the page."""

import argparse
import json
from pathlib import Path

from tools.speed_figures import (
    ASKED,
    JUDGE,
    MANY,
    OTHERS,
    REFERENCES,
    Figure,
    Run,
    amount,
    asked,
    cost_ratio,
    found,
    read,
    referred,
    verdict,
)
from tools.speed_figures import stripped as kept_part

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "bench" / "kept.json"
HEAD = ("figure", "asked", "measured", "reached", "in references", "cost by the kept run's")


def rows(run: Run, figures: tuple[Figure, ...], before: Run | None) -> list[tuple[str, ...]]:
    """Cells of a table, a row a figure; a cost by the kept run's is each divided by the reference of its own run."""
    earlier = found(before, figures) if before is not None else [None] * len(figures)
    table: list[tuple[str, ...]] = []
    for now, then in zip(found(run, figures), earlier, strict=True):
        ratio = cost_ratio(now, run, then, before) if before is not None and then is not None else None
        measured = amount(now.value, now.figure)
        cells = now.figure.name, asked(now.figure), measured, verdict(now), referred(now, run)
        table.append((*cells, "" if ratio is None else f"{ratio:.2f}"))
    return table


def aligned(table: list[tuple[str, ...]]) -> str:
    """Table as text: names left, the rest right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for cells in table:
        name, *rest = cells
        lines.append("  ".join([name.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]).rstrip())
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def report(run: Run, before: Run | None) -> str:
    """All that is printed after a run."""
    parts = [aligned([HEAD, *rows(run, ASKED, before)]), aligned([HEAD, *rows(run, OTHERS, before)])]
    if MANY in run.benches:
        count = run.benches[MANY].extra["requests"]
        parts.append(f"The 100,000 requests are told from {count:,} that were measured.")
    missed = [one.figure.name for one in found(run, ASKED) if one.is_reached is False]
    parts.append(
        "Below what is asked: " + "; ".join(missed) + "." if missed else "Everything that is asked is reached."
    )
    return "\n\n".join(parts)


def slower(run: Run, before: Run, factor: float) -> list[str]:
    """Figures that cost more than ``factor`` times what they cost in an earlier run, each by its reference loop."""
    figures = (*ASKED, *OTHERS)
    lines = []
    for now, then in zip(found(run, figures), found(before, figures), strict=True):
        ratio = cost_ratio(now, run, then, before)
        if ratio is not None and ratio > factor:
            lines.append(f"{now.figure.name}: {ratio:.2f} times the kept run")
    return lines


def main() -> None:
    """Read pytest-benchmark's file, print, name what became slower, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path, help="JSON file that pytest-benchmark wrote")
    parser.add_argument("--keep", action="store_true", help="make this the kept run, and the page from it")
    parser.add_argument("--slower", type=float, help="name figures that cost more than this many times the kept run")
    given = parser.parse_args()
    data = kept_part(json.loads(given.measured.read_text(encoding="utf-8")))
    missing = [name for name in (*REFERENCES, JUDGE, MANY) if name not in data["benchmarks"]]
    if given.keep and missing:
        parser.error(f"only a whole run is kept; {given.measured} lacks {', '.join(missing)}")
    before = read(KEPT) if KEPT.exists() else None
    print(report(Run.from_kept(data), before))
    lines = slower(Run.from_kept(data), before, given.slower) if given.slower and before is not None else []
    if lines:
        print(f"Slower than {given.slower} times the kept run:", *lines, sep="\n")
    if given.keep:
        KEPT.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        from tools import speed_page

        speed_page.write(read(KEPT))


if __name__ == "__main__":
    main()
