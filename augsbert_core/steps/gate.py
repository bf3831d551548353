"""The labeler gate: judge labelers on gold before they label, against the gold-only student."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.calibration import cross_calibrated
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BUNDLED_MODEL,
    BiEncoderOptions,
    EvaluateOptions,
    GateOptions,
    from_json,
)
from augsbert_core.progress import stretch
from augsbert_core.steps.compare import model_target
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.evaluate import check_evaluation, evaluate
from augsbert_core.steps.figures import statistic
from augsbert_core.steps.labelers import (
    ScorerAtHand,
    average_of,
    gold_only_student,
    scorers_at_hand,
)
from augsbert_core.steps.models import (
    JOIN,
    Member,
    labeler_members,
    normal_labeler,
    passes_per_pair,
    run_number,
)
from augsbert_core.steps.names import labeler_label
from augsbert_core.storage import evaluations, gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run

NEWEST = 4
"""Unless told, the gate looks at so many of each kind."""


@dataclass(frozen=True)
class Measured:
    """What something says about the gold pairs of the gate's split. interval: 95 %, by the bootstrap."""

    value: float | None
    interval: tuple[float, float] | None
    threshold: float | None
    predictions: np.ndarray


def check_gate(workspace: Workspace, project: Project, options: GateOptions) -> None:
    """WorkbenchError: nothing to judge or to judge by, no such labeler, or a baseline that is no run."""
    if project.task == "classification" and options.split != "dev":
        raise WorkbenchError(
            "With two classes the gate looks at the dev split, on which thresholds are chosen anyway."
        )
    check_evaluation(workspace, project, EvaluateOptions(split=options.split))
    if options.baseline is not None and run_number(options.baseline) is None:
        raise WorkbenchError(f"{options.baseline!r} is not a run. Give run:ID of a student.")
    if not _asked(workspace, project, options, gold_only_student(workspace, project)):
        raise WorkbenchError(
            "There is no labeler at hand yet. Train a cross-encoder first, or name one."
        )
    for text in options.labelers:
        labeler_members(workspace, project, text)


def gate(context: StepContext, options: GateOptions) -> dict[str, Any]:
    """Judge labelers on gold pairs before they label: is any of them better than the gold-only student?

    Each labeler, the gold-only student and its untrained base get their score with a 95 % bootstrap interval,
    each labeler also its difference from the student on the same resamples. A single bi-encoder is judged by
    its cosines, which order pairs as its labels do; within an average its cosines are calibrated by curves that
    have not seen the pair. Predictions are those of the evaluation table; only what is missing there is
    computed. Returns rows, best first, `recommended` (the first one's labeler) and a plain `sentence` about it.
    """
    workspace, project = context.workspace, context.project
    check_gate(workspace, project, options)
    baseline = _baseline(workspace, project, options)
    labelers = _asked(workspace, project, options, baseline)
    members = {one.labeler: labeler_members(workspace, project, one.labeler) for one in labelers}
    untrained = _untrained(project, baseline)
    targets = [_target(one) for group in members.values() for one in group]
    targets += [untrained, *([f"run:{baseline.id}"] if baseline else [])]
    judge = _Judge(context, options, list(dict.fromkeys(targets)))
    if not options.labelers:
        own = f"run:{baseline.id}" if baseline else None
        student_too = {own: labeler_members(workspace, project, own)} if own else {}
        best = judge.best_two(members | student_too)
        labelers += [best] if best else []
        members |= {best.labeler: labeler_members(workspace, project, best.labeler)} if best else {}
    own_target = f"run:{baseline.id}" if baseline else None
    student = judge.single(own_target) if own_target else None
    rows = [judge.row(one, members[one.labeler], student, own_target) for one in labelers]
    rows.sort(key=lambda row: -2.0 if row["value"] is None else -row["value"])
    first = rows[0]
    return {
        "split": options.split,
        "metric": judge.metric,
        "n_pairs": len(judge.scores),
        "rows": rows,
        "student": _plain(student, own_target),
        "untrained": _plain(judge.single(untrained), untrained),
        "recommended": first["labeler"],
        "verdict": first["verdict"],
        "sentence": first["sentence"] + _caution(rows, options.split),
        "data_hash": judge.data_hash,
        "notes": _notes(workspace, project, options, members, baseline),
    }


def _caution(rows: Sequence[Mapping[str, Any]], split: str) -> str:
    """What to keep in mind about the interval of the best row, "" where there is no choice or no interval."""
    if len(rows) < 2 or rows[0]["difference"] is None:
        return ""
    return f" It is the best of {len(rows)} labelers, picked on the same {split} pairs, so its interval flatters."


def _asked(
    workspace: Workspace, project: Project, options: GateOptions, baseline: Run | None
) -> list[ScorerAtHand]:
    """The labelers to judge: those named, else the newest few at hand but the baseline itself."""
    at_hand = scorers_at_hand(workspace, project)
    if options.labelers:
        known = {one.labeler: one for one in at_hand}
        return [
            known.get(
                text, ScorerAtHand(text, text, "average" if JOIN in text else "cross_encoder")
            )
            for text in dict.fromkeys(normal_labeler(text) for text in options.labelers)
        ]
    own = f"run:{baseline.id}" if baseline else ""
    return [
        one
        for kind in ("cross_encoder", "bi_encoder")
        for one in [each for each in at_hand if each.kind == kind and each.labeler != own][:NEWEST]
    ]


def _baseline(workspace: Workspace, project: Project, options: GateOptions) -> Run | None:
    if options.baseline is None:
        return gold_only_student(workspace, project)
    return runs.get_run(workspace, run_number(options.baseline) or 0)


def _untrained(project: Project, baseline: Run | None) -> str:
    """The target of what the student was before training."""
    if baseline is None:
        return model_target(BUNDLED_MODEL, project.student_layers)
    told = from_json(BiEncoderOptions, baseline.options)
    return model_target(told.base, told.layers)


def _target(member: Member) -> str:
    """A member in the words of the evaluation table."""
    return member.text if run_number(member.text) is not None else f"cross:{member.text}"


def _plain(found: Measured | None, target: str | None) -> dict[str, Any] | None:
    if found is None:
        return None
    low, high = found.interval or (None, None)
    return {"target": target, "value": found.value, "low": low, "high": high}


class _Judge:
    """The measured scorers of one split, and what they say together."""

    def __init__(self, context: StepContext, options: GateOptions, targets: list[str]) -> None:
        project = context.project
        pairs = gold.scored_pairs(context.workspace, project.id, options.split)
        self.scores, self.data_hash = pairs.scores, gold.data_hash(pairs)
        self.metric = "f1" if project.task == "classification" else "spearman"
        self.options = options
        self.n_pairs = len(pairs)
        self.measured = self._measure(context, targets)

    def _measure(self, context: StepContext, targets: list[str]) -> dict[str, dict[str, Any]]:
        """The evaluations of the targets on the present pairs; those that are missing are made."""
        found = self._stored(context)
        missing = tuple(target for target in targets if target not in found)
        if missing:
            quieter = replace(context, report=stretch(context.report, 0.0, 0.9))
            told = EvaluateOptions(
                missing, self.options.split, self.options.seed, self.options.device
            )
            evaluate(quieter, told)
            found = self._stored(context)
        context.report(0.9, "Resampling the pairs")
        return found

    def _stored(self, context: StepContext) -> dict[str, dict[str, Any]]:
        stored = evaluations.list_evaluations(
            context.workspace, context.project.id, self.options.split
        )
        return {
            one["target"]: one
            for one in stored
            if one["data_hash"] == self.data_hash and one["metric"] == self.metric
        }

    def single(self, target: str) -> Measured:
        one = self.measured[target]
        has_interval = one["low"] is not None and one["high"] is not None
        interval = (one["low"], one["high"]) if has_interval else None
        return Measured(one["value"], interval, one["threshold"], one["predictions"])

    def labeler(self, members: Sequence[Member]) -> Measured:
        """What a labeler of these members is worth."""
        if len(members) == 1:
            return self.single(_target(members[0]))
        return self._measured(np.mean([self._as_scores(one) for one in members], axis=0))

    def _as_scores(self, member: Member) -> np.ndarray:
        predictions = self.measured[_target(member)]["predictions"]
        if member.kind == "cross_encoder":
            return predictions
        return cross_calibrated(predictions, self.scores, seed=self.options.seed)

    def _measured(self, predictions: np.ndarray) -> Measured:
        threshold = None
        if self.metric == "f1":
            _, threshold = metrics.f1_best_threshold(self.scores, predictions)
        measure = statistic(self.metric, threshold)
        interval = metrics.bootstrap_interval(
            measure, self.scores, predictions, seed=self.options.seed
        )
        return Measured(measure(self.scores, predictions), interval, threshold, predictions)

    def best_two(self, members: dict[str, list[Member]]) -> ScorerAtHand | None:
        """The average of the two best labelers, None when fewer than two have a score."""
        values = {labeler: self.labeler(group).value for labeler, group in members.items()}
        ranked = sorted(
            (labeler for labeler, value in values.items() if value is not None),
            key=lambda labeler: -(values[labeler] or 0.0),
        )
        return average_of(ranked[:2]) if len(ranked) > 1 else None

    def row(
        self,
        one: ScorerAtHand,
        members: Sequence[Member],
        student: Measured | None,
        student_target: str | None,
    ) -> dict[str, Any]:
        """A labeler with its score, its difference from the student, and what that means."""
        found = self.labeler(members)
        apart = None if student is None else self._difference(found, student)
        verdict, sentence = gate_sentence(
            one.labeler, apart, split=self.options.split, n_pairs=self.n_pairs,
            has_student=student is not None, student=student_target,
        )  # fmt: skip
        low, high = found.interval or (None, None)
        return {
            **asdict(one),
            "kind": members[0].kind if len(members) == 1 else "average",
            "value": found.value,
            "low": low,
            "high": high,
            "difference": apart.difference if apart else None,
            "difference_low": apart.low if apart else None,
            "difference_high": apart.high if apart else None,
            "passes_per_pair": passes_per_pair(members),
            "verdict": verdict,
            "sentence": sentence,
        }

    def _difference(self, first: Measured, second: Measured) -> metrics.Difference | None:
        return metrics.paired_bootstrap(
            (statistic(self.metric, first.threshold), statistic(self.metric, second.threshold)),
            self.scores,
            (first.predictions, second.predictions),
            resamples=metrics.resamples_for(self.n_pairs),
            seed=self.options.seed,
        )


def gate_sentence(
    labeler: str,
    apart: metrics.Difference | None,
    *,
    split: str,
    n_pairs: int,
    has_student: bool = True,
    student: str | None = None,
) -> tuple[str, str]:
    """The verdict ("better", "not better", "unclear", "no student") and what to say about a labeler.

    student: the gold-only one as "run:ID"; an average that holds it is spelled out.
    """
    name = _named(labeler, student)
    if not has_student:
        return "no student", (
            f"{name} has no gold-only student to be compared with. Train one on gold alone, then check again."
        )
    if apart is None:
        return "unclear", (
            f"{name} and the gold-only student cannot be told apart: a score is undefined on the {n_pairs:,} "
            f"{split} pairs."
        )
    interval = f"95 % interval {100 * apart.low:+.1f} to {100 * apart.high:+.1f}"
    points = f"{100 * apart.difference:+.1f} points, {interval}"
    if apart.low > 0:
        return "better", (
            f"{name} is better than the gold-only student on {split} by {100 * apart.difference:.1f} points "
            f"({interval}): silver labels may help."
        )
    if apart.high <= 0:
        return "not better", (
            f"{name} is not better than the gold-only student on {split} ({points}): its silver labels are "
            "unlikely to help."
        )
    return "unclear", (
        f"{name} and the gold-only student cannot be told apart with {n_pairs:,} {split} pairs ({points})."
    )


def _named(labeler: str, student: str | None) -> str:
    parts = labeler.split(JOIN)
    if len(parts) == 1 or student not in parts:
        return f"This labeler ({labeler.replace('run:', 'run ')})"
    shown = [labeler_label(part) for part in parts if part != student]
    return f"The mean of {', '.join(shown)} and {labeler_label(student)} (the gold-only student itself)"


def _notes(
    workspace: Workspace,
    project: Project,
    options: GateOptions,
    members: dict[str, list[Member]],
    baseline: Run | None,
) -> list[str]:
    """What to keep in mind about the figures of a gate."""
    notes = []
    if options.split == "dev":
        notes.append("Checkpoints were chosen on dev, so dev scores flatter all trained models.")
    present = gold.data_hash(gold.scored_pairs(workspace, project.id, "train"))
    numbers = {run_number(one.text) for group in members.values() for one in group}
    numbers |= {baseline.id} if baseline else set()
    old = [
        number
        for number in sorted(number for number in numbers if number is not None)
        if (run := runs.get_run(workspace, number)).project_id == project.id
        and run.metrics.get("gold_hash") != present
    ]
    if old:
        named = ", ".join(f"run {number}" for number in old)
        notes.append(f"Trained on other gold pairs than the present ones: {named}.")
    return notes


def gate_cells(result: Mapping[str, Any]) -> list[dict[str, str]]:
    """The table of a gate as text, times 100: the labelers best first, then the student and its untrained base."""
    rows = [{**row, "scorer": _shown(row["labeler"])} for row in result["rows"]]
    for key, name in (("student", "Gold-only student"), ("untrained", "Untrained")):
        if result.get(key):
            rows.append({**result[key], "scorer": f"{name} ({_shown(result[key]['target'])})"})
    return [
        {
            "scorer": row["scorer"],
            "value": _points(row, "value") or "undefined",
            "interval": _points(row, "low", "high"),
            "difference": _points(row, "difference", sign="+"),
            "apart": _points(row, "difference_low", "difference_high", sign="+"),
        }
        for row in rows
    ]


def _shown(target: str) -> str:
    return labeler_label(target.removeprefix("model:"))


def _points(row: Mapping[str, Any], *keys: str, sign: str = "") -> str:
    values = [row.get(key) for key in keys]
    if any(value is None for value in values):
        return ""
    return " to ".join(f"{100 * value:{sign}.1f}" for value in values if value is not None)
