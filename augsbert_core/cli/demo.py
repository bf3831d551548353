"""`augsbert demo`: the whole loop on the sample project."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from augsbert_core.cli.comparing import show_comparison
from augsbert_core.cli.console import AsJson, Seed, open_home, run_step
from augsbert_core.options import (
    CrossEncoderOptions,
    LabelOptions,
    SampleOptions,
    student_defaults,
)

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project


AUGMENTED_EPOCHS = 2
"""Passes over gold + silver: fewer than over gold alone, of which there is far less, to stay within minutes."""


def register(app: typer.Typer) -> None:
    """Add this command to the app."""
    app.command()(demo)


def demo(context: typer.Context, seed: Seed = 42, as_json: AsJson = False) -> None:
    """Run the whole loop on the sample project and print the compare table.

    A few minutes on two CPU cores. Run again, it adds new runs to the same project.
    """
    from augsbert_core.steps.sample_project import open_sample_project

    workspace = open_home(context)
    project = open_sample_project(workspace)
    begun = time.monotonic()
    steps = _loop(workspace, project, seed, as_json=as_json)
    extra = {"steps": steps, "seconds": time.monotonic() - begun}
    show_comparison(workspace, project, "test", as_json=as_json, extra=extra)


def _loop(
    workspace: "Workspace", project: "Project", seed: int, *, as_json: bool
) -> dict[str, dict[str, Any]]:
    """Labeler, candidates, silver, then three students: gold only, AugSBERT, gold only at equal steps."""
    from augsbert_core.steps.compare import equal_step_options

    def run(title: str, step: str, options: Any) -> dict[str, Any]:
        if not as_json:
            typer.echo(title, err=True)
        return run_step(workspace, project, step, options, as_json=as_json)

    labeler = run(
        "1/6 Cross-encoder on gold", "train-cross-encoder", CrossEncoderOptions(seed=seed)
    )
    chosen = run("2/6 Candidates by BM25", "sample", SampleOptions(strategy="bm25", seed=seed))
    silver = run(
        "3/6 Silver labels",
        "label",
        LabelOptions(
            candidate_set_id=chosen["candidate_set_id"],
            labeler=f"run:{labeler['run_id']}",
            seed=seed,
        ),
    )
    student = replace(student_defaults(project.student_layers), seed=seed)
    gold_only = run("4/6 Bi-encoder on gold only", "train-bi-encoder", student)
    augmented = run(
        "5/6 Bi-encoder on gold + silver (AugSBERT)",
        "train-bi-encoder",
        replace(student, silver_set_id=silver["silver_set_id"], epochs=AUGMENTED_EPOCHS),
    )
    twin = run(
        "6/6 Bi-encoder on gold only, as many steps",
        "train-bi-encoder",
        equal_step_options(workspace, augmented["run_id"]),
    )
    return {
        "cross-encoder": labeler,
        "sample": chosen,
        "label": silver,
        "gold-only": gold_only,
        "augsbert": augmented,
        "gold-only, equal steps": twin,
    }
