"""Damaged libraries: a sentence that says what is lost and how to restore it, whatever the damage."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sizer.library.library import Library
from sizer.library.opening import DatabaseError, LibraryError
from tests.library.samples import at, state

DESIGN, OTHER = "design-0001", "design-0002"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A library of two designs, the first one with two revisions."""
    file = tmp_path / "designs.sqlite"
    library = Library(str(file))
    library.create(DESIGN, "Plant 4", state("first"), author="A", comment="", now=at(0))
    library.save(DESIGN, 1, state("second"), author="A", comment="", now=at(1))
    library.create(OTHER, "Plant 5", state("third"), author="B", comment="", now=at(2))
    library.close()
    return file


@pytest.fixture
def library(path: Path) -> Iterator[Library]:
    opened = Library(str(path))
    yield opened
    opened.close()


def set_cell(path: Path, column: str, value: Any, number: int = 2) -> None:
    """Write into one column of the newest revision of the first design what no save writes."""
    connection = sqlite3.connect(path)
    statement = f"UPDATE revisions SET {column} = ? WHERE design_id = ? AND number = ?"
    connection.execute(statement, (value, DESIGN, number))
    connection.commit()
    connection.close()


BYTES = b"\xff\xfe"
IN_LIST = [
    ("created_at", "yesterday", "its time"),
    ("created_at", "2026-01-02", "its time"),  # without a time zone
    ("created_at", BYTES, "its time"),
    ("author", BYTES, "its author"),
    ("comment", BYTES, "its comment"),
    ("parent", "first", "the revision before it"),
    ("parent", -7, "the revision before it"),
    ("parent", 2**62, "the revision before it"),
]
IN_NEWEST = [("customer", BYTES, "its customer"), ("snapshot", BYTES, "its snapshot")]
IN_CONTENT = [
    ("request", BYTES, "its request"),
    ("request", "{", "its request"),
    ("request", "[1]", "its request"),
    ("request", "[" * 100_000, "its request"),
    ("price_book", BYTES, "its price book"),
    ("digest", BYTES, "its digest"),
]


@pytest.mark.parametrize(("column", "value", "what"), [*IN_LIST, *IN_NEWEST])
def test_a_damaged_record_is_named_and_the_others_are_listed(
    path: Path, library: Library, column: str, value: Any, what: str
) -> None:
    set_cell(path, column, value)
    found = library.search()
    assert [design.id for design in found.designs] == [OTHER]
    assert found.n_designs == 2
    (sentence,) = found.damaged
    assert sentence.startswith(f"revision 2 of design {DESIGN} is damaged: {what}")
    assert sentence.endswith("restore it from a backup of the library")
    with pytest.raises(LibraryError, match=what):
        library.design(DESIGN)
    assert library.design(OTHER).name == "Plant 5"


@pytest.mark.parametrize(("column", "value", "what"), [*IN_LIST, *IN_CONTENT])
def test_a_damaged_revision_is_told_and_the_one_before_opens(
    path: Path, library: Library, column: str, value: Any, what: str
) -> None:
    set_cell(path, column, value)
    with pytest.raises(LibraryError, match=f"revision 2 of design {DESIGN} is damaged: {what} "):
        library.revision(DESIGN, 2)
    assert library.revision(DESIGN, 1).request["title"] == "first"


@pytest.mark.parametrize("text", ["", "{}", "null", "[" * 100_000, '{"version": 1}', "\x00"])
def test_an_odd_snapshot_is_one_that_cannot_be_compared(path: Path, library: Library, text: str) -> None:
    set_cell(path, "snapshot", text)
    assert library.revision(DESIGN, 2).snapshot is None
    assert library.design(DESIGN).snapshot is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"unit":"money","value":null,"low":null,"high":null,"text":"', '"unit":"money","text":"much '),
        ('"net":', '"net":"NaN","before":'),
        ('"value":', '"value":1e999,"before":'),
    ],
)
def test_a_snapshot_with_amounts_that_are_none_is_not_compared(
    path: Path, library: Library, old: str, new: str
) -> None:
    whole = library.revision(DESIGN, 2).snapshot_json
    assert old in whole
    set_cell(path, "snapshot", whole.replace(old, new))
    assert library.revision(DESIGN, 2).snapshot is None


def test_a_file_with_a_lost_table_says_which_and_how_to_restore(path: Path) -> None:
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'revisions'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(content)
    library = Library(str(path))
    with pytest.raises(DatabaseError) as caught:
        library.search()
    library.close()
    assert str(caught.value) == (
        "The library designs.sqlite is damaged: its revisions cannot all be read, its names of designs can. Put its "
        "newest backup in its place, or save what can still be read with 'sqlite3 OLD .recover | sqlite3 NEW' and use "
        "the new file"
    )


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_overwritten_no_raw_error_escapes(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 20)):
        start = chance.randrange(100, len(content))  # behind the head, without which it is another kind of file
        length = min(chance.choice([1, 8, 64, 4096]), len(content) - start)
        content[start : start + length] = chance.randbytes(length)
    if seed % 4 == 0:
        del content[chance.randrange(len(content)) :]
    path.write_bytes(content)
    with suppress(LibraryError):  # what can be read is read; all else is a sentence
        library = Library(str(path))
        for act in (
            library.search,
            lambda: library.search("plant"),
            lambda: library.design(DESIGN),
            lambda: library.revisions(DESIGN),
            lambda: library.revision(DESIGN, 1),
            lambda: library.revision(DESIGN, 2).snapshot,
            lambda: library.rename(DESIGN, "x"),
            lambda: library.save(DESIGN, 1, state("next"), author="", comment="", now=at(3)),
        ):
            with suppress(LibraryError):
                act()
        library.close()
