"""Audits of silver sets: a few pairs that people score blind, and how far the labeler is from them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from augsbert_core.explain.phrases import many
from augsbert_core.metrics.audit import AuditFigures, Estimate, audit_figures
from augsbert_core.options import TaskOptions
from augsbert_core.options.annotating import AUDIT_QUEUE
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.keep import labeler_threshold
from augsbert_core.steps.make_task import create_now
from augsbert_core.storage import annotation_tasks, projects, silver_sets
from augsbert_core.storage.annotation_tasks import are_strata
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.storage.reviews import reviewed_before
from augsbert_core.storage.score_matrices import score_matrix

N_PAIRS = 50
FIRST_SEED = 42
MIDDLE = 0.5
"""Where the labeler has no decision threshold, a pair is a positive from the middle of the scale on."""

SAMPLE_COLUMNS = (
    "sentence1",
    "sentence2",
    "sentence1_id",
    "sentence2_id",
    "source_pair_id",
    "labeler",
    "human",
    "stratum",
    "stratum_size",
)


@dataclass(frozen=True)
class AuditReport:
    """What an audit has found so far. task: the annotation task with its pairs. annotators: who has scored.

    sample: one row per drawn pair, `SAMPLE_COLUMNS`: labeler, as it stood when the pair was drawn, and human, the
    adjudicated score, else the mean of those who scored it (NaN: nobody), in [0, 1]. own_threshold: whether the
    threshold in figures is the labeler's own. n_seen: scores that were given with a model's suggestion on the screen.
    n_set: pairs of the silver set; figures.n_pairs of them could be drawn. n_known: scored pairs that one of the
    annotators had decided on one by one before the audit was drawn.
    """

    set_id: int
    task: AnnotationTask
    score_range: ScoreRange
    annotators: tuple[str, ...]
    sample: pd.DataFrame
    figures: AuditFigures
    own_threshold: bool
    n_seen: int
    n_set: int
    n_known: int

    @property
    def n_scored(self) -> int:
        return self.figures.n_scored

    @property
    def n_drawn(self) -> int:
        return self.figures.n_drawn


def audit_tasks(workspace: Workspace, set_id: int) -> list[AnnotationTask]:
    """The audits of a silver set, newest first, those without scores included."""
    project_id = silver_sets.get_silver_set(workspace, set_id).project_id
    return [
        task
        for task in annotation_tasks.list_tasks(workspace, project_id)
        if task.purpose == "audit" and task.silver_set_id == set_id
    ]


def audit_report(workspace: Workspace, set_id: int) -> AuditReport | None:
    """The newest audit of a silver set that has a score; None when there is none. WorkbenchError: no such set."""
    tasks = audit_tasks(workspace, set_id)
    task = next((task for task in tasks if task.n_answers), None)
    return None if task is None else task_report(workspace, set_id, task)


def task_report(workspace: Workspace, set_id: int, task: AnnotationTask) -> AuditReport:
    """What one audit of a silver set has found so far, also before its first score."""
    found = silver_sets.get_silver_set(workspace, set_id)
    matrix = score_matrix(workspace, task.id)
    sample = matrix.items.rename(columns={"suggestion": "labeler"})
    sample["human"] = _human(matrix.scores, matrix.items["adjudicated_score"].to_numpy())
    sample["stratum"], sample["stratum_size"] = _strata(sample, found.n_pairs)
    sample = sample[list(SAMPLE_COLUMNS)]
    # What the labeler said of a pair is there in every audit that this workbench has drawn.
    sample.loc[sample["labeler"].isna(), "human"] = np.nan
    own = labeler_threshold(workspace, found)
    figures = audit_figures(
        sample["labeler"].to_numpy(np.float64),
        sample["human"].to_numpy(np.float64),
        sample["stratum"].to_numpy(np.int64),
        sample["stratum_size"].to_numpy(np.float64),
        threshold=MIDDLE if own is None else own,
        rng=np.random.default_rng(task.seed),
    )
    known = reviewed_before(workspace, set_id, matrix.annotators, task.created_at)
    return AuditReport(
        set_id=set_id,
        task=task,
        score_range=projects.get_project(workspace, found.project_id).score_range,
        annotators=tuple(matrix.annotators),
        sample=sample,
        figures=figures,
        own_threshold=own is not None,
        n_seen=int((matrix.seen & np.isfinite(matrix.scores)).sum()),
        n_set=found.n_pairs,
        n_known=len(known & set(sample.loc[sample["human"].notna(), "source_pair_id"].tolist())),
    )


def _strata(sample: pd.DataFrame, n_set: int) -> tuple[np.ndarray, np.ndarray]:
    """Stratum and stratum size per drawn pair; where they are not there or cannot be, the whole set is one stratum."""
    strata, sizes = sample["stratum"], sample["stratum_size"]
    if not (strata.isna().any() or sizes.isna().any()):
        numbers, counts = strata.to_numpy(np.int64), sizes.to_numpy(np.int64)
        if are_strata(numbers, counts):
            return numbers, counts
    n_drawn = len(sample)
    return np.zeros(n_drawn, np.int64), np.full(n_drawn, max(n_set, n_drawn), np.int64)


def _human(scores: np.ndarray, adjudicated: np.ndarray) -> np.ndarray:
    """One score per pair: the adjudicated one, else the mean, NaN without any."""
    counts = np.isfinite(scores).sum(axis=0)
    sums = np.nansum(scores, axis=0) if len(scores) else np.zeros(len(adjudicated))
    means = np.divide(sums, counts, out=np.full(len(adjudicated), np.nan), where=counts > 0)
    return np.where(np.isfinite(adjudicated), adjudicated, means)


def draw_audit(
    workspace: Workspace,
    project: Project,
    set_id: int,
    n_pairs: int = N_PAIRS,
    seed: int | None = None,
    *,
    n_scores: int = 1,
) -> int:
    """Draw pairs of a silver set, as many of each score region, to be scored blind; returns the task's id.

    seed: None takes another one for each audit of the set. n_scores: how many people score a pair. WorkbenchError:
    there is no such set of the project, or it has no pairs.
    """
    earlier = len(audit_tasks(workspace, set_id))
    number = f" ({earlier + 1})" if earlier else ""
    return create_now(
        workspace,
        project,
        TaskOptions(
            name=f"Audit of silver set {set_id}{number}",
            purpose="audit",
            source="silver",
            silver_set_id=set_id,
            queue=AUDIT_QUEUE,
            n_pairs=n_pairs,
            scale=audit_scale(project),
            n_scores=n_scores,
            seed=FIRST_SEED + earlier if seed is None else seed,
        ),
    )


def audit_scale(project: Project) -> str:
    """The scale that people audit on: yes or no for classes, the half steps of 0 to 5, else tenths of the project's."""
    if project.task == "classification":
        return "binary"
    return "0-5" if str(project.score_range) == "0:5" else "0-1"


def audit_line(report: AuditReport) -> str:
    """An audit in one sentence, with 95 % intervals, on the project's scale."""
    found, scale = report.figures, report.score_range
    n = many(found.n_scored, "pair")
    if found.is_census:
        n = f"all {n}" if found.n_scored > 1 else "the only pair"
    elif found.n_scored < found.n_drawn:
        n = f"{found.n_scored:,} of {many(found.n_drawn, 'pair')}"
    parts = [
        f"MAE {scaled_text(found.mae, scale)} on {scale.low:g}–{scale.high:g}",
        f"bias {scaled_text(found.bias, scale, sign=True)}",
        f"Spearman {estimate_text(found.rank_correlation)}",
        f"wrong positives {share_text(found.wrong_of_positives)} of the labeler's positives",
    ]
    basis = "a census: nothing is estimated" if found.is_census else "95 % intervals"
    line = f"Audited: {n}, {', '.join(parts)} ({basis})."
    return f"{line} {gaps_text(report)}".strip()


def audit_sentence(workspace: Workspace, set_id: int) -> str:
    """The `audit_line` of a set's newest audit with scores, "" without one. WorkbenchError: there is no such set."""
    report = audit_report(workspace, set_id)
    return "" if report is None else audit_line(report)


def gaps_text(report: AuditReport) -> str:
    """Which part of the set the figures say nothing about, and what makes them doubtful; "" when there is no such."""
    found, said = report.figures, []
    if n := len(found.unscored_strata):
        said.append(
            f"Nothing is known about {many(n, 'score region')} without a score, {1 - found.covered:.0%} of "
            "the pairs."
        )
    if found.n_pairs < report.n_set:
        said.append(
            f"{report.n_set - found.n_pairs:,} of the {report.n_set:,} pairs of the set could not be drawn."
        )
    if found.n_scored == 1 and not found.is_census:
        said.append("One scored pair says nothing about how far other pairs differ.")
    if found.equal_errors:
        said.append(
            f"All {found.n_scored:,} scored pairs are equally far from what people say: intervals of the error rest on "
            "that alone and have no width, though other pairs may differ."
        )
    if report.n_seen:
        were = "score was" if report.n_seen == 1 else "scores were"
        said.append(f"{report.n_seen:,} {were} given with a suggestion on the screen.")
    if report.n_known:
        were = "pair was" if report.n_known == 1 else "pairs were"
        said.append(
            f"{report.n_known:,} scored {were} reviewed one by one before, the labeler's score in view, by somebody who "
            "scored here: not blind."
        )
    return " ".join(said)


def scaled_text(one: Estimate, scale: ScoreRange, *, sign: bool = False) -> str:
    """A distance of scores with its interval on the raw scale, "0.41 [0.33, 0.50]"."""
    span = scale.high - scale.low
    return _with_interval(one, lambda value: f"{value * span:{'+' if sign else ''}.2f}")


def estimate_text(one: Estimate) -> str:
    """A correlation with its interval."""
    return _with_interval(one, lambda value: f"{value:.2f}")


def share_text(one: Estimate) -> str:
    """A share with its interval, "12 % [5, 24]"."""
    if one.value is None:
        return "undefined"
    text = f"{100 * one.value:.0f} %"
    if one.low is None or one.high is None or one.is_census:
        return text
    return f"{text} [{100 * one.low:.0f}, {100 * one.high:.0f}]"


def _with_interval(one: Estimate, text: Callable[[float], str]) -> str:
    if one.value is None:
        return "undefined"
    if one.is_census:
        return text(one.value)
    if one.low is None or one.high is None:
        return f"{text(one.value)} (no interval)"
    return f"{text(one.value)} [{text(one.low)}, {text(one.high)}]"
