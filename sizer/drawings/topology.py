"""The cluster on one page: servers, fabric, gateway, storage, back end and management, laid out once.

Switches stand above the servers they join, storage stands on the right with its own switches, management below all.
Identical devices are one box with their number; a bundle of cables is one line with its number.
"""

from sizer.base.quantities import si
from sizer.catalog.links import GBIT_PER_S, kind_name
from sizer.catalog.schema import LinkKind
from sizer.drawings import links
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Box, Drawing, Label, Link
from sizer.physical.plan import Network
from sizer.sizing.result import DesignAnswer

_MARGIN = 14.0  # room for the management lines of the switches on either side
_GAP_X, _GAP_Y = 44.0, 48.0
_HEAD_W, _STORAGE_W = 132.0, 196.0
_SPINE_H, _SWITCH_H, _SERVER_H, _MANAGEMENT_H = 40.0, 46.0, 78.0, 32.0
_LABEL, _SMALL = 9.5, 8.5


def topology(design: DesignAnswer) -> Drawing:
    """Drawing of the whole cluster."""
    return _Layout(design).drawing()


class _Layout:
    """Collects the shapes; one method a part of the cluster."""

    def __init__(self, design: DesignAnswer) -> None:
        self.design, self.platform = design, design.platform
        self.boxes: dict[str, Box] = {}
        self.links: list[Link] = []
        self.labels: list[Label] = []
        self.left, self.right = _MARGIN, COLUMN_PX - _MARGIN
        # Local drives are part of the server box; everything else is a box of its own.
        self.has_storage = self.platform.storage.kind != "local"
        self.storage_x = self.right - _STORAGE_W
        self.compute_right = self.storage_x - _GAP_X if self.has_storage else self.right
        self.fabric_net = links.network(design, "compute", "fabric")
        # A platform names its switches for every size; a single server may be built without them.
        self.has_fabric = self.platform.fabric_switch is not None and links.built(self.fabric_net)
        self.between = self._between()

    def drawing(self) -> Drawing:
        """Place everything from top to bottom."""
        y = 10.0
        if self.has_fabric or self.between:
            y = self._switches(y)
        bottom = self._storage(y) if self.has_storage else y + _SERVER_H
        self._servers(y, bottom - y)
        self._server_links()
        if self.has_storage:
            self._storage_links()
        bottom = self._management(bottom + 34) if links.built(links.network(self.design, "management")) else bottom
        shapes = tuple(self.boxes.values()), tuple(self.links)
        return Drawing(COLUMN_PX, bottom + 4, self._title(), *shapes, (), tuple(self.labels))

    def _title(self) -> str:
        parts = [f"Topology of {self.design.name}"]
        if self.has_fabric and self.platform.fabric_switch is not None:
            parts.append(f"joined by {kind_name(self.platform.fabric)} on {self.platform.fabric_switch.name}")
        if "gateway" in self.boxes and self.platform.gateway is not None:
            parts.append(f"storage behind {self.platform.gateway.name}")
        return ", ".join(parts)

    def _add(self, box: Box) -> Box:
        self.boxes[box.id] = box
        return box

    # --- switches

    def _between(self) -> str | None:
        """What stands between the servers or their fabric and the storage."""
        if not self.has_storage:
            return None
        if self.platform.gateway is not None and (
            not self.design.quantities.networks or self._gateway_net() is not None
        ):
            return "gateway"
        return "storage-switch" if self.platform.storage_switch is not None else None

    def _gateway_net(self) -> Network | None:
        return next((net for net in self.design.quantities.networks if int(net.gateways[0])), None)

    def _switches(self, y: float) -> float:
        """Spines over leaves; a bar spans what hangs below it. Returns where the servers start."""
        leaves, spines = links.counts(self.fabric_net)
        if not self.has_fabric:
            leaves = spines = 0
        on_spine = self.platform.attachment == "spine"
        whole = self.right if self.has_storage and self.between is None else self.compute_right
        if spines:
            spine = self.platform.spine_switch or self.platform.fabric_switch
            assert spine is not None
            left, right = (self.left, whole) if on_spine else (self.left + 70, whole - 70)
            self._add(
                Box(
                    "spine",
                    left,
                    y,
                    right - left,
                    _SPINE_H,
                    links.many(spines, spine.name),
                    (links.role("spine", spines),),
                    "network",
                    spines,
                )
            )
            y += _SPINE_H + _GAP_Y
        if leaves and self.platform.fabric_switch is not None:
            right = self.compute_right if on_spine else whole
            role = links.role("leaf", leaves) if spines else links.role("fabric", leaves)
            text = f"{role}, {kind_name(self.platform.fabric)}"
            if self.fabric_net is not None:
                free = int(self.fabric_net.ports_free[0])
                text += f" · {int(self.fabric_net.ports_used[0])} ports used, {free} free"
            self._add(
                Box(
                    "leaf",
                    self.left,
                    y,
                    right - self.left,
                    _SWITCH_H,
                    links.many(leaves, self.platform.fabric_switch.name),
                    (text,),
                    "network",
                    leaves,
                )
            )
        if spines and self.fabric_net is not None:
            count = int(self.fabric_net.leaf_spine_cables[0])
            note = f"{count // max(leaves, 1)} up from each leaf{links.oversubscribed(self.fabric_net)}"
            up_kind = self._uplink_kind()
            x = self.left + 180 if on_spine else self.boxes["spine"].centre_x
            self._down("spine", "leaf", x, links.link_text(count, up_kind), note, links.stroke(up_kind))
        self._between_box(y)
        return y + _SWITCH_H + _GAP_Y

    def _uplink_kind(self) -> LinkKind:
        """Kind of the links between leaf and spine; a leaf may have faster ports for them."""
        leaf = self.platform.fabric_switch
        if self.platform.spine_switch is None or leaf is None:
            return self.platform.fabric
        own = [port.kind for port in leaf.ports if port.use == "fabric" and port.kind != self.platform.fabric]
        return own[0] if own else self.platform.fabric

    def _between_box(self, y: float) -> None:
        if self.between == "gateway" and self.platform.gateway is not None:
            net = self._gateway_net()
            count = int(net.gateways[0]) if net is not None else 1
            name, role = self.platform.gateway.name, "InfiniBand to Ethernet gateway"
        elif self.between == "storage-switch" and self.platform.storage_switch is not None:
            count = sum(links.counts(links.network(self.design, "front end")))
            name, role = self.platform.storage_switch.name, "front end of the storage"
        else:
            return
        self._add(
            Box(
                self.between,
                self.storage_x,
                y,
                _STORAGE_W,
                _SWITCH_H,
                links.many(count, name),
                (role,),
                "network",
                count,
            )
        )

    # --- servers and storage

    def _servers(self, y: float, height: float) -> None:
        x = self.left
        head = self.platform.head_node
        if head is not None and self._is_bought(head.id):
            lines = ["head node"]
            if head.memory_bytes is not None:
                lines.append(f"{links.memory(head.memory_bytes.value)} memory")
            self._add(Box("head", x, y, _HEAD_W, height, head.name, tuple(lines), "other"))
            x += _HEAD_W + 30
        server, gpu, per = self.platform.server, self.platform.gpu, self.platform.gpus_per_server
        n_servers = self.design.n_servers
        lines = [f"{per} × {gpu.name}" + (" each" if n_servers > 1 else "")]
        facts = [f"{links.memory(server.memory_bytes.value)} memory"] if server.memory_bytes is not None else []
        if n_servers > 1:
            facts.append(f"{self.design.n_gpus} GPUs in all")
        if facts:
            lines.append(" · ".join(facts))
        if server.intra_link is not None and per > 1:
            lines.append(f"{links.INTRA_LINKS[server.intra_link.value]} between the GPUs")
        if not self.has_storage:
            lines.append(f"data on {self.platform.storage.name}")
        self._add(
            Box(
                "servers",
                x,
                y,
                self.compute_right - x,
                height,
                links.many(n_servers, server.name),
                tuple(lines),
                "gpu",
                n_servers,
                glyphs=per,
                glyph_name="GPU",
            )
        )

    def _is_bought(self, item: str) -> bool:
        """Whether a device is among the components; a result without components shows all of its platform."""
        components = self.design.quantities.components
        return not components or any(part.item == item and int(part.quantity[0]) for part in components)

    def _storage(self, y: float) -> float:
        storage, nodes = self.platform.storage, self.design.storage_nodes
        lines, copies, title, glyphs = [], 1, storage.name, 0
        if nodes and storage.nodes_per_unit is not None:
            per_unit = storage.nodes_per_unit.value
            copies = -(-nodes // per_unit)
            title = links.many(copies, storage.name)
            if per_unit > 1:
                lines.append(f"{nodes} nodes in {copies} chassis")
                glyphs = per_unit
        elif nodes:
            copies, title = nodes, links.many(nodes, storage.name)
        if self.platform.storage_server is not None:
            lines.append(f"on {self.platform.storage_server.name}")
        if self.platform.attachment == "lan":
            lines.append("at hand, by others")
        usable = float(self.design.quantities.usable_bytes[0])
        if usable > 0:
            lines.append(f"{si(usable, 'B')} usable")
        box = self._add(
            Box(
                "storage",
                self.storage_x,
                y,
                _STORAGE_W,
                _SERVER_H,
                title,
                tuple(lines),
                "storage",
                copies,
                glyphs=glyphs,
                glyph_name="node",
            )
        )
        return self._back_end(box) if self.platform.back_end_switch is not None and nodes else box.bottom

    def _back_end(self, storage: Box) -> float:
        assert self.platform.back_end_switch is not None
        net = links.network(self.design, "back end", "back-end")
        n_switches = sum(links.counts(net)) if net is not None else 2
        per_node = self.platform.storage.back_end_ports_per_node
        count = self.design.storage_nodes * (2 if per_node is None else per_node.value)
        kind = links.kind(net, "40gbe")
        back = self._add(
            Box(
                "back-end",
                self.storage_x + 34,
                storage.bottom + _GAP_Y,
                _STORAGE_W - 34,
                44,
                links.many(n_switches, self.platform.back_end_switch.name),
                ("back end, storage only",),
                "storage",
                n_switches,
                quiet=True,
            )
        )
        self._down(
            "storage",
            "back-end",
            back.x + 22,
            links.link_text(count, kind),
            "two networks, A and B",
            links.stroke(kind),
            "storage",
        )
        return back.bottom

    # --- links

    def _down(
        self, source: str, target: str, x: float, text: str, note: str, stroke: float, role: str = "network"
    ) -> None:
        start, end = self.boxes[source].bottom, self.boxes[target].y
        # The label stands in the gap just above the target, also where the line passes another row.
        middle = end - _GAP_Y / 2
        labels = [Label(x + 7, middle + (-1.5 if note else 3), text, _LABEL, "ink", semibold=True)]
        if note:
            labels.append(Label(x + 7, middle + 9.5, note, _SMALL, "muted"))
        self.links.append(
            Link(f"{source}--{target}", source, target, ((x, start), (x, end)), stroke, role, labels=tuple(labels))
        )

    def _across(self, source: str, target: str, y: float, count: int, kind: LinkKind, role: str = "network") -> None:
        """Horizontal link; its label stands on two short lines above it, for the gap is narrow."""
        left, right = self.boxes[source].right, self.boxes[target].x
        middle = (left + right) / 2
        speed = links.link_text(count, kind).partition(" × ")[2].removesuffix(" Gbit/s")
        labels = (
            Label(middle, y - 17, f"{count} ×", _LABEL, "ink", semibold=True, anchor="middle"),
            Label(middle, y - 6, speed, _SMALL, "muted", anchor="middle"),
        )
        if self.boxes[source].copies > 1:
            left += 7
        points = ((left, y), (right, y))
        self.links.append(Link(f"{source}--{target}", source, target, points, links.stroke(kind), role, labels=labels))

    def _server_links(self) -> None:
        if "leaf" not in self.boxes:
            return
        fabric, servers = self.platform.fabric, self.boxes["servers"]
        per_server = links.server_links(self.design)
        note = f"{per_server} from each server" if self.design.n_servers > 1 else ""
        text = links.link_text(per_server * self.design.n_servers, fabric)
        self._down("leaf", "servers", servers.x + 26, text, note, links.stroke(fabric))
        if "head" in self.boxes:
            self._down("leaf", "head", self.boxes["head"].x + 22, links.link_text(1, fabric), "", links.stroke(fabric))

    def _storage_links(self) -> None:
        kind, count = links.storage_kind(self.design), links.front_end_links(self.design)
        per_node = count // max(self.design.storage_nodes, 1)
        note = f"{per_node} from each node" if self.design.storage_nodes > 1 else ""
        if self.platform.attachment == "lan":
            note = "LAN at hand"
        text, x, stroke = links.link_text(count, kind), self.storage_x + 26, links.stroke(kind)
        if self.between is not None:
            self._down(self.between, "storage", x, text, note, stroke, "storage")
            self._to_between(self.between)
        elif self.platform.attachment == "spine" and "spine" in self.boxes:
            self._down("spine", "storage", x, text, note, stroke, "storage")
        elif "leaf" in self.boxes:
            self._down("leaf", "storage", x, text, note, stroke, "storage")
        else:
            servers = self.boxes["servers"]
            self._across("servers", "storage", servers.y + servers.height / 2 + 8, count, kind, "storage")

    def _to_between(self, between: str) -> None:
        """From the fabric, or from the servers' own ports, to the gateway or the storage switch."""
        box = self.boxes[between]
        if between == "gateway" and self.platform.gateway is not None and "leaf" in self.boxes:
            net = self._gateway_net()
            uplinks = int(net.gateway_uplinks[0]) if net is not None else 1
            self._across("leaf", between, box.y + 35, uplinks, self.platform.gateway.uplink_kind.value)
            return
        servers, kind = self.boxes["servers"], links.storage_kind(self.design)
        x, y = (servers.right + self.storage_x) / 2, servers.y + 24
        start = servers.right + (7 if servers.copies > 1 else 0)
        points = ((start, y), (x, y), (x, box.y + 24), (box.x, box.y + 24))
        net = links.network(self.design, "front end")
        count = int(net.end_points[0]) - links.front_end_links(self.design) if net is not None else 0
        if count > 0:
            note = f"{count} × {GBIT_PER_S[kind]} GbE from the servers"
            self.boxes[between] = Box(
                box.id, box.x, box.y, box.width, box.height, box.title, (note,), box.role, box.copies
            )
        self.links.append(Link(f"servers--{between}", "servers", between, points, links.stroke(kind), "storage"))

    def _management(self, y: float) -> float:
        """One bar below everything, dashed lines up to each device; the switches are reached along the margins."""
        net = links.network(self.design, "management")
        n_switches = max(sum(links.counts(net)), 1)
        ports = "" if net is None else f" · {int(net.ports_used[0])} ports used"
        bar = self._add(
            Box(
                "management",
                self.left,
                y,
                self.right - self.left,
                _MANAGEMENT_H,
                links.many(n_switches, self.platform.management_switch.name),
                (),
                "other",
                n_switches,
                quiet=True,
            )
        )
        self.labels.append(Label(bar.right - 10, bar.y + 19.5, f"management, 1 GbE{ports}", 9, "muted", anchor="end"))
        reached = {"head": 0.5, "servers": 0.5, "storage": 0.085, "back-end": 0.5}
        if self.platform.attachment == "lan":
            del reached["storage"]  # the customer manages his own storage
        for id_, share in reached.items():
            if id_ in self.boxes:
                box = self.boxes[id_]
                x = box.x + share * box.width
                self._dashed(id_, ((x, box.bottom), (x, bar.y)))
        for id_, side in (("leaf", _MARGIN / 2 + 1), ("spine", _MARGIN / 2 - 2)):
            if id_ in self.boxes:
                box = self.boxes[id_]
                self._dashed(id_, ((box.x, box.y + 12), (side, box.y + 12), (side, bar.y + 16), (bar.x, bar.y + 16)))
        if self.between in self.boxes:
            box, side = self.boxes[self.between], COLUMN_PX - _MARGIN / 2
            self._dashed(
                self.between, ((box.right, box.y + 30), (side, box.y + 30), (side, bar.y + 16), (bar.right, bar.y + 16))
            )
        return bar.bottom

    def _dashed(self, id_: str, points: tuple[tuple[float, float], ...]) -> None:
        self.links.append(Link(f"{id_}--management", id_, "management", points, 0.9, "other", dashed=True))
