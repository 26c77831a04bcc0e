"""One network of a design: its switches in levels above the devices that they connect, kinds of devices as stacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.base.quantities import by_count, grouped
from sizer.drawings import links
from sizer.drawings.cluster import GROUPS, MANAGERS, Cluster
from sizer.drawings.links import Bundle
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.parts import LINE_SIZE, title_fits
from sizer.drawings.shapes import Box, Drawing, Label, Link
from sizer.physical.components import Network
from sizer.physical.roles import NetworkRole
from sizer.sizing.result import DesignAnswer

_MARGIN, _GAP_X, _GAP_Y = 8.0, 16.0, 40.0
_SWITCH_H, _END_H = 42.0, 48.0
_MAX_END_W = 200.0
_MANY = 5
_MOST_IN_A_ROW = 7
_NARROW = 110.0  # a narrower box has no room for a long name
_LABEL = 9.5
# Level of a switch by the end of its group's name; everything else is an end point.
_LEVELS = (("core", 3), ("spine", 2), ("aggregation", 2))
_LEAVES = ("leaf", "storage-leaf", "back-end", "in-band", "management")
# Colour of the devices of a group.
_ROLES = {"servers": "gpu", "head": "other", "storage": "storage", links.CUSTOMER_LAN: "other", "gateway": "network"}
_NETWORKS = {
    NetworkRole.COMPUTE: "compute fabric",
    NetworkRole.STORAGE: "storage front end",
    NetworkRole.STORAGE_BACK_END: "storage back end",
    NetworkRole.IN_BAND: "in-band network",
    NetworkRole.MANAGEMENT: "management network",
}


def network_drawing(design: DesignAnswer, role: NetworkRole) -> Drawing | None:
    """Drawing of one network; None where the design has no cable of it.

    As wide as the text column.
    """
    found = links.bundles(design.plan, lambda device: GROUPS[device.role], role)
    return _Layout(Cluster(design), role, found).drawing() if found else None


@dataclass(frozen=True)
class _Layout:
    cluster: Cluster
    role: NetworkRole
    bundles: Sequence[Bundle]

    def drawing(self) -> Drawing:
        groups = list(dict.fromkeys(name for bundle in self.bundles for name in (bundle.a, bundle.z)))
        levels: dict[int, list[str]] = {}
        for group in groups:
            levels.setdefault(self._level(group), []).append(group)
        boxes: dict[str, Box] = {}
        y = _MARGIN
        for level in sorted(levels, reverse=True):
            height = _SWITCH_H if level else _END_H
            members = levels[level]
            # Of two rows the lower one stands half a box further right: its lines pass between the boxes above.
            columns = len(members) if level or len(members) <= _MOST_IN_A_ROW else len(members) // 2 + 1
            for number, group in enumerate(members):
                row, place = divmod(number, columns)
                x, width = _place(place, columns, is_end=not level)
                gap = _GAP_X if columns <= _MANY else _GAP_X / 4
                top = y + row * (height + _GAP_Y)
                boxes[group] = self._box(group, x + row * (width + gap) / 2, top, width, height)
            y += -(-len(members) // columns) * (height + _GAP_Y)
        # Cables between the two leaves of a pair end where they start; the title of the box has them.
        lines = tuple(self._link(bundle, boxes) for bundle in self.bundles if bundle.a != bundle.z)
        return Drawing(COLUMN_PX, y - _GAP_Y + _MARGIN, self._title(), tuple(boxes.values()), lines)

    def _level(self, group: str) -> int:
        uppers = {bundle.z for bundle in self.bundles if bundle.a != bundle.z}
        if group not in uppers:
            return 0  # nothing hangs below it: an end point of this network, gateways among them
        found = next((level for end, level in _LEVELS if group.endswith(end)), 1)
        # One director does the work of leaves and spines.
        return found if any(name in uppers for name in _LEAVES) else 1

    def _box(self, group: str, x: float, y: float, width: float, height: float) -> Box:
        cluster = self.cluster
        if group == links.CUSTOMER_LAN:
            return Box(group, x, y, width, height, "Customer's LAN", ("out of scope",), "other", quiet=True)
        count = cluster.count(group)
        if group == links.RACK_PDUS:
            count = sum(bundle.count for bundle in self.bundles if bundle.a == group)
            # In a narrow box the maker's name of a PDU would be cut; the devices of the design have it.
            name = cluster.design.platform.pdu.name if width > _NARROW else "PDU"
            return Box(group, x, y, width, height, links.many(count, name), ("rack PDUs",), "other", count, quiet=True)
        if group == "storage":
            title, _, count = cluster.storage_on(self.role)
        else:
            title = links.many(count, self._model(group, width, count))
            title = title[:1].upper() + title[1:]
        is_quiet = self.role is NetworkRole.MANAGEMENT
        words = self._words(group)
        peers = sum(bundle.count for bundle in self.bundles if bundle.a == bundle.z == group)
        if peers:
            words += f", {grouped(peers)} cables between pairs"
        return Box(group, x, y, width, height, title, (words,), _ROLES.get(group, "network"), count, is_quiet)

    def _model(self, group: str, width: float, count: int) -> str:
        """Name of the devices, short where a box is too narrow for it."""
        name = self.cluster.model(group)
        if width > _NARROW or title_fits(links.many(count, name), width):
            return name
        if group in MANAGERS:
            return name.split()[0]
        return "server" if group == "head" else name

    def _words(self, group: str) -> str:
        if group == "servers":
            return by_count(self.cluster.count(group), "GPU server", "GPU servers")
        if group == "head":
            return by_count(self.cluster.count(group), "head node", "management servers")
        if group in MANAGERS:
            # On the management network the appliances of both fabrics stand side by side.
            both = self.role is NetworkRole.MANAGEMENT and all(self.cluster.count(one) for one in MANAGERS)
            of = {"ufm": "compute ", "storage-ufm": "storage "}[group] if both else ""
            return of + by_count(self.cluster.count(group), "subnet manager", "subnet managers")
        if group == "storage":
            _, nodes, units = self.cluster.storage_on(self.role)
            return f"{nodes} nodes" if nodes > units else "storage"
        return self.cluster.words(group)

    def _link(self, bundle: Bundle, boxes: dict[str, Box]) -> Link:
        """Straight up from the lower box, its label beside the line."""
        lower, upper = boxes[bundle.a], boxes[bundle.z]
        x = min(max(lower.x + 24, upper.x + 24), upper.right - 8)
        if lower.y - upper.bottom > _GAP_Y + 1 and len(boxes) > _MOST_IN_A_ROW:
            x = lower.centre_x
        labels = [Label(x + 7, lower.y - 25, links.link_text(bundle.count, bundle.kind), _LABEL, semibold=True)]
        each = self._each(bundle, is_narrow=len(boxes) > _MANY)
        if each:
            labels.append(Label(x + 7, lower.y - 14, each, LINE_SIZE, "muted"))
        is_management = self.role is NetworkRole.MANAGEMENT
        return Link(
            f"{bundle.a}--{bundle.z}",
            bundle.a,
            bundle.z,
            ((x, upper.bottom), (x, lower.y)),
            links.stroke(bundle.kind),
            _ROLES.get(bundle.a, "network"),
            dashed=is_management,
            labels=tuple(labels),
            count=bundle.count,
        )

    def _each(self, bundle: Bundle, *, is_narrow: bool) -> str:
        count = self.cluster.storage_on(self.role)[1] if bundle.a == "storage" else self.cluster.count(bundle.a)
        if count < 2:
            return ""
        if bundle.a != "storage":
            return f"{bundle.of_each} from each"
        # Nodes share the ports of their chassis.
        each = f"{bundle.count // count} from each"
        return "" if bundle.count % count else each if is_narrow else f"{each} node"

    def _title(self) -> str:
        net = self.cluster.network(self.role)
        name = _NETWORKS[self.role]
        if self.role is NetworkRole.MANAGEMENT and self.cluster.count("in-band"):
            name = "out-of-band network"
        text = name[0].upper() + name[1:]
        if net is None:
            return text
        used, free = int(net.ports_used[0]), int(net.ports_free[0])
        ports = by_count(used, "one port", f"{grouped(used)} ports")
        return f"{text}: {ports} in use, {grouped(free)} free{_blocking(net)}"


def _place(number: int, count: int, *, is_end: bool) -> tuple[float, float]:
    """Left edge and width of a box: equal shares of the column; end points stay narrow and start at the left."""
    room = COLUMN_PX - 2 * _MARGIN
    # Many boxes stand closer together, so that the longest names of switches fit.
    gap = _GAP_X if count <= _MANY else _GAP_X / 4
    width = (room - (count - 1) * gap) / count
    if is_end:
        width = min(width, _MAX_END_W)
    return _MARGIN + number * (width + gap), width


def _blocking(net: Network) -> str:
    return f", {links.oversubscribed(net)}" if int(net.spines[0]) else ""
