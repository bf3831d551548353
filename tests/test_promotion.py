"""Corrected and accepted silver pairs as gold, and the other ways to take people's decisions into a training."""

from dataclasses import replace

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, ImportOptions, Stage
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.names import describe
from augsbert_core.steps.promotion import promoted
from augsbert_core.steps.recipe_checks import (
    check_cross_encoder,
    check_recipe,
    count_gold_rows,
    count_silver_rows,
    plan,
)
from augsbert_core.steps.recipe_text import from_toml, to_toml
from augsbert_core.steps.recipes import without_silver
from augsbert_core.steps.training_data import imported_gold, read_gold, read_stage
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.reviews import review_silver_pair
from tests import silver_pairs

N_SILVER = 10


@pytest.fixture
def set_id(workspace: Workspace, project: Project) -> int:
    """Ten silver pairs scored 0, 0.1 … 0.9: the first corrected to 1, then one accepted, rejected and flagged."""
    ids = silver_pairs.corpus(workspace, project, 5)
    candidates = silver_pairs.candidate_set(workspace, project, ids, N_SILVER)
    made = silver_pairs.silver_set(workspace, project, candidates)
    silver_pairs.label(workspace, made, [number / 10 for number in range(N_SILVER)])
    pairs = pair_ids(workspace, made)
    for pair_id, status in zip(
        pairs, ("corrected", "accepted", "rejected", "flagged"), strict=False
    ):
        correction = 1.0 if status == "corrected" else None
        review_silver_pair(workspace, pair_id, correction=correction, status=status, actor="Ada")
    return made


def pair_ids(workspace: Workspace, set_id: int) -> list[int]:
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT id FROM silver_pair WHERE silver_set_id = ? ORDER BY score", [set_id]
        )
        return [row[0] for row in rows]


def silver_labels(workspace: Workspace, project: Project, options: BiEncoderOptions) -> list[float]:
    """The scores of the silver rows that a training reads, by size."""
    found = read_stage(workspace, project, options, "silver", ScoredPairs([], [], np.zeros(0)))
    return sorted(np.round(found.rows.labels, 3).tolist() if found.n_silver else [])


def as_rows(found: ScoredPairs | TrainingRows) -> list[tuple[str, str, float]]:
    rows = found if isinstance(found, TrainingRows) else TrainingRows.from_pairs(found)
    first, second = rows.columns()
    return list(zip(first, second, np.round(rows.labels, 3).tolist(), strict=True))


def test_corrections_count_and_rejected_pairs_stay_out_unless_told_otherwise(
    workspace, project, set_id
):
    corrected = BiEncoderOptions(silver_set_id=set_id)
    rest = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert silver_labels(workspace, project, corrected) == pytest.approx([0.1, *rest, 1.0])
    raw = replace(corrected, silver_scores="raw")
    assert silver_labels(workspace, project, raw) == pytest.approx([0.0, 0.1, *rest])
    kept = replace(corrected, keep_rejected=True)
    assert silver_labels(workspace, project, kept) == pytest.approx([0.1, 0.2, *rest, 1.0])
    promote = replace(corrected, promote=True)
    assert silver_labels(workspace, project, promote) == pytest.approx(rest)
    for options, n_pairs in ((corrected, 9), (raw, 9), (kept, 10), (promote, 7)):
        assert count_silver_rows(workspace, options) == n_pairs
        assert len(silver_labels(workspace, project, options)) == n_pairs


def test_promoted_pairs_are_gold_once_with_its_repeats_and_weight(workspace, project, set_id):
    options = BiEncoderOptions(
        silver_set_id=set_id, promote=True, gold_repeats=3, silver_weight=0.5
    )
    gold = read_gold(workspace, project, options)
    assert len(gold) == 5 + 2
    assert gold.scores[-2:].tolist() == pytest.approx([1.0, 0.1])
    found = read_stage(workspace, project, options, "gold+silver", gold)
    assert (found.n_gold, found.n_corrections, found.n_silver) == (7, 2, 7)
    rows = as_rows(found.rows)
    assert len(rows) == 3 * 7 + 7
    promoted_pair = (gold.sentences1[-2], gold.sentences2[-2], 1.0)
    assert rows.count(promoted_pair) == 3
    assert [row[:2] for row in rows].count(promoted_pair[:2]) == 3  # not once more as silver
    assert found.rows.weights.tolist() == [1.0] * 21 + [0.5] * 7


def test_stages_of_gold_hold_promoted_pairs_and_stages_of_silver_do_not(workspace, project, set_id):
    options = BiEncoderOptions(
        silver_set_id=set_id, promote=True, stages=(Stage("silver"), Stage("gold")), batch_size=1,
        epochs=1,
    )  # fmt: skip
    assert [stage.n_rows for stage in plan(workspace, project, options)] == [7, 7]
    gold = read_gold(workspace, project, options)
    silver = read_stage(workspace, project, options, "silver", gold)
    assert not {row[:2] for row in as_rows(silver.rows)} & set(
        zip(gold.sentences1, gold.sentences2, strict=True)
    )
    assert silver.n_corrections == 0
    assert read_stage(workspace, project, options, "gold", gold).n_corrections == 2


def test_the_limit_of_gold_pairs_holds_for_imported_ones_alone(workspace, project, set_id):
    options = BiEncoderOptions(silver_set_id=set_id, promote=True, gold_limit=3)
    assert len(imported_gold(workspace, project, options)) == 3
    assert len(read_gold(workspace, project, options)) == 5
    assert count_gold_rows(workspace, project, options, n_train=5) == 5


def test_a_labeler_learns_from_the_corrections_of_a_set(workspace, project, set_id):
    options = CrossEncoderOptions(corrections_of=set_id)
    check_cross_encoder(workspace, project, options)
    gold = read_gold(workspace, project, options)
    assert len(gold) == 7
    found = read_stage(workspace, project, options, "gold", gold)
    plain = read_stage(
        workspace, project, CrossEncoderOptions(), "gold",
        read_gold(workspace, project, CrossEncoderOptions()),
    )  # fmt: skip
    assert found.data_hash != plain.data_hash
    assert (found.n_corrections, plain.n_corrections) == (2, 0)
    assert describe("train-cross-encoder", options).endswith(f"corrections of silver set {set_id}")


def test_a_set_that_is_trained_on_and_corrected_gives_each_pair_once(workspace, project, set_id):
    options = CrossEncoderOptions(corrections_of=set_id, silver_set_id=set_id, promote=True)
    gold = read_gold(workspace, project, options)
    found = read_stage(workspace, project, options, "gold+silver", gold)
    pairs = [row[:2] for row in as_rows(found.rows)]
    assert len(set(pairs)) == len(pairs) == 5 + 2 + 7


def move_into_gold(workspace: Workspace, project: Project, set_id: int, split: str) -> None:
    """Put the corrected pair of the set into gold."""
    with writing(workspace) as db:
        db.execute(
            "INSERT INTO gold_pair (project_id, run_id, sentence1_id, sentence2_id, score, raw_score, split,"
            " source_file, source_line) SELECT ?, (SELECT min(run_id) FROM gold_pair), sentence1_id, sentence2_id, 1,"
            " 5, ?, 'later.csv', 1 FROM silver_pair WHERE silver_set_id = ? AND status = 'corrected'",
            [project.id, split, set_id],
        )


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_pair_that_dev_or_test_holds_by_now_is_left_out_and_counted(
    workspace, project, set_id, split
):
    move_into_gold(workspace, project, set_id, split)
    options = BiEncoderOptions(silver_set_id=set_id, promote=True)
    found = promoted(workspace, project, options)
    assert (len(found), found.n_leaks, found.n_known) == (1, 1, 0)
    assert (found.n_corrected, found.n_accepted) == (0, 1)
    data = read_stage(
        workspace, project, options, "gold+silver", read_gold(workspace, project, options)
    )
    assert (data.n_leaks, data.n_corrections, data.n_silver) == (1, 1, 7)  # nor is it silver


def test_a_pair_that_gold_training_data_hold_by_now_is_not_there_twice(workspace, project, set_id):
    move_into_gold(workspace, project, set_id, "train")
    options = BiEncoderOptions(silver_set_id=set_id, promote=True)
    found = promoted(workspace, project, options)
    assert (len(found), found.n_leaks, found.n_known) == (1, 0, 1)
    pairs = [row[:2] for row in as_rows(read_gold(workspace, project, options))]
    assert len(pairs) == len(set(pairs)) == 7


def test_in_a_classification_promoted_pairs_are_of_a_class(workspace):
    made = projects.create_project(workspace, "Classes", task="classification")
    import_file(
        workspace, made.id, b"sentence1,sentence2,score\na,b,1\nc,d,0\n", "gold.csv",
        ImportOptions(score_range=(0.0, 1.0)),
    )  # fmt: skip
    project = projects.get_project(workspace, made.id)
    ids = silver_pairs.corpus(workspace, project, 5)
    candidates = silver_pairs.candidate_set(workspace, project, ids, 4)
    labeler = runs.add_run(workspace, project.id, "train-cross-encoder", "l", "{}", 1)
    runs.update_run(workspace, labeler, metrics={"threshold": 0.7})
    set_id = silver_pairs.silver_set(workspace, project, candidates, f"run:{labeler}")
    with writing(workspace) as db:
        db.execute("UPDATE silver_set SET labeler_run_id = ? WHERE id = ?", [labeler, set_id])
    silver_pairs.label(workspace, set_id, [0.6, 0.8, 0.9, 0.1])
    first, second, third, fourth = pair_ids(workspace, set_id)  # scored 0.1, 0.6, 0.8, 0.9
    for pair_id in (first, second, third):
        review_silver_pair(workspace, pair_id, status="accepted", actor="Ada")
    review_silver_pair(workspace, fourth, correction=0.6, status="corrected", actor="Ada")
    found = promoted(workspace, project, CrossEncoderOptions(corrections_of=set_id))
    # The labeler calls pairs positive from 0.7 on; a person's 0.6 is nearer to yes than to no.
    by_pair = dict(zip(pair_ids_of(workspace, set_id), found.pairs.scores.tolist(), strict=True))
    assert by_pair == {first: 0.0, second: 0.0, third: 1.0, fourth: 1.0}


def pair_ids_of(workspace: Workspace, set_id: int) -> list[int]:
    """In the order in which promoted pairs come."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT id FROM silver_pair WHERE silver_set_id = ? ORDER BY sentence1_id, sentence2_id",
            [set_id],
        )
        return [row[0] for row in rows]


def test_what_cannot_be_done_is_refused_with_the_remedy(workspace, project, set_id):
    with pytest.raises(WorkbenchError, match=r"trains on silver alone\. Take out promote"):
        check_recipe(
            workspace, project,
            BiEncoderOptions(silver_set_id=set_id, promote=True, use_gold=False),
        )  # fmt: skip
    with pytest.raises(WorkbenchError, match="Silver_scores 'old' is not known"):
        check_recipe(workspace, project, BiEncoderOptions(silver_scores="old"))
    with pytest.raises(WorkbenchError, match=r"leaves gold out\. Train on gold too"):
        check_cross_encoder(
            workspace, project,
            CrossEncoderOptions(corrections_of=set_id, silver_set_id=set_id, use_gold=False),
        )  # fmt: skip
    other = projects.create_project(workspace, "Other")
    with pytest.raises(WorkbenchError, match=f"Silver set {set_id} belongs to another project"):
        check_cross_encoder(workspace, other, CrossEncoderOptions(corrections_of=set_id))
    for pair_id in pair_ids(workspace, set_id):
        review_silver_pair(workspace, pair_id, status="unreviewed", actor="Ada")
    with pytest.raises(WorkbenchError, match=r"no corrected or accepted pair\. Review some"):
        check_cross_encoder(workspace, project, CrossEncoderOptions(corrections_of=set_id))


def test_corrections_alone_are_enough_gold(workspace, project, set_id):
    with writing(workspace) as db:
        db.execute("DELETE FROM gold_pair WHERE split = 'train'")
    options = CrossEncoderOptions(corrections_of=set_id)
    check_cross_encoder(workspace, project, options)
    assert len(read_gold(workspace, project, options)) == 2
    with pytest.raises(WorkbenchError, match="no gold pairs in the training split"):
        check_cross_encoder(workspace, project, CrossEncoderOptions())


def test_a_set_whose_pairs_all_count_as_gold_leaves_no_silver(workspace, project, set_id):
    for pair_id in pair_ids(workspace, set_id):
        review_silver_pair(workspace, pair_id, status="accepted", actor="Ada")
    with pytest.raises(WorkbenchError, match="so no silver is left"):
        check_recipe(workspace, project, BiEncoderOptions(silver_set_id=set_id, promote=True))


def test_names_recipes_and_the_twin_say_what_was_chosen(set_id):
    options = BiEncoderOptions(
        silver_set_id=set_id, silver_scores="raw", keep_rejected=True, promote=True
    )
    name = describe("train-bi-encoder", options)
    assert f"gold + silver set {set_id}, raw silver scores, rejected pairs kept" in name
    assert "corrections as gold" in name
    assert from_toml(to_toml(options)) == options
    # A gold-only twin has no silver to choose of.
    assert without_silver(options) == replace(BiEncoderOptions(), silver_set_id=None)
    assert describe("train-bi-encoder", BiEncoderOptions(silver_set_id=set_id)).endswith(
        f"gold + silver set {set_id}"
    )
