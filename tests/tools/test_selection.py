"""Which whole suites a change selects; histories are made with git in an empty folder."""

import re
import subprocess
from pathlib import Path

import pytest

from tools import selection
from tools.selection import MINUTES, SUITES, UNSETTLED, changed_paths, selected

ROOT = Path(__file__).parent.parent.parent
HOUR = 3600


@pytest.mark.parametrize(
    ("paths", "suites"),
    [
        (["sizer/library/store.py"], {"test-workers", "test-postgres"}),
        (["sizer/ui/app_server/turns.py"], {"browser", "test-app", "test-proxy"}),
        (["sizer/bom/cost.py", "README.md"], {"laws", "test-office"}),
        (["docs/serve-a-team.md"], {"test-proxy"}),
    ],
)
def test_a_change_selects_what_covers_it(paths, suites):
    for number in range(20):
        assert suites - UNSETTLED <= set(selected(paths, number))


@pytest.mark.parametrize("paths", [[], ["README.md"], ["sizer/", "catalog/", "tests/"]])
def test_samples_fit_into_the_time_and_every_suite_has_its_turn(paths):
    drawn = [selected(paths, number) for number in range(100)]
    assert all(sum(SUITES[name].minutes for name in chosen) <= MINUTES for chosen in drawn)
    assert set().union(*drawn) == set(SUITES) - UNSETTLED


def test_every_suite_is_a_target_and_covers_paths_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    everything = re.search(r"^everything:(.*)##", makefile, flags=re.M)[1].split()
    assert set(SUITES) <= set(everything)
    for suite in SUITES.values():
        for path in suite.paths:
            assert list(ROOT.glob(f"{path}*")) if not path.endswith("/") else (ROOT / path).is_dir(), path


@pytest.fixture
def history(tmp_path, monkeypatch):
    """A function that commits a file so many hours after an hour long ago."""
    monkeypatch.setattr(selection, "ROOT", tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments, **env):
        names = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        with monkeypatch.context() as scoped:
            for name, value in env.items():
                scoped.setenv(name, value)
            subprocess.run(("git", *names, *arguments), cwd=tmp_path, check=True, capture_output=True)

    def commit(path, hours):
        (tmp_path / path).write_text(path)
        run("add", "--all")
        date = f"{1_700_000_000 + int(hours * HOUR)} +0000"
        run("commit", "--message", path, GIT_COMMITTER_DATE=date, GIT_AUTHOR_DATE=date)

    run("init", "--initial-branch", "main")
    return commit


def test_what_changed_within_four_hours_counts(history):
    for path, hours in (("old", 0), ("before", 5.9), ("within", 6.1), ("now", 10)):
        history(path, hours)
    assert changed_paths() == ["now", "within"]
    assert changed_paths("HEAD~1") == ["now"]


def test_a_history_without_an_older_commit_tells_no_change(history):
    history("first", 0)
    history("now", 1)
    assert changed_paths() == []
    assert changed_paths("no-such-commit") == []
    history("later", 9)
    assert changed_paths() == ["later"]
