"""The next sizes of the design as a table, for the guide and the app."""

from collections.abc import Sequence

from sizer.base.quantities import grouped, si
from sizer.drawings.racks import at_least
from sizer.physical.expansion import GrowthStep
from sizer.physical.violations import violation_error_text
from sizer.present.tables import Row, Table, columns, row
from sizer.present.words import capital, listed, plural


def growth_table(steps: Sequence[GrowthStep]) -> Table:
    """What each next size adds to the design, and how many standing links it moves."""
    heads = columns(
        ("Size", "left", 17),
        ("Added", "left", 41),
        ("New racks", "right", 9),
        ("New links", "right", 9),
        ("Links moved", "right", 10),
        ("Maximum draw", "right", 14),
    )
    note = "Standing devices keep their rack units; new ones go into free units first." + " " + _moves(steps)
    return Table("growth", "The same design at its next two sizes", heads, tuple(_row(step) for step in steps), note)


def _row(step: GrowthStep) -> Row:
    size = plural(step.n_servers, "server")
    if step.storage_nodes:
        size += f", {plural(step.storage_nodes, 'storage node')}"
    if step.limit is not None:
        return row(size, f"Not on this platform: {violation_error_text(step.limit)}.", "–", "–", "–", "–")
    added = listed([f"{number} × {role}" for role, _, number in step.added])
    return row(
        size,
        capital(added),
        grouped(step.new_racks),
        grouped(step.added_links),
        grouped(len(step.moved)),
        at_least(step.has_unknown_power, f"{si(step.added_max_w, 'W')} more"),
    )


def _moves(steps: Sequence[GrowthStep]) -> str:
    networks = dict.fromkeys(move.network for step in steps for move in step.moved)
    if not networks:
        return "No standing link moves."
    names = listed(map(str, networks))
    return f"Links move in the {names}: a larger fabric spreads its uplinks anew."
