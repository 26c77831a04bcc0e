"""What the GPUs' side of a workload depends on, whatever data it reads."""

from collections.abc import Hashable

from sizer.base.identity_cache import identity_of
from sizer.workload.resolve import ResolvedWorkload


def network_key(work: ResolvedWorkload) -> tuple[Hashable, ...]:
    """What batches and GPU memory depend on, and the rates of GPUs of all but language models."""
    asked = work.request
    own = None if isinstance(asked.dnn, str) else identity_of(asked.dnn)
    return (
        *(identity_of(work.dnn), own, work.like, identity_of(work.stack), work.mlperf),
        *(asked.precision, asked.task, asked.batch_per_gpu, work.batch_per_gpu, bool(work.batches)),
        *(tuple(work.batch_sizes), asked.target.gpus_busy if work.batch_sizes else None),
    )
