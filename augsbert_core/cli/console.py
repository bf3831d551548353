"""What commands share: the workspace, results as text or JSON, and progress."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from augsbert_core.progress import Report, silent

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

USER_ERROR = 1
CANCELLED = 130

LINE_SECONDS = 15.0
"""Without a terminal, progress is one line at most this often."""

ProjectName = Annotated[str, typer.Option("--project", "-p", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and no progress.")]
Seed = Annotated[
    int, typer.Option(min=0, max=2**31 - 1, help="Seed of everything random in this step.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 … or mps.")]


def open_home(context: typer.Context) -> "Workspace":
    """The workspace that --home or the environment names."""
    from augsbert_core.storage.database import open_workspace

    home: Path | None = context.obj
    return open_workspace(home.expanduser().resolve() if home else None)


def run_step(
    workspace: "Workspace", project: "Project", step: str, options: Any, *, as_json: bool
) -> dict[str, Any]:
    """Carry a step out in the foreground, with progress on stderr unless the result goes to a program."""
    from augsbert_core import jobs
    from augsbert_core.steps import STEPS

    with progress(STEPS[step].title, quiet=as_json) as report:
        return jobs.run_in_foreground(workspace, project.id, step, options, report)


def show(result: Mapping[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a result: for programs as JSON, for people as lines."""
    if as_json:
        from augsbert_core.worker import plain

        typer.echo(json.dumps(plain(dict(result)), indent=2))
    else:
        for line in lines:
            typer.echo(line)


def score_text(metric: str | None, value: float | None) -> str:
    """A score as the tables show it, times 100; "undefined" when there is none."""
    return f"{metric or 'score'} {'undefined' if value is None else f'{value * 100:.1f}'}"


def fail(message: str) -> None:
    """Say on one line of stderr why the command did not do what was asked."""
    typer.echo(" ".join(message.split()), err=True)


def table(headings: Mapping[str, str], rows: Sequence[Mapping[str, str]]) -> None:
    """Print rows of text in columns. headings: key → heading; a heading that starts with ">" aligns right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        # A file or a pipe has no width: let no name be cut off.
        console = Console(highlight=False, width=220)
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings.values():
        right = heading.startswith(">")
        grid.add_column(heading.lstrip(">"), justify="right" if right else "left")
    for row in rows:
        # Text: a name such as "[red]" is shown, not obeyed.
        grid.add_row(*(Text(row.get(key, "")) for key in headings))
    console.print(grid)


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Report]:
    """How far a step is: a bar on a terminal, sparse lines elsewhere, nothing when quiet."""
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        with _bar(title) as report:
            yield report
    else:
        yield _sparse_lines(title)


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[title]}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0, title=title)

        def report(
            fraction: float,
            message: str,
            metrics: dict[str, float] | None = None,
            step: int | None = None,
        ) -> None:
            bar.update(task, completed=fraction, description=escape(message))

        yield report
        bar.update(task, completed=1.0)


def _sparse_lines(title: str) -> Report:
    last = -LINE_SECONDS

    def report(
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            typer.echo(f"{title}: {fraction:4.0%} {message}", err=True)

    return report
