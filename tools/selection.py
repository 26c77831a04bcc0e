"""Which whole suites a run of ``.ci/run`` makes: those whose code has changed, else one of them in rotation.

Changed is what differs between HEAD and the last commit that is older than four hours before it: two runs of one
afternoon check the same work, and nothing lies between them. ``CHANGED_SINCE=commit`` says otherwise. Where the
history does not tell, everything counts as changed.

Prints the chosen targets; ``--seed`` prints the number that drawn examples and the rotation follow from: the hash of
the files, so that the same files draw the same.
"""

import argparse
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOURS = 4
# A change of these may change what any suite does.
EVERYTHING = ("Makefile", ".ci/", "requirements.lock", "dev.lock", "tests/conftest.py", "tools/selection.py")
# Target of the Makefile -> what it covers, and no other run does.
SUITES: dict[str, tuple[str, ...]] = {
    "laws": (
        "sizer/perf/",
        "sizer/physical/",
        "sizer/bom/",
        "sizer/sizing/",
        "sizer/calibrate/",
        "catalog/",
        "tests/property/",
    ),
    "guides": (
        *("sizer/guide/", "sizer/present/", "sizer/drawings/", "sizer/deck/", "sizer/documents.py"),
        *("sizer/questions/", "sizer/export/", "reports/", "tests/guides/", "tools/verapdf"),
    ),
    "browser": ("sizer/ui/", "tests/ui/", "tools/chromium.sh"),
    "test-app": ("sizer/ui/", "sizer/questions/", "tests/ui/"),
    "hostile": ("sizer/base/", "sizer/catalog/", "sizer/workload/", "sizer/cli/", "tests/hostile/"),
    "test-workers": ("sizer/batch/", "sizer/base/", "sizer/library/", "tests/batch/"),
    "test-office": ("sizer/export/", "sizer/bom/", "tests/office/", "tools/libreoffice.sh"),
    "test-postgres": ("sizer/library/", "tests/library/", "tools/postgres.sh"),
    "test-proxy": ("sizer/ui/app_server/", "docs/serve-a-team.md", "tests/proxy/", "tools/nginx.sh"),
    "bench": ("sizer/sizing/", "sizer/physical/", "sizer/batch/", "tests/bench/", "tools/speed"),
}


def git(*arguments: str) -> str | None:
    """What git prints, or None where it fails."""
    done = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def changed_paths(since: str = "") -> list[str] | None:
    """Paths that differ from an earlier commit, by default the one of four hours before; None: not known."""
    if not since:
        time = git("show", "--no-patch", "--format=%ct", "HEAD")
        if time is None or git("rev-parse", "--is-shallow-repository") != "false":
            return None
        # First parents only, so that a branch of long ago that was merged just now counts as of now.
        before = int(time) - HOURS * 3600
        since = git("rev-list", "--first-parent", "--max-count=1", f"--before={before}", "HEAD") or ""
        if not since:
            return None
    paths = git("diff", "--name-only", "--no-renames", since, "HEAD", "--")
    return None if paths is None else paths.splitlines()


def selected(paths: list[str] | None, number: int) -> list[str]:
    """Suites to run after a change of these paths; where they cover none of them, one by a number."""
    if paths is None or any(path.startswith(EVERYTHING) for path in paths):
        return list(SUITES)
    chosen = [name for name, covered in SUITES.items() if any(path.startswith(covered) for path in paths)]
    return chosen or [list(SUITES)[number % len(SUITES)]]


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
    print(*selected(changed_paths(os.environ.get("CHANGED_SINCE", "")), seed()))


if __name__ == "__main__":
    main()
