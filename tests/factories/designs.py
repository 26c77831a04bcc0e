"""Designs with their bills: PowerEdge C4140 and Apollo 6500."""

import numpy as np

from sizer.sizing.limits import Limit
from sizer.sizing.reasons import Binding, BindingKind, UnknownReadRate
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.workload.request import SizingRequest
from tests.factories.answers import (
    RESNET_WORKLOAD,
    bill,
    line,
    network,
    plan,
    platform_with,
    quantities,
    request,
    scaling,
    training_answer,
)
from tests.factories.catalogue import (
    APOLLO,
    C4140,
    D4040,
    DL360,
    F800_ONE_PORT,
    LINKS,
    R740XD,
    SB7800,
    SX6036,
    WEKA,
    tier,
)


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
    platform = platform_with(
        server=C4140,
        gpus_per_server=4,
        storage=F800_ONE_PORT,
        fabric=LINKS["edr"],
        fabric_switch=SB7800,
        back_end_switch=D4040,
        gateway=SX6036,
        head_node=R740XD,
    )
    nets = (
        network("compute fabric", "edr", "sb7800", n + 4, free=36 - n - 4),
        network(
            "storage front end",
            "40gbe",
            "sx6036",
            4,
            used=7,
            free=29,
            leaves=0,
            gateways=1,
            uplinks=3,
        ),
        network("storage back end", "40gbe", "celestica-d4040", 8, leaves=2, free=56),
        network("management", "1gbe", "s3048-on", 10, free=38),
    )
    design = DesignAnswer(
        platform=platform,
        n_servers=n,
        n_gpus=4 * n,
        storage_nodes=4,
        workloads=(answer,),
        tiers=tier(F800_ONE_PORT, 4, 1.4e12, 144e12),
        quantities=quantities(
            [
                ("GPU server", "compute", "c4140", n),
                ("head node", "head node", "r740xd", 1),
                ("storage chassis", "storage", "isilon-f800", 1),
                ("compute leaf switch", "network", "sb7800", 1),
                ("gateway", "network", "sx6036", 1),
                ("back-end switch", "network", "celestica-d4040", 2),
                ("management switch", "network", "s3048-on", 1),
                ("compute cable", "cable and optic", "mcp1600-e", 5),
            ],
            nets,
            rack_units=13.0,
            racks=1,
            typical=5_200.0,
            maximum=6_300.0,
            raw=192e12,
            front_end=20e9,
            gateway=20.4e9,
            unknown_power=("celestica-d4040",),
            weight=190.0,
        ),
        plan=plan("c4140", "isilon-f800", "edr", n, 4),
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
    nets = (
        network("compute fabric", "edr", "sb7800", 33, free=3),
        network("management", "1gbe", "s3048-on", 14, free=34),
    )
    return DesignAnswer(
        platform=platform_with(
            server=APOLLO, storage=WEKA, storage_server=DL360, fabric_switch=SB7800, head_node=R740XD
        ),
        n_servers=4,
        n_gpus=32,
        storage_nodes=8,
        workloads=workloads,
        tiers=tier(WEKA, 8, max(answer.dataset_bytes for answer in workloads), 82e12),
        quantities=quantities(
            [("GPU server", "compute", "apollo-6500", 4), ("storage server", "storage", "dl360-gen10", 8)],
            nets,
            rack_units=28.0,
            racks=1,
            typical=15_800.0,
            maximum=19_900.0,
            raw=123e12,
            unknown_weight=("apollo-6500",),
        ),
        plan=plan("apollo-6500", "wekaio", "edr", 4, 8),
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
