"""Read and write rates that a request asks of the whole storage: hand arithmetic, laws and the table of compliance."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, SizingResult, size
from sizer.base.errors import RequestError
from tests.factories.examples import catalog


def _sized(storage: str = "ai400x2", **data: object) -> SizingResult:
    """64 GPUs of DGX H100 that read tokens, which takes next to nothing of the storage."""
    work = {"dnn": "llama-3-70b", "target": {"gpus_busy": 64}}
    platforms = {"servers": ["dgx-h100"], "storage": [storage]}
    return size(SizingRequest.from_dict({"workload": [work], "platforms": platforms, "data": data}), catalog())


@pytest.mark.parametrize(
    ("data", "nodes"),
    [
        ({"minimum_read_bytes_per_s": "40 GB/s"}, 1),
        ({"minimum_read_bytes_per_s": "100 GB/s"}, 3),
        ({"minimum_write_bytes_per_s": "100 GB/s"}, 2),
        ({"minimum_read_bytes_per_s": "100 GB/s", "minimum_write_bytes_per_s": "500 GB/s"}, 8),
    ],
)
def test_stated_rates_decide_the_nodes(data: dict[str, str], nodes: int) -> None:
    """AI400X2: the data sheet has 90 GB/s of reads, half of which count, and 65 GB/s of writes.

    100 / 45 = 2.2, 100 / 65 = 1.5 and 500 / 65 = 7.7.
    """
    assert _sized(**data).design.storage_nodes == nodes


def test_stated_rates_take_the_place_of_the_usual_level() -> None:
    """A level asked for by name counts beside them: "best" asks 40 GB/s of eight servers, less than is stated."""
    both = _sized(minimum_read_bytes_per_s="100 GB/s", storage_level="best")
    assert both.design.storage_nodes == 3
    assert not [one for one in _sized(minimum_read_bytes_per_s="1 GB/s").assumptions if "Level" in type(one).__name__]
    assert [one for one in _sized().assumptions if "Level" in type(one).__name__]


@pytest.mark.laws
@given(low=st.floats(1, 200), more=st.floats(1, 4), field=st.sampled_from(("read", "write")))
@settings(max_examples=25, deadline=None)
def test_a_higher_rate_never_takes_fewer_nodes(low: float, more: float, field: str) -> None:
    counts = [_sized(**{f"minimum_{field}_bytes_per_s": rate * 1e9}).design.storage_nodes for rate in (low, low * more)]
    assert counts[0] <= counts[1]


def test_a_rate_that_no_system_reaches_is_refused() -> None:
    """The largest file system of AI400X2 has 64 appliances: 64 x 45 GB/s = 2.88 TB/s."""
    with pytest.raises(
        InfeasibleError, match=r"reads of 900.TB/s are requested .* AI400X2 reads the most, up to 2\.88.TB/s"
    ):
        _sized(minimum_read_bytes_per_s="900 TB/s")


@pytest.mark.parametrize("written", ["-4 GB/s", "0", "nan", "4 Gb/s", "fast"])
def test_what_is_no_rate_is_refused_with_its_place(written: str) -> None:
    with pytest.raises(RequestError, match=r"data\.minimum_write_bytes_per_s"):
        _sized(minimum_write_bytes_per_s=written)
