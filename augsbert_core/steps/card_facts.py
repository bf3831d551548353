"""What the cards of a model and of a silver set state, read from the store; nothing that names its maker."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from augsbert_core.cards import LOCAL_MODEL, ModelFacts, Score, SilverFacts, is_hub_name
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, from_json
from augsbert_core.sampling import HAS_TOP_K, STRATEGY_NAMES
from augsbert_core.steps.audit import audit_sentence
from augsbert_core.steps.models import run_number
from augsbert_core.storage import candidates, gold, projects, runs, silver_bins, silver_exports
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Run, SilverSet
from augsbert_core.storage.silver_sets import get_silver_set
from augsbert_core.toml_text import to_toml

KINDS = {"train-bi-encoder": "bi-encoder", "train-cross-encoder": "cross-encoder"}
"""Steps that train a model → what it is called."""

MODEL_FIELDS = ("base", "encoder", "labeler", "model", "source")
"""Options that name models, by name, folder or run."""

BASELINES = {
    "untrained": "its base, untrained (cosine)",
    "off the shelf": "its base with all layers, untrained (cosine)",
    "jaccard": "word overlap (Jaccard)",
    "majority": "always the larger class",
    "gold-only": "a bi-encoder of its base, on gold alone",
    "gold-only, seeds tried": "the same with seed optimisation",
    "gold-only, equal steps": "a bi-encoder of its base, on gold alone, as many steps",
}
"""Rows of the compare table that a card repeats, and their names there."""

OTHER_DATA = {"n_nli": "NLI pairs", "n_triplets": "triplets"}


def trained_run(workspace: Workspace, run_id: int) -> Run:
    """A finished training run whose model is there. WorkbenchError otherwise."""
    run = runs.get_run(workspace, run_id)
    if run.step not in KINDS:
        raise WorkbenchError(
            f"Run {run_id} is of step {run.step}, which has no model. Name a finished training run."
        )
    if run.state == "done" and not run.model_path:
        raise WorkbenchError(
            f"The model of run {run_id} is not in this workspace: projects are imported without models. Train it "
            "again."
        )
    if run.state != "done" or not run.model_path:
        raise WorkbenchError(f"Run {run_id} has no finished model (its state is {run.state!r}).")
    if not (workspace.home / run.model_path).is_dir():
        raise WorkbenchError(f"The model folder of run {run_id} is gone ({run.model_path}).")
    return run


def training_options(run: Run) -> BiEncoderOptions | CrossEncoderOptions:
    """What a training run was told."""
    if run.step == "train-bi-encoder":
        return from_json(BiEncoderOptions, run.options)
    return from_json(CrossEncoderOptions, run.options)


def model_facts(workspace: Workspace, run_id: int) -> ModelFacts:
    """All that a model card states. WorkbenchError: the run has no model."""
    run = trained_run(workspace, run_id)
    options, found = training_options(run), run.metrics
    project = projects.get_project(workspace, run.project_id)
    counts = projects.count_project(workspace, run.project_id)
    scores, baseline = _scores(workspace, run, options)
    set_id = options.silver_set_id
    return ModelFacts(
        kind=KINDS[run.step],
        base=public_name(options.base),
        layers=options.layers,
        max_length=options.max_length,
        scale=(project.score_low, project.score_high),
        task=project.task,
        n_gold=int(found.get("n_gold") or 0),
        n_silver=int(found.get("n_silver") or 0),
        n_dev=counts.dev,
        n_test=counts.test,
        recipe=to_toml(shareable(options)),
        metric=str(found.get("metric") or ""),
        dev_score=found.get("dev_score"),
        threshold=found.get("threshold"),
        n_steps=int(found.get("n_steps") or 0),
        best_step=int(found.get("best_step") or found.get("n_steps") or 0),
        seconds=float(found.get("seconds") or 0.0),
        device=run.device or "",
        seed=int(found.get("chosen_seed") or run.seed),
        n_seeds=options.seeds,
        data_hash=run.data_hash or "",
        versions=run.versions,
        scores=scores,
        baseline=baseline,
        modules=foreign_modules(workspace.home / str(run.model_path)),
        silver=None if set_id is None else _silver_if_there(workspace, set_id),
        other_data=_other_data(found),
        warm_start_pairs=int(found.get("warm_start_pairs") or 0),
        gold_changed=_gold_changed(workspace, run, options),
    )


def _gold_changed(
    workspace: Workspace, run: Run, options: BiEncoderOptions | CrossEncoderOptions
) -> bool:
    """Whether the training split is another one now; not known of a training on a part of it."""
    if options.gold_limit is not None or "gold_hash" not in run.metrics:
        return False
    present = gold.data_hash(gold.scored_pairs(workspace, run.project_id, "train"))
    return bool(run.metrics["gold_hash"] != present)


def _other_data(found: Mapping[str, Any]) -> dict[str, int]:
    """Rows that were trained on and are neither gold nor silver."""
    return {name: int(found[key]) for key, name in OTHER_DATA.items() if found.get(key)}


def foreign_modules(folder: Path) -> tuple[str, ...]:
    """Classes in a model folder that sentence-transformers does not have."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    types = [str(module.get("type", "")) for module in modules]
    return tuple(name for name in types if name and not name.startswith("sentence_transformers."))


# --- scores ----------------------------------------------------------------------------------------


def _scores(
    workspace: Workspace, run: Run, options: BiEncoderOptions | CrossEncoderOptions
) -> tuple[tuple[Score, ...], int | None]:
    """The model's row of the compare table and those it must be held against, and the untrained base's place."""
    from augsbert_core.steps.compare import comparison

    rows = comparison(workspace, run.project_id, "test").rows
    own = [row for _, row in rows.iterrows() if row["run_id"] == run.id]
    if not own or "other gold pairs" in str(own[0]["why_not"]):
        return (), None
    newest = {row["kind"]: row for _, row in rows.iterrows() if _belongs(row, run, options)}
    others = [_score(BASELINES[kind], row) for kind, row in newest.items()]
    baseline = 1 + list(newest).index("untrained") if "untrained" in newest else None
    return (_score("**this model**", own[0]), *others), baseline


def _belongs(row: pd.Series, run: Run, options: BiEncoderOptions | CrossEncoderOptions) -> bool:
    if row["kind"] not in BASELINES or row["run_id"] == run.id or not row["comparable"]:
        return False
    if row["kind"] in ("jaccard", "majority"):
        return True
    is_same_base = row["base"] == options.base
    if row["kind"] == "off the shelf":
        return bool(is_same_base)
    layers = None if pd.isna(row["layers"]) else int(row["layers"])
    return bool(is_same_base and layers == options.layers)


def _score(name: str, row: pd.Series) -> Score:
    value, low, high = (
        None if pd.isna(row[key]) else float(row[key]) for key in ("value", "low", "high")
    )
    counts = [0 if pd.isna(row[key]) else int(row[key]) for key in ("n_gold", "n_silver")]
    return Score(name, value, low, high, counts[0], counts[1], str(row["why_not"] or ""))


# --- silver ----------------------------------------------------------------------------------------


def _silver_if_there(workspace: Workspace, set_id: int) -> SilverFacts | None:
    """A silver set may have been deleted since a model was trained on it."""
    try:
        return silver_facts(workspace, set_id)
    except WorkbenchError:
        return None


def silver_facts(workspace: Workspace, set_id: int) -> SilverFacts:
    """All that a data card states. WorkbenchError: there is no such silver set."""
    found = get_silver_set(workspace, set_id)
    project = projects.get_project(workspace, found.project_id)
    uncertain = silver_exports.known_uncertainty(workspace, set_id)
    return SilverFacts(
        strategy=strategy_name(found),
        labeler=labeler_name(found.labeler),
        n_candidates=found.n_candidates,
        n_pairs=found.n_pairs,
        passes=found.passes,
        scale=(project.score_low, project.score_high),
        statuses=silver_bins.silver_status_counts(workspace, set_id),
        histogram=silver_exports.score_histogram(workspace, set_id),
        options=_origins(workspace, found),
        rule=found.rule,
        versions=runs.get_run(workspace, found.run_id).versions,
        orders_known="order_gap" in uncertain,
        spread_known="label_spread" in uncertain,
        audit=audit_sentence(workspace, set_id),
    )


def strategy_name(found: SilverSet) -> str:
    """The strategy behind a set with the parameter that matters."""
    name = STRATEGY_NAMES.get(found.strategy, f"{found.strategy} pairs")
    if found.strategy in HAS_TOP_K:
        top_k = json.loads(found.sampled_with).get("top_k")
        name = name.replace("top-k", f"top-{top_k}") if top_k else name
    return name


def labeler_name(labeler: str) -> str:
    """A labeler as a card names it: runs by number, models by their name on the hub, folders not at all."""
    return " + ".join(
        f"run {number}" if (number := run_number(part)) is not None else _shown(part)
        for part in labeler.split(" + ")
    )


def _origins(workspace: Workspace, found: SilverSet) -> dict[str, str]:
    """What the runs behind a silver set were told, as TOML by title."""
    from augsbert_core.steps import STEPS

    run_ids = [candidates.get_candidate_set(workspace, found.candidate_set_id).run_id]
    if found.pool_set_id is not None:
        run_ids.append(get_silver_set(workspace, found.pool_set_id).run_id)
    run_ids.append(found.run_id)
    origins = {}
    for run_id in dict.fromkeys(run_ids):
        run = runs.get_run(workspace, run_id)
        if run.step in STEPS:
            told: Any = from_json(STEPS[run.step].options_class, run.options)
            origins[STEPS[run.step].title] = to_toml(shareable(told))
    return origins


# --- names -----------------------------------------------------------------------------------------


def public_name(name: str) -> str | None:
    """A model's name on the hub; None for a folder, whose path says who made it."""
    return name if is_hub_name(name) and not Path(name).expanduser().exists() else None


def shareable(options: Any) -> Any:
    """The options with every folder's path taken out."""
    named = {
        field.name: " + ".join(_shown(part) for part in value.split(" + "))
        for field in fields(options)
        if field.name in MODEL_FIELDS
        and isinstance(value := getattr(options, field.name), str)
        and value
    }
    return replace(options, **named)


def _shown(name: str) -> str:
    if run_number(name) is not None or name in ("bm25", "nlpaug"):
        return name
    bare = name.removeprefix("model:")
    return name if public_name(bare) is not None else LOCAL_MODEL
