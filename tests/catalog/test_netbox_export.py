"""The building plan as import files of NetBox, read back."""

import csv
import io
import zipfile
from collections import Counter
from functools import cache

import pytest
import yaml

from sizer.catalog.netbox.importer import read_device_type
from sizer.export.netbox import netbox_files, netbox_zip
from tests.factories.plans import CATALOG, answer, cables, every_design, sheets

pytestmark = pytest.mark.xdist_group("plans")  # one worker lays them out

CABLE_TYPES = {"dac-passive", "aoc", "cat6", "mmf", "power"}


@cache
def netbox(name):
    """NetBox files by what they hold, parsed."""
    found = {}
    for file, data in netbox_files(answer(name), CATALOG).items():
        key = file.split("-", 2)[2].rpartition(".")[0]
        text = data.decode("utf-8")
        if file.endswith(".csv"):
            found[key] = list(csv.DictReader(io.StringIO(text, newline="")))
        elif file.endswith(".yaml"):
            types = list(yaml.safe_load_all(text))
            found[key] = {(one["manufacturer"], one["model"]): one for one in types}
            assert len(found[key]) == len(types), "two device types of one name"
    return found


@every_design
def test_netbox_files_refer_to_each_other(name):
    files = netbox(name)
    devices = {row["name"]: row for row in files["devices"]}
    assert len(devices) == len(files["devices"])
    (site,) = files["sites"]
    racks = {row["name"] for row in files["racks"]}
    assert len(racks) == len(files["racks"])
    roles = {row["name"] for row in files["device-roles"]}
    makers = {row["name"] for row in files["manufacturers"]}
    assert {row["site"] for row in files["racks"] + files["devices"]} == {site["name"]}
    for row in devices.values():
        assert (row["manufacturer"], row["device_type"]) in files["device-types"]
        assert row["role"] in roles
        assert row["manufacturer"] in makers
        assert row["rack"] in racks
        assert row["status"] in ("planned", "active")
    for row in files["sites"] + files["manufacturers"] + files["device-roles"]:
        assert row["slug"]
        assert set(row["slug"]) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@every_design
def test_netbox_cables_end_at_ports_that_their_device_types_have(name):
    files = netbox(name)
    types = {row["name"]: files["device-types"][row["manufacturer"], row["device_type"]] for row in files["devices"]}
    lists = {"dcim.interface": "interfaces", "dcim.powerport": "power-ports", "dcim.poweroutlet": "power-outlets"}
    ends = Counter()
    for row in files["cables"] + files["power-cords"]:
        assert row["type"] in CABLE_TYPES
        assert row["status"] == "planned"
        for side in ("a", "b"):
            device, kind, port = (row[f"side_{side}_{key}"] for key in ("device", "type", "name"))
            assert port in [one["name"] for one in types[device][lists[kind]]]
            ends[device, kind, port] += 1
    assert set(ends.values()) <= {1}
    inside = [row for row in cables(name) if row["A-Node Name"] != "customer LAN"]
    assert len(files["cables"]) == len(inside)
    powered = [row for row in sheets(name)["Power"] if row["PDU"]]
    assert len(files["power-cords"]) == len(powered)


@every_design
def test_netbox_names_the_ends_as_the_cable_list_does(name):
    listed = {
        row["Cable"]: (row["A-Node Name"], row["A-Port"], row["Z-Node Name"], row["Z-Port"]) for row in cables(name)
    }
    for row in netbox(name)["cables"]:
        ends = tuple(row[key] for key in ("side_a_device", "side_a_name", "side_b_device", "side_b_name"))
        assert ends == listed[row["label"]]


@every_design
def test_netbox_devices_do_not_overlap_and_fit_their_rack(name):
    files = netbox(name)
    heights = {row["name"]: int(row["u_height"]) for row in files["racks"]}
    taken = Counter()
    for row in files["devices"]:
        kind = files["device-types"][row["manufacturer"], row["device_type"]]
        if row["position"]:
            first = int(row["position"])
            units = range(first, first + int(kind["u_height"]))
            assert row["face"] == "front"
            assert units[-1] <= heights[row["rack"]]
            taken.update((row["rack"], unit) for unit in units)
        else:
            assert kind["u_height"] == 0
    assert set(taken.values()) <= {1}


@every_design
def test_netbox_device_types_read_as_files_of_the_library(name):
    text = netbox_files(answer(name), CATALOG)["netbox-4-device-types.yaml"].decode()
    for document in text.split("---\n")[1:]:
        device, remarks = read_device_type(document, "file")
        assert not remarks
        assert device.model.endswith(" (plan)")


def test_the_zip_holds_the_files_in_the_order_of_import():
    with zipfile.ZipFile(io.BytesIO(netbox_zip(answer("dell"), CATALOG))) as archive:
        assert archive.testzip() is None
        # The clock is not read.
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        names = archive.namelist()
        assert names == sorted(names)
        assert {name: archive.read(name) for name in names} == netbox_files(answer("dell"), CATALOG)


def test_netbox_names_keep_to_their_length_and_stay_apart():
    files = netbox("hostile")
    (site,) = files["sites"]
    assert site["name"].startswith("'@SUM(1)")
    assert len(site["name"]) == 100
    names = [row["name"] for row in files["racks"]]
    assert {"A", "A (2)", "R01", "R02"} <= set(names)
    assert len({name.casefold() for name in names}) == len(names)
