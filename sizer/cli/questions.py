"""Commands that answer one question about a request, each a verb of its own."""

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sizer.base.errors import RequestError
from sizer.cli.documents import AsJson, CatalogDir, CustomerCopy, print_answer, print_document

if TYPE_CHECKING:
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.workload.request import SizingRequest


questions_app = typer.Typer()  # its commands stand beside the others

RequestFile = Annotated[Path, typer.Argument(help="Request file, TOML or JSON.", metavar="REQUEST")]


def _request(request_file: Path) -> "SizingRequest":
    from sizer.workload.request import SizingRequest

    return SizingRequest.from_file(request_file)


def _sized(request: "SizingRequest", catalog_dir: Path | None) -> "EvaluatedDesign":
    from sizer.catalog.loader import load_catalog
    from sizer.sizing.design.evaluated_design import EvaluatedDesign
    from sizer.sizing.size import size

    catalog = load_catalog(overlay=catalog_dir)
    return EvaluatedDesign(size(request, catalog), catalog)


@questions_app.command("verdict")
def verdict_command(request_file: RequestFile, as_json: AsJson = False, catalog_dir: CatalogDir = None) -> None:
    """Do we need this? Claims with their numbers, and the simplest sufficient design."""
    from sizer.guide.plain_text import verdict_answer_text
    from sizer.questions.verdict.analysis import claims
    from sizer.questions.verdict.simplest_design import simplest_design
    from sizer.questions.verdict.text import verdict_document

    evaluated = _sized(_request(request_file), catalog_dir)
    answers = claims(evaluated), simplest_design(evaluated)
    print_answer(as_json, verdict_document, verdict_answer_text, evaluated.result, *answers)


@questions_app.command("ingest")
def ingest_command(
    request_file: Annotated[
        Path, typer.Argument(help="Request file, with a [data] table if needed.", metavar="REQUEST")
    ],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the cluster and show required capacity, time to ingest, and whether local copies pay off."""
    from sizer.questions.data.analysis import data_plan
    from sizer.questions.data.text import data_document, data_text

    request = _request(request_file)
    evaluated = _sized(request, catalog_dir)
    text = partial(data_text, request.title)
    print_answer(as_json, data_document, text, evaluated.result.design.name, data_plan(evaluated))


@questions_app.command("team")
def team_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with a [team] table.", metavar="REQUEST")],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the cluster for a team: queue waits with fewer and more servers, and the combined read rate of all jobs."""
    from sizer.questions.team.analysis import team_answer
    from sizer.questions.team.text import team_document, team_text

    request = _request(request_file)
    if request.team is None:
        raise RequestError(f"{request_file}: has no [team] table; add one with wait_s and at least one [[team.job]]")
    evaluated = _sized(request, catalog_dir)
    text = partial(team_text, request.title)
    print_answer(as_json, team_document, text, evaluated.result.design.name, team_answer(evaluated))


@questions_app.command("grow")
def grow_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with a [growth] table.", metavar="REQUEST")],
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Plan purchases by year, at once or in steps, and show when the year-1 cluster reaches its limits."""
    from sizer.catalog.loader import load_catalog
    from sizer.questions.growth.text import growth_document, growth_text
    from sizer.sizing.growth.growth_plan import growth_plan

    catalog = load_catalog(overlay=catalog_dir)
    request = _request(request_file)
    plan = growth_plan(request, catalog)
    print_answer(as_json, growth_document, partial(growth_text, catalog=catalog, request=request), plan)


# Rows that a person compares on a page; each takes about as long as a sizing.
_MAX_COUNTS = 50
_MAX_DIGITS = 6


@questions_app.command("scale")
def scale_command(
    request_file: RequestFile,
    gpus: Annotated[
        str | None, typer.Option(help="Numbers of GPUs, e.g. 8,16,32. Default: the GPUs of the design.")
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Compare the same GPUs in fewer, larger servers or in more, smaller ones: rate, space, power and price."""
    from sizer.questions.scale.analysis import scale_comparison
    from sizer.questions.scale.text import scale_document, scale_text

    counts = None if gpus is None else _counts(gpus)
    evaluated = _sized(_request(request_file), catalog_dir)
    comparison = scale_comparison(evaluated, counts)
    print_answer(as_json, scale_document, partial(scale_text, evaluated=evaluated), comparison)


def _counts(text: str) -> list[int]:
    parts = text.split(",")
    if len(parts) > _MAX_COUNTS:
        raise RequestError(f"--gpus: {len(parts)} numbers of GPUs; give at most {_MAX_COUNTS}")
    return [_count(part.strip()) for part in parts]


def _count(text: str) -> int:
    from sizer.base.faults import shown

    if not text.isascii() or not text.isdigit() or len(text) > _MAX_DIGITS:
        raise RequestError(f"--gpus: {shown(text)} is not a number of GPUs; write for example --gpus 8,16,32")
    return int(text)


@questions_app.command("ownership")
def ownership_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with an [ownership] table.", metavar="REQUEST")],
    years: Annotated[int | None, typer.Option(help="Years of ownership, e.g. 5. Default: as in the request.")] = None,
    electricity: Annotated[
        str | None, typer.Option(help="Price per kWh, e.g. 0.25. Default: as in the request.")
    ] = None,
    as_json: AsJson = False,
    customer_copy: CustomerCopy = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the request, and compute the cost of owning its design over the years and of one training run."""
    from sizer.questions.ownership.analysis import ownership
    from sizer.questions.ownership.text import ownership_document, ownership_text
    from sizer.sizing.customer_copy import customer_copy as copied

    request = _request(request_file)
    if request.ownership is None and years is None:
        raise RequestError(f"{request_file}: has no [ownership] table; add one, or give the years with --years")
    request = _with_table(request, "ownership", request_file, years=years, electricity_per_kwh=electricity)
    result = _sized(request, catalog_dir).result
    answer = ownership(copied(result) if customer_copy else result)
    print_answer(as_json, ownership_document, ownership_text, answer)


@questions_app.command("rent")
def rent_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with a [rental] table.", metavar="REQUEST")],
    rate: Annotated[str | None, typer.Option(help="Price per GPU-hour, e.g. 2.48. Default: as in the request.")] = None,
    use: Annotated[
        float | None,
        typer.Option(help="GPU utilization, as a share of all hours, e.g. 0.4. Default: as in the request."),
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the request, and compare the cost of its design over the years with an offer by the hour."""
    from sizer.questions.rent.rent_or_buy import rent_or_buy, rental_document, rental_text, use_of

    request = _request(request_file)
    if request.rental is None and rate is None:
        raise RequestError(
            f"{request_file}: has no [rental] table; add one, or give the price per GPU-hour with --rate"
        )
    request = _with_table(request, "rental", request_file, per_gpu_hour=rate, utilization_fraction=use)
    assert request.rental is not None
    comparison = rent_or_buy(_sized(request, catalog_dir).result)
    print_answer(as_json, rental_document, rental_text, comparison, use_of(request.rental))


def _with_table(request: "SizingRequest", name: str, request_file: Path, **changes: object) -> "SizingRequest":
    """The request with some fields of one table as given, and the others as they are."""
    data = request.model_dump(exclude_none=True)
    changed = {key: value for key, value in changes.items() if value is not None}
    return request.from_dict({**data, name: {**data.get(name, {}), **changed}}, str(request_file))


@questions_app.command("failures")
def failures_command(
    request_file: RequestFile,
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
    from sizer.questions.failures.analysis import failure_cases
    from sizer.questions.failures.text import failures_document, failures_text
    from sizer.sizing.servers_needed import spare_cost

    request = _request(request_file)
    if without is not None:
        losses = [part.strip() for part in without.split(",") if part.strip()]
        data: dict[str, Any] = request.model_dump(exclude_none=True)
        request = request.from_dict({**data, "resilience": {"keeps_targets_without": losses}}, "--without")
    evaluated = _sized(request, catalog_dir)
    cases = failure_cases(evaluated)
    cost = spare_cost(request, evaluated.result.design, evaluated.catalog)
    print_answer(as_json, failures_document, failures_text, evaluated.result, cases, cost)


@questions_app.command("goodput")
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
    from sizer.questions.failures.goodput import (
        goodput_answer,
        goodput_text,
        job_question,
        stated_question,
        storage_worth,
        worth_lines,
    )

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
    if re.fullmatch(r"[+-]?[0-9]{1,18}", job):
        question = stated_question(int(job), given)
    else:
        from sizer.base.faults import shown

        if not os.path.exists(job):
            raise RequestError(f"{shown(job)} is neither a number of GPUs, such as 512, nor a request file that exists")
        evaluated = _sized(_request(Path(job)), catalog_dir)
        question = job_question(evaluated.result.design, given)
        worth = storage_worth(evaluated, question)
    answer = goodput_answer(question)
    if as_json:
        print_document("goodput", **vars(answer), storage=None if worth is None else worth.rows)
    else:
        print(goodput_text(answer))
        if worth is not None:
            print(worth_lines(worth))
