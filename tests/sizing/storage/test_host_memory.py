"""Host memory in published sizes: hand arithmetic of the page cache, what is chosen, and what it costs."""

from dataclasses import fields

import pytest

from sizer.base.errors import InfeasibleError
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.physical.host_memory import page_cache_bytes
from sizer.physical.platforms import platforms
from sizer.physical.roles import Role
from sizer.sizing.best_design import best_design
from sizer.sizing.project import project
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest

GIB = 2**30


def _request(data: str, rate: float = 3000, cache: str = "page-cache", **allowed: object) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset_bytes": data, "cache": cache, "target": {"samples_per_s": rate}}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"generations": ["volta"], **allowed}})


def _design(data: str, rate: float = 3000, **allowed: object) -> DesignAnswer:
    return best_design(_request(data, rate, **allowed), shipped_catalog()).design


def _options(request: SizingRequest) -> set[str | None]:
    return {one.host_memory and one.host_memory.id for one in platforms(shipped_catalog(), request)}


def test_a_set_of_1400_gigabytes_is_cached_in_1536_gibibytes() -> None:
    """V225G, four V100 of 16 GiB: 1,536 - 4 x 16 - 16 = 1,456 GiB = 1.5634e12 B hold 1.4e12 B; 384 - 80 GiB do not.

    Only the first epoch reads the storage, so that the head node's NFS is enough and no scale-out storage is bought.
    """
    design = _design("1.4 TB", servers=["v225g"], gpus=["v100-pcie-16gb"])
    platform = design.platform
    assert platform.host_memory.id == "v225g-1536gib"
    assert page_cache_bytes(platform.server, 4, platform.gpu) == (1536 - 4 * 16 - 16) * GIB
    assert design.workloads[0].cache_hit_fraction == 1
    assert float(design.workloads[0].storage_bytes_per_s.value) == 0
    assert platform.storage.kind == "nfs-server"
    memory = [part for part in design.quantities.components if part.role is Role.HOST_MEMORY]
    assert [(part.item, int(part.quantity[0])) for part in memory] == [("v225g-1536gib", design.n_servers)]
    assert "v225g-1536gib" in design.bill.unpriced


def test_a_set_that_no_size_holds_leaves_the_standard_memory() -> None:
    """1.6e12 B are more than the 1.5634e12 B that 1,536 GiB cache; 300 GB are less than the 326 GB of 384 GiB."""
    for data in ("1.6 TB", "300 GB"):
        assert _options(_request(data, servers=["v225g"], gpus=["v100-pcie-16gb"])) == {None}
    assert _options(_request("1.5 TB", servers=["v225g"], gpus=["v100-pcie-16gb"])) == {None, "v225g-1536gib"}
    assert _options(_request("1.5 TB", cache="none", servers=["v225g"])) == {None}


def test_the_smallest_size_that_holds_the_set_is_considered() -> None:
    """C4140 with 4 x 16 GiB: 768 - 80 = 688 GiB = 738.7e9 B hold 700 GB; 900 GB call for 1,536 GiB."""
    assert _options(_request("700 GB", servers=["c4140"], gpus=["v100-sxm2-16gb"])) == {None, "c4140-768gib"}
    assert _options(_request("900 GB", servers=["c4140"], gpus=["v100-sxm2-16gb"])) == {None, "c4140-1536gib"}


def test_local_drives_that_are_fast_enough_save_the_memory() -> None:
    """A C4140 reads 700 GB from its own NVMe drive of 1.6 TB: a larger memory would only add to the bill."""
    design = _design("700 GB", servers=["c4140"])
    assert (design.platform.storage.kind, design.platform.host_memory) == ("local", None)


@pytest.mark.parametrize(
    ("asked", "server", "gibibytes"),
    [("512 GB", "dgx-1", 512), ("384 GB", "c4140", 384), ("512 GB", "c4140", 768), ("1 TB", "c4140", 1536)],
)
def test_the_smallest_published_size_meets_what_is_asked(asked: str, server: str, gibibytes: int) -> None:
    """Published sizes: DGX-1 512 GiB; C4140 384, 768 (24 x 32 GB) and 1,536 GiB (24 slots x 64 GB)."""
    found = platforms(shipped_catalog(), _request("140 GB", host_memory_bytes=asked, servers=[server]))
    assert {one.server.memory_bytes and one.server.memory_bytes.value for one in found} == {gibibytes * GIB}


def test_servers_without_so_much_memory_are_left_out() -> None:
    """No source gives a DGX-1 more than 512 GiB, 550 GB; 2 TB are in no server."""
    found = platforms(shipped_catalog(), _request("140 GB", host_memory_bytes="600 GB"))
    assert "dgx-1" not in {one.server.id for one in found}
    assert {"dgx-2", "c4140", "v225g"} <= {one.server.id for one in found}
    with pytest.raises(InfeasibleError, match=r"host_memory_bytes = 2\.00.TB.*1\.65.TB"):
        best_design(_request("140 GB", host_memory_bytes="2 TB"), shipped_catalog())


def test_a_given_cluster_has_the_memory_that_is_asked() -> None:
    """1,536 GiB in each of two C4140: 2 lines of memory, and 1.2 TB stay in the cache of 1,456 GiB."""
    request = _request("1.2 TB", host_memory_bytes="1.5 TB")
    design = project(request, shipped_catalog(), server="c4140", servers=2, storage="isilon-f800", storage_nodes=4)
    memory = [part for part in design.quantities.components if part.role is Role.HOST_MEMORY]
    assert [int(part.quantity[0]) for part in memory] == [2]
    assert design.workloads[0].cache_hit_fraction == 1
    standard = project(
        _request("1.2 TB"), shipped_catalog(), server="c4140", servers=2, storage="isilon-f800", storage_nodes=4
    )
    assert standard.workloads[0].cache_hit_fraction < 0.5


def test_the_band_follows_the_memory_that_is_added() -> None:
    """4 to 40 USD a GiB: 1,536 - 384 = 1,152 GiB more cost 4,608 to 46,080 USD."""
    catalog = shipped_catalog()
    prices = UnitPrices(catalog, price_book(catalog), "USD", [0.0, 1.0])
    platform = platforms(catalog, _request("140 GB", host_memory_bytes="1.5 TB", servers=["v225g"]))[0]
    assert prices.of("v225g-1536gib", platform).tolist() == [4_608, 46_080]


@pytest.mark.laws
@pytest.mark.parametrize("data", ["400 GB", "700 GB", "1 TB", "1.4 TB", "3 TB"])
def test_larger_memory_never_raises_the_cost(data: str) -> None:
    """The design without any option is among those compared, so the chosen one costs no more."""
    catalog = shipped_catalog()
    given = {one.name: getattr(catalog, one.name) for one in fields(catalog) if one.init}
    standard_only = Catalog(**given | {"memory": {}, "digest": "without memory options"})
    request = _request(data, 6000, servers=["v225g", "c4140-pcie"], forbidden_storage=["c4140-nvme"])
    costs = [best_design(request, one).design.cost for one in (catalog, standard_only)]
    assert costs[0].at_confidence <= costs[1].at_confidence + 0.01
