"""The gold training pairs that are most like a pair: what people said about such sentences.

Dev and test pairs are never shown: whoever corrects silver beside their scores would teach them to the student.

Like is meant by words alone: the cosine of TF-IDF vectors over the words of both sentences, in either order. Paraphrases
without a word in common are not found; but it needs no model and takes milliseconds.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold_texts import (
    GoldTexts,
    Mark,
    gold_scores_of,
    gold_texts,
    texts_mark,
)
from augsbert_core.storage.records import Project
from augsbert_core.words import tokenize

MOST_PROJECTS = 4
"""The words of so many projects' gold stay at hand in a process."""


@dataclass(frozen=True)
class NearGold:
    """A gold pair. raw_score: on the project's scale. similarity: of the words, in [0, 1]."""

    sentence1: str
    sentence2: str
    raw_score: float
    similarity: float


def nearest_gold(
    workspace: Workspace, project: Project, sentence1: str, sentence2: str, top: int = 5
) -> list[NearGold]:
    """The gold training pairs whose words are most like those of a pair, most alike first.

    At most `top`, and none that has no word in common with it. The first call reads all of them; later ones take a few
    milliseconds while no gold pair comes or goes.
    """
    index = _index(workspace, project.id)
    similarities = index.similarities(_count(sentence1, sentence2))
    best = [
        place
        for place in np.argsort(-similarities, kind="stable")[:top].tolist()
        if similarities[place] > 0
    ]
    texts = index.texts
    present = gold_scores_of(workspace, [texts.ids[place] for place in best])
    return [
        NearGold(
            texts.sentences1[place],
            texts.sentences2[place],
            present[texts.ids[place]],
            float(similarities[place]),
        )
        for place in best
        if texts.ids[place] in present
    ]


class WordIndex:
    """Which gold pairs have which word, with weights whose squares sum to 1 for each pair."""

    def __init__(self, texts: GoldTexts) -> None:
        self.texts = texts
        self.numbers: dict[str, int] = {}
        counted = [_count(*pair) for pair in zip(texts.sentences1, texts.sentences2, strict=True)]
        words = [
            self.numbers.setdefault(word, len(self.numbers)) for one in counted for word in one
        ]
        word = np.array(words, dtype=np.int64)
        count = np.array([n for one in counted for n in one.values()], dtype=np.float64)
        pair = np.repeat(np.arange(len(counted)), [len(one) for one in counted])
        pairs_with = np.bincount(word, minlength=len(self.numbers))
        self.rarity = _rarity(pairs_with, len(counted))
        weight = count * self.rarity[word]
        weight /= np.sqrt(np.bincount(pair, weight**2, minlength=len(counted)))[pair]
        order = np.argsort(word, kind="stable")
        self.pairs, self.weights = pair[order], weight[order]
        self.starts = np.concatenate([[0], np.cumsum(pairs_with)])

    def similarities(self, counted: Mapping[str, int]) -> np.ndarray:
        """The cosine of each gold pair with these words: float64 in [0, 1]; words that gold lacks count as rare ones."""
        found = np.zeros(len(self.texts.ids))
        unseen = float(_rarity(np.zeros(1), len(self.texts.ids))[0])
        length = 0.0
        for word, count in counted.items():
            number = self.numbers.get(word)
            weight = count * (unseen if number is None else float(self.rarity[number]))
            length += weight**2
            if number is not None:
                part = slice(self.starts[number], self.starts[number + 1])
                found[self.pairs[part]] += weight * self.weights[part]
        return np.minimum(found / max(np.sqrt(length), 1e-12), 1.0)


def _count(sentence1: str, sentence2: str) -> Counter[str]:
    first, second = tokenize([sentence1, sentence2])
    return Counter(first + second)


def _rarity(pairs_with: np.ndarray, n_pairs: int) -> np.ndarray:
    """The inverse document frequency, smoothed as scikit-learn does it."""
    rarity: np.ndarray = np.log((1 + n_pairs) / (1 + pairs_with)) + 1
    return rarity


_lock = threading.Lock()
_at_hand: OrderedDict[tuple[Path, int], tuple[Mark, WordIndex]] = OrderedDict()


def _index(workspace: Workspace, project_id: int) -> WordIndex:
    """The words of a project's gold as it is now."""
    key = (workspace.home, project_id)
    with _lock:
        known = _at_hand.get(key)
        if known is None or known[0] != texts_mark(workspace, project_id):
            mark, texts = gold_texts(workspace, project_id)
            known = mark, WordIndex(texts)
        _at_hand[key] = known
        _at_hand.move_to_end(key)
        while len(_at_hand) > MOST_PROJECTS:
            _at_hand.popitem(last=False)
        return known[1]
