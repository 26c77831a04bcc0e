"""Node against facts counted by hand: GPUs, links and ports; gaps in them are said."""

from dataclasses import replace
from functools import cache

import pytest

from sizer.catalog.sale import era_of
from sizer.drawings.node import node, node_caption
from sizer.drawings.shapes import Drawing, box_labels, text_area
from sizer.sizing.result import DesignAnswer
from tests import factories
from tests.drawings.test_drawings_plan import asked, assert_sound, assert_texts_stand_apart
from tests.factories.examples import catalog as shipped_catalog
from tests.factories.examples import sized

# Two fours, each fully connected, and one pair between partners: the hybrid cube mesh, written out by hand.
MESH = {
    *((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
    *((4, 5), (4, 6), (4, 7), (5, 6), (5, 7), (6, 7)),
    *((0, 4), (1, 5), (2, 6), (3, 7)),
}
FOUR = {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}


@cache
def built(server: str, servers: int, storage: str = "isilon-f800", nodes: int = 4, fabric: str = "") -> DesignAnswer:
    """A given cluster."""
    return asked(servers, nodes, server, storage, **({"kind": fabric} if fabric else {}))


def with_gpus(design: DesignAnswer, count: int) -> DesignAnswer:
    """The same with another number of GPUs in each server."""
    platform = replace(design.platform, gpus_per_server=count)
    return replace(design, platform=platform, n_gpus=count * design.n_servers)


def all_designs() -> dict[str, DesignAnswer]:
    """Every server of the catalogue, both ends of the size, and two tiers of storage."""
    found = {"two tiers": sized("driving-two-tiers").design}
    servers = [item.id for item in shipped_catalog().servers.values() if item.role == "gpu"]
    older = [name for name in servers if era_of(shipped_catalog(), shipped_catalog().servers[name]) == "v100"]
    # JUPITER's node has InfiniBand alone.
    storage = dict.fromkeys(servers, "powerscale-f710") | {"bullsequana-gh200": "ai400x2"}
    found |= {name: built(name, 2) if name in older else built(name, 2, storage[name]) for name in servers}
    found |= {
        "one GPU": with_gpus(built("c4140-pcie", 1), 1),
        "two GPUs": with_gpus(built("c4140", 1), 2),
        "ten GPUs": with_gpus(built("dss-8440", 2), 10),
        "two hundred": built("dgx-1", 200, "isilon-f800", 40),
        "local": built("dgx-1", 1, "dgx1-ssd", 0),
        "head node": built("c4140", 8, "head-node-nfs", 0),
        "LAN": built("dgx-1", 10, "nfs-generic", 0, "edr"),
        "own network": built("dgx-2", 8, "netapp-a800", 4),
    }
    return found | {name: make().design for name, make in factories.ALL.items()}


@pytest.fixture(scope="module")
def designs() -> dict[str, DesignAnswer]:
    """All of them."""
    return all_designs()


@pytest.fixture(scope="module")
def drawn(designs) -> list[tuple[str, str, Drawing]]:
    """Name of the design, kind and drawing, of all."""
    return [(name, kind, one) for name, design in designs.items() for kind, one in drawings(design).items()]


def drawings(design: DesignAnswer) -> dict[str, Drawing]:
    """That of a design."""
    return {"node": node(design)}


def pairs(drawing: Drawing) -> list[tuple[int, int]]:
    """Numbers of GPUs that a link joins directly."""
    found = []
    for link in drawing.links:
        ends = [end.removeprefix("gpu-") for end in (link.source, link.target)]
        if all(end.isdecimal() for end in ends):
            low, high = sorted(map(int, ends))
            found.append((low, high))
    return found


def gpus(drawing: Drawing) -> list[str]:
    return [box.id for box in drawing.boxes if box.id.startswith("gpu-")]


def said(drawing: Drawing) -> str:
    """All text of a drawing with plain spaces."""
    inside = [label.text for box in drawing.boxes for label in box_labels(box)]
    loose = [label.text for label in drawing.labels]
    return " ".join([drawing.title, *inside, *loose]).replace("\u202f", " ").replace("\u00a0", " ")


# --- every design


def test_drawings_are_sound(drawn):
    for name, kind, drawing in drawn:
        assert_sound(drawing, f"{name}, {kind}")
        assert_texts_stand_apart(drawing, f"{name}, {kind}")


def test_loose_text_stands_beside_the_boxes(drawn):
    for name, kind, drawing in drawn:
        for label in drawing.labels:
            area = text_area(label)
            for box in drawing.boxes:
                apart_x = area.x + area.width <= box.x or area.x >= box.right
                apart_y = area.y + 0.8 * area.height <= box.y or area.y + 0.2 * area.height >= box.bottom
                assert apart_x or apart_y, (name, kind, label.text, box.id)


def test_links_end_at_the_edges_of_their_boxes(drawn):
    for name, kind, drawing in drawn:
        boxes = {box.id: box for box in drawing.boxes}
        assert len({link.id for link in drawing.links}) == len(drawing.links), (name, kind)
        for link in drawing.links:
            for box, (x, y) in ((boxes[link.source], link.points[0]), (boxes[link.target], link.points[-1])):
                assert box.x - 1.5 <= x <= box.right + 1.5, (name, kind, link.id)
                assert box.y - 1.5 <= y <= box.bottom + 1.5, (name, kind, link.id)
                inside = box.x + 2 < x < box.right - 2 and box.y + 2 < y < box.bottom - 2
                assert not inside, (name, kind, link.id)


def test_no_link_runs_below_a_gpu_of_the_mesh():
    """Links are drawn under the boxes: one that crossed a box would seem to end there."""
    for design in (built("dgx-1", 2), built("c4140", 2)):
        drawing = node(design)
        boxes = [box for box in drawing.boxes if box.id.startswith("gpu-")]
        for link in drawing.links:
            for (x0, y0), (x1, y1) in zip(link.points, link.points[1:], strict=False):
                for box in boxes:
                    if box.id in (link.source, link.target):
                        continue
                    steps = [(x0 + (x1 - x0) * n / 50, y0 + (y1 - y0) * n / 50) for n in range(51)]
                    hit = any(box.x < x < box.right and box.y < y < box.bottom for x, y in steps)
                    assert not hit, (link.id, box.id)


# --- the node


@pytest.mark.parametrize(
    ("server", "count"),
    [("dgx-1", 8), ("c4140", 4), ("c4140-pcie", 4), ("dgx-2", 16), ("dgx-2h", 16), ("apollo-6500", 8), ("v225g", 4)],
)
def test_every_gpu_is_drawn_once_and_hangs_on_pcie(server, count):
    drawing = node(built(server, 2))
    assert len(gpus(drawing)) == len(set(gpus(drawing))) == count
    source = "pcie-switch" if server == "c4140-pcie" else "pcie"
    reached = [link.target for link in drawing.links if link.source == source and link.target.startswith("gpu-")]
    assert sorted(reached) == sorted(gpus(drawing))


def test_the_mesh_of_a_dgx_1_has_sixteen_pairs_four_at_each_gpu():
    """Hybrid cube mesh (dell-isilon-dgx1-blog-2018, runai-dgx); six links a GPU (zhihu-nvlink): 8 x 6 / 2 = 24."""
    drawing = node(built("dgx-1", 9))
    found = pairs(drawing)
    assert len(found) == 16
    assert set(found) == MESH
    for number in range(8):
        assert sum(number in pair for pair in found) == 4
    assert "24 NVLinks on 16 pairs, 6 at each GPU" in said(drawing)
    assert "150 GB/s" in said(drawing)  # 6 x 25 GB/s
    # 24 links on 16 pairs leave eight pairs with a second one.
    assert "Of the 16 pairs, 8 have two links; which ones is for the vendor to confirm." in node_caption(
        built("dgx-1", 9)
    )


def test_four_gpus_of_a_c4140_are_joined_each_to_each():
    """All GPUs joined by NVLink, six links a GPU (dell-ready-ai-nvidia-2018): 4 x 6 / 2 = 12 on 6 pairs."""
    drawing = node(built("c4140", 2))
    assert set(pairs(drawing)) == FOUR
    assert len(pairs(drawing)) == 6
    assert "12 NVLinks on 6 pairs, 6 at each GPU" in said(drawing)
    assert "derived from" in node_caption(built("c4140", 2))
    assert "120 GB SSD and 1.6 TB NVMe" in said(drawing)
    assert set(pairs(node(with_gpus(built("c4140", 1), 2)))) == {(0, 1)}


def test_gpus_of_a_dgx_2_meet_in_its_switches():
    """Twelve NVSwitch chips (dcd-dgx2); of the DGX-2H no source gives their number."""
    drawing = node(built("dgx-2", 2))
    assert pairs(drawing) == []
    assert sum(link.target == "nvlink" for link in drawing.links) == 16
    assert "12 chips" in said(drawing)
    assert "number of chips to be confirmed" in said(node(built("dgx-2h", 2)))


def test_what_the_catalogue_lacks_is_not_called_unpublished(drawn):
    """Makers publish the topology of their servers; that nobody entered it is ours to say."""
    assert not [name for name, _, drawing in drawn if "not published" in said(drawing)]
