"""The NLPAug baseline: gold pairs copied with words replaced by a masked language model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.models.augmentation import MaskedModel, load_masked_model, replace_words
from augsbert_core.options import BUNDLED_MODEL, AugmentOptions
from augsbert_core.pairs import sentence_key
from augsbert_core.steps.augment import check_augmenting
from augsbert_core.storage import candidates, gold, sentences, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.silver_pairs import training_pairs
from tests.tiny import WORDS, tiny_bert, tiny_masked_model

SENTENCES = [
    "The cat runs (near) a house.",
    "dog",
    "red old bird sings, small fish sleeps",
    "1 2 3",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    texts = [" ".join(WORDS), "the a cat dog boy girl train piano guitar sofa field city rain"]
    return tiny_masked_model(tmp_path_factory.mktemp("masked") / "model", texts)


@pytest.fixture(scope="module")
def masked(model: str) -> MaskedModel:
    return load_masked_model(model, "cpu")


def differing(one: str, other: str) -> list[tuple[str, str]]:
    return [(a, b) for a, b in zip(one.split(), other.split(), strict=True) if a != b]


def test_a_share_of_the_words_is_replaced_by_other_words(masked: MaskedModel) -> None:
    made = replace_words(masked, SENTENCES, share=0.5, top=5, seed=1)
    for before, after, n_words in zip(SENTENCES, made, (3, 1, 4, 0), strict=True):
        if not n_words:
            assert after is None
            continue
        assert after is not None
        changes = differing(before, after)
        assert len(changes) == n_words
        for _, new in changes:
            word = new.strip("().,").lower()
            assert word.isalpha()
            assert not word.startswith("##")


def test_at_least_one_word_is_replaced_and_punctuation_and_case_stay(masked: MaskedModel) -> None:
    (made,) = replace_words(masked, ["Cat."], share=0.01, top=3, seed=4)
    assert made is not None
    assert made != "Cat."
    assert made.endswith(".")
    assert made[0].isupper()


def test_equal_seeds_give_equal_copies_whatever_the_batches(masked: MaskedModel) -> None:
    many = SENTENCES * 20
    first = replace_words(masked, many, share=0.3, top=5, seed=7)
    assert replace_words(masked, many, share=0.3, top=5, seed=7) == first
    assert replace_words(masked, many, share=0.3, top=5, seed=8) != first


def test_the_model_chooses_among_its_best_words(masked: MaskedModel) -> None:
    (best,) = replace_words(masked, ["the cat runs"], share=0.3, top=1, seed=0)
    drawn = {
        tuple(differing("the cat runs", text or ""))
        for text in (
            replace_words(masked, ["the cat runs"], share=0.3, top=1, seed=seed)[0]
            for seed in range(12)
        )
    }
    # With one best word, chance only says which of the three words is replaced.
    assert len(drawn) <= 3
    assert best is not None


def test_a_sign_for_masks_in_the_text_is_left_alone(masked: MaskedModel) -> None:
    assert replace_words(masked, ["the [MASK] runs"], share=0.3, top=3, seed=0) == [None]


def test_gold_copies_become_a_complete_silver_set_without_passes(
    workspace: Workspace, project: Project, model: str
) -> None:
    corpus = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[1]
    options = AugmentOptions(model=model, per_pair=3, share=0.4, top=10, device="cpu")
    found = jobs.run_in_foreground(workspace, project.id, "augment", options)
    made = silver_sets.get_silver_set(workspace, found["silver_set_id"])
    assert made.is_complete
    assert (made.strategy, made.labeler, made.passes) == ("nlpaug", f"nlpaug:{model}", 0)
    pairs = training_pairs(workspace, made.id)
    assert len(pairs) == found["n_copies"] == made.n_pairs == made.n_candidates
    assert found["n_copies"] + found["n_left_out"] == 15
    train = gold.scored_pairs(workspace, project.id, "train")
    assert set(np.round(pairs.scores, 6)) <= set(np.round(train.scores, 6))
    known = {sentence_key(text) for text in (*train.sentences1, *train.sentences2)}
    assert not known >= {*pairs.sentences1, *pairs.sentences2}
    keys = {frozenset(pair) for pair in zip(pairs.sentences1, pairs.sentences2, strict=True)}
    assert len(keys) == len(pairs)
    assert not keys & {frozenset(p) for p in zip(train.sentences1, train.sentences2, strict=True)}
    # Copies are no sentences to sample from, and can be removed like any silver set.
    assert sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[1] == corpus
    silver_sets.delete_silver_set(workspace, made.id)
    candidates.delete_candidate_set(workspace, made.candidate_set_id)


def test_a_model_without_such_a_head_is_refused_with_a_remedy(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    for name in (tiny_bert(tmp_path / "bert"), BUNDLED_MODEL):
        with pytest.raises(WorkbenchError, match="no head that predicts masked words"):
            check_augmenting(workspace, project, AugmentOptions(model=name))


@pytest.mark.parametrize("wrong", [{"per_pair": 0}, {"share": 0.0}, {"share": 1.5}, {"top": 0}])
def test_impossible_options_are_refused(
    workspace: Workspace, project: Project, model: str, wrong: dict
) -> None:
    with pytest.raises(WorkbenchError, match="Give a number from"):
        check_augmenting(workspace, project, replace(AugmentOptions(model=model), **wrong))
