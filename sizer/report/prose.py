"""Sentences about a result: verdict first, then the number, the reason and the doubt."""

from collections.abc import Sequence

from sizer.base.quantities import si, significant
from sizer.base.units import gbit_per_s_from_bytes_per_s
from sizer.bom.bill import Bill
from sizer.catalog.model import Catalog
from sizer.catalog.wording import fact_value, item_name
from sizer.drawings.datapath import is_limit
from sizer.physical.counted import Network
from sizer.report import words
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, WorkloadAnswer


def reason(design: DesignAnswer) -> list[str]:
    """Why the design is as large as it is: what limits each workload, and what less would mean."""
    sentences = [limit(answer, len(design.workloads) > 1) for answer in design.workloads]
    return [*sentences, words.sentence(design.binding_limit)]


def limit(answer: WorkloadAnswer, named: bool) -> str:
    """What limits a workload, and how far the next limit is."""
    unit = words.sample_unit(answer.dnn)
    subject = (
        f"{answer.workload.name}: {words.stage(answer.bottleneck, inside=True)}" if named else STAGES[answer.bottleneck]
    )
    text = f"{subject} sets the pace at {words.estimate(answer.throughput, unit)}"
    following = next((stage for stage in answer.stages if stage.key == answer.next_bottleneck), None)
    if following is None or following.key == answer.bottleneck or not is_limit(following, answer):
        return text + "."
    ratio = float(following.capacity.value) / float(answer.throughput.value)
    if ratio < 1.05:
        return f"{text}; {words.stage(following.key, inside=True)} stands at almost the same rate."
    return (
        f"{text}; the next limit, {words.stage(following.key, inside=True)}, lies {significant(ratio, 2)} times higher."
    )


def doubt(result: SizingResult) -> list[str]:
    """How sure the answer is, and what it rests on."""
    design = result.design
    many = len(design.workloads) > 1
    met = all(answer.meets_target for answer in design.workloads)
    chance, asked = words.percent(design.probability), words.percent(result.request.confidence)
    subject = "All targets are" if many else "The target is"
    sentences = [
        f"{subject} met with a probability of {chance}; {asked} was asked."
        if met
        else f"{subject} not met with the certainty asked: the probability is {chance}, {asked} was asked."
    ]
    assumed = sum(one.basis == "assumed" for one in result.assumptions)
    if assumed:
        verb = "is" if assumed == 1 else "are"
        sentences.append(
            f"{words.spelled(assumed).capitalize()} of the facts behind it {verb} assumed, because no source gives "
            f"{'it' if assumed == 1 else 'them'}."
        )
    return sentences


def price(bill: Bill) -> str:
    """The total in words; 'at least' while prices are missing."""
    if not bill.lines:
        return words.NOT_PUBLISHED
    if bill.is_complete:
        return words.money(bill.total, bill.currency)
    return words.TO_BE_QUOTED if bill.net_total.is_unknown else f"at least {words.money(bill.total, bill.currency)}"


def open_prices(bill: Bill) -> str:
    """How much of the bill has a price."""
    missing = bill.net_total.n_open
    if not missing:
        return "Every line has a price."
    if missing == len(bill.bought):
        return "No line has a published price; the vendors must quote all of them."
    so = "and those that have one are free of charge" if bill.net_total.is_unknown else "so the total is a lower bound"
    return (
        f"{words.plural(missing, 'line').capitalize()} of {len(bill.bought)} "
        f"{'has' if missing == 1 else 'have'} no published price, {so}."
    )


def power(design: DesignAnswer, which: str = "maximum") -> str:
    """Power of the whole design; 'at least' where a device has no published draw."""
    counts = design.quantities
    watts = float((counts.power_max_w if which == "maximum" else counts.power_typical_w)[0])
    return ("at least " if counts.unknown_power else "") + si(watts, "W")


def storage(design: DesignAnswer) -> str:
    """Storage in a few words: nodes, chassis and usable capacity."""
    parts = design.platform
    usable = float(design.quantities.usable_bytes[0])
    room = f", {si(usable, 'B')} usable" if usable > 0 else ""
    nodes, per_unit = design.storage_nodes, parts.storage.nodes_per_unit
    if not nodes:
        return parts.storage.name + room
    if per_unit is not None and per_unit.value > 1:
        chassis = -(-nodes // per_unit.value)
        return f"{words.plural(nodes, 'node')} in {words.plural(chassis, 'chassis')}{room}"
    return f"{words.plural(nodes, 'node')}{room}"


def switches(design: DesignAnswer) -> int:
    """Switches and gateways of all networks."""
    return sum(
        int(part.quantity[0])
        for part in design.quantities.components
        if part.category == "network" and ("switch" in part.role or "gateway" in part.role)
    )


def racks(design: DesignAnswer) -> str:
    """Rack units and racks."""
    counts = design.quantities
    return f"{fact_value(float(counts.rack_units[0]), 'U')} in {words.plural(int(counts.racks[0]), 'rack')}"


def network_switches(net: Network, catalog: Catalog) -> str:
    """Switches of a network by kind: '3 × SB7800', '2 × S3048-ON leaf and 1 × S4048-ON spine'."""
    counts = (("leaf", net.switch, net.leaves), ("spine", net.spine, net.spines), ("core", net.spine, net.cores))
    parts = [(role, item_name(item, catalog), int(count[0])) for role, item, count in counts if item and int(count[0])]
    if int(net.gateways[0]) and net.switch is not None:
        parts.append(("gateway", item_name(net.switch, catalog), int(net.gateways[0])))
    if not parts:
        return "none"
    if len({name for _, name, _ in parts}) > 1:
        return words.listed([f"{count} × {name} ({role})" for role, name, count in parts])
    total = f"{sum(count for _, _, count in parts)} × {parts[0][1]}"
    split = ", ".join(f"{count} {role}" for role, _, count in parts)
    return f"{total} ({split})" if len(parts) > 1 else total


def port_arithmetic(net: Network) -> str:
    """How the ports of a network add up."""
    ends, cables, used, free = (
        int(part[0]) for part in (net.end_points, net.leaf_spine_cables, net.ports_used, net.ports_free)
    )
    uplinks = int(net.gateway_uplinks[0])
    left = f"{words.plural(free, 'port')} {'stays' if free == 1 else 'stay'} free"
    if cables and ends + 2 * cables == used:
        return f"{ends} end points + 2 × {cables} ends of inter-switch cables = {used} ports; {left}"
    if uplinks and ends + uplinks == used:
        return f"{words.plural(ends, 'end point')} + {words.plural(uplinks, 'gateway uplink')} = {used} ports; {left}"
    return f"{words.plural(used, 'port')} in use; {left}"


def gateway_arithmetic(design: DesignAnswer) -> str:
    """Why there are that many gateway uplinks; empty without a gateway."""
    gateway = design.platform.gateway
    net = next((one for one in design.quantities.networks if int(one.gateway_uplinks[0])), None)
    if gateway is None or net is None:
        return ""
    ports = int(net.end_points[0])
    port_gbit = gbit_per_s_from_bytes_per_s(gateway.front_end_bytes_per_s.value)
    link_gbit = gbit_per_s_from_bytes_per_s(gateway.uplink_bytes_per_s.value)
    uplinks = int(net.gateway_uplinks[0])
    need = ports * port_gbit
    return (
        f"{words.plural(ports, 'front-end port')} × {significant(port_gbit)} Gbit/s = {significant(need)} Gbit/s. One "
        f"uplink carries {significant(link_gbit)} Gbit/s; {significant(need)} / {significant(link_gbit)} = "
        f"{significant(need / link_gbit)}, rounded up to {words.plural(uplinks, 'uplink')}."
    )


def cold_epoch(answer: WorkloadAnswer) -> str:
    """What the first epoch asks of storage, and what the later ones do."""
    assert answer.time is not None
    first, later = answer.time.first_epoch_s, answer.time.epoch_s
    cold, each = words.estimate(answer.cold_storage_bytes_per_s, "B/s"), words.rounded(later, "s")
    text = f"The first epoch reads every sample from storage: {cold} for {words.rounded(first, 's')}."
    hits = answer.cache_hit_fraction
    if hits >= 0.995:
        return f"{text} From then on the data set sits in memory; an epoch takes {each} and storage idles."
    if hits >= 0.005:
        return f"{text} Later epochs take {each} each; caches serve {words.percent(hits)} of their reads."
    return f"{text} Later epochs take {each} each and read everything again: the caches hold too little."


def measured(answer: WorkloadAnswer) -> str:
    """How many published measurements carry the projection of a workload."""
    count = len(answer.evidence)
    if not count:
        return "No published measurement is near this workload; the interval is as wide as that makes it."
    fitted = sum(one.calibrates for one in answer.evidence)
    if count == 1:
        role = "it helped to fit the model" if fitted else "it had no part in fitting the model"
        return f"One published measurement lies near this workload; {role}."
    if fitted == count:
        role = "all of them helped to fit the model"
    elif not fitted:
        role = "none of them had a part in fitting the model"
    else:
        role = f"{words.spelled(fitted)} helped to fit the model, {words.spelled(count - fitted)} had no part in it"
    return f"{words.spelled(count).capitalize()} published measurements lie near this workload; {role}."


def width(answer: WorkloadAnswer) -> str:
    """What the interval of the GPUs' rate consists of, and whether it interpolates."""
    parts = answer.gpu_spread
    reach = (
        "It lies beyond what was measured: " + "; ".join(answer.extrapolations) + "."
        if answer.extrapolations
        else "It lies among batches and numbers of GPUs that were measured."
    )
    return (
        f"The rate of the GPUs spreads by {words.percent(parts.parameters)} (standard deviation) because no more was "
        f"measured of this combination, by {words.percent(parts.within)} because runs of one source scatter, and by "
        f"{words.percent(parts.between)} because sources differ. {reach}"
    )


def gap(published: float, predicted: float) -> str:
    """Deviation of a prediction from a measurement."""
    deviation = round(predicted / published - 1, 3)
    sign = "+" if deviation > 0 else "\u2212" if deviation < 0 else ""
    return f"{sign}{words.percent(abs(deviation))}"


def neighbours(result: SizingResult) -> str:
    """Why the runner-up lost."""
    other = result.runner_up
    if other is None:
        return ""
    because = result.runner_up_reason.rstrip(".")
    return f"The runner-up is {other.name}{': ' + because if because else ''}."


def judged(result: SizingResult) -> str:
    """How many designs were looked at."""
    return (
        f"The tool evaluated every one of {words.plural(result.n_designs, 'design')} that the catalogue and the "
        "request allow; none was sampled or left out."
    )


def epochs_text(answer: WorkloadAnswer) -> str:
    """Length of a training."""
    if answer.time is None:
        return "not asked"
    count = words.estimate(answer.time.epochs, "epochs")
    return f"{count} ({answer.recipe.name})" if answer.recipe is not None else count


def dataset_text(answer: WorkloadAnswer) -> str:
    """Name, size and samples of a data set."""
    samples = answer.dataset_bytes / answer.sample_bytes if answer.sample_bytes else 0.0
    noun = words.plural_noun(answer.dnn.sample)
    count, size = significant(samples), si(answer.sample_bytes, "B")
    return f"{answer.dataset.name}: {si(answer.dataset_bytes, 'B')}, {count} {noun} of {size}"


def fits(size_bytes: float, room_bytes: float, what: str) -> str:
    """Whether a data set fits somewhere."""
    share = size_bytes / room_bytes
    if share <= 1:
        return f"fits {what} ({words.percent(share)} of it)"
    return f"does not fit {what} ({significant(share, 2)} times as large)"


def warnings(result: SizingResult) -> Sequence[str]:
    """Warnings of the design, of its workloads and of the bill, each once."""
    design = result.design
    found = [
        *design.warnings,
        *(text for answer in design.workloads for text in answer.warnings),
        *design.bill.warnings,
    ]
    return [words.sentence(text) for text in dict.fromkeys(found)]
