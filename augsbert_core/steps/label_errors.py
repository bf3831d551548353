"""Find gold scores that are likely wrong: score each gold pair with models that have not seen it."""

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from augsbert_core import metrics
from augsbert_core.calibration import calibrate, cross_calibrated
from augsbert_core.errors import WorkbenchError
from augsbert_core.files import write_whole
from augsbert_core.metrics.folds import Folds, grouped_folds
from augsbert_core.models import cross_encoder, labeling
from augsbert_core.options import CrossEncoderOptions, LabelErrorsOptions, to_json
from augsbert_core.pairs import ScoredPairs, pair_codes
from augsbert_core.progress import stop_if, stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.train import NO_PAIRS, call_trainer
from augsbert_core.steps.training_data import TrainingData
from augsbert_core.steps.warm_start import WarmStart, forget, wants_warm_start, warm_start
from augsbert_core.storage import gold, out_of_fold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.out_of_fold import WITHOUT_FOLD, GoldRows, gold_rows
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project, Run

FEWEST_PAIRS = 10
"""Models of fewer training pairs know nothing."""

FEW_PAIRS = 50
"""With fewer training pairs than this the models are so weak that mostly they are wrong, and not the gold score."""

MOST_FOLDS = 20

CALIBRATED_FROM = 20
"""A curve through fewer pairs would follow single ones."""

HOW_RANKED = (
    "Pairs are ranked by the distance between their gold score and what models that were not trained on them say. "
    "Those scores are recalibrated before: a curve that never falls (isotonic regression), fitted on other pairs, turns "
    "them into the gold score that is usual there. So a model that is too cautious, or too sure, throughout moves no "
    "pair up the list."
)

_RECORD = "fold-{}.json"
_FOLDS_FROM = 0.2  # of the progress bar, after a warm start


@dataclass(frozen=True)
class _Plan:
    """The rows of the run and how they are dealt. train, rest: places in rows; folds: of the train rows."""

    rows: GoldRows
    train: np.ndarray
    rest: np.ndarray
    folds: Folds
    n_folds: int


def check_label_errors(workspace: Workspace, project: Project, options: LabelErrorsOptions) -> None:
    """WorkbenchError: what is asked for cannot be done."""
    if not 2 <= options.folds <= MOST_FOLDS:
        raise WorkbenchError(f"The number of folds is {options.folds}. Give 2 to {MOST_FOLDS}.")
    n_train = count_project(workspace, project.id).train
    least = max(FEWEST_PAIRS, 2 * options.folds)
    if n_train < least:
        raise WorkbenchError(
            f"The search for label errors trains on parts of the gold training pairs, and there are {n_train:,}. With "
            f"{options.folds} folds it takes {least} or more: import or annotate some."
        )
    for name, value in (("epochs", options.epochs), ("batch size", options.batch_size)):
        if value < 1:
            raise WorkbenchError(f"The {name} is {value}. Give 1 or more.")


def find_label_errors(context: StepContext, options: LabelErrorsOptions) -> dict[str, Any]:
    """Train one cross-encoder per fold on the other folds, and let it score its own fold, and dev and test.

    Every training pair is scored by the one model that has not seen it, pairs of dev and test by the mean of all. No
    model is kept. Done again for one run, finished folds are read. Returns n_pairs (training pairs), n_scored (all),
    folds, spearman (of the training pairs' scores with gold), n_steps, seconds and notices.
    """
    workspace, project = context.workspace, context.project
    check_label_errors(workspace, project, options)
    plan = _plan(workspace, project, options)
    told = _recipe(options)
    train_hash = gold.data_hash(_pairs(plan.rows, plan.train))
    runs.update_run(workspace, context.run.id, data_hash=train_hash)
    begun = None
    if wants_warm_start(told, len(plan.train)):
        begun = warm_start(_first_part(context), told)
    own = np.zeros(len(plan.train))
    others = np.zeros((options.folds, len(plan.rest)))
    n_steps, seconds = 0, begun.seconds if begun else 0.0
    for fold in range(options.folds):
        stop_if(context.should_stop)
        found = _fold(context, options, plan, fold, begun)
        held_out = plan.folds.fold == fold
        own[held_out], others[fold] = found["own"], found["others"]
        n_steps, seconds = n_steps + found["n_steps"], seconds + found["seconds"]
        _save(context, plan, plan.train[held_out], np.full(held_out.sum(), fold + 1), own[held_out])
    _save(context, plan, plan.rest, *_means(plan, others))
    forget(context.folder)
    for fold in range(options.folds):
        (context.folder / _RECORD.format(fold + 1)).unlink(missing_ok=True)
    context.report(1.0, f"{len(plan.rows):,} gold pairs scored")
    spearman = metrics.spearman(plan.rows.scores[plan.train], own)
    return {
        "n_pairs": len(plan.train),
        "n_scored": len(plan.rows),
        "folds": options.folds,
        **({} if spearman is None else {"spearman": spearman}),
        "n_steps": n_steps,
        "seconds": seconds,
        "notices": _notices(plan),
    }


def ranked_errors(workspace: Workspace, run: Run) -> pd.DataFrame:
    """The gold pairs of a search, the most doubtful first.

    Columns: those of `out_of_fold.read_scores`, expected (the recalibrated model score, in [0, 1]) and gap,
    |gold_score - expected|.
    """
    found = out_of_fold.read_scores(workspace, run)
    gold_scores = found["gold_score"].to_numpy(dtype=np.float64)
    scores = found["model_score"].to_numpy(dtype=np.float64)
    expected = scores.copy()
    trained = found["fold"].to_numpy() != WITHOUT_FOLD
    if np.count_nonzero(trained) >= CALIBRATED_FROM:
        expected[trained] = cross_calibrated(scores[trained], gold_scores[trained], seed=run.seed)
        expected[~trained] = calibrate(scores[trained], gold_scores[trained])(scores[~trained])
    found = found.assign(expected=expected, gap=np.abs(gold_scores - expected))
    return found.sort_values(["gap", "gold_pair_id"], ascending=[False, True], ignore_index=True)


def _plan(workspace: Workspace, project: Project, options: LabelErrorsOptions) -> _Plan:
    rows = gold_rows(workspace, project.id)
    is_train = np.array([split == "train" for split in rows.splits], dtype=bool)
    train, rest = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    rng = np.random.default_rng(options.seed)
    folds = grouped_folds(rows.first[train], rows.second[train], options.folds, rng)
    return _Plan(rows, train, rest, folds, options.folds)


def _recipe(options: LabelErrorsOptions) -> CrossEncoderOptions:
    return CrossEncoderOptions(
        base=options.base,
        layers=options.layers,
        epochs=options.epochs,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        seed=options.seed,
        device=options.device,
    )


def _first_part(context: StepContext) -> StepContext:
    """A context in which a warm start, which takes half of the bar, takes the part before the folds."""

    return replace(context, report=stretch(context.report, 0.0, 2 * _FOLDS_FROM))


def _fold(
    context: StepContext,
    options: LabelErrorsOptions,
    plan: _Plan,
    fold: int,
    begun: WarmStart | None,
) -> dict[str, Any]:
    """Scores of a model trained on the other folds: own (the held-out pairs), others; finished before, they are read."""

    told = _recipe(options)
    held_out = plan.folds.fold == fold
    seen = _pairs(plan.rows, plan.train[~held_out])
    asked = np.concatenate([plan.train[held_out], plan.rest])
    key = _key(told, plan, fold)
    record = context.folder / _RECORD.format(fold + 1)
    if record.is_file():
        stored: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
        if stored.pop("key") == key:
            return stored
    folder = context.folder / f"fold-{fold + 1}"
    low = _FOLDS_FROM if begun else 0.0
    parts = [low + (1.0 - low) * (fold + share) / options.folds for share in (0.0, 0.85, 1.0)]
    title = f"Fold {fold + 1} of {options.folds}"
    report = stretch(context.report, parts[0], parts[1], title=title, points=[])
    told = replace(told, base=begun.location) if begun else told
    data = TrainingData(seen, key, n_gold=len(seen))
    trainer = cross_encoder.train_cross_encoder
    # Without dev pairs no checkpoint is chosen on them, so that their own scores are out of fold too.
    result = call_trainer(context, trainer, told, data, NO_PAIRS, folder, report)
    context.report(parts[1], f"{title}: scoring {len(asked):,} pairs")
    pairs = _pairs(plan.rows, asked)
    labeler = labeling.load_labeler(str(folder / "model"), context.device)
    scores = np.zeros(len(asked))
    for batch in labeling.score_batches(
        labeler, pairs.sentences1, pairs.sentences2, should_stop=context.should_stop
    ):
        scores[batch.positions] = batch.scores
    n_own = int(held_out.sum())
    found = {
        "own": scores[:n_own].tolist(),
        "others": scores[n_own:].tolist(),
        "n_steps": result.n_steps,
        "seconds": result.seconds,
    }
    write_whole(record, json.dumps({"key": key, **found}))
    runs.update_run(context.workspace, context.run.id, device=result.device)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _pairs(rows: GoldRows, places: np.ndarray) -> ScoredPairs:
    return ScoredPairs(
        [rows.sentences1[place] for place in places],
        [rows.sentences2[place] for place in places],
        rows.scores[places],
    )


def _key(told: CrossEncoderOptions, plan: _Plan, fold: int) -> str:
    """A fingerprint of a fold: changed gold, or other options, make it anew."""
    digest = hashlib.sha256(f"{to_json(told)}\n{fold}\n".encode())
    for column in (plan.rows.ids, plan.rows.scores, plan.train, plan.folds.fold):
        digest.update(np.ascontiguousarray(column).tobytes())
    for text in (*plan.rows.sentences1, *plan.rows.sentences2):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:16]


def _means(plan: _Plan, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Folds and scores of the pairs outside train: the mean of all models that have not seen the pair.

    A pair that is in train too is scored by the one model that it was held out from.
    """
    codes = pair_codes(plan.rows.first, plan.rows.second)
    folds = dict(zip(codes[plan.train].tolist(), plan.folds.fold.tolist(), strict=True))
    homes = np.array([folds.get(code, -1) for code in codes[plan.rest].tolist()], dtype=np.int64)
    scores = others.mean(axis=0) if len(homes) else np.zeros(0)
    shared = np.flatnonzero(homes >= 0)
    scores[shared] = others[homes[shared], shared]
    return np.full(len(homes), WITHOUT_FOLD), scores


def _save(
    context: StepContext, plan: _Plan, places: np.ndarray, folds: np.ndarray, scores: np.ndarray
) -> None:
    out_of_fold.save_scores(
        context.workspace,
        context.run.id,
        plan.rows.ids[places],
        folds,
        plan.rows.scores[places],
        scores,
    )


def _notices(plan: _Plan) -> list[str]:
    notices = []
    if plan.folds.by == "pairs":
        notices.append(
            f"Shared sentences connect {100 * plan.folds.largest:.0f} % of the training pairs, so folds could not keep "
            "sentences apart: a model has seen other pairs with a sentence that it scores, and finds fewer errors."
        )
    if len(plan.train) < FEW_PAIRS:
        notices.append(
            f"With {len(plan.train):,} training pairs the models are weak: mostly they are wrong, and not gold."
        )
    return notices
