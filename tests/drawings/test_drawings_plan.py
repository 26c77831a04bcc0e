"""Drawings of the building plan against the plan: every device once, every cable once, no text outside its box."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from sizer.drawings.cluster import CUSTOMER_LAN, GROUPS
from sizer.drawings.palette import COLUMN_PX, LANDSCAPE_PX
from sizer.drawings.racks import UNIT_PX, main_role, rack_fronts, rack_kinds
from sizer.drawings.room import room
from sizer.drawings.shapes import Box, Drawing, box_labels, glyph_label, glyphs, text_area, wrapped
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.physical.networks.links import ZERO_U
from sizer.physical.roles import Role
from sizer.present.facility_tables import cables_table, facility_table, racks_table
from sizer.sizing.project import project
from sizer.sizing.result import DesignAnswer
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog as shipped_catalog
from tests.factories.examples import sized

# Smallest type of a drawing as wide as its page. [pt] A pixel is three quarters of a point.
MIN_TYPE_PT, PT_PER_PX = 7.0, 0.75
SIZES = {1: 4, 4: 4, 16: 8, 17: 8, 128: 32, 1000: 120}  # DGX-1 -> F800 nodes
EXISTING = {
    "racks": [
        {"name": "Hall 2 / A07", "free_u": 12, "first_free_u": 20, "power_w": "9 kW"},
        {"name": "A08", "free_u": 20, "power_w": "12 kW"},
    ]
}


@cache
def dgx1(servers: int) -> DesignAnswer:
    """So many DGX-1 with F800 nodes."""
    return asked(servers, SIZES[servers])


def asked(servers: int, nodes: int, server: str = "dgx-1", storage: str = "isilon-f800", **more: Any) -> DesignAnswer:
    """A given cluster; ``more`` are further tables of the request, and its fabric."""
    kind = more.pop("kind", None)
    request = {"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}], **more}
    return project(
        SizingRequest.from_dict(request),
        shipped_catalog(),
        server=server,
        servers=servers,
        storage=storage,
        storage_nodes=nodes,
        fabric=kind,
    )


def others() -> dict[str, DesignAnswer]:
    """Clusters with every kind of part and of network."""
    return {
        "existing racks": asked(6, 8, existing=EXISTING, fabric={"spare_servers": 3}),
        "rails": asked(4, 4, fabric={"rails_apart": True}),
        "many rails": asked(40, 12, fabric={"rails_apart": True}),
        "director": asked(12, 8, fabric={"directors": True}),
        "many directors": asked(100, 32, fabric={"directors": True}),
        "Ethernet": asked(9, 8, kind="100gbe"),
        "spine": asked(14, 8, "v225g", kind="10gbe"),
        "large spine": asked(30, 8, "v225g", kind="10gbe"),
        "own network": asked(8, 4, "dgx-2", "netapp-a800"),
        "large own network": asked(30, 4, "v225g", "hnas"),
        "storage servers": asked(4, 6, "apollo-6500", "wekaio"),
        "large back end": asked(16, 40),
        "high racks": asked(12, 8, site={"rack": "ar3357"}, limits={"rack_power_w": "30 kW"}),
        "long rows": asked(128, 32, site={"racks_per_row": 20}),
        "local": asked(8, 0, storage="dgx1-ssd"),
        "files of the head node": asked(8, 0, storage="head-node-nfs"),
        "LAN": asked(10, 0, storage="nfs-generic", kind="100gbe"),
        "ports of the servers": asked(20, 0, storage="nfs-generic", kind="edr"),
        "few servers at a LAN": asked(10, 0, storage="nfs-generic", kind="edr"),
        "one server at a LAN": asked(1, 0, storage="nfs-generic", kind="edr"),
    }


@pytest.fixture(scope="module")
def designs() -> dict[str, DesignAnswer]:
    """All of them."""
    return {f"{servers} servers": dgx1(servers) for servers in SIZES} | others()


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share more than their outline."""
    apart_x = one.right <= other.x + 0.01 or other.right <= one.x + 0.01
    apart_y = one.bottom <= other.y + 0.01 or other.bottom <= one.y + 0.01
    return not apart_x and not apart_y


def assert_sound(drawing: Drawing, name: str) -> None:
    """Boxes stand apart and inside, text stays inside its box or the page and is large enough, links have ends."""
    assert_inside(drawing, name)
    labels = [*drawing.labels, *(label for link in drawing.links for label in link.labels)]
    labels += [label for box in drawing.boxes for label in box_labels(box)]
    labels += [glyph_label(box, part) for box in drawing.boxes if box.glyph_name for part in glyphs(box)]
    assert min(label.size for label in labels) * PT_PER_PX >= MIN_TYPE_PT, name


def assert_inside(drawing: Drawing, name: str) -> None:
    """Boxes stand apart and inside, text stays inside its box or the page, links have ends."""
    ids = [box.id for box in drawing.boxes]
    assert len(set(ids)) == len(ids), name
    for one, other in combinations(sorted(drawing.boxes, key=lambda box: box.y)[:120], 2):
        assert not overlap(one, other), (name, one.id, other.id)
    for box in drawing.boxes:
        assert box.x >= 0, (name, box.id)
        assert box.y >= 0, (name, box.id)
        assert box.right <= drawing.width + 0.01, (name, box.id)
        assert box.bottom <= drawing.height + 0.01, (name, box.id)
        for label in box_labels(box):
            area = text_area(label)
            assert area.x >= box.x, (name, label.text)
            assert area.x + area.width <= box.right + 0.01, (name, label.text)
            assert area.y >= box.y - 0.5, (name, label.text)
            assert area.y + area.height <= box.bottom + 0.5, (name, label.text)
            assert "…" not in label.text, (name, label.text)
    loose = [*drawing.labels, *(label for link in drawing.links for label in link.labels)]
    for label in loose:
        area = text_area(label)
        assert area.x >= -0.01, (name, label.text)
        assert area.x + area.width <= drawing.width + 0.01, (name, label.text)
        assert area.y + area.height <= drawing.height + 1, (name, label.text)
        assert "…" not in label.text, (name, label.text)
    assert drawing.width in (COLUMN_PX, LANDSCAPE_PX), name
    for link in drawing.links:
        assert {link.source, link.target} <= set(ids), (name, link.id)
    assert "nan" not in write_svg(drawing)


def assert_texts_stand_apart(drawing: Drawing, name: str) -> None:
    """No loose text lies on another one or on a box."""
    loose = [*drawing.labels, *(label for link in drawing.links for label in link.labels)]
    areas = [(label.text, text_area(label)) for label in loose]
    for (text, one), (said, other) in combinations(areas, 2):
        # Capitals and digits fill three fifths of the line: that much must not meet.
        apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
        apart_y = abs(one.y - other.y) >= 0.6 * min(one.height, other.height)
        assert apart_x or apart_y, (name, text, said)


# --- racks from the front


def test_every_device_stands_once_in_the_fronts_at_its_units(designs):
    for name, design in designs.items():
        plan = design.plan
        fronts = rack_fronts(plan, shipped_catalog())
        drawn = {box.id: box for drawing in fronts for box in drawing.boxes}
        assert sum(len(drawing.boxes) for drawing in fronts) == len(drawn)
        kinds = rack_kinds(plan.racks) if len(plan.racks) > 8 else [rack_kinds([rack])[0] for rack in plan.racks]
        assert sum(len(kind.racks) for kind in kinds) == len(plan.racks)
        shown = Counter[str]()
        for kind in kinds:
            for device in kind.first.devices:
                box = drawn.pop(device.name if len(kind.racks) == 1 else f"{kind.names}: {device.name}")
                shown[device.item] += len(kind.racks)
                # U1 is the lowest: its lower edge stands on the frame, 2 px above the end of the rack.
                lowest = max(one.bottom for one in fronts[0].boxes)
                assert box.height == pytest.approx(device.height_u * UNIT_PX)
                assert (lowest - box.bottom) / UNIT_PX + 1 == pytest.approx(device.unit, abs=0.01), (name, device.name)
        assert shown == Counter(device.item for device in plan.devices), name
        # What is left are free units, and no rack has more of them than its plan.
        assert all(" U" in id_ for id_ in drawn), name


def test_fronts_are_sound(designs):
    for name, design in designs.items():
        for drawing in rack_fronts(design.plan, shipped_catalog()):
            assert_sound(drawing, name)
            assert_texts_stand_apart(drawing, name)
            # What a landscape page of A4 with its margins has left for a drawing.
            assert drawing.height <= 623 or drawing.width == COLUMN_PX, name


# --- the room


def test_the_room_holds_every_rack_in_its_place(designs):
    for name, design in designs.items():
        plan, drawing = design.plan, room(design.plan)
        assert_sound(drawing, name)
        assert [box.id for box in drawing.boxes] == [rack.name for rack in plan.racks]
        by_row: dict[float, list[tuple[float, int]]] = {}
        for box, rack in zip(drawing.boxes, plan.racks, strict=True):
            by_row.setdefault(box.y, []).append((box.x, rack.column))
            assert box.role == main_role(rack)
        assert len(by_row) == len({rack.row for rack in plan.racks})
        for places in by_row.values():
            assert [column for _, column in sorted(places)] == sorted(column for _, column in places)


def test_a_room_of_two_hundred_racks_still_names_them():
    drawing = room(dgx1(1000).plan)
    assert len(drawing.boxes) > 200
    assert all(box.title for box in drawing.boxes)
    assert drawing.height <= 718  # 190 mm


# --- topology


def test_topology_has_every_cable_once_but_those_of_pdus(designs):
    for name, design in designs.items():
        drawing = topology(design)
        of_pdus = sum(int((cable.run.a_device == ZERO_U).sum()) for cable in design.plan.cables)
        assert sum(link.count for link in drawing.links) == design.plan.n_links - of_pdus, name
        assert_sound(drawing, name)
        assert_texts_stand_apart(drawing, name)


def test_topology_shows_each_kind_with_its_number(designs):
    for name, design in designs.items():
        present = design.plan.devices
        counts = Counter(GROUPS[device.role] for device in present)
        drawn = {box.id: box.copies for box in topology(design).boxes if box.id != CUSTOMER_LAN}
        names = {device.role: device.name for device in present}
        wanted = {
            group if count > 1 else next(names[role] for role in names if GROUPS[role] == group): count
            for group, count in counts.items()
        }
        assert drawn == wanted, name


# --- tables


def test_tables_add_up(designs):
    for name, design in designs.items():
        plan = design.plan
        cables = cables_table(plan, shipped_catalog())
        if cables is None:
            assert plan.n_links == 0
        else:
            numbers = [number(row.cells[-1].text) for row in cables.rows if row.kind == ""]
            assert sum(numbers) == plan.n_links == number(cables.rows[-1].cells[-1].text), name
        table = racks_table(plan)
        if len(plan.racks) > 1:
            total = table.rows[-1]
            used, free = total.cells[2].text.split(", ")
            assert number(used) == sum(device.height_u for rack in plan.racks for device in rack.devices)
            assert number(free) == sum(len(rack.empty_units) for rack in plan.racks)
            assert number(total.cells[6].text) == pytest.approx(sum(rack.weight_kg for rack in plan.racks), abs=0.51)


def number(text: str) -> float:
    """'at least 15 429' as 15429."""
    return float(text.removeprefix("at least ").replace("\u202f", ""))


def test_load_on_a_floor_tile_by_hand():
    """AR3300: 600 mm by 1,200 mm are two tiles of 600 mm, so a tile carries half of the rack."""
    plan = dgx1(4).plan
    for rack in plan.racks:
        assert plan.floor_tile_kg(rack) == pytest.approx(rack.weight_kg / 2)


def test_power_and_cooling_by_hand():
    """A DGX-1 of at most 3.5 kW, typically halfway between that and 8 x 300 W + 2 x 135 W; 3.412 142 BTU/h a W."""
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": ["dgx-1"], "storage": ["dgx1-ssd"]},
            "site": {"pue_ratio": 1.5},
        }
    )
    result = size(request, shipped_catalog())
    rows = {row.cells[0].text: row.cells[1].text.replace("\u202f", " ") for row in facility_rows(result)}
    assert result.design.n_servers == 1
    assert rows["Maximum draw"].startswith("3.50 kW")
    assert rows["Maximum heat"] == "11 900 BTU/h"  # three digits
    assert rows["Energy per year"] == "40.5 MWh, PUE 1.5"  # (3.5 + 2.67) / 2 kW x 8,760 h x 1.5 = 40.54 MWh


def facility_rows(result: Any) -> Sequence[Any]:
    """Rows of the table on power, cooling and weight."""
    return facility_table(result, shipped_catalog()).rows


def test_text_breaks_at_spaces_and_not_between_a_number_and_its_unit():
    assert wrapped("about 90\u202f% of it", 10, 40) == ("about", "90\u202f% of", "it")


def test_links_of_each_leaf_are_those_of_the_cable_list():
    """Leaves of the servers have more uplinks than those of one appliance: no average stands at their line."""
    design = sized("llama-70b-dgx-h100").design
    devices = design.plan.devices
    up = Counter(
        int(a)
        for cable in design.plan.cables
        for a, b in zip(cable.run.a_device, cable.run.b_device, strict=True)
        if devices[b].role is Role.STORAGE_SPINE
    )
    of_each = sorted(up.values())
    assert of_each[0] < of_each[-1]
    texts = [label.text for link in topology(design).links for label in link.labels]
    assert any(f"{of_each[0]} to {of_each[-1]} up from each" in text for text in texts), texts
