"""Export of NetBox device types from items of the catalogue."""

import re

import pytest

from sizer.base.formats.yaml_text import read_yaml
from sizer.catalog.links import LinkType
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.netbox.export import device_type_yaml
from sizer.catalog.netbox.importer import Folder
from sizer.catalog.schema import PortUse, Server, Storage, Switch
from tests.catalog.netbox_samples import ports, table
from tests.factories.rows import every

Named = tuple[str, LinkType, PortUse]


def named_ports(item: Server | Storage | Switch) -> list[Named]:
    """Ports with names of their own, as a plan would give them."""
    return [
        ("BMC" if port.use == "bmc" else f"{port.kind.id} {group}/{number}", port.kind, port.use)
        for group, port in enumerate(item.ports, 1)
        for number in range(1, port.count + 1)
    ]


DEVICES = [
    item for _, item in shipped_catalog().items() if isinstance(item, Server | Switch) and item.height_u is not None
]
REQUIRED = {"manufacturer", "model", "slug", "u_height", "is_full_depth"}
OPTIONAL = {"part_number", "description", "airflow", "weight", "weight_unit", "power-ports", "interfaces"}


@every(DEVICES, lambda item: item.id)
def test_a_device_of_the_catalogue_follows_the_schema_of_the_library(item):
    data = read_yaml(device_type_yaml(item, named_ports(item)), "out").data
    assert set(data) >= REQUIRED
    assert set(data) <= REQUIRED | OPTIONAL
    assert re.fullmatch(r"[-a-z0-9_]{1,100}", data["slug"])
    assert data["u_height"] % 0.5 == 0
    assert ("weight" in data) == ("weight_unit" in data)
    assert len(data.get("part_number", "")) <= 50
    assert len(data.get("description", "")) <= 200
    for port in data.get("interfaces", ()):
        assert set(port) <= {"name", "type", "mgmt_only"}
        assert len(port["name"]) <= 64
    for port in data.get("power-ports", ()):
        assert set(port) <= {"name", "type", "maximum_draw", "allocated_draw"}
        assert all(isinstance(port[key], int) and port[key] >= 1 for key in port if key.endswith("draw"))


@every(DEVICES, lambda item: item.id)
def test_exported_and_imported_again_a_device_has_the_same_facts(item):
    folder: Folder = "servers" if isinstance(item, Server) else "switches"
    data = table(device_type_yaml(item, named_ports(item)), folder)
    assert (data["name"], data["vendor"]) == (item.name, item.vendor)
    assert data["height_u"]["value"] == item.height_u.value
    if item.weight_kg is not None:
        assert data["weight_kg"]["value"] == pytest.approx(
            item.weight_kg.value, abs=0.005
        )  # the library's step is 0.01
    for field in ("power_inlets", "inlet_kind"):
        assert data[field]["value"] == getattr(getattr(item, field).value, "id", getattr(item, field).value)
    most = item.power_max_w or item.power_high_w
    assert data.get("power_high_w", {}).get("value") == (None if most is None else most.value)
    typical = item.power_typical_w
    if most is not None:
        assert data.get("power_typical_w", {}).get("value") == (None if typical is None else typical.value)
    counts: dict[tuple[str, str], int] = {}
    for port in item.ports:
        use = port.use if port.use in ("management", "bmc") else "any"
        counts[port.kind.id, use] = counts.get((port.kind.id, use), 0) + port.count
    assert {(kind, use): count for kind, count, use in ports(data)} == counts


def test_texts_that_look_like_numbers_are_quoted():
    item = DEVICES[0].model_copy(update={"name": "1e3", "description": "012: x", "vendor": "no"})
    link = shipped_catalog().links["1gbe"]
    text = device_type_yaml(item, [("1e3", link, "any"), ("null", link, "any"), ("0o7", link, "any")])
    data = read_yaml(text, "out").data
    assert (data["model"], data["description"], data["manufacturer"]) == ("1e3", "012: x", "no")
    assert [port["name"] for port in data["interfaces"]] == ["1e3", "null", "0o7"]
