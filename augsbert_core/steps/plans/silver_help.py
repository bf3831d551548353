"""Will silver help on my data? A small trial that measures on dev and leaves the test split alone."""

from dataclasses import replace

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    DrawOptions,
    GateOptions,
    PlannedRun,
    SampleOptions,
)
from augsbert_core.steps.plans.parts import (
    AUGMENTED,
    GOLD_ONLY,
    LABELER,
    Silver,
    gold_twin,
    labelling,
    measuring,
    planned,
    sampling,
)
from augsbert_core.steps.plans.recipes import labeler_runs, newest_recipe
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project


def will_silver_help(
    workspace: Workspace,
    project: Project,
    *,
    n_silver: int = 1000,
    seed: int = 42,
    device: str = "auto",
    cross: CrossEncoderOptions | None = None,
    bi: BiEncoderOptions | None = None,
    sample: SampleOptions | None = None,
) -> BatchOptions:
    """Labeler, gate, a small silver set, a student with it and one without, measured on dev.

    The newest labeler of the project is taken, else one is trained as `cross` says (the defaults). n_silver:
    pairs that are drawn from the candidates of `sample` (BM25 by default) and labelled. The batch's metrics
    hold the outcome, see `steps.outcome`. WorkbenchError: no training or dev pairs.
    """
    counts = count_project(workspace, project.id)
    if not counts.train or not counts.dev:
        missing = "training" if not counts.train else "dev"
        raise WorkbenchError(
            f"Project {project.name!r} has no gold {missing} pairs; the trial trains on the one and measures on the "
            "other. Import some first."
        )
    if n_silver < 1:
        raise WorkbenchError(f"{n_silver} silver pairs are none. Take at least 1.")
    student = replace(
        bi or newest_recipe(workspace, project),
        seed=seed, device=device, silver_set_id=None, stages=(), gold_limit=None, use_gold=True,
    )  # fmt: skip
    labeler, plan = _labeler(workspace, project, cross, seed, device)
    plan.append(_gate(labeler, seed, device))
    silver = Silver(sample or SampleOptions(seed=seed), labeler=labeler)
    plan += sampling(silver, device)
    plan.append(
        planned(
            "drawn", "draw", DrawOptions(0, n_silver, seed),
            references={"candidate_set_id": "{candidates.candidate_set_id}"},
        )
    )  # fmt: skip
    label = labelling(silver, seed, device, key="silver", labeler=labeler)
    plan.append(replace(label, options=label.options.replace("{candidates.", "{drawn.")))
    plan += [
        planned("student", "train-bi-encoder", student, group=AUGMENTED,
                references={"silver_set_id": "{silver.silver_set_id}"}),
        planned("gold", "train-bi-encoder", gold_twin(student), group=GOLD_ONLY,
                references={"max_steps": "{student.n_steps}"}),
        measuring("measured", ["run:{student.run_id}", "run:{gold.run_id}", labeler], "dev", seed, device),
    ]  # fmt: skip
    return BatchOptions(
        kind="will-silver-help",
        title=f"{n_silver:,} silver pairs",
        runs=tuple(plan),
        notes=(
            "Measured on dev, which also chose the checkpoints; the test split was not touched.",
        ),
        seed=seed,
        device=device,
    )


def _labeler(
    workspace: Workspace,
    project: Project,
    cross: CrossEncoderOptions | None,
    seed: int,
    device: str,
) -> tuple[str, list[PlannedRun]]:
    """The labeler's name, and the run that trains it when there is none."""
    trained = labeler_runs(workspace, project)
    if trained and cross is None:
        return f"run:{trained[0].id}", []
    options = replace(cross or CrossEncoderOptions(), seed=seed, device=device)
    return "run:{labeler.run_id}", [
        planned("labeler", "train-cross-encoder", options, group=LABELER)
    ]


def _gate(labeler: str, seed: int, device: str) -> PlannedRun:
    """The labeler beside the best gold-only student there is, before anything is labelled."""
    options = GateOptions(seed=seed, device=device)
    return planned("gate", "gate", options, references={"labelers": [labeler]})
