"""Two labellings of the same pairs: what changed, and whether it came closer to people."""

import json

import numpy as np
import pytest

from augsbert_core.charts.relabelled import CELLS, MOST_POINTS, relabelled_figure
from augsbert_core.cli import main
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.audit import audit_report, draw_audit
from augsbert_core.steps.relabelled import (
    change_page,
    outcome,
    people_text,
    relabelled,
    summary_text,
)
from augsbert_core.storage import annotations
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.reviews import review_silver_pair
from augsbert_core.storage.score_matrices import score_matrix
from augsbert_core.storage.sentences import sampling_corpus
from tests import silver_pairs
from tests.pages.seeding import finished_run

N_PAIRS = 300


def truth(pair: np.ndarray) -> np.ndarray:
    """What people would say about the pairs, from their place in the set."""
    return np.round((pair * 37 % N_PAIRS) / N_PAIRS, 1)


def two_sets(workspace: Workspace, project: Project, before: float, after: float) -> list[int]:
    """Two labellings of the same pairs, so far from the truth each; the second labeler learnt from the first set."""
    ids = silver_pairs.corpus(workspace, project, 30)
    candidates = silver_pairs.candidate_set(workspace, project, ids, N_PAIRS)
    rng = np.random.default_rng(0)
    real = truth(np.arange(N_PAIRS))
    sets: list[int] = []
    for away in (before, after):
        set_id = silver_pairs.silver_set(workspace, project, candidates)
        scores = np.clip(real + away * rng.choice([-1, 1], N_PAIRS) * rng.random(N_PAIRS), 0, 1)
        silver_pairs.label(workspace, set_id, scores.tolist())
        options = CrossEncoderOptions(corrections_of=sets[0] if sets else None)
        labeler = finished_run(
            workspace, project, "train-cross-encoder", options, dev_score=0.5 + len(sets) / 10
        )
        with writing(workspace) as db:
            db.execute("UPDATE silver_set SET labeler_run_id = ? WHERE id = ?", [labeler, set_id])
        sets.append(set_id)
    return sets


def places(workspace: Workspace, set_id: int) -> list[int]:
    """The ids of the pairs of a set, in the order in which they were labelled."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT id FROM silver_pair WHERE silver_set_id = ? ORDER BY sentence1_id, sentence2_id",
            [set_id],
        )
        return [row[0] for row in rows]


def correct(workspace: Workspace, set_id: int, which: range, at: str) -> None:
    """Give pairs their true score, at a moment."""
    ids, real = places(workspace, set_id), truth(np.arange(N_PAIRS))
    for place in which:
        review_silver_pair(
            workspace, ids[place], correction=float(real[place]), status="corrected", actor="Ada"
        )
    with writing(workspace) as db:
        db.execute(
            "UPDATE edit SET at = ? WHERE id IN (SELECT edit_id FROM edit_change WHERE pair_id >= ? AND pair_id <= ?)",
            [at, ids[which[0]], ids[which[-1]]],
        )


LONG_AGO, TOMORROW = "2000-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"


def test_every_pair_has_both_scores_and_its_change(workspace, project):
    old, new = two_sets(workspace, project, 0.3, 0.1)
    correct(workspace, old, range(3), LONG_AGO)
    found = relabelled(workspace, old, new)
    assert (found.n_pairs, found.shared.n_only_old, found.shared.n_only_new) == (N_PAIRS, 0, 0)
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT a.id, b.id, a.score, b.score, a.correction FROM silver_pair AS a JOIN silver_pair AS b"
            " USING (sentence1_id, sentence2_id) WHERE a.silver_set_id = ? AND b.silver_set_id = ?"
            " ORDER BY sentence1_id, sentence2_id",
            [old, new],
        ).fetchall()
    assert found.shared.old_ids.tolist() == [row[0] for row in rows]
    assert found.shared.new_ids.tolist() == [row[1] for row in rows]
    assert found.shared.old.tolist() == [row[2] for row in rows]
    assert found.shared.new.tolist() == [row[3] for row in rows]
    changes = np.array([abs(row[3] - row[2]) for row in rows])
    assert found.mean_change.value == pytest.approx(changes.mean())
    assert found.mean_change.low < changes.mean() < found.mean_change.high
    corrected = [row for row in rows if row[4] is not None]
    assert found.towards == sum(abs(r[3] - r[4]) < abs(r[2] - r[4]) for r in corrected)
    assert found.away == sum(abs(r[3] - r[4]) > abs(r[2] - r[4]) for r in corrected)
    page = change_page(workspace, found, limit=5)
    assert page["change"].abs().tolist() == pytest.approx(sorted(changes, reverse=True)[:5])
    after = change_page(workspace, found, offset=5, limit=1)
    assert abs(after["change"][0]) == pytest.approx(sorted(changes, reverse=True)[5])
    assert page["sentence1"].str.startswith("sentence ").all()
    assert found.dev_scores == (0.5, 0.6)
    assert f"{N_PAIRS} pairs in both sets" in summary_text(found)


def test_agreement_on_corrections_that_were_trained_on_proves_nothing(workspace, project):
    old, new = two_sets(workspace, project, 0.4, 0.05)
    correct(workspace, old, range(40), LONG_AGO)
    found = relabelled(workspace, old, new)
    assert (found.n_corrected, found.n_used) == (40, 40)
    assert found.corrections is None
    word, said = outcome(found)
    assert word == "unknown"
    assert "All 40 corrected pairs were used for training" in said
    assert "Draw an audit" in said


def test_later_corrections_measure_the_change_and_say_that_they_flatter(workspace, project):
    old, new = two_sets(workspace, project, 0.4, 0.05)
    correct(workspace, old, range(30), LONG_AGO)
    correct(workspace, old, range(30, 90), TOMORROW)
    found = relabelled(workspace, old, new)
    assert (found.n_corrected, found.n_used, found.corrections.n) == (90, 30, 60)
    later = slice(30, 90)
    real = truth(np.arange(N_PAIRS))[later]
    assert found.corrections.before.value == pytest.approx(
        np.abs(found.shared.old[later] - real).mean()
    )
    assert found.corrections.after.value == pytest.approx(
        np.abs(found.shared.new[later] - real).mean()
    )
    word, said = outcome(found)
    assert word == "closer"
    assert "On 60 corrected pairs that no labeler was trained on" in said
    assert "any other labeler looks better on corrected pairs" in said
    assert "30 corrected pairs are left out" in said


@pytest.mark.parametrize(
    ("before", "after", "word", "words"),
    [
        (0.4, 0.05, "closer", "is closer to people"),
        (0.05, 0.4, "farther", "did not help: the new labeler is farther"),
        (0.3, 0.3, "unclear", "has not clearly helped"),
    ],
)
def test_an_audit_decides_whether_retraining_helped(workspace, project, before, after, word, words):
    old, new = two_sets(workspace, project, before, after)
    score_audit(workspace, project, old)
    correct(workspace, old, range(5), LONG_AGO)
    found = relabelled(workspace, old, new)
    # Pairs of the audit that were corrected before the training were trained on.
    drawn = set(audit_report(workspace, old).sample["source_pair_id"].tolist())
    assert found.audited.n == len(drawn - set(places(workspace, old)[:5]))
    assert outcome(found)[0] == word
    assert words in outcome(found)[1]
    assert f"On {found.audited.n} audited pairs" in outcome(found)[1]


def score_audit(workspace: Workspace, project: Project, set_id: int) -> None:
    """Someone gives the 50 pairs of an audit their true score."""
    task_id = draw_audit(workspace, project, set_id)
    place = {number: at for at, number in enumerate(places(workspace, set_id))}
    items = score_matrix(workspace, task_id).items.set_index("item_id")["source_pair_id"]
    real = truth(np.arange(N_PAIRS))
    item = annotations.next_item(workspace, task_id, "Ada")
    while item is not None:
        score = float(real[place[int(items[item.id])]])
        item = annotations.save(workspace, task_id, item.id, "Ada", score=score)


def test_a_pair_that_is_gold_by_now_proves_nothing_either(workspace, project):
    old, new = two_sets(workspace, project, 0.4, 0.05)
    correct(workspace, old, range(10), TOMORROW)
    with writing(workspace) as db:
        db.execute(
            "INSERT INTO gold_pair (project_id, run_id, sentence1_id, sentence2_id, score, raw_score, split,"
            " source_file, source_line) SELECT ?, (SELECT min(run_id) FROM gold_pair), sentence1_id, sentence2_id, 1,"
            " 5, 'train', 'later.csv', 1 FROM silver_pair WHERE id = ?",
            [project.id, places(workspace, old)[0]],
        )
    found = relabelled(workspace, old, new)
    assert (found.n_corrected, found.n_used, found.corrections.n) == (10, 1, 9)


def test_an_accepted_pair_has_the_old_score_which_counts_neither_way(workspace, project):
    old, new = two_sets(workspace, project, 0.4, 0.05)
    review_silver_pair(workspace, places(workspace, old)[0], status="accepted", actor="Ada")
    found = relabelled(workspace, old, new)
    assert np.isnan(found.human[0])
    assert (found.basis[0], found.n_accepted) == ("accepted", 1)
    assert (found.n_corrected, found.towards, found.away) == (0, 0, 0)
    assert "1 accepted pairs people said that the old score may stand" in outcome(found)[1]
    assert "1 pairs were accepted at the old score" in summary_text(found)
    page = change_page(workspace, found, limit=N_PAIRS)
    (row,) = page[page["basis"] == "accepted"].to_dict("records")
    assert row["moved"] == ""
    said = people_text(row["human"], row["basis"], row["old"], found.score_range)
    assert said == f"accepted at {5 * row['old']:.2f}"
    correct(workspace, old, range(1), TOMORROW)
    found = relabelled(workspace, old, new)
    assert (found.basis[0], found.n_accepted, found.n_corrected) == ("corrected", 0, 1)


def test_what_cannot_be_compared_is_refused(workspace, project):
    old, _ = two_sets(workspace, project, 0.4, 0.05)
    with pytest.raises(WorkbenchError, match="cannot be compared with itself"):
        relabelled(workspace, old, old)
    ids = sampling_corpus(workspace, project.id, use_unlabelled=True)[0][-4:]
    other = silver_pairs.silver_set(
        workspace, project, silver_pairs.candidate_set(workspace, project, ids, 3)
    )
    silver_pairs.label(workspace, other, [0.1, 0.2, 0.3])
    with pytest.raises(WorkbenchError, match="have no pair in common"):
        relabelled(workspace, old, other)


def test_the_command_says_the_same(workspace, project, capsys):
    old, new = two_sets(workspace, project, 0.4, 0.05)
    correct(workspace, old, range(20), TOMORROW)
    found = relabelled(workspace, old, new)
    home = ["--home", str(workspace.home), "relabelled", str(old), str(new)]
    with pytest.raises(SystemExit):
        main([*home, "--limit", "2"])
    printed = capsys.readouterr().out
    assert summary_text(found) in printed
    assert outcome(found)[1] in printed
    with pytest.raises(SystemExit):
        main([*home, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["outcome"] == "closer"
    assert told["corrections"]["change"]["value"] == pytest.approx(found.corrections.change.value)


def test_many_pairs_are_drawn_as_a_density_few_as_points():
    rng = np.random.default_rng(0)
    scale = ScoreRange(0, 5)
    for n in (100, MOST_POINTS + 1):
        old, new = rng.random(n), rng.random(n)
        human = np.full(n, np.nan)
        human[:3] = 1.0
        figure = relabelled_figure(old, new, human, scale)
        first, line, lines, people = figure.data
        if n == 100:
            assert len(first.x) == n
            assert first.x[0] == pytest.approx(5 * old[0])
        else:
            assert first.z.shape == (CELLS, CELLS)
            assert first.customdata.sum() == n
        assert list(line.y) == [0, 5]
        assert sorted(people.x) == pytest.approx(sorted(5 * old[:3]))
        assert list(lines.y[1::3]) == [5.0] * 3
