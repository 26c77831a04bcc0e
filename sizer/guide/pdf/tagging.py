"""Corrections to the tagged PDF of WeasyPrint 70, made before the file is written."""

from typing import Any

import pydyf

# WeasyPrint lays out in CSS pixels of 1/96 inch; a PDF counts points of 1/72.
_POINTS_PER_PIXEL = 0.75


def mended(document: Any, pdf: Any) -> None:
    """Finisher of ``write_pdf``: links spoken by their text, running heads as artifacts, figures in place."""
    # ISO 14289-1, 7.18.5: the spoken text of a link is its text, not the name of its target.
    for page in document.pages:
        for _, target, _, box in page.links:
            note = getattr(box, "link_annotation", None)
            if note is None:
                continue
            words = "" if box.element is None else "".join(box.element.itertext())
            note["Contents"] = pydyf.String(" ".join(words.split()) or target)
    _mark_running_heads(pdf)
    # ISO 32000-1, 14.8.5.4.3: the box of a figure is in the space of the page, from its lower left corner.
    objects = {one.reference: one for one in pdf.objects if hasattr(one, "reference")}
    for one in pdf.objects:
        if isinstance(one, dict) and one.get("S") == "/Figure" and "BBox" in one.get("A", {}):
            height = objects[one["Pg"]]["MediaBox"][3]
            left, top, right, bottom = (_POINTS_PER_PIXEL * length for length in one["A"]["BBox"])
            one["A"]["BBox"] = pydyf.Array((left, height - bottom, right, height - top))


def _mark_running_heads(pdf: Any) -> None:
    """ISO 14289-1, 7.8 (Matterhorn 18-001): running heads are artifacts, not content outside of the structure."""
    root = pdf.catalog.get("StructTreeRoot")
    if root is None:
        return
    objects = {one.reference: one for one in pdf.objects if hasattr(one, "reference")}

    def found(reference: Any) -> Any:
        return objects[reference.encode() if isinstance(reference, str) else reference]

    tree = found(root)
    reached: set[Any] = set()
    waiting = list(tree["K"])
    while waiting:
        reference = waiting.pop()
        if reference in reached or isinstance(reference, int):
            continue
        reached.add(reference)
        waiting += [kid for kid in found(reference).get("K", []) if not isinstance(kid, int)]
    parents = found(tree["ParentTree"])["Nums"]
    marks_of = dict(zip(parents[::2], parents[1::2], strict=True))
    for page in (one for one in pdf.objects if isinstance(one, dict) and one.get("Type") == "/Page"):
        marks = marks_of[page["StructParents"]]
        loose = {mark for mark, reference in enumerate(marks) if reference not in reached}
        stream = found(page["Contents"]).stream
        for place, part in enumerate(stream):
            if isinstance(part, dict) and part.get("MCID") in loose:
                stream[place - 1], stream[place] = b"/Artifact", pydyf.Dictionary({"Type": "/Pagination"})
        for mark in loose:
            marks[mark] = "null"
