"""`augsbert app`: the workbench in the browser."""

import os
import subprocess
import sys
from typing import Annotated

import typer

from augsbert_core.cli.console import open_home


def register(app: typer.Typer) -> None:
    """Add this command to the app."""
    app.command("app")(start_app)


def start_app(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="On http://localhost:PORT.")] = 8501,
) -> None:
    """Start the workbench on http://localhost:8501; Ctrl-C stops it, jobs at work go on."""
    from augsbert_core import bundle

    home = open_home(context).home
    root = bundle.root()
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(root / "app.py")),
        *("--server.address", "localhost", "--server.port", str(port)),
    ]
    # Streamlit reads .streamlit/config.toml from the folder it is started in.
    os.chdir(root)
    environment = os.environ | {"AUGSBERT_HOME": str(home)}
    if os.name == "posix":
        # Becoming the server, instead of watching over it, lets every signal reach it.
        os.execve(sys.executable, command, environment)  # noqa: S606
    raise typer.Exit(subprocess.call(command, env=environment))
