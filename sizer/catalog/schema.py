"""What a catalogue file may say. One class a folder of ``catalog/``; one TOML file an item; the file name is the id.

Every physical fact is a :class:`~sizer.base.provenance.Sourced` value in SI units. A fact that no source gives is
left out: unknown stays absent, it is never zero. ``assumed`` values are allowed where a plan cannot be drawn without
one; they carry a note and are printed first among the assumptions of every guide.
"""

import copyreg
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sizer.base.dates import PartialDate
from sizer.base.provenance import Alternate, Sourced
from sizer.catalog.observed_as import ObservedAs

# Bounds catch a slip of unit (a bare 16 meant as GB), not unusual hardware.
Count = Annotated[int, Field(ge=0, le=1_000_000)]
MemoryBytes = Annotated[float, Field(ge=1e9, le=1e14)]
CapacityBytes = Annotated[float, Field(ge=1e9, le=1e17)]
BytesPerS = Annotated[float, Field(ge=1e6, le=1e13)]
FlopPerS = Annotated[float, Field(ge=1e12, le=1e16)]
Flop = Annotated[float, Field(ge=1e3, le=1e16)]
Watts = Annotated[float, Field(ge=0, le=100_000)]
Kilograms = Annotated[float, Field(gt=0, le=5_000)]
Metres = Annotated[float, Field(gt=0, le=1_000)]
RackUnits = Annotated[float, Field(ge=0, le=60)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]
Hertz = Annotated[float, Field(ge=1e8, le=1e11)]

# Kinds of port and of link. InfiniBand: edr, fdr, qdr, hdr. Ethernet by speed.
LinkKind = Literal["edr", "fdr", "qdr", "hdr", "100gbe", "40gbe", "25gbe", "10gbe", "1gbe"]
IntraLink = Literal["nvlink1", "nvlink2", "nvswitch", "pcie3"]
PortUse = Literal["compute", "storage", "management", "bmc", "fabric", "back-end", "any"]
StorageTier = Literal["performance", "capacity", "local"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sku(_Frozen):
    """A part number and the source that names it."""

    value: str
    source: str
    where: str
    note: str = ""


class Item(_Frozen):
    """What every catalogue item carries."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]*$", max_length=60)]
    name: str  # as a headline says it
    description: str = ""  # what a bill adds to the name
    vendor: str
    skus: tuple[Sku, ...] = ()
    # False: a role or a part that comes inside another item; it is never a line of a bill.
    orderable: bool = True
    introduced: Sourced[PartialDate] | None = None
    end_of_sale: Sourced[PartialDate] | None = None  # warns in every quote
    end_of_service: Sourced[PartialDate] | None = None
    # Facts worth printing that no formula reads, as "label: text with source" rows of the component tables.
    features: dict[str, Sourced[str]] = {}


class Device(Item):
    """Something that takes rack units, watts and kilograms."""

    height_u: Sourced[RackUnits] | None = None
    depth_m: Sourced[Metres] | None = None
    weight_kg: Sourced[Kilograms] | None = None
    power_typical_w: Sourced[Watts] | None = None
    # Either a measured or data-sheet maximum, or a bracket: sum of component TDPs (low) to the rating of the
    # supplies that remain after one is lost (high). A low end alone is a floor: the total then reads "at least".
    power_max_w: Sourced[Watts] | None = None
    power_low_w: Sourced[Watts] | None = None
    power_high_w: Sourced[Watts] | None = None
    power_inlets: Sourced[Count] | None = None
    inlet_kind: Sourced[Literal["c14", "c20"]] | None = None


class Port(_Frozen):
    """Ports of one kind on a device. ``also`` lists kinds that the same port can run instead (VPI)."""

    kind: LinkKind
    count: Count
    use: PortUse
    also: tuple[LinkKind, ...] = ()
    nic: str | None = None  # id in nics/, where the port is an adapter that a bill lists
    basis: Literal["datasheet", "measured", "published", "derived", "assumed"]
    source: str
    where: str
    note: str = ""


class Gpu(Item):
    """An accelerator. Peaks are those of the unit used: tensor cores for mixed precision."""

    form_factor: Sourced[Literal["sxm2", "sxm3", "pcie"]]
    memory_bytes: Sourced[MemoryBytes]
    peak_mixed_flop_per_s: Sourced[FlopPerS]
    peak_fp32_flop_per_s: Sourced[FlopPerS]
    memory_bytes_per_s: Sourced[BytesPerS] | None = None
    nvlink_bytes_per_s: Sourced[BytesPerS] | None = None  # one direction, all links of the GPU
    tdp_w: Sourced[Watts] | None = None
    weight_kg: Sourced[Kilograms] | None = None


class Cpu(Item):
    """A host processor."""

    cores: Sourced[Count]
    threads: Sourced[Count] | None = None
    base_clock_hz: Sourced[Hertz] | None = None
    tdp_w: Sourced[Watts] | None = None
    pcie_lanes: Sourced[Count] | None = None


class Server(Device):
    """A server: GPU server, head node or storage server, by ``role``."""

    role: Literal["gpu", "head", "storage"]
    gpus: tuple[str, ...] = ()  # ids in gpus/ that the server takes; the first is the default
    n_gpus: Sourced[Count] | None = None
    n_gpus_choices: tuple[int, ...] = ()  # other counts that the vendor sells, e.g. (4, 8, 10)
    intra_link: Sourced[IntraLink] | None = None
    cpu: Sourced[str] | None = None  # id in cpus/
    n_cpus: Sourced[Count] | None = None
    # Links of x16 width between processors and GPUs that work side by side: uplinks of the PCIe switches.
    host_links: Sourced[Count] | None = None
    memory_bytes: Sourced[MemoryBytes] | None = None
    local_storage: str | None = None  # id in storage/ of kind "local"
    ports: tuple[Port, ...] = ()


class MemoryOption(Item):
    """Memory that a server is sold with in place of its standard memory: a line of the bill for each server."""

    server: str
    memory_bytes: Sourced[MemoryBytes]  # of the server with it, all modules together


class CapacityOption(_Frozen):
    """One drive choice of a storage unit."""

    name: str
    raw_bytes: Sourced[CapacityBytes]  # per unit (chassis or server)


class Overhead(_Frozen):
    """Protection overhead at one node count; the last row holds for every larger count."""

    nodes: Count
    overhead: Fraction
    source: str
    where: str
    basis: Literal["datasheet", "published", "derived"] = "published"


class Storage(Device):
    """A storage system. Sizes, watts and ``ports`` are those of one unit: a chassis, or a server of software."""

    kind: Literal["scale-out-nas", "parallel-file-system", "nfs-server", "local"]
    nodes_per_unit: Sourced[Count] | None = None
    server: Sourced[str] | None = None  # id in servers/, where the system is software: its size and ports count
    min_nodes: Sourced[Count] | None = None
    max_nodes: Sourced[Count] | None = None
    node_read_low_bytes_per_s: Sourced[BytesPerS] | None = None  # what one node reads for clients, as demonstrated
    node_read_high_bytes_per_s: Sourced[BytesPerS] | None = None  # the vendor's upper end; equal when one number
    test_write_bytes_per_s: Sourced[BytesPerS] | None = None  # what a published test wrote, all clients together
    mount_low_bytes_per_s: Sourced[BytesPerS] | None = None  # of one mount, or one client, of a server
    mount_high_bytes_per_s: Sourced[BytesPerS] | None = None
    mounts_per_server: Sourced[Count] | None = None  # absent: one for every front-end address of the system
    front_end_kind: Sourced[LinkKind] | None = None
    front_end_ports_per_node: Sourced[Count] | None = None
    gateway_ports_per_node: Sourced[Count] | None = None  # of these, used when a gateway stands between
    back_end_ports_per_node: Sourced[Count] | None = None
    back_end_switch: Sourced[str] | None = None  # id in switches/
    back_end_flat_nodes: Sourced[Count] | None = None  # above this the back end is leaf-spine
    cache_bytes_per_node: Sourced[MemoryBytes] | None = None
    capacity_options: tuple[CapacityOption, ...] = ()
    usable_bytes: Sourced[CapacityBytes] | None = None  # of a system with one fixed capacity
    media: Sourced[Literal["all-flash", "hybrid", "disk"]] | None = None  # hybrid: disks with flash as cache
    max_usable_bytes: Sourced[CapacityBytes] | None = None  # of the largest system that the vendor publishes
    protection: Sourced[str] | None = None
    protection_overheads: tuple[Overhead, ...] = ()
    # Software systems. Data blocks grow with the servers: min(stripe_data_max, servers - parity - spares).
    stripe_data: Sourced[Count] | None = None
    stripe_data_max: Sourced[Count] | None = None
    stripe_parity: Sourced[Count] | None = None
    hot_spare_nodes: Sourced[Count] | None = None  # at min_nodes
    hot_spare_nodes_above_min: Sourced[Count] | None = None  # with more servers than min_nodes
    usable_share: Sourced[Fraction] | None = None
    ports: tuple[Port, ...] = ()
    software: tuple[str, ...] = ()  # ids in software/ that the system needs

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

    uplink_kind: Sourced[LinkKind]
    front_end_kind: Sourced[LinkKind]
    uplink_bytes_per_s: Sourced[BytesPerS]
    front_end_bytes_per_s: Sourced[BytesPerS]


class Nic(Item):
    """A network adapter."""

    kinds: tuple[LinkKind, ...]
    n_ports: Sourced[Count]
    host_interface: Sourced[str] | None = None
    # PCIe 3.0 x16 cannot feed two 100 Gbit/s ports: bandwidth to count per adapter.
    usable_bytes_per_s: Sourced[BytesPerS] | None = None


class Cable(Item):
    """A cable with both ends, or a transceiver (``media`` "transceiver") of which a link takes two plus fibre."""

    kinds: tuple[LinkKind, ...]
    media: Literal["dac", "aoc", "copper", "transceiver", "fibre"]
    length_m: Sourced[Metres] | None = None
    power_end_w: Sourced[Watts] | None = None


class Rack(Item):
    """A rack."""

    height_u: Sourced[RackUnits]
    load_kg: Sourced[Kilograms]
    weight_kg: Sourced[Kilograms] | None = None
    depth_m: Sourced[Metres] | None = None  # outer
    width_m: Sourced[Metres] | None = None
    usable_depth_m: Sourced[Metres] | None = None


class Pdu(Item):
    """A rack power distribution unit."""

    capacity_w: Sourced[Watts]
    outlets_c13: Sourced[Count]
    outlets_c19: Sourced[Count]
    inlet: Sourced[str] | None = None
    height_u: Sourced[RackUnits] | None = None


class Accessory(Item):
    """A small part that a rack takes: one a free unit, or one a power inlet."""

    use: Literal["blanking-panel", "cord-c13", "cord-c19"]
    length_m: Sourced[Metres] | None = None  # of a cord


class Software(Item):
    """A software line. ``metric`` is what a licence counts; ``applies_to`` the ids or vendors that call for it.

    ``applies_to`` entries: an id in servers/ or storage/, ``"cluster"`` (any design with more than one GPU server)
    or ``"any"`` (every design). ``requires``: what a design must also have; otherwise the line does not apply:
    ``"head node"`` or an id in software/.
    """

    metric: Sourced[Literal["node", "gpu", "raw-terabyte", "cluster", "free", "included"]]
    applies_to: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    optional: bool = False
    purpose: Sourced[str]


class Support(Item):
    """A support or service line; fields as for software."""

    metric: Sourced[Literal["node", "gpu", "raw-terabyte", "cluster"]]
    applies_to: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    optional: bool = False
    purpose: Sourced[str]


class Dnn(Item):
    """A neural network. FLOP are 2 x multiply-accumulates of one forward pass of one sample."""

    forward_flop: Sourced[Flop]
    parameters: Sourced[Annotated[float, Field(ge=1e3, le=1e13)]]
    input_bytes: Sourced[Annotated[float, Field(ge=1, le=1e10)]]  # one decoded uint8 sample as the GPU gets it
    sample: Literal["image", "sentence pair", "sequence", "user-item pair", "volume", "sample"] = "image"
    family: str = ""  # name of the effect pool that an unseen DNN borrows from, e.g. "vgg"


class Dataset(Item):
    """A training set as stored."""

    n_samples: Sourced[Annotated[float, Field(ge=1, le=1e15)]]
    sample_bytes: Sourced[Annotated[float, Field(ge=1, le=1e12)]]  # mean size of one sample on storage
    n_validation_samples: Sourced[Annotated[float, Field(ge=0, le=1e15)]] | None = None
    format: Literal["raw files", "records", "decoded tensors"]
    sample: Literal["image", "sentence pair", "sequence", "user-item pair", "volume", "sample"] = "image"


# Who builds and tunes a stack's software. An NVIDIA container counts as one whatever runs in it.
SoftwareLine = Literal["ngc", "tensorpack", "cnn-benchmarks", "official", "horovod", "upstream"]


class Stack(Item):
    """A software stack: framework, release and input pipeline. The software generation is an input of every sizing."""

    framework: str
    line: SoftwareLine = "upstream"
    xla: bool = False  # compiles with XLA
    released: Sourced[str]  # ISO date or its first part
    precisions: tuple[Literal["mixed", "fp32"], ...]
    loader: Literal["framework", "dali", "dali-cpu", "none"]
    task: Literal["training", "inference", "both"] = "training"
    observed_as: tuple[ObservedAs, ...] = ()


class EpochPoint(_Frozen):
    """Epochs needed at one global batch."""

    global_batch: Annotated[float, Field(ge=1, le=1e8)]
    epochs: Annotated[float, Field(ge=0.1, le=1e4)]
    source: str
    where: str
    note: str = ""


class Recipe(Item):
    """A training recipe: target accuracy and how epochs grow with the global batch."""

    dnn: str
    target: Sourced[str]
    evaluate_every_epochs: Sourced[Annotated[float, Field(gt=0, le=1000)]]
    points: tuple[EpochPoint, ...]


# Folder of catalog/ -> class of its files.
CATEGORIES: dict[str, type[Item]] = {
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
    "accessories": Accessory,
    "software": Software,
    "support": Support,
    "dnns": Dnn,
    "datasets": Dataset,
    "stacks": Stack,
    "recipes": Recipe,
}


class Source(_Frozen):
    """A cited document. Grade A: vendor or standards body; B: operator or curated; C: press; D: weak."""

    id: str
    title: str
    publisher: str
    date: str = ""
    grade: Literal["A", "B", "C", "D"]
    where: str = ""
    note: str = ""
    aliases: tuple[str, ...] = ()


def _reduced(fact: BaseModel) -> tuple[Any, ...]:
    return (_restored, (type(fact).__pydantic_generic_metadata__["origin"], dict(fact)))


def _restored(origin: type[BaseModel], fields: dict[str, Any]) -> BaseModel:
    return origin.model_construct(**fields)


# Workers of a batch get the catalogue by pickle, which cannot find a class such as Sourced[str] by its name. The
# restored fact is a plain Sourced; it equals the one that was sent.
for _parametrised in (*Sourced.__subclasses__(), *Alternate.__subclasses__()):
    copyreg.pickle(_parametrised, _reduced)
