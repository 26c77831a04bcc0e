"""The verdict with the claims behind it, as tables, in sentences and as plain text."""

from collections.abc import Callable, Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.base.units import GIB
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.design_summary import design_summary
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.money import design_text, price_range_text
from sizer.present.text.verdict import verdict_text
from sizer.present.words import listed, name, plural, sample_unit, stage
from sizer.questions.verdict.analysis import LEAST_SPEED_UP
from sizer.questions.verdict.claim import (
    Claim,
    DoubleGpusFacts,
    FabricFacts,
    GpuWaitFacts,
    HostFacts,
    LinkFacts,
    MemoryFacts,
    OneServerFacts,
    SharedStorageFacts,
    SimpleStorageFacts,
    SingleServerRun,
    StorageOption,
)
from sizer.questions.verdict.data_claims import LOW_UTILIZATION, SIMPLE_KINDS
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, RatedDesign, SimplestDesign, room_taken
from sizer.sizing.design.decisions import LEAST_FABRIC_LOSS
from sizer.sizing.result import SizingResult


def claims_table(claims: Sequence[Claim]) -> Table | None:
    """Every claim with its number, its threshold, and how the number comes about; None where there are none.

    Claims about the whole request come first, then workload by workload.
    """
    if not claims:
        return None
    names = list(dict.fromkeys(claim.workload for claim in claims))
    has_several = len({claim.workload for claim in claims if claim.workload}) > 1
    return record_table(
        "claims",
        "Claims in favour of the simpler option",
        sorted(claims, key=lambda claim: (claim.workload != "", names.index(claim.workload))),
        [
            Field("Claim", claim_title, width=20),
            Field("Holds", holds_text, width=7),
            Field("Number and threshold", _number_text, width=16),
            Field("Finding and arithmetic", _basis, width=57),
        ],
        group=lambda claim: claim.workload if has_several else "",
    )


def _number_text(claim: Claim) -> str:
    least = "at most" if claim.at_most else "at least"
    return f"{claim_number(claim, claim.value)}, {least} {claim_number(claim, claim.threshold)}"


def _basis(claim: Claim) -> Cell:
    return Cell(" ".join(_finding_and_arithmetic(claim)), cites=claim.sources)


def holds_text(claim: Claim) -> str:
    """Whether a claim holds, in a word."""
    return "yes" if claim.holds else "no"


def claim_number(claim: Claim, value: float) -> str:
    """A number of a claim with its unit."""
    if claim.unit == "storage":
        return words.name(STORAGE_ORDER[int(value)])
    if claim.unit == "share" and value <= 1:
        return words.percent(value)
    if claim.unit in ("share", "ratio"):
        return f"{significant(value)}{NARROW_SPACE}×"
    if claim.unit == "servers":
        return words.plural(int(value), "server")
    return si(value, claim.unit)


def simplest_table(simplest: SimplestDesign, result: SizingResult) -> Table:
    """The simplest sufficient design compared with the described one, and the one that only choices exclude."""
    described = RatedDesign(result.request, result.design, simplest.described)
    rated = [("This design", described)]
    if not simplest.is_described:
        rated.append(("Simplest allowed", simplest.allowed))
    if simplest.unrestricted is not None:
        rated.append(("Without the choices", simplest.unrestricted))
    fields: list[Field[tuple[str, RatedDesign]]] = [
        Field("Design", lambda one: f"{one[0]}: {one[1].design.name}", width=31),
        Field("Kinds of networks", lambda one: grouped(one[1].simplicity.network_kinds), "right", 11),
        Field("Devices", lambda one: grouped(one[1].simplicity.devices), "right", 9),
        Field("Rack units", lambda one: grouped(float(one[1].design.quantities.rack_units[0])), "right", 8),
        Field("Power", lambda one: result_text.power(one[1].design), "right", 13),
        Field("Probability", lambda one: words.chance(one[1].design.probability), "right", 14),
    ]
    if not result.design.bill.is_customer_copy:
        fields.append(Field("Price", lambda one: price_range_text(one[1].design), "right", 14))
    note = (
        "Order of simplicity: one server before several; local drives, then a file server, a multi-node NAS, a "
        "clustered file system; fewer kinds of networks; fewer servers, storage chassis, switches and gateways. "
        "Never more servers than this design, nor more than 1.5 times its GPUs or power. Without the choices of the "
        "request, a design that costs half or less counts, too."
    )
    return record_table(
        "simplest",
        "The simplest design that is enough",
        rated,
        fields,
        kind=lambda one: "strong" if one[1] is described else "",
        note=note,
    )


# Choices of a request as sentences name them.
_CHOICES = {
    "platforms.servers": "the servers allowed",
    "platforms.forbidden_servers": "the servers excluded",
    "platforms.gpus": "the GPUs allowed",
    "platforms.storage": "the storage allowed",
    "platforms.forbidden_storage": "the storage excluded",
    "platforms.fabrics": "the fabrics allowed",
    "limits.power_w": "the power allowed",
    "limits.rack_units": "the rack units allowed",
    "limits.racks": "the racks allowed",
}
# An amount of each limit of the room.
_ROOM: dict[str, Callable[[float], str]] = {
    "limits.power_w": lambda amount: si(amount, "W"),
    "limits.rack_units": plain,
    "limits.racks": plain,
}
_TITLES = {
    "one-server": "One server is enough",
    "simple-storage": "Local drives or one file server are enough",
    "slow-fabric": "25 GbE would lose little to the gradients",
    "double-gpus": "Twice the GPUs pay off",
    "gpus-wait": "The GPUs do not wait for data",
    "fits-memory": "The data set fits in memory and is read once",
    "usual-link": "{link} is enough for the data",
    "storage-idles": "The smallest shared storage would be mostly idle",
    "hosts-first": "The host processors limit before the network does",
}


def verdict_document(result: SizingResult, claims: Sequence[Claim], simplest: SimplestDesign) -> dict[str, Any]:
    """Whether a design is needed, for machines. Keys of claims stay the same from version to version."""
    return json_document(
        "verdict",
        **fields_of(result, "catalog_digest", "calibration_digest", "needs_cluster"),
        verdict=verdict_text(result),
        design=design_summary(result.design),
        simplest=fields_of(
            simplest,
            "is_described",
            in_the_way=simplest.excluding_choices,
            allowed=_rated(simplest.allowed),
            without_choices=None if simplest.unrestricted is None else _rated(simplest.unrestricted),
        ),
        claims=[_claim(claim) for claim in claims],
    )


def _rated(rated: RatedDesign) -> dict[str, object]:
    return {
        **design_summary(rated.design),
        **fields_of(rated.simplicity, "network_kinds", "devices"),
        "platforms": rated.request.platforms.model_dump(mode="json", exclude_defaults=True),
    }


def _claim(claim: Claim) -> dict[str, object]:
    return fields_of(
        claim,
        *("key", "workload", "holds", "value", "threshold", "unit", "sources"),
        claim=claim_title(claim),
        finding=claim_finding(claim),
        holds_at_most=claim.at_most,
        arithmetic=claim_arithmetic(claim),
    )


def claim_title(claim: Claim) -> str:
    """The claim itself: 'One server is enough'."""
    return _filled(_TITLES[claim.key], claim)


def claim_finding(claim: Claim) -> str:
    """What was found, with its numbers."""
    return _finding_and_arithmetic(claim)[0]


def claim_arithmetic(claim: Claim) -> str:
    """How the numbers of a claim come about."""
    return _finding_and_arithmetic(claim)[1]


def _filled(text: str, claim: Claim) -> str:
    link = claim.facts.kind.name if isinstance(claim.facts, LinkFacts) else ""
    return text.format(link=link, loss=_percent(LEAST_FABRIC_LOSS))


def _finding_and_arithmetic(claim: Claim) -> tuple[str, str]:
    match claim.facts:
        case OneServerFacts():
            return _one_server_finding(claim.facts, claim.holds), _one_server_arithmetic(claim.facts)
        case SimpleStorageFacts():
            return _simple_storage_finding(claim.facts), _simple_storage_arithmetic(claim.facts)
        case FabricFacts():
            return _fabric_finding(claim.facts, claim.holds), _fabric_arithmetic(claim.facts)
        case DoubleGpusFacts():
            return _double_gpus_texts(claim.facts)
        case GpuWaitFacts():
            return _gpu_wait_texts(claim.facts)
        case MemoryFacts():
            return _memory_finding(claim.facts, claim.holds), _memory_arithmetic(claim.facts)
        case LinkFacts():
            return _link_finding(claim.facts, claim.holds), _link_arithmetic(claim.facts)
        case SharedStorageFacts():
            return _shared_storage_texts(claim.facts, claim.holds)
        case HostFacts():
            return _host_finding(claim.facts, claim.holds), _host_arithmetic(claim.facts)


# --- servers, fabric and GPUs


def _one_server_finding(facts: OneServerFacts, holds: bool) -> str:
    if not holds and facts.n_servers == 1:
        return f"One {facts.server} is enough, but it is a rack of several hosts: no single host does the job."
    if not holds:
        return f"One {facts.server} is not enough: the request needs {grouped(facts.n_servers)}."
    if facts.single_server is None:
        return "One server of another type than the described one is enough."
    return f"One {facts.single_server} is enough."


def _one_server_arithmetic(facts: OneServerFacts) -> str:
    parts = [_single_run_text(run) for run in facts.runs]
    if facts.has_team:
        parts.append("the team's jobs must also start within their wait limits")
    return (
        f"One {facts.server} with this storage: {'; '.join(parts)}. Required confidence: {_percent(facts.confidence)}."
    )


def _single_run_text(run: SingleServerRun) -> str:
    target = run.target
    if target.gpus_busy is not None:
        return f"it has {plural(run.n_gpus, 'GPU')} of the {grouped(target.gpus_busy)} to keep fully utilized"
    if not run.fits:
        return f"its GPUs do not hold {run.dnn.name}"
    if target.samples_per_s is not None:
        unit = sample_unit(run.dnn)
        return f"{si(run.samples_per_s, unit)} at the median, target {si(target.samples_per_s, unit)}"
    assert target.time_to_train_s is not None  # a target is one of the three
    assert run.time_to_train_s is not None
    return f"{duration(run.time_to_train_s)} to train at the median, target {duration(target.time_to_train_s)}"


def _fabric_finding(facts: FabricFacts, holds: bool) -> str:
    least, first = _percent(LEAST_FABRIC_LOSS), facts.first_paying_servers
    if first is None:
        pays = f"EDR would gain less than {least} on up to {facts.compared_servers} servers"
    else:
        gpus = grouped(first * facts.gpus_per_server)
        pays = f"EDR gains more than {least} from {plural(first, 'server')} ({gpus} GPUs) on"
    if facts.n_servers == 1:
        return f"25 GbE loses nothing to the gradients: those of one server stay inside it; {pays}."
    if holds:
        return f"25 GbE loses little to the gradients, {_percent(facts.loss_fraction)} of the rate; {pays}."
    return f"EDR pays off for the gradients: 25 GbE would cost {_percent(facts.loss_fraction)} of the rate; {pays}."


def _fabric_arithmetic(facts: FabricFacts) -> str:
    return (
        f"A step exchanges {si(facts.gradient_bytes, 'B')} of gradients. Between {facts.exchange_servers} servers that "
        f"takes {_ms(facts.slow_exchange_s)} over the {si(facts.slow_bytes_per_s, 'B/s')} of 25 GbE and "
        f"{_ms(facts.fast_exchange_s)} over the {si(facts.fast_bytes_per_s, 'B/s')} of EDR, as calibrated. "
        f"{_ms(facts.compute_s)} of computation hides part of it."
    )


def _double_gpus_texts(facts: DoubleGpusFacts) -> tuple[str, str]:
    gain = facts.doubling
    rate, speed = _times(gain.rate_ratio), _times(gain.speed_ratio)
    before, after = (significant(epochs) for epochs in gain.epochs)
    return (
        f"Twice the GPUs, {grouped(2 * facts.n_gpus)}, give {rate} times the rate and {speed} times the speed to "
        "accuracy.",
        f"The global batch goes from {grouped(gain.global_batch[0])} to {grouped(gain.global_batch[1])} and the "
        f"epochs to the target from {before} to {after}: {rate} × {before} / {after}, less the start-up time. Twice "
        f"the GPUs pay off from {plain(LEAST_SPEED_UP)} times on.",
    )


def _gpu_wait_texts(facts: GpuWaitFacts) -> tuple[str, str]:
    unit = sample_unit(facts.dnn)
    return (
        f"The GPUs wait for data {_percent(facts.waiting_fraction)} of the time.",
        f"They could process {si(facts.gpu_samples_per_s, unit)}; the design delivers "
        f"{si(facts.design_samples_per_s, unit)}. Bottleneck: {stage(facts.bottleneck, inside=True)}. GPUs at "
        f"97{NARROW_SPACE}% utilization or more are the bottleneck themselves.",
    )


# --- data


def _simple_storage_finding(facts: SimpleStorageFacts) -> str:
    servers, kind = f"{facts.n_servers} × {facts.server}", name(facts.kind)
    text = f"Simplest storage that is enough for {si(facts.data_bytes, 'B')} on {servers}: {kind}."
    return text if facts.kind in SIMPLE_KINDS else f"{text} Neither local drives nor one file server are enough."


def _simple_storage_arithmetic(facts: SimpleStorageFacts) -> str:
    return (
        f"The design reads {si(facts.read_bytes_per_s, 'B/s')} in steady state. "
        f"{'; '.join(map(_option_text, facts.options))}. Storage of unpublished rate counts as enough only where the "
        "servers' memory holds the data."
    )


def _option_text(option: StorageOption) -> str:
    size, rate = option.capacity_bytes, option.read_bytes_per_s
    room = "capacity not published" if size is None else si(size, "B")
    return f"{option.storage}: {room}, {'read rate not published' if rate is None else si(rate, 'B/s')}"


def _memory_finding(facts: MemoryFacts, holds: bool) -> str:
    data, memory = si(facts.data_bytes, "B"), si(facts.cache_bytes, "B")
    if holds:
        return f"The data set of {data} fits in the {memory} of server memory available for data: it is read once."
    return (
        f"The data set of {data} does not fit in the {memory} of server memory available for data: every epoch reads "
        "it again."
    )


def _memory_arithmetic(facts: MemoryFacts) -> str:
    whole, copy, system = (
        grouped(size / GIB) for size in (facts.server_bytes, facts.gpu_copy_bytes, facts.system_bytes)
    )
    text = (
        f"{whole} GiB of memory less {copy} GiB for copies of the GPUs' memory and {system} GiB for the system. "
        f"Reading the set once takes {duration(facts.first_read_10gbe_s)} over 10 GbE and "
        f"{duration(facts.first_read_25gbe_s)} over 25 GbE"
    )
    total = facts.time_to_train_s
    if total is None:
        return f"{text}."
    return f"{text}, {_percent(facts.first_read_25gbe_s / total)} of a training of {duration(total)}."


def _link_finding(facts: LinkFacts, holds: bool) -> str:
    link = facts.kind.name
    if not facts.read_bytes_per_s:
        return f"{link} is enough for the data: in steady state nothing is read over it."
    enough = "enough" if holds else "not enough"
    reads, carries = si(facts.read_bytes_per_s, "B/s"), si(facts.link_bytes_per_s, "B/s")
    return f"{link} is {enough} for the data: a server reads {reads}, one link carries {carries}."


def _link_arithmetic(facts: LinkFacts) -> str:
    return (
        f"A server's GPUs and processors process {si(facts.samples_per_s, sample_unit(facts.dnn))}. At "
        f"{si(facts.sample_bytes, 'B')} each that is {si(facts.first_epoch_bytes_per_s, 'B/s')}, of which its memory "
        f"serves {_percent(facts.hit_fraction)} in steady state. Over one such link per server, the first epoch "
        f"takes at least {duration(facts.first_epoch_s)}."
    )


def _shared_storage_texts(facts: SharedStorageFacts, holds: bool) -> tuple[str, str]:
    share = _percent(facts.utilization_fraction)
    smallest = f"The smallest {facts.storage} ({plural(facts.n_nodes, 'node')})"
    finding = f"{smallest} would {'' if holds else 'not '}be mostly idle: reads use {share} of its rate."
    if facts.utilization_fraction > 1:
        finding = (
            f"{smallest} would be too slow: the design reads {significant(facts.utilization_fraction)} times its rate."
        )
    return (
        finding,
        f"In steady state the design reads {si(facts.read_bytes_per_s, 'B/s')}; the smallest "
        f"system delivers at least {si(facts.delivered_bytes_per_s, 'B/s')}. Below "
        f"{_percent(LOW_UTILIZATION)} of that, the storage is bought for its capacity, not for its speed.",
    )


def _host_finding(facts: HostFacts, holds: bool) -> str:
    prepared, carried = si(facts.prepared_bytes_per_s, "B/s"), si(facts.network_bytes_per_s, "B/s")
    if holds:
        return (
            f"A faster network gains nothing: a server's processors prepare {prepared}, the network brings {carried}."
        )
    return f"A server's processors prepare {prepared}, more than the {carried} that the network brings."


def _host_arithmetic(facts: HostFacts) -> str:
    return (
        f"{plain(facts.cores)} cores at {significant(1e3 * facts.core_s_per_sample)} core-ms per sample of "
        f"{si(facts.sample_bytes, 'B')}. Samples decoded beforehand would avoid this work: "
        f"{si(facts.decoded_bytes, 'B')} each, {significant(facts.decoded_bytes / facts.sample_bytes)} times the bytes."
    )


# --- the simplest design


def simplest_text(simplest: SimplestDesign, result: SizingResult) -> list[str]:
    """Whether a design is simpler than the described one, and which choices of the request exclude it."""
    if simplest.is_described:
        sentences = ["Nothing that the request allows is simpler than the described design."]
    else:
        design = simplest.allowed.design
        networks = design.quantities.networks
        has_fabric = any(net.role is NetworkRole.COMPUTE and int(net.end_points[0]) for net in networks)
        over = f" over {design.platform.fabric.name}" if has_fabric else ""
        sentences = [f"A simpler design is also enough: {design_text(design)}{over}."]
    if simplest.unrestricted is not None:
        taken = room_taken(result.request, simplest.unrestricted.design)
        choices = listed(
            f"{_CHOICES[key]}, {_ROOM[key](taken[key][1])} in place of {_ROOM[key](taken[key][0])}"
            if key in taken
            else _CHOICES[key]
            for key in simplest.excluding_choices
        )
        other, why = simplest.unrestricted.design, "simpler" if simplest.is_simpler_without_choices else "far cheaper"
        sentences.append(f"{design_text(other)} would be enough and {why}; excluded by the request ({choices}).")
    elif result.request.platforms != type(result.request.platforms)():
        sentences.append("Without the choices of the request, no design would be simpler or far cheaper either.")
    return sentences


# --- numbers


def _percent(share: float) -> str:
    """A share with two digits: 3.4 %, 12 %; small ones 'under 0.1 %'."""
    if share < 1e-9:  # nothing but rounding
        return f"0{NARROW_SPACE}%"
    if share < 0.001:
        return f"under 0.1{NARROW_SPACE}%"
    return f"{plain(100 * share, 2) if share < 1 else significant(100 * share)}{NARROW_SPACE}%"


def _times(ratio: float) -> str:
    return significant(ratio, 3)


def _ms(seconds: float) -> str:
    return f"{significant(1e3 * seconds)}{NARROW_SPACE}ms"
