"""What makes training fast changes nothing but the time."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augsbert_core.metrics import spearman
from augsbert_core.models.catalog import load_bi_encoder, load_cross_encoder
from augsbert_core.models.evaluation import score_pairs
from augsbert_core.models.training import TrainingResult
from augsbert_core.pairs import ScoredPairs
from tests.tiny import tiny_pairs
from tests.tiny_training import (
    DEV,
    KINDS,
    NO_DEV,
    TRAIN,
    load_weights,
    make_base,
    options,
    train,
    train_both,
    weights,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def uninterrupted(base, tmp_path_factory) -> dict[str, tuple[Path, TrainingResult]]:
    return train_both(base, tmp_path_factory.mktemp("uninterrupted"))


def test_batches_hold_like_lengths_and_depend_on_seed_and_epoch_alone():
    from augsbert_core.models.trainer import LengthGroupedBatchSampler

    lengths = np.random.default_rng(0).integers(3, 60, size=203)

    def batches(seed: int, epoch: int) -> list[list[int]]:
        sampler = LengthGroupedBatchSampler(range(203), 16, lengths=lengths, seed=seed)
        sampler.set_epoch(epoch)
        assert len(list(sampler)) == len(sampler) == 13
        return list(sampler)

    first = batches(1, 0)
    assert sorted(row for batch in first for row in batch) == list(range(203))
    assert first == batches(1, 0)
    assert first != batches(1, 1)
    assert first != batches(2, 0)
    padded = sum(lengths[batch].max() * len(batch) for batch in first)
    assert padded < 1.1 * lengths.sum()


def test_every_epoch_of_a_run_has_other_batches(base, tmp_path, monkeypatch):
    from augsbert_core.models import pair_batches

    seen: list[tuple[int, ...]] = []
    collate = pair_batches.PairCollator.__call__

    def spy(self, items):
        seen.append(tuple(item["row"] for item in items))
        return collate(self, items)

    monkeypatch.setattr(pair_batches.PairCollator, "__call__", spy)
    train("cross_encoder", options("cross_encoder", base), tmp_path)
    epochs = [seen[start : start + 6] for start in (0, 6, 12)]
    assert all(
        sorted(row for batch in epoch for row in batch) == list(range(44)) for epoch in epochs
    )
    assert epochs[0] != epochs[1] != epochs[2]


def without_dropout(folder: Path, base: str) -> str:
    shutil.copytree(base, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_the_same_as_with_the_plain_trainer(kind, base, tmp_path):
    """One batch per epoch, so that the order of pairs cannot matter; no dropout, no weight decay."""
    calm = without_dropout(tmp_path / "base", base)
    data = tiny_pairs(8, 3)
    chosen = options(kind, calm, max_steps=4, weight_decay=0.0, warmup_ratio=0.0)
    train(kind, chosen, tmp_path / "ours", data, NO_DEV)
    plain_training(kind, chosen, data, tmp_path / "plain")
    ours, plain = weights(tmp_path / "ours"), weights(tmp_path / "plain")
    untrained = load_weights(calm)
    for name in plain:
        # Softmax cancels a bias on the keys: its gradient is rounding noise, which Adam blows up.
        if not name.endswith("key.bias"):
            np.testing.assert_allclose(ours[name], plain[name], atol=2e-5, err_msg=name)
    vectors = "embeddings.word_embeddings.weight"
    trained = plain[vectors if kind == "bi_encoder" else f"bert.{vectors}"]
    assert not np.allclose(trained, untrained[vectors], atol=1e-4)


def plain_training(kind: str, chosen: Any, data: ScoredPairs, folder: Path) -> None:
    from datasets import Dataset
    from sentence_transformers import CrossEncoderTrainer, SentenceTransformerTrainer
    from sentence_transformers.cross_encoder import CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments,
    )

    arguments = {
        "output_dir": str(folder / "trainer"),
        "max_steps": chosen.max_steps,
        "per_device_train_batch_size": chosen.batch_size,
        "learning_rate": chosen.learning_rate,
        # The cross-encoder always warms up and decays; the plain trainers' own default is linear.
        "lr_scheduler_type": "constant"
        if getattr(chosen, "schedule", "") == "constant"
        else "linear",
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
    }
    dataset = Dataset.from_dict(
        {"a": data.sentences1, "b": data.sentences2, "label": data.scores.astype(np.float32)}
    )
    trainer: Any
    if kind == "bi_encoder":
        model = load_bi_encoder(chosen.base, "cpu", max_length=chosen.max_length)
        trainer = SentenceTransformerTrainer(
            model=model,
            args=SentenceTransformerTrainingArguments(**arguments),
            train_dataset=dataset,
            loss=CosineSimilarityLoss(model),
        )
    else:
        labeler = load_cross_encoder(
            chosen.base, "cpu", max_length=chosen.max_length, for_training=True, seed=chosen.seed
        )
        trainer = CrossEncoderTrainer(
            model=labeler,
            args=CrossEncoderTrainingArguments(**arguments),
            train_dataset=dataset,
            loss=BinaryCrossEntropyLoss(labeler),
        )
    trainer.train()
    trainer.model.save_pretrained(str(folder / "model"), create_model_card=False)


def test_words_outside_the_training_sentences_keep_their_vectors(base, uninterrupted):
    from transformers import AutoTokenizer

    before, after = load_weights(base), weights(uninterrupted["bi_encoder"][0])
    name = "embeddings.word_embeddings.weight"
    assert before[name].shape == after[name].shape
    vocabulary = AutoTokenizer.from_pretrained(base).get_vocab()
    unused, used = vocabulary["sentence"], vocabulary["cat"]
    assert np.array_equal(before[name][unused], after[name][unused])
    assert not np.array_equal(before[name][used], after[name][used])


def test_token_rows_are_what_the_model_would_read(base):
    from augsbert_core.models.tokens import tokenize_rows

    model = load_cross_encoder(base, "cpu", for_training=True, max_length=12)
    pairs = list(zip(TRAIN.sentences1, TRAIN.sentences2, strict=True))
    rows = tokenize_rows(model, pairs)
    chosen = np.array([5, 0, 17])
    expected = model.preprocess([pairs[i] for i in chosen])
    features = rows.features(chosen)
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        assert np.array_equal(features[name].numpy(), expected[name].numpy()), name


def test_padding_may_stand_on_the_left():
    from augsbert_core.models.tokens import TokenRows

    rows = TokenRows(
        ids=np.array([7, 8, 9], dtype=np.int32),
        types=None,
        starts=np.array([0, 1]),
        lengths=np.array([1, 2]),
        pad_left=True,
    )
    features = rows.features(np.array([0, 1]))
    assert features["input_ids"].tolist() == [[0, 7], [8, 9]]
    assert features["attention_mask"].tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_is_used_where_the_device_has_it(kind, base, tmp_path, monkeypatch):
    """Training steps run in bfloat16; weights, loss and dev scores stay in float32."""
    import torch

    from augsbert_core.models import pair_batches, trainer, training

    monkeypatch.setattr(training, "autocast_dtype", lambda device: torch.bfloat16)
    seen = []
    loss_class = trainer.EmbeddingLoss if kind == "bi_encoder" else pair_batches.PairLoss
    forward = loss_class.forward

    def spy(self, features, labels, **kwargs):
        inner = self.model[0].register_forward_hook(
            lambda *_: seen.append(torch.is_autocast_enabled("cpu"))
        )
        loss = forward(self, features, labels, **kwargs)
        inner.remove()
        seen.append(loss.dtype)
        return loss

    monkeypatch.setattr(loss_class, "forward", spy)
    result = train(kind, options(kind, base, max_steps=3), tmp_path)
    assert seen == [True, torch.float32] * 3
    pairs = (DEV.sentences1, DEV.sentences2)
    scores = score_pairs(kind, str(tmp_path / "model"), pairs, device="cpu")
    assert spearman(DEV.scores, scores) == pytest.approx(result.dev_score, abs=1e-6)
    assert {array.dtype for array in weights(tmp_path).values()} == {np.dtype(np.float32)}
