"""`augsbert app`: the workbench in the browser, for one person or for a class."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from augsbert_core.cli.console import open_home

HERE = "localhost"
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (only when asked for)


def register(app: typer.Typer) -> None:
    """Add this command to the app."""
    app.command("app")(start_app)


def start_app(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="On http://localhost:PORT.")] = 8501,
    address: Annotated[
        str,
        typer.Option(
            help="Where the server listens; others reach it at an address of this machine, or 0.0.0.0 for all of them."
        ),
    ] = HERE,
    classroom: Annotated[
        bool,
        typer.Option(
            "--classroom",
            help="Serve a class: everybody types a name and gets a workspace of their own.",
        ),
    ] = False,
    most_jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            help="With --classroom: so many jobs of the class run at once.",
            show_default="one per device",
        ),
    ] = None,
) -> None:
    """Start the workbench on http://localhost:8501; Ctrl-C stops it, jobs at work go on."""
    from augsbert_core import bundle

    if most_jobs is not None and not classroom:
        raise typer.BadParameter(
            "it limits the jobs of a class: add --classroom", param_hint="--jobs"
        )
    home = open_home(context).home
    root = bundle.root()
    command = [
        *(sys.executable, "-m", "augsbert_core.serve", "run", str(root / "app.py")),
        *("--server.address", address, "--server.port", str(port)),
    ]
    environment = os.environ | {"AUGSBERT_HOME": str(home)}
    if classroom:
        environment = _class_environment(environment, home)
        typer.echo(_class_words(home, most_jobs, address, port))
    if address not in (HERE, "127.0.0.1", "::1"):
        typer.echo(_warning(address, classroom=classroom), err=True)
    sys.stdout.flush()
    # Streamlit reads .streamlit/config.toml from the folder it is started in.
    os.chdir(root)
    if os.name == "posix":
        # Becoming the server, instead of watching over it, lets every signal reach it.
        os.execve(sys.executable, command, environment)  # noqa: S606
    raise typer.Exit(subprocess.call(command, env=environment))


def _class_environment(environment: dict[str, str], home: Path) -> dict[str, str]:
    """What the server of a class is told. The teacher's own token for a model hub is not for everybody."""
    from augsbert_core.fence import FENCE

    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        environment.pop(name, None)
    return environment | {
        "AUGSBERT_CLASSROOM": "1",
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
        FENCE: str(home / "class"),
    }


def _class_words(home: Path, most_jobs: int | None, address: str, port: int) -> str:
    """Open the class and say what the teacher needs: the addresses and the code."""
    from augsbert_core.classroom import addresses
    from augsbert_core.storage.classroom import begin_teaching, open_classroom

    room = open_classroom(home, partial(typer.echo, err=True))
    code = begin_teaching(room, most_jobs)
    hosts = addresses() if address in EVERYWHERE else [address]
    places = [f"http://{f'[{host}]' if ':' in host else host}:{port}" for host in hosts or [HERE]]
    lines = [f"Students: {place}" for place in places]
    lines += [f"Teacher:  {places[0]}/classroom", f"Teacher code: {code}"]
    if address == HERE:
        lines.append(
            "Only this computer reaches the server. For a class, start it with --address 0.0.0.0 (all networks of this "
            "machine) or one address of it."
        )
    return "\n".join(lines)


def _warning(address: str, *, classroom: bool) -> str:
    what = (
        "take a seat in the class, use its processors and fill its disk"
        if classroom
        else "see, change and delete everything in this workspace; there is no password"
    )
    return (
        f"Warning: listening on {address}. Whoever reaches this machine over its network can {what}. "
        "The connection is not encrypted. Use it in a network you trust."
    )
