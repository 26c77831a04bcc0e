"""Drawings as PowerPoint slides of native shapes, so that a proposal can show and change them."""

import datetime
import io
import zipfile
from collections.abc import Sequence

from sizer.drawings.shapes import Drawing
from sizer.export.text import printable

# Presentations and the parts of a zip file carry dates; fixed ones keep equal drawings equal to the byte.
_UNDATED = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 (the file format knows no time zones)


def slides(pages: Sequence[tuple[str, Drawing]], title: str) -> bytes:
    """Presentation (16:9) with one slide for each drawing.

    Parameters
    ----------
    pages : sequence of (str, Drawing)
        Name of the view, such as "Topology", and the drawing. Its title, which is its finding, heads the slide.
    title : str
        Title of the presentation; printed small above each finding.

    Returns
    -------
    bytes
        The file. Boxes are rectangles with their text, links are connectors attached to them. Equal pages give
        equal bytes.
    """
    from sizer.export.drawings.slide_shapes import Deck

    deck = Deck(printable(title), _UNDATED)
    for name, drawing in pages:
        deck.add(printable(name), drawing)
    return _undated(deck.as_bytes())


def _undated(data: bytes) -> bytes:
    """The same zip file without the time at which it was written."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(stream, "w") as target:
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, _UNDATED.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 0  # else it differs between operating systems
            target.writestr(entry, source.read(name))
    return stream.getvalue()
