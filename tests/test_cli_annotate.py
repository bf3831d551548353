"""Annotation tasks on the command line: made, scored from a file, measured, merged to gold."""

import csv
from pathlib import Path

import pytest

from augsbert_core.storage import projects
from augsbert_core.storage.database import open_workspace
from tests.conftest import GOLD_CSV
from tests.silver_pairs import sixty_pairs
from tests.test_cli import Terminal


@pytest.fixture
def augsbert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    terminal = Terminal(tmp_path / "home", capsys)
    path = tmp_path / "gold.csv"
    path.write_text(GOLD_CSV, encoding="utf-8")
    terminal.json("import", path, "--project", "P", "--score-range", "0:5")
    return terminal


def new_task(augsbert: Terminal, *more: object) -> int:
    told = augsbert.json("annotate", "new", "-p", "P", "--gold", "--split", "train", *more)
    return int(told["task_id"])


def filled_sheet(augsbert: Terminal, task: int, path: Path, annotator: str, score: str) -> Path:
    """A sheet in which someone has given every pair the same score."""
    augsbert.json("annotate", "sheet", task, "--output", path, "--annotator", annotator)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"score": score} for row in rows)
    return path


def test_a_task_goes_out_as_a_sheet_and_comes_back_with_scores(
    augsbert: Terminal, tmp_path: Path
) -> None:
    task = new_task(augsbert, "--name", "Again", "--people", 2)
    for name, score in (("ann", "4"), ("bob", "4.5")):
        sheet = filled_sheet(augsbert, task, tmp_path / f"{name}.csv", name, score)
        saved = augsbert.json("annotate", "score", task, sheet)["saved"]
        assert saved == {name: 5}
    (listed,) = augsbert.json("annotate", "tasks", "-p", "P")["tasks"]
    assert (listed["name"], listed["n_items"], listed["n_answers"]) == ("Again", 5, 10)
    # Whoever has scored everything gets an empty sheet.
    told = augsbert.json(
        "annotate", "sheet", task, "--output", tmp_path / "a.csv", "--annotator", "ann"
    )
    assert told["n_rows"] == 0

    agreed = augsbert.json("annotate", "agreement", task)
    assert [one["name"] for one in agreed["annotators"]] == ["ann", "bob"]
    assert augsbert("annotate", "agreement", task)[0] == 0

    merged = augsbert.json("annotate", "merge", task)
    assert merged["n_added"] == 0
    assert merged["n_changed"] == 5  # all were something else than 4.25 before
    out = tmp_path / "raw.csv"
    assert augsbert.json("export", "annotations", task, "--output", out)["n_rows"] == 10
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["annotator"], row["label"], float(row["score"])) for row in rows} == {
        ("ann", "4", 0.8),
        ("bob", "4.5", 0.9),
    }
    assert {row["order"] for row in rows} <= {"1-2", "2-1"}


def test_sentences_in_any_order_name_a_pair(augsbert: Terminal, tmp_path: Path) -> None:
    task = new_task(augsbert)
    path = tmp_path / "scores.csv"
    path.write_text(
        "sentence2,sentence1,score,seconds\n"
        "A cat sleeps on the sofa.,A cat is asleep on the couch.,2.5,7\n"
        "A boy plays the guitar.,A girl plays the piano.,,\n",
        encoding="utf-8",
    )
    assert augsbert.json("annotate", "score", task, path, "--annotator", "ann")["saved"] == {
        "ann": 1
    }
    code, _, said = augsbert("annotate", "score", task, path)
    assert (code, "line 2: no annotator" in said) == (1, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,score\n99999,3\n", "line 2: item 99999 is not in this task"),
        ("item,score\n{item},7\n", "line 2: '7' is no score of this task"),
        ("item,score\n{item},good\n", "Give one of 0, 0.5, 1"),
        ("item,score\n{item},3.7\n", "'3.7' is no score of this task. Give one of 0, 0.5, 1"),
        ("item,score\n{item},3\n{item},4\n", "line 3: ann scores this pair in line 2 already"),
        ("item,score,Score\n{item},3,4\n", "2 columns named score, at 2 and 3"),
        ("item,mark\n{item},3\n", "a header with score"),
    ],
)
def test_a_row_that_says_nothing_known_is_named(
    augsbert: Terminal, tmp_path: Path, text: str, said: str
) -> None:
    task = new_task(augsbert)
    sheet = tmp_path / "sheet.jsonl"
    augsbert.json("annotate", "sheet", task, "--output", sheet, "--annotator", "ann")
    item = sheet.read_text(encoding="utf-8").split('"item": ')[1].split(",")[0]
    path = tmp_path / "scores.csv"
    path.write_text(text.format(item=item), encoding="utf-8")
    code, _, error = augsbert("annotate", "score", task, path, "--annotator", "ann")
    assert code == 1
    assert said in error
    assert augsbert.json("annotate", "tasks", "-p", "P")["tasks"][0]["n_answers"] == 0


def test_a_bad_name_in_a_file_saves_nobodys_scores(augsbert: Terminal, tmp_path: Path) -> None:
    task = new_task(augsbert)
    path = tmp_path / "sheet.csv"
    augsbert.json("annotate", "sheet", task, "--output", path, "--annotator", "ann")
    with path.open(encoding="utf-8-sig", newline="") as file:
        items = [row["item"] for row in csv.DictReader(file)]
    rows = [f"{items[0]},3,ann", f"{items[1]},3,{'x' * 300}"]
    path.write_text("item,score,annotator\n" + "\n".join(rows), encoding="utf-8")
    code, _, said = augsbert("annotate", "score", task, path)
    assert code == 1
    assert "line 3: A person needs a name" in said
    assert augsbert.json("annotate", "tasks", "-p", "P")["tasks"][0]["n_answers"] == 0


def test_a_number_between_two_levels_is_refused(augsbert: Terminal, tmp_path: Path) -> None:
    task = new_task(augsbert, "--scale", "binary")
    sheet = filled_sheet(augsbert, task, tmp_path / "a.csv", "ann", "0.37")
    code, _, said = augsbert("annotate", "score", task, sheet)
    assert code == 1
    assert "'0.37' is no score of this task. Give one of no (0), yes (1)" in said
    sheet = filled_sheet(augsbert, task, tmp_path / "b.csv", "ann", "1")
    assert augsbert.json("annotate", "score", task, sheet)["saved"] == {"ann": 5}


def test_words_are_scores(augsbert: Terminal, tmp_path: Path) -> None:
    levels = ("--level", "no=0", "--level", "partly=0.5", "--level", "same=1")
    task = new_task(augsbert, "--scale", "custom", *levels)
    sheet = filled_sheet(augsbert, task, tmp_path / "a.csv", "ann", "Partly")
    assert augsbert.json("annotate", "score", task, sheet)["saved"] == {"ann": 5}
    code, _, said = augsbert(
        "annotate", "new", "-p", "P", "--gold", "--scale", "custom", "--level", "no"
    )
    assert (code, "Write it as WORD=SCORE" in said) == (1, True)


def test_a_task_needs_one_source(augsbert: Terminal) -> None:
    assert augsbert("annotate", "new", "-p", "P")[0] == 2
    assert augsbert("annotate", "new", "-p", "P", "--gold", "--silver", 1)[0] == 2


def test_a_task_is_closed_opened_and_deleted(augsbert: Terminal, tmp_path: Path) -> None:
    task = new_task(augsbert)
    sheet = filled_sheet(augsbert, task, tmp_path / "a.csv", "ann", "3")
    assert augsbert("annotate", "close", task)[0] == 0
    code, _, said = augsbert("annotate", "score", task, sheet)
    assert (code, "closed" in said) == (1, True)
    assert augsbert("annotate", "reopen", task)[0] == 0
    assert augsbert("annotate", "score", task, sheet)[0] == 0
    code, _, said = augsbert("annotate", "delete", task)
    assert (code, "with 5 scores" in said) == (1, True)
    code, out, _ = augsbert("annotate", "delete", task, "--yes")
    assert (code, "with 5 scores" in out) == (0, True)
    assert augsbert("annotate", "delete", task, "--yes")[0] == 1


def test_a_guideline_is_set_from_a_file_and_printed(augsbert: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text("5: **the same**\n", encoding="utf-8")
    assert augsbert("annotate", "guideline", path, "-p", "P")[0] == 0
    assert augsbert("annotate", "guideline", "-p", "P")[1] == "5: **the same**\n"
    assert augsbert("annotate", "guideline", tmp_path / "none.md", "-p", "P")[0] == 1


def test_a_guideline_that_is_there_is_replaced_only_when_that_is_said(
    augsbert: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "theirs.md").write_text("Theirs.", encoding="utf-8")
    (tmp_path / "mine.md").write_text("Mine.", encoding="utf-8")
    command = ("annotate", "guideline", "-p", "P")
    assert augsbert(*command, tmp_path / "theirs.md")[0] == 0
    assert augsbert(*command, tmp_path / "theirs.md")[0] == 0, "the same text replaces nothing"
    code, _, said = augsbert(*command, tmp_path / "mine.md")
    assert (code, "P has another guideline already" in said, "--replace" in said) == (1, True, True)
    assert augsbert(*command)[1] == "Theirs.\n"
    assert augsbert(*command, tmp_path / "mine.md", "--replace")[0] == 0
    assert augsbert(*command)[1] == "Mine.\n"


def test_an_audit_asks_for_its_silver_set_alone(augsbert: Terminal, tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path / "home")
    (project,) = projects.list_projects(workspace)
    silver = sixty_pairs(workspace, project)
    drawn = augsbert.json("audit", "draw", silver, "--pairs", 6)
    assert (drawn["silver_set_id"], drawn["n_pairs"]) == (silver, 6)
    reported = augsbert.json("audit", "report", silver)
    assert (reported["task_id"], reported["n_scored"]) == (drawn["task_id"], 0)
    for command in ("draw", "report"):
        code, _, said = augsbert("audit", command, 99)
        assert (code, "99" in said) == (1, True)


def test_every_queue_is_listed(augsbert: Terminal) -> None:
    from augsbert_core.queues import QUEUES

    listed = augsbert.json("annotate", "queues")["queues"]
    assert [one["name"] for one in listed] == list(QUEUES)


def test_a_new_task_says_why_it_has_fewer_pairs_and_its_name_once(augsbert: Terminal) -> None:
    _, said, _ = augsbert(
        "annotate", "new", "-p", "P", "--gold", "--split", "train", "--pairs", 200
    )
    assert said.splitlines()[0] == "Task 1: 5 pairs."
    assert "lowered from 200 to 5" in said


def test_a_sheet_says_the_scale(augsbert: Terminal, tmp_path: Path) -> None:
    task = new_task(augsbert)
    told = augsbert.json(
        "annotate", "sheet", task, "--output", tmp_path / "a.csv", "--annotator", "a"
    )
    assert told["scale"] == "a number from 0 to 5"
    assert "scale" in (tmp_path / "a.csv").read_text(encoding="utf-8-sig").splitlines()[0]


def test_best_worst_tasks_are_made_with_their_tuples(augsbert: Terminal) -> None:
    told = augsbert.json(
        "annotate", "new", "-p", "P", "--gold", "--kind", "best-worst", "--tuples-per-pair", 1
    )
    assert (told["kind"], told["n_items"], told["n_tuples"]) == ("best-worst", 11, 11)


def test_an_audit_is_drawn_by_score_regions_without_saying_so(augsbert: Terminal) -> None:
    workspace = open_workspace(augsbert.home)
    (project,) = projects.list_projects(workspace)
    silver = sixty_pairs(workspace, project)
    told = ("annotate", "new", "-p", "P", "--silver", silver, "--purpose", "audit", "--pairs", 10)
    assert augsbert.json(*told)["queue"] == "score-strata"
    code, _, said = augsbert(*told, "--queue", "random")
    assert code == 1
    assert "take the queue score-strata, not random" in said
    assert augsbert.json("annotate", "new", "-p", "P", "--silver", silver)["queue"] == "random"


def test_a_name_is_kept_as_it_can_be_read(augsbert: Terminal, tmp_path: Path) -> None:
    task = new_task(augsbert)
    sheet = filled_sheet(augsbert, task, tmp_path / "a.csv", "ann", "3")
    named = ("annotate", "score", task, sheet, "--annotator")
    code, _, said = augsbert(*named, "\u202e\x00 ")
    assert code == 1
    assert "A person needs a name" in said
    assert list(augsbert.json(*named, " A\x00da\u202e  B. ")["saved"].values()) == [5]
    people = augsbert.json("annotate", "agreement", task)["annotators"]
    assert [one["name"] for one in people] == ["Ada B."]
