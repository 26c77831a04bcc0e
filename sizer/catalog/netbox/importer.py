"""Import of NetBox device types: one file of the community library becomes one item of a catalogue folder.

The file says how high and heavy a device is, which ports and inlets it has, and what each inlet may draw. What it does
not say stays unknown and is asked for; until the answers stand in the file, no design is offered the item.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sizer.base.errors import MAX_FAULTS, RequestError
from sizer.base.faults import in_words, nearest, shown
from sizer.base.formats.toml_text import to_toml
from sizer.base.formats.yaml_text import YamlText, read_yaml
from sizer.base.provenance import Sourced
from sizer.catalog.items import Item
from sizer.catalog.links import LINKS, POWER_INLETS, LinkType, PowerInlet
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.schema import CATEGORIES, PortUse

# Lengths, enumerations and steps are those of the library's schema (netbox-community/devicetype-library, schema/).
PortName = Annotated[str, Field(min_length=1, max_length=64)]
PortDraw = Annotated[int, Field(ge=1, le=100_000)]
WeightUnit = Literal["kg", "g", "lb", "oz"]
Airflow = Literal[
    "front-to-rear",
    "rear-to-front",
    "left-to-right",
    "right-to-left",
    "side-to-rear",
    "rear-to-side",
    "bottom-to-top",
    "top-to-bottom",
    "passive",
    "mixed",
]

# Interfaces that are no port of the device.
_VIRTUAL = ("virtual", "bridge", "lag")
_ETHERNET = re.compile(r"(?:(1000)|(\d{1,5})g)base-.+")


def link_of(interface_type: str, links: Mapping[str, LinkType]) -> LinkType | None:
    """Link of an interface type: Ethernet by its rate; None where the catalogue has no such link."""
    ethernet = _ETHERNET.fullmatch(interface_type)
    if ethernet is None:
        return next((link for link in links.values() if link.netbox_type == interface_type), None)
    rate = 1 if ethernet[1] else int(ethernet[2])
    return next((link for link in links.values() if not link.is_infiniband and link.gbit_per_s.value == rate), None)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Interface(_Part):
    """A port for data or management."""

    name: PortName
    type: str
    label: str = ""
    mgmt_only: bool = False

    @property
    def is_port(self) -> bool:
        """Whether a cable can go into it."""
        return self.type not in _VIRTUAL


class PowerPort(_Part):
    """A power inlet. Draws are those of this inlet alone. [W]"""

    name: PortName
    type: str = ""
    maximum_draw: PortDraw | None = None
    allocated_draw: PortDraw | None = None


class Bay(_Part):
    """A place for a module or for another device."""

    name: PortName


class DeviceType(_Part):
    """A device type."""

    manufacturer: Annotated[str, Field(min_length=1, max_length=100)]
    model: Annotated[str, Field(min_length=1, max_length=100)]
    slug: Annotated[str, Field(pattern=r"^[-a-z0-9_]+$", max_length=100)]
    u_height: Annotated[float, Field(ge=0, le=60, multiple_of=0.5, allow_inf_nan=False)]
    is_full_depth: bool
    part_number: Annotated[str, Field(max_length=50)] = ""
    description: Annotated[str, Field(max_length=200)] = ""
    weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    weight_unit: WeightUnit | None = None
    airflow: Airflow | None = None
    is_powered: bool = True
    interfaces: list[Interface] = []
    power_ports: Annotated[list[PowerPort], Field(alias="power-ports")] = []
    module_bays: Annotated[list[Bay], Field(alias="module-bays")] = []
    device_bays: Annotated[list[Bay], Field(alias="device-bays")] = []

    @model_validator(mode="after")
    def _weight_has_its_unit(self) -> Self:
        if (self.weight is None) != (self.weight_unit is None):
            raise ValueError("weight and weight_unit are given together, in kg, g, lb or oz")
        return self


# What the library knows and the catalogue has no use for.
_NOT_READ: dict[type[_Part], tuple[str, ...]] = {
    DeviceType: (
        "comments",
        "front_image",
        "rear_image",
        "subdevice_role",
        "console-ports",
        "console-server-ports",
        "power-outlets",
        "front-ports",
        "rear-ports",
        "inventory-items",
    ),
    Interface: ("enabled", "description", "bridge", "poe_mode", "poe_type", "rf_role"),
    PowerPort: ("label", "description", "_is_power_source"),
}


def read_device_type(text: str, place: str) -> tuple[DeviceType, list[str]]:
    """Device type of a YAML text, and a remark on every key that the library does not know.

    Raises RequestError listing every fault: file:line:column, key, value, what is allowed.
    """
    read = read_yaml(text, place)
    if not isinstance(read.data, dict) or not read.data:
        got = "nothing" if read.data is None or read.data == {} else shown(read.data)
        raise RequestError(f"{place}: holds {got}; a device type is a table with manufacturer, model, slug, u_height")
    try:
        device = DeviceType.model_validate(_without_empty(read.data))
    except ValidationError as error:
        raise RequestError("\n".join(in_words(DeviceType, error, read.place))) from None
    return device, _unknown_keys(read)


def _without_empty(value: Any) -> Any:
    """The data without keys that have no value: they say nothing."""
    if isinstance(value, dict):
        return {key: _without_empty(part) for key, part in value.items() if part is not None}
    return [_without_empty(part) for part in value] if isinstance(value, list) else value


def _unknown_keys(read: YamlText) -> list[str]:
    parts: list[tuple[type[_Part], tuple[int | str, ...], Any]] = [(DeviceType, (), read.data)]
    parts += [(Interface, ("interfaces", n), part) for n, part in enumerate(read.data.get("interfaces") or ())]
    parts += [(PowerPort, ("power-ports", n), part) for n, part in enumerate(read.data.get("power-ports") or ())]
    remarks: dict[tuple[type[_Part], str], str] = {}
    for model, path, part in parts:
        known = [*(field.alias or name for name, field in model.model_fields.items()), *_NOT_READ[model]]
        for key in part:
            if key not in known:
                place = read.place((*path, key))
                remark = f"{place}: key {shown(key)} is not imported; it is unknown{nearest(key, known)}"
                remarks.setdefault((model, key), remark)
    more = len(remarks) - MAX_FAULTS
    return [*list(remarks.values())[:MAX_FAULTS], *([f"{more} more keys are not imported"] if more > 0 else [])]


Folder = Literal["switches", "servers", "gateways"]

# Exact: pound and ounce by the international agreement of 1959.
_KG = {"kg": 1.0, "g": 0.001, "lb": 0.45359237, "oz": 0.028349523125}
# Management controllers by the names that vendors give them.
_CONTROLLER = re.compile(r"\b(bmc|ipmi|idrac\d*|ilo\d*|ilom|xcc|imm2?|cimc|irmc)\b", re.IGNORECASE)
_SUPPLY_BAY = re.compile(r"\b(psu?|pem|power)\d*\b|supply", re.IGNORECASE)
_OTHER_BAY = re.compile(rf"{_SUPPLY_BAY.pattern}|\bfans?\d*\b|\bdisks?\b|\bdrives?\b", re.IGNORECASE)
# InfiniBand switches whose ports the library types as Ethernet.
_INFINIBAND_SWITCHES = {"sb7800": "edr", "sx6036": "fdr", "qm8700": "hdr"}
_NOT_IN_AN_ID = re.compile(r"[^a-z0-9.+]+")
_MAX_ID = 60


@dataclass(frozen=True)
class Imported:
    """A device type as an item of the catalogue, and what its file leaves open, one sentence each."""

    toml: str
    item_id: str
    questions: tuple[str, ...]


def import_device_type(
    text: str, place: str, folder: Folder = "switches", source: str = "nbx", catalog: Catalog | None = None
) -> Imported:
    """Catalogue item of a device-type file.

    ``text``: the YAML file. ``place``: its path or name, for errors and as the place of every fact. ``folder``:
    {"switches", "servers", "gateways"}; folder of the catalogue that the item is for. ``source``: key in
    ``sources.toml`` of the library that the file comes from. ``catalog``: the catalogue that the item will lie over. Of
    an item that it holds, the file fills in what is unknown or only assumed; where the two disagree, the catalogue's
    fact stays and the question tells both. Left out: a new item, with the link types of the catalogue that the program
    ships. Returns text of ``<folder>/<item_id>.toml``. Raises RequestError if the file cannot be understood; each line
    says file, line and column, key, value and what is allowed.
    """
    device, remarks = read_device_type(text, place)
    kinds = shipped_catalog() if catalog is None else catalog
    item = _Item(device, place, source, kinds)
    known = None if catalog is None else catalog.folder(folder).get(item.id)
    table = item.table(folder)
    try:
        CATEGORIES[folder].model_validate(table, context={LINKS: kinds.links, POWER_INLETS: kinds.power_inlets})
    except ValidationError as error:
        raise RequestError("\n".join(in_words(CATEGORIES[folder], error, place))) from None
    if known is None:
        # Without depth and the like no rack can be drawn: the item waits for the answers.
        table["orderable"] = False
    else:
        table = item.filled_in(known, table)
    if catalog is not None and source not in catalog.sources:
        item.ask("source", f"{shown(source)} is not in sources.toml; an overlay can bring the entry")
    head = [f"Imported from {item.file}, a device type of NetBox. Open:", *(f"- {one}" for one in item.questions)]
    if known is None:
        head.append("No design is offered the item until these are filled in and the line orderable is deleted.")
    # A comment holds no control characters; names in a file may.
    comment = "\n".join("# " + "".join(char if char.isprintable() else " " for char in line) for line in head)
    return Imported(f"{comment}\n\n{to_toml(table)}", item.id, (*item.questions, *remarks))


class _Item:
    """Collects the facts of one device and the questions that its file leaves."""

    def __init__(self, device: DeviceType, place: str, source: str, catalog: Catalog) -> None:
        self.device, self.place, self.file, self.source = device, place, PurePath(place).name, source
        self.links: Mapping[str, LinkType] = catalog.links
        self.inlets: Mapping[str, PowerInlet] = {
            inlet.netbox_type: inlet for inlet in catalog.power_inlets.values() if inlet.netbox_type is not None
        }
        self.id = self._id()
        self.questions: list[str] = []

    def _id(self) -> str:
        """The words of the model, as in the rest of the catalogue."""
        for name in (self.device.model, self.device.slug):
            words = _NOT_IN_AN_ID.sub("-", name.lower()).strip("-.+")[:_MAX_ID].rstrip("-")
            if words:
                return words
        raise RequestError(f"{self.place}: model {shown(self.device.model)} has no letter or digit to name an item by")

    def table(self, folder: Folder) -> dict[str, Any]:
        """The item as the data of its TOML file."""
        device = self.device
        table: dict[str, Any] = {"id": self.id, "name": device.model, "vendor": device.manufacturer}
        if device.description:
            table["description"] = device.description
        if folder == "servers":
            table["role"] = "head"
            self.ask("role", "'head' is written; a storage server has role 'storage', a GPU server role 'gpu' and GPUs")
        height = device.u_height
        table["height_u"] = self._fact(int(height) if height.is_integer() else height, "u_height")
        full = "the full" if device.is_full_depth else "half of the"
        self.ask("depth_m", f"the device takes {full} depth of a rack; its depth is not given")
        table |= self._weight() | self._power()
        ports = self._ports(folder)
        if folder == "gateways":
            table |= self._gateway(ports)
        if folder != "servers" and any(self.links[port["kind"]].is_infiniband for port in ports):
            self.ask("subnet_manager", "whether the switch can run one is not given")
        if folder == "servers":
            self.ask("cpu, n_cpus, memory_bytes", "a device type does not say what is fitted")
        if device.part_number:
            table["skus"] = [{"value": device.part_number, "source": self.source, "where": self._where("part_number")}]
        if device.airflow:
            table["features"] = {"airflow": self._fact(device.airflow.replace("-", " "), "airflow")}
        if device.device_bays:
            self.ask("chassis", f"{len(device.device_bays)} bays hold devices of their own, which are other files")
        return table | ({"ports": ports} if ports else {})

    def filled_in(self, known: Item, table: dict[str, Any]) -> dict[str, Any]:
        """Of the table what a known item lacks or only assumes."""
        self.questions.clear()
        new: dict[str, Any] = {"id": self.id}
        for key, said in table.items():
            old = getattr(known, key)
            facts = old if isinstance(old, tuple) else (old,)
            if not old or all(getattr(fact, "basis", "") == "assumed" for fact in facts):
                new[key] = said
            elif isinstance(old, Sourced) and (value := getattr(old.value, "id", old.value)) != said["value"]:
                had = f"{value:g}" if isinstance(value, float) else str(value)
                self.ask(key, f"{had} in the catalogue, {said['value']} in the file; the catalogue's stays")
        self._fit_bracket(known, new)
        return new

    def _fit_bracket(self, known: Item, new: dict[str, Any]) -> None:
        """Leave the bracket out where a known maximum replaces it or its lower end is unknown."""
        low_w, max_w = getattr(known, "power_low_w", None), getattr(known, "power_max_w", None)
        if "power_high_w" not in new or (max_w is None and (low_w is not None or "power_low_w" in new)):
            return
        high_w = new.pop("power_high_w")["value"]
        new.pop("power_low_w", None)
        if max_w is None:
            self.ask("power_high_w", f"{high_w} W in the file, not written: a bracket needs power_low_w too")
        else:
            self.ask(
                "power_max_w", f"{max_w.value:g} W in the catalogue, at most {high_w} W in the file; the first stays"
            )

    def _where(self, key: str) -> str:
        return f"{self.file}, {key}"

    def ask(self, field: str, question: str) -> None:
        self.questions.append(f"{field}: {question}")

    def _fact(self, value: Any, key: str, basis: str = "published", note: str = "") -> dict[str, Any]:
        fact = {"value": value, "basis": basis, "source": self.source, "where": self._where(key)}
        return {**fact, "note": note} if note else fact

    # --- weight and power

    def _weight(self) -> dict[str, Any]:
        weight, unit = self.device.weight, self.device.weight_unit
        if not weight or unit is None:
            self.ask("weight_kg", "not given")
            return {}
        note = "" if unit == "kg" else f"{weight:g} {unit} in the file."
        # To the gram: no library file is finer.
        return {"weight_kg": self._fact(round(weight * _KG[unit], 3), "weight", note=note)}

    def _power(self) -> dict[str, Any]:
        ports = self.device.power_ports
        if not ports:
            self.ask("power_inlets, inlet_kind", self._missing_inlets())
            self.ask("power_max_w", "not given")
            return {}
        where = f"power-ports {_span([port.name for port in ports])}"
        facts = {"power_inlets": self._fact(len(ports), where)}
        types = sorted({port.type or "no type" for port in ports})
        if len(types) == 1 and types[0] in self.inlets:
            facts["inlet_kind"] = self._fact(self.inlets[types[0]].id, where)
        else:
            self.ask("inlet_kind", f"the inlets are {', '.join(types)}; the catalogue has {' and '.join(self.inlets)}")
        return facts | self._draws(ports, where)

    def _missing_inlets(self) -> str:
        bays = [bay.name for bay in self.device.module_bays if _SUPPLY_BAY.search(bay.name)]
        if bays:
            return f"the supplies are modules ({_span(bays)}); how many are fitted and what are their inlets?"
        return "no power port is listed" + ("" if self.device.is_powered else "; another device feeds this one")

    def _draws(self, ports: list[PowerPort], where: str) -> dict[str, Any]:
        """Bracket of the draw. A draw is that of one inlet; with one lost, the others carry the device."""
        high = _remaining([port.maximum_draw for port in ports])
        planned = _remaining([port.allocated_draw for port in ports])
        left = "the inlet" if len(ports) == 1 else f"the inlets that remain when one of {len(ports)} is lost"
        facts = {}
        if planned is not None and (high is None or planned <= high):
            note = f"allocated_draw of {left}: what NetBox plans with."
            facts["power_typical_w"] = self._fact(planned, where, "derived", note)
        if high is None:
            self.ask("power_max_w", "no maximum_draw is given for every inlet")
            return facts
        if "power_typical_w" in facts:
            facts["power_low_w"] = facts["power_typical_w"]
        else:
            self.ask("power_low_w", f"what the parts draw at least; the upper end, {high} W, may be a supply's rating")
        note = f"maximum_draw of {left}; it may be the rating of the supplies, which is not a draw."
        return facts | {"power_high_w": self._fact(high, where, "derived", note)}

    # --- ports

    def _ports(self, folder: Folder) -> list[dict[str, Any]]:
        """Ports by kind and use, in the order of the file."""
        groups: dict[tuple[LinkType, PortUse, str], list[Interface]] = {}
        unknown: dict[str, list[Interface]] = {}
        for interface in (one for one in self.device.interfaces if one.is_port):
            use = _use(interface)
            kind, typed_as = self._kind(interface, use)
            if kind is None:
                unknown.setdefault(interface.type, []).append(interface)
            else:
                groups.setdefault((kind, use, typed_as), []).append(interface)
        for type_, interfaces in unknown.items():
            names = _span([one.name for one in interfaces])
            self.ask("ports", f"{len(interfaces)} × {type_} ({names}) is of no kind that the catalogue has")
        if not any(use == "any" for _, use, _ in groups):
            self.ask("ports", "no interface for data is listed")
        elif folder == "servers":
            self.ask("ports", "use 'any' is written; what joins a fabric has use 'compute', what reads data 'storage'")
        bays = [bay.name for bay in self.device.module_bays if not _OTHER_BAY.search(bay.name)]
        if bays:
            self.ask("ports", f"modules may bring more of them ({_span(bays)})")
        return [self._port(*key, interfaces, folder) for key, interfaces in groups.items()]

    def _kind(self, interface: Interface, use: PortUse) -> tuple[LinkType | None, str]:
        """Kind of a port, and the type that the file gives it where that is not what it is."""
        kind = link_of(interface.type, self.links)
        model = self.device.model.lower()
        infiniband = next((self.links[kind] for name, kind in _INFINIBAND_SWITCHES.items() if name in model), None)
        if use != "any" or infiniband is None or kind == infiniband:
            return kind, ""
        return infiniband, interface.type

    def _port(
        self, kind: LinkType, use: PortUse, typed_as: str, interfaces: list[Interface], folder: Folder
    ) -> dict[str, Any]:
        where = self._where(f"interfaces {_span([interface.name for interface in interfaces])}")
        port: dict[str, Any] = {"kind": kind.id, "count": len(interfaces), "use": use}
        other = link_of(typed_as, self.links)
        if folder == "gateways" and other is not None:
            port["also"] = [other.id]
        port |= {"basis": "derived" if typed_as else "published", "source": self.source, "where": where}
        if typed_as:
            port["note"] = f"The file types these ports as {typed_as}; the model is an InfiniBand switch."
        return port

    def _gateway(self, ports: list[dict[str, Any]]) -> dict[str, Any]:
        """Sides of a gateway: its InfiniBand ports are the uplinks, its Ethernet ports the front end."""
        data = [port for port in ports if port["use"] == "any"]
        kinds = [self.links[kind] for port in data for kind in (port["kind"], *port.get("also", ()))]
        up = next((kind for kind in kinds if kind.is_infiniband), None)
        front = next((kind for kind in kinds if not kind.is_infiniband), None)
        if up is None or front is None:
            listed = ", ".join(dict.fromkeys(kind.id for kind in kinds)) or "none"
            problem = f"a gateway has InfiniBand and Ethernet ports; the kinds of this one are: {listed}"
            raise RequestError(f"{self.place}: {problem}; import it as a switch")
        facts = {}
        for side, kind in (("uplink", up), ("front_end", front)):
            facts[f"{side}_kind"] = self._fact(kind.id, "interfaces", "derived", "From the types of the ports.")
            note = "Data rate of one such link."
            facts[f"{side}_bytes_per_s"] = self._fact(kind.bytes_per_s, "interfaces", "derived", note)
        return facts


def _span(names: list[str]) -> str:
    """Names in short: the first and the last where there are more than two."""
    return ", ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"


def _use(interface: Interface) -> PortUse:
    if _CONTROLLER.search(interface.name) or _CONTROLLER.search(interface.label):
        return "bmc"
    return "management" if interface.mgmt_only else "any"


def _remaining(draws: list[int | None]) -> int | None:
    """Draw of the inlets that remain when the largest is lost; of the only one, where there is one. [W]"""
    known = [draw for draw in draws if draw is not None]
    if len(known) < len(draws):
        return None
    return known[0] if len(known) == 1 else sum(known) - max(known)
