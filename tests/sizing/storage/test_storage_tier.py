"""Storage tiers by published media, and a minimum capacity: hand arithmetic and laws."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import InfeasibleError
from sizer.catalog.loader import shipped_catalog
from sizer.physical.platforms import platforms
from sizer.sizing.best_design import best_design
from sizer.sizing.reasons import StorageDecision
from sizer.workload.request import SizingRequest

F800 = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}


def _request(stored: str = "20 TB", rate: float = 20_000, **tables: object) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset_bytes": stored, "target": {"samples_per_s": rate}}
    return SizingRequest.from_dict({"workload": [work], **tables})


@pytest.mark.parametrize(
    ("tier", "storage"),
    [
        ("performance", {"isilon-f800", "isilon-f810", "wekaio"}),
        ("capacity", {"isilon-h500", "isilon-h5600", "isilon-h600", "head-node-nfs"}),
        ("local", {"dgx1-ssd"}),
    ],
)
def test_a_tier_allows_the_systems_of_its_media(tier: str, storage: set[str]) -> None:
    """F800 and F810 are all-flash and Matrix runs on whole SSDs; H nodes hold disks, the head node 12 NL-SAS drives.

    No source gives the drives behind an HNAS: it is in no tier.
    """
    found = platforms(shipped_catalog(), _request(platforms={"servers": ["dgx-1"], "storage_tier": tier}))
    assert {one.storage.id for one in found} == storage


def test_a_tier_that_leaves_nothing_names_the_storage_that_is_allowed() -> None:
    """A V225G has no published local drives, and the media of an HNAS are not published."""
    for allowed in ({"servers": ["v225g"], "storage_tier": "local"}, {"storage": ["hnas"], "storage_tier": "capacity"}):
        with pytest.raises(InfeasibleError, match=r"storage_tier = .* hnas \(media not published\)"):
            platforms(shipped_catalog(), _request(platforms=allowed))


def test_a_tier_that_is_too_slow_names_what_would_do() -> None:
    """60,000 values of 1 MB a second are 60 GB/s, uncached: twelve servers read 15 GB/s from their own SSDs."""
    dataset = {"name": "few", "n_samples": 5e6, "sample_bytes": "1 MB", "format": "decoded tensors"}
    work = {"dnn": "alexnet", "cache": "none", "dataset": dataset, "target": {"samples_per_s": 60e3}}
    limits = {"servers": 12}
    allowed = {"servers": ["dgx-1"], "storage_tier": "local"}
    request = SizingRequest.from_dict({"workload": [work], "platforms": allowed, "limits": limits})
    with pytest.raises(InfeasibleError, match=r"Without storage_tier = 'local' a design meets the request: .*DGX-1"):
        best_design(request, shipped_catalog())


def test_a_minimum_decides_the_nodes() -> None:
    """500 TB usable on the F800; the 20 TB that are stored fit one chassis of the smallest drives, 96 x 0.75 = 72 TB.

    Two chassis of 60 x 3.2 TB have 2 x 192 x 7/8 = 336 TB, three 3 x 192 x 8/9 = 512 TB; of 1.6 TB drives six have
    6 x 96 x 8/9 = 512 TB; one of 15.36 TB has 921.6 x 0.75 = 691 TB. Each holds the minimum, none fewer.
    """
    design = best_design(_request(platforms=F800, data={"minimum_capacity_bytes": "500 TB"}), shipped_catalog()).design
    option = design.platform.storage.capacity_options[design.platform.capacity_option].name
    assert {"60 x 1.6 TB SSD": 24, "60 x 3.2 TB SSD": 12, "60 x 15.36 TB SSD": 4}[option] == design.storage_nodes
    need = design.storage_need
    assert need.decision is StorageDecision.CAPACITY
    assert (need.minimum.minimum_bytes, need.minimum.stored_bytes) == (500e12, 20e12)
    assert need.minimum.nodes_for_stored == 4
    usable = design.usable_bytes
    assert need.fill_fraction == pytest.approx(20e12 / usable)


def test_a_minimum_below_what_is_stored_changes_nothing() -> None:
    """20 TB with a reserve of half are 30 TB: a minimum of 25 TB is met anyway."""
    reserve = {"reserve_share": 0.5}
    before = best_design(_request(platforms=F800, data=reserve), shipped_catalog()).design
    after = best_design(
        _request(platforms=F800, data=reserve | {"minimum_capacity_bytes": "25 TB"}), shipped_catalog()
    ).design
    assert (after.name, after.cost, after.storage_need) == (before.name, before.cost, before.storage_need)


def test_a_minimum_beyond_every_system_names_the_largest() -> None:
    """252 nodes of the F800 are 63 chassis of 921.6 TB raw, 8/9 of it usable: 51.6 PB; 90 PB are asked."""
    request = _request(platforms=F800, data={"minimum_capacity_bytes": "90 PB"})
    with pytest.raises(InfeasibleError, match=r"90\.0.PB are requested.*Isilon F800 holds the most, up to 51\.6.PB"):
        best_design(request, shipped_catalog())


@pytest.mark.laws
@settings(max_examples=12, deadline=None)  # two searches each
@given(least=st.floats(1e12, 2e16), more=st.floats(1, 20), storage=st.sampled_from(["isilon-f800", "isilon-h5600"]))
def test_more_minimum_capacity_never_lowers_nodes_or_cost(least: float, more: float, storage: str) -> None:
    """A larger minimum excludes designs and adds none. Nodes of equal drives: larger drives may need fewer of them."""
    allowed = {"servers": ["dgx-1"], "storage": [storage]}
    found = []
    for minimum in (least, least * more):
        request = _request(platforms=allowed, data={"minimum_capacity_bytes": minimum})
        try:
            found.append(best_design(request, shipped_catalog()).design)
        except InfeasibleError:
            assert minimum > 1e16
            return
    small, large = found
    assert large.cost.at_confidence >= small.cost.at_confidence * (1 - 1e-9)
    if large.platform.capacity_option == small.platform.capacity_option:
        assert large.storage_nodes >= small.storage_nodes
    assert large.usable_bytes >= large_need(request)


def large_need(request: SizingRequest) -> float:
    """The minimum that a request states. [B]"""
    assert request.data.minimum_capacity_bytes is not None
    return request.data.minimum_capacity_bytes
