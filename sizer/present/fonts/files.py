"""The fonts of the guide: shipped files for the PDF, cut and packed ones inside the web page."""

import base64
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sizer.base.resources import data_dir

# Code points of the packed fonts: Latin, general punctuation, superscripts, currencies, arrows, mathematical signs.
# A page with any other letter gets the whole font instead.
WEB_RANGES = (
    (0x20, 0x7E),
    (0xA0, 0x17F),
    (0x2BC, 0x2BC),
    (0x3BC, 0x3BC),
    (0x2000, 0x206F),
    (0x2070, 0x209F),
    (0x20A0, 0x20BF),
    (0x2122, 0x2122),
    (0x2190, 0x2193),
    (0x2200, 0x22FF),
)
ASSETS = "asset:"
# Place in a page where the rules of the fonts go; they differ between web page and PDF.
FONTS_GO_HERE = "/*fonts*/"


@dataclass(frozen=True)
class Font:
    """One shipped font file."""

    file: str
    weight: int
    style: str

    @property
    def web_file(self) -> str:
        """Name of the packed file in ``web/``."""
        return Path(self.file).with_suffix(".woff2").name

    @property
    def path(self) -> Path:
        """Where the whole font lies."""
        return data_dir("reports") / "fonts" / self.file


FONTS = (
    Font("Inter-Regular.ttf", 400, "normal"),
    Font("Inter-Italic.ttf", 400, "italic"),
    Font("Inter-SemiBold.ttf", 600, "normal"),
)


def print_faces() -> str:
    """``@font-face`` rules that name the shipped files; only our own fetcher understands the addresses."""
    return "".join(_face(font, f"{ASSETS}{font.file}", "truetype") for font in FONTS)


def web_faces(page: str) -> str:
    """``@font-face`` rules that hold the fonts themselves."""
    is_plain = all(_is_packed(ord(char)) for char in set(page) if char.isprintable())
    return "".join(_face(font, _data_uri(font, is_plain), "woff2" if is_plain else "truetype") for font in FONTS)


def _is_packed(code: int) -> bool:
    return any(first <= code <= last for first, last in WEB_RANGES)


@cache
def _data_uri(font: Font, is_packed: bool) -> str:
    path = font.path.parent / "web" / font.web_file if is_packed else font.path
    kind = "woff2" if is_packed else "ttf"
    return f"data:font/{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def _face(font: Font, url: str, kind: str) -> str:
    return (
        f'@font-face{{font-family:"Inter";font-weight:{font.weight};font-style:{font.style};'
        f'src:url("{url}") format("{kind}");}}\n'
    )
