"""The compare table: every model of a project on one split."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from augsbert_core.options import BUNDLED_MODEL, BiEncoderOptions, from_json
from augsbert_core.storage import gold, projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run

KINDS = (
    "untrained",
    "off the shelf",
    "jaccard",
    "gold-only",
    "gold-only, equal steps",
    "augsbert",
    "cross-encoder",
)
"""The kinds of rows, in the order of the table."""


@dataclass(frozen=True)
class Comparison:
    """One row per model. rows: see `ROW_COLUMNS`; missing: targets that wait to be evaluated."""

    split: str
    metric: str
    n_pairs: int
    rows: pd.DataFrame
    missing: tuple[str, ...]
    notes: tuple[str, ...] = ()


ROW_COLUMNS = [
    "name", "kind", "metric", "value", "low", "high", "n_gold", "n_silver", "passes", "n_steps",
    "seconds", "seed", "run_id", "target", "base", "layers", "silver_set_id", "comparable", "why_not",
]  # fmt: skip


INTEGERS = ("run_id", "seed", "layers", "silver_set_id")


@dataclass(frozen=True)
class _Model:
    """A model that belongs in the table, measured or not. base, layers: what its weights began as."""

    target: str
    kind: str
    name: str
    run: Run | None = None
    base: str | None = None
    layers: int | None = None
    silver_set_id: int | None = None


def model_target(name: str, layers: int | None = None) -> str:
    """The target text of an untrained model, e.g. "model:NAME@layers=2"."""
    return f"model:{name}@layers={layers}" if layers else f"model:{name}"


def equal_step_options(workspace: Workspace, run_id: int) -> BiEncoderOptions:
    """The gold-only twin of a finished AugSBERT run: same recipe, as many optimiser steps, no silver."""
    run = runs.get_run(workspace, run_id)
    options = from_json(BiEncoderOptions, run.options)
    return replace(options, silver_set_id=None, max_steps=int(run.metrics["n_steps"]))


def comparison(workspace: Workspace, project_id: int, split: str = "test") -> Comparison:
    """Read the compare table of a split; nothing is computed but the order of its rows.

    A model measured on gold pairs that have changed since is listed as missing, and its old row is
    marked not comparable.
    """
    project = projects.get_project(workspace, project_id)
    pairs = gold.scored_pairs(workspace, project_id, split)
    data_hash = gold.data_hash(pairs)
    train_hash = gold.data_hash(gold.scored_pairs(workspace, project_id, "train"))
    measured: dict[str, dict[str, Any]] = {}
    for evaluation in runs.list_evaluations(workspace, project_id, split):
        is_fresh = evaluation["data_hash"] == data_hash
        if is_fresh or evaluation["target"] not in measured:
            measured[evaluation["target"]] = evaluation
    models = _models(workspace, project)
    known = {model.target for model in models}
    models += [
        _Model(target, "untrained", _model_name(target))
        for target in measured
        if target not in known and target.startswith("model:")
    ]
    missing = tuple(
        model.target
        for model in models
        if measured.get(model.target, {}).get("data_hash") != data_hash
    )
    seed = _usual_seed(models)
    rows = [
        _row(model, measured[model.target], data_hash, train_hash, seed)
        for model in models
        if model.target in measured
    ]
    rows.sort(key=lambda row: (KINDS.index(row["kind"]), row["run_id"] or 0))
    return Comparison(
        split=split,
        metric="f1" if project.task == "classification" else "spearman",
        n_pairs=len(pairs),
        rows=pd.DataFrame(rows, columns=ROW_COLUMNS).astype(
            {"value": float, "low": float, "high": float, "comparable": bool}
        ),
        missing=missing if len(pairs) else (),
        notes=tuple(_notes(project, rows, split)),
    )


def _models(workspace: Workspace, project: Project) -> list[_Model]:
    """All models that the table should hold: baselines of every base in use, and every finished run."""
    students = runs.list_runs(workspace, project.id, "train-bi-encoder")
    recipes = {run.id: from_json(BiEncoderOptions, run.options) for run in students}
    bases = {(recipe.base, recipe.layers): None for recipe in recipes.values()} or {
        (BUNDLED_MODEL, project.student_layers): None
    }
    models = [_Model("jaccard", "jaccard", "Jaccard word overlap")]
    for base, layers in bases:
        models.append(_untrained(base, layers))
        if layers is not None and (base, None) not in bases:
            models.append(replace(_untrained(base, None), kind="off the shelf"))
    augmented_steps = {
        (recipe.base, recipe.layers, run.metrics.get("n_steps"))
        for run in students
        if (recipe := recipes[run.id]).silver_set_id is not None
    }
    for run in students:
        recipe = recipes[run.id]
        if recipe.silver_set_id is not None:
            kind = "augsbert"
        elif (recipe.base, recipe.layers, run.metrics.get("n_steps")) in augmented_steps:
            kind = "gold-only, equal steps"
        else:
            kind = "gold-only"
        models.append(
            _Model(
                f"run:{run.id}",
                kind,
                run.name,
                run,
                recipe.base,
                recipe.layers,
                recipe.silver_set_id,
            )
        )
    for run in runs.list_runs(workspace, project.id, "train-cross-encoder"):
        models.append(_Model(f"run:{run.id}", "cross-encoder", run.name, run))
    return models


def _untrained(base: str, layers: int | None) -> _Model:
    target = model_target(base, layers)
    return _Model(target, "untrained", _model_name(target), base=base, layers=layers)


def _model_name(target: str) -> str:
    name, _, layers = target.removeprefix("model:").partition("@layers=")
    short = name.rstrip("/").rsplit("/", 1)[-1]
    return f"Untrained {short}, first {layers} layers" if layers else f"Untrained {short}"


def _usual_seed(models: list[_Model]) -> int | None:
    seeds = Counter(model.run.seed for model in models if model.run is not None)
    return seeds.most_common(1)[0][0] if seeds else None


def _row(
    model: _Model,
    evaluation: dict[str, Any],
    data_hash: str,
    train_hash: str,
    usual_seed: int | None,
) -> dict[str, Any]:
    run = model.run
    facts = run.metrics if run else {}
    why_not = []
    if evaluation["data_hash"] != data_hash:
        why_not.append("measured on other gold pairs")
    if run is not None and facts.get("gold_hash") != train_hash:
        why_not.append("trained on other gold pairs")
    if run is not None and run.seed != usual_seed:
        why_not.append(f"trained with seed {run.seed}, most others with {usual_seed}")
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
        "why_not": "; ".join(why_not),
    }


def _notes(project: Project, rows: list[dict[str, Any]], split: str) -> list[str]:
    notes = []
    kinds = {row["kind"] for row in rows if row["comparable"]}
    if "augsbert" in kinds and "gold-only, equal steps" not in kinds:
        notes.append(
            "No gold-only model was trained for as many steps as the AugSBERT one. "
            "Part of the difference may come from the number of steps alone."
        )
    if "augsbert" in kinds and not kinds & {"gold-only", "gold-only, equal steps"}:
        notes.append("The gold-only bi-encoder, the lower bound, is missing.")
    best = {
        kind: max(row["value"] for row in rows if row["kind"] == kind and row["value"] is not None)
        for kind in kinds
        if any(row["kind"] == kind and row["value"] is not None for row in rows)
    }
    for kind in ("untrained", "off the shelf"):
        if best.get(kind, -1.0) > best.get("cross-encoder", 1.0):
            notes.append(
                f"The cross-encoder scores below the {kind} model, so it is no upper bound here, and "
                "its labels could not teach that model anything. A smaller student may still learn from them."
            )
    if "cross-encoder" not in kinds:
        notes.append("The cross-encoder, the upper bound, is missing.")
    if split == "dev":
        notes.append(
            "Checkpoints were chosen on dev, so these scores are optimistic. Report test scores."
        )
    return notes


def as_json_rows(table: Comparison) -> list[dict[str, Any]]:
    """The rows as plain values; what is undefined is null, never a number."""
    whole = table.rows.astype(dict.fromkeys(INTEGERS, "Int64"))
    return json.loads(whole.to_json(orient="records", double_precision=15))
