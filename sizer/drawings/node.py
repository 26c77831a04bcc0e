"""Inside of a compute node: processors and memory, PCIe, GPUs with the links between them, adapters and drives.

Which GPUs are joined comes from the catalogue (``NVLink layout`` and its neighbours among the features of a server).
What no source states is drawn in its generic form, and title or caption say so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeVar

from sizer.base.quantities import by_count, si
from sizer.catalog.items import Item
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Cpu, Port, Server, Storage
from sizer.drawings.cluster import link_text, many, memory
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import LINE_SIZE, Box, Drawing, Label, Link, box_labels, small_room, text_width
from sizer.physical.platform import lan_ports
from sizer.physical.platforms import MIN_LAN_GBIT_PER_S
from sizer.physical.roles import NetworkPlane, NetworkRole, Role
from sizer.sizing.result import DesignAnswer

# mesh: hybrid cube mesh of eight; full: every pair; many: every pair of too many GPUs to draw each; switched: NVSwitch;
# joined: direct links, pairs not in the catalogue; pcie: PCIe only; unknown: no source says; single: one GPU.
Layout = Literal["mesh", "full", "many", "switched", "joined", "pcie", "unknown", "single"]

# Features of catalog/servers/ that state a layout, and the values that are drawn pair by pair.
NVLINKS_OF_A_GPU, PCIE_SWITCHES = "NVLinks of a GPU", "PCIe switches"
NVSWITCH_CHIPS, HOST_LINK, LOCAL_DRIVES = "NVSwitch chips", "host to GPU", ("local drives", "local drive")
_MESH, _FULL = "hybrid cube mesh", "fully connected"
_MESH_GPUS, _MOST_FULL_GPUS = 8, 4
# Ports that carry no data of a training.
_SERVICE = ("management", "bmc")
# What lies on the compute fabric beside gradients.
_FILES_ON_FABRIC = ("fabric", "gateway", "spine")

ItemT = TypeVar("ItemT", bound=Item)


@dataclass(frozen=True)
class Part:
    """Title and lines of a box."""

    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeFacts:
    """One compute node of a design."""

    design: DesignAnswer

    @property
    def server(self) -> Server:
        return self.design.platform.server

    @property
    def n_trays(self) -> int:
        """Trays of a system that arrives as a rack, of which one is drawn; 1 for any other server."""
        delivered = self.server.delivered
        return 1 if delivered is None else max(delivered.n_nodes, 1)

    @property
    def n_gpus(self) -> int:
        return self.design.platform.gpus_per_server // self.n_trays

    @property
    def layout(self) -> Layout:
        """How its GPUs are joined, as far as a source says so."""
        link = self.server.intra_link
        if self.n_gpus == 1:
            return "single"
        if link is None:
            return "unknown"
        if link.value.topology == "switched":
            return "switched"
        if link.value.topology == "host":
            return "pcie"
        stated = self.feature(self.layout_key)
        if stated == _MESH and self.n_gpus == _MESH_GPUS:
            return "mesh"
        if stated != _FULL:
            return "joined"
        return "full" if self.n_gpus <= _MOST_FULL_GPUS else "many"

    @property
    def layout_key(self) -> str:
        """Feature that states which GPUs its links join: "NVLink layout", "Infinity Fabric layout"."""
        return f"{self.link_name} layout"

    def feature(self, key: str) -> str:
        """A feature of the server; empty where its catalogue file states none."""
        fact = self.server.features.get(key)
        return "" if fact is None else fact.value

    def is_derived(self, key: str) -> bool:
        """Whether a feature follows from others instead of being printed."""
        fact = self.server.features.get(key)
        return fact is not None and fact.basis == "derived"

    def count(self, key: str) -> int | None:
        """A feature that is a number."""
        text = self.feature(key)
        return int(text) if text.isdecimal() else None

    @property
    def link_name(self) -> str:
        """What its GPUs are joined by: "NVLink", with or without switches, or "Infinity Fabric"."""
        link = self.server.intra_link
        family = "" if link is None else link.value.family
        return family if family and not family.startswith("NV") else "NVLink"

    @property
    def link_rate(self) -> str:
        """What all links of one GPU to others carry in one direction; empty where unknown."""
        fact = self.design.platform.gpu.nvlink_bytes_per_s
        return "" if fact is None else si(fact.value, "B/s")

    # --- host

    @cached_property
    def cpu(self) -> Cpu | None:
        """The kind of processor, where the catalogue has it."""
        fact = self.server.cpu
        return None if fact is None else _found(self.design.plan.catalog.cpus, fact.value)

    def processor(self) -> Part:
        fact = self.server.cpu
        if self.cpu is None or fact is None:
            return Part("Processor", ("model to be confirmed",))
        cores = self.cpu.cores.value
        said = f"{cores} cores, assumed" if fact.basis == "assumed" else f"{cores} cores"
        return Part(self.cpu.name, (said,))

    def memory(self) -> Part:
        fact = self.server.memory_bytes
        if fact is None:
            return Part("Memory", ("to be confirmed",))
        lines = ["all processors together"] if self.n_cpus > 1 else []
        if fact.basis == "assumed":
            lines.append("assumed")
        return Part(f"{memory(fact.value / self.n_trays)} memory", tuple(lines))

    @property
    def n_cpus(self) -> int:
        """Processors; one stands for a number that no source gives."""
        return self.server.n_cpus.value // self.n_trays if self.server.n_cpus is not None else 1

    @property
    def lanes(self) -> int | None:
        """PCIe lanes of one processor."""
        fact = None if self.cpu is None else self.cpu.pcie_lanes
        return None if fact is None else fact.value

    @cached_property
    def drives(self) -> Part:
        """Drives inside the server."""
        title = "Local drives"
        stated = next((text for key in LOCAL_DRIVES if (text := self.feature(key))), "")
        storage = self._local_storage
        if stated:
            return Part(title, (_printed(stated),))
        if storage is None:
            return Part(title, ("to be confirmed",))
        drives = storage.features.get("drives")
        if drives is not None:
            return Part(title, (_printed(drives.value),))
        size = storage.usable_bytes
        if size is None or size.basis == "assumed":
            return Part(title, (storage.name, "number and size to be confirmed"))
        return Part(title, (f"{si(size.value, 'B')} {storage.name}",))

    @property
    def _local_storage(self) -> Storage | None:
        name = self.server.local_storage
        return None if name is None else _found(self.design.plan.catalog.storage, name)

    # --- ports

    def ports(self) -> tuple[Part, ...]:
        """Adapters by the use of their ports in this design; those for management together at the end."""
        data = [self._data_ports(port, first) for first, port in self._numbered() if port.use not in _SERVICE]
        service = [self._service_port(port) for _, port in self._numbered() if port.use in _SERVICE]
        if service:
            data.append(Part("Management", tuple(service)))
        return tuple(data)

    def _numbered(self) -> Iterator[tuple[int, Port]]:
        """Groups of ports with the number of the first one, as plans count them."""
        first = 0
        for port in self.server.ports:
            yield first, port
            first += port.count

    def _data_ports(self, port: Port, first: int) -> Part:
        # Of the first tray, where there are several; ports that they share stay whole.
        count = port.count if port.count % self.n_trays else port.count // self.n_trays
        used = [self._cabled[number] for number in range(first, first + count) if number in self._cabled]
        kind = used[0][1] if used else port.kind
        use = self._use(used, port)
        lines = [f"{use}, port assumed" if port.basis == "assumed" and used else use]
        if used and len(used) < count:
            lines.append(f"{len(used)} of {count} cabled")
        nic = None if port.nic is None else _found(self.design.plan.catalog.nics, port.nic)
        if nic is not None:
            lines.append(many(-(-count // max(nic.n_ports.value, 1)), nic.name))
        return Part(link_text(count, kind), tuple(lines))

    def _use(self, used: list[tuple[NetworkPlane, LinkType]], port: Port) -> str:
        """What goes through some ports, by the networks that they are cabled to."""
        if not used:
            is_read_from = self.design.platform.attachment == "lan" and not port.kind.is_infiniband
            is_joined = not self.design.plan.cables and port in lan_ports(self.server)
            if not is_read_from and not is_joined:
                return "not cabled in this design"
            joined = "" if is_read_from or port.count == 1 else f"one of {port.count} "
            return f"{joined}to the customer's LAN, provided by others"
        network = used[0][0]
        if network.network is NetworkRole.STORAGE:
            return "files"
        if network.network is not NetworkRole.COMPUTE:
            return str(network)
        attachment = self.design.platform.attachment
        has_files = attachment in _FILES_ON_FABRIC or (attachment == "lan" and not used[0][1].is_infiniband)
        if has_files and self.design.n_servers == 1:
            return "files"
        return "compute fabric and files" if has_files else "compute fabric"

    def _service_port(self, port: Port) -> str:
        name = "controller" if port.use == "bmc" else "host"
        if port.use == "management" and self._leads_to_lan(port):
            name = "host and customer's LAN"
        shared = "" if port.count % self.n_trays == 0 else ", shared by all trays"
        count = port.count if shared else port.count // self.n_trays
        return f"{link_text(count, port.kind)}, {name}{shared}"

    def _leads_to_lan(self, port: Port) -> bool:
        """Whether files come in through a management port: the fabric is InfiniBand and storage at hand is not."""
        parts = self.design.platform
        is_fast = not port.kind.is_infiniband and port.kind.gbit_per_s.value >= MIN_LAN_GBIT_PER_S
        return parts.attachment == "lan" and parts.fabric.is_infiniband and is_fast

    @cached_property
    def _cabled(self) -> dict[int, tuple[NetworkPlane, LinkType]]:
        """Port number -> network and kind of link, of the first server of the plan."""
        plan = self.design.plan
        server = next((at for at, device in enumerate(plan.devices) if device.role is Role.GPU_SERVER), None)
        return {
            int(port): (cable.run.network, cable.run.kind)
            for cable in plan.cables
            for port in cable.run.a_port[cable.run.a_device == server]
        }


def _printed(text: str) -> str:
    """A count of a catalogue file, '4 x 1.92 TB', with its proper sign."""
    return text.replace(" x ", " × ")


def _found(items: Mapping[str, ItemT], name: str) -> ItemT | None:
    return items.get(name)


Point = tuple[float, float]

NVLINK_STROKE, PCIE_STROKE = 2.2, 0.9
_GPU_H = 32.0
# Hybrid cube mesh and fully connected four: a grid with room for the links between the boxes.
_MESH_W, _MESH_GAP = 60.0, 48.0
_FULL_W, _FULL_GAP_X, _FULL_GAP_Y = 92.0, 96.0, 48.0
# GPU numbers of the mesh by row and column. The second four are mirrored, so that links between partners stay short.
_MESH_ROWS = ((0, 1, 5, 4), (2, 3, 7, 6))
_PARTNER = 4  # GPU n of the first four is joined to GPU n + 4
# Rows of GPUs on a bus: room for a PCIe lane on the left of each box and an NVLink lane on its right.
_ROW_GAP, _ROW_STEP, _LANE = 9.0, 20.0, 3.0
_MOST_IN_A_ROW = 10
_ROW_LENGTH = 8
_BAR_H, _BAR_GAP = 36.0, 26.0
# How far a PCIe line runs beside a box of the mesh, and an NVLink above or below a row of it.
_BESIDE, _AROUND = 6.0, 13.0


@dataclass
class Placed:
    """Boxes and links of the GPUs; ``bottom`` is where they end."""

    boxes: list[Box] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    bottom: float = 0.0

    def box(self, number: int) -> Box:
        return next(box for box in self.boxes if box.id == gpu_id(number))

    def nvlink(self, box: Box, other: Box, *points: Point) -> None:
        """Link between two GPUs, or between a GPU and the switches."""
        self.links.append(Link(f"{box.id}--{other.id}", box.id, other.id, points, NVLINK_STROKE, "exchange"))

    def pcie(self, source: Box, gpu: Box, *points: Point) -> None:
        """PCIe line from a box above all GPUs, whose lower edge it leaves at the first point's x."""
        way = ((points[0][0], source.bottom), *points)
        self.links.append(Link(f"{source.id}--{gpu.id}", source.id, gpu.id, way, PCIE_STROKE, "other"))


def gpu_id(number: int) -> str:
    """Name of a GPU's box."""
    return f"gpu-{number}"


def _gpu(number: int, x: float, y: float, width: float) -> Box:
    title = f"GPU {number}"
    if text_width(title, LINE_SIZE) > small_room(width):
        title = str(number)
    return Box(gpu_id(number), x, y, width, _GPU_H, title, role="gpu", small=True)


def cube_mesh(source: Box, left: float, width: float, top: float) -> Placed:
    """Eight GPUs as a hybrid cube mesh: two fully connected fours, and one pair between each two partners.

    The name stands for a cube with a GPU at each corner, all twelve edges joined and the diagonals of two opposite
    faces: 16 pairs (NVIDIA, "DGX-1 with Tesla V100 system architecture", white paper). That a DGX-1 is built so is in
    dell-isilon-dgx1-blog-2018, runai-dgx and zhihu-nvlink; which pairs hold two links is in none of them.
    """
    placed = Placed()
    start = left + (width - 4 * _MESH_W - 3 * _MESH_GAP) / 2
    first = top + 2 * _AROUND
    for row, numbers in enumerate(_MESH_ROWS):
        for column, number in enumerate(numbers):
            x, y = start + column * (_MESH_W + _MESH_GAP), first + row * (_GPU_H + _MESH_GAP)
            placed.boxes.append(_gpu(number, x, y, _MESH_W))
    for four in (range(_PARTNER), range(_PARTNER, 2 * _PARTNER)):
        _join_all(placed, four)
    for number in range(_PARTNER):
        _join_partners(placed, number)
    _pcie_of_grid(placed, source)
    placed.bottom = placed.box(_PARTNER).bottom + _MESH_GAP + _GPU_H + _AROUND
    return placed


def _join_partners(placed: Placed, number: int) -> None:
    """Straight where the partners are neighbours, else round the boxes between them."""
    one, other = placed.box(number), placed.box(number + _PARTNER)
    if number % 2:
        y = one.y + _GPU_H / 2
        placed.nvlink(one, other, (one.right, y), (other.x, y))
        return
    is_upper = number == 0
    edge, y = (one.y, one.y - _AROUND) if is_upper else (one.bottom, one.bottom + _AROUND)
    start, end = one.centre_x + _AROUND, other.centre_x - _AROUND
    placed.nvlink(one, other, (start, edge), (start, y), (end, y), (end, edge))


def fully_connected(source: Box, n_gpus: int, left: float, width: float, top: float) -> Placed:
    """Up to four GPUs, each joined to every other."""
    placed = Placed()
    start = left + (width - 2 * _FULL_W - _FULL_GAP_X) / 2
    for number in range(n_gpus):
        x, y = start + number % 2 * (_FULL_W + _FULL_GAP_X), top + number // 2 * (_GPU_H + _FULL_GAP_Y)
        placed.boxes.append(_gpu(number, x, y, _FULL_W))
    _join_all(placed, range(n_gpus))
    _pcie_of_grid(placed, source)
    placed.bottom = max(box.bottom for box in placed.boxes)
    return placed


def _join_all(placed: Placed, numbers: Sequence[int]) -> None:
    """Link every pair of a square of GPUs: sides from edge to edge, diagonals from corner to corner."""
    for one, other in combinations((placed.box(number) for number in numbers), 2):
        if one.y == other.y:
            first, second = (one, other) if one.x < other.x else (other, one)
            y = one.y + _GPU_H / 2
            placed.nvlink(first, second, (first.right, y), (second.x, y))
        elif one.x == other.x:
            placed.nvlink(one, other, (one.centre_x, one.bottom), (one.centre_x, other.y))
        else:
            is_right = other.x > one.x
            ends = (one.right, other.x) if is_right else (one.x, other.right)
            placed.nvlink(one, other, (ends[0], one.bottom), (ends[1], other.y))


def _pcie_of_grid(placed: Placed, source: Box) -> None:
    """Straight down to the upper row; beside the columns to the lower one, on the side away from its square."""
    tops = min(box.y for box in placed.boxes)
    columns = sorted({box.x for box in placed.boxes})
    for box in placed.boxes:
        if box.y == tops:
            placed.pcie(source, box, (box.centre_x, box.y))
            continue
        y = box.y + _GPU_H / 2
        on_left = columns.index(box.x) % 2 == 0
        x, edge = (box.x - _BESIDE, box.x) if on_left else (box.right + _BESIDE, box.right)
        placed.pcie(source, box, (x, y), (edge, y))


def _bus(placed: Placed, gpus: Sequence[Box], part: Part, x: float, width: float) -> None:
    lowest = placed.bottom
    # Lanes of the upper rows end beside the last column.
    width += 2 * _LANE if len({box.y for box in gpus}) > 1 else 0.0
    bar = Box("nvlink", x, lowest + _BAR_GAP, width, _BAR_H, part.title, part.lines, "exchange")
    placed.boxes.append(bar)
    for box in gpus:
        y, lane = box.y + _GPU_H / 2, box.right + _LANE
        if box.bottom == lowest:
            placed.nvlink(box, bar, (box.centre_x, box.bottom), (box.centre_x, bar.y))
        else:
            placed.nvlink(box, bar, (box.right, y), (lane, y), (lane, bar.y))
    placed.bottom = bar.bottom


# Pairs of a hybrid cube mesh: six in each of two fours, and the four between partners.
MESH_PAIRS = 16

# Layouts of GPUs with links between them.
_LINKED = ("mesh", "full", "many", "switched", "joined")

# The outline of a box is half outside of it.
_EDGE = 1.0
_RIGHT = COLUMN_PX - _EDGE
_HOST_H, _BUS_H, _SWITCH_H = 46.0, 36.0, 34.0
_HOST_GAP, _BUS_GAP, _SWITCH_GAP = 22.0, 28.0, 26.0
# GPUs on the left, adapters and drives on the right of a trunk.
_GPU_ZONE, _PART_X, _TRUNK = 404.0, 440.0, 11.0
_PART_GAP, _PART_PAD, _TITLE_H, _LINE_H = 8.0, 10.0, 13.65, 12.6
_HOST_X_GAP = 20.0
_LEADING = 12.5
# Of what no source in the catalogue states.
_OPEN = "is for the vendor to confirm"


def node(design: DesignAnswer) -> Drawing:
    """Drawing of one compute node of a design.

    ``design``: its server, GPUs, processors and ports are drawn; names come from the catalogue of its plan.
    """
    return _Layout(NodeFacts(design)).drawing()


class _Layout:
    """Places the parts from the processors down."""

    def __init__(self, facts: NodeFacts) -> None:
        self.facts = facts
        self.boxes: list[Box] = []
        self.links: list[Link] = []
        self.labels: list[Label] = []

    def drawing(self) -> Drawing:
        """Processors, the PCIe bus below them, and what hangs on it."""
        # Processors with the memory between them, and the bus; returns the bus.
        cpus = [(f"cpu-{number}", self.facts.processor(), "decode") for number in range(self.facts.n_cpus)]
        parts = [*cpus[:1], ("memory", self.facts.memory(), "other"), *cpus[1:]]
        width = (_RIGHT - _EDGE - (len(parts) - 1) * _HOST_X_GAP) / len(parts)
        y = _EDGE
        for index, (id_, part, role) in enumerate(parts):
            x = _EDGE + index * (width + _HOST_X_GAP)
            self.boxes.append(Box(id_, x, y, width, _HOST_H, part.title, part.lines, role))
        bus_y = y + _HOST_H + _HOST_GAP
        lanes = self.facts.lanes
        text = Part(self._bus_name(), () if lanes is None else (f"{lanes} lanes a processor",))
        bus = Box("pcie", _EDGE, bus_y, _RIGHT - _EDGE, _BUS_H, text.title, text.lines, "other", quiet=True)
        for box in self.boxes:
            if box.id == "memory":
                self._join_memory(box)
            else:
                way = ((box.centre_x, box.bottom), (box.centre_x, bus.y))
                self.links.append(Link(f"{box.id}--pcie", box.id, bus.id, way, PCIE_STROKE, "other"))
        self.boxes.append(bus)
        gpus_bottom = self._gpus(bus)
        bottom = max(gpus_bottom, self._parts(bus))
        title = node_title(self.facts.design)
        return Drawing(COLUMN_PX, bottom + 4, title, tuple(self.boxes), tuple(self.links), (), tuple(self.labels))

    # --- host

    def _join_memory(self, ram: Box) -> None:
        """The processor on either side of the memory."""
        y = ram.y + _HOST_H / 2
        for cpu in self.boxes:
            ends = ((cpu.right, y), (ram.x, y)) if cpu.x < ram.x else ((cpu.x, y), (ram.right, y))
            if cpu.id in ("cpu-0", "cpu-1"):
                self.links.append(Link(f"{cpu.id}--memory", cpu.id, ram.id, ends, PCIE_STROKE, "other"))

    def _bus_name(self) -> str:
        stated = self.facts.feature(HOST_LINK)
        if stated:
            others = "" if "PCIe" in stated else ", PCIe to adapters and drives"
            return f"{stated} to each GPU{others}"
        link = self.facts.server.intra_link
        return link.value.name if link is not None and link.value.topology == "host" else "PCIe"

    # --- GPUs

    def _gpus(self, bus: Box) -> float:
        """GPUs, behind PCIe switches where a source states them; returns where they and their text end."""
        facts, top = self.facts, bus.bottom + _BUS_GAP
        source = bus
        switches = facts.count(PCIE_SWITCHES)
        if switches:
            source = self._switches(bus, switches)
            top = source.bottom + _SWITCH_GAP
        placed = self._placed(source, top)
        self.boxes += placed.boxes
        self.links += placed.links
        y = placed.bottom
        for number, text in enumerate(self._gpu_texts()):
            y += 17 if number == 0 else _LEADING
            role, semibold = ("muted", False) if number else ("ink", True)
            self.labels.append(Label(_EDGE, y, text, LINE_SIZE, role, semibold))
        return y

    def _switches(self, bus: Box, count: int) -> Box:
        title = by_count(count, "PCIe switch", f"{count} × PCIe switch")
        box = Box(
            "pcie-switch",
            _EDGE,
            bus.bottom + _BUS_GAP,
            _GPU_ZONE - 10,
            _SWITCH_H,
            title,
            role="other",
            copies=count,
            quiet=True,
        )
        self.boxes.append(box)
        way = ((box.centre_x, bus.bottom), (box.centre_x, box.y))
        self.links.append(Link("pcie--pcie-switch", bus.id, box.id, way, PCIE_STROKE, "other"))
        return box

    def _placed(self, source: Box, top: float) -> Placed:
        facts, layout = self.facts, self.facts.layout
        if layout == "mesh":
            return cube_mesh(source, _EDGE, _GPU_ZONE, top)
        if layout == "full":
            return fully_connected(source, facts.n_gpus, _EDGE, _GPU_ZONE, top)
        bus = None
        if layout == "switched":
            bus = self._nvswitch()
        elif layout == "many":
            bus = Part(facts.link_name, (f"a direct link from each GPU to each of the {facts.n_gpus - 1} others",))
        elif layout == "joined":
            bus = Part(facts.link_name, ("pairs to be confirmed",))
        # GPUs side by side, in rows of eight where they are many; below them what joins them all, if anything does.
        placed = Placed()
        length = facts.n_gpus if facts.n_gpus <= _MOST_IN_A_ROW else _ROW_LENGTH
        wide = min((_GPU_ZONE - length * _ROW_GAP) / length, _FULL_W)
        start = _EDGE + (_GPU_ZONE - length * (wide + _ROW_GAP) + _ROW_GAP) / 2
        for number in range(facts.n_gpus):
            x, y = start + number % length * (wide + _ROW_GAP), top + number // length * (_GPU_H + _ROW_STEP)
            placed.boxes.append(_gpu(number, x, y, wide))
        gpus = tuple(placed.boxes)
        for box in gpus:
            y = box.y + _GPU_H / 2
            way = ((box.centre_x, box.y),) if box.y == top else ((box.x - _LANE, y), (box.x, y))
            placed.pcie(source, box, *way)
        placed.bottom = max(box.bottom for box in gpus)
        if bus is not None:
            _bus(placed, gpus, bus, start, length * (wide + _ROW_GAP) - _ROW_GAP)
        return placed

    def _nvswitch(self) -> Part:
        """The chips that join the GPUs; those of a rack of trays are in switch trays of their own."""
        chips = self.facts.feature(NVSWITCH_CHIPS)
        if self.facts.n_trays > 1:
            inside = f", {chips} chips" if chips else ""
            return Part("NVLink switch trays of the rack", (f"outside this tray{inside}",))
        return Part("NVSwitch", (f"{chips} chips" if chips else "number of chips to be confirmed",))

    def _gpu_texts(self) -> list[str]:
        """What the GPUs are, and what their links carry."""
        facts = self.facts
        texts = [f"{facts.n_gpus} × {facts.design.platform.gpu.name}"]
        each, rate = facts.count(NVLINKS_OF_A_GPU), facts.link_rate
        if facts.layout in ("mesh", "full") and each is not None:
            links = each * facts.n_gpus // 2
            pairs = MESH_PAIRS if facts.layout == "mesh" else facts.n_gpus * (facts.n_gpus - 1) // 2
            texts.append(f"{links} NVLinks on {pairs} pairs, {each} at each GPU")
        if facts.layout in _LINKED and rate:
            texts.append(f"{facts.link_name}, {rate} a GPU each way")
        return texts

    # --- adapters and drives

    def _parts(self, bus: Box) -> float:
        """Adapters and drives below one another, on a trunk that leaves the bus; returns where they end."""
        y, trunk = bus.bottom + _BUS_GAP, _PART_X - _TRUNK
        parts = [(f"ports-{number}", part, "network") for number, part in enumerate(self.facts.ports(), 1)]
        for id_, part, role in (*parts, ("drives", self.facts.drives, "storage")):
            width = _RIGHT - _PART_X
            source = Box(id_, _PART_X, y, width, 200.0, part.title, part.lines, role)
            lines = len(box_labels(source)) - 1
            height = max(_TITLE_H + lines * _LINE_H + _PART_PAD, 32.0)
            box = Box(id_, _PART_X, y, width, height, part.title, part.lines, role)
            middle = box.y + box.height / 2
            way = ((trunk, bus.bottom), (trunk, middle), (box.x, middle))
            self.links.append(Link(f"pcie--{id_}", bus.id, id_, way, PCIE_STROKE, "other"))
            self.boxes.append(box)
            y = box.bottom + _PART_GAP
        return y - _PART_GAP


def node_title(design: DesignAnswer) -> str:
    """What the drawing of a node shows, in a sentence without its full stop."""
    facts = NodeFacts(design)
    server, count, layout = facts.server.name, facts.n_gpus, facts.layout
    if layout == "single":
        return f"{server}: one GPU, no link between GPUs"
    if layout == "mesh":
        return f"{server}: NVLink joins each GPU to four of the seven others directly"
    if layout in ("full", "many"):
        return f"{server}: {facts.link_name} joins each of the {count} GPUs to every other directly"
    if layout == "switched" and facts.n_trays > 1:
        total = facts.design.platform.gpus_per_server
        return f"A compute tray of the {server}: NVLink leads from its {count} GPUs to all {total} of the rack"
    if layout == "switched":
        return f"{server}: each of {count} GPUs reaches every other through NVSwitch"
    if layout == "joined":
        joined = f"{facts.link_name} connects the {count} GPUs"
        return f"{server}: {joined}; which pairs are connected directly {_OPEN}"
    if layout == "unknown":
        return f"{server}: how the {count} GPUs are connected {_OPEN}"
    switches = facts.count(PCIE_SWITCHES)
    if switches is None:
        joined = f"{server}: the {count} GPUs reach each other over PCIe only"
        return f"{joined}; how its lanes are split {_OPEN}"
    return by_count(
        switches,
        f"{server}: the {count} GPUs reach each other through one PCIe switch",
        f"{server}: the {count} GPUs reach each other over PCIe, behind {switches} switches",
    )


def node_caption(design: DesignAnswer) -> str:
    """How to read the drawing of a node, and what no source states of it. Follows the title in a caption."""
    facts = NodeFacts(design)
    sentences = []
    host_link = facts.feature(HOST_LINK)
    if facts.layout in _LINKED:
        thin = "PCIe and memory" if not host_link or "PCIe" in host_link else f"{host_link}, PCIe and memory"
        sentences.append(f"Thick lines are {facts.link_name}, thin ones {thin}.")
    else:
        sentences.append("Lines are PCIe and memory.")
    each = facts.count(NVLINKS_OF_A_GPU)
    if facts.layout == "mesh" and each is not None:
        doubled = each * facts.n_gpus // 2 - MESH_PAIRS
        sentences.append(f"Of the {MESH_PAIRS} pairs, {doubled} have two links; which ones {_OPEN}.")
    if facts.layout == "full" and facts.is_derived(facts.layout_key):
        sentences.append("Every pair is connected: derived from the number of links of each GPU.")
    if facts.count(PCIE_SWITCHES):
        sentences.append(f"How the PCIe lanes and slots are split over switches and processors {_OPEN}.")
    elif facts.layout != "pcie":
        sentences.append(f"How the PCIe lanes are split, and whether switches stand in them, {_OPEN}.")
    link, gpus = facts.server.intra_link, facts.server.n_gpus
    if link is not None and link.basis == "assumed":
        are_assumed = gpus is not None and gpus.basis == "assumed"
        what = "GPUs and their link are" if are_assumed else "The link between the GPUs is"
        sentences.append(f"{what} assumed; ask the vendor.")
    return " ".join(sentences)
