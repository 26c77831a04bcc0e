"""Drawings of one network: switches above what they connect, every cable of the network and none of another."""

import re

import pytest

from sizer.drawings.network import network_drawing
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.parts import box_labels
from sizer.drawings.shapes import text_width
from sizer.drawings.topology import topology
from sizer.physical.roles import NetworkRole
from tests.factories.examples import sized

EXAMPLES = ("dgx1-f800-resnet50", "apollo-weka-resnet50", "c4140-f800", "small-team")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_cable_of_a_network_is_in_its_drawing(name):
    design = sized(name).design
    for role in NetworkRole:
        drawing = network_drawing(design, role)
        cables = sum(cable.length_m.size for cable in design.plan.cables if cable.run.network.network is role)
        assert (drawing is None) == (cables == 0)
        if drawing is not None:
            assert sum(link.count for link in drawing.links) == cables


@pytest.mark.parametrize("name", EXAMPLES)
def test_boxes_fit_the_column_and_hold_their_text(name):
    for role in NetworkRole:
        drawing = network_drawing(sized(name).design, role)
        if drawing is None:
            continue
        assert drawing.width == COLUMN_PX
        boxes = {box.id: box for box in drawing.boxes}
        for box in drawing.boxes:
            assert 0 <= box.x <= box.right <= drawing.width
            assert 0 <= box.y <= box.bottom <= drawing.height
            for label in box_labels(box):
                assert label.x + text_width(label.text, label.size, semibold=label.semibold) <= box.right
        for link in drawing.links:
            # The switch stands above; a line begins at its lower edge and ends on the box below.
            (_, top), (_, bottom) = link.points
            assert top == boxes[link.target].bottom
            assert bottom == boxes[link.source].y


def test_leaf_and_spine_stand_in_levels():
    drawing = network_drawing(sized("dgx1-f800-resnet50").design, NetworkRole.COMPUTE)
    tops = {box.id: box.y for box in drawing.boxes}
    assert tops["spine"] < tops["leaf"] < tops["servers"] == tops["storage"] == tops["head"]


def test_head_nodes_hang_on_the_storage_leaves_they_are_cabled_to():
    """The line of the head nodes ends inside the width of the storage leaves, at their lower edge, and at the head.

    A QM9700 has 64 ports of NDR (data sheet: 32 OSFP cages of two ports): used and free ones of 27 leaves are 1,728.
    """
    drawing = topology(sized("llama-70b-dgx-h100").design)
    boxes = {box.id: box for box in drawing.boxes}
    (link,) = [one for one in drawing.links if one.target == "storage-leaf" and "head" in one.source]
    (x, y), leaf, head = link.points[-1], boxes["storage-leaf"], boxes[link.source]
    assert leaf.x <= x <= leaf.right
    assert y == leaf.bottom
    assert link.points[0][1] == head.y
    used, free = (
        int(n.replace("\u202f", "")) for n in re.findall(r"([\d\u202f]+) (?:ports used|free)", boxes["leaf"].lines[0])
    )
    assert used + free == 27 * 64
