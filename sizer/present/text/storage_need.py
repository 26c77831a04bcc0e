"""What decides the size of the storage, in words."""

from sizer.base.quantities import si
from sizer.present import words
from sizer.sizing.design.storage_need import FAR_ABOVE
from sizer.sizing.reasons import StorageDecision, StorageNeed
from sizer.sizing.result import DesignAnswer

# A system that is fuller leaves hardly room for new data, snapshots and rebuilds.
_FULL = 0.95
_OTHER_TIER = "Name a capacity tier and state what one of its nodes reads, or let the rest stay in an object storage."


def storage_need_sentences(design: DesignAnswer) -> list[str]:
    """Where capacity decides the storage: what forces it, what the reads alone would take, and what is cheaper."""
    need = design.storage_need
    full = [] if need is None or need.fill_fraction <= _FULL else [_full_text(need)]
    if need is None or need.decision is not StorageDecision.CAPACITY or need.nodes_for_rate is None:
        return full
    name = design.platform.storage.name
    least = need.minimum
    forced = " for capacity" if least is None else f" for the requested {si(least.minimum_bytes, 'B')} usable"
    sentences = [
        f"Capacity decides the storage: {words.plural(need.nodes_for_capacity, 'node')} of {name}{forced}, "
        f"{need.nodes_for_rate} would do for performance. Reads at the required rate use "
        f"{words.percent(need.load_fraction)} of what the nodes deliver."
    ]
    drives, tier = need.larger_drives, need.capacity_tier
    if least is not None:
        sentences.append(
            f"Without that minimum, {words.plural(least.nodes_for_stored, 'node')} would hold the "
            f"{si(least.stored_bytes, 'B')} that are stored."
        )
    if drives is not None:
        held = "hold the data" if least is None else "have this capacity"
        sentences.append(f"With drives of {drives.drives}, {words.plural(drives.nodes, 'node')} {held}.")
    if tier is not None:
        sentences.append(
            f"Cheaper, if at most {si(tier.performance_bytes, 'B')} are read at full rate at a time: "
            f"{words.plural(tier.performance_nodes, 'node')} of {name} for performance and "
            f"{words.plural(tier.nodes, 'node')} of {tier.name} ({tier.drives}) as capacity tier."
        )
    if need.nodes_for_rate <= FAR_ABOVE * need.nodes_for_capacity and design.platform.second_tier is None:
        sentences.append(
            f"No second tier with published rates makes it better. {_OTHER_TIER}"
            if need.has_working_set
            else "State the working set, which is what trainings read for some days, and two tiers are sized; the rest "
            "may also stay in an object storage."
        )
    return [*sentences, *full]


def _full_text(need: StorageNeed) -> str:
    return f"The data fill {words.percent(need.fill_fraction)} of the usable capacity: ask for a reserve if they grow."
