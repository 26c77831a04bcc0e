"""Published trainings nearest to a network of one's own."""

import math

from sizer.calibrate.own_networks import OwnRun, estimated_rates, trainings_of
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.sizing.result import NearbyMeasurement
from sizer.workload.resolve import ResolvedWorkload


def nearest_trainings(
    work: ResolvedWorkload, gpu: Gpu, n_gpus: int, most: int, catalog: Catalog
) -> tuple[NearbyMeasurement, ...]:
    """Trainings of networks of the same kind, nearest in generation, GPU, work of a sample and number of GPUs."""
    flop = work.dnn.forward_flop.value

    def distance(run: OwnRun) -> tuple[bool, bool, float, float, str]:
        sizes = abs(math.log2(run.forward_flop / flop)), abs(math.log2(run.gpus / n_gpus))
        return (run.generation != gpu.generation, run.gpu != gpu.id, *sizes, run.id)

    nearest = sorted(trainings_of(work.own_kind or ""), key=distance)[:most]
    rates = estimated_rates(nearest)
    return tuple(
        NearbyMeasurement(
            id=run.id,
            source=run.source,
            where=run.where,
            gpu=catalog.gpus[run.gpu].name if run.gpu in catalog.gpus else run.gpu,
            server="",
            software=f"{run.network.replace('_', '-')}, {run.software}",
            n_gpus=run.gpus,
            published=run.samples_per_s,
            predicted=rates[place],
            calibrates=True,
            is_same_stack=False,
            batch_per_gpu=run.batch_per_gpu,
        )
        for place, run in enumerate(nearest)
    )
