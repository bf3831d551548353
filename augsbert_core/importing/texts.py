"""Sentences of a file as numbers: one per sentence, however often and however it is written."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.pairs import sentence_key


@dataclass(frozen=True)
class Numbered:
    """The distinct sentences of some columns, and where each cell's sentence is among them.

    keys: `sentence_key` of each, in order of first appearance, row by row. spellings: the first spelling, white
    space at both ends removed. places: int64, shape (columns, rows).
    """

    keys: list[str]
    spellings: list[str]
    places: np.ndarray


def number_sentences(columns: Sequence[Sequence[str]]) -> Numbered:
    """Give every distinct sentence of the columns a number; the columns have one length."""
    numbers: dict[str, int] = {}
    of_cell: dict[str, int] = {}
    spellings: list[str] = []
    places: list[int] = []
    add = places.append
    for cells in zip(*columns, strict=True):
        for cell in cells:
            number = of_cell.get(cell)
            if number is None:
                key = " ".join(cell.split()) if cell.isascii() else sentence_key(cell)
                number = numbers.setdefault(key, len(numbers))
                of_cell[cell] = number
                if number == len(spellings):
                    spellings.append(cell.strip())
            add(number)
    shaped = np.array(places, dtype=np.int64).reshape(-1, len(columns)).T
    return Numbered(list(numbers), spellings, np.ascontiguousarray(shaped))


def is_blank(text: str) -> bool:
    """Whether a cell holds nothing to read: no text, or white space and invisible characters alone."""
    if not text or text.isspace():
        return True
    if text.isascii():
        return False
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text)
