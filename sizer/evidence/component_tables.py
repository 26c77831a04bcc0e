"""The chapter on components: each part of the design with the source of every fact."""

from dataclasses import dataclass, replace

from sizer.base.quantities import by_count
from sizer.catalog.items import Item
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.evidence.catalogue_tables import part_table
from sizer.present import words
from sizer.present.tables import Cell, Table, basis_note, columns, row
from sizer.sizing.result import DesignAnswer


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
