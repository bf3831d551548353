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


def pair_codes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One int64 per pair, equal exactly when the `pair_key`s are equal.

    first, second: integer ids in [0, 2**31), same shape.
    """
    low = np.minimum(first, second).astype(np.int64)
    high = np.maximum(first, second).astype(np.int64)
    return (low << 31) | high


@dataclass(frozen=True)
class ScoreRange:
    """The declared scale of raw scores, e.g. 0 to 5 for STS; never the observed extremes."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
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
