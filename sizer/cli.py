"""Command line: one verb a question. Results go to stdout, messages to stderr; statuses as in ``SizerError``."""

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from sizer.base.errors import RequestError, SizerError

if TYPE_CHECKING:
    from sizer.catalog.model import Catalog
    from sizer.documents import FileProgress
    from sizer.report.profile import Profile
    from sizer.sizing.result import SizingResult

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Sizes deep-learning clusters and writes their reference architectures.",
)
catalog_app = typer.Typer(no_args_is_help=True, help="Look at the catalogue and check it.")
app.add_typer(catalog_app, name="catalog")

CatalogDir = Annotated[
    Path | None, typer.Option("--catalog", help="Folder with your own parts and prices, laid over the catalogue.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def main() -> None:
    """Entry point: runs the command line and ends with the status of the error, if any."""
    try:
        app()
    except SizerError as error:
        print(f"sizer: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader of a pipe closed it (sizer catalog show | head): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)


def _print_json(data: Any) -> None:
    print(json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False))


@app.command("size")
def size_command(
    requests: Annotated[list[Path], typer.Argument(help="Request files, TOML or JSON.", metavar="REQUEST...")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the documents; with several requests one folder each.")
    ] = None,
    profile_file: Annotated[
        Path | None, typer.Option("--profile", help="Company, logo, colours and paper of the documents (TOML).")
    ] = None,
    customer_copy: Annotated[
        bool, typer.Option("--customer-copy", help="Leave discounts and internal notes out of everything.")
    ] = False,
    formats: Annotated[
        str | None, typer.Option(help="Documents to write, e.g. pdf,xlsx; default: all but the archive.")
    ] = None,
    archive: Annotated[
        bool, typer.Option("--archive", help="Also write the full guide as PDF/A-3 with design and bill inside.")
    ] = False,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Size the cluster of each request, print the answer, and write its documents with --out."""
    from sizer.catalog.loader import load_catalog
    from sizer.export.design_json import design_document
    from sizer.export.files import make_folder
    from sizer.report.summary import answer_text
    from sizer.sizing.size import size
    from sizer.workload.request import SizingRequest

    if out is None and (formats is not None or archive):
        raise RequestError("--formats and --archive say which documents to write; say where with --out")
    order = _order(profile_file, customer_copy, formats, archive)
    catalog = load_catalog(overlay=catalog_dir)
    parsed = [(path, SizingRequest.from_file(path)) for path in requests]  # fail before long work
    if len({path.stem for path in requests}) < len(requests):
        raise RequestError("two request files have the same name; their documents would land in one folder")
    if out is not None:
        make_folder(out)
    answers: list[dict[str, Any]] = []
    failures: list[tuple[Path, SizerError]] = []
    to_write: list[tuple[SizingResult, Catalog, Path]] = []
    for path, request in parsed:
        try:
            with order.spoken():
                result = size(request, catalog)
                shown = order.handed_over(result)
        except SizerError as error:
            if len(parsed) == 1:
                raise
            failures.append((path, error))
            continue
        if as_json:
            answers.append(design_document(shown))
        else:
            with order.spoken():
                print(answer_text(shown), end="\n\n" if len(parsed) > 1 else "\n", flush=True)
        if out is not None:
            to_write.append((result, catalog, out if len(parsed) == 1 else out / path.stem))
    if as_json:
        _print_json(answers[0] if len(parsed) == 1 else answers)
    for line in _write_all(to_write, order):
        print(line, file=sys.stderr)
    for path, failure in failures:
        print(f"sizer: {path}: {failure}", file=sys.stderr)
    if failures:
        sys.exit(failures[0][1].exit_status)


@dataclass(frozen=True)
class _Order:
    """Which documents are written, and how."""

    kinds: tuple[str, ...]
    profile: "Profile"
    customer_copy: bool

    def spoken(self) -> AbstractContextManager[None]:
        """Language of everything that is said inside."""
        from sizer.base.language import language_of, speaking

        return speaking(language_of(self.profile.locale))

    def handed_over(self, result: "SizingResult") -> "SizingResult":
        """The answer as the documents tell it, for the one that is printed."""
        from sizer.documents import as_handed_over

        return as_handed_over(result, self.profile, self.customer_copy)


def _order(profile_file: Path | None, customer_copy: bool, formats: str | None, archive: bool) -> _Order:
    from sizer.documents import USUAL, known_kinds
    from sizer.report.profile import PLAIN, Profile

    kinds = USUAL
    if formats is not None:
        kinds = known_kinds([name.strip() for name in formats.split(",") if name.strip()], "--formats")
    profile = PLAIN if profile_file is None else Profile.from_file(profile_file)
    return _Order((*kinds, "archive") if archive else kinds, profile, customer_copy)


def _write_all(jobs: "list[tuple[SizingResult, Catalog, Path]]", order: _Order) -> Iterator[str]:
    """Write the documents of several answers and tell where they lie; a guide takes seconds, so all cores help."""
    if len(jobs) < 2:
        with _progress() as tell:
            lines = [_write_one(*job, order, tell) for job in jobs]
        yield from lines
        return
    # Fresh processes, not forks: the PDF engine's C libraries have threads of their own.
    with ProcessPoolExecutor(min(len(jobs), os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        with _progress() as tell:
            tell(f"documents of {len(jobs)} answers", "")
            lines = list(pool.map(_write_one, *zip(*jobs, strict=True), [order] * len(jobs)))
        yield from lines


def _write_one(
    result: "SizingResult", catalog: "Catalog", folder: Path, order: _Order, tell: "FileProgress | None" = None
) -> str:
    from sizer.documents import write_documents

    written, remark = write_documents(
        result, catalog, folder, order.kinds, order.profile, order.customer_copy, progress=tell
    )
    names = ", ".join(file.name for file in written)
    return f"documents: {folder}/ ({names})" + (f"; {remark}" if remark else "")


@contextmanager
def _progress() -> "Iterator[FileProgress]":
    """Tells on stderr what is being written, from 1 s on: one changing line on a terminal, else a line a file."""
    from sizer.report.progress import WhenSlow

    console = Console(stderr=True)
    status = console.status("")
    told: set[str] = set()

    def show(file: str, word: str) -> None:
        if console.is_terminal:
            status.update(f"{file}: {word}" if word else file)
            status.start()
        elif file not in told:
            told.add(file)
            print(f"writing {file}", file=sys.stderr, flush=True)

    try:
        with WhenSlow(show) as tell:
            yield tell
    finally:
        status.stop()


@app.command("project")
def project_command(
    request_file: Annotated[Path, typer.Argument(help="Request file with the workload.", metavar="REQUEST")],
    server: Annotated[str, typer.Option(help="Server, e.g. dgx-1.")],
    servers: Annotated[int, typer.Option(help="Number of servers.")],
    storage: Annotated[str, typer.Option(help="Storage, e.g. isilon-f800.")],
    storage_nodes: Annotated[int, typer.Option(help="Number of storage nodes; 0 for local drives.")] = 0,
    gpu: Annotated[str | None, typer.Option(help="GPU; default: the server's usual one.")] = None,
    gpus_per_server: Annotated[int | None, typer.Option(help="GPUs that the job uses in each server.")] = None,
    stack: Annotated[str | None, typer.Option(help="Software stack; default: the request's.")] = None,
    fabric: Annotated[str | None, typer.Option(help="edr, 100gbe, 40gbe, 25gbe or 10gbe.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Performance of a given cluster, without a search."""
    from sizer.catalog.loader import load_catalog
    from sizer.export.design_json import projection_document
    from sizer.report.summary import projection_text
    from sizer.sizing.project import project
    from sizer.workload.request import SizingRequest

    design = project(
        SizingRequest.from_file(request_file),
        load_catalog(overlay=catalog_dir),
        server=server,
        servers=servers,
        storage=storage,
        storage_nodes=storage_nodes,
        gpu=gpu,
        gpus_per_server=gpus_per_server,
        stack=stack,
        fabric=fabric,
    )
    if as_json:
        _print_json(projection_document(design))
    else:
        print(projection_text(design))


@app.command("fabric")
def fabric_command(
    end_points: Annotated[int, typer.Argument(help="Ports to join.", metavar="END_POINTS")],
    switch: Annotated[str | None, typer.Option(help="Switch of the catalogue, e.g. sb7800.")] = None,
    ports: Annotated[int | None, typer.Option(help="Ports of every switch, instead of --switch.")] = None,
    oversubscription: Annotated[float, typer.Option(help="Accepted ratio of ports down to ports up of a leaf.")] = 1.0,
    rails: Annotated[int, typer.Option(help="Equal networks that are kept apart.")] = 1,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Design one fabric: switches and cables of up to three levels."""
    from sizer.catalog.loader import load_catalog
    from sizer.physical.one_fabric import one_fabric

    catalog = load_catalog(overlay=catalog_dir) if switch is not None else None
    found = one_fabric(
        end_points, ports=ports, switch=switch, oversubscription=oversubscription, rails=rails, catalog=catalog
    )
    if as_json:
        _print_json(vars(found))
    else:
        print(found.as_text())


@app.command("validate")
def validate_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Observation files (CSV); default: the built-in ones.", metavar="[FILE.csv ...]"),
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", help="Write the evidence as a page (HTML).", metavar="FILE.html")
    ] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Published measurements against what the model predicts for them.

    Without files: the built-in observations, in sample and with each source left out of the fit.
    """
    from sizer.calibrate.calibration import stored_calibration
    from sizer.calibrate.observations import load_files
    from sizer.calibrate.validate import built_in_report, validate
    from sizer.catalog.loader import load_catalog

    catalog = load_catalog(overlay=catalog_dir)
    report = validate(load_files(files), catalog, stored_calibration()) if files else built_in_report(catalog)
    if as_json:
        _print_json(report.as_dict())
    else:
        print(report.as_text())
    if report_file is not None:
        from sizer.export.files import write_whole
        from sizer.report.evidence import evidence_html

        page = evidence_html(report, catalog.sources).encode()
        write_whole(report_file.parent, {report_file.name: page})
        print(f"evidence: {report_file}", file=sys.stderr)


@app.command("calibrate")
def calibrate_command(as_json: AsJson = False) -> None:
    """Fit the model to the observations again, check it, store both in the catalogue and say what moved."""
    from sizer.base.errors import CalibrationError
    from sizer.calibrate.calibration import calibrate_with_fit, load_calibration, save_calibration
    from sizer.calibrate.left_out import leave_out, save_left_out
    from sizer.calibrate.moved import what_moved
    from sizer.calibrate.observations import load_observations
    from sizer.catalog.loader import load_catalog

    catalog, rows = load_catalog(), load_observations()
    calibration, fit = calibrate_with_fit(catalog, rows)
    checks = leave_out(fit, calibration, rows, catalog)
    try:
        before = load_calibration()
    except CalibrationError as error:
        print(f"sizer: nothing to compare with: {error}", file=sys.stderr)
        before = None
    moved = None if before is None else what_moved(before, calibration, rows, catalog)
    path = save_calibration(calibration)
    save_left_out(checks)
    if as_json:
        fitted = {"digest": calibration.digest, "rows": len(fit.model.ids), "effects": len(calibration.names)}
        more = {"left_out": calibration.left_out, "unseen_sources": calibration.unseen_sources}
        _print_json({**fitted, **more, "moved": None if moved is None else moved.as_dict()})
    else:
        print(calibration.summary())
        if moved is not None:
            print(moved.as_text())
    print(f"stored: {path}", file=sys.stderr)


@catalog_app.command("check")
def catalog_check(as_json: AsJson = False, catalog_dir: CatalogDir = None) -> None:
    """Read every file and list every fault with file and key."""
    from sizer.base.errors import CatalogError
    from sizer.catalog.checks import check_catalog, unknown_facts
    from sizer.catalog.loader import load_catalog

    catalog = load_catalog(overlay=catalog_dir)
    faults = check_catalog(catalog)
    if faults:
        raise CatalogError(faults)
    found = {
        "items": sum(1 for _ in catalog.items()),
        "sources": len(catalog.sources),
        "prices": len(catalog.prices),
        "assumed_values": len(catalog.assumptions()),
        "unknown_facts": len(unknown_facts(catalog)),
    }
    if as_json:
        _print_json({**found, "digest": catalog.digest})
        return
    print(
        f"{found['items']} items, {found['sources']} sources, {found['prices']} prices: no fault. "
        f"{found['assumed_values']} assumed values, {found['unknown_facts']} facts to ask the vendors for."
    )


@catalog_app.command("show")
def catalog_show(
    item: Annotated[str | None, typer.Argument(help="Item; default: a list of all.")] = None,
    as_json: AsJson = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Print an item with the source of every fact, or the list of items."""
    from sizer.catalog.loader import load_catalog
    from sizer.catalog.schema import CATEGORIES
    from sizer.catalog.show import item_rows

    catalog = load_catalog(overlay=catalog_dir)
    if item is None:
        listed = {name: list(catalog.folder(name)) for name in CATEGORIES}
        if as_json:
            _print_json(listed)
            return
        for name, ids in listed.items():
            print(f"{name}: {', '.join(ids)}")
        return
    found = catalog.item(item)
    if as_json:
        _print_json(found.model_dump(mode="json", exclude_none=True))
        return
    table = Table(
        "fact", "value", "basis", "source", "place", "note", title=f"{found.name} ({found.id})", title_justify="left"
    )
    for row in item_rows(found):
        table.add_row(*(text.replace("[", r"\[") for text in row))
    Console().print(table)


@catalog_app.command("import-netbox")
def catalog_import_netbox(
    file: Annotated[Path, typer.Argument(help="Device type of the NetBox library (YAML).", metavar="FILE.yaml")],
    folder: Annotated[
        Literal["switches", "servers", "gateways"], typer.Option(help="Folder of the catalogue that the item is for.")
    ] = "switches",
    source: Annotated[str, typer.Option(help="Key of the library in sources.toml.")] = "nbx",
    catalog_dir: CatalogDir = None,
) -> None:
    """Turn a NetBox device type into a catalogue file on stdout; what it leaves open is told on stderr."""
    from sizer.base.resources import text_of_file
    from sizer.base.yaml_text import MAX_CHARACTERS
    from sizer.catalog.loader import load_catalog
    from sizer.catalog.netbox import import_device_type

    text = text_of_file(file, MAX_CHARACTERS, "a device type")
    imported = import_device_type(text, str(file), folder, source, load_catalog(overlay=catalog_dir))
    print(imported.toml, end="")
    print(f"save as {folder}/{imported.item_id}.toml", file=sys.stderr)
    for question in imported.questions:
        print(f"open: {question}", file=sys.stderr)


@app.command("doctor")
def doctor_command(as_json: AsJson = False) -> None:
    """State of the set-up: what works, what is missing and the next step."""
    from sizer.report.doctor import set_up_state

    checks = set_up_state()
    if as_json:
        _print_json([{"name": c.name, "ok": c.ok, "detail": c.detail, "next_step": c.next_step} for c in checks])
        return
    for check in checks:
        print(
            f"{'ok     ' if check.ok else 'missing'}  {check.name}: {check.detail}"
            + (f" -> {check.next_step}" if check.next_step else "")
        )


@app.command("app")
def app_command(
    address: Annotated[
        str | None,
        typer.Option(help="Address to listen on; else SIZER_APP_ADDRESS, else 127.0.0.1: this machine only."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port; else SIZER_APP_PORT, else 8501.")] = None,
    base_path: Annotated[
        str | None, typer.Option(help="Path behind a reverse proxy, such as /sizer; else SIZER_APP_BASE_PATH.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Start nothing: ask the app that runs with these settings if it is well.")
    ] = False,
    catalog_dir: CatalogDir = None,
) -> None:
    """Start the app in the browser, on this machine only unless told otherwise.

    A flag rules over its variable of the environment. Other variables: SIZER_APP_MAX_UPLOAD_MB (largest upload, 2),
    SIZER_CATALOG_FOLDER (as --catalog), SIZER_LIBRARY (where saved designs lie), SIZER_USER (who saves them),
    SIZER_USER_HEADER (HTTP header in which a proxy names the user). docs/serve-a-team.md tells the rest.
    """
    from sizer.ui.settings import serving
    from sizer.ui.start import check_health, run

    chosen = serving(os.environ, address=address, port=port, base_path=base_path)
    if check:
        print(f"{check_health(chosen)}: ok")
    else:
        run(chosen, catalog_dir)


if __name__ == "__main__":
    main()
