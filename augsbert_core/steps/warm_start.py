"""Warm start: before gold, a cross-encoder learns what its base already knows as a bi-encoder.

After Trans-Encoder (Liu et al. 2022, arXiv 2109.13059): the base's own cosines are the labels of pairs that
nobody has to score. The cross-encoder's new head, and the habit of reading two sentences together, are then
learnt before the first gold pair is seen.
"""

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.files import write_whole
from augsbert_core.models import catalog, cross_encoder, evaluation
from augsbert_core.models.truncation import is_at_hand
from augsbert_core.options import CrossEncoderOptions, SampleOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import stretch
from augsbert_core.sampling import SAMPLERS, Candidates, Corpus
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.sample import sampling_corpus

WARM_STARTS = ("auto", "on", "off")

SMALL_GOLD = 3000
"""With "auto", fewer gold training pairs than this are preceded by a warm start."""

TOP_K = 5
"""Neighbours per sentence among which the similar pairs are drawn."""

GOLD_FROM = 0.5
"""The share of the progress bar that the warm start takes."""

RECORD = "warm-start.json"

NO_PAIRS = ScoredPairs([], [], np.zeros(0))


@dataclass(frozen=True)
class WarmStart:
    """What gold training goes on from. location: model folder. n_pairs: pairs scored by the base."""

    location: str
    n_pairs: int
    seconds: float


def wants_warm_start(options: CrossEncoderOptions, n_gold: int) -> bool:
    """Whether a training on so many pairs begins with a warm start; without pairs only the options are checked.

    WorkbenchError: it was asked for, but the base is no sentence encoder, whose cosines would say nothing.
    """
    if options.warm_start not in WARM_STARTS:
        raise WorkbenchError(
            f"{options.warm_start!r} is no warm start. Choose one of {', '.join(WARM_STARTS)}."
        )
    if options.warm_start != "off" and options.warm_start_pairs < 2:
        raise WorkbenchError(
            f"A warm start on {options.warm_start_pairs} pairs teaches nothing. Give 2 or more; "
            f"{CrossEncoderOptions().warm_start_pairs:,} are usual."
        )
    if _is_ruled_out(options, n_gold):
        return False
    if not n_gold:  # not yet known: looking at the base could mean a download
        return False
    if catalog.is_sentence_encoder(options.base):
        return True
    if options.warm_start == "auto":
        return False
    raise WorkbenchError(
        f"{options.base!r} is no sentence encoder, so its cosines mean nothing and a warm start cannot be "
        "made from it. Switch the warm start off, or choose a sentence encoder as base."
    )


def expect_warm_start(options: CrossEncoderOptions, n_gold: int) -> bool | None:
    """`wants_warm_start`, for a page: None when only a download would tell. WorkbenchError as there."""
    if _is_ruled_out(options, n_gold):
        return False
    return wants_warm_start(options, n_gold) if is_at_hand(options.base) else None


def _is_ruled_out(options: CrossEncoderOptions, n_gold: int) -> bool:
    """Whether there is no warm start, whatever the base is."""
    return options.warm_start == "off" or (options.warm_start == "auto" and n_gold >= SMALL_GOLD)


def warm_start(context: StepContext, options: CrossEncoderOptions) -> WarmStart | None:
    """Train on the base's own cosines and return where the model lies; done twice for one run, found again.

    Half of the pairs are BM25 neighbours, half are random; none is a gold pair. None when the training
    sentences make no pair.
    """
    folder = context.folder / "warm-start"
    done = _finished(folder)
    if done is not None:
        return done
    begun = time.monotonic()
    report = stretch(context.report, 0.0, GOLD_FROM, title="Warm start (1 of 2)")
    report(0.0, "choosing pairs of the corpus")
    pairs = warm_start_pairs(context, options)
    if not len(pairs):
        return None
    report(0.0, f"the base scores {len(pairs):,} pairs")
    # All of the base teaches, whatever part of it learns: cut to its first layers it would know far less.
    cosines = evaluation.score_pairs(
        "bi_encoder",
        options.base,
        (pairs.sentences1, pairs.sentences2),
        device=context.device,
        should_stop=context.should_stop,
    )
    prepared = time.monotonic() - begun
    result = cross_encoder.train_cross_encoder(
        replace_scores(pairs, cosines),
        NO_PAIRS,
        first_stage(options),
        folder,
        task="regression",
        device=context.device,
        report=report,
        should_stop=context.should_stop,
    )
    record = {"n_pairs": len(pairs), "seconds": prepared + result.seconds}
    write_whole(folder / RECORD, json.dumps(record))
    return _finished(folder)


def _finished(folder: Path) -> WarmStart | None:
    """What a warm start in this folder came to, if it has been finished."""
    record = folder / RECORD
    if not record.is_file() or not (folder / "model").is_dir():
        return None
    return WarmStart(location=str(folder / "model"), **json.loads(record.read_text("utf-8")))


def first_stage(options: CrossEncoderOptions) -> CrossEncoderOptions:
    """The recipe of the warm start itself: one pass over soft labels, whatever gold is trained with."""
    return replace(
        options, epochs=1, max_steps=None, loss="bce", pos_weight=False, patience=0, seeds=1
    )


def replace_scores(pairs: ScoredPairs, cosines: np.ndarray) -> ScoredPairs:
    """The pairs with cosines as scores; a negative cosine says "unrelated", which is 0."""
    return ScoredPairs(pairs.sentences1, pairs.sentences2, np.clip(cosines, 0.0, 1.0))


def warm_start_pairs(context: StepContext, options: CrossEncoderOptions) -> ScoredPairs:
    """The pairs of a warm start, without scores: BM25 neighbours and random pairs of the training sentences."""
    told = SampleOptions(top_k=TOP_K, n_pairs=options.warm_start_pairs, seed=options.seed)
    corpus = sampling_corpus(context.workspace, context.project.id, told)
    if len(corpus) < 2:
        return NO_PAIRS
    near = SAMPLERS["bm25"](corpus, told, should_stop=context.should_stop)
    rng = np.random.default_rng(options.seed)
    half = options.warm_start_pairs // 2
    chosen = np.sort(rng.permutation(len(near))[:half])
    far = SAMPLERS["random"](corpus, replace(told, n_pairs=options.warm_start_pairs - len(chosen)))
    return _texts(corpus, [(near, chosen), (far, np.arange(len(far)))])


def _texts(corpus: Corpus, parts: Sequence[tuple[Candidates, np.ndarray]]) -> ScoredPairs:
    """The sentences of chosen candidates, each pair once."""
    pairs = dict.fromkeys(
        (int(found.first[row]), int(found.second[row])) for found, rows in parts for row in rows
    )
    places = {int(number): place for place, number in enumerate(corpus.ids)}
    return ScoredPairs(
        [corpus.texts[places[first]] for first, _ in pairs],
        [corpus.texts[places[second]] for _, second in pairs],
        np.zeros(len(pairs)),
    )


def forget(folder: Path) -> None:
    """Remove the warm start's own weights once gold training has ended: nothing reads them again."""
    shutil.rmtree(folder / "warm-start", ignore_errors=True)
