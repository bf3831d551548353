"""Train only the word vectors that the training sentences use.

Half of a small BERT's weights are word vectors, and a few thousand sentences use a fraction of them. Every
optimiser step would still clear, clip and update all of them, although the others have no gradient.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np

from augsbert_core.models.tokens import PairRows, TokenRows

Rows = TypeVar("Rows", bound="TokenRows | PairRows")

# With most of the vocabulary in use there is nothing to win.
WORTHWHILE = 0.8
# A padding id far up the vocabulary belongs to models that may look for it by its number.
HIGHEST_PAD_ID = 1000


class TrainedVocabulary:
    """A model's word vectors, split into those that training touches and all of them.

    While training, the model holds a small table and reads the ids of `renumber`. `complete` puts the whole
    table back, with the trained vectors in it. The other vectors stay as pretrained; plain AdamW would
    only have shrunk them by learning rate x weight decay per step.
    """

    def __init__(self, model: Any, rows: TokenRows | PairRows) -> None:
        self._transformer = model.transformers_model
        self._whole: Any = None
        self._small: Any = None
        self._used = _used_ids(rows)
        if _can_split(self._transformer, self._used, rows.pad_id):
            self._split()

    @property
    def n_bytes_left_out(self) -> int:
        """How much larger the whole table is than the one that is trained."""
        if self._whole is None:
            return 0
        size = self._whole.weight.element_size() * self._whole.embedding_dim
        return int(size * (self._whole.num_embeddings - self._small.num_embeddings))

    def renumber(self, rows: Rows) -> Rows:
        """The rows with the ids of the small table; unchanged when the table was not split."""
        if self._whole is None:
            return rows
        numbers = np.full(self._whole.num_embeddings, -1, dtype=np.int32)
        numbers[self._used] = np.arange(len(self._used), dtype=np.int32)
        return cast(Rows, rows.renumbered(numbers))

    @contextmanager
    def complete(self) -> Iterator[None]:
        """For a while, let the model read any sentence, in its own ids."""
        self.restore()
        try:
            yield
        finally:
            if self._whole is not None:
                self._transformer.set_input_embeddings(self._small)

    def restore(self) -> None:
        """Put the whole table back, with the trained vectors in it."""
        import torch

        if self._whole is not None:
            with torch.no_grad():
                self._whole.weight[torch.from_numpy(self._used)] = self._small.weight
            self._transformer.set_input_embeddings(self._whole)

    def _split(self) -> None:
        import torch

        self._whole = self._transformer.get_input_embeddings()
        weight = self._whole.weight
        self._small = torch.nn.Embedding(
            len(self._used),
            self._whole.embedding_dim,
            padding_idx=self._whole.padding_idx,
            _weight=weight.detach()[torch.from_numpy(self._used).to(weight.device)].clone(),
        )
        self._transformer.set_input_embeddings(self._small)


def _used_ids(rows: TokenRows | PairRows) -> np.ndarray:
    """The ids that occur, and all up to the padding id, so that padding keeps its number."""
    return np.union1d(rows.used_ids(), np.arange(rows.pad_id + 1)).astype(np.int64)


def _can_split(transformer: Any, used: np.ndarray, pad_id: int) -> bool:
    import torch

    table: Any = transformer.get_input_embeddings() if transformer is not None else None
    if type(table) is not torch.nn.Embedding or table.padding_idx not in (None, pad_id):
        return False
    owners = [
        module
        for module in transformer.modules()
        if any(weight is table.weight for weight in module.parameters(recurse=False))
    ]
    few = len(used) <= WORTHWHILE * table.num_embeddings and used.max() < table.num_embeddings
    return len(owners) == 1 and few and pad_id <= HIGHEST_PAD_ID
