"""``sizer ownership`` and ``sizer rent``: the cost of a cluster over the years, and of renting the same GPUs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sizer.base.errors import RequestError
from sizer.cli.options import AsJson, CatalogDir, CustomerCopy, print_json

if TYPE_CHECKING:
    from sizer.workload.request import SizingRequest


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
    from sizer.catalog.loader import load_catalog
    from sizer.questions.ownership.analysis import ownership
    from sizer.questions.ownership.export import ownership_document
    from sizer.questions.ownership.text import ownership_text
    from sizer.sizing.customer_copy import customer_copy as copied
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    if request.ownership is None and years is None:
        raise RequestError(f"{request_file}: has no [ownership] table; add one, or give the years with --years")
    request = _with_table(request, "ownership", request_file, years=years, electricity_per_kwh=electricity)
    result = size(request, load_catalog(overlay=catalog_dir))
    answer = ownership(copied(result) if customer_copy else result)
    assert answer is not None  # the request has the table
    if as_json:
        print_json(ownership_document(answer))
    else:
        print(ownership_text(answer))


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
    from sizer.catalog.loader import load_catalog
    from sizer.questions.rent.analysis import rent_or_buy, use_of
    from sizer.questions.rent.export import rental_document
    from sizer.questions.rent.text import rental_text
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    request = SizingRequest.from_file(request_file)
    if request.rental is None and rate is None:
        raise RequestError(
            f"{request_file}: has no [rental] table; add one, or give the price per GPU-hour with --rate"
        )
    request = _with_table(request, "rental", request_file, per_gpu_hour=rate, utilization_fraction=use)
    comparison = rent_or_buy(size(request, load_catalog(overlay=catalog_dir)))
    assert comparison is not None
    assert request.rental is not None
    if as_json:
        print_json(rental_document(comparison, use_of(request.rental)))
    else:
        print(rental_text(comparison, use_of(request.rental)))


def _with_table(request: "SizingRequest", name: str, request_file: Path, **changes: object) -> "SizingRequest":
    """The request with some fields of one table as given, and the others as they are."""
    data = request.model_dump(exclude_none=True)
    changed = {key: value for key, value in changes.items() if value is not None}
    return request.from_dict({**data, name: {**data.get(name, {}), **changed}}, str(request_file))
