"""Device types for NetBox from items of the catalogue: the facts that the community library's schema has keys for."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, get_args

import yaml

from sizer.base.formats.yaml_text import plain_scalar
from sizer.catalog.links import LinkType
from sizer.catalog.netbox.importer import Airflow
from sizer.catalog.schema import Device, PortUse

_MAX_NAME, _MAX_PART_NUMBER, _MAX_DESCRIPTION = 100, 50, 200


def device_type(item: Device, ports: Sequence[tuple[str, LinkType, PortUse]]) -> dict[str, Any]:
    """Device type of a device, as the data of a file of the library.

    ``item``: server, storage unit, switch or gateway whose height is known. ``ports``: name, kind and use of each port,
    in the order in which the device is cabled. Returns keys of the library's schema. Price, depth, heat and capacity
    have none there; what is unknown is left out. Raises ValueError if the height is unknown, which NetBox cannot do
    without.
    """
    if item.height_u is None:
        raise ValueError(f"{item.id}: height_u is unknown; a device type needs it")
    height = math.ceil(2 * item.height_u.value) / 2
    device: dict[str, Any] = {
        "manufacturer": item.vendor[:_MAX_NAME],
        "model": item.name[:_MAX_NAME],
        "slug": re.sub(r"[^a-z0-9_]+", "-", f"{item.vendor}-{item.id}".lower()).strip("-")[:_MAX_NAME],
        "u_height": int(height) if height.is_integer() else height,
        # The rack plan gives every device both faces of its units.
        "is_full_depth": True,
    }
    numbers = [sku.value for sku in item.skus if len(sku.value) <= _MAX_PART_NUMBER]
    if numbers:
        device["part_number"] = numbers[0]
    if item.description:
        device["description"] = item.description[:_MAX_DESCRIPTION]
    if item.weight_kg is not None:
        device |= {"weight": round(item.weight_kg.value, 2), "weight_unit": "kg"}
    airflow = item.features.get("airflow")
    if airflow is not None and airflow.value.replace(" ", "-") in get_args(Airflow):
        device["airflow"] = airflow.value.replace(" ", "-")
    inlets = _power_ports(item)
    if inlets:
        device["power-ports"] = inlets
    if ports:
        device["interfaces"] = [_interface(*port) for port in ports]
    return device


def device_types_yaml(types: Iterable[dict[str, Any]]) -> str:
    """YAML text of device types, one document each."""
    text: str = yaml.dump_all(
        types, Dumper=_Dumper, sort_keys=False, allow_unicode=True, explicit_start=True, width=math.inf
    )
    return text


def device_type_yaml(item: Device, ports: Sequence[tuple[str, LinkType, PortUse]]) -> str:
    """File of the library for one device; see :func:`device_type`."""
    return device_types_yaml([device_type(item, ports)])


def _interface(name: str, kind: LinkType, use: PortUse) -> dict[str, Any]:
    interface = {"name": name, "type": kind.netbox_type or "other"}
    return {**interface, "mgmt_only": True} if use in ("management", "bmc") else interface


def _power_ports(item: Device) -> list[dict[str, Any]]:
    """Inlets with their draws: with one lost, the others carry the device."""
    if item.power_inlets is None or item.inlet_kind is None:
        return []
    type_ = item.inlet_kind.value.netbox_type or "other"
    count = item.power_inlets.value
    ports: list[dict[str, Any]] = [{"name": f"PSU{number}", "type": type_} for number in range(1, count + 1)]
    for key, watts in (
        ("maximum_draw", item.power_max_w or item.power_high_w),
        ("allocated_draw", item.power_typical_w),
    ):
        if watts is not None and watts.value > 0:
            for port, share in zip(ports, _shares(math.ceil(watts.value), count), strict=True):
                # The schema has no draw of 0.
                port |= {key: share} if share else {}
    return ports


def _shares(total: int, count: int) -> list[int]:
    """Whole watts of each inlet such that any of the largest can be lost and the others still carry ``total``."""
    carrying = max(count - 1, 1)
    shares = [total // carrying + (number < total % carrying) for number in range(carrying)]
    return [shares[0], *shares][:count]


class _Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.2 would not read back as text, and says everything in full."""

    def ignore_aliases(self, _data: Any) -> bool:
        """No value is told by a reference to another one."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    try:
        is_text = isinstance(plain_scalar(text), str)
    except ValueError:
        is_text = False
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_text else '"')


_Dumper.add_representer(str, _text)
