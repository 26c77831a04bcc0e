"""Explanation of a figure: its formula, the inputs with their sources, the uncertainty and the assumptions."""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal

from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.bom.bill import Bill, BillLine
from sizer.bom.cost import line_amounts
from sizer.bom.prices import prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Storage
from sizer.drawings.datapath import is_limit
from sizer.explain.stages import Explanation, assumed, in_unit, input_row, inputs_table, number, stage_inputs
from sizer.physical.capacity import capacity_ladder
from sizer.physical.components import Component
from sizer.physical.racks.power import device_power
from sizer.present import words
from sizer.present.facts.storage_tiers import system_name, tier_label
from sizer.present.tables import Cell, Row, row
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.calibration import note_texts
from sizer.present.text.design_size import binding_text
from sizer.present.text.money import price_basis_text, price_range_text, range_text
from sizer.present.text.plan import note_text
from sizer.present.text.result_text import default_stack_texts
from sizer.present.text.stages import stage_text
from sizer.sizing.constraints.stored_data import StorageDemand, storage_demand
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, Stage, TrainingTime, WorkloadAnswer
from sizer.workload.target_text import target_text

# Lines of a bill that are listed one by one: those that decide the price.
_MOST_LINES = 8
_EXACT = "An exact count."


def gpus(result: SizingResult, catalog: Catalog) -> Explanation:
    """Number of GPUs."""
    del catalog
    design = result.design
    server = design.platform.server
    rows = [
        input_row(
            "servers, the smallest number that meets every target",
            grouped(design.n_servers),
            note="search over all sizes",
        ),
        input_row(f"GPUs of a server ({server.name})", grouped(design.platform.gpus_per_server), server.n_gpus),
    ]
    targets = [f"{answer.workload.name}: {target_text(answer.workload, answer.dnn)}." for answer in design.workloads]
    asked = words.percent(result.request.confidence)
    chance = words.chance(design.probability)
    return Explanation(
        "GPUs",
        words.plural(design.n_gpus, "GPU"),
        "GPUs = servers × GPUs of a server",
        inputs_table("gpus", rows),
        tuple(text for text in (*targets, binding_text(design) and words.sentence(binding_text(design))) if text),
        (f"{_EXACT} The probability of meeting the target is {chance}; {asked} was requested.",),
        assumed(result, [server.name], ("gpus",)),
    )


def capacity(result: SizingResult, catalog: Catalog) -> Explanation:
    """Usable capacity, step by step from the raw capacity."""
    del catalog
    design = result.design
    usable = design.usable_bytes
    rows = [one for tier in design.tiers if tier.storage is not None for one in _ladder_rows(tier, tier.storage)]
    names = [system_name(tier) for tier in design.tiers]
    demand = storage_demand(design.workloads, result.request.data)
    answer = si(usable, "B") if usable > 0 else words.NOT_PUBLISHED
    return Explanation(
        "Usable capacity",
        answer,
        "usable = raw × share after spare nodes × share after protection × share after the reserve",
        inputs_table("capacity", rows),
        (f"{_demand_text(demand)}; {_room(design)}.",),
        ("An exact sum of published capacities." if usable > 0 else "No published value: confirm that the data fit.",),
        assumed(result, names, ("raw", "usable", "nodes", "protection", "spare", "stripe")),
    )


def _ladder_rows(tier: StorageTier, storage: Storage) -> Iterator[Row]:
    """Steps from the raw to the usable capacity of one tier."""
    before = 0.0
    for step in capacity_ladder(storage, tier.capacity_option, tier.nodes):
        left = step.capacity_bytes
        share = f"× {number(left / before)}, gives " if before and step.label != "usable" else ""
        yield row(
            f"{words.capital(tier_label(tier, step.label))}: {note_text(step.how)}",
            share + in_unit(left, "B"),
            Cell("", (step.source,) if step.source else ()),
        )
        before = left
    if 0 < tier.usable_bytes < before:
        share = f"× {number(tier.usable_bytes / before)}, gives "
        yield input_row("ordered for the data, of all drives that it holds", share + in_unit(tier.usable_bytes, "B"))
    if not tier.usable_bytes > 0:
        yield input_row(f"usable capacity of {storage.name}", words.NOT_PUBLISHED)


def _demand_text(demand: StorageDemand) -> str:
    """Required capacity and its parts."""
    sets = ", ".join(f"{data_set.name} with {si(data_set.size_bytes, 'B')}" for data_set in demand.sets)
    other = demand.stored_bytes - demand.sets_bytes
    held = f"It must hold {sets}"
    if other:
        held = f"It must hold {si(demand.stored_bytes, 'B')}: {sets}, and {si(other, 'B')} of other data"
    return f"{held}; the request asks for at least {si(demand.minimum_bytes, 'B')}" if demand.is_minimum else held


def _room(design: DesignAnswer) -> str:
    nodes = design.storage_nodes
    if not nodes:
        return f"it is stored on {design.platform.storage.name}"
    return f"data, reads and the smallest system require {words.plural(nodes, 'storage node')}"


def _devices(design: DesignAnswer, catalog: Catalog) -> Iterator[tuple[Component, Device]]:
    """What takes rack units and watts, bought or existing; racks, PDUs and cables do not count."""
    for part in design.quantities.components:
        if part.category not in ("compute", "head node", "storage", "network", "cooling"):
            continue
        item = catalog.item(part.item)
        if isinstance(item, Device):
            yield part, item


def power(result: SizingResult, catalog: Catalog) -> Explanation:
    """Maximum power, device by device."""
    design = result.design
    rows, names, brackets = [], [], []
    for part, device in _devices(design, catalog):
        draw = device_power(design.platform.device(catalog, part.item))
        fact = next(
            (
                one
                for one in (device.power_max_w, device.power_high_w, device.power_typical_w, device.power_low_w)
                if one is not None
            ),
            None,
        )
        each = in_unit(draw.max_w, "W") if fact is not None else words.NOT_PUBLISHED
        label = f"{grouped(int(part.quantity[0]))} × {device.name}, {part.role}"
        rows.append(input_row(label, each, fact))
        names.append(device.name)
        if device.power_max_w is None and device.power_high_w is not None:
            brackets.append(device.name)
    counts = design.quantities
    cautions = [
        f"Between {si(float(counts.power_low_w[0]), 'W')} and {si(float(counts.power_max_w[0]), 'W')}; "
        f"typical {si(float(counts.power_typical_w[0]), 'W')}."
    ]
    if brackets:
        cautions.append(f"Only a range is known for {words.listed(dict.fromkeys(brackets))}; its upper end is used.")
    if counts.unknown_power:
        unknown = words.listed(item_name(item, catalog) for item in counts.unknown_power)
        cautions.append(f"The maximum of {unknown} is not published, so the sum is a lower bound.")
    return Explanation(
        "Power",
        result_text.power(design),
        "power = Σ number × largest draw of one",
        inputs_table("power", rows),
        ("The basis for feeds, racks and cooling. Devices only: losses of PDUs and of the room are not included.",),
        tuple(cautions),
        assumed(result, names, ("power",)),
    )


def rack_units(result: SizingResult, catalog: Catalog) -> Explanation:
    """Rack units, device by device."""
    design = result.design
    rows, names = [], []
    for part, device in _devices(design, catalog):
        height = (
            "not published, counted as 0"
            if device.height_u is None
            else f"{plain(device.height_u.value)}{NARROW_SPACE}U"
        )
        rows.append(
            input_row(f"{grouped(int(part.quantity[0]))} × {device.name}, {part.role}", height, device.height_u)
        )
        names.append(device.name)
    racks = words.plural(int(design.quantities.racks[0]), "rack")
    return Explanation(
        "Rack units",
        f"{float(design.quantities.rack_units[0]):g}{NARROW_SPACE}U",
        "rack units = Σ number × height of one",
        inputs_table("rack-units", rows),
        (f"{words.capital(racks)}, limited by rack units, weight and power per rack.",),
        (_EXACT,),
        assumed(result, names, ("height",)),
    )


def price(result: SizingResult, catalog: Catalog) -> Explanation:
    """Price, line by line, ranges of the market where no quote is known, and what is not included."""
    bill = result.design.bill
    rows = list(_line_rows(result, catalog))
    if free := sum(line.extended_net == 0 for line in bill.bought):
        rows.append(row(words.plural(free, "line") + " free of charge", words.money(bill.total * 0, bill.currency), ""))
    if bill.deal_discount_percent:
        rows.append(
            row(
                "discount on the deal",
                f"−{words.money(bill.deal_reduction, bill.currency)}",
                f"{plain(float(bill.deal_discount_percent))}{NARROW_SPACE}%",
            )
        )
    formula = (
        "price = Σ number × price of one"
        if not bill.has_discount
        else ("price = Σ number × list price of one × (1 − discount of the line) − discount on the deal")
    )
    return Explanation(
        "Price",
        price_range_text(result.design),
        formula,
        inputs_table("price", rows or [row("lines with a price", "none", "")]),
        (f"{words.capital(price_basis_text(result.design))}.", result_text.open_prices(bill)),
        (
            "Taxes, freight and duties are not included.",
            *bill_warning_sentences(warning for _, warning in bill.price_warnings),
        ),
        (),
    )


def _line_rows(result: SizingResult, catalog: Catalog) -> Iterator[Row]:
    """Lines of the bill, the most expensive first; of those without a price the range of the market."""
    bill, platform = result.design.bill, result.design.platform
    market = unit_prices(catalog, prices_for(result.request, catalog), bill.currency, [0.0, 1.0])
    found = []
    for line, ends in zip(bill.bought, line_amounts(bill, platform, market).tolist(), strict=True):
        unknown = ends if result.design.cost is not None else [0.0, math.inf]
        found.append((line, unknown if line.extended_net is None else [float(line.extended_net)] * 2))
    found = sorted((one for one in found if one[0].extended_net != 0), key=lambda one: -one[1][1])
    for line, ends in found[:_MOST_LINES]:
        if line.extended_net is not None:
            yield _bill_row(line, bill)
            continue
        name = item_name(line.item, catalog) if line.item else line.description
        source = "" if bill.is_customer_copy or not line.item else _market_source(line.item, platform.gpu.id, catalog)
        yield row(f"{grouped(line.quantity)} × {name}", _amount(bill, *ends), source)
    if others := [ends for _, ends in found[_MOST_LINES:]]:
        yield row(words.plural(len(others), "further line"), _amount(bill, *map(sum, zip(*others, strict=True))), "")


def _amount(bill: Bill, low: float, high: float) -> str:
    if low == high:
        return words.money(Decimal(repr(round(low, 2))), bill.currency)
    return range_text(bill.currency, low, high) if math.isfinite(high) else words.TO_BE_QUOTED


def _market_source(item: str, gpu: str, catalog: Catalog) -> str:
    """Where the price band of a part comes from: its year, and the published prices that it rests on."""
    folder = catalog.category_of(item)
    band = catalog.bands.band(folder, item, gpu if folder == "servers" else "")
    if band is None:
        return ""
    titles = dict.fromkeys(one.title for one in catalog.bands.evidence if one.id in band.evidence)
    return f"{band.basis}, {band.date}: {'; '.join(titles) or band.note}"


def _bill_row(line: BillLine, bill: Bill) -> Row:
    assert line.extended_net is not None  # only priced lines are listed
    each = f" at {words.money(line.unit_price, bill.currency)}" if line.unit_price is not None else ""
    less = f", less {plain(float(line.discount_percent))}{NARROW_SPACE}%" if line.discount_percent else ""
    cites = (line.price_source,) if line.price_source else ()
    where = f"price of {line.price_date}" if line.price_date else ""
    return row(
        f"{grouped(line.quantity)} × {line.description}{each}{less}",
        words.money(line.extended_net, bill.currency),
        Cell("", cites, where),
    )


# Keys of the figures; those of a workload end in its number, those of a stage in the stage's key, too.
GPUS = "gpus"
RATE = "rate"
CAPACITY = "capacity"
POWER = "power"
RACK_UNITS = "rack-units"
PRICE = "price"
STAGE = "stage"
# Digits of the ends of an interval among the inputs.
_DIGITS = 5
# A product of the ends of an interval that is this close to the square of its median shows no skew.
_SYMMETRIC = 1e-3


def rate_key(workload: int) -> str:
    """Key of the rate, or time to train, of a workload by its place."""
    return f"{RATE}-{workload}"


def stage_key(workload: int, stage: str = "") -> str:
    """Key of the limiting stage of a workload, or of the capacity of one of its stages."""
    return f"{STAGE}-{workload}-{stage}" if stage else f"{STAGE}-{workload}"


def explanation(evaluated: EvaluatedDesign, key: str) -> Explanation:
    """Explanation of a figure of the described design.

    ``key``: ``GPUS``, ``CAPACITY``, ``POWER``, ``RACK_UNITS`` or ``PRICE``; :func:`rate_key` or :func:`stage_key` of
    a workload; ``RATE`` and ``STAGE`` alone are those of the first. Raises ValueError if no figure has that key.
    """
    kind, _, rest = key.partition("-") if key != RACK_UNITS else (key, "", "")
    result, catalog = evaluated.result, evaluated.catalog
    plain_figures = {
        GPUS: gpus,
        CAPACITY: capacity,
        POWER: power,
        RACK_UNITS: rack_units,
        PRICE: price,
    }
    if kind in plain_figures and not rest:
        return plain_figures[kind](result, catalog)
    number, _, stage = rest.partition("-")
    place = int(number) if number.isdecimal() else 0 if not rest else -1
    if kind in (RATE, STAGE) and not key.endswith("-") and 0 <= place < len(result.design.workloads):
        answer = result.design.workloads[place]
        if kind == RATE and not stage:
            is_timed = answer.workload.target.time_to_train_s is not None
            return _time(result, answer, answer.time) if is_timed and answer.time else _rate(result, answer)
        if kind == STAGE and not stage:
            return _limiting(result, answer)
        found = next((one for one in answer.stages if one.key == stage), None)
        if kind == STAGE and found is not None:
            return _stage(evaluated, place, found)
    raise ValueError(f"no figure has the key {key!r}")


def _rate(result: SizingResult, answer: WorkloadAnswer) -> Explanation:
    unit = words.sample_unit(answer.dnn)
    rows = [_capacity_row(stage, answer) for stage in answer.stages if stage.key != "exchange"]
    return Explanation(
        f"Rate of {answer.workload.name}",
        words.estimate(answer.throughput, unit),
        "T: P(C storage ≥ T) · P(C network ≥ T) · P(C decode ≥ T) · P(C GPU ≥ T) = 1/2",
        inputs_table(RATE, rows),
        (
            "A pipeline runs at the rate of its slowest stage. All stages reach the printed rate with a probability of "
            "one half; where one stage is far below the others, the rate is the median of that stage.",
            result_text.limit(answer, named=False),
            result_text.measured(answer),
        ),
        (
            "All stages reach the ends of the interval with probabilities of 95 % and 5 %.",
            *_cautions(answer),
        ),
        assumed(result, [f"{answer.workload.name}"]),
    )


def _capacity_row(stage: Stage, answer: WorkloadAnswer) -> Row:
    """Median and 90 % interval of a stage with the form of its spread."""
    name = f"C {STAGES[stage.key].lower() if stage.key != 'gpu' else STAGES[stage.key]}"
    value, low, high = stage.capacity
    if not is_limit(stage, answer):
        return row(name, "not limited", Cell("far above the bottleneck, or not used", is_muted=True))
    unit = words.sample_unit(answer.dnn)
    spread = _spread_text(stage)
    text = in_unit(value, unit)
    ends = f" ({significant(low, _DIGITS)} to {significant(high, _DIGITS)})" if low != high else ""
    return row(name, text + ends, spread)


def _spread_text(stage: Stage) -> str:
    """Form of the distribution of a capacity."""
    value, low, high = stage.capacity
    if low == high:
        return "exact"
    if stage.key == "storage":
        return "between two published ends"
    is_symmetric = math.isclose(low * high, value * value, rel_tol=_SYMMETRIC)
    return "log-normal" if is_symmetric else "log-normal, skewed as its ends show"


def _time(result: SizingResult, answer: WorkloadAnswer, time: TrainingTime) -> Explanation:
    unit = words.sample_unit(answer.dnn)
    count = float(time.epochs.value)
    samples = float(time.epoch_s.value) * float(answer.throughput.value)
    cold = samples / float(time.first_epoch_s.value)
    recipe = answer.recipe
    length = "request" if recipe is None else f"{recipe.name} at a global batch of {_batch(result, answer)}"
    rows = [
        input_row("t start, loading and compiling", _seconds(time.start_up_s), note="fitted to published runs"),
        input_row(f"N, {unit.removesuffix('/s')} of an epoch", grouped(samples), note=answer.dataset.name),
        input_row("E, epochs", number(count), note=length),
        input_row(
            "T, rate after the first epoch",
            in_unit(float(answer.throughput.value), unit),
            note="the predicted rate of this design",
        ),
        input_row("T cold, rate in the first epoch", in_unit(cold, unit), note="no reads from the servers' memory"),
        input_row(
            "t evaluations",
            _seconds(float(time.evaluations_s.value)),
            note="forward passes over the validation samples",
        ),
    ]
    cautions = [*_cautions(answer)]
    formula = "t = t start + min(E, 1) · N / T cold + max(E − 1, 0) · N / T + t evaluations"
    if time.whole_run is not None:
        formula = "t = t start + W · E · N / T"
        whole = number(float(time.whole_run.value))
        rows[3:] = [input_row("W, whole run over its steps", whole, note="published whole trainings"), rows[3]]
    if recipe is not None and time.epochs.high > time.epochs.low:
        cautions.insert(0, f"The number of epochs is uncertain as well: {words.estimate(time.epochs, 'epochs')}.")
    return Explanation(
        f"Time to train {answer.workload.name}",
        words.estimate(time.total_s, "s"),
        formula,
        inputs_table(RATE, rows),
        (result_text.cold_epoch(answer), result_text.limit(answer, named=False), result_text.measured(answer)),
        tuple(cautions),
        assumed(result, [answer.workload.name]),
    )


def _batch(result: SizingResult, answer: WorkloadAnswer) -> str:
    used = result.request.platforms.gpus_per_server or result.design.platform.gpus_per_server
    used = min(used, result.design.platform.gpus_per_server)
    return grouped(answer.batch_per_gpu * used * result.design.n_servers)


def _seconds(value: float) -> str:
    return f"{plain(value, _DIGITS)}{NARROW_SPACE}s"


def _cautions(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Parts of the uncertainty of the GPUs, and what was not measured."""
    return (
        result_text.width(answer),
        *(
            words.sentence(text)
            for text in (*answer.warnings, *default_stack_texts(answer), *note_texts(answer.unmeasured))
        ),
    )


def _limiting(result: SizingResult, answer: WorkloadAnswer) -> Explanation:
    return Explanation(
        f"Bottleneck of {answer.workload.name}",
        STAGES[answer.bottleneck],
        "bottleneck = the stage with the smallest capacity C",
        inputs_table(STAGE, [_capacity_row(stage, answer) for stage in answer.stages]),
        (
            result_text.limit(answer, named=False),
            "The part of the gradient exchange that computation does not hide belongs to the GPU stage. It is named "
            "as the bottleneck where it takes longer than the arithmetic.",
        ),
        ("Where intervals overlap, another stage may be the bottleneck.",),
        assumed(result, [answer.workload.name]),
    )


def _stage(evaluated: EvaluatedDesign, place: int, stage: Stage) -> Explanation:
    result = evaluated.result
    answer = result.design.workloads[place]
    unit = words.sample_unit(answer.dnn)
    inputs = stage_inputs(evaluated, place, stage.key)
    cautions: Sequence[str] = inputs.cautions if stage.key != "gpu" else (*inputs.cautions, *_cautions(answer))
    return Explanation(
        f"{STAGES[stage.key]}, {answer.workload.name}",
        words.estimate(stage.capacity, unit) if is_limit(stage, answer) else "not limited",
        inputs.formula,
        inputs_table(stage_key(place, stage.key), inputs.inputs),
        (words.sentence(stage_text(stage.reason)),),
        tuple(cautions),
        assumed(result, [answer.workload.name, *inputs.parts], inputs.fields),
    )
