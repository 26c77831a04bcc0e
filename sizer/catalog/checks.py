"""Faults between catalogue files, and what no file says: the questions to a vendor."""

from collections import Counter
from collections.abc import Iterator

from sizer.base.faults import nearest
from sizer.base.provenance import Sourced
from sizer.catalog import schema
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog, statements
from sizer.catalog.schema import DeliveredRack

# Without these no rack can be drawn, so an orderable device carries them, assumed if need be.
_BLOCKING = ("height_u", "depth_m", "power_inlets", "inlet_kind")
# What no vendor sells, so that nobody can be asked.
NOT_SOLD = ("links", "gpu_links", "power_inlets", "generations", "dnns", "datasets", "stacks", "recipes")
# Folders whose items requests name: one name, one item.
_READ_BY_NAME = ("gpus", "dnns")
# What a line of a bill can hold: each category has a price band for every part.
_SOLD = tuple(name for name in schema.CATEGORIES if name not in (*NOT_SOLD, "cpus"))
# (low end, high end, both needed)
_ORDERED = (
    ("power_low_w", "power_high_w", False),
    ("power_typical_w", "power_max_w", False),
    ("node_read_low_bytes_per_s", "node_read_high_bytes_per_s", True),
    ("mount_low_bytes_per_s", "mount_high_bytes_per_s", True),
    ("min_nodes", "max_nodes", False),
    ("stripe_data", "stripe_data_max", False),
    ("hot_spare_nodes", "hot_spare_nodes_above_min", False),
    ("gateway_ports_per_node", "front_end_ports_per_node", False),
    ("cores", "threads", False),
)


def check_catalog(catalog: Catalog) -> list[str]:
    """Faults that no file shows alone, one line each; empty when there are none.

    Every source and every referenced item exists, ids are unique and names that requests go by, a disagreement between
    sources is explained, what is assumed is explained, GPUs fit their server, ranges run upwards, orderable devices can
    be placed, prices belong to items.
    """
    uses = Counter(item.id for _, item in catalog.items())
    faults = [f"id {name!r} is used in {times} folders; ids are unique" for name, times in uses.items() if times > 1]
    for folder in _READ_BY_NAME:
        first: dict[str, str] = {}
        faults += [
            f"{folder}/{item.id}.toml: name = {item.name!r} is that of {other!r}, too; a request could mean either"
            for item in catalog.folder(folder).values()
            if (other := first.setdefault(item.name, item.id)) != item.id
        ]
    for folder, item in catalog.items():
        place = f"{folder}/{item.id}.toml"
        faults += [f"{place}: {fault}" for fault in _faults_of(catalog, item)]
    return [*faults, *_price_faults(catalog), *catalog.bands.faults(_SOLD)]


def unknown_facts(catalog: Catalog) -> list[tuple[str, str]]:
    """``(item id, field)`` of every fact to ask the vendor for: absent, or only assumed, and needed by a plan.

    Parts that are never bought are left out, except storage: local drives and the head node's share come with a server.
    """
    asked = [
        (item.id, name)
        for folder, item in catalog.items()
        if folder not in NOT_SOLD and (item.orderable or folder == "storage")
        for name in (*_absent(item), *(said.field for said in statements(item) if said.basis == "assumed"))
    ]
    return list(dict.fromkeys(asked))


def _absent(item: Item) -> Iterator[str]:
    if isinstance(item, schema.Device) and item.orderable and not _is_software(item):
        wanted = [*_BLOCKING, "weight_kg"]
        if isinstance(item, schema.Server):
            wanted += ["memory_bytes", "cpu", "n_cpus"]
        yield from (name for name in wanted if getattr(item, name) is None)
        if item.power_max_w is None and item.power_high_w is None:
            yield "power_max_w"
    if isinstance(item, schema.Storage) and item.kind != "local":
        if item.node_read_high_bytes_per_s is None:
            yield "node_read_high_bytes_per_s"
        if not item.capacity_options and item.usable_bytes is None:
            yield "usable_bytes"


def _is_software(item: schema.Device) -> bool:
    # Software on servers takes its rack units and watts from the server.
    return isinstance(item, schema.Storage) and item.server is not None


def _faults_of(catalog: Catalog, item: Item) -> Iterator[str]:
    yield from _source_faults(catalog, item)
    yield from _range_faults(item)
    for field, folder, target in _references(item):
        if target not in catalog.folder(folder):
            yield f"{field} = {target!r} is not in {folder}/{nearest(target, list(catalog.folder(folder)))}"
    if isinstance(item, schema.Device):
        yield from _device_faults(catalog, item)
    if isinstance(item, schema.Server):
        yield from _server_faults(catalog, item)
    if isinstance(item, schema.Storage):
        yield from _storage_faults(catalog, item)
    if isinstance(item, schema.MemoryOption):
        yield from _memory_faults(catalog, item)
    if isinstance(item, schema.Switch):
        yield from _switch_faults(item)
    if isinstance(item, schema.Dnn) and item.kind and (item.mlperf or item.transformer):
        yield "kind is of a network without runs of MLPerf and without a [transformer], which tell its rate"
    if isinstance(item, schema.Software | schema.Support):
        yield from _scope_faults(catalog, item)
    if isinstance(item, schema.Cable) and item.media in ("dac", "aoc", "copper") and item.length_m is None:
        yield f"length_m is missing; a {item.media} cable has a fixed length"


def _source_faults(catalog: Catalog, item: Item) -> Iterator[str]:
    for said in statements(item):
        yield from _unknown_source(catalog, said.field, said.source)
        for number, other in enumerate(said.alternates):
            yield from _unknown_source(catalog, f"{said.field}.alternates[{number}]", other.source)
        if any(other.value != said.value for other in said.alternates) and not said.note:
            yield f"{said.field}: alternates disagree with {said.value!r}; its note must say why it was chosen"
        if said.basis == "assumed" and not said.note:
            yield f"{said.field}: an assumed value needs a note that says what it rests on"
    if isinstance(item, schema.Stack):
        for number, wording in enumerate(item.observed_as):
            if wording.source:
                yield from _unknown_source(catalog, f"observed_as[{number}]", wording.source)


def _unknown_source(catalog: Catalog, field: str, source: str) -> Iterator[str]:
    if source not in catalog.sources:
        hint = nearest(source, list(catalog.sources)) or "; add it, or write 'assumption' for an estimate of yours"
        yield f"{field}: source {source!r} is not in sources.toml{hint}"


def _value(item: Item, field: str) -> float | None:
    fact = getattr(item, field, None)
    return float(fact.value) if isinstance(fact, Sourced) else None


def _range_faults(item: Item) -> Iterator[str]:
    for low_name, high_name, both in _ORDERED:
        low, high = _value(item, low_name), _value(item, high_name)
        if low is not None and high is not None and low > high:
            yield f"{low_name} = {low:g} is above {high_name} = {high:g}"
        if both and (low is None) != (high is None):
            given, missing = (low_name, high_name) if high is None else (high_name, low_name)
            yield f"{given} is given without {missing}; give both; repeat the value where there is one number only"


def _references(item: Item) -> Iterator[tuple[str, str, str]]:
    """``(field, folder, id)`` of every other item that an item names."""
    if isinstance(item, schema.Gpu) and item.generation is not None:
        yield "generation", "generations", item.generation
    if isinstance(item, schema.Generation) and item.pdu is not None:
        yield "pdu", "pdus", item.pdu
    if isinstance(item, schema.Server):
        yield from (("gpus", "gpus", name) for name in item.gpus)
        if item.cpu is not None:
            yield "cpu", "cpus", item.cpu.value
        if item.local_storage is not None:
            yield "local_storage", "storage", item.local_storage
    if isinstance(item, schema.MemoryOption):
        yield "server", "servers", item.server
    if isinstance(item, schema.Pdu):
        yield from ((f"outlets.{name}", "power_inlets", name) for name in item.outlets)
    if isinstance(item, schema.Device) and item.delivered is not None:
        yield "delivered.rack", "racks", item.delivered.rack
    if isinstance(item, schema.Storage):
        if item.server is not None:
            yield "server", "servers", item.server.value
        if item.back_end_switch is not None:
            yield "back_end_switch", "switches", item.back_end_switch.value
        yield from (("software", "software", name) for name in item.software)
    if isinstance(item, schema.Server | schema.Storage | schema.Switch):
        yield from ((f"ports[{n}].nic", "nics", port.nic) for n, port in enumerate(item.ports) if port.nic is not None)
    if isinstance(item, schema.Recipe):
        yield "dnn", "dnns", item.dnn


def _device_faults(catalog: Catalog, item: schema.Device) -> Iterator[str]:
    if item.orderable and not _is_software(item):
        for name in _BLOCKING:
            if getattr(item, name) is None:
                yield f"{name} is missing; an orderable device needs it, assumed with a note where no source has it"
        if item.power_high_w is not None and item.power_low_w is None:
            yield "power_high_w is given without power_low_w; give both ends of the bracket"
    if item.power_max_w is not None and (item.power_low_w is not None or item.power_high_w is not None):
        yield "power_max_w and a bracket are both given; keep the measured or data-sheet maximum only"
    if item.delivered is not None:
        yield from _delivered_faults(catalog, item, item.delivered)
    if isinstance(item, schema.Server | schema.Storage | schema.Switch):
        for number, port in enumerate(item.ports):
            if port.kind in port.also:
                yield f"ports[{number}].also repeats the kind {port.kind.id}"
            nic = catalog.nics.get(port.nic) if port.nic is not None else None
            if nic is not None and port.kind not in nic.kinds:
                known = ", ".join(kind.id for kind in nic.kinds)
                yield f"ports[{number}]: {nic.id} has no {port.kind.id} port; it has {known}"


def _delivered_faults(catalog: Catalog, item: schema.Device, delivered: DeliveredRack) -> Iterator[str]:
    """A system that arrives as a rack fits into it, part by part, and either half of its shelves carries it."""
    rack = catalog.racks.get(delivered.rack)
    taken: set[int] = set()
    for number, part in enumerate(delivered.contents):
        units = set(range(part.lowest_u, part.lowest_u + part.count * part.height_u))
        if units & taken:
            yield f"delivered.contents[{number}]: {part.name} takes units that another part has"
        taken |= units
    if rack is not None and taken and max(taken) > rack.height_u.value:
        yield f"delivered.contents reach unit {max(taken)}; {delivered.rack} has {rack.height_u.value:g}"
    inlets = None if item.power_inlets is None else item.power_inlets.value
    draw = _value(item, "power_max_w") or _value(item, "power_high_w")
    if inlets and draw is not None and draw > inlets // 2 * delivered.shelf_w.value:
        carried = inlets // 2 * delivered.shelf_w.value
        yield f"half of {inlets} power shelves carry {carried:g} W, less than the draw of {draw:g} W"


def _server_faults(catalog: Catalog, item: schema.Server) -> Iterator[str]:
    if item.role != "gpu":
        if item.gpus or item.n_gpus is not None:
            yield f"a {item.role} server has gpus or n_gpus; only role 'gpu' does"
        return
    for name in ("n_gpus", "intra_link", "cpu", "n_cpus", "memory_bytes"):
        if getattr(item, name) is None:
            yield f"{name} is missing; a GPU server cannot be sized without it"
    if not item.gpus:
        yield "gpus is empty; a GPU server takes at least one"
    if item.n_gpus_alone and max(item.n_gpus_alone) > max(item.n_gpus_choices, default=0):
        yield f"n_gpus_alone = {list(item.n_gpus_alone)} holds more GPUs than n_gpus_choices"
    if item.n_gpus is not None and item.n_gpus_choices and item.n_gpus.value not in item.n_gpus_choices:
        yield f"n_gpus = {item.n_gpus.value} is not among n_gpus_choices {list(item.n_gpus_choices)}"
    if not item.is_workstation and not any(port.use == "compute" for port in item.ports):
        yield "no port has use 'compute'; a GPU server needs one to join a fabric"
    if item.intra_link is not None:
        link = item.intra_link.value
        for name in item.gpus:
            gpu = catalog.gpus.get(name)
            if gpu is not None and gpu.form_factor.value not in link.form_factors:
                forms = " and ".join(link.form_factors)
                yield f"gpus: {name} is a {gpu.form_factor.value} part; {link.id} connects {forms} parts"


def _storage_faults(catalog: Catalog, item: schema.Storage) -> Iterator[str]:
    if item.kind != "local" and item.min_nodes is None:
        yield "min_nodes is missing; shared storage has a smallest size"
    per_unit, least = _value(item, "nodes_per_unit"), _value(item, "min_nodes")
    if per_unit and least is not None and least % per_unit:
        yield f"min_nodes = {least:g} is not a multiple of nodes_per_unit = {per_unit:g}"
    stripe = [_value(item, name) for name in ("stripe_data", "stripe_parity", "hot_spare_nodes")]
    known = [part for part in stripe if part is not None]
    if least is not None and known and sum(known) > least:
        yield f"stripe_data + stripe_parity + hot_spare_nodes = {sum(known):g} exceed min_nodes = {least:g}"
    counts = [row.nodes for row in item.protection_overheads]
    if counts != sorted(set(counts)):
        yield "protection_overheads: node counts must rise from row to row"
    if item.orderable and item.kind != "local" and item.front_end_kind is None:
        yield "front_end_kind is missing; name the link that the storage attaches with"
    if item.kind == "parallel-file-system" and item.mount_low_bytes_per_s is None:
        yield "mount_low_bytes_per_s is missing; a parallel file system has a client of its own, not an NFS mount"
    if item.server is not None:
        server = catalog.servers.get(item.server.value)
        if server is not None and item.front_end_kind is not None:
            kinds = {kind for port in server.ports for kind in (port.kind, *port.also)}
            if item.front_end_kind.value not in kinds:
                yield f"front_end_kind = {item.front_end_kind.value.id!r} is on no port of server {server.id}"


def _memory_faults(catalog: Catalog, item: schema.MemoryOption) -> Iterator[str]:
    server = catalog.servers.get(item.server)
    standard = None if server is None else server.memory_bytes
    if standard is not None and item.memory_bytes.value <= standard.value:
        yield (
            f"memory_bytes = {item.memory_bytes.value:.0f} is not above the standard memory of {item.server} "
            f"({standard.value:.0f})"
        )


def _switch_faults(item: schema.Switch) -> Iterator[str]:
    kinds = {kind for port in item.ports for kind in (port.kind, *port.also)}
    if item.orderable and not item.ports:
        yield "ports is empty; give the ports of the switch"
    if isinstance(item, schema.Gateway):
        for name in ("uplink_kind", "front_end_kind"):
            if getattr(item, name).value not in kinds:
                yield f"{name} = {getattr(item, name).value.id!r} is on no port"
    if item.orderable and any(kind.is_infiniband for kind in kinds) and item.subnet_manager is None:
        yield "subnet_manager is missing; an InfiniBand switch states whether it can run one"


def _scope_faults(catalog: Catalog, item: schema.Software | schema.Support) -> Iterator[str]:
    vendors = {other.vendor for folder in ("servers", "storage", "gpus") for other in catalog.folder(folder).values()}
    known = {"any", "cluster", *vendors, *(other.id for _, other in catalog.items())}
    for name in item.applies_to:
        if name not in known:
            hint = nearest(name, sorted(known))
            yield f"applies_to: {name!r} must be an item, a vendor, 'cluster' or 'any'{hint}"
    for name in item.requires:
        if name != "head node" and name not in catalog.software:
            hint = nearest(name, list(catalog.software))
            yield f"requires: {name!r} must be 'head node' or an item of software{hint}"
    for name in item.not_with if isinstance(item, schema.Software) else ():
        if name not in catalog.software:
            yield f"not_with: {name!r} must be an item of software{nearest(name, list(catalog.software))}"


def _price_faults(catalog: Catalog) -> Iterator[str]:
    ids = [item_id for folder in schema.CATEGORIES for item_id in catalog.folder(folder)]
    known = set(ids)
    first: dict[tuple[str, str, str, str], str] = {}
    for row in catalog.prices:
        place = row.place or "prices"
        if row.item not in known:
            yield f"{place}: item = {row.item!r} is not in the catalogue{nearest(row.item, ids)}"
        # The source of a customer's own price is his word, a quote number for instance.
        if row.item not in catalog.own_prices and row.source not in catalog.sources:
            hint = nearest(row.source, list(catalog.sources))
            yield f"{place}: source = {row.source!r} is not in sources.toml{hint}"
        if row.gpus and row.gpus not in (sold := catalog.gpus_sold(row.item)):
            numbers, gpus = (", ".join(dict.fromkeys(name.split(" x ")[at] for name in sold)) for at in (0, 1))
            allowed = f"it is sold with {numbers} x {gpus}" if sold else "only a GPU server has GPUs; leave it empty"
            yield f"{place}: gpus = {row.gpus!r} of {row.item}: {allowed}"
        if row.amount == 0 and not row.note:
            yield f"{place}: amount = 0 of {row.item}: a price of 0 needs a note; an unknown price has no row"
        other = first.setdefault((row.item, row.gpus, row.currency, row.date), place)
        if other != place:
            yield f"{place}: {row.item} has a price in {row.currency} of {row.date} at {other} already; keep one"
