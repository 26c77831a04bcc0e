"""``sizer batch``: sizes many requests into one table, on all cores or a Dask cluster."""

import os
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice, repeat
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from sizer.base.errors import BatchError, RequestError
from sizer.cli.documents import (
    AsJson,
    CatalogDir,
    CustomerCopy,
    DocumentOptions,
    ProfileFile,
    document_options,
    print_document,
    print_error,
    print_message,
    write_one,
)

if TYPE_CHECKING:
    from sizer.batch.run import Progress
    from sizer.catalog.model import Catalog
    from sizer.workload.request import SizingRequest

# Interval of progress lines without a terminal.
_LINE_EVERY_S = 10.0
# Requests named on stderr that were not sized; the table has them all.
_MOST_NAMED = 5
_LONGEST_NAME = 60
_CONNECT_S = 10


def batch_command(
    requests: Annotated[
        list[Path],
        typer.Argument(help="Request files (TOML, JSON) and tables of requests (CSV, Parquet).", metavar="REQUEST..."),
    ],
    out: Annotated[Path, typer.Option(help="Table of the results (FILE.parquet), or a folder for it.")],
    workers: Annotated[int | None, typer.Option(help="Number of processes. Default: one per core.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler that runs the batch, e.g. tcp://10.0.0.5:8786.")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Also write the table as CSV, for spreadsheets.")] = False,
    formats: Annotated[
        str | None, typer.Option(help="Documents to write for each request, e.g. design,pdf. Default: none.")
    ] = None,
    profile_file: ProfileFile = None,
    customer_copy: CustomerCopy = False,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size many requests into one table: one row for each, in their order, including those without a design.

    The columns of a table of requests are dotted keys, such as workload.0.dnn and workload.0.target.samples_per_s, or
    "sentence": a need in words, which the other columns of its row overrule.
    To resume an interrupted batch, start it again with the same arguments.
    """
    from sizer.catalog.loader import load_catalog

    if scheduler is not None and workers is not None:
        raise RequestError("use either --workers (processes on this machine) or --scheduler (a Dask cluster), not both")
    is_folder = out.suffix.lower() != ".parquet"
    if formats is None and (profile_file is not None or customer_copy):
        raise RequestError("--profile and --customer-copy apply to documents; add --formats to write some")
    if formats is not None and not is_folder:
        raise RequestError("--formats needs a folder; give --out FOLDER instead of a .parquet file")
    documents = None if formats is None else document_options(profile_file, customer_copy, formats, archive=False)
    catalog = load_catalog(overlay=catalog_dir)
    target = out / "results.parquet" if is_folder else out
    with _progress() as tell:
        _size(requests, catalog, target, workers, scheduler, tell)
    print_message(f"results: {target}")
    if csv:
        print_message(f"results: {_write_csv(target)}")
    statuses = _column(target, "answer.status")
    if documents is not None:
        _write_documents(requests, statuses, catalog, out, documents, workers)
    counts = Counter(statuses)
    if as_json:
        print_document("batch", requests=len(statuses), statuses=counts, results=str(target))
    else:
        print(_in_words(counts))
    not_sized = len(statuses) - counts["sized"]
    if not_sized:
        errors = zip(_column(target, "answer.place"), _column(target, "answer.error"), strict=True)
        for source, error in islice(((source, error) for source, error in errors if error is not None), _MOST_NAMED):
            print_error(error if error.startswith(source) else f"{source}: {error}")
        raise BatchError(f"not sized: {not_sized} of {len(statuses)} requests; see column answer.error of {target}")


def _in_words(counts: Counter[str]) -> str:
    total = sum(counts.values())
    return f"{total} request{'' if total == 1 else 's'}: " + (
        ", ".join(f"{count} {status}" for status, count in counts.most_common()) or "the tables are empty"
    )


def _size(
    requests: Sequence[Path],
    catalog: "Catalog",
    target: Path,
    workers: int | None,
    scheduler: str | None,
    tell: "Progress",
) -> None:
    try:
        from sizer.batch.run import size_batch
    except ModuleNotFoundError as error:
        raise BatchError(
            f"a batch needs {error.name}, which is not installed; install dl-cluster-configurator[batch]"
        ) from None
    if scheduler is None:
        count = (os.cpu_count() or 1) if workers is None else workers
        size_batch(requests, catalog, workers=count, out=target, progress=tell)
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise BatchError(
            "--scheduler needs Dask, which is not installed; install dl-cluster-configurator[cluster]"
        ) from None
    try:
        client = Client(scheduler, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BatchError(f"no Dask scheduler at {scheduler}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise BatchError(f"the scheduler at {scheduler} has no workers; start them with: dask worker {scheduler}")
        size_batch(requests, catalog, executor=client.get_executor(), in_flight=2 * threads, out=target, progress=tell)


def _column(target: Path, name: str) -> list[Any]:
    import pyarrow.parquet as pq

    cells: list[Any] = pq.read_table(target, columns=[name]).column(name).to_pylist()
    return cells


def _write_csv(target: Path) -> Path:
    import pyarrow.parquet as pq

    from sizer.export.files import write_whole
    from sizer.export.tables.table import csv_of_batches

    with pq.ParquetFile(target) as file:
        content = csv_of_batches(file.schema_arrow.names, file.iter_batches())
    return write_whole(target.parent, {f"{target.stem}.csv": content})[0]


def _write_documents(
    requests: Sequence[Path],
    statuses: Sequence[str],
    catalog: "Catalog",
    out: Path,
    documents: DocumentOptions,
    workers: int | None,
) -> None:
    """Documents of every request that was sized, each in its own folder."""
    from sizer.batch.requests import batch_requests
    from sizer.batch.work import mapped_request
    from sizer.workload.request import SizingRequest

    jobs: list[tuple[SizingRequest, Path]] = []
    for number, (batch_request, status) in enumerate(zip(batch_requests(requests)[0], statuses, strict=True), 1):
        if status != "sized" or batch_request.request is None:
            continue
        request = batch_request.request
        if not isinstance(request, SizingRequest):
            request = mapped_request(request, catalog, batch_request.place)
        is_file = Path(batch_request.place).suffix in (".toml", ".json")
        name = Path(batch_request.place).stem if is_file else request.title
        plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
        short = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME].rstrip("-")
        jobs.append((request, out / (f"{number:04d}-{short}" if short else f"{number:04d}")))
    if not jobs:
        return
    count = min(len(jobs), workers or os.cpu_count() or 1)
    # Fresh processes, not forks: the PDF engine's C libraries have threads of their own.
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        for line in pool.map(_write_request, *zip(*jobs, strict=True), repeat(catalog), repeat(documents)):
            print_message(line)


def _write_request(request: "SizingRequest", folder: Path, catalog: "Catalog", documents: DocumentOptions) -> str:
    from sizer.sizing.size import size

    with documents.locale():
        result = size(request, catalog)
    return write_one(result, catalog, folder, documents)


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Report progress on stderr: a bar on a terminal, else a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    with Bar(BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"), console=console) as bar:
        task = bar.add_task("", total=None, pace="")

        def tell(done: int, total: int | None, per_s: float, left_s: float | None) -> None:
            bar.update(task, completed=done, total=total, pace=_pace(per_s, left_s))

        yield tell


def _lines() -> "Progress":
    told_s = time.monotonic()

    def tell(done: int, total: int | None, per_s: float, left_s: float | None) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= _LINE_EVERY_S:
            told_s = time.monotonic()
            of_all = "" if total is None else f" of {total}"
            print_message(f"sized {done}{of_all}, {_pace(per_s, left_s)}")

    return tell


def _pace(per_s: float, left_s: float | None) -> str:
    from sizer.base.quantities import duration, significant

    rate = f"{significant(per_s)} per second"
    return rate if left_s is None else f"{rate}, {duration(left_s)} to go"
