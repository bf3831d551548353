"""A smaller candidate set, drawn from another."""

import numpy as np

from augsbert_core.storage.candidates import add_candidate_set
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import CandidateSet


def add_drawn_set(
    workspace: Workspace, run_id: int, chosen: CandidateSet, n_pairs: int, seed: int
) -> int:
    """Store n_pairs candidates of a set, drawn without replacement (all when there are fewer), as a set of a run."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT sentence1_id, sentence2_id, coalesce(rank, 0), sampler_score, coalesce(bm25_rank, 0),"
            " coalesce(semantic_rank, 0) FROM candidate_pair WHERE candidate_set_id = ?"
            " ORDER BY sentence1_id, sentence2_id",
            [chosen.id],
        ).fetchall()
    take = min(n_pairs, len(rows))
    places = np.sort(np.random.default_rng(seed).choice(len(rows), size=take, replace=False))
    first, second, rank, score, bm25, semantic = zip(
        *(tuple(rows[place]) for place in places), strict=True
    )
    is_scored = None not in score
    return add_candidate_set(
        workspace,
        chosen.project_id,
        run_id,
        strategy=chosen.strategy,
        corpus_size=chosen.corpus_size,
        first=np.array(first),
        second=np.array(second),
        rank=np.array(rank) if any(rank) else None,
        sampler_score=np.array(score, dtype=np.float64) if is_scored else None,
        bm25_rank=np.array(bm25) if any(bm25) else None,
        semantic_rank=np.array(semantic) if any(semantic) else None,
        notices=[f"{take:,} of the {len(rows):,} pairs of candidate set {chosen.id}, at random."],
    )
