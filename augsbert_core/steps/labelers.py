"""Who could label: the scorers at hand, and the student that they have to be better than."""

from collections.abc import Sequence
from dataclasses import dataclass

from augsbert_core.calibration import FEWEST_PAIRS
from augsbert_core.options import BiEncoderOptions, from_json
from augsbert_core.steps.models import CALIBRATION_PAIRS, JOIN, labeler_parts, normal_labeler
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run

__all__ = [
    "ScorerAtHand",
    "average_of",
    "gold_only_student",
    "labeler_parts",
    "latest_gate",
    "recommended_labeler",
    "scorers_at_hand",
]


@dataclass(frozen=True)
class ScorerAtHand:
    """Something that could label. labeler: as in `LabelOptions`. kind: "cross_encoder", "bi_encoder" or "average".

    dev_score: of its checkpoint, None when it has none, and for an average, which the gate measures.
    """

    labeler: str
    name: str
    kind: str
    dev_score: float | None = None


def scorers_at_hand(workspace: Workspace, project: Project) -> list[ScorerAtHand]:
    """Trained cross-encoders, trained bi-encoders as calibrated labelers, and the average of the best two.

    Newest first within each kind. Without enough gold to calibrate on, bi-encoders are left out.
    """
    found = _trained(workspace, project, "train-cross-encoder", "cross_encoder")
    if _can_calibrate(workspace, project):
        found += _trained(workspace, project, "train-bi-encoder", "bi_encoder")
    best = sorted(
        (one for one in found if one.dev_score is not None),
        key=lambda one: -(one.dev_score or 0.0),
    )[:2]
    return found + ([average_of([one.labeler for one in best])] if len(best) == 2 else [])


def _trained(workspace: Workspace, project: Project, step: str, kind: str) -> list[ScorerAtHand]:
    return [
        ScorerAtHand(f"run:{run.id}", run.name, kind, run.metrics.get("dev_score"))
        for run in runs.runs_with_model(workspace, project.id, step)
    ]


def _can_calibrate(workspace: Workspace, project: Project) -> bool:
    """As `steps.models.calibrations` would."""
    n_train, n_dev = (
        len(gold.gold_scores(workspace, project.id, [split])) for split in ("train", "dev")
    )
    return n_dev >= CALIBRATION_PAIRS or n_train >= FEWEST_PAIRS


def average_of(labelers: Sequence[str]) -> ScorerAtHand:
    """The mean of several labelers."""
    labeler = normal_labeler(JOIN.join(labelers))
    return ScorerAtHand(labeler, f"Mean of {labeler.replace('run:', 'run ')}", "average")


def gold_only_student(workspace: Workspace, project: Project) -> Run | None:
    """The best bi-encoder on dev that was trained on all of gold and on nothing else.

    Of the project's student size when there is one: against a larger model, labels could not help the student
    that is wanted.
    """
    students = [
        run
        for run in runs.runs_with_model(workspace, project.id, "train-bi-encoder")
        if _is_gold_only(from_json(BiEncoderOptions, run.options))
    ]
    own_size = [
        run
        for run in students
        if from_json(BiEncoderOptions, run.options).layers == project.student_layers
    ]
    return max(
        own_size or students,
        key=lambda run: (run.metrics.get("dev_score") or -1.0, run.id),
        default=None,
    )


def _is_gold_only(told: BiEncoderOptions) -> bool:
    others = {stage.data for stage in told.stages} - {"gold"}
    return told.silver_set_id is None and told.gold_limit is None and told.use_gold and not others


def latest_gate(workspace: Workspace, project: Project) -> Run | None:
    """The newest finished gate on the present gold pairs."""
    for run in runs.list_runs(workspace, project.id, "gate"):
        pairs = gold.scored_pairs(workspace, project.id, str(run.metrics.get("split", "dev")))
        if run.metrics.get("data_hash") == gold.data_hash(pairs):
            return run
    return None


def recommended_labeler(workspace: Workspace, project: Project) -> str | None:
    """What the newest gate recommends; None before there was one."""
    found = latest_gate(workspace, project)
    return None if found is None else found.metrics.get("recommended")
