"""The data of a design: required capacity, ingest, checkpoints, preprocessing, validation and local copies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sizer.base.units import HOUR_S
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.fit.hosts import HostTask
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Storage
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.perf.storage import break_even_epoch, fill_time_s
from sizer.physical.capacity import counts_nodes
from sizer.physical.networks.ports import DevicePort, device_ports
from sizer.physical.networks.storage_networks import front_end_ports
from sizer.physical.platform import Attachment
from sizer.physical.quantities import quantities
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.constraints.stored_data import StorageDemand, is_transformed, raw_sample_bytes, storage_demand
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.sizing.search.feasibility import StorageUnits
from sizer.sizing.stages.platform_columns import host_cores, node_write_rates, rate_is_unknown
from sizer.sizing.stages.workload_run import sequential_bytes_per_s
from sizer.workload.data import DataRequest, IngestPath

# The Dell guide: data from outside may be loaded through the gateway and bypass the head node.
_GUIDE = "dell-ready-ai-nvidia-2018"


class IngestLinkRole(StrEnum):
    """What a link of a route is."""

    CUSTOMER_SOURCE = "customer source"
    PUBLISHED_WRITES = "published writes"  # the write rate of a published test
    MOST_WRITES = "most writes"  # the most that the nodes write or are assumed to, where no test is published
    SERVER_PORT = "server port"  # one of each server
    STORAGE_PORTS = "storage ports"
    STORAGE_LINE = "storage line"  # all ports of the storage
    PORTS_BEHIND_GATEWAY = "ports behind gateway"  # of the storage
    GATEWAY_PORTS = "gateway ports"  # free ones
    GATEWAY_UPLINKS = "gateway uplinks"
    SWITCH_PORTS = "switch ports"  # free ones, of the switches that the storage joins
    HOST_PORT = "host port"  # one external port of the head node or GPU server
    FABRIC_PORT = "fabric port"  # of that host
    STORAGE_NETWORK_PORT = "storage network port"  # of that host


class IngestEntry(StrEnum):
    """Where the data enter the cluster."""

    SERVER_PORTS = "server ports"  # every server with its own drives gets a copy
    CUSTOMER_LAN = "customer LAN"  # the storage is the customer's
    FRONT_END = "front end"
    FREE_FRONT_END = "free front end"  # storage ports that the gateway does not use
    GATEWAY = "gateway"
    HEAD_NODE = "head node"
    GPU_SERVER = "GPU server"  # in a design of one server, which has no head node


@dataclass(frozen=True)
class IngestLink:
    """One link of a route; the data pass it ``copies`` times."""

    role: IngestLinkRole
    bytes_per_s: float
    n_ports: int = 0  # 0: not a number of ports
    port_kind: LinkType | None = None
    copies: int = 1
    source: str = ""
    is_by_others: bool = False  # a port that the design has, with a cable of the customer

    @property
    def data_bytes_per_s(self) -> float:
        """Rate for one copy of the data. [B/s]"""
        return self.bytes_per_s / self.copies


@dataclass(frozen=True)
class IngestRoute:
    """One route into the storage, and the time that the data take on it."""

    key: IngestPath
    entry: IngestEntry
    network_links: tuple[IngestLink, ...]  # in the order in which the data pass them
    data_bytes: float = 0.0  # of one copy
    source: IngestLink | None = None  # the customer's source, if the request states its rate
    write: IngestLink | None = None  # writes of a published test; None: no source gives a rate
    least_writes: IngestLink | None = None  # the least that the nodes are assumed to write, where that is so

    @property
    def links(self) -> tuple[IngestLink, ...]:
        """All links with a known rate, the customer's source first; without the write rate."""
        return (*((self.source,) if self.source is not None else ()), *self.network_links)

    @property
    def slowest(self) -> IngestLink | None:
        """The slowest link; None if no rate is known."""
        return min(self.links, key=lambda link: link.data_bytes_per_s, default=None)

    @property
    def least_s(self) -> float | None:
        """Lower bound of the time, from the links alone; None if no link has a known rate. [s]"""
        if not self.links:
            return None
        return float(fill_time_s(self.data_bytes, *(link.data_bytes_per_s for link in self.links)))

    @property
    def most_s(self) -> float | None:
        """Time at the least that the nodes are assumed to write; None without such an assumption. [s]"""
        return self._written_s(self.least_writes)

    @property
    def published_s(self) -> float | None:
        """Time at the published write rate, or of the links if they are slower. None: no rate is published. [s]"""
        return self._written_s(self.write)

    def _written_s(self, write: IngestLink | None) -> float | None:
        """Time where the storage writes at this rate, or of the links if they are slower. [s]"""
        if write is None:
            return None
        return float(fill_time_s(self.data_bytes, *(link.data_bytes_per_s for link in (write, *self.links))))

    @property
    def shown_s(self) -> float:
        """The best known time, at the published write rate if there is one; inf: none is known. [s]"""
        known = self.least_s if self.published_s is None else self.published_s
        return np.inf if known is None else known


@dataclass(frozen=True)
class IngestPlan:
    """All routes of a design into its storage."""

    routes: tuple[IngestRoute, ...]  # the quickest first
    chosen: IngestRoute | None  # the requested one, else the quickest; None: the design has no route
    missing: IngestPath | None  # a requested route that the design lacks
    n_files: float  # single files among the data; 0: records


def ingest_plan(design: DesignAnswer, stored: StorageDemand, data: DataRequest) -> IngestPlan:
    """Time to ingest the data of a design, by every route that it has.

    Bytes / rate of the slowest link of the route. No source gives a rate in files per second, so a set of single files
    may take longer.

    ``stored``: the data sets; the raw ones are ingested if they are transformed inside. ``data``: the requested
    route, and the rate of the source.
    """
    data_bytes = stored.raw_bytes or stored.sets_bytes
    source, write = _source(data, design.n_servers if design.platform.storage.kind == "local" else 1), _write(design)
    least, most = (None, None) if write is not None else _writes(design)
    routes = [
        replace(
            route,
            data_bytes=data_bytes,
            source=source,
            write=write,
            least_writes=least,
            network_links=(*route.network_links, *(() if most is None else (most,))),
        )
        for route in _routes(design)
    ]
    routes.sort(key=lambda route: (route.shown_s, route.least_s or np.inf))
    requested = [route for route in routes if route.key == data.ingest]
    return IngestPlan(
        routes=tuple(routes),
        chosen=next(iter(requested or routes), None),
        missing=data.ingest if data.ingest is not None and not requested else None,
        n_files=sum(
            data_set.n_samples
            for data_set in stored.sets
            if any(design.workloads[reader].dataset.format == "raw files" for reader in data_set.readers)
        ),
    )


@dataclass(frozen=True)
class _Port:
    """The port by which a device reaches the customer's network."""

    kind: LinkType
    is_cabled: bool  # by the design; False: a free port, its cable is by others


def _outside_port(design: DesignAnswer, role: Role) -> _Port | None:
    """Fastest Ethernet port of the first device of a role that leads outside; None if it has none.

    The ports that the design cables to its in-band and management networks run at the rate of their links. A port that
    no network of the design takes may be cabled to the customer's network.
    """
    cabled = _cabled(design, role)
    if cabled is None:
        return None
    device, kinds = cabled
    found = [
        _Port(kind, is_cabled=True)
        for number, (network, kind) in kinds.items()
        if network in (NetworkRole.IN_BAND, NetworkRole.MANAGEMENT) and device[number].group.use != "bmc"
    ]
    # Where no switch joins the servers, their ports for the fabric are free.
    networks = design.quantities.networks
    has_fabric = any(net.role is NetworkRole.COMPUTE and int(net.end_points[0]) for net in networks)
    fabric = design.platform.fabric if has_fabric else None
    found += [
        _Port(port.group.kind, is_cabled=False)
        for number, port in enumerate(device)
        if number not in kinds
        and port.group.use not in ("bmc", "storage-network", "back-end")
        and not port.group.kind.is_infiniband
        and fabric not in port.group.kinds
    ]
    return max(found, key=lambda port: (port.kind.gbit_per_s.value, port.is_cabled), default=None)


def _cabled(
    design: DesignAnswer, role: Role
) -> tuple[tuple[DevicePort, ...], dict[int, tuple[NetworkRole, LinkType]]] | None:
    """Ports of the first device of a role, and those with a cable, each with its network and what it runs."""
    plan = design.plan
    device = next((one for one in plan.devices if one.role is role), None)
    if device is None:
        return None
    found = {
        int(port): (cable.run.network.network, cable.run.kind)
        for cable in plan.cables
        for port in cable.run.a_port[cable.run.a_device == device.number]
    }
    return device_ports(plan.device(device.item)), found


def _source(data: DataRequest, copies: int) -> IngestLink | None:
    if data.source_bytes_per_s is None:
        return None
    return IngestLink(IngestLinkRole.CUSTOMER_SOURCE, data.source_bytes_per_s, copies=copies)


def _write(design: DesignAnswer) -> IngestLink | None:
    fact = design.platform.storage.test_write_bytes_per_s
    return None if fact is None else IngestLink(IngestLinkRole.PUBLISHED_WRITES, fact.value, source=fact.source)


def _writes(design: DesignAnswer) -> tuple[IngestLink | None, IngestLink | None]:
    """The least and the most that the nodes write: the data cannot arrive faster, however fast the links are."""
    platform = design.platform
    if not counts_nodes(platform.storage):
        return None, None
    low, high = (design.storage_nodes * rate for rate in node_write_rates(platform))
    if not np.isfinite(high):
        return None, None
    least, most = (IngestLink(IngestLinkRole.MOST_WRITES, rate) for rate in (low, high))
    return (least if low < high else None), most


def _routes(design: DesignAnswer) -> Iterator[IngestRoute]:
    platform = design.platform
    if platform.storage.kind == "local":
        port = _outside_port(design, Role.GPU_SERVER)
        if port is not None:
            link = _ports(IngestLinkRole.SERVER_PORT, 1, port.kind, is_by_others=not port.is_cabled)
            yield IngestRoute("front-end", IngestEntry.SERVER_PORTS, (link,))
        return
    # The first of equals is chosen: the gateway needs no additional connection.
    if platform.attachment == "gateway":
        yield from _through_gateway(design)
    front = _front_end(design)
    if front is not None:
        yield front
    if platform.head_node is not None and any(device.role is Role.HEAD_NODE for device in design.plan.devices):
        yield from _through_host(design, Role.HEAD_NODE, IngestEntry.HEAD_NODE)
    else:
        yield from _through_host(design, Role.GPU_SERVER, IngestEntry.GPU_SERVER)


def _ports(role: IngestLinkRole, count: int, kind: LinkType, *, is_by_others: bool = False) -> IngestLink:
    return IngestLink(role, count * kind.bytes_per_s, count, kind, is_by_others=is_by_others)


def _front_end(design: DesignAnswer) -> IngestRoute | None:
    """The storage's own Ethernet ports; InfiniBand is reached only through a gateway or a host."""
    platform, storage = design.platform, design.platform.storage
    if not counts_nodes(storage):
        if platform.attachment != "lan":
            return None
        return IngestRoute("front-end", IngestEntry.CUSTOMER_LAN, ())
    kind = platform.front_end_kind
    fact = storage.front_end_ports_per_node
    used = front_end_ports(platform)
    free = (fact.value if fact is not None else used) - used
    if platform.attachment != "gateway":
        free = used
    count = design.storage_nodes * free
    if kind.is_infiniband or not count:
        return None
    storage_ports = _ports(IngestLinkRole.STORAGE_PORTS, count, kind)
    if platform.attachment == "gateway":
        return IngestRoute("front-end", IngestEntry.FREE_FRONT_END, (replace(storage_ports, is_by_others=True),))
    role = NetworkRole.STORAGE if platform.attachment == "own network" else NetworkRole.COMPUTE
    network = next(net for net in design.quantities.networks if net.role is role)
    switch_ports = int(network.leaf_ports_free[0])
    if not switch_ports:
        return None
    entrance = _ports(IngestLinkRole.SWITCH_PORTS, switch_ports, network.kind, is_by_others=True)
    return IngestRoute("front-end", IngestEntry.FRONT_END, (entrance, storage_ports))


def _through_gateway(design: DesignAnswer) -> Iterator[IngestRoute]:
    """Free ports of the gateways, then the ports that connect the storage to them."""
    gateway = design.platform.gateway
    assert gateway is not None
    front = next(net for net in design.quantities.networks if net.role is NetworkRole.STORAGE)
    free, kind = int(front.ports_free[0]), gateway.front_end_kind.value
    if not free:
        return
    used = int(front.end_points[0])
    gateway_ports = IngestLink(
        IngestLinkRole.GATEWAY_PORTS, free * gateway.front_end_bytes_per_s.value, free, source=_GUIDE
    )
    storage_ports = _ports(IngestLinkRole.PORTS_BEHIND_GATEWAY, used, kind)
    yield IngestRoute("gateway", IngestEntry.GATEWAY, (gateway_ports, storage_ports))


def _through_host(design: DesignAnswer, role: Role, entry: IngestEntry) -> Iterator[IngestRoute]:
    """One external port of a host, its port on the way to the storage, and the links between that and the storage.

    One port only: the others are for redundancy, and a single copy uses one of them. A host without a cable to the
    storage is no route.
    """
    platform, counts = design.platform, design.quantities
    outside, cabled = _outside_port(design, role), _cabled(design, role)
    if outside is None or cabled is None:
        return
    host = platform.head_node if role is Role.HEAD_NODE else platform.server
    links = [_ports(IngestLinkRole.HOST_PORT, 1, outside.kind, is_by_others=not outside.is_cabled)]
    is_storage = platform.storage.server is not None and host is not None and platform.storage.server.value == host.id
    if not is_storage:
        inward = _inward(platform.attachment, list(cabled[1].values()))
        if inward is not None:
            links.append(inward)
        elif platform.attachment != "lan":
            return
        if platform.gateway is not None:
            uplinks_bytes_per_s = float(counts.gateway_bytes_per_s[0])
            links.append(IngestLink(IngestLinkRole.GATEWAY_UPLINKS, uplinks_bytes_per_s, source=_GUIDE))
        line = float(counts.front_end_bytes_per_s[0])
        if counts_nodes(platform.storage) and np.isfinite(line):
            links.append(IngestLink(IngestLinkRole.STORAGE_LINE, line))
    yield IngestRoute("head-node", entry, tuple(links))


def _inward(attachment: Attachment, cabled: list[tuple[NetworkRole, LinkType]]) -> IngestLink | None:
    """Port of a host on the network of the storage; None without one."""
    network = NetworkRole.STORAGE if attachment == "own network" else NetworkRole.COMPUTE
    role = IngestLinkRole.STORAGE_NETWORK_PORT if network is NetworkRole.STORAGE else IngestLinkRole.FABRIC_PORT
    kind = next((kind for joined, kind in cabled if joined is network), None)
    return None if kind is None else _ports(role, 1, kind)


@dataclass(frozen=True)
class LocalCopy:
    """One workload that reads copies on the servers' drives, and shared storage. Times are medians."""

    workload: str
    drives: Storage
    usable_bytes: float  # of the drives of one server; NaN: not published
    copy_bytes: float  # copied by one server: the whole set, or its shard if shards are fixed
    copy_s: float  # all servers at once, before the first epoch
    first_shared_s: float
    shared_s: float  # each later epoch
    first_local_s: float
    local_s: float
    break_even_epoch: float  # first number of epochs after which the copy is faster in total; inf: never
    epochs: float | None  # of the training, if the request states them
    drives_are_bound: bool  # no source gives the rate of the drives: local epochs may be slower
    storage_is_bound: bool  # no source gives the rate of the storage: the copy may take longer
    storage_nodes: int
    nodes_for_data: int  # enough for the capacity, if all epochs are read locally
    copy_with_fewer_s: float  # copy from that many nodes

    @property
    def fits(self) -> bool | None:
        """Whether the copy fits the drives of a server; None if their size is not published."""
        return None if np.isnan(self.usable_bytes) else self.copy_bytes <= self.usable_bytes

    @property
    def saved_nodes(self) -> int:
        """Storage nodes that only the read rate requires."""
        return max(self.storage_nodes - self.nodes_for_data, 0)

    @property
    def pays(self) -> bool | None:
        """Whether the copy fits and saves time over the whole training; None if that is not known."""
        if self.fits is False or np.isinf(self.break_even_epoch):
            return False
        return None if self.fits is None or self.epochs is None else self.break_even_epoch <= self.epochs


def local_copies(workloads: Sequence[WorkloadOnDesign]) -> tuple[LocalCopy, ...]:
    """Effect of a copy to local drives, for each workload of a design.

    In random order every server reads samples of the whole set and needs all of it; fixed shards need a share. All
    servers copy at once from cold shared storage. Server memory caches local reads as it caches shared ones. No source
    gives the write rate of the drives: the copy may take longer.

    Empty if the drives are the storage, or the servers have none.
    """
    return tuple(copy for model in workloads if (copy := _local_copy(model)) is not None)


def _local_copy(model: WorkloadOnDesign) -> LocalCopy | None:
    local = on_local_drives(model)
    if local is None:
        return None
    drives = local.platform.storage
    share = model.n_servers if model.work.request.access == "sharded" else 1
    copied = model.work.dataset_bytes / share
    rates = (rate for one in (model, local) for rate in reversed(one.run.rates))
    first_shared, shared, first_local, local_s = tuple(model.work.n_samples / float(rate.value[0]) for rate in rates)
    copy_s = _copy_s(model, copied)
    fewer = _nodes_for_data(model)
    return LocalCopy(
        workload=model.work.request.name,
        drives=drives,
        usable_bytes=drives.usable_bytes.value if drives.usable_bytes is not None else np.nan,
        copy_bytes=copied,
        copy_s=copy_s,
        first_shared_s=first_shared,
        shared_s=shared,
        first_local_s=first_local,
        local_s=local_s,
        break_even_epoch=float(break_even_epoch(copy_s, first_local, local_s, first_shared, shared)),
        epochs=_epochs(model),
        drives_are_bound=rate_is_unknown(drives),
        storage_is_bound=rate_is_unknown(model.platform.storage),
        storage_nodes=model.storage_nodes,
        nodes_for_data=fewer,
        copy_with_fewer_s=copy_s if fewer == model.storage_nodes else _copy_s(_with_nodes(model, fewer), copied),
    )


def on_local_drives(model: WorkloadOnDesign) -> WorkloadOnDesign | None:
    """The same servers with their local drives as storage; None if they are the storage, or the servers have none."""
    name = model.platform.server.local_storage
    if model.platform.storage.kind == "local" or name is None:
        return None
    drives = model.catalog.storage[name]
    platform = replace(
        model.platform,
        storage=drives,
        capacity_option=0,
        storage_server=None,
        storage_switch=None,
        back_end_switch=None,
        gateway=None,
        attachment="local",
    )
    return replace(model, platform=platform, storage_nodes=0, gateway_bytes_per_s=np.inf)


def _copy_s(model: WorkloadOnDesign, copied_bytes: float) -> float:
    return float(fill_time_s(copied_bytes * model.n_servers, float(sequential_bytes_per_s(model.run).value)))


def _epochs(model: WorkloadOnDesign) -> float | None:
    if model.work.is_inference:
        return None
    length = model.run.epochs
    return None if length is None else float(length.value[0])


def _nodes_for_data(model: WorkloadOnDesign) -> int:
    if not counts_nodes(model.platform.storage):
        return model.storage_nodes
    units = StorageUnits.of(model.works, [model.platform], model.request.data)
    return min(int(units.least[0]), model.storage_nodes)


def _with_nodes(model: WorkloadOnDesign, nodes: int) -> WorkloadOnDesign:
    """The design with another number of storage nodes, and the gateway uplinks that they need."""
    resized = quantities(
        model.platform,
        [model.n_servers],
        [nodes],
        catalog=model.catalog,
        existing=model.request.existing,
        fabric=model.request.fabric,
    )
    return replace(model, storage_nodes=nodes, gateway_bytes_per_s=float(resized.gateway_bytes_per_s[0]))


# Its decoding cost is assumed for a transform without a stated cost: TensorFlow's loader, from the two JPEG sizes of
# the DGX-1 test (dell-isilon-dgx1-blog-2018).
_DECODER = HostTask(SampleFormat.JPEG, "framework", "tensorflow", "")
# A training step is a forward pass and a backward one of twice the work (as ``evaluate.evaluation_share`` counts).
_FORWARDS_PER_STEP = 3.0


class StorageQuestion(StrEnum):
    """What no source says about writing to the storage."""

    DRIVE_WRITE_RATE = "drive write rate"
    WRITE_RATE = "write rate"
    WRITE_RATE_BY_SCALE = "write rate by scale"  # one rate is published, without nodes or files
    FILE_CREATION_RATE = "file creation rate"


@dataclass(frozen=True)
class Transform:
    """Preprocessing of all data sets before training, on the processors of all GPU servers."""

    n_samples: float
    core_s_per_sample: float  # mean over the sets
    core_hours: float
    cost_is_assumed: bool  # the decoding cost is used instead of a stated one
    raw_size_is_assumed: bool  # the request states no size: raw samples count as large as prepared ones
    cores: float | None  # of all servers; None: the processors are not in the catalogue
    cpu_s: float | None
    raw_bytes: float
    prepared_bytes: float


@dataclass(frozen=True)
class ValidationPass:
    """Passes over held-out samples during one training, or of a workload that only validates."""

    workload: str
    n_samples: float
    every_epochs: float | None  # None: the workload only validates
    every_is_assumed: bool  # the request states no recipe: a pass after each epoch
    samples_per_s: float
    limiting: str  # key of STAGES
    reads_bytes_per_s: float  # from the storage while a pass lasts
    pass_s: float
    per_epoch_s: float | None
    share: float | None  # of the time of training and passes together
    local_samples_per_s: float | None  # from the servers' local drives; None: these are the storage, or there are none
    drives_are_bound: bool  # no source gives the rate of the drives: it may be lower


@dataclass(frozen=True)
class DataPlan:
    """Everything about the data of a design except training."""

    design: DesignAnswer
    required: StorageDemand
    ingest: IngestPlan
    transform: Transform | None  # None: not requested
    validations: tuple[ValidationPass, ...]
    copies: tuple[LocalCopy, ...]
    questions: tuple[StorageQuestion, ...]


def data_plan(evaluated: EvaluatedDesign) -> DataPlan:
    """Required capacity, ingest, and the other uses of the data of a result.

    Times are bytes / rate of the slowest known link. Without a published write rate the time is a lower bound, and
    ``questions`` lists what to ask the vendor.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    design, data = result.design, result.request.data
    required = storage_demand(design.workloads, data)
    return DataPlan(
        design=design,
        required=required,
        ingest=ingest_plan(design, required, data),
        transform=_transform(result, required, catalog, fitted),
        validations=tuple(
            validation for model in evaluated.workloads if (validation := _validation(model)) is not None
        ),
        copies=local_copies(evaluated.workloads),
        questions=_questions(design),
    )


def _transform(
    result: SizingResult, required: StorageDemand, catalog: Catalog, fitted: Calibration
) -> Transform | None:
    data, design = result.request.data, result.design
    if not is_transformed(data):
        return None
    decoder = fitted.hosts.work(_DECODER)
    core_s = 0.0
    for data_set in required.sets:
        cost = data.transform_core_s
        if cost is None:
            raw = raw_sample_bytes(data_set.sample_bytes, data)
            cost = decoder.core_s(float(raw))
        core_s += data_set.n_samples * cost
    cores = design.n_servers * host_cores(design.platform.server, catalog)
    is_known = np.isfinite(cores)
    n_samples = sum(data_set.n_samples for data_set in required.sets)
    return Transform(
        n_samples=n_samples,
        core_s_per_sample=core_s / n_samples,
        core_hours=core_s / HOUR_S,
        cost_is_assumed=data.transform_core_s is None,
        raw_size_is_assumed=data.raw_sample_bytes is None,
        cores=cores if is_known else None,
        cpu_s=core_s / cores if is_known else None,
        raw_bytes=required.raw_bytes,
        prepared_bytes=required.sets_bytes,
    )


def _validation(model: WorkloadOnDesign) -> ValidationPass | None:
    """Passes of a training over its held-out samples, or of a validation over its set; None if none are known."""
    work = model.work
    held_out = work.dataset.n_validation_samples
    n_samples = work.n_samples if work.is_inference else held_out.value if held_out is not None else 0.0
    if not n_samples:
        return None
    rate, limiting = _forward_rate(model)
    pass_s = n_samples / rate
    drives = on_local_drives(model)
    every, per_epoch_s, share = None, None, None
    if not work.is_inference:
        every = work.recipe.evaluate_every_epochs.value if work.recipe is not None else 1.0
        epoch_s = work.n_samples / float(model.run.rates[0].value[0])
        per_epoch_s = pass_s / every
        share = per_epoch_s / (epoch_s + per_epoch_s)
    return ValidationPass(
        workload=work.request.name,
        n_samples=n_samples,
        every_epochs=every,
        every_is_assumed=not work.is_inference and work.recipe is None,
        samples_per_s=rate,
        limiting=limiting,
        reads_bytes_per_s=float(read_demand_bytes_per_s(rate, work.sample_bytes)),
        pass_s=pass_s,
        per_epoch_s=per_epoch_s,
        share=share,
        local_samples_per_s=None if drives is None else _forward_rate(drives)[0],
        drives_are_bound=drives is not None and rate_is_unknown(drives.platform.storage),
    )


def _forward_rate(model: WorkloadOnDesign) -> tuple[float, str]:
    """Median rate of forward passes over uncached samples, and the stage that limits it. [samples/s]"""
    medians = {key: float(stage.median.flat[0]) for key, stage in model.run.cold.by_key().items()}
    # Forward passes exchange no gradients; the GPU stage of a training counts three of them a step.
    del medians["exchange"]
    if not model.work.is_inference:
        medians["gpu"] *= _FORWARDS_PER_STEP
    limiting = min(medians, key=lambda key: medians[key])
    return medians[limiting], limiting


def _questions(design: DesignAnswer) -> tuple[StorageQuestion, ...]:
    storage = design.platform.storage
    if storage.kind == "local":
        return (StorageQuestion.DRIVE_WRITE_RATE,)
    known = storage.test_write_bytes_per_s is not None
    return (
        StorageQuestion.WRITE_RATE_BY_SCALE if known else StorageQuestion.WRITE_RATE,
        StorageQuestion.FILE_CREATION_RATE,
    )
