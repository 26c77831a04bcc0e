"""Which whole suites a run of ``.ci/run`` makes, each with a sample of its cases.

Those whose code has changed come first, then the others, both in an order drawn by a number, as many as fit into the
time. Changed is what differs between HEAD and the last commit that is older than four hours before it: two runs of
one afternoon check the same work, and nothing lies between them. ``CHANGED_SINCE=commit`` says otherwise.

Prints the chosen targets as ``target:cases``; ``--seed`` prints the number that every draw follows from: the hash of
the files, so that the same files draw the same.
"""

import argparse
import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOURS = 4
MINUTES = 16  # of all samples, on two quiet cores


@dataclass(frozen=True)
class Suite:
    """A target of the Makefile, what of it one run takes, and what it covers that no other run does."""

    n_cases: int  # that are drawn; 0: all
    minutes: float
    paths: tuple[str, ...]


SUITES = {
    "laws": Suite(
        10,
        4,
        (
            *("sizer/perf/", "sizer/physical/", "sizer/bom/", "sizer/sizing/", "sizer/calibrate/", "catalog/"),
            "tests/property/",
        ),
    ),
    "guides": Suite(
        4,
        4,
        (
            *("sizer/guide/", "sizer/present/", "sizer/drawings/", "sizer/deck/", "sizer/documents.py"),
            *("sizer/questions/", "sizer/export/", "reports/", "tests/guides/", "tools/verapdf"),
        ),
    ),
    "browser": Suite(8, 4, ("sizer/ui/", "tests/ui/", "tools/chromium.sh")),
    "test-app": Suite(12, 3, ("sizer/ui/", "sizer/questions/", "tests/ui/")),
    "hostile": Suite(6, 3, ("sizer/base/", "sizer/catalog/", "sizer/workload/", "sizer/cli/", "tests/hostile/")),
    "test-workers": Suite(0, 2, ("sizer/batch/", "sizer/base/", "sizer/library/", "tests/batch/")),
    "test-office": Suite(0, 2, ("sizer/export/", "sizer/bom/", "tests/office/", "tools/libreoffice.sh")),
    "test-postgres": Suite(0, 1, ("sizer/library/", "tests/library/", "tools/postgres.sh")),
    "test-proxy": Suite(0, 1, ("sizer/ui/app_server/", "docs/serve-a-team.md", "tests/proxy/", "tools/nginx.sh")),
    "bench": Suite(1, 3, ("sizer/sizing/", "sizer/physical/", "sizer/batch/", "tests/bench/", "tools/speed")),
}


def git(*arguments: str) -> str:
    """What git prints; nothing where it fails."""
    done = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def changed_paths(since: str = "") -> list[str]:
    """Paths that differ from an earlier commit, by default the one of four hours before; none where that is unknown."""
    if not since:
        # First parents only, so that a branch of long ago that was merged just now counts as of now.
        before = int(git("show", "--no-patch", "--format=%ct", "HEAD") or 0) - HOURS * 3600
        since = git("rev-list", "--first-parent", "--max-count=1", f"--before={before}", "HEAD")
    return git("diff", "--name-only", "--no-renames", since, "HEAD", "--").splitlines() if since else []


def selected(paths: list[str], number: int, minutes: float = MINUTES) -> list[str]:
    """Suites to run after a change of these paths."""
    order = random.Random(number).sample(list(SUITES), len(SUITES))
    order.sort(key=lambda name: not any(path.startswith(SUITES[name].paths) for path in paths))
    chosen = []
    for name in order:
        if SUITES[name].minutes <= minutes:
            minutes -= SUITES[name].minutes
            chosen.append(name)
    return chosen


def seed() -> int:
    """Number of the committed files: their hash."""
    return int((git("rev-parse", "HEAD^{tree}") or "0")[:8], 16)


def main() -> None:
    """Print the targets, or the number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", action="store_true")
    if parser.parse_args().seed:
        print(seed())
        return
    chosen = selected(changed_paths(os.environ.get("CHANGED_SINCE", "")), seed())
    print(*(f"{name}:{SUITES[name].n_cases}" for name in chosen))


if __name__ == "__main__":
    main()
