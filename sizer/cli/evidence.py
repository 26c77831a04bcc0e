"""``sizer validate`` and ``sizer calibrate``: predictions compared with published measurements, and the fit to them."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sizer.cli.documents import AsJson, CatalogDir, print_json, print_message


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
        from sizer.evidence.validation_text import validation_document

        print_json(validation_document(report))
    else:
        from sizer.evidence.page import report_text

        print(report_text(report, catalog.sources))
    if ids_dir is not None:
        from sizer.calibrate.ids import files_with_ids

        write_whole(ids_dir, files_with_ids(files or [], catalog))
        print_message(f"observations with ids: {ids_dir}")


def calibrate_command(as_json: AsJson = False) -> None:
    """Fit the model to the observations again, check it, and store both in the catalogue."""
    from sizer.calibrate.calibration import save_calibration
    from sizer.calibrate.engine import fits_path, save_fits
    from sizer.calibrate.fitting import calibrate_with_fit
    from sizer.calibrate.language.calibration import accuracy, calibrate, language_calibration
    from sizer.calibrate.language.rows import load_language_rows
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
        from sizer.evidence.validation_text import calibration_document

        print_json(calibration_document(calibration, len(fit.ids)))
    else:
        from sizer.evidence.validation_text import calibration_text

        print(calibration_text(calibration))
    print_message(f"stored: {path}")
