"""What an answer says of several workloads, of exchange within a step, of growth, and of what keeps designs out."""

import pytest

from sizer.base.errors import InfeasibleError
from sizer.calibrate.notes import FitNote
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories import examples


def sized(**request: object) -> SizingResult:
    return size(SizingRequest.from_dict(request), examples.catalog())


def test_three_limits_that_exclude_are_a_list() -> None:
    """90 epochs of 885 M images in 24 h are 922,000 images/s: ten DGX-1 train and decode a tenth of it."""
    work = {"dnn": "resnet50", "dataset_bytes": "100 TB", "epochs": 90, "target": {"time_to_train_s": "24 h"}}
    limits = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}
    with pytest.raises(InfeasibleError) as error:
        sized(workload=[work], platforms=limits, limits={"servers": 10})
    assert (
        "Excluded by: rate of the GPUs, host processors that decode and links between host and GPUs within "
        "limits.servers = 10."
    ) in str(error.value)


def test_images_much_larger_than_published_ones_are_named() -> None:
    """ImageNet in MLPerf has images of 115 kB; 4 MB are 35 times as much work of a decoder on the GPU."""

    def notes(sample_bytes: str) -> list[FitNote]:
        work = {"dnn": "resnet50", "sample_bytes": sample_bytes, "target": {"samples_per_s": "5000 images/s"}}
        (answer,) = sized(workload=[work], platforms={"servers": ["dgx-h100"]}).design.workloads
        return [one.kind for one in answer.unmeasured]

    assert FitNote.LARGE_IMAGES in notes("4 MB")
    assert FitNote.LARGE_IMAGES not in notes("120 kB")
