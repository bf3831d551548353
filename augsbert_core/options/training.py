"""What training a cross-encoder or a bi-encoder can be told."""

from dataclasses import dataclass, field

from augsbert_core.options.models import BUNDLED_MODEL


@dataclass(frozen=True)
class CrossEncoderOptions:
    """How a cross-encoder is trained: the labeler, or a student that reads pairs.

    The paper used learning_rate 1e-5 and batch_size 16 on BERT-base; the small bundled model needs a
    higher rate (docs/results.md).

    layers: keep only the first N transformer layers; None keeps all. hidden: units of one hidden layer in the
    head (the paper tried 200 and 400); None is a linear head.
    loss: a name in `augsbert_core.models.pair_losses.PAIR_LOSSES`. pos_weight: weigh positive rows by
    negatives ÷ positives (two-class gold, loss "bce"). both_orders: train on (A, B) and (B, A).
    warm_start: "on", "off" or "auto" (`steps.warm_start`): first train on the base encoder's own cosines of
    warm_start_pairs pairs of the corpus.
    negatives: "none", "random" or "mined" pairs of the corpus that join one-class gold as negatives,
    negatives_per_positive for each positive pair.
    use_gold, gold_limit, silver_set_id, silver_weight, silver_scores, keep_rejected, promote: as in
    `BiEncoderOptions`. corrections_of: the corrected and accepted pairs of this silver set join the gold pairs.
    patience: stop after so many dev scores without a better one; 0 never stops early.
    seeds, seed_stop: as in `BiEncoderOptions`.
    """

    base: str = BUNDLED_MODEL
    layers: int | None = None
    hidden: int | None = None
    loss: str = "bce"
    pos_weight: bool = False
    both_orders: bool = False
    warm_start: str = "auto"
    warm_start_pairs: int = 4000
    negatives: str = "none"
    negatives_per_positive: float = 1.0
    use_gold: bool = True
    gold_limit: int | None = None
    silver_set_id: int | None = None
    silver_weight: float = 1.0
    silver_scores: str = "corrected"
    keep_rejected: bool = False
    promote: bool = False
    corrections_of: int | None = None
    epochs: int = 4
    max_steps: int | None = None
    batch_size: int = 16
    learning_rate: float = 1e-4
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 128
    patience: int = 0
    checkpoint_seconds: float = 30.0
    seeds: int = 1
    seed_stop: float = 0.2
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class Stage:
    """One stage of a recipe. What is None is taken from the run's own options.

    data: "gold", "silver", "gold+silver", "nli" or "triplets". loss: as in `BiEncoderOptions`.
    """

    data: str = "gold"
    loss: str = "cosine"
    epochs: int | None = None
    max_steps: int | None = None
    learning_rate: float | None = None
    batch_size: int | None = None
    schedule: str | None = None
    warmup_ratio: float | None = None
    weight_decay: float | None = None
    scale: float | None = None


@dataclass(frozen=True)
class BiEncoderOptions:
    """How the bi-encoder is trained. The paper used learning_rate 2e-5, batch_size 16, mean pooling.

    layers: keep only the first N transformer layers of the base; None keeps all.
    pooling: a name in `augsbert_core.models.pooling.POOLINGS`; "own" keeps what the base has.
    silver_set_id: train on gold + this silver set; None trains on gold only.
    use_gold: False trains on silver alone (domain adaptation, paper §3.2). gold_limit: only so many gold pairs,
    drawn with the seed (learning curves); None takes all.
    mixing: "shuffled" or "silver-first" (then gold, as a stage of its own). gold_repeats: how often each
    gold pair is in the training data. silver_weight: the weight of a silver row in the loss, gold rows have 1.
    silver_scores: "corrected" (people's scores in place of the labeler's) or "raw" (the labeler's alone).
    keep_rejected: also train on silver pairs that people rejected. promote: corrected and accepted silver pairs count
    as gold: in the stages, repeats and weight of gold.
    symmetric: train on (A, B) and (B, A).
    loss: a name in `augsbert_core.models.losses.LOSSES`. scale: of cosines in "mnrl", "cosent" and "angle".
    positive_from, negative_below: for "mnrl" and "triplet" made of scored pairs: a pair is positive from the
    one score, a hard negative below the other, and in between it is left out. hard_negatives: "mnrl" with
    three columns.
    schedule: "warmup" (linear warm-up and decay) or "constant".
    patience: stop after so many dev scores without a better one; 0 never stops early.
    checkpoint_seconds: at least so often a checkpoint is written.
    stages: the recipe, in order; empty is one stage made of the options above. first_stage: begin at this
    stage (1 is the first) from `base`.
    seeds: so many seeds are tried, from `seed` on, all stopped after the share `seed_stop` of the steps, and
    the best on dev is trained to the end (seed optimisation, paper §3.1); 1 tries none.
    """

    base: str = BUNDLED_MODEL
    layers: int | None = None
    pooling: str = "own"
    silver_set_id: int | None = None
    use_gold: bool = True
    gold_limit: int | None = None
    mixing: str = "shuffled"
    gold_repeats: int = 1
    silver_weight: float = 1.0
    silver_scores: str = "corrected"
    keep_rejected: bool = False
    promote: bool = False
    symmetric: bool = False
    loss: str = "cosine"
    scale: float = 20.0
    positive_from: float = 0.7
    negative_below: float = 0.3
    hard_negatives: bool = False
    epochs: int = 4
    max_steps: int | None = None
    batch_size: int = 16
    learning_rate: float = 2e-5
    schedule: str = "constant"
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 128
    patience: int = 0
    checkpoint_seconds: float = 30.0
    stages: tuple[Stage, ...] = field(default=(), metadata={"of": Stage})
    first_stage: int = 1
    seeds: int = 1
    seed_stop: float = 0.2
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class SeedStudyOptions:
    """How it is studied when the dev score of a seed tells how it will end (paper §5, figure 6).

    recipe: the options of the training as JSON; its own seeds are not tried. model: "bi-encoder" or
    "cross-encoder". seeds: so many are trained to the end, from `seed` on. fractions: shares of the steps at
    which the dev pairs are scored, besides the end.
    """

    recipe: str = "{}"
    model: str = "bi-encoder"
    seeds: int = 5
    fractions: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    seed: int = 42
    device: str = "auto"


SMALL_STUDENT = 3
"""Up to so many layers, a student learns better with `SMALL_STUDENT_RATE` (docs/results.md)."""

SMALL_STUDENT_RATE = 1e-4


def student_defaults(layers: int | None) -> BiEncoderOptions:
    """The default recipe of a student that keeps so many layers; None keeps all."""
    if layers is not None and layers <= SMALL_STUDENT:
        return BiEncoderOptions(layers=layers, learning_rate=SMALL_STUDENT_RATE)
    return BiEncoderOptions(layers=layers)
