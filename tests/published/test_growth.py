"""Images grow more than tenfold on the published cluster of DGX-1 with Isilon F800.

Source: Dell EMC, "Accelerating AI and Deep Learning with Dell EMC Isilon and NVIDIA GPUs", 2018
("dell-isilon-dgx1-blog-2018"): nine DGX-1 and eight F800 nodes read 5,907 MB/s of 113 kB images with ResNet-50, and
19,895 MB/s of 1.3 MB images with Inception-v4, 15,304 images/s.
"""

import pytest

from sizer import SizingRequest
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.growth.growth_plan import growth_plan
from sizer.sizing.growth.result import ClusterSize, LimitKind

IMAGES_PER_S, LARGE_BYTES, SMALL_BYTES = 15_304, 1.3e6, 113e3


@pytest.fixture(scope="module")
def plan():
    request = SizingRequest.from_file(data_dir("examples") / "questions" / "images-grow-tenfold.toml")
    return growth_plan(request, shipped_catalog())


def test_large_images_need_the_published_cluster(plan):
    """Nine DGX-1 and eight F800 nodes, as tested."""
    (found,) = plan.platforms
    assert found.needs[-1] == ClusterSize(9, 8)


def test_the_second_years_images_are_the_published_ones(plan):
    small, large = (request.workload[0] for request in plan.requests)
    assert small.sample_bytes == SMALL_BYTES
    assert large.sample_bytes == pytest.approx(LARGE_BYTES, rel=1e-3)  # the factor has five digits
    assert IMAGES_PER_S * large.sample_bytes == pytest.approx(19_895e6, rel=1e-3)
    assert large.dataset_bytes == pytest.approx(22.5e12, rel=0.01)  # 13 copies, printed to three digits


def test_small_images_leave_half_of_the_published_nodes_idle(plan):
    """The document has eight nodes for both: with small images the smallest system, one chassis of four, is enough.

    Its read rate is exhausted when the bytes read have grown by the headroom at 113 kB, before the second year.
    """
    (found,) = plan.platforms
    assert found.needs[0] == ClusterSize(9, 4)
    reads = next(limit for limit in found.limits if limit.kind is LimitKind.STORAGE_READS)
    assert reads.loads[1] / reads.loads[0] == pytest.approx(LARGE_BYTES / SMALL_BYTES, rel=0.25)  # caches serve less
    assert 1 < reads.year < 2
    assert found.recommended.moved_links == 0
