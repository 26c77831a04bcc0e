"""Storage is planned with free space: at most 90 % of the usable capacity is filled."""

import pytest

from sizer import SizingRequest
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.best_design import best_design
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import needed_of


def _design(n_samples, data=None, storage="isilon-h500"):
    work = {"dnn": "resnet50", "target": {"samples_per_s": 500}}
    dataset = {"name": "scans", "n_samples": n_samples, "sample_bytes": "1 MB", "format": "records"}
    request = SizingRequest.from_dict(
        {
            "workload": [work | {"dataset": dataset}],
            "platforms": {"servers": ["dgx-1"], "storage": [storage]},
            "data": data or {},
        }
    )
    return request, best_design(request, shipped_catalog()).design


def test_a_tenth_of_shared_storage_stays_free():
    """819 TB fill 819 / 0.9 = 910 TB or more; the catalogue's chassis alone decide how much more."""
    request, design = _design(819e6)
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(910e12)
    assert 0.9 * design.usable_bytes >= 819e12


def test_a_reserve_of_the_request_counts_as_free_space():
    """500 TB with half as much again to come: 750 TB, of which 500 TB fill 67 %."""
    request, design = _design(5e8, {"reserve_share": 0.5})
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(750e12)


def test_a_minimum_of_the_request_is_usable_capacity():
    """1 PB asked, 500 TB stored: 1 PB, not 1.11 PB."""
    request, design = _design(5e8, {"minimum_capacity_bytes": "1 PB"})
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(1e15)


def test_drives_of_the_servers_keep_a_tenth_free_too():
    """5 TB on the drives of a DGX-1: 5.56 TB."""
    request, design = _design(5e6, storage="dgx1-ssd")
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(5e12 / 0.9)


def test_a_small_set_on_two_servers_takes_a_small_pair_and_no_enterprise_filer():
    """400 MB of tokens and adapters at 40,000 tokens/s: two controllers with 23 TB are enough by far."""
    work = {
        "name": "adapters",
        "dnn": "llama-3-8b",
        "method": "lora",
        "tokens": 1e8,
        "target": {"tokens_per_s": 40_000},
    }
    platforms = {"servers": ["xe7745"], "gpus": ["l40s-48gb"], "fabrics": ["25gbe"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": platforms})
    design = best_design(request, shipped_catalog()).design
    assert design.n_servers == 2
    assert design.platform.storage.id == "small-nas"
    assert design.conditional_on == ()
