"""The tiers of a storage in words: what they are called, what they are and what they hold."""

from sizer.base.quantities import by_count, grouped, si
from sizer.present import words
from sizer.sizing.constraints.tiers import StorageTier, TierContent

TIER_NAMES = {
    TierContent.EVERYTHING: "storage",
    TierContent.WORKING_SET: "fast tier",
    TierContent.ALL_DATA: "capacity tier",
}
# What a tier of two holds; a single one holds what the chapter about the data lists.
TIER_CONTENTS = {
    TierContent.WORKING_SET: "working set and checkpoints",
    TierContent.ALL_DATA: "data, snapshots and reserve",
}
OBJECT_STORAGE = "object storage of the customer"


def tier_label(tier: StorageTier, label: str) -> str:
    """A label, with the tier behind it where there are two: 'Usable capacity, fast tier'."""
    return label if tier.content is TierContent.EVERYTHING else f"{label}, {TIER_NAMES[tier.content]}"


def system_name(tier: StorageTier) -> str:
    """The storage of a tier."""
    return OBJECT_STORAGE if tier.storage is None else tier.storage.name


def system_text(tier: StorageTier) -> str:
    """The nodes of a tier: '12 nodes of Isilon F800'."""
    if not tier.nodes:
        return system_name(tier)
    return f"{words.plural(tier.nodes, 'node')} of {system_name(tier)}"


def nodes_text(tier: StorageTier) -> str:
    """Nodes and chassis of a tier: '12 nodes in 3 chassis'; "" where it is not counted by the node."""
    per_unit = None if tier.storage is None else tier.storage.nodes_per_unit
    if not tier.nodes:
        return ""
    text = words.plural(tier.nodes, "node")
    if per_unit is None or per_unit.value <= 1:
        return text
    chassis = -(-tier.nodes // int(per_unit.value))
    return f"{text} in {by_count(chassis, '1 chassis', f'{grouped(chassis)} chassis')}"


def usable_text(tier: StorageTier, unknown: str = words.NOT_PUBLISHED) -> str:
    """Usable capacity of a tier."""
    if tier.storage is None:
        return "provided by others"
    return si(tier.usable_bytes, "B") if tier.usable_bytes > 0 else unknown


def tier_text(tier: StorageTier) -> str:
    """Nodes and usable capacity of a tier: '12 nodes in 3 chassis, 512 TB usable'."""
    usable = f"{si(tier.usable_bytes, 'B')} usable" if tier.usable_bytes > 0 else ""
    return ", ".join(filter(None, (nodes_text(tier), usable)))
