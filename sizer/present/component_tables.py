"""The chapter on components: one part of the design after the other, with the source of every fact."""

from dataclasses import dataclass

from sizer.base.quantities import by_count
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Item
from sizer.present import words
from sizer.present.tables import Table, columns, component_rows
from sizer.sizing.result import DesignAnswer


@dataclass(frozen=True)
class Component:
    """One part: what it does here, and what the catalogue knows about it."""

    title: str
    role: str
    table: Table


def components(design: DesignAnswer, catalog: Catalog) -> list[Component]:
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
                f"{words.capital(words.spelled(servers))} of these train the network; each holds {gpus}.",
            ),
        ),
        ("GPU", platform.gpu, f"{words.plural(design.n_gpus, 'GPU')} in all."),
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
        ("Spine switch", platform.spine_switch, "Joins the leaf switches."),
        ("Storage switch", platform.storage_switch, "Joins the front end of the storage to the servers."),
        (
            "Gateway",
            platform.gateway,
            "Passes the files between the Ethernet of the storage and the InfiniBand of the servers.",
        ),
        (
            "Back-end switch",
            platform.back_end_switch,
            "Carries the traffic among storage nodes; nothing else may be attached.",
        ),
        ("Management switch", platform.management_switch, "Reaches every device out of band."),
    ]
    # A platform names all its devices; a small design may do without some. Server, GPU and storage always count.
    always = {platform.server.id, platform.gpu.id, platform.storage.id}
    found: list[Component] = []
    seen: set[str] = set()
    for title, item, role in parts:
        if item is None or item.id in seen or (item.id not in always and not bought.get(item.id)):
            continue
        seen.add(item.id)
        rows = component_rows(item, catalog, platform.capacity_option)
        heads = columns(("Fact", "left", 30), ("Value", "left", 42), ("Source", "left", 28))
        table = Table(
            f"component-{item.id}",
            f"What the sources state about the {with_vendor(item)}",
            heads,
            rows,
            style="component",
        )
        found.append(Component(f"{title}: {with_vendor(item)}", role, table))
    return found


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
            "Already at hand; the server reads it over the local network.",
            "Already at hand; the servers read it over the local network.",
        )
    if kind == "nfs-server":
        return "Serves the data set and the home directories."
    return by_count(n_servers, "Serves the data set to the server.", "Serves the data set to all servers at once.")
