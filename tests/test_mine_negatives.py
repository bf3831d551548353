"""Negatives mined for training elsewhere."""

import csv
import json
from dataclasses import replace

import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions, NegativesOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.mine_negatives import check_mining, warn_about
from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_texts

TEXTS = list(dict.fromkeys(tiny_texts(80, 3)))[:60]


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """30 training pairs: of each sentence of the first ten, one good, one middling and one bad partner."""
    made = projects.create_project(workspace, "Mine")
    lines = [
        f"{TEXTS[row]},{TEXTS[20 + 3 * row + place]},{score}"
        for row in range(10)
        for place, score in enumerate((0.9, 0.6, 0.1))
    ]
    lines.append("=cat dog red,+cat dog blue,1.0")
    data = ("sentence1,sentence2,score\n" + "\n".join(lines)).encode()
    import_file(
        workspace, made.id, data, "x.csv", ImportOptions(score_range=(0.0, 1.0), split="train")
    )
    return projects.get_project(workspace, made.id)


def mine(workspace: Workspace, project: Project, **told: object) -> tuple[dict, list[dict]]:
    options = replace(NegativesOptions(device="cpu"), **told)
    found = jobs.run_in_foreground(workspace, project.id, "mine-negatives", options)
    text = (workspace.home / found["jsonl"]).read_text(encoding="utf-8")
    return found, [json.loads(line) for line in text.splitlines()]


def test_every_positive_gets_its_negatives_and_none_of_them_is_a_positive(
    workspace: Workspace, project: Project
) -> None:
    found, rows = mine(workspace, project, per_positive=3)
    assert found["n_queries"] == len(rows) == 11
    for row in rows:
        assert len(row["positives"]) == 1
        assert len(row["negatives"]) <= 3
        assert len(set(row["negatives"])) == len(row["negatives"])
        assert row["query"] not in row["negatives"]
        assert not set(row["positives"]) & set(row["negatives"])
    assert found["n_negatives"] == sum(len(row["negatives"]) for row in rows)


def test_a_pair_that_people_scored_in_between_is_no_negative(
    workspace: Workspace, project: Project
) -> None:
    _, rows = mine(workspace, project, per_positive=50)
    by_query = {row["query"]: row["negatives"] for row in rows}
    for place in range(10):
        negatives = by_query[TEXTS[place]]
        assert TEXTS[20 + 3 * place] not in negatives
        assert TEXTS[20 + 3 * place + 1] not in negatives


def test_the_labeler_filters_likely_positives_and_says_how_many(
    workspace: Workspace, project: Project, tmp_path
) -> None:
    labeler = tiny_cross_encoder(tmp_path / "labeler")
    _, loose = mine(workspace, project, per_positive=2)
    found, strict = mine(workspace, project, per_positive=2, labeler=labeler)
    assert found["n_dropped"] > 0
    assert any("likely positives" in note for note in found["notices"])
    assert strict != loose


def test_the_table_opens_safely_in_a_spreadsheet(workspace: Workspace, project: Project) -> None:
    found, rows = mine(workspace, project, per_positive=2)
    with (workspace.home / found["csv"]).open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == ["query", "positive", "negative_1", "negative_2"]
    assert len(table) == 1 + found["n_positives"]
    formula = next(row for row in table if "cat dog red" in row[0])
    assert formula[:2] == ["'=cat dog red", "'+cat dog blue"]
    assert any(row["query"] == "=cat dog red" for row in rows)  # JSON lines are as typed


def test_a_bi_encoder_can_find_the_negatives(
    workspace: Workspace, project: Project, tmp_path
) -> None:
    base = tiny_bert(tmp_path / "base")
    found, rows = mine(workspace, project, source=f"model:{base}", per_positive=2)
    assert found["n_negatives"] == 2 * len(rows)


def test_many_negatives_are_warned_about() -> None:
    assert warn_about(NegativesOptions(per_positive=12)) is None
    assert "13 negatives" in (warn_about(NegativesOptions(per_positive=13)) or "")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"per_positive": 0}, "Give 1 to 100"),
        ({"negative_below": 0.9}, "overlap"),
        ({"source": "jaccard"}, "is no bi-encoder"),
        ({"positive_from": 1.0, "split": "dev"}, "no positive to mine"),
    ],
)
def test_what_cannot_be_mined_is_refused(
    workspace: Workspace, project: Project, wrong: dict, words: str
) -> None:
    with pytest.raises(WorkbenchError, match=words):
        check_mining(workspace, project, replace(NegativesOptions(), **wrong))
