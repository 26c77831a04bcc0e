"""Cell formats of the workbook."""

from typing import Any

from sizer.drawings.palette import LIGHT

COLOURS = {"ink": LIGHT.ink, "muted": LIGHT.muted}


def base() -> dict[str, Any]:
    """Properties of every cell."""
    return {"font_name": "Calibri", "font_size": 10, "font_color": COLOURS["ink"], "valign": "top"}


def formats() -> dict[str, dict[str, Any]]:
    """Properties of every format by its name; ``-quoted`` formats keep formula-like text from being calculated."""
    number = {"align": "right"}
    total = {"bold": True, "top": 1, "valign": "vcenter"}
    head = {"bold": True, "top": 1, "bottom": 1, "text_wrap": True, "valign": "bottom"}
    made: dict[str, dict[str, Any]] = {
        "text": {},
        "wrap": {"text_wrap": True},
        "plain": {"align": "left"},
        "label": {"font_color": COLOURS["muted"]},
        "strong": {"bold": True, "text_wrap": True},
        "muted": {"font_color": COLOURS["muted"]},
        "note": {"text_wrap": True, "align": "left"},
        "open": {**number, "italic": True, "font_color": COLOURS["muted"], "num_format": _spaced("#,##0.00")},
        "title": {"bold": True, "font_size": 16},
        "head": head,
        "head-right": {**head, **number, "num_format": _spaced("General")},
        "integer": {**number, "num_format": _spaced("#,##0")},
        "number": {**number, "num_format": _spaced("#,##0.0")},
        "figure": {**number, "num_format": _spaced("#,##0.0##")},
        "money": {**number, "num_format": _spaced("#,##0.00")},
        "percent": {**number, "num_format": _spaced("0.00%")},
        "ratio": {**number, "num_format": _spaced("0.##")},
        "weeks": {**number, "num_format": _spaced('0" weeks"')},
        "total": total,
        "total-money": {**total, **number, "num_format": _spaced("#,##0.00")},
    }
    texts = ("text", "wrap", "plain", "label", "strong", "muted", "note", "title", "head", "head-right", "total")
    quoted = {f"{name}-quoted": {**made[name], "quote_prefix": True} for name in texts}
    return {**made, **quoted}


def _spaced(number_format: str) -> str:
    """Number format, for words as well, with a small space on the right, because the next column may hold text."""
    return f"{number_format}_0;-{number_format}_0;{number_format}_0;@_0"
