"""What can be measured: trained runs, models by name, averages of labelers, and answers that need no model."""

from dataclasses import dataclass

from augsbert_core.errors import WorkbenchError
from augsbert_core.steps.models import JOIN, labeler_members, run_model, run_number
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

CONSTANTS = ("jaccard", "majority")
"""Targets that read no weights."""


@dataclass(frozen=True)
class Target:
    """A thing that scores pairs.

    kind: "bi_encoder", "cross_encoder", "labeler" (several scorers, whose mean counts), "jaccard" or "majority".
    location: of a single model. layers: keep the first so many layers of a bi-encoder.
    """

    text: str
    kind: str
    location: str | None = None
    layers: int | None = None


def parse_target(workspace: Workspace, project: Project, text: str) -> Target:
    """Read a target.

    "run:ID" (of any project), "model:NAME", "model:NAME@layers=N", "cross:NAME" (a cross-encoder), several
    labelers joined by " + ", "jaccard" or "majority". WorkbenchError otherwise, or when there is no such model.
    """
    if text in CONSTANTS:
        return Target(text, text)
    if JOIN in text:
        labeler_members(workspace, project, text)
        return Target(text, "labeler")
    run_id = run_number(text)
    if run_id is not None:
        run = runs.get_run(workspace, run_id)
        owner = projects.get_project(workspace, run.project_id)
        kind = "cross_encoder" if run.step == "train-cross-encoder" else "bi_encoder"
        return Target(text, kind, run_model(workspace, owner, text))
    kind, _, name = text.partition(":")
    if kind == "cross" and name:
        return Target(text, "cross_encoder", name)
    if kind != "model" or not name:
        raise WorkbenchError(
            f"{text!r} is not something to evaluate. Use run:ID, model:NAME, cross:NAME, jaccard or majority."
        )
    name, _, layers = name.partition("@layers=")
    if layers and not layers.isdigit():
        raise WorkbenchError(f"{layers!r} is not a number of layers.")
    return Target(text, "bi_encoder", name, int(layers) if layers else None)


def trained_bi_encoder(workspace: Workspace, run_id: int) -> str:
    """The model folder of a trained bi-encoder. WorkbenchError: it is another kind of run, or not finished."""
    run = runs.get_run(workspace, run_id)
    owner = projects.get_project(workspace, run.project_id)
    return run_model(workspace, owner, f"run:{run_id}", "train-bi-encoder") or ""
