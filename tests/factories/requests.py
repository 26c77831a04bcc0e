"""The shipped catalogue, and requests that several tests ask."""

from functools import partial
from pathlib import Path
from typing import Any

from sizer.calibrate.reports import report_on_files
from sizer.calibrate.validate import ValidationReport
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.stages.language_rates import rate_of_training
from sizer.workload.request import SizingRequest

CATALOG = shipped_catalog()


def report_on(path: Path) -> ValidationReport:
    """What is predicted of the rows of one file of others."""
    return report_on_files([path], CATALOG, partial(rate_of_training, catalog=CATALOG))


def resnet_request(dataset_bytes: str, target: dict[str, Any], **tables: Any) -> SizingRequest:
    """Training of ResNet-50 with the batch and stack of the published DGX-1 runs."""
    work = {"dnn": "resnet50", "stack": "tf-cnn-benchmarks-ngc18.09", "batch_per_gpu": 256, "dataset": "imagenet"}
    return SizingRequest.from_dict({"workload": [{**work, "dataset_bytes": dataset_bytes, "target": target}], **tables})


def recommender_request(server: str) -> SizingRequest:
    """10 G parameters in tables; 5 MFLOP a sample; one epoch of 4 G samples of 160 B within four hours."""
    dnn = {"name": "tables", "forward_flop": 5e6, "parameters": 10e9, "input_bytes": 160, "like": "ncf"}
    data = {"name": "log", "n_samples": 4e9, "sample_bytes": "160 B"}
    work = {"name": "clicks", "dnn": dnn, "dataset": data, "batch_per_gpu": 2048, "epochs": 1}
    work["target"] = {"time_to_train_s": "4 h"}
    return SizingRequest.from_dict({"workload": [work], "platforms": {"servers": [server], "storage": ["c4140-nvme"]}})
