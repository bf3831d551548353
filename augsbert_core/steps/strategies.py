"""All silver sets of a project side by side: what each cost and what it was worth (paper, table 11)."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from augsbert_core.options import KeepOptions, SampleOptions, StratifiedOptions, from_json
from augsbert_core.steps.compare import Comparison
from augsbert_core.steps.names import rule_label, strategy_label
from augsbert_core.steps.spreads import GOLD_NAME, distances, gold_spread, silver_spread
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.runs import get_run

EQUAL_STEPS = "gold-only, equal steps"


def strategy_rows(
    workspace: Workspace, project: Project, sets: Sequence[SilverSet], table: Comparison
) -> list[dict[str, Any]]:
    """One row per silver set, newest first, and one per gold-only model of equal steps.

    KL in nats, Wasserstein on the project's raw scale, KS in [0, 1], High in percent.
    """
    settings = KeepOptions(silver_set_id=0)
    gold = gold_spread(GOLD_NAME, gold_scores(workspace, project.id, ["train"]), settings)
    by_id = {one.id: one for one in sets}
    width = project.score_high - project.score_low
    rows = []
    for one in sets:
        found = silver_spread(workspace, one, f"Silver set {one.id}", "#000000", settings)
        apart = distances(gold, found)
        pool = by_id.get(one.pool_set_id or 0, one)
        rows.append(
            {
                "Set": one.id,
                "Strategy": strategy_text(one),
                "Pairs": found.n,
                "Passes": one.passes,
                "Seconds": get_run(workspace, pool.run_id).metrics.get("seconds"),
                "KL": apart.kl,
                "Wasserstein": None if apart.wasserstein is None else width * apart.wasserstein,
                "KS": apart.ks,
                "High": None if found.high_share is None else 100 * found.high_share,
                "Labeler": one.labeler.replace("run:", "run "),
                **trained(table, one.id),
            }
        )
    for _, model in _measured(table, "kind", EQUAL_STEPS).iterrows():
        rows.append(
            {
                "Set": None,
                "Strategy": "Gold only, equal steps",
                "Pairs": 0,
                "Passes": 0,
                "Seconds": None,
                "KL": None,
                "Wasserstein": None,
                "KS": None,
                "High": None,
                "Labeler": "",
                **_score(model),
            }
        )
    return rows


def strategy_text(one: SilverSet) -> str:
    """The strategy of a set with its parameters, and the rule by which a part was kept."""
    if one.strategy == "stratified-kde" and "n_keep" in json.loads(one.sampled_with):
        told = from_json(StratifiedOptions, one.sampled_with)
        text = f"{strategy_label(one.strategy, SampleOptions())}, {told.n_keep:,} wanted"
    elif one.strategy == "stratified-kde":
        text = f"{strategy_label(one.strategy, SampleOptions())}, a part of it drawn"
    else:
        text = _sampled(one.strategy, from_json(SampleOptions, one.sampled_with))
    if one.rule is not None:
        text += f" → {rule_label(from_json(KeepOptions, one.made_with))}"
    return text if one.is_complete else f"{text} (incomplete)"


def _sampled(strategy: str, told: SampleOptions) -> str:
    text = strategy_label(strategy, told)
    if "bm25" in strategy and told.variant != "okapi":
        text += f", {told.variant}"
    if strategy in ("random", "kde"):
        text += f", seed {told.seed}"
    return text


def trained(table: Comparison, set_id: int) -> dict[str, Any]:
    """The newest bi-encoder trained on a silver set, with its score × 100 and interval; empty before."""
    rows = _measured(table, "silver_set_id", set_id)
    rows = rows[rows["kind"] == "augsbert"]
    if rows.empty:
        return {"Score": None, "Interval": "", "Run": None}
    return _score(rows.sort_values("run_id").iloc[-1])


def _measured(table: Comparison, column: str, value: object) -> pd.DataFrame:
    rows = table.rows
    return rows[(rows[column] == value) & rows["value"].notna()]


def _score(model: pd.Series) -> dict[str, Any]:
    low, high = model["low"], model["high"]
    return {
        "Score": 100 * float(model["value"]),
        "Interval": "" if pd.isna(low) or pd.isna(high) else f"{100 * low:.1f} – {100 * high:.1f}",
        "Run": None if pd.isna(model["run_id"]) else int(model["run_id"]),
    }
