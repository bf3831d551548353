"""The compare table by recipe: runs that differ in their seed alone are one row, as in the paper's tables 5 and 11."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pandas as pd

from augsbert_core import metrics
from augsbert_core.steps.compare.labels import name_groups
from augsbert_core.steps.compare.models import KINDS, Model
from augsbert_core.steps.compare.notes import group_notes
from augsbert_core.steps.compare.recipe_keys import RecipeKeys
from augsbert_core.steps.compare.references import add_differences
from augsbert_core.steps.compare.resampling import replicates_of
from augsbert_core.steps.compare.table import Comparison, as_json_rows, plain_rows, run_key
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace

GROUP_COLUMNS = [
    "name", "kind", "metric", "value", "sd", "low", "high", "n_seeds", "difference", "difference_low",
    "difference_high", "p", "p_adjusted", "reference", "equal_steps", "n_gold", "n_silver", "passes",
    "n_steps", "seconds", "seeds", "runs", "targets", "silver_sets", "base", "layers", "comparable",
    "why_not", "details",
]  # fmt: skip


@dataclass(frozen=True)
class Grouped:
    """One row per recipe. rows: see `GROUP_COLUMNS`; single: every run is a row of its own.

    value, low, high: of the mean over seeds. sd: between seeds, None for one. difference and the columns after it:
    against `reference`, the name of another row; equal_steps: whether that one took as many optimiser steps.
    p_adjusted: p after Holm's correction for all rows.
    """

    rows: pd.DataFrame
    notes: tuple[str, ...]
    single: bool = False

    def as_json(self) -> list[dict[str, Any]]:
        """The rows as plain values; what is undefined is null, never a number."""
        return plain_rows(self.rows, ("layers",))


@dataclass
class Group:
    """Runs of one recipe, in the order of their seeds. models, rows: of the table, one for each."""

    models: list[Model] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    replicates: np.ndarray | None = None

    @property
    def kind(self) -> str:
        return self.models[0].kind

    @property
    def steps(self) -> set[int]:
        return {int(row["n_steps"]) for row in self.rows}

    @property
    def newest(self) -> int:
        return max((model.run.id for model in self.models if model.run), default=0)

    def mean(self, column: str) -> float | None:
        """The mean over the runs; None when it is undefined for one of them."""
        values = [row[column] for row in self.rows]
        return None if any(value is None for value in values) else fmean(values)


def grouped(
    workspace: Workspace, project_id: int, table: Comparison, *, single: bool = False
) -> Grouped:
    """The table by recipe, each row with its mean and spread over seeds and its difference to gold-only.

    Intervals and p: 10,000 resamples of the pairs of the split, the same for all rows; of several seeds, the mean
    is taken on each resample. Of runs that are repeats of each other, seed included, the newest counts.
    """
    by_target = {row["target"]: row for row in as_json_rows(table)}
    groups = _groups(workspace, table, by_target, single)
    scores = gold.scored_pairs(workspace, project_id, table.split).scores
    _resample(groups, table, scores)
    name_groups(workspace, groups, single=single)
    rows = [_row(group, table) for group in groups]
    add_differences(groups, rows)
    frame = pd.DataFrame(rows, columns=GROUP_COLUMNS).astype(
        dict.fromkeys(
            ("value", "sd", "low", "high", "difference", "difference_low", "difference_high", "p",
             "p_adjusted", "seconds"),
            float,
        )
        | {"comparable": bool}
    )  # fmt: skip
    notes = () if single else tuple(group_notes(rows, table.split, table.n_pairs))
    return Grouped(frame, (*table.notes, *notes), single)


def _groups(
    workspace: Workspace, table: Comparison, by_target: dict[str, dict[str, Any]], single: bool
) -> list[Group]:
    recipes = RecipeKeys(workspace, with_seeds=False)
    repeats = RecipeKeys(workspace, with_seeds=True)
    groups: dict[Any, Group] = {}
    taken: set[tuple[str, str]] = set()
    # The newest first: of two repeats it is the one that counts.
    newest_first = sorted(by_target, key=lambda target: -(by_target[target]["run_id"] or 0))
    for target in newest_first:
        model, row = table.models[target], by_target[target]
        key = target if single else (model.kind, table.keys[target], row["comparable"])
        repeat = (str(key), run_key(model, repeats))
        if model.run is not None and not single:
            if repeat in taken:
                continue
            taken.add(repeat)
        group = groups.setdefault(key, Group())
        group.models.append(model)
        group.rows.append(row)
    for group in groups.values():
        order = sorted(range(len(group.rows)), key=lambda place: group.rows[place]["seed"] or 0)
        group.models = [group.models[place] for place in order]
        group.rows = [group.rows[place] for place in order]
        if group.models[0].run is not None:
            group.facts = dict(recipes.of_run(group.models[0].run.id))
    return sorted(groups.values(), key=lambda group: (KINDS.index(group.kind), group.newest))


def _resample(groups: Sequence[Group], table: Comparison, scores: np.ndarray) -> None:
    """Give every group whose runs are all measured on the present pairs its replicates, the mean over seeds."""
    fresh = [group for group in groups if all(_is_fresh(row, table) for row in group.rows)]
    found = replicates_of(
        table.metric,
        scores,
        [table.measured[row["target"]] for group in fresh for row in group.rows],
    )
    start = 0
    for group in fresh:
        members = np.stack(found[start : start + len(group.rows)])
        group.replicates = members.mean(axis=0, dtype=np.float64)
        start += len(group.rows)


def _is_fresh(row: dict[str, Any], table: Comparison) -> bool:
    is_present = table.measured[row["target"]]["data_hash"] == table.data_hash
    return row["value"] is not None and is_present


def _row(group: Group, table: Comparison) -> dict[str, Any]:
    first, value = group.rows[0], group.mean("value")
    values = [row["value"] for row in group.rows]
    low, high = _interval(group)
    whole = {name: round(group.mean(name) or 0) for name in ("n_gold", "n_silver", "passes")}
    return {
        "name": group.facts["name"],
        "kind": group.kind,
        "metric": table.metric,
        "value": value,
        "sd": stdev(values) if len(values) > 1 and value is not None else None,
        "low": low,
        "high": high,
        "n_seeds": len(group.rows),
        **whole,
        "n_steps": round(group.mean("n_steps") or 0),
        "seconds": group.mean("seconds"),
        "seeds": [row["seed"] for row in group.rows if row["seed"] is not None],
        "runs": [row["run_id"] for row in group.rows if row["run_id"] is not None],
        "targets": [row["target"] for row in group.rows],
        "silver_sets": sorted({m.silver_set_id for m in group.models if m.silver_set_id}),
        "base": first["base"],
        "layers": first["layers"],
        "comparable": first["comparable"],
        "why_not": first["why_not"],
        "details": _mean_details(group),
    }


def _interval(group: Group) -> tuple[float | None, float | None]:
    if len(group.rows) == 1:
        # Stored with the measurement, by the same bootstrap.
        return group.rows[0]["low"], group.rows[0]["high"]
    found = None if group.replicates is None else metrics.interval(group.replicates)
    return found or (None, None)


def _mean_details(group: Group) -> dict[str, float | None]:
    """The further figures, as means over the runs; None when one of them is undefined."""
    names = dict.fromkeys(name for row in group.rows for name in row["details"])
    means: dict[str, float | None] = {}
    for name in names:
        values = [row["details"].get(name) for row in group.rows]
        known = [float(value) for value in values if value is not None]
        means[name] = fmean(known) if len(known) == len(values) else None
    return means
