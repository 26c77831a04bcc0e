"""What stands above every page: the request, the verdict, and the numbers of the design in one row."""

import streamlit as st

from sizer.base.estimate import Estimate
from sizer.base.quantities import grouped, si
from sizer.report.words import NOT_PUBLISHED, TO_BE_QUOTED, estimate, money, percent, plural, sample_unit, sentence
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult
from sizer.ui import state
from sizer.ui.state import View
from sizer.ui.typed import plain

Figures = tuple[tuple[str, str, str], ...]  # label, value, what stands under it


def show(view: View) -> None:
    """Title, what is wrong with the request as typed, verdict and figures."""
    title = view.result.request.title if view.result is not None else state.get(("title",)) or "Deep-learning cluster"
    st.title(plain(title), anchor=False)
    _trouble(view)
    if view.result is None:
        return
    _verdict(view.result)
    with st.container(horizontal=True, gap="medium", key="headline"):
        for label, value, under in figures(view.result.design):
            st.metric(label, value, under or None, delta_color="off", delta_arrow="off", width="content")


def _trouble(view: View) -> None:
    last = " The numbers below are those of the last request that was." if view.result is not None else ""
    if view.infeasible:
        st.error(f"{plain(view.infeasible)}{last}", icon=":material/block:")
    elif view.faults:
        unplaced = [fault.text for fault in view.faults if not fault.path]
        placed = [_placed(fault) for fault in view.faults if fault.path]
        said = " ".join(plain(text) for text in (*unplaced, *placed))
        st.error(f"**The request is not understood.** {said}{last}", icon=":material/edit_off:")


def _placed(fault: state.Fault) -> str:
    label = state.label_of(str(next(part for part in reversed(fault.path) if isinstance(part, str))))
    return fault.text if fault.text.startswith(label) else f"{label}: {fault.text}"


def _verdict(result: SizingResult) -> None:
    met = all(answer.meets_target for answer in result.design.workloads)
    chance = percent(result.design.probability)
    if not result.needs_cluster:
        badge = f":blue-badge[:material/check: No cluster needed, met at {plain(chance)}]"
    elif met:
        badge = f":green-badge[:material/check: Met at {plain(chance)}]"
    else:
        badge = f":orange-badge[:material/warning: Below the target, met at {plain(chance)}]"
    st.markdown(f"{badge} {plain(sentence(result.verdict))}")


def figures(design: DesignAnswer) -> Figures:
    """The figures of a design in words: label, value, what stands under it."""
    parts = design.quantities
    usable = float(parts.usable_bytes[0])
    power = float(parts.power_max_w[0])
    racks = int(parts.racks[0])
    limiting = design.workloads[0]
    storage = design.platform.storage.name
    return (
        ("GPUs", grouped(design.n_gpus), f"in {plural(design.n_servers, 'server')}"),
        *_rates(design),
        (
            "Usable capacity",
            si(usable, "B") if usable > 0 else NOT_PUBLISHED,
            plural(design.storage_nodes, "storage node") if design.storage_nodes else _short(storage),
        ),
        (
            "Power, at least" if parts.unknown_power else "Power, at most",
            si(power, "W"),
            f"{plural(len(parts.unknown_power), 'part')} unknown"
            if parts.unknown_power
            else "typical " + si(float(parts.power_typical_w[0]), "W"),
        ),
        ("Rack units", f"{float(parts.rack_units[0]):g}", f"in {plural(racks, 'rack')}"),
        _price(design),
        (
            "Limiting stage",
            STAGES[limiting.bottleneck],
            f"next: {STAGES[limiting.next_bottleneck].lower()}"
            if limiting.next_bottleneck != limiting.bottleneck
            else "",
        ),
    )


def _rates(design: DesignAnswer) -> Figures:
    """Rate or time of each workload with its 90 % interval."""
    several = len(design.workloads) > 1
    rows = []
    for answer in design.workloads:
        prefix = f"{answer.dnn.name}, " if several else ""
        if answer.time is not None and answer.workload.target.time_to_train_s is not None:
            rows.append((f"{prefix}time to train" if several else "Time to train", *_split(answer.time.total_s, "s")))
        else:
            label = "rate" if answer.workload.task == "training" else "validation rate"
            rows.append(
                (
                    f"{prefix}{label}" if several else f"Training {label}" if label == "rate" else label.capitalize(),
                    *_split(answer.throughput, sample_unit(answer.dnn)),
                )
            )
    return tuple(rows)


def _split(interval: Estimate, unit: str) -> tuple[str, str]:
    """Middle of an estimate, and its interval with the unit."""
    text = estimate(interval, unit)
    if " ± " in text:
        middle, _, rest = text.partition(" ± ")
        return middle, f"± {rest}"
    if " (" in text:
        middle, _, rest = text.partition(" (")
        return middle, rest.rstrip(")")
    number, _, printed = text.rpartition("\u202f")
    return number, printed


def _short(name: str) -> str:
    return name.partition(",")[0].partition(" (")[0]


def _price(design: DesignAnswer) -> tuple[str, str, str]:
    bill = design.bill
    open_items = f"{plural(bill.n_unpriced, 'item')} {TO_BE_QUOTED}"
    label = "Net price" if bill.has_discount else "List price"
    if bill.net_total.is_unknown:
        return (label, TO_BE_QUOTED, open_items)
    if bill.is_complete:
        return (label, money(bill.total, bill.currency), "every item priced")
    return (f"{label}, at least", money(bill.total, bill.currency), open_items)


def below(view: View) -> None:
    """Versions that the numbers depend on; they stand at the end of each page."""
    if view.result is None:
        return
    dates = sorted({line.price_date for line in view.result.design.bill.lines if line.price_date})
    prices = (
        f" Prices dated {dates[0]} to {dates[-1]}." if len(dates) > 1 else f" Prices dated {dates[0]}." if dates else ""
    )
    st.caption(
        f"{grouped(view.result.n_designs)} designs judged. Catalogue {view.result.catalog_digest[:10]}, calibration "
        f"{view.result.calibration_digest[:10]}.{plain(prices)} Modelled from published measurements; "
        "intervals cover 90 %."
    )
