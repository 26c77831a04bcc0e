"""Sentences about a result: the result first, then the number, the reason and the cautions."""

from collections.abc import Sequence

from sizer.base.estimate import Estimate
from sizer.base.quantities import by_count, grouped, plain, si, significant, tokens_text
from sizer.base.units import gbit_per_s_from_bytes_per_s
from sizer.bom.bill import Bill, BillWarningKind
from sizer.catalog.labels import fact_value, item_name
from sizer.catalog.model import Catalog
from sizer.drawings.racks import at_least
from sizer.physical.components import Network
from sizer.physical.networks.storage_networks import GATEWAY_HEADROOM, gateway_port_bytes_per_s
from sizer.present import words
from sizer.present.facts.storage_tiers import system_name
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.calibration import note_texts, throughput_text
from sizer.present.text.checks import conditional_sentence
from sizer.present.text.design_size import binding_text
from sizer.present.text.serving import bound_text, published_text, serving_cautions, within
from sizer.present.text.stages import next_bottleneck
from sizer.present.text.verdict import runner_up_text
from sizer.present.text.warnings import design_warnings, host_memory_sentences, storage_need_sentences
from sizer.sizing.checks import CheckResult
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.reasons import BindingKind
from sizer.sizing.result import DesignAnswer, SizingResult, StackAlternative, WorkloadAnswer
from sizer.workload.language import LanguageWork
from sizer.workload.request import Method
from sizer.workload.resolve import assumes_sample_size
from sizer.workload.stack_choice import StackEvidence
from sizer.workload.transformer.number_formats import format_text

_LEAST_SPREAD = 0.005  # of a rate; what is smaller reads 0 %
_EVIDENCE = {
    StackEvidence.NETWORK: "the newest stack measured with this network",
    StackEvidence.FAMILY: "the newest stack measured with networks of this family",
    StackEvidence.FEW_RATES: "the newest stack measured with this network or its family; few rates are published",
    StackEvidence.FRAMEWORK: "the newest stack of a framework that was measured with this network or its family",
    StackEvidence.SEVERAL_FAMILIES: "the newest stack measured with several kinds of network, but not with this one",
    StackEvidence.NONE: "the newest stack in the catalogue; it has no published rate of this network",
    StackEvidence.OWN_CODE: "what most people train networks of their own with",
}


def default_stack_texts(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Why the stack is the default, and servers with the others; empty where the request names the stack."""
    choice, default, older = answer.stack_choice, answer.stack_default, answer.rate_stack
    if older is not None:
        derived = f"the rate is derived from published runs of {older.name} ({older.released.value})"
        if choice is None:
            return (f"{older.name} is older than the GPU and does not run on it: {derived}; use {answer.stack.name}.",)
        return (f"Software: {answer.stack.name}; {derived}. State yours.",)
    if choice is None:
        return ()
    reason = (
        f"Default software stack: {answer.stack.name} ({answer.stack.released.value}), {_EVIDENCE[choice.evidence]}."
    )
    if default is None or not default.alternatives:
        return (f"{reason} State yours if it is another.",)
    worth = [
        f"It needs {_servers(default.n_servers)}",
        *(f"{_kind(other, answer)} needs {_servers(other.n_servers)}" for other in default.alternatives),
    ]
    return (f"{reason} {'; '.join(worth)}. State yours if it is another.",)


def stack_worth_text(answer: WorkloadAnswer) -> str:
    """The stack of a workload, and what the choice is worth in servers: one sentence or two.

    Of a language model the best measured stack is the default, and its alternatives are compared under Performance.
    """
    if answer.rate_stack is not None:
        return default_stack_texts(answer)[0]
    named = f"{answer.workload.name} runs on {answer.stack.name} ({answer.stack.released.value})."
    default = answer.stack_default
    if answer.workload.stack is not None:
        return f"{named} The request names this software stack."
    if default is None or not default.alternatives:
        return f"{named} It is the default software stack."
    oldest, *faster = default.alternatives
    worth = f"With {oldest.stack.name} ({oldest.stack.released.value}) the request needs {_servers(oldest.n_servers)}"
    others = "".join(f", with {one.stack.name} {_servers(one.n_servers)}" for one in faster)
    return f"{named} It is the default software stack. {worth}{others} instead of {_servers(default.n_servers)}."


def _kind(other: StackAlternative, answer: WorkloadAnswer) -> str:
    assert answer.stack_default is not None  # it holds the alternative
    is_oldest = other is answer.stack_default.alternatives[0]
    kind = "the oldest one measured as well" if is_oldest else "the fastest one"
    return f"{kind}, {other.stack.name} ({other.stack.released.value}),"


def _servers(count: int | None) -> str:
    if count is None:
        return "more than four times as many servers"
    return by_count(count, "one server", f"{grouped(count)} servers")


def reason(result: SizingResult) -> list[str]:
    """Why the design is as large as it is: the bottleneck of each workload, and what a smaller design misses."""
    design = result.design
    sentences = [limit(answer, len(design.workloads) > 1) for answer in design.workloads]
    is_smallest = design.binding.kind is BindingKind.SMALLEST
    return [
        *sentences,
        *([] if is_smallest else [words.sentence(binding_text(design, result.maximum))]),
        *storage_need_sentences(design),
        *host_memory_sentences(design),
    ]


def limit(answer: WorkloadAnswer, named: bool) -> str:
    """Bottleneck of a workload, and the headroom of the next one."""
    subject = f"{answer.workload.name}: bottleneck" if named else "Bottleneck"
    if not answer.rate_is_predicted:
        return f"{subject}: not predicted."
    rate = throughput_text(answer)
    if answer.serving is not None:
        name = f"{answer.workload.name}: at most" if named else "At most"
        return f"{name} {rate}{within(answer.serving.work)}; {bound_text(answer.serving)}."
    text = f"{subject}: {words.stage(answer.bottleneck, inside=True)}, {rate}."
    following = next_bottleneck(answer)
    if following is None:
        return text
    ratio = float(following.capacity.value) / float(answer.throughput.value)
    return f"{text} Next bottleneck: {words.stage(following.key, inside=True)}, {words.headroom(ratio)}."


def doubt(result: SizingResult) -> list[str]:
    """Sizing confidence, and the number of assumptions."""
    chance, asked = words.chance(result.design.probability), words.percent(result.request.confidence)
    check = result.design.target_check
    several = len(result.design.workloads) > 1
    text = f"The probability of meeting {'all targets' if several else 'the target'} is {chance}"
    if result.design.conditional_on and check is not CheckResult.NOT_MET:
        sentences = [conditional_sentence(result.design)]
    elif check is CheckResult.MET:
        sentences = [f"{text}; {asked} was requested."]
    else:
        sentences = [f"{text}, below the requested {asked}."]
    assumed = len(result.assumptions)
    if assumed:
        inputs = by_count(assumed, "One input is an assumption", f"{grouped(assumed)} inputs are assumptions")
        sentences.append(f"{inputs}. Confirm {by_count(assumed, 'it', 'them')} with the vendors before ordering.")
    return sentences


def open_prices(bill: Bill) -> str:
    """How much of the bill has a price."""
    missing = bill.net_total.n_open
    if not missing and bill.open_options:
        options = words.plural(len(bill.open_options), "optional line")
        return f"The total is complete; {options} {by_count(len(bill.open_options), 'needs', 'need')} a quote."
    if not missing:
        return "Every line has a price."
    if missing == len(bill.bought):
        return "No line has a published price: every line needs a quote."
    lines, of = words.plural(missing, "line"), grouped(len(bill.bought))
    need = f"{lines} of {of} {by_count(missing, 'needs', 'need')} a quote"
    if bill.net_total.is_unknown:
        return f"{need}; the others are free of charge."
    days = [warning.values[1] for warning in bill.warnings if warning.kind is BillWarningKind.OLD_PRICE]
    years = words.listed(sorted({str(day)[:4] for day in days}))
    return f"{need}; prices of {years} need a new one." if years else f"{need}."


def power(design: DesignAnswer, which: str = "maximum", like_w: float | None = None) -> str:
    """Power of the whole design; 'at least' where a device has no published draw. ``like_w`` chooses the unit."""
    counts = design.quantities
    watts = float((counts.power_max_w if which == "maximum" else counts.power_typical_w)[0])
    return at_least(bool(counts.unknown_power), si(watts, "W", like=like_w))


def switches(design: DesignAnswer) -> int:
    """Switches and gateways of all networks."""
    return design.quantities.n_switches


def racks(design: DesignAnswer) -> str:
    """Rack units and racks."""
    if design.is_workstation:
        return "at a desk"
    counts = design.quantities
    return f"{fact_value(float(counts.rack_units[0]), 'U')} in {words.plural(counts.n_racks, 'rack')}"


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
    spare = f"{words.plural(free, 'port')} free"
    if cables and ends + 2 * cables == used:
        sum_text = f"{grouped(ends)} end points + 2 ports for each of {grouped(cables)} inter-switch links"
        return f"{sum_text} = {grouped(used)} ports; {spare}"
    if uplinks and ends + uplinks == used:
        both = f"{words.plural(ends, 'end point')} + {words.plural(uplinks, 'gateway uplink')}"
        return f"{both} = {grouped(used)} ports; {spare}"
    return f"{words.plural(used, 'port')} in use; {spare}"


def gateway_arithmetic(design: DesignAnswer) -> str:
    """Why there are that many gateway uplinks; empty without a gateway."""
    gateway = design.platform.gateway
    net = next((network for network in design.quantities.networks if int(network.gateway_uplinks[0])), None)
    if gateway is None or net is None:
        return ""
    ports = int(net.end_points[0])
    port_gbit = gbit_per_s_from_bytes_per_s(gateway_port_bytes_per_s(design.platform))
    link_gbit = gbit_per_s_from_bytes_per_s(gateway.uplink_bytes_per_s.value)
    uplinks = int(net.gateway_uplinks[0])
    need = ports * port_gbit
    is_line = port_gbit == gbit_per_s_from_bytes_per_s(gateway.front_end_bytes_per_s.value)
    share = f"{round(100 * (GATEWAY_HEADROOM - 1))}\u202f%"
    basis = "" if is_line else f", the most that a storage node delivers with {share} headroom"
    return (
        f"{words.plural(ports, 'front-end port')} × {significant(port_gbit)} Gbit/s{basis}: "
        f"{significant(need)} Gbit/s. One uplink carries {significant(link_gbit)} Gbit/s; "
        f"{significant(need)} / {significant(link_gbit)} = {significant(need / link_gbit)}, "
        f"rounded up to {words.plural(uplinks, 'uplink')}."
    )


def cold_epoch(answer: WorkloadAnswer) -> str:
    """Storage reads of the first epoch, and of the later ones."""
    assert answer.time is not None
    if answer.kind.trains_language:
        if answer.time.whole_run is not None:
            return "The time counts checkpoints, interruptions, restarts and the overhead of a whole run."
        return "The time counts checkpoints, interruptions and restarts; evaluations are not part of it."
    first, later = words.rounded(answer.time.first_epoch_s, "s"), words.rounded(answer.time.epoch_s, "s")
    cold, hits = words.estimate(answer.cold_storage_bytes_per_s, "B/s"), answer.cache_hit_fraction
    if answer.is_one_epoch:
        return f"The epoch reads every sample from storage: {cold} for {first}."
    text = f"The first epoch reads every sample from storage: {cold} for {first}."
    if hits >= 0.995:
        return f"{text} Later epochs take {later} each and read from memory only."
    if hits >= 0.005:
        return f"{text} Later epochs take {later} each; caches serve {words.percent(hits)} of their reads."
    return f"{text} Later epochs take {later} each and read every sample again: the caches are too small."


def measured(answer: WorkloadAnswer) -> str:
    """Number of published measurements near a workload, and how many of them calibrate the model."""
    count = len(answer.evidence)
    if answer.serving is not None:
        return words.sentence(published_text(answer.serving))
    if not count:
        return "No measurement known to us is close to this workload, so its interval is wide."
    fitted = sum(one.calibrates for one in answer.evidence)
    runs = by_count(count, "One published measurement is", f"{grouped(count)} published measurements are")
    if fitted in (0, count):
        role = "calibrate the model" if fitted else "were not used to calibrate the model"
        if count == 1:
            role = "calibrates the model" if fitted else "was not used to calibrate the model"
        return f"{runs} close to this workload; {by_count(count, 'it', 'they')} {role}."
    return (
        f"{runs} close to this workload; {grouped(fitted)} {by_count(fitted, 'calibrates', 'calibrate')} the model, "
        f"{grouped(count - fitted)} {by_count(count - fitted, 'tests', 'test')} it."
    )


def spread_text(answer: WorkloadAnswer) -> str:
    """Parts of the uncertainty of the GPUs' rate."""
    spread = answer.gpu_spread
    causes = {
        "from limited data": spread.parameters,
        "within sources": spread.within,
        "between sources": spread.between,
    }
    shares = [f"{words.percent(share)} {cause}" for cause, share in causes.items() if share >= _LEAST_SPREAD]
    return f"GPU-rate uncertainty (1 sigma): {words.listed(shares) or 'under 1 %'}."


def width(answer: WorkloadAnswer) -> str:
    """Parts of the uncertainty of the GPUs' rate, and whether the rate is an extrapolation."""
    spread = spread_text(answer)
    if answer.extrapolations:
        return f"{spread} The rate is an extrapolation: {'; '.join(note_texts(answer.extrapolations))}."
    # Without a measurement near by there is no range to lie in.
    return f"{spread} Batch and number of GPUs are within the measured range." if answer.evidence else spread


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
    """Number of designs evaluated."""
    return f"All {words.plural(result.n_designs, 'design')} that the catalogue and the request allow were evaluated."


def epochs_text(answer: WorkloadAnswer) -> str:
    """Length of a training."""
    if answer.time is None:
        return "not requested"
    if answer.kind.trains_language:
        return tokens_text(answer.samples_trained)
    number, low, high = answer.time.epochs
    # A length that the request states has no interval: "1 epoch", "2.5 epochs".
    is_stated = float(low) == float(high)
    stated = by_count(float(number), "1 epoch", f"{plain(float(number))} epochs")
    count = stated if is_stated else words.estimate(answer.time.epochs, "epochs")
    return f"{count} ({answer.recipe.name})" if answer.recipe is not None else count


def whole_run_text(factor: Estimate, *, steps_are_own: bool = False) -> str:
    """How much longer than its steps a training takes: than those of benchmarks, or those that its team measured."""
    value, low, high = (plain(float(part), 3) for part in factor)
    steps, these = (
        ("the steps at your rate", "theirs") if steps_are_own else ("the steps at the benchmark rate", "theirs")
    )
    # The spread of the rate is in it: no training is faster than its steps.
    took = f"{low} to {high}" if float(factor.low) > 1 else f"up to {high}"
    return f"planned at {value} times the time of {steps}; published trainings took {took} times {these}"


def storage_name(design: DesignAnswer) -> str:
    """'8 Isilon F800 nodes in 2 chassis', or the name of storage that is not counted by the node; tier by tier."""
    return words.listed([_storage_name(tier) for tier in design.tiers])


def _storage_name(tier: StorageTier) -> str:
    name, nodes = system_name(tier), tier.nodes
    if not nodes:
        return name
    text = f"{grouped(nodes)} {name} {by_count(nodes, 'node', 'nodes')}"
    per_unit = None if tier.storage is None else tier.storage.nodes_per_unit
    if per_unit is not None and per_unit.value > 1:
        text += f" in {grouped(-(-nodes // per_unit.value))} chassis"
    return text


def network_text(answer: WorkloadAnswer) -> str:
    """Network, task and number format: 'ResNet-50, training with mixed precision'."""
    if answer.serving is not None:
        return f"{answer.dnn.name}, served in {precision_text(answer)}"
    if not answer.kind.trains_language:
        return f"{answer.dnn.name}, {words.name(answer.workload.task)} with {precision_text(answer)}"
    return f"{answer.dnn.name}, training of {trained_text(answer.trained.work)} in {precision_text(answer)}"


def precision_text(answer: WorkloadAnswer) -> str:
    """Number format of the training, or of the weights of a model in use: 'mixed precision', 'BF16'."""
    if answer.serving is not None:
        return answer.serving.weights.upper()
    found = answer.language
    return words.name(answer.workload.precision) if found is None else format_text(found.work.number_format)


_TRAINED: dict[Method, str] = {
    "full": "all parameters",
    "continued": "all parameters (continued pre-training)",
    "fine-tuning": "all parameters (fine-tuning)",
    "lora": "adapters (LoRA)",
}


def trained_text(work: LanguageWork) -> str:
    """What of a language model is trained."""
    return _TRAINED[work.method]


def dataset_phrase(answer: WorkloadAnswer) -> str:
    """A data set inside a sentence: 'ImageNet (145 GB in 1 280 000 images of 113 kB)'."""
    if answer.kind.trains_language:
        return f"{answer.dataset.name} ({si(answer.dataset_bytes, 'B')})"
    samples = answer.dataset_bytes / answer.sample_bytes if answer.sample_bytes else 0.0
    return (
        f"{answer.dataset.name} ({si(answer.dataset_bytes, 'B')} in {significant(samples)} "
        f"{words.plural_noun(answer.dnn.sample)} of {_sample_size(answer)})"
    )


def dataset_text(answer: WorkloadAnswer) -> str:
    """Name, size and samples of a data set."""
    if answer.serving is not None:
        return f"{answer.dataset.name}: {si(answer.dataset_bytes, 'B')}, three versions"
    if answer.kind.trains_language:
        return f"{answer.dataset.name}: {si(answer.dataset_bytes, 'B')}, {si(answer.sample_bytes, 'B')} per token"
    samples = answer.dataset_bytes / answer.sample_bytes if answer.sample_bytes else 0.0
    return (
        f"{answer.dataset.name}: {si(answer.dataset_bytes, 'B')}, {significant(samples)} "
        f"{words.plural_noun(answer.dnn.sample)} of {_sample_size(answer)}"
    )


def _sample_size(answer: WorkloadAnswer) -> str:
    return si(answer.sample_bytes, "B") + (", assumed" if assumes_sample_size(answer.workload) else "")


def cautions(answer: WorkloadAnswer) -> tuple[str, ...]:
    """Cautions about a workload: defaults, what was not measured, extrapolations."""
    notes = (*note_texts(answer.unmeasured), *note_texts(answer.extrapolations))
    of_serving = () if answer.kind.reads_data else serving_cautions(answer.served)
    return tuple(dict.fromkeys((*answer.warnings, *of_serving, *default_stack_texts(answer), *notes)))


def warnings(result: SizingResult) -> Sequence[str]:
    """Warnings of the design, of its workloads and of the bill, each once."""
    design = result.design
    found = [
        *design_warnings(design),
        *(text for answer in design.workloads for text in cautions(answer)),
        *bill_warning_sentences(design.bill.warnings),
    ]
    return [words.sentence(text) for text in dict.fromkeys(found)]
