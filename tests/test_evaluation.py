"""Scores of pairs by each kind of model."""

import numpy as np
import pytest

from augsbert_core.errors import Stopped
from augsbert_core.metrics import jaccard
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.evaluation import score_pairs
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_texts

FIRST, SECOND = tiny_texts(50, 1), tiny_texts(50, 2)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("bert"))


def test_a_bi_encoder_gives_the_cosine_of_its_embeddings(bert):
    model = load_bi_encoder(bert, "cpu")
    a, b = (model.encode(texts, normalize_embeddings=True) for texts in (FIRST, SECOND))
    cosines = score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu")
    np.testing.assert_allclose(cosines, (a * b).sum(axis=1), atol=1e-5)


def test_a_sentence_is_as_like_itself_as_can_be(bert):
    cosines = score_pairs("bi_encoder", bert, (FIRST, FIRST), device="cpu")
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)


def test_a_shortened_model_scores_differently(bert):
    whole = score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu")
    short = score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu", layers=1)
    assert not np.allclose(whole, short, atol=1e-3)


def test_a_cross_encoder_gives_scores_between_0_and_1(tmp_path):
    name = tiny_cross_encoder(tmp_path)
    reports: list[float] = []
    scores = score_pairs(
        "cross_encoder",
        name,
        (FIRST, SECOND),
        device="cpu",
        report=lambda fraction, *rest: reports.append(fraction),
    )
    assert scores.shape == (50,)
    assert ((scores > 0) & (scores < 1)).all()
    assert reports[0] == 0.0
    assert reports[-1] == 1.0


def test_word_overlap_needs_no_model():
    overlap = score_pairs("jaccard", None, (FIRST, SECOND), device="cpu")
    assert np.array_equal(overlap, jaccard(FIRST, SECOND))


def test_no_pairs_give_no_scores(bert):
    assert score_pairs("bi_encoder", bert, ([], []), device="cpu").shape == (0,)


def test_stopping_is_heard(bert):
    with pytest.raises(Stopped):
        score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu", should_stop=lambda: True)


def test_an_unknown_kind_is_a_programming_error():
    with pytest.raises(ValueError, match="kind"):
        score_pairs("oracle", None, ([], []), device="cpu")
