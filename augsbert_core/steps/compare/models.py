"""Which models belong in the compare table, and what each one is there for."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BUNDLED_MODEL,
    BiEncoderOptions,
    CrossEncoderOptions,
    from_json,
)
from augsbert_core.steps.models import JOIN, run_number
from augsbert_core.steps.names import model_label
from augsbert_core.steps.recipes import uses
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run

KINDS = (
    "untrained",
    "off the shelf",
    "jaccard",
    "majority",
    "other data",
    "source only",
    "gold-only",
    "gold-only, seeds tried",
    "gold-only, equal steps",
    "adapted",
    "augsbert",
    "cross-encoder student",
    "cross-encoder",
    "labelers",
)
"""The kinds of rows, in the order of the table.

other data: a bi-encoder that saw neither gold nor silver of the project. source only: trained in another
project. gold-only, seeds tried: with seed optimisation. adapted: trained on silver alone. labelers: the mean of
several scorers.
"""

GOLD_ONLY = ("gold-only", "gold-only, seeds tried", "gold-only, equal steps")
SILVER = ("augsbert", "adapted", "cross-encoder student")


@dataclass(frozen=True)
class Model:
    """A model that belongs in the table, measured or not. base, layers: what its weights began as.

    options: what a trained run was told. silver_set_id: what it learned from besides gold.
    """

    target: str
    kind: str
    name: str
    run: Run | None = None
    base: str | None = None
    layers: int | None = None
    silver_set_id: int | None = None
    options: BiEncoderOptions | CrossEncoderOptions | None = None


def model_target(name: str, layers: int | None = None) -> str:
    """The target text of an untrained model, e.g. "model:NAME@layers=2"."""
    return f"model:{name}@layers={layers}" if layers else f"model:{name}"


def models_of(workspace: Workspace, project: Project) -> list[Model]:
    """All models that the table should hold: baselines of every base in use, and every finished run."""
    students = _students(runs.list_runs(workspace, project.id, "train-bi-encoder"))
    bases = {(model.base, model.layers): None for model in students} or {
        (BUNDLED_MODEL, project.student_layers): None
    }
    models = [Model("jaccard", "jaccard", "Jaccard word overlap")]
    if project.task == "classification":
        # The mean score, its counterpart for regression, has no rank correlation; it is measured when asked for.
        models.append(_majority(project))
    for base, layers in bases:
        models.append(_untrained(base or BUNDLED_MODEL, layers))
        if layers is not None and (base, None) not in bases:
            models.append(replace(_untrained(base or BUNDLED_MODEL, None), kind="off the shelf"))
    for run in runs.list_runs(workspace, project.id, "train-cross-encoder"):
        models.append(_cross_encoder(run))
    return models + students


def measured_besides(workspace: Workspace, project: Project, targets: Iterable[str]) -> list[Model]:
    """Models that were measured because somebody asked for them."""
    found = (_asked_for(workspace, project, target) for target in targets)
    return [model for model in found if model is not None]


def _students(finished: list[Run]) -> list[Model]:
    """Trained bi-encoders. Gold-only runs that took as many steps as a run with silver are told apart."""
    told = {run.id: from_json(BiEncoderOptions, run.options) for run in finished}
    kinds = {run_id: _student_kind(options) for run_id, options in told.items()}
    augmented_steps = {
        (told[run.id].base, told[run.id].layers, run.metrics.get("n_steps"))
        for run in finished
        if kinds[run.id] in SILVER
    }
    models = []
    for run in finished:
        options, kind = told[run.id], kinds[run.id]
        steps = (options.base, options.layers, run.metrics.get("n_steps"))
        if kind == "gold-only" and steps in augmented_steps:
            kind = "gold-only, equal steps"
        models.append(
            Model(
                f"run:{run.id}",
                kind,
                run.name,
                run,
                options.base,
                options.layers,
                options.silver_set_id,
                options,
            )
        )
    return models


def _student_kind(options: BiEncoderOptions) -> str:
    if options.silver_set_id is not None and uses(options, "silver"):
        return "augsbert" if uses(options, "gold") else "adapted"
    if not uses(options, "gold"):
        return "other data"
    return "gold-only, seeds tried" if options.seeds > 1 else "gold-only"


def _cross_encoder(run: Run) -> Model:
    options = from_json(CrossEncoderOptions, run.options)
    silver = options.silver_set_id
    kind = "cross-encoder" if silver is None else "cross-encoder student"
    return Model(f"run:{run.id}", kind, run.name, run, silver_set_id=silver, options=options)


def _asked_for(workspace: Workspace, project: Project, target: str) -> Model | None:
    """The model behind a measured target that the table does not hold by itself; None when it is gone."""
    if target == "majority":
        return _majority(project)
    if target.startswith("model:"):
        return Model(target, "untrained", _model_name(target))
    if target.startswith("cross:"):
        return Model(target, "cross-encoder", f"Cross-encoder {model_label(target[6:])}, as it is")
    if JOIN in target:
        return Model(target, "labelers", "Mean of " + target.replace("run:", "run "))
    try:
        run = runs.get_run(workspace, run_number(target) or 0)
        owner = projects.get_project(workspace, run.project_id)
    except WorkbenchError:
        return None
    if owner.id == project.id or run.state != "done":
        return None
    return _foreign(run, owner)


def _foreign(run: Run, owner: Project) -> Model:
    """A run of another project: the lower bound of domain adaptation."""
    name = f"{run.name} (project {owner.name})"
    if run.step == "train-cross-encoder":
        return Model(f"run:{run.id}", "cross-encoder", name, run)
    options = from_json(BiEncoderOptions, run.options)
    return Model(
        f"run:{run.id}", "source only", name, run, options.base, options.layers, None, options
    )


def _majority(project: Project) -> Model:
    name = "Majority class" if project.task == "classification" else "Mean score"
    return Model("majority", "majority", name)


def _untrained(base: str, layers: int | None) -> Model:
    target = model_target(base, layers)
    return Model(target, "untrained", _model_name(target), base=base, layers=layers)


def _model_name(target: str) -> str:
    name, _, layers = target.removeprefix("model:").partition("@layers=")
    short = model_label(name)
    return f"Untrained {short}, first {layers} layers" if layers else f"Untrained {short}"
