"""What a run draws: examples of laws, and cases of a whole suite.

``SEED=number`` in the environment says what is drawn; ``SAMPLE=n`` takes n cases of a suite in place of all. A case is
the tests of one group: of one file, where they name no other.
"""

import os
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

SEED = int(os.environ.get("SEED", "1"))
N_CASES = int(os.environ.get("SAMPLE", "0"))  # 0: all
# Every other time is told as a ratio to these.
_ALWAYS = {"tests/bench/test_reference.py"}


class _Kept(DirectoryBasedExampleDatabase):
    """Examples that failed once: a file each, to be committed; they are tried again in every run, mended or not."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Nothing is forgotten, but steps on the way to the smallest example."""
        if key.endswith(b".secondary"):
            super().delete(key, value)

    def move(self, src: bytes, dest: bytes, value: bytes) -> None:
        """Likewise."""
        if dest.endswith(b".secondary"):
            DirectoryBasedExampleDatabase.delete(self, src, value)
        else:
            super().move(src, dest, value)


# The same examples in every run of ``make test``: a search that finds something new in the run of somebody else's
# change helps nobody there. Laws and fuzz have the profile "drawn", with a seed that the Makefile gives.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile(
    "drawn",
    derandomize=False,
    deadline=None,
    print_blob=True,
    database=_Kept(Path(__file__).parent / "counterexamples"),
)


def drawn(cases: Iterable[str], n_cases: int, number: int) -> set[str]:
    """Cases of a sample."""
    others = sorted(set(cases) - _ALWAYS)
    return _ALWAYS | set(random.Random(number).sample(others, min(n_cases, len(others))))


def group(item: pytest.Item) -> str:
    """Name of the tests that run one after the other on one worker."""
    mark = item.get_closest_marker("xdist_group")
    return item.nodeid.split("::")[0] if mark is None else str(mark.kwargs.get("name") or mark.args[0])


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Tests whose case this run does not take."""
    taken = drawn(map(group, items), N_CASES, SEED)
    return [item for item in items if group(item) not in taken] if N_CASES else []
