"""The compare table, run by run."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from augsbert_core.steps.compare.models import KINDS, SILVER, Model, measured_besides, models_of
from augsbert_core.steps.compare.notes import run_notes
from augsbert_core.steps.compare.recipe_keys import RecipeKeys, as_key
from augsbert_core.storage import evaluations, gold, projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Run


@dataclass(frozen=True)
class Comparison:
    """One row per model. rows: see `ROW_COLUMNS`; missing: targets that wait to be evaluated.

    models, measured, keys: what `grouped` needs besides: each target's model, evaluation and recipe.
    """

    split: str
    metric: str
    n_pairs: int
    rows: pd.DataFrame
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()
    data_hash: str = ""
    models: dict[str, Model] = field(default_factory=dict, repr=False)
    measured: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    keys: dict[str, str] = field(default_factory=dict, repr=False)


ROW_COLUMNS = [
    "name", "kind", "metric", "value", "low", "high", "n_gold", "n_silver", "passes", "n_steps",
    "seconds", "seed", "run_id", "target", "base", "layers", "silver_set_id", "comparable", "why_not",
    "details",
]  # fmt: skip

INTEGERS = ("run_id", "seed", "layers", "silver_set_id")


def comparison(workspace: Workspace, project_id: int, split: str = "test") -> Comparison:
    """Read the compare table of a split; nothing is computed but the order of its rows.

    A model measured on gold pairs that have changed since is listed as missing, and its old row is
    marked not comparable.
    """
    project = projects.get_project(workspace, project_id)
    pairs = gold.scored_pairs(workspace, project_id, split)
    data_hash = gold.data_hash(pairs)
    train = gold.scored_pairs(workspace, project_id, "train")
    measured: dict[str, dict[str, Any]] = {}
    for evaluation in evaluations.list_evaluations(workspace, project_id, split):
        is_fresh = evaluation["data_hash"] == data_hash
        if is_fresh or evaluation["target"] not in measured:
            measured[evaluation["target"]] = evaluation
    models = models_of(workspace, project)
    known = {model.target for model in models}
    models += measured_besides(workspace, project, (one for one in measured if one not in known))
    shown = [model for model in models if model.target in measured]
    judge = _Judge(workspace, models, data_hash, gold.data_hash(train), len(train))
    rows = [_row(model, measured[model.target], judge) for model in shown]
    rows.sort(key=lambda row: (KINDS.index(row["kind"]), row["run_id"] or 0))
    missing = tuple(
        model.target
        for model in models
        if measured.get(model.target, {}).get("data_hash") != data_hash
        and (model.run is None or _is_here(workspace, model.run))
    )
    return Comparison(
        split=split,
        metric="f1" if project.task == "classification" else "spearman",
        n_pairs=len(pairs),
        rows=pd.DataFrame(rows, columns=ROW_COLUMNS).astype(
            {"value": float, "low": float, "high": float, "comparable": bool}
        ),
        missing=missing if len(pairs) else (),
        notes=tuple(run_notes(rows, split)),
        data_hash=data_hash,
        models={model.target: model for model in shown},
        measured={model.target: measured[model.target] for model in shown},
        keys={model.target: judge.keys[model.target] for model in shown},
    )


class _Judge:
    """Says why a row must not be compared with the others."""

    def __init__(
        self,
        workspace: Workspace,
        models: list[Model],
        data_hash: str,
        train_hash: str,
        n_train: int,
    ) -> None:
        trained = [model for model in models if model.run is not None and model.options is not None]
        seeds = Counter(model.run.seed for model in trained if model.run)
        self.usual_seed = seeds.most_common(1)[0][0] if seeds else None
        self.data_hash, self.train_hash, self.n_train = data_hash, train_hash, n_train
        recipes = RecipeKeys(workspace, with_seeds=False)
        self.keys = _keys_of(models, recipes)
        self.seeds_of: dict[str, set[int]] = {}
        for model in trained:
            if model.run:
                self.seeds_of.setdefault(self.keys[model.target], set()).add(model.run.seed)

    def why_not(self, model: Model, evaluation: dict[str, Any]) -> str:
        reasons = []
        if evaluation["data_hash"] != self.data_hash:
            reasons.append("measured on other gold pairs")
        run = model.run
        if run is not None and model.kind not in ("source only", "adapted", "other data"):
            reasons += self._other_gold(model)
        alone = len(self.seeds_of.get(self.keys[model.target], ())) < 2
        is_trained = run is not None and model.options is not None
        if run is not None and is_trained and alone and run.seed != self.usual_seed:
            reasons.append(f"trained with seed {run.seed}, most others with {self.usual_seed}")
        return "; ".join(reasons)

    def _other_gold(self, model: Model) -> list[str]:
        limit = getattr(model.options, "gold_limit", None)
        if limit is not None and limit < self.n_train:
            return [f"trained on {limit:,} of {self.n_train:,} gold pairs"]
        facts = model.run.metrics if model.run else {}
        changed = facts.get("gold_hash") != self.train_hash
        return ["trained on other gold pairs"] if changed else []


def _keys_of(models: Sequence[Model], recipes: RecipeKeys) -> dict[str, str]:
    """The recipe of every model by its target; equal for runs that belong in one row."""
    keys = {model.target: run_key(model, recipes) for model in models}
    _join_twins(models, keys, recipes)
    return keys


def run_key(model: Model, recipes: RecipeKeys) -> str:
    """The recipe of a run as text, with how long it took where that is no outcome of chance."""
    if model.run is None:
        return model.target
    recipe = dict(recipes.of_run(model.run.id))
    facts = model.run.metrics
    if model.silver_set_id is None and not recipe.get("patience"):
        recipe["n_steps"] = facts.get("n_steps")
    if recipe.get("gold_limit") is None:
        recipe["gold_hash"] = facts.get("gold_hash")
    if facts.get("n_corrections"):
        recipe["n_corrections"] = facts["n_corrections"]  # people may have decided on more since
    return as_key(recipe)


def _join_twins(models: Sequence[Model], keys: dict[str, str], recipes: RecipeKeys) -> None:
    """Let equal-step runs be one recipe when the runs whose steps they took are.

    Silver sets of different labelers differ in size, so their twins differ in max_steps.
    """
    augmented: dict[Any, set[str]] = {}
    for model in models:
        if model.kind in SILVER and model.run:
            steps = (model.base, model.layers, model.run.metrics.get("n_steps"))
            augmented.setdefault(steps, set()).add(keys[model.target])
    for model in models:
        if model.kind != "gold-only, equal steps" or model.run is None:
            continue
        steps = (model.base, model.layers, model.run.metrics.get("n_steps"))
        recipe = dict(recipes.of_run(model.run.id))
        recipe.pop("max_steps", None)
        recipe["stages"] = [{**one, "max_steps": None} for one in recipe.get("stages") or []]
        recipe["twin_of"] = sorted(augmented.get(steps, [str(steps)]))
        recipe["gold_hash"] = model.run.metrics.get("gold_hash")
        keys[model.target] = as_key(recipe)


def _is_here(workspace: Workspace, run: Run) -> bool:
    """Whether the model of a run is in the workspace; an imported project's is not."""
    return bool(run.model_path) and (workspace.home / str(run.model_path)).is_dir()


def _row(model: Model, evaluation: dict[str, Any], judge: _Judge) -> dict[str, Any]:
    run = model.run
    facts = run.metrics if run else {}
    why_not = judge.why_not(model, evaluation)
    return {
        "name": model.name,
        "kind": model.kind,
        "metric": evaluation["metric"],
        "value": evaluation["value"],
        "low": evaluation["low"],
        "high": evaluation["high"],
        "n_gold": facts.get("n_gold", 0),
        "n_silver": facts.get("n_silver", 0),
        "passes": facts.get("passes", 0),
        "n_steps": facts.get("n_steps", 0),
        "seconds": facts.get("seconds"),
        "seed": run.seed if run else None,
        "run_id": run.id if run else None,
        "target": model.target,
        "base": model.base,
        "layers": model.layers,
        "silver_set_id": model.silver_set_id,
        "comparable": not why_not,
        "why_not": why_not,
        "details": {
            name: value for name, value in evaluation["details"].items() if name != "dev_curve"
        },
    }


def as_json_rows(table: Comparison) -> list[dict[str, Any]]:
    """The rows as plain values; what is undefined is null, never a number."""
    return plain_rows(table.rows, INTEGERS)


def plain_rows(rows: pd.DataFrame, integers: tuple[str, ...]) -> list[dict[str, Any]]:
    """A frame as plain values; what is undefined is null, never a number."""
    whole = rows.astype(dict.fromkeys(integers, "Int64"))
    return json.loads(whole.to_json(orient="records", double_precision=15))
