"""How a task gets its pairs: from where, which not, in what order, and what the run says about it."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions, SampleOptions, TaskOptions, to_json
from augsbert_core.pairs import pair_codes
from augsbert_core.scales import Level
from augsbert_core.steps import STEPS
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.make_task import create_now, needs_model, task_uses_device
from augsbert_core.storage import annotation_tasks, candidates, gold, projects, runs
from augsbert_core.storage.annotation_tasks import close_task, get_task, list_tasks
from augsbert_core.storage.database import reading, writing
from augsbert_core.storage.reviews import review_silver_pair
from augsbert_core.storage.sentences import sampling_corpus
from tests.silver_pairs import sixty_pairs
from tests.tiny import tiny_bert

SENTENCES = [
    "A plane is taking off.", "A plane lands.", "A dog runs.", "A man plays the flute.", "A man cooks rice.",
    "A woman slices an onion.", "Two men play chess.", "A cat sleeps.", "It rains.", "The train is late.",
]  # fmt: skip


@pytest.fixture
def bare(workspace):
    """A project of unlabelled sentences, without any gold."""
    made = projects.create_project(workspace, "Bare")
    data = "\n".join(["sentence", *SENTENCES]).encode()
    import_file(workspace, made.id, data, "s.csv", ImportOptions(kind="sentences"))
    return projects.get_project(workspace, made.id)


def candidate_set(workspace, project, strategy="random", cosines=None, n_pairs=20):
    """The first pairs of the corpus as a candidate set."""
    ids, _ = sampling_corpus(workspace, project.id, use_unlabelled=True)
    first, second = (side[:n_pairs] for side in np.triu_indices(len(ids), k=1))
    told = to_json(SampleOptions(strategy=strategy))
    run_id = runs.add_run(workspace, project.id, "sample", "s", told, 1)
    return candidates.add_candidate_set(
        workspace, project.id, run_id, strategy=strategy, corpus_size=len(ids),
        first=ids[first], second=ids[second], sampler_score=cosines,
    )  # fmt: skip


def items(workspace, task_id):
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT * FROM annotation_item WHERE task_id = ? ORDER BY position", [task_id]
        )
        return [dict(row) for row in rows]


def run_of(workspace, task_id):
    return runs.get_run(workspace, get_task(workspace, task_id).run_id)


def test_a_project_without_gold_can_be_annotated_and_the_run_is_recorded(workspace, bare):
    set_id = candidate_set(workspace, bare)
    options = TaskOptions(candidate_set_id=set_id, n_pairs=8)
    task_id = create_now(workspace, bare, options)
    rows = items(workspace, task_id)
    assert len(rows) == 8
    assert {row["reason"] for row in rows} == {"drawn at random"}
    assert [row["suggestion"] for row in rows] == [None] * 8
    run = run_of(workspace, task_id)
    assert (run.step, run.state) == ("annotate", "done")
    assert json.loads(run.options) == json.loads(to_json(options))
    assert run.metrics == {"n_pairs": 8, "n_left_out": 0, "n_tuples": 0, "notices": []}

    same = create_now(workspace, bare, options)
    other_seed = create_now(
        workspace, bare, TaskOptions(candidate_set_id=set_id, n_pairs=4, seed=7)
    )
    assert len(items(workspace, same)) == 8  # of the twelve that no open task holds
    assert len(items(workspace, other_seed)) == 4


def test_pairs_of_open_tasks_gold_pairs_and_blank_sentences_are_left_out(workspace, bare):
    set_id = candidate_set(workspace, bare)
    with writing(workspace) as db:
        db.execute("UPDATE sentence SET key = '', text = ' ' WHERE text = ?", [SENTENCES[1]])
    csv = f"sentence1,sentence2,score,split\n{SENTENCES[3]},{SENTENCES[0]},3,train\n".encode()
    import_file(workspace, bare.id, csv, "g.csv", ImportOptions(score_range=(0.0, 5.0)))
    options = TaskOptions(candidate_set_id=set_id, n_pairs=5)
    first = create_now(workspace, bare, options)
    rest = create_now(workspace, bare, TaskOptions(candidate_set_id=set_id, n_pairs=99))
    asked = {(row["sentence1_id"], row["sentence2_id"]) for row in items(workspace, first)}
    told = run_of(workspace, rest).metrics
    # Twenty pairs: one is gold, nine have the blank sentence, five are asked already.
    assert told["n_pairs"] == 5
    assert told["n_left_out"] == 15
    assert told["notices"][-1] == (
        "Left out: 1 that are gold pairs already, 9 that have a blank sentence, 5 that are in another open task."
    )
    assert "lowered from 20" not in told["notices"][0]
    assert asked.isdisjoint(
        {(row["sentence1_id"], row["sentence2_id"]) for row in items(workspace, rest)}
    )
    with pytest.raises(
        WorkbenchError, match=r"No pair is left to score\. Left out: 1 that are gold"
    ):
        create_now(workspace, bare, options)
    close_task(workspace, first)
    assert len(items(workspace, create_now(workspace, bare, options))) == 5


def test_scores_of_semantic_candidates_are_cosines_and_said_to_be(workspace, bare):
    cosines = np.linspace(-0.2, 0.95, 20)
    set_id = candidate_set(workspace, bare, "semantic", cosines)
    options = TaskOptions(
        candidate_set_id=set_id, queue="threshold", n_pairs=1, threshold=0.95, scale="0-1"
    )
    assert not needs_model(workspace, bare, options)
    task_id = create_now(workspace, bare, options)
    assert items(workspace, task_id)[0]["reason"] == "0.00 from the threshold 0.95"
    assert run_of(workspace, task_id).metrics["notices"][0] == (
        "Scores are estimated by cosines of the sampler, those below 0 as 0, not calibrated on gold."
    )
    assert items(workspace, task_id)[0]["suggestion"] is None


def test_candidates_without_scores_need_the_student_and_so_a_job(workspace, bare, tmp_path):
    set_id = candidate_set(workspace, bare, "bm25")
    model = tiny_bert(tmp_path / "bert", SENTENCES)
    options = TaskOptions(
        candidate_set_id=set_id, queue="density-gap", n_pairs=6, student=str(model), device="cpu"
    )
    assert needs_model(workspace, bare, options)
    assert task_uses_device(options)
    with pytest.raises(WorkbenchError, match="Start it as a job"):
        create_now(workspace, bare, options)
    result = jobs.run_in_foreground(workspace, bare.id, "annotate", options)
    (task,) = list_tasks(workspace, bare.id)
    assert (task.run_id, task.n_items) == (result["run_id"], 6)
    assert "not calibrated on gold" in result["notices"][0]
    assert all(row["suggestion"] is None for row in items(workspace, task.id))
    assert items(workspace, task.id)[0]["reason"].startswith("score region ")


def test_a_student_in_a_project_with_gold_is_calibrated_and_may_suggest(workspace, tmp_path):
    made = projects.create_project(workspace, "Twelve")
    rows = [f"{a},{b},{(i * 3) % 6},train" for i, (a, b) in enumerate(pairwise(SENTENCES))]
    rows += [f"{SENTENCES[0]},{b},1,train" for b in SENTENCES[2:6]]
    csv = "sentence1,sentence2,score,split\n" + "\n".join(rows)
    import_file(workspace, made.id, csv.encode(), "g.csv", ImportOptions(score_range=(0.0, 5.0)))
    project = projects.get_project(workspace, made.id)
    set_id = candidate_set(workspace, project, "bm25", n_pairs=40)
    options = TaskOptions(
        candidate_set_id=set_id, queue="threshold", n_pairs=5, device="cpu",
        student=str(tiny_bert(tmp_path / "bert", SENTENCES)),
    )  # fmt: skip
    result = jobs.run_in_foreground(workspace, project.id, "annotate", options)
    (task,) = list_tasks(workspace, project.id)
    assert all(0 <= row["suggestion"] <= 1 for row in items(workspace, task.id))
    assert "calibrated on gold" in result["notices"][0]
    assert "No threshold is known" in result["notices"][1]


def test_silver_brings_the_labelers_scores_and_rejected_pairs_come_into_audits_alone(
    workspace, project
):
    set_id = sixty_pairs(workspace, project)
    with reading(workspace) as db:
        ids = [row[0] for row in db.execute("SELECT id FROM silver_pair ORDER BY id")]
    review_silver_pair(workspace, ids[0], correction=None, status="rejected", actor="ada")
    options = TaskOptions(
        source="silver", silver_set_id=set_id, queue="score-strata", n_pairs=60, purpose="gold"
    )
    rows = items(workspace, create_now(workspace, project, options))
    assert {row["source_pair_id"] for row in rows} == set(ids[1:])
    # The labeler is judged on the whole set, also where people disagreed with it, and whatever else is being scored.
    task_id = create_now(workspace, project, replace(options, purpose="audit"))
    rows = items(workspace, task_id)
    assert {row["source_pair_id"] for row in rows} == set(ids)
    with reading(workspace) as db:
        scores = dict(map(tuple, db.execute("SELECT id, score FROM silver_pair")))
    assert all(row["suggestion"] == scores[row["source_pair_id"]] for row in rows)
    assert all(row["stratum"] == int(row["suggestion"] * 5) for row in rows)
    assert get_task(workspace, task_id).silver_set_id == set_id


def test_like_corrected_finds_the_words_of_a_mistake(workspace, project):
    set_id = sixty_pairs(workspace, project)
    options = TaskOptions(source="silver", silver_set_id=set_id, queue="like-corrected", n_pairs=10)
    with pytest.raises(WorkbenchError, match="needs pairs that people have corrected"):
        create_now(workspace, project, options)
    with reading(workspace) as db:
        row = db.execute("SELECT * FROM silver_pair ORDER BY id LIMIT 1").fetchone()
    review_silver_pair(workspace, row["id"], correction=0.9, status="corrected", actor="ada")
    rows = items(workspace, create_now(workspace, project, options))
    assert row["id"] not in {one["source_pair_id"] for one in rows}
    alike = {row["sentence1_id"], row["sentence2_id"]}
    assert all(alike & {one["sentence1_id"], one["sentence2_id"]} for one in rows)
    assert "which was corrected from 0.00 to 4.50" in rows[0]["reason"]


def test_gold_that_is_scored_again_shows_no_score_and_may_be_one_split(workspace, project):
    options = TaskOptions(source="gold", split="train", n_pairs=99)
    rows = items(workspace, create_now(workspace, project, options))
    assert len(rows) == 5
    assert all(row["suggestion"] is None for row in rows)
    train = {row["id"] for row in gold_rows(workspace, project) if row["split"] == "train"}
    assert {row["source_pair_id"] for row in rows} == train


def gold_rows(workspace, project):
    page, _ = gold.gold_page(workspace, project.id, gold.GoldFilter())
    return page.to_dict("records")


def test_best_worst_tasks_get_tuples_of_four_pairs(workspace, bare):
    set_id = candidate_set(workspace, bare)
    options = TaskOptions(
        candidate_set_id=set_id, kind="best-worst", n_pairs=12, tuples_per_pair=1.5
    )
    task_id = create_now(workspace, bare, options)
    task = get_task(workspace, task_id)
    assert (task.n_items, task.n_tuples) == (12, 18)
    assert run_of(workspace, task_id).metrics["n_tuples"] == 18


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"kind": "ranks"}, "The kind of a task is 'ranks'"),
        ({"queue": "best"}, "The queue of a task is 'best'"),
        ({"source": "gold", "queue": "order-gap"}, "does not work for gold pairs"),
        ({"purpose": "audit"}, "An audit judges a labeler"),
        ({"candidate_set_id": None}, "Choose the candidate set"),
        ({"source": "silver"}, "Choose the silver set"),
        ({"candidate_set_id": 99}, "There is no candidate set 99"),
        ({"source": "gold"}, "There are no gold pairs to score again"),
        ({"n_pairs": 0}, "The number of pairs is 0"),
        ({"n_scores": 1001}, "Scores per pair are 1,001. Give a number from 1 to 1,000"),
        ({"seed": -1}, "The seed is -1"),
        ({"seed": 2**31}, "from 0 to"),
        ({"tuples_per_pair": float("nan")}, "Tuples per pair are nan"),
        ({"levels": (Level("a", 0.0, ""), Level("b", 1.0, ""))}, "Take the scale custom"),
        ({"name": "x" * 81}, "1 to 80 printable"),
        ({"name": "a\x00b"}, "1 to 80 printable"),
        ({"student": "\ud800"}, "The option student of a task cannot be"),
        ({"purpose": "audit", "source": "silver"}, "take the queue score-strata, not random"),
        ({"n_scores": 0}, "Scores per pair are 0"),
        ({"threshold": 1.5}, "The threshold is 1.5"),
        ({"scale": "0-9"}, "There is no scale '0-9'"),
        ({"kind": "best-worst", "n_pairs": 3}, "takes 4 to 10,000 pairs, not 3"),
        ({"kind": "best-worst", "tuples_per_pair": 0.0}, "Tuples per pair are 0"),
        ({"queue": "density-gap", "student": "run:99"}, "There is no run 99"),
    ],
)
def test_what_cannot_be_done_is_said_before(workspace, bare, told, message):
    options = TaskOptions(**({"candidate_set_id": candidate_set(workspace, bare)} | told))
    with pytest.raises(WorkbenchError, match=message):
        STEPS["annotate"].check(workspace, bare, options)


def test_a_task_that_cannot_be_stored_leaves_no_run(workspace, bare):
    options = TaskOptions(candidate_set_id=candidate_set(workspace, bare), name="n" * 500)
    with pytest.raises(WorkbenchError, match="A task needs a name"):
        create_now(workspace, bare, options)
    assert not runs.list_runs(workspace, bare.id, "annotate", state=None)


def test_a_job_that_is_carried_out_again_keeps_its_task(workspace, bare, monkeypatch):
    options = TaskOptions(candidate_set_id=candidate_set(workspace, bare), n_pairs=3)
    result = jobs.run_in_foreground(workspace, bare.id, "annotate", options)
    (task,) = list_tasks(workspace, bare.id)
    from augsbert_core.steps.context import StepContext

    context = StepContext(workspace, bare, runs.get_run(workspace, result["run_id"]))
    again = STEPS["annotate"].function(context, options)
    assert again == {key: result[key] for key in ("n_pairs", "n_left_out", "n_tuples", "notices")}
    assert [one.id for one in annotation_tasks.list_tasks(workspace, bare.id)] == [task.id]


def test_codes_of_pairs_are_those_of_the_pools(workspace, bare):
    from augsbert_core.storage.task_pools import candidate_pool

    pool = candidate_pool(workspace, candidate_set(workspace, bare))
    np.testing.assert_array_equal(pool.codes, pair_codes(pool.second, pool.first))
    assert np.isnan(pool.sampler_scores).all()


def test_from_sentences_alone_to_a_task_that_meets_all_degrees_of_similarity(
    workspace, bare, tmp_path
):
    told = SampleOptions(
        strategy="cosine-strata", n_pairs=30, use_unlabelled=True, device="cpu",
        encoder=str(tiny_bert(tmp_path / "bert", SENTENCES)),
    )  # fmt: skip
    set_id = jobs.run_in_foreground(workspace, bare.id, "sample", told)["candidate_set_id"]
    options = TaskOptions(candidate_set_id=set_id, queue="density-gap", n_pairs=10)
    assert not needs_model(workspace, bare, options)
    rows = items(workspace, create_now(workspace, bare, options))
    assert len(rows) == 10
    assert all("% of the candidates" in row["reason"] for row in rows)
