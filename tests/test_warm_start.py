"""Warm start: when it applies, what it learns from, and how it is reported."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.evaluation import score_pairs
from augsbert_core.models.model_folders import count_hidden, count_layers
from augsbert_core.options import CrossEncoderOptions, to_json
from augsbert_core.pairs import sentence_key
from augsbert_core.steps import warm_start as warm
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.train import train_cross_encoder
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.conftest import GOLD_CSV
from tests.tiny import tiny_bert


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("base"), [GOLD_CSV.replace(",", " ")])


@pytest.fixture(scope="module")
def encoder(base, tmp_path_factory) -> str:
    """A sentence encoder: it pools its tokens."""
    folder = str(tmp_path_factory.mktemp("encoder"))
    load_bi_encoder(base, "cpu").save_pretrained(folder, create_model_card=False)
    return folder


@pytest.fixture
def options(encoder: str) -> CrossEncoderOptions:
    return CrossEncoderOptions(
        base=encoder, warm_start_pairs=10, epochs=2, batch_size=4, learning_rate=1e-3
    )


def context_for(workspace: Workspace, project: Project, options, told: list | None = None):
    run_id = runs.add_run(
        workspace, project.id, "train-cross-encoder", "test", to_json(options), options.seed
    )

    def report(fraction, message, metrics=None, step=None):
        if told is not None:
            told.append((fraction, message, metrics or {}, step))

    return StepContext(workspace, project, runs.get_run(workspace, run_id), report=report)


@pytest.mark.parametrize(
    ("asked", "n_gold", "wanted"),
    [("auto", 2999, True), ("auto", 3000, False), ("on", 3000, True), ("off", 10, False)],
)
def test_a_sentence_encoder_with_little_gold_is_warmed(asked, n_gold, wanted, options):
    assert warm.wants_warm_start(replace(options, warm_start=asked), n_gold) is wanted


def test_a_plain_transformer_has_no_cosines_to_learn_from(base):
    options = CrossEncoderOptions(base=base)
    assert not warm.wants_warm_start(options, 10)
    with pytest.raises(WorkbenchError, match="is no sentence encoder"):
        warm.wants_warm_start(replace(options, warm_start="on"), 10)


def test_impossible_warm_starts_are_refused_without_looking_for_the_base():
    nowhere = CrossEncoderOptions(base="no/such-model")
    with pytest.raises(WorkbenchError, match="Choose one of auto, on, off"):
        warm.wants_warm_start(replace(nowhere, warm_start="maybe"), 0)
    with pytest.raises(WorkbenchError, match="on 1 pairs teaches nothing"):
        warm.wants_warm_start(replace(nowhere, warm_start_pairs=1), 0)
    assert not warm.wants_warm_start(nowhere, 0)


def test_half_of_the_pairs_are_neighbours_and_none_is_gold(workspace, project, options):
    # 7 training sentences make 21 pairs, of which 5 are gold.
    context = context_for(workspace, project, options)
    pairs = warm.warm_start_pairs(context, replace(options, warm_start_pairs=8))
    found = {frozenset(pair) for pair in zip(pairs.sentences1, pairs.sentences2, strict=True)}
    assert len(found) == len(pairs) <= 8
    train = gold.scored_pairs(workspace, project.id, "train")
    known = {frozenset(pair) for pair in zip(train.sentences1, train.sentences2, strict=True)}
    assert not found & known
    assert set().union(*found) <= {sentence_key(text) for text in set().union(*known)}
    again = warm.warm_start_pairs(context, replace(options, warm_start_pairs=8))
    assert again.sentences1 == pairs.sentences1


def test_the_whole_base_teaches_also_when_few_layers_learn(
    workspace, project, options, monkeypatch
):
    """The labels are the cosines of the uncut base, negative ones as 0."""
    seen = {}

    def stop_there(pairs, dev, told, folder, **how):
        seen.update(pairs=pairs, told=told)
        raise KeyboardInterrupt

    monkeypatch.setattr(warm.cross_encoder, "train_cross_encoder", stop_there)
    with pytest.raises(KeyboardInterrupt):
        warm.warm_start(
            context_for(workspace, project, options), replace(options, layers=1, loss="mse")
        )
    pairs = seen["pairs"]
    cosines = score_pairs(
        "bi_encoder", options.base, (pairs.sentences1, pairs.sentences2), device="cpu"
    )
    np.testing.assert_allclose(pairs.scores, np.clip(cosines, 0, 1), atol=1e-6)
    assert (seen["told"].layers, seen["told"].loss, seen["told"].epochs) == (1, "bce", 1)


def test_gold_goes_on_from_the_warm_model_with_its_layers_and_head(workspace, project, options):
    told: list = []
    chosen = replace(options, layers=1, hidden=6)
    context = context_for(workspace, project, chosen, told)
    result = train_cross_encoder(context, chosen)
    assert 0 < result["warm_start_pairs"] <= 10
    model = context.folder / "model"
    assert (count_layers(model, "it"), count_hidden(model)) == (1, 6)
    assert not (context.folder / "warm-start").exists()

    fractions = [fraction for fraction, *_ in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)
    first = [message for fraction, message, *_ in told if fraction < warm.GOLD_FROM]
    assert first
    assert all(message.startswith("Warm start (1 of 2) · ") for message in first)
    assert not any(message.startswith("Warm") for f, message, *_ in told if f > warm.GOLD_FROM)


def test_a_warm_start_that_was_finished_is_not_done_again(workspace, project, options, monkeypatch):
    context = context_for(workspace, project, options)
    first = warm.warm_start(context, options)
    assert first is not None
    record = json.loads((Path(first.location).parent / warm.RECORD).read_text())
    assert record == {"n_pairs": first.n_pairs, "seconds": first.seconds}
    monkeypatch.setattr(warm.cross_encoder, "train_cross_encoder", None)
    assert warm.warm_start(context, options) == first
