"""Page Document: branding, and every file by its name."""

import io
import json
import threading
import tomllib
import zipfile
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from PIL import Image

from sizer.documents import FORMATS
from sizer.guide.profile import PLAIN, Profile
from sizer.ui.app_server import turns
from sizer.ui.document import branding
from sizer.ui.document.page import DocumentSource, FileCache
from tests.factories.examples import catalog, sized
from tests.ui.pages import assert_healthy, html_of, opened, run_healthy, said, to_page, widget

# Every format but the archive, the web page and the drawings, which take seconds.
QUICK = ("xlsx", "csv", "csv-semicolon", "cables", "addresses", "netbox", "design")


def document(branding_open: bool = False):
    app = opened("document")
    return with_branding(app) if branding_open else app


def with_branding(app):
    """The same page with the branding unfolded; AppTest folds it again on every run, which a browser does not."""
    app.session_state.branding = True
    return app.run()


def png(width: int = 300, height: int = 80) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), "#0B6E75").save(stream, "PNG")
    return stream.getvalue()


def downloads(app) -> dict[str, Any]:
    return {one.proto.label: one.proto for one in app.get("download_button")}


def button(app, label: str):
    return widget(app.button, label)


# --- files


def order(**fields: Any) -> DocumentSource:
    return replace(DocumentSource(sized("small-team"), catalog(), PLAIN, False, "key", cache=FileCache()), **fields)


def test_all_files_stand_in_one_list_and_the_guide_is_the_main_one():
    app = document()
    found = downloads(app)
    assert len(found) == len(FORMATS), "a download for every format, and none twice"
    assert [label for label, proto in found.items() if proto.type == "primary"] == ["Guide, PDF"]


@pytest.mark.parametrize("kind", QUICK)
def test_a_file_is_made_in_a_thread_that_has_no_session(kind):
    asked, made = order(), []
    thread = threading.Thread(target=lambda: made.append(turns.for_session(partial(asked.file, kind))()))
    thread.start()
    thread.join()
    assert made[0]
    assert asked.cache.get(asked.key_of(kind)) is made[0], "the next who asks gets the same bytes"


def test_files_of_one_design_share_the_start_of_their_names():
    asked = order(revision="r3")
    name = asked.name("xlsx")
    assert name.startswith("a-small-team_")
    assert name.endswith("_r3_2026-11-21.bom.xlsx")
    assert asked.zip_name == name.replace("bom.xlsx", "files.zip")


def test_a_zip_has_every_file_under_its_name_and_tells_what_it_makes():
    asked, told = order(), []
    content = asked.all_files(QUICK, lambda file, word: told.append((file, word)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == [asked.name(kind) for kind in QUICK]
        assert archive.testzip() is None
        design = next(name for name in archive.namelist() if name.endswith(".design.json"))
        assert json.loads(archive.read(design))["kind"] == "design"
    assert [file for file, word in told if not word] == [FORMATS[kind] for kind in QUICK]


def test_with_the_customer_view_every_file_is_the_customers_copy():
    app = opened()
    app.session_state.customer_mode = True
    to_page(app, "document")
    assert "Engineer's file, PDF" not in downloads(app)
    assert "Customer copies: " in " ".join(html_of(app))


def test_without_the_pdf_engine_the_page_says_so_and_offers_the_rest(monkeypatch):
    monkeypatch.setattr("sizer.ui.document.page.weasyprint_state", lambda: "PDFs need the Pango library; install it.")
    app = document()
    assert_healthy(app)
    assert any("Pango" in one.value for one in app.info)
    assert "Guide, PDF" not in downloads(app)
    assert "Guide, web page" in downloads(app)


# --- branding


def test_the_profile_is_typed_in_kept_and_downloaded():
    app = document(branding_open=True)
    widget(app.text_input, "Company").set_value("Example Integrator <b>")
    widget(app.text_input, "Confidentiality").set_value("Confidential")
    widget(app.color_picker, "Accent colour").set_value("#7a1f1f")
    widget(app.selectbox, "Paper").set_value("letter")
    widget(app.selectbox, "Language and numbers").set_value("en-US")
    widget(app.file_uploader, "Logo: PNG, JPEG, WebP or GIF").set_value(("logo.png", png(), "image/png"))
    run_healthy(button(app, "Apply branding").click())
    assert not app.error, said(app)
    assert app.session_state.profile == {
        "company": "Example Integrator <b>",
        "confidentiality": "Confidential",
        "accent": "#7A1F1F",
        "paper": "letter",
        "locale": "en-US",
    }
    assert app.session_state.profile_logo == png()
    assert "Profile, TOML" in downloads(with_branding(app))
    for page in ("requirements", "bill", "document"):
        assert_healthy(to_page(app, page))
    assert any("Example Integrator \\<b\\>" in one.label for one in app.expander)
    button(with_branding(app), "Reset branding").click().run()
    assert app.session_state.profile == {}
    assert app.session_state.profile_logo == b""


def test_a_bad_field_is_named_and_the_others_are_taken():
    app = document(branding_open=True)
    widget(app.text_input, "Company").set_value("Example Integrator")
    widget(app.color_picker, "Accent colour").set_value("#ffff00")
    run_healthy(button(app, "Apply branding").click())
    assert "Accent colour: '#ffff00' has a contrast of 1 : 1 with white" in said(app)
    assert app.session_state.profile == {"company": "Example Integrator"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "is an SVG drawing"),
        (b"GIF89a no picture", "not a PNG, JPEG, WebP or GIF image"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 2_000_001, "the limit is 2 MB"),
    ],
    ids=["svg", "damaged", "large"],
)
def test_a_bad_logo_is_refused_in_a_sentence(content, words):
    app = document(branding_open=True)
    widget(app.text_input, "Company").set_value("Example Integrator")
    widget(app.file_uploader, "Logo: PNG, JPEG, WebP or GIF").set_value(("x.png", content, "image/png"))
    run_healthy(button(app, "Apply branding").click())
    assert words in said(app)
    assert app.session_state.profile == {"company": "Example Integrator"}
    assert "profile_logo" not in app.session_state


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'compny = "X"', "Unknown key 'compny'; did you mean 'company'?"),
        (b'company = "\xe9"', "not UTF-8"),
        (b"a = " + b"[" * 40_000, "not valid TOML"),
        (b"#" * 100_001, "too large"),
        (b"logo = 3", "Logo: must be the name of a file"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_bad_profile_file_is_refused_and_nothing_of_it_taken(content, words):
    app = document(branding_open=True)
    run_healthy(widget(app.file_uploader, "Profile from a file, TOML").set_value(("x.toml", content, "text/plain")))
    assert words in said(app)
    assert "profile" not in app.session_state
    assert not any("<script" in one.value for one in app.error)


def test_a_profile_file_is_taken_and_asks_for_its_logo():
    app = document(branding_open=True)
    content = b'company = "Example Integrator"\nlogo = "../../etc/passwd"\naccent = "#0B6E75"\n'
    run_healthy(widget(app.file_uploader, "Profile from a file, TOML").set_value(("x.toml", content, "text/plain")))
    assert "upload the image" in said(app)
    assert widget(with_branding(app).text_input, "Company").value == "Example Integrator"


def test_a_profile_written_reads_back_the_same(tmp_path):
    made = Profile.from_dict({"company": 'A "B" é', "legal": "One.\n\nTwo.", "paper": "letter"}, logo=png())
    text = branding.toml_of(made)
    assert tomllib.loads(text)["logo"] == "logo.png"
    (tmp_path / "profile.toml").write_text(text, encoding="utf-8")
    (tmp_path / "logo.png").write_bytes(png())
    read = Profile.from_file(tmp_path / "profile.toml")
    assert read.model_dump(exclude={"logo"}) == made.model_dump(exclude={"logo"})
    assert read.logo_uri == made.logo_uri
    data, faults = branding.read_profile(text.encode())
    assert faults == []
    assert Profile.from_dict({**data, "logo": ""}) == Profile.from_dict({**made.model_dump(), "logo": ""})


def test_a_profile_that_is_older_than_the_program_is_passed_over():
    app = opened()
    app.session_state.profile = {"colour": "red"}
    assert_healthy(to_page(app, "document"))
