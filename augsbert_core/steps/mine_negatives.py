"""Mine negatives for training elsewhere: near sentences that are no positives, a few for each positive."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.labeling import label_batches, load_labeler
from augsbert_core.options import NegativesOptions
from augsbert_core.pairs import SPLITS, ScoredPairs, sentence_key
from augsbert_core.progress import stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import labeler_members, labeler_parts
from augsbert_core.steps.retrieval import BM25, check_source, nearest
from augsbert_core.storage import gold, sentences
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.negative_files import MinedQuery, write_negatives
from augsbert_core.storage.records import Project

MANY_NEGATIVES = 12
"""More negatives per positive than this mostly repeat what the first ones teach, and cost time."""

MOST_NEGATIVES = 100

SPARE = 3
"""With a labeler, so many times the wanted negatives are scored, for some will be left out."""

DEEPEST = 1_000


@dataclass(frozen=True)
class _Query:
    """A query sentence and its gold positives, as positions in the corpus."""

    place: int
    positives: list[int]


def check_mining(workspace: Workspace, project: Project, options: NegativesOptions) -> None:
    """WorkbenchError: impossible options, no such model, or no positive pair."""
    if options.split not in SPLITS:
        raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
    if not 1 <= options.per_positive <= MOST_NEGATIVES:
        raise WorkbenchError(
            f"Negatives per positive is {options.per_positive}. Give 1 to {MOST_NEGATIVES}, usually 4."
        )
    if not 0 <= options.negative_below <= options.positive_from <= 1:
        raise WorkbenchError(
            f"Negatives below {options.negative_below:g} and positives from {options.positive_from:g} overlap "
            "or leave [0, 1]. Give two scores from 0 to 1, that of positives at least as high."
        )
    check_source(workspace, project, options.source)
    if options.labeler:
        labeler_members(workspace, project, options.labeler)
    pairs = gold.scored_pairs(workspace, project.id, options.split)
    if not np.any(pairs.scores >= options.positive_from):
        score = project.score_range.to_raw(options.positive_from)
        raise WorkbenchError(
            f"No gold pair of the {options.split} split is scored {score:g} or more, so there is no positive to "
            "mine negatives for. Lower the score from which a pair is positive."
        )


def mining_uses_device(options: NegativesOptions) -> bool:
    """Whether a model is asked at all: BM25 without a labeler needs none."""
    return options.source != BM25 or bool(options.labeler)


def warn_about(options: NegativesOptions) -> str | None:
    """What to say about so many negatives; None when there is nothing to say."""
    if options.per_positive <= MANY_NEGATIVES:
        return None
    return (
        f"{options.per_positive} negatives per positive are many: past {MANY_NEGATIVES} they mostly add time, and "
        "more of them are positives that nobody has scored."
    )


def mine_negatives(context: StepContext, options: NegativesOptions) -> dict[str, Any]:
    """Write for each query its positives and, for each positive, its own negatives, the nearest first.

    Never a negative: the sentence itself, a sentence whose gold score with the query is `negative_below` or
    more, and one whose labeler score is. Files: negatives.jsonl and negatives.csv in the run's folder.
    """
    workspace, project = context.workspace, context.project
    check_mining(workspace, project, options)
    context.report(0.0, "Reading the corpus")
    pairs = gold.scored_pairs(workspace, project.id, options.split)
    texts = _corpus(context, options, pairs)
    queries, barred, n_outside = _queries(pairs, texts, options)
    wanted = [options.per_positive * len(query.positives) for query in queries]
    if not wanted:
        raise WorkbenchError(
            "All positives have a sentence that dev or test has too, so nothing may be mined for them."
        )
    depth = min(max(wanted) * (SPARE if options.labeler else 1), DEEPEST)
    near = nearest(
        workspace,
        project,
        options.source,
        texts,
        depth,
        excluded=barred,
        seed=options.seed,
        device=context.device,
        report=stretch(context.report, 0.0, 0.4),
        should_stop=context.should_stop,
    )
    starts, ends = (
        np.searchsorted(near.query, [query.place for query in queries], side=side)
        for side in ("left", "right")
    )
    lists = [
        near.neighbour[start : min(end, start + n * (SPARE if options.labeler else 1))]
        for start, end, n in zip(starts, ends, wanted, strict=True)
    ]
    lists, n_dropped = _without_likely_positives(context, options, texts, queries, lists)
    mined = [
        MinedQuery(
            texts[query.place],
            [texts[at] for at in query.positives],
            _dealt([texts[int(at)] for at in listed[:n]], len(query.positives)),
        )
        for query, listed, n in zip(queries, lists, wanted, strict=True)
    ]
    context.report(0.95, "Writing the files")
    files = write_negatives(context.folder, mined, options.per_positive)
    return _outcome(context, options, mined, files, wanted, n_dropped, n_outside)


def _corpus(context: StepContext, options: NegativesOptions, pairs: ScoredPairs) -> list[str]:
    """The sentences to mine: for train those that dev and test do not have, else those of the split."""
    if options.split == "train":
        project_id = context.project.id
        return sentences.sampling_corpus(context.workspace, project_id, use_unlabelled=False)[1]
    distinct: dict[str, str] = {}
    for text in (*pairs.sentences1, *pairs.sentences2):
        distinct.setdefault(sentence_key(text), text)
    return list(distinct.values())


def _queries(
    pairs: ScoredPairs, texts: list[str], options: NegativesOptions
) -> tuple[list[_Query], tuple[np.ndarray, np.ndarray], int]:
    """Queries with positives, the pairs that are no negatives, and how many positives lie outside the corpus."""
    places = {sentence_key(text): place for place, text in enumerate(texts)}
    found: dict[int, dict[int, None]] = {}
    barred: set[tuple[int, int]] = set()
    n_outside = 0
    for one, two, score in zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True):
        first, second = places.get(sentence_key(one)), places.get(sentence_key(two))
        if first is None or second is None:
            n_outside += int(score >= options.positive_from)
            continue
        if first == second:
            continue
        if score >= options.negative_below:
            barred.add((first, second))
        if score >= options.positive_from:
            found.setdefault(first, {}).setdefault(second)
    columns = np.array(sorted(barred), dtype=np.int64).reshape(-1, 2)
    queries = [_Query(place, list(positives)) for place, positives in sorted(found.items())]
    return queries, (columns[:, 0], columns[:, 1]), n_outside


def _without_likely_positives(
    context: StepContext,
    options: NegativesOptions,
    texts: list[str],
    queries: list[_Query],
    lists: list[np.ndarray],
) -> tuple[list[np.ndarray], int]:
    """The lists without what the labeler scores `negative_below` or more, and how many went."""
    if not options.labeler:
        return lists, 0
    context.report(0.4, "Loading the labeler")
    parts = labeler_parts(context.workspace, context.project, options.labeler)
    labeler = load_labeler(parts, context.device)
    first = [
        texts[query.place] for query, listed in zip(queries, lists, strict=True) for _ in listed
    ]
    second = [texts[int(at)] for listed in lists for at in listed]
    scores = np.zeros(len(first))
    done = 0
    for places, _, values in label_batches(labeler, first, second, should_stop=context.should_stop):
        scores[places] = values
        done += len(places)
        share = done / len(scores)
        context.report(0.4 + 0.5 * share, f"Checked {done:,} of {len(scores):,} negatives")
    ends = np.cumsum([len(listed) for listed in lists])[:-1]
    is_negative = np.split(scores < options.negative_below, ends)
    kept = [listed[fine] for listed, fine in zip(lists, is_negative, strict=True)]
    return kept, int(np.sum(scores >= options.negative_below))


def _dealt(negatives: list[str], n_positives: int) -> list[list[str]]:
    """Negatives dealt out to the positives in turn, so that each gets near ones."""
    return [negatives[number::n_positives] for number in range(n_positives)]


def _outcome(
    context: StepContext,
    options: NegativesOptions,
    mined: list[MinedQuery],
    files: tuple[Any, Any],
    wanted: list[int],
    n_dropped: int,
    n_outside: int,
) -> dict[str, Any]:
    counts = [sum(map(len, one.negatives)) for one in mined]
    n_short = sum(count < n for count, n in zip(counts, wanted, strict=True))
    notices = []
    if warning := warn_about(options):
        notices.append(warning)
    if n_dropped:
        score = context.project.score_range.to_raw(options.negative_below)
        notices.append(
            f"{n_dropped:,} near sentences were left out as likely positives: the labeler scores them {score:g} "
            "or more."
        )
    if n_short:
        notices.append(f"{n_short:,} queries have fewer negatives than asked for.")
    if n_outside:
        notices.append(f"{n_outside:,} positives have a sentence of dev or test and were left out.")
    if not options.labeler:
        notices.append(
            "No labeler has looked at the negatives: among near sentences some are positives that nobody has "
            "scored."
        )
    jsonl, table = (str(path.relative_to(context.workspace.home)) for path in files)
    return {
        "jsonl": jsonl,
        "csv": table,
        "n_queries": len(mined),
        "n_positives": sum(len(one.positives) for one in mined),
        "n_negatives": sum(counts),
        "n_dropped": n_dropped,
        "notices": notices,
    }
