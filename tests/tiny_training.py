"""Training the tiny model in tests: shared options, fixtures and comparisons."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.models.bi_encoder import train_bi_encoder
from augsbert_core.models.cross_encoder import train_cross_encoder
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows
from tests.tiny import WORDS, tiny_bert, tiny_pairs, tiny_texts

TRAIN, DEV = tiny_pairs(44, 1), tiny_pairs(30, 2)
NO_DEV = ScoredPairs([], [], np.zeros(0))
KINDS = ["bi_encoder", "cross_encoder"]


def make_base(folder: Path) -> str:
    """A tiny model that also knows words which no training sentence uses."""
    return tiny_bert(folder, [" ".join(WORDS), "words that no training sentence uses"])


def options(kind: str, base: str, **changes: Any) -> Any:
    """3 epochs of 6 steps; the last batch of an epoch is smaller than the others."""
    options_class = BiEncoderOptions if kind == "bi_encoder" else CrossEncoderOptions
    made = options_class(base=base, epochs=3, batch_size=8, learning_rate=2e-3, max_length=32)
    return replace(made, **changes)


def train(kind: str, chosen: Any, folder: Path, data=TRAIN, dev=DEV, task="regression", **kwargs):
    function = train_bi_encoder if kind == "bi_encoder" else train_cross_encoder
    return function(data, dev, chosen, folder, task=task, device="cpu", **kwargs)


def load_weights(folder: Path | str) -> dict[str, np.ndarray]:
    """All weights in a model folder."""
    from safetensors.numpy import load_file

    return load_file(Path(folder) / "model.safetensors")


def weights(folder: Path) -> dict[str, np.ndarray]:
    """The weights that a training in this folder has saved."""
    return load_weights(folder / "model")


def assert_same_weights(first: Path, second: Path) -> None:
    one, other = weights(first), weights(second)
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name], other[name]), name


def train_both(base: str, folder: Path, **kwargs: Any) -> dict[str, tuple[Path, Any]]:
    """Both kinds of encoder trained in one go: (folder, result)."""
    return {
        kind: (folder / kind, train(kind, options(kind, base), folder / kind, **kwargs))
        for kind in KINDS
    }


def nli_rows(n: int) -> TrainingRows:
    """Entailment: the sentence itself, shortened. Contradiction: another one. Neutral: half of each."""
    texts, others = tiny_texts(n, 7), tiny_texts(n, 8)
    made = [
        (text, [other, " ".join(text.split()[:-1]), f"{text} {other}"][number % 3])
        for number, (text, other) in enumerate(zip(texts, others, strict=True))
    ]
    pairs = ScoredPairs([a for a, _ in made], [b for _, b in made], np.zeros(n))
    return replace(TrainingRows.from_pairs(pairs), labels=np.arange(n) % 3)


def triplet_rows(n: int) -> TrainingRows:
    """The positive has all but one of the anchor's words, the negative is another sentence."""
    texts, others = tiny_texts(n, 7), tiny_texts(n, 8)
    near = [" ".join(text.split()[1:]) for text in texts]
    places = np.arange(3 * n).reshape(3, n)
    return TrainingRows([*texts, *near, *others], places, np.zeros(n, dtype=np.float32))
