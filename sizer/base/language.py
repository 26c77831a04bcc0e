"""Visible text in the language of a document. English stands in the code; a translation is one .po file."""

import datetime
import gettext
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from sizer.base.errors import ReportError, RequestError
from sizer.base.faults import nearest, shown
from sizer.base.resources import data_dir, text_of_file

if TYPE_CHECKING:
    from babel import Locale
    from babel.messages import Catalog

DEFAULT_LOCALE = "en-GB"
# Need no translation: they differ in their dates only.
_ENGLISH = (DEFAULT_LOCALE, "en-US")
# Far above the file of all messages.
_MAX_BYTES = 5_000_000
# Between context and message in the keys of messages, as gettext has it.
_CONTEXT_END = "\x04"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def _british(day: datetime.date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


@dataclass(frozen=True)
class Language:
    """Words, plural rule, decimal sign and dates of a locale. ``messages`` maps English text to its forms."""

    locale: str = DEFAULT_LOCALE
    messages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    form_of: Callable[[int], int] = lambda count: int(count != 1)
    decimal: str = "."
    day_text: Callable[[datetime.date], str] = _british


_SPOKEN: ContextVar[Language] = ContextVar("language", default=Language())  # noqa: B039 -- frozen


def spoken() -> Language:
    """Language of the document that is being made."""
    return _SPOKEN.get()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Make text in ``language`` inside the block."""
    token = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def tr(message: str, /, **values: object) -> str:
    """A visible text: translated, then filled in as by ``str.format``. The message must be a literal."""
    text = translated(message)
    return text.format(**values) if values else text


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """A visible text whose form depends on ``count``, which the text does not print unless it is passed, too."""
    text = form(one, many, count)
    return text.format(**values) if values else text


def trc(context: str, message: str, /) -> str:
    """A short text that means two things in English: ``context`` tells the translator which one is meant."""
    return translated(message, context)


def mark(message: str) -> str:
    """The message itself, which may serve as a key: collected for translation here, shown by ``translated``."""
    return message


def mark_forms(one: str, many: str) -> tuple[str, str]:
    """The same for a noun in both numbers, shown by ``form``."""
    return one, many


def form(one: str, many: str, count: int) -> str:
    """The form that fits the count, of messages that are marked elsewhere."""
    language = _SPOKEN.get()
    forms = language.messages.get(one)
    return forms[min(language.form_of(count), len(forms) - 1)] if forms else (one if count == 1 else many)


def translated(message: str, context: str = "") -> str:
    """Translation of a message that is marked elsewhere; a text that nobody marked stays as it is."""
    found = _SPOKEN.get().messages.get(f"{context}{_CONTEXT_END}{message}" if context else message)
    return found[0] if found else message


class Texts(Mapping[str, str]):
    """Marked messages by key; each is translated when it is looked up."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        self._messages = dict(messages)

    def __getitem__(self, key: str) -> str:
        return translated(self._messages[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


def in_sentence(label: str) -> str:
    """A label as it stands inside a sentence: small in English, as the translator wrote it elsewhere."""
    return label.lower() if is_english() else label


def is_english() -> bool:
    """Whether the document is in English, the language of the code."""
    return _SPOKEN.get().locale in _ENGLISH


def date_text(day: datetime.date) -> str:
    """A day in words: '1 March 2019', or as the language has it."""
    return _SPOKEN.get().day_text(day)


def locales() -> tuple[str, ...]:
    """Locales that documents can be made in: English and those with a translation."""
    return (*_ENGLISH, *sorted(file.stem for file in _folder().glob("*.po")))


@lru_cache
def language_of(locale: str) -> Language:
    """Language of a locale: 'en-GB', 'en-US', or the name of a file ``reports/locale/<locale>.po``.

    Raises
    ------
    RequestError
        If there is no such translation.
    ReportError
        If the translation is broken; all faults are listed.
    """
    if locale == DEFAULT_LOCALE:
        return Language()
    known = locales()
    if locale not in known:
        raise RequestError(
            f"language {shown(locale)} is not known{nearest(locale, known)}; known are {', '.join(known)}"
        )
    return read_language(locale, None if locale in _ENGLISH else _folder() / f"{locale}.po")


def read_language(locale: str, file: Path | None) -> Language:
    """Language of a locale with the messages of a .po file, or none.

    Raises
    ------
    ReportError
        If the file cannot be read, or a translation does not have the fields of its message; all faults are listed.
    """
    # Imported here: the default locale does without, and commands start faster.
    from babel import Locale, UnknownLocaleError
    from babel.dates import format_date
    from babel.numbers import get_decimal_symbol

    try:
        known = Locale.parse(locale, sep="-")
    except (ValueError, UnknownLocaleError):
        raise ReportError(f"{file or locale}: {shown(locale)} is no locale; a name is 'de' or 'de-CH'") from None
    messages: Mapping[str, tuple[str, ...]] = {}
    form_of = Language.form_of
    if file is not None:
        catalog = _catalog(file, known)
        messages, faults = _messages(catalog)
        if faults:
            raise ReportError("\n".join(f"{file}: {fault}" for fault in faults))
        form_of = _plural_rule(file, catalog)
    return Language(
        locale=locale,
        messages=messages,
        form_of=form_of,
        decimal=get_decimal_symbol(known),
        day_text=lambda day: format_date(day, "long", known),
    )


def _folder() -> Path:
    return data_dir("reports") / "locale"


def _catalog(file: Path, locale: "Locale") -> "Catalog":
    from babel.messages.pofile import PoFileError, read_po

    try:
        text = text_of_file(file, _MAX_BYTES, "a translation")
    except RequestError as error:
        raise ReportError(str(error)) from None
    for number, line in enumerate(text.splitlines(), start=1):
        # The reader would drop the last letter where a quote is missing.
        if not _LINE.fullmatch(line.strip()):
            raise ReportError(f"{file} line {number}: {shown(line)} is no line of a translation")
    try:
        return read_po(io.StringIO(text), locale, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise ReportError(f"{file}: is not a translation: {error}") from None


def _plural_rule(file: Path, catalog: "Catalog") -> Callable[[int], int]:
    try:
        return gettext.c2py(catalog.plural_expr)
    except ValueError as error:
        raise ReportError(f"{file}: plural rule {shown(catalog.plural_expr)} cannot be read: {error}") from None


def _messages(catalog: "Catalog") -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Finished translations by their English text, and the faults of those that cannot be used."""
    found: dict[str, tuple[str, ...]] = {}
    faults = []
    for message in catalog:
        if not message.id or message.fuzzy:
            continue
        forms = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if not any(forms):
            continue
        originals = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        fault = _fault(originals, forms)
        if fault:
            faults.append(f"{shown(originals[0])}: {fault}")
        context = f"{message.context}{_CONTEXT_END}" if message.context else ""
        found[context + originals[0]] = forms
    return found, faults


# A comment, or a text in quotes behind its keyword or alone.
_LINE = re.compile(r'#.*|((msgctxt|msgid|msgid_plural|msgstr(\[\d\])?)\s+)?"([^"\\]|\\.)*"|')
# Fields of a message that a template made; those of the code stand in braces.
_TEMPLATE_FIELD = re.compile(r"%\((\w+)\)s")


def _fault(originals: tuple[str, ...], forms: tuple[str, ...]) -> str:
    """What is wrong with the forms of a translation, or ""."""
    if not all(forms):
        return f"has {sum(map(bool, forms))} of the {len(forms)} forms that its plural rule asks for"
    asked = [_fields(text) for text in originals]
    # "one server" may stand for "{count} servers": a field is needed where all the English forms have it.
    needed, allowed = set.intersection(*asked), set.union(*asked)
    for form in forms:
        try:
            fields = _fields(form)
        except ValueError as error:
            return f"{shown(form)} cannot be filled in: {error}"
        if unknown := sorted(fields - allowed):
            return f"{shown(form)} has the unknown field {', '.join(unknown)}"
        if missing := sorted(needed - fields):
            return f"{shown(form)} lacks the field {', '.join(missing)}"
        if any("%(" in text or "%%" in text for text in originals) and "%" in _plain(form):
            return f"{shown(form)} has a single %; write %%"
    return ""


def _fields(text: str) -> set[str]:
    """Fields of a message as they are written: '{name}', '%(name)s'."""
    named = set(_TEMPLATE_FIELD.findall(text))
    fields = {f"%({name})s" for name in named}
    for _, name, spec, conversion in Formatter().parse(text):
        if name is not None:
            fields.add("{" + name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}")
    return fields


def _plain(text: str) -> str:
    return _TEMPLATE_FIELD.sub("", text).replace("%%", "")
