"""Designs that depend on a value that no source gives rank behind all others."""

import numpy as np
import pytest

from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.sizing.recommend import search
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking
from sizer.workload.request import SizingRequest


def _searched(data_bytes: float = 144e9, **tables: object) -> PartCounts:
    """Search of a rate on the storage systems with and without published facts."""
    request = {
        "workload": [
            {
                "dnn": "resnet50",
                "dataset_bytes": data_bytes,
                "target": {"samples_per_s": 4000.0},
            }
        ],
        "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800", "hnas"]},
        "limits": {"servers": 6},
        **tables,
    }
    return search(SizingRequest.from_dict(request), load_catalog(), stored_calibration())


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
    assert counts.evaluated.conditional[np.repeat(is_hnas, 6)].all()
    assert not counts.evaluated.conditional[np.repeat(~is_hnas, 6)].any()


def test_a_limit_of_watts_makes_unknown_draws_count() -> None:
    """DSS 8440: no source prints its maximum draw; every other device of the design has a bracket."""
    chosen = {"platforms": {"servers": ["dgx-1", "dss-8440"], "storage": ["isilon-f800"]}}
    free, limited = _searched(**chosen), _searched(**chosen, limits={"servers": 6, "power_w": 1e6})
    for counts in (free, limited):
        for index in range(counts.evaluated.space.n_platforms):
            counts.of(index)
    is_unknown = np.repeat([platform.server.id == "dss-8440" for platform in free.evaluated.platforms], 6)
    assert not free.conditional.any()
    assert limited.conditional.tolist() == is_unknown.tolist()
