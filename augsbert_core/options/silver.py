"""What choosing pairs, labelling them and keeping some can be told."""

from dataclasses import dataclass

from augsbert_core.options.models import BUNDLED_MODEL


@dataclass(frozen=True)
class SampleOptions:
    """How candidate pairs are chosen.

    strategy: a name in `augsbert_core.sampling.SAMPLERS`.
    top_k: neighbours per sentence, for bm25, semantic and bm25+semantic.
    variant, k1, b: for bm25; k1 and b default to the variant's own values.
    stop_words: for bm25: "none", "english", or "frequent" (words in more than a tenth of the sentences).
    encoder: for semantic and cosine-strata: "run:ID" of a bi-encoder, a model name or a folder.
    search: for semantic, and cosine-strata of large corpora: "auto", "exact" or "ann" (approximate, FAISS).
    n_pairs: for random, cosine-strata and kde (the size of the pool that is labelled).
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
    """Which labeler scores which candidate set.

    labeler: "run:ID" of a cross-encoder or bi-encoder, or a cross-encoder's name or folder; several joined by " + "
    are averaged. both_orders: a cross-encoder scores (A, B) and (B, A), and their mean counts. decisions_from: when all
    is labelled, what people decided on the pairs of this silver set is carried over.
    """

    candidate_set_id: int
    labeler: str
    both_orders: bool = False
    decisions_from: int | None = None
    batch_size: int = 64
    max_length: int | None = None
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class PreviewOptions:
    """Which candidates are scored by way of trial: n_pairs drawn from the set at random.

    candidate_set_id: None looks at the labeler alone. both_orders: as in `LabelOptions`.
    """

    candidate_set_id: int | None
    labeler: str
    n_pairs: int = 200
    both_orders: bool = False
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
class AugmentOptions:
    """How gold pairs are copied with words replaced (the paper's NLPAug baseline).

    model: a masked language model. per_pair: copies of each gold training pair, which keep its score. share: of the
    words of a sentence that are replaced. top: so many of the model's best words are drawn from.
    """

    model: str = "google-bert/bert-base-uncased"
    per_pair: int = 1
    share: float = 0.15
    top: int = 20
    seed: int = 42
    device: str = "auto"
