"""The parts that plug into the Trainer. Imports torch: import this module inside functions only."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_model, save_model
from sentence_transformers import CrossEncoderTrainer, SentenceTransformerTrainer
from sentence_transformers.base.sampler import DefaultBatchSampler
from torch import nn

from augsbert_core.models.tokens import TokenRows

WEIGHTS = "weights.safetensors"
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


class PairLoss(nn.Module):
    """A loss on the one raw output of a cross-encoder, such as BCEWithLogitsLoss on soft labels."""

    def __init__(self, model: nn.Module, loss: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, features: dict[str, Any], labels: torch.Tensor, **_: Any) -> torch.Tensor:
        logits = self.model(dict(features))["scores"].float().view(-1)
        return self.loss(logits, labels)


class EmbeddingLoss(nn.Module):
    """A sentence-transformers loss on two columns of embeddings, which come from one forward pass.

    features: the first sentences of all pairs, then the second ones.
    """

    def __init__(self, model: nn.Module, loss: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, features: dict[str, Any], labels: torch.Tensor, **_: Any) -> torch.Tensor:
        embeddings = self.model(dict(features))["sentence_embedding"].float()
        return self.loss.compute_loss_from_embeddings(list(embeddings.chunk(2)), labels)


@dataclass(frozen=True)
class PairCollator:
    """Batches for `PairLoss` from row numbers."""

    rows: TokenRows
    labels: np.ndarray
    # The trainers read this of every collator.
    valid_label_columns: tuple[str, ...] = ()

    def __call__(self, items: list[dict]) -> dict[str, Any]:
        chosen = np.array([item["row"] for item in items])
        return {"features": self.rows.features(chosen), "label": _labels(self.labels, chosen)}


@dataclass(frozen=True)
class EmbeddingCollator:
    """Batches for `EmbeddingLoss` from row numbers.

    rows: the distinct sentences. places: int64, shape (2, pairs), positions in rows.
    """

    rows: TokenRows
    places: np.ndarray
    labels: np.ndarray
    valid_label_columns: tuple[str, ...] = ()

    def __call__(self, items: list[dict]) -> dict[str, Any]:
        chosen = np.array([item["row"] for item in items])
        features = self.rows.features(self.places[:, chosen].reshape(-1))
        return {"features": features, "label": _labels(self.labels, chosen)}


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


def _labels(labels: np.ndarray, chosen: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(labels[chosen].astype(np.float32))


class _Lean:
    """What both trainers leave out: model cards, and in checkpoints all but the weights."""

    model: nn.Module

    def collect_features(self, inputs: dict[str, Any]) -> tuple[Any, torch.Tensor]:
        return inputs["features"], inputs["label"]

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """No model card: it would run example sentences through the model and ask the hub."""

    def _save(self, output_dir: str, state_dict: dict[str, Any] | None = None) -> None:
        os.makedirs(output_dir, exist_ok=True)
        save_model(self.model, os.path.join(output_dir, WEIGHTS))

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:
        load_model(self.model, os.path.join(checkpoint_path, WEIGHTS))


class BiEncoderTrainer(_Lean, SentenceTransformerTrainer):
    """A SentenceTransformerTrainer that reads token rows."""


class PairTrainer(_Lean, CrossEncoderTrainer):
    """A CrossEncoderTrainer that reads token rows."""
