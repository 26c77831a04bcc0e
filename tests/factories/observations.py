"""A row of a file of observations, as text."""

import csv
import io
from collections.abc import Iterable

from sizer.calibrate.observations import COLUMNS

# Eight V100 of a DGX-1, ResNet-50: published rows of this kind print 10,000 to 11,200 images/s.
RATE = {
    "id": "a",
    "source": "nobody-2021",
    "where": "p. 1",
    "basis": "table",
    "task": "training",
    "dnn": "resnet50",
    "framework": "mxnet",
    "software": "MXNet NGC 19.07 + DALI",
    "precision": "mixed",
    "batch_per_gpu": "192",
    "gpu": "v100-sxm2-16gb",
    "server": "dgx-1",
    "servers": "1",
    "gpus": "8",
    "loader": "dali",
    "data": "real",
    "quantity": "samples_per_s",
    "value": "10000",
}


def observation_text(columns: Iterable[str] = COLUMNS, **changes: str) -> str:
    """A file of one rate of a training, with some cells changed."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerow({**RATE, **changes})
    return out.getvalue()
