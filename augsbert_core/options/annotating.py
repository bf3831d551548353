"""What annotation tasks, audits and the search for label errors can be told."""

from dataclasses import dataclass, field

from augsbert_core.options.models import BUNDLED_MODEL

AUDIT_QUEUE = "score-strata"
"""The one queue of audits: it says how many pairs of the set each drawn one stands for."""


@dataclass(frozen=True)
class Level:
    """One score that can be given. label: what people read; score: in [0, 1]; key: what they press."""

    label: str
    score: float
    key: str


@dataclass(frozen=True)
class TaskOptions:
    """Which pairs people score, on which scale, and in which order they come.

    kind: "scores" or "best-worst". purpose: "gold" (to become gold pairs) or "audit" (to judge a labeler).
    source: "candidates" (sampled, or uploaded as unlabelled pairs), "silver" or "gold". queue: a name in
    `augsbert_core.queues.QUEUES`. split: of the gold pairs that are scored again; "" takes all.
    scale: a name in `augsbert_core.scales.SCALES`, or "custom" with levels. n_scores: how many people score a pair.
    tuples_per_pair: for best-worst: 4-pair tuples per pair. threshold: for the queue "threshold"; None takes the
    labeler's own, or the middle of the scale. student: the bi-encoder of the queue "disagreement", and of estimates
    for pairs that no labeler has scored.
    """

    name: str = ""
    kind: str = "scores"
    purpose: str = "gold"
    source: str = "candidates"
    candidate_set_id: int | None = None
    silver_set_id: int | None = None
    split: str = ""
    queue: str = "random"
    n_pairs: int = 100
    scale: str = "0-5"
    levels: tuple[Level, ...] = field(default=(), metadata={"of": Level})
    n_scores: int = 1
    tuples_per_pair: float = 4.0
    threshold: float | None = None
    student: str = BUNDLED_MODEL
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class StudentScoresOptions:
    """Which model scores the pairs of a silver set again, so that it can be held against the labeler.

    model: a target, as `steps.targets.parse_target` reads it.
    """

    silver_set_id: int
    model: str = f"model:{BUNDLED_MODEL}"
    batch_size: int = 64
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class LabelErrorsOptions:
    """How gold pairs are scored by cross-encoders that were not trained on them.

    folds: the training pairs are split in so many parts; each is scored by a model of the others, pairs of dev and test
    by the mean of all models. base, layers, epochs, batch_size, learning_rate: of each training, as in
    `CrossEncoderOptions`.
    """

    folds: int = 5
    base: str = BUNDLED_MODEL
    layers: int | None = None
    epochs: int = 2
    batch_size: int = 16
    learning_rate: float = 1e-4
    seed: int = 42
    device: str = "auto"
