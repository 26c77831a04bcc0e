"""Every single loss of a design with what is left after it, and what is said about it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sizer.base.quantities import NARROW_SPACE, by_count, grouped, si, significant
from sizer.catalog.labels import sentence
from sizer.catalog.schema import Storage
from sizer.physical.losses import Losses, Remaining, on_one_side
from sizer.physical.protection import drives_survived, nodes_survived
from sizer.physical.roles import NetworkRole, Role
from sizer.questions.failures.after_loss import Rest
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.workload.request import Loss

# Devices named one by one in a sentence; more are counted.
_MAX_NAMED = 4


class Draft(NamedTuple):
    """A case before its rates are known. Of several rests that which keeps most targets is taken, then the fastest."""

    key: str
    what: str
    rests: tuple[Rest, ...]
    effect: Callable[[Remaining], str]
    remedy: str
    is_certain: bool = True  # False: what is left hangs on a protection that no source tells


# Which cases are a loss that a request can name. A head node counts as a storage node where it serves the files.
_LOSSES: Mapping[str, Loss] = {
    "server": "server",
    "storage-node": "storage-node",
    "leaf": "switch",
    "spine": "switch",
    "core": "switch",
    "front-end-switch": "switch",
    "back-end-switch": "switch",
    "gateway": "gateway",
    "power-feed": "feed",
}


class Cases:
    """The cases of one design."""

    def __init__(self, result: SizingResult, losses: Losses) -> None:
        self.design: DesignAnswer = result.design
        self.losses, self.whole = losses, losses.whole
        fitted = self.design.platform.gpus_per_server
        self.n_gpus = min(result.request.platforms.gpus_per_server or fitted, fitted)
        self.is_cached = all(answer.cache_hit_fraction >= 1 for answer in self.design.workloads)
        self.has_training = any(answer.workload.task == "training" for answer in self.design.workloads)

    def loss_of(self, key: str) -> Loss | None:
        """Kind of loss that a request calls a case; a head node that serves the files is the one storage node."""
        return "storage-node" if key == "head" and self._head_serves else _LOSSES.get(key)

    def drafts(self) -> Iterator[Draft]:
        """All cases that apply."""
        yield self._gpu()
        yield self._server()
        yield from self._storage()
        yield from self._fabric()
        yield from self._gateways()
        yield from self._management()
        yield from self._power()

    def _of(self, key: str, what: str, remedy: str, *devices: str, cables: Sequence[str] = ()) -> Draft:
        """Case of some devices or cables, told by what is left."""
        rests = tuple(Rest(self.losses.without(devices, cables, only_whole=only_whole)) for only_whole in (False, True))
        return Draft(key, what, rests, self._told, remedy)

    def _unharmed(self, key: str, what: str, effect: str, remedy: str) -> Draft:
        return Draft(key, what, (Rest(self.whole),), lambda _: effect, remedy)

    def _stopped(self, key: str, what: str, effect: str, remedy: str) -> Draft:
        nothing = Remaining(0, 0.0, False, 0.0, 0, 0.0, 0.0)
        return Draft(key, what, (Rest(nothing),), lambda _: effect, remedy)

    def _gpu(self) -> Draft:
        key, what = "gpu", "One GPU fails"
        remedy = "Take the server out of the scheduler until the GPU is replaced."
        if self.n_gpus < self.design.platform.gpus_per_server:
            effect = self._restart("another GPU of the same server")
            return self._unharmed(key, what, effect, "Replace the GPU when no job runs.")
        if self.design.n_servers > 1:
            rest = Rest(self.losses.without(self.losses.named(Role.GPU_SERVER)[:1]))
            return Draft(key, what, (rest,), lambda left: self._restart(_servers(left.n_servers)), remedy)
        if self.n_gpus > 1:
            fewer = self.n_gpus - 1
            on = by_count(fewer, f"the {grouped(fewer)} GPU that is left", f"the {grouped(fewer)} GPUs that are left")
            return Draft(key, what, (Rest(self.whole, fewer),), lambda _: self._restart(on), "Replace the GPU.")
        return self._stopped(key, what, "Nothing runs until the GPU is replaced.", "Replace the GPU.")

    def _server(self) -> Draft:
        remedy = "Repair it; the job returns to all servers at its next start."
        if self.design.n_servers == 1:
            effect = "Nothing runs until the server is repaired."
            return self._stopped("server", "The GPU server fails", effect, "Repair the server.")
        rest = Rest(self.losses.without(self.losses.named(Role.GPU_SERVER)[:1]))
        what = "One GPU server fails"
        return Draft("server", what, (rest,), lambda left: self._restart(_servers(left.n_servers)), remedy)

    def _restart(self, on: str) -> str:
        if not self.has_training:
            return f"Jobs restart on {on}."
        return f"Jobs restart from their last checkpoint on {on}; what was computed since is lost."

    def _storage(self) -> Iterator[Draft]:
        storage = self.design.platform.storage
        name = storage.name
        nodes = self.losses.storage_nodes
        rebuild = "Replace it; restoring its data takes part of the read rate, which is not counted here."
        if nodes:
            links = next(iter(nodes.values()))
            left = self.losses.without(cables=[link.id for link in links])
            survives = nodes_survived(storage)
            count = by_count(
                left.storage_nodes, f"{grouped(left.storage_nodes)} node", f"{grouped(left.storage_nodes)} nodes"
            )
            what = "One storage node fails"
            if left.storage_nodes == 0 or survives == 0:
                effect = "No other node holds the data: reads stop."
                yield self._stopped("storage-node", what, effect, "Replace it and load the data again.")
            elif survives is None:
                effect = (
                    f"No source says how {name} protects its data; if the others hold it, reads go on from {count}."
                )
                ask = "Ask the vendor what the system survives."
                yield Draft("storage-node", what, (Rest(left),), lambda _: effect, ask, is_certain=False)
            else:
                effect = by_count(
                    survives,
                    f"{name} survives the loss of one node: reads go on from {count}.",
                    f"{name} survives the loss of {survives} nodes: reads go on from {count}.",
                )
                remedy = _no_room(storage, left.storage_nodes) or rebuild
                yield Draft("storage-node", what, (Rest(left),), lambda _: effect, remedy)
        if nodes or storage.kind == "local" or self._head_serves:
            yield self._drive(rebuild)

    @property
    def _head_serves(self) -> bool:
        storage = self.design.platform.storage
        return storage.kind == "nfs-server" and storage.server is not None

    def _drive(self, rebuild: str) -> Draft:
        storage = self.design.platform.storage
        key, what, survives = "drive", "One drive fails", drives_survived(storage)
        if survives:
            effect = by_count(
                survives,
                f"{storage.name} survives the loss of one drive: reads go on.",
                f"{storage.name} survives the loss of {survives} drives: reads go on.",
            )
            return self._unharmed(key, what, effect, rebuild)
        why = f"No source says how the drives of {storage.name} are protected"
        if survives == 0:
            why = f"The drives of {storage.name} are not protected"
        if storage.kind != "local":
            effect = f"{why}; reads are taken to go on."
            ask = "Ask the vendor what the system survives."
            return self._unharmed(key, what, effect, ask)._replace(is_certain=False)
        copy = "Replace it and copy the data to the server again."
        if self.design.n_servers == 1:
            effect = f"{why}; without protection the server has no data and stops."
            return self._stopped(key, what, effect, copy)
        rest = Rest(self.losses.without(self.losses.named(Role.GPU_SERVER)[:1]))
        effect = f"{why}; without protection one server has no data, and jobs restart on the others."
        return Draft(key, what, (rest,), lambda _: effect, copy)

    def _fabric(self) -> Iterator[Draft]:
        spare = "Replace the switch and load its stored configuration; a spare on the shelf saves the delivery."
        leaves, spines = (self.losses.named(role) for role in (Role.COMPUTE_LEAF, Role.COMPUTE_SPINE))
        if len(leaves or spines) == 1:
            what = "The switch of the compute fabric fails"
            yield self._of("leaf", what, spare, (leaves or spines)[0])
        elif leaves:
            yield self._of("leaf", "One leaf switch fails", spare, self._busiest(leaves))
        if leaves and spines:
            yield self._of("spine", "One spine switch fails", spare, spines[0])
        cores = self.losses.named(Role.COMPUTE_CORE)
        if cores:
            yield self._of("core", "One core switch fails", spare, cores[0])
        cable = next(
            (k.id for k in self.losses.links_between_switches() if k.network.network is NetworkRole.COMPUTE), None
        )
        if cable is not None:
            what, remedy = "One cable between two switches fails", "Replace the cable; its id is on the label."
            yield self._of("switch-cable", what, remedy, cables=[cable])
        fronts = self.losses.named(Role.STORAGE_LEAF)
        if fronts:
            what = "One switch of the storage front end fails"
            yield self._of("front-end-switch", what, spare, self._busiest(fronts))

    def _busiest(self, switches: Sequence[str]) -> str:
        """The switch with the most server ports, then with the most other ones."""
        of_servers = [link.z.device for link in self.losses.links(Role.GPU_SERVER)]
        of_nodes = [link.z.device for links in self.losses.storage_nodes.values() for link in links]
        return max(switches, key=lambda name: (of_servers.count(name), of_nodes.count(name)))

    def _gateways(self) -> Iterator[Draft]:
        gateways, uplinks = self.losses.named(Role.GATEWAY), self.losses.links(Role.GATEWAY)
        if gateways:
            what = "One gateway fails" if len(gateways) > 1 else "The gateway fails"
            remedy = "Replace the gateway and load its stored configuration; only a second one would carry on."
            yield self._of("gateway", what, remedy, gateways[0])
        if uplinks:
            what, remedy = "One uplink of the gateway fails", "Replace the cable; its id is on the label."
            yield self._of("gateway-uplink", what, remedy, cables=[uplinks[0].id])
        if self.losses.named(Role.BACK_END_LEAF):
            yield self._unharmed(
                "back-end-switch",
                "One back-end switch fails",
                ("The storage nodes go on over the other internal network; what that costs in rate is not published."),
                "Have the vendor replace the switch.",
            )

    def _management(self) -> Iterator[Draft]:
        if self.losses.named(Role.MANAGEMENT_LEAF):
            if self.design.n_servers > 1:
                effect = (
                    "Gradients and files take other networks, so running jobs go on while the scheduler "
                    "waits for silent servers; nothing is deployed or monitored. This is our reasoning."
                )
                remedy = "Replace the switch; set the scheduler to wait longer than that takes."
            else:
                effect = "Files take another network, so the job goes on; nothing is monitored. This is our reasoning."
                remedy = "Replace the switch."
            yield self._unharmed("management-switch", "A management switch fails", effect, remedy)
        heads = self.losses.named(Role.HEAD_NODE)
        if heads:
            yield self._head(heads[0])
        where = next((net.subnet_manager for net in self.design.quantities.networks if net.subnet_manager), "")
        if where and self.losses.named(Role.COMPUTE_LEAF, Role.COMPUTE_SPINE):
            yield self._unharmed(
                "subnet-manager",
                "The subnet manager stops",
                ("Links that are up keep their routes; a port that comes up gets none. This is our reasoning."),
                "Start it again; run a second one on another switch or on the head node.",
            )

    def _head(self, head: str) -> Draft:
        remedy = "Restore it from its backup; keep one."
        if self._head_serves:
            return self._of("head", "The head node fails", remedy, head)
        effect = "Running jobs go on; none starts and nobody logs in until it is back. This is our reasoning."
        return self._unharmed("head", "The head node fails", effect, remedy)

    def _power(self) -> Iterator[Draft]:
        plan = self.design.plan
        feeds = [feed for rack in plan.racks for feed in rack.feeds]
        if not feeds:
            return  # all stands in racks whose feeds the plan does not know
        lost = max(on_one_side(plan).values(), key=len, default=())
        fed = {plan.devices[inlet.device].name for feed in feeds for inlet in feed.inlets}
        unknown = [device.name for rack in plan.racks for device in rack.present if device.name not in fed]
        fullest = max(feeds, key=lambda feed: feed.alone_w / feed.capacity_w)
        load = f"a PDU alone carries at most {si(fullest.alone_w, 'W')} of its {si(fullest.capacity_w, 'W')}"
        both = "all that the plan feeds hangs on both feeds and stays on"
        one = f"devices with one inlet go dark with their feed: {_listed(lost)}"
        parts = [one if lost else both, load]
        if unknown:
            parts.append(f"the plan does not know the feeds of {_listed(unknown)}")
        remedy = "Restore it; until then the other feed must not fail."
        if lost:
            remedy = "Restore it; a transfer switch gives a device with one inlet both feeds."
        draft = self._of("power-feed", "One PDU or one power feed fails", remedy, *lost)
        yield draft._replace(effect=lambda left: sentence("; ".join([*parts, *self._rest(left)])))

    def _told(self, left: Remaining) -> str:
        """What is left, as one sentence."""
        return sentence("; ".join(self._rest(left)))

    def _rest(self, left: Remaining) -> list[str]:
        """What is left, in parts of a sentence."""
        whole, parts = self.whole, []
        is_cluster = whole.n_servers > 1
        if left.n_servers == 0 and is_cluster:
            parts.append("no server reaches another, and every job on more than one stops")
        elif left.n_servers < whole.n_servers:
            servers, all_servers = _servers(left.n_servers), grouped(whole.n_servers)
            parts.append(f"jobs restart on {servers} of {all_servers}")
        if left.n_servers > 1 and left.exchange_share < 1:
            share = _percent(left.exchange_share)
            parts.append(f"servers keep {share} of their line rate to one another at worst")
        if whole.reaches_storage and not left.reaches_storage and left.n_servers:
            parts.append("no server reaches the data")
            cached = "jobs past their first epoch go on from memory as long as they write nothing"
            parts.append(cached if self.is_cached else "jobs wait for their data")
        elif left.storage_nodes < whole.storage_nodes and left.n_servers:
            count, all_nodes = grouped(left.storage_nodes), grouped(whole.storage_nodes)
            parts.append(f"{count} of {all_nodes} storage nodes stay in reach")
        if 0 < left.node_port_share < 1 and left.reaches_storage:
            parts.append(f"storage nodes keep {_percent(left.node_port_share)} of their ports")
        if 0 < left.gateway_share < 1 and left.reaches_storage:
            parts.append(f"the gateways keep {_percent(left.gateway_share)} of their uplinks")
        return parts or ["running jobs go on"]


def _no_room(storage: Storage, left: int) -> str:
    """What to do where the nodes that are left are fewer than a system of stripes runs on; "" elsewhere."""
    least = storage.min_nodes.value if storage.min_nodes is not None else 0
    if storage.stripe_parity is None or left >= least:
        return ""
    return (
        f"Replace it: {storage.name} runs on {grouped(least)} nodes or more, so those that are "
        "left have no room to restore its data."
    )


def _servers(count: int) -> str:
    return by_count(count, f"{grouped(count)} server", f"{grouped(count)} servers")


def _percent(share: float) -> str:
    return f"{significant(100 * share, 2)}{NARROW_SPACE}%"


def _listed(names: Sequence[str]) -> str:
    """Names of devices; of many the first and how many more there are."""
    more = len(names) - _MAX_NAMED
    text = ", ".join(names[:_MAX_NAMED])
    return f"{text} and {grouped(more)} more" if more > 0 else text
