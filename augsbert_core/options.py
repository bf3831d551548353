"""What each step can be told. Frozen, plain values, saved with the run before work starts."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

BUNDLED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True)
class ImportOptions:
    """How a file of pairs or sentences is read.

    kind: "pairs" (scored gold pairs), "unlabelled-pairs" or "sentences".
    columns: names or 0-based positions (as text) of sentence 1, sentence 2 and score; None guesses.
    task: "regression" or "classification"; None takes classification when all scores are 0 or 1.
    split: put every row in this split; "" takes a split column when there is one, else `ratios`.
    split_column: its name or position; None guesses, "" leaves it unread.
    repeats: what happens to pairs that occur more than once: "keep", "mean", "first" or "drop".
    """

    kind: str = "pairs"
    task: str | None = None
    columns: tuple[str, ...] | None = None
    split_column: str | None = None
    group_column: str | None = None
    score_range: tuple[float, float] | None = None
    split: str = ""
    ratios: tuple[float, float, float] = (80.0, 10.0, 10.0)
    repeats: str = "keep"
    limit: int | None = None
    seed: int = 42


@dataclass(frozen=True)
class CrossEncoderOptions:
    """How the labeler is trained.

    The paper used learning_rate 1e-5 and batch_size 16 on BERT-base; the small bundled model needs a
    higher rate (docs/results.md).
    """

    base: str = BUNDLED_MODEL
    epochs: int = 4
    max_steps: int | None = None
    batch_size: int = 16
    learning_rate: float = 1e-4
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 128
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class SampleOptions:
    """How candidate pairs are chosen.

    strategy: a name in `augsbert_core.sampling.SAMPLERS`.
    top_k: neighbours per sentence, for bm25, semantic and bm25+semantic.
    variant, k1, b: for bm25; k1 and b default to the variant's own values.
    stop_words: for bm25: "none", "english", or "frequent" (words in more than a tenth of the sentences).
    encoder: for semantic: "run:ID" of a bi-encoder, a model name or a folder.
    search: for semantic: "auto", "exact" or "ann" (approximate, FAISS).
    n_pairs: for random and kde (the size of the pool that is labelled).
    use_unlabelled: sample from uploaded unlabelled sentences too, not from training sentences alone.
    exclude_silver_sets: pairs of these silver sets are not chosen again.
    """

    strategy: str = "bm25"
    top_k: int = 5
    variant: str = "okapi"
    k1: float | None = None
    b: float | None = None
    stop_words: str = "none"
    encoder: str = BUNDLED_MODEL
    search: str = "auto"
    n_pairs: int | None = None
    use_unlabelled: bool = False
    exclude_silver_sets: tuple[int, ...] = ()
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class LabelOptions:
    """Which labeler scores which candidate set. labeler: "run:ID" or a model name or folder."""

    candidate_set_id: int
    labeler: str
    batch_size: int = 64
    max_length: int | None = None
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class PreviewOptions:
    """Which candidates are scored by way of trial: n_pairs drawn from the set at random."""

    candidate_set_id: int
    labeler: str
    n_pairs: int = 200
    batch_size: int = 64
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class StratifiedOptions:
    """How a pool is scored that already follows the gold density (stratified KDE).

    n_keep: how many silver pairs are wanted in the end. encoder: the bi-encoder whose cosine is the proxy.
    max_passes: never score more pairs than this; None takes ten times n_keep / c, within bounds that
    `steps.stratified_limits` states. pilot: pairs in the first round, at most half of n_keep. rounds: how often
    the estimate is updated after it. c: as in `KeepOptions`, from 0.001.
    """

    labeler: str
    n_keep: int = 2000
    encoder: str = BUNDLED_MODEL
    max_passes: int | None = None
    pilot: int = 500
    rounds: int = 4
    c: float = 1.0
    use_unlabelled: bool = False
    exclude_silver_sets: tuple[int, ...] = ()
    batch_size: int = 64
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class KeepOptions:
    """Which pairs of a scored pool become a silver set of their own.

    rule: "kde" keeps a pair of score s with probability min(1, c · F_gold(s) / F_silver(s));
    "classification" keeps all positives (score ≥ threshold) and negatives at the gold ratio; "top-k"
    keeps pairs of rank ≤ max_rank.
    kernel, bandwidth_rule, bandwidth, reflect: how both densities are estimated; a bandwidth overrules the
    rule. threshold: None takes the labeler's own from the dev split.
    """

    silver_set_id: int
    rule: str = "kde"
    c: float = 1.0
    kernel: str = "gaussian"
    bandwidth_rule: str = "robust"
    bandwidth: float | None = None
    reflect: bool = True
    threshold: float | None = None
    max_rank: int | None = None
    seed: int = 42


@dataclass(frozen=True)
class BiEncoderOptions:
    """How the bi-encoder is trained. The paper used learning_rate 2e-5, batch_size 16, mean pooling.

    silver_set_id: train on gold + this silver set; None trains on gold only.
    layers: keep only the first N transformer layers of the base; None keeps all.
    schedule: "warmup" (linear warm-up and decay) or "constant".
    """

    base: str = BUNDLED_MODEL
    layers: int | None = None
    silver_set_id: int | None = None
    epochs: int = 4
    max_steps: int | None = None
    batch_size: int = 16
    learning_rate: float = 2e-5
    schedule: str = "constant"
    warmup_ratio: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 128
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class EvaluateOptions:
    """Which models are measured on which split.

    targets: "run:ID", "jaccard", or "model:NAME" with an optional "@layers=N"; empty means all that the
    compare table needs and that have not been measured on the present gold pairs.
    """

    targets: tuple[str, ...] = ()
    split: str = "test"
    seed: int = 42
    device: str = "auto"


Options = (
    ImportOptions
    | CrossEncoderOptions
    | SampleOptions
    | LabelOptions
    | PreviewOptions
    | StratifiedOptions
    | KeepOptions
    | BiEncoderOptions
    | EvaluateOptions
)
OptionsType = TypeVar("OptionsType")


def to_json(options: Any) -> str:
    """The options as JSON with sorted keys, so that equal options give equal text."""
    return json.dumps(asdict(options), sort_keys=True)


def from_json(options_class: type[OptionsType], text: str) -> OptionsType:
    """The inverse of `to_json`; keys that this version does not know are left out."""
    known = {field.name for field in fields(options_class)}  # type: ignore[arg-type]
    stored = {key: value for key, value in json.loads(text).items() if key in known}
    return options_class(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}
    )
