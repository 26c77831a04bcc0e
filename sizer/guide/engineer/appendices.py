"""Appendices: formulas, addresses, cable schedule, calibrated values, component data."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from sizer.base.estimate import Z90
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.calibrate.calibration import Calibration
from sizer.explain.stages import fitted_values, measured_parts
from sizer.guide.context import GuideContext
from sizer.perf.step_terms import (
    ABSENT,
    EFFICIENCY,
    FILL,
    HOST_LINK,
    INTER,
    INTRA,
    LAUNCH,
    OVERLAP,
    SCALE_OUT,
    STRAGGLER,
)
from sizer.physical.networks.addresses import Address, AddressPlan
from sizer.physical.plan import Connection, End, Plan
from sizer.physical.roles import NetworkPlane
from sizer.present import words
from sizer.present.component_tables import components
from sizer.present.tables import Cell, Row, Table, fact_table, row
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.rate_models import design_rates
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.gpu_side import terms_of

# Runs of consecutive names that a cell lists; of more it gives the first, the last and how many they are.
_MOST_RUNS = 3
_NUMBER = re.compile(r"(\d+)$")


def address_table(plan: AddressPlan) -> Table:
    """Addresses of every port, one line for consecutive addresses of devices of one kind."""
    rows = [
        row(
            name_ranges(one.device for one in block),
            name_ranges(one.port for one in block),
            block[0].subnet,
            _span(str(block[0].address), str(block[-1].address)),
            grouped(len(block)),
        )
        for block in _address_blocks(plan.addresses)
    ]
    return fact_table(
        "addresses",
        "Addresses of all ports",
        rows,
        titles=("Devices", "Ports", "Network", "Addresses", "Ports in all"),
        widths=(25, 25, 20, 22, 8),
        aligns=("left", "left", "left", "left", "right"),
        note="Addresses count up by device, then by port; addresses.csv lists each port.",
        style="dense",
    )


def _address_blocks(addresses: Sequence[Address]) -> list[list[Address]]:
    """Addresses that follow one another in a subnet, of devices of one kind."""
    blocks: list[list[Address]] = []
    for one in addresses:
        last = blocks[-1][-1] if blocks else None
        follows = last is not None and last.subnet == one.subnet and int(last.address) + 1 == int(one.address)
        if last is not None and follows and _kind(last.device) == _kind(one.device):
            blocks[-1].append(one)
        else:
            blocks.append([one])
    return blocks


def schedule_table(plan: Plan) -> Table | None:
    """Cables by the kind of device that they come from, the device they go to, and their length; None without any."""
    if not plan.connections:
        return None
    rows: list[Row] = []
    network: NetworkPlane | None = None
    for _, group in groupby(sorted(plan.connections, key=_bundle), key=_bundle):
        links = list(group)
        first = links[0]
        if first.network != network:
            network = first.network
            rows.append(row(words.capital(str(network)), kind="group"))
        stock_m = first.stock_length_m
        rows.append(
            row(
                _ends([link.a for link in links]),
                _ends([link.z for link in links]),
                first.kind.name,
                Cell("to length", is_muted=True) if stock_m is None else plain(stock_m),
                grouped(len(links)),
            )
        )
    return fact_table(
        "schedule",
        "Cables and port map",
        rows,
        titles=("From", "To", "Link", "Cable, m", "Cables"),
        widths=(37, 31, 16, 8, 8),
        aligns=("left", "left", "left", "right", "right"),
        note="Racks, devices, ports. cables.csv lists each cable with its number, both ends, routed length and labels.",
        style="dense",
    )


def _bundle(link: Connection) -> tuple[str, str, str, str, float]:
    """What cables of one line have in common; network by network."""
    return str(link.network), link.z.device, _series(link.a.device), link.kind.id, link.stock_length_m or 0.0


def _ends(ends: Sequence[End]) -> str:
    racks, devices, ports = (name_ranges(getattr(end, name) for end in ends) for name in ("rack", "device", "port"))
    if ports and not ports.startswith("port"):
        ports = f"{'port' if len({end.port for end in ends}) == 1 else 'ports'} {ports}"
    return ", ".join(part for part in (racks, devices, ports) if part)


def name_ranges(names: Iterable[str]) -> str:
    """Names with consecutive numbers as ranges: "gpu-001 to gpu-008, gpu-010".

    ``names``: repeated ones count once, empty ones not at all.
    """
    ordered = sorted({name for name in names if name}, key=lambda name: (_series(name), _number(name)))
    runs: list[list[str]] = []
    for name in ordered:
        last = runs[-1][-1] if runs else ""
        if runs and _series(last) == _series(name) and _number(last) + 1 == _number(name):
            runs[-1].append(name)
        else:
            runs.append([name])
    if len(runs) > _MOST_RUNS:
        return f"{_span(ordered[0], ordered[-1])} ({grouped(len(ordered))} of them)"
    return ", ".join(_span(run[0], run[-1]) for run in runs)


def _kind(device: str) -> str:
    """A name of a device without its numbers: all PDUs of all racks are of one kind."""
    return re.sub(r"[A-Z]?\d+", "", device)


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def _series(name: str) -> str:
    """A name without the number at its end."""
    return _NUMBER.sub("", name)


def _number(name: str) -> int:
    found = _NUMBER.search(name)
    return int(found[1]) if found else -1


def calibration_table(evaluated: EvaluatedDesign, number: int) -> Table:
    """Coefficients of workload ``number``, counted from 1, on the platform of the design."""
    design = evaluated.result.design
    answer = design.workloads[number - 1]
    return fact_table(
        f"calibration-{number}",
        f"Calibrated values for {answer.workload.name}",
        _rows(evaluated, number),
        titles=("Value", "Median", "90 % interval", "Symbol"),
        widths=(42, 16, 20, 22),
        aligns=("left", "right", "left", "left"),
        note="An interval as wide as the prior means that no similar run has been published.",
        style="",
    )


def _rows(evaluated: EvaluatedDesign, number: int) -> Iterator[Row]:
    design, calibration = evaluated.result.design, evaluated.calibration
    answer = design.workloads[number - 1]
    model = evaluated.workloads[number - 1]
    if model is None:  # the catalogue lacks a part of a saved design
        return
    name = design_rates(model.work, design.platform.gpu.id).name
    if name == "language":
        for label, median, interval in fitted_values():
            yield row(label, median, interval, "–")
        return
    if name == "mlperf":
        for part in measured_parts(model):
            yield row(part.label, part.text(3), "–", part.symbol)
        capacity = next(stage.capacity for stage in answer.stages if stage.key == "gpu")
        unit = words.sample_unit(answer.dnn)
        low, middle, high = (si(float(value), unit, 3) for value in (capacity.low, capacity.value, capacity.high))
        yield row("Rate of the GPUs", *(middle, f"{low} to {high}"), "C")
        yield from _around(answer, calibration)
        return
    is_inference = answer.workload.task != "training"
    terms = terms_of(model.work, design.platform, design.n_servers, calibration, evaluated.catalog)
    sd = np.sqrt(np.diag(terms.covariance))

    def line(
        label: str, place: int, text: Callable[[float], str], symbol: str, value: Callable[[float], float] = np.exp
    ) -> Iterator[Row]:
        if terms.values[place] == ABSENT:
            return
        median, reach = float(terms.values[place]), Z90 * float(sd[place])
        texts = [text(float(value(point))) for point in (median, median - reach, median + reach)]
        yield row(label, texts[0], f"{texts[1]} to {texts[2]}", symbol)

    yield from line("Fraction of the GPU's peak rate achieved", EFFICIENCY, words.percent, "η")
    yield from line("Fixed part of a step, independent of the batch", LAUNCH, _ms, "t launch")
    yield from line("Samples needed to fill a GPU", FILL, lambda samples: significant(samples, 2), "f")
    if is_inference:
        yield from line("Rate of one host-to-GPU link", HOST_LINK, _rate, "B host")
    elif design.n_gpus > 1:
        yield from line("Rate between the GPUs of a server, per GPU", INTRA, _rate, "B in")
        if design.n_servers > 1:
            yield from line("Fraction of the line rate achieved by the exchange", INTER, words.percent, "u", _share)
        yield from line("Fraction of the backward pass that hides the exchange", OVERLAP, words.percent, "k", _logistic)
        yield from line("Increase in step time per doubling of the GPUs in a server", STRAGGLER, words.percent, "s")
        if design.n_servers > 1:
            yield from line("Increase in step time from one server to two", SCALE_OUT, words.percent, "r")
    yield from _around(answer, calibration)


def _around(answer: WorkloadAnswer, calibration: Calibration) -> Iterator[Row]:
    """Host work, start-up and epochs."""
    if float(answer.cpu_utilization_fraction.value) > 0:
        work = calibration.host_work(answer.sample_format, answer.stack)
        factor = float(np.exp(Z90 * work.log_sd(answer.sample_bytes)))
        core_s = work.core_s(answer.sample_bytes)
        interval = f"{_time(core_s / factor)} to {_time(core_s * factor)}"
        yield row("Host core time per sample", _time(core_s), interval, "c")
    if answer.time is not None:
        yield row("Start-up time of a run", duration(answer.time.start_up_s), "–", "t start")
        yield row("Epochs to target", words.estimate(answer.time.epochs, "epochs", bare=True), "–", "E")


def _time(time_s: float) -> str:
    """Core time of a sample: microseconds for text, milliseconds for images, seconds for volumes."""
    return si(time_s, "s", 2)


def _ms(time_s: float) -> str:
    return f"{significant(1e3 * time_s, 2)}{NARROW_SPACE}ms"


def _rate(bytes_per_s: float) -> str:
    return si(bytes_per_s, "B/s", 2)


def _logistic(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))


def _share(value: float) -> float:
    """Fraction of a line rate, limited to 1 whatever the fit allows."""
    return min(float(np.exp(value)), 1.0)


def formulas(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/formulas.html`` prints."""
    return {
        "is_training": any(answer.workload.task == "training" for answer in context.answers),
        "is_inference": any(answer.workload.task != "training" for answer in context.answers),
        "has_time": any(answer.time is not None for answer in context.answers),
        "is_single": context.is_single,
        "has_gateway": context.design.platform.gateway is not None,
    }


def addresses(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/addresses.html`` prints."""
    return {"addresses": address_table(context.addresses)}


def schedule(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/schedule.html`` prints."""
    return {"schedule": schedule_table(context.design.plan)}


def calibration(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/calibration.html`` prints."""
    numbers = range(1, len(context.answers) + 1)
    return {"tables": [calibration_table(context.evaluated, number) for number in numbers]}


def parts(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/parts.html`` prints."""
    return {"components": components(context.design, context.catalog)}


def glossary(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/glossary.html`` prints."""
    return {"has_training": not context.only_serves}


def no_content(_: GuideContext) -> dict[str, Any]:
    """Content of a section with fixed text."""
    return {}
