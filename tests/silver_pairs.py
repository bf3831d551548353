"""Silver sets of made-up pairs, for tests of the store."""

from collections import Counter

import numpy as np

from augsbert_core.options import KeepOptions, LabelOptions, SampleOptions, to_json
from augsbert_core.pairs import ScoredPairs
from augsbert_core.storage import candidates, runs, sentences, silver_sets
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import SCORE_BINS


def corpus(workspace: Workspace, project: Project, n_sentences: int) -> np.ndarray:
    """Ids of new unlabelled sentences "sentence 0", "sentence 1" …"""
    record = runs.ImportRecord("s.txt", "{}", 1, "hash")
    texts = [f"sentence {number}" for number in range(n_sentences)]
    sentences.add_unlabelled_sentences(workspace, project.id, texts, record=record, metrics={})
    return sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[0][-n_sentences:]


def candidate_set(
    workspace: Workspace, project: Project, ids: np.ndarray, n_pairs: int, ranks: int = 3
) -> int:
    """The first n_pairs pairs of the ids, with ranks 1, 2, … in turn."""
    first, second = (side[:n_pairs] for side in np.triu_indices(len(ids), k=1))
    run_id = runs.add_run(workspace, project.id, "sample", "s", to_json(SampleOptions()), 1)
    return candidates.add_candidate_set(
        workspace,
        project.id,
        run_id,
        strategy="bm25",
        corpus_size=len(ids),
        first=ids[first],
        second=ids[second],
        rank=np.arange(n_pairs) % ranks + 1,
    )


def silver_set(
    workspace: Workspace,
    project: Project,
    candidate_set_id: int,
    labeler: str = "run:1",
    **told: object,
) -> int:
    """An empty silver set of a finished run; told: options of the labelling."""
    options = LabelOptions(candidate_set_id, labeler, **told)
    run_id = runs.add_run(workspace, project.id, "label", "l", to_json(options), 1)
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE id = ?", [run_id])
    return silver_sets.open_silver_set(
        workspace,
        project.id,
        run_id,
        candidate_set_id=candidate_set_id,
        labeler=labeler,
        labeler_run_id=None,
    )


def label(workspace: Workspace, set_id: int, scores: list[float]) -> None:
    """Give the next candidates these scores."""
    waiting = silver_sets.unscored_pairs(workspace, set_id, len(scores))
    silver_sets.add_silver_scores(
        workspace,
        set_id,
        [
            (*pair, *origin, score, 10 * score)
            for pair, origin, score in zip(waiting.ids, waiting.origin, scores, strict=True)
        ],
    )


def sixty_pairs(workspace: Workspace, project: Project) -> int:
    """Sixty pairs of ranks 1 to 3, scored 0, 1/64, …; some scores lie on bin edges."""
    set_id = silver_set(
        workspace, project, candidate_set(workspace, project, corpus(workspace, project, 20), 60)
    )
    label(workspace, set_id, [number / 64 for number in range(60)])
    return set_id


def all_pairs(workspace: Workspace, set_id: int) -> list[dict]:
    """Every pair of a set, as stored."""
    with reading(workspace) as db:
        rows = db.execute("SELECT * FROM silver_pair WHERE silver_set_id = ?", [set_id]).fetchall()
    return [dict(row) for row in rows]


def recounted(workspace: Workspace) -> dict[tuple, int]:
    """What silver_bin should hold."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT silver_set_id, status, rank, final_score FROM silver_pair"
        ).fetchall()
    return Counter(
        (row[0], row[1], row[2] or 0, min(int(row[3] * SCORE_BINS), SCORE_BINS - 1)) for row in rows
    )


def stored_bins(workspace: Workspace) -> dict[tuple, int]:
    with reading(workspace) as db:
        return {tuple(row)[:4]: row[4] for row in db.execute("SELECT * FROM silver_bin")}


def kept_of(workspace: Workspace, project: Project, pool: int, ids: list[int]) -> int:
    """The pairs with these ids, kept of a pool by a run of their own."""
    run_id = runs.add_run(workspace, project.id, "keep", "k", to_json(KeepOptions(pool)), 1)
    return silver_sets.add_kept_set(
        workspace, project.id, run_id, pool, rule="kde", pair_ids=np.array(ids)
    )


def training_pairs(workspace: Workspace, set_id: int) -> ScoredPairs:
    """What a student learns from a silver set, pair by pair; scores as they were written, not in float32."""
    rows = silver_sets.silver_training_rows(workspace, set_id)
    first, second = rows.columns()
    return ScoredPairs(first, second, np.round(rows.labels.astype(np.float64), 6))


def stored_pairs(workspace: Workspace, set_id: int) -> ScoredPairs:
    """The same, read in the plainest way there is."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT first.text, second.text, final_score FROM silver_pair"
            " JOIN sentence AS first ON first.id = sentence1_id"
            " JOIN sentence AS second ON second.id = sentence2_id"
            " WHERE silver_set_id = ? AND status <> 'rejected' ORDER BY sentence1_id, sentence2_id",
            [set_id],
        ).fetchall()
    first, second, scores = zip(*rows, strict=True)
    return ScoredPairs(list(first), list(second), np.array(scores, dtype=np.float64))
