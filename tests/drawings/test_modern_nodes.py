"""Nodes of today: which chips, trays and links join their GPUs, compared with the sources of the catalogue."""

from sizer.drawings.node import node, node_caption
from tests.drawings.test_drawings_node import built, gpus, said


def test_gpus_of_a_dgx_h100_meet_in_four_switches():
    """Four NVSwitch (nv-dgxh100-ug, table 1)."""
    text = said(node(built("dgx-h100", 2, "powerscale-f710")))
    assert "NVSwitch 4 chips" in text
    assert "number of chips not published" not in text


def test_a_tray_of_an_nvl72_holds_no_switches():
    """Nine switch trays of two chips (nv-ra-gb200); NVLink-C2C to each GPU (mlperf-i6.1-crusoe).

    The rack has two uplinks of 1 GbE for management, so no tray has one of its own.
    """
    design = built("gb200-nvl72", 2, "powerscale-f710")
    text = said(node(design))
    assert len(gpus(node(design))) == 4
    assert "NVLink switch trays of the rack outside this tray, 18 chips" in text
    assert "NVLink-C2C to each GPU, PCIe to adapters and drives" in text
    assert "2 × 1 GbE, controller, shared by all trays" in text
    assert "thin ones NVLink-C2C, PCIe and memory" in node_caption(design)


def test_eight_mi300x_are_joined_each_to_each():
    """Full mesh (semi-specs): seven links of 64 GB/s make the 448 GB/s of a GPU."""
    design = built("as-8125gs-tnmr2", 2, "powerscale-f710")
    drawing = node(design)
    assert drawing.title.endswith("Infinity Fabric joins each of the 8 GPUs to every other directly")
    assert "a direct link from each GPU to each of the 7 others" in said(drawing)
    assert "448 GB/s" in said(drawing)
    assert "not published" not in drawing.title
    assert "assumed" not in node_caption(design)
