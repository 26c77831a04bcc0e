"""The cluster on one page: a stack for each kind of device."""

from dataclasses import replace

from sizer.base.quantities import grouped
from sizer.catalog.links import LinkType
from sizer.drawings.cluster import (
    CUSTOMER_LAN,
    GROUPS,
    MANAGERS,
    Bundle,
    Cluster,
    link_text,
    many,
    memory,
    oversubscribed,
    speed,
    stroke,
)
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import LINE_SIZE, Box, Drawing, Label, Link
from sizer.physical.components import Network
from sizer.physical.roles import NetworkRole
from sizer.sizing.result import DesignAnswer

_MARGIN = 16.0  # room for the management lines of the switches on either side
# Between rows, and where a line crosses above the servers, below its label.
_GAP_X, _GAP_Y, _CROSSED_GAP_Y, _MANAGEMENT_GAP_Y = 44.0, 40.0, 48.0, 26.0
_HEAD_W, _STORAGE_W, _SPINE_INSET = 132.0, 196.0, 70.0
_SWITCH_H, _SERVER_H, _MAX_SERVER_H, _MANAGEMENT_H = 46.0, 78.0, 170.0, 32.0
_HALF_GAP, _ABOVE_CROSSING = 8.0, 7.0
_LABEL = 9.5
_HEADS = {1: "head node", 2: "head nodes, one active"}
_ON_LEFT = ("core", "spine", "leaf")
_ON_RIGHT = ("storage-core", "storage-spine", "storage-leaf", "gateway")
_BACK_END = ("back-end", "back-end-spine", "back-end-core")
_ABOVE_MANAGEMENT = ("management-aggregation", "management-core")


def topology(design: DesignAnswer, *, is_low: bool = False) -> Drawing:
    """Drawing of the whole cluster, a box a kind of device: servers, networks, gateway, storage.

    ``is_low``: for a slide, without the management network.
    """
    return _Layout(Cluster(design), is_low=is_low).drawing()


class _Layout:
    """Collects the shapes; one method a part of the cluster. Boxes are kept by their group."""

    def __init__(self, cluster: Cluster, *, is_low: bool) -> None:
        self.has_management = bool(cluster.count("management")) and not is_low
        self.cluster, self.design, self.platform = cluster, cluster.design, cluster.design.platform
        # Both fabrics' subnet managers are one box.
        self.bundles = {
            (b.a, b.z): b
            for b in cluster.bundles(lambda device: "ufm" if GROUPS[device.role] in MANAGERS else GROUPS[device.role])
        }
        # A line above the servers, under labels.
        self.crosses = any(("head", group) in self.bundles for group in _ON_RIGHT)
        self.gap_y = _CROSSED_GAP_Y if self.crosses else _GAP_Y
        self.boxes: dict[str, Box] = {}
        self.links: list[Link] = []
        self.labels: list[Label] = []
        self.left, self.right = _MARGIN, COLUMN_PX - _MARGIN
        # Files of the customer's or of storage that is bought; the head node's own and local drives have no box.
        self.storage = "storage" if cluster.count("storage") else CUSTOMER_LAN
        self.has_storage = bool(cluster.count("storage")) or self.platform.attachment == "lan"
        self.storage_x = self.right - _STORAGE_W
        self.compute_right = self.storage_x - _GAP_X if self.has_storage else self.right

    def drawing(self) -> Drawing:
        """Place everything from top to bottom."""
        y = self._switches(10.0)
        bottom = self._storage(y) if self.has_storage else y + _SERVER_H
        self._servers(y, min(bottom - y, _MAX_SERVER_H))
        for (lower, upper), bundle in self.bundles.items():
            if upper not in (*_ON_LEFT, *_ON_RIGHT) or lower == upper:
                continue
            box, count, kind = self.boxes[lower], bundle.count, bundle.kind
            if lower == "gateway":
                self._across(upper, lower, box.y + 35, count, kind)
            elif lower == "servers" and upper in _ON_RIGHT:
                self._round(lower, upper, count, kind)
            elif lower == "servers":
                note = f"{bundle.of_each} from each server" if self.cluster.count(lower) > 1 else ""
                self._down(upper, lower, box.x + 26, count, kind, note)
            elif lower == "ufm":
                self._from_managers(upper, count, kind)
            elif lower == "head" and upper in _ON_RIGHT:
                self._from_heads(upper, count, kind)
            elif lower == "head":
                self._down(upper, lower, box.x + 22, count, kind)
            elif lower in ("storage", CUSTOMER_LAN):
                note = self._from_each_node(count) if lower == "storage" else "customer LAN"
                self._down(upper, lower, self.storage_x + 26, count, kind, note, "storage")
            else:
                self._between_switches(bundle)
        if self.storage == CUSTOMER_LAN and self.has_storage and (self.storage, "leaf") not in self.bundles:
            self._by_others()
        if self.has_management:
            bottom = self._management(bottom + _MANAGEMENT_GAP_Y)
        # A box alone of its kind is called by the name of its device.
        ids = {group: "ufm" if group == "ufm" else self.cluster.id(group) for group in self.boxes}
        boxes = tuple(replace(box, id=ids[group]) for group, box in self.boxes.items())
        named = tuple(
            replace(one, id=f"{ids[one.source]}--{ids[one.target]}", source=ids[one.source], target=ids[one.target])
            for one in self.links
        )
        return Drawing(COLUMN_PX, bottom + 4, self.cluster.title(), boxes, named, (), tuple(self.labels))

    def _stack(self, group: str, x: float, y: float, width: float, height: float, *lines: str, **more: object) -> Box:
        count = self.cluster.count(group)
        title = many(count, self.cluster.model(group))
        self.boxes[group] = Box(group, x, y, width, height, title, lines, copies=count, **more)  # type: ignore[arg-type]
        return self.boxes[group]

    # --- switches

    def _switches(self, y: float) -> float:
        """Levels of both networks, the lowest ones side by side. Returns where the servers start."""
        left = [group for group in _ON_LEFT if self.cluster.count(group)]
        right = [group for group in _ON_RIGHT if self.cluster.count(group)]
        levels = max(len(left), len(right))
        for groups, place in ((left, self._fabric_box), (right, self._front_end_box)):
            for level, group in enumerate(reversed(groups)):
                place(group, y + (levels - 1 - level) * (_SWITCH_H + self.gap_y))
        return y + levels * (_SWITCH_H + self.gap_y)

    def _fabric_box(self, group: str, y: float) -> None:
        """Bar over what hangs below it, or a narrower one over the leaves."""
        reaches_storage = (self.storage, group) in self.bundles
        lowest = group == "leaf" or not self.cluster.count("leaf")
        x, right = self.left, self.right if reaches_storage else self.compute_right
        if not lowest and not reaches_storage:
            x += _SPINE_INSET
            right -= _SPINE_INSET
            if self.has_storage and ("storage", "leaf") in self.bundles:
                right += _STORAGE_W + _GAP_X
        text = self._switch_text(group)
        if self.cluster.rails > 1:
            text = f"{text} in {self.cluster.rails} rails kept apart"
        if lowest:
            text += f", {self.platform.fabric.name}"
            net = self.cluster.network(NetworkRole.COMPUTE)
            if net is not None:
                text += " · " + self._ports_text(group, net)
        self._stack(group, x, y, right - x, _SWITCH_H, text, role="network")

    def _switch_text(self, group: str) -> str:
        """What switches are for; those of a pair that cables join directly say so."""
        joined, text = self.bundles.get((group, group)), self.cluster.words(group)
        return text if joined is None else f"{text}, {joined.count} cables between them"

    def _ports_text(self, group: str, net: Network) -> str:
        """Ports of the drawn switches; of leaves below spines those of the leaves alone, as in the list of cables."""
        used, free = int(net.ports_used[0]), int(net.ports_free[0])
        if any(lower == group and upper in _ON_LEFT for lower, upper in self.bundles):
            ends = [(pair.count(group), bundle.count) for pair, bundle in self.bundles.items() if pair[1] in _ON_LEFT]
            used, free = sum(times * count for times, count in ends), int(net.leaf_ports_free[0])
        return f"{grouped(used)} ports used, {grouped(free)} free"

    def _front_end_box(self, group: str, y: float) -> None:
        text = self._switch_text(group)
        lines = [f"InfiniBand to Ethernet {text}" if group == "gateway" else text]
        from_servers = self.bundles.get(("servers", group))
        if from_servers is not None:
            cables = link_text(from_servers.count, from_servers.kind)
            lines.append(f"{cables} from servers")
        self._stack(group, self.storage_x, y, _STORAGE_W, _SWITCH_H, *lines, role="network")

    # --- servers and storage

    def _servers(self, y: float, height: float) -> None:
        x = self.left
        heads = self.cluster.count("head")
        managers = self.cluster.count("ufm") + self.cluster.count("storage-ufm")
        own = (height - _HALF_GAP) / 2 if heads and managers else height
        if heads:
            head, lines = self.platform.head_node, [_HEADS.get(heads, "management servers")]
            assert head is not None, "the plan has a head node, the platform has none"
            if head.memory_bytes is not None:
                lines.append(f"{memory(head.memory_bytes.value)} memory")
            if self.cluster.head_serves_files:
                lines.append("serves the files")
            lines = lines[:1] if managers else lines
            self.boxes["head"] = Box("head", x, y, _HEAD_W, own, many(heads, head.name), tuple(lines), "other", heads)
        if managers:
            top, model = y + height - own, self.cluster.model("ufm")
            text = (f"{managers} × subnet manager",)
            self.boxes["ufm"] = Box("ufm", x, top, _HEAD_W, own, model.split()[0], text, "network", managers)
        if heads or managers:
            x += _HEAD_W + 30
        count, per = self.cluster.count("servers"), self.platform.gpus_per_server
        gpus, *facts = self.cluster.server_facts()
        self.boxes["servers"] = Box(
            "servers",
            x,
            y,
            self.compute_right - x,
            height,
            many(count, self.cluster.model("servers")),
            (gpus, " · ".join(facts[:2]), *facts[2:]),
            "gpu",
            count,
            glyphs=per,
            glyph_name="GPU",
        )

    def _storage(self, y: float) -> float:
        """Storage with its back end below. Returns where they end."""
        units, nodes = self.cluster.count("storage"), self.cluster.storage_nodes
        box = Box(
            self.storage,
            self.storage_x,
            y,
            _STORAGE_W,
            _SERVER_H,
            self.cluster.storage_title(),
            tuple(self.cluster.storage_lines()),
            "storage",
            max(units, 1),
            glyphs=nodes // units if units and nodes > units else 0,
            glyph_name="node",
        )
        self.boxes[self.storage] = box
        above, upper = self.storage, box
        for group in _BACK_END:
            if not self.cluster.count(group):
                continue
            text = "back end, storage only" if group == "back-end" else self.cluster.words(group)
            x, top = self.storage_x + 34, upper.bottom + self.gap_y
            lower = self._stack(group, x, top, _STORAGE_W - 34, 44, text, role="storage", quiet=True)
            bundle = self.bundles[above, group]
            note = "two networks, A and B" if group == "back-end" else ""
            self._down(above, group, lower.x + 22, bundle.count, bundle.kind, note, "storage")
            above, upper = group, lower
        return upper.bottom

    # --- links

    def _down(
        self, upper: str, lower: str, x: float, count: int, kind: LinkType, note: str = "", role: str = "network"
    ) -> None:
        start, end = self.boxes[upper].bottom, self.boxes[lower].y
        # The label stands in the gap just above the lower box, also where the line passes another row.
        middle = end - self.gap_y / 2 - (_ABOVE_CROSSING if self.crosses and lower == "servers" else 0)
        labels = [Label(x + 7, middle + (-1.5 if note else 3), link_text(count, kind), _LABEL, semibold=True)]
        if note:
            labels.append(Label(x + 7, middle + 9.5, note, LINE_SIZE, "muted"))
        way = ((x, start), (x, end))
        self.links.append(Link("", upper, lower, way, stroke(kind), role, labels=tuple(labels), count=count))

    def _across(self, left: str, right: str, y: float, count: int, kind: LinkType, role: str = "network") -> None:
        """Horizontal link; its label stands on two short lines above it, for the gap is narrow."""
        start, end = self.boxes[left].right + (7 if self.boxes[left].copies > 1 else 0), self.boxes[right].x
        middle = (start + end) / 2
        labels = (
            Label(middle, y - 17, f"{count} ×", _LABEL, semibold=True, anchor="middle"),
            Label(middle, y - 6, speed(kind).removesuffix(" Gbit/s"), LINE_SIZE, "muted", anchor="middle"),
        )
        way = ((start, y), (end, y))
        self.links.append(Link("", left, right, way, stroke(kind), role, labels=labels, count=count))

    def _from_each_node(self, count: int) -> str:
        nodes = self.cluster.storage_nodes
        return "" if nodes < 2 or count % nodes else f"{count // nodes} from each node"

    def _between_switches(self, bundle: Bundle) -> None:
        lower, upper = bundle.a, bundle.z
        box, above = self.boxes[lower], self.boxes[upper]
        share = 0.3 if lower in _ON_RIGHT else 0.5  # the label stands before the lines of the margin
        x = max(box.x, above.x) + (min(box.right, above.right) - max(box.x, above.x)) * share
        if (self.storage, upper) in self.bundles:
            x = self.left + 180  # beside the way from storage to the spine
        note = f"{bundle.of_each} up from each"
        net = self.cluster.network(NetworkRole.COMPUTE)
        if lower == "leaf" and net is not None:
            note += f" leaf, {oversubscribed(net)}"
        role = "storage" if lower in _ON_RIGHT else "network"
        self._down(upper, lower, x, bundle.count, bundle.kind, note, role)

    def _round(self, lower: str, upper: str, count: int, kind: LinkType) -> None:
        """From the servers to the switches of the storage, which stand higher on the right."""
        box, servers = self.boxes[upper], self.boxes[lower]
        x, y = (servers.right + self.storage_x) / 2, servers.y + 24
        start = servers.right + (7 if servers.copies > 1 else 0)
        way = ((start, y), (x, y), (x, box.y + 24), (box.x, box.y + 24))
        self.links.append(Link("", lower, upper, way, stroke(kind), "storage", count=count))

    def _from_managers(self, upper: str, count: int, kind: LinkType) -> None:
        """Up between the head nodes and the servers; to the storage's leaves above the servers."""
        box, above = self.boxes["ufm"], self.boxes[upper]
        start = box.right + (7 if box.copies > 1 else 0)
        y = box.y + box.height / 2
        if upper in _ON_LEFT:
            way: tuple[tuple[float, float], ...] = ((start, y), (start + 6, y), (start + 6, above.bottom))
        else:
            x, level = above.x + 12, self.boxes["servers"].y - 7
            way = ((start, y + 6), (start + 12, y + 6), (start + 12, level), (x, level), (x, above.bottom))
        role = "storage" if upper in _ON_RIGHT else "network"
        self.links.append(Link("", "ufm", upper, way, stroke(kind), role, count=count))

    def _from_heads(self, upper: str, count: int, kind: LinkType) -> None:
        """From the head nodes to the storage's leaves, above the servers; its label stands over the head nodes."""
        box, above = self.boxes["head"], self.boxes[upper]
        x, start, level = above.x + 6, box.x + 22, box.y - 11
        way = ((start, box.y), (start, level), (x, level), (x, above.bottom))
        label = Label(box.x, level - 5, link_text(count, kind), _LABEL, semibold=True)
        self.links.append(Link("", "head", upper, way, stroke(kind), "storage", labels=(label,), count=count))

    def _by_others(self) -> None:
        """The servers' own ports lead to storage at hand; the cables are no part of the design."""
        servers, storage = self.boxes["servers"], self.boxes[self.storage]
        y, start = servers.y + servers.height / 2 + 8, servers.right + (7 if servers.copies > 1 else 0)
        middle = (start + storage.x) / 2
        label = Label(middle, y - 6, "LAN", LINE_SIZE, "muted", anchor="middle")
        way = ((start, y), (storage.x, y))
        self.links.append(Link("", "servers", self.storage, way, 1.4, "storage", labels=(label,), count=0))

    # --- management

    def _management(self, y: float) -> float:
        """One bar below everything, dashed lines up to each device; the switches are reached along the margins."""
        width = self.right - self.left
        if self.cluster.count("in-band"):
            y = self._in_band(y)
        bar = self._stack("management", self.left, y, width, _MANAGEMENT_H, role="other", quiet=True)
        net = self.cluster.network(NetworkRole.MANAGEMENT)
        text = "out-of-band management, 1 GbE" if self.cluster.count("in-band") else "management, 1 GbE"
        if net is not None:
            text += " · " + f"{grouped(int(net.ports_used[0]))} ports used"
        self.labels.append(Label(bar.right - 10, bar.y + 19.5, text, LINE_SIZE, "muted", anchor="end"))
        lanes = {-1: 0, 1: 0}
        for (group, upper), bundle in self.bundles.items():
            if upper == "management" and not group.startswith("in-band-"):
                way = self._way_down(group, bar, lanes)
                self.links.append(Link("", group, bar.id, way, 0.9, "other", dashed=True, count=bundle.count))
        bottom, x = bar.bottom, self.left + 26
        lower = "management"
        for group in _ABOVE_MANAGEMENT:
            if self.cluster.count(group):
                y, text = bar.bottom + self.gap_y, self.cluster.words(group)
                box = self._stack(group, x, y, _STORAGE_W, _SWITCH_H, text, role="other", quiet=True)
                bundle = self.bundles[lower, group]
                if lower == "management":
                    self._down(lower, group, x + 22, bundle.count, bundle.kind, "", "other")
                else:
                    self._across(lower, group, box.y + 35, bundle.count, bundle.kind, "other")
                lower, x, bottom = group, box.right + _GAP_X + 20, box.bottom
        return bottom

    def _in_band(self, y: float) -> float:
        """The bar of the in-band network below servers and head nodes. Returns where the next bar starts."""
        bar = self._stack(
            "in-band", self.left, y, self.compute_right - self.left, _MANAGEMENT_H, role="other", quiet=True
        )
        text = f"in-band, {self.platform.in_band_link}"
        spines = self.cluster.count("in-band-spine")
        if spines:
            title = f"{grouped(bar.copies)} + {grouped(spines)} × {self.cluster.model('in-band')}"
            self.boxes["in-band"] = replace(bar, title=title)
            text += f" · {spines} spines"
        outside = sum(bundle.count for (lower, _), bundle in self.bundles.items() if lower == CUSTOMER_LAN)
        if outside:
            text += f" · {outside} LAN uplinks"
        self.labels.append(Label(bar.right - 10, bar.y + 19.5, text, LINE_SIZE, "muted", anchor="end"))
        for group in ("head", "servers"):
            bundle = self.bundles.get((group, "in-band"))
            if bundle is None:
                continue
            box = self.boxes[group]
            if group == "head" and "ufm" in self.boxes:
                start, lane = box.y + box.height / 2, box.x - 5
                way: tuple[tuple[float, float], ...] = ((box.x, start), (lane, start), (lane, bar.y))
            else:
                way = ((box.centre_x, box.bottom), (box.centre_x, bar.y))
            label = Label(way[-1][0] + 6, bar.y - 6, link_text(bundle.count, bundle.kind), LINE_SIZE, "muted")
            shown = (label,) if group == "servers" else ()
            self.links.append(
                Link("", group, "in-band", way, 0.9, "other", labels=shown, dashed=True, count=bundle.count)
            )
        return bar.bottom + 22

    def _way_down(self, group: str, bar: Box, lanes: dict[int, int]) -> tuple[tuple[float, float], ...]:
        """Straight down where nothing stands below, else along the margin."""
        box = self.boxes[group]
        if self.cluster.count("in-band") and group == "servers":
            # Next to the bar of the in-band network, which ends with the servers; so may that of the management.
            x = self.compute_right + 10
            below = ((x, bar.y),) if self.has_storage else ((x, bar.y + 16), (bar.right, bar.y + 16))
            return (box.right, box.bottom - 8), (x, box.bottom - 8), *below
        if group == "in-band":
            return (box.x + 12, box.bottom), (box.x + 12, bar.y)
        shares = {"head": 0.5, "servers": 0.5, "storage": 0.085}
        if group in shares:
            x = box.x + shares[group] * box.width
            return (x, box.bottom), (x, bar.y)
        if group in _BACK_END and not self.cluster.count("back-end-spine"):
            return (box.centre_x, box.bottom), (box.centre_x, bar.y)
        side = -1 if group in (*_ON_LEFT, "ufm", "head") else 1
        lane = 3.0 + 3.0 * lanes[side]
        lanes[side] += 1
        if side < 0:
            return (box.x, box.y + 12), (lane, box.y + 12), (lane, bar.y + 16), (bar.x, bar.y + 16)
        x = COLUMN_PX - lane
        return (box.right, box.y + 30), (x, box.y + 30), (x, bar.y + 16), (bar.right, bar.y + 16)
