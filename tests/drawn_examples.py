"""What a run draws: examples of laws, and cases of the whole suites in ``.ci/run``.

With ``DRAWN_BY=number`` in the environment (``.ci/run`` sets it to a hash of the files) a whole suite takes the
cases that are named here and some that follow from the number; without it, as in ``make everything``, it takes all.
"""

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

_NUMBER = os.environ.get("DRAWN_BY")
SEED = int(os.environ.get("SEED", "1"))  # of laws and random input


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


@dataclass(frozen=True)
class Sample:
    """What a suite takes of its cases: those that are named, and so many of the others."""

    fixed: tuple[str, ...]
    n_drawn: int


# Marker of a suite -> its sample. A case is the group of a test for its worker, else the parameters of the test.
SAMPLES = {
    "guides": Sample(("apollo-weka-resnet50", "letter", "team"), 2),
    "hostile": Sample(("requests", "links", "outputs"), 3),
    "browser": Sample((), 2),
}
_EXAMPLES = 3  # a law gets a third of its examples


def n_examples(whole: int) -> int:
    """Examples of a law, of as many as it gets in ``make laws``."""
    return whole if _NUMBER is None else max(whole // _EXAMPLES, min(whole, 5))


def drawn(cases: Sequence[str], sample: Sample, number: str) -> set[str]:
    """Cases of a sample."""
    others = sorted(set(cases) - set(sample.fixed))
    return {*sample.fixed, *random.Random(number).sample(others, min(sample.n_drawn, len(others)))}


def _case(item: pytest.Item) -> str | None:
    group = item.get_closest_marker("xdist_group")
    return None if group is None else str(group.kwargs.get("name") or group.args[0])


def left_out(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Tests whose case this run does not take."""
    if _NUMBER is None:
        return set()
    out: set[pytest.Item] = set()
    for marker, sample in SAMPLES.items():
        of_suite = [(item, case) for item in items if item.get_closest_marker(marker) and (case := _case(item))]
        taken = drawn([case for _, case in of_suite], sample, _NUMBER)
        out |= {item for item, case in of_suite if case not in taken}
    return out
