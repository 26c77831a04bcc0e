"""A generation that nobody has built: a catalogue takes it from files alone."""

import shutil
from pathlib import Path

import pytest

from sizer import Catalog, SizingRequest, load_catalog, size
from sizer.base.errors import CatalogError
from sizer.workload.sentence.reader import read_sentence

# An overlay of one file for each part.
FOLDER = Path(__file__).with_name("new_generation")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(overlay=FOLDER)


WORDS = "train BERT-large on ZBox servers with 32 Z9000 over ZDR, local NVMe only"


def test_a_made_up_generation_is_read_sized_and_cabled(catalog: Catalog) -> None:
    """32 GPUs are four servers; each brings eight ports, all on one switch of 64."""
    reading = read_sentence(WORDS, catalog)
    assert (reading.question, reading.unread) == (None, ())
    assert "fabric ZDR InfiniBand" in [phrase.meaning for phrase in reading.phrases]
    design = size(SizingRequest.from_dict(reading.request), catalog).design
    assert (design.platform.server.id, design.n_servers, design.n_gpus) == ("zbox", 4, 32)
    (fabric,) = [net for net in design.quantities.networks if net.kind == catalog.links["zdr"]]
    assert (fabric.switch, int(fabric.leaves[0]), int(fabric.end_points[0])) == ("zsw", 1, 32)
    lines = {line.item: line.quantity for line in design.bill.lines}
    assert lines["zdr-aoc"] == 32
    # Four servers of 9 kW and a switch: one rack of 60 kW, a PDU on either side, four cords for each device.
    assert (lines["zpdu"], lines["zcord"]) == (2, 4 * 4 + 4)
    (rack,) = design.plan.racks
    assert {(feed.used("z32"), dict(feed.outlets)["z32"]) for feed in rack.feeds} == {(10, 24)}


def test_a_link_that_no_file_describes_is_named(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "switches", tmp_path / "switches")
    with pytest.raises(CatalogError, match=r"switches/zsw\.toml: .*'zdr' is not in links/; .*known are 100gbe"):
        load_catalog(overlay=tmp_path)
