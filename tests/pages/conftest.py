"""A seeded workspace for the pages, and a way to open one of them without a browser."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from augsbert_core import jobs
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    LabelOptions,
    SampleOptions,
    to_json,
)
from augsbert_core.storage import candidates, queue, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.sentences import sampling_corpus

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session", autouse=True)
def _what_stays_the_same_is_read_once() -> Iterator[None]:
    """A page opens in a quarter of the time: AppTest looks through all installed packages for components each time, and
    compiles a page anew for every run. Neither changes while tests run."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: compiled, raising=False)
        yield


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace folder that pages and the `workspace` fixture share; no job starts by itself."""
    folder = tmp_path / "home"
    monkeypatch.setenv("AUGSBERT_HOME", str(folder))
    monkeypatch.setattr(jobs, "tend", lambda workspace: None)
    # AppTest puts the page in the place of __main__, which processes spawned by later tests would run.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return folder


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page by its file name, with query parameters: open_page("gold", project=1)."""

    def open_page(name: str, **query: object) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=60)
        for key, value in query.items():
            app.query_params[key] = str(value)
        return app.run()

    return open_page


def words_on(app: AppTest) -> str:
    """Everything a page says in prose, for `in` assertions."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "text", "info", "warning",
             "error", "success", "code")  # fmt: skip
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


@dataclass(frozen=True)
class Loop:
    """A project in which every step up to the bi-encoders was carried out, by made-up runs."""

    project: Project
    cross_encoder_run: int
    candidate_set: int
    silver_set: int
    gold_only_run: int
    augmented_run: int


def add_job(
    workspace: Workspace,
    project: Project,
    step: str,
    options: object,
    state: str = "done",
    *,
    name: str = "",
    error: str | None = None,
    details: str | None = None,
) -> queue.Job:
    """A run with its job, brought into a state without doing any work."""
    run_id = runs.add_run(workspace, project.id, step, name or step, to_json(options), 42)
    job_id = queue.add_job(workspace, project.id, run_id, step, "cpu")
    if state != "queued":
        assert queue.claim_job(workspace, job_id, host="test", pid=1, pid_started=1.0)
        queue.set_progress(workspace, job_id, 0.5, "Half of it")
    if state not in ("queued", "running"):
        queue.finish_job(
            workspace, job_id, state, message=state.capitalize(), error=error, details=details
        )
    return queue.get_job(workspace, job_id)


@pytest.fixture
def loop(workspace: Workspace, project: Project) -> Loop:
    """The whole loop, seeded: a labeler, 6 candidates, 6 silver pairs, 2 bi-encoders."""
    labeler = add_job(workspace, project, "train-cross-encoder", CrossEncoderOptions())
    runs.update_run(
        workspace, labeler.run_id, metrics={"dev_score": 0.81, "metric": "spearman", "n_steps": 30}
    )
    points = [("loss", step, 1 / step) for step in range(1, 6)] + [("dev_score", 5, 0.81)]
    runs.add_metrics(workspace, labeler.run_id, points)

    sampled = add_job(workspace, project, "sample", SampleOptions())
    ids, _ = sampling_corpus(workspace, project.id, use_unlabelled=True)
    first, second = (side.astype(np.int64) for side in np.triu_indices(len(ids), k=2))
    candidate_set = candidates.add_candidate_set(
        workspace,
        project.id,
        sampled.run_id,
        strategy="bm25",
        corpus_size=len(ids),
        first=ids[first][:6],
        second=ids[second][:6],
        rank=np.arange(1, 7),
        sampler_score=np.linspace(9, 4, 6),
    )

    labelled = add_job(
        workspace, project, "label", LabelOptions(candidate_set, f"run:{labeler.run_id}")
    )
    silver_set = silver_sets.open_silver_set(
        workspace,
        project.id,
        labelled.run_id,
        candidate_set_id=candidate_set,
        labeler=f"run:{labeler.run_id}",
        labeler_run_id=labeler.run_id,
    )
    todo = silver_sets.unscored_pairs(workspace, silver_set)
    scores = np.linspace(0.1, 0.9, len(todo))
    logits = np.log(scores / (1 - scores))
    silver_sets.add_silver_scores(
        workspace,
        silver_set,
        [
            (*pair, *origin, float(score), float(logit))
            for pair, origin, score, logit in zip(
                todo.ids, todo.origin, scores, logits, strict=True
            )
        ],
    )

    trained = []
    for options in (
        BiEncoderOptions(layers=2),
        BiEncoderOptions(layers=2, silver_set_id=silver_set),
    ):
        job = add_job(workspace, project, "train-bi-encoder", options)
        runs.update_run(
            workspace, job.run_id, metrics={"dev_score": 0.7, "metric": "spearman", "n_steps": 40}
        )
        trained.append(job.run_id)
    return Loop(project, labeler.run_id, candidate_set, silver_set, trained[0], trained[1])
