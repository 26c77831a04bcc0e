"""The sentence about characters that no font of this machine draws."""

import unicodedata
from collections.abc import Iterable, Mapping

from sizer.base.quantities import by_count
from sizer.present import words
from sizer.present.fonts.glyphs import MARK, missing_glyphs

_CODES_SHOWN = 6


def glyph_remark(texts: Mapping[str, str]) -> str:
    """One sentence about the characters that print as a mark, "" when all are drawn.

    ``texts``: where a text stands, such as "the customer's name", to the text. What is named at one place is not
    named again.
    """
    places: list[str] = []
    missing: dict[str, None] = {}
    for place, text in texts.items():
        found = [char for char in missing_glyphs((text,)) if char not in missing]
        if found:
            places.append(place)
            missing |= dict.fromkeys(found)
    if not missing:
        return ""
    codes = [f"U+{ord(char):04X}" for char in missing]
    shown = ", ".join(codes[:_CODES_SHOWN]) + (", …" if len(codes) > _CODES_SHOWN else "")
    return by_count(
        len(codes),
        f"{len(codes)} character in {words.listed(places)} prints as {MARK} because no font of "
        f"this machine draws it ({shown}); install {_font_for(missing)}.",
        f"{len(codes)} characters in {words.listed(places)} print as {MARK} because no font of "
        f"this machine draws them ({shown}); install {_font_for(missing)}.",
    )


def _font_for(letters: Iterable[str]) -> str:
    names = [unicodedata.name(letter, "") for letter in letters]
    if any(name.startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL")) for name in names):
        return "a Noto CJK font"
    return "a Noto font that has them"
