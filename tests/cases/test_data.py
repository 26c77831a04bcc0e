"""Where the data lie, how long they take to arrive, and what is there already."""

import pytest

from sizer import EvaluatedDesign, InfeasibleError, data_plan
from sizer.calibrate.calibration import stored_calibration
from sizer.sizing.checks import Limit
from sizer.sizing.recommend import search
from sizer.sizing.search.infeasible_error import nearest_design
from tests.cases.case_book import bought, catalog, designed, expect, request, used
from tests.factories.answers import recommended

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes cases and examples


def fill_s(name: str) -> float:
    """Time in which the data of a case arrive. [s]"""
    return data_plan(EvaluatedDesign(recommended(request(name)), catalog())).ingest.chosen.shown_s


def test_a_slow_line_fills_the_storage_for_a_month():
    """300 TB over 1 Gbit/s: 300e12 / 125e6 = 2.4e6 s, 27.8 days.

    3,000 images/s x 3 x 15.2 GFLOP = 137 TFLOPS useful: 4.4 GPUs at 25 % of the peak, 7.3 at 15 %. With half the data
    in reserve 450 TB.
    """
    expect("slow-line", gpus=(4, 16), holds_bytes=450e12, reads_bytes_per_s=(2.9e9, 3.1e9))
    assert fill_s("slow-line") == pytest.approx(2.4e6, rel=0.01)


def test_a_fast_line_waits_for_the_storage_at_most_a_little():
    """40 TB over 10 Gbit/s: 40e12 / 1.25e9 = 32,000 s, 8.9 h; slower where the storage writes less than 1.25 GB/s.

    2,500 images/s x 3 x 11.4 GFLOP = 86 TFLOPS useful: 2.8 to 4.6 GPUs at 15 to 25 % of the peak; 1 GB/s of reads.
    """
    expect("survey-flights", gpus=(4, 8), servers=(1, 2), holds_bytes=40e12, reads_bytes_per_s=(0.98e9, 1.02e9))
    assert 32_000 <= fill_s("survey-flights") <= 48_000


def test_what_is_there_is_used_and_extended():
    """20,000 images/s with a stack of 2018 at 5,500 to 6,000 images/s of a DGX-1: 3.3 to 3.6, with a margin 4.

    Two are there, so two are added; four F800 nodes at 2.5 GB/s deliver the 2.3 GB/s.
    """
    design = expect("extension", servers=(4, 5), holds_bytes=10e12)
    assert used(design).items() >= {"dgx-1": 2, "isilon-f800": 4, "sb7800": 1}.items()
    assert 2 <= sum(bought(design, "compute").values()) <= 3
    assert not bought(design, "storage")


def test_nothing_is_bought_where_enough_is_there():
    """9,000 images/s: one DGX-1 was published at 10,940, two are there; ten copies of ImageNet are 1.45 TB."""
    design = expect("enough-is-there", servers=(1, 2))
    assert set(used(design)) >= {"dgx-1"}
    assert not bought(design, "compute")
    assert not bought(design, "storage")
    assert design.cost is not None
    assert design.cost.high <= 50_000  # a rack with its power strips and cables


def test_a_file_server_of_the_customer_is_judged_by_what_is_said_of_it():
    """3,000 images/s x 113 kB = 339 MB/s of the 1.2 GB/s stated; 2.2 GPUs at the published 1,370."""
    design = expect("own-file-server", gpus=(4, 8), servers=(1, 1), not_limited_by=("storage",), holds_bytes=20e12)
    assert design.platform.storage.id == "nfs-generic"
    assert not design.conditional_on


def test_no_storage_system_of_the_catalogue_holds_150_petabytes():
    """63 chassis with 960 TB of drives hold 60 PB, the largest parallel file system 99 PB; nothing may pretend more."""
    with pytest.raises(InfeasibleError):
        designed("video-archive")
    counts = search(request("video-archive"), catalog(), stored_calibration())
    _, broken = nearest_design(counts)
    assert broken == (Limit.STORAGE_CAPACITY,)
    assert not counts.evaluated.class_passes[Limit.STORAGE_CAPACITY].any()
