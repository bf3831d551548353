"""Another model's scores beside the labeler's: who can give them, and what is stored."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from augsbert_core import calibration, jobs
from augsbert_core.cli import student_scores as command
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.evaluation import score_pairs
from augsbert_core.models.inference import pair_cosines
from augsbert_core.options import StudentScoresOptions, to_json
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.student_scores import check_student_scores, score_with_student
from augsbert_core.storage import gold, runs, silver_columns, silver_pages, silver_sets
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_filters import SilverFilter
from tests.silver_pairs import candidate_set, corpus, label, silver_set, sixty_pairs
from tests.tiny import tiny_bert, tiny_cross_encoder


@pytest.fixture
def many_gold(workspace: Workspace, project: Project) -> Project:
    """The project with as many training pairs as a calibration needs."""
    with writing(workspace) as db:
        db.execute("UPDATE gold_pair SET split = 'train'")
    return project


@pytest.fixture
def model(tmp_path: Path) -> str:
    return tiny_bert(tmp_path / "tiny", ["sentence 0 1 2 3 4 5 6 7 8 9 a cat dog"])


def texts_of(workspace: Workspace, set_id: int) -> tuple[list[str], list[str]]:
    """The sentences of a set in the order of the ids of its pairs."""
    page = silver_pages.silver_page(workspace, set_id, SilverFilter(), limit=1000).sort_values("id")
    return page["sentence1"].tolist(), page["sentence2"].tolist()


def stored(workspace: Workspace, set_id: int, name: str) -> np.ndarray:
    with reading(workspace) as db:
        (blob,) = db.execute(
            "SELECT scores FROM silver_student WHERE silver_set_id = ? AND model = ?",
            [set_id, name],
        ).fetchone()
    return np.frombuffer(blob, dtype=np.float32)


def test_a_bi_encoder_gives_calibrated_scores(
    workspace: Workspace, many_gold: Project, model: str
) -> None:
    set_id = sixty_pairs(workspace, many_gold)
    options = StudentScoresOptions(set_id, f"model:{model}", device="cpu")
    result = jobs.run_in_foreground(workspace, many_gold.id, "student-scores", options)
    encoder = load_bi_encoder(model, "cpu")
    pairs = gold.scored_pairs(workspace, many_gold.id, "train")
    curve = calibration.calibrate(
        pair_cosines(encoder, pairs.sentences1, pairs.sentences2), pairs.scores
    )
    wanted = curve(pair_cosines(encoder, *texts_of(workspace, set_id)))
    assert stored(workspace, set_id, options.model) == pytest.approx(wanted, abs=1e-4)
    assert result["n_pairs"] == 60
    labels = np.arange(60) / 64
    assert result["mean_disagreement"] == pytest.approx(np.abs(wanted - labels).mean(), abs=1e-4)
    student = silver_columns.student_of(workspace, set_id)
    assert student is not None
    assert (student.model, student.run_id) == (options.model, result["run_id"])
    far = silver_pages.count_silver(workspace, set_id, SilverFilter(min_disagreement=0.25))
    assert far == result["n_far_apart"]


def test_a_cross_encoder_is_asked_about_every_pair(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    """... and needs no gold. Asked again, its scores are replaced, not doubled."""
    folder = tiny_cross_encoder(tmp_path / "cross", ["sentence 0 1 2 3 4 5 6 7 8 9"])
    set_id = sixty_pairs(workspace, project)
    options = StudentScoresOptions(set_id, f"cross:{folder}", device="cpu")
    for _ in range(2):
        jobs.run_in_foreground(workspace, project.id, "student-scores", options)
    wanted = score_pairs("cross_encoder", folder, texts_of(workspace, set_id), device="cpu")
    assert stored(workspace, set_id, options.model) == pytest.approx(wanted, abs=1e-5)
    with reading(workspace) as db:
        assert db.execute("SELECT count(*) FROM silver_student").fetchone()[0] == 1


def test_pairs_that_come_later_have_no_score(
    workspace: Workspace, many_gold: Project, model: str
) -> None:
    ids = corpus(workspace, many_gold, 20)
    set_id = silver_set(workspace, many_gold, candidate_set(workspace, many_gold, ids, 60))
    label(workspace, set_id, [0.5] * 20)
    options = StudentScoresOptions(set_id, f"model:{model}", device="cpu")
    jobs.run_in_foreground(workspace, many_gold.id, "student-scores", options)
    label(workspace, set_id, [0.5] * 40)
    page = silver_pages.silver_page(workspace, set_id, SilverFilter()).sort_values("id")
    assert page["student"].notna().tolist() == [True] * 20 + [False] * 40


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("jaccard", "no model that could disagree"),
        ("majority", "no model that could disagree"),
        ("something", "is not something to evaluate"),
        ("run:99", "no run 99"),
        ("run:1", "has labelled silver set"),
    ],
)
def test_what_cannot_score_is_refused_before_it_starts(
    workspace: Workspace, many_gold: Project, name: str, message: str
) -> None:
    set_id = sixty_pairs(workspace, many_gold)  # labelled by run:1
    with pytest.raises(WorkbenchError, match=message):
        check_student_scores(workspace, many_gold, StudentScoresOptions(set_id, name))


def test_sets_that_cannot_be_scored_are_refused(
    workspace: Workspace, project: Project, model: str
) -> None:
    set_id = sixty_pairs(workspace, project)
    told = StudentScoresOptions(set_id, f"model:{model}")
    with pytest.raises(WorkbenchError, match="5 training pairs are too few"):
        check_student_scores(workspace, project, told)
    other = create_project(workspace, "Other")
    with pytest.raises(WorkbenchError, match="belongs to another project"):
        check_student_scores(workspace, other, told)
    with pytest.raises(WorkbenchError, match="no silver set 77"):
        check_student_scores(workspace, project, StudentScoresOptions(77, told.model))
    pool = candidate_set(workspace, other, corpus(workspace, other, 5), 3)
    empty = silver_set(workspace, other, pool)
    with pytest.raises(WorkbenchError, match="no pairs yet"):
        check_student_scores(workspace, other, StudentScoresOptions(empty, told.model))


def test_stopped_it_leaves_nothing_and_begins_again(
    workspace: Workspace, many_gold: Project, model: str
) -> None:
    set_id = sixty_pairs(workspace, many_gold)
    options = StudentScoresOptions(set_id, f"model:{model}", device="cpu")
    run_id = runs.add_run(workspace, many_gold.id, "student-scores", "s", to_json(options), 1)
    context = StepContext(
        workspace, many_gold, runs.get_run(workspace, run_id), should_stop=lambda: True
    )
    with pytest.raises(Stopped):
        score_with_student(context, options)
    assert silver_columns.student_of(workspace, set_id) is None
    again = StepContext(workspace, many_gold, context.run)
    assert score_with_student(again, options)["n_pairs"] == 60


def test_scores_of_a_set_that_was_deleted_meanwhile_are_not_kept(
    workspace: Workspace, many_gold: Project, model: str
) -> None:
    set_id = sixty_pairs(workspace, many_gold)
    options = StudentScoresOptions(set_id, f"model:{model}", device="cpu")
    run_id = runs.add_run(workspace, many_gold.id, "student-scores", "s", to_json(options), 1)

    def delete(fraction: float, message: str, *_: object) -> None:
        if message.startswith("Embedded"):
            silver_sets.delete_silver_set(workspace, set_id)

    context = StepContext(workspace, many_gold, runs.get_run(workspace, run_id), report=delete)
    with pytest.raises(WorkbenchError, match="deleted meanwhile"):
        score_with_student(context, options)


def test_the_command_scores_a_set(workspace: Workspace, many_gold: Project, model: str) -> None:
    app = typer.Typer()

    @app.callback()
    def home(context: typer.Context) -> None:
        context.obj = workspace.home

    command.register(app)
    set_id = sixty_pairs(workspace, many_gold)
    told = ["score-silver", str(set_id), "--model", f"model:{model}", "--device", "cpu"]
    shown = CliRunner().invoke(app, told)
    assert shown.exit_code == 0, shown.output
    assert f"60 pairs of silver set {set_id} scored by model:{model}" in shown.output
    as_json = CliRunner().invoke(app, [*told, "--json"])
    assert json.loads(as_json.stdout)["n_pairs"] == 60
