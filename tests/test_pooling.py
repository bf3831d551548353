"""How a bi-encoder pools its tokens, and our own attention pooling on disk."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import spearman
from augsbert_core.models.catalog import (
    is_sentence_encoder,
    load_bi_encoder,
    load_cross_encoder,
    resolve_model,
)
from augsbert_core.models.evaluation import score_pairs
from augsbert_core.models.inference import embed_rows
from augsbert_core.models.pooling import POOLINGS, set_pooling
from augsbert_core.models.tokens import tokenize_rows
from tests.tiny import tiny_texts
from tests.tiny_training import DEV, make_base, options, train

TEXTS = tiny_texts(6, 3)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


def embed(model) -> np.ndarray:
    return embed_rows(model, tokenize_rows(model, TEXTS))


def pooled(base: str, pooling: str) -> np.ndarray:
    model = load_bi_encoder(base, "cpu")
    set_pooling(model, pooling)
    return embed(model)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_every_pooling_trains_and_scores_the_same_after_loading(pooling, base, tmp_path):
    chosen = options("bi_encoder", base, pooling=pooling, epochs=4, learning_rate=3e-3)
    result = train("bi_encoder", chosen, tmp_path)
    first = result.dev_curve[0][1]
    assert result.dev_score >= first
    assert result.dev_score > 0.2
    pairs = (DEV.sentences1, DEV.sentences2)
    scores = score_pairs("bi_encoder", str(tmp_path / "model"), pairs, device="cpu")
    assert spearman(DEV.scores, scores) == pytest.approx(result.dev_score, abs=1e-6)


def test_poolings_differ_and_own_is_that_of_the_base(base):
    """A bare transformer gets mean pooling; attention that has learnt nothing is the mean, too."""
    mean = pooled(base, "mean")
    np.testing.assert_array_equal(pooled(base, "own"), mean)
    np.testing.assert_allclose(pooled(base, "attention"), mean, atol=1e-6)
    for name in ("cls", "max", "weightedmean"):
        assert not np.allclose(pooled(base, name), mean, atol=1e-3)


@pytest.fixture(scope="module")
def attentive(base, tmp_path_factory) -> tuple[Path, np.ndarray]:
    """A saved model whose attention has a say, and its embeddings before it was saved."""
    import torch

    model = load_bi_encoder(base, "cpu")
    set_pooling(model, "attention")
    with torch.no_grad():
        model[1].query.copy_(torch.linspace(-1, 1, 32))
    folder = tmp_path_factory.mktemp("attentive") / "model"
    model.save_pretrained(str(folder), create_model_card=False)
    return folder, embed(model)


def test_attention_pooling_is_loaded_as_it_was_saved(base, attentive):
    folder, before = attentive
    assert not np.allclose(before, pooled(base, "mean"), atol=1e-3)
    np.testing.assert_array_equal(embed(load_bi_encoder(str(folder), "cpu")), before)
    assert is_sentence_encoder(str(folder))
    shorter = load_bi_encoder(str(folder), "cpu", layers=1, max_length=5)
    assert len(shorter.transformers_model.encoder.layer) == 1
    assert shorter.max_seq_length == 5


def test_attention_pooling_weighs_tokens_by_their_product_with_the_query():
    import torch

    from augsbert_core.models.attention_pooling import AttentionPooling

    module = AttentionPooling(2)
    with torch.no_grad():
        module.query.copy_(torch.tensor([np.log(3.0), 0.0]))
    tokens = torch.tensor([[[1.0, 0.0], [0.0, 4.0], [9.0, 9.0]]])
    features = {"token_embeddings": tokens, "attention_mask": torch.tensor([[1, 1, 0]])}
    # e^(log 3) against e^0: the first token weighs 3/4, padding nothing.
    torch.testing.assert_close(module(features)["sentence_embedding"], torch.tensor([[0.75, 1.0]]))


def test_training_goes_on_from_a_model_with_attention_pooling(attentive, tmp_path):
    chosen = options("bi_encoder", str(attentive[0]), pooling="attention", max_steps=2)
    train("bi_encoder", chosen, tmp_path)
    query = load_bi_encoder(str(tmp_path / "model"), "cpu")[1].query.detach().numpy()
    assert np.abs(query - np.linspace(-1, 1, 32)).max() < 0.1


def test_code_of_anyone_else_is_still_refused(attentive, tmp_path):
    shutil.copytree(attentive[0], tmp_path / "model")
    modules = json.loads((tmp_path / "model" / "modules.json").read_text())
    modules[1]["type"] = "augsbert_core.models.attention_pooling.Other"
    (tmp_path / "model" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(WorkbenchError, match="needs code of its own"):
        resolve_model(str(tmp_path / "model"))


def test_a_cross_encoder_is_not_built_on_attention_pooling(attentive):
    with pytest.raises(WorkbenchError, match="pools by attention"):
        load_cross_encoder(str(attentive[0]), "cpu", for_training=True)


def test_an_unknown_pooling_is_a_user_error(base):
    with pytest.raises(WorkbenchError, match="Choose one of own, mean, cls"):
        set_pooling(load_bi_encoder(base, "cpu"), "sum")
