"""Watts of a device as the catalogue knows them (exactly, in a bracket, or not at all), and what becomes of them."""

import math
from dataclasses import dataclass
from functools import lru_cache

from sizer.base.provenance import Sourced
from sizer.catalog.items import Watts
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Cpu, Device, Gpu, Server

# Kind of inlet of devices of which no source tells it.
USUAL_INLET = "c14"
# What a server with PCIe cards draws at most over its cards and processors: memory, drives, adapters, fans and losses.
# Makers' ratings lie between (XE7740 1.33 with eight cards of 600 W, SR675 V3 1.43 with eight of 400 W). Assumed.
_MOST_OVER_COMPONENTS = 1.5


@dataclass(frozen=True)
class DevicePower:
    """Draw of one device. [W] ``is_known`` is False where a maximum is missing: totals then read "at least"."""

    low_w: float
    typical_w: float
    max_w: float
    is_known: bool


@lru_cache(maxsize=4096)
def device_power(device: Device) -> DevicePower:
    """Draw of one device from what the catalogue states.

    ``device``: server, storage unit, switch or gateway. Returns ``max_w`` is the stated maximum or the upper end of the
    bracket, ``low_w`` the lower end or the typical draw, ``typical_w`` the stated typical draw or the middle of the
    bracket [W].

    Feeds, racks and cooling are sized with the upper end, energy with the middle. A lower end
    alone (the sum of component TDPs) is a floor, so the maximum is not known.
    """
    top = _value(device.power_max_w) if device.power_max_w is not None else _value(device.power_high_w)
    typical, floor = _value(device.power_typical_w), _value(device.power_low_w)
    best = [watts for watts in (top, typical, floor) if watts is not None]
    if not best:
        return DevicePower(0.0, 0.0, 0.0, is_known=False)
    high = max(best)
    low = floor if floor is not None else typical if typical is not None else high
    middle = typical if typical is not None else (low + high) / 2
    return DevicePower(low, middle, high, is_known=top is not None)


def has_typical_draw(device: Device) -> bool:
    """Whether the typical draw is known in addition to the maximum: stated, or the middle of a bracket."""
    top = device.power_max_w or device.power_high_w
    return top is None or device.power_typical_w is not None or device.power_low_w is not None


# Kept, so that the same choice is the same object: other functions keep by identity what they found of it.
@lru_cache(maxsize=4096)
def with_fitted_power(server: Server, gpu: Gpu, n_gpus: int, cpu: Cpu | None, catalog: Catalog) -> Server:
    """A server whose power follows the GPUs that are fitted: its least draw, and its bracket where their number varies.

    Of a stated maximum it is the typical draw, in the middle between it and the least. ``n_gpus``: GPUs fitted in it.
    ``cpu``: its processor.

    The least is the sum of the maxima of the data sheets of GPUs and processors. Where the processor's is not known, a
    floor that the catalogue states holds for the number of GPUs that the server has by default, and its share for
    fewer; the larger of both is used. The upper end of a bracket holds for as many of the heaviest GPUs that the server
    takes: their watts give way to those of the GPUs that are fitted. Supplies are rated for the heaviest cards that
    could be fitted with one half lost, so that what is in the server bounds its draw, too.
    """
    high = server.power_high_w
    most_w = _value(server.power_max_w)
    if gpu.tdp_w is None or (most_w is not None and server.power_typical_w is not None):
        return server
    card_w = {_value(catalog.gpus[name].tdp_w) or 0.0 for name in server.gpus}
    if high is not None and not server.n_gpus_choices and len(card_w) == 1:
        return server
    cpus_w = _value(cpu.tdp_w) if cpu is not None and server.n_cpus is not None else None
    gpus_w = n_gpus * gpu.tdp_w.value
    most = n_gpus if server.n_gpus is None else server.n_gpus.value
    if cpus_w is None or server.n_cpus is None:
        floor_w = max(gpus_w, (_value(server.power_low_w) or 0.0) * min(n_gpus / most, 1.0))
    else:
        floor_w = gpus_w + server.n_cpus.value * cpus_w
    if most_w is not None:
        floor_w = (min(floor_w, most_w) + most_w) / 2
    fact = Sourced[Watts](value=floor_w, basis="derived", source=gpu.tdp_w.source, where=gpu.tdp_w.where)
    if most_w is not None:
        return server.model_copy(update={"power_typical_w": fact})
    if high is None:
        return server.model_copy(update={"power_low_w": fact})
    top_w = max(high.value - most * max(card_w) + gpus_w, floor_w)
    if cpus_w is not None and gpu.form_factor.value == "pcie":
        top_w = min(top_w, _MOST_OVER_COMPONENTS * floor_w)
    needed = server.supplies_needed
    if needed is not None:
        needed = needed.model_copy(update={"value": math.ceil(needed.value * top_w / high.value)})
    top = high.model_copy(update={"value": top_w, "basis": "derived"})
    return server.model_copy(update={"power_low_w": fact, "power_high_w": top, "supplies_needed": needed})


def _value(fact: object) -> float | None:
    value = getattr(fact, "value", None)
    return None if value is None else float(value)


def inlet_of(device: Device) -> str:
    """Id of the kind of a device's inlets; that of small supplies where nothing is known."""
    return device.inlet_kind.value.id if device.inlet_kind is not None else USUAL_INLET


# 1 W is 3.412 142 BTU/h: 3,600 J an hour over 1,055.056 J a BTU (international table).
BTU_PER_H_PER_W = 3_600 / 1_055.055_852_62
HOURS_PER_YEAR = 8_760


def heat_btu_per_h(power_w: float) -> float:
    """Heat that cooling must carry away. [BTU/h]"""
    return power_w * BTU_PER_H_PER_W


def energy_kwh_per_year(power_w: float, pue_ratio: float = 1.0) -> float:
    """Energy of a steady draw over a year of 365 days, with what the room adds. [kWh]"""
    return power_w * pue_ratio * HOURS_PER_YEAR / 1e3
