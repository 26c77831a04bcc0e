"""The result of a sizing as plain text for a terminal."""

from collections.abc import Sequence

from sizer.base.estimate import Estimate
from sizer.base.quantities import by_count, duration, grouped, si, significant
from sizer.base.units import TIB
from sizer.catalog.fabrics import joining
from sizer.drawings.datapath import is_limit
from sizer.physical.roles import NetworkRole
from sizer.present.availability import checkpoint_sentence, goodput_sentence
from sizer.present.storage_streams import tiers_sentence
from sizer.present.tables import table_text
from sizer.present.text.bill_warnings import bill_warning_sentences, delivery_sentences, need_dangers
from sizer.present.text.calibration import NOT_PREDICTED, compared_time_s
from sizer.present.text.checks import check_label, open_text
from sizer.present.text.decisions import rack_texts
from sizer.present.text.design_size import binding_text
from sizer.present.text.layouts import (
    basis_sentence,
    layout_sentence,
    settings_text,
    stacks_sentence,
    step_sentence,
    useful_text,
)
from sizer.present.text.limits import limits_text
from sizer.present.text.money import (
    design_text,
    gpus_text,
    planned_years_text,
    price_range_text,
    price_text,
    quotes_text,
)
from sizer.present.text.plan import existing_text, feeds_sentence
from sizer.present.text.result_text import cautions, power, whole_run_text
from sizer.present.text.serving import serving_rows, used_stack_text, within
from sizer.present.text.verdict import reason_texts, runner_up_text, selection_text, verdict_text
from sizer.present.text.warnings import design_warnings, memory_text
from sizer.present.words import chance, listed, name, percent, plural, sample_unit
from sizer.present.words import stage as stage_name
from sizer.questions.maximum.text import maximum_text
from sizer.questions.ownership.analysis import ownership
from sizer.questions.ownership.text import finding as ownership_finding
from sizer.questions.rent.rent_or_buy import offer_text
from sizer.questions.team.text import wait_text
from sizer.questions.verdict.analysis import Claim
from sizer.questions.verdict.simplest_design import SimplestDesign
from sizer.questions.verdict.text import claims_table, simplest_table, simplest_text
from sizer.sizing.checks import FactKind
from sizer.sizing.design.decisions import RackLimit, rack_choice
from sizer.sizing.reasons import ExchangeReason
from sizer.sizing.result import STAGES, DesignAnswer, ParetoPoint, SizingResult, WorkloadAnswer
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import assumes_sample_size
from sizer.workload.target_text import target_text


def answer_text(result: SizingResult, simple: SimplestDesign | None = None) -> str:
    """Result of a sizing: verdict, design, every workload, price, alternatives, simplest design, reasons."""
    offer = offer_text(result)
    lines = [result.request.title, "=" * len(result.request.title), verdict_text(result)]
    lines += [*([f"Rent:   {offer}"] if offer else []), ""]
    told = _design_lines(result.design, result.request)
    if result.maximum is None and (kept := limits_text(result)):
        told.insert(told.index(""), f"Kept:   {kept}")  # after price and feeds
    lines += told
    if result.planned_years:
        lines += ["", f"Plan:   {planned_years_text(result.planned_years)} (details: sizer grow)"]
    if result.request.needed_by is not None:
        warnings = result.design.bill.warnings
        needed = [*bill_warning_sentences(need_dangers(warnings)), *delivery_sentences(warnings)]
        lines += [f"Needed: {text}" for text in needed]
    owned = ownership(result)
    if owned is not None:
        lines += ["", f"TCO:    {ownership_finding(owned)} (details: sizer ownership)"]
    if result.maximum is not None:
        lines += ["", *maximum_text(result)]
    if result.request.team is not None:
        # The sizing accepts only designs that meet the wait target.
        lines += ["", f"Team:   {wait_text(result.request.team)}: met (details: sizer team)"]
    lines += [
        "",
        f"Choice: {selection_text(result, with_amounts=True)}",
        f"Size:   {binding_text(result.design, result.maximum)}",
    ]
    if quotes := quotes_text(result, with_amounts=True):
        lines.append(f"Quotes: {quotes}")
    if result.runner_up is not None and result.design.servers_bought:
        lines.append(f"Next:   {_runner_up(result, result.runner_up)}. {runner_up_text(result)}")
    if len(result.platforms) > 1:
        lines += ["", "Alternatives:"]
        lines += [f"  {line}" for line in _alternatives(result)]
    if simple is not None:
        lines += ["", "Simplest that is enough:", *(f"  {text}" for text in simplest_text(simple, result))]
    lines += ["", *reason_texts(result, with_amounts=True), *_existing(result.design)]
    lines += ["", f"{plural(result.n_designs, 'design')} evaluated."]
    if not result.design.bill.is_customer_copy:  # which has no engineer's file
        assumptions = plural(len(result.assumptions), "assumption")
        points = plural(len(result.questions), "point")
        lists = f"lists {assumptions} and {points} for the vendors to confirm."
        lines[-1] += f" The engineer's file (engineers-file.pdf) {lists}"
    return "\n".join(lines)


def projection_text(design: DesignAnswer) -> str:
    """Performance of a given cluster."""
    return "\n".join([design.name, "=" * len(design.name), *_design_lines(design), *_existing(design)])


def _existing(design: DesignAnswer) -> list[str]:
    return [*filter(None, [existing_text(design.existing, design.plan)])]


def verdict_answer_text(result: SizingResult, claims: Sequence[Claim], simple: SimplestDesign) -> str:
    """Whether the design is needed: the simplest design, and every claim with its arithmetic."""
    lines = [result.request.title, "=" * len(result.request.title), verdict_text(result), ""]
    lines += simplest_text(simple, result)
    tables = [simplest_table(simple, result), claims_table(claims)]
    return "\n".join([*lines, *(f"\n{table_text(table)}" for table in tables)])


def _place(design: DesignAnswer) -> str:
    """Where a design stands: at a desk, or in how much of how many racks."""
    if design.is_workstation:
        return "at a desk"
    units, racks = float(design.quantities.rack_units[0]), plural(design.quantities.n_racks, "rack")
    return f"{by_count(units, '1 rack unit', f'{units:g} rack units')} in {racks}"


def _fabric_line(design: DesignAnswer) -> str:
    """The network of the servers: its link, adapters and switches; "" where no network joins them."""
    platform, kind = design.platform, design.platform.fabric
    net = next((network for network in design.quantities.networks if network.role is NetworkRole.COMPUTE), None)
    switches = 0 if net is None else int(net.leaves[0] + net.spines[0] + net.cores[0])
    if design.n_servers < 2 or net is None or net.switch is None or not switches:
        return ""
    catalog = design.plan.catalog
    groups = joining(platform.server.ports, kind)
    nics = listed(dict.fromkeys(catalog.nics[port.nic].name for port in groups if port.nic is not None))
    ports = plural(sum(port.count for port in groups), "port")
    of_ports = f" ({nics})" if nics else ""
    return (
        f"{kind.name}, {ports} of {si(kind.bytes_per_s, 'B/s')} a server{of_ports}, "
        f"{grouped(switches)} × {catalog.switches[net.switch].name}"
    )


def _racks_line(design: DesignAnswer, request: SizingRequest | None) -> str:
    """Why so many racks, where a rack and its PDUs that nobody stated decide it."""
    if request is None or request.limits.rack_power_w is not None or request.site.pdu is not None:
        return ""
    choice = rack_choice(design)
    if choice.limit not in (RackLimit.POWER, RackLimit.PLACEMENT):
        return ""
    return f"{' '.join(rack_texts(choice))} Assumed: {design.platform.rack.name} with {design.platform.pdu.name}."


def _design_lines(design: DesignAnswer, request: SizingRequest | None = None) -> list[str]:
    usable = design.usable_bytes
    capacity = f"{si(usable, 'B')} usable" if usable > 0 else "usable capacity not published"
    lines = [
        f"Design: {design.name}, {gpus_text(design)}",
        f"        {_place(design)}, {power(design)} maximum power, {capacity}",
        *(f"Fabric: {text}" for text in (_fabric_line(design),) if text),
        *(f"Racks:  {text}" for text in (_racks_line(design, request),) if text),
        f"Price:  {price_text(design)}",
    ]
    if any(rack.feeds for rack in design.plan.racks) and not design.is_workstation:
        lines.append(f"Feeds:  {feeds_sentence(design.plan)}")
    lines[2:2] = [f"Tiers:  {tiers_sentence(design)}"] if design.platform.second_tier is not None else []
    for answer in design.workloads:
        lines += ["", *_workload_lines(design, answer)]
    if {fact.kind for fact in design.conditional_on} & {
        FactKind.READ_RATE,
        FactKind.WRITE_RATE,
        FactKind.USABLE_CAPACITY,
    }:
        lines.append("Open:   state the missing value of the storage in the request, with [[stated_storage]]")
    lines += [f"Open:   {check_label(check)}: {open_text(check)}" for check in design.checks if open_text(check)]
    lines += [f"Note:   {warning}" for warning in design_warnings(design)]
    return lines


_IN_STEP = "part of the GPUs' step"


def _workload_lines(design: DesignAnswer, answer: WorkloadAnswer) -> list[str]:
    unit = sample_unit(answer.dnn)
    workload = answer.workload
    size = si(answer.dataset_bytes, "B")
    if answer.dataset_bytes >= 0.01 * TIB:  # below, no storage is counted in TiB
        size += f" ({significant(answer.dataset_bytes / TIB)} TiB)"
    warm, cold = (float(rate.value) for rate in (answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s))
    target, probability = target_text(workload, answer.dnn), chance(answer.probability)
    reads = f"{si(cold, 'B/s')} in the first epoch, then {si(warm, 'B/s')}"
    if answer.kind.trains_language:
        reads = f"{si(cold, 'B/s')} of tokens, each read once"
    at_most = "at most " if answer.rate_is_upper_bound else ""
    head = [
        f"  settings     {settings_text(answer)}",
        f"  GPU memory   {memory_text(answer.memory)}",
    ]
    if not answer.kind.reads_data:
        head = [f"  {label.lower():<12} {text}" for label, text in serving_rows(design, answer, with_cost=True)]
    lines = [
        f"{workload.name}: {answer.dnn.name} with {used_stack_text(answer)}",
        *_data_lines(answer, size),
        *head,
        f"  target       {target}; probability of meeting it: {probability}",
    ]
    if not answer.rate_is_predicted:
        notes = (f"  note: {warning}" for warning in cautions(answer))
        return [*lines, f"  throughput   {NOT_PREDICTED}: no GPU of this generation was measured", *notes]
    lines += [
        f"  throughput   {at_most}{interval(answer.throughput, unit)}",
        *_measured_lines(answer, unit),
    ]
    if answer.serving is not None:  # requests come from users, and replicas exchange nothing
        lines.append(f"  utilization  {percent(answer.gpu_busy_fraction)} of the most{within(answer.serving.work)}")
        return [*lines, *(f"  note: {warning}" for warning in cautions(answer))]
    lines += [
        *([] if not answer.kind.reads_data else [f"  storage      {reads}"]),
        f"  utilization  host CPUs {percent(float(answer.cpu_utilization_fraction.value))}, "
        f"GPUs {percent(answer.gpu_busy_fraction)}",
    ]
    if answer.kind.trains_language:
        rate = float(answer.throughput.value)
        each = f"{significant(rate / answer.trained.gpus_used)} {unit}"
        lines += [
            f"  each GPU     {each}, {useful_text(answer.trained, rate)}",
            f"  layout       {layout_sentence(answer.trained)}",
            f"  step         {step_sentence(answer.trained)}",
            f"  basis        {basis_sentence(answer.trained)}",
            *([f"  stacks       {others}"] if (others := stacks_sentence(answer.trained)) else []),
            f"  checkpoints  {checkpoint_sentence(design, answer)}",
            f"  goodput      {goodput_sentence(answer)}",
        ]
    if answer.time is not None:
        if answer.time.whole_run is not None:
            is_own = answer.before_measured is not None
            lines.append(f"  whole run    {whole_run_text(answer.time.whole_run, steps_are_own=is_own)}")
        like = compared_time_s(answer)
        value, low, high = (duration(end, like) for end in answer.time.total_s)
        lines.append(f"  to train     {value} (90 % interval {low} to {high})")
    lines.append(f"  bottleneck   {STAGES[answer.bottleneck]}; next: {stage_name(answer.next_bottleneck, inside=True)}")
    for stage in answer.stages:
        mark = ">" if stage.is_limiting else " "
        label = f"    {mark} {STAGES[stage.key]:<20}"
        if isinstance(stage.reason, ExchangeReason) and stage.reason.is_in_step:
            lines.append(f"{label} {_IN_STEP:>22}")
            continue
        if not is_limit(stage, answer):
            lines.append(f"{label} {'does not limit':>22}")
            continue
        lines.append(f"{label} {_rate(stage.capacity, unit):>22}  utilization {percent(stage.load_fraction)}")
    lines += [f"  note: {warning}" for warning in cautions(answer)]
    return lines


def _measured_lines(answer: WorkloadAnswer, unit: str) -> list[str]:
    if answer.before_measured is None:
        return []
    after = next(stage.capacity for stage in answer.stages if stage.key == "gpu")
    return [
        f"  measured     GPUs with your rate {interval(after, unit)}, before {interval(answer.before_measured, unit)}"
    ]


def _data_lines(answer: WorkloadAnswer, size: str) -> list[str]:
    each = si(answer.sample_bytes, "B")
    if not answer.kind.reads_data:
        return [f"  models       {size} on storage, read when a server starts"]
    if answer.kind.trains_language:
        return [f"  data         {answer.dataset.name}, {size}, {each} per token"]
    access = f"{name(answer.workload.access)}, {name(answer.workload.cache)}"
    basis = " (assumed: as of the data set of published runs)" if assumes_sample_size(answer.workload) else ""
    return [f"  data         {size}, {each} per sample{basis}", f"  access       {access}"]


def _rate(capacity: Estimate, unit: str) -> str:
    return f"{significant(float(capacity.value))} {unit}"


def interval(estimate: Estimate, unit: str) -> str:
    """Value with its 90 % interval: '52 300 images/s (90 % interval 48 000 to 57 000)'."""
    value, low, high = estimate
    return f"{significant(value)} {unit} (90 % interval {significant(low)} to {significant(high)})"


def _runner_up(result: SizingResult, point: ParetoPoint) -> str:
    """The second platform with its GPUs and price, else the GPUs of a point of the same one."""
    gpu = result.design.plan.catalog.gpus[point.gpu]
    same = (point.server, gpu.speed, point.storage, point.n_gpus)
    found = (platform for platform in result.platforms[1:] if (*platform.platform.key, platform.n_gpus) == same)
    return next((design_text(one) for one in found), f"{point.name} ({grouped(point.n_gpus)} × {gpu.name})")


def _alternatives(result: SizingResult) -> list[str]:
    """A line for each kind of GPU with each storage: the first server, and how many others carry the same, and are
    bought as it is.
    """
    alike: dict[tuple[str, str, bool], list[DesignAnswer]] = {}
    for design in result.platforms:
        if design is result.design:
            continue
        kind = design.platform.gpu.id, design.platform.storage.name, design.servers_bought > 0
        alike.setdefault(kind, []).append(design)
    return [
        _one_line(first) + (f"; with {plural(len(others), 'other server')} it is much the same" if others else "")
        for first, *others in alike.values()
    ]


def _one_line(design: DesignAnswer) -> str:
    rates = "; ".join(
        f"{significant(float(answer.throughput.value))} {sample_unit(answer.dnn)}"
        if answer.rate_is_predicted
        else f"rate {NOT_PREDICTED}"
        for answer in design.workloads
    )
    units = f"{float(design.quantities.rack_units[0]):g} U"
    return f"{design.name} ({gpus_text(design)}): {rates}, {units}, {price_range_text(design)}"
