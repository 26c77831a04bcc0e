"""The forms of the guide: looks, metadata, attachments, hostile texts, and what a page may load."""

import dataclasses
import io
import json
import re
import zlib
from pathlib import Path

import pytest

from sizer import documents
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.guide.pdf import render, typeset
from sizer.guide.pdf.typeset import clean_name
from sizer.guide.profile import Edition, Profile
from tests import factories
from tests.cli.running import refused, run
from tests.guide.engine import needs_engine

HOSTILE = "<script>alert(1)</script>{{7*7}}"


@pytest.fixture
def drawn_here(monkeypatch):
    """Documents drawn in this process, where a test can put something in place of the engines."""
    monkeypatch.setattr(documents, "apart", lambda function, *given, progress=None: function(*given, progress or len))


def unpacked(pdf: bytes) -> bytes:
    """Bytes of a PDF with all its packed streams opened, pictures and fonts included."""
    parts = [pdf]
    for found in re.finditer(rb"stream\r?\n", pdf):
        try:
            parts.append(zlib.decompressobj().decompress(pdf[found.end() :]))
        except zlib.error:
            continue
    return b"\n".join(parts)


# --- editions


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("design.json", "design.json"),
        ("../../etc/passwd", "passwd"),
        ("C:\\secrets\\a b.xlsx", "a-b.xlsx"),
        ("<b>\u202e山.json", "b-.json"),
        ("..", "file"),
        ("", "file"),
        ("x" * 200 + ".json", "x" * 75 + ".json"),
    ],
)
def test_attachments_have_plain_names(name, clean):
    assert clean_name(name) == clean


# --- the summary: the cheapest real document


@pytest.fixture(scope="module")
def branded() -> Profile:
    """A profile with everything, on the American sheet."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (60, 20), "#8a1c1c").save(stream, format="PNG")
    text = f"""
company = "Muster <b>& Söhne</b>"
accent = "#8a1c1c"
banner = "#102040"
legal = "Not an offer. {HOSTILE}"
confidentiality = "Confidential"
contact = "sales@example.org"
paper = "letter"
locale = "en-US"
"""
    return Profile.from_text(text, logo=stream.getvalue())


@pytest.mark.pdf
def test_summary_is_one_branded_page_with_its_metadata(branded):
    needs_engine()
    import pypdfium2

    words: list[str] = []
    edition, plain = Edition("summary", branded), factories.nine_dgx1()
    customer = f"{HOSTILE} 山田 שלום (مرحبا)"
    result = dataclasses.replace(plain, request=plain.request.model_copy(update={"customer": customer}))
    pdf = render.guide_pdf(result, factories.catalog(), edition, progress=words.append)
    assert words == ["writing", "reading", "laying out", "drawing"]
    document = pypdfium2.PdfDocument(pdf)
    try:
        assert len(document) == 1
        assert document[0].get_size() == (612, 792)  # 8.5 by 11 inches
        told = document.get_metadata_dict()
        assert told["Author"] == "Muster <b>& Söhne</b>"
        assert HOSTILE in told["Title"]
        assert "山田 שלום" in told["Title"]  # no font is needed to say it
        assert told["CreationDate"] == told["ModDate"] == "D:20190301"
        assert HOSTILE in document[0].get_textpage().get_text_range().replace("\r\n", "")
    finally:
        document.close()
    inside = unpacked(pdf)
    assert b"<pdfuaid:part>1" in inside or b'pdfuaid:part="1"' in inside
    assert b"/StructTreeRoot" in inside
    assert b"/Lang (en-US)" in inside
    # The same again, but for nothing.
    assert render.guide_pdf(result, factories.catalog(), edition) == pdf


@pytest.mark.guides
@pytest.mark.pdf
def test_an_archive_holds_its_data(branded):
    needs_engine()
    import pypdfium2

    files = {"design.json": b'{"kind": "design"}', "../bom.xlsx": b"PK"}
    edition = Edition("summary", is_archive=True)
    pdf = render.guide_pdf(factories.nine_dgx1(), factories.catalog(), edition, files)
    document = pypdfium2.PdfDocument(pdf)
    try:
        found = [document.get_attachment(number) for number in range(document.count_attachments())]
        got = {one.get_name(): bytes(one.get_data()) for one in found}
        assert got == {"design.json": b'{"kind": "design"}', "bom.xlsx": b"PK"}
        assert document[0].get_size() == pytest.approx((595.28, 841.89), abs=0.01)  # ISO 216, A4
    finally:
        document.close()
    inside = unpacked(pdf)
    for said in (
        b'pdfaid:part="3"',
        b'pdfaid:conformance="B"',
        b"/AFRelationship /Source",
        b"/AFRelationship /Data",
        b"/application#2fjson",
        b"/application#2fvnd.openxmlformats-officedocument.spreadsheetml.sheet",
        b"D:20190301000000Z",
        b"/OutputIntents",
    ):
        assert said in inside, said
    assert render.guide_pdf(factories.nine_dgx1(), factories.catalog(), edition, files) == pdf
    plain = render.guide_pdf(factories.nine_dgx1(), factories.catalog(), Edition("summary", is_archive=True))
    assert b"/EmbeddedFile" not in unpacked(plain)


# --- the set of documents


def test_a_machine_without_the_engine_says_so_once(tmp_path, monkeypatch, drawn_here):
    monkeypatch.setattr(documents, "guide_page", lambda *_: "page")
    monkeypatch.setattr(typeset, "weasyprint_state", lambda: "PDFs need the Pango library.")
    paths, remark = documents.write_documents(
        factories.one_c4140(), factories.catalog(), tmp_path, ("csv", "pdf", "engineer", "summary", "archive")
    )
    assert [path.name for path in paths] == ["bom.csv"]
    assert remark == "PDFs need the Pango library."


def test_a_customer_gets_no_engineers_file(tmp_path, monkeypatch, drawn_here):
    monkeypatch.setattr(documents, "guide_page", lambda *_: "page")
    monkeypatch.setattr(documents, "page_pdf_apart", lambda *_: b"%PDF")
    monkeypatch.setattr(documents, "guide_html", lambda *_: "")
    paths, _ = documents.write_documents(factories.one_c4140(), factories.catalog(), tmp_path, customer_copy=True)
    assert "engineers-file.pdf" not in {path.name for path in paths}
    assert len(paths) == len(documents.USUAL) - 1
    refused = "engineer: a customer copy has no engineer's file"
    with pytest.raises(RequestError, match=refused):
        documents.known_kinds(["pdf", "engineer"], customer_copy=True)
    with pytest.raises(RequestError, match=refused):
        documents.document(factories.one_c4140(), factories.catalog(), "engineer", customer_copy=True)


def test_unknown_documents_are_refused():
    with pytest.raises(RequestError, match=r"--formats: unknown document 'pfd'; did you mean 'pdf'\?; known: design,"):
        documents.known_kinds(["xlsx", "pfd"], "--formats")
    with pytest.raises(RequestError, match="names no document"):
        documents.known_kinds([])
    assert documents.known_kinds(["pdf", "csv", "pdf"]) == ("pdf", "csv")


# --- the command line

EXAMPLE = data_dir("examples") / "dgx1-f800-resnet50.toml"


def test_what_to_write_is_checked_before_the_work(tmp_path: Path):
    unknown = run("size", EXAMPLE, "--out", tmp_path / "out", "--formats", "pdf,bill")
    refused(unknown, 2, "sizer: --formats: unknown document 'bill'", "known: design, xlsx")
    refused(run("size", EXAMPLE, "--archive"), 2, "--out")
    (tmp_path / "profile.toml").write_text('accent = "#FFFF00"\nlogo = "../x.png"\n')
    refused(run("size", EXAMPLE, "--profile", tmp_path / "profile.toml"), 2, "profile.toml: accent: '#FFFF00'")
    assert not (tmp_path / "out").exists()


def test_documents_are_chosen_branded_and_free_of_internals(tmp_path: Path):
    (tmp_path / "profile.toml").write_text('company = "Other Ltd"\n')
    done = run(
        *("size", EXAMPLE, "--out", tmp_path / "out", "--formats", "csv, design", "--json"),
        *("--profile", tmp_path / "profile.toml", "--customer-copy"),
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bom.csv", "design.json"}
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "design.json").read_text())
    (tmp_path / "profile.toml").write_text('customer = "Other Ltd"\n')
    wrong = run("size", EXAMPLE, "--out", tmp_path / "none", "--profile", tmp_path / "profile.toml")
    refused(wrong, 2, "unknown key 'customer'; it is now customer, of the request file")
    assert not (tmp_path / "none").exists()
