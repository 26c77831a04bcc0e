"""``sizer validate`` and ``sizer calibrate``: predictions compared with published measurements, and the fit to them."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sizer.cli.documents import AsJson, CatalogDir, print_document, print_json, print_message


def validate_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Observation files (CSV). Default: the built-in ones.", metavar="[FILE.csv ...]"),
    ] = None,
    ids_dir: Annotated[
        Path | None,
        typer.Option("--with-ids", help="Write a copy of each file with its id columns filled in.", metavar="FOLDER"),
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Compare predictions with published measurements.

    Without files: the built-in observations, in sample and with each source excluded from the fit.
    """
    from sizer.calibrate.reports import built_in_report, report_on_files
    from sizer.catalog.loader import load_catalog
    from sizer.export.files import write_whole
    from sizer.sizing.stages.language_rates import rate_of_training

    if ids_dir is not None and not files:
        raise typer.BadParameter("give the observation files to copy", param_hint="--with-ids")
    catalog = load_catalog(overlay=catalog_dir)
    rate = partial(rate_of_training, catalog=catalog)
    report = report_on_files(files, catalog, rate) if files else built_in_report(catalog)
    if as_json:
        from sizer.evidence.tables import validation_document

        print_json(validation_document(report))
    else:
        from sizer.evidence.tables import report_text

        print(report_text(report, catalog.sources))
    if ids_dir is not None:
        from sizer.calibrate.cases import files_with_ids

        write_whole(ids_dir, files_with_ids(files or [], catalog))
        print_message(f"observations with ids: {ids_dir}")


def calibrate_command(as_json: AsJson = False) -> None:
    """Fit the model to the observations again, check it, and store both in the catalogue."""
    from sizer.calibrate.calibration import save_calibration
    from sizer.calibrate.engine import fits_path, save_fits
    from sizer.calibrate.fit.joint import calibrate_with_fit
    from sizer.calibrate.language.calibration import accuracy, calibrate, language_calibration
    from sizer.calibrate.language.cases import load_language_rows
    from sizer.calibrate.language.whole_runs import save_predicted
    from sizer.calibrate.modern.rows import load_modern
    from sizer.calibrate.modern.terms import calibrate_modern
    from sizer.calibrate.observations import load_observations
    from sizer.calibrate.own_networks import calibrate_own_networks
    from sizer.calibrate.serving.accuracy import calibrate_serving
    from sizer.calibrate.serving.rows import load_serving_rows
    from sizer.calibrate.validate import cross_validate, save_cross_validation
    from sizer.catalog.loader import load_catalog
    from sizer.sizing.stages.language_rates import rate_of_training

    catalog, rows = load_catalog(), load_observations()
    calibration, fit = calibrate_with_fit(catalog, rows)
    checks = cross_validate(fit, calibration, rows, catalog)
    path = save_calibration(calibration)
    save_cross_validation(checks)
    language = calibrate(load_language_rows(), catalog)
    save_fits(replace(language, figures=accuracy(language)).stored(), fits_path("language"))
    language_calibration.cache_clear()
    save_predicted(partial(rate_of_training, catalog=catalog), catalog)
    save_fits(calibrate_modern(load_modern()), fits_path("modern"))
    save_fits(calibrate_own_networks(), fits_path("own-networks"))
    save_fits(calibrate_serving(load_serving_rows(), catalog), fits_path("serving"))
    if as_json:
        from sizer.evidence.tables import calibration_document

        print_json(calibration_document(calibration, len(fit.ids)))
    else:
        from sizer.evidence.tables import calibration_text

        print(calibration_text(calibration))
    print_message(f"stored: {path}")


def catalog_check(as_json: AsJson = False, catalog_dir: CatalogDir = None) -> None:
    """Check every catalogue file; list each error with its file and key."""
    from sizer.base.errors import CatalogError
    from sizer.catalog.checks import check_catalog, unknown_facts
    from sizer.catalog.loader import load_catalog

    catalog = load_catalog(overlay=catalog_dir)
    faults = check_catalog(catalog)
    if faults:
        raise CatalogError(faults)
    counts = {
        "items": sum(1 for _ in catalog.items()),
        "sources": len(catalog.sources),
        "prices": len(catalog.prices),
        "assumed_values": len(catalog.assumptions()),
        "unknown_facts": len(unknown_facts(catalog)),
    }
    if as_json:
        print_document("catalog check", **counts, digest=catalog.digest)
        return
    print(
        f"{counts['items']} items, {counts['sources']} sources, {counts['prices']} prices: no errors. "
        f"{counts['assumed_values']} assumed values, {counts['unknown_facts']} unknown facts to confirm with vendors."
    )


def catalog_show(
    item: Annotated[str | None, typer.Argument(help="Item. Default: a list of all items.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Show an item with the source of every fact, or list all items."""
    from sizer.catalog.loader import load_catalog
    from sizer.catalog.schema import CATEGORIES
    from sizer.evidence.catalogue_tables import part_table

    catalog = load_catalog(overlay=catalog_dir)
    if item is None:
        listed = {name: list(catalog.folder(name)) for name in CATEGORIES}
        if as_json:
            print_document("catalog", items=listed)
            return
        for name, ids in listed.items():
            print(f"{name}: {', '.join(ids)}")
        return
    part = catalog.item(item)
    if as_json:
        print_document("catalog item", item=part.model_dump(mode="json", exclude_none=True))
        return
    known = part_table(part, catalog)
    title = Text(f"{part.name} ({part.id})")
    table = Table(*(column.title for column in known.columns), title=title, title_justify="left")
    for row in known.rows:
        table.add_row(*(Text(", ".join(filter(str.strip, (cell.text, *cell.cites, cell.where)))) for cell in row.cells))
    Console().print(table)


def catalog_import_netbox(
    file: Annotated[Path, typer.Argument(help="Device type of the NetBox library (YAML).", metavar="FILE.yaml")],
    folder: Annotated[
        Literal["switches", "servers", "gateways"], typer.Option(help="Catalogue folder of the item.")
    ] = "switches",
    source: Annotated[str, typer.Option(help="Key of the library in sources.toml.")] = "nbx",
    catalog_dir: CatalogDir = None,
) -> None:
    """Convert a NetBox device type to a catalogue file on stdout; missing facts are listed on stderr."""
    from sizer.base.formats.yaml_text import MAX_CHARACTERS
    from sizer.base.resources import text_of_file
    from sizer.catalog.loader import load_catalog
    from sizer.catalog.netbox.importer import import_device_type

    text = text_of_file(file, MAX_CHARACTERS, "a device type")
    imported = import_device_type(text, str(file), folder, source, load_catalog(overlay=catalog_dir))
    print(imported.toml, end="")
    print_message(f"save as {folder}/{imported.item_id}.toml")
    for question in imported.questions:
        print_message(f"missing: {question}")


def api_command(
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port.")] = 8502,
    hosts: Annotated[
        str | None, typer.Option(help="Host names that it answers to besides IP addresses and localhost, with commas.")
    ] = None,
    catalog_dir: CatalogDir = None,
) -> None:
    """Answer requests and sentences over HTTP with the JSON of sizer size; by default to this machine only.

    Parts and prices of --catalog are used for callers with the token in SIZER_API_TOKEN alone. See docs/api-service.md.
    """
    from sizer.ui.app_server.api import run
    from sizer.ui.app_server.settings import serving

    run(serving({}, address=address, port=port, hosts=hosts), catalog_dir)


def doctor_command(as_json: AsJson = False) -> None:
    """Check the installation: what works, what is missing, and the next step."""
    from sizer.guide.pdf.doctor import set_up_state

    checks = set_up_state()
    if as_json:
        print_document(
            "doctor",
            checks=[{name: getattr(c, name) for name in ("name", "ok", "detail", "next_step")} for c in checks],
        )
        return
    for check in checks:
        print(
            f"{'ok     ' if check.ok else 'missing'}  {check.name}: {check.detail}"
            + (f" -> {check.next_step}" if check.next_step else "")
        )


def app_command(
    address: Annotated[
        str | None,
        typer.Option(help="Address to listen on. Default: SIZER_APP_ADDRESS, else 127.0.0.1 (this machine only)."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port. Default: SIZER_APP_PORT, else 8501.")] = None,
    base_path: Annotated[
        str | None, typer.Option(help="Path behind a reverse proxy, such as /sizer. Default: SIZER_APP_BASE_PATH.")
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            help="Host names that the app answers to besides IP addresses and localhost, separated by commas, such "
            "as sizer.example.com. Default: SIZER_APP_HOSTS."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the health of the running app instead of starting one.")
    ] = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Start the app in the browser; by default it is reachable from this machine only.

    A flag overrides its environment variable. Other variables: SIZER_APP_MAX_UPLOAD_MB (largest upload, default 2),
    SIZER_CATALOG_FOLDER (as --catalog), SIZER_LIBRARY (location of saved designs), SIZER_USER (their author),
    SIZER_USER_HEADER (HTTP header with the user name, set by a proxy). See docs/serve-a-team.md.
    """
    from sizer.ui.app_server.settings import serving
    from sizer.ui.app_server.start import check_health, run

    chosen = serving(os.environ, address=address, port=port, base_path=base_path, hosts=hosts)
    if check:
        print(f"{check_health(chosen)}: ok")
    else:
        run(chosen, catalog_dir)
