"""``sizer failures`` and ``sizer goodput``: effect of each single loss; what failures leave of a large job's time."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sizer.cli.options import AsJson, CatalogDir, print_document, print_json


def failures_command(
    request_file: Annotated[Path, typer.Argument(help="Request file, TOML or JSON.", metavar="REQUEST")],
    without: Annotated[
        str | None,
        typer.Option(
            help="Tolerate the loss of any one of these: server, storage-node, switch, gateway, feed, "
            'head-node, separated by commas; "" for none. Default: as in the request.'
        ),
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Throughput, targets and queue waits after each single loss; parts that can be serviced while jobs run."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.failures.analysis import failure_cases
    from sizer.questions.failures.export import failures_document
    from sizer.questions.failures.text import failures_text
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.redundancy_cost import spare_cost
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    if without is not None:
        losses = [part.strip() for part in without.split(",") if part.strip()]
        data: dict[str, Any] = request.model_dump(exclude_none=True)
        request = SizingRequest.from_dict({**data, "resilience": {"keeps_targets_without": losses}}, "--without")
    catalog = load_catalog(overlay=catalog_dir)
    result = size(request, catalog)
    cases = failure_cases(EvaluatedDesign(result, catalog))
    cost = spare_cost(request, result.design, catalog)
    if as_json:
        print_json(failures_document(result, cases, cost))
    else:
        print(failures_text(result, cases, cost))


def goodput_command(
    job: Annotated[str, typer.Argument(help="GPUs of the job, or a request file.", metavar="GPUS|REQUEST")],
    parameters: Annotated[float | None, typer.Option(help="Parameters of the model, e.g. 70e9.")] = None,
    write_gb_per_s: Annotated[
        float | None, typer.Option(help="Write rate of the storage, all writers together, in GB/s.")
    ] = None,
    read_gb_per_s: Annotated[float | None, typer.Option(help="Read rate. Default: the write rate.")] = None,
    copy_s: Annotated[
        float | None,
        typer.Option(help="Seconds to copy the state into host memory, where training goes on while it is written."),
    ] = None,
    interval_min: Annotated[float | None, typer.Option(help="Minutes between checkpoints. Default: the best.")] = None,
    bytes_per_parameter: Annotated[float | None, typer.Option(help="Size of a checkpoint. Default: 14.")] = None,
    restart_min: Annotated[
        float | None, typer.Option(help="Minutes from a failure to loading. Default: as published, 9.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Interruptions for 1,000 days of 8 GPUs. Default: 4, from 2 to 9.")
    ] = None,
    repair_hours: Annotated[float | None, typer.Option(help="Hours of a repair, to size spare servers.")] = None,
    spares: Annotated[int | None, typer.Option(help="Spare servers. Default: one is free at every failure.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """What failures, checkpoints and restarts leave of the time of a large job, and what faster storage is worth.

    Of a request file: the first training of its design; options replace what the design has.
    """
    from sizer.questions.failures.goodput import goodput_answer, job_question, stated_question
    from sizer.questions.failures.goodput_text import goodput_text
    from sizer.questions.failures.storage_worth import storage_worth
    from sizer.questions.failures.storage_worth_tables import worth_lines

    given = {
        "parameters": parameters,
        "write_bytes_per_s": None if write_gb_per_s is None else write_gb_per_s * 1e9,
        "read_bytes_per_s": None if read_gb_per_s is None else read_gb_per_s * 1e9,
        "copy_s": copy_s,
        "interval_s": None if interval_min is None else interval_min * 60,
        "bytes_per_parameter": bytes_per_parameter,
        "notice_s": None if restart_min is None else restart_min * 60,
        "rate": rate,
        "repair_s": None if repair_hours is None else repair_hours * 3600,
        "spares": spares,
    }
    worth = None
    if job.lstrip("+-").isdigit():
        question = stated_question(int(job), given)
    else:
        from sizer.base.errors import RequestError
        from sizer.base.faults import shown
        from sizer.catalog.loader import load_catalog
        from sizer.sizing.design.evaluated_design import EvaluatedDesign
        from sizer.sizing.size import size
        from sizer.workload.request import SizingRequest

        if not Path(job).exists():
            raise RequestError(f"{shown(job)} is neither a number of GPUs, such as 512, nor a request file that exists")
        catalog = load_catalog(overlay=catalog_dir)
        result = size(SizingRequest.from_file(Path(job)), catalog)
        question = job_question(result.design, given)
        worth = storage_worth(EvaluatedDesign(result, catalog), question)
    found = goodput_answer(question)
    if as_json:
        print_document("goodput", **vars(found), storage=None if worth is None else worth.rows)
    else:
        print(goodput_text(found))
        if worth is not None:
            print(worth_lines(worth))
