"""Sizing results made by hand, for tests of documents and files. Numbers are those of the published designs."""

import numpy as np

from sizer.base.estimate import Estimate
from sizer.bom.bill import stated
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.sizing.limits import Limit
from sizer.sizing.reasons import Binding, BindingKind, BudgetOfPricedLines, RunnerUpKind, RunnerUpReason, SizeKey
from sizer.sizing.result import DesignAnswer, SizingResult
from tests.factories.answers import (
    ASSUMPTIONS,
    RESNET_WORKLOAD,
    bill,
    cluster,
    line,
    pareto_points,
    request,
    result,
    scaling,
    spread,
    training_answer,
)
from tests.factories.catalogue import CATALOG, F800, GOOGLENET, GUIDE, TENSORRT, TENSORS, tier
from tests.factories.designs import apollo_design, c4140_design


def nine_dgx1() -> SizingResult:
    """Nine DGX-1 with eight F800 nodes on Ethernet, compared with C4140 and Apollo."""
    req = request(
        "Training cluster for driver assistance",
        [RESNET_WORKLOAD],
        platforms={"storage": ["isilon-f800", "wekaio"]},
        limits={"racks": 4, "rack_power_w": "17.3 kW"},
    )
    answer = training_answer(
        req.workload[0],
        52_300.0,
        {
            "storage": (172_800, 0.12),
            "network": (695_000, 0),
            "decode": (112_500, 0.12),
            "gpu": (52_900, 0.036),
            "exchange": (221_000, 0.25),
        },
        "gpu",
        "decode",
        scaling(5_985, 8, 172_800, 18),
    )
    design = DesignAnswer(
        **cluster("dgx-1", "isilon-f800", "100gbe", 9, 8),
        workloads=(answer,),
        tiers=tier(F800, 8, answer.dataset_bytes, 336e12),
        bill=bill(
            [
                line(
                    "1.1",
                    "compute",
                    "dgx-1",
                    "NVIDIA",
                    "DGX-1 with 8 × V100-SXM2 16 GB",
                    9,
                    "149000.00",
                    "920-22787-2510-000",
                    stated("launch price, end of sale 2020"),
                ),
                line("3.1", "storage", "isilon-f800", "Dell EMC", "Isilon F800 chassis, 60 × 3.2 TB SSD", 2),
                line("4.1", "network", "sn2700", "Mellanox", "SN2700, 32 × 100 GbE", 6, sku="MSN2700-CS2F"),
                line("4.2", "network", "celestica-d4040", "Celestica", "D4040 back-end switch", 2),
                line("4.3", "network", "s3048-on", "Dell EMC", "S3048-ON, 48 × 1 GbE", 1, sku="210-AEDP"),
                line(
                    "5.1",
                    "cable and optic",
                    "mcp1600-c",
                    "Mellanox",
                    "100 GbE copper cable, 3 m",
                    92,
                    sku="MCP1600-C003",
                ),
                line(
                    "5.2",
                    "cable and optic",
                    "mc2210128-003",
                    "Mellanox",
                    "40 GbE copper cable, 3 m",
                    32,
                    sku="MC2210128-003",
                ),
                line("6.1", "rack and power", "ar3300", "APC", "NetShelter SX 42U, 600 × 1 200 mm", 3, sku="AR3300"),
                line("6.2", "rack and power", "ap8886", "APC", "Metered rack PDU, 17.3 kW", 6, sku="AP8886"),
                line(
                    "7.1",
                    "software",
                    "insightiq",
                    "Dell EMC",
                    "InsightIQ storage monitoring",
                    1,
                    notes=(PlanNote(PlanNoteKind.STATED, ("optional",)),),
                    status="optional",
                ),
            ]
        ),
        probability=0.974,
        binding=Binding(BindingKind.LIMIT, 8, Limit.GPU_RATE),
        warnings=(BudgetOfPricedLines(),),
    )
    small, _ = c4140_design(19)
    apollo = apollo_design(req, small.workloads)
    points = pareto_points(
        [
            ("DGX-1", "Isilon F800", 9, 72, 8, 52_300, 37_900, 45, True),
            ("DGX-1", "Isilon F800", 10, 80, 8, 58_000, 41_400, 48, False),
            ("DGX-1", "Isilon F800", 12, 96, 8, 69_300, 48_400, 54, False),
            ("PowerEdge C4140", "Isilon F800", 19, 76, 8, 53_900, 44_300, 37, False),
            ("PowerEdge C4140", "Isilon F800", 24, 96, 8, 67_500, 54_300, 42, False),
            ("Apollo 6500 Gen10", "WekaIO Matrix", 9, 72, 8, 52_800, 40_600, 56, False),
        ]
    )
    return result(
        req,
        design,
        platforms=(design, small, apollo),
        pareto=points,
        runner_up=points[3],
        runner_up_reason=RunnerUpReason(RunnerUpKind.LARGER, 9, 19, SizeKey.SERVERS),
    )


def one_c4140() -> SizingResult:
    """One C4140 with head node and F800 behind the gateway."""
    design, req = c4140_design()
    return result(req, design)


def single_server() -> SizingResult:
    """One server and the site's NFS: no cluster needed."""
    req = request(
        "Defect detection on the line",
        [
            {
                **RESNET_WORKLOAD,
                "name": "Defect detection",
                "dataset_bytes": "148 GB",
                "target": {"time_to_train_s": "12 h"},
            }
        ],
        customer="",
    )
    answer = training_answer(
        req.workload[0],
        5_900.0,
        {
            "storage": (10_850, 0.4),
            "network": (10_850, 0),
            "decode": (12_500, 0.12),
            "gpu": (5_900, 0.05),
            "exchange": (18_000, 0.3),
        },
        "gpu",
        "storage",
        scaling(5_900, 8, 30_000, 4),
        dataset_bytes=148e9,
        probability=0.999,
        cache_hit_fraction=1.0,
        storage_bytes_per_s=Estimate.exact(0.0),
    )
    design = DesignAnswer(
        **cluster("dgx-1", "nfs-generic", "100gbe", 1, 0),
        workloads=(answer,),
        tiers=tier(CATALOG.storage["nfs-generic"], 0, 148e9, 120e12),
        bill=bill([line("1.1", "compute", "dgx-1", "NVIDIA", "DGX-1 with 8 × V100-SXM2 16 GB", 1, "149000.00")]),
        probability=0.999,
        binding=Binding(BindingKind.SMALLEST),
        warnings=(),
    )
    return result(req, design, platforms=(design,), assumptions=ASSUMPTIONS[:2], questions=(), deciding_prices=())


def four_apollo() -> SizingResult:
    """Four Apollo 6500 with WekaIO: training and validation inference side by side."""
    req = request(
        "Shared training platform",
        [
            {**RESNET_WORKLOAD, "target": {"samples_per_s": 20_000}},
            {
                "name": "Validation",
                "task": "validation-inference",
                "dnn": "googlenet",
                "dataset": "imagenet-tensors",
                "target": {"samples_per_s": 120_000},
            },
        ],
    )
    first = training_answer(
        req.workload[0],
        22_900.0,
        {
            "storage": (260_000, 0.3),
            "network": (430_000, 0),
            "decode": (50_000, 0.15),
            "gpu": (23_100, 0.04),
            "exchange": (92_000, 0.3),
        },
        "gpu",
        "decode",
        scaling(5_985, 8, 260_000, 8),
        probability=0.95,
    )
    second = training_answer(
        req.workload[1],
        166_000.0,
        {
            "storage": (198_000, 0.3),
            "network": (330_000, 0),
            "decode": (np.inf, 0),
            "gpu": (166_000, 0.3),
            "exchange": (np.inf, 0),
        },
        "gpu",
        "storage",
        scaling(42_000, 8, 198_000, 8),
        128,
        dnn=GOOGLENET,
        dataset=TENSORS,
        stack=TENSORRT,
        recipe=None,
        time=None,
        probability=0.94,
        sample_bytes=150_528.0,
        dataset_bytes=22e12,
        throughput=spread(166_000, 0.3),
        storage_bytes_per_s=spread(166_000 * 150_528, 0.3),
        evidence=(),
        warnings=("GoogLeNet inference is extrapolated from one published point.",),
    )
    design = apollo_design(req, (first, second))
    return result(req, design, sources=("weka-scaling-2019", GUIDE))


ALL = {"nine_dgx1": nine_dgx1, "one_c4140": one_c4140, "single_server": single_server, "four_apollo": four_apollo}
