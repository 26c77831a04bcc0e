"""What the host reads for one sample, by data set, network and size."""

from typing import Any

import pytest

from sizer.catalog.sample_formats import SampleFormat
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload, resolve
from sizer.workload.sample_format import FormatBasis
from tests.factories.requests import CATALOG

KNOWN = frozenset({("mxnet-ngc19.07-dali", "resnet50", "mixed", "training")})


def resolved(**work: Any) -> ResolvedWorkload:
    fields = {"dnn": "resnet50", "stack": "mxnet-ngc19.07-dali", "target": {"samples_per_s": 100}, **work}
    (found,) = resolve(SizingRequest.from_dict({"workload": [fields]}), CATALOG, KNOWN)
    return found


def data(sample_bytes: float, format_: str = "records") -> dict[str, Any]:
    return {"n_samples": 1e6, "sample_bytes": sample_bytes, "format": format_}


def custom(input_bytes: float, like: str | None = None) -> dict[str, Any]:
    dnn = {"name": "ours", "forward_flop": 1e9, "parameters": 1e7, "input_bytes": input_bytes}
    return dnn if like is None else {**dnn, "like": like}


@pytest.mark.parametrize(
    ("work", "expected", "basis"),
    [
        ({"dataset": "imagenet"}, SampleFormat.JPEG, FormatBasis.DATA_SET),
        ({"dataset": "imagenet-tfrecord"}, SampleFormat.JPEG, FormatBasis.DATA_SET),
        ({"dataset": "imagenet-tensors-uint8"}, SampleFormat.TENSORS, FormatBasis.DATA_SET),
        ({"dnn": "unet3d", "dataset": "kits19"}, SampleFormat.VOLUMES, FormatBasis.DATA_SET),
        ({"dnn": "ncf", "dataset": "movielens-20m"}, SampleFormat.TABULAR, FormatBasis.DATA_SET),
        ({"dnn": "bert-large", "dataset": "wikipedia-bert"}, SampleFormat.TOKENS, FormatBasis.DATA_SET),
        # Data of the request: the network says what its samples are.
        ({"dnn": "unet3d", "dataset": data(250e6, "raw files")}, SampleFormat.VOLUMES, FormatBasis.NETWORK),
        ({"dnn": "transformer-big", "dataset": data(300)}, SampleFormat.TOKENS, FormatBasis.NETWORK),
        ({"dnn": "transformer-big", "dataset": data(300, "raw files")}, SampleFormat.TEXT, FormatBasis.NETWORK),
        ({"dnn": custom(160, "ncf"), "dataset": data(160)}, SampleFormat.TABULAR, FormatBasis.NETWORK),
        ({"dnn": custom(6e6, "ssd-resnet34"), "dataset": data(1.5e6)}, SampleFormat.JPEG, FormatBasis.NETWORK),
        ({"dnn": "resnet50", "dataset": data(2e9, "raw files")}, SampleFormat.SLIDES, FormatBasis.NETWORK),
        # Latents are tensors; pictures that are not encoded yet are decoded first.
        (
            {"dnn": "stable-diffusion-v2", "stack": None, "dataset": data(80e3)},
            SampleFormat.TENSORS,
            FormatBasis.NETWORK,
        ),
        ({"dnn": "flux-1", "stack": None, "dataset": data(2e6)}, SampleFormat.TENSORS, FormatBasis.NETWORK),
        (
            {"dnn": "stable-diffusion-v2", "stack": None, "dataset": data(80e3, "raw files")},
            SampleFormat.JPEG,
            FormatBasis.NETWORK,
        ),
        # Volumes are cropped and augmented, also those that are stored as arrays.
        (
            {"dnn": {**custom(8_388_608), "kind": "volume"}, "dataset": data(60e6, "decoded tensors")},
            SampleFormat.VOLUMES,
            FormatBasis.NETWORK,
        ),
        # Nothing describes the samples but their size.
        ({"dnn": custom(160), "dataset": data(160)}, SampleFormat.TABULAR, FormatBasis.SIZE),
        ({"dnn": custom(8192), "dataset": data(16_384)}, SampleFormat.TOKENS, FormatBasis.SIZE),
        ({"dnn": custom(150_528), "dataset": data(110e3)}, SampleFormat.JPEG, FormatBasis.SIZE),
        ({"dnn": custom(150_528), "dataset": data(2e9)}, SampleFormat.SLIDES, FormatBasis.SIZE),
        ({"dnn": custom(2_097_152), "dataset": data(250e6)}, SampleFormat.VOLUMES, FormatBasis.SIZE),
        # A statement comes first.
        ({"sample_format": "video", "dataset": data(3e6)}, SampleFormat.VIDEO, FormatBasis.STATED),
    ],
)
def test_format_of_samples(work, expected, basis):
    found = resolved(**work)
    assert (found.sample_format, found.format_basis) == (expected, basis)


def test_a_slide_is_read_in_tiles():
    """ResNet-50 takes 3 x 224 x 224 = 150,528 B; a tile is half of that as stored. The data set keeps its size."""
    found = resolved(dataset=data(2e9, "raw files"))
    assert found.sample_bytes == 75_264
    assert found.dataset_bytes == 2e15
    assert found.n_samples == 1e6
    assert found.warnings
    assert resolved(dataset=data(400e3)).sample_bytes == 400e3
