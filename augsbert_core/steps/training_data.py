"""What models are trained on: gold, silver, NLI pairs and triplets, read from the store and joined."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.steps.promotion import promoted
from augsbert_core.storage import gold, nli, silver_sets, triplets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

DATA = ("gold", "silver", "gold+silver", "nli", "triplets")

TrainingOptions = CrossEncoderOptions | BiEncoderOptions


@dataclass(frozen=True)
class TrainingData:
    """The rows of one stage. n_gold: distinct gold pairs, however often they are repeated.

    n_corrections: silver pairs among them that people corrected or accepted. n_leaks: such pairs that were left out
    because dev or test gold holds them. passes: cross-encoder passes behind the silver pairs. data_hash: a fingerprint of the rows.
    """

    rows: ScoredPairs | TrainingRows
    data_hash: str
    n_gold: int = 0
    n_silver: int = 0
    n_nli: int = 0
    n_triplets: int = 0
    passes: int = 0
    n_corrections: int = 0
    n_leaks: int = 0


def read_gold(workspace: Workspace, project: Project, options: TrainingOptions) -> ScoredPairs:
    """What counts as gold: the imported pairs, then the silver pairs that are promoted (`steps.promotion`)."""
    return imported_gold(workspace, project, options) + promoted(workspace, project, options).pairs


def imported_gold(workspace: Workspace, project: Project, options: TrainingOptions) -> ScoredPairs:
    """The gold training pairs, or `gold_limit` of them drawn with the seed, in the order of their files."""
    pairs = gold.scored_pairs(workspace, project.id, "train")
    if options.gold_limit is None or options.gold_limit >= len(pairs):
        return pairs
    drawn = np.random.default_rng(options.seed).permutation(len(pairs))[: options.gold_limit]
    rows = np.sort(drawn).tolist()
    return ScoredPairs(
        [pairs.sentences1[row] for row in rows],
        [pairs.sentences2[row] for row in rows],
        pairs.scores[rows],
    )


def read_stage(
    workspace: Workspace,
    project: Project,
    options: TrainingOptions,
    data: str,
    gold_pairs: ScoredPairs,
) -> TrainingData:
    """The rows of a stage. data: one of `DATA`. gold_pairs: of `read_gold`.

    Gold comes before silver. Gold pairs are repeated and silver rows weighed as the options say; a weight needs
    gold beside it, for what is weighed the same throughout is not weighed at all.
    WorkbenchError: the data is not there.
    """
    if data == "nli":
        rows = nli.nli_training_rows(workspace, project.id)
        return TrainingData(rows, rows_hash(rows), n_nli=len(rows))
    if data == "triplets":
        rows = triplets.triplet_training_rows(workspace, project.id)
        return TrainingData(rows, rows_hash(rows), n_triplets=len(rows))
    if data not in DATA:
        raise WorkbenchError(f"{data!r} is no training data. Choose one of {', '.join(DATA)}.")
    return _gold_and_silver(workspace, project, options, data.split("+"), gold_pairs)


def _gold_and_silver(
    workspace: Workspace,
    project: Project,
    options: TrainingOptions,
    parts: list[str],
    gold_pairs: ScoredPairs,
) -> TrainingData:
    repeats = getattr(options, "gold_repeats", 1)
    taken = promoted(workspace, project, options)
    counts = (len(taken), taken.n_leaks) if "gold" in parts else (0, 0)
    facts = dict(zip(("n_corrections", "n_leaks"), counts, strict=True))
    if parts == ["gold"] and repeats == 1:
        return TrainingData(gold_pairs, gold.data_hash(gold_pairs), n_gold=len(gold_pairs), **facts)
    joined: TrainingRows | None = None
    n_gold = n_silver = passes = 0
    if "gold" in parts:
        joined = repeated(TrainingRows.from_pairs(gold_pairs), repeats)
        n_gold = len(gold_pairs)
    if "silver" in parts:
        set_id = options.silver_set_id
        if set_id is None:
            raise WorkbenchError("This recipe trains on silver pairs. Choose a silver set.")
        silver = silver_sets.silver_training_rows(
            workspace,
            set_id,
            raw=options.silver_scores == "raw",
            keep_rejected=options.keep_rejected,
            left_out=taken.silver_codes,
        )
        n_silver, passes = len(silver), silver_sets.get_silver_set(workspace, set_id).passes
        if joined is not None and options.silver_weight != 1.0:
            weights = np.full(len(silver), options.silver_weight, dtype=np.float32)
            silver = replace(silver, weights=weights)
        joined = silver if joined is None else joined + silver
    if joined is None:
        raise ValueError("a stage needs gold or silver")
    return TrainingData(
        joined, rows_hash(joined), n_gold=n_gold, n_silver=n_silver, passes=passes, **facts
    )


def repeated(rows: TrainingRows, times: int) -> TrainingRows:
    """The rows so many times over."""
    if times == 1:
        return rows
    return TrainingRows(
        rows.texts,
        np.tile(rows.places, (1, times)),
        np.tile(rows.labels, times),
        None if rows.weights is None else np.tile(rows.weights, times),
    )


def rows_hash(rows: TrainingRows) -> str:
    """A short fingerprint of rows: texts, their places, labels and weights."""
    digest = hashlib.sha256()
    for text in rows.texts:
        digest.update(text.encode() + b"\0")
    for column in (rows.places, rows.labels, rows.weights):
        digest.update(b"\1" if column is None else np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()[:16]
