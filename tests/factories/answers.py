"""Parts of a sizing result: stages, quantities, bills, answers to workloads."""

import datetime
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate, Spread
from sizer.bom.bill import Bill, BillLine, BillWarning, BillWarningKind, LineNote
from sizer.catalog.model import Statement
from sizer.catalog.sample_formats import SampleFormat
from sizer.physical.layout import building_plan
from sizer.physical.notes import PlanNote
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.violations import Violation, ViolationKind
from sizer.sizing.assumptions import AssumedFact, CableRoute, DefaultTaken, MissingFacts, MissingReadRate
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult
from sizer.sizing.design.verdict import verdict_of
from sizer.sizing.limits import Limit
from sizer.sizing.reasons import (
    DecodeReason,
    ExchangeReason,
    GpuReason,
    NetworkPart,
    NetworkReason,
    RunnerUpKind,
    RunnerUpReason,
    Selection,
    SelectionKind,
    StageReason,
    StorageReason,
)
from sizer.sizing.result import (
    DesignAnswer,
    NearbyMeasurement,
    ParetoPoint,
    Scaling,
    SizingResult,
    Stage,
    TrainingTime,
    WorkloadAnswer,
)
from sizer.sizing.stages.gpu_memory import MemoryAnswer
from sizer.sizing.stages.sharding import Sharding
from sizer.workload.language import DefaultKind
from sizer.workload.request import SizingRequest, Workload
from sizer.workload.resolve import WorkloadDefault
from sizer.workload.sample_format import FormatBasis
from tests.factories.catalogue import (
    BLOG,
    CATALOG,
    DGX1,
    F800,
    GUIDE,
    IMAGENET,
    LINKS,
    MLPERF,
    RECIPE,
    RESNET,
    TENSORFLOW,
)


def spread(value: float, relative: float) -> Estimate:
    """Estimate whose 90 % interval is about plus and minus ``relative``."""
    return Estimate.log_normal(value, np.log1p(relative) / 1.645)


def stages(throughput: float, capacities: dict[str, tuple[float, float]], limiting: str) -> tuple[Stage, ...]:
    """Stages from capacity and relative half-width."""
    reasons: dict[str, StageReason] = {
        "storage": StorageReason(
            is_local=False,
            read_low_bytes_per_s=2.49e9,
            read_high_bytes_per_s=3.75e9,
            line_bytes_per_s=10e9,
            sample_bytes=115e3,
            hit_fraction=0.0,
            node_memory_fraction=None,
        ),
        "network": NetworkReason(LINKS["100gbe"], 50e9, 45e3, None, None, NetworkPart.SERVERS),
        "decode": DecodeReason(3.2e-3, 40, "framework", SampleFormat.JPEG, FormatBasis.DATA_SET, 1.6e-3, 14e-9),
        "gpu": GpuReason("Tesla V100 SXM2 16 GB", 8, 256, "TensorFlow NGC 18.09", is_inference=False),
        "exchange": ExchangeReason(51.2e6, None, 50e9),
    }
    return tuple(
        Stage(
            key=key,
            capacity=spread(value, half) if np.isfinite(value) else Estimate.exact(np.inf),
            load_fraction=min(throughput / value, 1.0) if np.isfinite(value) else 0.0,
            is_limiting=key == limiting,
            reason=reasons[key],
            sources=(BLOG, GUIDE),
        )
        for key, (value, half) in capacities.items()
    )


def scaling(per_server: float, gpus: int, cap: float, n: int) -> Scaling:
    """Nearly linear growth up to a cap."""
    servers = np.arange(1, n + 1, dtype=float)
    linear = per_server * servers * (1 - 0.012 * np.log2(servers))
    through = np.minimum(linear, cap)
    return Scaling(
        n_servers=servers,
        n_gpus=servers * gpus,
        throughput=Estimate.log_normal(through, 0.022),
        stage_capacity={
            "storage": np.full(n, cap),
            "network": servers * 390_000.0,
            "decode": servers * per_server * 2.1,
            "gpu": linear,
            "exchange": linear * 3,
        },
    )


@cache
def cluster(server: str, storage: str, fabric: str, n_servers: int, storage_nodes: int) -> dict[str, Any]:
    """Fields of a design: platform, sizes, counts and building plan of a cluster of the shipped catalogue."""
    asked = {
        "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
        "platforms": {"servers": [server], "storage": [storage], "fabrics": [fabric]},
    }
    chosen = platforms(CATALOG, SizingRequest.from_dict(asked))[0]
    counted = slice_row(quantities(chosen, [n_servers], [storage_nodes], catalog=CATALOG), 0)
    return {
        "platform": chosen,
        "n_servers": n_servers,
        "n_gpus": n_servers * chosen.gpus_per_server,
        "storage_nodes": storage_nodes,
        "quantities": counted,
        "plan": building_plan(chosen, counted, n_servers, storage_nodes, catalog=CATALOG),
    }


def line(
    number: str,
    category: str,
    item: str,
    maker: str,
    description: str,
    quantity: int,
    price: str | None = None,
    sku: str = "",
    notes: tuple[PlanNote | LineNote, ...] = (),
    status: Any = "computed",
    **more: Any,
) -> BillLine:
    """One line of a bill."""
    return BillLine(
        line=number,
        category=category,
        item=item,
        manufacturer=maker,
        sku=sku,
        description=description,
        quantity=quantity,
        unit="EA",
        unit_price=None if price is None else Decimal(price),
        price_source="price list" if price else "",
        price_date="2017-05" if price else "",
        status=status,
        notes=notes,
        **more,
    )


def bill(lines: list[BillLine], **more: Any) -> Bill:
    """Bill of those lines."""
    return Bill("USD", tuple(lines), (BillWarning(BillWarningKind.SALE_ENDED, ("DGX-1", "2020-03-31")),), **more)


def request(title: str, workload: list[dict[str, Any]], customer: str = "Example Motors", **more: Any) -> SizingRequest:
    """Request with a fixed date."""
    return SizingRequest.from_dict(
        {"title": title, "customer": customer, "date": datetime.date(2019, 3, 1), "workload": workload, **more}
    )


RESNET_WORKLOAD: dict[str, Any] = {
    "name": "Image classification",
    "dnn": "resnet50",
    "stack": "tensorflow-18.09",
    "batch_per_gpu": 256,
    "dataset": "imagenet",
    "dataset_bytes": "22.2 TB",
    "recipe": "resnet50-75.9",
    "target": {"samples_per_s": 48_000},
}


def evidence() -> tuple[NearbyMeasurement, ...]:
    """Published runs with their predictions."""

    def run(
        name: str, source: str, where: str, n_gpus: int, server: str, rates: tuple[float, Estimate], *, fitted: bool
    ) -> NearbyMeasurement:
        return NearbyMeasurement(
            name, source, where, "Tesla V100 SXM2 16 GB", server, "TensorFlow NGC 18.09", n_gpus, *rates, fitted
        )

    place = "results, small images"
    return (
        run("a", BLOG, place, 72, "DGX-1", (52_274.0, spread(52_100, 0.04)), fitted=True),
        run("b", GUIDE, "figure 13", 4, "C4140", (2_940.0, spread(2_870, 0.06)), fitted=False),
        run("c", BLOG, place, 32, "DGX-1", (23_500.0, spread(23_200, 0.04)), fitted=False),
    )


def training_answer(
    workload: Workload,
    rate: float,
    capacities: dict[str, tuple[float, float]],
    limiting: str,
    next_: str,
    grid: Scaling,
    batch: int = 256,
    **more: Any,
) -> WorkloadAnswer:
    """How ResNet-50 training runs."""
    epoch = 1_281_167 / rate
    sample_bytes = 115_154.0
    fields: dict[str, Any] = {
        "workload": workload,
        "dnn": RESNET,
        "dataset": IMAGENET,
        "stack": TENSORFLOW,
        "recipe": RECIPE,
        "batch_per_gpu": batch,
        "memory": MemoryAnswer(
            need_bytes=9.6e9,
            state_bytes=0.3e9,
            memory_bytes=16 * 2**30,
            probability=0.95,
            largest_batch=285,
            sharding=Sharding.NONE,
            is_fitted=True,
        ),
        "dataset_bytes": 22.2e12,
        "sample_bytes": sample_bytes,
        "sample_format": SampleFormat.JPEG,
        "format_basis": FormatBasis.DATA_SET,
        "throughput": spread(rate, 0.036),
        "storage_bytes_per_s": spread(rate * sample_bytes, 0.036),
        "cold_storage_bytes_per_s": spread(rate * sample_bytes, 0.036),
        "cpu_utilization_fraction": spread(0.46, 0.09),
        "gpu_busy_fraction": 0.97,
        "cache_hit_fraction": 0.03,
        "scaling_efficiency": 0.962,
        "stages": stages(rate, capacities, limiting),
        "bottleneck": limiting,
        "next_bottleneck": next_,
        "probability": 0.974,
        "target_check": CheckResult.MET,
        "time": TrainingTime(
            epochs=spread(64, 0.05),
            start_up_s=95.0,
            first_epoch_s=spread(epoch * 1.4, 0.2),
            epoch_s=spread(epoch, 0.036),
            evaluations_s=spread(21.0, 0.1),
            total_s=spread(95 + epoch * 64.4 + 21, 0.07),
        ),
        "scaling": grid,
        "gpu_spread": Spread(parameters=0.02, within=0.03, between=0.03),
        "extrapolations": (),
        "unmeasured": (),
        "evidence": evidence(),
        "warnings": (),
    }
    return WorkloadAnswer(**{**fields, **more})


def pareto_points(names: list[tuple[str, str, int, int, int, float, float, float, bool]]) -> tuple[ParetoPoint, ...]:
    return tuple(
        ParetoPoint(
            name=f"{n} × {server} + {nodes} × {storage} nodes",
            server=server,
            storage=storage,
            n_servers=n,
            n_gpus=gpus,
            storage_nodes=nodes,
            throughput_samples_per_s=rate,
            time_s=1_281_167 * 64 / rate * 1.05,
            power_w=watts,
            rack_units=units,
            cost=None,
            is_documented=chosen,
        )
        for server, storage, n, gpus, nodes, rate, watts, units, chosen in names
    )


ASSUMPTIONS = (
    DefaultTaken("Image classification", WorkloadDefault(DefaultKind.BATCH_PER_GPU, 128)),
    CableRoute(0.3, 0.3, 1.2, 0.1),
    AssumedFact(DGX1, Statement("depth_m", 0.866, MLPERF, "", "assumed", "comparable chassis; ask the vendor"), None),
)
QUESTIONS = (MissingFacts(DGX1, ("depth_m",)), MissingReadRate(F800))


def recommended(req: SizingRequest) -> SizingResult:
    """The recommended design of a request alone: without other designs, its nearest runs and its scaling curve."""
    return result(req, best_design(req, CATALOG).design)


def result(req: SizingRequest, design: DesignAnswer, **more: Any) -> SizingResult:
    """Result around one design."""
    fields: dict[str, Any] = {
        "request": req,
        "catalog_digest": "3f9a1c0d27b4",
        "calibration_digest": "b81e55d0c2aa",
        "verdict": verdict_of(design, (design,), CATALOG),
        "design": design,
        "spare_cost": None,
        "selection": Selection(SelectionKind.LIKELY_CHEAPEST, 3),
        "platforms": (design,),
        "deciding_prices": ("isilon-f800", "sn2700"),
        "runner_up": None,
        "runner_up_reason": RunnerUpReason(RunnerUpKind.NONE),
        "pareto": (),
        "n_designs": 14_208,
        "ruled_out": {Limit.GPU_RATE: 9_120, Violation(ViolationKind.DEVICE_EXCEEDS_RACK): 411},
        "assumptions": ASSUMPTIONS,
        "questions": QUESTIONS,
        "sources": (BLOG, GUIDE, MLPERF),
    }
    return SizingResult(**{**fields, **more})
