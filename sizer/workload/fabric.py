"""How the networks of a cluster are built."""

from typing import Annotated, Literal

from pydantic import Field

from sizer.workload.table import RequestTable


class Fabric(RequestTable):
    """How the networks of the cluster are built."""

    # Largest allowed ratio of ports down to ports up of a leaf; 1 is non-blocking.
    oversubscription: Annotated[float, Field(ge=1, le=16, allow_inf_nan=False)] = 1.0
    # A separate network for each port of a server.
    rails_apart: bool = False
    # Files of the storage travel over the compute fabric, on Ethernet: no switches of the storage's own.
    converged: Annotated[bool, Field(strict=True)] = False
    # Director switches where one switch is not enough, instead of more levels.
    directors: bool = False
    # Servers to add later: their ports, rack units and power are reserved.
    spare_servers: Annotated[int, Field(ge=0, le=10_000, strict=True)] = 0
    # Where the subnet manager of an InfiniBand fabric runs: in a switch, or on two UFM appliances with two ports each.
    subnet_manager: Literal["switch", "ufm"] = "switch"
    # Head and management servers of the cluster; absent: one, or two from eight hosts of today on and
    # where a loss of one is tolerated.
    management_servers: Annotated[int, Field(ge=1, le=100, strict=True)] | None = None
