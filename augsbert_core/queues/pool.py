"""What a queue sees of the pairs that may be chosen, and what it gives back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from augsbert_core.pairs import ScoreRange

Similarity = np.ndarray | Callable[[np.ndarray], np.ndarray]
"""How alike the pairs of a pool and the mistakes are: shape (pairs, mistakes), or a function from positions in the
pool to those rows, so that a large pool needs no large matrix."""

UNIT = ScoreRange(0.0, 1.0)


@dataclass(frozen=True)
class Mistake:
    """A labeler's score that people corrected. text: how the pair is named; label, correction: in [0, 1]."""

    text: str
    label: float
    correction: float


@dataclass(frozen=True)
class Pool:
    """The pairs that may be chosen, as parallel arrays of `size` values; NaN or None: not known.

    scores: estimated similarity in [0, 1]. students: what another model says. order_gaps, spreads: how far a labeler's
    orders and members are apart. reference, reference_name: scores in [0, 1] of pairs that are there already, and what
    they are called. pool_name: what the pairs of the pool are called. scorer, student: what the two kinds of scores are
    called. threshold: in [0, 1]. mistakes, similarity: what people corrected, and how alike the pairs are to it.
    scale: the raw scale on which reasons tell scores.
    """

    size: int
    scores: np.ndarray | None = None
    students: np.ndarray | None = None
    order_gaps: np.ndarray | None = None
    spreads: np.ndarray | None = None
    reference: np.ndarray | None = None
    reference_name: str = "gold"
    pool_name: str = "the pool"
    scorer: str = "labeler"
    student: str = "bi-encoder"
    threshold: float | None = None
    mistakes: Sequence[Mistake] = ()
    similarity: Similarity | None = None
    scale: ScoreRange = UNIT

    def __post_init__(self) -> None:
        for name in ("scores", "students", "order_gaps", "spreads"):
            values = getattr(self, name)
            if values is not None and len(values) != self.size:
                raise ValueError(f"{len(values)} {name} for {self.size} pairs")

    def number(self, unit: float) -> str:
        """A score as reasons tell it: on the raw scale."""
        return f"{self.scale.to_raw(float(unit)):.2f}"

    def distance(self, unit: float) -> str:
        """A difference of scores as reasons tell it: in units of the raw scale."""
        return f"{float(unit) * (self.scale.high - self.scale.low):.2f}"


@dataclass(frozen=True)
class Chosen:
    """The pairs that a queue chose, in the order in which people see them.

    positions: int64 places in the pool, none twice. reasons: one for each, in plain words. strata, stratum_sizes:
    int64, of draws by strata: the part of the pool that each is from, and how many pairs that part has. notices:
    plain sentences for the user.
    """

    positions: np.ndarray
    reasons: list[str]
    strata: np.ndarray | None = None
    stratum_sizes: np.ndarray | None = None
    notices: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.positions)
