"""The chapter on components: one part of the design after the other, with the source of every fact."""

from dataclasses import dataclass

from sizer.base.language import tr, trn
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Item
from sizer.catalog.wording import with_vendor
from sizer.report import words
from sizer.report.tables import Table, columns, component_rows
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
            tr("Compute node"),
            platform.server,
            trn(
                "It trains the network with {gpus}.",
                "{servers} of these train the network; each holds {gpus}.",
                servers,
                servers=words.capital(words.spelled(servers)),
                gpus=gpus,
            ),
        ),
        (tr("GPU"), platform.gpu, tr("{gpus} in all.", gpus=words.plural(design.n_gpus, "GPU"))),
        (
            tr("Head node"),
            platform.head_node,
            tr("Deployment, log-in, scheduling and monitoring run here, apart from the training."),
        ),
        (tr("Storage"), platform.storage, storage_role(design)),
        (
            tr("Storage server"),
            platform.storage_server,
            tr("The storage software runs on {servers}.", servers=words.plural(design.storage_nodes, "server")),
        ),
        (
            tr("Fabric switch"),
            platform.fabric_switch,
            tr("Carries the gradients between the servers and the reads from storage."),
        ),
        (tr("Spine switch"), platform.spine_switch, tr("Joins the leaf switches.")),
        (tr("Storage switch"), platform.storage_switch, tr("Joins the front end of the storage to the servers.")),
        (
            tr("Gateway"),
            platform.gateway,
            tr("Passes the files between the Ethernet of the storage and the InfiniBand of the servers."),
        ),
        (
            tr("Back-end switch"),
            platform.back_end_switch,
            tr("Carries the traffic among storage nodes; nothing else may be attached."),
        ),
        (tr("Management switch"), platform.management_switch, tr("Reaches every device out of band.")),
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
        heads = columns((tr("Fact"), "left", 30), (tr("Value"), "left", 42), (tr("Source"), "left", 28))
        table = Table(
            f"component-{item.id}",
            tr("What the sources state about the {item}", item=with_vendor(item)),
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
        return trn(
            "The drives sit in the server; the data set is copied to them before the training.",
            "The drives sit in the servers; the data set is copied to them before the training.",
            n_servers,
        )
    if design.platform.attachment == "lan":
        return trn(
            "Already at hand; the server reads it over the local network.",
            "Already at hand; the servers read it over the local network.",
            n_servers,
        )
    if kind == "nfs-server":
        return tr("Serves the data set and the home directories.")
    return trn("Serves the data set to the server.", "Serves the data set to all servers at once.", n_servers)
