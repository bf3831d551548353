"""Learning curves from the compare table: what more gold is worth, with and without silver."""

import pandas as pd

from augsbert_core.steps.compare.groups import Grouped
from augsbert_core.steps.compare.models import GOLD_ONLY

POINT_COLUMNS = ["series", "n_gold", "value", "low", "high"]
SERIES = {"gold-only": "Gold-only", "gold-only, equal steps": "Gold-only, equal steps"}


def learning_points(found: Grouped) -> pd.DataFrame:
    """Points (series, gold pairs, score, low, high) of every way of training that was tried on two sizes of gold.

    low, high: ± one standard deviation between seeds, else the bootstrap interval. Empty without two sizes.
    """
    points = [
        {
            "series": _series(row),
            "n_gold": int(row["n_gold"]),
            "value": row["value"],
            "low": row["value"] - row["sd"] if pd.notna(row["sd"]) else row["low"],
            "high": row["value"] + row["sd"] if pd.notna(row["sd"]) else row["high"],
        }
        for row in found.rows.to_dict("records")
        if row["kind"] in (*GOLD_ONLY, "augsbert") and pd.notna(row["value"]) and row["n_gold"]
    ]
    frame = pd.DataFrame(points, columns=POINT_COLUMNS)
    # Of several recipes with as much gold, the last one of the table: it is the newest.
    frame = frame.drop_duplicates(["series", "n_gold"], keep="last")
    sizes = frame.groupby("series")["n_gold"].transform("nunique")
    return frame[sizes > 1].reset_index(drop=True)


def _series(row: dict) -> str:
    if row["kind"] in GOLD_ONLY:
        return SERIES.get(row["kind"], "Gold-only, seeds tried")
    return str(row["name"]).split(" (silver set")[0]
