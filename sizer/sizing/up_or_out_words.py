"""What tells two arrangements of the same GPUs apart, in sentences made from their numbers."""

from collections.abc import Iterator

from sizer.base.estimate import Estimate
from sizer.base.language import tr, trn
from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant, with_commas
from sizer.catalog.links import kind_name
from sizer.catalog.wording import sentence
from sizer.sizing.arrangement_run import StepSplit
from sizer.sizing.up_or_out import Pair, SameGpus, Way, WayRun

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
    span = tr("{low} to {high}", low=signed(low), high=f"{signed(high)}{NARROW_SPACE}%")
    if abs(value) < _ALIKE:
        text = tr("{name} runs as fast as {first}", **names)
    elif low <= 0 <= high:
        text = (
            tr("{name} runs perhaps {percent} faster than {first}", **names)
            if value > 0
            else tr("{name} runs perhaps {percent} slower than {first}", **names)
        )
    elif value > 0:
        text = tr("{name} runs {percent} faster than {first}", **names)
    else:
        text = tr("{name} runs {percent} slower than {first}", **names)
    return text if high - low < _EXACT else f"{text} ({span})"


def signed(percent: float) -> str:
    """A percentage with its sign: +3.2, −0.8."""
    digits = significant(abs(percent), 2) if abs(percent) >= 1 else grouped(abs(percent), 1)
    return digits if not float(f"{abs(percent):.1f}") else f"{'+' if percent > 0 else '−'}{digits}"


def gradient_words(way: Way, split: StepSplit) -> str:
    """How long the gradients of a step take, and how much of it shows."""
    if not split.exchange_s:
        return tr("one GPU exchanges no gradients")
    if not split.between_s:
        text = tr("the gradients of a step take {inside} inside the server", inside=_ms(split.inside_s))
    else:
        text = tr(
            "the gradients of a step take {inside} inside the servers and {between} between them over {fabric}",
            inside=_ms(split.inside_s),
            between=_ms(split.between_s),
            fabric=kind_name(way.design.platform.fabric),
        )
    if split.exposed_s < _NOTHING_S:
        return tr("{gradients}, hidden behind the computation", gradients=text)
    return tr("{gradients}, of which {exposed} is not hidden", gradients=text, exposed=_ms(split.exposed_s))


def storage_words(same: SameGpus, design_nodes: int) -> str:
    """Which storage all arrangements have, and whether it holds one of them back."""
    storage = same.first.design.platform.storage
    if storage.kind == "local":
        text = tr("Each kind of server reads from its own local drives")
    elif not same.storage_nodes:
        text = tr("All arrangements read from {storage}", storage=storage.name)
    elif not same.storage_is_sized or same.storage_nodes == design_nodes:
        text = tr("All arrangements have the {n} {storage} nodes of the design", n=same.storage_nodes,
                  storage=storage.name)  # fmt: skip
    else:
        text = tr("All arrangements have {n} {storage} nodes, enough for the full servers that read most",
                  n=same.storage_nodes, storage=storage.name)  # fmt: skip
    held = [
        way.arrangement.name for way in same.ways
        if any(run.answer.bottleneck in ("storage", "network") for run in way.runs)
    ]  # fmt: skip
    if held:
        text += "; " + tr("storage or network still holds back {names}", names=", ".join(held))
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
                tr("a step on {one} computes {time} longer than on {other}", **gpus, **values)
                if is_more
                else tr("a step on {one} computes {time} less than on {other}", **gpus, **values)
            )
        elif part == "compute_s":
            yield (
                tr("a step computes {time} longer", **values)
                if is_more
                else tr("a step computes {time} less", **values)
            )
        elif part == "exposed_s":
            yield (
                tr("gradients hold a step up {time} longer", **values)
                if is_more
                else tr("gradients hold a step up {time} less", **values)
            )
        elif part == "waiting_s":
            yield (
                tr("its GPUs wait {time} longer for one another", **values)
                if is_more
                else tr("its GPUs wait {time} less for one another", **values)
            )
        else:
            yield (
                tr("its GPUs wait {time} longer for data", **values)
                if is_more
                else tr("its GPUs wait {time} less for data", **values)
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
        (switches, trn("{count} switch", "{count} switches", abs(switches), count=grouped(abs(switches)))),
        (ports, trn("{count} port", "{count} ports", abs(ports), count=grouped(abs(ports)))),
        (cables, trn("{count} cable", "{count} cables", abs(cables), count=grouped(abs(cables)))),
    )
    for count, text in counts:
        if count:
            (more if count > 0 else less).append(text)
    parts = []
    if more:
        parts.append(tr("More: {things}", things=", ".join(more)))
    if less:
        parts.append(tr("Less: {things}", things=", ".join(less)))
    if not parts:
        return tr("Rack units, watts, ports and cables are the same")
    text = ". ".join(parts)
    # What has no published draw is the same on both sides only where the same devices lack it.
    if abs(watts) >= _SEEN * first.power_max_w and _unknown(first) != _unknown(second):
        text += "; " + tr("not all draws are published, so the difference in watts is uncertain")
    return text


def _unknown(way: Way) -> frozenset[str]:
    return frozenset(way.design.quantities.unknown_power)


def _price(first: Way, second: Way) -> str:
    """What the priced lines differ by; nothing where a bill has no price at all."""
    one, other = first.bill, second.bill
    if one.net_total.is_unknown or other.net_total.is_unknown:
        return ""
    change = other.total - one.total
    amount = f"{with_commas(abs(float(change)))} {other.currency}"
    if not change:
        text = tr("Priced lines cost the same")
    else:
        text = tr("Priced lines cost {amount} more", amount=amount) if change > 0 else tr(
            "Priced lines cost {amount} less", amount=amount)  # fmt: skip
    if one.is_complete and other.is_complete:
        return text
    return text + "; " + tr("lines to be quoted come on top of both")


def _ms(seconds: float) -> str:
    return f"{significant(1e3 * seconds, 2)}{NARROW_SPACE}ms"
