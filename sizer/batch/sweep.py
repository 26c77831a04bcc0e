"""Sweeps: one request over the product of some of its fields, each point with the answer and its distribution."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from math import prod
from typing import Any, overload

import numpy as np
import pyarrow as pa

from sizer.base.errors import RequestError
from sizer.base.faults import shown
from sizer.batch.columns import PREFIX, cells_of, memory_bytes, nested, request_key, unknown_column, value_of_cell
from sizer.batch.monte_carlo import draws_of, posterior_cells
from sizer.batch.run import Progress, size_batch
from sizer.batch.work import SIZED
from sizer.calibrate.calibration import Calibration, Draws, stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.physical.platforms import platforms
from sizer.sizing.search.feasibility import MAX_SERVERS, Space, evaluate_space
from sizer.sizing.search.posterior import Reached, posterior_of
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest

# More rows fit neither a reader nor the memory of a notebook.
MAX_POINTS = 1_000_000
# Alternatives of a workload; an axis over one of them replaces the others.
_ONE_OF = (
    ("target.samples_per_s", "target.time_to_train_s", "target.gpus_busy", "target.maximum"),
    ("epochs", "recipe"),
)

Cells = dict[str, Any]


@dataclass(frozen=True)
class Points(Sequence[Cells]):
    """The cartesian product of some axes over a request, each point as the cells of a row by dotted key.

    Points are computed on access; the last axis varies fastest.
    """

    base: Cells  # what no axis changes
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, request: SizingRequest, axes: Mapping[str, Sequence[Any]]) -> "Points":
        """Points of a request.

        Raises RequestError if a key does not exist, contains another axis or is an alternative to one, has no values,
        or the product has too many points.
        """
        names = tuple(axes)
        for name in names:
            if request_key(str(name)) is None:
                raise unknown_column(str(name), "axes")
        values = tuple(_values(name, axes[name]) for name in names)
        for index, name in enumerate(names):
            for other in names[:index]:
                if _excludes(name, other):
                    raise RequestError(f"axes: {name} and {other} cannot both be given; sweep one of them")
        if (count := prod(len(value) for value in values)) > MAX_POINTS:
            raise RequestError(f"axes: their product has {count} points; at most {MAX_POINTS} are allowed")
        base = {key: cell for key, cell in cells_of(request).items() if not any(_excludes(key, one) for one in names)}
        return cls(base, names, values)

    def __len__(self) -> int:
        return prod(len(value) for value in self.values)

    @overload
    def __getitem__(self, place: int) -> Cells: ...

    @overload
    def __getitem__(self, place: slice) -> list[Cells]: ...

    def __getitem__(self, place: int | slice) -> Cells | list[Cells]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        index = range(len(self))[place]
        cells: Cells = {}
        for name, values in zip(reversed(self.names), reversed(self.values), strict=True):
            index, position = divmod(index, len(values))
            cells[name] = values[position]
        return self.base | cells

    def __iter__(self) -> Iterator[Cells]:
        return (self[index] for index in range(len(self)))


def _values(name: str, values: object) -> tuple[Any, ...]:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise RequestError(f"axes: {name} = {shown(values)} is not a list of values")
    given = tuple(values)
    if not given:
        raise RequestError(f"axes: {name} has no values")
    return given


def _excludes(name: str, other: str) -> bool:
    """Whether a request cannot have both keys: one is inside the other, or they are alternatives."""
    if name == other or name.startswith(f"{other}.") or other.startswith(f"{name}."):
        return True
    (table, number, key), (_, other_number, other_key) = _parts(name), _parts(other)
    return table == "workload" and number == other_number and any({key, other_key} <= set(group) for group in _ONE_OF)


def _parts(name: str) -> tuple[str, str, str]:
    table, _, inside = name.partition(".")
    number, _, key = inside.partition(".")
    return table, number, key


def sweep(
    request: SizingRequest,
    axes: Mapping[str, Sequence[Any]],
    catalog: Catalog | None = None,
    *,
    calibration: Calibration | None = None,
    draws: int = 0,
    seed: int = 0,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Size a request at every point of the cartesian product of some of its fields.

    ``request``: what stays the same. ``axes``: dotted key of a request, such as ``workload.0.target.samples_per_s``,
    ``platforms.servers`` or ``confidence``, to the values that it takes, as people type them: ``"150 kB"``,
    ``["dgx-1"]``, ``0.9``; None leaves the key out. An axis takes the place of what the request says: of a target the
    other two kinds, of ``epochs`` and ``recipe`` the other one. ``catalog``: default: the shipped one. ``calibration``:
    default: the stored one. ``draws``: above 0, the design of each point is evaluated under this many sets of
    coefficients, up to 10,000. All points share the draws, so points differ only by the swept values. ``seed``: of the
    draws. ``executor``, ``workers``, ``progress``: as for :func:`sizer.batch.run.size_batch`. Returns one row per
    point, the last axis fastest: the axes in SI units, then the columns of :func:`~sizer.batch.run.size_batch`. The row
    of an invalid or infeasible point states the reason in ``answer.status`` and ``answer.error``. With draws,
    ``answer.posterior.*`` as of :func:`~sizer.batch.monte_carlo.monte_carlo`. Raises RequestError if an axis is no key
    of a request, has no values or contradicts another one, if there are more than a million points, or if draws or seed
    are out of range. Raises BatchError if the executor is broken for good.
    """
    points = Points.of(request, axes)
    catalog = load_catalog() if catalog is None else catalog
    calibration = stored_calibration() if calibration is None else calibration
    sampled = draws_of(calibration, draws, seed) if draws else None
    sized: Any = size_batch(
        points, catalog, calibration=calibration, executor=executor, workers=workers, progress=progress
    )
    columns = {
        name: sized.column(name) if name in sized.schema.names else pa.nulls(len(points)) for name in points.names
    }
    columns |= {name: sized.column(name) for name in sized.schema.names if name.startswith(PREFIX)}
    metadata = dict(sized.schema.metadata or {})
    if sampled is not None:
        columns |= _posterior(points, sized, sampled, catalog)
        metadata |= {b"sizer.draws": str(draws).encode(), b"sizer.seed": str(seed).encode()}
    return pa.table(columns).replace_schema_metadata(metadata)


def _posterior(points: Points, sized: pa.Table, draws: Draws, catalog: Catalog) -> dict[str, pa.Array]:
    """Columns of the distribution of each point's design; null where there is none or nobody knows the probability."""
    names = ("server", "storage", "gpu", "fabric", "gpus_per_server", "host_memory_bytes", "servers", "storage_nodes")
    designs = sized.select([f"{PREFIX}design.{name}" for name in names]).to_pylist()
    rows: list[dict[str, Any]] = []
    statuses, chances = (sized.column(f"{PREFIX}{name}").to_pylist() for name in ("status", "probability"))
    for cells, status, chance, design in zip(points, statuses, chances, designs, strict=True):
        if status != SIZED:
            rows.append({})
            continue
        reached = _of_design(_request(cells), tuple(design.values()), draws, catalog)
        known = reached.without_shares(np.array([chance is None]))
        rows.append({name: column[0].as_py() for name, column in posterior_cells(known).items()})
    columns = dict.fromkeys(name for row in rows for name in row)
    return {name: pa.array([row.get(name) for row in rows], pa.float64()) for name in columns}


def _request(cells: Mapping[str, Any]) -> SizingRequest:
    """Request of a point that was sized and is therefore valid."""
    given = {name: value_of_cell(name, cell) for name, cell in cells.items()}
    return SizingRequest.from_dict(nested({name: cell for name, cell in given.items() if cell is not None}))


def _of_design(request: SizingRequest, design: tuple[Any, ...], draws: Draws, catalog: Catalog) -> Reached:
    """Distribution of one design of a request, one axis; designs that differ in their drives alone run alike."""
    *kinds, servers, nodes = design
    options = [
        one
        for one in platforms(catalog, request, alone=True)
        if [one.server.id, one.storage.id, one.gpu.id, one.fabric.id, one.gpus_per_server, memory_bytes(one)] == kinds
    ]
    works = resolved(request, catalog, draws.calibration)
    # A space of single servers is evaluated without links between them, which that of the request may have.
    sizes = np.unique([servers, min(2, request.limits.servers or MAX_SERVERS)])
    evaluated = evaluate_space(request, works, options, Space(len(options), sizes), catalog, draws.calibration)
    is_it = (evaluated.space.n_servers == servers) & (evaluated.storage_nodes == nodes)
    return posterior_of(evaluated, int(np.argmax(is_it)), draws, catalog)
