"""Requests to measure with: the same seed gives the same ones, all different, none kept."""

import random
from collections.abc import Iterator
from typing import Any

from sizer.base.resources import data_dir
from sizer.workload.request import SizingRequest

# What architects ask for: one kind of server or a few, the storage they have or any of a list; now and then anything.
_PLATFORMS: tuple[dict[str, Any], ...] = (
    {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]},
    {"servers": ["c4140"], "storage": ["isilon-f800"], "fabrics": ["edr"]},
    {"servers": ["apollo-6500"], "storage": ["wekaio"]},
    {"servers": ["dgx-1", "c4140", "apollo-6500"], "storage": ["isilon-f800", "wekaio"]},
    {"servers": ["v225g"]},
    {"gpus": ["v100-sxm2-16gb"]},
    {"storage": ["isilon-f800"]},
    {},
)
_DNNS = ("resnet50", "vgg16", "inception-v4", "inception-v3", "resnet152", "googlenet", "alexnet")
_SAMPLE_BYTES = (113e3, 250e3, 600e3, 1.3e6)


def many_requests(count: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Different requests, one at a time.

    Most are met by some tens of servers. About one in six is not met by anything: a room too small, a time too short.
    """
    draw = random.Random(seed)
    for number in range(count):
        dnn = draw.choice(_DNNS)
        work: dict[str, Any] = {
            "dnn": dnn,
            "precision": draw.choice(("mixed", "mixed", "fp32")),
            "access": draw.choice(("random", "sharded")),
            "cache": draw.choice(("page-cache", "page-cache", "none")),
            "sample_bytes": draw.choice(_SAMPLE_BYTES),
            "dataset_bytes": draw.uniform(0.2e12, 60e12),
        }
        kind = draw.random()
        if kind < 0.6:
            work["target"] = {"samples_per_s": 10 ** draw.uniform(2.5, 4.8)}
        elif kind < 0.8:
            work["target"] = {"gpus_busy": draw.randint(1, 128)}
        else:
            work |= {"target": {"time_to_train_s": draw.uniform(3, 120) * 3600}, "epochs": draw.randint(30, 100)}
        asked: dict[str, Any] = {
            "title": f"Request {number + 1}",
            "confidence": draw.choice((0.5, 0.8, 0.9, 0.95)),
            "workload": [work],
            "platforms": draw.choice(_PLATFORMS),
        }
        if draw.random() < 0.2:
            asked["limits"] = draw.choice(({"racks": draw.randint(1, 8)}, {"power_w": draw.uniform(10e3, 200e3)}))
        yield asked


def open_request(rate_samples_per_s: float, most_servers: int, **platforms: Any) -> SizingRequest:
    """ResNet-50 of the first example at some rate, on every platform of V100 systems or on those named."""
    example = SizingRequest.from_file(data_dir("examples") / "dgx1-f800-resnet50.toml").model_dump(exclude_none=True)
    (work,) = example["workload"]
    asked = {**example, "workload": [{**work, "target": {"samples_per_s": rate_samples_per_s}}]}
    return SizingRequest.from_dict(
        {**asked, "platforms": platforms or {"generations": ["volta"]}, "limits": {"servers": most_servers}}
    )
