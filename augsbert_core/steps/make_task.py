"""Choose the pairs of an annotation task, put them in order, and say why each is there."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core import best_worst
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import TaskOptions, to_json
from augsbert_core.options.annotating import AUDIT_QUEUE
from augsbert_core.pairs import SPLITS, pair_codes
from augsbert_core.person_names import clean_line
from augsbert_core.progress import stop_if
from augsbert_core.queues import QUEUES, choose
from augsbert_core.scales import scale_levels
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_model
from augsbert_core.steps.names import describe
from augsbert_core.steps.task_estimates import estimates, needs_student
from augsbert_core.storage import candidates, gold, runs, silver_sets, task_pools
from augsbert_core.storage.annotation_tasks import (
    LONGEST_NAME,
    MOST_SCORES,
    ItemRows,
    create_task,
)
from augsbert_core.storage.archive_options import wrong_option
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.follow_ups import close_follow_up
from augsbert_core.storage.records import Project
from augsbert_core.storage.task_pools import TaskPool

SOURCES = ("candidates", "silver", "gold")
KINDS = ("scores", "best-worst")
PURPOSES = ("gold", "audit")

MOST_PAIRS = 100_000
"""People score no more than this, and every pair of a task is a row with a reason."""

FEWEST_TUPLES, MOST_TUPLES = 0.01, 100.0
"""4-pair tuples per pair."""

MOST_SEED = 2**31 - 1

MOST_TUPLE_PAIRS = 10_000
"""The tuples of a larger best-worst task would take minutes to arrange."""


@dataclass(frozen=True)
class Prepared:
    """A task as it is stored, and what there is to say about it. left_out: reason → number of pairs."""

    items: ItemRows
    tuples: np.ndarray | None
    left_out: dict[str, int]
    notices: list[str]

    @property
    def metrics(self) -> dict[str, Any]:
        return {
            "n_pairs": len(self.items),
            "n_left_out": sum(self.left_out.values()),
            "n_tuples": 0 if self.tuples is None else len(self.tuples),
            "notices": self.notices,
        }


def check_task(workspace: Workspace, project: Project, options: TaskOptions) -> None:
    """WorkbenchError: what is asked for cannot be done."""
    _check_words(options)
    _check_numbers(options)
    _check_scale(options)
    _check_source(workspace, project, options)
    if needs_model(workspace, project, options):
        run_model(workspace, project, options.student, "train-bi-encoder")
    # What is stored is what an archive of the project may hold.
    if (wrong := wrong_option("annotate", json.loads(to_json(options)))) is not None:
        raise WorkbenchError(
            f"The option {wrong} of a task cannot be {str(getattr(options, wrong, ''))[:60]!a}. Give another value."
        )


def _check_scale(options: TaskOptions) -> None:
    scale_levels(options.scale, options.levels)
    if options.levels and options.scale != "custom":
        raise WorkbenchError(
            f"The scale {options.scale} has levels of its own. Take the scale custom for words of your own."
        )


def _check_words(options: TaskOptions) -> None:
    for name, value, known in (
        ("kind", options.kind, KINDS),
        ("purpose", options.purpose, PURPOSES),
        ("source", options.source, SOURCES),
        ("queue", options.queue, tuple(QUEUES)),
        ("split", options.split or SPLITS[0], SPLITS),
    ):
        if value not in known:
            raise WorkbenchError(
                f"The {name} of a task is {value!r}. Choose one of {', '.join(known)}."
            )
    queue = QUEUES[options.queue]
    if options.source not in queue.sources:
        raise WorkbenchError(
            f"The queue {queue.title!r} does not work for {options.source} pairs, only for "
            f"{' and '.join(queue.sources)}. Choose another queue or another source."
        )
    if options.purpose == "audit" and (options.source, options.kind) != ("silver", "scores"):
        raise WorkbenchError(
            "An audit judges a labeler by scores on its silver pairs: take the source silver and the kind scores."
        )
    if options.purpose == "audit" and options.queue != AUDIT_QUEUE:
        raise WorkbenchError(
            f"An audit draws as many pairs from each score region, so that they speak for the whole set: take the queue "
            f"{AUDIT_QUEUE}, not {options.queue}."
        )
    name = options.name.strip()
    if name and clean_line(name, LONGEST_NAME) != " ".join(name.split()):
        raise WorkbenchError(f"A task needs a name of 1 to {LONGEST_NAME} printable characters.")


def _check_numbers(options: TaskOptions) -> None:
    if not 1 <= options.n_pairs <= MOST_PAIRS:
        raise WorkbenchError(
            f"The number of pairs is {options.n_pairs:,}. Give 1 to {MOST_PAIRS:,}."
        )
    if not 1 <= options.n_scores <= MOST_SCORES:
        raise WorkbenchError(
            f"Scores per pair are {options.n_scores:,}. Give a number from 1 to {MOST_SCORES:,}."
        )
    if not 0 <= options.seed <= MOST_SEED:
        raise WorkbenchError(f"The seed is {options.seed}. Give one from 0 to {MOST_SEED}.")
    if not FEWEST_TUPLES <= options.tuples_per_pair <= MOST_TUPLES:
        raise WorkbenchError(
            f"Tuples per pair are {options.tuples_per_pair:g}. Give a number from {FEWEST_TUPLES:g} to {MOST_TUPLES:g}."
        )
    if options.threshold is not None and not 0.0 <= options.threshold <= 1.0:
        raise WorkbenchError(f"The threshold is {options.threshold:g}. Give one from 0 to 1.")
    if options.kind != "best-worst":
        return
    if not best_worst.TUPLE_SIZE <= options.n_pairs <= MOST_TUPLE_PAIRS:
        raise WorkbenchError(
            f"Best-worst scaling compares {best_worst.TUPLE_SIZE} pairs at a time, and takes "
            f"{best_worst.TUPLE_SIZE} to {MOST_TUPLE_PAIRS:,} pairs, not {options.n_pairs:,}."
        )


def _check_source(workspace: Workspace, project: Project, options: TaskOptions) -> None:
    """WorkbenchError: the set is not named, gone, or another project's; or there is no gold pair."""
    if options.source == "gold":
        if not len(gold.gold_scores(workspace, project.id, _splits(options))):
            where = f" in the split {options.split}" if options.split else ""
            raise WorkbenchError(f"There are no gold pairs{where} to score again. Import some.")
        return
    if options.source == "silver":
        if options.silver_set_id is None:
            raise WorkbenchError("Choose the silver set whose pairs are to be scored.")
        owner = silver_sets.get_silver_set(workspace, options.silver_set_id).project_id
        what = f"Silver set {options.silver_set_id}"
    else:
        if options.candidate_set_id is None:
            raise WorkbenchError(
                "Choose the candidate set whose pairs are to be scored. Sample pairs first, or import unlabelled ones."
            )
        owner = candidates.get_candidate_set(workspace, options.candidate_set_id).project_id
        what = f"Candidate set {options.candidate_set_id}"
    if owner != project.id:
        raise WorkbenchError(f"{what} belongs to another project.")


def needs_model(workspace: Workspace, project: Project, options: TaskOptions) -> bool:
    """Whether a bi-encoder has to score the pool first, so that the task must be made by a job and not at once."""
    return options.queue in QUEUES and needs_student(workspace, project, options)


def create_now(workspace: Workspace, project: Project, options: TaskOptions) -> int:
    """Make a task that needs no model at once, recorded as a finished run; returns its id.

    WorkbenchError: as in `check_task`, or a model is needed (`needs_model`): start the step "annotate" as a job.
    """
    check_task(workspace, project, options)
    if needs_model(workspace, project, options):
        raise WorkbenchError(
            f"The queue {QUEUES[options.queue].title!r} needs {options.student} to score these pairs first. Start it "
            "as a job, or choose the queue Random."
        )
    prepared = prepare(workspace, project, options)
    run_id = runs.add_run(
        workspace,
        project.id,
        "annotate",
        describe("annotate", options),
        to_json(options),
        options.seed,
    )
    try:
        task_id = _store(workspace, project, run_id, options, prepared)
    except BaseException:
        task_pools.forget_run(workspace, run_id)
        raise
    close_follow_up(workspace, run_id, prepared.metrics)
    return task_id


def make_task(context: StepContext, options: TaskOptions) -> dict[str, Any]:
    """Make a task as a job; done twice for one run, the first task stands.

    The task is found by its run. Returns n_pairs, n_left_out, n_tuples and notices.
    """
    workspace, project = context.workspace, context.project
    stored = task_pools.metrics_of_task(workspace, context.run.id)
    if stored is not None:
        return stored
    check_task(workspace, project, options)
    context.report(0.0, "Reading the pairs")
    prepared = prepare(workspace, project, options, context)
    stop_if(context.should_stop)
    context.report(0.95, f"Storing {len(prepared.items):,} pairs")
    # Told first: with the task there, a later attempt takes over what the run says.
    runs.update_run(workspace, context.run.id, metrics=prepared.metrics)
    _store(workspace, project, context.run.id, options, prepared)
    return prepared.metrics


def task_uses_device(options: TaskOptions) -> bool:
    """Whether a model may have to run, as far as the options alone tell."""
    queue = QUEUES.get(options.queue)
    if queue is None:
        return False
    return "students" in queue.needs or ("scores" in queue.needs and options.source == "candidates")


def prepare(
    workspace: Workspace,
    project: Project,
    options: TaskOptions,
    context: StepContext | None = None,
) -> Prepared:
    """Read the pool, leave out what may not be asked, let the queue choose, and arrange tuples.

    context: of the job, where a model has to run. WorkbenchError: no pair is left.
    """
    pool, left_out = _usable(workspace, project, options, _read(workspace, project, options))
    if not len(pool):
        raise WorkbenchError(
            f"No pair is left to score. Left out: {_told(left_out) or 'nothing; the set is empty'}. Choose another "
            "source."
        )
    found = estimates(workspace, project, options, pool, context)
    rng = np.random.default_rng(options.seed)
    chosen = choose(QUEUES[options.queue], found.pool, options.n_pairs, rng)
    if options.kind == "best-worst" and len(chosen) < best_worst.TUPLE_SIZE:
        raise WorkbenchError(
            f"Best-worst scaling compares {best_worst.TUPLE_SIZE} pairs at a time, and only {len(chosen)} are left."
        )
    if context is not None:
        context.report(0.9, f"Chose {len(chosen):,} of {len(pool):,} pairs")
    tuples = None
    if options.kind == "best-worst":
        tuples = best_worst.design(len(chosen), options.tuples_per_pair, rng)
    items = pool.take(chosen.positions)
    suggestions = None if found.suggestions is None else found.suggestions[chosen.positions]
    notices = [*chosen.notices, *found.notices]
    if left_out:
        notices.append(f"Left out: {_told(left_out)}.")
    rows = ItemRows(
        items.first,
        items.second,
        items.source_ids,
        suggestions,
        chosen.reasons,
        chosen.strata,
        chosen.stratum_sizes,
    )
    return Prepared(rows, tuples, left_out, notices)


def _store(
    workspace: Workspace, project: Project, run_id: int, options: TaskOptions, prepared: Prepared
) -> int:
    levels = scale_levels(options.scale, options.levels)
    return create_task(
        workspace, project.id, run_id, options, levels, prepared.items, tuples=prepared.tuples
    )


def _splits(options: TaskOptions) -> tuple[str, ...]:
    return (options.split,) if options.split else SPLITS


def _read(workspace: Workspace, project: Project, options: TaskOptions) -> TaskPool:
    if options.source == "gold":
        return task_pools.gold_pool(workspace, project.id, options.split)
    if options.source == "silver":
        # An audit speaks for the labeler on the whole set, also where people disagreed with it.
        is_audit = options.purpose == "audit"
        return task_pools.silver_pool(workspace, options.silver_set_id or 0, with_rejected=is_audit)
    return task_pools.candidate_pool(workspace, options.candidate_set_id or 0)


def _usable(
    workspace: Workspace, project: Project, options: TaskOptions, pool: TaskPool
) -> tuple[TaskPool, dict[str, int]]:
    """The pool without what may not be asked, and how many pairs that is, by reason."""
    left_out: dict[str, int] = {}
    blank = task_pools.blank_sentences(workspace, project.id)
    gates = [
        ("have a blank sentence", lambda: np.isin(pool.first, blank) | np.isin(pool.second, blank))
    ]
    if options.purpose != "audit":
        gates.append(
            ("are in another open task", lambda: _is_known(pool, _open_codes(workspace, project)))
        )
    if options.source != "gold" and options.purpose != "audit":
        gates.insert(
            0, ("are gold pairs already", lambda: _is_known(pool, _gold_codes(workspace, project)))
        )
    for reason, gate in gates:
        out = gate()
        if out.any():
            left_out[reason] = int(np.count_nonzero(out))
            pool = pool.take(~out)
    return pool, left_out


def _open_codes(workspace: Workspace, project: Project) -> np.ndarray:
    return task_pools.codes_in_open_tasks(workspace, project.id)


def _gold_codes(workspace: Workspace, project: Project) -> np.ndarray:
    return pair_codes(*gold.gold_pair_ids(workspace, project.id))


def _is_known(pool: TaskPool, codes: np.ndarray) -> np.ndarray:
    if not len(codes):
        return np.zeros(len(pool), dtype=bool)
    return np.isin(pool.codes, codes)


def _told(left_out: dict[str, int]) -> str:
    return ", ".join(f"{count:,} that {reason}" for reason, count in left_out.items())
