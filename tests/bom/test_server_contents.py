"""A bill says what each server holds: a name alone orders no configuration."""

import pytest

from sizer.bom.lines import has_unknown_drives, server_contents
from sizer.catalog.loader import shipped_catalog

CATALOG = shipped_catalog()


def contents(name: str, *, has_memory: bool = True, has_drives: bool = True) -> str:
    return server_contents(CATALOG.servers[name], CATALOG, has_memory=has_memory, has_drives=has_drives)


def test_what_the_catalogue_states_and_what_it_assumes():
    # Table 2 of dell-ready-ai-nvidia-2018; the InfiniBand adapter has a line of its own.
    assert contents("c4140") == "2 × Xeon Gold 6148, 384 GiB memory, 2 × 10 GbE, 120 GB SSD and 1.6 TB NVMe"
    text = contents("as-8125gs-tnmr2").replace("\u202f", " ")
    assert text.startswith("2 × EPYC 9654 (assumed), 2 304 GiB memory (assumed), 8 × 400 GbE, ")
    assert has_unknown_drives(CATALOG.servers["as-8125gs-tnmr2"], CATALOG)
    assert not has_unknown_drives(CATALOG.servers["c4140"], CATALOG)


def test_an_adapter_for_both_protocols_names_both():
    """Its ConnectX-7 run NDR or 400 GbE: an order for an Ethernet fabric that names NDR alone is wrong."""
    assert "8 × NDR InfiniBand or 400 GbE (assumed)" in contents("sys-a21ge-nbrt")
    assert "4 × 200 GbE or HDR InfiniBand" in contents("management-server")


def test_a_rack_of_trays_lists_the_drives_of_all():
    # Eight drives of 3.5 TB in each of 18 trays: 18 x 28 TB = 504 TB beside the memory of the whole rack.
    assert "18 × 28.0 TB local NVMe" in contents("gb200-nvl72").replace("\u202f", " ")


def test_what_the_bill_states_elsewhere_is_left_out():
    assert "memory" not in contents("c4140", has_memory=False)
    assert "NVMe" not in contents("c4140", has_drives=False)
    assert contents("ufm-appliance") == ""


@pytest.mark.parametrize("name", sorted(CATALOG.servers))
def test_every_gpu_server_says_its_processors_and_memory(name):
    if CATALOG.servers[name].role == "gpu":
        assert " × " in contents(name)
        assert " memory" in contents(name)
