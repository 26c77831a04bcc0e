"""What a catalogue file may say. One class a folder of ``catalog/``; one TOML file an item; the file name is the id.

Every physical fact is a :class:`~sizer.base.provenance.Sourced` value in SI units; unknown stays absent, never zero.
``assumed`` values carry a note and are allowed where a plan cannot be drawn without one; every guide lists them first.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sizer.base.provenance import ASSUMPTION, Sourced, make_picklable
from sizer.base.texts import LongText, Name, ShortText
from sizer.catalog import items
from sizer.catalog.links import FormFactor, GpuLink, GpuLinkId, LinkId, LinkType, PowerInlet, PowerInletId, Volts

Phases = Annotated[int, Field(ge=1, le=3)]
CoolingWatts = Annotated[float, Field(ge=1, le=1e7)]


# "storage-network" and "in-band": ports that stay out of the compute fabric whatever they can run.
PortUse = Literal["compute", "storage", "storage-network", "in-band", "management", "bmc", "fabric", "back-end", "any"]
# Form of a cage, which decides what module fits: "osfp-finned", "qsfp112".
Connector = Annotated[str, Field(pattern=r"^[a-z0-9-]*$", max_length=20)]
# Name of the years in which parts were sold together: "v100", "today".
Era = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=20)]


class RackContent(items.Frozen):
    """Equal parts side by side inside a system that arrives as a rack: "compute tray", 18 of 1U."""

    name: Name
    count: items.Count
    height_u: Annotated[int, Field(ge=1, le=60)]  # of one
    lowest_u: Annotated[int, Field(ge=1, le=60)]  # of the lowest one; the others stand above it
    is_node: bool = False  # a server of the system, with its share of the system's ports
    basis: Literal["datasheet", "measured", "published", "derived", "assumed"]
    source: ShortText
    where: LongText
    note: LongText = ""


class DeliveredRack(items.Frozen):
    """A system that its maker delivers as a rack, with its own power shelves.

    Each power inlet of the system is that of one power shelf, or one of the cabinet; half of them suffice.
    """

    rack: ShortText  # id in racks/
    shelf_w: Sourced[items.Watts]  # rating of one power shelf or inlet
    has_shelves: bool = True  # False: a cabinet with inlets and no power shelves
    contents: Annotated[tuple[RackContent, ...], Field(min_length=1)]

    @property
    def n_nodes(self) -> int:
        """Servers of the system: its compute trays."""
        return sum(part.count for part in self.contents if part.is_node)


class Device(items.Item):
    """Something that takes rack units, watts and kilograms."""

    era: Era | None = None  # absent: planned with servers of every era

    height_u: Sourced[items.RackUnits] | None = None
    depth_m: Sourced[items.Metres] | None = None
    weight_kg: Sourced[items.Kilograms] | None = None
    power_typical_w: Sourced[items.Watts] | None = None
    # Either a measured or data-sheet maximum, or a bracket: sum of component TDPs (low) to the rating of the
    # supplies that remain after one is lost (high). A low end alone is a floor: the total then reads "at least".
    power_max_w: Sourced[items.Watts] | None = None
    power_low_w: Sourced[items.Watts] | None = None
    power_high_w: Sourced[items.Watts] | None = None
    power_inlets: Sourced[items.CountOrZero] | None = None
    inlet_kind: Sourced[PowerInletId] | None = None
    supply_w: Sourced[items.Watts] | None = None  # rating of one power supply
    supplies_needed: Sourced[items.Count] | None = None  # power inlets that carry its full draw; absent: not published
    liquid_heat_fraction: Sourced[items.Fraction] | None = (
        None  # of its heat that a coolant carries; absent: air-cooled
    )
    delivered: DeliveredRack | None = None  # absent: it is mounted in a rack of the design


# Uses of the ports of adapters, which only servers have: these run slower links, too.
ADAPTER_USES: tuple[PortUse, ...] = ("compute", "storage-network")


class Port(items.Frozen):
    """Ports of one kind on a device. ``also`` lists kinds that the same port can run instead (VPI)."""

    kind: LinkId
    count: items.Count
    use: PortUse
    also: tuple[LinkId, ...] = ()
    on_request: tuple[LinkId, ...] = ()  # kinds that it can run and that are planned only where a request names them
    nic: ShortText | None = None  # id in nics/, where the port is an adapter that a bill lists
    connector: Connector = ""  # of its cage; empty: what the module of its link usually plugs into
    basis: Literal["datasheet", "measured", "published", "derived", "assumed"]
    source: ShortText
    where: LongText
    note: LongText = ""

    @property
    def kinds(self) -> tuple[LinkType, ...]:
        """Links that the file lists, its own first."""
        return (self.kind, *self.also, *self.on_request)

    def runs(self, kind: LinkType) -> bool:
        """Whether links of a kind can end here: those listed, and slower ones where the port is one of an adapter."""
        return kind in self.kinds or (self.use in ADAPTER_USES and self.kind.adapter_runs(kind))


class Rack(items.Item):
    """A rack."""

    height_u: Sourced[items.RackUnits]
    load_kg: Sourced[items.Kilograms]
    weight_kg: Sourced[items.Kilograms] | None = None
    depth_m: Sourced[items.Metres] | None = None  # outer
    width_m: Sourced[items.Metres] | None = None
    usable_depth_m: Sourced[items.Metres] | None = None


class Pdu(items.Item):
    """A rack power distribution unit."""

    capacity_w: Sourced[items.Watts]
    # Voltage of its circuit, between phases where there are three: of the nominal range the lower and upper end. [V]
    low_v: Sourced[Volts] | None = None
    high_v: Sourced[Volts] | None = None
    phases: Sourced[Phases] | None = None
    # Outlets by the kind of inlet that they take: an id in power_inlets/.
    outlets: dict[ShortText, Sourced[items.CountOrZero]]
    inlet: Sourced[LongText] | None = None
    height_u: Sourced[items.RackUnits] | None = None


class Accessory(items.Item):
    """A small part that a rack takes: one a free unit, or one a power inlet."""

    use: Literal["blanking-panel", "cord"]
    inlet: PowerInletId | None = None  # of a cord
    length_m: Sourced[items.Metres] | None = None  # of a cord


class CoolantUnit(Device):
    """A coolant distribution unit: takes the heat of liquid-cooled devices into the water of the building."""

    capacity_w: Sourced[CoolingWatts]  # heat that it takes at its rated approach temperature
    place: Literal["in-rack", "in-row"]


# Kinds of networks whose published trainings tell what share of a GPU's peak people reach.
NetworkKind = Literal["convolution", "depthwise", "detector", "transformer", "diffusion", "volume", "point-cloud"]
SampleKind = Literal[
    "image", "sentence pair", "sequence", "user-item pair", "volume", "utterance", "table row", "graph node", "sample"
]


class ObservedAs(BaseModel):
    """Wording under which observations without ids name a stack.

    ``software`` is compared exactly (empty: the row names none); an empty ``source`` or ``precision`` matches any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    software: ShortText
    source: ShortText = ""
    precision: ShortText = ""

    def matches(self, software: str, source: str, precision: str) -> bool:
        """Whether an observation with this software, source and precision is meant."""
        return software == self.software and self.source in ("", source) and self.precision in ("", precision)


class TransformerShape(items.Frozen):
    """Layers and widths of a language model, from which work, parameters, memory and traffic follow.

    One expert: a dense model. Defaults: dense, and every token attends to all earlier ones.
    """

    layers: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    hidden: Annotated[int, Field(ge=16, le=1_000_000, strict=True)]
    ffn: Annotated[int, Field(ge=16, le=10_000_000, strict=True)]  # of a dense layer
    heads: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    kv_heads: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    head_size: Annotated[int, Field(ge=8, le=10_000, strict=True)]
    vocabulary: Annotated[int, Field(ge=2, le=100_000_000, strict=True)]
    # Matrices of a feed-forward block: three, of which one gates, or two.
    gated: bool = True
    experts: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 1
    active_experts: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 1
    shared_experts: Annotated[int, Field(ge=0, le=1_000, strict=True)] = 0  # that every token uses
    expert_ffn: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    dense_layers: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0  # without experts, of a mixture
    # "sliding": some layers see the last tokens only; "latent": keys and values are kept as one vector of a rank.
    attention: Literal["full", "sliding", "latent"] = "full"
    window: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None  # tokens
    window_layers: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None  # that have it; absent: all
    # Numbers of the state that each of these layers keeps of a sequence: its attention is linear, and the window stands
    # for the work of a chunk.
    state_elements: Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)] | None = None
    q_rank: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    kv_rank: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    # Number format of the published weights, where they have fewer than 16 bits.
    published_in: Literal["fp8", "mxfp4"] | None = None
    # Most tokens of a request, in and out together, by the published configuration; absent: not known.
    context_tokens: Annotated[int, Field(ge=128, le=2**24, strict=True)] | None = None

    @model_validator(mode="after")
    def _parts_go_together(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(
                f"heads = {self.heads} must be a multiple of kv_heads = {self.kv_heads}: query heads share keys and "
                "values in equal groups"
            )
        if self.active_experts > self.experts:
            raise ValueError(
                f"active_experts = {self.active_experts} must be at most experts = {self.experts}, of which each token "
                "uses so many"
            )
        if self.experts > 1 and self.expert_ffn is None:
            raise ValueError("expert_ffn is missing: give the width of one expert, for example 2048")
        if self.experts == 1 and (self.shared_experts or self.dense_layers or self.expert_ffn):
            raise ValueError("shared_experts, dense_layers and expert_ffn need experts = 2 or more")
        if self.dense_layers >= self.layers:
            raise ValueError(f"dense_layers = {self.dense_layers} must be fewer than layers = {self.layers}")
        if (self.window is not None) is not (self.attention == "sliding"):
            raise ValueError("attention = 'sliding' and window, its number of tokens, must be given together")
        if self.window_layers is not None and (self.window is None or self.window_layers > self.layers):
            raise ValueError(
                f"window_layers = {self.window_layers} needs a window and at most layers = {self.layers} layers"
            )
        if self.state_elements and self.window is None:
            raise ValueError("state_elements needs a window: the layers with linear attention are counted with it")
        if self.attention == "latent" and self.kv_rank is None:
            raise ValueError("kv_rank is missing: attention = 'latent' needs the rank of its keys and values, e.g. 512")
        if self.attention != "latent" and (self.q_rank or self.kv_rank):
            raise ValueError("q_rank and kv_rank need attention = 'latent'")
        return self

    @property
    def total_parameters(self) -> float:
        """Parameters of layers, embedding and output head."""
        return self._layer_parameters(self.experts) + 2.0 * self.vocabulary * self.hidden

    @property
    def used_parameters(self) -> float:
        """Parameters of the linear layers and the output head, which one token uses."""
        return self._layer_parameters(self.active_experts) + float(self.vocabulary * self.hidden)

    @property
    def adapted(self) -> float:
        """Rows and columns of the matrices of attention, and of blocks that are no experts: adapters of rank one."""
        dense = self.dense_layers if self.experts > 1 else self.layers
        attention = 2.0 * self.layers * (2 * self.hidden + (self.heads + self.kv_heads) * self.head_size)
        return attention + (3.0 if self.gated else 2.0) * dense * (self.hidden + self.ffn)

    def _layer_parameters(self, experts: int) -> float:
        """Parameters of all layers with so many routed experts of each."""
        width, size = self.hidden, self.head_size
        if self.attention == "latent":
            # Down to the ranks and up again; half a head's width carries positions (DeepSeek-V3, section 2.1).
            wide = size + size / 2
            queries = self.heads * wide * (self.q_rank or width) + width * (self.q_rank or 0)
            rank = self.kv_rank or 0
            attention = queries + width * (rank + size / 2) + rank * self.heads * 2 * size + self.heads * size * width
        else:
            attention = 2.0 * width * size * (self.heads + self.kv_heads)
        matrices = (3 if self.gated else 2) * width
        sparse = self.layers - self.dense_layers if self.experts > 1 else 0
        blocks = (self.layers - sparse) * self.ffn + sparse * (experts + self.shared_experts) * (self.expert_ffn or 0)
        return self.layers * attention + float(matrices * blocks)


class Transformer(TransformerShape):
    """Shape of a language model of the catalogue.

    ``measured_as`` is its name in ``benchmarks/language/training.csv``.
    """

    measured_as: ShortText = ""
    # Of a sequence, as most published runs pre-train it, or as its configuration allows; absent: the usual number.
    sequence_tokens: Annotated[int, Field(ge=128, le=2**20, strict=True)] | None = None
    source: ShortText
    where: LongText
    note: LongText = ""


class EpochPoint(items.Frozen):
    """Epochs needed at one global batch."""

    global_batch: Annotated[float, Field(ge=1, le=1e8)]
    epochs: Annotated[float, Field(ge=0.1, le=1e4)]
    source: ShortText
    where: LongText
    note: LongText = ""


# Number format of a matrix product: "bf16", "fp8".
Precision = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=20)]
# Number format of the matrix products of a language model; "fp4" is any of the kinds that a GPU has.
NumberFormat = Literal["fp16", "bf16", "fp8", "mxfp8", "fp4", "nvfp4"]
FibreMode = Literal["multimode", "single-mode", "duplex-lc"]
StorageTier = Literal["performance", "capacity", "local"]


class Release(items.Frozen):
    """A release of software that published runs were made with."""

    component: ShortText
    version: Sourced[ShortText]


class Generation(items.Item):
    """A generation of GPUs: its servers go with the equipment of its era.

    Its dates are those of its GPUs that have none of their own.
    """

    era: Era
    pdu: ShortText | None = None  # id in pdus/: planned for its servers where a request names none
    releases: tuple[Release, ...] = ()  # of the newest published runs on its GPUs
    number_formats: Sourced[tuple[NumberFormat, ...]] | None = None  # that its matrix units multiply


class Gpu(items.Item):
    """An accelerator. Peaks are those of the unit used, dense: tensor cores for mixed precision (FP16 or BF16).

    ``peak_flop_per_s`` holds the peaks of further precisions ("tf32", "fp8", "fp4"), ``matmul_flop_per_s`` what large
    matrix products were measured to reach ("bf16", "fp8").
    """

    generation: ShortText | None = None  # id in generations/; absent: considered with those of every era
    form_factor: Sourced[FormFactor]
    memory_bytes: Sourced[items.MemoryBytes]
    peak_mixed_flop_per_s: Sourced[items.FlopPerS]
    peak_fp32_flop_per_s: Sourced[items.FlopPerS] | None = None
    peak_flop_per_s: dict[Precision, Sourced[items.FlopPerS]] = Field(default_factory=dict)
    matmul_flop_per_s: dict[Precision, Sourced[items.FlopPerS]] = Field(default_factory=dict)
    number_formats: Sourced[tuple[NumberFormat, ...]] | None = None  # where they differ from those of its generation
    # Formats of weights that software widens to BF16 on it, although its matrix units multiply their kind.
    widened_formats: Sourced[tuple[ShortText, ...]] | None = None
    memory_bytes_per_s: Sourced[items.BytesPerS] | None = None
    nvlink_bytes_per_s: Sourced[items.BytesPerS] | None = None  # one direction, all links of the GPU
    tdp_w: Sourced[items.Watts] | None = None
    weight_kg: Sourced[items.Kilograms] | None = None

    @property
    def speed(self) -> tuple[float, float]:
        """Peak and rate of the memory, which GPUs that differ in its size alone share. [FLOP/s, B/s]"""
        memory = self.memory_bytes_per_s
        return self.peak_mixed_flop_per_s.value, 0.0 if memory is None else memory.value


class Cpu(items.Item):
    """A host processor."""

    cores: Sourced[items.Count]
    threads: Sourced[items.Count] | None = None
    base_clock_hz: Sourced[items.Hertz] | None = None
    tdp_w: Sourced[items.Watts] | None = None
    pcie_lanes: Sourced[items.CountOrZero] | None = None


class Server(Device):
    """A server: GPU server, head node or storage server, by ``role``."""

    role: Literal["gpu", "head", "storage", "fabric-manager"]
    is_workstation: bool = False  # stands at a desk, one alone, without a rack
    gpus: tuple[ShortText, ...] = ()  # ids in gpus/ that the server takes; the first is the default
    n_gpus: Sourced[items.CountInServer] | None = None
    n_gpus_choices: tuple[items.CountInServer, ...] = ()  # other counts that the vendor sells, e.g. (4, 8, 10)
    n_gpus_alone: tuple[items.CountInServer, ...] = ()  # and of a server that is enough alone, e.g. (1, 3, 5, 6)
    intra_link: Sourced[GpuLinkId] | None = None
    cpu: Sourced[LongText] | None = None  # id in cpus/
    n_cpus: Sourced[items.CountInServer] | None = None
    # Links of x16 width between processors and GPUs that work side by side: uplinks of the PCIe switches.
    host_links: Sourced[items.CountOrZero] | None = None
    memory_bytes: Sourced[items.MemoryBytes] | None = None
    local_storage: ShortText | None = None  # id in storage/ of kind "local"
    ports: tuple[Port, ...] = ()


class MemoryOption(items.Item):
    """Memory that a server is sold with in place of its standard memory: a line of the bill for each server."""

    server: ShortText
    memory_bytes: Sourced[items.MemoryBytes]  # of the server with it, all modules together


class CapacityOption(items.Frozen):
    """One drive choice of a storage unit."""

    name: Name
    raw_bytes: Sourced[items.CapacityBytes]  # per unit (chassis or server)


class Overhead(items.Frozen):
    """Protection overhead at one node count; the last row holds for every larger count."""

    nodes: items.Count
    overhead: items.Fraction
    source: ShortText
    where: LongText
    basis: Literal["datasheet", "published", "derived"] = "published"


class Storage(Device):
    """A storage system. Sizes, watts and ``ports`` are those of one unit: a chassis, or a server of software."""

    kind: Literal["scale-out-nas", "parallel-file-system", "nfs-server", "local"]
    nodes_per_unit: Sourced[items.Count] | None = None
    server: Sourced[LongText] | None = None  # id in servers/, where the system is software: its size and ports count
    min_nodes: Sourced[items.Count] | None = None
    max_nodes: Sourced[items.Count] | None = None
    max_gpus: Sourced[items.Count] | None = None  # that a class of products is made for; absent: its rates say
    node_read_low_bytes_per_s: Sourced[items.BytesPerS] | None = (
        None  # what one node reads for clients, as demonstrated
    )
    node_read_high_bytes_per_s: Sourced[items.BytesPerS] | None = None  # the vendor's upper end; equal when one number
    node_write_bytes_per_s: Sourced[items.BytesPerS] | None = None  # what one node writes for clients
    node_iops: Sourced[Annotated[float, Field(ge=1, le=1e12)]] | None = None  # reads of one node a second
    test_write_bytes_per_s: Sourced[items.BytesPerS] | None = None  # what a published test wrote, all clients together
    mount_low_bytes_per_s: Sourced[items.BytesPerS] | None = None  # of one mount, or one client, of a server
    mount_high_bytes_per_s: Sourced[items.BytesPerS] | None = None
    mounts_per_server: Sourced[items.Count] | None = None  # absent: one for every front-end address of the system
    front_end_kind: Sourced[LinkId] | None = None
    front_end_ports_per_node: Sourced[items.Count] | None = None
    gateway_ports_per_node: Sourced[items.CountOrZero] | None = None  # of these, used when a gateway stands between
    back_end_ports_per_node: Sourced[items.CountOrZero] | None = None
    back_end_switch: Sourced[LongText] | None = None  # id in switches/
    back_end_flat_nodes: Sourced[items.Count] | None = None  # above this the back end is leaf-spine
    cache_bytes_per_node: Sourced[items.MemoryBytes] | None = None
    capacity_options: tuple[CapacityOption, ...] = ()  # rising: the first drives that do stand for larger ones
    usable_bytes: Sourced[items.CapacityBytes] | None = None  # of a system with one fixed capacity
    media: Sourced[Literal["all-flash", "hybrid", "disk"]] | None = None  # hybrid: disks with flash as cache
    max_usable_bytes: Sourced[items.CapacityBytes] | None = None  # of the largest system that the vendor publishes
    protection: Sourced[LongText] | None = None
    protection_overheads: tuple[Overhead, ...] = ()
    # Software systems. Data blocks grow with the servers: min(stripe_data_max, servers - parity - spares).
    stripe_data: Sourced[items.Count] | None = None
    stripe_data_max: Sourced[items.Count] | None = None
    stripe_parity: Sourced[items.CountOrZero] | None = None
    # Of a node that is an appliance, or of a chassis whose nodes they are: each takes over the drives of the other.
    controllers: Sourced[items.Count] | None = None
    hot_spare_nodes: Sourced[items.CountOrZero] | None = None  # at min_nodes
    hot_spare_nodes_above_min: Sourced[items.CountOrZero] | None = None  # with more servers than min_nodes
    usable_share: Sourced[items.Fraction] | None = None
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
    latency_s: Sourced[items.Seconds] | None = None


class Gateway(Switch):
    """A gateway between InfiniBand and Ethernet; each of ``ports`` can be an uplink or a front-end port."""

    uplink_kind: Sourced[LinkId]
    front_end_kind: Sourced[LinkId]
    uplink_bytes_per_s: Sourced[items.BytesPerS]
    front_end_bytes_per_s: Sourced[items.BytesPerS]


class Nic(items.Item):
    """A network adapter."""

    kinds: tuple[LinkId, ...]
    n_ports: Sourced[items.Count]
    host_interface: Sourced[LongText] | None = None
    # PCIe 3.0 x16 cannot feed two 100 Gbit/s ports: bandwidth to count per adapter.
    usable_bytes_per_s: Sourced[items.BytesPerS] | None = None


class Cable(items.Item):
    """A cable with both ends, a transceiver of which a link takes two plus fibre, or an adapter for one end."""

    kinds: tuple[LinkId, ...]
    media: Literal["dac", "aoc", "copper", "transceiver", "fibre", "adapter"]
    length_m: Sourced[items.Metres] | None = None
    power_end_w: Sourced[items.Watts] | None = None
    # The cages that its ends fit (empty: any), and how many ports of a cage it serves: of a twin-port module, of a
    # cable that splits.
    connectors: tuple[Connector, ...] = ()
    ports_each: Annotated[int, Field(ge=1, le=8)] = 1
    # Of a module and of a fibre: they work with those of the same mode, over the reach of the module.
    fibre_mode: FibreMode | None = None
    reach_m: Sourced[Annotated[float, Field(ge=0.1, le=100_000)]] | None = None


# Layers of software from the users down; software of the storage is drawn with the hardware.
SoftwareLayer = Literal["portal", "manager", "frameworks", "system", "storage"]


class Software(items.Item):
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


class Support(items.Item):
    """A support or service line; fields as for software."""

    metric: Sourced[Literal["node", "gpu", "raw-terabyte", "cluster"]]
    applies_to: tuple[ShortText, ...] = ()
    requires: tuple[ShortText, ...] = ()
    optional: bool = False
    purpose: Sourced[LongText]


# Of the forward pass of a linear layer: a multiplication and an addition.
FLOP_PER_PARAMETER = 2.0
# Token numbers of vocabularies above 65,536 take four bytes; a token of English text has about four characters.
TOKEN_BYTES = 4.0


class Dnn(items.Item):
    """A neural network. FLOP are 2 x multiply-accumulates of one forward pass of one sample.

    Those of a language model follow from its shape, unless its file states them.
    """

    forward_flop: Sourced[items.Flop]
    parameters: Sourced[items.Parameters]
    input_bytes: Sourced[items.InputBytes]  # one decoded uint8 sample as the GPU gets it
    # The last two of a language model in use, as its target counts them.
    sample: SampleKind | Literal["token", "request", "request in flight"] = "image"
    family: ShortText = ""  # name of the effect pool that an unseen DNN borrows from, e.g. "vgg"
    kind: NetworkKind | None = None  # of one whose rate trainings in benchmarks/networks/ tell; absent: runs of its own
    transformer: Transformer | None = None  # of a language model, whose samples are tokens
    mlperf: ShortText = ""  # name in the rows of MLPerf Training v1.0 and later; empty: not among them
    dataset: ShortText = ""  # id in datasets/ that its runs read
    era: Era | None = None  # of the only equipment that it was measured on; absent: of every one

    @model_validator(mode="before")
    @classmethod
    def _of_its_shape(cls, table: Any) -> Any:
        """The table with work, parameters and bytes of a token."""
        if not isinstance(table, dict) or table.get("transformer") is None:
            return table
        try:
            shape = Transformer.model_validate(table["transformer"])
            flop, parameters, source = FLOP_PER_PARAMETER * shape.used_parameters, shape.total_parameters, shape.source
        except ValidationError:  # the field reports it, and nothing else is wrong
            flop, parameters, source = 1e9, 1e9, ASSUMPTION
        derived = {"basis": "derived", "source": source, "where": "shape of the model"}
        assumed = {"basis": "assumed", "source": ASSUMPTION, "where": "note"}
        facts = {
            "forward_flop": (flop, "Linear layers; attention is added.", derived),
            "parameters": (parameters, "Layers, embedding and an output head as large.", derived),
            "input_bytes": (TOKEN_BYTES, "A token number of 32 bits.", assumed),
        }
        # To the digits that are published of models.
        rounded = {key: {"value": float(f"{n:.5g}"), "note": note, **of} for key, (n, note, of) in facts.items()}
        return rounded | table


class Dataset(items.Item):
    """A training set as stored."""

    n_samples: Sourced[items.Samples]
    sample_bytes: Sourced[items.SampleBytes]  # mean size of one sample on storage
    n_validation_samples: Sourced[items.SamplesOrZero] | None = None
    format: Literal["raw files", "records", "decoded tensors"]
    sample: SampleKind = "image"


# Who builds and tunes a stack's software. An NVIDIA container counts as one whatever runs in it.
SoftwareLine = Literal["ngc", "tensorpack", "cnn-benchmarks", "official", "horovod", "upstream"]


class Stack(items.Item):
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


class Recipe(items.Item):
    """A training recipe: target accuracy and how epochs grow with the global batch."""

    dnn: ShortText
    target: Sourced[LongText]
    # Of MLPerf Training v1.0 and later: samples to the target come from the fit of its rows, in place of points.
    mlperf: ShortText = ""
    starts_from_checkpoint: bool = False  # of the benchmark, whose runs do not train from scratch
    epoch_samples: Sourced[items.Samples] | None = None  # of these runs
    evaluate_every_epochs: Sourced[Annotated[float, Field(ge=1e-6, le=1000)]]
    points: tuple[EpochPoint, ...] = ()


# Folder of catalog/ -> class of its files.
CATEGORIES: dict[str, type[items.Item]] = {
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


class Source(items.Frozen):
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

    @property
    def is_weak(self) -> bool:
        """Whether it proves nothing to a customer, who is told to have its facts confirmed: press, unsigned papers."""
        return self.grade in ("C", "D") and self.id != ASSUMPTION


make_picklable()
