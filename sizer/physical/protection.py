"""What a storage system survives, as far as its sources say so."""

import re

from sizer.catalog.schema import Storage

# OneFS writes what a layout survives: "+2d:1n" two drives or one node, "+3d:1n1d" three drives, or one node and one
# drive, "+2n" two nodes and so two drives ("emc-overhead-15", "udt-overhead").
_ONEFS = re.compile(r"\+(?:(?P<drives>\d+)d:)?(?P<nodes>\d+)n(?:\d+d)?")
# A stripe of RAID 50 has one parity drive in each group ("dell-ready-ai-nvidia-2018").
_RAID = re.compile(r"RAID\s*(?P<level>\d+)")
_RAID_DRIVES = {"0": 0, "1": 1, "5": 1, "6": 2, "10": 1, "50": 1, "60": 2}


def nodes_survived(storage: Storage) -> int | None:
    """Nodes that may be lost at once without loss of data; None where no source says. [-]

    Stripes of a software system lie on as many nodes as they have blocks, so it survives one node a parity block.

    Examples
    --------
    >>> from sizer.catalog.loader import load_catalog
    >>> [nodes_survived(load_catalog().storage[name]) for name in ("isilon-f800", "wekaio", "hnas")]
    [1, 2, None]
    """
    if storage.stripe_parity is not None:
        return storage.stripe_parity.value
    match = _onefs(storage)
    return int(match["nodes"]) if match is not None else None


def drives_survived(storage: Storage) -> int | None:
    """Drives that may be lost at once without loss of data, wherever they are; None where no source says. [-]

    An appliance protects its drives inside; how many it survives is known only where its source says so.

    Examples
    --------
    >>> from sizer.catalog.loader import load_catalog
    >>> [drives_survived(load_catalog().storage[name]) for name in ("isilon-f800", "head-node-nfs", "hnas")]
    [2, 1, None]
    """
    if storage.stripe_parity is not None and storage.controllers is None:
        return storage.stripe_parity.value
    match = _onefs(storage)
    if match is not None:
        return int(match["drives"] or match["nodes"])
    raid = _RAID.search(storage.protection.value) if storage.protection is not None else None
    return _RAID_DRIVES.get(raid["level"]) if raid is not None else None


def _onefs(storage: Storage) -> re.Match[str] | None:
    return _ONEFS.fullmatch(storage.protection.value) if storage.protection is not None else None
