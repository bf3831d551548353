"""A model for a domain without gold training pairs: labels by a labeler of another domain (paper, section 3.2)."""

from dataclasses import dataclass, replace

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    PlannedRun,
    SampleOptions,
    from_json,
    student_defaults,
)
from augsbert_core.options.batches import KnownRun
from augsbert_core.steps.models import run_number
from augsbert_core.steps.plans.parts import (
    Silver,
    baselines,
    bounded,
    gold_twin,
    labelling,
    measuring,
    planned,
    sampling,
    seeds_from,
)
from augsbert_core.steps.plans.recipes import labeler_runs
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import ProjectCounts, count_project
from augsbert_core.storage.records import Project

SOURCE_ONLY = "Source only (lower bound)"
ADAPTED = "Adapted (silver only)"
IN_DOMAIN = "In-domain gold (upper bound)"
SOURCE_LABELER = "Source cross-encoder"


@dataclass(frozen=True)
class _Domains:
    workspace: Workspace
    source: Project
    target: Project
    counts: ProjectCounts


def domain_adaptation(
    workspace: Workspace,
    source: Project,
    target: Project,
    *,
    bi: BiEncoderOptions | None = None,
    cross: CrossEncoderOptions | None = None,
    labeler: str = "",
    candidates: SampleOptions | int | None = None,
    both_orders: bool = False,
    num_runs: int = 1,
    seed_step: int = 1,
) -> BatchOptions:
    """A batch of the target project: silver by the source's labeler, students on silver alone, and both bounds.

    labeler: a cross-encoder run of the source project, or any labeler; "" takes the source's newest, or trains
    one there as `cross` says. candidates: of the target, sampled from its unlabelled sentences too by default.
    Source-only students that were trained with the same recipe are taken as they are, others are trained in the
    source project. The upper bound is left out when the target has no gold training pairs. All are measured on
    the target's test split: Spearman, or AUC(0.05) for classification (`evaluation.details`).
    WorkbenchError: the same project twice, no gold in the source, or different tasks.
    """
    domains = _checked(workspace, source, target)
    student = replace(
        bi or student_defaults(target.student_layers),
        silver_set_id=None, stages=(), gold_limit=None,
    )  # fmt: skip
    by, plan = _source_labeler(domains, labeler, cross, student)
    silver = Silver(
        candidates or SampleOptions(use_unlabelled=True, seed=student.seed), None, by, both_orders
    )
    plan += sampling(silver, student.device)
    plan.append(labelling(silver, student.seed, student.device, key="silver", labeler=by))
    targets = [*baselines(student), by] if by.startswith("run:") else baselines(student)
    known = [KnownRun(number, SOURCE_LABELER)] if (number := run_number(by)) else []
    for seed in seeds_from(student.seed, num_runs, seed_step):
        plan += _one_seed(domains, replace(student, seed=seed), targets, known)
    if domains.counts.test:
        plan.append(measuring("measured", targets, "test", student.seed, student.device))
    return BatchOptions(
        kind="domain-adaptation",
        title=f"{source.name} → {target.name}",
        runs=bounded(plan),
        known=tuple(known),
        notes=_notes(domains.counts),
        seed=student.seed,
        device=student.device,
    )


def _checked(workspace: Workspace, source: Project, target: Project) -> _Domains:
    if source.id == target.id:
        raise WorkbenchError("Source and target are the same project. Choose two.")
    if not count_project(workspace, source.id).train:
        raise WorkbenchError(
            f"The source project {source.name!r} has no gold training pairs. Import some there first."
        )
    if source.task != target.task:
        raise WorkbenchError(
            f"Project {source.name!r} holds {source.task} scores and {target.name!r} {target.task}; "
            "labels of the one mean nothing in the other. Choose two projects of one kind."
        )
    return _Domains(workspace, source, target, count_project(workspace, target.id))


def _source_labeler(
    domains: _Domains,
    labeler: str,
    cross: CrossEncoderOptions | None,
    student: BiEncoderOptions,
) -> tuple[str, list[PlannedRun]]:
    """The labeler's name, and the run that trains it in the source project when there is none."""
    if labeler:
        return labeler, []
    trained = labeler_runs(domains.workspace, domains.source)
    if trained and cross is None:
        return f"run:{trained[0].id}", []
    options = replace(cross or CrossEncoderOptions(), seed=student.seed, device=student.device)
    step = planned(
        "labeler",
        "train-cross-encoder",
        options,
        group=SOURCE_LABELER,
        project_id=domains.source.id,
    )
    return "run:{labeler.run_id}", [step]


def _one_seed(
    domains: _Domains, student: BiEncoderOptions, targets: list[str], known: list[KnownRun]
) -> list[PlannedRun]:
    """The students of one seed; `targets` and `known` grow by what is to be measured and is there already."""
    plan = []
    gold = gold_twin(student)
    trained = _same_recipe(domains, gold)
    if trained is None:
        key = f"source-{student.seed}"
        plan.append(
            planned(key, "train-bi-encoder", gold, group=SOURCE_ONLY, project_id=domains.source.id)
        )
        targets.append(f"run:{{{key}.run_id}}")
    else:
        known.append(KnownRun(trained, SOURCE_ONLY))
        targets.append(f"run:{trained}")
    key = f"student-{student.seed}"
    adapted, silver = replace(student, use_gold=False), "{silver.silver_set_id}"
    plan.append(
        planned(
            key, "train-bi-encoder", adapted, group=ADAPTED, references={"silver_set_id": silver}
        )
    )
    targets.append(f"run:{{{key}.run_id}}")
    if domains.counts.train:
        key = f"in-domain-{student.seed}"
        plan.append(planned(key, "train-bi-encoder", gold, group=IN_DOMAIN))
        targets.append(f"run:{{{key}.run_id}}")
    return plan


def _same_recipe(domains: _Domains, wanted: BiEncoderOptions) -> int | None:
    """A finished run of the source project that was told the same."""
    for run in runs.runs_with_model(domains.workspace, domains.source.id, "train-bi-encoder"):
        told = from_json(BiEncoderOptions, run.options)
        if replace(told, device=wanted.device) == wanted:
            return run.id
    return None


def _notes(counts: ProjectCounts) -> tuple[str, ...]:
    notes = []
    if not counts.train:
        notes.append(
            "The target has no gold training pairs, so the in-domain upper bound is missing."
        )
    if not counts.dev:
        notes.append(
            "The target has no dev pairs: its students keep their last checkpoint, chosen by nothing."
        )
    if not counts.test:
        notes.append("The target has no test pairs, so nothing was measured there.")
    return tuple(notes)
