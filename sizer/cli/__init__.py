"""Command line: one command for each question. Results on stdout, messages on stderr; statuses as in ``SizerError``.

The commands import what they need when they run, so that ``--help`` is quick.
"""

import sys

import typer

from sizer.base.errors import SizerError
from sizer.cli.batch import batch_command
from sizer.cli.catalog import catalog_check, catalog_import_netbox, catalog_show
from sizer.cli.costs import ownership_command, rent_command
from sizer.cli.diff import diff_command
from sizer.cli.doctor import doctor_command
from sizer.cli.evidence import calibrate_command, validate_command
from sizer.cli.fabric import fabric_command
from sizer.cli.failures import failures_command
from sizer.cli.grow import grow_command
from sizer.cli.ingest import ingest_command
from sizer.cli.project import project_command
from sizer.cli.scale import scale_command
from sizer.cli.serve import app_command
from sizer.cli.size import size_command
from sizer.cli.sweep import sweep_command
from sizer.cli.team import team_command
from sizer.cli.verdict import verdict_command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Size deep-learning clusters and write their reference architectures.",
)
app.command("size")(size_command)
app.command("batch")(batch_command)
app.command("sweep")(sweep_command)
app.command("project")(project_command)
app.command("diff")(diff_command)
app.command("scale")(scale_command)
app.command("team")(team_command)
app.command("ownership")(ownership_command)
app.command("rent")(rent_command)
app.command("verdict")(verdict_command)
app.command("ingest")(ingest_command)
app.command("grow")(grow_command)
app.command("fabric")(fabric_command)
app.command("failures")(failures_command)
app.command("validate")(validate_command)
app.command("calibrate")(calibrate_command)
app.command("doctor")(doctor_command)
app.command("app")(app_command)

catalog_app = typer.Typer(no_args_is_help=True, help="Show the catalogue, check it, and import parts.")
catalog_app.command("check")(catalog_check)
catalog_app.command("show")(catalog_show)
catalog_app.command("import-netbox")(catalog_import_netbox)
app.add_typer(catalog_app, name="catalog")


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
