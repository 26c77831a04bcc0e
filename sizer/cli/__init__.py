"""Command line: one command for each question. Results on stdout, messages on stderr; statuses as in ``SizerError``.

The commands import what they need when they run, so that ``--help`` is quick.
"""

import atexit
import contextlib
import errno
import gc
import signal
import sys
from typing import Annotated

import typer

from sizer import __version__
from sizer.base.errors import OutputError, RequestError, SizerError, reported
from sizer.base.streams import close_quietly, prepare_streams
from sizer.cli.batch import batch_command
from sizer.cli.documents import print_error
from sizer.cli.evidence import (
    api_command,
    app_command,
    calibrate_command,
    catalog_check,
    catalog_import_netbox,
    catalog_show,
    doctor_command,
    validate_command,
)
from sizer.cli.fabric import fabric_command, layout_command, project_command
from sizer.cli.questions import questions_app
from sizer.cli.size import diff_command, size_command
from sizer.cli.sweep import sweep_command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help texts and typed values have brackets of their own
    help="Size deep-learning clusters and write their reference architectures.",
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"sizer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


@app.command(
    "storage-benchmark", hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def _earlier(context: typer.Context) -> None:
    """A verb of an earlier version."""
    name = str(context.info_name)
    from sizer.base.faults import nearest

    raise RequestError(f"there is no command {name}{nearest(name, ())}")


app.command("size")(size_command)
app.command("batch")(batch_command)
app.command("sweep")(sweep_command)
app.command("project")(project_command)
app.command("diff")(diff_command)
app.command("fabric")(fabric_command)
app.command("layout")(layout_command)
app.command("validate")(validate_command)
app.command("calibrate")(calibrate_command)
app.command("doctor")(doctor_command)
app.command("app")(app_command)
app.command("api")(api_command)

app.add_typer(questions_app)

catalog_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Show the catalogue, check it, and import parts."
)
catalog_app.command("check")(catalog_check)
catalog_app.command("show")(catalog_show)
catalog_app.command("import-netbox")(catalog_import_netbox)
app.add_typer(catalog_app, name="catalog")


# Collections of cyclic garbage: catalogue, answers and classes live until a command ends, and to look through them as
# often as usual takes a twentieth of its time.
_RARE_COLLECTIONS = (100_000, 50, 50)

# Status after Ctrl-C and after a request to end: 128 and the number of the signal.
_INTERRUPTED, _TERMINATED = 130, 143


def main() -> None:
    """Entry point: runs the command line and ends with the status of the error, if any."""
    prepare_streams()
    gc.set_threshold(*_RARE_COLLECTIONS)
    atexit.register(gc.freeze)  # the interpreter would look through all of it once more before it ends
    with contextlib.suppress(ValueError):  # only the main thread of a program takes signals
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SizerError as error:
        _say(str(error))
        sys.exit(error.exit_status)
    except SystemExit as end:
        if end.code in (_INTERRUPTED, _TERMINATED):
            _say("interrupted; what was not finished is not written")
        raise
    except BrokenPipeError:
        # The reader of a pipe closed it (sizer catalog show | head): nothing is wrong.
        close_quietly()
        sys.exit(0)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            _say(f"{error.strerror}: raise the limit of this user (ulimit -n)")
            sys.exit(OutputError.exit_status)
        if error.filename is not None:
            _say(reported(error))
            sys.exit(1)
        why = f"the answer cannot be printed: {error.strerror}; free some space, or print elsewhere"
        _say(f"{why}. Documents that were asked for with --out are complete")
        close_quietly()
        sys.exit(OutputError.exit_status)
    except Exception as error:
        _say(reported(error))
        sys.exit(1)


def _say(sentence: str) -> None:
    with contextlib.suppress(OSError):
        print_error(sentence)
