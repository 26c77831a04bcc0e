"""Several people save at the same moment: nothing is lost, and every number is given once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from sizer.library.library import Library
from tests.library.samples import at, state

ROOT = Path(__file__).parents[2]
DESIGN = "design-0001"
PEOPLE, SAVES = 6, 8


def assert_nothing_lost(library: Library, expected: set[str]) -> None:
    """One revision for each state, numbered without a gap."""
    entries = library.revisions(DESIGN)
    assert [entry.number for entry in entries] == list(range(1, len(expected) + 1))
    titles = [library.revision(DESIGN, entry.number).request["title"] for entry in entries]
    assert sorted(titles) == sorted(expected)


def test_threads_that_save_the_same_revision_all_keep_theirs(library):
    library.create(DESIGN, "d", state("start"), author="", comment="", now=at(0))
    barrier = Barrier(PEOPLE)

    def save(person: int) -> list[tuple[int, int]]:
        barrier.wait(timeout=60)
        told = []
        for number in range(SAVES):
            name = f"{person}/{number}"
            done = library.save(DESIGN, 1, state(name), author=str(person), comment="", now=at(1))
            assert done.is_new
            told.append((done.number, len(done.newer_revisions)))
        return told

    with ThreadPoolExecutor(PEOPLE) as pool:
        told = [one for found in pool.map(save, range(PEOPLE)) for one in found]
    # Everybody started from revision 1, so that whoever got number n was told of the n - 2 between.
    assert all(n_meanwhile == number - 2 for number, n_meanwhile in told)
    assert sorted(number for number, _ in told) == list(range(2, PEOPLE * SAVES + 2))
    assert_nothing_lost(library, {"start", *(f"{p}/{n}" for p in range(PEOPLE) for n in range(SAVES))})


PROGRAM = """
import sys
from tests.library.samples import at, state
from sizer.library.library import Library

address, person = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
library = Library(address)
for number in range(5):
    library.save("design-0001", 1, state(f"{person}/{number}"), author=person, comment="", now=at(1))
"""


@pytest.mark.workers
def test_processes_that_save_at_once_all_keep_theirs(library, address):
    library.create(DESIGN, "d", state("start"), author="", comment="", now=at(0))
    people = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, address, str(person)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for person in range(3)
    ]
    for one in people:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in people:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in people:
        _, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors
    assert_nothing_lost(library, {"start", *(f"{p}/{n}" for p in range(3) for n in range(5))})


def test_several_may_open_a_new_library_at_once(new_address):
    for _ in range(3):
        address, barrier = new_address(), Barrier(PEOPLE)

        def open_and_save(person: int, address: str = address, barrier: Barrier = barrier) -> None:
            barrier.wait(timeout=60)
            library = Library(address)
            library.create(f"design-{person:04}", "d", state("x"), author="", comment="", now=at(person))
            library.close()

        with ThreadPoolExecutor(PEOPLE) as pool:
            list(pool.map(open_and_save, range(PEOPLE)))
        library = Library(address)
        assert library.search().n_designs == PEOPLE
        library.close()
