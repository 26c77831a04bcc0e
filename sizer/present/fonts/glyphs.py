"""Characters that no font draws, and text that runs from right to left: nothing of a name vanishes or turns a line.

A page is first made readable (:func:`readable`): what has no shape and could turn or break a line goes, and text that
runs from right to left is set apart. A browser has fonts of its own, so only the PDF replaces what this machine cannot
draw (:func:`drawable`).
"""

import ctypes
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from sizer.present.fonts.files import FONTS
from sizer.present.fonts.pango import load_pango, weasyprint_state

# Stands for a character that cannot be drawn; all our fonts have it.
MARK = "□"

# Control characters, halves of a character, code points that are none, and marks that turn the direction of what
# follows: a name with U+202E would print the rest of its line backwards.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\ufffe\uffff]"
)
_LINE_ENDS = re.compile("[\u2028\u2029]")
# Unicode, DerivedCoreProperties, Default_Ignorable_Code_Point: they have no shape of their own.
_SHAPELESS = re.compile(
    "[\t\n\r\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Letters of the scripts that run from right to left: Hebrew to Arabic Extended, their presentation forms, and those of
# the supplementary plane (Unicode, DerivedBidiClass: R and AL).
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
# A run of them, with blanks, digits and signs between, but not around; then brackets that may close some inside.
_RUN = re.compile(f"([{_RIGHT_TO_LEFT}](?:[^<>&A-Za-z\u00c0-\u058f\n]*[{_RIGHT_TO_LEFT}])?)([)\\]}}]*)")
# What of a page is no text to be read in a line: tags, style, title; drawings place every label by themselves.
_NO_TEXT = re.compile(r"(<style\b.*?</style>|<title\b.*?</title>|<svg\b.*?</svg>|<[^>]*>)", re.DOTALL)
_TAGS = re.compile(r"(<style\b.*?</style>|<title\b.*?</title>|<[^>]*>)", re.DOTALL)
# Letters that our fonts are known to have; pages without any other need no look into the fonts.
_LATIN = re.compile("[\\n -~\xa0-\xac\xae-\u0148\u014a-\u017f–—‘’“”…\u202f]*")
_LIBRARIES = {
    "linux": ("libpango-1.0.so.0", "libpangoft2-1.0.so.0", "libgobject-2.0.so.0", "libfontconfig.so.1"),
    "darwin": ("libpango-1.0.0.dylib", "libpangoft2-1.0.0.dylib", "libgobject-2.0.0.dylib", "libfontconfig.1.dylib"),
    "win32": ("libpango-1.0-0.dll", "libpangoft2-1.0-0.dll", "libgobject-2.0-0.dll", "libfontconfig-1.dll"),
}
_POINTER = ctypes.c_void_p


@lru_cache(maxsize=64)
def letters_without_font(letters: frozenset[str]) -> tuple[str, ...]:
    """Which of the letters no font draws, by code point; all of them where Pango cannot be asked.

    ``letters``: single characters; a space or a mark without a shape of its own counts as drawn.
    """
    try:
        pango, pangoft2, gobject = _engine()
    except OSError:
        return tuple(sorted(letters))
    fonts = pangoft2.pango_ft2_font_map_new()
    context = pango.pango_font_map_create_context(fonts)
    layout = pango.pango_layout_new(context)
    try:
        return tuple(_unknown(pango, layout, sorted(letters)))
    finally:
        for made in (layout, context, fonts):
            gobject.g_object_unref(made)


def _unknown(pango: ctypes.CDLL, layout: int, letters: Iterable[str]) -> list[str]:
    missing = []
    for letter in letters:
        text = letter.encode("utf-8", "replace")
        pango.pango_layout_set_text(layout, text, len(text))
        if pango.pango_layout_get_unknown_glyphs_count(layout):
            missing.append(letter)
    return missing


@cache
def _engine() -> tuple[ctypes.CDLL, ctypes.CDLL, ctypes.CDLL]:
    load_pango()
    pango, pangoft2, gobject, fontconfig = map(ctypes.CDLL, _LIBRARIES.get(sys.platform, _LIBRARIES["linux"]))
    pangoft2.pango_ft2_font_map_new.restype = _POINTER
    pango.pango_font_map_create_context.restype = pango.pango_layout_new.restype = _POINTER
    pango.pango_font_map_create_context.argtypes = pango.pango_layout_new.argtypes = [_POINTER]
    pango.pango_layout_set_text.argtypes = [_POINTER, ctypes.c_char_p, ctypes.c_int]
    pango.pango_layout_get_unknown_glyphs_count.argtypes = [_POINTER]
    gobject.g_object_unref.argtypes = [_POINTER]
    # On a machine without any font Pango would end the process.
    fontconfig.FcConfigAppFontAddFile.argtypes = [_POINTER, ctypes.c_char_p]
    fontconfig.FcConfigAppFontAddFile(None, str(FONTS[0].path).encode())
    return pango, pangoft2, gobject


def readable(page: str) -> str:
    """HTML without characters that could turn or break a line; text that runs from right to left is set apart.

    ``page``: a whole page, its tags included.
    """
    page = _LINE_ENDS.sub(" ", _HARMFUL.sub("", page))
    if _RUN.search(page) is None:
        return page
    return _in_text(page, _NO_TEXT, lambda text: _RUN.sub(_set_apart, text))


def _set_apart(run: re.Match[str]) -> str:
    text, closing = run.groups()
    n_open = sum(text.count(sign) for sign in "([{") - sum(text.count(sign) for sign in ")]}")
    inside = closing[: max(n_open, 0)]
    return f"<bdi>{text}{inside}</bdi>{closing[len(inside) :]}"


def drawable(page: str) -> str:
    """HTML with a visible mark for every character that no font of this machine draws; attributes stay."""
    missing = missing_glyphs((page,))
    if not missing:
        return page
    marks = dict.fromkeys(map(ord, missing), MARK)
    return _in_text(page, _TAGS, lambda text: text.translate(marks))


def _in_text(page: str, apart: re.Pattern[str], change: Callable[[str], str]) -> str:
    """The page with its text changed and what matches ``apart`` as it was."""
    parts = apart.split(page)  # text, apart, text, ...
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def missing_glyphs(texts: Iterable[str]) -> tuple[str, ...]:
    """Characters that neither the shipped fonts nor any other font of this machine draws, by code point.

    Empty where PDFs cannot be made at all.
    """
    foreign = {char for text in texts if not _LATIN.fullmatch(text) for char in set(text)}
    foreign = {char for char in foreign if not _LATIN.fullmatch(char) and not _SHAPELESS.match(char)}
    if not foreign or weasyprint_state() is not None:
        return ()
    foreign = {char for char in foreign if ord(char) not in shipped_letters()}
    return letters_without_font(frozenset(foreign)) if foreign else ()


@cache
def shipped_letters() -> frozenset[int]:
    """Code points that every shipped font has."""
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    sets = []
    for font in FONTS:
        with TTFont(font.path, lazy=True) as opened:
            sets.append(frozenset(opened.getBestCmap()))
    return frozenset.intersection(*sets)
