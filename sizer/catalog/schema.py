"""What a catalogue file may say. One class a folder of ``catalog/``; one TOML file an item; the file name is the id.

Every physical fact is a :class:`~sizer.base.provenance.Sourced` value in SI units; unknown stays absent, never zero.
``assumed`` values carry a note and are allowed where a plan cannot be drawn without one; every guide lists them first.
"""

from typing import Annotated, Literal

from pydantic import Field

from sizer.base.provenance import Sourced, make_picklable
from sizer.base.texts import LongText, Name, ShortText
from sizer.catalog.devices import Accessory as Accessory
from sizer.catalog.devices import Connector, Era
from sizer.catalog.devices import CoolantUnit as CoolantUnit
from sizer.catalog.devices import Device as Device
from sizer.catalog.devices import Pdu as Pdu
from sizer.catalog.devices import Port as Port
from sizer.catalog.devices import PortUse as PortUse
from sizer.catalog.devices import Rack as Rack
from sizer.catalog.items import (
    BytesPerS,
    CapacityBytes,
    Count,
    CountInServer,
    CountOrZero,
    Flop,
    FlopPerS,
    Fraction,
    Frozen,
    Hertz,
    InputBytes,
    Item,
    Kilograms,
    MemoryBytes,
    Metres,
    Parameters,
    SampleBytes,
    Samples,
    SamplesOrZero,
    Seconds,
    Watts,
)
from sizer.catalog.links import FormFactor, GpuLink, GpuLinkId, LinkId, LinkType, PowerInlet
from sizer.catalog.networks import EpochPoint, NetworkKind, ObservedAs, SampleKind, Transformer

# Number format of a matrix product: "bf16", "fp8".
Precision = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=20)]
# Number format of the matrix products of a language model; "fp4" is any of the kinds that a GPU has.
NumberFormat = Literal["fp16", "bf16", "fp8", "mxfp8", "fp4", "nvfp4"]
FibreMode = Literal["multimode", "single-mode", "duplex-lc"]
StorageTier = Literal["performance", "capacity", "local"]


class Release(Frozen):
    """A release of software that published runs were made with."""

    component: ShortText
    version: Sourced[ShortText]


class Generation(Item):
    """A generation of GPUs: its servers go with the equipment of its era.

    Its dates are those of its GPUs that have none of their own.
    """

    era: Era
    pdu: ShortText | None = None  # id in pdus/: planned for its servers where a request names none
    releases: tuple[Release, ...] = ()  # of the newest published runs on its GPUs
    number_formats: Sourced[tuple[NumberFormat, ...]] | None = None  # that its matrix units multiply


class Gpu(Item):
    """An accelerator. Peaks are those of the unit used, dense: tensor cores for mixed precision (FP16 or BF16).

    ``peak_flop_per_s`` holds the peaks of further precisions ("tf32", "fp8", "fp4"), ``matmul_flop_per_s`` what large
    matrix products were measured to reach ("bf16", "fp8").
    """

    generation: ShortText | None = None  # id in generations/; absent: considered with those of every era
    form_factor: Sourced[FormFactor]
    memory_bytes: Sourced[MemoryBytes]
    peak_mixed_flop_per_s: Sourced[FlopPerS]
    peak_fp32_flop_per_s: Sourced[FlopPerS] | None = None
    peak_flop_per_s: dict[Precision, Sourced[FlopPerS]] = Field(default_factory=dict)
    matmul_flop_per_s: dict[Precision, Sourced[FlopPerS]] = Field(default_factory=dict)
    number_formats: Sourced[tuple[NumberFormat, ...]] | None = None  # where they differ from those of its generation
    # Formats of weights that software widens to BF16 on it, although its matrix units multiply their kind.
    widened_formats: Sourced[tuple[str, ...]] | None = None
    memory_bytes_per_s: Sourced[BytesPerS] | None = None
    nvlink_bytes_per_s: Sourced[BytesPerS] | None = None  # one direction, all links of the GPU
    tdp_w: Sourced[Watts] | None = None
    weight_kg: Sourced[Kilograms] | None = None

    @property
    def speed(self) -> tuple[float, float]:
        """Peak and rate of the memory, which GPUs that differ in its size alone share. [FLOP/s, B/s]"""
        memory = self.memory_bytes_per_s
        return self.peak_mixed_flop_per_s.value, 0.0 if memory is None else memory.value


class Cpu(Item):
    """A host processor."""

    cores: Sourced[Count]
    threads: Sourced[Count] | None = None
    base_clock_hz: Sourced[Hertz] | None = None
    tdp_w: Sourced[Watts] | None = None
    pcie_lanes: Sourced[CountOrZero] | None = None


class Server(Device):
    """A server: GPU server, head node or storage server, by ``role``."""

    role: Literal["gpu", "head", "storage", "fabric-manager"]
    is_workstation: bool = False  # stands at a desk, one alone, without a rack
    gpus: tuple[ShortText, ...] = ()  # ids in gpus/ that the server takes; the first is the default
    n_gpus: Sourced[CountInServer] | None = None
    n_gpus_choices: tuple[CountInServer, ...] = ()  # other counts that the vendor sells, e.g. (4, 8, 10)
    n_gpus_alone: tuple[CountInServer, ...] = ()  # and of a server that is enough alone, e.g. (1, 3, 5, 6)
    intra_link: Sourced[GpuLinkId] | None = None
    cpu: Sourced[LongText] | None = None  # id in cpus/
    n_cpus: Sourced[CountInServer] | None = None
    # Links of x16 width between processors and GPUs that work side by side: uplinks of the PCIe switches.
    host_links: Sourced[CountOrZero] | None = None
    memory_bytes: Sourced[MemoryBytes] | None = None
    local_storage: ShortText | None = None  # id in storage/ of kind "local"
    ports: tuple[Port, ...] = ()


class MemoryOption(Item):
    """Memory that a server is sold with in place of its standard memory: a line of the bill for each server."""

    server: ShortText
    memory_bytes: Sourced[MemoryBytes]  # of the server with it, all modules together


class CapacityOption(Frozen):
    """One drive choice of a storage unit."""

    name: Name
    raw_bytes: Sourced[CapacityBytes]  # per unit (chassis or server)


class Overhead(Frozen):
    """Protection overhead at one node count; the last row holds for every larger count."""

    nodes: Count
    overhead: Fraction
    source: ShortText
    where: LongText
    basis: Literal["datasheet", "published", "derived"] = "published"


class Storage(Device):
    """A storage system. Sizes, watts and ``ports`` are those of one unit: a chassis, or a server of software."""

    kind: Literal["scale-out-nas", "parallel-file-system", "nfs-server", "local"]
    nodes_per_unit: Sourced[Count] | None = None
    server: Sourced[LongText] | None = None  # id in servers/, where the system is software: its size and ports count
    min_nodes: Sourced[Count] | None = None
    max_nodes: Sourced[Count] | None = None
    max_gpus: Sourced[Count] | None = None  # that a class of products is made for; absent: its rates say
    node_read_low_bytes_per_s: Sourced[BytesPerS] | None = None  # what one node reads for clients, as demonstrated
    node_read_high_bytes_per_s: Sourced[BytesPerS] | None = None  # the vendor's upper end; equal when one number
    node_write_bytes_per_s: Sourced[BytesPerS] | None = None  # what one node writes for clients
    node_iops: Sourced[Annotated[float, Field(ge=1, le=1e12)]] | None = None  # reads of one node a second
    test_write_bytes_per_s: Sourced[BytesPerS] | None = None  # what a published test wrote, all clients together
    mount_low_bytes_per_s: Sourced[BytesPerS] | None = None  # of one mount, or one client, of a server
    mount_high_bytes_per_s: Sourced[BytesPerS] | None = None
    mounts_per_server: Sourced[Count] | None = None  # absent: one for every front-end address of the system
    front_end_kind: Sourced[LinkId] | None = None
    front_end_ports_per_node: Sourced[Count] | None = None
    gateway_ports_per_node: Sourced[CountOrZero] | None = None  # of these, used when a gateway stands between
    back_end_ports_per_node: Sourced[CountOrZero] | None = None
    back_end_switch: Sourced[LongText] | None = None  # id in switches/
    back_end_flat_nodes: Sourced[Count] | None = None  # above this the back end is leaf-spine
    cache_bytes_per_node: Sourced[MemoryBytes] | None = None
    capacity_options: tuple[CapacityOption, ...] = ()  # rising: the first drives that do stand for larger ones
    usable_bytes: Sourced[CapacityBytes] | None = None  # of a system with one fixed capacity
    media: Sourced[Literal["all-flash", "hybrid", "disk"]] | None = None  # hybrid: disks with flash as cache
    max_usable_bytes: Sourced[CapacityBytes] | None = None  # of the largest system that the vendor publishes
    protection: Sourced[LongText] | None = None
    protection_overheads: tuple[Overhead, ...] = ()
    # Software systems. Data blocks grow with the servers: min(stripe_data_max, servers - parity - spares).
    stripe_data: Sourced[Count] | None = None
    stripe_data_max: Sourced[Count] | None = None
    stripe_parity: Sourced[CountOrZero] | None = None
    # Of a node that is an appliance: each takes over the drives of the other when it fails.
    controllers: Sourced[Count] | None = None
    hot_spare_nodes: Sourced[CountOrZero] | None = None  # at min_nodes
    hot_spare_nodes_above_min: Sourced[CountOrZero] | None = None  # with more servers than min_nodes
    usable_share: Sourced[Fraction] | None = None
    ports: tuple[Port, ...] = ()
    software: tuple[ShortText, ...] = ()  # ids in software/ that the system needs

    @property
    def tier(self) -> StorageTier | None:
        """Local drives, shared flash (performance) or shared disks (capacity); None: no source gives the media."""
        if self.kind == "local" or self.media is None:
            return "local" if self.kind == "local" else None
        return "performance" if self.media.value == "all-flash" else "capacity"


class Switch(Device):
    """A switch. ``subnet_manager`` tells whether it can run one (InfiniBand)."""

    ports: tuple[Port, ...] = ()
    subnet_manager: Sourced[bool] | None = None
    latency_s: Sourced[Seconds] | None = None


class Gateway(Switch):
    """A gateway between InfiniBand and Ethernet; each of ``ports`` can be an uplink or a front-end port."""

    uplink_kind: Sourced[LinkId]
    front_end_kind: Sourced[LinkId]
    uplink_bytes_per_s: Sourced[BytesPerS]
    front_end_bytes_per_s: Sourced[BytesPerS]


class Nic(Item):
    """A network adapter."""

    kinds: tuple[LinkId, ...]
    n_ports: Sourced[Count]
    host_interface: Sourced[LongText] | None = None
    # PCIe 3.0 x16 cannot feed two 100 Gbit/s ports: bandwidth to count per adapter.
    usable_bytes_per_s: Sourced[BytesPerS] | None = None


class Cable(Item):
    """A cable with both ends, or a transceiver (``media`` "transceiver") of which a link takes two plus fibre."""

    kinds: tuple[LinkId, ...]
    media: Literal["dac", "aoc", "copper", "transceiver", "fibre"]
    length_m: Sourced[Metres] | None = None
    power_end_w: Sourced[Watts] | None = None
    # The cages that its ends fit (empty: any), and how many ports of a cage it serves: of a twin-port module, of a
    # cable that splits.
    connectors: tuple[Connector, ...] = ()
    ports_each: Annotated[int, Field(ge=1, le=8)] = 1
    # Of a module and of a fibre: they work with those of the same mode, over the reach of the module.
    fibre_mode: FibreMode | None = None
    reach_m: Sourced[Annotated[float, Field(ge=0.1, le=100_000)]] | None = None


# Layers of software from the users down; software of the storage is drawn with the hardware.
SoftwareLayer = Literal["portal", "manager", "frameworks", "system", "storage"]


class Software(Item):
    """A software line. ``metric`` is what a licence counts; ``applies_to`` the ids or vendors that call for it.

    ``applies_to`` entries: an id in servers/ or storage/, a vendor of servers, storage or GPUs, ``"cluster"`` (any
    design with more than one GPU server) or ``"any"`` (every design). ``summary``: what it does, in a few words.
    ``requires``: what a design must also have, ``"head node"`` or an id in software/; else it does not apply.
    ``not_with``: ids in software/ that do its work on the nodes that they cover.
    ``needed_from_heads``: an optional line counts in the total from so many head nodes on, two of which run it.
    """

    metric: Sourced[Literal["node", "gpu", "raw-terabyte", "cluster", "free", "included"]]
    applies_to: tuple[ShortText, ...] = ()
    requires: tuple[ShortText, ...] = ()
    not_with: tuple[ShortText, ...] = ()
    optional: bool = False
    needed_from_heads: Annotated[int, Field(ge=1, le=16)] | None = None
    only_for: Literal["images", "training"] | None = None  # networks that read images, or trainings
    layer: SoftwareLayer = "frameworks"
    summary: ShortText = ""
    era: Era | None = None  # absent: with servers of every era
    purpose: Sourced[LongText]


class Support(Item):
    """A support or service line; fields as for software."""

    metric: Sourced[Literal["node", "gpu", "raw-terabyte", "cluster"]]
    applies_to: tuple[ShortText, ...] = ()
    requires: tuple[ShortText, ...] = ()
    optional: bool = False
    purpose: Sourced[LongText]


class Dnn(Item):
    """A neural network. FLOP are 2 x multiply-accumulates of one forward pass of one sample."""

    forward_flop: Sourced[Flop]
    parameters: Sourced[Parameters]
    input_bytes: Sourced[InputBytes]  # one decoded uint8 sample as the GPU gets it
    # The last two of a language model in use, as its target counts them.
    sample: SampleKind | Literal["token", "request", "request in flight"] = "image"
    family: ShortText = ""  # name of the effect pool that an unseen DNN borrows from, e.g. "vgg"
    kind: NetworkKind | None = None  # of one whose rate trainings in benchmarks/networks/ tell; absent: runs of its own
    transformer: Transformer | None = None  # of a language model, whose samples are tokens
    mlperf: ShortText = ""  # name in the rows of MLPerf Training v1.0 and later; empty: not among them
    dataset: ShortText = ""  # id in datasets/ that its runs read
    era: Era | None = None  # of the only equipment that it was measured on; absent: of every one


class Dataset(Item):
    """A training set as stored."""

    n_samples: Sourced[Samples]
    sample_bytes: Sourced[SampleBytes]  # mean size of one sample on storage
    n_validation_samples: Sourced[SamplesOrZero] | None = None
    format: Literal["raw files", "records", "decoded tensors"]
    sample: SampleKind = "image"


# Who builds and tunes a stack's software. An NVIDIA container counts as one whatever runs in it.
SoftwareLine = Literal["ngc", "tensorpack", "cnn-benchmarks", "official", "horovod", "upstream"]


class Stack(Item):
    """A software stack: framework, release and input pipeline. The software generation is an input of every sizing."""

    framework: ShortText
    line: SoftwareLine = "upstream"
    xla: bool = False  # compiles with XLA
    released: Sourced[LongText]  # ISO date or its first part
    precisions: tuple[Literal["mixed", "fp32", "fp8", "fp4"], ...]
    trains_language: bool = False  # trains language models, and nothing else here
    serves_language: bool = False  # serves language models, and nothing else here
    runs_mlperf: bool = False  # what submitters of MLPerf Training ran; its rates come from the fit of their rows
    gpu_vendors: tuple[ShortText, ...] = ()  # of the GPUs that it runs on; empty: any
    trains_own: bool = False  # people's own code for networks of their own; its rates are those of their trainings
    loader: Literal["framework", "dali", "dali-cpu", "none"]
    task: Literal["training", "inference", "both"] = "training"
    observed_as: tuple[ObservedAs, ...] = ()


class Recipe(Item):
    """A training recipe: target accuracy and how epochs grow with the global batch."""

    dnn: ShortText
    target: Sourced[LongText]
    # Of MLPerf Training v1.0 and later: samples to the target come from the fit of its rows, in place of points.
    mlperf: ShortText = ""
    starts_from_checkpoint: bool = False  # of the benchmark, whose runs do not train from scratch
    epoch_samples: Sourced[Samples] | None = None  # of these runs
    evaluate_every_epochs: Sourced[Annotated[float, Field(ge=1e-6, le=1000)]]
    points: tuple[EpochPoint, ...] = ()


# Folder of catalog/ -> class of its files.
CATEGORIES: dict[str, type[Item]] = {
    "links": LinkType,
    "gpu_links": GpuLink,
    "power_inlets": PowerInlet,
    "generations": Generation,
    "gpus": Gpu,
    "cpus": Cpu,
    "servers": Server,
    "memory": MemoryOption,
    "storage": Storage,
    "switches": Switch,
    "gateways": Gateway,
    "nics": Nic,
    "cables": Cable,
    "racks": Rack,
    "pdus": Pdu,
    "cooling": CoolantUnit,
    "accessories": Accessory,
    "software": Software,
    "support": Support,
    "dnns": Dnn,
    "datasets": Dataset,
    "stacks": Stack,
    "recipes": Recipe,
}


class Source(Frozen):
    """A cited document. Grade A: vendor or standards body; B: operator or curated; C: press; D: weak."""

    id: ShortText
    title: LongText
    publisher: LongText
    date: ShortText = ""  # empty: the document carries none
    read: ShortText = ""  # month in which a document without a date was read
    grade: Literal["A", "B", "C", "D"]
    where: LongText = ""  # place: address, repository and commit, issue of a journal
    note: LongText = ""
    aliases: tuple[ShortText, ...] = ()


make_picklable()
