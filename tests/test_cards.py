"""Cards and scripts as text: what they say of which facts, and that Python can read them."""

import ast
import json
import tomllib
from dataclasses import replace

import pytest
import yaml

from augsbert_core.cards import ModelFacts, Score, SilverFacts, data_card, is_hub_name, model_card
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, Stage, from_json
from augsbert_core.scripts import (
    BiEncoderScript,
    CrossEncoderScript,
    bi_encoder_script,
    cross_encoder_script,
)
from augsbert_core.steps.recipes import from_toml
from augsbert_core.toml_text import to_toml

FACTS = ModelFacts(
    kind="bi-encoder",
    base="sentence-transformers/all-MiniLM-L6-v2",
    layers=2,
    max_length=128,
    scale=(0.0, 5.0),
    task="regression",
    n_gold=1000,
    n_silver=5800,
    n_dev=1500,
    n_test=1379,
    recipe="epochs = 4\n",
    metric="spearman",
    dev_score=0.81,
    threshold=None,
    n_steps=1700,
    best_step=1360,
    seconds=120.4,
    device="cpu",
    seed=42,
    n_seeds=1,
    data_hash="0123456789abcdef",
    versions={"sentence-transformers": "6.2.0", "torch": "2.13.0"},
    scores=(
        Score("**this model**", 0.75, 0.72, 0.78, 1000, 5800),
        Score("its base, untrained (cosine)", 0.70, 0.67, 0.73),
    ),
    baseline=1,
)
SILVER = SilverFacts(
    strategy="BM25 top-5",
    labeler="run 3",
    n_candidates=60,
    n_pairs=60,
    passes=60,
    scale=(0.0, 5.0),
    statuses={"unreviewed": 57, "corrected": 2, "rejected": 1},
    histogram=[30, 20, 0, 10],
    options={"Sample candidates": "top_k = 5\n"},
)


def header(card: str) -> dict:
    """The YAML at the top, as the hub reads it."""
    return yaml.safe_load(card.split("---\n")[1])


def test_the_header_of_a_model_card_is_what_the_hub_expects() -> None:
    found = header(model_card(FACTS))
    assert found["library_name"] == "sentence-transformers"
    assert found["pipeline_tag"] == "sentence-similarity"
    assert found["base_model"] == FACTS.base
    assert "augsbert" in found["tags"]
    cross = header(model_card(replace(FACTS, kind="cross-encoder", base=None)))
    assert cross["pipeline_tag"] == "text-ranking"
    assert "base_model" not in cross, "a folder is no model on the hub"


def test_a_model_card_shows_sizes_scores_recipe_and_citation() -> None:
    card = model_card(FACTS)
    for words in (
        "| **this model** | 75.0 | 72.0 to 78.0 | 1,000 | 5,800 |",
        "| its base, untrained (cosine) | 70.0 | 67.0 to 73.0 | 0 | 0 |",
        "first 2 layers",
        "step 1,360 of 1,700",
        "1,379 test pairs",
        "5,800 of 6,800 training pairs carry the scores of a model",
        "language and the domain",
        "epochs = 4",
        "0123456789abcdef",
        "torch 2.13.0",
        "arxiv.org/abs/2010.08240",
    ):
        assert words in card, words
    assert "trust_remote_code" not in card


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": (), "baseline": None}, "Not measured on test pairs"),
        ({"n_dev": 0}, "weights are those of the last step"),
        ({"scores": (Score("m", 0.6), Score("b", 0.7))}, "not better than its untrained base"),
        ({"baseline": None}, "untrained base was not measured"),
        ({"n_seeds": 5, "seed": 44}, "Of 5 seeds the best on dev"),
        ({"threshold": 0.61}, "positive from a score of 0.6100"),
        ({"modules": ("augsbert_core.models.x.Y",)}, "trust_remote_code=True"),
        ({"warm_start_pairs": 4000}, "4,000 unlabelled pairs"),
        ({"other_data": {"NLI pairs": 900}}, "| NLI pairs, training | 900 |"),
        ({"gold_changed": True}, "Gold pairs have changed"),
        ({"silver": SILVER}, "BM25 top-5, labelled by run 3"),
    ],
)
def test_a_card_says_what_follows_from_the_facts(change: dict, words: str) -> None:
    assert words in model_card(replace(FACTS, **change))
    assert words not in model_card(FACTS)


def test_a_data_card_counts_statuses_and_scores() -> None:
    card = data_card(SILVER)
    assert "silver" in header(card)["tags"]
    for words in (
        "| corrected | 2 |",
        "| 0 to 1.25 | 30 | 50.0 |",
        "| 3.75 to 5 | 10 | 16.7 |",
        "top_k = 5",
    ):
        assert words in card, words
    assert "order_gap" not in card
    assert "order_gap" in data_card(replace(SILVER, orders_known=True))


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("google-bert/bert-base-uncased", True),
        ("gpt2", True),
        ("/home/me/model", False),
        ("./model", False),
        ("../a/b", False),
        ("C:\\models\\mine", False),
        ("a/b/c", False),
        ("~/model", False),
    ],
)
def test_a_path_is_told_from_a_name_on_the_hub(name: str, is_one: bool) -> None:
    assert is_hub_name(name) == is_one


def test_options_survive_toml() -> None:
    told = BiEncoderOptions(
        base='a"b\\c\n\u00e9\x7f',
        layers=3,
        learning_rate=1e-5,
        stages=(Stage("nli", "softmax", epochs=1), Stage("gold", "cosent", scale=20.0)),
    )
    text = to_toml(told, comments=["two", "lines"])
    assert tomllib.loads(text)["stages"][1] == {"data": "gold", "loss": "cosent", "scale": 20.0}
    assert from_toml(text) == told
    labeler = CrossEncoderOptions(hidden=200)
    assert from_json(CrossEncoderOptions, json.dumps(tomllib.loads(to_toml(labeler)))) == labeler


COMMON = {
    "run_id": 7, "base": None, "layers": 2, "max_length": 64, "scale": (0.0, 5.0), "metric": "spearman",
    "seed": 3, "gold_limit": 20, "silver_weight": 0.5, "patience": 2, "versions": {},
}  # fmt: skip
STAGE = {
    "epochs": 1, "max_steps": None, "batch_size": 8, "learning_rate": 2e-5, "schedule": "warmup",
    "warmup_ratio": 0.1, "weight_decay": 0.01, "scale": 20.0,
}  # fmt: skip
EVERY_STAGE = tuple(
    STAGE | {"data": data, "loss": loss}
    for data, loss in (
        ("nli", "softmax"), ("nli", "mnrl"), ("triplets", "triplet"), ("triplets", "mnrl"),
        ("gold+silver", "cosine"), ("silver", "mnrl"), ("gold", "triplet"), ("gold", "cosent"),
        ("silver", "angle"),
    )
)  # fmt: skip


def unknown_names(script: str) -> set[str]:
    """Names that a script reads and nowhere defines."""
    import builtins

    tree = ast.parse(script)
    read, known = set(), set(dir(builtins)) | {"__doc__", "__name__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).split(".")[0])
    return read - known


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("pooling", ["own", "max", "attention"])
def test_a_bi_encoder_script_defines_all_that_it_uses(pooling: str, hard: bool) -> None:
    for metric in ("spearman", "f1"):
        facts = BiEncoderScript(
            **COMMON | {"metric": metric},
            stages=EVERY_STAGE,
            pooling=pooling,
            gold_repeats=2,
            symmetric=True,
            hard_negatives=hard,
        )
        text = bi_encoder_script(facts)
        assert not unknown_names(text)
        assert "augsbert_core" not in text


@pytest.mark.parametrize("head", ["own", "plain", "pooled", "cls"])
@pytest.mark.parametrize("loss", ["bce", "mse", "ranknet", "lambda", "listnet"])
def test_a_cross_encoder_script_defines_all_that_it_uses(head: str, loss: str) -> None:
    ranks = loss not in ("bce", "mse")
    facts = CrossEncoderScript(
        **COMMON | ({"silver_weight": 1.0} if ranks else {}),
        head=head,
        hidden=8 if head in ("pooled", "cls") else None,
        loss=loss,
        both_orders=True,
        use_silver=True,
        warm_start_pairs=100,
        training=STAGE,
    )
    text = cross_encoder_script(facts)
    assert not unknown_names(text)
    assert "augsbert_core" not in text


def test_a_script_holds_only_what_its_recipe_needs() -> None:
    plain = COMMON | {"gold_limit": None, "silver_weight": 1.0, "patience": 0, "layers": None}
    told = BiEncoderScript(**plain, stages=(STAGE | {"data": "gold", "loss": "cosine"},))
    text = bi_encoder_script(told)
    for word in (
        "args.silver",
        "nli",
        "triplet",
        "Weighted",
        "limited",
        "EarlyStopping",
        "num_hidden",
    ):
        assert word not in text.partition("import argparse")[2], word
    assert "learning_rate=2e-05" in text
