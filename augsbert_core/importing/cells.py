"""Values of structured files to text: what a cell of JSON, Parquet or Excel says when written down."""

import json
import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

_LOOKED_AT = 10_000


def as_text(value: Any) -> str:
    """A value as the text of its cell; None is "", and the text "None" stays a text.

    Numbers are written as shortly as they can be read back, 4.0 as "4.0"; dates as in ISO 8601; lists and objects as
    JSON. ValueError: bytes that are not UTF-8 text.
    """
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return _float_text(value)
    return _rarer_text(value)


def _float_text(value: float | np.floating[Any]) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    # A float32 is written with its own digits, 0.8, not with those of the double nearest to it.
    return float.__repr__(value) if isinstance(value, float) else str(value)


def _rarer_text(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{len(value)} bytes that are not text") from None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Sequence | dict):
        return json.dumps(value, ensure_ascii=False, default=as_text)
    if hasattr(value, "as_py"):
        return as_text(value.as_py())
    return str(value)


class Mender:
    """Takes NUL characters and lone surrogates out of texts, which no store can keep, and counts them."""

    def __init__(self) -> None:
        self.n_nul = 0
        self.n_surrogates = 0

    def mend(self, texts: list[str]) -> list[str]:
        """The texts without NUL characters and lone surrogates; the same list when there are none."""
        # Together they are looked through faster, but not all at once: that could take gigabytes.
        starts = range(0, len(texts), _LOOKED_AT)
        if all(map(_is_sound, ("".join(texts[at : at + _LOOKED_AT]) for at in starts))):
            return texts
        return [self._mend_one(text) for text in texts]

    def _mend_one(self, text: str) -> str:
        if n_nul := text.count("\0"):
            self.n_nul += n_nul
            text = text.replace("\0", "")
        if _has_surrogates(text):
            kept = "".join(one for one in text if not 0xD800 <= ord(one) <= 0xDFFF)
            self.n_surrogates += len(text) - len(kept)
            text = kept
        return text

    @property
    def notes(self) -> list[str]:
        """What was removed, one sentence for each kind; none when nothing was."""
        notes = []
        if self.n_nul:
            notes.append(
                f"{counted(self.n_nul, 'NUL character was', 'NUL characters were')} removed."
            )
        if self.n_surrogates:
            halves = counted(
                self.n_surrogates, "half of a character was", "halves of characters were"
            )
            notes.append(f"{halves} removed (surrogates without their partner).")
        return notes


def _is_sound(text: str) -> bool:
    return "\0" not in text and not _has_surrogates(text)


def _has_surrogates(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def counted(n: int, one: str, many: str) -> str:
    """A number and its noun: "1 row was", "1,200 rows were"."""
    return f"{n:,} {one if n == 1 else many}"


def rows_of_columns(columns: Sequence[Sequence[str]]) -> list[list[str]]:
    """Columns of equal length as rows."""
    return list(map(list, zip(*columns, strict=True)))
