"""A project with every kind of training data for the tiny model, and a way to run training steps on it."""

from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.options import ImportOptions, to_json
from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.steps import STEPS, StepContext
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import silver_set
from tests.tiny import tiny_pairs, tiny_texts

N_GOLD, N_DEV, N_SILVER, N_NLI, N_TRIPLETS = 24, 20, 6, 24, 12


def lab_project(home: Path) -> tuple[Workspace, Project, int]:
    """A workspace with a project of 24 gold, 20 dev, 6 silver and 24 NLI pairs and 12 triplets; the silver set."""
    workspace = open_workspace(home)
    made = projects.create_project(workspace, "Lab")
    for split, n_pairs, seed in (("train", N_GOLD, 1), ("dev", N_DEV, 2)):
        pairs = tiny_pairs(n_pairs, seed)
        rows = zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True)
        text = "sentence1,sentence2,score\n" + "".join(f"{a},{b},{s:.4f}\n" for a, b, s in rows)
        _bring_in(workspace, made.id, text, split, score_range=(0.0, 1.0), split=split)
    # Half of the NLI premises have an entailment and a contradiction, so that hard negatives are found.
    premises, others = tiny_texts(N_NLI // 2, 5), tiny_texts(N_NLI, 6)
    labels = ["entailment", "contradiction"] * (N_NLI // 2 - 2) + ["neutral"] * 4
    rows = zip(np.repeat(premises, 2), others, labels, strict=True)
    text = "premise,hypothesis,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in rows)
    _bring_in(workspace, made.id, text, "nli", kind="nli")
    columns = [tiny_texts(N_TRIPLETS, seed) for seed in (7, 8, 9)]
    text = "anchor,positive,negative\n" + "".join(
        ",".join(row) + "\n" for row in zip(*columns, strict=True)
    )
    _bring_in(workspace, made.id, text, "triplets", kind="triplets")
    project = projects.get_project(workspace, made.id)
    return workspace, project, silver_set(workspace, project)


def _bring_in(workspace: Workspace, project_id: int, text: str, name: str, **told: Any) -> None:
    import_file(workspace, project_id, text.encode(), f"{name}.csv", ImportOptions(**told))


def context_of(
    workspace: Workspace,
    project: Project,
    step: str,
    options: Any,
    report: Report = silent,
    should_stop: ShouldStop = never,
    run_id: int | None = None,
) -> StepContext:
    """The context of a new run, or of one that is taken up again."""
    if run_id is None:
        run_id = runs.add_run(workspace, project.id, step, step, to_json(options), options.seed)
    run = runs.get_run(workspace, run_id)
    return StepContext(workspace, project, run, "cpu", report, should_stop)


def run_step(context: StepContext, options: Any) -> dict[str, Any]:
    """Carry a step out in this process; what it returns."""
    return STEPS[context.run.step].function(context, options)
