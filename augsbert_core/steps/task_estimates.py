"""What is known, or has to be computed, about the pairs of an annotation task before a queue can choose among them."""

from dataclasses import dataclass, field, replace

import numpy as np

from augsbert_core.calibration import FEWEST_PAIRS, calibrate
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.inference import embed_rows, pair_cosines, row_cosines
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.options import TaskOptions
from augsbert_core.pairs import ScoreRange, pair_codes
from augsbert_core.progress import stretch
from augsbert_core.queues import QUEUES, Mistake, Pool, word_likeness
from augsbert_core.queues.pool import UNIT
from augsbert_core.queues.ranked import MOST_MISTAKES
from augsbert_core.sampling import COSINE_SCORES
from augsbert_core.scales import SCALES
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.keep import labeler_threshold
from augsbert_core.steps.models import CALIBRATION_PAIRS, run_model
from augsbert_core.storage import candidates, gold, silver_sets, task_pools
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.task_pools import TaskPool

MIDDLE = 0.5
"""The decision threshold where neither the user nor the labeler names one."""

SHORT = 40  # characters of a sentence in a reason

_PAIRS_AT_ONCE = 50_000  # whose embeddings are held side by side


@dataclass(frozen=True)
class Estimates:
    """What queues see of a pool. suggestions: what a model says to annotators who ask for it, NaN where nothing.

    told: what the estimated scores are, for people; "" where the queue needs none.
    """

    pool: Pool
    suggestions: np.ndarray | None = None
    told: str = ""
    notices: list[str] = field(default_factory=list)


def has_own_scores(workspace: Workspace, options: TaskOptions) -> bool:
    """Whether the source brings scores of its pairs: a labeler's, or the cosines of a semantic sampler."""
    if options.source == "silver":
        return True
    if options.source != "candidates" or options.candidate_set_id is None:
        return False
    found = candidates.get_candidate_set(workspace, options.candidate_set_id)
    return found.strategy in COSINE_SCORES


def needs_student(workspace: Workspace, project: Project, options: TaskOptions) -> bool:
    """Whether the bi-encoder that the options name has to score the pool for the queue."""
    needs = QUEUES[options.queue].needs
    if "students" in needs:
        return _stored_student(workspace, options) is None
    return "scores" in needs and not has_own_scores(workspace, options)


def _stored_student(workspace: Workspace, options: TaskOptions) -> str | None:
    """The name under which the student has scored the silver set before."""
    if options.source != "silver" or options.silver_set_id is None:
        return None
    return task_pools.stored_student(workspace, options.silver_set_id, options.student)


def estimates(
    workspace: Workspace,
    project: Project,
    options: TaskOptions,
    found: TaskPool,
    context: StepContext | None = None,
) -> Estimates:
    """What the queue of the options needs to know of a pool. context: of the job, where the student has to run."""
    pool = Pool(len(found), pool_name=_pool_name(options), scale=_scale(options))
    told, notices, suggestions = "", [], None
    if options.source == "silver":
        gaps, spreads = _if_any(found.order_gaps), _if_any(found.spreads)
        pool = replace(pool, scores=found.scores, order_gaps=gaps, spreads=spreads)
        model = _stored_student(workspace, options)
        if model is not None and found.source_ids is not None:
            said = task_pools.stored_student_scores(
                workspace, options.silver_set_id or 0, model, found.source_ids
            )
            pool = replace(pool, students=said)
        suggestions = found.scores
        told = "the labeler's scores"
    elif options.source == "candidates" and has_own_scores(workspace, options):
        pool = replace(pool, scores=_unit(found.sampler_scores))
        told = "cosines of the sampler, those below 0 as 0, not calibrated on gold"
        notices += _without_cosine(options, found)
    if needs_student(workspace, project, options):
        if context is None:
            raise ValueError("a student can only run in a job")
        scores, calibrated = student_scores(context, options, found)
        told_student = f"the cosines of {options.student}" + (
            ", calibrated on gold" if calibrated else ", those below 0 as 0, not calibrated on gold"
        )
        if options.source == "silver":
            pool = replace(pool, students=scores)
        else:
            pool, told = replace(pool, scores=scores, scorer="bi-encoder"), told_student
            suggestions = scores if calibrated else None
    if "scores" not in QUEUES[options.queue].needs:
        told, notices = "", []
    pool, more = _reference(workspace, project, options, pool)
    notices += more
    if "similarity" in QUEUES[options.queue].needs:
        pool = _likeness(workspace, project, found, pool)
    if told:
        notices.insert(0, f"Scores are estimated by {told}.")
    return Estimates(pool, suggestions, told, notices)


def student_scores(
    context: StepContext, options: TaskOptions, found: TaskPool
) -> tuple[np.ndarray, bool]:
    """What the student says about each pair, in [0, 1], and whether that is calibrated on gold.

    Calibrated on dev when it has 50 pairs, else on the training pairs; with fewer than ten of those, the cosines are
    taken as they are.
    """
    workspace, project = context.workspace, context.project
    folder = run_model(workspace, project, options.student, "train-bi-encoder")
    context.report(0.05, f"Loading {options.student}")
    model = load_bi_encoder(folder or options.student, context.device)
    texts, places = task_pools.pair_texts(workspace, found)

    embeddings = embed_rows(
        model,
        tokenize_rows(model, texts),
        report=stretch(context.report, 0.1, 0.85),
        should_stop=context.should_stop,
    )
    cosines = np.concatenate(
        [
            row_cosines(embeddings, places[:, start : start + _PAIRS_AT_ONCE])
            for start in range(0, len(found), _PAIRS_AT_ONCE)
        ]
    ).astype(np.float64)
    pairs = gold.scored_pairs(workspace, project.id, "dev")
    if len(pairs) < CALIBRATION_PAIRS:
        pairs = gold.scored_pairs(workspace, project.id, "train")
    if len(pairs) < FEWEST_PAIRS:
        return _unit(cosines), False
    curve = calibrate(pair_cosines(model, pairs.sentences1, pairs.sentences2), pairs.scores)
    return curve(cosines).astype(np.float64), True


def _unit(cosines: np.ndarray | None) -> np.ndarray:
    return np.clip(np.asarray(cosines, dtype=np.float64), 0.0, 1.0)


def _pool_name(options: TaskOptions) -> str:
    return {"silver": "silver", "gold": "gold"}.get(options.source, "the candidates")


def _scale(options: TaskOptions) -> ScoreRange:
    return SCALES[options.scale][0] if options.scale in SCALES else UNIT


def _if_any(values: np.ndarray | None) -> np.ndarray | None:
    """Values, or None where not one is known."""
    return values if values is not None and np.isfinite(values).any() else None


def _without_cosine(options: TaskOptions, found: TaskPool) -> list[str]:
    missing = int(np.count_nonzero(np.isnan(np.asarray(found.sampler_scores))))
    if not missing:
        return []
    return [
        f"{missing:,} pairs that only BM25 found have no cosine, so this queue never chooses them."
    ]


def _reference(
    workspace: Workspace, project: Project, options: TaskOptions, pool: Pool
) -> tuple[Pool, list[str]]:
    """The pool with the gold scores, and the threshold, that its queue looks at."""
    if options.queue == "density-gap":
        scores = gold.gold_scores(workspace, project.id)
        return replace(pool, reference=scores if len(scores) else None), []
    if options.queue != "threshold":
        return pool, []
    threshold = options.threshold
    if threshold is None and options.silver_set_id is not None and options.source == "silver":
        found = silver_sets.get_silver_set(workspace, options.silver_set_id)
        threshold = labeler_threshold(workspace, found)
    if threshold is not None:
        return replace(pool, threshold=threshold), []
    said = f"No threshold is known, so the middle of the scale counts: {pool.number(MIDDLE)}."
    return replace(pool, threshold=MIDDLE), [said]


def _likeness(workspace: Workspace, project: Project, found: TaskPool, pool: Pool) -> Pool:
    """The pool with what people corrected in the project's silver sets; None of it: as it is."""
    sets = [one.id for one in silver_sets.list_silver_sets(workspace, project.id)]
    wrong = task_pools.corrected_pairs(workspace, sets, MOST_MISTAKES)
    if not len(wrong.labels):
        return pool
    texts, places = task_pools.pair_texts(workspace, found)
    pairs = list(zip(wrong.sentences1, wrong.sentences2, strict=True))
    mistakes = [
        Mistake(_short(pair[0]), float(label), float(correction))
        for pair, label, correction in zip(pairs, wrong.labels, wrong.corrections, strict=True)
    ]
    likeness = word_likeness(texts, places, pairs)
    are_mistakes = np.isin(found.codes, pair_codes(wrong.first, wrong.second))

    def similarity(rows: np.ndarray) -> np.ndarray:
        return np.where(are_mistakes[rows][:, None], 0.0, likeness(rows))

    return replace(pool, mistakes=mistakes, similarity=similarity)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHORT else text[: SHORT - 1].rstrip() + "…"
