"""Drawings and charts as figures of a page: an id, a caption and the picture itself."""

from dataclasses import dataclass

from sizer.base.stored_answers import Deferred
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Drawing
from sizer.drawings.svg import write_svg
from sizer.present.charting import Chart, chart_svg_meanwhile


@dataclass(frozen=True)
class PageFigure:
    """A drawing or chart with its caption. The picture carries its own spoken text."""

    id: str
    caption: str
    picture: str | Deferred[str]
    is_wide: bool = False  # takes a landscape page

    @property
    def svg(self) -> str:
        """The picture; of a chart that is still being drawn, wait for it."""
        return self.picture if isinstance(self.picture, str) else self.picture.value


def drawn(id_: str, drawing: Drawing, caption: str = "") -> PageFigure:
    """Figure of a drawing; its title opens the caption."""
    text = f"{drawing.title}. {caption}".strip()
    return PageFigure(id_, text, write_svg(drawing), is_wide=drawing.width > COLUMN_PX)


def charted(id_: str, chart: Chart | None, caption: str) -> PageFigure | None:
    """Figure of a chart, drawn while the page is written; None where there is nothing to draw."""
    return None if chart is None else PageFigure(id_, caption, Deferred(chart_svg_meanwhile(chart)))
