"""Score the pairs of a silver set with another model, so that it can be held against the labeler."""

import time
from typing import Any

import numpy as np

from augsbert_core.calibration import calibrate
from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.inference import embed_rows, pair_cosines, row_cosines
from augsbert_core.models.labeling import label_batches, load_labeler
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.options import StudentScoresOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.progress import stop_if, stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import Member, calibrations, labeler_parts, run_number
from augsbert_core.steps.targets import CONSTANTS, Target, parse_target
from augsbert_core.storage import runs, silver_columns, silver_student
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_sets import get_silver_set

COSINES_AT_ONCE = 50_000


def check_student_scores(
    workspace: Workspace, project: Project, options: StudentScoresOptions
) -> tuple[SilverSet, Target]:
    """The silver set to be scored and the model that scores it.

    WorkbenchError: the set is missing, empty or another project's; the model is no model, is the labeler of the set
    itself, or is a bi-encoder without gold to calibrate it on.
    """
    found = get_silver_set(workspace, options.silver_set_id)
    if found.project_id != project.id:
        raise WorkbenchError(f"Silver set {found.id} belongs to another project.")
    if not found.n_pairs:
        raise WorkbenchError(f"Silver set {found.id} has no pairs yet. Let it be labelled first.")
    if options.model in CONSTANTS:
        raise WorkbenchError(
            f"{options.model!r} is no model that could disagree with the labeler. Use run:ID, model:NAME or cross:NAME."
        )
    if options.model == found.labeler:
        raise WorkbenchError(
            f"{options.model.replace('run:', 'Run ')} has labelled silver set {found.id} itself. Choose another model."
        )
    target = parse_target(workspace, project, options.model)
    if target.kind == "bi_encoder":
        calibration_pairs(workspace, project, target)
    return found, target


def calibration_pairs(workspace: Workspace, project: Project, target: Target) -> ScoredPairs:
    """The gold pairs on which the cosines of a bi-encoder become scores, as for a labeler.

    Those of the project in which it was trained; of this one for a model by name. WorkbenchError: they are too few.
    """
    run_id = run_number(target.text)
    owner = project.id if run_id is None else runs.get_run(workspace, run_id).project_id
    member = Member(target.text, "bi_encoder", target.location or "", owner)
    return calibrations(workspace, [member])[0].pairs


def score_with_student(context: StepContext, options: StudentScoresOptions) -> dict[str, Any]:
    """Score every pair of the set and store the scores beside the labeler's, in place of earlier ones of the model.

    Bi-encoders embed each sentence once, and their cosines are calibrated on gold. Stopped or killed, it begins
    again. Pairs that the set gets later have no such score.
    """
    workspace = context.workspace
    found, target = check_student_scores(workspace, context.project, options)
    begun = time.monotonic()
    context.report(0.0, "Reading the silver pairs")
    _, rows = silver_student.pairs_to_score(workspace, found.id)
    score = _by_cosine if target.kind == "bi_encoder" else _by_cross_encoder
    scores = score(context, options, target, rows)
    if not np.isfinite(scores).all():
        raise WorkbenchError(
            f"{target.text} gives scores that are no finite numbers, so its weights are damaged: choose another model."
        )
    silver_student.save_scores(workspace, found.id, target.text, context.run.id, scores)
    silver_columns.prepare(workspace, found.id, stretch(context.report, 0.95, 1.0))
    apart = np.abs(scores - rows.labels)
    return {
        "silver_set_id": found.id,
        "model": target.text,
        "n_pairs": len(scores),
        "seconds": time.monotonic() - begun,
        "mean_disagreement": float(apart.mean()),
        "n_far_apart": int((apart >= FAR_APART).sum()),
    }


FAR_APART = 0.25
"""A quarter of the scale between two models is worth a look."""


def _by_cosine(
    context: StepContext, options: StudentScoresOptions, target: Target, rows: TrainingRows
) -> np.ndarray:
    """Calibrated cosines of a bi-encoder: float32, one per row."""
    gold = calibration_pairs(context.workspace, context.project, target)
    context.report(0.0, f"Loading {target.text}")
    model = load_bi_encoder(target.location or "", context.device, layers=target.layers)
    curve = calibrate(pair_cosines(model, gold.sentences1, gold.sentences2), gold.scores)
    stop_if(context.should_stop)
    embeddings = embed_rows(
        model,
        tokenize_rows(model, rows.texts, should_stop=context.should_stop),
        batch_size=options.batch_size,
        report=stretch(context.report, 0.05, 0.9),
        should_stop=context.should_stop,
    )
    scores = np.zeros(len(rows), dtype=np.float32)
    for start in range(0, len(rows), COSINES_AT_ONCE):
        stop_if(context.should_stop)
        part = slice(start, start + COSINES_AT_ONCE)
        cosines = row_cosines(embeddings, rows.places[:, part])
        scores[part] = np.where(np.isfinite(cosines), curve(cosines), np.nan)
    return scores


def _by_cross_encoder(
    context: StepContext, options: StudentScoresOptions, target: Target, rows: TrainingRows
) -> np.ndarray:
    """The scores of a cross-encoder, or of several labelers' mean: float32, one per row."""
    context.report(0.0, f"Loading {target.text}")
    told = target.location or labeler_parts(context.workspace, context.project, target.text)
    labeler = load_labeler(told, context.device)
    first, second = rows.columns()
    scores = np.zeros(len(rows), dtype=np.float32)
    done = 0
    for positions, _, values in label_batches(
        labeler, first, second, batch_size=options.batch_size, should_stop=context.should_stop
    ):
        scores[positions] = values
        done += len(positions)
        context.report(0.95 * done / len(rows), f"Scored {done:,} of {len(rows):,} pairs")
    return scores
