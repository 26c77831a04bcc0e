"""Texts of drawings set as runs: WeasyPrint 70 lays out every letter of an SVG text by itself.

Without this the file of a guide is an eighth larger, and setting it takes a quarter longer.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from weasyprint import svg

_PLACES = ("x", "y", "dx", "dy", "rotate")
_SPACING = ("letter-spacing", "textLength")
_by_letters = svg.text


class _Run(str):
    """A text whose only letter is the whole text."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        yield str(self)


def _text(drawing: Any, node: Any, font_size: float) -> None:
    """Draw a text in one piece where no letter has a place of its own: a fifth of the time, and with kerning."""
    attributes = node.attrib
    has_places = any(len(attributes.get(name, "").replace(",", " ").split()) > 1 for name in _PLACES)
    if node.text and not has_places and not any(name in attributes for name in _SPACING):
        node._etree_node.text = _Run(node.text)
    _by_letters(drawing, node, font_size)


@cache
def draw_texts_as_runs() -> None:
    """Make WeasyPrint draw the texts of drawings as runs, in this process."""
    for tag, drawn in svg.TAGS.items():
        if drawn is _by_letters:
            svg.TAGS[tag] = _text
    svg.text = _text  # compared with the tags
