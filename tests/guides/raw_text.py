"""Values, names and signs that a reader must not meet in a guide."""

import re
from collections.abc import Iterator
from functools import cache

from sizer.base.resources import data_dir
from tests.guides.laid_out import Guide

SHOWN = (25, 35)  # letters before and after a find
# Programs that the reader is told to run.
COMMANDS = frozenset({"ib_write_bw", "ib_read_bw", "all_reduce_perf", "all_gather_perf"})

RAW = {
    "a raw value": r"(?<![\w-])(?:None|nan|NaN|inf|Infinity(?! Fabric)|True|False|null|undefined|Undefined)(?![\w-])",
    "an unresolved reference": r"\?\?|(?:Table|Figure|Chapter)\s0\b",
    "a template": r"\{\{|\}\}|\{%|\{\w*\}|%\(\w+\)s|(?<!\w)%s\b",
    "Python": r"\b(?:Decimal|array|Sourced|Estimate)\(|<\w+ object|\bnp\.\w+",
    "a raw name": r"\b[a-z]+[a-z0-9.]*(?:_[a-z0-9.]+)+\b",
    "HTML": r"</?[a-z]+\d?(?: [^>]*)?>|&(?:amp|lt|gt|quot|#\d+);",
    "two spaces": r"(?<![ \u00a0\u202f])[ \u00a0\u202f]{2}(?![ \u00a0\u202f])",
    "a number without its unit": r"\d[\u00a0\u202f](?=$|[.,;:)])",
    "a stray sign": r"\s[,;](?=\s|$)|\s\.(?=\s|$)|,,|;;|(?<!\.)\.\.(?!\.)|\(\s*\)|\[\s*\]",
    "not a number of digits": r"\d\.\d{7,}|\d[eE][+-]\d",
}


def raw_text(guide: Guide) -> Iterator[str]:
    """Values, names and signs that a reader must not meet."""
    for page in guide.pages:
        for tag, text in page.blocks():
            if tag == "pre":  # a script to run
                continue
            yield from (f"page {page.number}: {what} in {tag} “{_around(text, at)}”" for what, at in _raw(text))
        for text in page.texts:
            if text.in_margin:
                yield from (f"page {page.number}: {what} in the margin “{text.text}”" for what, _ in _raw(text.text))
    for figure in guide.figures:
        for text in (*figure.labels, figure.spoken, figure.caption):
            for what, _ in _raw(text):
                yield f"page {guide.starts.get(figure.id, '?')}: {what} in drawing {figure.id} “{text[:60]}”"


def _raw(text: str) -> Iterator[tuple[str, int]]:
    for what, pattern in RAW.items():
        for found in re.finditer(pattern, text):
            if what != "a raw name" or found[0].strip(".") not in quoted_names():
                yield what, found.start()
                break


@cache
def quoted_names() -> frozenset[str]:
    """Names that sources and published runs are quoted with; keys of our own files are none of them."""
    # Without the heads of columns.
    texts = [path.read_text(encoding="utf-8").partition("\n")[2] for path in data_dir("catalog").rglob("*.csv")]
    for path in data_dir("catalog").rglob("*.toml"):
        texts += re.findall(r'"([^"\n]*)"', path.read_text(encoding="utf-8"))
    return COMMANDS.union(found.strip(".") for text in texts for found in re.findall(RAW["a raw name"], text))


def _around(text: str, at: int) -> str:
    return text[max(0, at - SHOWN[0]) : at + SHOWN[1]]
