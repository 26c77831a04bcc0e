"""Files as they are handed over: their names, the ZIP, and the cache that keeps them."""

import datetime
import io
import os
import signal
import threading
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base import worker_process
from sizer.documents import FORMATS, begin_documents, file_name, pdf_threads, write_documents
from sizer.export.files import file_stem, zipped
from sizer.sizing.result import SizingResult
from sizer.ui.document.page import FileCache
from tests import factories
from tests.factories import examples

TODAY = datetime.date(2026, 11, 22)


def result(**fields: object) -> SizingResult:
    """A result whose request says something else."""
    found = factories.nine_dgx1()
    return replace(found, request=found.request.model_copy(update=fields))


@pytest.mark.parametrize(
    ("kind", "end"),
    [("pdf", "guide.pdf"), ("engineer", "engineers-file.pdf"), ("xlsx", "bom.xlsx"), ("design", "design.json")],
)
def test_a_name_says_customer_design_revision_and_date(kind, end):
    shown = result(customer="Acme Motors", title="Nine DGX-1", date=None)
    assert file_name(shown, kind, "r3", TODAY) == f"acme-motors_nine-dgx-1_r3_2026-11-22.{end}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "customer"),
        ("Müller & Söhne GmbH", "muller-sohne-gmbh"),
        ("Straße 7", "strasse-7"),
        ("株式会社", "customer"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "customer"),
        ("C:\\Windows\\CON", "c-windows-con"),
        ("--force", "force"),
        ("-rf .hidden", "rf-hidden"),
        ("a/b\0c\nd", "a-b-c-d"),
        ("<script>alert(1)</script>", "script-alert-1-script"),
        ("x" * 500, "x" * 40),
        ("ﬁne Ⅳ", "fine-iv"),
    ],
)
def test_a_name_holds_nothing_that_a_path_or_shell_reads(text, name):
    assert file_stem(result(customer=text, title="T", date=TODAY)) == f"{name}_t_draft_2026-11-22"


@given(st.text(max_size=120), st.text(max_size=120), st.text(max_size=60), st.sampled_from(list(FORMATS)))
def test_any_text_makes_a_name_that_every_system_takes(customer, title, revision, kind):
    name = file_name(result(customer=customer, title=title, date=TODAY), kind, revision)
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert name[0] not in ".-_"
    assert len(name) <= 170
    # Windows keeps CON, NUL, COM1 and their like for devices, whatever ending follows.
    assert name.split(".")[0].count("_") == 3


def test_a_zip_holds_its_files_and_is_the_same_every_time():
    files = {"a.txt": b"one", "b.txt": b"two"}
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert archive.testzip() is None
    assert zipped(files) == zipped(files)


def test_a_file_is_made_once_even_when_two_threads_ask():
    cache, made, answers = FileCache(), [], []
    begun = threading.Event()

    def make() -> bytes:
        made.append(threading.get_ident())
        begun.set()
        threading.Event().wait(0.2)
        return b"guide"

    threads = [threading.Thread(target=lambda: answers.append(cache.get_or_make("guide", make))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert answers == [b"guide"] * 4
    assert len(made) == 1


def test_the_file_used_longest_ago_makes_room():
    cache = FileCache(max_bytes=10)
    cache.get_or_make("a", lambda: b"1234")
    cache.get_or_make("b", lambda: b"1234")
    assert cache.get("a") == b"1234"
    cache.get_or_make("c", lambda: b"1234")
    assert cache.get("b") is None
    assert cache.get("a") == cache.get("c") == b"1234"
    cache.get_or_make("large", lambda: b"x" * 50)
    assert cache.get("large") == b"x" * 50, "what was just made is handed over, however large"


@pytest.mark.guides
@pytest.mark.pdf
def test_a_crash_while_a_document_is_drawn_costs_that_document(tmp_path):
    """The process that draws the PDF is killed; files that other processes make are written."""
    killed: list[int] = []

    def kill(file: str, word: str) -> None:
        if (file, word) == ("summary.pdf", "laying out"):
            for worker in [one for one in worker_process._pools[worker_process.PAGES]._all if not one.is_idle]:
                killed.append(worker.process.pid)
                os.kill(worker.process.pid, signal.SIGKILL)

    answer = (examples.sized("small-team"), examples.catalog(), tmp_path, ("csv", "html", "summary"))
    paths, remark = write_documents(*answer, progress=kill)
    assert len(killed) == 1
    assert sorted(path.name for path in paths) == ["bom.csv", "guide.html"] == sorted(os.listdir(tmp_path))
    assert remark.startswith("summary.pdf: the process that draws it ended with signal 9; make it again")
    paths, remark = write_documents(*answer)
    assert (sorted(os.listdir(tmp_path)), remark) == (["bom.csv", "guide.html", "summary.pdf"], "")


def test_an_error_between_answers_ends_what_waits():
    """A command that sizes several requests fails on one: no thread starts a PDF of another any more."""
    started, go_on = threading.Event(), threading.Event()

    def first() -> None:
        started.set()
        go_on.wait(10)

    pending = []

    def interrupted() -> None:
        with pdf_threads() as threads:
            pending.extend(threads.submit(first) for _ in range(worker_process.MOST_WORKERS + 3))
            assert started.wait(10)
            threading.Timer(0.2, go_on.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [one.cancelled() for one in pending[worker_process.MOST_WORKERS :]] == [True] * 3


@pytest.mark.guides
@pytest.mark.pdf
def test_documents_of_two_answers_in_work_at_once_are_those_made_alone(tmp_path):
    kinds = ("summary", "csv", "design")
    names = ("small-team", "c4140-f800")
    with pdf_threads() as threads:
        unfinished = [
            begin_documents(examples.sized(name), examples.catalog(), tmp_path / name, threads, kinds) for name in names
        ]
        written = [one.write() for one in unfinished]
    for name, (paths, remark) in zip(names, written, strict=True):
        alone, _ = write_documents(examples.sized(name), examples.catalog(), tmp_path / "alone" / name, kinds)
        assert remark == ""
        assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in alone]
