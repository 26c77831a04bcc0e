"""The one check of texts that people write, and that no field of a file goes round it."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from sizer.base.dates import _checked
from sizer.base.texts import escaped, line, paragraphs
from sizer.catalog.price_books import BandEvidence, Price, PriceBand
from sizer.catalog.schema import CATEGORIES, Source
from sizer.guide.profile import Profile, _colour, _locale
from sizer.workload.request import SizingRequest

# C0 without tab and line ends, DEL, C1, direction marks of the Unicode standard (section 23.2), surrogates, and the
# noncharacters of section 23.7.
FORBIDDEN = [
    *range(0x09),
    *(0x0B, 0x0C),
    *range(0x0E, 0x20),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *(0xD800, 0xDBFF, 0xDC00, 0xDFFF),
    *range(0xFDD0, 0xFDF0),
    *(plane + end for plane in range(0, 0x110000, 0x10000) for end in (0xFFFE, 0xFFFF)),
]
_CHECKS = {line, paragraphs, _checked, _colour, _locale}


@pytest.mark.parametrize("check", [line, paragraphs])
def test_no_control_character_direction_mark_or_noncharacter_passes(check):
    for code in FORBIDDEN:
        with pytest.raises(ValueError, match=f"U\\+{code:04X} .character 2.; remove it"):
            check(f"a{chr(code)}b")


def test_letters_of_every_script_pass():
    for text in ("Zürich", "東京", "שלום", "🙂 10 % – “x”", "a\u200db", "U+200E \u200e"):
        assert line(text) == text


@pytest.mark.parametrize("end", "\t\n\r\u2028\u2029")
def test_a_line_has_no_line_end_and_paragraphs_have(end):
    with pytest.raises(ValueError, match="use a single line"):
        line(f"a{end}b")
    assert paragraphs(f"a{end}b") == f"a{end}b"


def test_a_terminal_gets_nothing_that_it_obeys():
    shown = escaped("".join(map(chr, FORBIDDEN)) + "\r\nü")
    assert not {chr(code) for code in FORBIDDEN} & set(shown)
    assert shown.endswith("\\r\nü")


MODELS = [SizingRequest, *CATEGORIES.values(), Source, Price, PriceBand, BandEvidence, Profile]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_text_field_is_checked_and_bounded(model):
    wrong = [f"{owner.__name__}.{name}" for owner, name, field in _fields(model) if _is_unchecked(field)]
    assert wrong == []


def _fields(model: type[BaseModel]) -> Iterator[tuple[type[BaseModel], str, FieldInfo]]:
    inner, known = [model], {model}
    while inner:
        current = inner.pop()
        for name, field in current.model_fields.items():
            if not field.exclude:
                yield current, name, field
            for found in _models(field.annotation):
                if found not in known:
                    known.add(found)
                    inner.append(found)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


def _is_unchecked(field: FieldInfo) -> bool:
    parts = _parts(field.annotation, field.metadata)
    return any(annotation is str and not _checks(rules) for annotation, rules in parts)


def _parts(annotation: Any, rules: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Types inside an annotation, each with the rules that stand directly at it."""
    if hasattr(annotation, "__metadata__"):
        yield from _parts(annotation.__origin__, [*annotation.__metadata__])
        return
    yield annotation, rules
    if not isinstance(annotation, type) or not issubclass(annotation, BaseModel):
        for part in getattr(annotation, "__args__", ()):
            yield from _parts(part, [])


def _checks(rules: list[Any]) -> bool:
    flat = [inner for rule in rules for inner in (rule, *getattr(rule, "metadata", ()))]
    has_check = any(getattr(rule, "func", None) in _CHECKS for rule in flat)
    return has_check or any(getattr(rule, "pattern", None) for rule in flat)
