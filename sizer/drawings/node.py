"""Inside of a compute node: processors and memory, PCIe, GPUs with the links between them, adapters and drives.

Which GPUs are joined comes from the catalogue (``NVLink layout`` and its neighbours among the features of a server).
What no source states is drawn in its generic form, and title or caption say so.
"""

from sizer.base.quantities import by_count
from sizer.drawings.node_facts import (
    HOST_LINK,
    NVLINKS_OF_A_GPU,
    NVSWITCH_CHIPS,
    PCIE_SWITCHES,
    NodeFacts,
    Part,
)
from sizer.drawings.node_gpus import PCIE_STROKE, Placed, cube_mesh, fully_connected, in_rows
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.parts import box_labels
from sizer.drawings.shapes import Box, Drawing, Label, Link
from sizer.sizing.result import DesignAnswer

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
_TEXT, _LEADING = 9.0, 12.5
# Of what no source in the catalogue states.
_OPEN = "is for the vendor to confirm"


def node(design: DesignAnswer) -> Drawing:
    """Drawing of one compute node of a design.

    Parameters
    ----------
    design : DesignAnswer
        Its server, GPUs, processors and ports are drawn; names come from the catalogue of its plan.
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
        bus = self._host()
        gpus_bottom = self._gpus(bus)
        bottom = max(gpus_bottom, self._parts(bus))
        title = node_title(self.facts.design)
        return Drawing(COLUMN_PX, bottom + 4, title, tuple(self.boxes), tuple(self.links), (), tuple(self.labels))

    # --- host

    def _host(self) -> Box:
        """Processors with the memory between them, and the bus; returns the bus."""
        parts = self._host_parts()
        width = (_RIGHT - _EDGE - (len(parts) - 1) * _HOST_X_GAP) / len(parts)
        y = _EDGE
        for place, (id_, part, role) in enumerate(parts):
            x = _EDGE + place * (width + _HOST_X_GAP)
            self.boxes.append(Box(id_, x, y, width, _HOST_H, part.title, part.lines, role))
        bus_y = y + _HOST_H + _HOST_GAP
        text = Part(self._bus_name(), tuple(self._bus_lines()))
        bus = Box("pcie", _EDGE, bus_y, _RIGHT - _EDGE, _BUS_H, text.title, text.lines, "other", quiet=True)
        for box in self.boxes:
            if box.id == "memory":
                self._join_memory(box)
            else:
                way = ((box.centre_x, box.bottom), (box.centre_x, bus.y))
                self.links.append(Link(f"{box.id}--pcie", box.id, bus.id, way, PCIE_STROKE, "other"))
        self.boxes.append(bus)
        return bus

    def _host_parts(self) -> list[tuple[str, Part, str]]:
        cpus = [(f"cpu-{number}", self.facts.processor(), "decode") for number in range(self.facts.n_cpus)]
        return [*cpus[:1], ("memory", self.facts.memory(), "other"), *cpus[1:]]

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

    def _bus_lines(self) -> list[str]:
        split = "which processor serves which GPU, adapter and drive is not published"
        lanes = self.facts.lanes
        return [split if lanes is None else f"{lanes} lanes a processor; {split}"]

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
            self.labels.append(Label(_EDGE, y, text, _TEXT, role, semibold))
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
            bus = Part(facts.link_name, ("which GPUs it joins directly is not published",))
        return in_rows(source, facts.n_gpus, _EDGE, _GPU_ZONE, top, bus)

    def _nvswitch(self) -> Part:
        """The chips that join the GPUs; those of a rack of trays are in switch trays of their own."""
        chips = self.facts.feature(NVSWITCH_CHIPS)
        if self.facts.n_trays > 1:
            inside = f", {chips} chips" if chips else ""
            return Part("NVLink switch trays of the rack", (f"outside this tray{inside}",))
        return Part("NVSwitch", (f"{chips} chips" if chips else "number of chips not published",))

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
            box = self._part_box(id_, part, role, y)
            middle = box.y + box.height / 2
            way = ((trunk, bus.bottom), (trunk, middle), (box.x, middle))
            self.links.append(Link(f"pcie--{id_}", bus.id, id_, way, PCIE_STROKE, "other"))
            self.boxes.append(box)
            y = box.bottom + _PART_GAP
        return y - _PART_GAP

    def _part_box(self, id_: str, part: Part, role: str, y: float) -> Box:
        width = _RIGHT - _PART_X
        found = Box(id_, _PART_X, y, width, 200.0, part.title, part.lines, role)
        lines = len(box_labels(found)) - 1
        height = max(_TITLE_H + lines * _LINE_H + _PART_PAD, 32.0)
        return Box(id_, _PART_X, y, width, height, part.title, part.lines, role)


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
