"""Words replaced in context by a masked language model (the paper's NLPAug baseline)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import quiet_libraries, resolve_model
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if

SENTENCES_AT_ONCE = 32
MASKED_HEADS = ("MaskedLM", "ForPreTraining")


@dataclass(frozen=True)
class MaskedModel:
    """A masked language model on a device. is_word: bool, which tokens of its vocabulary are whole words."""

    name: str
    device: str
    model: Any
    tokenizer: Any
    is_word: np.ndarray


@dataclass(frozen=True)
class _Masked:
    """A sentence with some of its words to be replaced. draws: one number in [0, 1) per word."""

    words: list[str]
    chosen: list[int]
    draws: np.ndarray


def load_masked_model(name: str, device: str) -> MaskedModel:
    """Load a masked language model by name or folder.

    WorkbenchError: it cannot be had, or has no trained head that predicts words.
    """
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    folder = Path(resolve_model(name).location)
    _check_architecture(folder, name)
    quiet_libraries()
    try:
        model, loading = AutoModelForMaskedLM.from_pretrained(
            str(folder),
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        tokenizer = AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise WorkbenchError(f"Model {name!r} could not be loaded: {error}") from error
    if loading["missing_keys"] or tokenizer.mask_token_id is None:
        raise no_head(name)
    model.to(device).eval()
    return MaskedModel(name, device, model, tokenizer, _whole_words(tokenizer))


def check_masked_model(name: str) -> None:
    """WorkbenchError when a model that is on this machine predicts no words; says nothing about others."""
    from augsbert_core.models.catalog import BUNDLED_MODEL

    if Path(name).expanduser().is_dir() or name == BUNDLED_MODEL:
        _check_architecture(Path(resolve_model(name).location), name)


def no_head(name: str) -> WorkbenchError:
    """What to say about a model that cannot predict words."""
    return WorkbenchError(
        f"{name!r} has no head that predicts masked words, so it cannot replace any. Choose a masked "
        "language model, for example google-bert/bert-base-uncased or distilbert/distilroberta-base."
    )


def _check_architecture(folder: Path, name: str) -> None:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise no_head(name) from None
    if not any(head in kind for kind in config.get("architectures") or [] for head in MASKED_HEADS):
        raise no_head(name)


def _whole_words(tokenizer: Any) -> np.ndarray:
    """Which tokens stand for a whole word by themselves: letters only, at the beginning of a word.

    WordPiece marks what continues a word ("##ing"), byte-level and unigram vocabularies what begins one.
    """
    tokens = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    begins = ("Ġ", "▁")
    marked = any(str(token).startswith(begins) for token in tokens)
    special = set(tokenizer.all_special_tokens)
    return np.array(
        [
            token not in special
            and (not marked or token.startswith(begins))
            and _is_word(tokenizer.decode([number]).strip() if marked else token)
            for number, token in enumerate(map(str, tokens))
        ]
    )


def _is_word(text: str) -> bool:
    # Single letters are pieces of a vocabulary, not words, but for these two.
    return text.isalpha() and (len(text) > 1 or not text.isascii() or text in "aI")


def replace_words(
    masked: MaskedModel,
    sentences: Sequence[str],
    *,
    share: float,
    top: int,
    seed: int,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> list[str | None]:
    """Each sentence with some words replaced by others that the model finds likely there.

    share: of the words of a sentence, at least one of them; whole words are masked, all at once. A replacement
    is drawn evenly from the `top` best tokens that are words and not the word itself. None where a sentence
    has no word, is too long for the model, or nothing fits. Equal input and seed give equal output, whatever
    the batches.
    """
    rng = np.random.default_rng(seed)
    told = [_choose_words(sentence, share, rng) for sentence in sentences]
    order = sorted(range(len(told)), key=lambda place: -len(sentences[place]))
    order = [place for place in order if told[place].chosen]
    results: list[str | None] = [None] * len(told)
    for start in range(0, len(order), SENTENCES_AT_ONCE):
        stop_if(should_stop)
        places = order[start : start + SENTENCES_AT_ONCE]
        for place, text in zip(
            places, _replace(masked, [told[place] for place in places], top), strict=True
        ):
            results[place] = text
        done = min(start + SENTENCES_AT_ONCE, len(order))
        report(done / len(order), f"Replaced words in {done:,} of {len(order):,} sentences")
    return results


def _choose_words(sentence: str, share: float, rng: np.random.Generator) -> _Masked:
    words = sentence.split()
    able = [place for place, word in enumerate(words) if any(map(str.isalpha, word))]
    wanted = min(max(1, round(share * len(words))), len(able))
    chosen = sorted(rng.choice(able, wanted, replace=False).tolist()) if able else []
    return _Masked(words, chosen, rng.random(wanted))


def _replace(masked: MaskedModel, sentences: Sequence[_Masked], top: int) -> list[str | None]:
    import torch

    tokenizer = masked.tokenizer
    texts = [_with_masks(sentence, tokenizer.mask_token) for sentence in sentences]
    features = tokenizer(texts, return_tensors="pt", padding=True, truncation=True)
    with torch.inference_mode():
        logits = masked.model(**{k: v.to(masked.device) for k, v in features.items()}).logits
    results: list[str | None] = []
    for row, sentence in enumerate(sentences):
        at = (features["input_ids"][row] == tokenizer.mask_token_id).nonzero().reshape(-1)
        # Another number: the sentence was cut, or has the model's own sign for a mask in it.
        usable = len(at) == len(sentence.chosen)
        guesses = logits[row, at].float().cpu().numpy() if usable else None
        results.append(None if guesses is None else _with_guesses(masked, sentence, guesses, top))
    return results


def _core(word: str) -> tuple[str, str, str]:
    """A word between its punctuation: ("(", "guitar", ").")."""
    letters = [place for place, letter in enumerate(word) if letter.isalnum()]
    first, last = letters[0], letters[-1] + 1
    return word[:first], word[first:last], word[last:]


def _with_masks(sentence: _Masked, mask: str) -> str:
    words = list(sentence.words)
    for place in sentence.chosen:
        before, _, after = _core(words[place])
        words[place] = f"{before}{mask}{after}"
    return " ".join(words)


def _with_guesses(
    masked: MaskedModel, sentence: _Masked, guesses: np.ndarray, top: int
) -> str | None:
    """The sentence with each chosen word replaced. guesses: logits, shape (chosen words, vocabulary)."""
    words = list(sentence.words)
    for place, draw, logits in zip(sentence.chosen, sentence.draws, guesses, strict=True):
        before, own, after = _core(words[place])
        likely = _likely_words(masked, logits[: len(masked.is_word)], own, top)
        if not likely:
            return None
        word = likely[int(draw * len(likely))]
        words[place] = before + (word.capitalize() if own[0].isupper() else word) + after
    return " ".join(words)


def _likely_words(masked: MaskedModel, logits: np.ndarray, own: str, top: int) -> list[str]:
    """The `top` likeliest words but for the word itself, the likeliest first."""
    able = np.flatnonzero(masked.is_word)
    # One more than needed: the word itself may be among them, in several spellings.
    most = min(top + 4, len(able))
    best = able[np.argpartition(-logits[able], most - 1)[:most]] if most else able
    best = best[np.argsort(-logits[best], kind="stable")]
    words = [masked.tokenizer.decode([int(number)]).strip() for number in best]
    return [word for word in words if word.lower() != own.lower()][:top]
