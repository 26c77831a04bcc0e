"""The building plan as import files of NetBox: sites, racks, devices, cables and power cords, in order of loading.

Names of fields and values are those of NetBox's own import forms (netbox/dcim/forms/bulk_import.py and
netbox/dcim/choices.py of netbox-community/netbox, 4.2). The type of every device comes with the plan, because its
ports have the names of the plan: the public library of device types uses other port names and lists servers without
adapters. The suffix of their names distinguishes these types from those of the library.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.netbox.export import device_type_yaml
from sizer.catalog.schema import Device, Pdu
from sizer.export.files import harmless, printable, zipped
from sizer.export.tables.plan_tables import PowerLink, cable_colour, pdu_name, port_label, power_links
from sizer.export.tables.table import Row, csv_bytes
from sizer.physical.networks.ports import device_ports
from sizer.physical.plan import Connection, End, PlacedRack
from sizer.sizing.result import SizingResult

# Longest texts that NetBox accepts.
_NAME, _DESCRIPTION = 100, 200
_TYPE_END, _SLUG_END = " (plan)", "-plan"
_PDU_ROLE = "rack PDU"
_COLOURS = {"network": "1f77b4", "head node": "8a8f98", "storage": "ff8c00", "compute": "2ca02c"}
_PDU_COLOUR = "222222"
_CABLE_TYPES = {"dac": "dac-passive", "aoc": "aoc", "copper": "cat6", "transceiver": "mmf"}
_STATUS = {"computed": "planned", "existing": "active"}
_RAILS_IN = 19
_READ_ME = """\
The plan of {site} for NetBox{catalog}.

Import the files in the order of their numbers, each with the Import button of its list:

1  Sites
2  Manufacturers
3  Device roles
4  Device types (format YAML)
5  Racks
6  Devices, including rack PDUs
7  Cables
8  Cables: the power cords

NetBox imports a file completely or not at all. Delete the rows of objects that NetBox already has, such as a
manufacturer or a rack.
Ports and outlets are named as in the cable list and the power list of the plan. The device types end in "{end}",
because the types of the public library use other port names.
Not in these files: cables to equipment outside the plan, outlets in existing racks, and space reserved for future
servers.
"""


def netbox_zip(result: SizingResult, catalog: Catalog) -> bytes:
    """The files of :func:`netbox_files` in one ZIP file."""
    return zipped(netbox_files(result, catalog))


def netbox_files(result: SizingResult, catalog: Catalog) -> dict[str, bytes]:
    """Import files of the documented design's plan.

    File name to content, numbered in their import order. Typed text is cut to the length that NetBox accepts and
    cannot start a formula.
    """
    return _Export(result, catalog).files()


@dataclass(frozen=True)
class _Strip:
    """One rack PDU as a device."""

    name: str
    rack: PlacedRack


class _Export:
    def __init__(self, result: SizingResult, catalog: Catalog) -> None:
        request = result.request
        self.plan, self.catalog = result.design.plan, catalog
        is_told = not result.design.bill.is_customer_copy
        self.made_with = f", planned with catalogue {result.catalog_digest[:16]}" if is_told else ""
        self.site = _text(request.customer) or _text(request.title) or "Planned cluster"
        # Name of each rack in NetBox. Two that differ only in what is cut off get a number; new racks keep theirs.
        by_item: dict[str, str] = {}
        taken: set[str] = set()
        for rack in sorted(self.plan.racks, key=lambda rack: rack.is_existing):
            plain = _text(rack.name) or "rack"
            name, number = plain, 1
            while name.casefold() in taken:
                number += 1
                name = f"{plain} ({number})"
            taken.add(name.casefold())
            by_item[rack.name] = name
        self.racks = by_item
        # Power shelves are part of the systems that arrive as racks, so no outlet of the export feeds these.
        self.links = [link for link in power_links(self.plan, catalog) if not link.rack.is_delivered]
        self.pdu = self.plan.inputs.platform.pdu
        self.strips = [
            _Strip(pdu_name(rack, feed), rack)
            for rack in self.plan.racks
            if not rack.is_delivered
            for feed in rack.feeds
        ]
        self.devices = [device for rack in self.plan.racks for device in rack.devices]
        self.types = self._types()

    def files(self) -> dict[str, bytes]:
        makers = sorted({str(device_type["manufacturer"]) for device_type in self.types.values()})
        ends = ("side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name")
        rack_size = ("width", "u_height", "outer_width", "outer_depth", "outer_unit")
        rack_load = ("weight", "max_weight", "weight_unit")
        device_heads = ("name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face")
        cable_heads = (*ends, "type", "status", "label", "color", "length", "length_unit", "description")
        read_me = _READ_ME.format(site=self.site, catalog=self.made_with, end=_TYPE_END.strip())
        return {
            "netbox-0-read-me.txt": read_me.encode(),
            "netbox-1-sites.csv": _csv(("name", "slug", "status"), [(self.site, _slug(self.site), "planned")]),
            "netbox-2-manufacturers.csv": _csv(("name", "slug"), [(maker, _slug(maker)) for maker in makers]),
            "netbox-3-device-roles.csv": _csv(("name", "slug", "color", "vm_role"), self._roles()),
            "netbox-4-device-types.yaml": yaml.safe_dump_all(
                self.types.values(), sort_keys=False, explicit_start=True, allow_unicode=True
            ).encode(),
            "netbox-5-racks.csv": _csv(
                ("site", "name", "status", *rack_size, *rack_load, "description"), map(self._rack, self.plan.racks)
            ),
            "netbox-6-devices.csv": _csv((*device_heads, "description"), self._devices()),
            "netbox-7-cables.csv": _csv(cable_heads, self._cables()),
            "netbox-8-power-cords.csv": _csv((*ends, "type", "status", "label", "description"), self._cords()),
        }

    def _types(self) -> dict[str, dict[str, Any]]:
        """Device types by catalogue id, each under a name that neither the library nor another one has."""
        devices = [self.catalog.device(item) for item in sorted({device.item for device in self.devices})]
        types = {device.id: _device_type(device) for device in devices}
        if self.strips:
            types[self.pdu.id] = _pdu_type(self.pdu, self.catalog)
        models = Counter((device_type["manufacturer"], device_type["model"]) for device_type in types.values())
        for item, device_type in types.items():
            is_alone = models[device_type["manufacturer"], device_type["model"]] == 1
            model = device_type["model"] if is_alone else f"{device_type['model']}, {item}"
            types[item] = {
                **device_type,
                "manufacturer": _text(device_type["manufacturer"]),
                "model": _text(model, _NAME - len(_TYPE_END)) + _TYPE_END,
                "slug": f"{device_type['slug'][: _NAME - len(_SLUG_END)]}{_SLUG_END}",
            }
        for link in self.links:
            _set_draws(link, types[link.device.item].get("power-ports", []))
        return types

    def _roles(self) -> Iterator[Row]:
        roles: dict[str, str] = {device.role: _COLOURS.get(device.category, "") for device in self.devices}
        if self.strips:
            roles[_PDU_ROLE] = _PDU_COLOUR
        for role, colour in roles.items():
            yield role, _slug(role), colour, "false"

    def _rack(self, rack: PlacedRack) -> Row:
        kind = self.plan.rack
        width, depth = (None if fact is None else round(fact.value * 1e3) for fact in (kind.width_m, kind.depth_m))
        return (
            self.site,
            self.racks[rack.name],
            "active" if rack.is_existing else "planned",
            _RAILS_IN,
            rack.height_u,
            width,
            depth,
            "mm" if width or depth else "",
            rack.own_weight_kg,
            int(kind.load_kg.value),
            "kg",
            _described(kind, f"row {rack.row + 1}, column {rack.column + 1}"),
        )

    def _devices(self) -> Iterator[Row]:
        for device in self.devices:
            rack = self.racks[self.plan.racks[device.rack].name]
            position = (self.site, rack, device.unit, "front", _described(self.catalog.item(device.item)))
            yield device.name, device.role, *self._type(device.item), _STATUS[device.status], *position
        for strip in self.strips:
            # Upright beside the rails: in the rack, in none of its units.
            rack = self.racks[strip.rack.name]
            yield (
                *(strip.name, _PDU_ROLE, *self._type(self.pdu.id), "planned"),
                *(self.site, rack, None, "", _described(self.pdu)),
            )

    def _type(self, item: str) -> tuple[str, str]:
        return str(self.types[item]["manufacturer"]), str(self.types[item]["model"])

    def _cables(self) -> Iterator[Row]:
        for link in self.plan.connections:
            if link.a.item and link.z.item:
                yield self._cable(link)

    def _cable(self, link: Connection) -> Row:
        length = link.stock_length_m if link.stock_length_m is not None else round(link.length_m, 2)
        return (
            *_interface(link.a),
            *_interface(link.z),
            _CABLE_TYPES.get(link.medium, ""),
            "planned",
            link.id,
            cable_colour(link.network).code,
            length,
            "m",
            f"{link.network}: {port_label(link.a)} / {port_label(link.z)}",
        )

    def _cords(self) -> Iterator[Row]:
        number = 0
        for link in self.links:
            # A device whose kind of inlet nobody knows has none in its type.
            inlets = self.types[link.device.item].get("power-ports", [])
            if link.pdu and inlets:
                number += 1
                inlet = inlets[link.inlet.inlet - 1]["name"]
                yield (
                    *(link.device.name, "dcim.powerport", inlet, link.pdu, "dcim.poweroutlet", link.outlet_name),
                    *("power", "planned", f"P{number:05d}", f"side {link.side}"),
                )


def _device_type(device: Device) -> dict[str, Any]:
    ports = [(port.name, port.group.kind, port.group.use) for port in device_ports(device)]
    content: dict[str, Any] = yaml.safe_load(device_type_yaml(device, ports))
    return content


def _set_draws(link: PowerLink, inlets: list[dict[str, Any]]) -> None:
    """Draws of an inlet as its feed is planned, so that NetBox adds up on a PDU what the power list does.

    At most, what the inlet draws while the other side is lost; allocated, its part of the typical draw.
    """
    if not inlets:
        return
    inlet, power = inlets[link.inlet.inlet - 1], link.device.power
    for key, watts in (("maximum_draw", link.inlet.share_w), ("allocated_draw", power.typical_w / len(inlets))):
        inlet.pop(key, None)
        if power.is_known and watts > 0:
            # Whole watts; a hundredth more is rounding.
            inlet[key] = math.ceil(watts - 0.01)


def _pdu_type(pdu: Pdu, catalog: Catalog) -> dict[str, Any]:
    """Device type of a rack PDU, its outlets named as the power list numbers them."""
    inlet: dict[str, Any] = {"name": "Inlet"}
    if pdu.inlet is not None:
        inlet["type"] = pdu.inlet.value
    content: dict[str, Any] = {
        "manufacturer": pdu.vendor,
        "model": pdu.name,
        "slug": _slug(f"{pdu.vendor} {pdu.id}"),
        "u_height": pdu.height_u.value if pdu.height_u is not None else 0,
        "is_full_depth": False,
        "power-ports": [inlet],
        "power-outlets": [
            {"name": f"{inlet.outlet}-{number}", "type": inlet.netbox_outlet_type or "other", "power_port": "Inlet"}
            for inlet in (catalog.power_inlets[name] for name in pdu.outlets)
            for number in range(1, pdu.outlets[inlet.id].value + 1)
        ],
    }
    # Its port on the out-of-band network, where there is one.
    content["interfaces"] = [{"name": "network", "type": "1000base-t", "mgmt_only": True}]
    if pdu.skus:
        content["part_number"] = pdu.skus[0].value
    return content


def _interface(end: End) -> tuple[str, str, str]:
    return end.device, "dcim.interface", end.port


def _described(item: Item, more: str = "") -> str:
    return _text(", ".join(part for part in (item.name, item.description, more) if part), _DESCRIPTION)


def _text(typed: str, length: int = _NAME) -> str:
    """Text on one line that starts no formula, cut to a length."""
    return harmless(printable(typed).strip())[:length]


def _slug(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return plain[:_NAME].strip("-") or "planned"


def _csv(heads: Sequence[str], rows: Iterable[Row]) -> bytes:
    return csv_bytes(heads, rows, mark="")
