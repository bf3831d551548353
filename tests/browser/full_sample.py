"""The sample project with everything that the workbench makes of it, written straight into the store."""

import numpy as np

from augsbert_core.options import TaskOptions
from augsbert_core.steps.make_task import create_now
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import runs, silver_columns
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.lab_seeding import low_scores, scored_set
from tests.pages.seeding import labeler, measure, student

N_SILVER = 3000


def full_sample(workspace: Workspace) -> Project:
    """The sample's gold pairs; a labeler, silver pairs, students with curves and scores, and a task."""
    project = open_sample_project(workspace)
    labeler_run = labeler(workspace, project)
    scores = low_scores(N_SILVER)
    silver = [
        scored_set(workspace, project, part, strategy=strategy, labeler_run=labeler_run)
        for strategy, part in (("bm25", np.sqrt(scores)), ("random", scores))
    ]
    for set_id in silver:
        silver_columns.prepare(workspace, set_id)
    trained = [
        student(workspace, project),
        student(workspace, project, seed=43),
        *(student(workspace, project, silver_set_id=set_id) for set_id in silver),
    ]
    for run_id in (labeler_run, *trained):
        steps = range(1, 41)
        runs.add_metrics(workspace, run_id, [("loss", step, 1 / step) for step in steps])
        runs.add_metrics(workspace, run_id, [("dev_score", step, step / 60) for step in steps])
    for number, run_id in enumerate((labeler_run, *trained)):
        for split in ("dev", "test"):
            measure(workspace, project, f"run:{run_id}", 0.78 - 0.02 * number, split)
    for split in ("dev", "test"):
        measure(workspace, project, "jaccard", 0.5, split)
    asked = TaskOptions(source="silver", silver_set_id=silver[0], n_pairs=20, name="By hand")
    create_now(workspace, project, asked)
    return project
