"""Appendices: formulas, addresses, cable schedule, calibrated values, component data."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sizer.base.quantities import grouped, plain
from sizer.drawings.datapath import is_limit
from sizer.evidence.component_tables import components
from sizer.explain.figure import explanation, rate_key, stage_key
from sizer.guide.context import GuideContext
from sizer.physical.networks.addresses import Address, AddressPlan
from sizer.physical.plan import Connection, End, Plan
from sizer.physical.roles import NetworkPlane
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, fact_table, row

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


def calculation(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/calculation.html`` prints."""
    keys: list[str] = []
    for place, answer in enumerate(context.answers):
        used = (stage.key for stage in answer.stages if is_limit(stage, answer))
        keys += [rate_key(place), *(stage_key(place, key) for key in used)]
    found = (explanation(context.evaluated, key) for key in keys)
    return {"figures": [replace(one, inputs=replace(one.inputs, caption=f"{one.title}: inputs")) for one in found]}


def addresses(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/addresses.html`` prints."""
    return {"addresses": address_table(context.addresses)}


def schedule(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/schedule.html`` prints."""
    return {"schedule": schedule_table(context.design.plan)}


def parts(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/parts.html`` prints."""
    return {"components": components(context.design, context.catalog)}


def glossary(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/glossary.html`` prints."""
    return {"has_training": not context.only_serves}


def no_content(_: GuideContext) -> dict[str, Any]:
    """Content of a section with fixed text."""
    return {}
