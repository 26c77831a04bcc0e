"""Designs with their bills: PowerEdge C4140 and Apollo 6500."""

import numpy as np

from sizer.sizing.limits import Limit
from sizer.sizing.reasons import Binding, BindingKind, UnknownReadRate
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.workload.request import SizingRequest
from tests.factories.answers import RESNET_WORKLOAD, bill, cluster, line, request, scaling, training_answer
from tests.factories.catalogue import F800, WEKA, tier


def c4140_design(n: int = 1) -> tuple[DesignAnswer, SizingRequest]:
    """C4140 with head node and four F800 nodes behind the gateway."""
    req = request(
        "First training server", [{**RESNET_WORKLOAD, "dataset_bytes": "1.4 TB", "target": {"samples_per_s": 2_700}}]
    )
    rate = 2_940.0 * n
    answer = training_answer(
        req.workload[0],
        rate,
        {
            "storage": (86_000, 0.2),
            "network": (163_000 / 1, 0),
            "decode": (8_900 * n, 0.15),
            "gpu": (rate, 0.05),
            "exchange": (np.inf, 0) if n == 1 else (rate * 4, 0.2),
        },
        "gpu",
        "decode",
        scaling(2_940, 4, 86_000, 4),
        128,
        dataset_bytes=1.4e12,
        probability=0.95,
    )
    design = DesignAnswer(
        **cluster("c4140", "isilon-f800", "edr", n, 4),
        workloads=(answer,),
        tiers=tier(F800, 4, 1.4e12, 144e12),
        bill=bill(
            [
                line("1.1", "compute", "c4140", "Dell EMC", "PowerEdge C4140, 4 × V100-SXM2 16 GB", n),
                line("2.1", "head node", "r740xd", "Dell EMC", "PowerEdge R740xd", 1),
                line("3.1", "storage", "isilon-f800", "Dell EMC", "Isilon F800 chassis, 60 × 3.2 TB SSD", 1),
                line("4.1", "network", "sb7800", "Mellanox", "SB7800, 36 EDR ports", 1, sku="MSB7800-ES2F"),
                line("4.2", "network", "sx6036", "Mellanox", "SX6036 gateway", 1, sku="MSX6036G-2SFS"),
            ]
        ),
        probability=0.95,
        binding=Binding(BindingKind.SMALLEST),
        warnings=(UnknownReadRate(),),
    )
    return design, req


def apollo_design(req: SizingRequest, workloads: tuple[WorkloadAnswer, ...]) -> DesignAnswer:
    """Four Apollo 6500 with eight WekaIO servers on EDR."""
    return DesignAnswer(
        **cluster("apollo-6500", "wekaio", "edr", 4, 8),
        workloads=workloads,
        tiers=tier(WEKA, 8, max(answer.dataset_bytes for answer in workloads), 82e12),
        bill=bill(
            [
                line("1.1", "compute", "apollo-6500", "HPE", "Apollo 6500 Gen10, 8 × V100-SXM2 16 GB", 4),
                line("3.1", "storage", "dl360-gen10", "HPE", "ProLiant DL360 Gen10 with NVMe", 8),
            ]
        ),
        probability=0.93,
        binding=Binding(BindingKind.LIMIT, 3, Limit.GPU_RATE),
        warnings=(),
    )
