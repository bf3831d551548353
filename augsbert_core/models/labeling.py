"""The labeler: whatever scores candidate pairs. A cross-encoder, a calibrated bi-encoder, or several at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from augsbert_core.calibration import Calibration, calibrate
from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder, load_cross_encoder
from augsbert_core.models.inference import embed_rows, pair_cosines, run_rows, sigmoid
from augsbert_core.models.tokens import distinct, tokenize_rows
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import ShouldStop, never, stop_if

# Tokenised together and sorted by length once more, in batches.
BATCHES_AT_ONCE = 32


@dataclass(frozen=True)
class LabelerPart:
    """One scorer of a labeler, still on disk.

    kind: "cross_encoder", or "bi_encoder", whose cosines are calibrated on the pairs `calibrate_on`.
    """

    location: str
    kind: str = "cross_encoder"
    calibrate_on: ScoredPairs | None = None


@dataclass(frozen=True)
class Scorer:
    """One scorer of a labeler, loaded. curve: from cosines to scores; None for a cross-encoder."""

    location: str
    model: Any
    curve: Calibration | None = None


@dataclass(frozen=True)
class Labeler:
    """One or several scorers on a device; of several, the mean counts.

    both_orders: cross-encoders read (A, B) and (B, A). A cosine is the same in both.
    """

    scorers: tuple[Scorer, ...]
    device: str
    both_orders: bool = False

    @property
    def location(self) -> str:
        return " + ".join(scorer.location for scorer in self.scorers)

    @property
    def model(self) -> Any:
        """The model of the first scorer."""
        return self.scorers[0].model

    @property
    def is_plain(self) -> bool:
        """One cross-encoder that reads each pair once."""
        return len(self.scorers) == 1 and self.scorers[0].curve is None and not self.both_orders


class ScoredBatch(NamedTuple):
    """Scores of some pairs. positions: int64, places in the input. The rest: float32, one value per pair.

    raw: a cross-encoder's logit (the mean of both orders), a bi-encoder's cosine, or of several scorers the
    score once more. scores: in [0, 1]. order_gaps: |s(A, B) - s(B, A)| of a labeler that reads both orders.
    spreads: the sample standard deviation between the scorers, where there are several.
    """

    positions: np.ndarray
    raw: np.ndarray
    scores: np.ndarray
    order_gaps: np.ndarray | None = None
    spreads: np.ndarray | None = None


def load_labeler(
    told: str | Sequence[LabelerPart],
    device: str,
    max_length: int | None = None,
    both_orders: bool = False,
) -> Labeler:
    """Load a labeler: a cross-encoder by name or folder, or the parts of one.

    Raises WorkbenchError when a cross-encoder has no trained head or more than one output, or when there is
    nothing to calibrate a bi-encoder on.
    """
    parts = [LabelerPart(told)] if isinstance(told, str) else told
    scorers = tuple(_load_scorer(part, device, max_length) for part in parts)
    return Labeler(scorers, device, both_orders and any(scorer.curve is None for scorer in scorers))


def _load_scorer(part: LabelerPart, device: str, max_length: int | None) -> Scorer:
    if part.kind == "cross_encoder":
        model = load_cross_encoder(part.location, device, max_length=max_length)
        _overwrite_in_gelu(model)
        return Scorer(part.location, model)
    pairs = part.calibrate_on
    if pairs is None:
        raise ValueError("a bi-encoder labels by calibrated cosines, so it needs calibrate_on")
    encoder = load_bi_encoder(part.location, device, max_length=max_length)
    cosines = pair_cosines(encoder, pairs.sentences1, pairs.sentences2)
    _insist_on_finite(part.location, cosines)
    return Scorer(part.location, encoder, calibrate(cosines, pairs.scores))


def label_batches(
    labeler: Labeler,
    sentences1: list[str],
    sentences2: list[str],
    *,
    batch_size: int = 64,
    should_stop: ShouldStop = never,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Positions, raw scores and scores of `score_batches`, without what is uncertain about them."""
    for batch in score_batches(
        labeler, sentences1, sentences2, batch_size=batch_size, should_stop=should_stop
    ):
        yield batch.positions, batch.raw, batch.scores


def score_batches(
    labeler: Labeler,
    sentences1: list[str],
    sentences2: list[str],
    *,
    batch_size: int = 64,
    should_stop: ShouldStop = never,
) -> Iterator[ScoredBatch]:
    """Score pairs in batches of like length, the longest first, each pair exactly once.

    batch_size: at most so many pairs; on a CPU long pairs come in smaller batches (`inference.run_rows`). On
    a CUDA card a cross-encoder computes in float16, whose scores differ by less than 0.01 from float32's.
    Its sigmoid is taken once, in float32, whatever activation it was saved with.
    A labeler of several passes yields once all of them are done for a few batches.
    Raises Stopped between batches, and WorkbenchError when a score is not a finite number.
    """
    characters = np.array([len(a) + len(b) for a, b in zip(sentences1, sentences2, strict=True)])
    order = np.argsort(-characters, kind="stable")
    passes = len(labeler.scorers) * (2 if labeler.both_orders else 1)
    at_once = BATCHES_AT_ONCE if labeler.is_plain else max(BATCHES_AT_ONCE // (4 * passes), 1)
    embedded = [_Embedded(scorer.model) for scorer in labeler.scorers]
    for start in range(0, len(order), batch_size * at_once):
        stop_if(should_stop)
        chunk = order[start : start + batch_size * at_once]
        first, second = [sentences1[i] for i in chunk], [sentences2[i] for i in chunk]
        if labeler.is_plain:
            for places, logits in _logits(
                labeler.scorers[0], first, second, batch_size, should_stop
            ):
                yield ScoredBatch(chunk[places], logits, sigmoid(logits))
            continue
        yield _all_scorers(labeler, chunk, first, second, embedded, batch_size, should_stop)


def _logits(
    scorer: Scorer, first: list[str], second: list[str], batch_size: int, should_stop: ShouldStop
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(positions, logits) of a cross-encoder, batch by batch."""
    rows = tokenize_rows(scorer.model, list(zip(first, second, strict=True)))
    for places, values in run_rows(
        scorer.model, rows, "scores", batch_size=batch_size, half=True, should_stop=should_stop
    ):
        logits = values.reshape(-1)
        _insist_on_finite(scorer.location, logits)
        yield places, logits


def _all_scorers(
    labeler: Labeler,
    positions: np.ndarray,
    first: list[str],
    second: list[str],
    embedded: Sequence["_Embedded"],
    batch_size: int,
    should_stop: ShouldStop,
) -> ScoredBatch:
    """The mean of all scorers over a few batches, and how far scorers and orders are apart."""
    n_orders = 2 if labeler.both_orders else 1
    raw = np.zeros((len(labeler.scorers), n_orders, len(first)), dtype=np.float32)
    scores = np.zeros_like(raw)
    for number, scorer in enumerate(labeler.scorers):
        if scorer.curve is not None:
            cosines = embedded[number].cosines(first, second, batch_size, should_stop)
            _insist_on_finite(scorer.location, cosines)
            raw[number], scores[number] = cosines, scorer.curve(cosines)
            continue
        for turn, columns in enumerate([(first, second), (second, first)][:n_orders]):
            for places, logits in _logits(scorer, *columns, batch_size, should_stop):
                raw[number, turn, places] = logits
        scores[number] = sigmoid(raw[number])
    several = len(labeler.scorers) > 1
    by_order, by_scorer = scores.mean(axis=0), scores.mean(axis=1)
    mean = by_scorer.mean(axis=0)
    return ScoredBatch(
        positions,
        mean if several else raw[0].mean(axis=0),
        mean,
        np.abs(by_order[0] - by_order[1]) if labeler.both_orders else None,
        by_scorer.std(axis=0, ddof=1) if several else None,
    )


@dataclass
class _Embedded:
    """The embeddings that a bi-encoder has made so far: a sentence of many pairs is embedded once."""

    model: Any
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def cosines(
        self, first: list[str], second: list[str], batch_size: int, should_stop: ShouldStop
    ) -> np.ndarray:
        texts, places = distinct([*first, *second])
        new = [text for text in texts if text not in self.known]
        if new:
            rows = tokenize_rows(self.model, new)
            made = embed_rows(self.model, rows, batch_size=batch_size, should_stop=should_stop)
            self.known.update(zip(new, made, strict=True))
        embeddings = np.stack([self.known[text] for text in texts])
        one, other = places.reshape(2, -1)
        return np.clip(np.einsum("ij,ij->i", embeddings[one], embeddings[other]), -1.0, 1.0)


def _insist_on_finite(location: str, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise WorkbenchError(
            f"The labeler {location} gives scores that are no finite numbers, so its "
            "weights are damaged: choose another labeler or train it again."
        )


@dataclass(frozen=True)
class LabelerFacts:
    """What is worth knowing about a cross-encoder before it labels.

    activation: what it was saved with, by class name; the workbench takes the sigmoid whatever it says.
    max_length: tokens of a pair that it reads, None for no limit. n_tokens: pieces in its vocabulary.
    """

    location: str
    n_outputs: int
    activation: str
    max_length: int | None
    n_tokens: int
    n_parameters: int


def labeler_facts(location: str, model: Any) -> LabelerFacts:
    """The facts of a cross-encoder that is loaded already; `load_cross_encoder` has checked its output."""
    length = model.max_seq_length
    return LabelerFacts(
        location=location,
        n_outputs=1,
        activation=type(model.activation_fn).__name__,
        max_length=int(length) if length else None,
        n_tokens=len(model.tokenizer),
        n_parameters=sum(weights.numel() for weights in model.parameters()),
    )


def _overwrite_in_gelu(model: Any) -> None:
    """Let GELU write over its input, the widest of all intermediate results, which nothing else reads.

    Only for scoring: training needs the input again. Saves about a twentieth of the time on a CPU.
    """
    import torch
    from transformers.activations import GELUActivation

    class OverwritingGelu(torch.nn.Module):
        def forward(self, values: Any) -> Any:
            return torch.ops.aten.gelu_(values)

    for module in model.modules():
        if type(getattr(module, "intermediate_act_fn", None)) is GELUActivation:
            module.intermediate_act_fn = OverwritingGelu()
