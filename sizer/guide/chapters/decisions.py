"""Chapter on the choices: why this server, this storage, this fabric and these racks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sizer.base.quantities import by_count, grouped
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Field, Table, record_table
from sizer.present.text import decisions as text
from sizer.present.text import result_text
from sizer.present.text.calibration import rounded_throughput
from sizer.present.text.warnings import storage_texts, storage_trade_off
from sizer.sizing.design.decisions import LinkOption, RejectedDesign, RejectionKind, rejection

# Of the documents that price ranges rest on, so many are named.
_MOST_TITLES = 3
# Of the designs that were rejected for one choice, so many are named: the nearest.
_MOST_REJECTED = 4
_BY_EXPECTED_COST = (
    RejectionKind.LIKELY_DEARER,
    RejectionKind.TIED,
    RejectionKind.LESS_CERTAIN,
    RejectionKind.OVER_BUDGET,
)


@dataclass(frozen=True)
class ChoiceSection:
    """What was chosen, the number that decided, what it costs, and what was rejected."""

    title: str
    chosen: str
    reasons: list[str]
    trade_off: str
    rejected: Table | None
    no_choice: str = ""  # where the request leaves none


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/decisions.html`` prints."""
    return {"choices": list(choices(context, _simpler(context)))}


def choices(context: GuideContext, simpler: RejectedDesign | None = None) -> Iterator[ChoiceSection]:
    """The choices in the order of the data path; ``simpler`` is a design of fewer devices that is named, too."""
    found, design, result = context.decisions, context.design, context.result
    platform = design.platform
    server = found.server
    is_other_server = simpler is not None and simpler.design.platform.server.id != platform.server.id
    of_servers, of_storage = (simpler, None) if is_other_server else (None, simpler)
    yield ChoiceSection(
        "GPU server",
        f"{design.n_servers} × {platform.server.name}{by_count(design.n_servers, '', ', each')} with "
        f"{platform.gpus_per_server} × {platform.gpu.name}",
        text.server_texts(server, result),
        text.server_trade_off(server, design),
        _designs_table("server", "Servers that were compared and rejected", server.rejected, of_servers, context),
        text.only_allowed_text("GPU server") if server.is_only_allowed else "",
    )
    storage = found.storage
    yield ChoiceSection(
        "Storage",
        words.capital(result_text.storage_name(design)),
        [*storage_texts(storage, design), *_later_storage(context)],
        storage_trade_off(storage, design),
        _designs_table("storage", "Storage that was compared and rejected", storage.rejected, of_storage, context),
        text.only_allowed_text("storage") if storage.is_only_allowed else "",
    )
    fabric = found.fabric
    if fabric is not None:
        yield ChoiceSection(
            "Fabric",
            f"{fabric.kind.name}, {words.plural(fabric.n_ports, 'port')} of each server",
            text.fabric_texts(fabric),
            text.fabric_trade_off(fabric),
            _links_table(fabric.slower),
        )
    if design.is_workstation:
        return
    racks = found.racks
    contents = by_count(racks.n_delivered, "its contents", "their contents")
    delivered = f", and {grouped(racks.n_delivered)} delivered with {contents}" if racks.n_delivered else ""
    yield ChoiceSection(
        "Rack layout",
        f"{words.plural(racks.n_racks, 'rack')}, {design.plan.rack.name}{delivered}",
        text.rack_texts(racks),
        text.rack_trade_off(racks),
        None,
    )


def _later_storage(context: GuideContext) -> Iterator[str]:
    """That a growth plan buys more storage than the first year takes."""
    plan = context.growth_plan[0] if context.result.request.growth is not None else None
    if plan is None:
        return
    sizes = plan.of(context.design.platform.key).recommended.sizes
    more = next((year for year, size in enumerate(sizes, 1) if size.storage_nodes > context.design.storage_nodes), None)
    if more is not None:
        nodes = words.plural(sizes[-1].storage_nodes, "node")
        yield f"That is the need of year 1; the growth plan takes {nodes} by year {len(sizes)}."


def _simpler(context: GuideContext) -> RejectedDesign | None:
    """A design of fewer devices that meets the request, too; None where the described one is the simplest."""
    is_language = all(answer.kind.trains_language for answer in context.answers)
    if context.result.maximum is not None or (is_language and context.decisions.server.is_only_allowed):
        return None  # the search among many servers of one kind takes long, and little can be simpler
    simplest = context.simplest
    if simplest.is_described:
        return None
    kind = rejection(context.result, simplest.allowed.design)
    # What depends on a fact that no source gives is not known to be enough.
    return None if kind is RejectionKind.CONDITIONAL else RejectedDesign(simplest.allowed.design, kind)


def _designs_table(
    role: Literal["server", "storage"],
    caption: str,
    others: Sequence[RejectedDesign],
    simpler: RejectedDesign | None,
    context: GuideContext,
) -> Table | None:
    """Rejected designs by what they do not have in common with the chosen one; a simpler one comes first."""
    result, rejected = context.result, list(others)
    if simpler is not None:
        rejected = [simpler, *(one for one in others if _parts(one) != _parts(simpler))]
    if not rejected:
        return None
    design = result.design
    first = design.workloads[0]
    of = f", {first.workload.name}" if len(design.workloads) > 1 else ""
    measures = (
        Field[RejectedDesign]("GPUs", lambda one: grouped(one.design.n_gpus), "right", 7),
        Field[RejectedDesign](
            f"Rate{of}, {words.sample_unit(first.dnn)}",
            lambda one: rounded_throughput(one.design.workloads[0], with_unit=False),
            "right",
            12,
        ),
        Field[RejectedDesign]("Confidence", lambda one: words.chance(one.design.probability), "right", 12),
        Field[RejectedDesign]("Maximum power", lambda one: result_text.power(one.design), "right", 11),
        Field[RejectedDesign]("Price", lambda one: context.told_price(one.design), "right", 14),
    )
    shown, chosen = rejected[:_MOST_REJECTED], replace(rejected[0], design=design)
    kept = [one for one in measures if {one.text(each) for each in shown} - {one.text(chosen), words.TO_BE_QUOTED}]
    free = sum(measure.width for measure in measures if measure not in kept) // 2
    fields = (
        Field[RejectedDesign]("Design", lambda one: one.design.name, "left", 25 + free),
        *kept,
        Field[RejectedDesign]("Why not", lambda one: text.rejection_text(one, result), "left", 19 + free),
    )
    more = len(rejected) - _MOST_REJECTED
    notes = [f"{words.capital(words.plural(more, 'further design'))} rejected."] if more > 0 else []
    if any(one.kind in _BY_EXPECTED_COST for one in shown):
        compared = [getattr(one.design.platform, role) for one in (chosen, *shown)]
        notes.append(_cost_basis([item.id for item in compared], context))
    if simpler is not None:
        found = context.simplest
        notes.append(text.simpler_text(simpler.design.name, found.allowed.simplicity.devices, found.described.devices))
    note = " ".join(notes)
    return record_table(
        "rejected-servers" if role == "server" else "rejected-storage", caption, shown, fields, note=note
    )


def _cost_basis(items: Sequence[str], context: GuideContext) -> str:
    """What expected costs rest on, by the parts that are compared: published prices, or ranges and their sources."""
    bill, bands = context.design.bill, context.catalog.bands
    found = [bands.band(context.catalog.category_of(item), item) for item in dict.fromkeys(items)]
    keys = {key for band in found if band is not None for key in band.evidence}
    # A title without the row that was read in it.
    signed = (one for one in bands.evidence if one.id in keys and one.grade in ("A", "B"))
    titles = dict.fromkeys(f'"{one.title.partition(" (")[0]}"' for one in signed)
    sources = words.listed([*titles][:_MOST_TITLES] + (["others"] if len(titles) > _MOST_TITLES else []))
    ranges = f"price ranges of such products{f' ({sources})' if sources else ''}; quotes confirm them."
    if bill.net_total.n_open and not bill.net_total.amount:
        return f"No price of this design is published: expected costs rest on {ranges}"
    return f"Expected costs rest on published prices and, where there is none, on {ranges}"


def _parts(rejected: RejectedDesign) -> tuple[str, str]:
    platform = rejected.design.platform
    return platform.server.id, platform.storage.id


def _links_table(options: Sequence[LinkOption]) -> Table | None:
    if not options:
        return None
    has_switches = any(option.n_switches is not None for option in options)
    switches = Field[LinkOption](
        "Switches", lambda one: "" if one.n_switches is None else grouped(one.n_switches), "right", 11
    )
    has_reads = any(option.read_fraction > 0 for option in options)
    reads = Field[LinkOption]("Reads, of the links", lambda one: words.percent(one.read_fraction), "right", 17)
    fields = (
        Field[LinkOption]("Links of each server", lambda one: f"{one.n_ports} × {one.kind.name}", "left", 24),
        *([reads] if has_reads else []),
        Field[LinkOption]("Rate lost to gradients", lambda one: words.percent(one.lost_fraction), "right", 18),
        *([switches] if has_switches else []),
        Field[LinkOption]("Why not", text.link_text, "left", 30 if has_switches else 41),
    )
    caption = "Slower or fewer links that were compared and rejected"
    has_tcp = any(option.n_switches is None and option.lost_fraction > 0 for option in options)
    note = "Gradients over 10 and 25 GbE use TCP, which reached less of its line rate in published tests than RDMA."
    return record_table("rejected-links", caption, options, fields, note=note if has_tcp else "")
