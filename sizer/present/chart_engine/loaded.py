"""Imported by a process that will draw charts: starts their engine before the first is asked."""

from sizer.present.chart_engine.engine import load_here

load_here()
