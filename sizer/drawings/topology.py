"""The cluster on one page: servers, fabric, gateway, storage, back end and management, laid out once.

Switches stand above the servers they join, storage stands on the right with its own switches, management below all.
Identical devices are one box with their number; a bundle of cables is one line with its number.
"""

from sizer.base.quantities import si, significant
from sizer.drawings import links
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Box, Drawing, Label, Link
from sizer.physical.plan import Network
from sizer.sizing.result import DesignAnswer

_MARGIN = 14.0  # room for the management lines of the switches on either side
_GAP_X, _GAP_Y = 44.0, 48.0
_HEAD_W, _STORAGE_W = 132.0, 196.0
_SWITCH_H, _SERVER_H, _MANAGEMENT_H = 46.0, 76.0, 32.0
_LABEL, _SMALL = 9.5, 8.5


def topology(design: DesignAnswer) -> Drawing:
    """Drawing of the whole cluster."""
    return _Layout(design).drawing()


class _Layout:
    """Collects the shapes; one method a part of the cluster."""

    def __init__(self, design: DesignAnswer) -> None:
        self.design = design
        self.platform = design.platform
        self.boxes: dict[str, Box] = {}
        self.links: list[Link] = []
        self.labels: list[Label] = []
        self.left, self.right = _MARGIN, COLUMN_PX - _MARGIN
        # Local drives are part of the server box; everything else is a box of its own.
        self.has_storage = self.platform.storage.kind != "local"
        self.storage_x = self.right - _STORAGE_W
        self.compute_right = self.storage_x - _GAP_X if self.has_storage else self.right

    def drawing(self) -> Drawing:
        """Place everything from top to bottom."""
        y = 10.0
        if self.platform.fabric_switch is not None:
            y = self._fabric(y)
        bottom = self._storage(y) if self.has_storage else y + _SERVER_H
        self._servers(y, bottom - y)
        self._fabric_links()
        y = self._management(bottom + 34)
        return Drawing(COLUMN_PX, y + 4, self._title(), tuple(self.boxes.values()), tuple(self.links), (), tuple(self.labels))

    def _title(self) -> str:
        parts = [f"Topology of {self.design.name}"]
        if self.platform.fabric_switch is not None:
            parts.append(f"joined by {links.kind_name(self.platform.fabric)} on {self.platform.fabric_switch.name}")
        if self.platform.gateway is not None:
            parts.append(f"storage behind {self.platform.gateway.name}")
        return ", ".join(parts)

    def _add(self, box: Box) -> Box:
        self.boxes[box.id] = box
        return box

    # --- switches

    def _storage_on_fabric(self) -> bool:
        return self.has_storage and self.platform.gateway is None and self.platform.storage_switch is None

    def _fabric(self, y: float) -> float:
        """Spines over leaves; the leaf bar spans what hangs below it. Returns where the servers start."""
        switch = self.platform.fabric_switch
        assert switch is not None
        net = links.network(self.design, "compute", "fabric")
        leaves, spines = _counts(net)
        right = self.right if self._storage_on_fabric() else self.compute_right
        if spines:
            self._add(Box("spine", self.left + 70, y, right - self.left - 140, 34, _many(spines, switch.name),
                          ("spine switches" if spines > 1 else "spine switch",), "network", spines))  # fmt: skip
            y += 34 + _GAP_Y - 6
        subnet = links.kind_name(self.platform.fabric)
        role = "leaf switches" if spines else ("fabric switches" if leaves > 1 else "fabric switch")
        lines = [f"{role}, {subnet}"]
        if net is not None:
            used, free = int(net.ports_used[0]), int(net.ports_free[0])
            lines = [f"{role}, {subnet} · {used} ports used, {free} free"]
        self._add(Box("leaf", self.left, y, right - self.left, _SWITCH_H, _many(leaves, switch.name), tuple(lines),
                      "network", leaves))  # fmt: skip
        if spines and net is not None:
            count = int(net.leaf_spine_cables[0])
            per_leaf = count // max(leaves, 1)
            self._down("spine", "leaf", self.boxes["spine"].centre_x, links.link_text(count, self.platform.fabric),
                       f"{per_leaf} up from each leaf{_oversubscribed(net)}", links.stroke(self.platform.fabric))  # fmt: skip
        if self.platform.gateway is not None:
            self._beside_leaf("gateway", self.platform.gateway.name, int(net.gateways[0]) if net else 1, y,
                              "InfiniBand to Ethernet gateway")  # fmt: skip
        elif self.platform.storage_switch is not None:
            front = links.network(self.design, "front end", "storage")
            self._beside_leaf("storage-switch", self.platform.storage_switch.name, _counts(front)[0], y,
                              "storage front end")  # fmt: skip
        return y + _SWITCH_H + _GAP_Y

    def _beside_leaf(self, id_: str, name: str, count: int, y: float, role: str) -> None:
        self._add(Box(id_, self.storage_x, y, _STORAGE_W, _SWITCH_H, _many(count, name), (role,), "network", count))

    # --- servers and storage

    def _servers(self, y: float, height: float) -> None:
        x = self.left
        if self.platform.head_node is not None:
            head = self.platform.head_node
            lines = ["head node"]
            if head.memory_bytes is not None:
                lines.append(f"{_memory(head.memory_bytes.value)} memory")
            self._add(Box("head", x, y, _HEAD_W, height, head.name, tuple(lines), "other"))
            x += _HEAD_W + 30
        server, gpu, per = self.platform.server, self.platform.gpu, self.platform.gpus_per_server
        lines = [f"{per} × {gpu.name} each" if self.design.n_servers > 1 else f"{per} × {gpu.name}"]
        facts = []
        if server.memory_bytes is not None:
            facts.append(f"{_memory(server.memory_bytes.value)} memory")
        if self.design.n_servers > 1:
            facts.append(f"{self.design.n_gpus} GPUs in all")
        if facts:
            lines.append(" · ".join(facts))
        if server.intra_link is not None and per > 1:
            lines.append(f"{links.INTRA_LINKS[server.intra_link.value]} between the GPUs")
        if not self.has_storage:
            lines.append(f"data on {self.platform.storage.name}")
        self._add(Box("servers", x, y, self.compute_right - x, height, _many(self.design.n_servers, server.name),
                      tuple(lines), "gpu", self.design.n_servers, glyphs=per, glyph_name="GPU"))  # fmt: skip

    def _storage(self, y: float) -> float:
        storage, nodes = self.platform.storage, self.design.storage_nodes
        lines, copies, title, glyphs = [], 1, storage.name, 0
        if storage.nodes_per_unit is not None and nodes:
            copies = -(-nodes // storage.nodes_per_unit.value)
            title = _many(copies, storage.name)
            if storage.nodes_per_unit.value > 1:
                lines.append(f"{nodes} nodes in {copies} chassis")
                glyphs = storage.nodes_per_unit.value
        elif nodes:
            copies, title = nodes, _many(nodes, storage.name)
            if self.platform.storage_server is not None:
                lines.append(f"on {self.platform.storage_server.name}")
        usable = float(self.design.quantities.usable_bytes[0])
        if usable > 0:
            lines.append(f"{si(usable, 'B')} usable")
        box = self._add(Box("storage", self.storage_x, y, _STORAGE_W, _SERVER_H, title, tuple(lines), "storage", copies,
                            glyphs=glyphs, glyph_name="node"))  # fmt: skip
        if self.platform.back_end_switch is None:
            return box.bottom
        net = links.network(self.design, "back end", "back-end")
        leaves, spines = _counts(net)
        n_switches = leaves + spines if net is not None else 2
        per_node = storage.back_end_ports_per_node
        count = nodes * (2 if per_node is None else per_node.value)
        kind = net.kind if net is not None else "40gbe"
        x = self.storage_x + 34
        back = self._add(Box("back-end", x, box.bottom + _GAP_Y, _STORAGE_W - 34, 42,
                             _many(n_switches, self.platform.back_end_switch.name), ("back end, storage only",),
                             "storage", n_switches, quiet=True))  # fmt: skip
        self._down("storage", "back-end", back.x + 22, links.link_text(count, kind), "two networks, A and B",  # type: ignore[arg-type]
                   links.stroke(kind), "storage")  # type: ignore[arg-type]  # fmt: skip
        return back.bottom

    # --- links

    def _down(self, source: str, target: str, x: float, text: str, note: str, stroke: float, role: str = "network") -> None:
        top, bottom = self.boxes[source], self.boxes[target]
        middle = (top.bottom + bottom.y) / 2
        labels = [Label(x + 7, middle + (-1.5 if note else 3), text, _LABEL, "ink", semibold=True)]
        if note:
            labels.append(Label(x + 7, middle + 9.5, note, _SMALL, "muted"))
        self.links.append(Link(f"{source}--{target}", source, target, ((x, top.bottom), (x, bottom.y)), stroke, role,
                               labels=tuple(labels)))  # fmt: skip

    def _across(self, source: str, target: str, y: float, text: str, stroke: float, role: str = "network") -> None:
        """Horizontal link; its label stands on two short lines above it, for the gap is narrow."""
        left, right = self.boxes[source].right, self.boxes[target].x
        middle = (left + right) / 2
        count, _, speed = text.partition(" × ")
        labels = (
            Label(middle, y - 17, f"{count} ×", _LABEL, "ink", semibold=True, anchor="middle"),
            Label(middle, y - 6, speed.removesuffix(" Gbit/s"), _SMALL, "muted", anchor="middle"),
        )
        if self.boxes[source].copies > 1:
            left += 7
        self.links.append(Link(f"{source}--{target}", source, target, ((left, y), (right, y)), stroke, role, labels=labels))

    def _fabric_links(self) -> None:
        fabric, servers = self.platform.fabric, self.boxes["servers"]
        stroke = links.stroke(fabric)
        if "leaf" in self.boxes:
            per_server = links.fabric_ports(self.platform.server, fabric)
            note = f"{per_server} from each server" if self.design.n_servers > 1 else ""
            self._down("leaf", "servers", servers.x + 26, links.link_text(per_server * self.design.n_servers, fabric),
                       note, stroke)  # fmt: skip
            if "head" in self.boxes:
                self._down("leaf", "head", self.boxes["head"].x + 22, links.link_text(1, fabric), "", stroke)
        if not self.has_storage:
            return
        kind, count = links.storage_kind(self.design), links.front_end_links(self.design)
        text, note = links.link_text(count, kind), self._per_node()
        down_x = self.storage_x + 26
        between = next((id_ for id_ in ("gateway", "storage-switch") if id_ in self.boxes), None)
        if between is not None:
            self._down(between, "storage", down_x, text, note, links.stroke(kind), "storage")
            uplinks, uplink_kind = self._uplinks()
            y = self.boxes["leaf"].y + 34
            self._across("leaf", between, y, links.link_text(uplinks, uplink_kind), links.stroke(uplink_kind))  # type: ignore[arg-type]
        elif "leaf" in self.boxes:
            self._down("leaf", "storage", down_x, text, note, links.stroke(kind), "storage")
        else:
            y = servers.y + servers.height / 2 + 8
            self._across("servers", "storage", y, text, links.stroke(kind), "storage")

    def _per_node(self) -> str:
        per_node = self.platform.storage.front_end_ports_per_node
        return f"{per_node.value} from each node" if per_node is not None and self.design.storage_nodes > 1 else ""

    def _uplinks(self) -> tuple[int, str]:
        if self.platform.gateway is not None:
            net = next((n for n in self.design.quantities.networks if int(n.gateway_uplinks[0])), None)
            return (int(net.gateway_uplinks[0]) if net else 1), self.platform.gateway.uplink_kind.value
        front = links.network(self.design, "front end", "storage")
        count = int(front.leaf_spine_cables[0]) if front is not None else 0
        return max(count, 1), self.platform.fabric

    def _management(self, y: float) -> float:
        """One bar below everything, dashed lines up to each device; the switches are reached along the margins."""
        net = links.network(self.design, "management")
        n_switches = max(sum(_counts(net)), 1)
        ports = "" if net is None else f" · {int(net.ports_used[0])} ports used"
        bar = self._add(Box("management", self.left, y, self.right - self.left, _MANAGEMENT_H,
                            f"{_many(n_switches, self.platform.management_switch.name)}", (), "other", n_switches,
                            quiet=True))  # fmt: skip
        self.labels.append(Label(bar.right - 10, bar.y + 19.5, f"management, 1 GbE{ports}", 9, "muted", anchor="end"))
        reached = [("head", 0.5), ("servers", 0.5), ("storage", 0.085), ("back-end", 0.5)]
        for id_, share in reached:
            if id_ in self.boxes:
                box = self.boxes[id_]
                x = box.x + share * box.width
                self._dashed(id_, ((x, box.bottom), (x, bar.y)))
        for id_ in ("leaf", "spine"):
            if id_ in self.boxes:
                box = self.boxes[id_]
                side = _MARGIN / 2 - (2 if id_ == "spine" else -1)
                self._dashed(id_, ((box.x, box.y + 12), (side, box.y + 12), (side, bar.y + 16), (bar.x, bar.y + 16)))
        for id_ in ("gateway", "storage-switch"):
            if id_ in self.boxes:
                box = self.boxes[id_]
                side = COLUMN_PX - _MARGIN / 2
                self._dashed(id_, ((box.right, box.y + 30), (side, box.y + 30), (side, bar.y + 16), (bar.right, bar.y + 16)))
        return bar.bottom

    def _dashed(self, id_: str, points: tuple[tuple[float, float], ...]) -> None:
        self.links.append(Link(f"{id_}--management", id_, "management", points, 0.9, "other", dashed=True))


def _counts(net: Network | None) -> tuple[int, int]:
    return (1, 0) if net is None else (max(int(net.leaves[0]), 1), int(net.spines[0]))


def _many(count: int, name: str) -> str:
    return f"{count} × {name}" if count > 1 else name


def _memory(size_bytes: float) -> str:
    """Memory is sold in binary units where it divides by one."""
    gib = size_bytes / 2**30
    return f"{gib:.0f} GiB" if gib.is_integer() else si(size_bytes, "B")


def _oversubscribed(net: Network) -> str:
    ratio = float(net.oversubscription[0])
    return ", non-blocking" if ratio <= 1 else f", {significant(ratio, 2)} : 1 oversubscribed"
