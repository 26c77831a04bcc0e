"""Tables of the catalogue and of its sources."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sizer.base.provenance import Sourced
from sizer.base.quantities import by_count, grouped
from sizer.catalog.checks import NOT_SOLD, unknown_facts
from sizer.catalog.items import Item, Sku
from sizer.catalog.labels import capital, fact_label, fact_text, fact_value, item_name, name, with_vendor
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog, statements
from sizer.catalog.schema import (
    Cable,
    CapacityOption,
    DeliveredRack,
    EpochPoint,
    ObservedAs,
    Overhead,
    Port,
    Release,
    Source,
    Transformer,
)
from sizer.present import words
from sizer.present.tables import Align, Cell, Row, Table, basis_note, columns, port_text, row
from sizer.present.words import NOT_PUBLISHED, inside_sentence, listed, money, percent, plural
from sizer.sizing.result import DesignAnswer

# Folder of the catalogue -> its name on a page, and the facts by which its parts are compared; of facts with a slash
# between them the first one that is known.
_KINDS = {
    "gpus": (
        "GPUs",
        "generation form_factor memory_bytes memory_bytes_per_s peak_mixed_flop_per_s tdp_w",
    ),
    "cpus": ("Processors", "cores threads base_clock_hz tdp_w"),
    "servers": ("Servers", "n_gpus intra_link memory_bytes height_u power_max_w/power_high_w weight_kg"),
    "memory": ("Host memory", "server memory_bytes"),
    "storage": (
        "Storage",
        "kind media min_nodes node_read_high_bytes_per_s/mount_high_bytes_per_s height_u power_max_w/power_high_w "
        "weight_kg",
    ),
    "switches": ("Switches", "ports height_u power_max_w/power_high_w latency_s weight_kg"),
    "gateways": ("Gateways", "ports uplink_kind front_end_kind height_u power_max_w/power_high_w"),
    "nics": ("Network adapters", "kinds n_ports host_interface usable_bytes_per_s"),
    "cables": ("Cables", "kinds media length_m power_end_w"),
    "racks": ("Racks", "height_u load_kg depth_m usable_depth_m weight_kg"),
    "pdus": ("Power distribution units", "capacity_w high_v phases inlet"),
    "cooling": ("Coolant distribution units", "place capacity_w height_u power_max_w/power_high_w weight_kg"),
    "accessories": ("Rack accessories", "use length_m"),
    "software": ("Software", "metric purpose optional"),
    "support": ("Support", "metric purpose optional"),
    "links": ("Network links", "technology gbit_per_s"),
    "gpu_links": ("Links between GPUs", "topology form_factors domain_gpus"),
    "power_inlets": ("Power inlets", "outlet phases low_v high_v"),
    "generations": ("GPU generations", "era pdu"),
    "dnns": ("Neural networks", "sample forward_flop parameters input_bytes"),
    "datasets": ("Data sets", "n_samples sample_bytes n_validation_samples format"),
    "stacks": ("Software stacks", "framework released precisions loader task"),
    "recipes": ("Training recipes", "dnn target points"),
}
KINDS = {folder: title for folder, (title, _) in _KINDS.items()}
_KEY_FACTS = {folder: [fact.split("/") for fact in facts.split()] for folder, (_, facts) in _KINDS.items()}
# Names of facts where the guide's are too short to stand alone.
_LABELS = {
    "applies_to": "Goes with",
    "capacity_options": "Capacity of a unit",
    "era": "Sold with parts of the era",
    "connectors": "Cages that it fits",
    "measured_as": "Name in measurements",
    "pdu": "Usual PDU",
    "ports_each": "Ports of one module",
    "transformer": "Shape",
    "trains_language": "Trains language models",
    "dnn": "Neural network",
    "evaluate_every_epochs": "Epochs between evaluations",
    "features": "Other facts",
    "forward_flop": "Forward operations of a sample",
    "gpus": "GPUs that it takes",
    "input_bytes": "Decoded sample",
    "kinds": "Links",
    "load_kg": "Load that it carries",
    "metric": "Counted by",
    "n_gpus_choices": "Other numbers of GPUs",
    "n_gpus_alone": "Further numbers of GPUs of a server alone",
    "n_ports": "Ports",
    "n_samples": "Samples",
    "n_validation_samples": "Validation samples",
    "number_formats": "Number formats of matrix products",
    "widened_formats": "Formats of weights widened to BF16",
    "node_read_high_bytes_per_s": "Read rate of a node",
    "observed_as": "Published as",
    "orderable": "Can be ordered",
    "pcie_lanes": "PCIe lanes",
    "points": "Epochs at a batch",
    "price": "List price",
    "protection_overheads": "Protection overhead",
    "sample": "A sample is",
    "sample_bytes": "Mean sample",
    "skus": "Part number",
    "software": "Software that it needs",
    "usable_bytes_per_s": "Usable data rate",
}
_ITEM_FIELDS = {"pdu", "generation", "gpus", "local_storage", "software", "dnn", "applies_to"}
# Entries of ``applies_to`` that are no parts.
_SCOPES = {"any": "every design", "cluster": "every design with more than one GPU server"}
_WORDS = {
    "aoc": "active optical cable",
    "dac": "direct-attach copper",
    "blanking-panel": "blanking panel",
    "cord": "power cord",
    "in-rack": "in a rack",
    "in-row": "in the row of racks",
    "gpu": "GPU",
    "iec-60309-3p-n-e-9h": "IEC 60309, 3P+N+E, 9 h",
    "iec-60309-p-n-e-6h": "IEC 60309, P+N+E, 6 h",
    "nema-6-30p": "NEMA 6-30P",
    "nema-l21-30p": "NEMA L21-30P",
    "mxnet": "MXNet",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "tensorrt": "TensorRT",
    "paddlepaddle": "PaddlePaddle",
    "hugectr": "HugeCTR",
    "nnabla": "NNabla",
    "oneflow": "OneFlow",
    "caffe": "Caffe",
    "caffe2": "Caffe2",
    "sinian": "Sinian",
    "transceiver": "transceiver",
    "both": "training and inference",
}
_PASSIVE = ("copper", "fibre")
# What concerns a part as a product rather than its work.
_LAST = ("introduced", "end_of_sale", "end_of_service", "successor", "features", "orderable")
_TEXT_MOST = 400
# Ends and names of fields that hold numbers.
_NUMBER = re.compile(
    r"_(bytes|bytes_per_s|flop|flop_per_s|hz|kg|w|m|u|s|v|nodes|c14|c20)$|^(n_|cores|threads|parameters)"
)
_NONE = " "  # a cell without text would show its source


def part_name(item: Item, catalog: Catalog) -> str:
    """Name of a part with its vendor, and what tells it from another one of the same name."""
    full = with_vendor(item)
    namesakes = sum(with_vendor(other) == full for other in catalog.folder(catalog.category_of(item.id)).values())
    return f"{full}, {item.description or name(item.id)}" if namesakes > 1 else full


def label_of(field: str) -> str:
    """Name of a fact."""
    return _LABELS.get(field) or fact_label(field)


def matching(catalog: Catalog, text: str) -> list[Item]:
    """Parts of every kind whose name, vendor, description or part number holds every word of a text."""
    wanted = text.lower().split()
    return [
        item
        for _, item in catalog.items()
        if wanted
        and all(
            word in f"{item.vendor} {item.name} {item.description} {' '.join(sku.value for sku in item.skus)}".lower()
            for word in wanted
        )
    ]


def kind_table(folder: str, catalog: Catalog, items: Sequence[Item] | None = None) -> Table:
    """Parts of one kind, or some of them, a row each, with the facts by which they are compared."""
    facts = _KEY_FACTS[folder]
    titles: list[tuple[str, Align]] = [("Part", "left")]
    titles += [(label_of(fields[0]), ("right" if _NUMBER.search(fields[0]) else "left")) for fields in facts]
    rows = [
        row(part_name(item, catalog), *(_key_cell(item, fields, catalog) for fields in facts))
        for item in (catalog.folder(folder).values() if items is None else items)
    ]
    return Table(f"kind-{folder}", KINDS[folder], columns(*titles), tuple(rows))


def matches_table(items: Iterable[Item], catalog: Catalog) -> Table:
    """Parts of several kinds that match a search, one row each."""
    rows = [
        row(
            part_name(item, catalog),
            KINDS[catalog.category_of(item.id)],
            ", ".join(sku.value for sku in item.skus) or Cell(NOT_PUBLISHED, is_muted=True),
            _shortened(item.description),
        )
        for item in items
    ]
    return Table("found", "Parts found", columns("Part", "Kind", "Part number", "Description"), tuple(rows))


def unknown_key_facts(item: Item, folder: str) -> list[str]:
    """Facts by which parts of its kind are compared and that nobody published of this one, as fields."""
    return [
        fields[0]
        for fields in _KEY_FACTS[folder]
        if all(getattr(item, field, None) in (None, ()) for field in fields) and not _does_not_apply(item, fields)
    ]


def _key_cell(item: Item, fields: Sequence[str], catalog: Catalog) -> Cell:
    for field in fields:
        value = getattr(item, field, None)
        if isinstance(value, Sourced):
            return Cell(_text(field, value.value, catalog), cites=(value.source,), where=value.where)
        if isinstance(value, bool) or value not in (None, (), "", {}):
            texts = [_text(field, one, catalog) for one in (value if isinstance(value, tuple) else (value,))]
            return Cell(_shortened(", ".join(texts)))
    return Cell("\u2013" if _does_not_apply(item, fields) else NOT_PUBLISHED, is_muted=True)


def _does_not_apply(item: Item, fields: Sequence[str]) -> bool:
    """Whether a fact has no meaning for a part: the GPUs of a head node, the weight of software on servers."""
    if "n_gpus" in fields or "intra_link" in fields:
        return getattr(item, "role", "gpu") != "gpu"
    if getattr(item, "kind", "") == "local":
        return True
    if isinstance(item, Cable):
        # Copper pairs and fibre have no ends that draw power; a transceiver has no length.
        return ("power_end_w" in fields and item.media in _PASSIVE) or (
            "length_m" in fields and item.media == "transceiver"
        )
    # Software on servers takes its rack units, watts and kilograms from them.
    return getattr(item, "server", None) is not None and bool({"height_u", "power_max_w", "weight_kg"} & set(fields))


def part_table(item: Item, catalog: Catalog) -> Table:
    """Everything that the catalogue knows about a part: fact, value, what it rests on, source and place, remark."""
    # Nobody orders a neural network.
    skipped = {"id", "name"} | ({"orderable"} if catalog.category_of(item.id) in NOT_SOLD else set())
    rows: list[Row] = []
    for field in sorted(type(item).model_fields, key=lambda field: field in _LAST):
        if field not in skipped:
            rows += _fact_rows(field, getattr(item, field), catalog)
    heads = columns(
        ("Fact", "left", 18),
        ("Value", "left", 24),
        ("Basis", "left", 10),
        ("Source and place", "left", 26),
        ("Remark", "left", 22),
    )
    caption = f"What is known about the {part_name(item, catalog)}"
    return Table(f"part-{item.id}", caption, heads, tuple(rows))


def _fact_rows(field: str, value: object, catalog: Catalog) -> Iterator[Row]:
    label = label_of(field)
    if isinstance(value, Sourced):
        yield _sourced_row(label, field, value, catalog)
    elif isinstance(value, dict):
        for key, fact in value.items():
            title = f"Outlets for {catalog.power_inlets[key].name}" if field == "outlets" else capital(str(key))
            is_rate = field.endswith("_flop_per_s")  # one of each number format
            yield _sourced_row(f"{label}, {key.upper()}" if is_rate else title, field if is_rate else "", fact, catalog)
    elif isinstance(value, DeliveredRack):
        yield row("Arrives in", item_name(value.rack, catalog), _NONE, _NONE, _NONE)
        yield _sourced_row(label_of("shelf_w"), "shelf_w", value.shelf_w, catalog)
        for content in value.contents:
            text = fact_text("contents", content, catalog)
            cited = cited_cell(content.source, content.where)
            yield row("Contents", text, name(content.basis), cited, content.note or _NONE)
    elif isinstance(value, Transformer):
        yield row(label, _shape_text(value), _NONE, cited_cell(value.source, value.where), value.note or _NONE)
    elif isinstance(value, tuple) and value and hasattr(value[0], "model_dump") and not isinstance(value[0], LinkType):
        for part in value:
            yield _row_of_part(label, part, catalog)
    elif isinstance(value, bool) or value not in (None, (), ""):
        texts = [_text(field, one, catalog) for one in (value if isinstance(value, tuple) else (value,))]
        yield row(label, listed(texts) if len(texts) < 9 else ", ".join(texts), _NONE, _NONE, _NONE)


def _sourced_row(label: str, field: str, fact: Sourced[Any], catalog: Catalog) -> Row:
    text = _text(field, fact.value, catalog)
    others = [_text(field, other.value, catalog) for other in fact.alternates]
    different = [other for other in dict.fromkeys(others) if other != text]
    if different:
        text += f" (other sources: {listed(different)})"
    return row(label, text, name(fact.basis), cited_cell(fact.source, fact.where), fact.note or _NONE)


def _row_of_part(label: str, part: object, catalog: Catalog) -> Row:
    """A row of an entry that states its own source."""
    said: Port | Sku | EpochPoint | Sourced[Any]
    match part:
        case Port():
            nic = f", on {item_name(part.nic, catalog)}" if part.nic else ""
            said, text, basis = part, port_text(part).removesuffix(", assumed") + nic, name(part.basis)
        case CapacityOption(raw_bytes=raw):
            said, text, basis = raw, f"{fact_value(raw.value, 'B')} raw ({part.name})", name(raw.basis)
        case Release(version=version):
            said, text, basis = version, f"{part.component} {version.value}", name(version.basis)
        case Sku():
            said, text, basis = part, part.value, "published"
        case EpochPoint():
            said, text = part, f"{part.epochs:g} epochs at a global batch of {grouped(part.global_batch)}"
            basis = "published"
        case Overhead():
            text = f"{percent(part.overhead)} from {plural(part.nodes, 'node')} on"
            return row(label, text, name(part.basis), cited_cell(part.source, part.where), _NONE)
        case _:
            assert isinstance(part, ObservedAs), part
            cited = cited_cell(part.source, "") if part.source else _NONE
            return row(label, part.software or "no software named", _NONE, cited, _NONE)
    return row(label, text, basis, cited_cell(said.source, said.where), said.note or _NONE)


def cited_cell(source: str, where: str) -> Cell:
    """A cell that holds nothing but the mark of a source and the place in it."""
    return Cell("", cites=(source,), where=where)


def _text(field: str, value: object, catalog: Catalog) -> str:
    if isinstance(value, Port):
        return port_text(value)
    if isinstance(value, EpochPoint):
        return f"{value.epochs:g} at {grouped(value.global_batch)}"
    if isinstance(value, LinkType):
        return value.name
    if field in _ITEM_FIELDS:
        return _SCOPES.get(str(value)) or item_name(str(value), catalog)
    if isinstance(value, str):
        return _shortened(_WORDS.get(value) or (fact_text(field, value, catalog) if field else name(value)))
    return fact_text(field, value, catalog)


def _shape_text(shape: Transformer) -> str:
    heads = f"{shape.heads} heads of {shape.head_size} ({shape.kv_heads} for keys and values)"
    experts = f", {shape.active_experts} of {shape.experts} experts" if shape.experts > 1 else ""
    return (
        f"{shape.layers} layers, {grouped(shape.hidden)} wide, {heads}, feed-forward {grouped(shape.ffn)}{experts}, "
        f"vocabulary {grouped(shape.vocabulary)}"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _TEXT_MOST else text[: _TEXT_MOST - 1].rstrip() + "…"


def price_table(item_id: str, catalog: Catalog, *, shows_own: bool) -> Table | None:
    """Prices of a part; None where there is none to show.

    ``shows_own``: whether prices of the user's own book, their discounts and their notes may be shown.
    """
    is_own = item_id in catalog.own_prices
    if is_own and not shows_own:
        return None
    rows = [
        row(
            money(price.amount, price.currency),
            str(price.date),
            f"{price.discount_percent:f} %" if price.discount_percent else _NONE,
            Cell(price.source, is_muted=True) if is_own else cited_cell(price.source, price.where),
            "; ".join(filter(None, (price.gpus, price.note))) or _NONE,
        )
        for price in catalog.prices
        if price.item == item_id
    ]
    heads = columns(("List price", "right"), "Date", ("Discount", "right"), "Source and place", "Remark")
    return Table(f"prices-{item_id}", "Prices", heads, tuple(rows)) if rows else None


def uses_of(item_id: str, design: DesignAnswer) -> list[str]:
    """Sentences: where a part stands in a design; empty where it does not."""
    quantities: Counter[str] = Counter()
    for part in design.quantities.components:
        if part.item == item_id:
            quantities[part.role] += int(part.quantity[0])
    uses = [f"{grouped(count)} × {role}" for role, count in quantities.items() if count]
    platform = design.platform
    if item_id == platform.gpu.id:
        uses.append(f"{plural(design.n_gpus, 'GPU')} in {plural(design.n_servers, 'server')}")
    if platform.server.cpu is not None and item_id == platform.server.cpu.value:
        uses.append("processor of the GPU servers")
    if item_id == platform.storage.id and not quantities:
        uses.append("storage of the design")
    for answer in design.workloads:
        parts = {
            "neural network": answer.dnn,
            "data set": answer.dataset,
            "software stack": answer.stack,
            "training recipe": answer.recipe,
        }
        uses += [
            f"{role} of the workload {answer.workload.name}"
            for role, used in parts.items()
            if used is not None and used.id == item_id
        ]
    return uses


_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(?:/[A-Za-z0-9._~/?#&=%+,:@-]*)?")


def cited_sources(item: Item, catalog: Catalog) -> list[Source]:
    """Documents that a part cites, each once, in the order of its facts."""
    keys = [key for said in statements(item) for key in (said.source, *(other.source for other in said.alternates))]
    found = {catalog.sources[key].id: catalog.sources[key] for key in keys if key in catalog.sources}
    return list(found.values())


def https_address(source: Source) -> str:
    """Address of a document where its place is one that a browser may open; empty: it is none."""
    match = _HTTPS.search(source.where)
    return match.group().rstrip(".,:") if match else ""


def sources_table(catalog: Catalog, measurements: Counter[str], text: str = "", *, with_weak: bool = True) -> Table:
    """Cited documents: title, publisher, date, grade, and how much rests on them.

    ``measurements``: published numbers by key of their source. ``text``: words that title, publisher or place must
    hold. ``with_weak``: also those that prove nothing to a customer.
    """
    facts = Counter(
        catalog.sources[key].id
        for _, item in catalog.items()
        for statement in statements(item)
        for key in (statement.source, *(other.source for other in statement.alternates))
        if key in catalog.sources
    )
    wanted = text.lower().split()
    rows = [
        row(
            source.title,
            source.publisher,
            source.date or Cell("not dated", is_muted=True),
            source.grade,
            grouped(facts[source.id]),
            grouped(sum(measurements[key] for key in {source.id, *source.aliases})),
            source.where or _NONE,
        )
        for source in sorted(set(catalog.sources.values()), key=lambda one: (one.title.lower(), one.id))
        if (with_weak or not source.is_weak)
        and all(word in f"{source.title} {source.publisher} {source.where}".lower() for word in wanted)
    ]
    heads = columns(
        ("Title", "left", 32),
        ("Publisher", "left", 18),
        ("Date", "left", 10),
        ("Grade", "left", 6),
        ("Facts", "right", 6),
        ("Measurements", "right", 10),
        ("Place", "left", 18),
    )
    return Table("sources", "Cited documents", heads, tuple(rows))


_NUMBERED = re.compile(r"\[(\d+)\]")
# What a licence costs where it counts nothing.
_FREE = ("free", "included")


@dataclass(frozen=True)
class Gap:
    """What is not known about one part."""

    item: Item
    kind: str  # folder
    unpublished: tuple[str, ...]  # names of facts that no source gives, nor anybody assumed
    assumed: tuple[str, ...]  # names of facts that the catalogue assumes
    has_no_sku: bool
    has_no_price: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing is missing."""
        return not (self.unpublished or self.assumed or self.has_no_sku or self.has_no_price)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of everything that nobody published."""
        more = [label_of(field) for field, lacks in (("skus", self.has_no_sku), ("price", self.has_no_price)) if lacks]
        return (*self.unpublished, *more)


def gaps(catalog: Catalog, *, counts_own_prices: bool = True) -> list[Gap]:
    """What is not known about every part, kind by kind; parts without a gap are left out.

    ``counts_own_prices``: whether a price of the user's own book counts as known.
    """
    asked: dict[str, list[str]] = {}
    for item_id, field in unknown_facts(catalog):
        asked.setdefault(item_id, []).append(field)
    priced = {price.item for price in catalog.prices} - (set() if counts_own_prices else catalog.own_prices)
    found = [_gap(item, folder, asked.get(item.id, []), item.id in priced) for folder, item in catalog.items()]
    return [gap for gap in found if not gap.is_empty]


def _gap(item: Item, folder: str, fields: Sequence[str], is_priced: bool) -> Gap:
    assumed = {statement.field for statement in statements(item) if statement.basis == "assumed"}
    names = {field: _name(field) for field in (*unknown_key_facts(item, folder), *fields)}
    is_free = getattr(item, "metric", None) is not None and item.metric.value in _FREE  # type: ignore[attr-defined]
    return Gap(
        item,
        folder,
        tuple(dict.fromkeys(name for field, name in names.items() if field not in assumed)),
        tuple(dict.fromkeys(name for field, name in names.items() if field in assumed)),
        has_no_sku=item.orderable and not item.skus and not is_free,
        has_no_price=item.orderable and not is_priced and not is_free,
    )


def _name(path: str) -> str:
    """Name of a fact by its path: 'ports[2]' reads 'Ports', 'capacity_options[0].raw_bytes' 'Capacity of a unit'."""
    field = _NUMBERED.sub("", path)
    head, _, rest = field.partition(".")
    return rest.capitalize() if head == "features" and rest else label_of(head)


def gaps_table(found: Sequence[Gap], catalog: Catalog, items: Collection[str] | None = None) -> Table:
    """Part by part what is not published and what is assumed.

    ``catalog``: where the names of parts are looked up. ``items``: ids of the parts that are asked about; None: all.
    """
    rows = [
        row(part_name(gap.item, catalog), KINDS[gap.kind], _listed(gap.missing), _listed(gap.assumed))
        for gap in found
        if (gap.missing or gap.assumed) and (items is None or gap.item.id in items)
    ]
    heads = columns(("Part", "left", 28), ("Kind", "left", 14), ("Not published", "left", 34), ("Assumed", "left", 24))
    return Table("unknown", "What is unknown, part by part", heads, tuple(rows))


def _listed(names: Sequence[str]) -> Cell:
    text = capital("; ".join(inside_sentence(one) for one in names))
    return Cell(text or "\u2013", is_muted=not text)


@dataclass(frozen=True)
class ComponentSection:
    """One part: what it does here, and what the catalogue knows about it."""

    title: str
    role: str
    table: Table


def components(design: DesignAnswer, catalog: Catalog) -> list[ComponentSection]:
    """Parts of the design in the order of the data path, each once."""
    platform = design.platform
    bought = {part.item: int(part.quantity[0]) for part in design.quantities.components}
    servers = design.n_servers
    gpus = words.plural(platform.gpus_per_server, "GPU")
    parts: list[tuple[str, Item | None, str]] = [
        (
            "Compute node",
            platform.server,
            by_count(
                servers,
                f"It trains the network with {gpus}.",
                f"{words.capital(words.spelled(servers))} servers train the network, each with {gpus}.",
            ),
        ),
        ("GPU", platform.gpu, f"{words.plural(design.n_gpus, 'GPU')} in total."),
        (
            "Head node",
            platform.head_node,
            "Deployment, log-in, scheduling and monitoring run here, apart from the training.",
        ),
        ("Storage", platform.storage, storage_role(design)),
        (
            "Storage server",
            platform.storage_server,
            f"The storage software runs on {words.plural(design.storage_nodes, 'server')}.",
        ),
        (
            "Fabric switch",
            platform.fabric_switch,
            "Carries the gradients between the servers and the reads from storage.",
        ),
        ("Spine switch", platform.spine_switch, "Connects the leaf switches."),
        ("Storage switch", platform.storage_switch, "Connects the front end of the storage with the servers."),
        (
            "Gateway",
            platform.gateway,
            "Connects the Ethernet of the storage with the InfiniBand of the servers.",
        ),
        (
            "Back-end switch",
            platform.back_end_switch,
            "Carries the traffic between storage nodes; no other device may be connected.",
        ),
        ("Management switch", platform.management_switch, "Connects every device out of band."),
    ]
    # A platform names all its devices; a small design may do without some. Server, GPU and storage always count.
    always = {platform.server.id, platform.gpu.id, platform.storage.id}
    sections: list[ComponentSection] = []
    seen: set[str] = set()
    for title, item, role in parts:
        if item is None or item.id in seen or (item.id not in always and not bought.get(item.id)):
            continue
        seen.add(item.id)
        sections.append(ComponentSection(f"{title}: {with_vendor(item)}", role, _in_short(part_table(item, catalog))))
    return sections


def _in_short(table: Table) -> Table:
    """What stands behind each fact of a part; reasons of assumptions are with the assumptions."""
    rows = []
    for fact, value, basis, source, _ in (one.cells for one in table.rows):
        if basis.text == "assumed":
            rows.append(row(fact, value, basis))
        elif source.cites:
            rows.append(row(fact, Cell(f"{value.text}{basis_note(basis.text)}"), source))
    heads = columns(("Fact", "left", 30), ("Value", "left", 42), ("Source", "left", 28))
    return replace(table, columns=heads, rows=tuple(rows), style="component")


def storage_role(design: DesignAnswer) -> str:
    """What the storage is for, in a sentence."""
    kind = design.platform.storage.kind
    n_servers = design.n_servers
    if kind == "local":
        return by_count(
            n_servers,
            "The drives sit in the server; the data set is copied to them before the training.",
            "The drives sit in the servers; the data set is copied to them before the training.",
        )
    if design.platform.attachment == "lan":
        return by_count(
            n_servers,
            "Existing storage; the server reads it over the local network.",
            "Existing storage; the servers read it over the local network.",
        )
    if kind == "nfs-server":
        return "Serves the data set and the home directories."
    return by_count(n_servers, "Serves the data set to the server.", "Serves the data set to all servers at once.")
