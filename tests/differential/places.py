"""The numbers of one design as every place that prints them gives them.

No place is taken as right: all are compared with each other.
"""

import io
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import openpyxl

from sizer import Catalog, InfeasibleError, SizingRequest, project, size
from sizer.base.errors import RequestError
from sizer.batch.columns import PREFIX
from sizer.batch.work import cells_of_answer
from sizer.calibrate.calibration import Calibration
from sizer.export.design_json import design_document
from sizer.export.workbook.book import workbook
from sizer.guide.front_matter import key_figures
from sizer.physical.capacity import counts_nodes
from sizer.physical.losses import Losses
from sizer.physical.roles import Role
from sizer.questions.failures.analysis import HardwareAfterLoss, rate_shares, target_probabilities
from sizer.questions.what_if.answer import fixed_design_rates
from sizer.sizing.design.evaluate_design import MOST_CERTAIN
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.maximum import with_fixed_target
from sizer.sizing.reasons import SelectionKind
from sizer.sizing.recommend import search
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import NEAR_TIE, beyond_budget, uncertainty
from sizer.sizing.stages.platform_columns import is_narrowed

# Laws are solved by bisection to a billionth; sums of many parts and what is interpolated lose a few digits more.
TOLERANCE = 1e-6
Numbers = dict[str, Any]


def of_design(design: DesignAnswer) -> Numbers:
    """A design that is written out."""
    counts = design.quantities
    numbers: Numbers = {
        "servers": design.n_servers,
        "nodes": design.storage_nodes,
        "gpus": design.n_gpus,
        "watts": float(counts.power_max_w[0]),
        "units": float(counts.rack_units[0]),
        "probability": design.probability,
        "cost": float(design.bill.total) if design.bill.is_complete else None,
    }
    for place, answer in enumerate(design.workloads):
        for end in ("value", "low", "high"):
            numbers[f"rate.{end} {place}"] = float(getattr(answer.throughput, end))
            numbers[f"time.{end} {place}"] = None if answer.time is None else float(getattr(answer.time.total_s, end))
        numbers[f"bottleneck {place}"] = answer.bottleneck
        numbers[f"probability {place}"] = answer.probability
    return numbers


def of_row(counts: PartCounts, row: int, design: DesignAnswer) -> Numbers:
    """What the search decides by; of a probability that a fact leaves open, the search's is of the fact's upper end."""
    evaluated = counts.evaluated
    index, size = divmod(row, len(evaluated.space.sizes))
    counts.count(index, np.array([size]))
    rate, _ = evaluated.rates_at(np.array([row]))
    has_time = design.workloads[0].time is not None
    numbers: Numbers = {
        "servers": int(evaluated.space.n_servers[row]),
        "nodes": int(evaluated.storage_nodes[row]),
        "watts": float(counts.power_w[row]),
        "units": float(counts.rack_units[row]),
        "rate.value 0": float(rate[0]),
    }
    if has_time:
        numbers["time.value 0"] = float(evaluated.time_at(np.array([row]))[0])
    if design.probability is not None:
        numbers["probability"] = min(float(evaluated.probability[row]), MOST_CERTAIN)
    return numbers


def row_of(counts: PartCounts, design: DesignAnswer) -> int | None:
    """The row of a design in a space; None where the space has it with other storage nodes, or not at all."""
    evaluated = counts.evaluated
    index = next(
        (i for i, platform in enumerate(evaluated.platforms) if platform.of_size(design.n_servers) == design.platform),
        None,
    )
    sizes = np.flatnonzero(evaluated.space.sizes == design.n_servers)
    if index is None or not sizes.size:
        return None
    row = int(evaluated.space.of_platform(index).start + sizes[0])
    return row if int(evaluated.storage_nodes[row]) == design.storage_nodes else None


def of_projection(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, fitted: Calibration
) -> Numbers | None:
    """The same design given in place of searched; None where the parts alone do not name it."""
    platform = design.platform
    try:
        given = project(
            request,
            catalog,
            server=platform.server.id,
            servers=design.n_servers,
            storage=platform.storage.id,
            storage_nodes=design.storage_nodes if counts_nodes(platform.storage) else 0,
            gpu=platform.gpu.id,
            fabric=platform.fabric.id,
            gpus_per_server=request.platforms.gpus_per_server,
            calibration=fitted,
        )
    except (RequestError, InfeasibleError):
        return None
    return of_design(given) if given.platform == platform else None


def of_batch(request: SizingRequest, catalog: Catalog, fitted: Calibration) -> Numbers:
    """The row of a batch."""
    answer = cells_of_answer(request, catalog, fitted)
    cells = {key.removeprefix(PREFIX): value for key, value in answer.items()}
    numbers: Numbers = {
        "servers": cells["design.servers"],
        "nodes": cells["design.storage_nodes"],
        "gpus": cells["design.gpus"],
        "watts": cells["design.power_max_w"],
        "units": cells["design.rack_units"],
        "probability": cells["probability"],
        "cost": float(cells["cost.total"]) if cells["cost.is_complete"] else None,
    }
    for place in range(len(request.workload)):
        for end in ("value", "low", "high"):
            numbers[f"rate.{end} {place}"] = cells[f"workload.{place}.throughput_samples_per_s.{end}"]
            numbers[f"time.{end} {place}"] = cells[f"workload.{place}.time_to_train_s.{end}"]
        numbers[f"bottleneck {place}"] = cells[f"workload.{place}.bottleneck"]
        numbers[f"probability {place}"] = cells[f"workload.{place}.probability"]
    return numbers


def of_document(result: SizingResult) -> Numbers:
    """design.json."""
    design = design_document(result)["design"]
    numbers: Numbers = {
        "servers": design["n_servers"],
        "nodes": design["storage_nodes"],
        "gpus": design["n_gpus"],
        "watts": design["power_max_w"],
        "units": design["rack_units"],
        "probability": design["probability"],
    }
    for place, answer in enumerate(design["workloads"]):
        for end in ("value", "low", "high"):
            numbers[f"rate.{end} {place}"] = answer["samples_per_s"][end]
            numbers[f"time.{end} {place}"] = None if answer["time"] is None else answer["time"]["total_s"][end]
        numbers[f"bottleneck {place}"] = answer["bottleneck"]
        numbers[f"probability {place}"] = answer["probability"]
    return numbers


def of_what_if(result: SizingResult, catalog: Catalog, fitted: Calibration) -> Numbers:
    """What-if at the values of the design itself."""
    numbers: Numbers = {}
    for place, model in enumerate(EvaluatedDesign(result, catalog, fitted).workloads):
        found = fixed_design_rates(model, {})
        for end in ("value", "low", "high"):
            numbers[f"rate.{end} {place}"] = float(getattr(found.rate, end)[0])
        numbers[f"bottleneck {place}"] = found.limiting[0]
        if found.time_s is not None and result.design.workloads[place].time is not None:
            numbers[f"time.value {place}"] = float(found.time_s[0])
        if result.design.workloads[place].probability is not None:
            numbers[f"probability {place}"] = min(float(found.probability[0]), MOST_CERTAIN)
    return numbers


def of_losses(result: SizingResult, catalog: Catalog, fitted: Calibration) -> tuple[Numbers, Numbers]:
    """The design with nothing lost, and with one server less; of networks whose batch is that of the GPUs in use."""
    whole, lost, found = Losses(result.design.plan), [], []
    left = [HardwareAfterLoss(whole.whole), HardwareAfterLoss(whole.without(whole.named(Role.GPU_SERVER)[:1]))]
    for place, model in enumerate(EvaluatedDesign(result, catalog, fitted).workloads):
        answer = result.design.workloads[place]
        if answer.probability is None or model.works[place].batch_sizes:
            continue
        rates = rate_shares(model, whole.whole, left) * float(answer.throughput.value)
        chances = np.minimum(target_probabilities(model, left), MOST_CERTAIN)
        for numbers, rate, chance in zip((found, lost), rates.tolist(), chances.tolist(), strict=True):
            numbers += [(f"rate.value {place}", rate), (f"probability {place}", chance)]
    return dict(found), dict(lost)


def of_one_server_less(result: SizingResult) -> Numbers:
    """What is told of the next smaller size of the design; no loss makes a design faster."""
    numbers: Numbers = {}
    for place, answer in enumerate(result.design.workloads):
        for smaller in answer.smaller:
            if smaller.n_servers == result.design.n_servers - 1 and smaller.probability is not None:
                numbers[f"rate.value {place}"] = min(smaller.samples_per_s, float(answer.throughput.value))
                numbers[f"probability {place}"] = smaller.probability
    return numbers


def of_front(result: SizingResult) -> Numbers:
    """The point of the front that is the design."""
    point = next(point for point in result.pareto.value if point.is_documented)
    numbers: Numbers = {
        "servers": point.n_servers,
        "nodes": point.storage_nodes,
        "gpus": point.n_gpus,
        "watts": point.power_w,
        "units": point.rack_units,
        "rate.value 0": point.throughput_samples_per_s,
    }
    if result.design.workloads[0].time is not None:
        numbers["time.value 0"] = point.time_s
    return numbers


def of_workbook(result: SizingResult, catalog: Catalog) -> Numbers:
    """The summary sheet, whose figures have three digits."""
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(result, catalog)))["Summary"]
    cells = {str(row[0].value): row[1].value for row in sheet.iter_rows(min_row=1, max_col=3) if row[0].value}
    return {"servers": cells["GPU servers"], "gpus": cells["GPUs"], "units": cells["Rack units"]}


def of_key_figures(result: SizingResult) -> Numbers:
    """The guide's cover: whole numbers as they are printed."""
    figures = key_figures(result)
    return {"gpus": int("".join(filter(str.isdigit, figures[1][1])))}


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """What two places that tell the same do not agree on."""
    for key in one.keys() & other.keys():
        a, b = one[key], other[key]
        if a is None or b is None or isinstance(a, str):
            same = a == b
        else:
            same = math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-9)
        if not same:
            yield f"{key}: {a!r} and {b!r}"


def disagreements(request: SizingRequest, catalog: Catalog, fitted: Calibration, *, documents: bool) -> list[str]:
    """All that the places say differently of the designs of a request."""
    result = size(request, catalog, fitted)
    fixed = with_fixed_target(request, catalog, fitted)
    counts = search(fixed, catalog, fitted)
    first, found = of_design(result.design), []

    def compare(name: str, numbers: Numbers | None, with_: Numbers = first) -> None:
        if numbers is not None:
            found.extend(f"{name}: {text}" for text in differences(with_, numbers))

    for place, design in enumerate(result.platforms):
        name, numbers = f"platform {place} {design.name}", of_design(design)
        row = row_of(counts, design)
        if result.selection.kind is SelectionKind.GROWTH:
            break  # network and racks of such a design are those of the last year: no search of one year has it
        if row is not None:
            compare(f"{name}, row", of_row(counts, row, design), numbers)
            alone = search(fixed, catalog, fitted, only=design.platform.key, most=design.n_servers)
            row = row_of(alone, design)
            compare(f"{name}, row of its own space", None if row is None else of_row(alone, row, design), numbers)
        if place < 2:
            compare(f"{name}, project", of_projection(fixed, design, catalog, fitted), numbers)
    compare("batch", of_batch(request, catalog, fitted))
    compare("design.json", of_document(result))
    compare("what-if", of_what_if(result, catalog, fitted))
    compare("front", of_front(result))
    whole, lost = of_losses(result, catalog, fitted)
    compare("nothing lost", whole)
    if not is_narrowed(result.request.fabric):  # a smaller design has fewer switches, what is left of one has all
        compare("one server lost", lost, of_one_server_less(result))
    if documents:
        compare("workbook", of_workbook(result, catalog))
        compare("key figures", of_key_figures(result))
    return [*found, *_better_than_chosen(result, counts)]


def _better_than_chosen(result: SizingResult, counts: PartCounts) -> Iterator[str]:
    """Listed designs that are better by what the request ranks by, as free of unknowns and as likely in the budget."""
    key, design = result.request.rank_by, result.design
    if key in (None, "cost", "ownership") or result.selection.kind is SelectionKind.GROWTH:
        return

    def of(listed: DesignAnswer) -> float:
        if key == "time":
            row = row_of(counts, listed)
            assert row is not None
            return float(counts.evaluated.time_at(np.array([row]), result.request.confidence)[0])
        values = {"gpus": listed.n_gpus, "rack-units": float(listed.quantities.rack_units[0])}
        return values.get(str(key), float(listed.quantities.power_max_w[0]))

    def doubts(listed: DesignAnswer) -> tuple[float, bool]:
        row = row_of(counts, listed)
        assert row is not None  # the answer is of this search
        rows = np.array([row])
        return float(uncertainty(counts, rows)[0]), bool(beyond_budget(counts, counts.likely_cost[rows])[0])

    chosen, own = of(design), doubts(design)
    values = [(of(listed), listed.name) for listed in result.platforms if doubts(listed) <= own]
    # Points of the front have their expected times; the ranking compares those reached with the confidence.
    names = {"gpus": "n_gpus", "rack-units": "rack_units", "watts": "power_w"}
    if key in names:
        values += [(float(getattr(point, names[key])), point.name) for point in result.pareto.value]
    for value, name in values:
        if value < chosen * (1 - (NEAR_TIE if key == "time" else TOLERANCE)):
            yield f"ranked by {key}: {name} has {value:.6g}, the chosen design {chosen:.6g}"
