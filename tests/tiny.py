"""A tiny random BERT, so that tests train and score for real in seconds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.pairs import ScoredPairs

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    *("cat", "dog", "bird", "fish", "horse", "runs", "sleeps", "eats", "sings", "jumps"),
    *("red", "blue", "small", "old", "near", "house", "tree"),
]


def tiny_texts(n: int, seed: int = 0) -> list[str]:
    """n sentences of 2 to 9 words, drawn from a small vocabulary."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=rng.integers(2, 10))) for _ in range(n)]


def tiny_pairs(n: int, seed: int = 0) -> ScoredPairs:
    """n sentence pairs, scored by the share of words they have in common."""
    first, second = tiny_texts(n, seed), tiny_texts(n, seed + 1000)
    words = [(set(a.split()), set(b.split())) for a, b in zip(first, second, strict=True)]
    return ScoredPairs(first, second, np.array([len(a & b) / len(a | b) for a, b in words]))


def tiny_bert(
    folder: Path, texts: Iterable[str] = (" ".join(WORDS),), *, layers: int = 2, seed: int = 0
) -> str:
    """Save a bare transformer (hidden size 32) whose vocabulary covers `texts`; returns its path.

    A bi-encoder made of it gets mean pooling; a cross-encoder gets a new head.
    """
    from transformers import BertModel

    return _save(BertModel, folder, texts, layers, seed)


def tiny_cross_encoder(
    folder: Path,
    texts: Iterable[str] = (" ".join(WORDS),),
    *,
    outputs: int = 1,
    layers: int = 2,
    seed: int = 0,
) -> str:
    """Save a pair classifier with so many outputs, as a labeler to score with; returns its path."""
    from transformers import BertForSequenceClassification

    return _save(BertForSequenceClassification, folder, texts, layers, seed, num_labels=outputs)


def tiny_masked_model(
    folder: Path, texts: Iterable[str] = (" ".join(WORDS),), *, seed: int = 0
) -> str:
    """Save a masked language model with a head that predicts words, untrained; returns its path."""
    from transformers import BertForMaskedLM

    return _save(BertForMaskedLM, folder, texts, 1, seed)


def vocabulary(texts: Iterable[str]) -> dict[str, int]:
    """A WordPiece vocabulary: special tokens, characters (also as continuations), words."""
    words = sorted({word for text in texts for word in text.lower().split()})
    letters = sorted({letter for word in words for letter in word})
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words]
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def _save(
    model_class: Any, folder: Path, texts: Iterable[str], layers: int, seed: int, **settings: Any
) -> str:
    import torch
    from transformers import BertConfig, BertTokenizer

    from augsbert_core.models.catalog import quiet_libraries

    quiet_libraries()
    # So small a model gains nothing from threads, and on a busy machine they wait for each other.
    torch.set_num_threads(1)
    vocab = vocabulary(texts)
    config = BertConfig(
        vocab_size=len(vocab),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        # The default of 0.02 would make all sentences of so small a model nearly equal.
        initializer_range=0.2,
        **settings,
    )
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed)
        model = model_class(config)
    model.save_pretrained(folder)
    BertTokenizer(vocab=vocab, model_max_length=64).save_pretrained(folder)
    return str(folder)
