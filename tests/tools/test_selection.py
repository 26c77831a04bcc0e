"""Which whole suites a change selects; histories are made with git in an empty folder."""

import re
from pathlib import Path

import pytest

from tools.selection import MINUTES, SUITES, selected

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
        assert suites <= set(selected(paths, number))


@pytest.mark.parametrize("paths", [[], ["README.md"], ["sizer/", "catalog/", "tests/"]])
def test_samples_fit_into_the_time_and_every_suite_has_its_turn(paths):
    drawn = [selected(paths, number) for number in range(100)]
    assert all(sum(SUITES[name].minutes for name in chosen) <= MINUTES for chosen in drawn)
    assert set().union(*drawn) == set(SUITES)


def test_every_suite_is_a_target_and_covers_paths_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    everything = re.search(r"^everything:(.*)##", makefile, flags=re.M)[1].split()
    assert set(SUITES) <= set(everything)
    for suite in SUITES.values():
        for path in suite.paths:
            assert list(ROOT.glob(f"{path}*")) if not path.endswith("/") else (ROOT / path).is_dir(), path
