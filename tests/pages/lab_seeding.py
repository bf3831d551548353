"""For tests of the lab: a project large enough to see densities: 120 gold pairs, and silver sets with made-up scores."""

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from augsbert_core.options import ImportOptions, KeepOptions, LabelOptions, SampleOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.keep import plan_keep
from augsbert_core.storage import candidates, gold, projects, queue, silver_bins, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import finished_run, labeler

N_GOLD = 120


def lab_project(
    workspace: Workspace,
    name: str = "Lab",
    *,
    scores: Sequence[float] | None = None,
    scale: tuple[float, float] = (0.0, 5.0),
    task: str | None = None,
) -> Project:
    """A project with 120 training pairs; their scores cover the scale evenly unless given."""
    made = projects.create_project(workspace, name)
    values = np.linspace(*scale, N_GOLD) if scores is None else np.resize(scores, N_GOLD)
    lines = [
        f"{name} says {number}.,{name} repeats {number}.,{value:.3f},train"
        for number, value in enumerate(values)
    ]
    text = "\n".join(["sentence1,sentence2,score,split", *lines])
    options = ImportOptions(score_range=scale, task=task)
    import_file(workspace, made.id, text.encode(), "gold.csv", options)
    return projects.get_project(workspace, made.id)


def scored_set(
    workspace: Workspace,
    project: Project,
    scores: np.ndarray,
    *,
    strategy: str = "random",
    top_k: int = 9,
    labeler_run: int | None = None,
) -> int:
    """A complete silver set with these scores; for top-k strategies the ranks go 1, 2, … top_k, 1, …"""
    ids = np.sort(np.unique(np.concatenate(gold.gold_pair_ids(workspace, project.id))))
    first, second = (ids[side][: len(scores)] for side in np.triu_indices(len(ids), k=1))
    ranks = np.arange(len(scores)) % top_k + 1 if strategy != "random" else None
    options = SampleOptions(strategy=strategy, top_k=top_k, n_pairs=len(scores))
    candidate_set = candidates.add_candidate_set(
        workspace,
        project.id,
        finished_run(workspace, project, "sample", options),
        strategy=strategy,
        corpus_size=len(ids),
        first=first,
        second=second,
        rank=ranks,
    )
    run_id = labeler_run or labeler(workspace, project)
    told = LabelOptions(candidate_set, f"run:{run_id}")
    set_id = silver_sets.open_silver_set(
        workspace,
        project.id,
        finished_run(workspace, project, "label", told, seconds=12.0),
        candidate_set_id=candidate_set,
        labeler=f"run:{run_id}",
        labeler_run_id=run_id,
    )
    waiting = silver_sets.unscored_pairs(workspace, set_id)
    rows = [
        (*pair, *origin, score, math.log(score / (1 - score)))
        for pair, origin, score in zip(
            waiting.ids, waiting.origin, np.clip(scores, 1e-3, 1 - 1e-3).tolist(), strict=True
        )
    ]
    silver_sets.add_silver_scores(workspace, set_id, rows)
    return set_id


def low_scores(n_pairs: int = 3000) -> np.ndarray:
    """Scores as random pairs have them: nearly all low."""
    return np.random.default_rng(5).beta(1.0, 3.0, n_pairs)


def kept_set(workspace: Workspace, project: Project, options: KeepOptions) -> int:
    """What the step "keep" stores for these options."""
    scores = silver_bins.silver_scores(workspace, options.silver_set_id)
    plan = plan_keep(gold.gold_scores(workspace, project.id, ["train"]), scores, options)
    return silver_sets.add_kept_set(
        workspace,
        project.id,
        finished_run(workspace, project, "keep", options),
        options.silver_set_id,
        rule=options.rule,
        pair_ids=scores.ids[plan.mask],
    )


def figure(page: Any, number: int = 0) -> dict[str, Any]:
    """A figure of the page as Plotly's JSON."""
    return json.loads(page.get("plotly_chart")[number].proto.spec)


def numbers(packed: dict[str, str]) -> np.ndarray:
    """An array as Plotly packs it."""
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])


def names(page: Any, number: int = 0) -> list[str]:
    """What a figure of the page shows."""
    return [trace.get("name") for trace in figure(page, number)["data"]]


def view(page: Any, project: Project, name: str) -> Any:
    """Open another view of the lab."""
    return page.button_group(key=f"silver-view-{project.id}").set_value(name).run()


def table(page: Any, number: int = 0) -> Any:
    """The frame of a table of the page."""
    return page.dataframe[number].value


def no_job_waits(workspace: Workspace) -> bool:
    """True while nothing is queued or at work."""
    return not queue.active_jobs(workspace)
