"""Labelling: every pair once, longest first, one sigmoid, in float32."""

import numpy as np
import pytest

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models import inference
from augsbert_core.models.labeling import Labeler, label_batches, load_labeler
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_texts


@pytest.fixture(scope="module")
def labeler(tmp_path_factory) -> Labeler:
    return load_labeler(tiny_cross_encoder(tmp_path_factory.mktemp("labeler")), "cpu")


def all_batches(labeler, first, second, **kwargs):
    batches = list(label_batches(labeler, first, second, **kwargs))
    return [np.concatenate([batch[i] for batch in batches]) for i in range(3)]


def test_every_pair_is_scored_exactly_once(labeler):
    first, second = tiny_texts(150, 1), tiny_texts(150, 2)
    positions, logits, scores = all_batches(labeler, first, second, batch_size=8)
    assert sorted(positions) == list(range(150))
    assert logits.dtype == scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()


def test_scores_are_the_models_own_and_do_not_depend_on_the_batch(labeler):
    from sentence_transformers import CrossEncoder

    first, second = tiny_texts(40, 1), tiny_texts(40, 2)
    plain = CrossEncoder(labeler.location, device="cpu")  # without what makes ours faster
    expected = plain.predict(list(zip(first, second, strict=True)), batch_size=1)
    for batch_size in (1, 7, 64):
        positions, _, scores = all_batches(labeler, first, second, batch_size=batch_size)
        np.testing.assert_allclose(scores, expected[positions], atol=1e-5)


def test_the_sigmoid_is_taken_once_whatever_the_model_was_saved_with(labeler):
    import torch

    first, second = tiny_texts(20, 1), tiny_texts(20, 2)
    _, logits, scores = all_batches(labeler, first, second)
    np.testing.assert_allclose(scores, 1 / (1 + np.exp(-logits.astype(np.float64))), rtol=1e-5)
    labeler.model.activation_fn, saved = torch.nn.Identity(), labeler.model.activation_fn
    try:
        assert np.array_equal(all_batches(labeler, first, second)[2], scores)
    finally:
        labeler.model.activation_fn = saved


def test_strong_pairs_stay_apart():
    """In half precision, logits of 8 and 9 would both become 1."""
    assert len(set(inference.sigmoid(np.array([8.0, 8.5, 9.0, 9.5], dtype=np.float16)))) == 4


def test_long_pairs_come_first(labeler):
    first, second = tiny_texts(100, 3), tiny_texts(100, 4)
    sizes = [len(a) + len(b) for a, b in zip(first, second, strict=True)]
    batches = [
        np.mean([sizes[i] for i in positions])
        for positions, _, _ in label_batches(labeler, first, second, batch_size=10)
    ]
    assert batches[0] > batches[-1]


def test_batches_keep_within_the_tokens_that_suit_a_cpu(labeler, monkeypatch):
    """Large batches of long pairs would be slower there, not faster."""
    monkeypatch.setattr(inference, "CPU_TOKENS", 60)
    texts = [" ".join(["cat"] * words) for words in (1, 2, 12, 12, 27, 40)]
    batches = [positions.tolist() for positions, *_ in label_batches(labeler, texts, texts)]
    # 64 tokens (cut off), 57, twice 27, and 7 with 5.
    assert batches == [[5], [4], [2, 3], [1, 0]]
    assert [len(p) for p, *_ in label_batches(labeler, texts, texts, batch_size=1)] == [1] * 6


def test_stopping_takes_effect_between_batches(labeler):
    texts = tiny_texts(60, 5)
    done: list[int] = []
    batches = label_batches(
        labeler, texts, texts, batch_size=10, should_stop=lambda: len(done) >= 20
    )
    for positions, _, _ in (next(batches), next(batches)):
        done += positions.tolist()
    with pytest.raises(Stopped):
        next(batches)


def test_no_pairs_give_no_batches(labeler):
    assert list(label_batches(labeler, [], [])) == []


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_a_labeler_with_damaged_weights_is_refused(tmp_path, weight):
    import torch

    damaged = load_labeler(tiny_cross_encoder(tmp_path), "cpu")
    with torch.no_grad():
        damaged.model[0].model.classifier.weight.fill_(weight)
    texts = tiny_texts(5, 6)
    with pytest.raises(WorkbenchError, match=r"labeler .* no finite numbers.* train it again"):
        list(label_batches(damaged, texts, texts))


def test_a_bare_transformer_is_no_labeler(tmp_path):
    with pytest.raises(WorkbenchError, match="no trained head"):
        load_labeler(tiny_bert(tmp_path), "cpu")
