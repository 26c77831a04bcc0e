"""So many servers and storage nodes of one platform."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Servers and storage nodes that are owned or needed."""

    n_servers: int
    storage_nodes: int
