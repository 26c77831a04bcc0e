"""What was measured near the design, and how good the model is on everything that was published."""

import copy
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sizer.base.errors import SizerError
from sizer.catalog.model import Catalog
from sizer.drawings.palette import DARK, LIGHT
from sizer.report import evidence_charts as charts
from sizer.report import evidence_rows as facts
from sizer.report.evidence import COVERAGE_CAPTION, findings, residual_caption
from sizer.report.performance_tables import evidence_table
from sizer.report.prose import measured, width
from sizer.sizing.result import WorkloadAnswer
from sizer.ui import look
from sizer.ui.typed import plain

Spec = dict[str, Any]


@dataclass(frozen=True)
class _Model:
    """How good the model is, ready to be shown."""

    findings: str
    residuals: Spec | None
    residual_caption: str
    coverage: Spec | None


def show(answer: WorkloadAnswer, parity: Spec | None, catalog: Catalog) -> None:
    """Draw the section."""
    st.header("Measured near it", anchor=False)
    look.notes([measured(answer), width(answer)])
    table = evidence_table(answer, 1)
    if table is not None:
        chart(parity)
        look.note(
            "The band is ± 10 %, the dashed lines are twice and half. A filled mark was published outside the 90 % "
            "interval, which the thin bar shows."
        )
        look.table(table, catalog.sources)
    # Predicting every published number takes longer than sizing, so it waits until somebody asks.
    fold = st.expander("How good is the model", key="how-good", on_change="rerun")
    if fold.open:
        with fold:
            _model_quality(catalog)


def chart(spec: Spec | None) -> None:
    """A chart as wide as the column, with its finding as the text that screen readers speak."""
    if spec is not None:
        title = spec["title"]["text"]
        finding = title if isinstance(title, str) else " ".join(title)
        st.vega_lite_chart(copy.deepcopy(spec), theme=None, width="stretch", alt=finding)


def _model_quality(catalog: Catalog) -> None:
    try:
        model = _model(look.palette().name, catalog.digest, catalog)
    except SizerError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    look.note(model.findings)
    chart(model.residuals)
    if model.residuals is not None:
        look.note(model.residual_caption)
    chart(model.coverage)
    if model.coverage is not None:
        look.note(COVERAGE_CAPTION)


@st.cache_resource(show_spinner="Predicting every published number", max_entries=4)
def _model(palette_name: str, digest: str, _catalog: Catalog) -> _Model:  # noqa: ARG001  (the digest is part of the key)
    from sizer.calibrate.validate import built_in_report

    report = built_in_report(_catalog)
    colours = next(palette for palette in (LIGHT, DARK) if palette.name == palette_name)
    rows, seen = (report.unseen, report.rows) if facts.counted(report.unseen) else (report.rows, ())
    groups, unseen = (facts.accuracies(found, facts.kind_name) for found in (report.rows, report.unseen))
    drawn = (
        charts.residual_chart(rows, _catalog.sources, colours, "container", seen=seen),
        charts.coverage_chart(groups, unseen, colours, "container"),
    )
    residuals, coverage = (None if one is None else one.to_dict() for one in drawn)
    return _Model(" ".join(findings(report)), residuals, residual_caption(bool(seen)), coverage)
