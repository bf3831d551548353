"""How many pairs are longer than what a cross-encoder reads of them. Needs a tokenizer, no model."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import may_use, resolve_model
from augsbert_core.models.tokens import TokenRows
from augsbert_core.options import BUNDLED_MODEL

WARN_ABOVE = 0.03
"""From this share of truncated pairs on, the user is told."""

AT_ONCE = 4096
TOKENIZER = "tokenizer.json"


def truncated_share(base: str, pairs: Sequence[tuple[str, str]], max_length: int) -> float:
    """The share of pairs, in [0, 1], of which a cross-encoder from `base` would not read the end.

    max_length: tokens per pair with the special ones, never more than the model itself can read. 0.0 without
    pairs. Raises WorkbenchError when the model cannot be had.
    """
    folder = Path(resolve_model(base).location)
    lengths = _lengths(_tokenizer(folder), pairs)
    return float(np.mean(lengths > window(folder, max_length))) if len(pairs) else 0.0


def is_at_hand(base: str) -> bool:
    """Whether a model's tokenizer is on this machine, so that counting its tokens downloads nothing."""
    folder = Path(base).expanduser()
    if folder.is_dir() and may_use(folder):
        return True
    if base in (BUNDLED_MODEL, BUNDLED_MODEL.partition("/")[2]):
        try:
            return resolve_model(base).source == "bundled"
        except WorkbenchError:
            return False
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(base, TOKENIZER), str)
    except ValueError:  # not the form of a name on the hub
        return False


def count_truncated(
    model: Any, pairs: Sequence[tuple[str, str]], rows: TokenRows, read: int
) -> int:
    """How many pairs, tokenised to `rows`, lost their end. read: the tokens that the model reads of a pair.

    Only rows that fill the window are counted again, so that long data costs little more than short.
    """
    full = np.flatnonzero(rows.lengths >= read).tolist()
    return int(np.sum(_lengths(model.tokenizer, [pairs[row] for row in full]) > read))


def window(folder: Path, max_length: int) -> int:
    """The tokens per pair that a model in this folder reads, at most max_length."""
    limits = [max_length]
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        found = _read(folder / name).get(key)
        if isinstance(found, int | float) and 0 < found < 1e6:
            limits.append(int(found))
    return min(limits)


def _lengths(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Tokens of each pair, special ones included, nothing cut off."""
    found: list[np.ndarray] = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(pairs), AT_ONCE):
        chunk = list(pairs[start : start + AT_ONCE])
        if hasattr(tokenizer, "encode_batch"):
            lengths = [len(row.ids) for row in tokenizer.encode_batch(chunk)]
        else:
            columns = [list(column) for column in zip(*chunk, strict=True)]
            ids = tokenizer(*columns, truncation=False, padding=False, verbose=False)["input_ids"]
            lengths = [len(row) for row in ids]
        found.append(np.array(lengths, dtype=np.int64))
    return np.concatenate(found)


def _tokenizer(folder: Path) -> Any:
    if not (folder / TOKENIZER).is_file():
        from transformers import AutoTokenizer

        try:
            return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise WorkbenchError(
                f"The model in {folder} has no tokenizer that can be read, so its tokens cannot be counted."
            ) from error
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
