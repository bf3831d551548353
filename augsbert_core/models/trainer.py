"""The parts that plug into the Trainer. Imports torch: import this module inside functions only."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, load_model, save_file, save_model
from sentence_transformers import CrossEncoderTrainer, SentenceTransformerTrainer
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.sentence_transformer.losses import SoftmaxLoss
from torch import nn

from augsbert_core.models.tokens import TokenRows

WEIGHTS = "weights.safetensors"
LOSS_WEIGHTS = "loss.safetensors"
# Pairs are sorted by length within so many batches: enough to save the padding, few enough that every
# epoch brings other batches together.
SORTED_BATCHES = 32


class LengthGroupedBatchSampler(DefaultBatchSampler):
    """Batches of pairs of like length, in an order that seed and epoch alone decide.

    lengths: one sortable number per row. The same seed and epoch give the same batches, which is what
    lets a resumed run go on exactly where it stopped.
    """

    def __init__(
        self, dataset: Any, batch_size: int, *, lengths: np.ndarray, seed: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(dataset, batch_size=batch_size, drop_last=False, seed=seed)
        self.lengths = lengths
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng([self.seed, self.epoch])
        order = rng.permutation(len(self.lengths))
        batches: list[np.ndarray] = []
        for start in range(0, len(order), self.batch_size * SORTED_BATCHES):
            chunk = order[start : start + self.batch_size * SORTED_BATCHES]
            chunk = chunk[np.argsort(self.lengths[chunk], kind="stable")]
            batches += [
                chunk[at : at + self.batch_size] for at in range(0, len(chunk), self.batch_size)
            ]
        for place in rng.permutation(len(batches)):
            yield batches[place].tolist()

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch_size)


class DistinctBatchSampler(LengthGroupedBatchSampler):
    """Batches in which no sentence occurs twice, for losses that take the other rows as negatives.

    A sentence that occurs twice in a batch would be its own negative: the anchor of (A, B) would be pushed away
    from the C of (A, C), which is a positive of it, and from itself in (C, A). A row that does not fit into a
    batch waits for the next one with room. Repeats may leave more batches than rows ÷ batch size, most of
    them small: those past that number are left out of the epoch, and another epoch draws other ones. So the
    number of steps is that of any other loss, and seed and epoch alone decide what is in a batch.

    places: int, shape (columns, rows), which sentence stands where.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        *,
        lengths: np.ndarray,
        places: np.ndarray,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(dataset, batch_size, lengths=lengths, seed=seed, **kwargs)
        self.places = places

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng([self.seed, self.epoch])
        order = rng.permutation(len(self.lengths))
        batches: list[list[int]] = []
        waiting: list[int] = []
        for start in range(0, len(order), self.batch_size * SORTED_BATCHES):
            chunk = order[start : start + self.batch_size * SORTED_BATCHES]
            chunk = chunk[np.argsort(self.lengths[chunk], kind="stable")]
            made = self._fill(waiting + chunk.tolist())
            batches += [batch for batch in made if len(batch) == self.batch_size]
            # A batch with room may still take rows of the next chunk.
            waiting = [row for batch in made if len(batch) < self.batch_size for row in batch]
        batches += self._fill(waiting)
        batches = sorted(batches, key=len, reverse=True)[: len(self)]
        for place in rng.permutation(len(batches)):
            yield batches[place]

    def _fill(self, rows: list[int]) -> list[list[int]]:
        """Put each row into the first batch that has room and holds none of its sentences."""
        batches: list[list[int]] = []
        held: list[set[int]] = []
        first_open = 0
        for row, texts in zip(rows, self.places[:, rows].T.tolist(), strict=True):
            at = first_open
            while at < len(batches) and (
                len(batches[at]) == self.batch_size or not held[at].isdisjoint(texts)
            ):
                at += 1
            if at == len(batches):
                batches.append([])
                held.append(set())
            batches[at].append(row)
            held[at].update(texts)
            while first_open < len(batches) and len(batches[first_open]) == self.batch_size:
                first_open += 1
        return batches


class EmbeddingLoss(nn.Module):
    """A sentence-transformers loss on columns of embeddings, which come from one forward pass.

    features: the first sentences of all rows, then the second ones, and so on. labels: "values", and "weights"
    for a loss that gives one number per row.
    """

    def __init__(self, model: nn.Module, loss: nn.Module, n_columns: int = 2) -> None:
        super().__init__()
        self.model = model
        self.loss = loss
        self.n_columns = n_columns

    def forward(
        self, features: dict[str, Any], labels: dict[str, torch.Tensor], **_: Any
    ) -> torch.Tensor:
        embeddings = self.model(dict(features))["sentence_embedding"].float()
        columns = list(embeddings.chunk(self.n_columns))
        loss = self.loss.compute_loss_from_embeddings(columns, labels["values"])
        return (loss * labels["weights"]).mean() if "weights" in labels else loss


class ClassLoss(SoftmaxLoss):
    """SBERT's softmax loss on embeddings u and v: a classifier reads (u, v, |u − v|)."""

    def compute_loss_from_embeddings(
        self, embeddings: list[torch.Tensor], labels: torch.Tensor
    ) -> torch.Tensor:
        first, second = embeddings
        joined = torch.cat([first, second, (first - second).abs()], dim=1)
        return self.loss_fct(self.classifier(joined), labels)


@dataclass(frozen=True)
class EmbeddingCollator:
    """Batches for `EmbeddingLoss` from row numbers.

    rows: the distinct sentences. places: int, shape (columns, rows), positions in rows. labels: float32
    scores or int64 classes. weights: float32, one per row, 1 on average, or None.
    """

    rows: TokenRows
    places: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None
    valid_label_columns: tuple[str, ...] = ()

    def __call__(self, items: list[dict]) -> dict[str, Any]:
        chosen = np.array([item["row"] for item in items])
        labels = {"values": torch.from_numpy(self.labels[chosen])}
        if self.weights is not None:
            labels["weights"] = torch.from_numpy(self.weights[chosen])
        features = self.rows.features(self.places[:, chosen].reshape(-1))
        return {"features": features, "label": labels}


@contextmanager
def full_precision(model: nn.Module) -> Iterator[None]:
    """For a while, take away the autocast that the Trainer has put around the model's forward.

    Half precision would tie dev pairs, and the saved model would not reproduce its dev score.
    """
    wrapped = model.__dict__.pop("forward", None)
    try:
        yield
    finally:
        if wrapped is not None:
            model.__dict__["forward"] = wrapped


class _Lean:
    """What both trainers leave out: model cards, and in checkpoints all but the weights."""

    model: nn.Module
    loss: nn.Module

    def collect_features(self, inputs: dict[str, Any]) -> tuple[Any, Any]:
        return inputs["features"], inputs["label"]

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """No model card: it would run example sentences through the model and ask the hub."""

    def load_weights(self, checkpoint: Path) -> None:
        """Put the weights of a checkpoint into the model and the loss."""
        load_model(self.model, str(checkpoint / WEIGHTS))
        own = own_weights(self.loss, self.model)
        if own:
            saved = load_file(
                str(checkpoint / LOSS_WEIGHTS), device=str(next(iter(own.values())).device)
            )
            with torch.no_grad():
                for name, weight in own.items():
                    weight.copy_(saved[name])

    def _save(self, output_dir: str, state_dict: dict[str, Any] | None = None) -> None:
        os.makedirs(output_dir, exist_ok=True)
        save_model(self.model, os.path.join(output_dir, WEIGHTS))
        own = own_weights(self.loss, self.model)
        if own:
            held = {name: weight.detach().contiguous() for name, weight in own.items()}
            save_file(held, os.path.join(output_dir, LOSS_WEIGHTS))

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:
        self.load_weights(Path(checkpoint_path))


def own_weights(loss: nn.Module, model: nn.Module) -> dict[str, nn.Parameter]:
    """The weights that a loss has beside the model's, such as a classifier that is thrown away in the end."""
    of_model = {id(weight) for weight in model.parameters()}
    return {name: weight for name, weight in loss.named_parameters() if id(weight) not in of_model}


class BiEncoderTrainer(_Lean, SentenceTransformerTrainer):
    """A SentenceTransformerTrainer that reads token rows."""


class PairTrainer(_Lean, CrossEncoderTrainer):
    """A CrossEncoderTrainer that reads token rows."""
