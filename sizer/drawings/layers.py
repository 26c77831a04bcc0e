"""Layers of a design from the users down to the hardware: what of each layer the design brings.

Software is that of the bill; devices and networks are those of the plan. A layer of which the bill holds nothing is
not drawn; the title lists it as provided by others.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sizer.base.quantities import by_count, grouped
from sizer.bom.bill import BillLine
from sizer.catalog.labels import capital
from sizer.catalog.model import Catalog
from sizer.catalog.schema import SoftwareLayer
from sizer.drawings.cluster import Cluster
from sizer.drawings.links import many
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.parts import TITLE_SIZE
from sizer.drawings.shapes import Box, Drawing, FilledBar, Label, wrapped
from sizer.physical.components import Network
from sizer.physical.roles import NetworkRole
from sizer.sizing.result import DesignAnswer

# Brings the operating system, drivers and MPI with it (dell-ready-ai-nvidia-2018, section Software).
_BRINGS_SYSTEM = "bright-cluster-manager"

_NAME_W, _COLUMNS, _GAP, _ROW_GAP, _LAYER_GAP = 116.0, 3, 8.0, 6.0, 13.0
_BOX_H, _TALL_H = 46.0, 58.0
_TEXT, _LEADING = 10.0, 13.0
_EDGE = 1.0
# Room that a box keeps left and right of its text, lines of its title, and how far the copies of a stack stand out.
_SIDES, _TITLE_LINES, _STACK = 22.0, 2, 7.0


@dataclass(frozen=True)
class _Part:
    """A box of a layer before it has its place."""

    id: str
    title: str
    lines: tuple[str, ...] = ()
    role: str = "accent"
    is_optional: bool = False
    copies: int = 1


@dataclass(frozen=True)
class _Row:
    """One layer: its name and its parts; none means that the design does not bring it."""

    name: str
    parts: tuple[_Part, ...]

    @property
    def is_part(self) -> bool:
        """Whether the design brings the layer; options alone do not make it."""
        return any(not part.is_optional for part in self.parts)


def layers(design: DesignAnswer, catalog: Catalog) -> Drawing:
    """Drawing of the layers of a design.

    ``design``: its bill tells the software, its plan the devices.
    """
    every_row = _Reader(design, catalog).rows()
    rows = [row for row in every_row if row.parts]
    boxes: list[Box] = []
    labels: list[Label] = []
    bars: list[FilledBar] = []
    y = _EDGE
    for place, row in enumerate(rows):
        if place:
            bars.append(FilledBar(0, y - _LAYER_GAP / 2 - 0.5, COLUMN_PX, 1, "hairline"))
        found = _boxes(row, y)
        labels += _name(row, y)
        boxes += found
        y = max(box.bottom for box in found) + _LAYER_GAP
    return Drawing(COLUMN_PX, y - _LAYER_GAP + 4, _title(every_row), tuple(boxes), (), tuple(bars), tuple(labels))


def _name(row: _Row, y: float) -> Iterator[Label]:
    lines = wrapped(row.name, _TEXT, _NAME_W - 8, semibold=True)
    for number, line in enumerate(lines):
        role = "ink" if row.is_part else "muted"
        yield Label(0, y + 17 + number * _LEADING, line, _TEXT, role, semibold=True)


def _boxes(row: _Row, y: float) -> list[Box]:
    """Boxes of a layer, three side by side."""
    right = COLUMN_PX - _EDGE
    width = (right - _NAME_W - (_COLUMNS - 1) * _GAP) / _COLUMNS
    found: list[Box] = []
    parts = [_fitting(part, width) for part in row.parts]
    for start in range(0, len(parts), _COLUMNS):
        shown = parts[start : start + _COLUMNS]
        height = _TALL_H if any(len(part.lines) > 1 for part in shown) else _BOX_H
        # Copies of a stack show above it.
        y += _STACK if start and any(part.copies > 1 for part in shown) else 0
        for column, part in enumerate(shown):
            x = _NAME_W + column * (width + _GAP)
            # The copies show on the right, too.
            shift = _STACK if part.copies > 1 else 0
            found.append(
                Box(
                    part.id,
                    x,
                    y + shift,
                    width - shift,
                    height - shift,
                    part.title,
                    part.lines,
                    part.role,
                    part.copies,
                    quiet=part.is_optional,
                )
            )
        y += height + _ROW_GAP
    return found


def _fitting(part: _Part, width: float) -> _Part:
    """The part with a title of at most two lines; what is longer goes on in the line below."""
    lines = wrapped(part.title, TITLE_SIZE, width - _SIDES - _STACK, semibold=True, max_lines=9)
    if len(lines) <= _TITLE_LINES:
        return part
    title, rest = " ".join(lines[:_TITLE_LINES]), " ".join(lines[_TITLE_LINES:])
    return replace(part, title=title, lines=(rest, *part.lines))


def _title(rows: list[_Row]) -> str:
    missing = [row.name for row in rows if not row.is_part]
    if not missing:
        return f"This design includes all {len(rows)} layers, from the portal to the networks"
    names = ", ".join(name[0].lower() + name[1:] for name in missing)
    return f"This design includes {len(rows) - len(missing)} of {len(rows)} layers; provided by others: {names}"


class _Reader:
    """What of each layer a design holds."""

    def __init__(self, design: DesignAnswer, catalog: Catalog) -> None:
        self.design, self.catalog, self.cluster = design, catalog, Cluster(design)
        bought = {line.item or line.line: line for line in design.bill.lines if line.category == "software"}
        self.software = list(bought.values())

    @property
    def _serves(self) -> bool:
        return all(answer.serving is not None for answer in self.design.workloads)

    def rows(self) -> list[_Row]:
        """Layers from the users down."""
        frameworks = (*self._stacks(), *self._software("frameworks"))
        return [
            _Row("Gateway" if self._serves else "Portal and notebooks", tuple(self._software("portal"))),
            _Row("Cluster manager and scheduler", tuple(self._software("manager"))),
            _Row("Frameworks and libraries", frameworks),
            _Row("Operating system and drivers", tuple(self._system())),
            _Row("Servers and storage", tuple(self._devices())),
            _Row("Networks", tuple(self._networks())),
        ]

    # --- software

    def _software(self, layer: SoftwareLayer) -> Iterator[_Part]:
        lines = [line for line in self.software if self._layer(line) == layer]
        for line in sorted(lines, key=lambda line: line.status == "optional"):
            yield _Part(
                line.item or f"line-{line.line}",
                self._name(line),
                tuple(self._said(line)),
                "accent",
                is_optional=line.status == "optional",
            )

    def _layer(self, line: BillLine) -> SoftwareLayer:
        """Layer of a line; what a quote added stands with the frameworks."""
        item = self.catalog.software.get(line.item)
        return "frameworks" if item is None else item.layer

    def _name(self, line: BillLine) -> str:
        try:
            return self.catalog.item(line.item).name
        except KeyError:
            return line.description

    def _said(self, line: BillLine) -> Iterator[str]:
        """What a piece of software does here, in a few words of our own, or where it comes from."""
        item = self.catalog.software.get(line.item)
        if line.status == "optional":
            yield "optional"
        elif line.status == "existing":
            yield "existing"
        elif line.status == "by others":
            yield "provided by others"
        elif item is not None and item.summary:
            yield item.summary

    def _stacks(self) -> Iterator[_Part]:
        """Software stacks that the workloads are sized with."""
        used: dict[str, list[str]] = {}
        names = {}
        for answer in self.design.workloads:
            used.setdefault(answer.stack.id, []).append(answer.dnn.name)
            names[answer.stack.id] = answer.stack.name
        for id_, dnns in used.items():
            yield _Part(f"stack-{id_}", names[id_], (", ".join(dict.fromkeys(dnns)),), "gpu")

    def _system(self) -> Iterator[_Part]:
        if any(line.item == _BRINGS_SYSTEM and line.is_bought for line in self.software):
            title = "Operating system, drivers and MPI"
            yield _Part("system", title, ("included with the cluster manager",))
        yield from self._software("system")

    # --- hardware

    def _devices(self) -> Iterator[_Part]:
        design, parts = self.design, self.design.platform
        count = design.n_servers
        gpus = f"{grouped(design.n_gpus)} × {parts.gpu.name}"
        yield _Part("servers", many(count, parts.server.name), (gpus,), "gpu", copies=count)
        if parts.head_node is not None and self.cluster.count("head"):
            lines = ["head node"]
            if self.cluster.head_serves_files:
                lines.append("serves the files")
            heads = self.cluster.count("head")
            if heads > 1:
                lines = ["head nodes, one active", *lines[1:]]
            yield _Part("head", many(heads, parts.head_node.name), tuple(lines), "other", copies=heads)
        yield self._storage()

    def _storage(self) -> _Part:
        used = [line for line in self.software if self._layer(line) == "storage" and line.status != "optional"]
        names = [self._name(line) for line in used]
        software = f"with {', '.join(names)}" if names else ""
        if self.cluster.count("storage"):
            lines = [*self.cluster.storage_lines()[:1], software]
            title = self.cluster.storage_title()
        else:
            storage = self.design.platform.storage
            place = {"local": "in each server", "lan": "existing, provided by others"}
            lines = [place.get(self.design.platform.attachment, ""), software]
            title = "Files of the head node" if self.cluster.head_serves_files else capital(storage.name)
        copies = max(self.cluster.count("storage"), 1)
        return _Part("storage", title, tuple(line for line in lines if line), "storage", copies=copies)

    def _networks(self) -> Iterator[_Part]:
        for number, net in enumerate(self.design.quantities.networks, 1):
            ends = int(net.end_points[0])
            if not ends:
                continue
            cables = by_count(
                ends,
                f"{grouped(ends)} end point, {net.kind.name}",
                f"{grouped(ends)} end points, {net.kind.name}",
            )
            role = "other" if net.role is NetworkRole.MANAGEMENT else "network"
            yield _Part(f"network-{number}", capital(net.role), (cables, self._switches(net)), role)

    def _switches(self, net: Network) -> str:
        """Switches and gateways of a network by their names."""
        counts: Counter[str] = Counter()
        for item, count in ((net.switch, net.leaves), (net.spine, net.spines), (net.spine, net.cores)):
            counts[item or ""] += int(count[0])
        counts[net.switch or ""] += int(net.gateways[0])
        named = [many(count, self.catalog.item(item).name) for item, count in counts.items() if item and count]
        return " + ".join(named) if named else "no switch"
