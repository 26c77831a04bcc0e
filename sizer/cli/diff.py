"""``sizer diff``: differences between two requests, designs or revisions, and the inputs that caused them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sizer.base.errors import RequestError
from sizer.cli.options import AsJson, CatalogDir, print_json

if TYPE_CHECKING:
    from sizer.catalog.model import Catalog
    from sizer.library.compare import ComparedAnswer

_WHAT = "request file, design.json, or revision of the library: 'Plant 4@r3'"


def diff_command(
    before: Annotated[str, typer.Argument(help=f"A: {_WHAT}.", metavar="A")],
    now: Annotated[
        str | None, typer.Argument(help=f"B: {_WHAT}. Default: A, sized today.", metavar="B", show_default=False)
    ] = None,
    library: Annotated[
        str | None,
        typer.Option(help="Library of designs: a file or an address. Default: as for the app (SIZER_LIBRARY)."),
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Compare two requests, designs or saved revisions: inputs, results, parts, cost, and the cause of each change."""
    from sizer.catalog.loader import load_catalog
    from sizer.library.compare import differences, sized_today
    from sizer.questions.compare.causes import diff
    from sizer.questions.compare.text import difference_document, difference_text

    catalog = load_catalog(overlay=catalog_dir)
    saved = _side(before, library, catalog)
    sides = saved, sized_today(saved, catalog) if now is None else _side(now, library, catalog)
    found = differences(*sides)
    caused = diff(sides[0].sizing_request, sides[1].sizing_request, catalog)
    if as_json:
        print_json(difference_document(sides, found, caused))
    else:
        print(difference_text(sides, found, caused))


def _side(named: str, address: str | None, catalog: "Catalog") -> "ComparedAnswer":
    from sizer.library.compare import answer_in_file

    path = Path(named)
    if "@" not in named or os.path.isfile(path):
        return answer_in_file(path, catalog)
    try:
        from sizer.library.library import Library, answer_of_revision
        from sizer.library.opening import default_address
    except ModuleNotFoundError as error:
        raise RequestError(
            f"{named[:80]}: the library of designs needs {error.name}, which is not installed; "
            "install dl-cluster-configurator[library]"
        ) from None
    address = default_address(os.environ) if address is None else address
    # Opening would create a library where there is none; this command only reads.
    if "://" not in address and not os.path.isfile(os.path.expanduser(address)):
        raise RequestError(f"{named[:80]}: there is no library at {address}; name one with --library")
    library = Library(address)
    try:
        return answer_of_revision(named, library)
    finally:
        library.close()
