"""Gold of one class: why it cannot be trained on, and negatives that make a second class.

People often have positives alone (duplicates, questions with their answers). A cross-encoder trained on those
learns to answer "yes" whatever it reads. Two unlike sentences of the corpus are a negative with near certainty,
and two that share words but are no gold pair are a harder one, with some risk of being a positive that nobody
has marked.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, SampleOptions
from augsbert_core.pairs import SPLITS, ScoredPairs, pair_codes, sentence_key
from augsbert_core.sampling import SAMPLERS, Candidates, Corpus
from augsbert_core.steps.sample import sampling_corpus
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold_samples import count_classes
from augsbert_core.storage.records import Project

NEGATIVES = ("none", "random", "mined")

NEIGHBOURS = 5
"""Mined negatives are drawn among at least so many BM25 neighbours of each sentence."""

POSITIVE_FROM = 0.5

NO_MINED_DEV = "No two sentences of the dev pairs share telling words, so the negatives of dev are random ones."


@dataclass(frozen=True)
class NegativesPlan:
    """What negatives would make of gold of one class; numbers of pairs.

    n_negatives, n_dev_negatives: at most so many join; mined ones can be fewer. n_sentences: the training
    sentences they are made of.
    """

    n_positives: int
    n_negatives: int
    n_sentences: int
    n_dev_positives: int
    n_dev_negatives: int

    @property
    def n_rows(self) -> int:
        return self.n_positives + self.n_negatives

    @property
    def ratio(self) -> float:
        """Negatives for each positive."""
        return self.n_negatives / self.n_positives if self.n_positives else 0.0


def only_class(scores: np.ndarray) -> int | None:
    """The one class that all of these scores have, 0 or 1; None when they have both, or there are none."""
    classes = np.unique(np.asarray(scores) >= POSITIVE_FROM)
    return int(classes[0]) if len(classes) == 1 else None


def check_one_class(
    project: Project, options: CrossEncoderOptions | BiEncoderOptions, train: ScoredPairs
) -> None:
    """WorkbenchError: the gold training pairs have one class, and nothing adds the other one."""
    wanted = getattr(options, "negatives", "none")
    if wanted not in NEGATIVES:
        raise WorkbenchError(f"{wanted!r} are no negatives. Choose one of {', '.join(NEGATIVES)}.")
    if project.task != "classification":
        return
    found = only_class(train.scores)
    if found is None or (found == 1 and wanted != "none"):
        return
    said = (
        "All gold training pairs have the same label. A model trained on one class cannot tell "
        f"pairs apart, it only learns to say {'yes' if found else 'no'}: import pairs of the other class too"
    )
    if found == 1 and isinstance(options, CrossEncoderOptions):
        said += (
            ", or let pairs of your training sentences join as negatives, random ones or mined with BM25 "
            "(--negatives random or --negatives mined)"
        )
    raise WorkbenchError(said + ".")


def with_negatives(
    workspace: Workspace,
    project: Project,
    options: CrossEncoderOptions,
    train: ScoredPairs,
    dev: ScoredPairs,
) -> tuple[ScoredPairs, ScoredPairs, dict[str, Any]]:
    """Gold pairs with the negatives that the options ask for, where they have positives alone.

    Negatives of dev are pairs of dev sentences among themselves; training sentences stay out. Returns train,
    dev and facts for the result: "negatives" (random, mined or none), "n_negatives", "n_dev_negatives", and
    "negatives_note" where dev has others than were asked for.
    WorkbenchError: one class and no negatives asked for (`check_one_class`), or no pair can be made.
    """
    check_one_class(project, options, train)
    facts: dict[str, Any] = {"negatives": "none", "n_negatives": 0, "n_dev_negatives": 0}
    if project.task != "classification" or options.negatives == "none":
        return train, dev, facts
    if only_class(train.scores) == 1:
        corpus = training_corpus(workspace, project)
        added = _drawn(corpus, options, len(train))
        if not len(added):
            raise WorkbenchError(
                f"No {options.negatives} negatives can be made of the {len(corpus):,} training sentences: every "
                "pair is gold, or no two share a word. Import more sentences, or pairs of the other class."
            )
        train, facts["n_negatives"] = train + added, len(added)
    if only_class(dev.scores) == 1:
        corpus = dev_corpus(workspace, project, dev)
        added = _drawn(corpus, options, len(dev))
        if not len(added) and options.negatives == "mined":
            added = _drawn(corpus, replace(options, negatives="random"), len(dev))
            facts["negatives_note"] = NO_MINED_DEV
        dev, facts["n_dev_negatives"] = dev + added, len(added)
    if facts["n_negatives"] or facts["n_dev_negatives"]:
        facts["negatives"] = options.negatives
    return train, dev, facts


def plan_negatives(
    workspace: Workspace, project: Project, options: CrossEncoderOptions
) -> NegativesPlan | None:
    """What `with_negatives` would do, without doing it; None unless training gold is positives alone."""
    if project.task != "classification":
        return None
    n_others, n_train = count_classes(workspace, project.id, "train")
    if n_others or not n_train:
        return None
    told = options if options.negatives != "none" else None
    corpus = training_corpus(workspace, project)
    n_gold = min(n_train, options.gold_limit or n_train)
    n_dev = 0
    dev = gold.scored_pairs(workspace, project.id, "dev")
    if told and only_class(dev.scores) == 1:
        n_dev = _most(dev_corpus(workspace, project, dev), wanted_negatives(told, len(dev)))
    return NegativesPlan(
        n_positives=n_gold,
        n_negatives=_most(corpus, wanted_negatives(told, n_gold)) if told else 0,
        n_sentences=len(corpus),
        n_dev_positives=len(dev),
        n_dev_negatives=n_dev,
    )


def wanted_negatives(options: CrossEncoderOptions, n_positives: int) -> int:
    """How many negatives so many positives ask for, at least one."""
    return max(1, round(options.negatives_per_positive * n_positives))


def training_corpus(workspace: Workspace, project: Project) -> Corpus:
    """The training sentences; gold pairs of every split are excluded."""
    return sampling_corpus(workspace, project.id, SampleOptions())


def dev_corpus(workspace: Workspace, project: Project, dev: ScoredPairs) -> Corpus:
    """The sentences of the dev pairs, numbered afresh; what is gold in any split is excluded."""
    numbers: dict[str, int] = {}
    texts: list[str] = []
    for text in (*dev.sentences1, *dev.sentences2):
        if numbers.setdefault(sentence_key(text), len(numbers)) == len(texts):
            texts.append(text)
    known = [
        (numbers[first], numbers[second])
        for split in SPLITS
        for first, second in _keys(gold.scored_pairs(workspace, project.id, split))
        if first in numbers and second in numbers
    ]
    first, second = np.array(known, dtype=np.int64).reshape(-1, 2).T
    return Corpus(texts, np.arange(len(texts), dtype=np.int64), pair_codes(first, second))


def _keys(pairs: ScoredPairs) -> list[tuple[str, str]]:
    return [
        (sentence_key(first), sentence_key(second))
        for first, second in zip(pairs.sentences1, pairs.sentences2, strict=True)
    ]


def _drawn(corpus: Corpus, options: CrossEncoderOptions, n_positives: int) -> ScoredPairs:
    """So many negatives, drawn with the seed; fewer when the corpus has no more."""
    wanted = wanted_negatives(options, n_positives)
    if len(corpus) < 2:
        return ScoredPairs([], [], np.zeros(0))
    if options.negatives == "random":
        found = SAMPLERS["random"](corpus, SampleOptions(n_pairs=wanted, seed=options.seed))
    else:
        found = _neighbours(corpus, options, wanted)
    chosen = np.random.default_rng(options.seed).permutation(len(found))[:wanted]
    places = {int(number): place for place, number in enumerate(corpus.ids)}
    columns = [
        [corpus.texts[places[int(number)]] for number in column[np.sort(chosen)]]
        for column in (found.first, found.second)
    ]
    return ScoredPairs(columns[0], columns[1], np.zeros(len(chosen)))


def _neighbours(corpus: Corpus, options: CrossEncoderOptions, wanted: int) -> Candidates:
    """BM25 neighbours, about twice as many as are wanted, so that there is something to draw from."""
    # A pair is often found from both of its sides, so k per sentence make about half as many pairs.
    top_k = max(NEIGHBOURS, math.ceil(4 * wanted / len(corpus)))
    return SAMPLERS["bm25"](
        corpus, SampleOptions(top_k=min(top_k, len(corpus) - 1), seed=options.seed)
    )


def _most(corpus: Corpus, wanted: int) -> int:
    """How many of the wanted negatives the corpus can give at most."""
    n_excluded = len(corpus.excluded_positions()[0])
    return min(wanted, len(corpus) * (len(corpus) - 1) // 2 - n_excluded)
