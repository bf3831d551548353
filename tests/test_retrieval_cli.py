"""Commands about neighbours and words: import, augment, rerank, mine-negatives, try and search."""

import json
from pathlib import Path

import pytest

from tests.conftest import GOLD_CSV
from tests.test_cli import Terminal
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_masked_model

WORDS = ["a cat dog sofa couch boy girl guitar piano field sleeps runs plays on the"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_bert(folder / "bi", WORDS)
    tiny_cross_encoder(folder / "cross", WORDS)
    tiny_masked_model(folder / "masked", WORDS)
    return folder


@pytest.fixture
def augsbert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """A command line with the tiny gold pairs in project "G"."""
    terminal = Terminal(tmp_path / "home", capsys)
    (tmp_path / "gold.csv").write_text(GOLD_CSV, encoding="utf-8")
    terminal.json("import", tmp_path / "gold.csv", "-p", "G", "--score-range", "0:5")
    return terminal


def test_nli_pairs_and_triplets_are_imported(augsbert: Terminal, tmp_path: Path) -> None:
    nli, triplets = tmp_path / "nli.tsv", tmp_path / "triplets.tsv"
    nli.write_text("one\ttwo\tentailment\nthree\tfour\t-\n", encoding="utf-8")
    triplets.write_text("one two\tthree\tfour\n", encoding="utf-8")
    report = augsbert.json("import", nli, "-p", "G", "--kind", "nli")
    assert (report["pairs_kept"], report["rejected"]) == (1, 1)
    assert augsbert.json("import", triplets, "-p", "G", "--kind", "triplets")["pairs_kept"] == 1


def test_two_sentences_are_scored_by_several_models(augsbert: Terminal, models: Path) -> None:
    told = ("--run", models / "bi", "--run", f"cross:{models / 'cross'}")
    scores = augsbert.json("try", "-p", "G", *told, "A cat sleeps.", "A dog runs.")["scores"]
    assert [score["kind"] for score in scores] == ["bi_encoder", "cross_encoder"]
    code, out, _ = augsbert("try", "-p", "G", *told, "A cat sleeps.", "A dog runs.")
    assert code == 0
    assert "cosine" in out
    assert "no calibrated score" in out


def test_a_query_is_searched(augsbert: Terminal, models: Path) -> None:
    told = ("search", "-p", "G", "A boy plays the guitar.", "--run", models / "bi", "--top", 2)
    found = augsbert.json(*told)
    assert found["hits"][0]["text"] == "A boy plays the guitar."
    code, out, _ = augsbert(*told, "--rerank", f"cross:{models / 'cross'}")
    assert code == 0
    assert "reranked in" in out


def test_negatives_are_written_to_a_new_file(augsbert: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "negatives.jsonl"
    told = ("mine-negatives", "-p", "G", "--positive-from", 0.6, "--output", file)
    result = augsbert.json(*told)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == result["n_queries"] == 3
    code, _, err = augsbert(*told)
    assert (code, "exists already" in err) == (1, True)


def test_rerankers_are_judged(augsbert: Terminal, models: Path) -> None:
    told = ("--reranker", models / "cross", "--first-stage", models / "bi", "--depth", 3)
    code, out, err = augsbert("rerank", "-p", "G", *told, "--relevant-from", 0.5)
    assert code == 0, err
    assert "first stage" in out
    assert "count as irrelevant" in out


def test_gold_is_copied_with_words_replaced(augsbert: Terminal, models: Path) -> None:
    result = augsbert.json("augment", "-p", "G", "--model", models / "masked", "--per-pair", 2)
    assert result["n_copies"] + result["n_left_out"] == 10
    code, _, err = augsbert("augment", "-p", "G", "--model", models / "bi")
    assert (code, "no head that predicts masked words" in err) == (1, True)
