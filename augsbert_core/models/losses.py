"""The losses of a bi-encoder, and which rows each of them reads.

Scored pairs, NLI pairs (classes) and triplets all arrive as `TrainingRows`. Integer labels are classes: 0
contradiction, 1 entailment, 2 neutral; other labels of two columns are scores in [0, 1].
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions
from augsbert_core.pairs import TrainingRows

N_CLASSES = 3
CONTRADICTION, ENTAILMENT = 0, 1
WEIGHTED_LOSSES = ("cosine",)
"""The losses that honour weights of rows."""


@dataclass(frozen=True)
class Loss:
    """One loss. build: from the model and the options. reads: "scores", "classes", "positives" or "triplets"."""

    build: Callable[[Any, BiEncoderOptions], Any]
    reads: str


def _cosine(model: Any, options: BiEncoderOptions) -> Any:
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss

    return CosineSimilarityLoss(model)


def _cosent(model: Any, options: BiEncoderOptions) -> Any:
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss

    return CoSENTLoss(model, scale=options.scale)


def _angle(model: Any, options: BiEncoderOptions) -> Any:
    from sentence_transformers.sentence_transformer.losses import AnglELoss

    return AnglELoss(model, scale=options.scale)


def _mnrl(model: Any, options: BiEncoderOptions) -> Any:
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    return MultipleNegativesRankingLoss(model, scale=options.scale)


def _softmax(model: Any, options: BiEncoderOptions) -> Any:
    import torch

    from augsbert_core.models.trainer import ClassLoss

    # The classifier is new: it is drawn with the run's seed, and torch's own generator stays as it was.
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(options.seed)
        return ClassLoss(model, model.get_embedding_dimension(), num_labels=N_CLASSES)


def _triplet(model: Any, options: BiEncoderOptions) -> Any:
    from sentence_transformers.sentence_transformer.losses import TripletLoss

    return TripletLoss(model)


LOSSES: dict[str, Loss] = {
    "cosine": Loss(_cosine, "scores"),
    "cosent": Loss(_cosent, "scores"),
    "angle": Loss(_angle, "scores"),
    "mnrl": Loss(_mnrl, "positives"),
    "softmax": Loss(_softmax, "classes"),
    "triplet": Loss(_triplet, "triplets"),
}
"""By name, as in `BiEncoderOptions.loss`: mean squared error of the cosine (the paper's), CoSENT, AnglE, multiple
negatives ranking, softmax over NLI classes, triplet loss with Euclidean distance and margin 5 (SBERT's)."""


def build_loss(loss: str, model: Any, options: BiEncoderOptions, rows: TrainingRows) -> Any:
    """The loss on embeddings, as sentence-transformers has it, for rows that `rows_for` made.

    For rows with weights it gives one value per row.
    """
    built = LOSSES[loss].build(model, options)
    if rows.weights is not None:
        from torch.nn import MSELoss

        built.loss_fct = MSELoss(reduction="none")
    return built


def rows_for(loss: str, rows: TrainingRows, options: BiEncoderOptions) -> TrainingRows:
    """What a loss reads of the rows: two columns, or anchor, positive and negative.

    "mnrl" keeps positives: scored pairs from `options.positive_from` on, NLI entailments, triplets as they are.
    With `options.hard_negatives`, and for "triplet", a third column holds a negative of the same anchor: a pair
    scored below `options.negative_below`, or a contradiction. Pairs in between never enter, nor do positives
    without a negative. A scored pair has no direction: either sentence may be the anchor, the first if it can.
    `options.symmetric` adds (B, A) to pairs of which the order says nothing; entailment has a direction.
    Only sentences that are still used remain. Raises WorkbenchError when the rows do not suit the loss.
    """
    if loss not in LOSSES:
        raise WorkbenchError(f"{loss!r} is no loss. Choose one of {', '.join(LOSSES)}.")
    rows = _checked_weights(loss, rows)
    reads = LOSSES[loss].reads
    if reads in ("positives", "triplets"):
        chosen = _ranked_rows(loss, rows, options)
    else:
        chosen = rows
        _check_labels(loss, reads, rows)
    if options.symmetric and len(chosen.places) == 2 and reads != "classes":
        chosen = chosen + chosen.swapped()
    return _without_unused(chosen)


def has_classes(rows: TrainingRows) -> bool:
    """Whether the labels are NLI classes rather than scores."""
    return bool(np.issubdtype(rows.labels.dtype, np.integer)) and len(rows.places) == 2


# --- what does not suit ----------------------------------------------------------------------------


def _checked_weights(loss: str, rows: TrainingRows) -> TrainingRows:
    """The rows, without weights when these are all 1."""
    if rows.weights is None:
        return rows
    if bool(np.all(rows.weights == 1)):
        return replace(rows, weights=None)
    if loss not in WEIGHTED_LOSSES:
        raise WorkbenchError(
            f"Some rows have a weight other than 1 ({_first_other(rows.weights):g}), which loss {loss!r} cannot "
            f"honour. Set the weight of silver pairs to 1, or choose loss {' or '.join(WEIGHTED_LOSSES)}."
        )
    if not bool(np.all(rows.weights >= 0)) or not rows.weights.any():
        raise WorkbenchError(
            "The weights of rows must not be negative, and not all 0. Give silver pairs a weight above 0."
        )
    return rows


def _first_other(weights: np.ndarray) -> float:
    return float(weights[np.argmax(weights != 1)])


def _check_labels(loss: str, reads: str, rows: TrainingRows) -> None:
    if len(rows.places) != 2:
        raise WorkbenchError(
            f"Loss {loss!r} reads pairs, but these rows are triplets. Choose loss triplet or mnrl."
        )
    if reads == "scores" and has_classes(rows):
        raise WorkbenchError(
            f"Loss {loss!r} reads scores from 0 to 1, but these rows are NLI pairs with classes. "
            "Choose loss softmax, mnrl or triplet."
        )
    if reads == "classes" and not has_classes(rows):
        raise WorkbenchError(
            f"Loss {loss!r} reads NLI pairs with three classes, but these rows have scores. "
            "Import NLI pairs for this stage, or choose loss cosine, cosent or angle."
        )
    if reads == "classes" and not np.isin(rows.labels, range(N_CLASSES)).all():
        raise WorkbenchError(
            f"NLI classes are 0 (contradiction), 1 (entailment) and 2 (neutral), but there is a "
            f"{int(rows.labels[~np.isin(rows.labels, range(N_CLASSES))][0])}. Import the pairs again."
        )


# --- positives and negatives -----------------------------------------------------------------------


def _ranked_rows(loss: str, rows: TrainingRows, options: BiEncoderOptions) -> TrainingRows:
    if len(rows.places) == 3:
        return rows
    if has_classes(rows):
        positive, negative = rows.labels == ENTAILMENT, rows.labels == CONTRADICTION
        wanted, unwanted = "entailment", "contradiction"
    else:
        positive = rows.labels >= options.positive_from
        negative = rows.labels < options.negative_below
        wanted = f"a score of at least {options.positive_from:g}"
        unwanted = f"a score below {options.negative_below:g}"
    if not positive.any():
        raise WorkbenchError(
            f"Loss {loss!r} learns from positives, but none of the {len(rows):,} pairs is one: it takes "
            f"{wanted}. Lower positive_from, or choose loss cosine."
        )
    if loss == "mnrl" and not options.hard_negatives:
        return TrainingRows(
            rows.texts, rows.places[:, positive], np.ones(int(positive.sum()), dtype=np.float32)
        )
    if not has_classes(rows):
        _check_thresholds(options)
    places = _with_negatives(rows, positive, negative, either=not has_classes(rows))
    if not places.shape[1]:
        raise WorkbenchError(
            f"Loss {loss!r} with hard negatives needs three columns, but no positive shares a sentence with a "
            f"negative ({unwanted}): there are {int(positive.sum()):,} positives and "
            f"{int(negative.sum()):,} negatives. Raise negative_below, label more pairs of the same "
            "sentences, or train with mnrl without hard negatives."
        )
    return TrainingRows(rows.texts, places, np.ones(places.shape[1], dtype=np.float32))


def _check_thresholds(options: BiEncoderOptions) -> None:
    if not options.negative_below <= options.positive_from:
        raise WorkbenchError(
            f"negative_below is {options.negative_below:g} and positive_from {options.positive_from:g}: a pair "
            "between them would be both. Give negative_below at most the value of positive_from."
        )


def _with_negatives(
    rows: TrainingRows, positive: np.ndarray, negative: np.ndarray, *, either: bool
) -> np.ndarray:
    """(anchor, positive, negative) of every positive whose anchor has a negative; int64, shape (3, rows).

    An anchor's negatives take turns, the hardest (highest score) first. either: both sentences may be the anchor.
    """
    negatives: dict[int, list[int]] = {}
    order = np.flatnonzero(negative)
    for row in order[np.argsort(-rows.labels[order].astype(np.float64), kind="stable")]:
        first, second = rows.places[:2, row].tolist()
        negatives.setdefault(first, []).append(second)
        if either:
            negatives.setdefault(second, []).append(first)
    taken: dict[int, int] = {}
    found: list[tuple[int, int, int]] = []
    for first, second in rows.places[:2, positive].T.tolist():
        if first not in negatives and either:
            first, second = second, first
        if first in negatives:
            turn = taken.get(first, 0)
            taken[first] = turn + 1
            found.append((first, second, negatives[first][turn % len(negatives[first])]))
    return np.array(found, dtype=np.int64).reshape(-1, 3).T


def _without_unused(rows: TrainingRows) -> TrainingRows:
    used = np.zeros(len(rows.texts), dtype=bool)
    used[rows.places] = True
    if used.all():
        return rows
    texts = [rows.texts[place] for place in np.flatnonzero(used)]
    return replace(rows, texts=texts, places=(np.cumsum(used) - 1)[rows.places])
