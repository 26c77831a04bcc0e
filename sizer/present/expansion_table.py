"""The next sizes of the design as a table, for the guide and the app."""

from collections.abc import Callable, Sequence

from sizer.base.quantities import grouped, si
from sizer.drawings.racks import at_least
from sizer.physical.expansion import GrowthStep
from sizer.physical.notes import ViolationKind, violation_error_text
from sizer.present.tables import Field, Table, record_table
from sizer.present.words import capital, listed, plural


def growth_table(steps: Sequence[GrowthStep]) -> Table:
    """What each next size adds to the design, and the number of existing links that move."""

    def unless_limited(text: Callable[[GrowthStep], str]) -> Callable[[GrowthStep], str]:
        return lambda step: "–" if step.limit is not None else text(step)

    networks = dict.fromkeys(str(move.network).replace(", ", " ") for step in steps for move in step.moved)
    moves = (
        f"Links move in the {listed(networks)}: a larger fabric redistributes its uplinks."
        if networks
        else "No existing link moves."
    )
    has_storage = any(step.storage_nodes and step.limit is None for step in steps)
    storage = (
        " Storage grows in whole units, in proportion; at a low utilization it need not grow." if has_storage else ""
    )
    return record_table(
        "growth",
        "The same design at its next two sizes",
        steps,
        [
            Field("Size", _size, width=17),
            Field("Added", _added, width=41),
            Field("New racks", unless_limited(lambda step: grouped(step.new_racks)), "right", 9),
            Field("New links", unless_limited(lambda step: grouped(step.added_links)), "right", 9),
            Field("Links moved", unless_limited(lambda step: grouped(len(step.moved))), "right", 10),
            Field("Maximum draw", unless_limited(_added_draw), "right", 14),
        ],
        note=f"Existing devices keep their rack units; new ones use free units first. {moves}{storage}",
    )


def _size(step: GrowthStep) -> str:
    size = plural(step.n_servers, "server")
    return f"{size}, {plural(step.storage_nodes, 'storage node')}" if step.storage_nodes else size


def _added(step: GrowthStep) -> str:
    if step.limit is not None:
        lead = "No gain" if step.limit.kind is ViolationKind.SLOWER_TRAINING else "Not on this platform"
        return f"{lead}: {violation_error_text(step.limit)}."
    return capital(listed([f"{number} × {role}" for role, _, number in step.added]))


def _added_draw(step: GrowthStep) -> str:
    return at_least(step.has_unknown_power, f"{si(step.added_max_w, 'W')} more")
