"""``sizer sweep``: one request over all combinations of values of some fields."""

import io
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from sizer.base.errors import BatchError, OutputError, RequestError
from sizer.base.units import HOUR_S
from sizer.cli.documents import AsJson, CatalogDir, print_document, print_message

_ENDINGS = (".parquet", ".csv")
_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER}) step ({_NUMBER})((?: ?[A-Za-z][^,]*)?)")
_WITH_UNIT = re.compile(rf"{_NUMBER}( ?[A-Za-z].*)")
# Values of one range; the product of the axes is checked by itself.
_MOST_VALUES = 100_000
# Points named on stderr that were not sized; the table has them all.
_MOST_NAMED = 5
# Column of the table on the terminal -> columns of the answer it shows.
_SHOWN = {
    "status": "answer.status",
    "server": "answer.design.server",
    "servers": "answer.design.servers",
    "GPUs": "answer.design.gpus",
    "storage": "answer.design.storage",
    "nodes": "answer.design.storage_nodes",
    "probability": "answer.probability",
    "samples/s": "answer.workload.0.throughput_samples_per_s.value",
    "time (h)": "answer.workload.0.time_to_train_s.value",
    "drawn probability": "answer.posterior.probability",
    "time p05 (h)": "answer.posterior.workload.0.time_to_train_s.p05",
    "time p95 (h)": "answer.posterior.workload.0.time_to_train_s.p95",
}


def sweep_command(
    request: Annotated[Path, typer.Argument(help="Request file, TOML or JSON.", metavar="REQUEST")],
    axis: Annotated[
        list[str],
        typer.Option(
            "--axis",
            help="KEY=VALUE,VALUE... or KEY=LOW..HIGH step STEP, with a unit at the end; repeat for each axis; the "
            "last varies fastest. Example: workload.0.target.samples_per_s=10000,20000 images/s",
        ),
    ],
    draws: Annotated[int, typer.Option(help="Draws of the calibration coefficients for each design.")] = 0,
    seed: Annotated[int, typer.Option(help="Random seed of the draws.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Number of processes. Default: one, this process.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table to FILE.parquet or FILE.csv.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size a request for all combinations of values of some fields, one row each, including those without a design."""
    from sizer.catalog.loader import load_catalog
    from sizer.workload.request import SizingRequest

    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise OutputError(f"{out}: the file name of a sweep must end in {' or '.join(_ENDINGS)}")
    asked = SizingRequest.from_file(request)
    axes: dict[str, list[Any]] = {}
    for text in axis:
        name, values = axis_of(text)
        if name in axes:
            raise RequestError(f"--axis {name} is given more than once; list all its values in one --axis")
        axes[name] = values
    try:
        from sizer.batch.sweep import sweep
    except ModuleNotFoundError as error:
        raise BatchError(
            f"a sweep needs {error.name}, which is not installed; install dl-cluster-configurator[batch]"
        ) from None
    table = sweep(asked, axes, load_catalog(overlay=catalog_dir), draws=draws, seed=seed, workers=workers)
    if out is not None:
        _write(table, out)
        print_message(f"results: {out}")
    if as_json:
        print_document("sweep", points=table.to_pylist())
    elif out is None:
        _print(table, tuple(axes))
    _end(table)


def axis_of(text: str) -> tuple[str, list[Any]]:
    """Key and values of an axis as typed.

    A number without a unit takes the unit of the next value that has one: ``10000,20000 images/s``. An empty value
    removes the key.

    Raises RequestError if it is not ``KEY=VALUES``, or a range has no end.
    """
    from sizer.base.faults import shown

    name, sign, listed = text.partition("=")
    if not sign or not name.strip() or not listed.strip():
        raise RequestError(f"--axis {shown(text)}: write KEY=VALUE,VALUE or KEY=LOW..HIGH step STEP")
    if match := _RANGE.fullmatch(listed.strip()):
        return name.strip(), _range(text, *match.groups())
    if ".." in listed and "step" in listed:
        raise RequestError(f"--axis {shown(text)}: write a range as LOW..HIGH step STEP, such as 1000..5000 step 500")
    values: list[Any] = []
    unit = ""
    for value in reversed([part.strip() for part in listed.split(",")]):
        if re.fullmatch(_NUMBER, value):
            values.append(f"{value}{unit}")
            continue
        if with_unit := _WITH_UNIT.fullmatch(value):
            unit = with_unit[1]
        values.append(value or None)
    return name.strip(), values[::-1]


def _range(text: str, low: str, high: str, step: str, unit: str) -> list[Any]:
    from sizer.base.faults import shown

    # Decimal numbers hit the end of a range that floats would miss.
    first, last, by = Decimal(low), Decimal(high), Decimal(step)
    if not by or (last - first) / by < 0:
        raise RequestError(f"--axis {shown(text)}: a step of {step} does not lead from {low} to {high}")
    # A quotient of more than 28 digits is no whole number for Decimal.
    if (last - first) / by >= _MOST_VALUES:
        raise RequestError(f"--axis {shown(text)} has more than {_MOST_VALUES} values; at most so many are allowed")
    count = int((last - first) // by) + 1
    return [f"{first + by * index:f}{unit}" for index in range(count)]


def _write(table: Any, out: Path) -> None:
    import pyarrow.parquet as pq

    from sizer.export.files import write_whole
    from sizer.export.tables.table import csv_of_batches

    if out.suffix.lower() == ".csv":
        content = csv_of_batches(table.schema.names, table.to_batches())
    else:
        stream = io.BytesIO()
        pq.write_table(table, stream, compression="zstd")
        content = stream.getvalue()
    write_whole(out.parent, {out.name: content})


def _print(table: Any, names: tuple[str, ...]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sizer.base.texts import escaped

    heads = {name: name for name in names} | {
        head: name
        for head, name in _SHOWN.items()
        if name in table.schema.names and table.column(name).null_count < table.num_rows
    }
    shown_table = Table()
    for head, name in heads.items():
        is_text = str(table.schema.field(name).type) in ("string", "list<item: string>", "null")
        shown_table.add_column(escaped(head), justify="left" if is_text else "right", overflow="fold")
    columns = [table.column(name).to_pylist() for name in heads.values()]
    for row in zip(*columns, strict=True):
        # Text, so that brackets in names are no markup.
        shown_table.add_row(*(Text(escaped(_in_words(head, cell))) for head, cell in zip(heads, row, strict=True)))
    console = Console()
    if not console.is_terminal:
        console.width = 250
    console.print(shown_table)


def _in_words(head: str, cell: Any) -> str:
    if cell is None:
        return ""
    if "(h)" in head:
        return f"{cell / HOUR_S:.2f}"
    if "probability" in head:
        return f"{cell:.1%}"
    return f"{cell:,.6g}" if isinstance(cell, float) else ", ".join(cell) if isinstance(cell, list) else str(cell)


def _end(table: Any) -> None:
    counts = Counter(table.column("answer.status").to_pylist())
    if counts["sized"] == table.num_rows:
        return
    errors = [error for error in table.column("answer.error").to_pylist() if error is not None]
    for error in list(dict.fromkeys(errors))[:_MOST_NAMED]:
        print_message(f"sizer: {error}")
    raise BatchError(f"not sized: {table.num_rows - counts['sized']} of {table.num_rows} points")
