"""Page Evidence: published measurements compared with predictions."""

from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sizer.base.errors import SizerError
from sizer.base.quantities import grouped
from sizer.calibrate.validate import summarise
from sizer.catalog.model import Catalog
from sizer.evidence import rows as facts
from sizer.evidence.parity import parity_spec, source_title
from sizer.evidence.published import JUDGED, Choice, Published, PublishedEvidence, built_in_evidence, lines, rows_of
from sizer.evidence.tables import figures_table, findings, summary_tables
from sizer.present.words import plural
from sizer.ui import look, state
from sizer.ui.state import View
from sizer.ui.typed import plain

_EVERYTHING = "All"
_FITS = {True: "Fit without its source", False: "Fit in use"}
_PARITY_CAPTION = (
    "Logarithmic axes. Band: ± 10 %. Dashed lines: factor of two. Filled marks lie outside the 90 % interval of their "
    "prediction. Point at a mark to see its source."
)


def show(view: View) -> None:
    """Draw the page."""
    st.header("Accuracy of the model", anchor=False)
    try:
        evidence = state.once(
            view.catalog.digest,
            "evidence",
            lambda: built_in_evidence(view.catalog),
            doing="Predicting every published value (first time only)",
        )
    except SizerError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    look.note(" ".join(findings(evidence.report)))
    look.table(figures_table(evidence.report.figures), view.catalog.sources, "Accuracy targets and results")
    st.header("Predicted and published values", anchor=False)
    choice = _choice(evidence, view.catalog)
    _chosen(evidence, choice, view.catalog)
    for table in summary_tables(evidence.report, view.catalog.sources):
        with st.expander(table.caption, key=f"evidence-{table.id}"):
            look.table(table, view.catalog.sources)


def _choice(evidence: PublishedEvidence, catalog: Catalog) -> Choice:
    """The filter fields, and the values they select. They survive a change of page."""
    found = evidence.published
    measures = [_EVERYTHING, *(one.title for one in facts.MEASURES)]
    measure = st.segmented_control(
        "Quantity",
        measures,
        default=facts.RATE.title,
        key="evidence-measure",
        required=True,
        persist_state="session",
    )
    is_unseen = st.segmented_control(
        "Predicted with",
        list(_FITS),
        default=True,
        format_func=_FITS.__getitem__,
        key="evidence-fit",
        required=True,
        persist_state="session",
        help="Without its source: the accuracy to expect for systems without published measurements.",
    )
    columns = st.columns(3)
    return Choice(
        measure="" if measure == _EVERYTHING else measure,
        is_unseen=is_unseen,
        dnns=_several(columns[0], "Neural network", found, lambda one: one.dnn),
        gpus=_several(columns[1], "GPU", found, lambda one: one.gpu),
        sources=_several(
            columns[2], "Source", found, lambda one: one.run.source, lambda key: source_title(key, catalog.sources)
        ),
        parts=JUDGED,
    )


def _several(
    column: DeltaGenerator,
    label: str,
    publisheds: Sequence[Published],
    value: Callable[[Published], str],
    name: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """A filter for any number of values, the most frequent first; without a choice all pass."""
    counts = Counter(value(published) for published in publisheds)
    options = [one for one, _ in sorted(counts.items(), key=lambda pair: (-pair[1], name(pair[0])))]
    picked = column.multiselect(
        label,
        options,
        key=f"evidence-{label}",
        placeholder="Any",
        persist_state="session",
        format_func=lambda one: f"{name(one)} ({grouped(counts[one])})",
    )
    return tuple(picked)


def _chosen(evidence: PublishedEvidence, choice: Choice, catalog: Catalog) -> None:
    """The selected values: count and accuracy, chart, and rows."""
    found = evidence.chosen(choice)
    st.markdown(f"**{grouped(len(found))}** of {plural(len(evidence.published), 'published value')} shown")
    if not found:
        st.info("No published value that was predicted matches all filters. Remove a filter.")
        return
    one = summarise("", rows_of(found, choice))
    inside = f"{facts.share_text(one.coverage)} of {grouped(one.judged_rows)}" if one.judged_rows else "not known"
    figures = (
        ("Predicted", grouped(one.predicted_rows), "values"),
        ("Median error", facts.size_text(one.median_error), "half are closer"),
        ("Bias", facts.error_text(one.bias), "median of the signed errors"),
        ("Inside the 90 % interval", inside, "target 90 %"),
    )
    look.figures("evidence-figures", figures)
    colours = look.palette()
    spec = state.once(
        catalog.digest,
        "parity",
        lambda: parity_spec(rows_of(found, choice), catalog.sources, colours),
        *(choice, colours.name),
    )
    if spec is None:
        st.info("None of these values has a prediction of this kind; the table shows why.")
    else:
        look.chart(spec)
        look.note(_PARITY_CAPTION)
    with st.expander("Table of these values", key="evidence-values", on_change="rerun") as table:
        if table.open:
            st.dataframe(
                state.once(catalog.digest, "values", lambda: lines(found, choice, catalog.sources), choice),
                hide_index=True,
                height=380,
                column_config={
                    "GPUs": st.column_config.NumberColumn(format="%d", width="small"),
                    "Error, %": st.column_config.NumberColumn(
                        format="%+.0f", width="small", help="Predicted divided by published, minus one."
                    ),
                },
            )
