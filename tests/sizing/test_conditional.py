"""Designs that depend on a value that no source gives rank behind all others."""

import numpy as np
import pytest

from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.schema import Storage
from sizer.physical.platforms import as_stated
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult, FactKind
from sizer.sizing.project import project
from sizer.sizing.recommend import search
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.stages.storage_rates import capacity_is_unknown, node_read_rate, rate_is_unknown
from sizer.workload.request import SizingRequest


def _searched(data_bytes: float = 144e9, **tables: object) -> PartCounts:
    """Search of a rate on the storage systems with and without published facts."""
    request = {
        "workload": [{"dnn": "resnet50", "dataset_bytes": data_bytes, "target": {"samples_per_s": 4000.0}}],
        "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800", "hnas"]},
        "limits": {"servers": 6},
        **tables,
    }
    return search(SizingRequest.from_dict(request), shipped_catalog(), stored_calibration())


def _storage(counts: PartCounts, row: int) -> str:
    return counts.evaluated.platforms[int(counts.evaluated.space.platform[row])].storage.id


@pytest.mark.parametrize("rank_by", [None, "cost", "time", "gpus", "rack-units", "watts"])
def test_a_design_without_unknowns_comes_first_by_every_key(rank_by: str | None) -> None:
    """HNAS: no source prints a bandwidth or the capacity of a configuration; the F800 has both."""
    counts = _searched(**({} if rank_by is None else {"rank_by": rank_by}))
    order = Ranking(counts).all()
    assert [_storage(counts, row) for row in order] == ["isilon-f800", "hnas"]
    assert counts.conditional[order].tolist() == [False, True]
    assert [_storage(counts, row) for row in Ranking(counts).first(1)] == ["isilon-f800"]


def test_data_in_memory_need_a_capacity_all_the_same() -> None:
    """144 GB stay in the memory of one DGX-1: the rate of the HNAS does not matter, its capacity does."""
    counts = _searched()
    is_hnas = np.array([platform.storage.id == "hnas" for platform in counts.evaluated.platforms])
    assert counts.conditional[np.repeat(is_hnas, 6)].all()
    assert not counts.conditional[np.repeat(~is_hnas, 6)].any()


def test_a_limit_of_watts_makes_unknown_draws_count() -> None:
    """DSS 8440: no source prints its maximum draw; every other device of the design has a bracket."""
    chosen = {"platforms": {"servers": ["dgx-1", "dss-8440"], "storage": ["isilon-f800"]}}
    free, limited = _searched(**chosen), _searched(**chosen, limits={"servers": 6, "power_w": 1e6})
    for counts in (free, limited):
        for index in range(counts.evaluated.space.n_platforms):
            counts.count(index, np.arange(6))
    is_unknown = np.repeat([platform.server.id == "dss-8440" for platform in free.evaluated.platforms], 6)
    assert not free.conditional.any()
    assert limited.conditional.tolist() == is_unknown.tolist()


def test_stated_values_end_the_condition() -> None:
    """HNAS with 1.2 GB/s a node and 2 PB as stated: known, so that its probability is a number again.

    5 TB at 10,000 images/s of 113 kB are 1.13 GB/s and more in the first epoch: two nodes read 2.4 GB/s.
    """
    work = {"dnn": "resnet50", "dataset_bytes": "5 TB", "target": {"samples_per_s": 10e3}}
    chosen = {"servers": ["dgx-2"], "storage": ["hnas"]}
    open_ = SizingRequest.from_dict({"workload": [work], "platforms": chosen})
    stated = {"storage": "hnas", "node_read_bytes_per_s": "1.2 GB/s", "usable_bytes": "2 PB"}
    told = SizingRequest.from_dict({"workload": [work], "platforms": chosen, "stated_storage": [stated]})
    before, after = (best_design(request, shipped_catalog()).design for request in (open_, told))
    assert {fact.kind for fact in before.conditional_on} == {FactKind.READ_RATE, FactKind.USABLE_CAPACITY}
    assert (before.probability, before.target_check) == (None, CheckResult.OPEN)
    assert (after.conditional_on, after.target_check) == ((), CheckResult.MET)
    assert after.probability is not None
    assert after.usable_bytes == 2e15


def test_an_owned_filer_without_published_facts_has_the_range_of_its_class() -> None:
    """AFF A800, a pair: no source prints its rate or capacity; all-flash NAS of the catalogue reads 1 to 19 GB/s a node
    and has 23 TB of drives at least. One that is not owned, or asked to hold more, stays unknown.
    """
    chosen, owned = {"storage": ["netapp-a800"]}, {"storage_nodes": {"netapp-a800": 2}}

    def storage(data_bytes: str, existing: dict[str, object]) -> Storage:
        work = {"dnn": "resnet50", "dataset_bytes": data_bytes, "target": {"samples_per_s": 100}}
        asked = SizingRequest.from_dict({"workload": [work], "platforms": chosen, "existing": existing})
        return as_stated(shipped_catalog(), shipped_catalog().storage["netapp-a800"], asked)

    small, large, bought = storage("1.5 TB", owned), storage("100 TB", owned), storage("1.5 TB", {})
    assert [rate_is_unknown(one) for one in (small, large, bought)] == [False, False, True]
    assert [capacity_is_unknown(one, 0) for one in (small, large, bought)] == [False, True, True]
    rate = node_read_rate(small)
    assert rate is not None
    assert (rate.low.value, rate.high.value, rate.low.basis) == (1e9, 19e9, "assumed")


def test_more_data_than_a_vendor_publishes_do_not_fit() -> None:
    """HNAS: 16 PB usable at most, whatever array stands behind it."""
    work = {"dnn": "resnet50", "dataset_bytes": "51 PB", "target": {"samples_per_s": 10e3}}
    request = SizingRequest.from_dict(
        {"workload": [work], "platforms": {"generations": ["volta"], "storage": ["hnas", "hnas-4100"]}}
    )
    with pytest.raises(InfeasibleError, match="capacity"):
        best_design(request, shipped_catalog())


def test_an_array_of_disks_does_not_read_at_line_rate() -> None:
    """12 NL-SAS drives of the head node behind an EDR port of 12.5 GB/s: at most 12 x 200 MB/s = 2.4 GB/s."""
    work = {"dnn": "resnet50", "dataset_bytes": "100 TB", "cache": "none", "target": {"samples_per_s": 1e3}}
    request = SizingRequest.from_dict({"workload": [work]})
    design = project(request, shipped_catalog(), server="c4140", servers=2, storage="head-node-nfs", fabric="edr")
    storage = next(stage for stage in design.workloads[0].stages if stage.key == "storage")
    assert float(storage.capacity.high) * design.workloads[0].sample_bytes <= 2.4e9
