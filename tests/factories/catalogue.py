"""Parts, networks, data sets and stacks of a small catalogue, and the sources that they cite."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizer.base.provenance import Sourced
from sizer.catalog.items import Sku
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
    Source,
    Stack,
    Storage,
    Switch,
)
from sizer.sizing.constraints.tiers import StorageTier, TierContent
from tests.factories.examples import catalog as shipped_catalog

GUIDE, BLOG, MLPERF, ASSUMED = "dell-ready-ai-nvidia-2018", "dell-isilon-dgx1-blog-2018", "mlperf-v0.6", "request"


def fact(
    value: Any, source: str = GUIDE, basis: str = "datasheet", where: str = "specification table", note: str = ""
) -> Any:
    """A sourced value."""
    return Sourced[Any](value=value, basis=basis, source=source, where=where, note=note)


LINKS, GPU_LINKS = shipped_catalog().links, shipped_catalog().gpu_links


def port(kind: str, count: int, use: Any = "any", also: tuple[str, ...] = ()) -> Port:
    """Ports with a source."""
    return Port(
        kind=LINKS[kind],
        count=count,
        use=use,
        also=tuple(LINKS[one] for one in also),
        basis="datasheet",
        source=GUIDE,
        where="port table",
    )


@dataclass(frozen=True)
class FakeCatalog:
    """What documents need of a catalogue."""

    sources: Mapping[str, Source]
    items: Mapping[str, Any]

    def item(self, item_id: str) -> Any:
        """Item by id; parts of the plan come from the shipped catalogue."""
        return self.items[item_id] if item_id in self.items else shipped_catalog().item(item_id)

    def device(self, item_id: str) -> Any:
        """Item that takes rack units."""
        return self.item(item_id)

    @property
    def dnns(self) -> Mapping[str, Any]:
        """Neural networks of the shipped catalogue."""
        return shipped_catalog().dnns

    @property
    def storage(self) -> Mapping[str, Any]:
        """Storage of the shipped catalogue."""
        return shipped_catalog().storage

    @property
    def generations(self) -> Mapping[str, Any]:
        """Generations of the shipped catalogue."""
        return shipped_catalog().generations

    @property
    def servers(self) -> Mapping[str, Any]:
        """Servers of the shipped catalogue."""
        return shipped_catalog().servers

    @property
    def software(self) -> Mapping[str, Any]:
        """Software of the shipped catalogue."""
        return shipped_catalog().software

    @property
    def power_inlets(self) -> Mapping[str, Any]:
        """Kinds of inlet of the shipped catalogue."""
        return shipped_catalog().power_inlets


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
    intra_link=fact(GPU_LINKS["nvlink2"], MLPERF),
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
    intra_link=fact(GPU_LINKS["nvlink2"]),
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
    front_end_kind=fact(LINKS["40gbe"]),
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
    front_end_kind=fact(LINKS["10gbe"], ASSUMED, "assumed", "site network"),
)
LOCAL = Storage(id="local-nvme", name="4 × 1.6 TB local NVMe", vendor="HPE", kind="local", usable_bytes=fact(6.4e12))


def _switch(id_: str, name: str, vendor: str, kind: Any, count: int) -> Switch:
    return Switch(
        id=id_,
        name=name,
        vendor=vendor,
        height_u=fact(1.0),
        power_max_w=fact(398.0),
        ports=(port(kind, count),),
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
    uplink_kind=fact(LINKS["fdr"]),
    front_end_kind=fact(LINKS["40gbe"]),
    uplink_bytes_per_s=fact(54.5e9 / 8),
    front_end_bytes_per_s=fact(5e9),
)
RACK = Rack(id="ar3300", name="AR3300", vendor="APC", height_u=fact(42.0), load_kg=fact(1701.0))
PDU = Pdu(
    id="ap8886",
    name="AP8886",
    vendor="APC",
    capacity_w=fact(17300.0),
    outlets={"c14": fact(30), "c20": fact(12)},
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


def tier(storage: Storage, nodes: int, required_bytes: float, usable_bytes: float) -> tuple[StorageTier, ...]:
    """The only tier of a storage."""
    content = TierContent.EVERYTHING
    return (StorageTier(content, storage, 0, nodes, required_bytes, required_bytes, usable_bytes),)
