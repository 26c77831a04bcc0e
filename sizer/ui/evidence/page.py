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
from sizer.evidence.page import findings, summary_tables
from sizer.evidence.parity import parity_spec, source_title
from sizer.evidence.published import (
    INSIDE,
    JUDGED,
    OUTSIDE,
    PARTS,
    Choice,
    Published,
    PublishedEvidence,
    built_in_evidence,
    lines,
    rows_of,
)
from sizer.evidence.tables import figures_table
from sizer.present.words import capital, plural
from sizer.ui import look, state
from sizer.ui.state import View
from sizer.ui.typed import plain

_EVERYTHING = "All"
_FITS = {True: "Fit without its source", False: "Fit in use"}
_INTERVALS = {"": "Inside or outside", INSIDE: "Inside", OUTSIDE: "Outside"}
# Use of a number: key -> name of the choice, and the parts of the fit that it covers.
_PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "judged": ("Fitted or predicted", JUDGED),
    **{key: (capital(name), (key,)) for key, name in PARTS.items()},
    "all": ("All", tuple(PARTS)),
}
_PARITY_CAPTION = (
    "Logarithmic axes. Band: ± 10 %. Dashed lines: factor of two. Filled marks lie outside the 90 % interval of their "
    "prediction. Point at a mark to see its source."
)
# Number of resets: it is part of the keys of the fields, and new keys reset them.
_RESETS = "evidence_resets"


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
        key=_key("measure"),
        required=True,
        persist_state="session",
    )
    is_unseen = st.segmented_control(
        "Predicted with",
        list(_FITS),
        default=True,
        format_func=_FITS.__getitem__,
        key=_key("fit"),
        required=True,
        persist_state="session",
        help="Without its source: the accuracy to expect for systems without published measurements.",
    )
    columns = st.columns(4)
    tasks = _several(columns[0], "Task", found, lambda one: one.run.task, facts.task_name)
    dnns = _several(columns[1], "Neural network", found, lambda one: one.dnn)
    gpus = _several(columns[2], "GPU", found, lambda one: one.gpu)
    servers = _several(columns[3], "Server", found, lambda one: one.server)
    columns = st.columns(4)
    stacks = _several(columns[0], "Software stack", found, lambda one: one.stack)
    sources = _several(
        columns[1], "Source", found, lambda one: one.run.source, lambda key: source_title(key, catalog.sources)
    )
    part_counts = Counter(one.part for one in found)
    parts = columns[2].selectbox(
        "Part in the fit",
        list(_PARTS),
        key=_key("part"),
        persist_state="session",
        format_func=lambda key: f"{_PARTS[key][0]} ({grouped(sum(part_counts[one] for one in _PARTS[key][1]))})",
    )
    interval = columns[3].selectbox(
        "90 % interval",
        list(_INTERVALS),
        format_func=_INTERVALS.__getitem__,
        key=_key("interval"),
        persist_state="session",
    )
    return Choice(
        measure="" if measure == _EVERYTHING else measure,
        is_unseen=is_unseen,
        tasks=tasks,
        dnns=dnns,
        gpus=gpus,
        servers=servers,
        stacks=stacks,
        sources=sources,
        parts=_PARTS[parts][1],
        interval=interval,
        n_gpus=_n_gpus(evidence.numbers_of_gpus()),
    )


def _n_gpus(counts: list[int]) -> tuple[int, int] | None:
    """Smallest and largest number of GPUs; None without a limit."""
    if len(counts) < 2:
        return None
    ends = (counts[0], counts[-1])
    picked = st.select_slider(
        "Number of GPUs",
        counts,
        ends,
        key=_key("n-gpus"),
        persist_state="session",
        help="With a limit, measurements without a stated number of GPUs are hidden.",
    )
    return None if picked == ends else picked


def _several(
    column: DeltaGenerator,
    label: str,
    found: Sequence[Published],
    value: Callable[[Published], str],
    name: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """A filter for any number of values, the most frequent first; without a choice all pass."""
    counts = Counter(value(one) for one in found)
    options = [one for one, _ in sorted(counts.items(), key=lambda pair: (-pair[1], name(pair[0])))]
    picked = column.multiselect(
        label,
        options,
        key=_key(label),
        placeholder="Any",
        persist_state="session",
        format_func=lambda one: f"{name(one)} ({grouped(counts[one])})",
    )
    return tuple(picked)


def _key(name: str) -> str:
    return f"evidence-{name}-{st.session_state.get(_RESETS, 0)}"


def _reset() -> None:
    st.session_state[_RESETS] = st.session_state.get(_RESETS, 0) + 1


def _chosen(evidence: PublishedEvidence, choice: Choice, catalog: Catalog) -> None:
    """The selected values: count and accuracy, chart, and rows."""
    found = evidence.chosen(choice)
    text, button = st.columns((4, 1), vertical_alignment="center")
    text.markdown(f"**{grouped(len(found))}** of {plural(len(evidence.published), 'published value')} shown")
    button.button("Reset the filters", on_click=_reset)
    if not found:
        st.info("No published value matches all filters. Remove a filter, or reset them.")
        return
    one = summarise("", rows_of(found, choice))
    figures = (
        ("Predicted", grouped(one.predicted_rows), "Values with a prediction of this kind."),
        ("Median error", facts.size_text(one.median_error), "Half of the predictions are closer."),
        ("Bias", facts.error_text(one.bias), "Median of the signed errors."),
        (
            "Inside the 90 % interval",
            f"{facts.share_text(one.coverage)} of {grouped(one.judged_rows)}" if one.judged_rows else "not known",
            "Target: 90 %.",
        ),
    )
    with st.container(horizontal=True):
        for label, value, explanation in figures:
            st.metric(label, value, help=explanation, width="content")
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
