"""Faults between files, found in overlays that break one rule each."""

from pathlib import Path

import pytest

from sizer.base.errors import CatalogError
from sizer.catalog.loader import load_catalog


def fact(value: object, note: str = "a test", basis: str = "assumed", source: str = "nbx") -> str:
    text = f"'{value}'" if isinstance(value, str) else value
    return f'{{ value = {text}, basis = "{basis}", source = "{source}", where = "x", note = "{note}" }}'


PORT = (
    '[[ports]]\nkind = "{}"\ncount = 1\nuse = "{}"\nbasis = "assumed"\nsource = "nbx"\nwhere = "x"\nnote = "a test"\n'
)


@pytest.mark.parametrize(
    ("item", "text", "expected"),
    [
        ("servers/c4140", f"power_high_w = {fact(1000)}", "power_low_w = 1500 is above power_high_w = 1000"),
        ("servers/c4140", f"power_max_w = {fact(1900)}", "power_max_w and a bracket are both given"),
        ("servers/dss-8440", f"n_gpus = {fact(6)}", "n_gpus = 6 is not among n_gpus_choices [4, 8, 10]"),
        ("servers/c4140", "gpus = []", "gpus is empty"),
        ("servers/c4140", f"cpu = {fact('xeon-glod-6148')}", "is not in cpus/; did you mean 'xeon-gold-6148'?"),
        ("servers/c4140", 'local_storage = "c4140-nvm"', "is not in storage/; did you mean 'c4140-nvme'?"),
        ("servers/c4140", PORT.format("edr", "storage"), "no port has use 'compute'"),
        ("servers/c4140", PORT.format("edr", "compute") + 'nic = "mcx"', "ports[0].nic = 'mcx' is not in nics/"),
        ("servers/c4140", PORT.format("qdr", "compute") + 'nic = "mcx555a-ecat"', "mcx555a-ecat has no qdr port"),
        ("servers/r740xd", 'gpus = ["v100-pcie-16gb"]', "only role 'gpu' does"),
        (
            "servers/new",
            'name = "New"\nvendor = "X"\nrole = "head"',
            "height_u is missing; an orderable device needs it",
        ),
        ("storage/isilon-f800", f"min_nodes = {fact(6)}", "min_nodes = 6 is not a multiple of nodes_per_unit = 4"),
        ("storage/isilon-f800", f"max_nodes = {fact(1)}", "min_nodes = 4 is above max_nodes = 1"),
        ("storage/isilon-f810", f"node_read_low_bytes_per_s = {fact(1e9)}", "without node_read_high_bytes_per_s"),
        ("storage/wekaio", f"stripe_data = {fact(8)}", "stripe_data + stripe_parity + hot_spare_nodes = 11 exceed"),
        ("storage/wekaio", f"front_end_kind = {fact('40gbe')}", "is on no port of server dl360-gen10"),
        ("gateways/sx6036", f"uplink_kind = {fact('hdr')}", "uplink_kind = 'hdr' is on no port"),
        ("software/onefs", 'applies_to = ["isilon-f80"]', "applies_to: 'isilon-f80' must be an item"),
        ("gpus/v100-sxm2-16gb", f"tdp_w = {fact(300, note='')}", "an assumed value needs a note"),
    ],
)
def test_a_broken_rule_is_told(tmp_path: Path, item: str, text: str, expected: str) -> None:
    file = tmp_path / "mine" / f"{item}.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'id = "{file.stem}"\n{text}\n')
    with pytest.raises(CatalogError) as caught:
        load_catalog(overlay=tmp_path / "mine")
    assert any(f"{item}.toml: " in fault and expected in fault for fault in caught.value.faults), caught.value.faults


def test_a_disagreement_without_a_reason_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine" / "gpus" / "v100-sxm2-16gb.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        'id = "v100-sxm2-16gb"\n[tdp_w]\nvalue = 300\nbasis = "published"\nsource = "nbx"\nwhere = "x"\n'
        '[[tdp_w.alternates]]\nvalue = 250\nsource = "nowhere"\nwhere = "y"\n'
    )
    with pytest.raises(CatalogError) as caught:
        load_catalog(overlay=tmp_path / "mine")
    found = [fault for fault in caught.value.faults if "gpus/v100-sxm2-16gb.toml" in fault]
    assert len(found) == 2
    assert "alternates disagree with 300" in found[1]
    assert "tdp_w.alternates[0]: source 'nowhere' is not in sources.toml" in found[0]
