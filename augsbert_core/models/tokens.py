"""Sentences and pairs as token rows: tokenised once, padded only as far as a batch needs.

`TokenRows` holds the tokens of all rows. `PairRows` holds only the distinct sentences of many pairs and tokenises
a batch when it is asked for: a million pairs can then start training at once. Both have `features`, `lengths`,
`pad_id`, `used_ids` and `renumbered`, which is all that training asks of rows; `pair_rows` chooses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from augsbert_core.pairs import TrainingRows
from augsbert_core.progress import ShouldStop, never, stop_if

TOKENIZED_AT_ONCE = 1024
# Up to so many pairs, tokenising all of them first takes seconds and saves doing it in every epoch.
PAIRS_HELD = 50_000


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

    def used_ids(self) -> np.ndarray:
        """The token ids that occur, ascending."""
        return np.unique(self.ids)

    def renumbered(self, numbers: np.ndarray) -> "TokenRows":
        """The same rows with every id replaced by numbers[id]."""
        return replace(self, ids=numbers[self.ids])


@dataclass(frozen=True)
class PairRows:
    """Pairs of distinct sentences, tokenised when a batch is asked for. Made by `pair_rows`.

    rows: only its first two columns are read. lengths: the tokens of each whole pair, special ones included:
    those longer than the model reads are truncated in `features`. used: the token ids that can occur.
    numbers: what to replace each id by; None keeps them.
    """

    model: Any
    rows: TrainingRows
    lengths: np.ndarray
    used: np.ndarray
    pad_id: int = 0
    numbers: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def features(self, rows: np.ndarray) -> dict[str, Any]:
        """What the model reads: the chosen rows as tensors, padded to the longest of them."""
        import torch

        texts = self.rows.texts
        pairs = [(texts[first], texts[second]) for first, second in self.rows.places[:2, rows].T]
        features = self.model.preprocess(pairs, prompt=_prompt(self.model))
        if self.numbers is not None:
            features["input_ids"] = torch.from_numpy(self.numbers)[features["input_ids"]].long()
        return dict(features)

    def used_ids(self) -> np.ndarray:
        """The token ids that can occur, ascending."""
        return self.used

    def renumbered(self, numbers: np.ndarray) -> "PairRows":
        """The same rows with every id replaced by numbers[id]."""
        return replace(self, numbers=numbers)


def pair_rows(
    model: Any, rows: TrainingRows, *, should_stop: ShouldStop = never
) -> TokenRows | PairRows:
    """The rows of a cross-encoder: tokenised at once, or per batch where that would take long.

    model: a CrossEncoder. rows: its first two columns are the pairs. More than `PAIRS_HELD` pairs are tokenised
    per batch. What the model reads of a pair is the same either way.
    """
    if len(rows) <= PAIRS_HELD:
        first, second = rows.columns()[:2]
        return tokenize_rows(model, list(zip(first, second, strict=True)), should_stop=should_stop)
    tokenizer = model.tokenizer
    used = [np.array(tokenizer.all_special_ids)]
    counts = np.zeros(len(rows.texts), dtype=np.int32)
    for start in range(0, len(rows.texts), TOKENIZED_AT_ONCE):
        stop_if(should_stop)
        texts = rows.texts[start : start + TOKENIZED_AT_ONCE]
        encoded = tokenizer(texts, add_special_tokens=False)["input_ids"]
        counts[start : start + len(texts)] = [len(ids) for ids in encoded]
        used.append(np.unique(np.concatenate([np.asarray(ids, dtype=np.int64) for ids in encoded])))
    # One whole pair brings the prompt and what stands around sentences.
    pair = tuple(rows.texts[place] for place in rows.places[:2, 0])
    used.append(model.preprocess([pair], prompt=_prompt(model))["input_ids"].numpy().reshape(-1))
    return PairRows(
        model=model,
        rows=rows,
        lengths=counts[rows.places[:2]].sum(axis=0, dtype=np.int32)
        + tokenizer.num_special_tokens_to_add(pair=True),
        used=np.unique(np.concatenate(used)),
        pad_id=tokenizer.pad_token_id or 0,
    )


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
    prompt = _prompt(model)
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


def _prompt(model: Any) -> str | None:
    return model.prompts.get(model.default_prompt_name) if model.default_prompt_name else None


def _text_length(text: str | tuple[str, str]) -> int:
    return len(text) if isinstance(text, str) else len(text[0]) + len(text[1])
