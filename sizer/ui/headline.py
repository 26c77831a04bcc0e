"""Head of every page: the title, the verdict, and the figures of the design in one row."""

from typing import NamedTuple

import streamlit as st

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, grouped, si
from sizer.explain.figure import CAPACITY, GPUS, POWER, PRICE, RACK_UNITS, STAGE, rate_key
from sizer.present.text import result_text
from sizer.present.text.checks import check_label, missing_text, open_text
from sizer.present.text.verdict import verdict_text
from sizer.present.words import (
    NOT_PUBLISHED,
    TO_BE_QUOTED,
    estimate_text,
    money,
    percent,
    plural,
    sample_unit,
    sentence,
)
from sizer.questions.maximum.text import maximum_sentences
from sizer.sizing.checks import CheckResult
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult
from sizer.ui import state, toolbar, why
from sizer.ui.error_messages import RequestFault
from sizer.ui.request_form.names import label_at
from sizer.ui.state import View
from sizer.ui.typed import plain


class HeadlineItem(NamedTuple):
    """One number of the headline; ``key`` selects its explanation in :mod:`sizer.explain`."""

    key: str
    label: str
    value: str
    under: str = ""


def show(view: View) -> None:
    """Title and tools, errors of the request as typed, verdict and figures."""
    title = view.result.request.title if view.result is not None else state.get(("title",)) or "Deep-learning cluster"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head"):
        st.title(plain(title), anchor=False, width="stretch")
        toolbar.show(view)
    notice = st.session_state.pop("notice", "")
    if notice:
        st.toast(plain(notice))
    _errors(view)
    if view.result is None:
        return
    st.markdown(plain(sentence(verdict_text(view.result))))
    for text in maximum_sentences(view.result, with_amounts=not view.is_customer_mode)[:1]:
        st.markdown(plain(text))
    for check in view.result.design.checks:
        if check.result is CheckResult.OPEN:
            st.markdown(f":orange-badge[Open] {plain(check_label(check))}: {plain(open_text(check))}.")
    with st.container(horizontal=True, gap="medium", key="headline"):
        _verdict(view.result)
        for number, figure in enumerate(figures(view.result.design)):
            _figure(number, figure, view)


def _figure(number: int, figure: HeadlineItem, view: View) -> None:
    """A number that opens its explanation."""
    with st.container(key=f"figure-{number}", width="content", gap=None):
        st.caption(plain(figure.label))
        why.popover(figure.value, figure.key, view, "headline")
        st.caption(plain(figure.under) or "\u00a0")


def _errors(view: View) -> None:
    if st.session_state.get("refused"):
        st.error(st.session_state.refused, icon=":material/block:")
    last = " Showing the previous result." if view.result is not None else ""
    if view.infeasible:
        st.error(f"{plain(view.infeasible)}{last}", icon=":material/block:")
    elif view.faults:
        unplaced = [fault.text for fault in view.faults if not fault.path]
        placed = [_placed(fault) for fault in view.faults if fault.path]
        errors = " ".join(plain(text) for text in (*unplaced, *placed))
        st.error(f"**The request has errors.** {errors}{last}", icon=":material/edit_off:")


def _placed(fault: RequestFault) -> str:
    label = label_at(fault.path)
    return fault.text if fault.text.startswith(label) else f"{label}: {fault.text}"


def _verdict(result: SizingResult) -> None:
    """Whether the design meets the targets: sign, colour and word."""
    design = result.design
    if design.conditional_on and design.target_check is not CheckResult.NOT_MET:
        badge = ":orange-badge[:material/help: Conditional]"
    elif not result.needs_cluster:
        badge = ":blue-badge[:material/check: No cluster needed]"
    elif design.target_check is CheckResult.MET:
        badge = ":green-badge[:material/check: Met]"
    else:
        badge = ":orange-badge[:material/warning: Below the target]"
    with st.container(key="verdict", width="content", gap=None):
        st.caption("Verdict")
        st.markdown(badge)
        st.caption(plain(f"confidence {percent(design.probability)}"))
        if design.conditional_on:
            st.caption(plain(f"unknown: {missing_text(design.conditional_on)}"))


def figures(design: DesignAnswer) -> tuple[HeadlineItem, ...]:
    """The figures of a design in words."""
    parts = design.quantities
    usable = float(parts.usable_bytes[0])
    power = float(parts.power_max_w[0])
    racks = int(parts.racks[0])
    limiting = design.workloads[0]
    storage = design.platform.storage.name
    return (
        HeadlineItem(GPUS, "GPUs", grouped(design.n_gpus), f"in {plural(design.n_servers, 'server')}"),
        *(_rate(design, number) for number in range(len(design.workloads))),
        HeadlineItem(
            CAPACITY,
            "Usable capacity",
            si(usable, "B") if usable > 0 else NOT_PUBLISHED,
            plural(design.storage_nodes, "storage node") if design.storage_nodes else _short(storage),
        ),
        HeadlineItem(
            POWER,
            "Power, at least" if parts.unknown_power else "Power, at most",
            si(power, "W"),
            f"{plural(len(parts.unknown_power), 'device type')} unknown"
            if parts.unknown_power
            else "typical " + si(float(parts.power_typical_w[0]), "W"),
        ),
        HeadlineItem(RACK_UNITS, "Rack units", f"{float(parts.rack_units[0]):g}", f"in {plural(racks, 'rack')}"),
        _price(design),
        HeadlineItem(
            STAGE,
            "Bottleneck",
            STAGES[limiting.bottleneck],
            f"next: {STAGES[limiting.next_bottleneck].lower()}"
            if limiting.next_bottleneck != limiting.bottleneck
            else "",
        ),
    )


def _rate(design: DesignAnswer, number: int) -> HeadlineItem:
    """Rate or time of a workload with its 90 % interval."""
    answer = design.workloads[number]
    of_which = f"{answer.dnn.name}, " if len(design.workloads) > 1 else ""
    if answer.time is not None and answer.workload.target.time_to_train_s is not None:
        label, value = "time to train", _split(answer.time.total_s, "s")
    elif answer.workload.task == "training":
        label, value = "training rate", _split(answer.throughput, sample_unit(answer.dnn))
    else:
        label, value = "inference rate", _split(answer.throughput, sample_unit(answer.dnn))
    return HeadlineItem(rate_key(number), f"{of_which}{label}" if of_which else label.capitalize(), *value)


def _split(interval: Estimate, unit: str) -> tuple[str, str]:
    """Middle of an estimate, and its interval with the unit."""
    parts = estimate_text(interval, unit)
    if parts.is_range:
        return f"{parts.middle}{NARROW_SPACE}{parts.unit}", parts.spread
    return parts.middle, f"{parts.spread}{NARROW_SPACE}{parts.unit}" if parts.spread else parts.unit


def _short(name: str) -> str:
    return name.partition(",")[0].partition(" (")[0]


def _price(design: DesignAnswer) -> HeadlineItem:
    bill = design.bill
    open_items = f"{plural(bill.n_unpriced, 'item')} {TO_BE_QUOTED}"
    label = result_text.price_label(bill)
    if bill.net_total.is_unknown:
        return HeadlineItem(PRICE, label, TO_BE_QUOTED, open_items)
    if bill.is_complete:
        return HeadlineItem(PRICE, label, money(bill.total, bill.currency), "every item priced")
    return HeadlineItem(PRICE, f"{label}, at least", money(bill.total, bill.currency), open_items)


def below(view: View) -> None:
    """Versions that the numbers depend on, at the end of each page."""
    if view.result is None:
        return
    dates = sorted({line.price_date for line in view.result.design.bill.lines if line.price_date})
    prices = (
        f" Prices dated {dates[0]} to {dates[-1]}." if len(dates) > 1 else f" Prices dated {dates[0]}." if dates else ""
    )
    st.caption(
        f"{grouped(view.result.n_designs)} designs evaluated. Catalogue {view.result.catalog_digest[:10]}, calibration "
        f"{view.result.calibration_digest[:10]}.{plain(prices)} Modelled from published measurements; "
        "90 % intervals."
    )
