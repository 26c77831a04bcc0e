"""A page of the guide as WeasyPrint lays it out, read and styled with what our templates use."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from xml.etree import ElementTree

import cssselect2  # type: ignore[import-untyped]
import weasyprint
from weasyprint.html import UA, UA_COUNTER_STYLE

from sizer.present.fonts.files import ASSETS

_SVG = "{http://www.w3.org/2000/svg}"
_STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)
# A rule of a style sheet has one pair of braces inside, at most.
_FOR_SCREENS = re.compile(r"@media screen[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_VARIABLE = re.compile(r"(--[\w-]+):\s*([^;]+);")
_USE = re.compile(r"var\((--[\w-]+)\)")
# Every element would get six more styles for these.
_NOTES = re.compile(r"^::(?:foot)?note-.*$", re.MULTILINE)
_ANY_MARKER = re.compile(r"^::marker\b", re.MULTILINE)


class Page(weasyprint.HTML):  # type: ignore[misc]
    """A page of HTML. One that is well-formed XML, as our templates write it, is read in a tenth of the time.

    ``url_fetcher``: of the files that it may load.
    """

    def __init__(self, text: str, url_fetcher: Any) -> None:
        text = _STYLE.sub(lambda style: _print_style(style[0]), text, count=1)
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError:
            super().__init__(string=text, base_url=ASSETS, url_fetcher=url_fetcher)
            return
        for drawing in list(root.iter("svg")):  # without a name space, which HTML does not ask for
            for node in drawing.iter():
                node.tag = _SVG + node.tag.removeprefix(_SVG)
        self.base_url = ASSETS
        self.url_fetcher = url_fetcher
        self.media_type = "print"
        self.wrapper_element = cssselect2.ElementWrapper.from_html_root(root, content_language=None)
        self.etree_element = root

    def _ua_stylesheets(self, forms: bool = False) -> list[Any]:  # noqa: ARG002 -- as in the base class
        return [_browser_style()]


def _print_style(sheet: str) -> str:
    """A style sheet without rules for screens, each variable replaced by its value: WeasyPrint looks up every use."""
    sheet = _FOR_SCREENS.sub("", sheet)
    values: Mapping[str, str] = dict(_VARIABLE.findall(sheet))
    return _USE.sub(lambda use: values.get(use[1], use[0]), sheet)


@cache
def _browser_style() -> Any:
    """WeasyPrint's own style sheet without foot notes, and with markers of list items only: the guide has no others."""
    return weasyprint.CSS(string=_ANY_MARKER.sub("li::marker", _NOTES.sub("", UA)), counter_style=UA_COUNTER_STYLE)
