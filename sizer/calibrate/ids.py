"""What the ids of an observation stand for: its software stack, its GPU and its server."""

import re
from collections.abc import Mapping
from typing import TypeVar

from sizer.base.errors import CalibrationError
from sizer.base.faults import nearest, shown
from sizer.base.provenance import Sourced
from sizer.calibrate.observations import ID_COLUMNS, Observation
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Server, SoftwareLine, Stack

# Software that the catalogue does not hold stands in the column ``stack`` as framework:line:release, then ":xla" where
# that compiler is used, e.g. pytorch:upstream:2020-10. No id of the catalogue has a colon.
LINES: tuple[SoftwareLine, ...] = ("ngc", "tensorpack", "cnn-benchmarks", "official", "horovod", "upstream")
UNDATED = "undated"
_OTHER_STACK = re.compile(
    r"(?P<framework>[^:]+):(?P<line>[a-z-]+):(?P<released>20\d\d(?:-\d\d)?|undated)(?P<xla>:xla)?"
)
_ISO_DATES = re.compile(r"(?<![0-9])(20[0-9]{2})(?:-(0[1-9]|1[0-2])(?![0-9]))?(?![0-9])")
_MAX_NAME_CHARACTERS = 60

T = TypeVar("T", bound=Item)


def stack_of(row: Observation, catalog: Catalog) -> Stack | None:
    """Software stack of a row; None where the row names none.

    Software that the catalogue does not hold becomes a stack with the facts that the column states.

    Raises
    ------
    CalibrationError
        If the column is neither an id of the catalogue nor a description, or the row was read without id columns.
    """
    if not row.has_ids:
        raise CalibrationError(
            f"{row.place}: the file has no columns {', '.join(ID_COLUMNS)}; 'sizer validate FILE --with-ids FOLDER' "
            "writes a copy that has them"
        )
    other = _OTHER_STACK.fullmatch(row.stack)
    line = next((line for line in LINES if other and line == other["line"]), None)
    if other is None or line is None:
        return _item(row, "stack", row.stack, catalog.stacks)
    released = "" if other["released"] == UNDATED else other["released"]
    said = " ".join("".join(c if c.isprintable() else " " for c in row.software).split())[:_MAX_NAME_CHARACTERS]
    stack = Stack(
        id="other",
        name=said or f"{other['framework']}, release not stated",
        vendor="not stated",
        orderable=False,
        framework=other["framework"],
        line=line,
        xla=bool(other["xla"]),
        released=Sourced[str](
            value=released, basis="assumed", source="assumption", where="column stack", note=row.assumed
        ),
        precisions=("mixed", "fp32"),
        loader="framework",
        task="both",
    )
    # A validated id has no colon.
    return stack.model_copy(update={"id": row.stack})


def catalogue_stack_of(row: Observation, catalog: Catalog) -> Stack | None:
    """:func:`stack_of` a row where the catalogue holds it, else None."""
    stack = stack_of(row, catalog)
    return stack if stack is not None and stack.id in catalog.stacks else None


def gpu_of(row: Observation, catalog: Catalog) -> Gpu | None:
    """GPU that stands for the one of a row; None where the catalogue has no such chip.

    Raises
    ------
    CalibrationError
        If ``gpu_id`` is filled and no GPU of the catalogue.
    """
    return _item(row, "gpu_id", row.gpu_id, catalog.gpus) or catalog.gpus.get(row.gpu)


def server_of(row: Observation, catalog: Catalog) -> Server | None:
    """Server with the same host as the one of a row; None where the catalogue has none.

    Raises
    ------
    CalibrationError
        If ``server_id`` is filled and no server of the catalogue.
    """
    return _item(row, "server_id", row.server_id, catalog.servers) or catalog.servers.get(row.server)


def _item(row: Observation, column: str, name: str, known: Mapping[str, T]) -> T | None:
    if name and name not in known:
        raise CalibrationError(
            f"{row.place}, column {column}: {shown(name)} is not in the catalogue{nearest(name, known)}"
        )
    return known.get(name)


def release_years(text: str) -> list[float]:
    """ISO months and years of a text as decimal years: mid-month, or mid-year where only the year is known. [a]"""
    return [int(year) + ((int(month) - 0.5) / 12 if month else 0.5) for year, month in _ISO_DATES.findall(text)]


def release_year(stack: Stack) -> float | None:
    """Release as a decimal year; None where nothing tells it. [a]"""
    return next(iter(release_years(stack.released.value)), None)
