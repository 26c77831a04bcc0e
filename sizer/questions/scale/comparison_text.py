"""Differences between arrangements of the same GPUs, in sentences."""

from collections.abc import Iterator, Sequence

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant
from sizer.catalog.labels import item_name, sentence
from sizer.catalog.model import Catalog
from sizer.questions.scale.analysis import ArrangedDesign, ArrangementPair, ArrangementRun, EqualGpuComparison
from sizer.questions.scale.arrangement_run import StepBreakdown
from sizer.questions.scale.arrangements import ExcludedServer, ExclusionReason
from sizer.sizing.search.space import MAX_SERVERS

# Parts of a step that differ by less than this share of it explain nothing.
_SEEN = 0.01
# Rates this close are alike. [%]
_ALIKE = 0.5
# An interval this narrow is none: both rates depend on the same stage. [%]
_EXACT = 0.05
# A model of steps cannot tell shorter parts of one. [s]
_NOTHING_S = 1e-5


def difference(pair: ArrangementPair) -> str:
    """What the second arrangement of a pair does differently, as a few sentences.

    Rates of every workload, where a step takes longer, and what rack units, watts, ports and price differ by.
    """
    first, second = pair.first, pair.second
    has_many = len(second.runs) > 1
    sentences = []
    for one, other, ratio in zip(first.runs, second.runs, pair.rate_ratios, strict=True):
        text = rate_comparison_text(ratio, second.arrangement.name, first.arrangement.name)
        cause = _cause(one, other, first, second)
        whose = f"{other.answer.workload.name}: " if has_many else ""
        sentences.append(sentence(f"{whose}{'; '.join([text, *cause])}"))
    sentences += [sentence(text) for text in (_hardware(first, second), _price(first, second)) if text]
    return " ".join(sentences)


def rate_comparison_text(ratio: Estimate, name: str, first: str) -> str:
    """How two rates compare: a difference is certain only where the interval of their ratio excludes 1."""
    value, low, high = (100 * (float(part) - 1) for part in ratio)
    if is_alike(ratio):
        text = f"{name} is as fast as {first}"
    else:
        difference_text = f"{significant(abs(value), 2)}{NARROW_SPACE}% {'faster' if value > 0 else 'slower'}"
        certainty = "possibly " if low <= 0 <= high else ""
        text = f"{name} is {certainty}{difference_text} than {first}"
    return text if high - low < _EXACT else f"{text} ({signed(low)} to {signed(high)}{NARROW_SPACE}%)"


def is_alike(ratio: Estimate) -> bool:
    """Whether two rates with this ratio are as good as equal."""
    return abs(100 * (float(ratio.value) - 1)) < _ALIKE


def signed(percent: float) -> str:
    """A percentage with its sign: +3.2, −0.8."""
    digits = significant(abs(percent), 2) if abs(percent) >= 1 else grouped(abs(percent), 1)
    return digits if not float(f"{abs(percent):.1f}") else f"{'+' if percent > 0 else '−'}{digits}"


def gradient_text(way: ArrangedDesign, step: StepBreakdown) -> str:
    """How long the gradient exchange of a step takes, and how much of it is not hidden."""
    if not step.exchange_s:
        return "one GPU exchanges no gradients"
    if not step.between_s:
        text = f"the gradient exchange of a step takes {_ms(step.inside_s)} inside the server"
    else:
        text = (
            f"the gradient exchange of a step takes {_ms(step.inside_s)} inside the servers and "
            f"{_ms(step.between_s)} between them over {way.design.platform.fabric.name}"
        )
    if step.exposed_s < _NOTHING_S:
        return f"{text}, hidden behind the computation"
    return f"{text}, of which {_ms(step.exposed_s)} is not hidden"


def storage_text(same: EqualGpuComparison, design_nodes: int) -> str:
    """Which storage all arrangements have, and for which of them it is the bottleneck."""
    storage = same.first.design.platform.storage
    if storage.kind == "local":
        text = "Each kind of server reads from its own local drives"
    elif not same.storage_nodes:
        text = f"All arrangements read from {storage.name}"
    elif not same.storage_is_sized or same.storage_nodes == design_nodes:
        nodes = f"{same.storage_nodes} {storage.name} {by_count(same.storage_nodes, 'node', 'nodes')}"
        text = f"All arrangements have the {nodes} of the design"
    else:
        text = (
            f"To compare the servers alone, all arrangements have {same.storage_nodes} {storage.name} "
            f"{by_count(same.storage_nodes, 'node', 'nodes')}, enough "
            f"for the full servers that read the most, not the {design_nodes} of the design"
        )
    bound = [
        way.arrangement.name
        for way in same.designs
        if any(run.answer.bottleneck in ("storage", "network") for run in way.runs)
    ]
    if bound:
        text += f"; storage or network remains the bottleneck of {', '.join(bound)}"
    return sentence(text)


def _cause(one: ArrangementRun, other: ArrangementRun, first: ArrangedDesign, second: ArrangedDesign) -> Iterator[str]:
    """The part of a step that differs most, and the gradient exchange."""
    if one.step is None or other.step is None:
        return
    before, after = one.step, other.step
    changes = {
        part: getattr(after, part) - getattr(before, part) for part in ("compute_s", "exposed_s", "waiting_s", "data_s")
    }
    part, change = max(changes.items(), key=lambda pair: abs(pair[1]))
    if abs(change) >= _SEEN * before.step_s:
        amount = f"{_ms(abs(change))} {'longer' if change > 0 else 'less'}"
        gpus = second.design.platform.gpu.name, first.design.platform.gpu.name
        if part == "compute_s" and gpus[0] != gpus[1]:
            yield f"a step on {gpus[0]} computes {amount} than on {gpus[1]}"
        elif part == "compute_s":
            yield f"a step computes {amount}"
        elif part == "exposed_s":
            yield f"gradients delay a step {amount}"
        else:
            yield f"its GPUs wait {amount} for {'one another' if part == 'waiting_s' else 'data'}"
    yield gradient_text(second, after)


def exclusion_text(excluded: ExcludedServer, n_gpus: int, catalog: Catalog) -> str:
    """Why a kind of server is not compared."""
    part = item_name(excluded.part, catalog) if excluded.part else ""
    sizes = " or ".join(map(grouped, excluded.gpus_per_server))
    return {
        ExclusionReason.TOO_MANY_SERVERS: f"More than {MAX_SERVERS} servers would be needed.",
        ExclusionReason.FORBIDDEN: "Excluded by the request.",
        ExclusionReason.NO_SIMILAR_GPU: f"It supports no GPU of the class of {part}.",
        ExclusionReason.NO_LOCAL_DRIVES: "Its local drives are not published.",
        ExclusionReason.NO_STORAGE_CONNECTION: f"It cannot connect to {part}.",
        ExclusionReason.NOT_FILLED: f"{grouped(n_gpus)} GPUs do not fill servers of {sizes}.",
        ExclusionReason.TOO_LITTLE_MEMORY: "Its GPUs do not hold every network of the request.",
    }[excluded.reason]


def _hardware(first: ArrangedDesign, second: ArrangedDesign) -> str:
    """Rack units, watts, ports and cables, with more before fewer."""
    more: list[str] = []
    less: list[str] = []
    units = second.rack_units - first.rack_units
    if units:
        (more if units > 0 else less).append(f"{plain(abs(units))}{NARROW_SPACE}U")
    watts = second.power_max_w - first.power_max_w
    if abs(watts) >= _SEEN * first.power_max_w:
        (more if watts > 0 else less).append(si(abs(watts), "W"))
    switches, ports, cables = (
        second.n_switches - first.n_switches,
        second.n_ports - first.n_ports,
        second.n_cables - first.n_cables,
    )
    counts = (
        (switches, by_count(abs(switches), f"{grouped(abs(switches))} switch", f"{grouped(abs(switches))} switches")),
        (ports, by_count(abs(ports), f"{grouped(abs(ports))} port", f"{grouped(abs(ports))} ports")),
        (cables, by_count(abs(cables), f"{grouped(abs(cables))} cable", f"{grouped(abs(cables))} cables")),
    )
    for count, text in counts:
        if count:
            (more if count > 0 else less).append(text)
    parts = []
    if more:
        parts.append(f"More: {', '.join(more)}")
    if less:
        parts.append(f"Less: {', '.join(less)}")
    if not parts:
        return "Rack units, power, ports and cables are the same"
    text = ". ".join(parts)
    # Devices without a published draw cancel out only where both sides have the same ones.
    if abs(watts) >= _SEEN * first.power_max_w and _unknown(first) != _unknown(second):
        text += "; not all power figures are published, so the difference in power is uncertain"
    return text


def _unknown(way: ArrangedDesign) -> frozenset[str]:
    return frozenset(way.design.quantities.unknown_power)


def _price(first: ArrangedDesign, second: ArrangedDesign) -> str:
    """The price difference of the priced lines; empty where a bill has no price at all."""
    one, other = first.design.bill, second.design.bill
    if one.net_total.is_unknown or other.net_total.is_unknown:
        return ""
    change = other.total - one.total
    amount = f"{other.currency} {grouped(abs(float(change)))}"
    if not change:
        text = "Priced lines cost the same"
    else:
        text = f"Priced lines cost {amount} more" if change > 0 else f"Priced lines cost {amount} less"
    if one.is_complete and other.is_complete:
        return text
    return f"{text}; lines that need a quote are not included"


def _ms(seconds: float) -> str:
    return f"{significant(1e3 * seconds, 2)}{NARROW_SPACE}ms"


def arrangements_text(same: EqualGpuComparison, ways: Sequence[ArrangedDesign], storage_nodes: int) -> str:
    """What the same GPUs in fewer or in more servers change, in general and for the storage."""
    gpus = by_count(same.n_gpus, "GPU", "GPUs")
    sizes = {way.design.platform.gpus_per_server for way in ways}
    if len(sizes) == 1:
        text = f"The same {grouped(same.n_gpus)} {gpus} fit in other servers of {grouped(*sizes)} GPUs each."
    else:
        text = (
            f"The same {grouped(same.n_gpus)} {gpus} fit in fewer, larger servers or in more, smaller ones. "
            "Larger servers exchange more of the gradients over internal links and need fewer ports; "
            "smaller servers give the same GPUs more host processors and more ports."
        )
    if all(run.answer.is_inference for way in ways for run in way.runs):
        text += " Inference exchanges no gradients, so only rack space, power and the hosts differ."
    return f"{text} {storage_text(same, storage_nodes)}"
