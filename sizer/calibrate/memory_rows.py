"""Published memory of GPUs: batches that ran or did not fit, and peaks, as typed rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sizer.base.errors import CalibrationError
from sizer.base.formats.csv_rows import CsvRecord, csv_records
from sizer.base.resources import data_dir, text_of_file
from sizer.calibrate.cases import RateCase
from sizer.catalog.model import Catalog

_MAX_BYTES = 2_000_000
# Batches of this network are printed in tokens, its samples are pairs of 27 + 27 (catalog/dnns/transformer-big.toml).
TOKENS_PER_SAMPLE = {"transformer-big": 27.0}
# Families that are trained with Adam or LAMB; all others with momentum.
ADAM_FAMILIES = ("bert", "translation", "recommender", "diffusion", "")


class MemoryKind(Enum):
    """What a published number says of the memory."""

    FITS = "fits"  # the batch ran on a GPU of this memory
    DOES_NOT_FIT = "does-not-fit"  # the batch ran out of memory
    PEAK = "peak"  # what the framework allocated, without the context of the driver
    PEAK_OF_GPU = "peak-of-gpu"  # what the driver reports, with the context
    FEATURE_MAPS = "feature-maps"  # estimate: outputs of all layers of one sample in fp32


@dataclass(frozen=True)
class MemoryRow:
    """One published number. Sizes in bytes, FLOP of the forward pass of one sample."""

    id: str
    source: str
    dnn: str  # of the catalogue, or another that shares its family
    family: str
    forward_flop: float
    parameters: float
    precision: str
    n_moments: int  # running means of the optimizer; -1: inference
    is_recomputed: bool  # activations are computed again in the backward pass
    batch: float
    kind: MemoryKind
    value_bytes: float  # memory of the GPU for the kinds FITS and DOES_NOT_FIT, else the number printed
    is_variant: bool = False  # with another input than the network of the catalogue


def n_moments(family: str) -> int:
    """Running means that the usual optimizer of a family keeps of each parameter."""
    return 2 if family in ADAM_FAMILIES else 1


def load_memory_rows(catalog: Catalog, path: Path | str | None = None) -> tuple[MemoryRow, ...]:
    """Rows of the shipped file, or of another of the same columns.

    Raises
    ------
    CalibrationError
        If it cannot be read, or a row is not complete: place and column.
    """
    file = data_dir("catalog") / "benchmarks" / "memory" / "gpu_memory.csv" if path is None else Path(path)
    records = csv_records(text_of_file(file, _MAX_BYTES, "published memory"))
    columns = next(records, CsvRecord(1, 1, [])).cells
    return tuple(_row(record, columns, file.name, catalog) for record in records if not record.is_blank)


_MOMENTS = {"sgd": 1, "adam": 2, "": 0, "inference": -1}


def _row(record: CsvRecord, columns: list[str], file: str, catalog: Catalog) -> MemoryRow:
    place, row = f"{file}, line {record.line}", record.by_column(columns)
    if record.fault:
        raise CalibrationError(f"{place}: {record.fault}")
    try:
        known = catalog.dnns.get(row["dnn"])
        flop, parameters = row["forward_flop"], row["parameters"]
        if known is None and not (flop and parameters and row["family"]):
            raise CalibrationError(
                f"{place}: {row['dnn']!r} is not in the catalogue; write family, forward_flop and parameters"
            )
        kind = MemoryKind(row["kind"])
        is_bound = kind in (MemoryKind.FITS, MemoryKind.DOES_NOT_FIT)
        return MemoryRow(
            id=row["id"],
            source=row["source"],
            dnn=row["dnn"],
            family=row["family"] or (known.family if known is not None else ""),
            forward_flop=float(flop) if flop else known.forward_flop.value if known is not None else 0.0,
            parameters=float(parameters) if parameters else known.parameters.value if known is not None else 0.0,
            precision=row["precision"],
            n_moments=_MOMENTS[row["optimizer"]],
            is_recomputed=row["recompute"] == "yes",
            batch=float(row["batch_per_gpu"]),
            kind=kind,
            value_bytes=float(row["gpu_memory_bytes"] if is_bound else row["value_bytes"]),
            is_variant=bool(flop),
        )
    except (KeyError, ValueError) as error:
        raise CalibrationError(f"{place}: {error}") from None


def measured_rows(cases: Iterable[RateCase], stated: Iterable[MemoryRow] = ()) -> tuple[MemoryRow, ...]:
    """Batches of published training rates as rows: the largest of each network, precision, memory and source.

    A rate names the batch of an update, which may be added up from several smaller ones. Where the source states what
    one pass held, in ``stated``, that counts alone: BERT-large of MLPerf v0.7 on DGX-1 makes 36 of six times 6.
    """
    held = {(row.dnn, row.precision, row.value_bytes, row.source) for row in stated if row.kind is MemoryKind.FITS}
    largest: dict[tuple[object, ...], MemoryRow] = {}
    for case in cases:
        if case.levels.task != "training" or case.row.batch_per_gpu is None:
            continue
        dnn, memory = case.dnn, case.gpu.memory_bytes.value
        row = MemoryRow(
            id=case.row.id,
            source=case.row.source,
            dnn=dnn.id,
            family=dnn.family,
            forward_flop=dnn.forward_flop.value,
            parameters=dnn.parameters.value,
            precision=case.levels.precision,
            n_moments=n_moments(dnn.family),
            is_recomputed=False,
            batch=case.row.batch_per_gpu / TOKENS_PER_SAMPLE.get(dnn.id, 1.0),
            kind=MemoryKind.FITS,
            value_bytes=memory,
        )
        key = (dnn.id, row.precision, memory, row.source)
        if key not in held and (key not in largest or row.batch > largest[key].batch):
            largest[key] = row
    return tuple(largest.values())


def telling(rows: Iterable[MemoryRow]) -> tuple[MemoryRow, ...]:
    """Rows without those that another of the same source, network, precision and memory implies.

    Of batches that ran the largest says all; of those that ran out of memory the smallest.
    """
    found: dict[tuple[object, ...], MemoryRow] = {}
    for row in rows:
        is_bound = row.kind in (MemoryKind.FITS, MemoryKind.DOES_NOT_FIT)
        task = (row.dnn, row.forward_flop, row.precision, row.n_moments, row.value_bytes, row.source, row.kind)
        key = task if is_bound else (*task, row.id)
        other = found.get(key)
        if other is None or (row.batch > other.batch) == (row.kind is MemoryKind.FITS):
            found[key] = row
    return tuple(found.values())
