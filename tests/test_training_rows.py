"""Many pairs on their way to training: read from the store and tokenised without repeating a text."""

import numpy as np
import pytest

from augsbert_core.models import tokens
from augsbert_core.models.catalog import load_cross_encoder
from augsbert_core.models.training import fingerprint
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import BiEncoderOptions
from augsbert_core.pairs import TrainingRows
from augsbert_core.storage import reviews, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.silver_pairs import all_pairs, sixty_pairs, stored_pairs
from tests.tiny_training import TRAIN, make_base


def test_silver_rows_are_the_training_pairs_with_each_sentence_once(
    workspace: Workspace, project: Project
):
    set_id = sixty_pairs(workspace, project)
    rejected, corrected, *_ = all_pairs(workspace, set_id)
    reviews.review_silver_pair(workspace, rejected["id"], status="rejected", actor="ann")
    reviews.review_silver_pair(
        workspace, corrected["id"], correction=0.75, status="corrected", actor="ann"
    )
    expected = stored_pairs(workspace, set_id)
    rows = silver_sets.silver_training_rows(workspace, set_id)
    assert rows.columns() == [expected.sentences1, expected.sentences2]
    np.testing.assert_allclose(rows.labels, expected.scores, rtol=1e-6)
    assert 0.75 in rows.labels
    assert len(rows) == 59
    assert len(rows.texts) == len(set(rows.texts)) == len({*rows.columns()[0], *rows.columns()[1]})
    assert rows.weights is None


@pytest.fixture(scope="module")
def labeler(tmp_path_factory):
    base = make_base(tmp_path_factory.mktemp("base"))
    return load_cross_encoder(base, "cpu", for_training=True, max_length=12)


def test_pairs_tokenised_per_batch_are_what_the_model_would_read(labeler, monkeypatch):
    rows = TrainingRows.from_pairs(TRAIN)
    held = tokens.pair_rows(labeler, rows)
    monkeypatch.setattr(tokens, "PAIRS_HELD", 10)
    lazy = tokens.pair_rows(labeler, rows)
    assert isinstance(held, tokens.TokenRows)
    assert isinstance(lazy, tokens.PairRows)
    assert len(lazy) == len(held) == 44
    np.testing.assert_array_equal(np.minimum(lazy.lengths, 12), held.lengths)
    assert (lazy.lengths > 12).any()
    assert set(held.used_ids()) <= set(lazy.used_ids())
    chosen = np.array([5, 0, 17])
    expected = held.features(chosen)
    for name, values in lazy.features(chosen).items():
        if name in expected:
            assert np.array_equal(values.numpy(), expected[name].numpy()), name


def test_a_small_vocabulary_reads_pairs_tokenised_per_batch(tmp_path_factory, monkeypatch):
    """The model computes the same from renumbered ids as from its own."""
    import torch

    model = load_cross_encoder(
        make_base(tmp_path_factory.mktemp("base")), "cpu", for_training=True
    ).eval()
    monkeypatch.setattr(tokens, "PAIRS_HELD", 10)
    lazy = tokens.pair_rows(model, TrainingRows.from_pairs(TRAIN))
    chosen = np.arange(8)
    with torch.inference_mode():
        before = model(lazy.features(chosen))["scores"]
    vocabulary = TrainedVocabulary(model, lazy)
    assert vocabulary.n_bytes_left_out > 0
    with torch.inference_mode():
        after = model(vocabulary.renumber(lazy).features(chosen))["scores"]
    torch.testing.assert_close(after, before)


def test_equal_trainings_have_one_fingerprint_and_others_another():
    options = BiEncoderOptions()
    rows = TrainingRows.from_pairs(TRAIN)
    assert fingerprint(options, TRAIN) == fingerprint(options, rows)
    assert fingerprint(options, rows) == fingerprint(BiEncoderOptions(seeds=5), rows)
    weighted = TrainingRows(rows.texts, rows.places, rows.labels, np.full(44, 0.5))
    changed = [
        fingerprint(BiEncoderOptions(scale=10.0), rows),
        fingerprint(options, rows.swapped()),
        fingerprint(options, weighted),
        fingerprint(options, TrainingRows(rows.texts, rows.places, rows.labels + 0.1)),
    ]
    assert len({fingerprint(options, rows), *changed}) == 5
