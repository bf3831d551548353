"""What the guided demo's two figures are drawn from: scores against training size, and one student with several seeds."""

import re
from collections.abc import Mapping
from typing import Any

from augsbert_core.steps.compare import Comparison, comparison
from augsbert_core.steps.learn_recipe import WARM, small_student
from augsbert_core.steps.plans.parts import baselines
from augsbert_core.steps.verdict import paired_interval
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run

SERIES = {"labeler": "labeler", "gold": "gold", "student": "silver"}
"""The keys of a learning curve's runs begin with these; the series of the figure."""

KEY = re.compile(rf"({'|'.join(SERIES)})-(\d+)-\d+")

HELD = {"labeler": "gold", "silver": "gold"}
"""Which series is held against which at each size."""


def curve_parts(workspace: Workspace, project: Project, done: Mapping[str, Run]) -> dict[str, Any]:
    """The points on test, growing in gold pairs within a series; nothing before they are measured.

    points: series, n_gold, value, low, high and, against gold alone of the same size, difference with its interval.
    untrained: the student before training, as value, low, high. warm: the labeler before gold, likewise.
    """
    if "measured" not in done:
        return {}
    table = comparison(workspace, project.id, "test")
    scores = gold.scored_pairs(workspace, project.id, "test").scores
    places: dict[tuple[str, int], str] = {}
    for key, run in done.items():
        named = KEY.fullmatch(key)
        target = f"run:{run.id}"
        if named and target in table.measured:
            places[SERIES[named[1]], int(named[2])] = target
    points = []
    for (series, n_gold), target in sorted(places.items()):
        held = places.get((HELD.get(series, ""), n_gold))
        point = {"series": series, "n_gold": n_gold, **_value(table, target)}
        points.append(point | _difference(table, scores, target, held))
    found: dict[str, Any] = {"points": points, "n_test": len(scores)}
    starts = {"untrained": baselines(small_student())[0]}
    if WARM in done:
        starts["warm"] = f"run:{done[WARM].id}"
    return found | {
        name: _value(table, target) for name, target in starts.items() if target in table.measured
    }


def _value(table: Comparison, target: str) -> dict[str, Any]:
    return {name: table.measured[target][name] for name in ("value", "low", "high")}


def _difference(table: Comparison, scores: Any, target: str, held: str | None) -> dict[str, Any]:
    if held is None:
        return {}
    ours, theirs = table.measured[target], table.measured[held]
    low, high = paired_interval(table.metric, scores, ours, theirs) or (None, None)
    return {
        "difference": ours["value"] - theirs["value"],
        "difference_low": low,
        "difference_high": high,
    }


def seeds_parts(workspace: Workspace, project: Project, done: Mapping[str, Run]) -> dict[str, Any]:
    """Dev scores along training of every seed that is done, with its score on test; nothing before there are two.

    fractions: shares of the steps, up to 1. dev: one row per seed. test: value by seed, None before it is measured.
    """
    trained = sorted(
        (run for run in done.values() if run.step == "train-bi-encoder"), key=lambda run: run.seed
    )
    curves = [runs.read_metrics(workspace, run.id).get("dev_score") for run in trained]
    whole = [(run, *curve) for run, curve in zip(trained, curves, strict=True) if curve is not None]
    if len(whole) < 2:
        return {}
    common = sorted(set.intersection(*(set(steps.tolist()) for _, steps, _ in whole)))
    if not common:
        return {}
    table = comparison(workspace, project.id, "test")
    dev = []
    for _, steps, values in whole:
        at = dict(zip(steps.tolist(), values.tolist(), strict=True))
        dev.append([round(at[step], 5) for step in common])
    return {
        "seeds": [run.seed for run, *_ in whole],
        "fractions": [round(step / common[-1], 4) for step in common],
        "dev": dev,
        "test": [table.measured.get(f"run:{run.id}", {}).get("value") for run, *_ in whole],
        "kept": [run.metrics.get("dev_score") for run, *_ in whole],
        "n_steps": int(common[-1]),
        "n_gold": whole[0][0].metrics.get("n_gold"),
    }
