"""A project that has been through the loop, written straight into the store: no model is run."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from augsbert_core import bundle
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    LabelOptions,
    SampleOptions,
    to_json,
)
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling import SAMPLERS, Corpus
from augsbert_core.storage import candidates, gold, queue, runs, sentences, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def open_page(name: str, project: Project | None) -> AppTest:
    """Run one page of the workspace on a project, without app.py and without a browser."""
    page = AppTest.from_file(str(bundle.root() / "pages" / f"{name}.py"), default_timeout=60)
    if project is not None:
        page.query_params["project"] = str(project.id)
    page.run()
    assert not page.exception
    return page


def finished_run(
    workspace: Workspace,
    project: Project,
    step: str,
    options: Any,
    state: str = "done",
    **metrics: Any,
) -> int:
    """A run that has ended, with what it found out."""
    run_id = runs.add_run(workspace, project.id, step, step, to_json(options), options.seed)
    train_hash = gold.data_hash(gold.scored_pairs(workspace, project.id, "train"))
    metrics = {"metric": "spearman", "gold_hash": train_hash, **metrics}
    runs.update_run(workspace, run_id, metrics=metrics, device="cpu", model_path="models/none")
    (workspace.models / "none").mkdir(exist_ok=True)
    job_id = queue.add_job(workspace, project.id, run_id, step, "cpu")
    queue.finish_job(workspace, job_id, state, message=state)
    return run_id


def labeler(workspace: Workspace, project: Project) -> int:
    """A trained cross-encoder."""
    return finished_run(
        workspace,
        project,
        "train-cross-encoder",
        CrossEncoderOptions(),
        dev_score=0.776,
        n_steps=6,
        seconds=61.0,
        n_gold=5,
    )


def candidate_set(workspace: Workspace, project: Project, n_pairs: int = 6) -> int:
    """Random candidate pairs."""
    options = SampleOptions(strategy="random", n_pairs=n_pairs)
    return _sampled(workspace, project, options, notices=["One *notice*."])


def bm25_set(workspace: Workspace, project: Project, top_k: int = 6) -> int:
    """Candidate pairs with ranks."""
    return _sampled(workspace, project, SampleOptions(variant="lucene", top_k=top_k))


def _sampled(
    workspace: Workspace, project: Project, options: SampleOptions, notices: Sequence[str] = ()
) -> int:
    ids, texts = sentences.sampling_corpus(workspace, project.id, use_unlabelled=False)
    excluded = pair_codes(*gold.gold_pair_ids(workspace, project.id))
    found = SAMPLERS[options.strategy](Corpus(texts=texts, ids=ids, excluded=excluded), options)
    return candidates.add_candidate_set(
        workspace,
        project.id,
        finished_run(workspace, project, "sample", options),
        strategy=options.strategy,
        corpus_size=len(texts),
        first=found.first,
        second=found.second,
        rank=found.rank,
        sampler_score=found.score,
        notices=notices,
    )


def silver_set(
    workspace: Workspace, project: Project, *, scores: list[float] | None = None, labelled: int = 6
) -> int:
    """Candidates with scores 0.1, 0.25, …; complete when all six are labelled."""
    run_id, set_id = labeler(workspace, project), candidate_set(workspace, project)
    options = LabelOptions(set_id, f"run:{run_id}")
    state = "done" if labelled == 6 else "interrupted"
    label_run = finished_run(workspace, project, "label", options, state, pairs_per_second=3.0)
    silver_id = silver_sets.open_silver_set(
        workspace,
        project.id,
        label_run,
        candidate_set_id=set_id,
        labeler=f"run:{run_id}",
        labeler_run_id=run_id,
    )
    waiting = silver_sets.unscored_pairs(workspace, silver_id, labelled)
    values = scores or [0.1 + 0.15 * number for number in range(len(waiting))]
    rows = [
        (*pair, *origin, score, math.log(score / (1 - score)))
        for pair, origin, score in zip(waiting.ids, waiting.origin, values, strict=True)
    ]
    silver_sets.add_silver_scores(workspace, silver_id, rows)
    return silver_id


def student(workspace: Workspace, project: Project, n_steps: int = 3, **told: Any) -> int:
    """A trained bi-encoder; told: its options."""
    options = BiEncoderOptions(layers=2, **told)
    n_silver = 6 if options.silver_set_id else 0
    return finished_run(
        workspace,
        project,
        "train-bi-encoder",
        options,
        dev_score=0.7,
        n_steps=n_steps,
        seconds=12.0,
        n_gold=5,
        n_silver=n_silver,
        passes=n_silver,
    )


def measure(
    workspace: Workspace, project: Project, target: str, value: float | None, split: str = "test"
) -> None:
    """A measured score of "run:ID" or another target."""
    pairs = gold.scored_pairs(workspace, project.id, split)
    evaluation = runs.add_run(workspace, project.id, "evaluate", "evaluate", "{}", 42)
    runs.add_evaluation(
        workspace,
        project.id,
        evaluation,
        target=target,
        target_run_id=int(target[4:]) if target.startswith("run:") else None,
        split=split,
        metric="spearman",
        value=value,
        interval=None if value is None else (value - 0.1, value + 0.1),
        threshold=None,
        seconds=1.0,
        data_hash=gold.data_hash(pairs),
        predictions=np.linspace(0, 1, len(pairs)),
    )


def queued(workspace: Workspace, project: Project) -> list[tuple[str, str]]:
    """What waits in the queue, oldest first: (step, options as JSON)."""
    waiting = [job for job in queue.list_jobs(workspace, project.id) if job.state == "queued"]
    return [(job.step, runs.get_run(workspace, job.run_id).options) for job in reversed(waiting)]


def shown_text(page: AppTest) -> str:
    """All prose on a page."""
    blocks = [*page.markdown, *page.caption, *page.info, *page.warning, *page.success, *page.error]
    return "\n".join(str(block.value) for block in blocks)


def button(page: AppTest, label: str) -> Any:
    """The button with this label."""
    return next(found for found in page.button if found.label == label)


def metric(page: AppTest, label: str) -> str:
    """The value of the metric with this label."""
    return next(str(found.value) for found in page.metric if found.label == label)
