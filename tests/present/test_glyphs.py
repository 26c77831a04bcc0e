"""Names in any script: what cannot be drawn is seen and told, what turns a line is kept apart."""

import dataclasses
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from sizer.guide.profile import PLAIN, Profile
from sizer.guide.user_texts import remark_on_glyphs, user_texts
from sizer.present.fonts import glyphs
from sizer.present.fonts.files import FONTS, WEB_RANGES
from sizer.present.fonts.glyphs import MARK, drawable, missing_glyphs, readable
from sizer.present.fonts.pango import weasyprint_state
from tests import factories

HEBREW, ARABIC, CHINESE, EMOJI = "שלום", "مرحبا", "山田", "\U0001f600"
pytestmark = pytest.mark.pdf


@pytest.fixture(autouse=True)
def _engine():
    if weasyprint_state() is not None:
        pytest.skip(str(weasyprint_state()))


@pytest.fixture
def no_other_font(monkeypatch):
    """A machine that has only the shipped fonts."""
    monkeypatch.setattr(glyphs, "letters_without_font", lambda letters: tuple(sorted(letters)))


# --- what can be drawn


def test_the_mark_and_plain_letters_are_in_every_shipped_font():
    letters = glyphs.shipped_letters()
    assert ord(MARK) in letters
    sure = {code for first, last in WEB_RANGES for code in range(first, last + 1) if glyphs._LATIN.fullmatch(chr(code))}
    assert sure - letters == set()
    assert len(FONTS) == 3


def test_western_greek_and_cyrillic_names_are_drawn():
    names = ["Müller & Söhne", "Łódź", "Завод", "Αθήνα", "52\u202f300 ± 1\u202f900", "e\u0301", "5 → 6 ≤ 7 ≈ Ω"]
    assert missing_glyphs(names) == ()


def test_other_scripts_need_another_font(no_other_font):
    assert set(missing_glyphs([f"{HEBREW} {ARABIC} {CHINESE} {EMOJI}"])) == set(HEBREW + ARABIC + CHINESE + EMOJI)


def test_what_has_no_shape_is_not_missing(no_other_font):
    # Zero-width and soft characters, joiners, variation selectors, tags: Unicode, Default_Ignorable_Code_Point.
    assert missing_glyphs(["a\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f\u034f\U000e0067b"]) == ()


def test_pango_tells_what_this_machine_draws():
    """Private planes have no letters; a font for Latin is always there: the shipped one."""
    assert glyphs.letters_without_font(frozenset("aé")) == ()
    assert glyphs.letters_without_font(frozenset({"\U000f1234", "\U0010fffd"})) == ("\U000f1234", "\U0010fffd")


def test_a_machine_without_any_font_is_asked_without_harm(tmp_path):
    """Pango ends a process that has no font at all."""
    (tmp_path / "fonts.conf").write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">'
        f"<fontconfig><dir>{tmp_path}/none</dir><cachedir>{tmp_path}/cache</cachedir></fontconfig>"
    )
    code = (
        f"from sizer.present.fonts.glyphs import missing_glyphs; print(len(missing_glyphs(['{CHINESE} {HEBREW} é'])))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")},
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, str(len(CHINESE + HEBREW))), done.stderr


# --- a page


def test_what_cannot_be_drawn_prints_as_a_mark_and_stays_in_the_metadata(no_other_font):
    page = f'<title>{CHINESE}</title><p title="{CHINESE}">{CHINESE} AG</p><svg><text>{CHINESE}</text></svg>'
    assert drawable(page) == (
        f'<title>{CHINESE}</title><p title="{CHINESE}">{MARK}{MARK} AG</p><svg><text>{MARK}{MARK}</text></svg>'
    )
    assert drawable("<p>Müller</p>") == "<p>Müller</p>"


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (f"{HEBREW} 2019", f"<bdi>{HEBREW}</bdi> 2019"),
        (f"Acme ({ARABIC}), 12", f"Acme (<bdi>{ARABIC}</bdi>), 12"),
        # One name of several words is one run, numbers inside included.
        (f"{HEBREW} 24 {ARABIC}!", f"<bdi>{HEBREW} 24 {ARABIC}</bdi>!"),
        (f"{HEBREW} ({ARABIC})", f"<bdi>{HEBREW} ({ARABIC})</bdi>"),
        (f"{HEBREW} GmbH {HEBREW}", f"<bdi>{HEBREW}</bdi> GmbH <bdi>{HEBREW}</bdi>"),
        (f"{HEBREW} &amp; {HEBREW}", f"<bdi>{HEBREW}</bdi> &amp; <bdi>{HEBREW}</bdi>"),
        (CHINESE, CHINESE),
    ],
)
def test_text_that_runs_from_right_to_left_is_set_apart(text, page):
    assert readable(f"<p>{text}</p>") == f"<p>{page}</p>"


@pytest.mark.parametrize(
    "code", [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x200E, 0x200F, 0x061C]
)
def test_marks_that_turn_a_line_go(code):
    """All of Bidi_Control (Unicode, PropList): 'invoice\\u202egpj.exe' must not read 'invoiceexe.jpg'."""
    assert unicodedata.bidirectional(chr(code)) in (
        "LRE",
        "RLE",
        "PDF",
        "LRO",
        "RLO",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
        "L",
        "R",
        "AL",
    )
    assert readable(f"<p>invoice{chr(code)}gpj.exe</p>") == "<p>invoicegpj.exe</p>"


def test_control_characters_halves_and_line_ends_go():
    assert readable("<p>a\x00b\x1bc\x85d\ud800e\uffff\u2028f</p>\n") == "<p>abcde f</p>\n"


def test_a_page_of_many_such_letters_takes_no_long_time():
    page = f"<p>{'א(' * 50_000}{'א1 ' * 50_000}</p>"
    assert readable(page).count("<bdi>") == 1


# --- what the user is told


def test_every_text_of_a_user_is_looked_at(no_other_font):
    result = factories.nine_dgx1()
    assert remark_on_glyphs(result, PLAIN) == ""
    assert "the company's name" in remark_on_glyphs(result, Profile(company=CHINESE))
    assert "the profile" in remark_on_glyphs(result, Profile(legal=CHINESE))
    request = result.request
    quote = request.quote.model_copy(update={"number": CHINESE})
    workload = request.workload[0].model_copy(update={"name": HEBREW})
    changed = request.model_copy(update={"title": EMOJI, "quote": quote, "workload": (workload,)})
    told = remark_on_glyphs(dataclasses.replace(result, request=changed), PLAIN)
    assert "the title, the workloads' names and the quote" in told
    changed = request.model_copy(update={"customer": CHINESE})
    assert user_texts(dataclasses.replace(result, request=changed), PLAIN)["the customer's name"] == CHINESE
