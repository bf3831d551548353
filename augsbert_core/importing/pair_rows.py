"""Usable rows of scored pairs, column by column, so that half a million of them cost little."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from augsbert_core.importing.texts import Numbered, number_part, number_sentences
from augsbert_core.pairs import SPLITS, pair_codes

NO_SPLIT = -1


@dataclass(frozen=True, slots=True)
class GoldRow:
    """One usable row of scored pairs. score: in [0, 1]; split: "" when the file gives none.

    label: the score as the file writes it where that is a word, else "". source_id: the file's own name of the row.
    """

    line: int
    sentence1: str
    sentence2: str
    raw_score: float
    score: float
    split: str = ""
    group: str = ""
    label: str = ""
    source_id: str = ""


@dataclass(frozen=True, eq=False)
class PairRows:
    """Usable rows of scored pairs, column by column; `rows[i]` is one as a `GoldRow`.

    lines: int64. raw_scores, scores: float64, scores in [0, 1]. splits: int8, positions in SPLITS, NO_SPLIT where
    the file gives none. groups, labels, source_ids: text per row, or None when no row has any. sources: int32,
    the number of the file of each row.
    """

    lines: np.ndarray
    sentences1: list[str]
    sentences2: list[str]
    raw_scores: np.ndarray
    scores: np.ndarray
    splits: np.ndarray
    sources: np.ndarray
    groups: list[str] | None = None
    labels: list[str] | None = None
    source_ids: list[str] | None = None

    @classmethod
    def empty(cls) -> "PairRows":
        """No rows."""
        return cls.of([])

    @classmethod
    def of(cls, rows: Sequence[GoldRow], source: int = 0) -> "PairRows":
        """Rows as columns."""
        numbers = {split: number for number, split in enumerate(SPLITS)} | {"": NO_SPLIT}
        return cls(
            np.array([row.line for row in rows], dtype=np.int64),
            [row.sentence1 for row in rows],
            [row.sentence2 for row in rows],
            np.array([row.raw_score for row in rows], dtype=np.float64),
            np.array([row.score for row in rows], dtype=np.float64),
            np.array([numbers[row.split] for row in rows], dtype=np.int8),
            np.full(len(rows), source, dtype=np.int32),
            _unless_empty([row.group for row in rows]),
            _unless_empty([row.label for row in rows]),
            _unless_empty([row.source_id for row in rows]),
        )

    def __len__(self) -> int:
        return len(self.sentences1)

    def __getitem__(self, place: int) -> GoldRow:
        split = int(self.splits[place])
        return GoldRow(
            int(self.lines[place]),
            self.sentences1[place],
            self.sentences2[place],
            float(self.raw_scores[place]),
            float(self.scores[place]),
            "" if split == NO_SPLIT else SPLITS[split],
            self.groups[place] if self.groups else "",
            self.labels[place] if self.labels else "",
            self.source_ids[place] if self.source_ids else "",
        )

    def __iter__(self) -> Iterator[GoldRow]:
        return (self[place] for place in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairRows) and list(self) == list(other)

    @cached_property
    def numbered(self) -> Numbered:
        """The distinct sentences, and where those of each row are among them."""
        return number_sentences([self.sentences1, self.sentences2])

    @cached_property
    def codes(self) -> np.ndarray:
        """One int64 per row, equal exactly when two rows are one pair, in whichever direction."""
        return pair_codes(*self.numbered.places)

    @cached_property
    def pairs(self) -> np.ndarray:
        """The number of each row's pair: 0 for that of the first row, 1 for the next other one, and so on."""
        return number_in_order(self.codes)

    def take(self, places: np.ndarray) -> "PairRows":
        """The rows at these places, in this order."""
        wanted = places.tolist()

        def pick(column: list[str]) -> list[str]:
            return list(map(column.__getitem__, wanted))

        taken = PairRows(
            self.lines[places],
            pick(self.sentences1),
            pick(self.sentences2),
            self.raw_scores[places],
            self.scores[places],
            self.splits[places],
            self.sources[places],
            _unless_empty(pick(self.groups or [])) if self.groups else None,
            _unless_empty(pick(self.labels or [])) if self.labels else None,
            _unless_empty(pick(self.source_ids or [])) if self.source_ids else None,
        )
        if "numbered" in self.__dict__:
            taken.__dict__["numbered"] = number_part(
                self.numbered, (taken.sentences1, taken.sentences2), places
            )
        return taken

    def with_splits(self, splits: np.ndarray) -> "PairRows":
        """The same rows in these splits."""
        return self._with(splits=splits.astype(np.int8))

    def with_scores(
        self, raw_scores: np.ndarray, scores: np.ndarray, labels: list[str] | None
    ) -> "PairRows":
        """The same rows with other scores, and the words that stand for them."""
        return self._with(
            raw_scores=raw_scores, scores=scores, labels=_unless_empty(labels) if labels else None
        )

    def from_source(self, source: int) -> "PairRows":
        """The same rows, as those of the file of this number."""
        return self._with(sources=np.full(len(self), source, dtype=np.int32))

    def _with(self, **changes: Any) -> "PairRows":
        """Other columns beside the same sentences: what was worked out about these is kept."""
        changed = replace(self, **changes)
        for known in ("numbered", "codes", "pairs"):
            if known in self.__dict__:
                changed.__dict__[known] = self.__dict__[known]
        return changed


def join_rows(parts: Sequence[PairRows]) -> PairRows:
    """The rows of several files, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return PairRows.empty()

    def column(name: str) -> list[str] | None:
        columns = [getattr(part, name) for part in parts]
        if all(found is None for found in columns):
            return None
        return [
            cell
            for part, found in zip(parts, columns, strict=True)
            for cell in (found or [""] * len(part))
        ]

    return PairRows(
        np.concatenate([part.lines for part in parts]),
        [text for part in parts for text in part.sentences1],
        [text for part in parts for text in part.sentences2],
        np.concatenate([part.raw_scores for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.splits for part in parts]),
        np.concatenate([part.sources for part in parts]),
        column("groups"),
        column("labels"),
        column("source_ids"),
    )


def number_in_order(keys: np.ndarray) -> np.ndarray:
    """0 for the first key and all equal to it, 1 for the next other one, and so on."""
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    numbers = np.empty(len(firsts), dtype=np.int64)
    numbers[np.argsort(firsts)] = np.arange(len(firsts))
    return numbers[inverse]


def _unless_empty(column: list[str]) -> list[str] | None:
    return column if any(column) else None
