"""What a cross-encoder can be trained to do, and the rows that each loss reads. Torch-free; see pair_batches.py."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.pairs import TrainingRows

MOST_CANDIDATES = 512
"""A query's candidates are in memory at once, so no query may have more."""


@dataclass(frozen=True)
class PairLossKind:
    """One loss. reads: "pairs" (each row by itself) or "queries" (a first sentence with all its candidates).

    calibrated: whether the sigmoid of the output is on the scale of the scores. build: from the model (and, for
    losses on pairs, the weight of positives) to a loss module.
    """

    reads: str
    calibrated: bool
    build: Callable[..., Any]


def _bce(pos_weight: float | None) -> Any:
    """Binary cross-entropy on soft labels; one loss per row."""
    import torch

    weight = None if pos_weight is None else torch.tensor(pos_weight)
    return torch.nn.BCEWithLogitsLoss(pos_weight=weight, reduction="none")


def _mse(pos_weight: float | None) -> Any:
    """Squared error of the score, which is the sigmoid of the output; one loss per row."""
    import torch

    class SigmoidSquaredError(torch.nn.Module):
        def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            return (torch.sigmoid(logits) - labels) ** 2

    return SigmoidSquaredError()


def _ranknet(model: Any) -> Any:
    from sentence_transformers.cross_encoder.losses import RankNetLoss

    return RankNetLoss(model, mini_batch_size=-1)


def _lambda(model: Any) -> Any:
    from sentence_transformers.cross_encoder.losses import LambdaLoss

    return LambdaLoss(model, mini_batch_size=-1)


def _listnet(model: Any) -> Any:
    from sentence_transformers.cross_encoder.losses import ListNetLoss

    return ListNetLoss(model, mini_batch_size=-1)


PAIR_LOSSES: dict[str, PairLossKind] = {
    "bce": PairLossKind("pairs", True, _bce),
    "mse": PairLossKind("pairs", True, _mse),
    "ranknet": PairLossKind("queries", False, _ranknet),
    "lambda": PairLossKind("queries", False, _lambda),
    "listnet": PairLossKind("queries", False, _listnet),
}

NOT_CALIBRATED = (
    "This labeler was trained to order the candidates of a query. Its score is the sigmoid of that order's "
    "number: higher is better, but it is not on the scale of the gold scores."
)


def check_loss(options: CrossEncoderOptions) -> PairLossKind:
    """The loss that the options name. WorkbenchError: there is none such, or it has no pos_weight."""
    if options.loss not in PAIR_LOSSES:
        raise WorkbenchError(
            f"There is no loss {options.loss!r} for cross-encoders. Choose one of {', '.join(PAIR_LOSSES)}."
        )
    if options.pos_weight and options.loss != "bce":
        raise WorkbenchError(
            f"pos_weight belongs to the loss 'bce', not to {options.loss!r}. Switch it off or choose 'bce'."
        )
    return PAIR_LOSSES[options.loss]


def positive_weight(labels: np.ndarray, task: str) -> float:
    """Negatives ÷ positives of the rows.

    WorkbenchError: the project has no classes, a label is neither 0 nor 1, or one class is missing.
    """
    if task != "classification":
        raise WorkbenchError(
            "pos_weight weighs one class against the other, but this project has graded scores. Switch it off."
        )
    n_positives, n_negatives = int(np.sum(labels == 1)), int(np.sum(labels == 0))
    if soft := len(labels) - n_positives - n_negatives:
        raise WorkbenchError(
            f"pos_weight needs labels of 0 or 1, but {soft:,} of {len(labels):,} rows lie between, as silver "
            "scores do. Switch it off, or train on gold alone."
        )
    if not n_positives or not n_negatives:
        raise WorkbenchError(
            f"pos_weight is negatives ÷ positives, and there are {n_negatives:,} and {n_positives:,}. "
            "Both classes are needed."
        )
    return n_negatives / n_positives


@dataclass(frozen=True)
class Queries:
    """Rows grouped by their first sentence.

    rows: row numbers, all candidates of the first query, then of the second. starts: where each query begins in
    `rows`, one more than there are queries. n_left_out: rows of queries that order nothing.
    """

    rows: np.ndarray
    starts: np.ndarray
    n_left_out: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sizes(self) -> np.ndarray:
        """How many candidates each query has."""
        return np.diff(self.starts)


def group_by_query(rows: TrainingRows) -> Queries:
    """The rows of each first sentence that has at least two candidates with different scores.

    WorkbenchError: no such sentence is left, or one has more than `MOST_CANDIDATES` candidates.
    """
    first = rows.places[0]
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    labels = np.asarray(rows.labels)[order]
    low, high = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    useful = low < high
    if not useful.any():
        raise WorkbenchError(
            "The ranking losses need queries: a first sentence that occurs with at least two candidates of "
            f"different scores. None of the {len(rows):,} rows has one. Choose the loss 'bce', or train on "
            "pairs whose first sentence repeats."
        )
    if sizes[useful].max() > MOST_CANDIDATES:
        text = rows.texts[first[order[starts[useful][np.argmax(sizes[useful])]]]]
        raise WorkbenchError(
            f"The query {text[:60]!r} has {int(sizes[useful].max()):,} candidates, and a ranking loss reads all of a "
            f"query at once. Keep at most {MOST_CANDIDATES}, or choose the loss 'bce'."
        )
    kept = np.repeat(useful, sizes)
    return Queries(
        rows=order[kept],
        starts=np.concatenate([[0], np.cumsum(sizes[useful])]),
        n_left_out=int(len(rows) - kept.sum()),
    )
