"""Watts and kilograms of a device as the catalogue knows them: exactly, in a bracket, or not at all."""

from dataclasses import dataclass

from sizer.catalog.schema import Device


@dataclass(frozen=True)
class DevicePower:
    """Draw of one device. [W] ``is_known`` is False where a maximum is missing: totals then read "at least"."""

    low_w: float
    typical_w: float
    max_w: float
    is_known: bool


def device_power(device: Device) -> DevicePower:
    """Draw of one device from what the catalogue states.

    Parameters
    ----------
    device : Device
        Server, storage unit, switch or gateway.

    Returns
    -------
    DevicePower
        ``max_w`` is the stated maximum or the upper end of the bracket, ``low_w`` the lower end or the typical draw,
        ``typical_w`` the stated typical draw or the middle of the bracket. [W]

    Notes
    -----
    DESIGN, section 4: feeds, racks and cooling are sized with the upper end, energy with the middle. A lower end
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


def _value(fact: object) -> float | None:
    value = getattr(fact, "value", None)
    return None if value is None else float(value)
