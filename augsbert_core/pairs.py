"""What a sentence pair is: identity of texts, pairs without direction, score scales."""

import math
import unicodedata
from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError

SPLITS = ("train", "dev", "test")
TASKS = ("regression", "classification")


def sentence_key(text: str) -> str:
    """The identity of a sentence: NFC, white space collapsed. Two texts with one key are one sentence."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def pair_key(first: int, second: int) -> tuple[int, int]:
    """The identity of a pair of sentence ids. A pair has no direction: (a, b) and (b, a) have one key."""
    return (first, second) if first <= second else (second, first)


def text_pair_key(sentence1: str, sentence2: str) -> tuple[str, str]:
    """The identity of a pair of texts: `sentence_key`s in sorted order, as a pair has no direction."""
    first, second = sentence_key(sentence1), sentence_key(sentence2)
    return (first, second) if first <= second else (second, first)


def pair_codes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One int64 per pair, equal exactly when the `pair_key`s are equal.

    first, second: integer ids in [0, 2**31), same shape.
    """
    low = np.minimum(first, second).astype(np.int64)
    high = np.maximum(first, second).astype(np.int64)
    return (low << 31) | high


MIN_SPAN, MAX_SPAN = 1e-6, 1e12
"""What a scale can span: no narrower or wider one keeps its scores apart in [0, 1]."""


@dataclass(frozen=True)
class ScoreRange:
    """The declared scale of raw scores, e.g. 0 to 5 for STS; never the observed extremes."""

    low: float
    high: float

    def __post_init__(self) -> None:
        span = self.high - self.low
        if not (
            math.isfinite(self.low) and math.isfinite(self.high) and MIN_SPAN <= span < MAX_SPAN
        ):
            raise WorkbenchError(
                f"Score range {self.low:g}:{self.high:g} is not a range. "
                "Give the lowest and the highest possible score, for example 0:5."
            )

    @classmethod
    def parse(cls, text: str) -> "ScoreRange":
        """Read "LO:HI", for example "0:5" or "-1:1"."""
        low, colon, high = text.partition(":")
        try:
            if not colon:
                raise ValueError
            return cls(float(low), float(high))
        except ValueError:
            raise WorkbenchError(
                f"Score range {text!r} was not understood. Write it as LO:HI, for example 0:5."
            ) from None

    def to_unit(self, raw: float) -> float:
        """Raw score to [0, 1]; ValueError when it lies outside the declared range."""
        if not self.low <= raw <= self.high:
            raise ValueError(f"{raw:g} is outside {self.low:g} to {self.high:g}")
        return (raw - self.low) / (self.high - self.low)

    def to_raw(self, unit: float) -> float:
        """A score in [0, 1] on the raw scale."""
        return self.low + unit * (self.high - self.low)

    def __str__(self) -> str:
        return f"{self.low:g}:{self.high:g}"


@dataclass(frozen=True)
class ScoredPairs:
    """Parallel columns of sentence pairs with scores in [0, 1]: what training and evaluation read."""

    sentences1: list[str]
    sentences2: list[str]
    scores: np.ndarray

    def __post_init__(self) -> None:
        if not len(self.sentences1) == len(self.sentences2) == len(self.scores):
            raise ValueError("sentences1, sentences2 and scores must have one length")

    def __len__(self) -> int:
        return len(self.sentences1)

    def __add__(self, other: "ScoredPairs") -> "ScoredPairs":
        return ScoredPairs(
            self.sentences1 + other.sentences1,
            self.sentences2 + other.sentences2,
            np.concatenate([self.scores, other.scores]),
        )


@dataclass(frozen=True)
class TrainingRows:
    """What a model is trained on: rows of two or three sentences, each with a label.

    texts: the distinct sentences. places: int, shape (columns, rows), positions in texts. labels: one number per
    row: a score in [0, 1], a class, or 0 where the loss needs none. weights: one number per row, or None when all
    rows count the same.
    """

    texts: list[str]
    places: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.places.ndim != 2 or self.places.shape[1] != len(self.labels):
            raise ValueError("places must have shape (columns, rows) with one label per row")
        if self.weights is not None and len(self.weights) != len(self.labels):
            raise ValueError("weights and labels must have one length")

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def from_pairs(cls, pairs: "ScoredPairs", weight: float = 1.0) -> "TrainingRows":
        """Scored pairs as rows; a weight other than 1 is given to every row."""
        numbers: dict[str, int] = {}
        places = [
            [numbers.setdefault(text, len(numbers)) for text in column]
            for column in (pairs.sentences1, pairs.sentences2)
        ]
        return cls(
            list(numbers),
            np.array(places, dtype=np.int64).reshape(2, -1),
            np.asarray(pairs.scores, dtype=np.float32),
            None if weight == 1.0 else np.full(len(pairs), weight, dtype=np.float32),
        )

    def columns(self) -> list[list[str]]:
        """The sentences of each column, in the order of the rows."""
        return [[self.texts[place] for place in column] for column in self.places]

    def __add__(self, other: "TrainingRows") -> "TrainingRows":
        """Both, these rows first. Sentences of both are merged."""
        numbers = {text: number for number, text in enumerate(self.texts)}
        moved = np.array(
            [numbers.setdefault(text, len(numbers)) for text in other.texts], dtype=np.int64
        )
        weights = None
        if self.weights is not None or other.weights is not None:
            weights = np.concatenate(
                [_ones_unless(self.weights, self), _ones_unless(other.weights, other)]
            )
        return TrainingRows(
            list(numbers),
            np.concatenate([self.places, moved[other.places]], axis=1),
            np.concatenate([self.labels, other.labels]),
            weights,
        )

    def swapped(self) -> "TrainingRows":
        """The same rows with their first two columns exchanged."""
        return TrainingRows(
            self.texts, self.places[[1, 0, *range(2, len(self.places))]], self.labels, self.weights
        )


def _ones_unless(weights: np.ndarray | None, rows: TrainingRows) -> np.ndarray:
    return np.ones(len(rows), dtype=np.float32) if weights is None else weights
