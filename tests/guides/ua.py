"""Structure of the PDFs against PDF/UA-1 and PDF/A-3b: what veraPDF says, and what it does not look at.

veraPDF decides every rule of the Matterhorn Protocol that a machine can decide alone. The rules below it, with their
numbers there, need to know what was drawn where, which the tests do.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from tests.guides.laid_out import Guide

VERAPDF = os.environ.get("SIZER_VERAPDF", "")
TOOL = Path(__file__).parents[2] / "tools" / "verapdf.py"


@dataclass(frozen=True)
class Verdict:
    """What veraPDF says of a file."""

    passes: bool
    checks: int
    faults: dict[str, str]  # by rule: clause of the standard and number of the test in veraPDF's profile


def verdicts(flavour: str, files: dict[str, bytes], folder: Path) -> dict[str, Verdict]:
    """Verdicts by name; ``flavour`` is one of those in tools/verapdf.py."""
    if not VERAPDF:
        pytest.skip("SIZER_VERAPDF names no veraPDF")
    paths = []
    for number, content in enumerate(files.values()):
        paths.append(folder / f"{number}.pdf")
        paths[-1].write_bytes(content)
    command = [sys.executable, str(TOOL), VERAPDF, flavour, *map(str, paths)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        name: Verdict(
            answer["passes"],
            answer["checks"],
            {one["rule"]: f"{one['says']} ({one['count']} times, {one['places'][:2]})" for one in answer["faults"]},
        )
        for name, answer in zip(files, answers, strict=True)
    }


# --- what veraPDF does not look at

Rule = Callable[[Guide], Iterator[str]]


def broken_file(guide: Guide) -> Iterator[str]:
    """Syntax of the file, as qpdf reads it."""
    with pikepdf.open(io.BytesIO(guide.pdf)) as document:
        yield from document.check_pdf_syntax()


def loose_content(guide: Guide) -> Iterator[str]:
    """Matterhorn 01-005 and 18-001: what is marked stands in the structure or, as running heads, is an artifact."""
    with pikepdf.open(io.BytesIO(guide.pdf)) as document:
        root = document.Root.StructTreeRoot
        reached, waiting = set(), [root.K]
        while waiting:
            one = waiting.pop()
            if isinstance(one, pikepdf.Array):
                waiting += list(one)
            elif isinstance(one, pikepdf.Dictionary) and one.objgen not in reached:
                reached.add(one.objgen)
                waiting += [one.K] if "/K" in one else []
        parents = pikepdf.NumberTree(root.ParentTree)
        for number, page in enumerate(document.pages, 1):
            elements = parents[int(page.obj.StructParents)]
            loose = [mcid for mcid in _marked(page.obj) if _is_loose(elements, mcid, reached)]
            if loose:
                yield f"page {number}: {len(loose)} texts are tagged, but stand nowhere in the structure"


def _marked(page: Any) -> Iterator[int]:
    for operands, operator in pikepdf.parse_content_stream(page, "BDC"):
        marks = operands[1] if operator == pikepdf.Operator("BDC") else None
        if isinstance(marks, pikepdf.Dictionary) and "/MCID" in marks:
            yield int(marks.MCID)


def _is_loose(elements: Any, mcid: int, reached: set[tuple[int, int]]) -> bool:
    return mcid >= len(elements) or elements[mcid] is None or elements[mcid].objgen not in reached


def misplaced_figures(guide: Guide) -> Iterator[str]:
    """ISO 32000-1, 14.8.5.4.3 (Matterhorn 13): the BBox of a figure is where it is drawn, from the lower left."""
    with pikepdf.open(io.BytesIO(guide.pdf)) as document:
        pages = {page.obj.objgen: guide.pages[number] for number, page in enumerate(document.pages)}
        for one in document.objects:
            if not isinstance(one, pikepdf.Dictionary) or one.get("/S") != "/Figure":
                continue
            page, said = pages[one.Pg.objgen], [float(side) for side in one.A.BBox]
            drawn = [
                (rect.left, page.height - rect.bottom, rect.right, page.height - rect.top)
                for rect in (picture.rect for picture in page.pictures)
            ]
            if not any(max(abs(a - b) for a, b in zip(place, said, strict=True)) < 1 for place in drawn):
                name, place = str(one.get("/Alt", ""))[:40], [round(side) for side in said]
                yield f"page {page.number}: figure “{name}…” is said to lie at {place}"


def unspoken_links(guide: Guide) -> Iterator[str]:
    """Matterhorn 28-012, as a reader means it: a link is spoken as its text, not as the name of a place in the file."""
    with pikepdf.open(io.BytesIO(guide.pdf)) as document:
        for number, page in enumerate(document.pages, 1):
            names = {
                str(one.Contents)
                for one in page.obj.get("/Annots", [])
                if "/Dest" in one and str(one.get("/Contents", "")) == str(one.Dest)
            }
            if names:
                yield f"page {number}: links are spoken as {', '.join(sorted(names)[:3])}"


RULES: dict[str, Rule] = {
    rule.__name__: rule for rule in (broken_file, loose_content, misplaced_figures, unspoken_links)
}
