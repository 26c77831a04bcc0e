"""Profile of a company and edition of a document: branding, locale, texts, form, and reader."""

import base64
import io
import re
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator
from pydantic_core.core_schema import ValidationInfo

from sizer.base.errors import RequestError
from sizer.base.faults import check_size, in_words, nearest, shown
from sizer.base.formats.toml_text import parse_toml
from sizer.base.locale import DEFAULT_LOCALE, LOCALES
from sizer.base.resources import text_of_file
from sizer.base.texts import Paragraphs, ShortText, line
from sizer.drawings.palette import LIGHT, Palette
from sizer.present.theme import MIN_CONTRAST, Paper, contrast_ratio

MAX_LOGO_BYTES = 2_000_000
# More than a printed page needs; 64 MB of memory when decoded.
MAX_LOGO_PX = 4000
# 170 mm at 180 dots per inch.
LOGO_PX = 1200

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# What Pillow's readers raise on damaged files, besides its own errors.
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError, IndexError, struct.error, zlib.error)
_VECTOR_STARTS = (b"<svg", b"<?xml", b"<!doctype svg", b"<!--")

_reading = threading.Lock()


def logo_uri(data: bytes) -> str:
    """Data URI of an image: PNG of at most 1200 by 1200 pixels, without metadata.

    ``data``: a PNG, JPEG, WebP or GIF file, recognized by its content. The first frame of an animation is used.
    Raises ValueError as a predicate without subject, if the file is too large, damaged, an SVG drawing or not an
    image.
    """
    if len(data) > MAX_LOGO_BYTES:
        raise ValueError(f"is {len(data) / 1e6:.1f} MB; the limit is {MAX_LOGO_BYTES / 1e6:g} MB")
    if data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_VECTOR_STARTS):
        raise ValueError("is an SVG drawing, which can contain scripts and links; save it as PNG")
    return f"data:image/png;base64,{base64.b64encode(_as_png(data)).decode('ascii')}"


def _as_png(data: bytes) -> bytes:
    from PIL import Image, ImageOps, UnidentifiedImageError

    with _whole_pictures_only(), warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            # Only the header has been read.
            if max(image.size) > MAX_LOGO_PX:
                raise _too_large(f"has {image.width} × {image.height} pixels")
            # Cameras store the orientation as metadata, which is removed below.
            upright = ImageOps.exif_transpose(image)
            has_clear_parts = upright.has_transparency_data
            plain = upright.convert("RGBA" if has_clear_parts else "RGB")
        except _TooLargeError:
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise _too_large("has over 80 million pixels") from None
        except UnidentifiedImageError:
            raise ValueError("is not a PNG, JPEG, WebP or GIF image") from None
        except _DAMAGED as error:
            raise ValueError(f"is a damaged image ({error})") from None
    plain.thumbnail((LOGO_PX, LOGO_PX))
    # A new image has no colour profile, text or thumbnail of the file.
    clean = Image.new(plain.mode, plain.size)
    clean.paste(plain)
    stream = io.BytesIO()
    clean.save(stream, format="PNG", optimize=True)
    return stream.getvalue()


class _TooLargeError(ValueError):
    pass


def _too_large(what: str) -> _TooLargeError:
    return _TooLargeError(f"{what}; the limit is {MAX_LOGO_PX} × {MAX_LOGO_PX}")


@contextmanager
def _whole_pictures_only() -> Iterator[None]:
    """Reject truncated files, which WeasyPrint makes Pillow accept in the whole process."""
    from PIL import ImageFile

    with _reading:
        before, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, False
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before


# A profile is written by hand; a larger file is not one.
MAX_PROFILE_BYTES = 100_000

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


def _colour(text: str) -> str:
    """Colour with enough contrast to white, as text or as background of white text."""
    if not _COLOUR.fullmatch(text):
        raise ValueError(f"{shown(text)} is not a colour; use a value such as {LIGHT.accent!r}")
    ratio = contrast_ratio(text, LIGHT.background)
    if ratio < MIN_CONTRAST:
        # Rounded down: 4.49 must not read as the 4.5 that is asked.
        tenths = int(ratio * 10) / 10
        raise ValueError(
            f"{shown(text)} has a contrast of {tenths:g} : 1 with white; at least {MIN_CONTRAST:g} : 1 is needed, "
            "so choose a darker colour"
        )
    return text.upper()


def _locale(name: str) -> str:
    if name not in LOCALES:
        raise ValueError(f"{shown(name)} is not one of {', '.join(LOCALES)}{nearest(name, LOCALES)}")
    return name


Label = Annotated[str, Field(max_length=40), AfterValidator(line)]
Colour = Annotated[str, AfterValidator(_colour)]


class Profile(BaseModel):
    """Branding of documents. All fields are optional and have neutral defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    company: ShortText = ""  # name of the company that issues the documents; their author
    logo: ShortText = ""  # file with the company's logo, relative to the profile's folder and inside it
    accent: Colour = LIGHT.accent  # colour of links, headings' numbers and the recommended design, ``#RRGGBB``
    banner: Colour = LIGHT.ink  # colour of the cover's band, behind white text
    legal: Paragraphs = ""  # legal notice
    confidentiality: Label = ""  # Label in the footer, e.g. "Confidential".
    contact: ShortText = ""  # contact for questions
    paper: Paper = "a4"  # paper size of the PDFs
    # Format of dates and numbers, such as en-GB, en-US or en-DE.
    locale: Annotated[str, AfterValidator(_locale)] = DEFAULT_LOCALE
    _logo_uri: str = PrivateAttr("")

    @model_validator(mode="after")
    def _take_logo(self, info: ValidationInfo) -> Self:
        given: dict[str, Any] = info.context or {}
        data = given.get("logo")
        folder = given.get("folder")
        if data is None and not self.logo:
            return self
        try:
            if data is None:
                data = _bytes_inside(folder, self.logo)
            self._logo_uri = logo_uri(data)
        except ValueError as error:
            raise ValueError(f"logo = {shown(self.logo)} {error}" if self.logo else f"the logo {error}") from None
        return self

    @property
    def logo_uri(self) -> str:
        """The logo as a data URI of a PNG picture; "" without one."""
        return self._logo_uri

    @property
    def palette(self) -> Palette:
        """Colours of the printed documents with this accent."""
        return replace(LIGHT, accent=self.accent)

    @classmethod
    def from_dict(
        cls, data: object, place: str = "profile", folder: Path | None = None, logo: bytes | None = None
    ) -> Self:
        """Profile from a plain mapping.

        ``data``: fields by their names. ``place``: name of the profile in errors. ``folder``: folder of the file that
        ``logo`` names. ``logo``: content of the logo instead of a file. Raises RequestError listing every error:
        place, key, value, allowed values, nearest known key.
        """
        if not isinstance(data, dict):
            raise RequestError(f"{place}: expected keys such as company and accent, got {type(data).__name__}")
        check_size(data, place)
        try:
            return cls.model_validate(data, context={"folder": folder, "logo": logo})
        except ValidationError as error:
            raise RequestError("\n".join(in_words(cls, error, place))) from None

    @classmethod
    def from_text(
        cls, text: str, place: str = "profile", folder: Path | None = None, logo: bytes | None = None
    ) -> Self:
        """Profile from TOML text, as typed or uploaded; ``folder`` and ``logo`` as for :meth:`from_dict`."""
        if len(text) > MAX_PROFILE_BYTES:
            raise RequestError(f"{place}: {len(text)} characters exceed the limit of {MAX_PROFILE_BYTES}")
        try:
            data = parse_toml(text)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits are a plain ValueError
            raise RequestError(f"{place}: is not valid TOML: {error}") from None
        return cls.from_dict(data, place, folder, logo)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Profile from a .toml file; the logo lies in the same folder or below.

        Raises RequestError if the file is missing, unreadable, too large, not UTF-8, or not a profile, or if its logo
        is not usable.
        """
        path = Path(path)
        if path.suffix.lower() != ".toml":
            raise RequestError(f"{path}: unknown ending {path.suffix!r}; a profile is a .toml file")
        return cls.from_text(text_of_file(path, MAX_PROFILE_BYTES, "a profile"), str(path), path.parent)


def _bytes_inside(folder: Path | None, name: str) -> bytes:
    """Content of a file in a folder or below; nothing outside is opened or tested for existence."""
    if folder is None:
        raise ValueError("cannot be located; read the profile from its file")
    for kind in (PurePosixPath(name), PureWindowsPath(name)):
        if kind.anchor or ".." in kind.parts:
            raise ValueError("is not a path inside the profile's folder, such as 'logo.png'")
    try:
        real = (folder / name).resolve(strict=True)
        if not real.is_relative_to(folder.resolve()):
            raise ValueError("is outside the profile's folder; move the image into it")
        if not real.is_file():
            raise ValueError("is not a file")
        size = real.stat().st_size
        if size > MAX_LOGO_BYTES:
            raise ValueError(f"is {size / 1e6:.1f} MB; the limit is {MAX_LOGO_BYTES / 1e6:g} MB")
        return real.read_bytes()
    except RuntimeError:
        raise ValueError("cannot be read: its symbolic links form a loop") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None


# Documents without a profile.
PLAIN = Profile()


Form = Literal["guide", "engineer", "summary"]


@dataclass(frozen=True)
class Edition:
    """One form of the guide about a result."""

    form: Form = "guide"  # the guide for the customer, the file with the evidence for engineers, or one page
    profile: Profile = PLAIN
    is_customer_copy: bool = False  # whether the result is without discounts and internal notes
    is_archive: bool = False  # whether the PDF is PDF/A-3b, which may carry files, instead of PDF/UA-1


GUIDE = Edition()
