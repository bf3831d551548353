"""What a larger top-k would have brought in (paper, tables 9 and 10), from the ranks of a silver set."""

from dataclasses import dataclass

from augsbert_core import charts
from augsbert_core.options import KeepOptions, SampleOptions, from_json
from augsbert_core.sampling import HAS_TOP_K
from augsbert_core.steps.spreads import (
    GOLD_NAME,
    Spread,
    bin_centres,
    distances,
    gold_spread,
    spread,
)
from augsbert_core.storage.candidates import get_candidate_set
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.runs import get_run
from augsbert_core.storage.silver_bins import rank_score_counts

KS = (3, 5, 7, 9, 12, 18)
"""The values of the paper's tables 9 and 10."""


@dataclass(frozen=True)
class KRow:
    """One top-k: the pairs of rank ≤ k. found: None where the set was sampled with a smaller k."""

    k: int
    found: Spread | None


def sampled_top_k(workspace: Workspace, found: SilverSet) -> int | None:
    """The k that a set's candidates were sampled with, None when its strategy has none."""
    if found.strategy not in HAS_TOP_K:
        return None
    run = get_run(workspace, get_candidate_set(workspace, found.candidate_set_id).run_id)
    return from_json(SampleOptions, run.options).top_k


def k_rows(workspace: Workspace, found: SilverSet, top_k: int, settings: KeepOptions) -> list[KRow]:
    """The paper's values of k and the set's own, each with the scores of the pairs of rank ≤ k."""
    ks = sorted({*KS, top_k})
    there = [k for k in ks if k <= top_k]
    counts = rank_score_counts(workspace, found.id, there)
    centres = bin_centres(counts.shape[1])
    colors = charts.ramp(len(there))
    spreads = {
        k: spread(f"k = {k}", color, centres, row, settings)
        for k, color, row in zip(there, colors, counts, strict=True)
    }
    return [KRow(k, spreads.get(k)) for k in ks]


def sensitivity(
    workspace: Workspace, project: Project, found: SilverSet
) -> list[dict[str, int | float | None]]:
    """One row per k that the set was sampled with or beyond: pairs, percent of high scores, KL to gold."""
    settings = KeepOptions(silver_set_id=found.id)
    gold = gold_spread(GOLD_NAME, gold_scores(workspace, project.id, ["train"]), settings)
    rows = []
    for row in k_rows(workspace, found, sampled_top_k(workspace, found) or 0, settings):
        one = row.found
        high = None if one is None or one.high_share is None else 100 * one.high_share
        rows.append(
            {
                "k": row.k,
                "Pairs": None if one is None else one.n,
                "High": high,
                "KL": None if one is None else distances(gold, one).kl,
            }
        )
    return rows
