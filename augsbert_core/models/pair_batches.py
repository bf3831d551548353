"""Batches of pairs and the losses on them, for the Trainer. Imports torch: import this module inside functions only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from augsbert_core.models.pair_losses import PAIR_LOSSES, Queries
from augsbert_core.models.tokens import PairRows, TokenRows


class PairLoss(nn.Module):
    """A loss on the one raw output of a cross-encoder, row by row, such as cross-entropy on soft labels.

    loss: gives one number per row. A row's weight, where there are any, multiplies its number; the mean over
    the rows of a batch is taken.
    """

    def __init__(self, model: nn.Module, loss: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(
        self, features: dict[str, Any], labels: dict[str, torch.Tensor], **_: Any
    ) -> torch.Tensor:
        logits = self.model(dict(features))["scores"].float().view(-1)
        losses = self.loss(logits, labels["scores"])
        return (losses * labels["weights"] if "weights" in labels else losses).mean()


class RankingLoss(nn.Module):
    """A ranking loss of sentence-transformers on queries whose pairs are tokenised already."""

    def __init__(self, model: nn.Module, name: str) -> None:
        super().__init__()
        self.model = model
        self._ready = _Tokenised(model)
        self.loss = PAIR_LOSSES[name].build(self._ready)

    def forward(
        self, features: dict[str, Any], labels: dict[str, torch.Tensor], **_: Any
    ) -> torch.Tensor:
        sizes = labels["sizes"].tolist()
        self._ready.features = features
        scores = list(labels["scores"].split(sizes))
        # The loss reads of queries and candidates only how many there are.
        return self.loss([list(range(len(sizes))), [list(range(size)) for size in sizes]], scores)


class _Tokenised(nn.Module):
    """A cross-encoder to a loss that would tokenise text by itself: it is handed token rows instead."""

    num_labels = 1

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.inner = model
        self.features: dict[str, Any] = {}

    @property
    def device(self) -> torch.device:
        return self.inner.device

    def preprocess(self, pairs: list[Any], **_: Any) -> dict[str, Any]:
        return dict(self.features)

    def forward(self, features: dict[str, Any]) -> dict[str, torch.Tensor]:
        return self.inner(features)


@dataclass(frozen=True)
class PairCollator:
    """Batches for `PairLoss` from row numbers. weights: one per row, or None when all count the same."""

    rows: TokenRows | PairRows
    labels: np.ndarray
    weights: np.ndarray | None = None
    # The trainers read this of every collator.
    valid_label_columns: tuple[str, ...] = ()

    def __call__(self, items: list[dict]) -> dict[str, Any]:
        chosen = np.array([item["row"] for item in items])
        labels = {"scores": _floats(self.labels[chosen])}
        if self.weights is not None:
            labels["weights"] = _floats(self.weights[chosen])
        return {"features": self.rows.features(chosen), "label": labels}


@dataclass(frozen=True)
class QueryCollator:
    """Batches for `RankingLoss` from query numbers: all candidates of each query."""

    rows: TokenRows | PairRows
    labels: np.ndarray
    queries: Queries
    valid_label_columns: tuple[str, ...] = ()

    def __call__(self, items: list[dict]) -> dict[str, Any]:
        starts = self.queries.starts
        numbers = [item["row"] for item in items]
        chosen = np.concatenate(
            [self.queries.rows[starts[number] : starts[number + 1]] for number in numbers]
        )
        labels = {
            "scores": _floats(self.labels[chosen]),
            "sizes": torch.from_numpy(self.queries.sizes()[numbers]),
        }
        return {"features": self.rows.features(chosen), "label": labels}


def _floats(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(values).astype(np.float32))
