"""Page What-if: one question after another; the first moves two inputs by sliders."""

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import NamedTuple

import streamlit as st

from sizer.base.errors import SizerError
from sizer.base.quantities import BYTES, SAMPLES_PER_S, SECONDS, QuantityKind, duration, grouped, significant
from sizer.bom.prices import prices_for
from sizer.bom.rental import run_rental
from sizer.present.availability import checkpoint_tables
from sizer.present.text.verdict import verdict_text
from sizer.present.words import inside_sentence, listed, percent, plural, sample_unit, sentence
from sizer.questions.compare.designs import Compared, figures_table
from sizer.questions.data.analysis import data_plan
from sizer.questions.data.text import (
    assumptions_table,
    copy_text,
    ingest_text,
    questions,
    required_capacity_table,
    routes_table,
    transform_text,
    validation_table,
)
from sizer.questions.rent.rent_or_buy import (
    break_even_text,
    finding,
    owning_text,
    rent_or_buy,
    rent_text,
    rental_table,
    use_of,
    years_text,
)
from sizer.questions.scale.analysis import ArrangedDesign, EqualGpuComparison, job_gpus, scale_comparison
from sizer.questions.scale.text import excluded_table, hardware_table, rates_table, steps_table, storage_text
from sizer.questions.verdict.analysis import claims
from sizer.questions.verdict.simplest_design import SimplestDesign, simplest_design
from sizer.questions.verdict.text import claims_table, simplest_table, simplest_text
from sizer.questions.what_if.answer import (
    SERVERS,
    TARGET,
    BreakEven,
    FixedDesignRates,
    VariedInput,
    break_even_table,
    fixed_design_along,
    fixed_design_break_evens,
    fixed_design_figures,
    fixed_design_inputs,
    fixed_design_rates,
    gpus_of,
    request_changes,
    target_kind,
)
from sizer.questions.what_if.sensitivity import influence_table, sensitivities
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.ui import fields, look, state
from sizer.ui.designs import compare
from sizer.ui.error_messages import sentences
from sizer.ui.performance.page import chosen_workload
from sizer.ui.questions import failures, growth, team
from sizer.ui.questions.tried import Tried
from sizer.ui.request_form.forms import RequestPath, in_labels, label_at
from sizer.ui.requirements.surroundings import RENTAL
from sizer.ui.state import View
from sizer.ui.typed import plain, written
from sizer.workload.data import DataRequest
from sizer.workload.optional_tables import Rental
from sizer.workload.request import SizingRequest


class InputPair(NamedTuple):
    """Two inputs and the positions of their sliders."""

    x: VariedInput
    y: VariedInput
    at: tuple[int, int]

    @property
    def values(self) -> dict[str, float]:
        """Values of both."""
        return {one.key: one.values[place] for one, place in self.placed}

    @property
    def placed(self) -> tuple[tuple[VariedInput, int], tuple[VariedInput, int]]:
        """Each input with the position of its slider."""
        return (self.x, self.at[0]), (self.y, self.at[1])

    @property
    def is_moved(self) -> bool:
        """Whether a slider was moved."""
        return self.at != (self.x.base, self.y.base)


def chosen_pair(tried: Tried, inputs: Sequence[VariedInput]) -> InputPair:
    """Two inputs chosen by the user, each with its slider."""
    known = {one.key: one for one in inputs}
    chosen: list[VariedInput] = []
    places: list[int] = []
    for column, label in zip(st.columns(2, gap="large"), ("First input", "Second input"), strict=True):
        others = {key: one.name for key, one in known.items() if one not in chosen}
        with column:
            one = known[fields.stored_choice(label, others, f"what-if/{label}")]
            chosen.append(one)
            places.append(_slider(tried, one))
    return InputPair(chosen[0], chosen[1], (places[0], places[1]))


def _slider(tried: Tried, varied_input: VariedInput) -> int:
    """Slider over the values of an input; returns its position."""
    place: int = st.select_slider(
        varied_input.name,
        range(len(varied_input.values)),
        format_func=lambda place: varied_input.texts[place],
        **tried.widget(varied_input.key, varied_input.base),
    )
    st.caption(f"Present value: {plain(varied_input.texts[varied_input.base])}. {plain(varied_input.note)}")
    return place


_KINDS: Mapping[str, QuantityKind] = {
    "sample_bytes": BYTES,
    "dataset_bytes": BYTES,
    "samples_per_s": SAMPLES_PER_S,
    "time_to_train_s": SECONDS,
}


def show(view: View) -> None:
    """Draw the page: the chosen question alone."""
    is_served = all(answer.serving is not None for answer in view.result.design.workloads)
    others = _OF_DATA_SETS if is_served else _OF_SERVING
    listed = [name for name in _QUESTIONS if name not in others]
    if st.session_state.get("question") not in listed:
        st.session_state.question = listed[0]
    st.pills("Question", listed, key="question", required=True, persist_state="session")
    _QUESTIONS[st.session_state.question](view)


def _two_inputs(view: View) -> None:
    number = chosen_workload(view.result.design, "what-if")
    model = view.once("workloads", lambda: view.evaluated.workloads)[number]
    st.header("Vary two inputs", anchor=False)
    tried = Tried("what-if", f"{number} {view.request_json}")
    look.note("Servers, storage and network stay the same; the figures show the rate they reach.")
    pair = chosen_pair(tried, fixed_design_inputs(model))
    _fixed(view, number, model, pair)
    _buttons(view, tried, number, model, pair)
    _influences(view, number, model)


# --- this design, changed


def _fixed(view: View, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    now = _fixed_at(view, number, pair.placed, model)
    look.figures("what-if-figures", fixed_design_figures(model, now, _fixed_at(view, number, (), model)))

    def found(x: VariedInput, other: VariedInput, place: int) -> tuple[BreakEven, ...]:
        others = {other.key: other.values[place]}
        return fixed_design_break_evens(model, x, fixed_design_along(model, x, others), others)

    def draw() -> None:  # along each input, the other one at its present value
        (x, at_x), (y, at_y) = pair.placed
        for row, along in enumerate(((x, y, at_y), (y, x, at_x)), 1):
            one, other, at = along
            # The other input in words, where it is not as it is.
            others = [] if at == other.base else [f"{inside_sentence(other.name)} at {other.texts[at]}"]
            points = view.once("break-evens", partial(found, *along), number, *along)
            look.table(break_even_table(one, others, points, row), view.catalog.sources)

    look.folded("**Break-even points**", "break-evens", draw)


def _fixed_at(
    view: View, number: int, placed: tuple[tuple[VariedInput, int], ...], model: WorkloadOnDesign
) -> FixedDesignRates:
    values = {one.key: one.values[place] for one, place in placed}
    return view.once("fixed design", lambda: fixed_design_rates(model, values), number, placed)


# --- figures, and what is done with the values


def _buttons(view: View, tried: Tried, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    """Reset the sliders, or write their values into the request."""
    values = {one.key: one.values[place] for one, place in pair.placed if place != one.base}
    taken, left = _taken(model, pair)
    tried.buttons(view, _take, (number, model, values), is_moved=pair.is_moved, can_take=bool(taken))
    notes = []
    if taken:
        notes.append(f"Apply changes the request to: {listed(taken)}.")
    if left:
        notes.append(
            f"Not an input of the request, and not applied: {listed(left)}. Servers and storage nodes follow from the "
            "target and the sizing confidence: raise one of them on the page Requirements to buy more."
        )
    if taken and not view.is_current:
        notes.append("First correct the errors of the request on the page Requirements.")
    if notes:
        look.note(" ".join(notes))


def _taken(model: WorkloadOnDesign, pair: InputPair) -> tuple[list[str], list[str]]:
    """Values that would be written into the request, and values that no request has; both in words."""
    taken, left = [], []
    moved = {one.key for one, place in pair.placed if place != one.base}
    for one, place in pair.placed:
        if place == one.base:
            continue
        text = f"{inside_sentence(one.name)} {one.texts[place]}"
        if one.is_asked:
            taken.append(text)
        elif _is_count_asked(model, one.key, moved):
            taken.append(f"a target of {plural(gpus_of(model, one.values[place]), 'GPU')} at full utilization")
        else:
            left.append(text)
    return taken, left


def _is_count_asked(model: WorkloadOnDesign, key: str, moved: Collection[str]) -> bool:
    """Whether an input is the number of servers, and the target of the request a number of GPUs that it stands for.

    Of a rate or a time, the servers are the answer: a number of them would replace what the customer asked for.
    """
    return key == SERVERS and TARGET not in moved and target_kind(model) == "gpus_busy"


def _take(number: int, model: WorkloadOnDesign, values: Mapping[str, float]) -> None:
    """Write the values into the request, as a person would type them."""
    asked, whole = request_changes(model, values)
    if SERVERS in values and _is_count_asked(model, SERVERS, values):
        asked["target"] = {"gpus_busy": gpus_of(model, values[SERVERS])}
    for key, value in asked.items():
        typed = {name: _typed(name, part) for name, part in value.items()} if isinstance(value, dict) else value
        state.put(("workload", number, key), typed if isinstance(value, dict) else _typed(key, value))
    for key, value in whole.items():
        state.put((key,), value)
    state.refresh("The values are now in the request; the design was sized again.")


def _typed(key: str, value: object) -> object:
    return written(_KINDS[key], value) if key in _KINDS else value


# --- what moves the answer most


def _influences(view: View, number: int, model: WorkloadOnDesign) -> None:
    st.header("Most influential inputs", anchor=False)
    found = view.once(
        "sensitivities", lambda: sensitivities(view.evaluated), doing="Varying each input between its limits"
    )[number]
    unit = sample_unit(model.work.dnn)
    if not found.influences:
        look.note("No varied input changes the result by more than 0.5 %.")
        return
    look.table(influence_table(found, unit, 1), view.catalog.sources)


# Asked of work that reads a data set in epochs: a model in use reads its weights once.
_OF_DATA_SETS = ("Two inputs", "Data and ingest")
_OF_SERVING = ("Other load",)


def _data(view: View) -> None:
    """Draw the question."""
    st.header("Data and ingest", anchor=False)
    plan = view.once("data", lambda: data_plan(view.evaluated), doing="Calculating capacity and ingest")
    if view.result.request.data == DataRequest():
        if plan.required.checkpoints_bytes:
            lacks, holds = "checkpoint interval", "has to hold the data sets and the usual checkpoints"
        else:
            lacks, holds = "checkpoints", "only has to hold the data sets"
        st.info(
            f"The request has no snapshots, reserve or {lacks}: the storage {holds}. They are entered on the page "
            "Requirements, Data on the storage."
        )
    look.table(required_capacity_table(plan), view.catalog.sources)
    st.subheader("Ingest time", anchor=False)
    look.note(ingest_text(plan.ingest))
    look.table(routes_table(plan.ingest), view.catalog.sources)
    if plan.transform is not None:
        look.note(transform_text(plan.transform))
    checkpoints = checkpoint_tables(plan.design)
    if checkpoints or plan.validations:
        st.subheader("Checkpoints and validation", anchor=False)
        for table in checkpoints:
            look.table(table, view.catalog.sources)
        look.table(validation_table(plan.validations), view.catalog.sources)
    if plan.copies:
        st.subheader("Copy to local drives first", anchor=False)
        look.notes([copy_text(copy) for copy in plan.copies])
    look.table(assumptions_table(plan), view.catalog.sources, "Assumptions")
    with st.expander("Questions to the vendor about writing"):
        look.notes(questions(plan))


_COUNTS = ("input_tokens", "output_tokens")
_LIMITS = ("first_token_s", "token_s")


def _load(view: View) -> None:
    """Draw the question."""
    number = chosen_workload(view.result.design, "what-if")
    st.header("Other load or limits", anchor=False)
    look.note("The cluster is resized for these values. The request stays as it is until they are applied.")
    tried = Tried("load", f"{number} {view.request_json}")
    values = _load_sliders(view, number, tried)
    tried.buttons(view, _take_values, (values,), is_moved=bool(values), can_take=bool(values))
    if not values:
        return
    data = view.result.request.model_dump(mode="json", exclude_none=True)
    for path, value in values.items():
        state.put(path, value, data)
    found = state.outcome(SizingRequest.from_dict(data), view.catalog)
    if found.result is None:
        st.warning(plain(sentences(found.infeasible or found.refused)), icon=":material/block:")
        return
    both = [Compared("Present design", view.result), Compared("With these values", found.result)]
    look.table(figures_table(both, 0, has_price=not view.is_customer_mode), view.catalog.sources)


def _load_sliders(view: View, number: int, tried: Tried) -> dict[RequestPath, float]:
    """A slider for the load, the lengths and each limit; the values that were moved, by their place in the request."""
    served = view.result.design.workloads[number].serving
    assert served is not None  # asked of language models in use
    work, target = served.work, view.result.request.workload[number].target.model_dump(exclude_none=True)
    known: dict[RequestPath, float | None] = {("target", next(iter(target))): next(iter(target.values()))}
    known |= {(key,): getattr(work, key) for key in (*_COUNTS, *_LIMITS)}
    moved: dict[RequestPath, float] = {}
    columns = st.columns(2, gap="large")
    stated = [(path, base) for path, base in known.items() if isinstance(base, (int, float)) and base]
    for index, (path, base) in enumerate(stated):
        is_count = path[-1] in _COUNTS or isinstance(base, int)
        text = grouped if is_count else duration if path[-1] in _LIMITS else significant

        def times(factor: float, base: float = base, is_count: bool = is_count) -> float:
            return max(1, round(base * factor)) if is_count else float(f"{base * factor:.3g}")

        at = ("workload", number, *path)
        with columns[index % 2]:
            value = tried.multiple(label_at(at), str(path[-1]), base, times, text)
        if value != base:
            moved[at] = value
    return moved


def _take_values(values: Mapping[RequestPath, float]) -> None:
    for path, value in values.items():
        state.put(path, value)
    state.refresh("The values are now in the request; the design was sized again.")


_RATE_STEP = Decimal("0.0001")
_USE = 50


def _rent(view: View) -> None:
    """Draw the question."""
    st.header("Rent or buy", anchor=False)
    asked = view.result.request.rental
    offer = asked or _usual(view)
    if asked is None:
        look.note("The request has no rental offer: the middle of the published rates of this GPU is tried.")
    tried = Tried("rent", f"{st.session_state.generation}/{offer.model_dump_json()}")
    rate, use = _offer_sliders(offer, tried)
    comparison = rent_or_buy(view.result, offer.model_copy(update={"per_gpu_hour": rate}))
    assert comparison is not None
    st.markdown(plain(finding(comparison, use)))
    shown = (
        ("Break-even utilization", break_even_text(comparison), "of all hours"),
        ("Buying", owning_text(comparison), years_text(comparison)),
        ("Renting", rent_text(comparison, use), f"{years_text(comparison)}, GPU utilization {percent(float(use))}"),
    )
    look.figures("what-if-figures", shown)
    look.table(rental_table(comparison, use), view.catalog.sources)
    can_take = offer is not asked or rate != offer.per_gpu_hour or use != use_of(offer)
    values = {(RENTAL.key, "per_gpu_hour"): float(rate), (RENTAL.key, "utilization_fraction"): float(use)}
    tried.buttons(view, _take_values, (values,), is_moved=bool(tried.values), can_take=can_take)


def _usual(view: View) -> Rental:
    """An offer at the middle of the published rates of the GPU; an assumed one where they cannot be converted."""
    request, gpu = view.result.request, view.result.design.platform.gpu
    rental = run_rental(gpu, 1.0, view.catalog, prices_for(request, view.catalog), request.currency, None)
    if rental is None:
        return Rental.model_validate(RENTAL.start())
    return Rental(offer="published rates", per_gpu_hour=Decimal(f"{rental.expected:.2f}"))


def _offer_sliders(offer: Rental, tried: Tried) -> tuple[Decimal, Decimal]:
    """Price and utilization of the sliders; the price itself stays as it was typed."""
    price, stated = offer.per_gpu_hour, use_of(offer)

    def times(factor: float) -> Decimal:
        return max((price * Decimal(repr(factor))).quantize(_RATE_STEP, ROUND_HALF_UP).normalize(), _RATE_STEP)

    left, right = st.columns(2, gap="large")
    with left:
        rate = tried.multiple("Price per GPU-hour", "rate", price, times, "{:f}".format)
    with right:
        first = _USE if stated is None else max(1, round(100 * stated))
        use = st.slider("GPU utilization, % of all hours", 1, 100, **tried.widget("use", first))
    return rate, stated if stated is not None and use == first else Decimal(use) / 100


# Larger clusters take too long for a page; the command line accepts up to 10,000.
MOST_GPUS = 1024
# Arrangements that are compared, those of the design first; the command has all of them.
_SHOWN = 6


def _scale(view: View) -> None:
    """Draw the question."""
    number = chosen_workload(view.result.design, "what-if")
    st.header("Scale up or scale out", anchor=False)
    tried = Tried("scale", view.key)
    here = job_gpus(view.result)
    n_gpus = st.number_input(
        "GPUs in total",
        1,
        max(MOST_GPUS, here),
        **tried.widget("gpus", here),
        help="All arrangements use the same number of GPUs.",
        width=200,
    )
    try:
        same = view.once(
            "scale",
            lambda: scale_comparison(view.evaluated, n_gpus).comparisons[0],
            n_gpus,
            doing="Comparing other servers with the same GPUs",
        )
    except SizerError as error:
        st.warning(plain(sentences(str(error))), icon=":material/block:")
        return
    ways = same.designs[:_SHOWN]
    look.note(storage_text(same, view.result.design.storage_nodes))
    if len(same.designs) == 1:
        st.info(f"No other server can be filled with {plural(same.n_gpus, 'GPU')}; try another number.")
    _compared(view, number, same, ways)
    look.table(excluded_table(same.excluded), view.catalog.sources, "Excluded from the comparison")


def _compared(view: View, number: int, same: EqualGpuComparison, ways: Sequence[ArrangedDesign]) -> None:
    sources, first = view.catalog.sources, same.first
    look.table(rates_table(ways, number, first=first), sources)
    table = steps_table(ways, number, first=first)
    answer = first.runs[number].answer
    if table is None and answer.kind.trains_language:
        look.note("Of language models, the layout decides the time of a step; the page Performance has its parts.")
    elif table is None:
        look.note("Batch inference exchanges no gradients, so there is no step breakdown.")
    else:
        st.subheader("Time per training step", anchor=False)
        look.table(table, sources)
    st.subheader("Hardware and price", anchor=False)
    look.table(hardware_table(ways, view.catalog, first=first), sources)


def _verdict(view: View) -> None:
    """Draw the question."""
    st.header("Do we need this?", anchor=False)
    st.markdown(plain(in_labels(sentence(verdict_text(view.result)))))
    simplest = simplest_of(view)
    st.subheader("Simplest sufficient design", anchor=False)
    look.notes(simplest_text(simplest, view.result))
    look.table(simplest_table(simplest, view.result), view.catalog.sources)
    with st.container(horizontal=True, gap="small"):
        if not simplest.is_described:
            compare.use_button(simplest.allowed.request.model_dump_json(), "the simplest design", "take-simplest")
        if simplest.unrestricted is not None:
            name = "the design without the choices"
            compare.use_button(simplest.unrestricted.request.model_dump_json(), name, "take-lifted", f"Use {name}")
    found = view.once("claims", lambda: claims(view.evaluated), doing="Checking each claim")
    st.subheader("Claims", anchor=False)
    look.table(claims_table(found), view.catalog.sources)


def simplest_of(view: View) -> SimplestDesign:
    """The simplest design of the answer on the page; its requests include discounts, which no page shows."""
    return view.once(
        "simplest design",
        lambda: simplest_design(state.whole(view)),
        doing="Searching for the simplest design",
    )


# The questions in the order of the pills; each draws itself below them.
_QUESTIONS: Mapping[str, Callable[[View], None]] = {
    "Two inputs": _two_inputs,
    "Other load": _load,
    "Do we need this?": _verdict,
    "Scale up or out": _scale,
    "Team": team.show,
    "Data and ingest": _data,
    "Growth": growth.show,
    "Failures": failures.show,
    "Rent or buy": _rent,
}
