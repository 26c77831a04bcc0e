"""Head of every page: the title, the verdict, and the figures of the design in one row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, si
from sizer.catalog.labels import with_vendor
from sizer.catalog.schema import Source
from sizer.drawings.racks import at_least
from sizer.explain.figure import CAPACITY, GPUS, POWER, PRICE, RACK_UNITS, STAGE, explanation, rate_key
from sizer.explain.stages import Explanation
from sizer.present.text.calibration import NOT_PREDICTED, compared_time_s
from sizer.present.text.checks import amount_text, check_label, missing_text, open_text
from sizer.present.text.design_size import asked_target_text
from sizer.present.text.money import price_basis_text, price_range_text, quotes_text
from sizer.present.text.plan import existing_text
from sizer.present.text.result_text import stack_worth_text
from sizer.present.text.serving import conditions, most_users_text, used_stack_text
from sizer.present.text.verdict import equipment_texts, even_odds_text, measure_texts, selection_text, verdict_text
from sizer.present.words import NOT_PUBLISHED, TO_BE_QUOTED, chance, estimate_text, plural, sample_unit, sentence
from sizer.questions.maximum.text import maximum_sentences
from sizer.sizing.checks import CheckKind, CheckResult
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult
from sizer.ui import look, need, session_catalog, sharing, state
from sizer.ui.designs import saving
from sizer.ui.error_messages import RequestFault
from sizer.ui.request_form.forms import LIMITS, RequestPath, in_labels, label_at
from sizer.ui.state import View
from sizer.ui.typed import plain


class HeadlineItem(NamedTuple):
    """One number of the headline; ``key`` selects its explanation in :mod:`sizer.explain`."""

    key: str
    label: str
    value: str
    under: str = ""


def other_figures(design: DesignAnswer) -> tuple[HeadlineItem, ...]:
    """Figures besides the rate of the first workload and the price."""
    parts = design.quantities
    usable, nodes = design.usable_bytes, sum(tier.nodes for tier in design.tiers)
    power = float(parts.power_max_w[0])
    racks = parts.n_racks
    limiting = design.workloads[0]
    storage = design.platform.storage.name
    return (
        HeadlineItem(GPUS, "GPUs", grouped(design.n_gpus), f"in {plural(design.n_servers, 'server')}"),
        *(rate(design, number) for number in range(1, len(design.workloads))),
        HeadlineItem(
            CAPACITY,
            "Usable capacity",
            si(usable, "B") if usable > 0 else NOT_PUBLISHED,
            plural(nodes, "storage node") if nodes else storage.partition(",")[0].partition(" (")[0],
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
        HeadlineItem(
            STAGE,
            "Bottleneck",
            STAGES[limiting.bottleneck],
            f"next: {STAGES[limiting.next_bottleneck].lower()}"
            if limiting.next_bottleneck != limiting.bottleneck
            else "",
        ),
    )


def rate(design: DesignAnswer, number: int) -> HeadlineItem:
    """Rate or time of a workload with its 90 % interval."""
    answer = design.workloads[number]
    of_which = f"{answer.dnn.name}, " if len(design.workloads) > 1 else ""
    if answer.time is not None and answer.workload.target.time_to_train_s is not None:
        label, value = "time to train", _split(answer.time.total_s, "s", compared_time_s(answer))
    elif answer.workload.task == "training":
        label, value = "training rate", _split(answer.throughput, sample_unit(answer.dnn))
    else:
        label, value = "inference rate", _split(answer.throughput, sample_unit(answer.dnn))
    if not answer.rate_is_predicted:
        value = (NOT_PREDICTED, "")
    return HeadlineItem(rate_key(number), f"{of_which}{label}" if of_which else label.capitalize(), *value)


def _split(interval: Estimate, unit: str, like: float | None = None) -> tuple[str, str]:
    """Middle of an estimate, and its interval with the unit; ``like`` as for ``estimate_text``."""
    parts = estimate_text(interval, unit, like)
    if parts.is_range:
        return f"{parts.middle}{NARROW_SPACE}{parts.unit}", parts.spread
    spread = f"{parts.spread}{NARROW_SPACE}{parts.unit}" if parts.spread else ""
    return f"{parts.middle}{NARROW_SPACE}{parts.unit}", spread


def price(design: DesignAnswer) -> HeadlineItem:
    """What the design costs, and on what that rests."""
    return HeadlineItem(PRICE, "Price", price_range_text(design), price_basis_text(design))


COUNT = 3


@dataclass(frozen=True)
class Badge:
    """Sign, colour and words of a judgement: green is settled, orange needs attention."""

    colour: str
    icon: str
    text: str
    in_short: str = ""  # where there is one line


@dataclass(frozen=True)
class Tile:
    """One question of a customer with its answer."""

    question: str
    figure: HeadlineItem
    badge: Badge | None
    note: str = ""


def tiles(result: SizingResult, *, is_customer_mode: bool) -> tuple[Tile, Tile, Tile]:
    """The three answers."""
    return _purchase(result.design), _performance(result), _cost(result, is_customer_mode=is_customer_mode)


def _purchase(design: DesignAnswer) -> Tile:
    parts = design.quantities
    units, racks = float(parts.rack_units[0]), parts.n_racks
    power = at_least(bool(parts.unknown_power), si(float(parts.power_max_w[0]), "W"))
    storage = with_vendor(design.platform.storage)
    count = design.storage_nodes
    nodes = f"{count} × {storage} {by_count(count, 'node', 'nodes')}" if count else storage
    gpus = f"{grouped(design.n_gpus)} × {design.platform.gpu.name}"
    size = f"{grouped(units)} {by_count(units, 'rack unit', 'rack units')} in {plural(racks, 'rack')}, {power}"
    bought, server = design.servers_bought, with_vendor(design.platform.server)
    there = design.n_servers - bought
    value = f"{grouped(bought)} × {server}" if bought else "No GPU server"
    at_hand = f" besides {grouped(there)} at hand" if there and bought else ""
    used = "" if bought else f"{grouped(there)} × {server} at hand: "
    return Tile(
        "What to buy", HeadlineItem(GPUS, f"GPU servers{at_hand}", value, f"{used}{gpus}, with {nodes}; {size}"), None
    )


def _performance(result: SizingResult) -> Tile:
    design = result.design
    first = design.workloads[0]
    item = rate(design, 0)
    under = f"{item.under}; target {asked_target_text(result, first)}" if item.under else item.under
    serving, is_most = first.serving, result.asked_request.maximized is not None
    room = most_users_text(serving) if serving is not None and (serving.work.counts_people or is_most) else ""
    note = f"Serves {room}, with {_software(design)}" if room else f"with {_software(design)}"
    if first.time is not None and first.workload.target.time_to_train_s is None:
        middle, ends = _split(first.time.total_s, "s")
        note = f"Trains in {middle} ({ends}), {note}"
    return Tile("Will it do the job?", item._replace(under=under), _verdict(result), note)


def _software(design: DesignAnswer) -> str:
    """Software stacks that the rates suppose, each once."""
    return ", ".join(dict.fromkeys(map(used_stack_text, design.workloads)))


def _verdict(result: SizingResult) -> Badge:
    """Whether the design meets the targets, and with which probability."""
    design = result.design
    probability = design.probability
    if design.conditional_on and design.target_check is not CheckResult.NOT_MET:
        return Badge("orange", "help", f"Not known: {missing_text(design.conditional_on)}")
    if probability is None:
        return Badge("orange", "help", "Probability not known")
    if not all(answer.rate_is_predicted for answer in design.workloads):
        return Badge("orange", "help", f"Not known: no measured rate of {design.platform.gpu.name}")
    share = chance(probability)
    if design.target_check is CheckResult.NOT_MET:
        return Badge("orange", "warning", f"Below the target, probability {share}", f"below, {share}")
    if design.late:
        return Badge("orange", "help", f"Met on a condition, probability {share}", f"on a condition, {share}")
    if even_odds_text(design):
        return Badge("orange", "help", f"Even odds, probability {share}", f"even odds, {share}")
    if not result.needs_cluster:
        return Badge("green", "check", f"No cluster needed, probability {share}", f"met, {share}")
    return Badge("green", "check", f"Met, probability {share}", f"met, {share}")


def _cost(result: SizingResult, *, is_customer_mode: bool) -> Tile:
    item = price(result.design)
    changed = 0 if is_customer_mode else len(result.design.bill.changed_quantities)
    if changed:
        item = item._replace(under=f"{item.under}; {plural(changed, 'line')} with a quantity changed by hand")
    return Tile("What does it cost?", item, _money(result.design, result.request.currency))


def _money(design: DesignAnswer, currency: str) -> Badge | None:
    """What is open about the price: main items without one, then the budget, then other items."""
    bill = design.bill
    open_lines = [line for line in bill.bought if line.extended_net is None]
    main = [line for line in open_lines if line.category in ("compute", "storage")]
    budget = next((check for check in design.checks if check.kind is CheckKind.BUDGET), None)
    if budget is not None:
        amount = amount_text(budget, budget.asked, currency)
        if budget.result is CheckResult.NOT_MET:
            return Badge("red", "block", f"Over the budget of {amount}")
        if budget.result is CheckResult.OPEN:
            return Badge("orange", "help", f"Budget of {amount} open")
        # The guide says as much: met, whatever main items cost within their ranges.
        return Badge("green", "check", f"Within the budget of {amount}{' at estimated prices' if main else ''}")
    if main:
        return Badge("orange", "help", f"{plural(len(main), 'main item')} {TO_BE_QUOTED}")
    if not bill.is_complete:
        return Badge("orange", "help", "Incomplete")
    return Badge("green", "check", "Every item priced")


def sentences(result: SizingResult, *, is_customer_mode: bool) -> Iterator[str]:
    """What the tiles do not say: a verdict against a cluster, the reason of the choice, and the decisive quotes."""
    with_amounts = not is_customer_mode
    design = result.design
    if not result.needs_cluster or design.probability is None or len(design.workloads) > 1 or result.request.team:
        yield sentence(verdict_text(result))
    else:
        yield from measure_texts(result, names_key=False)
        yield from equipment_texts(result)
        if even_odds_text(design):
            yield even_odds_text(design)
        for answer in design.late:
            yield from (f"This holds {condition.text}." for condition in conditions(design, answer))
    if existing := existing_text(design.existing, design.plan):
        yield existing
    yield from maximum_sentences(result, with_amounts=with_amounts)[:1]
    if is_customer_mode:
        return  # what other designs cost is no matter of a customer
    yield sentence(selection_text(result, with_amounts=with_amounts))
    if quotes := quotes_text(result, with_amounts=False):
        yield quotes


def open_checks(result: SizingResult) -> list[str]:
    """Checks that a missing fact leaves open, each with that fact."""
    opened = [check for check in result.design.checks if check.result is CheckResult.OPEN]
    return [f"{check_label(check)}: {open_text(check)}." for check in opened]


def stacks(result: SizingResult) -> list[str]:
    """The software stack of each workload, and what the choice is worth."""
    return list(dict.fromkeys(map(stack_worth_text, result.design.workloads)))


_HIGHEST = {"maximum": "rate"}


def show_toolbar(view: View) -> None:
    """Draw the row of buttons."""
    with st.container(horizontal=True, width="content", gap="xsmall", key="toolbar"):
        for label, act, is_off, tip in (
            ("Undo", state.undo, len(st.session_state.steps) < 2, "Undo the last change of the request."),
            ("Redo", state.redo, not st.session_state.undone, "Redo the change."),
        ):
            key, icon = label.lower(), f":material/{label.lower()}:"
            st.button(label, key=key, on_click=act, icon=icon, type="tertiary", disabled=is_off, help=tip)
        _share(view)
        saving.controls(view)
        toggle = f"customer-mode/{state.is_customer_mode()}"
        st.toggle(
            "Customer view",
            value=state.is_customer_mode(),
            key=toggle,
            on_change=state.if_stored(toggle, _customer_mode),
            args=(toggle,),
            help="Hides costs, discounts and internal notes on every page and in every file.",
        )


def _customer_mode(toggle: str) -> None:
    # What it shows, not the contrary of what holds: it may be called for a toggle that nobody touched.
    st.session_state.customer_mode = st.session_state[toggle]


def _share(view: View) -> None:
    with st.popover("Share", icon=":material/link:", type="tertiary", on_change="rerun", key="share") as shared:
        if not shared.open:
            return
        if view.sized is None or not view.is_current:
            st.info("A request with errors cannot be shared; correct it first.", icon=":material/edit_off:")
            return
        here = saving.saved()
        if here is not None and not saving.is_unsaved(view) and not view.is_customer_mode:
            look.note("For colleagues: the saved revision with its prices and discounts.")
            st.code(saving.address_of(here["id"], here["revision"]), language=None, wrap_lines=True)
        request = state.shareable_request(view)
        book = "" if view.is_customer_mode else st.session_state.get(session_catalog.PRICE_BOOK_NAME, "")
        address = sharing.link(st.context.url or "", request, book)
        if address is None:
            st.info(
                "The request is too long for a link. Save the design, or send the request as a file.",
                icon=":material/info:",
            )
            return
        look.note("This address opens the same request and the same design. It carries no discounts.")
        st.code(address, language=None, wrap_lines=True)
        if book == session_catalog.ENTERED:
            look.note("The link does not include the prices entered in the app.")
        elif book:
            look.note(f"The link names the price book {book} and does not include its prices.")


def popover(label: str, key: str, view: View, place: str, quantity: str) -> None:
    """A small button that opens the explanation of a figure, drawn when opened.

    ``label``: of the button: the value itself, or words. Shown as it is, not as Markdown. ``place``: tells apart two
    buttons for one figure on one page. ``quantity``: what the value is of. It stands next to the button; in its
    label, small, it is for screen readers only.
    """
    name = f":small[{plain(quantity)}:] {plain(label)}"
    with st.popover(name, type="tertiary", on_change="rerun", key=f"why-{place}-{key}") as opened:
        if opened.open:
            show_inside(view.once("explanation", lambda: explanation(view.evaluated, key), key), view.catalog.sources)


def show_inside(explanation: Explanation, sources: Mapping[str, Source]) -> None:
    """Draw an explanation without the button."""
    st.markdown(f"**{plain(explanation.title)}: {plain(explanation.answer)}**")
    if explanation.formula:
        st.markdown(f"*{plain(explanation.formula)}*")
    if explanation.inputs.rows:
        look.table(explanation.inputs, sources)
    for head, sentences in (
        ("Derivation", explanation.reasons),
        ("Uncertainty", explanation.uncertainty),
        ("Assumptions", explanation.assumptions),
    ):
        if sentences:
            st.caption(f"**{head}**")
            look.notes(sentences)


def show(view: View, *, is_first: bool) -> None:
    """Title, tools, errors of the request as typed, and the answer: three tiles on the first page, a line on others.

    Out of date it is grey; while a need has no answer there is none.
    """
    title = view.result.request.title if view.sized is not None else state.get(("title",)) or "Deep-learning cluster"
    if view.has_question:  # a title of another request would stand over the need
        title = "No answer yet"
    is_line = not is_first and view.sized is not None and not view.has_question
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="head-line" if is_line else "head"
    ):
        st.title(plain(title), anchor=False, width="content" if is_line else "stretch")
        if is_line:
            with st.container(key="answer" if view.is_current else "previous-answer", width="stretch"):
                _line(view)
        show_toolbar(view)
    if notice := st.session_state.pop("notice", ""):
        st.toast(plain(notice), duration="long")  # a run that sizes takes longer than the usual four seconds
    for key, draw, icon in (("refused", st.error, "block"), ("told", st.info, "info")):
        if text := st.session_state.get(key):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                draw(text, icon=f":material/{icon}:")
                st.button(
                    "Dismiss", key=f"dismiss-{key}", on_click=st.session_state.pop, args=(key, None), type="tertiary"
                )
    if view.infeasible:
        st.error(plain(view.infeasible), icon=":material/block:")
        _ways_out()
    elif view.faults:
        unplaced = [fault.text for fault in view.faults if not fault.path]
        placed = [_placed(fault) for fault in view.faults if fault.path]
        errors = " ".join(plain(text) for text in (*unplaced, *placed))
        st.error(f"**The request has errors.** {errors}", icon=":material/edit_off:")
    if view.sized is None:
        return
    if view.has_question:
        where = "above" if is_first else "on the page Requirements"
        st.warning(f"**This need has no answer yet.** Answer the question {where}.", icon=":material/history:")
        previous = plain(view.result.request.title)
        st.button(f"Return to {previous}", key="return", on_click=need.forget, icon=":material/undo:")
        return
    if not view.is_current:
        st.caption(":material/history: **Showing the previous result.**")
    if not is_line:
        with st.container(key="answer" if view.is_current else "previous-answer"):
            _answer(view)


def _ways_out() -> None:
    """Buttons for a request that no design meets: the most within its limits, or the request without one of them."""
    limits: list[tuple[str, RequestPath]] = [
        (field.label, field.keys) for column in LIMITS for field in column if state.get(field.keys) is not None
    ]
    restricts = any(not key.startswith("prefer") for key in state.get(("platforms",)) or ())
    without = [*limits, *([("Allowed equipment", ("platforms",))] if restricts else [])]
    works = state.get(("workload",)) or []
    with st.container(horizontal=True, gap="xsmall", key="ways-out"):
        if limits and len(works) == 1 and not {"gpus_busy", "maximum"} & set(works[0].get("target", ())):
            most: dict[RequestPath, object] = {("team",): None, ("growth",): None, ("workload", 0, "target"): _HIGHEST}
            tip = "Replaces the target by the highest rate, without team and growth; Undo restores them."
            st.button("Most within the limits", key="most", on_click=_change, args=(most,), help=tip)
        for label, path in without:
            tip = "Removes it from the request; Undo restores it."
            st.button(f"Without: {label}", key=f"without-{path[-1]}", on_click=_change, args=({path: None},), help=tip)


def _change(values: Mapping[RequestPath, object]) -> None:
    for path, value in values.items():
        state.put(path, value)
    state.refresh()


def _answer(view: View) -> None:
    with st.container(horizontal=True, gap="medium", key="headline"):
        for number, tile in enumerate(_tiles(view)):
            _tile(number, tile, view)
    _sentences(view)
    look.folded("More figures and the software stack", "more", lambda: _more(view))


def _line(view: View) -> None:
    """The answer in one line; the reason and the other figures open from it."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="headline"):
        for number, tile in enumerate(_tiles(view)):
            _figure(number, tile.figure, view, "" if number else tile.question)
            if tile.badge is not None and (number == 1 or tile.badge.colour == "red"):
                _badge(tile.badge, tile.badge.in_short or tile.badge.text)
        with st.popover("More", type="tertiary", key="more", on_change="rerun") as more:
            if more.open:
                _sentences(view)
                _more(view)


def _tiles(view: View) -> tuple[Tile, Tile, Tile]:
    return tiles(view.result, is_customer_mode=view.is_customer_mode)


def _sentences(view: View) -> None:
    texts = sentences(view.result, is_customer_mode=view.is_customer_mode)
    st.markdown(plain(in_labels(" ".join(texts))))
    for text in open_checks(view.result):
        st.markdown(f":orange-badge[Open] {plain(text)}")


def _more(view: View) -> None:
    with st.container(horizontal=True, gap="medium", key="figures"):
        for number, figure in enumerate(other_figures(view.result.design), start=COUNT):
            _figure(number, figure, view)
    look.notes(stacks(view.result))


def _badge(badge: Badge, text: str) -> None:
    st.markdown(f":{badge.colour}-badge[:material/{badge.icon}: {plain(text)}]", width="content")


def _tile(number: int, tile: Tile, view: View) -> None:
    """One answer: the question with its badge, and a number that opens its explanation."""
    with st.container(key=f"tile-{number}", width="stretch", gap=None):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"head-of-tile-{number}"):
            st.markdown(f"**{tile.question}**", width="content")
            if tile.badge is not None:
                _badge(tile.badge, tile.badge.text)
        _figure(number, tile.figure, view, "" if number else tile.question)
        if tile.note:
            st.caption(plain(tile.note))


def _figure(number: int, figure: HeadlineItem, view: View, quantity: str = "") -> None:
    """A number that opens its explanation; ``quantity``: what it is of where the words above it do not say."""
    with st.container(key=f"figure-{number}", width="content", gap=None):
        st.caption(plain(figure.label))
        popover(figure.value, figure.key, view, "tile" if number == 0 else "headline", quantity or figure.label)
        st.caption(plain(figure.under) or "\u00a0")


def _placed(fault: RequestFault) -> str:
    label = label_at(fault.path)
    return fault.text if fault.text.startswith(label) else f"{label}: {fault.text}"


def below(view: View) -> None:
    """Versions that the numbers depend on, at the end of each page."""
    if view.sized is None:
        return
    dates = sorted({line.price_date for line in view.result.design.bill.lines if line.price_date})
    prices = (
        f" Prices dated {dates[0]} to {dates[-1]}." if len(dates) > 1 else f" Prices dated {dates[0]}." if dates else ""
    )
    st.caption(
        f"{grouped(view.result.n_designs)} designs evaluated. Catalogue {view.result.catalog_digest[:10]}, calibration "
        f"{view.result.calibration_digest[:10]}.{plain(prices)} Modelled from published measurements; "
        "90\u00a0% intervals."
    )
