"""Parts of the shipped catalogue that hand-made results are built of, and stacks and a recipe that it does not have."""

from typing import Any

from sizer.base.provenance import Sourced
from sizer.catalog.schema import EpochPoint, Recipe, Stack, Storage
from sizer.sizing.constraints.tiers import StorageTier, TierContent
from tests.factories.examples import catalog

GUIDE, BLOG, MLPERF = "dell-ready-ai-nvidia-2018", "dell-isilon-dgx1-blog-2018", "mlperf-v0.6"
CATALOG = catalog()
LINKS = CATALOG.links


def fact(value: Any) -> Any:
    """A sourced value."""
    return Sourced[Any](value=value, basis="datasheet", source=GUIDE, where="specification table", note="")


DGX1, F800, WEKA = CATALOG.servers["dgx-1"], CATALOG.storage["isilon-f800"], CATALOG.storage["wekaio"]
RESNET, GOOGLENET = CATALOG.dnns["resnet50"], CATALOG.dnns["googlenet"]
IMAGENET, TENSORS = CATALOG.datasets["imagenet-tfrecord"], CATALOG.datasets["imagenet-tensors-uint8"]
TENSORFLOW = Stack(
    id="tensorflow-18.09",
    name="TensorFlow, NGC 18.09",
    vendor="NVIDIA",
    framework="tensorflow",
    released=fact("2018-09"),
    precisions=("mixed", "fp32"),
    loader="framework",
)
TENSORRT = TENSORFLOW.model_copy(
    update={"id": "tensorrt-4", "name": "TensorRT 4", "loader": "none", "task": "inference"}
)
RECIPE = Recipe(
    id="resnet50-75.9",
    name="ResNet-50 to 75.9 %",
    vendor="",
    dnn="resnet50",
    target=fact("75.9 % top-1"),
    evaluate_every_epochs=fact(4.0),
    points=(EpochPoint(global_batch=16384, epochs=64, source=MLPERF, where="results"),),
)


def tier(storage: Storage, nodes: int, required_bytes: float, usable_bytes: float) -> tuple[StorageTier, ...]:
    """The only tier of a storage."""
    content = TierContent.EVERYTHING
    return (StorageTier(content, storage, 0, nodes, required_bytes, required_bytes, usable_bytes),)
