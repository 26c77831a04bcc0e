"""Texts written by users in a result, by place."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from sizer.base.quantities import by_count
from sizer.guide.profile import Profile
from sizer.present import words
from sizer.present.fonts.glyphs import MARK, missing_glyphs
from sizer.present.text.bill_warnings import note_text
from sizer.sizing.result import SizingResult

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


def remark_on_glyphs(result: SizingResult, profile: Profile) -> str:
    """Remark on characters in users' texts that no installed font has; "" where there are none."""
    return glyph_remark(user_texts(result, profile))


def user_texts(result: SizingResult, profile: Profile) -> dict[str, str]:
    """Texts of request, profile and bill by place; a repeated text belongs to the first place."""
    request = result.request
    return {
        "the customer's name": request.customer,
        "the title": request.title,
        "the company's name": profile.company,
        "the profile": f"{profile.contact} {profile.confidentiality} {profile.legal}",
        "the workloads' names": " ".join(workload.name for workload in request.workload),
        "the quote": " ".join(_strings(request.quote.model_dump())),
        "the request": " ".join(_strings(request.model_dump())),
        # Custom parts have names from the user's own catalogue.
        "the bill": " ".join(
            f"{line.description} {line.manufacturer} {line.sku} {note_text(line)}" for line in result.design.bill.lines
        ),
    }


def _strings(value: object) -> Iterator[str]:
    """Every text in plain data, keys of tables included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
