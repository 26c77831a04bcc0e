"""What tells two arrangements of the same GPUs apart, in sentences made from their numbers."""

from collections.abc import Iterator

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant
from sizer.catalog.labels import sentence
from sizer.catalog.links import kind_name
from sizer.questions.scale.analysis import Pair, SameGpus, Way, WayRun
from sizer.questions.scale.arrangement_run import StepSplit

# Parts of a step that differ by less than this share of it explain nothing.
_SEEN = 0.01
# Rates this close are alike. [%]
_ALIKE = 0.5
# An interval this narrow is none: both rates hang on the same stage. [%]
_EXACT = 0.05
# A model of steps cannot tell shorter parts of one. [s]
_NOTHING_S = 1e-5


def difference(pair: Pair) -> str:
    """What the second arrangement of a pair does differently, as a few sentences.

    Rates of every workload, where a step takes longer, and what rack units, watts, ports and price differ by.
    """
    first, second = pair.first, pair.second
    has_many = len(second.runs) > 1
    said = []
    for one, other, ratio in zip(first.runs, second.runs, pair.relative, strict=True):
        text = rate_words(ratio, second.arrangement.name, first.arrangement.name)
        cause = _cause(one, other, first, second)
        whose = f"{other.answer.workload.name}: " if has_many else ""
        said.append(sentence(f"{whose}{'; '.join([text, *cause])}"))
    said += [sentence(text) for text in (_hardware(first, second), _price(first, second)) if text]
    return " ".join(said)


def rate_words(ratio: Estimate, name: str, first: str) -> str:
    """How two rates compare: a difference is certain only where the interval of their ratio leaves out none."""
    value, low, high = (100 * (float(part) - 1) for part in ratio)
    names = {"name": name, "first": first, "percent": f"{significant(abs(value), 2)}{NARROW_SPACE}%"}
    span = "{low} to {high}".format(low=signed(low), high=f"{signed(high)}{NARROW_SPACE}%")
    if abs(value) < _ALIKE:
        text = "{name} runs as fast as {first}".format(**names)
    elif low <= 0 <= high:
        text = (
            "{name} runs perhaps {percent} faster than {first}".format(**names)
            if value > 0
            else "{name} runs perhaps {percent} slower than {first}".format(**names)
        )
    elif value > 0:
        text = "{name} runs {percent} faster than {first}".format(**names)
    else:
        text = "{name} runs {percent} slower than {first}".format(**names)
    return text if high - low < _EXACT else f"{text} ({span})"


def signed(percent: float) -> str:
    """A percentage with its sign: +3.2, −0.8."""
    digits = significant(abs(percent), 2) if abs(percent) >= 1 else grouped(abs(percent), 1)
    return digits if not float(f"{abs(percent):.1f}") else f"{'+' if percent > 0 else '−'}{digits}"


def gradient_words(way: Way, split: StepSplit) -> str:
    """How long the gradients of a step take, and how much of it shows."""
    if not split.exchange_s:
        return "one GPU exchanges no gradients"
    if not split.between_s:
        text = f"the gradients of a step take {_ms(split.inside_s)} inside the server"
    else:
        text = (
            f"the gradients of a step take {_ms(split.inside_s)} inside the servers and "
            f"{_ms(split.between_s)} between them over {kind_name(way.design.platform.fabric)}"
        )
    if split.exposed_s < _NOTHING_S:
        return f"{text}, hidden behind the computation"
    return f"{text}, of which {_ms(split.exposed_s)} is not hidden"


def storage_words(same: SameGpus, design_nodes: int) -> str:
    """Which storage all arrangements have, and whether it holds one of them back."""
    storage = same.first.design.platform.storage
    if storage.kind == "local":
        text = "Each kind of server reads from its own local drives"
    elif not same.storage_nodes:
        text = f"All arrangements read from {storage.name}"
    elif not same.storage_is_sized or same.storage_nodes == design_nodes:
        text = f"All arrangements have the {same.storage_nodes} {storage.name} nodes of the design"
    else:
        text = (
            f"All arrangements have {same.storage_nodes} {storage.name} nodes, enough for the full "
            "servers that read most"
        )
    held = [
        way.arrangement.name
        for way in same.ways
        if any(run.answer.bottleneck in ("storage", "network") for run in way.runs)
    ]
    if held:
        text += "; " + f"storage or network still holds back {', '.join(held)}"
    return sentence(text)


def _cause(one: WayRun, other: WayRun, first: Way, second: Way) -> Iterator[str]:
    """The part of a step that differs most, and what becomes of the gradients."""
    if one.split is None or other.split is None:
        return
    before, after = one.split, other.split
    changes = {
        part: getattr(after, part) - getattr(before, part) for part in ("compute_s", "exposed_s", "waiting_s", "data_s")
    }
    part, change = max(changes.items(), key=lambda pair: abs(pair[1]))
    if abs(change) >= _SEEN * before.step_s:
        values = {"time": _ms(abs(change))}
        gpus = {"one": second.design.platform.gpu.name, "other": first.design.platform.gpu.name}
        is_more = change > 0
        if part == "compute_s" and gpus["one"] != gpus["other"]:
            yield (
                "a step on {one} computes {time} longer than on {other}".format(**gpus, **values)
                if is_more
                else "a step on {one} computes {time} less than on {other}".format(**gpus, **values)
            )
        elif part == "compute_s":
            yield (
                "a step computes {time} longer".format(**values)
                if is_more
                else "a step computes {time} less".format(**values)
            )
        elif part == "exposed_s":
            yield (
                "gradients hold a step up {time} longer".format(**values)
                if is_more
                else "gradients hold a step up {time} less".format(**values)
            )
        elif part == "waiting_s":
            yield (
                "its GPUs wait {time} longer for one another".format(**values)
                if is_more
                else "its GPUs wait {time} less for one another".format(**values)
            )
        else:
            yield (
                "its GPUs wait {time} longer for data".format(**values)
                if is_more
                else "its GPUs wait {time} less for data".format(**values)
            )
    yield gradient_words(second, after)


def _hardware(first: Way, second: Way) -> str:
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
        return "Rack units, watts, ports and cables are the same"
    text = ". ".join(parts)
    # What has no published draw is the same on both sides only where the same devices lack it.
    if abs(watts) >= _SEEN * first.power_max_w and _unknown(first) != _unknown(second):
        text += "; " + "not all draws are published, so the difference in watts is uncertain"
    return text


def _unknown(way: Way) -> frozenset[str]:
    return frozenset(way.design.quantities.unknown_power)


def _price(first: Way, second: Way) -> str:
    """What the priced lines differ by; nothing where a bill has no price at all."""
    one, other = first.bill, second.bill
    if one.net_total.is_unknown or other.net_total.is_unknown:
        return ""
    change = other.total - one.total
    amount = f"{grouped(abs(float(change)))} {other.currency}"
    if not change:
        text = "Priced lines cost the same"
    else:
        text = f"Priced lines cost {amount} more" if change > 0 else f"Priced lines cost {amount} less"
    if one.is_complete and other.is_complete:
        return text
    return text + "; " + "lines to be quoted come on top of both"


def _ms(seconds: float) -> str:
    return f"{significant(1e3 * seconds, 2)}{NARROW_SPACE}ms"
