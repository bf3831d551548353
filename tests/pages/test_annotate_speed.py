"""From a key to the next pair: the server's work, with a task of 5,000 pairs."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import TaskOptions, to_json
from augsbert_core.scales import scale_levels
from augsbert_core.storage import annotations, runs
from augsbert_core.storage.annotation_tasks import ItemRows, create_task
from augsbert_core.storage.annotations import GivenScore
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.sentences import intern_sentences

pytestmark = pytest.mark.alone

SECONDS = 0.15
N_PAIRS = 5_000
REPEATS = 15


def view() -> None:
    """The work view alone, as the fragment runs it after a key."""
    import streamlit as st

    from augsbert_core.storage.database import default_home, open_workspace
    from augsbert_core.storage.projects import list_projects
    from augsbert_core.ui import annotate_keys
    from augsbert_core.ui.annotate_work import work_view
    from augsbert_core.ui.bench import Bench

    annotate_keys.QUIET_SECONDS = 0.0
    workspace = open_workspace(default_home())
    (project,) = list_projects(workspace)
    work_view(Bench(workspace, project), project, 1, "ann")
    st.session_state["done"] = True


def test_the_next_pair_is_there_at_once(
    workspace: Workspace,
    project: Project,
    record_property: Callable[[str, object], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with writing(workspace) as db:
        texts = [f"Sentence {n} of many." for n in range(N_PAIRS + 1)]
        ids = np.array(list(intern_sentences(db, project.id, texts).values()))
    options = TaskOptions(n_scores=2)
    run_id = runs.add_run(workspace, project.id, "annotate", "annotate", to_json(options), 42)
    levels = scale_levels(options.scale)
    task = create_task(workspace, project.id, run_id, options, levels, ItemRows(ids[:-1], ids[1:]))
    first = annotations.next_item(workspace, task, "ann")
    assert first is not None
    for who in ("ann", "ben"):  # half of it is done already
        annotations.add_scores(
            workspace,
            task,
            who,
            [GivenScore(first.id + at, 0.5, 4.0) for at in range(0, N_PAIRS, 2)],
        )
    page = AppTest.from_function(view, default_timeout=60).run()
    assert not page.exception
    taken = []
    for number in range(REPEATS):
        button = page.button(key=f"annotate-level-{number % 11}").click()
        begun = time.perf_counter()
        button.run()
        taken.append(time.perf_counter() - begun)
        assert not page.exception
    assert annotations.progress(workspace, task, "ann").done == N_PAIRS // 2 + REPEATS
    median = sorted(taken)[REPEATS // 2]
    record_property("seconds from key to next pair", round(median, 3))
    with capsys.disabled():
        print(
            f"\nkey to next pair, {N_PAIRS:,} pairs: {1000 * median:.0f} ms (median of {REPEATS})"
        )
    assert median < SECONDS
