"""Files of the building plan, read back: cable list, power list, racks, facility, design document."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest

from sizer.base.formats.json_document import json_text
from sizer.bom.bill import Sum
from sizer.bom.ownership import Footprint
from sizer.export.design_json import design_document
from sizer.export.files import FORMULA_STARTS
from sizer.export.netbox import netbox_files
from sizer.export.tables.plan_tables import cables_csv, plan_sheets
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.result import PlannedYear
from tests.factories.plans import CATALOG, answer, cables, every_design, sheets

pytestmark = pytest.mark.xdist_group("plans")  # one worker lays them out

# --- growth


def test_a_workbook_grows_by_the_plan_of_the_request():
    """Nine servers, and two more in the second year; sizes that the plan never buys are in no file."""
    bought = (Sum(Decimal(0)), Footprint(0.0))
    years = (PlannedYear(1, 9, 9, 4, None, *bought), PlannedYear(2, 2, 11, 4, None, *bought))
    result = replace(answer("dell"), planned_years=years)
    for told in (result, customer_copy(result)):
        *_, sheet = plan_sheets(told, CATALOG)
        assert [row[:4] for row in sheet.rows] == [(1, 9, 9, 4), (2, 2, 11, 4)]


# --- cable list


def test_the_dell_design_has_the_links_of_the_guide():
    """Architecture guide: three FDR links carry four 40 GbE ports; two internal networks, one port of each node."""
    got = Counter((row["Network"].split(",")[0], row["Speed"]) for row in cables("dell"))
    assert got == {
        ("compute fabric", "EDR InfiniBand"): 4 + 1,  # C4140 and the head node
        ("compute fabric", "FDR InfiniBand"): 3,
        ("storage front end", "40 GbE"): 4,
        ("storage back end", "40 GbE"): 8,
        # Host port and BMC of five servers; by assumption four storage nodes, four switches and two PDUs.
        ("management", "1 GbE"): 10 + 4 + 4 + 2,
    }


@every_design
def test_as_many_cables_as_the_plan_joins_and_the_bill_buys(name):
    result = answer(name)
    rows = cables(name)
    assert len(rows) == len({row["Cable"] for row in rows}) == result.design.plan.n_links
    # A link takes one cable, or a transceiver at each end and a fibre.
    pieces = sum(3 if "transceiver" in row["Medium"] else 1 for row in rows)
    assert pieces == sum(line.quantity for line in result.design.bill.lines if line.category == "cable and optic")


@every_design
def test_no_port_takes_two_cables(name):
    ends = Counter((row[f"{side}-Node Name"], row[f"{side}-Port"]) for row in cables(name) for side in ("A", "Z"))
    assert set(ends.values()) <= {1}


@every_design
def test_both_ends_stand_where_the_elevation_has_them(name):
    places = {row["Device"]: (row["Rack"], str(row["Lowest U"])) for row in sheets(name)["Elevations"]}
    for row in cables(name):
        for side in ("A", "Z"):
            node = row[f"{side}-Node Name"]
            if node == "customer LAN":
                assert (row["A-Rack"], row["A-U"]) == ("", "")
                assert "by others" in row["Note"]
            else:
                rack = row[f"{side}-Rack"].removeprefix("'")  # before what a spreadsheet would calculate
                # A PDU stands upright beside the units, and is named by its rack.
                of_pdu = rack, "" if node.startswith(f"{rack}-") else None
                assert (rack, row[f"{side}-U"]) == places.get(node, of_pdu)


@every_design
def test_labels_name_both_ends_and_no_cable_is_shorter_than_its_way(name):
    for row in cables(name):
        ends = [f"{row[f'{side}-Node Name']}:{row[f'{side}-Port']}" for side in ("A", "Z")]
        assert row["A label"].split(" / ") == ends
        assert row["Z label"].split(" / ") == ends[::-1]
        assert float(row["Routed length with slack (m)"]) <= float(row["Cable length (m)"])


# --- power, racks, facility


def inlets_of(name):
    """Inlets of everything that is there from the start, by the catalogue."""
    total = Counter()
    for device in answer(name).design.plan.devices:
        inlets = CATALOG.device(device.item).power_inlets
        if inlets is not None:
            total[device.name] = inlets.value
    return total


@every_design
def test_every_inlet_and_every_outlet_stand_once_in_the_power_list(name):
    rows = sheets(name)["Power"]
    assert Counter(row["Device"] for row in rows if row["Inlet"]) == inlets_of(name)
    assert len({(row["Device"], row["Inlet"]) for row in rows}) == len(rows)
    outlets = [(row["PDU"], row["Outlet kind"], row["Outlet"]) for row in rows if row["PDU"]]
    assert len(set(outlets)) == len(outlets)


@every_design
def test_one_side_carries_the_rack(name):
    watts = Counter()
    for row in sheets(name)["Power"]:
        for side in (row["Side"] or "").split(" and "):  # without known inlets a device loads both
            watts[row["Rack"], side] += row["Draw, another side lost (W)"] or 0
    for rack in sheets(name)["Racks"]:
        for side in ("A", "B"):
            if rack["Kind"] == "new":
                assert rack[f"{side} after a loss (W)"] == pytest.approx(watts[rack["Rack"], side], abs=1)
                assert rack[f"{side} after a loss (W)"] <= rack[f"{side} capacity (W)"]


@every_design
def test_rack_units_add_up(name):
    panels = pdus = 0
    for rack in sheets(name)["Racks"]:
        if rack["Kind"] == "new":
            assert rack["Used (U)"] + rack["Empty (U)"] == rack["Height (U)"]
            assert rack["Blanking panels"] == rack["Empty (U)"]
            panels += rack["Blanking panels"]
            pdus += rack["PDUs"]
    bought = {line.item: line.quantity for line in answer(name).design.bill.lines}
    assert panels == bought.get("blanking-panel-1u", 0)
    assert pdus == bought.get("ap8886", 0)


@every_design
def test_an_elevation_fills_its_rack_from_top_to_bottom(name):
    racks = {row["Rack"]: row for row in sheets(name)["Racks"]}
    for rack, facts in racks.items():
        rows = [row for row in sheets(name)["Elevations"] if row["Rack"] == rack]
        for upper, lower in pairwise(rows):
            assert lower["Highest U"] < upper["Lowest U"]
        assert all(row["Highest U"] - row["Lowest U"] + 1 == row["Height (U)"] for row in rows)
        if facts["Kind"] == "new":
            assert sum(row["Height (U)"] for row in rows) == facts["Height (U)"]


def test_rack_of_the_dell_design():
    """By hand from the data sheets; the S3048-ON has no published draw, 150 W are assumed."""
    max_w = 4 * 2000 + 1100 + 1764 + 460 + 231 + 2 * 635 + 150
    kg = 4 * 22.225 + 33.1 + 77 + 11.0 + 11.1 + 2 * 11.1 + 11.1 + 134.09
    (rack,) = sheets("dell")["Racks"]
    assert (rack["Maximum (W)"], rack["Heat (BTU/h)"]) == (max_w, round(max_w * 3.412142))
    assert (rack["Weight (kg)"], rack["Used (U)"]) == (round(kg, 1), 4 + 2 + 4 + 5)
    # A cabinet of 0.6 m x 1.2 m stands on two tiles.
    assert rack["Per floor tile (kg)"] == round(kg / 2, 1)
    assert rack["Weight basis"] == "known"
    assert rack["Power basis"] == "known"


# --- documents


# --- hostile names


def test_nothing_that_a_user_typed_is_calculated_or_steers_a_terminal():
    files = {**netbox_files(answer("hostile"), CATALOG), "cables.csv": cables_csv(answer("hostile"), CATALOG)}
    for name, data in files.items():
        text = data.decode("utf-8-sig")
        assert not any(ord(char) < 32 and char not in "\r\n" for char in text), name
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(text, newline="")):
                assert not any(cell.startswith(FORMULA_STARTS) for cell in row), row


# --- the same again


@every_design
def test_the_design_document_places_every_device_and_counts_every_link(name):
    plan = json.loads(json_text(design_document(answer(name))))["plan"]
    found = {}
    for rack in plan["racks"]:
        for group in rack["devices"]:
            for device, unit in group["units"].items():
                found[device] = (rack["name"], unit, group["item"], group["status"])
    laid = answer(name).design.plan
    assert found == {one.name: (laid.racks[one.rack].name, one.unit, one.item, one.status) for one in laid.devices}
    assert plan["links"] == Counter(row["Network"] for row in cables(name))
    bought = Counter()
    for line in answer(name).design.bill.lines:
        if line.category == "cable and optic":
            bought[line.item] += line.quantity
    assert plan["cable_items"] == bought
