"""Sentences of a file as numbers: one per sentence, however often and however it is written."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

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
    # One table holds the keys and the cells that are written differently: the key of a key is itself.
    numbers: dict[str, int] = {}
    look_up = numbers.get
    keys: list[str] = []
    spellings: list[str] = []
    places: list[int] = []
    add = places.append
    for cell in chain.from_iterable(zip(*columns, strict=True)):
        number = look_up(cell)
        if number is None:
            spelling = cell.strip()
            if (
                spelling == cell
                and cell.isascii()
                and cell.isprintable()  # no white space but the space itself
                and "  " not in cell
            ):
                key = cell
            else:
                key = sentence_key(cell)
                number = look_up(key)
            if number is None:
                number = numbers[key] = len(keys)
                keys.append(key)
                spellings.append(spelling)
            numbers[cell] = number
        add(number)
    shaped = np.fromiter(places, dtype=np.int64, count=len(places)).reshape(-1, len(columns)).T
    return Numbered(keys, spellings, np.ascontiguousarray(shaped))


def number_part(known: Numbered, columns: Sequence[Sequence[str]], rows: np.ndarray) -> Numbered:
    """What `number_sentences(columns)` gives, without reading their cells again.

    columns: cells of the rows `rows`, in this order, of the columns that `known` was made of.
    """
    places = known.places[:, rows]
    cells = places.T.ravel()
    first = np.full(len(known.keys), len(cells), dtype=np.int64)
    # Of repeated indices the last value stays, so backwards the first cell of each sentence.
    first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)
    used = np.flatnonzero(first < len(cells))
    used = used[np.argsort(first[used])]
    numbers = np.empty(len(known.keys), dtype=np.int64)
    numbers[used] = np.arange(len(used))
    row, column = np.divmod(first[used], max(len(columns), 1))
    return Numbered(
        list(map(known.keys.__getitem__, used.tolist())),
        [
            columns[at][place].strip()
            for place, at in zip(row.tolist(), column.tolist(), strict=True)
        ],
        numbers[places],
    )


def is_blank(text: str) -> bool:
    """Whether a cell holds nothing to read: no text, or white space and invisible characters alone."""
    if not text or text.isspace():
        return True
    if text.isascii() and text.isprintable():
        return False
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text)
