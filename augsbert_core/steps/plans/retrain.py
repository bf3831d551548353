"""Close the loop: the labeler learns from people's decisions on its silver set, labels it again, and is compared."""

from dataclasses import dataclass, replace
from typing import TypeVar

from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    KeepOptions,
    LabelOptions,
    PlannedRun,
    from_json,
)
from augsbert_core.options.batches import KnownRun
from augsbert_core.steps.plans.parts import baselines, bounded, measuring, planned
from augsbert_core.steps.promotion import check_corrections, promoted
from augsbert_core.storage import runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project, Run, SilverSet

LABELER_BEFORE = "Labeler before"
LABELER_AFTER = "Labeler with corrections"
STUDENT_BEFORE = "Student before"
STUDENT_AFTER = "Student of the new labels"

Told = TypeVar("Told", BiEncoderOptions, CrossEncoderOptions, LabelOptions)

SILVER = "{silver.silver_set_id}"


@dataclass(frozen=True)
class Retraining:
    """What a retraining starts from.

    n_corrected, n_accepted: pairs that the labeler will learn from; n_known were left out because the gold training
    pairs hold them already, n_leaks because dev or test gold does. labeler: the run that labelled the set, None when
    no single cross-encoder run of the project did. student: the newest that was trained on the set, None without one.
    n_test: test pairs of the project, on which all are measured.
    """

    found: SilverSet
    n_corrected: int
    n_accepted: int
    labeler: Run | None
    student: Run | None
    n_known: int = 0
    n_leaks: int = 0
    n_test: int = 0


def retraining(workspace: Workspace, project: Project, set_id: int) -> Retraining:
    """What there is to retrain with. WorkbenchError: no labeler made the set, or it has no decision to learn from."""
    found = silver_sets.get_silver_set(workspace, set_id)
    options = CrossEncoderOptions(corrections_of=set_id)
    check_corrections(workspace, project, options)
    if found.labeler == "nlpaug":
        raise WorkbenchError(
            f"Silver set {set_id} holds copies of gold pairs, which no labeler scored. Choose a set that one has."
        )
    taken = promoted(workspace, project, options)
    return Retraining(
        found,
        taken.n_corrected,
        taken.n_accepted,
        _labeler_run(workspace, project, found),
        _student_run(workspace, project, set_id),
        taken.n_known,
        taken.n_leaks,
        count_project(workspace, project.id).test,
    )


def retrain(
    workspace: Workspace,
    project: Project,
    set_id: int,
    *,
    seed: int | None = None,
    device: str = "auto",
    epochs: int | None = None,
    with_student: bool = True,
) -> BatchOptions:
    """Retrain the labeler with the corrections of a silver set, label the same candidates, train the same student.

    The labeler has the options of the run that labelled the set, else the defaults; people's decisions are carried
    over to the new set. A set that was kept of another one is kept again by its rule. The student is left out when
    none was trained on the set. All are measured on the test split, beside the models before. seed: None takes that
    of each run. epochs: of the labeler; None takes those it was trained for. with_student: False trains no student.
    WorkbenchError: as in `retraining`.
    """
    start = retraining(workspace, project, set_id)
    plan = [_labeler(start, seed, device, epochs), _labelling(workspace, start, seed, device)]
    silver = SILVER
    if start.found.rule is not None:
        plan.append(_keeping(start, seed))
        silver = "{kept.silver_set_id}"
    targets, known = ["run:{labeler.run_id}"], []
    if start.labeler is not None:
        targets.append(f"run:{start.labeler.id}")
        known.append(KnownRun(start.labeler.id, LABELER_BEFORE))
    if start.student is not None and with_student:
        options = _reseeded(from_json(BiEncoderOptions, start.student.options), seed, device)
        plan.append(
            planned(
                "student", "train-bi-encoder", options, group=STUDENT_AFTER,
                references={"silver_set_id": silver},
            )
        )  # fmt: skip
        targets += ["run:{student.run_id}", f"run:{start.student.id}", *baselines(options)]
        known.append(KnownRun(start.student.id, STUDENT_BEFORE))
    if start.n_test:
        first = 42 if seed is None else seed
        plan.append(measuring("measured", targets, "test", first, device))
    return BatchOptions(
        kind="retrain",
        title=f"silver set {set_id}, {decisions_text(start)}",
        runs=bounded(plan),
        known=tuple(known),
        notes=_notes(start, with_student),
        seed=42 if seed is None else seed,
        device=device,
    )


def decisions_text(start: Retraining) -> str:
    """ "37 corrected and 12 accepted pairs"."""
    return f"{start.n_corrected:,} corrected and {start.n_accepted:,} accepted pairs"


def left_out_text(start: Retraining) -> str:
    """Why fewer pairs are learnt from than people decided on, "" where it is all of them."""
    why = []
    if start.n_known:
        why.append(f"{start.n_known:,} {'is' if start.n_known == 1 else 'are'} gold already")
    if start.n_leaks:
        why.append(f"dev or test gold holds {start.n_leaks:,}")
    n_left = start.n_known + start.n_leaks
    told = f"{many(n_left, 'corrected or accepted pair')} more {'is' if n_left == 1 else 'are'} left out"
    return f"{told}: {', and '.join(why)}." if why else ""


def labeler_options(start: Retraining, epochs: int | None = None) -> CrossEncoderOptions:
    """How the labeler was trained, else the defaults; for so many epochs where they are told."""
    told = CrossEncoderOptions()
    if start.labeler is not None:
        told = from_json(CrossEncoderOptions, start.labeler.options)
    return told if epochs is None else replace(told, epochs=epochs, max_steps=None)


def plan_words(
    start: Retraining,
    *,
    epochs: int | None = None,
    with_student: bool = True,
) -> list[str]:
    """The plan of `retrain` in words, an entry for each of its runs. epochs, with_student: as there."""
    found, told = start.found, labeler_options(start, epochs)
    length = many(told.epochs, "epoch") if told.max_steps is None else many(told.max_steps, "step")
    labeler = (
        f"with the options of run {start.labeler.id}, which labelled this set"
        if start.labeler is not None
        else f"with the default options: {found.labeler} is no cross-encoder that was trained here"
    )
    words = [
        f"Train a cross-encoder on the gold pairs and {decisions_text(start)}, {labeler}, for "
        f"{length}. {left_out_text(start)}".strip(),
        f"Let it label the same {found.n_candidates:,} candidates as a new silver set, and carry over what people "
        "decided.",
    ]
    if found.rule is not None:
        words.append("Keep a part of it by the rule that this set was kept by.")
    has_student = start.student is not None and with_student
    if start.student is not None and with_student:
        words.append(f"Train the student of run {start.student.id} again, on the new labels.")
    if start.n_test:
        what = "labelers and students" if has_student else "labelers"
        words.append(
            f"Measure the {what} before and after on {many(start.n_test, 'test pair')}, and compare them."
        )
    return words


def unplanned_text(start: Retraining, *, with_student: bool = True) -> str:
    """What a retraining will not do, and why; "" when it does everything."""
    said = []
    if not with_student:
        said.append("No student is trained.")
    elif start.student is None:
        said.append("No student has been trained on this set, so none is trained on the new one.")
    if not start.n_test:
        said.append("There are no test pairs, so nothing is measured.")
    return " ".join(said)


def _labeler_run(workspace: Workspace, project: Project, found: SilverSet) -> Run | None:
    if found.labeler_run_id is None:
        return None
    try:
        run = runs.get_run(workspace, found.labeler_run_id)
    except WorkbenchError:  # it has been deleted
        return None
    is_ours = run.project_id == project.id and run.step == "train-cross-encoder"
    return run if is_ours and run.state == "done" else None


def _student_run(workspace: Workspace, project: Project, set_id: int) -> Run | None:
    """The newest finished bi-encoder that was trained on the set."""
    trained = runs.list_runs(workspace, project.id, "train-bi-encoder")
    return next(
        (
            run
            for run in trained
            if from_json(BiEncoderOptions, run.options).silver_set_id == set_id
        ),
        None,
    )


def _labeler(start: Retraining, seed: int | None, device: str, epochs: int | None) -> PlannedRun:
    told = labeler_options(start, epochs)
    options = replace(_reseeded(told, seed, device), corrections_of=start.found.id, use_gold=True)
    return planned("labeler", "train-cross-encoder", options, group=LABELER_AFTER)


def _labelling(
    workspace: Workspace, start: Retraining, seed: int | None, device: str
) -> PlannedRun:
    """As the set was labelled; one that was not labelled as a candidate set has the usual options."""
    found, told = start.found, LabelOptions(start.found.candidate_set_id, "")
    made_by = runs.get_run(workspace, found.run_id)
    if found.pool_set_id is not None:
        try:
            pool = silver_sets.get_silver_set(workspace, found.pool_set_id)
            made_by = runs.get_run(workspace, pool.run_id)
        except WorkbenchError:  # the pool has been deleted
            pass
    if made_by.step == "label":
        told = from_json(LabelOptions, made_by.options)
    options = replace(
        _reseeded(told, seed, device),
        candidate_set_id=found.candidate_set_id,
        labeler="run:{labeler.run_id}",
        decisions_from=found.id,
    )
    return planned("silver", "label", options)


def _keeping(start: Retraining, seed: int | None) -> PlannedRun:
    told = from_json(KeepOptions, start.found.made_with)
    options = told if seed is None else replace(told, seed=seed)
    return planned("kept", "keep", options, references={"silver_set_id": SILVER})


def _reseeded(told: Told, seed: int | None, device: str) -> Told:
    changed = replace(told, device=device)
    return changed if seed is None else replace(changed, seed=seed)


def _notes(start: Retraining, with_student: bool) -> tuple[str, ...]:
    notes = [f"The labeler learnt from {decisions_text(start)}. {left_out_text(start)}".strip()]
    if start.labeler is None:
        notes.append("The labeler before was no cross-encoder run, so the defaults were taken.")
    if not with_student:
        notes.append("No student was trained, as asked, so the labelers alone are compared.")
    elif start.student is None:
        notes.append("No student had been trained on the set, so the labelers alone are compared.")
    if not start.n_test:
        notes.append("There are no test pairs, so nothing was measured.")
    return tuple(notes)
