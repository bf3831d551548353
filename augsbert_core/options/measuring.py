"""What measuring can be told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EvaluateOptions:
    """Which models are measured on which split.

    targets: "run:ID", "model:NAME" with an optional "@layers=N", "cross:NAME", labelers joined by " + ", "jaccard"
    or "majority"; empty means all that the compare table needs and that have not been measured on the present
    gold pairs.
    """

    targets: tuple[str, ...] = ()
    split: str = "test"
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class GateOptions:
    """Which labelers are judged before they label, and against which student.

    labelers: as in `LabelOptions`; empty takes the newest trained ones and the mean of the best two.
    baseline: "run:ID" of a gold-only student; None takes the best one there is.
    """

    labelers: tuple[str, ...] = ()
    baseline: str | None = None
    split: str = "dev"
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class RerankOptions:
    """How cross-encoders are judged as rerankers on a fixed candidate list.

    rerankers: "run:ID" or "model:NAME" of cross-encoders. first_stage: "bm25", "run:ID" or "model:NAME" of a
    bi-encoder. depth: candidates per query that are reranked; it should match deployment. relevant_from: a
    gold pair is relevant from this score.
    """

    rerankers: tuple[str, ...]
    first_stage: str = "bm25"
    depth: int = 50
    relevant_from: float = 0.7
    split: str = "test"
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class NegativesOptions:
    """How negatives are mined for training elsewhere: query, positives, n negatives per positive.

    source: "bm25", "run:ID" or "model:NAME" of a bi-encoder. labeler: scores the negatives found, and those
    from `negative_below` on are left out as likely positives; "" filters nothing.
    """

    source: str = "bm25"
    labeler: str = ""
    per_positive: int = 4
    positive_from: float = 0.7
    negative_below: float = 0.5
    split: str = "train"
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class TransferOptions:
    """Which bi-encoders are tried on which file of labelled texts.

    targets: "run:ID" or "model:NAME". data: path of a CSV or TSV file. text_column, label_column: names or 0-based
    positions; "" guesses. folds: of the cross-validation, when the file has no split column.
    """

    targets: tuple[str, ...]
    data: str
    text_column: str = ""
    label_column: str = ""
    folds: int = 10
    seed: int = 42
    device: str = "auto"
