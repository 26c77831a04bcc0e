"""Designs and revisions: what is saved stays, and is found again. In a file and on a server alike."""

import secrets
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sizer.library.library import MAX_COMMENT, MAX_NAME, Library, normalized
from sizer.library.opening import LibraryError
from tests.library.samples import answered, at, state

DESIGN = "design-0001"
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=60)


def created(library: Library, name: str = "first", design_id: str = DESIGN, **about: str) -> Library:
    """The library with a design of one revision."""
    library.create(design_id, name, state(name, **about), author="Ann", comment="start", now=at(0))
    return library


def fresh() -> str:
    """An id that no test has used."""
    return secrets.token_urlsafe(9)


def titles(library: Library, design_id: str = DESIGN) -> list[str]:
    """Title of every revision, the first one first."""
    numbers = [entry.number for entry in library.revisions(design_id)]
    return [library.revision(design_id, number).request["title"] for number in numbers]


# --- saving


def test_a_new_design_reads_back_as_it_was_saved(library):
    content = state("first", customer="Example Motors", price_book="item,amount\r\nx,1\r\n")
    done = library.create(DESIGN, "Training cluster", content, author="Ann", comment="start", now=at(0))
    assert (done.number, done.is_new, done.newer_revisions) == (1, True, ())
    found = library.revision(DESIGN, 1)
    assert found.request == content.request
    assert found.price_book == content.price_book
    assert found.snapshot == content.snapshot
    assert (found.catalog_digest, found.calibration_digest) == (content.catalog_digest, content.calibration_digest)
    assert (found.author, found.comment, found.parent, found.created_at) == ("Ann", "start", None, at(0))
    design = library.design(DESIGN)
    assert (design.name, design.customer, design.is_hidden) == ("Training cluster", "Example Motors", False)
    assert design.newest.number == 1


def test_the_second_of_two_is_told_and_both_are_kept(library):
    created(library)
    library.save(DESIGN, 1, state("Ann's"), author="Ann", comment="more GPUs", now=at(1))
    done = library.save(DESIGN, 1, state("Bob's"), author="Bob", comment="fewer", now=at(2))
    assert (done.number, done.is_new) == (3, True)
    assert [(one.number, one.author, one.comment) for one in done.newer_revisions] == [(2, "Ann", "more GPUs")]
    assert titles(library) == ["first", "Ann's", "Bob's"]
    assert library.revision(DESIGN, 3).parent == 1


def test_a_new_name_leaves_the_revisions_alone(library):
    created(library)
    before = library.revision(DESIGN, 1)
    library.rename(DESIGN, "  another name ")
    assert library.design(DESIGN).name == "another name"
    assert library.revision(DESIGN, 1) == before
    assert [one.id for one in library.search("another").designs] == [DESIGN]
    assert library.search("nothing").n_designs == 0


def test_a_hidden_design_leaves_the_list_and_nothing_else(library):
    created(library)
    library.hide(DESIGN, is_hidden=True)
    assert library.search().n_designs == 0
    assert [one.is_hidden for one in library.search(with_hidden=True).designs] == [True]
    assert library.revision(DESIGN, 1).number == 1
    library.hide(DESIGN, is_hidden=False)
    assert library.search().n_designs == 1


def test_times_are_kept_in_utc(library):
    berlin = timezone(timedelta(hours=2))
    library.create(DESIGN, "x", answered(), author="", comment="", now=datetime(2026, 7, 1, 1, 30, tzinfo=berlin))
    kept = library.revisions(DESIGN)[0].created_at
    assert kept.isoformat() == "2026-06-30T23:30:00+00:00"
    with pytest.raises(ValueError, match="time zone"):
        library.save(DESIGN, 1, state("y"), author="", comment="", now=datetime(2026, 7, 1))  # noqa: DTZ001


# --- search


def test_the_list_is_paged_and_the_last_saved_comes_first(library):
    for number in range(25):
        library.create(
            f"design-{number:04}", f"name {number}", state(f"{number}"), author="", comment="", now=at(number)
        )
    library.save("design-0003", 1, state("again"), author="", comment="", now=at(100))
    pages = [library.search(page=page, per_page=10) for page in range(4)]
    assert [page.n_designs for page in pages] == [25] * 4
    listed = [design.id for page in pages for design in page.designs]
    rest = [f"design-{number:04}" for number in range(24, -1, -1) if number != 3]
    assert listed == ["design-0003", *rest]


@pytest.mark.parametrize(
    "words",
    ["müller", "MÜLLER", "Müller straße", "MÜLLER STRASSE", "example", "V225G", "resnet-50 example", "hnas", "  "],
)
def test_a_search_looks_at_name_customer_and_parts_whatever_the_case(library, words):
    created(library, name="Müller Straße", customer="Example Motors")
    assert library.search(words).n_designs == 1


@given(name=TEXTS, other=TEXTS, words=TEXTS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_a_search_finds_exactly_the_designs_that_hold_every_word(shared, name, other, words):
    assume(name.strip() and other.strip())
    ids = {fresh(): name, fresh(): other}
    for design_id, text in ids.items():
        shared.create(design_id, text, answered(), author="", comment="", now=at(0))
    found = {design.id for design in shared.search(words, per_page=100_000).designs}
    parts = normalized(" ".join(answered().parts))
    for design_id, text in ids.items():
        held = all(word in normalized(text) or word in parts for word in normalized(words).split())
        assert (design_id in found) == held
        shared.hide(design_id, is_hidden=True)


# --- what people type


@given(name=TEXTS, author=TEXTS, comment=TEXTS, title=st.text(max_size=40))
@settings(max_examples=40)
def test_every_text_comes_back(shared, name, author, comment, title):
    assume(name.strip())
    design_id = fresh()
    shared.create(design_id, name, state("x"), author=author, comment=comment, now=at(0))
    design = shared.design(design_id)
    assert (design.name, design.newest.author, design.newest.comment) == (name.strip(), author.strip(), comment.strip())


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udfff"])
def test_characters_that_no_database_keeps_are_refused(library, text):
    created(library)
    for attempt in (
        lambda: library.create(fresh(), text, state("x"), author="", comment="", now=at(0)),
        lambda: library.create(fresh(), "x", state("x", customer=text), author="", comment="", now=at(0)),
        lambda: library.save(DESIGN, 1, state("x"), author=text, comment="", now=at(0)),
        lambda: library.save(DESIGN, 1, state("x"), author="", comment=text, now=at(0)),
        lambda: library.rename(DESIGN, text),
    ):
        with pytest.raises(LibraryError, match="contains a character that cannot be stored"):
            attempt()
    assert library.search(text).n_designs <= 1
    assert len(library.revisions(DESIGN)) == 1


def test_a_nul_inside_the_request_itself_is_kept(library):
    content = answered()
    content = type(content)(**{**vars(content), "request": {**content.request, "title": "a\0b \ud800"}})
    library.create(DESIGN, "x", content, author="", comment="", now=at(0))
    assert library.revision(DESIGN, 1).request == content.request


def test_a_price_book_with_a_nul_is_refused(library):
    with pytest.raises(LibraryError, match="price book contains a NUL"):
        library.create(DESIGN, "x", state("x", price_book="a\0"), author="", comment="", now=at(0))


@pytest.mark.parametrize(
    ("name", "comment", "words"),
    [
        ("", "", "the name is empty"),
        (" \n ", "", "the name is empty"),
        ("x" * (MAX_NAME + 1), "", f"the name has {MAX_NAME + 1} characters"),
        ("x", "y" * (MAX_COMMENT + 1), "the comment has"),
    ],
)
def test_texts_have_limits(library, name, comment, words):
    with pytest.raises(LibraryError, match=words):
        library.create(DESIGN, name, state("x"), author="", comment=comment, now=at(0))
    assert library.search(with_hidden=True).n_designs == 0


# --- what does not exist


@pytest.mark.parametrize(
    "design_id", ["", "short", "x" * 65, "no/slash/in/it", "' OR 1=1 --", "../../etc/passwd", "ü" * 9]
)
def test_what_is_no_id_is_told(library, design_id):
    for attempt in (library.design, library.revisions):
        with pytest.raises(LibraryError, match="not a design id"):
            attempt(design_id)
    with pytest.raises(LibraryError, match="not a design id"):
        library.revision(design_id, 1)


def test_an_unknown_design_is_told(library):
    for attempt in (
        lambda: library.design("unknown-design"),
        lambda: library.revisions("unknown-design"),
        lambda: library.save("unknown-design", 1, state("x"), author="", comment="", now=at(0)),
        lambda: library.rename("unknown-design", "x"),
        lambda: library.hide("unknown-design", is_hidden=True),
    ):
        with pytest.raises(LibraryError, match="the library has no such design"):
            attempt()


@pytest.mark.parametrize("number", [-1, 0, 2, 10**6, 10**7, 10**30])
def test_an_unknown_revision_is_told(library, number):
    created(library)
    with pytest.raises(LibraryError, match=r"no revision|does not exist"):
        library.revision(DESIGN, number)
    with pytest.raises(LibraryError, match="to base this one on"):
        library.save(DESIGN, number, state("x"), author="", comment="", now=at(0))


def test_an_id_is_given_once(library):
    created(library)
    with pytest.raises(LibraryError, match="already has a design with this id"):
        library.create(DESIGN, "x", state("x"), author="", comment="", now=at(0))
    assert titles(library) == ["first"]


# --- laws over many steps


@given(steps=st.lists(st.tuples(st.sampled_from(["save", "stale"]), st.integers(0, 9)), max_size=12))
@settings(max_examples=25)
def test_whatever_is_done_no_revision_is_lost_or_changed(shared, steps):
    design_id = fresh()
    shared.create(design_id, "d", state("0"), author="", comment="", now=at(0))
    kept = ["0"]
    for number, (what, pick) in enumerate(steps, start=1):
        old = pick % len(kept) + 1
        base = len(kept) if what == "save" else old
        name = str(pick)
        done = shared.save(design_id, base, state(name), author="", comment="", now=at(number))
        assert [one.number for one in done.newer_revisions] == list(range(base + 1, len(kept) + 1))
        assert done.is_new == (name not in (kept[-1], kept[base - 1]))
        kept += [name] if done.is_new else []
    assert titles(shared, design_id) == kept
    assert [entry.number for entry in shared.revisions(design_id)] == list(range(1, len(kept) + 1))
