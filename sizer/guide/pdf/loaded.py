"""Imported by a process that will draw documents: starts the engines of pages and charts before the first is asked."""

from sizer.present.charting import chart_of, chart_svg, finish
from sizer.present.fonts.pango import weasyprint_state
from sizer.present.theme import LIGHT

weasyprint_state()
# The first chart starts the engine, which takes longer than all charts of a guide.
chart_svg(finish([chart_of([{"x": 1}]).mark_point().encode(x="x:Q")], "Started", LIGHT, 100, 100))
