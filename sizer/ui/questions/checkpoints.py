"""Part of the question on failures: checkpoints, interruptions and goodput of a large training."""

import dataclasses

import streamlit as st

from sizer.base.errors import SizerError
from sizer.base.quantities import duration, grouped, si
from sizer.present.availability import cycle_chart, share_text
from sizer.questions.failures.goodput import (
    GoodputQuestion,
    goodput_answer,
    question_of,
    storage_worth,
    worth_text,
    write_rates_table,
)
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.storage_rates import write_rate_is_unknown
from sizer.ui import look
from sizer.ui.error_messages import sentences
from sizer.ui.state import View
from sizer.ui.typed import plain

_MINUTE_S, _HOUR_S = 60.0, 3600.0
_BEST = 0.0
_INTERVALS_S = (_BEST, *(minutes * _MINUTE_S for minutes in (2, 5, 10, 15, 20, 30, 45, 60, 120, 240, 480)))
_RATES = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 16.0)
_REPAIRS_S = tuple(hours * _HOUR_S for hours in (4, 12, 24, 48, 72, 168))
# One is free at every failure.
_ENOUGH, _MOST_SPARES = -1, 8
# Of the write rate of the design's storage.
_WRITE_FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_USUAL_RATE, _USUAL_REPAIR_S = 4.0, 24 * _HOUR_S


def show(view: View, number: int) -> None:
    """Draw what another interval, other interruptions and faster storage would change; nothing of other networks."""
    design = view.result.design
    question = question_of(design, design.workloads[number])
    if question is None:
        return
    with st.expander("**Checkpoints and interruptions**"):
        _inside(view, design, question, number)


def _inside(view: View, design: DesignAnswer, question: GoodputQuestion, number: int) -> None:
    assumed = ""
    if write_rate_is_unknown(design.platform.storage):
        assumed = "; no source gives the write rate, a quarter of the read rate is assumed"
    look.note(
        f"The storage of the design writes at least {si(question.write_bytes_per_s, 'B/s')} and reads at "
        f"least {si(question.read_bytes_per_s, 'B/s')}{assumed}. These inputs do not change the design."
    )
    asked = _asked(question, f"{st.session_state.generation}/{number}")
    try:
        found = goodput_answer(asked)
    except SizerError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    plan = found.plan
    value, low, high = plan.goodput
    interval = "" if low == high else f"{share_text(low)} to {share_text(high)}"
    shown = (
        ("Goodput", share_text(value), interval),
        ("An interruption every", duration(plan.between_s[0]), ""),
        ("A checkpoint every", duration(plan.interval_s), f"written in {duration(plan.write_s)}"),
        ("Lost", f"{grouped(round(plan.lost_hours_per_week * plan.gpus))} GPU-hours", "a week"),
        ("Spare servers", str(found.spare_servers or 0), "all servers run 99\u202f% of the time"),
        ("Storage level", found.level or "below good", "NVIDIA DGX SuperPOD"),
    )
    look.figures("goodput-figures", shown)
    look.chart(look.spec_of(cycle_chart(found.plan, look.palette(), "container", waits=question.copy_s is None)))
    table = write_rates_table(found)
    st.subheader(plain(table.caption), anchor=False)
    look.table(table, view.catalog.sources)
    worth = storage_worth(view.evaluated, asked)
    if worth is not None:
        look.note(worth_text(worth))


def _asked(question: GoodputQuestion, about: str) -> GoodputQuestion:
    with st.container(horizontal=True, gap="large"):
        every = st.select_slider(
            "Checkpoint interval",
            sorted({*_INTERVALS_S, question.interval_s or _BEST}),
            value=question.interval_s or _BEST,
            format_func=lambda seconds: duration(seconds) if seconds else "optimal",
            key=f"checkpoint-interval/{about}",
            width=260,
        )
        stated = question.rate or _USUAL_RATE
        rate = st.select_slider(
            "Interruptions per 1,000 server-days",
            sorted({*_RATES, stated}),
            value=stated,
            format_func=lambda count: f"{count:g}",
            key=f"interruptions/{about}",
            width=260,
        )
        write = st.select_slider(
            "Write rate of the storage",
            [factor * question.write_bytes_per_s for factor in _WRITE_FACTORS],
            value=question.write_bytes_per_s,
            format_func=lambda rate: si(rate, "B/s"),
            key=f"write-rate/{about}",
            width=260,
        )
        repair_s = st.select_slider(
            "Repair time",
            _REPAIRS_S,
            value=_USUAL_REPAIR_S,
            format_func=duration,
            key=f"repair/{about}",
            width=260,
        )
        spares = st.select_slider(
            "Spare servers",
            [_ENOUGH, *range(_MOST_SPARES + 1)],
            value=_ENOUGH,
            format_func=lambda count: "enough" if count == _ENOUGH else str(count),
            key=f"spares/{about}",
            width=260,
        )
    is_usual = question.rate is None and rate == _USUAL_RATE
    return dataclasses.replace(
        question,
        interval_s=every or None,
        rate=None if is_usual else rate,
        repair_s=repair_s,
        write_bytes_per_s=write,
        spares=None if spares == _ENOUGH else int(spares),
    )
