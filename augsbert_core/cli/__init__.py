"""`augsbert`: every action of the pages as a command.

Nothing heavy is imported here: commands import what they need when they run, so that help is quick.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from augsbert_core import __version__
from augsbert_core.cli import (
    annotating,
    app_command,
    archives,
    auditing,
    comparing,
    cross_encoder_command,
    data,
    demo,
    experiments,
    exporting,
    importing,
    job_commands,
    label_errors,
    labelling,
    retrieval,
    reviewing,
    silver,
    student_scores,
    training,
)
from augsbert_core.cli.console import CANCELLED, USER_ERROR, fail
from augsbert_core.errors import Stopped, WorkbenchError

app = typer.Typer(
    name="augsbert",
    help=(
        "The AugSBERT Workbench without a browser: gold pairs, cross-encoder, candidates, silver "
        "labels, bi-encoder, comparison."
    ),
    epilog="Exit codes: 0 done, 1 user error (one line on stderr), 2 usage, 130 cancelled with Ctrl-C.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    importing,
    data,
    cross_encoder_command,
    training,
    labelling,
    silver,
    student_scores,
    reviewing,
    label_errors,
    comparing,
    retrieval,
    experiments,
    auditing,
    exporting,
    archives,
    annotating,
    job_commands,
    demo,
    app_command,
):
    module.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"augsbert {__version__}")
        raise typer.Exit


@app.callback()
def workspace_option(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            help="The workspace folder.",
            show_default="$AUGSBERT_HOME, else ./workspace",
            file_okay=False,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """The options before the command."""
    context.obj = home


def main(arguments: list[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    try:
        app(arguments)
    except WorkbenchError as error:
        fail(str(error))
        sys.exit(USER_ERROR)
    except UnicodeEncodeError as error:
        fail(f"{error.object!a} holds characters that no text can have. Name or write it in UTF-8.")
        sys.exit(USER_ERROR)
    except (Stopped, KeyboardInterrupt) as stopped:
        fail(str(stopped) or "Cancelled.")
        sys.exit(CANCELLED)
    except BrokenPipeError:
        # The reader of our output (head, for example) has gone; that is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        from augsbert_core.storage.database import trouble_of

        trouble = trouble_of(error)
        if not trouble:
            raise
        fail(trouble)
        sys.exit(USER_ERROR)
