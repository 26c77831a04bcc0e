"""The cluster on one page: every device of a small one, a stack for each kind of a large one."""

from sizer.drawings.cluster import Cluster
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology_devices import device_topology
from sizer.drawings.topology_groups import grouped_topology
from sizer.sizing.result import DesignAnswer


def topology(design: DesignAnswer) -> Drawing:
    """Drawing of the whole cluster: servers, fabric, gateway, storage, back end and management.

    Up to 16 servers each device is a box of its own, named as in the plan, where the page holds them; else each kind
    of device is one box with its number.
    """
    cluster = Cluster(design)
    return device_topology(cluster) or grouped_topology(cluster)
