"""Page What-if, failures: what each loss costs, and what checkpoints and interruptions leave."""

from typing import get_args

import streamlit as st

from sizer.base.errors import SizerError
from sizer.base.quantities import duration, grouped, si
from sizer.present.availability import share_text
from sizer.present.text.checks import ONE_LOST, listed_losses, spare_sentence
from sizer.present.words import chance, percent, sample_unit
from sizer.questions.failures.analysis import FailureCase, failure_cases
from sizer.questions.failures.goodput import GoodputQuestion, goodput_answer, question_of, storage_worth, worth_text
from sizer.questions.failures.text import (
    effect_text,
    failure_title,
    failures_table,
    maintenance_table,
    remedy_text,
    targets_text,
    tolerated_losses_table,
)
from sizer.sizing.result import DesignAnswer
from sizer.sizing.servers_needed import spare_cost
from sizer.sizing.stages.platform_columns import write_rate_is_unknown
from sizer.ui import fields, look, state
from sizer.ui.error_messages import sentences
from sizer.ui.performance.page import chosen_workload
from sizer.ui.request_form.forms import RequestPath
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import Loss


def show_checkpoints(view: View, number: int) -> None:
    """Draw what checkpoints and interruptions cost, and what faster storage would save; nothing of other networks."""
    design = view.result.design
    question = question_of(design, design.workloads[number])
    if question is not None:
        with st.expander("**Checkpoints and interruptions**"):
            _checkpoints(view, design, question)


def _checkpoints(view: View, design: DesignAnswer, question: GoodputQuestion) -> None:
    assumed = ""
    if write_rate_is_unknown(design.platform.storage):
        assumed = "; no write rate is known to us, a quarter of the read rate is assumed"
    look.note(
        f"The storage of the design writes at least {si(question.write_bytes_per_s, 'B/s')} and reads at "
        f"least {si(question.read_bytes_per_s, 'B/s')}{assumed}. The checkpoint interval is entered on the page "
        "Requirements, Data on the storage; interruptions under Redundancy."
    )
    try:
        answer = goodput_answer(question)
    except SizerError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    plan = answer.plan
    value, low, high = plan.goodput
    interval = "" if low == high else f"{share_text(low)} to {share_text(high)}"
    shown = (
        ("Goodput", share_text(value), interval),
        ("An interruption every", duration(plan.between_s[0]), ""),
        ("A checkpoint every", duration(plan.interval_s), f"written in {duration(plan.write_s)}"),
        ("Lost", f"{grouped(round(plan.lost_hours_per_week * plan.gpus))} GPU-hours", "a week"),
        ("Spare servers", str(answer.spare_servers or 0), "all servers run 99\u202f% of the time"),
        ("Storage level", answer.level or "below good", "NVIDIA DGX SuperPOD"),
    )
    look.figures("goodput-figures", shown)
    worth = storage_worth(view.evaluated, question)
    if worth is not None:
        look.note(worth_text(worth))


_HERE: RequestPath = ("resilience", "keeps_targets_without")


def show(view: View) -> None:
    """Draw the question."""
    design = view.result.design
    number = chosen_workload(design, "what-if")
    st.header("Effect of failures", anchor=False)
    cases = view.once("failures", lambda: failure_cases(view.evaluated), doing="Calculating the loss of each part")
    case = _chosen(cases)
    answer = view.result.design.workloads[number]
    unit = sample_unit(answer.dnn)
    before = si(float(answer.throughput.value), unit)
    found = [("Throughput", si(case.throughput[number], unit), f"{percent(case.share[number])} of {before}")]
    if case.meets_target:
        odds = f"{chance(case.probability[number])} probability, {chance(answer.probability)} before"
        asked = f"requested confidence {percent(view.result.request.confidence)}"
        found += [
            ("Target", "met" if case.meets_target[number] else "missed", odds),
            ("All targets", targets_text(case), asked),
            ("Longest outage in a run", _window(case.outage_s[number]), "once, without missing the target"),
        ]
    if case.within_wait is not None:
        team = view.result.request.team
        asked = f"{percent(team.wait_probability)} requested" if team is not None else ""
        found.append(("Jobs that start within their wait", percent(case.within_wait), asked))
    look.figures("what-if-figures", found)
    st.markdown(plain(f"{effect_text(case)} {remedy_text(case)}"))
    # Losses that the request asks the design to tolerate, what that costs, and a button that asks for more.
    losses = view.result.request.resilience.keeps_targets_without
    cost = view.once("spares", lambda: spare_cost(view.result.request, design, view.catalog))
    if cost is not None:
        st.markdown(plain(spare_sentence(cost, view.result.request.currency, with_amounts=not view.is_customer_mode)))
        st.subheader("Losses that the design tolerates", anchor=False)
        look.table(tolerated_losses_table(cost.losses, cases), view.catalog.sources)
    elif not losses:
        look.note("The request asks for no redundancy: the cost of each loss is shown, and no spare part is bought.")
    with st.container(horizontal=True, gap="small"):
        if case.loss is not None:
            st.button(
                f"Tolerate the loss of {ONE_LOST[case.loss]}",
                icon=":material/health_and_safety:",
                key="keep-without",
                on_click=_ask,
                args=((*losses, case.loss),),
                disabled=case.loss in losses or not view.is_current,
                help="Writes it into the request, which is then resized with one more part where needed.",
            )
        if losses:
            none, icon, is_off = "Without redundancy", ":material/undo:", not view.is_current
            st.button(none, icon=icon, key="no-reserve", on_click=_ask, args=((),), disabled=is_off)
    show_checkpoints(view, number)
    sources = view.catalog.sources
    for table in (failures_table(cases, design.workloads), maintenance_table(cases, serves=design.only_serves)):
        if table is not None:
            look.table(table, sources, table.caption)


def _chosen(cases: tuple[FailureCase, ...]) -> FailureCase:
    """The chosen failure; that of a server at first."""
    found: dict[str, FailureCase] = {case.key: case for case in cases}
    first = "server" if "server" in found else next(iter(found))
    names = {key: plain(failure_title(found[key])) for key in dict.fromkeys((first, *found))}
    hint = "One part at a time. Planned maintenance has the same effect."
    return found[fields.stored_choice("Failed part", names, "failure", hint)]


def _window(window_s: float) -> str:
    if window_s == float("inf"):
        return "any time"
    return duration(window_s) if window_s >= 60 else "never"


# --- redundancy


def _ask(losses: tuple[Loss, ...]) -> None:
    """Write the losses into the request, in the order of its schema."""
    chosen = tuple(loss for loss in get_args(Loss) if loss in losses)
    state.put(_HERE, list(chosen))
    state.refresh(
        f"The design must now tolerate the loss of {listed_losses(chosen)}. The request was resized."
        if chosen
        else "The request asks for no redundancy. It was resized."
    )
