"""Asks Pango, which sets the text of the PDFs, what the fonts of this machine can draw."""

import ctypes
import sys
from collections.abc import Iterable
from functools import cache, lru_cache

from sizer.present.fonts.files import FONTS
from sizer.present.fonts.pango import load_pango

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
