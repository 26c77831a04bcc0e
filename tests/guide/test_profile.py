"""Profiles: what they may say, and logos from people who mean harm."""

import base64
import dataclasses
import io
import json
import re
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from sizer import documents
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.drawings.palette import LIGHT
from sizer.guide.pdf import render, set_page
from sizer.guide.pdf.typeset import clean_name
from sizer.guide.profile import LOGO_PX, Edition, Profile
from sizer.present.theme import contrast_ratio, css_variables
from tests import factories
from tests.cli.running import refused, run
from tests.guide.engine import guide_pdf, needs_engine


def picture(size: tuple[int, int] = (300, 100), kind: str = "PNG", mode: str = "RGB", **more: object) -> bytes:
    """File of one colour."""
    stream = io.BytesIO()
    Image.new(mode, size, 90).save(stream, format=kind, **more)
    return stream.getvalue()


def decoded(uri: str) -> Image.Image:
    """Picture of a data URI."""
    head, _, data = uri.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def folder_with(folder: Path, logo: bytes | None, text: str = 'logo = "logo.png"\n') -> Path:
    """Profile file in a folder of its own, beside its logo."""
    (folder / "brand").mkdir()
    if logo is not None:
        (folder / "brand" / "logo.png").write_bytes(logo)
    (folder / "brand" / "profile.toml").write_text(text, encoding="utf-8")
    return folder / "brand" / "profile.toml"


def refusal(text: str, **more: object) -> str:
    """What a refused profile is told."""
    with pytest.raises(RequestError) as error:
        Profile.from_text(text, **more)
    return str(error.value)


# --- fields


def test_a_profile_is_read_with_its_logo(tmp_path):
    path = folder_with(
        tmp_path,
        picture(),
        'company = "Muster & Söhne"\nlogo = "logo.png"\naccent = "#8a1c1c"\nbanner = "#102040"\n'
        'legal = """First.\nSecond."""\nconfidentiality = "Confidential"\ncontact = "sales@example.org"\n'
        'paper = "letter"\nlocale = "en-US"\n',
    )
    profile = Profile.from_file(path)
    assert (profile.company, profile.paper, profile.locale) == ("Muster & Söhne", "letter", "en-US")
    assert profile.legal == "First.\nSecond."
    assert (profile.accent, profile.palette.accent, profile.banner) == ("#8A1C1C", "#8A1C1C", "#102040")
    assert decoded(profile.logo_uri).size == (300, 100)
    assert Profile.from_file(path) == profile


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('compny = "A"', ["profile: unknown key 'compny'", "did you mean 'company'?"]),
        ('paper = "a3"', ["paper = 'a3' is not one of 'a4' or 'letter'"]),
        ('locale = "xx-XX"', ["locale: 'xx-XX' is not one of en-GB, en-US"]),
        ('accent = "teal"', ["accent: 'teal' is not a colour"]),
        ('accent = "#0B6E7"', ["'#0B6E7' is not a colour"]),
        ("accent = 7", ["accent = 7"]),
        # WCAG 2.1: yellow #FFFF00 has a luminance of 0.9278, so 1.05 / 0.9778 = 1.07.
        ('accent = "#FFFF00"', ["contrast of 1 : 1 with white", "4.5 : 1", "darker"]),
        # #777777 is the well-known grey just short of 4.5 (4.478).
        ('banner = "#777777"', ["banner: '#777777' has a contrast of 4.4 : 1 with white"]),
        ('company = "A\\u0007B"', ["company", "control character U+0007 (character 2)"]),
        ('customer = "Other Ltd"', ["unknown key 'customer'", "customer, of the request file"]),
        ('company = "A\\nB"', ["company", "single line"]),
        ('legal = "ends\\u0000"', ["legal", "U+0000"]),
        (f'company = "{"x" * 121}"', ["company", "at most 120"]),
        (f'legal = "{"x" * 2001}"', ["legal", "at most 2000"]),
        (f'confidentiality = "{"x" * 41}"', ["confidentiality", "at most 40"]),
        ("company = ", ["profile: is not valid TOML"]),
        ('title = "x"\npaper = "a3"', ["unknown key 'title'", "paper = 'a3'"]),
        ('_logo_uri = "data:image/png;base64,AAAA"', ["unknown key '_logo_uri'"]),
        ('logo = "logo.png"', ["logo = 'logo.png'"]),
        ('company = "' + "x" * 100_000 + '"', ["limit of 100000"]),
    ],
)
def test_a_faulty_profile_is_told_what_is_allowed(text, said):
    message = refusal(text)
    for words in said:
        assert words in message


def test_a_grey_just_dark_enough_is_taken():
    # WCAG 2.1: #767676 is the lightest grey with 4.5 : 1 on white (4.54).
    assert contrast_ratio("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)
    assert contrast_ratio("#000000", "#FFFFFF") == pytest.approx(21)
    assert Profile.from_text('accent = "#767676"').accent == "#767676"


def test_files_that_are_no_profiles(tmp_path):
    for name, content, said in (
        ("profile.json", b"{}", "a profile is a .toml file"),
        ("binary.toml", b"\xff\xfe", "UTF-8"),
        ("large.toml", b"#" * 100_001, "large.toml: is larger"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RequestError, match=said):
            Profile.from_file(tmp_path / name)
    with pytest.raises(RequestError, match="cannot be read"):
        Profile.from_file(tmp_path / "missing.toml")
    with pytest.raises(RequestError, match="expected keys"):
        Profile.from_dict(["company"])


def test_colours_and_paper_reach_the_style_sheet():
    profile = Profile.from_text('accent = "#8a1c1c"\nbanner = "#102040"\npaper = "letter"')
    style = css_variables(profile.palette, profile.banner, profile.paper)
    # ANSI letter: 8.5 by 11 inches.
    for line in ("--accent: #8A1C1C;", "--banner: #102040;", "--page-width: 215.9mm;", "--page-height: 279.4mm;"):
        assert line in style


@pytest.mark.parametrize("banner", [LIGHT.ink, "#000000", "#0000FF", "#767676", "#5A5A5A", "#8A1C1C"])
def test_quiet_text_on_the_band_can_be_read(banner):
    colour = re.search(r"--banner-muted: (#[0-9A-F]{6});", css_variables(banner=banner))
    assert contrast_ratio(colour[1], banner) >= 4.5  # WCAG 2.1, 1.4.3


# --- logos


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_pictures_of_pixels_become_png(kind):
    assert decoded(Profile.from_text("", logo=picture(kind=kind)).logo_uri).size == (300, 100)


def test_a_logo_keeps_its_clear_parts_and_loses_all_else():
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "taken at home")
    clear = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    stream = io.BytesIO()
    clear.save(stream, format="PNG", pnginfo=notes, dpi=(300, 300), icc_profile=b"profile")
    logo = decoded(Profile.from_text("", logo=stream.getvalue()).logo_uri)
    logo.load()
    assert (logo.mode, logo.info) == ("RGBA", {})
    assert logo.getpixel((3, 3))[3] == 0


def test_a_large_logo_is_made_smaller_and_an_animation_stands_still():
    assert decoded(Profile.from_text("", logo=picture((4000, 1000))).logo_uri).size == (LOGO_PX, 300)
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "blue")]
    stream = io.BytesIO()
    frames[0].save(stream, format="GIF", save_all=True, append_images=frames[1:])
    logo = decoded(Profile.from_text("", logo=stream.getvalue()).logo_uri)
    assert logo.getpixel((1, 1)) == (255, 0, 0)
    assert getattr(logo, "n_frames", 1) == 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "CMYK"])
def test_every_colour_mode_can_be_read(mode):
    kind = "JPEG" if mode == "CMYK" else "PNG"
    assert decoded(Profile.from_text("", logo=picture((30, 10), kind, mode)).logo_uri).size == (30, 10)


def bomb(width: int, height: int) -> bytes:
    """PNG whose head promises many pixels and whose data is a few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "is an SVG drawing, which can contain scripts"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><!DOCTYPE svg><svg/>', "is an SVG drawing"),
        (b"", "is not a PNG, JPEG, WebP or GIF image"),
        (b"%PDF-1.7", "is not a PNG, JPEG, WebP or GIF image"),
        (picture(kind="BMP"), "is not a PNG, JPEG, WebP or GIF image"),
        (picture(kind="TIFF"), "is not a PNG, JPEG, WebP or GIF image"),
        (picture((400, 400), "JPEG")[:700], "is a damaged image"),
        (picture((400, 400), mode="RGB")[:-40], "is a damaged image"),
        (picture((4001, 10)), "has 4001 × 10 pixels; the limit is 4000 × 4000"),
        (bomb(9_000, 9_000), "has 9000 × 9000 pixels; the limit is 4000 × 4000"),
        (bomb(12_000, 12_000), "has over 80 million pixels; the limit is 4000 × 4000"),
        (bomb(60_000, 60_000), "has over 80 million pixels; the limit is 4000 × 4000"),
        (bomb(4_000, 4_000), "is a damaged image"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 10_000_000, "is 10.0 MB; the limit is 2 MB"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else f"{len(value)} bytes",
)
def test_a_harmful_logo_is_refused_in_one_sentence(tmp_path, data, said):
    message = refusal("", logo=data)
    assert said in message
    assert "\n" not in message
    with pytest.raises(RequestError) as error:
        Profile.from_file(folder_with(tmp_path, data))
    assert f"profile.toml: logo = 'logo.png' {said}" in str(error.value)


def test_cut_off_pictures_are_refused_also_after_weasyprint_allowed_them(monkeypatch):
    from PIL import ImageFile

    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert "is a damaged image" in refusal("", logo=picture((400, 400), "JPEG")[:700])
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


@pytest.mark.parametrize(
    "name",
    ["../secret.png", "a/../../secret.png", "../../etc/passwd", "/etc/passwd", "C:\\\\x.png", "..\\\\x.png", "//h/x"],
)
def test_a_logo_lies_inside_the_profiles_folder(tmp_path, name):
    (tmp_path / "secret.png").write_bytes(picture())
    with pytest.raises(RequestError, match="is not a path inside the profile's folder"):
        Profile.from_file(folder_with(tmp_path, None, f'logo = "{name}"'))


def test_no_link_leads_out_of_the_folder(tmp_path):
    (tmp_path / "secret.png").write_bytes(picture())
    path = folder_with(tmp_path, None)
    link = path.parent / "logo.png"
    link.symlink_to(tmp_path / "secret.png")
    with pytest.raises(RequestError, match="is outside the profile's folder"):
        Profile.from_file(path)
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(RequestError, match="cannot be read"):
        Profile.from_file(path)
    link.unlink()
    link.mkdir()
    with pytest.raises(RequestError, match="is not a file"):
        Profile.from_file(path)
    link.rmdir()
    with pytest.raises(RequestError, match="cannot be read"):
        Profile.from_file(path)
    # A link that stays inside is as good as a copy.
    (path.parent / "real.png").write_bytes(picture())
    link.symlink_to(path.parent / "real.png")
    assert Profile.from_file(path).logo_uri


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
    pdf = guide_pdf(result, factories.catalog(), edition, progress=words.append)
    assert words == ["reading", "laying out", "drawing"]
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
    assert guide_pdf(result, factories.catalog(), edition) == pdf


@pytest.mark.guides
@pytest.mark.pdf
def test_an_archive_holds_its_data(branded):
    needs_engine()
    import pypdfium2

    files = {"design.json": b'{"kind": "design"}', "../bom.xlsx": b"PK"}
    edition = Edition("summary", is_archive=True)
    pdf = guide_pdf(factories.nine_dgx1(), factories.catalog(), edition, files)
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
    assert guide_pdf(factories.nine_dgx1(), factories.catalog(), edition, files) == pdf
    plain = guide_pdf(factories.nine_dgx1(), factories.catalog(), Edition("summary", is_archive=True))
    assert b"/EmbeddedFile" not in unpacked(plain)


# --- the set of documents


def test_a_machine_without_the_engine_says_so_once(tmp_path, monkeypatch, drawn_here):
    monkeypatch.setattr(render, "guide_page", lambda *_: "page")
    monkeypatch.setattr(set_page, "weasyprint_state", lambda: "PDFs need the Pango library.")
    paths, remark = documents.write_documents(
        factories.one_c4140(), factories.catalog(), tmp_path, ("csv", "pdf", "engineer", "summary", "archive")
    )
    assert [path.name for path in paths] == ["bom.csv"]
    assert remark == "PDFs need the Pango library."


def test_a_customer_gets_no_engineers_file(tmp_path, monkeypatch, drawn_here):
    monkeypatch.setattr(render, "guide_page", lambda *_: "page")
    monkeypatch.setattr(documents, "set_page", lambda *_: b"%PDF")
    monkeypatch.setattr(render, "guide_html", lambda *_: "")
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
