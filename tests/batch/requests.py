"""Requests that are sized in a few hundredths of a second, and strategies that make them."""

from concurrent.futures import Executor, Future
from typing import Any

from hypothesis import strategies as st

from sizer.workload.table import FIRST_DAY, LAST_DAY

# Few platforms: the search is quick and everything it does is done.
PLATFORMS = {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]}


class AtOnce(Executor):
    """Works in the thread that asks, so that the order of all that happens is certain."""

    def submit(self, task: Any, /, *args: Any, **more: Any) -> Future[Any]:
        sent: Future[Any] = Future()
        sent.set_result(task(*args))
        return sent


def request(rate: float | str = 20_000.0, **more: Any) -> dict[str, Any]:
    """A small request for a rate of samples."""
    work = {"dnn": "resnet50", "stack": "tf-cnn-benchmarks-ngc18.09", "target": {"samples_per_s": rate}}
    return {"title": f"{rate}", "workload": [work], "platforms": PLATFORMS, **more}


def many(count: int) -> list[dict[str, Any]]:
    """Requests that all differ."""
    return [request(5_000.0 + 137 * number) for number in range(count)]


def _given(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=optional)


targets = st.one_of(
    st.fixed_dictionaries({"samples_per_s": st.floats(100, 60_000) | st.sampled_from(["5 kimages/s", "20000"])}),
    st.fixed_dictionaries({"gpus_busy": st.integers(1, 64)}),
    st.fixed_dictionaries({"time_to_train_s": st.floats(3_600, 400_000) | st.sampled_from(["24 h", "2 d"])}),
)


@st.composite
def workloads(draw: st.DrawFn) -> dict[str, Any]:
    """One thing to run; most are met, some are not."""
    target = draw(targets)
    work = {
        "dnn": draw(st.sampled_from(["resnet50", "vgg16", "inception-v4", "no-such-dnn"])),
        "target": target,
        **draw(
            _given(
                precision=st.sampled_from(["mixed", "fp32"]),
                batch_per_gpu=st.sampled_from([32, 128]),
                dataset_bytes=st.sampled_from(["150 GB", "22.2 TB", 5e12]),
                access=st.sampled_from(["random", "sharded"]),
                cache=st.sampled_from(["page-cache", "none"]),
            )
        ),
    }
    return {**work, "epochs": 90} if "time_to_train_s" in target else work


requests = st.fixed_dictionaries(
    {
        "workload": st.lists(workloads(), min_size=1, max_size=2),
        "platforms": st.fixed_dictionaries(
            {
                "servers": st.sampled_from([["dgx-1"], ["c4140"], ["v225g"], ["apollo-6500", "dgx-1"]]),
                "storage": st.sampled_from([["isilon-f800"], ["hnas", "isilon-f800"], ["wekaio"]]),
            }
        ),
    },
    optional={
        "title": st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=8),
        "confidence": st.sampled_from([0.5, 0.8, 0.95]),
        "rank_by": st.sampled_from(["gpus", "watts", "rack-units"]),
        "limits": _given(power_w=st.sampled_from(["20 kW", 80_000.0]), racks=st.integers(1, 9)),
        "date": st.dates(FIRST_DAY, LAST_DAY),
    },
)
