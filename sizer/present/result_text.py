"""Sentences about a result: verdict first, then the number, the reason and the doubt."""

from collections.abc import Sequence

from sizer.base.quantities import by_count, grouped, si, significant
from sizer.base.units import gbit_per_s_from_bytes_per_s
from sizer.bom.bill import Bill
from sizer.catalog.labels import fact_value, item_name
from sizer.catalog.model import Catalog
from sizer.drawings.datapath import is_limit
from sizer.drawings.racks import at_least
from sizer.physical.components import Network
from sizer.present import words
from sizer.present.calibration_text import note_texts
from sizer.present.verdict_text import binding_text, runner_up_text
from sizer.present.warning_text import design_warnings
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult, WorkloadAnswer


def reason(design: DesignAnswer) -> list[str]:
    """Why the design is as large as it is: what limits each workload, and what less would mean."""
    sentences = [limit(answer, len(design.workloads) > 1) for answer in design.workloads]
    return [*sentences, words.sentence(binding_text(design))]


def limit(answer: WorkloadAnswer, named: bool) -> str:
    """What limits a workload, and how far the next limit is."""
    unit = words.sample_unit(answer.dnn)
    subject = (
        f"{answer.workload.name}: {words.stage(answer.bottleneck, inside=True)}" if named else STAGES[answer.bottleneck]
    )
    rate = words.estimate(answer.throughput, unit)
    following = next((stage for stage in answer.stages if stage.key == answer.next_bottleneck), None)
    if following is None or following.key == answer.bottleneck or not is_limit(following, answer):
        return f"{subject} sets the pace at {rate}."
    ratio, after = (
        float(following.capacity.value) / float(answer.throughput.value),
        words.stage(following.key, inside=True),
    )
    if ratio < 1.05:
        return f"{subject} sets the pace at {rate}; {after} stands at almost the same rate."
    return f"{subject} sets the pace at {rate}; the next limit, {after}, lies {significant(ratio, 2)} times higher."


def doubt(result: SizingResult) -> list[str]:
    """How sure the answer is, and what it rests on."""
    design = result.design
    n_targets = len(design.workloads)
    chance, asked = words.percent(design.probability), words.percent(result.request.confidence)
    if all(answer.meets_target for answer in design.workloads):
        text = by_count(
            n_targets,
            f"The target is met with a probability of {chance}; {asked} was asked.",
            f"All targets are met with a probability of {chance}; {asked} was asked.",
        )
    else:
        text = by_count(
            n_targets,
            f"The target is not met with the certainty asked: the probability is {chance}, {asked} was asked.",
            f"All targets are not met with the certainty asked: the probability is {chance}, {asked} was asked.",
        )
    sentences = [text]
    assumed = len(result.assumptions)
    if assumed:
        sentences.append(
            by_count(
                assumed,
                f"{words.capital(words.spelled(assumed))} of the facts behind it is assumed, because no "
                "source gives it.",
                f"{words.capital(words.spelled(assumed))} of the facts behind it are assumed, because no "
                "source gives them.",
            )
        )
    return sentences


def price(bill: Bill) -> str:
    """The total in words; 'at least' while prices are missing."""
    if not bill.lines:
        return words.NOT_PUBLISHED
    if bill.net_total.is_unknown and not bill.is_complete:
        return words.TO_BE_QUOTED
    return at_least(not bill.is_complete, words.money(bill.total, bill.currency))


def price_label(bill: Bill) -> str:
    """What the total of a bill is: a sum of list prices, or what the customer pays."""
    return "Price" if bill.has_discount or bill.is_customer_copy else "List price"


def open_prices(bill: Bill) -> str:
    """How much of the bill has a price."""
    missing = bill.net_total.n_open
    if not missing:
        return "Every line has a price."
    if missing == len(bill.bought):
        return "No line has a published price; the vendors must quote all of them."
    lines, of = words.plural(missing, "line"), len(bill.bought)
    if bill.net_total.is_unknown:
        return by_count(
            missing,
            f"{lines} of {of} has no published price, and those that have one are free of charge.",
            f"{lines} of {of} have no published price, and those that have one are free of charge.",
        )
    return by_count(
        missing,
        f"{lines} of {of} has no published price, so the total is a lower bound.",
        f"{lines} of {of} have no published price, so the total is a lower bound.",
    )


def power(design: DesignAnswer, which: str = "maximum") -> str:
    """Power of the whole design; 'at least' where a device has no published draw."""
    counts = design.quantities
    watts = float((counts.power_max_w if which == "maximum" else counts.power_typical_w)[0])
    return at_least(bool(counts.unknown_power), si(watts, "W"))


def storage(design: DesignAnswer) -> str:
    """Storage in a few words: nodes, chassis and usable capacity."""
    parts = design.platform
    usable = float(design.quantities.usable_bytes[0])
    room = ", " + f"{si(usable, 'B')} usable" if usable > 0 else ""
    nodes, per_unit = design.storage_nodes, parts.storage.nodes_per_unit
    if not nodes:
        return parts.storage.name + room
    if per_unit is not None and per_unit.value > 1:
        chassis = -(-nodes // per_unit.value)
        return _inside(words.plural(nodes, "node"), words.plural(chassis, "chassis")) + room
    return f"{words.plural(nodes, 'node')}{room}"


def _inside(things: str, places: str) -> str:
    return f"{things} in {places}"


def switches(design: DesignAnswer) -> int:
    """Switches and gateways of all networks."""
    return design.quantities.n_switches


def racks(design: DesignAnswer) -> str:
    """Rack units and racks."""
    counts = design.quantities
    return _inside(fact_value(float(counts.rack_units[0]), "U"), words.plural(int(counts.racks[0]), "rack"))


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
    left = by_count(free, f"{words.plural(free, 'port')} stays free", f"{words.plural(free, 'port')} stay free")
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
        f"{words.plural(ports, 'front-end port')} × {significant(port_gbit)} Gbit/s = "
        f"{significant(need)} Gbit/s. One uplink carries {significant(link_gbit)} Gbit/s; "
        f"{significant(need)} / {significant(link_gbit)} = {significant(need / link_gbit)}, "
        f"rounded up to {words.plural(uplinks, 'uplink')}."
    )


def cold_epoch(answer: WorkloadAnswer) -> str:
    """What the first epoch asks of storage, and what the later ones do."""
    assert answer.time is not None
    first, later = answer.time.first_epoch_s, answer.time.epoch_s
    cold, each = words.estimate(answer.cold_storage_bytes_per_s, "B/s"), words.rounded(later, "s")
    text = f"The first epoch reads every sample from storage: {cold} for {words.rounded(first, 's')}."
    hits = answer.cache_hit_fraction
    if hits >= 0.995:
        after = f"From then on the data set sits in memory; an epoch takes {each} and storage idles."
    elif hits >= 0.005:
        after = f"Later epochs take {each} each; caches serve {words.percent(hits)} of their reads."
    else:
        after = f"Later epochs take {each} each and read everything again: the caches hold too little."
    return f"{text} {after}"


def measured(answer: WorkloadAnswer) -> str:
    """How many published measurements carry the projection of a workload."""
    count = len(answer.evidence)
    if not count:
        return "No published measurement is near this workload; the interval is as wide as that makes it."
    fitted = sum(one.calibrates for one in answer.evidence)
    if count == 1:
        if fitted:
            return "One published measurement lies near this workload; it helped to fit the model."
        return "One published measurement lies near this workload; it had no part in fitting the model."
    if fitted == count:
        role = "all of them helped to fit the model"
    elif not fitted:
        role = "none of them had a part in fitting the model"
    else:
        role = f"{words.spelled(fitted)} helped to fit the model, {words.spelled(count - fitted)} had no part in it"
    return f"{words.capital(words.spelled(count))} published measurements lie near this workload; {role}."


def width(answer: WorkloadAnswer) -> str:
    """What the interval of the GPUs' rate consists of, and whether it interpolates."""
    parts = answer.gpu_spread
    reach = (
        f"This is an extrapolation: {'; '.join(note_texts(answer.extrapolations))}."
        if answer.extrapolations
        else "Batch and number of GPUs lie within the measured range."
    )
    spread = (
        f"The rate of the GPUs spreads by {words.percent(parts.parameters)} (standard deviation) "
        f"because no more was measured of this combination, by {words.percent(parts.within)} "
        f"because runs of one source scatter, and by {words.percent(parts.between)} because "
        "sources differ."
    )
    return f"{spread} {reach}"


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
    because = runner_up_text(result).rstrip(".")
    if not because:
        return f"The runner-up is {other.name}."
    return f"The runner-up is {other.name}: {because}."


def judged(result: SizingResult) -> str:
    """How many designs were looked at."""
    return (
        f"The tool evaluated every one of {words.plural(result.n_designs, 'design')} that the "
        "catalogue and the request allow; none was sampled or left out."
    )


def epochs_text(answer: WorkloadAnswer) -> str:
    """Length of a training."""
    if answer.time is None:
        return "not asked"
    count = words.estimate(answer.time.epochs, "epochs")
    return f"{count} ({answer.recipe.name})" if answer.recipe is not None else count


def storage_name(design: DesignAnswer) -> str:
    """'8 Isilon F800 nodes in two chassis', or the name of storage that is not counted by the node."""
    name = design.platform.storage.name
    nodes, per_unit = design.storage_nodes, design.platform.storage.nodes_per_unit
    if not nodes:
        return name
    text = f"{grouped(nodes)} {name} nodes"
    if per_unit is not None and per_unit.value > 1:
        text += f" in {words.spelled(-(-nodes // per_unit.value))} chassis"
    return text


def dataset_phrase(answer: WorkloadAnswer) -> str:
    """A data set inside a sentence: 'ImageNet, 145 GB in 1 280 000 images of 113 kB'."""
    samples = answer.dataset_bytes / answer.sample_bytes if answer.sample_bytes else 0.0
    return (
        f"{answer.dataset.name}, {si(answer.dataset_bytes, 'B')} in {significant(samples)} "
        f"{words.plural_noun(answer.dnn.sample)} of {si(answer.sample_bytes, 'B')}"
    )


def dataset_text(answer: WorkloadAnswer) -> str:
    """Name, size and samples of a data set."""
    samples = answer.dataset_bytes / answer.sample_bytes if answer.sample_bytes else 0.0
    return (
        f"{answer.dataset.name}: {si(answer.dataset_bytes, 'B')}, {significant(samples)} "
        f"{words.plural_noun(answer.dnn.sample)} of {si(answer.sample_bytes, 'B')}"
    )


def fits(size_bytes: float, room_bytes: float) -> str:
    """Whether a data set fits somewhere."""
    share = size_bytes / room_bytes
    if share <= 1:
        return f"fits it ({words.percent(share)} of it)"
    return f"does not fit it ({significant(share, 2)} times as large)"


def cautions(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Cautions about a workload: defaults, what was not measured, extrapolations."""
    return tuple(dict.fromkeys((*answer.warnings, *note_texts(answer.unmeasured), *note_texts(answer.extrapolations))))


def warnings(result: SizingResult) -> Sequence[str]:
    """Warnings of the design, of its workloads and of the bill, each once."""
    design = result.design
    found = [
        *design_warnings(design),
        *(text for answer in design.workloads for text in cautions(answer)),
        *design.bill.warnings,
    ]
    return [words.sentence(text) for text in dict.fromkeys(found)]
