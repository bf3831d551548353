"""What people leave in a project travels with it: whatever the store takes, an archive of the project can bring back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions, TaskOptions
from augsbert_core.options.annotating import Level
from augsbert_core.steps.audit import draw_audit
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.make_task import create_now
from augsbert_core.steps.project_archive import export_project, import_project
from augsbert_core.storage import (
    annotation_tasks,
    annotations,
    best_worst_answers,
    edits,
    gold_edits,
    projects,
    reviews,
)
from augsbert_core.storage.database import Workspace, open_workspace, reading
from augsbert_core.storage.records import Project
from tests import silver_pairs
from tests.conftest import GOLD_CSV
from tests.test_project_archive import refused, with_statement

NAMES = (
    "Ada", "x" * 200, "x" * 201, " Ada  Byron\n", "\x00", "a\x00b", "\x1b[2Jred", "\ud800x", "\u202eevil", "", " ", "\u200d",
    "😀" * 60, "<b>o\"'\\</b>", "=cmd()", "ناصر\u200c", "a\x85b",
)  # fmt: skip
SECONDS = (None, 0.0, -0.0, 3.5, -5.0, 1e12, 1e300, 5e-324, float("inf"), float("nan"))


@pytest.fixture
def here(tmp_path: Path) -> tuple[Workspace, Project, int]:
    """A workspace with a project of a few gold pairs and sixty silver ones."""
    workspace = open_workspace(tmp_path / "here")
    project = projects.create_project(workspace, "Tiny")
    import_file(
        workspace, project.id, GOLD_CSV.encode(), "g.csv", ImportOptions(score_range=(0.0, 5.0))
    )
    project = projects.get_project(workspace, project.id)
    return workspace, project, silver_pairs.sixty_pairs(workspace, project)


def rows(workspace: Workspace, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with reading(workspace) as db:
        return [tuple(row) for row in db.execute(query, list(values))]


def items(workspace: Workspace, task_id: int) -> list[int]:
    query = "SELECT id FROM annotation_item WHERE task_id = ? ORDER BY position"
    return [row[0] for row in rows(workspace, query, task_id)]


SCORES_SQL = """
SELECT name, position, annotator, state, score, flagged, suggestion_seen, seconds, iif(state = 'claimed', '', annotation.at)
FROM annotation JOIN annotation_item AS item ON item.id = item_id JOIN annotation_task AS task ON task.id = item.task_id
ORDER BY 1, 2, 3
"""


def attempts(workspace: Workspace, project: Project, set_id: int) -> list[Callable[[], object]]:
    """Calls of the store with every odd value that a form, a command or a script may hand it."""
    silver = TaskOptions(source="silver", silver_set_id=set_id, n_pairs=6, queue="random")
    scored = create_now(workspace, project, silver)
    four = create_now(
        workspace, project, TaskOptions(source="gold", kind="best-worst", n_pairs=5, name="Four")
    )
    pairs = np.array([row[0] for row in rows(workspace, "SELECT id FROM silver_pair ORDER BY id")])
    golds = [row[0] for row in rows(workspace, "SELECT id FROM gold_pair ORDER BY id")]
    found: list[Callable[[], object]] = []

    def attempt(function: Callable[..., object], *told: Any, **named: Any) -> None:
        found.append(lambda: function(*told, **named))

    def task(**told: Any) -> None:
        attempt(create_now, workspace, project, TaskOptions(**({"source": "gold"} | told)))

    some = items(workspace, scored)
    for place, name in enumerate(NAMES):
        attempt(annotations.save, workspace, scored, some[place % 6], name, score=0.5)
        attempt(annotations.save, workspace, scored, some[(place + 1) % 6], name, action="flag")
        attempt(annotations.save, workspace, scored, some[(place + 2) % 6], name, action="skip")
        attempt(annotations.adjudicate, workspace, some[place % 6], 0.25, name)
        told = {"status": ("rejected", "accepted")[place % 2], "actor": name}
        attempt(reviews.review_many, workspace, set_id, pairs[:9], summary=name * 9000, **told)
        attempt(edits.undo, workspace, edits.Scope.silver(set_id), name, leave_overwritten=True)
        attempt(gold_edits.set_gold_score, workspace, golds[0], 0.5 + 0.1 * place, actor=name)
        attempt(best_worst_answers.undo_answer, workspace, four, name)
        attempt(annotation_tasks.rename_task, workspace, scored, name)
        task(name=name)
        task(student=name, n_pairs=2)
        levels = (Level(name, 0.0, name), Level("other", 1.0, ""))
        task(scale="custom", levels=levels, n_pairs=2)
        task(levels=levels, n_pairs=2)
    for place, seconds in enumerate(SECONDS):
        attempt(
            annotations.save, workspace, scored, some[place % 6], "Eve", score=1.0, seconds=seconds
        )

        def answer(seconds: float | None = seconds) -> None:
            shown = best_worst_answers.next_tuple(workspace, four, "Eve")
            if shown is not None:
                best_worst_answers.skip_tuple(workspace, four, shown.id, "Eve", seconds=seconds)

        found.append(answer)
    for number in (-1, 0, 1, 1000, 1001, 2**31, 2**60):
        task(n_scores=number)
        task(seed=number)
        task(n_pairs=number)
        task(candidate_set_id=number)
    for share in (-1.0, 0.0, 1e-300, 1e300, float("nan"), 0.3):
        task(tuples_per_pair=share)
        task(threshold=share)
    for queue in ("random", "threshold", "score-strata"):
        attempt(
            create_now,
            workspace,
            project,
            TaskOptions(purpose="audit", source="silver", silver_set_id=set_id, queue=queue),
        )
    return found


def test_whatever_the_store_takes_an_archive_brings_back(
    here: tuple[Workspace, Project, int], tmp_path: Path
) -> None:
    workspace, project, set_id = here
    taken = []
    for number, attempt in enumerate(attempts(workspace, project, set_id)):
        try:
            attempt()
        except WorkbenchError:
            continue
        taken.append(number)
    assert len(taken) > 100
    export_project(workspace, project.id, tmp_path / "out.zip")
    there = open_workspace(tmp_path / "there")
    import_project(there, tmp_path / "out.zip")
    mine = [row for row in rows(workspace, SCORES_SQL) if row[3] != "claimed" or row[5]]
    skipped = {row[:3] for row in rows(there, SCORES_SQL) if row[3] == "skipped"}
    # A skipped pair that was on the screen again is a skipped one there.
    assert [row for row in rows(there, SCORES_SQL) if row[:3] not in skipped] == [
        row for row in mine if row[:3] not in skipped
    ]
    for table in (
        "annotation_event",
        "annotation_item",
        "edit",
        "edit_change",
        "best_worst_answer",
    ):
        count = f"SELECT count(*) FROM {table}"
        assert rows(there, count) == rows(workspace, count), table


def test_a_pair_that_was_skipped_and_is_on_the_screen_again_is_not_lost(
    here: tuple[Workspace, Project, int], tmp_path: Path
) -> None:
    workspace, project, set_id = here
    told = TaskOptions(source="silver", silver_set_id=set_id, n_pairs=3)
    task_id = create_now(workspace, project, told)
    for item in items(workspace, task_id):
        annotations.save(workspace, task_id, item, "Ada", action="skip")
    states = "SELECT state, count(*) FROM annotation GROUP BY state ORDER BY state"
    assert rows(workspace, states) == [("claimed", 1), ("skipped", 2)]
    export_project(workspace, project.id, tmp_path / "out.zip")
    there = open_workspace(tmp_path / "there")
    import_project(there, tmp_path / "out.zip")
    assert rows(there, states) == [("skipped", 3)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an audit that two people have begun, a settled score, and answers to four pairs."""
    folder = tmp_path_factory.mktemp("archive")
    workspace = open_workspace(folder / "home")
    project = projects.create_project(workspace, "Audited")
    set_id = silver_pairs.sixty_pairs(workspace, project)
    task_id = draw_audit(workspace, project, set_id, n_pairs=10, n_scores=2)
    first, second, *_ = items(workspace, task_id)
    annotations.save(workspace, task_id, first, "Ada", score=0.5)
    annotations.save(workspace, task_id, first, "Ben", score=0.75)
    annotations.undo(workspace, task_id, "Ben")
    annotations.save(workspace, task_id, second, "Ben", action="skip")
    annotations.adjudicate(workspace, first, 0.5, "Cleo")
    told = TaskOptions(
        source="silver", silver_set_id=set_id, kind="best-worst", n_pairs=4, tuples_per_pair=1.0,
        scale="custom", levels=(Level("no", 0.0, ""), Level("yes", 1.0, "")),
    )  # fmt: skip
    four = create_now(workspace, project, told)
    shown = best_worst_answers.next_tuple(workspace, four, "Ada")
    assert shown is not None
    best, worst = (pair.item_id for pair in shown.pairs[:2])
    best_worst_answers.save_answer(workspace, four, shown.id, "Ada", best, worst)
    best_worst_answers.undo_answer(workspace, four, "Ada")
    export_project(workspace, project.id, folder / "a.zip")
    return folder / "a.zip"


def test_the_archive_as_it_is_comes_in(archive: Path, workspace: Workspace) -> None:
    import_project(workspace, archive)
    query = "SELECT annotator, state FROM annotation ORDER BY annotator"
    assert rows(workspace, query) == [("Ada", "scored"), ("Ben", "skipped")]


AUDIT = "task_id = (SELECT id FROM annotation_task WHERE purpose = 'audit')"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"UPDATE annotation_item SET stratum = NULL, stratum_size = NULL WHERE {AUDIT}", "'annotation_item'"),
        (f"UPDATE annotation_item SET suggestion = NULL WHERE {AUDIT}", "'annotation_item'"),
        (f"UPDATE annotation_item SET stratum = 2000000 WHERE {AUDIT}", "'annotation_item'"),
        (f"UPDATE annotation_item SET stratum_size = 20 + position WHERE {AUDIT}", "two sizes"),
        (f"UPDATE annotation_item SET stratum_size = 1 WHERE {AUDIT}", "fewer pairs than were drawn"),
        ("UPDATE annotation_task SET queue = 'random'", "'annotation_task'"),
        ("UPDATE annotation_task SET purpose = 'audit'", "'annotation_task'"),
        ("UPDATE annotation_task SET seed = -5", "'annotation_task'"),
        ("UPDATE annotation_task SET n_scores = 1001", "'annotation_task'"),
        ("UPDATE annotation_task SET levels = replace(levels, '\"no\"', '\"' || printf('%.*c', 31, 'x') || '\"')", "levels"),
        ("UPDATE annotation_task SET levels = replace(levels, '\"no\"', '\"\\u0000\"')", "levels"),
        ("UPDATE annotation_task SET levels = replace(levels, '\"no\"', '\"YES\"')", "levels"),
        ("DELETE FROM annotation_event WHERE action = 'score'", "not what their log says|'annotation_event'"),
        ("UPDATE annotation SET score = 0.125 WHERE state = 'scored'", "not what their log says"),
        ("UPDATE annotation_event SET score = 0.125 WHERE annotator = 'Ada'", "not what their log says"),
        ("DELETE FROM annotation WHERE state = 'skipped'", "not what their log says"),
        ("DELETE FROM annotation_event WHERE action = 'undo'", "not what their log says"),
        ("UPDATE annotation_item SET adjudicated_score = 0.75 WHERE adjudicator IS NOT NULL", "settled score"),
        ("DELETE FROM annotation_event WHERE action = 'adjudicate'", "settled score"),
        ("UPDATE annotation_event SET annotator = char(8238) || annotator WHERE action = 'adjudicate'", "settled score"),
        ("UPDATE best_worst_answer SET action = 'undo'", "answers of a judge"),
        ("DELETE FROM best_worst_answer WHERE action = 'answer'", "answers of a judge"),
        ("UPDATE best_worst_answer SET annotator = ' Ada '", "a name that cannot be read"),
        ("UPDATE best_worst_answer SET annotator = 'A' || char(0) || 'da'", "a name that cannot be read"),
        ("UPDATE run SET options = json_set(options, '$.n_scores', 1001) WHERE step = 'annotate'", "n_scores"),
    ],
)  # fmt: skip
def test_people_who_contradict_themselves_are_refused(
    archive: Path, workspace: Workspace, tmp_path: Path, statement: str, words: str
) -> None:
    refused(workspace, with_statement(archive, tmp_path, statement), words)
