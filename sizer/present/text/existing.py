"""What a design takes of the equipment that is there, in words."""

from collections.abc import Sequence

from sizer.base.quantities import grouped
from sizer.physical.existing_use import Equipment, ExistingUse
from sizer.present.words import listed


def existing_text(use: ExistingUse | None) -> str:
    """What the design uses, adds and leaves idle, in one sentence; "" where nothing is there."""
    if use is None:
        return ""
    parts = [f"adds {_all(use.added)}" if use.added else "adds no server, storage or switch"]
    if use.idle:
        parts.append(f"leaves {_all(use.idle)} idle")
    taken = f"uses {_all(use.used)}" if use.used else "uses none"
    return f"Of the existing equipment the design {taken}; it {' and '.join(parts)}."


def _all(equipment: Sequence[Equipment]) -> str:
    return listed([f"{grouped(one.count)} × {one.name}" for one in equipment])
