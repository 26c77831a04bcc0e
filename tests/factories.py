"""Sizing results made by hand, for tests of documents and files. Numbers are those of the published designs."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate, Spread
from sizer.base.provenance import Sourced
from sizer.bom.bill import Bill, BillLine
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.schema import (
    CapacityOption,
    Dataset,
    Dnn,
    EpochPoint,
    Gateway,
    Gpu,
    Pdu,
    Port,
    Rack,
    Recipe,
    Server,
    Sku,
    Source,
    Stack,
    Storage,
    Switch,
)
from sizer.drawings.datapath import datapath
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.physical.components import Component, Network, Quantities
from sizer.physical.layout import building_plan
from sizer.physical.plan import Plan
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities as count
from sizer.physical.quantities import slice_row
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.design.verdict import verdict_of
from sizer.sizing.limits import Limit
from sizer.sizing.reasons import (
    Binding,
    BindingKind,
    BudgetOfPricedLines,
    DecodeReason,
    ExchangeReason,
    GpuReason,
    NetworkReason,
    RunnerUpKind,
    RunnerUpReason,
    Selection,
    SelectionKind,
    SizeKey,
    StageReason,
    StorageReason,
    UnknownReadRate,
)
from sizer.sizing.result import (
    Assumption,
    DesignAnswer,
    NearbyMeasurement,
    ParetoPoint,
    Scaling,
    SizingResult,
    Stage,
    TrainingTime,
    WorkloadAnswer,
)
from sizer.workload.request import SizingRequest, Workload

GUIDE, BLOG, MLPERF, ASSUMED = "dell-ready-ai-nvidia-2018", "dell-isilon-dgx1-blog-2018", "mlperf-v0.6", "request"


def fact(
    value: Any, source: str = GUIDE, basis: str = "datasheet", where: str = "specification table", note: str = ""
) -> Any:
    """A sourced value."""
    return Sourced[Any](value=value, basis=basis, source=source, where=where, note=note)


def port(kind: Any, count: int, use: Any = "any", also: tuple[Any, ...] = ()) -> Port:
    """Ports with a source."""
    return Port(kind=kind, count=count, use=use, also=also, basis="datasheet", source=GUIDE, where="port table")


@dataclass(frozen=True)
class FakeCatalog:
    """What documents need of a catalogue."""

    sources: Mapping[str, Source]
    items: Mapping[str, Any]

    def item(self, item_id: str) -> Any:
        """Item by id; parts of the plan come from the shipped catalogue."""
        return self.items[item_id] if item_id in self.items else real_catalog().item(item_id)

    def device(self, item_id: str) -> Any:
        """Item that takes rack units."""
        return self.item(item_id)


def catalog() -> FakeCatalog:
    """Sources that the fake results cite."""
    rows = [
        (
            GUIDE,
            "Dell EMC Ready Solutions for AI - Deep Learning with NVIDIA, architecture guide v1.0",
            "Dell EMC",
            "2018-08",
            "A",
        ),
        (
            BLOG,
            "Accelerating AI and Deep Learning with Dell EMC Isilon and NVIDIA GPUs",
            "Dell EMC / NVIDIA",
            "2018-11",
            "A",
        ),
        (MLPERF, "MLPerf Training v0.6, results and system descriptions", "MLPerf", "2019-07", "A"),
        ("weka-scaling-2019", "Scaling deep learning training with HPE Apollo 6500 and WekaIO", "WekaIO", "2019", "A"),
        ("hitachi-dl-2019", "Deep learning: considerations before buying", "Hitachi Vantara", "2019", "A"),
        ("udt-hw", "Isilon hardware summary", "Unstructured Data Tips", "", "B"),
    ]
    sources = {r[0]: Source(id=r[0], title=r[1], publisher=r[2], date=r[3], grade=r[4]) for r in rows}
    return FakeCatalog(
        sources,
        {
            item.id: item
            for item in (
                DGX1,
                C4140,
                XL270D,
                R740XD,
                DL360,
                F800,
                WEKA,
                HEAD_NFS,
                SN2700,
                SB7800,
                D4040,
                S3048,
                SX6036,
                RACK,
                PDU,
                V100,
            )
        },
    )


V100 = Gpu(
    id="v100-sxm2-16gb",
    name="V100-SXM2 16 GB",
    vendor="NVIDIA",
    form_factor=fact("sxm2"),
    memory_bytes=fact(17_179_869_184.0),
    peak_mixed_flop_per_s=fact(125e12),
    peak_fp32_flop_per_s=fact(15.7e12),
    memory_bytes_per_s=fact(900e9),
    nvlink_bytes_per_s=fact(150e9, note="six links of 25 GB/s"),
    tdp_w=fact(300.0),
)
DGX1 = Server(
    id="dgx-1",
    name="DGX-1",
    vendor="NVIDIA",
    role="gpu",
    skus=(Sku(value="920-22787-2510-000", source=MLPERF, where="system description"),),
    height_u=fact(3.0, MLPERF),
    weight_kg=fact(60.8, MLPERF),
    power_max_w=fact(3500.0, MLPERF),
    depth_m=fact(0.866, MLPERF, "assumed", "comparable chassis", "ask the vendor"),
    gpus=("v100-sxm2-16gb",),
    n_gpus=fact(8, MLPERF),
    intra_link=fact("nvlink2", MLPERF),
    cpu=fact("xeon-e5-2698v4", MLPERF),
    n_cpus=fact(2, MLPERF),
    memory_bytes=fact(512e9, MLPERF),
    ports=(port("edr", 4, also=("100gbe",)), port("10gbe", 2, "management")),
    features={"Local drives": fact("4 × 1.92 TB SATA SSD, RAID 0", MLPERF)},
)
C4140 = Server(
    id="c4140",
    name="PowerEdge C4140",
    vendor="Dell EMC",
    role="gpu",
    height_u=fact(1.0),
    power_low_w=fact(1500.0, GUIDE, "derived", "sum of TDPs"),
    power_high_w=fact(2000.0, GUIDE, "derived", "rating of one supply"),
    gpus=("v100-sxm2-16gb",),
    n_gpus=fact(4),
    intra_link=fact("nvlink2"),
    cpu=fact("xeon-gold-6148"),
    n_cpus=fact(2),
    memory_bytes=fact(384 * 2.0**30),
    ports=(port("edr", 1), port("1gbe", 2, "management")),
)
XL270D = Server(
    id="apollo-6500-xl270d",
    name="Apollo 6500 Gen10",
    vendor="HPE",
    role="gpu",
    height_u=fact(4.0, "weka-scaling-2019"),
    gpus=("v100-sxm2-16gb",),
    n_gpus=fact(8, "weka-scaling-2019"),
    memory_bytes=fact(768 * 2.0**30, "weka-scaling-2019"),
    ports=(port("edr", 4), port("1gbe", 1, "bmc")),
)
R740XD = Server(
    id="r740xd",
    name="PowerEdge R740xd",
    vendor="Dell EMC",
    role="head",
    height_u=fact(2.0),
    memory_bytes=fact(384 * 2.0**30),
    ports=(port("edr", 1), port("1gbe", 4, "management")),
)
DL360 = Server(
    id="dl360-gen10",
    name="ProLiant DL360 Gen10",
    vendor="HPE",
    role="storage",
    height_u=fact(1.0, "weka-scaling-2019"),
    ports=(port("edr", 2), port("1gbe", 1, "bmc")),
)
F800 = Storage(
    id="isilon-f800",
    name="Isilon F800",
    vendor="Dell EMC",
    kind="scale-out-nas",
    height_u=fact(4.0, "udt-hw"),
    weight_kg=fact(77.0, "udt-hw"),
    power_typical_w=fact(1300.0, "udt-hw"),
    power_max_w=fact(1764.0, "udt-hw"),
    nodes_per_unit=fact(4),
    min_nodes=fact(4),
    max_nodes=fact(144),
    node_read_low_bytes_per_s=fact(2.487e9, BLOG, "published", "large images, 19 895 MB/s on 8 nodes"),
    node_read_high_bytes_per_s=fact(3.75e9),
    front_end_kind=fact("40gbe"),
    front_end_ports_per_node=fact(2, BLOG),
    back_end_ports_per_node=fact(2),
    back_end_switch=fact("d4040"),
    cache_bytes_per_node=fact(256e9),
    capacity_options=(CapacityOption(name="3.2 TB SSD", raw_bytes=fact(192e12)),),
    protection=fact("+2d:1n"),
)
F800_ONE_PORT = F800.model_copy(update={"front_end_ports_per_node": fact(1)})
WEKA = Storage(
    id="wekaio-dl360",
    name="WekaIO Matrix",
    vendor="WekaIO",
    kind="parallel-file-system",
    server=fact("dl360-gen10", "weka-scaling-2019"),
    front_end_ports_per_node=fact(2, "weka-scaling-2019"),
    min_nodes=fact(6, "weka-scaling-2019"),
)
HEAD_NFS = Storage(
    id="head-node-nfs",
    name="Head-node NFS",
    vendor="Dell EMC",
    kind="nfs-server",
    height_u=fact(2.0),
    usable_bytes=fact(120e12, GUIDE, "derived", "(12 - 2) x 12 TB"),
    front_end_kind=fact("10gbe", ASSUMED, "assumed", "site network"),
)
LOCAL = Storage(id="local-nvme", name="4 × 1.6 TB local NVMe", vendor="HPE", kind="local", usable_bytes=fact(6.4e12))


def _switch(id_: str, name: str, vendor: str, kind: Any, count: int) -> Switch:
    return Switch(
        id=id_,
        name=name,
        vendor=vendor,
        height_u=fact(1.0),
        power_max_w=fact(398.0),
        ports=(port(kind, count, "fabric"),),
    )


SN2700 = _switch("sn2700", "SN2700", "Mellanox", "100gbe", 32)
SB7800 = _switch("sb7800", "SB7800", "Mellanox", "edr", 36)
D4040 = _switch("d4040", "D4040", "Celestica", "40gbe", 32)
S3048 = _switch("s3048-on", "S3048-ON", "Dell EMC", "1gbe", 48)
SX6036 = Gateway(
    id="sx6036",
    name="SX6036",
    vendor="Mellanox",
    height_u=fact(1.0),
    power_max_w=fact(231.0),
    ports=(port("fdr", 36, "any", ("40gbe",)),),
    uplink_kind=fact("fdr"),
    front_end_kind=fact("40gbe"),
    uplink_bytes_per_s=fact(54.5e9 / 8),
    front_end_bytes_per_s=fact(5e9),
)
RACK = Rack(id="ar3300", name="AR3300", vendor="APC", height_u=fact(42.0), load_kg=fact(1701.0))
PDU = Pdu(
    id="ap8886", name="AP8886", vendor="APC", capacity_w=fact(17300.0), outlets_c13=fact(30), outlets_c19=fact(12)
)
RESNET = Dnn(
    id="resnet50",
    name="ResNet-50",
    vendor="",
    forward_flop=fact(8.2e9),
    parameters=fact(25.6e6),
    input_bytes=fact(150_528.0),
)
GOOGLENET = Dnn(
    id="googlenet",
    name="GoogLeNet",
    vendor="",
    forward_flop=fact(3.2e9),
    parameters=fact(7.0e6),
    input_bytes=fact(150_528.0),
)
IMAGENET = Dataset(
    id="imagenet",
    name="ImageNet, TFRecords",
    vendor="",
    n_samples=fact(1_281_167.0),
    sample_bytes=fact(115_154.0, BLOG),
    n_validation_samples=fact(50_000.0),
    format="records",
)
TENSORS = Dataset(
    id="imagenet-tensors",
    name="ImageNet, decoded tensors",
    vendor="",
    n_samples=fact(50_000.0),
    sample_bytes=fact(150_528.0),
    format="decoded tensors",
)
TENSORFLOW = Stack(
    id="tensorflow-18.09",
    name="TensorFlow, NGC 18.09",
    vendor="NVIDIA",
    framework="tensorflow",
    released=fact("2018-09"),
    precisions=("mixed", "fp32"),
    loader="framework",
)
TENSORRT = TENSORFLOW.model_copy(
    update={"id": "tensorrt-4", "name": "TensorRT 4", "loader": "none", "task": "inference"}
)
RECIPE = Recipe(
    id="resnet50-75.9",
    name="ResNet-50 to 75.9 %",
    vendor="",
    dnn="resnet50",
    target=fact("75.9 % top-1"),
    evaluate_every_epochs=fact(4.0),
    points=(EpochPoint(global_batch=16384, epochs=64, source=MLPERF, where="results"),),
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
        "network": NetworkReason("100gbe", 50e9, 45e3, None),
        "decode": DecodeReason(3.2e-3, 40, "framework"),
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
def real_catalog() -> Catalog:
    """The shipped catalogue: hand-made results stand on real parts where a plan has to be drawn."""
    return load_catalog()


@cache
def plan(server: str, storage: str, fabric: Any, n_servers: int, storage_nodes: int) -> Plan:
    """Building plan of a design of the shipped catalogue."""
    asked = {
        "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 1}}],
        "platforms": {"servers": [server], "storage": [storage], "fabrics": [fabric]},
    }
    chosen = platforms(real_catalog(), SizingRequest.from_dict(asked))[0]
    counted = slice_row(count(chosen, [n_servers], [storage_nodes], catalog=real_catalog()), 0)
    return building_plan(chosen, counted, n_servers, storage_nodes, catalog=real_catalog())


def network(name: str, kind: str, switch: str | None, end_points: int, **more: Any) -> Network:
    """One network of one design."""

    def ints(key: str, default: int = 0) -> Any:
        return np.array([more.get(key, default)])

    return Network(
        role=NetworkRole(name),
        purpose=more.get("purpose", ""),
        kind=kind,
        switch=switch,
        spine=switch,
        end_points=np.array([end_points]),
        leaves=ints("leaves", 1),
        spines=ints("spines"),
        cores=ints("cores"),
        leaf_spine_cables=ints("cables"),
        spine_core_cables=ints("core_cables"),
        ports_used=ints("used", end_points),
        ports_free=ints("free"),
        oversubscription=np.array([more.get("over", 1.0)]),
        gateways=ints("gateways"),
        gateway_uplinks=ints("uplinks"),
        note=more.get("note", ""),
    )


def quantities(components: list[tuple[str, str, str, int]], networks: tuple[Network, ...], **more: Any) -> Quantities:
    """Counts of one design."""

    def number(key: str, default: float) -> Any:
        return np.array([more.get(key, default)])

    return Quantities(
        components=tuple(
            Component(Role(role), category, item, np.array([n])) for role, category, item, n in components
        ),
        networks=networks,
        rack_units=number("rack_units", 45.0),
        racks=np.array([more.get("racks", 2)]),
        power_typical_w=number("typical", 27_600.0),
        power_max_w=number("maximum", 37_900.0),
        weight_kg=number("weight", 780.0),
        raw_bytes=number("raw", 384e12),
        usable_bytes=number("usable", 336e12),
        unknown_power=more.get("unknown_power", ()),
        unknown_weight=more.get("unknown_weight", ()),
        front_end_bytes_per_s=number("front_end", 80e9),
        gateway_bytes_per_s=number("gateway", np.inf),
    )


def line(
    number: str,
    category: str,
    item: str,
    maker: str,
    description: str,
    quantity: int,
    price: str | None = None,
    sku: str = "",
    note: str = "",
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
        note=note,
        **more,
    )


def bill(lines: list[BillLine], **more: Any) -> Bill:
    """Bill of those lines."""
    return Bill("USD", tuple(lines), ("DGX-1: end of sale 2020-03-31",), **more)


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
            name, source, where, n_gpus, "Tesla V100 SXM2 16 GB", server, "TensorFlow NGC 18.09", *rates, fitted
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
        "dataset_bytes": 22.2e12,
        "sample_bytes": sample_bytes,
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
        "meets_target": True,
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
        "evidence": evidence(),
        "warnings": (),
    }
    return WorkloadAnswer(**{**fields, **more})


def _platform(**parts: Any) -> Platform:
    fields: dict[str, Any] = {
        "gpu": V100,
        "gpus_per_server": 8,
        "capacity_option": 0,
        "storage_server": None,
        "fabric": "edr",
        "fabric_switch": None,
        "storage_switch": None,
        "back_end_switch": None,
        "gateway": None,
        "management_switch": S3048,
        "head_node": None,
        "rack": RACK,
        "pdu": PDU,
    }
    return Platform(**{**fields, **parts})


def _pareto(names: list[tuple[str, str, int, int, int, float, float, float, bool]]) -> tuple[ParetoPoint, ...]:
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
    Assumption("DGX-1: depth", "0.866 m", "assumed", MLPERF, "comparable chassis; ask the vendor"),
    Assumption(
        "Access pattern", "random order every epoch", "assumed", ASSUMED, "a fixed shard per server would cache better"
    ),
    Assumption(
        "Usable share of Isilon F800", "87.5 %", "derived", GUIDE, "protection +2d:1n, extrapolated above 6 nodes"
    ),
)
QUESTIONS = (
    "NVIDIA: depth of the DGX-1 with cables?",
    "Dell EMC: read rate of one F800 node with 113 kB images?",
)


def result(req: SizingRequest, design: DesignAnswer, **more: Any) -> SizingResult:
    """Result around one design."""
    fields: dict[str, Any] = {
        "request": req,
        "catalog_digest": "3f9a1c0d27b4",
        "calibration_digest": "b81e55d0c2aa",
        "verdict": verdict_of(design, (design,)),
        "design": design,
        "spare_cost": None,
        "selection": Selection(SelectionKind.UNRANKED, 3),
        "platforms": (design,),
        "deciding_prices": ("isilon-f800", "sn2700"),
        "runner_up": None,
        "runner_up_reason": RunnerUpReason(RunnerUpKind.NONE),
        "pareto": (),
        "n_designs": 14_208,
        "ruled_out": {Limit.GPU_RATE: 9_120, "rack power": 411},
        "assumptions": ASSUMPTIONS,
        "questions": QUESTIONS,
        "sources": (BLOG, GUIDE, MLPERF),
    }
    return SizingResult(**{**fields, **more})


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
    platform = _platform(
        server=C4140,
        gpus_per_server=4,
        storage=F800_ONE_PORT,
        fabric="edr",
        fabric_switch=SB7800,
        back_end_switch=D4040,
        gateway=SX6036,
        head_node=R740XD,
    )
    nets = (
        network("compute fabric", "edr", "sb7800", n + 4, purpose="gradients and storage traffic", free=36 - n - 4),
        network(
            "storage front end",
            "40gbe",
            "sx6036",
            4,
            purpose="files, through the gateway to the compute fabric",
            used=7,
            free=29,
            leaves=0,
            gateways=1,
            uplinks=3,
        ),
        network(
            "storage back end", "40gbe", "d4040", 8, purpose="between storage nodes, two networks", leaves=2, free=56
        ),
        network("management", "1gbe", "s3048-on", 10, purpose="deployment, BMC, monitoring", free=38),
    )
    design = DesignAnswer(
        platform=platform,
        n_servers=n,
        n_gpus=4 * n,
        storage_nodes=4,
        workloads=(answer,),
        quantities=quantities(
            [
                ("GPU server", "compute", "c4140", n),
                ("head node", "head node", "r740xd", 1),
                ("storage chassis", "storage", "isilon-f800", 1),
                ("compute leaf switch", "network", "sb7800", 1),
                ("gateway", "network", "sx6036", 1),
                ("back-end switch", "network", "d4040", 2),
                ("management switch", "network", "s3048-on", 1),
                ("compute cable", "cable and optic", "mcp1600-e", 5),
            ],
            nets,
            rack_units=13.0,
            racks=1,
            typical=5_200.0,
            maximum=6_300.0,
            usable=144e12,
            raw=192e12,
            front_end=20e9,
            gateway=20.4e9,
            unknown_power=("d4040",),
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
        network("compute fabric", "edr", "sb7800", 33, purpose="gradients and storage", free=3),
        network("management", "1gbe", "s3048-on", 14, purpose="BMC and monitoring", free=34),
    )
    return DesignAnswer(
        platform=_platform(server=XL270D, storage=WEKA, storage_server=DL360, fabric_switch=SB7800, head_node=R740XD),
        n_servers=4,
        n_gpus=32,
        storage_nodes=8,
        workloads=workloads,
        quantities=quantities(
            [("GPU server", "compute", "apollo-6500-xl270d", 4), ("storage server", "storage", "dl360-gen10", 8)],
            nets,
            rack_units=28.0,
            racks=1,
            typical=15_800.0,
            maximum=19_900.0,
            usable=82e12,
            raw=123e12,
            unknown_weight=("apollo-6500-xl270d",),
        ),
        plan=plan("apollo-6500", "wekaio", "edr", 4, 8),
        bill=bill(
            [
                line("1.1", "compute", "apollo-6500-xl270d", "HPE", "Apollo 6500 Gen10, 8 × V100-SXM2 16 GB", 4),
                line("3.1", "storage", "dl360-gen10", "HPE", "ProLiant DL360 Gen10 with NVMe", 8),
            ]
        ),
        probability=0.93,
        binding=Binding(BindingKind.LIMIT, 3, Limit.GPU_RATE),
        warnings=(),
    )


def nine_dgx1() -> SizingResult:
    """Nine DGX-1 with eight F800 nodes on Ethernet, compared with C4140 and Apollo."""
    req = request(
        "Training cluster for driver assistance",
        [RESNET_WORKLOAD],
        platforms={"storage": ["isilon-f800", "wekaio-dl360"]},
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
    nets = (
        network(
            "compute fabric",
            "100gbe",
            "sn2700",
            52,
            purpose="gradients and storage, RoCE",
            leaves=4,
            spines=2,
            cables=56,
            used=164,
            free=28,
            over=1.0,
            note="40 GbE front-end ports of the storage run on 100 GbE switch ports",
        ),
        network(
            "storage back end", "40gbe", "d4040", 16, purpose="between storage nodes, two networks", leaves=2, free=48
        ),
        network("management", "1gbe", "s3048-on", 31, purpose="BMC, deployment, monitoring", free=17),
    )
    design = DesignAnswer(
        platform=_platform(server=DGX1, storage=F800, fabric="100gbe", fabric_switch=SN2700, back_end_switch=D4040),
        n_servers=9,
        n_gpus=72,
        storage_nodes=8,
        workloads=(answer,),
        quantities=quantities(
            [
                ("GPU server", "compute", "dgx-1", 9),
                ("storage chassis", "storage", "isilon-f800", 2),
                ("compute leaf switch", "network", "sn2700", 4),
                ("compute spine switch", "network", "sn2700", 2),
                ("back-end switch", "network", "d4040", 2),
                ("management switch", "network", "s3048-on", 1),
                ("compute cable", "cable and optic", "mcp1600-c", 36),
                ("inter-switch cable", "cable and optic", "mcp1600-c", 56),
                ("storage cable", "cable and optic", "mc2210128-003", 16),
                ("back-end cable", "cable and optic", "mc2210128-003", 16),
                ("rack", "rack and power", "ar3300", 3),
                ("rack PDU", "rack and power", "ap8886", 6),
            ],
            nets,
            unknown_power=("d4040", "s3048-on"),
            unknown_weight=("d4040",),
        ),
        plan=plan("dgx-1", "isilon-f800", "100gbe", 9, 8),
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
                    "launch price, end of sale 2020",
                ),
                line("3.1", "storage", "isilon-f800", "Dell EMC", "Isilon F800 chassis, 60 × 3.2 TB SSD", 2),
                line("4.1", "network", "sn2700", "Mellanox", "SN2700, 32 × 100 GbE", 6, sku="MSN2700-CS2F"),
                line("4.2", "network", "d4040", "Celestica", "D4040 back-end switch", 2),
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
                    note="optional",
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
    points = _pareto(
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
    return result(
        req,
        design,
    )


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
        platform=_platform(server=DGX1, storage=HEAD_NFS, fabric="10gbe", attachment="lan"),
        n_servers=1,
        n_gpus=8,
        storage_nodes=0,
        workloads=(answer,),
        quantities=quantities(
            [("GPU server", "compute", "dgx-1", 1)],
            (network("compute fabric", "10gbe", None, 0, leaves=0), network("management", "1gbe", None, 0, leaves=0)),
            rack_units=4.0,
            racks=1,
            typical=2_600.0,
            maximum=3_600.0,
            usable=120e12,
            raw=144e12,
            weight=75.0,
        ),
        plan=plan("dgx-1", "nfs-generic", "100gbe", 1, 0),
        bill=bill([line("1.1", "compute", "dgx-1", "NVIDIA", "DGX-1 with 8 × V100-SXM2 16 GB", 1, "149000.00")]),
        probability=0.999,
        binding=Binding(BindingKind.SMALLEST),
        warnings=(),
    )
    return result(
        req,
        design,
        platforms=(design,),
        assumptions=ASSUMPTIONS[:2],
        questions=(),
        deciding_prices=(),
    )


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
    return result(
        req,
        design,
        sources=("weka-scaling-2019", GUIDE),
    )


ALL = {"nine_dgx1": nine_dgx1, "one_c4140": one_c4140, "single_server": single_server, "four_apollo": four_apollo}


@cache
def drawings(name: str) -> tuple[tuple[str, Drawing], ...]:
    """Named drawings of a result: its topology and its data paths."""
    design = ALL[name]().design
    paths = [datapath(design, one, "images/s") for one in design.workloads]
    return ("Topology", topology(design)), *((f"Data path {number}", path) for number, path in enumerate(paths, 1))
