"""What the GPUs' side of a workload depends on, whatever data it reads."""

from collections.abc import Hashable

from sizer.workload.resolve import ResolvedWorkload


def network_key(work: ResolvedWorkload) -> tuple[Hashable, ...]:
    """What batches and GPU memory depend on, and the rates of GPUs of all but language models."""
    asked = work.request
    return (
        *(work.dnn, asked.dnn, work.like, work.stack, work.mlperf, work.own_kind, asked.run, asked.measured),
        *(asked.precision, asked.task, asked.batch_per_gpu, work.batch_per_gpu, bool(work.batches)),
        *(tuple(work.batch_sizes), asked.target.gpus_busy if work.batch_sizes else None),
    )
