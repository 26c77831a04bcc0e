"""Why a design has its server, storage, fabric and racks, in words: the number that decided, and what it costs."""

from dataclasses import replace

from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant
from sizer.drawings.racks import watts
from sizer.present import words
from sizer.present.text.checks import missing_text
from sizer.present.text.design_size import binding_text, highest_rate_text, not_predicted_text, takes_text
from sizer.present.text.layouts import unused_gpus_text
from sizer.sizing.design.decisions import (
    LEAST_FABRIC_LOSS,
    FabricChoice,
    LinkOption,
    RackChoice,
    RackLimit,
    RejectedDesign,
    RejectionKind,
    ServerChoice,
)
from sizer.sizing.reasons import BindingKind, NetworkPart
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.workload.request import ranks_by_cost

_REJECTED = {
    RejectionKind.DEARER: "Costs more",
    RejectionKind.LIKELY_DEARER: "Expected to cost more",
    RejectionKind.TIED: "Costs the same within the price ranges",
    RejectionKind.DEARER_BUT_FOR_CABLES: "Costs the same but for cables and accessories",
    RejectionKind.UNASKED_CHANGE: "Saves too little for water cooling or other software, which nobody asked for",
    RejectionKind.NOT_PREFERRED: "Behind the preferred vendors",
    RejectionKind.LESS_CERTAIN: "Lower expected cost, but its prices are less certain",
    RejectionKind.EQUAL: "Equal in servers, rack units and power; larger network or drives",
}
# What a design is behind by each key that a user may rank by; at the same value the cost decides.
_BEHIND = {
    "time": "Takes longer, or as long at a higher cost",
    "gpus": "Takes more GPUs, or as many at a higher cost",
    "rack-units": "Takes more rack units, or as many at a higher cost",
    "watts": "Draws more power, or as much at a higher cost",
    "rate": "Costs more for the same work",
}
# So little needs no rack of its own.
_FEW_UNITS = 4
# Scaling efficiency that prints as more than 100 %.
_FASTER = 1.005
_PARTS = {
    NetworkPart.SERVERS: "the servers' ports",
    NetworkPart.GATEWAY: "the gateway uplinks",
    NetworkPart.STORAGE: "the ports of the storage",
}


def rejection_text(rejected: RejectedDesign, result: SizingResult) -> str:
    """Why a design was not chosen, as a phrase that begins with a capital."""
    if rejected.kind is RejectionKind.MISSES_TARGET:
        return f"Misses the target: confidence {words.chance(rejected.design.probability)}"
    if rejected.kind is RejectionKind.OVER_BUDGET:
        return f"Less than {words.percent(result.request.confidence)} likely to keep the budget"
    if rejected.kind is RejectionKind.CONDITIONAL:
        return f"Not published: {missing_text(rejected.design.conditional_on)}"
    if rejected.kind is RejectionKind.RANKED_BEHIND:
        rank_by = result.selection.rank_by
        if rank_by is None or ranks_by_cost(rank_by):
            return "Expected to cost more for the last year of the growth plan"
        return _BEHIND[rank_by]
    return _REJECTED[rejected.kind]


def only_allowed_text(noun: str) -> str:
    """What stands where the request leaves no choice."""
    return f"The request allows no other {noun}, so none was compared."


def simpler_text(name: str, n_devices: int, n_described: int) -> str:
    """What a simpler design saves."""
    fewer = (
        f"with {grouped(n_devices)} devices instead of {grouped(n_described)}"
        if n_devices < n_described
        else "with a simpler storage or network"
    )
    return f"{name} also meets the request, {fewer}: choose it where simple operation is worth the difference."


def server_texts(choice: ServerChoice, result: SizingResult) -> list[str]:
    """The number that decided, sentence by sentence."""
    design = result.design
    server = design.platform.server.name
    texts = []
    for step in choice.steps:
        answer = design.workloads[step.workload]
        if not answer.rate_is_predicted:
            texts.append(words.sentence(not_predicted_text(design, answer)))
            continue
        unit = words.sample_unit(answer.dnn)
        name = f"{answer.workload.name}: " if len(design.workloads) > 1 else ""
        rate = f"{significant(step.samples_per_s)}{NARROW_SPACE}{unit}"
        is_maximum = result.maximum is not None and result.maximum.workload == step.workload
        clause = f"; {takes_text(answer)}"
        if result.maximum is not None and is_maximum:
            reached = f"{significant(result.maximum.samples_per_s)} with {words.percent(result.maximum.confidence)}"
            clause = f", {reached} confidence, {highest_rate_text(result)}"
        servers = f"One {server}" if design.n_servers == 1 else f"{grouped(design.n_servers)} × {server}"
        text = f"{servers} {by_count(design.n_servers, 'delivers', 'deliver')} {rate}{clause}."
        unused = unused_gpus_text(answer, design)
        text += f" {unused}" if unused else ""
        if step.samples_per_s_with_one_fewer is not None:
            fewer = f"{significant(step.samples_per_s_with_one_fewer)}{NARROW_SPACE}{unit}"
            text += f" One server fewer delivers {fewer}"
            if (
                step.probability_with_one_fewer is not None
                and answer.required_samples_per_s is not None
                and not is_maximum
            ):
                text += f" and meets the target with {words.chance(step.probability_with_one_fewer)} confidence"
                if _tolerates(result) and step.probability_with_one_fewer >= result.request.confidence:
                    text += ", but not after the losses that the design tolerates"
            text += "."
        texts.append(words.capital(name + text))
        other = None if result.maximum is None or not is_maximum else result.maximum.runner_up
        if other is not None and other.server != design.platform.server.id:
            texts.append(
                f"The fastest other server within the limits, {other.n_servers} × {other.server_name}, reaches "
                f"{significant(other.samples_per_s)}{NARROW_SPACE}{unit}."
            )
    if choice.binding.is_no_rate or choice.binding.kind is BindingKind.GROWTH or len(choice.steps) > 1:
        texts.append(words.sentence(binding_text(design)))
    return texts


def _tolerates(result: SizingResult) -> bool:
    return bool(result.request.resilience.keeps_targets_without)


def server_trade_off(choice: ServerChoice, design: DesignAnswer) -> str:
    """What the choice costs."""
    if design.n_servers == 1:
        return "One server is one point of failure: while it is serviced, nothing runs."
    lost = f"One failed server takes out {plain(round(100 * choice.lost_fraction, 1))}{NARROW_SPACE}% of the GPUs."
    serves = design.only_serves  # by replicas: their rates add
    if choice.scaling_efficiency is None or serves or not all(answer.rate_is_predicted for answer in design.workloads):
        return lost
    efficiency = words.percent(choice.scaling_efficiency)
    if any(not answer.kind.compares_one_gpu for answer in design.workloads):
        gpus = words.plural(design.n_gpus, "GPU")
        compared = "compared with the fewest servers that hold the model"
        faster = "; more GPUs allow a faster layout" if choice.scaling_efficiency > _FASTER else ""
        return f"{words.scaling_name(is_language=True)} at {gpus}: {efficiency}, {compared}{faster}. {lost}"
    trains = any(answer.workload.task == "training" for answer in design.workloads)
    cause = "gradient exchange and stragglers take the rest" if trains else "the links take the rest"
    return (
        f"{words.plural(design.n_gpus, 'GPU')} deliver {efficiency} of {grouped(design.n_gpus)} times the rate of one; "
        f"{cause}. {lost}"
    )


def fabric_texts(choice: FabricChoice) -> list[str]:
    """The number that decided, sentence by sentence."""
    ports = by_count(choice.n_ports, "port", f"{choice.n_ports} ports")
    link = si(choice.kind.bytes_per_s, "B/s") + by_count(choice.n_ports, "", " each")
    texts = []
    if choice.read_bytes_per_s > 0 and choice.carries_reads:
        reads = si(choice.read_bytes_per_s, "B/s")
        texts.append(f"Each server reads up to {reads} over its {ports} of {choice.kind.name}, {link}.")
    else:
        count = by_count(choice.n_ports, "one port", ports)
        texts.append(f"Each server has {count} of {choice.kind.name}, {link}.")
        if choice.read_bytes_per_s > 0:
            texts.append(f"Its reads of up to {si(choice.read_bytes_per_s, 'B/s')} use the storage network.")
    if choice.gradient_bytes is None and choice.exposed_share is None:
        texts.append("Inference exchanges no gradients: reads use it, and replicas over several servers.")
        return texts
    if choice.gradient_bytes is not None:
        texts.append(f"In every step the servers exchange {si(choice.gradient_bytes, 'B')} of gradients.")
    if choice.exposed_share is not None:
        waits = words.percent(choice.exposed_share)
        texts.append(f"A step of the language model waits {waits} of its time for traffic between GPUs.")
    waiting = [option for option in choice.slower if option.misses_target or option.lost_fraction >= LEAST_FABRIC_LOSS]
    slow = [option for option in choice.slower if option.read_fraction > 1]
    if slow and len(slow) == len(choice.slower):
        fastest = slow[-1]
        texts.append(f"The reads decide: they take {words.percent(fastest.read_fraction)} of {_links_text(fastest)}.")
    elif waiting:
        worst = waiting[-1]
        end = "" if not worst.misses_target else ", and miss its target"
        texts.append(
            f"The gradients decide, not the reads: over {_links_text(worst)}, training would lose "
            f"{words.percent(worst.lost_fraction)} of its rate waiting for them{end}."
        )
    enough = [option for option in choice.slower if option not in waiting and option.read_fraction <= 1]
    if enough:
        option = enough[0]
        switches, others = "", "the faster links serve"
        if option.n_switches is not None:
            if option.n_switches < choice.n_switches:
                fewer = words.plural(option.n_switches, "switch")
                switches = f", with {fewer} instead of {words.spelled(choice.n_switches)}"
            others = "the other ports, which the server brings, serve"
        texts.append(
            f"For this workload alone, {_links_text(option)} of each server would be enough, at a loss of "
            f"{words.percent(option.lost_fraction)} of the rate{switches}; {others} larger neural networks and more "
            "servers."
        )
    return texts


def _links_text(option: LinkOption) -> str:
    """'one 25 GbE link', 'two ports of 100 GbE'."""
    if option.n_switches is None:
        return f"{words.spelled(option.n_ports)} {option.kind.name} {by_count(option.n_ports, 'link', 'links')}"
    return f"{words.spelled(option.n_ports)} {by_count(option.n_ports, 'port', 'ports')} of {option.kind.name}"


def fabric_trade_off(choice: FabricChoice) -> str:
    """What the choice costs."""
    switches = words.plural(choice.n_switches, "switch")
    levels = (
        "non-blocking: a job gets the full bandwidth on any set of servers"
        if choice.oversubscription <= 1
        else f"oversubscribed {significant(choice.oversubscription, 2)}:1"
    )
    if choice.read_bytes_per_s <= 0:
        return f"The fabric has {switches}, {levels}. No reads use it: they are of the servers' own drives."
    load = words.percent(choice.network_fraction)
    network = "" if choice.carries_reads else " in the storage network"
    use = f"At the projected rate the reads use {load} of {_PARTS[choice.network_part]}{network}; the rest is headroom."
    return f"The fabric has {switches}, {levels}. {use}"


def link_text(option: LinkOption) -> str:
    """What a slower link would cost, as a phrase that begins with a capital."""
    if option.read_fraction > 1:
        links = by_count(option.n_ports, "one link", f"{option.n_ports} links")
        return f"Too slow for the reads: {words.percent(option.read_fraction)} of {links}"
    if option.misses_target:
        return "Training would miss its target"
    if option.lost_fraction >= LEAST_FABRIC_LOSS:
        return "Training waits for the gradients"
    return "Enough for this workload; no room for larger neural networks"


def rack_texts(choice: RackChoice) -> list[str]:
    """The number that decided, sentence by sentence."""
    if choice.n_delivered:
        several = f"{grouped(choice.n_delivered)} racks arrive with their contents."
        arrives = by_count(choice.n_delivered, "One rack arrives with its contents.", several)
        return [arrives, *rack_texts(replace(choice, n_delivered=0))]
    power = watts(choice.power_w, choice.has_unknown_power)
    units = f"{grouped(choice.used_units)}{NARROW_SPACE}U"
    if choice.limit is RackLimit.ONE:
        texts = [f"All devices fit one rack: {units} of {choice.units_per_rack}{NARROW_SPACE}U"]
        feed = f" and {power} of the {si(choice.feed_w, 'W')} that one feed carries" if choice.feed_w else ""
        return [f"{texts[0]}{feed}."]
    racks = words.plural(choice.n_racks, "rack")
    by_units = words.plural(choice.n_for_units, "rack")
    if choice.limit is RackLimit.POWER:
        return [
            f"Power decides, not space: {_rack_power_text(choice)}.",
            f"The devices draw {_at_most(power, choice)}, which takes {racks}; their {units} would fit {by_units}.",
        ]
    if choice.limit is RackLimit.UNITS:
        return [f"Space decides: {units} take {racks} of {choice.units_per_rack}{NARROW_SPACE}U."]
    texts = [f"The devices take {units}, enough for {by_units}, and draw {_at_most(power, choice)}."]
    if choice.n_for_power is not None:
        texts.append(
            f"Their power would fit {words.plural(choice.n_for_power, 'rack')}. The devices take {racks}, because each "
            f"kind of device stays together and {_rack_power_text(choice)}."
        )
    if choice.n_existing:
        new = choice.n_racks - choice.n_existing
        text = (
            f"{by_count(choice.n_existing, 'The existing rack holds', 'The existing racks hold')} "
            f"{grouped(choice.existing_units)}{NARROW_SPACE}U and {si(choice.existing_w, 'W')} of them, as much as "
            f"{by_count(choice.n_existing, 'its', 'their')} free units and power allow"
        )
        rest = f"; the rest takes {by_count(new, 'one new rack', f'{grouped(new)} new racks')}" if new else ""
        texts.append(f"{text}{rest}.")
    return texts


def _at_most(power: str, choice: RackChoice) -> str:
    """A maximum draw; of devices of which some publish none it is no upper bound."""
    return power if choice.has_unknown_power else f"{power} at most"


def _rack_power_text(choice: RackChoice) -> str:
    """What one rack may draw, and why."""
    if choice.is_limited_by_request:
        return f"the request allows {si(choice.rack_w, 'W')} per rack"
    return f"{_feeds_text(choice)}, {si(choice.rack_w, 'W')} at most"


def _feeds_text(choice: RackChoice) -> str:
    """What carries a rack."""
    if choice.feeds == "2N":
        return "either feed alone must carry a rack"
    return "all feeds but one must carry a rack" if choice.feeds == "N+1" else "the feeds together carry a rack"


def rack_trade_off(choice: RackChoice) -> str:
    """What the choice costs."""
    free = f"{grouped(choice.free_units)}{NARROW_SPACE}U"
    text = f"{free} stay free and are closed by blanking panels"
    if choice.limit in (RackLimit.POWER, RackLimit.PLACEMENT):
        fewer = choice.n_packed + choice.n_existing
        if not choice.has_unknown_power and choice.n_packed > 0 and fewer < choice.n_racks:
            mixed = f"{words.plural(fewer, 'rack')} would hold the same devices with kinds mixed in a rack"
            return f"{text}; {mixed}."
        more = "more power per rack" if choice.is_limited_by_request else "feeds of more power"
        return f"{text}; {more} or a denser placement would save floor space."
    if choice.limit is RackLimit.ONE and not choice.n_existing and choice.used_units <= _FEW_UNITS:
        units = f"{grouped(choice.used_units)}{NARROW_SPACE}U"
        return f"{text}. A rack of the customer with {units}, this power and two feeds would do, without a new one."
    return f"{text}; they are room for growth as far as the feeds allow."


def confidence_texts(result: SizingResult) -> list[str]:
    """What the confidence of a design means; one sentence or two each."""
    design = result.design
    chance = design.probability
    several = len(design.workloads) > 1
    if chance is None:
        return []
    target = "all targets" if several else "the target"
    asked = words.percent(result.request.confidence)
    texts = [f"The sizing confidence is {words.chance(chance)}; {asked} was requested."]
    if result.maximum is not None and not several:
        texts = []  # the highest rate is stated at the confidence that was requested
    if chance >= _USUAL:
        return texts
    if words.is_even(chance):
        texts.append("The expected rate equals the target, so the design has no headroom.")
    else:
        of_ten = round(10 * chance)
        texts.append(
            f"Of ten clusters built like this, about {words.spelled(of_ten)} would meet {target} and "
            f"{words.spelled(10 - of_ten)} would miss."
        )
    return texts


_USUAL = 0.9
