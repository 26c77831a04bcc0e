"""A generation that nobody has built: a catalogue takes it from files alone."""

from pathlib import Path

import pytest

from sizer import Catalog, SizingRequest, load_catalog, size
from sizer.base.errors import CatalogError
from sizer.workload.sentence.reader import read_sentence

FACT = 'basis = "assumed", source = "nbx", where = "x", note = "a test"'


def fact(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return f"{{ value = {text}, {FACT} }}"


def port(kind: str, count: int, use: str) -> str:
    return f'[[ports]]\nkind = "{kind}"\ncount = {count}\nuse = "{use}"\n{FACT.replace(", ", chr(10))}\n'


DEVICE = "".join(
    f"{name} = {fact(value)}\n"
    for name, value in {
        "height_u": 8, "depth_m": 0.9, "weight_kg": 120.0, "power_max_w": 9000.0, "power_inlets": 4,
        "inlet_kind": "z32",
    }.items()
)  # fmt: skip
SMALL = DEVICE.replace("value = 8", "value = 1").replace("9000.0", "900.0").replace("120.0", "12.0")
FILES = {
    "power_inlets/z32.toml": (
        'name = "Z32"\nvendor = "generic"\norderable = false\noutlet = "Z31"\nphases = 3\n'
        f"low_v = {fact(600.0)}\nhigh_v = {fact(700.0)}\n"
    ),
    "pdus/zpdu.toml": (
        'name = "ZPDU, 600 V"\nvendor = "Zeta"\n'
        f"capacity_w = {fact(60_000.0)}\nlow_v = {fact(600.0)}\nhigh_v = {fact(600.0)}\nphases = {fact(3)}\n"
        f"outlets.z32 = {fact(24)}\noutlets.c14 = {fact(24)}\noutlets.c20 = {fact(6)}\n"
    ),
    "accessories/zcord.toml": 'name = "Cord Z31 to Z32"\nvendor = "Zeta"\nuse = "cord"\ninlet = "z32"\n',
    "generations/zeta.toml": (
        'name = "Zeta"\nvendor = "Zeta"\norderable = false\nera = "today"\npdu = "zpdu"\n'
    ),
    "links/zdr.toml": (
        'name = "ZDR InfiniBand"\nvendor = "generic"\norderable = false\ntechnology = "infiniband"\n'
        f"gbit_per_s = {fact(1600.0)}\n"
    ),
    "gpu_links/zlink9.toml": (
        'name = "ZLink 9"\nvendor = "generic"\norderable = false\nfamily = "ZLink"\ntopology = "switched"\n'
        'form_factors = ["zxm"]\n'
    ),
    "gpus/z9000.toml": (
        'name = "Z9000"\nvendor = "Zeta"\ngeneration = "zeta"\n'
        f"form_factor = {fact('zxm')}\nmemory_bytes = {fact(5e11)}\n"
        f"peak_mixed_flop_per_s = {fact(5e15)}\npeak_fp32_flop_per_s = {fact(2e14)}\n"
    ),
    "servers/zbox.toml": (
        'name = "ZBox"\nvendor = "Zeta"\nrole = "gpu"\ngpus = ["z9000"]\n'
        f"n_gpus = {fact(8)}\nintra_link = {fact('zlink9')}\ncpu = {fact('xeon-gold-6248')}\nn_cpus = {fact(2)}\n"
        f"host_links = {fact(8)}\nmemory_bytes = {fact(2.2e12)}\nlocal_storage = \"local-nvme\"\n{DEVICE}"
        f"{port('zdr', 8, 'compute')}{port('1gbe', 1, 'bmc')}"
    ),
    "switches/zsw.toml": (
        f'name = "ZSwitch"\nvendor = "Zeta"\nsubnet_manager = {fact(True).replace("True", "true")}\n{SMALL}'
        f"{port('zdr', 64, 'any')}{port('1gbe', 1, 'management')}"
    ),
    "cables/zdr-aoc.toml": (
        f'name = "ZDR optical"\nvendor = "Zeta"\nkinds = ["zdr"]\nmedia = "aoc"\nlength_m = {fact(30.0)}\n'
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    root = tmp_path_factory.mktemp("zeta")
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'id = "{Path(name).stem}"\n{text}')
    return load_catalog(overlay=root)


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
    folder = tmp_path / "switches"
    folder.mkdir()
    (folder / "zsw.toml").write_text('id = "zsw"\n' + FILES["switches/zsw.toml"])
    with pytest.raises(CatalogError, match=r"switches/zsw\.toml: .*'zdr' is not in links/; .*known are 100gbe"):
        load_catalog(overlay=tmp_path)
