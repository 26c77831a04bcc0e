"""Device types of NetBox: what a file of the community library may say, as far as the catalogue or a check reads it."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sizer.base.errors import MAX_FAULTS, RequestError
from sizer.base.faults import in_words, nearest, shown
from sizer.base.formats.yaml_text import YamlText, read_yaml
from sizer.catalog.links import LinkType

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
    return next((one for one in links.values() if not one.is_infiniband and one.gbit_per_s.value == rate), None)


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
