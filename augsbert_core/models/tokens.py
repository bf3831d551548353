"""Sentences and pairs as token rows: tokenised once, padded only as far as a batch needs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from augsbert_core.progress import ShouldStop, never, stop_if

TOKENIZED_AT_ONCE = 1024


@dataclass(frozen=True)
class TokenRows:
    """Token rows of differing length, stored end to end.

    ids: int32, all rows. types: int8, the token type of each id, or None. starts, lengths: where each
    row lies. extras: features that are the same for every row, such as a prompt's length.
    """

    ids: np.ndarray
    types: np.ndarray | None
    starts: np.ndarray
    lengths: np.ndarray
    pad_id: int = 0
    pad_left: bool = False
    extras: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lengths)

    def features(self, rows: np.ndarray) -> dict[str, Any]:
        """What the model reads: the chosen rows as tensors, padded to the longest of them."""
        import torch

        lengths = self.lengths[rows][:, None]
        column = np.arange(lengths.max(initial=0))[None, :]
        offset = column - (column.shape[1] - lengths) if self.pad_left else column
        filled = (offset >= 0) & (offset < lengths)
        place = np.where(filled, self.starts[rows][:, None] + offset, 0)
        features = {
            "input_ids": torch.from_numpy(np.where(filled, self.ids[place], self.pad_id)).long(),
            "attention_mask": torch.from_numpy(filled).long(),
        }
        if self.types is not None:
            types = np.where(filled, self.types[place], 0)
            features["token_type_ids"] = torch.from_numpy(types).long()
        return features | self.extras


def tokenize_rows(
    model: Any,
    inputs: Sequence[str] | Sequence[tuple[str, str]],
    *,
    should_stop: ShouldStop = never,
) -> TokenRows:
    """Tokenise sentences, or pairs of them, exactly as the model itself would.

    model: a SentenceTransformer or CrossEncoder; its prompt, truncation and special tokens apply.
    Raises Stopped now and then when asked to stop.
    """
    order = np.argsort([_text_length(text) for text in inputs], kind="stable")
    prompt = model.prompts.get(model.default_prompt_name) if model.default_prompt_name else None
    ids: list[np.ndarray] = []
    types: list[np.ndarray] = []
    lengths = np.zeros(len(inputs), dtype=np.int64)
    extras: dict[str, Any] = {}
    for start in range(0, len(order), TOKENIZED_AT_ONCE):
        stop_if(should_stop)
        rows = order[start : start + TOKENIZED_AT_ONCE]
        features = model.preprocess([inputs[row] for row in rows], prompt=prompt)
        filled = features["attention_mask"].numpy().astype(bool)
        lengths[rows] = filled.sum(axis=1)
        ids.append(features["input_ids"].numpy()[filled].astype(np.int32))
        if "token_type_ids" in features:
            types.append(features["token_type_ids"].numpy()[filled].astype(np.int8))
        if "prompt_length" in features:
            extras["prompt_length"] = features["prompt_length"]
    starts = np.zeros(len(inputs), dtype=np.int64)
    starts[order] = np.cumsum(lengths[order]) - lengths[order]
    return TokenRows(
        ids=np.concatenate(ids) if ids else np.zeros(0, dtype=np.int32),
        types=np.concatenate(types) if types else None,
        starts=starts,
        lengths=lengths,
        pad_id=model.tokenizer.pad_token_id or 0,
        pad_left=model.tokenizer.padding_side == "left",
        extras=extras,
    )


def distinct(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The distinct texts in order of appearance, and for each text its position among them."""
    places: dict[str, int] = {}
    positions = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.int64)
    return list(places), positions


def _text_length(text: str | tuple[str, str]) -> int:
    return len(text) if isinstance(text, str) else len(text[0]) + len(text[1])
