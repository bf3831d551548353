"""The guided demo's own recipe on the sample project: one batch for the loop, one for another domain.

The shipped results come from it (`benchmarks/learn_results.py`), and "Recompute here" runs it again.
"""

import csv
import io
import json
from dataclasses import replace

from augsbert_core import bundle
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    GateOptions,
    ImportOptions,
    KeepOptions,
    LabelOptions,
    PlannedRun,
    SampleOptions,
    student_defaults,
)
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.plans.adaptation import domain_adaptation
from augsbert_core.steps.plans.curve import learning_curve
from augsbert_core.steps.plans.parts import baselines, gold_twin, planned
from augsbert_core.steps.plans.seeds import multi_run
from augsbert_core.steps.sample_project import (
    SAMPLE_NAME,
    STUDENT_LAYERS,
    open_sample_project,
)
from augsbert_core.storage import batches, projects, queue
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project

TITLE = "Guided demo"
CURVE_TITLE = "Guided demo: score against gold pairs"
SEEDS_TITLE = "Guided demo: one student, several seeds"
TITLES = {"loop": TITLE, "curve": CURVE_TITLE, "seeds": SEEDS_TITLE}
"""How the batches of the sample project are found again."""

SEED = 42

STRATEGIES = ("random", "kde", "bm25", "semantic", "bm25+semantic")
"""The paper's five ways to choose pairs, in the order of its tables."""

TOP_K = 3
N_RANDOM = 2000
N_POOL = 3000
"""Random pairs, and random pairs of which the KDE rule keeps a part."""

STEPS = 400
FULL_STEPS = 200
"""Optimiser steps of the small students and of the full ones: the same for all of a size, so that none wins by
practice alone."""

ADAPTATION_STEPS = 300

CURVE_FRACTIONS = (0.125, 0.25, 0.5, 1.0)
"""Parts of the gold training pairs for the figure of scores against training size."""

CURVE_STEPS = 200
"""Optimiser steps of the small students of both figures: half as many as in the loop, as there are many of them."""

WARM, WARM_GOLD = "warm-start", 16
"""The run that only warms the labeler up, and the gold pairs it must see to be a training at all."""

N_SEEDS = 6
"""Students that differ in the seed alone; the paper began with 5."""

TARGET_TOPICS = ("cooking", "garden", "pets", "weather")
"""The topics of the sample that play the domain without gold; the other eight are the source."""

SOURCE_NAME, TARGET_NAME = "Sample: source topics", "Sample: target topics"


def sample_options(strategy: str) -> SampleOptions:
    """What a strategy is told here."""
    n_pairs = {"random": N_RANDOM, "kde": N_POOL}.get(strategy)
    return SampleOptions(strategy=strategy, top_k=TOP_K, n_pairs=n_pairs, seed=SEED)


def small_student(steps: int = STEPS) -> BiEncoderOptions:
    """The student that keeps 2 of 6 layers."""
    return BiEncoderOptions(
        layers=STUDENT_LAYERS,
        learning_rate=student_defaults(STUDENT_LAYERS).learning_rate,
        max_steps=steps,
        seed=SEED,
    )


def full_student(steps: int = FULL_STEPS) -> BiEncoderOptions:
    """The student with all layers, which was tuned on sentences before."""
    return BiEncoderOptions(max_steps=steps, seed=SEED)


def loop_plan(device: str = "auto") -> BatchOptions:
    """Labeler, five candidate sets, silver, students with each, their gold-only twins, the gate, and the test split.

    All students of a size take as many steps, so gold-only training has had as much practice.
    """
    small, full = small_student(), full_student()
    labeler = CrossEncoderOptions(seed=SEED, device=device)
    plan: list[PlannedRun] = [planned("labeler", "train-cross-encoder", labeler)]
    for strategy in STRATEGIES:
        plan.append(planned(f"candidates-{strategy}", "sample", sample_options(strategy)))
    # The union first: the labels of BM25's and of semantic pairs are then taken over, not made again.
    for strategy in reversed(STRATEGIES):
        plan.append(_labelling(strategy, device))
    plan.append(
        planned("silver-kde", "keep", KeepOptions(0, seed=SEED),
                references={"silver_set_id": "{pool-kde.silver_set_id}"})
    )  # fmt: skip
    for strategy in STRATEGIES:
        plan.append(_student(f"student-{strategy}", small, strategy))
    plan.append(planned("gold-small", "train-bi-encoder", gold_twin(small)))
    plan.append(_student("student-full", full, "bm25"))
    plan.append(planned("gold-full", "train-bi-encoder", gold_twin(full)))
    labelers = ["run:{labeler.run_id}"]
    for key in ("gold-small", "gold-full"):
        gate = GateOptions(seed=SEED, device=device)
        against = {"labelers": labelers, "baseline": f"run:{{{key}.run_id}}"}
        plan.append(planned(f"gate-{key}", "gate", gate, references=against))
    students = [
        *(f"student-{name}" for name in STRATEGIES),
        "gold-small",
        "student-full",
        "gold-full",
    ]
    targets = [
        *baselines(small), *baselines(full)[:1],
        *(f"run:{{{key}.run_id}}" for key in students), *labelers,
    ]  # fmt: skip
    told = EvaluateOptions(tuple(targets), seed=SEED, device=device)
    plan.append(planned("measured", "evaluate", told))
    return BatchOptions(title=TITLE, runs=tuple(plan), seed=SEED, device=device)


def _labelling(strategy: str, device: str) -> PlannedRun:
    key = "pool-kde" if strategy == "kde" else f"silver-{strategy}"
    told = LabelOptions(0, "run:{labeler.run_id}", seed=SEED, device=device)
    given = {"candidate_set_id": f"{{candidates-{strategy}.candidate_set_id}}"}
    return planned(key, "label", told, references=given)


def _student(key: str, recipe: BiEncoderOptions, strategy: str) -> PlannedRun:
    silver = f"{{silver-{strategy}.silver_set_id}}"
    return planned(key, "train-bi-encoder", recipe, references={"silver_set_id": silver})


def plan_for(workspace: Workspace, name: str) -> tuple[Project, BatchOptions]:
    """The batch that makes these results ("loop", "curve", "seeds" or "adaptation"), and the project that it is for.

    Projects that are not there yet are made.
    """
    if name == "adaptation":
        source, target = adaptation_projects(workspace)
        return target, adaptation_plan(workspace, source, target)
    project = open_sample_project(workspace)
    if name == "loop":
        return project, loop_plan()
    if name == "curve":
        return project, curve_plan(workspace, count_project(workspace, project.id).train)
    if name == "seeds":
        return project, seeds_plan()
    raise ValueError(f"There are no results called {name!r}.")


def curve_plan(workspace: Workspace, n_gold: int, device: str = "auto") -> BatchOptions:
    """Scores against training size (paper, figure 1): labeler, small student on gold, and on gold and its silver.

    n_gold: gold training pairs there are. At each size the labeler sees the same part of gold as its students. The
    warm start of the labeler needs no gold, so it is made once, and every size goes on from it.
    """
    plan = learning_curve(
        replace(small_student(CURVE_STEPS), device=device),
        n_gold,
        fractions=CURVE_FRACTIONS,
        cross=CrossEncoderOptions(seed=SEED, warm_start="off", device=device),
        candidates=sample_options("bm25"),
    )
    # The least training there can be after a warm start: one step on one batch.
    warm = CrossEncoderOptions(
        seed=SEED, warm_start="on", gold_limit=WARM_GOLD, max_steps=1, device=device
    )
    begun = str(workspace.models / f"run-{{{WARM}.run_id}}" / "model")
    runs = [planned(WARM, "train-cross-encoder", warm, group=WARM)]
    for run in plan.runs:
        told = json.loads(run.options)
        if run.step == "train-cross-encoder":
            told["base"] = begun
        elif run.step == "evaluate":
            told["targets"].append(f"run:{{{WARM}.run_id}}")
        runs.append(replace(run, options=json.dumps(told, sort_keys=True)))
    return replace(plan, title=CURVE_TITLE, runs=tuple(runs))


def seeds_plan(device: str = "auto") -> BatchOptions:
    """How far seeds alone lie apart (paper, figure 6): the small student on all gold, trained with several seeds."""
    student = gold_twin(replace(small_student(CURVE_STEPS), device=device))
    return replace(multi_run(student, num_runs=N_SEEDS), title=SEEDS_TITLE)


def adaptation_projects(workspace: Workspace) -> tuple[Project, Project]:
    """The sample's gold by topic as two projects, made at the first call: source with gold, target without dev.

    The target's training pairs give its sentences, and their scores serve the upper bound alone; its dev and test
    pairs are its test split.
    """
    rows = list(csv.DictReader(io.StringIO(_gold_text())))
    source = [row for row in rows if row["topic"] not in TARGET_TOPICS]
    target = [
        row | {"split": "train" if row["split"] == "train" else "test"}
        for row in rows
        if row["topic"] in TARGET_TOPICS
    ]
    return _project(workspace, SOURCE_NAME, source), _project(workspace, TARGET_NAME, target)


def _gold_text() -> str:
    path = bundle.root() / "sample_data" / "gold_pairs.csv"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkbenchError(
            f"The sample file {path.name} is missing from this installation ({error.strerror}). "
            "Install the workbench again."
        ) from error


def _project(workspace: Workspace, name: str, rows: list[dict[str, str]]) -> Project:
    made = projects.find_project(workspace, name) or projects.create_project(
        workspace, name, student_layers=STUDENT_LAYERS
    )
    if not count_project(workspace, made.id).gold:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        told = ImportOptions(kind="pairs", score_range=(0.0, 5.0))
        import_file(workspace, made.id, text.getvalue().encode(), "topics.csv", told)
    return projects.get_project(workspace, made.id)


def adaptation_plan(
    workspace: Workspace, source: Project, target: Project, device: str = "auto"
) -> BatchOptions:
    """Source labeler, silver on the target, the student on silver alone, and both bounds (paper, section 3.2)."""
    student = small_student(ADAPTATION_STEPS)
    return domain_adaptation(
        workspace,
        source,
        target,
        bi=BiEncoderOptions(
            layers=student.layers, learning_rate=student.learning_rate,
            max_steps=ADAPTATION_STEPS, seed=SEED, device=device,
        ),
        candidates=SampleOptions(top_k=TOP_K, use_unlabelled=True, seed=SEED),
    )  # fmt: skip


def demo_projects(workspace: Workspace) -> list[Project]:
    """The projects of the guided demo that there are, those that learn from another one before it."""
    names = (TARGET_NAME, SOURCE_NAME, SAMPLE_NAME)
    return [found for name in names if (found := projects.find_project(workspace, name))]


def refuse_while_at_work(workspace: Workspace) -> None:
    """WorkbenchError when a job runs or waits in one of the demo's projects, so that none of them may go.

    A batch of any other project counts where it has begun a run in one of these.
    """
    demo = {project.id: project.name for project in demo_projects(workspace)}
    for job in queue.active_jobs(workspace):
        places = [job.project_id]
        places += [run.project_id for run in batches.children(workspace, job.run_id)]
        if place := next((place for place in places if place in demo), None):
            raise WorkbenchError(
                f"Nothing was removed: job {job.id} of the project “{demo[place]}” is not done. Wait for it or "
                "cancel it on the Jobs page, then reset again."
            )
