"""``sizer ingest`` and ``sizer storage-benchmark``: data of a design; what storage carries of MLPerf Storage."""

from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.options import AsJson, CatalogDir, print_document, print_json


def ingest_command(
    request_file: Annotated[
        Path, typer.Argument(help="Request file, with a [data] table if needed.", metavar="REQUEST")
    ],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the cluster and show required capacity, time to ingest, and whether local copies pay off."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.data.analysis import data_plan
    from sizer.questions.data.export import data_document
    from sizer.questions.data.text import data_text
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    catalog = load_catalog(overlay=catalog_dir)
    result = size(request, catalog)
    plan = data_plan(EvaluatedDesign(result, catalog))
    if as_json:
        print_json(data_document(result.design.name, plan))
    else:
        print(data_text(request.title, result.design.name, plan))


def storage_benchmark_command(
    storage: Annotated[str, typer.Argument(help="Storage from the catalogue, e.g. ai400x2-turbo.", metavar="STORAGE")],
    nodes: Annotated[int, typer.Option(help="Storage nodes.")] = 1,
    clients: Annotated[int, typer.Option(help="Client servers.")] = 1,
    client_gbit: Annotated[
        float, typer.Option(help="Line rate of the storage adapters of one client, in Gbit/s.")
    ] = 400.0,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """How many accelerators of MLPerf Storage a storage system carries, and its times for checkpoints."""
    from sizer.base.units import bytes_per_s_from_gbit_per_s
    from sizer.catalog.loader import load_catalog
    from sizer.questions.storage_benchmark.analysis import BenchmarkQuestion, benchmark_answer
    from sizer.questions.storage_benchmark.text import benchmark_text
    from sizer.workload.resolve import look_up

    catalog = load_catalog(overlay=catalog_dir)
    chosen = look_up(catalog.storage, storage, "STORAGE", "storage")
    rate = bytes_per_s_from_gbit_per_s(client_gbit)
    answer = benchmark_answer(BenchmarkQuestion(chosen, nodes, clients, rate))
    if as_json:
        print_document("storage-benchmark", **vars(answer))
    else:
        print(benchmark_text(answer))
