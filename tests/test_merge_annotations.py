"""Scores of a task become gold: one score a pair, in one import, never twice."""

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoredPairs
from augsbert_core.scales import Level
from augsbert_core.steps import merge_annotations as merging
from augsbert_core.steps.merge_annotations import GoldChange, merge, plan_merge
from augsbert_core.storage import annotations, edits, gold, gold_edits, projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from tests.annotated import NONE, add_task, answer_all, give, gold_ids, item_ids, made_up_pairs

PAIRS = made_up_pairs(4)
TWO = {"Ann": [1, 2, 3, 5], "Bea": [2, 2, 5, NONE]}


@pytest.fixture
def empty(workspace: Workspace) -> Project:
    """A project without gold."""
    return projects.create_project(workspace, "From nothing")


def gold_of(workspace: Workspace, project: Project, split: str = "train") -> ScoredPairs:
    return gold.scored_pairs(workspace, project.id, split)


def test_the_mean_of_all_scores_becomes_gold(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS, name="Round 1", n_scores=2)
    give(workspace, task, TWO)
    done = merge(workspace, empty, task.id, split="train")
    assert (done.n_added, done.n_changed, dict(done.splits)) == (4, 0, {"train": 4})
    pairs = gold_of(workspace, empty)
    assert [sorted(pair) for pair in zip(pairs.sentences1, pairs.sentences2, strict=True)] == [
        sorted(pair) for pair in PAIRS
    ]
    assert (5 * pairs.scores).tolist() == pytest.approx([1.5, 2, 4, 5])
    project = projects.get_project(workspace, empty.id)
    assert (project.score_low, project.score_high, project.task) == (0, 5, "regression")


def test_a_merge_from_two_windows_at_once_comes_in_once(
    workspace: Workspace, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = add_task(workspace, empty, PAIRS, name="Round 1", n_scores=2)
    give(workspace, task, TWO)
    planned_in_both = plan_merge(workspace, empty, task.id, split="train")
    merge(workspace, empty, task.id, split="train")
    monkeypatch.setattr(merging, "plan_merge", lambda *_, **__: planned_in_both)
    with pytest.raises(WorkbenchError, match="came into gold a moment ago"):
        merge(workspace, empty, task.id, split="train")
    assert len(gold_of(workspace, empty)) == 4


def test_a_merge_is_an_import_that_can_be_taken_back(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS, name="Round 1", n_scores=2)
    give(workspace, task, TWO)
    done = merge(workspace, empty, task.id, split="train")
    (run,) = runs.list_runs(workspace, empty.id, step="import")
    assert run.id == done.run_id
    assert run.name == "Annotations: Round 1"
    assert run.metrics["pairs_kept"] == 4
    assert run.metrics["merged"] == {
        "task_id": task.id,
        "task": "Round 1",
        "how": "mean",
        "min_scores": 1,
    }
    assert gold.remove_import(workspace, run.id) == 4
    assert not len(gold_of(workspace, empty))
    # The single scores are still there, and come in again.
    assert merge(workspace, empty, task.id, split="train").n_added == 4


def test_the_scores_of_each_annotator_stay(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS, n_scores=2)
    give(workspace, task, TWO)
    before = annotations.score_matrix(workspace, task.id).scores
    merge(workspace, empty, task.id, split="train")
    np.testing.assert_array_equal(annotations.score_matrix(workspace, task.id).scores, before)


def test_the_median_ignores_one_outlier(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS[:1], n_scores=3)
    give(workspace, task, {"Ann": [1], "Bea": [1.5], "Cleo": [5]})
    merge(workspace, empty, task.id, how="median", split="train")
    assert 5 * gold_of(workspace, empty).scores[0] == pytest.approx(1.5)


def test_merging_twice_adds_only_what_was_scored_meanwhile(
    workspace: Workspace, empty: Project
) -> None:
    task = add_task(workspace, empty, PAIRS, n_scores=2)
    give(workspace, task, {"Ann": [1, 2, NONE, NONE]})
    assert merge(workspace, empty, task.id, split="train").n_added == 2
    with pytest.raises(WorkbenchError, match=r"2 are gold already"):
        merge(workspace, empty, task.id, split="train")
    give(workspace, task, {"Bea": [5, NONE, 3, NONE]})
    done = merge(workspace, empty, task.id, split="train")
    assert done.n_added == 1
    assert done.left_out == {"have no score yet": 1, "are gold already": 2}
    # Gold has 1 for the first pair; with the second score it would be 3.
    assert "1 of the pairs that are gold already have another score there" in done.notes[0]
    assert len(gold_of(workspace, empty)) == 3


def test_a_pair_that_is_gold_the_other_way_round_is_left_out(
    workspace: Workspace, project: Project
) -> None:
    pairs = [("A cat is asleep on the couch.", "A cat sleeps on the sofa."), *PAIRS[:1]]
    task = add_task(workspace, project, pairs)
    give(workspace, task, {"Ann": [3, 3]})
    plan = plan_merge(workspace, project, task.id, split="train")
    assert len(plan.rows) == 1
    assert plan.left_out == {"are gold already": 1}


def test_pairs_with_too_few_scores_wait(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS, n_scores=2)
    give(workspace, task, TWO)
    plan = plan_merge(workspace, empty, task.id, min_scores=2, split="train")
    assert len(plan.rows) == 3
    assert plan.left_out == {"have fewer than 2 scores": 1}


def test_adjudicated_scores_and_what_agrees(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS, n_scores=2)
    give(workspace, task, {"Ann": [1, 2, 3, NONE], "Bea": [1.5, 4, 5, NONE]})
    items = item_ids(workspace, task)
    annotations.adjudicate(workspace, items[1], 0.7, "Zoe")
    annotations.adjudicate(workspace, items[3], 0.2, "Zoe")
    plan = plan_merge(workspace, empty, task.id, how="adjudicated", min_scores=2, split="train")
    # Half a step apart agrees; settled pairs count; the third is apart and open.
    assert plan.rows.raw_scores.tolist() == pytest.approx([1.25, 3.5, 1.0])
    assert plan.left_out == {"have scores that are apart and no adjudicated one": 1}


def test_a_mean_says_that_adjudicated_scores_are_not_used(
    workspace: Workspace, empty: Project
) -> None:
    task = add_task(workspace, empty, PAIRS, n_scores=2)
    give(workspace, task, TWO)
    annotations.adjudicate(workspace, item_ids(workspace, task)[0], 1.0, "Zoe")
    plan = plan_merge(workspace, empty, task.id, split="train")
    assert plan.rows.raw_scores[0] == pytest.approx(1.5)
    assert plan.notes[0].startswith("1 adjudicated scores are not used")


def test_binary_scores_make_a_classification_project(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, PAIRS, scale="binary", n_scores=3)
    give(workspace, task, {"Ann": [0, 1, 1, 1], "Bea": [0, 1, 0, 0], "Cleo": [1, 1, 0, NONE]})
    done = merge(workspace, empty, task.id, split="train")
    assert gold_of(workspace, empty).scores.tolist() == [0, 1, 0]
    assert done.left_out == {"are half-way between no and yes": 1}
    assert projects.get_project(workspace, empty.id).task == "classification"
    page, _ = gold.gold_page(workspace, empty.id, gold.GoldFilter())
    assert page["raw_label"].tolist() == ["no", "yes", "no"]


def test_words_keep_their_label_where_the_score_is_one(
    workspace: Workspace, empty: Project
) -> None:
    words = (Level("other", 0.0, "1"), Level("related", 0.4, "2"), Level("same", 1.0, "3"))
    task = add_task(workspace, empty, PAIRS[:2], scale="custom", levels=words, n_scores=2)
    give(workspace, task, {"Ann": [0.4, 0.4], "Bea": [0.4, 1.0]})
    merge(workspace, empty, task.id, split="train")
    page, _ = gold.gold_page(workspace, empty.id, gold.GoldFilter())
    assert page["raw_label"].tolist() == ["related", ""]
    assert page["raw_score"].tolist() == pytest.approx([0.4, 0.7])


def test_scores_are_put_on_the_scale_that_gold_has(workspace: Workspace, project: Project) -> None:
    words = tuple(Level(f"{n}", n / 10, "1") for n in (1, 3, 7, 10))
    task = add_task(workspace, project, PAIRS, scale="custom", levels=words)
    give(workspace, task, {"Ann": [0.1, 0.3, 0.7, 1]})
    plan = plan_merge(workspace, project, task.id, split="test")
    assert plan.rows.raw_scores.tolist() == [0.5, 1.5, 3.5, 5.0]  # to the last digit
    assert plan.splits == {"test": 4}


def test_pairs_that_share_a_sentence_go_to_one_split(workspace: Workspace, empty: Project) -> None:
    pairs = [(f"Hub {n // 5}.", f"Spoke {n}.") for n in range(60)]
    task = add_task(workspace, empty, pairs)
    give(workspace, task, {"Ann": [n % 6 for n in range(60)]})
    done = merge(workspace, empty, task.id, split_way="components", ratios=(60.0, 20.0, 20.0))
    assert sum(done.splits.values()) == 60
    assert min(done.splits.values()) >= 10
    assert gold.gold_report(workspace, empty.id).sentences_in_two_splits == 0


def test_pairs_that_share_a_sentence_with_gold_go_where_it_is(
    workspace: Workspace, project: Project
) -> None:
    linked = [("The train is late.", f"News {n}.") for n in range(6)]  # gold has it in test
    task = add_task(workspace, project, linked)
    give(workspace, task, {"Ann": [1.0] * 6})
    plan = plan_merge(workspace, project, task.id, split_way="components")
    assert plan.splits == {"test": 6}
    by_pair = plan_merge(workspace, project, task.id, split="train")
    assert any("shares a sentence with gold of another split" in note for note in by_pair.notes)


def test_equal_seeds_deal_alike(workspace: Workspace, empty: Project) -> None:
    task = add_task(workspace, empty, made_up_pairs(40))
    give(workspace, task, {"Ann": [n % 6 for n in range(40)]})
    plans = [plan_merge(workspace, empty, task.id, seed=seed) for seed in (1, 1, 2)]
    splits = [plan.rows.splits.tolist() for plan in plans]
    assert splits[0] == splits[1] != splits[2]
    assert plans[0].splits == {"train": 32, "dev": 4, "test": 4}


def test_gold_that_was_scored_again_changes_and_can_be_undone(
    workspace: Workspace, project: Project
) -> None:
    ids = gold_ids(workspace, project)[:3]
    pairs = gold_of(workspace, project)
    chosen = list(zip(pairs.sentences1[:3], pairs.sentences2[:3], strict=True))
    task = add_task(workspace, project, chosen, source="gold", source_pair_ids=np.array(ids))
    give(workspace, task, {"Ann": [4.5, 1.5, 3]})  # gold: 4.5, 0.5, 4
    plan = plan_merge(workspace, project, task.id)
    assert [(change.gold_id, change.before, change.after) for change in plan.changes] == [
        (ids[1], 0.5, 1.5),
        (ids[2], 4.0, 3.0),
    ]
    assert isinstance(plan.changes[0], GoldChange)
    done = merge(workspace, project, task.id, actor="Ann")
    assert (done.run_id, done.n_added, done.n_changed) == (None, 0, 2)
    assert done.left_out == {"have this score in gold already": 1}
    assert (5 * gold_of(workspace, project).scores[:3]).tolist() == pytest.approx([4.5, 1.5, 3])
    with pytest.raises(WorkbenchError, match="Nothing of"):
        merge(workspace, project, task.id, actor="Ann")
    scope = edits.Scope.gold(project.id)
    (edit,) = edits.edit_log(workspace, scope)
    assert (edit.summary, edit.n_changes) == (f"Merged {task.name}", 2)
    edits.undo(workspace, scope, "Ann")  # once takes all back
    assert (5 * gold_of(workspace, project).scores[:3]).tolist() == pytest.approx([4.5, 0.5, 4])


def gold_task(workspace: Workspace, project: Project) -> tuple[AnnotationTask, list[int]]:
    """A task on the first two gold pairs, both of which Ann scored 3; and their ids."""
    ids = gold_ids(workspace, project)[:2]
    pairs = gold_of(workspace, project)
    chosen = list(zip(pairs.sentences1[:2], pairs.sentences2[:2], strict=True))
    task = add_task(workspace, project, chosen, source="gold", source_pair_ids=np.array(ids))
    give(workspace, task, {"Ann": [3, 3]})
    return task, ids


def test_a_score_that_someone_set_by_hand_afterwards_stays(
    workspace: Workspace, project: Project
) -> None:
    task, ids = gold_task(workspace, project)
    gold_edits.set_gold_score(workspace, ids[0], 2.0, actor="Bea")
    plan = plan_merge(workspace, project, task.id)
    assert [change.gold_id for change in plan.changes] == [ids[1]]
    assert plan.left_out == {
        "were set or confirmed by hand after they were annotated, and gold keeps those scores": 1
    }
    edits.undo(workspace, edits.Scope.gold(project.id), "Bea")
    assert len(plan_merge(workspace, project, task.id).changes) == 2


def test_scores_given_after_a_change_by_hand_come_in(
    workspace: Workspace, project: Project
) -> None:
    task, ids = gold_task(workspace, project)
    gold_edits.set_gold_score(workspace, ids[0], 2.0, actor="Bea")
    item = item_ids(workspace, task)[0]
    later = "2999-01-01T00:00:00+00:00"
    annotations.save(workspace, task.id, item, "Ann", score=0.5, at=later)
    changes = plan_merge(workspace, project, task.id).changes
    assert [(change.before, change.after) for change in changes] == [(2.0, 2.5), (0.5, 3.0)]


def test_many_gold_scores_change_together_or_not_at_all(
    workspace: Workspace, project: Project
) -> None:
    ids = gold_ids(workspace, project)[:3]
    before = gold_of(workspace, project).scores.tolist()
    for scores, seen, said in (
        ([1, 2, 9], None, "9 does not"),
        ([1, 2, 3], [4.5, 0.5, 1], "changed in another window"),
    ):
        with pytest.raises(WorkbenchError, match=said):
            gold_edits.set_gold_scores(
                workspace, project.id, ids, scores, actor="Ann", summary="x", seen=seen
            )
    assert gold_of(workspace, project).scores.tolist() == before
    assert edits.count_edits(workspace, edits.Scope.gold(project.id)) == 0


def test_gold_can_be_left_as_it_is(workspace: Workspace, project: Project) -> None:
    ids = gold_ids(workspace, project)[:1]
    chosen = [("A cat sleeps on the sofa.", "A cat is asleep on the couch.")]
    task = add_task(workspace, project, chosen, source="gold", source_pair_ids=np.array(ids))
    give(workspace, task, {"Ann": [1]})
    plan = plan_merge(workspace, project, task.id, replace_gold=False)
    assert plan.is_empty
    assert plan.left_out == {"are gold already, and gold keeps its scores": 1}


def test_best_worst_answers_become_scores(workspace: Workspace, empty: Project) -> None:
    tuples = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]])
    task = add_task(workspace, empty, made_up_pairs(8), tuples=tuples, n_scores=2)
    truth = {item: float(place) for place, item in enumerate(item_ids(workspace, task))}
    answer_all(workspace, task, "Ann", truth)
    done = merge(workspace, empty, task.id, min_scores=2, split="train")
    assert done.n_added == 8
    # By hand: pair 0 is worst of two tuples, pair 7 best of two, 1 and 4 worst once, 3 and 6 best once.
    assert gold_of(workspace, empty).scores.tolist() == [0, 0.25, 0.5, 0.75, 0.25, 0.5, 0.75, 1]
    assert done.run_id is not None
    assert runs.get_run(workspace, done.run_id).metrics["merged"]["how"] == "best-worst"


def test_a_task_of_another_project_is_refused(
    workspace: Workspace, project: Project, empty: Project
) -> None:
    task = add_task(workspace, project, PAIRS)
    with pytest.raises(WorkbenchError, match="another project"):
        merge(workspace, empty, task.id)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"how": "best"}, "no way 'best'"),
        ({"min_scores": 0}, "At least 1 score"),
        ({"split": "dev2"}, "not a split"),
        ({"ratios": (0.0, 0.0, 0.0)}, "cannot be used"),
    ],
)
def test_what_cannot_be_done_says_so(
    workspace: Workspace, empty: Project, told: dict[str, object], says: str
) -> None:
    task = add_task(workspace, empty, PAIRS)
    give(workspace, task, {"Ann": [1, 2, 3, 4]})
    with pytest.raises(WorkbenchError, match=says):
        plan_merge(workspace, empty, task.id, **told)  # type: ignore[arg-type]
