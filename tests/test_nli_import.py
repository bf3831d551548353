"""NLI pairs and triplets: the same way in and out as gold pairs, and rows to train on."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import NLI_LABELS
from augsbert_core.importing.triplets_from_nli import triplets_from_nli
from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import ImportReport, import_file, plan_import
from augsbert_core.storage import gold, nli, projects, sentences, triplets
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import Project

NLI = (
    "premise,hypothesis,label\n"
    "A man plays a guitar.,Someone makes music.,entailment\n"
    "A man plays a guitar.,The man sleeps.,Contradiction\n"
    "A man plays a guitar.,The man is famous.,NEUTRAL\n"
    "A cat sleeps on the sofa.,An animal rests.,entailment\n"
)
TRIPLETS = (
    "anchor,positive,negative\n"
    "A man plays a guitar.,Someone makes music.,A man eats a pear.\n"
    "It rains.,Water falls.,The sun shines.\n"
)


def bring_in(workspace: Workspace, project: Project, text: str, kind: str, **told) -> ImportReport:
    options = ImportOptions(kind=kind, **told)
    return import_file(workspace, project.id, text.encode(), f"{kind}.csv", options)


def count(workspace: Workspace, table: str) -> int:
    with reading(workspace) as db:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_nli_rows_train_as_classes(workspace: Workspace, project: Project) -> None:
    report = bring_in(workspace, project, NLI, "nli")
    assert (report.rows_read, report.pairs_kept, report.rejected) == (4, 4, [])
    rows = nli.nli_training_rows(workspace, project.id)
    premises, hypotheses = rows.columns()
    assert premises[:2] == ["A man plays a guitar."] * 2
    assert hypotheses[3] == "An animal rests."
    assert rows.labels.tolist() == [nli.ENTAILMENT, nli.CONTRADICTION, nli.NEUTRAL, nli.ENTAILMENT]
    assert len(rows.texts) == len(set(rows.texts)) == 6
    assert nli.count_nli(workspace, project.id) == {
        "entailment": 2,
        "neutral": 1,
        "contradiction": 1,
    }


def test_an_nli_file_makes_triplets(workspace: Workspace, project: Project) -> None:
    report = bring_in(workspace, project, NLI, "triplets")
    rows = triplets.triplet_training_rows(workspace, project.id)
    assert rows.columns() == [
        ["A man plays a guitar."],
        ["Someone makes music."],
        ["The man sleeps."],
    ]
    assert (report.rows_read, report.pairs_kept, report.rejected) == (4, 1, [])
    assert any("1 triplet was made of 4 NLI pairs" in note for note in report.notes)
    assert any("1 of 2 premises" in note for note in report.notes)
    assert nli.count_nli(workspace, project.id)["entailment"] == 0


def test_triplets_of_numbered_labels_say_how_they_were_read() -> None:
    text = "premise\thypothesis\tlabel\na b\tc d\t0\na b\te f\t2\na b\tg h\t-1\n"
    plan = plan_import(text.encode(), "nli.tsv", ImportOptions(kind="triplets"))
    assert (plan.texts, plan.lines) == ([("a b", "c d", "e f")], [2])
    assert any("0, 1 and 2 were read as entailment" in note for note in plan.notes)
    assert [row.reason for row in plan.rejected] == ["People did not agree on a label: '-1'"]


def test_each_sentence_is_in_one_triplet_at_most() -> None:
    """The first entailment of a premise goes with its first contradiction, in whatever order they come."""
    rows = [
        (1, "A  b", "no 1", "contradiction"),
        (2, "C d", "yes", "entailment"),
        (3, "A b", "yes 1", "entailment"),
        (4, "A b", "yes 2", "entailment"),
        (5, "E f", "no", "contradiction"),
        (6, "E f", "yes", "entailment"),
        (7, "A b", "yes 3", "entailment"),
        (8, "A b ", "no 2", "contradiction"),
        (9, "G h", "maybe", "neutral"),
    ]
    made, notes = triplets_from_nli(rows, "nli.tsv")
    assert made == [
        (3, "A b", "yes 1", "no 1"),
        (4, "A b", "yes 2", "no 2"),
        (6, "E f", "yes", "no"),
    ]
    assert notes == [
        "3 triplets were made of 9 NLI pairs: a premise, a sentence that it entails and one that it contradicts, each "
        "of these used once. 3 pairs are in no triplet.",
        "2 of 4 premises have no such sentence of one kind or the other and were left out.",
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(NLI_LABELS)), max_size=30))
def test_as_many_triplets_as_possible_are_made_of_nli_pairs(pairs: list[tuple[str, str]]) -> None:
    rows = [(line, premise, f"{line}", label) for line, (premise, label) in enumerate(pairs)]
    count = Counter(pairs)
    possible = sum(min(count[p, "entailment"], count[p, "contradiction"]) for p in "abc")
    if not possible:
        with pytest.raises(WorkbenchError, match="No triplet can be made of file"):
            triplets_from_nli(rows, "file")
        return
    made, _ = triplets_from_nli(rows, "file")
    assert len(made) == possible
    assert [line for line, *_ in made] == sorted(line for line, *_ in made)
    used = [int(text) for _, _, *texts in made for text in texts]
    assert len(set(used)) == 2 * possible
    for line, anchor, positive, negative in made:
        assert pairs[line] == pairs[int(positive)] == (anchor, "entailment")
        assert pairs[int(negative)] == (anchor, "contradiction")


def test_an_nli_file_without_a_contradiction_makes_no_triplets() -> None:
    text = NLI.replace("Contradiction", "neutral")
    with pytest.raises(
        WorkbenchError, match=r"No triplet can be made of x\.csv: .* Import it as nli"
    ):
        plan_import(text.encode(), "x.csv", ImportOptions(kind="triplets"))


def test_numbers_are_labels_in_the_order_of_snli_and_said_so(
    workspace: Workspace, project: Project
) -> None:
    report = bring_in(workspace, project, "0\ta b\tc d\n1\te f\tg h\n2\ti j\tk l\n", "nli")
    assert any("0, 1 and 2 were read as entailment" in note for note in report.notes)
    labels = nli.nli_training_rows(workspace, project.id).labels.tolist()
    assert labels == [nli.ENTAILMENT, nli.NEUTRAL, nli.CONTRADICTION]


def test_rows_without_an_agreed_label_are_rejected_with_their_line() -> None:
    text = "gold_label\tsentence1\tsentence2\n-\ta b\tc d\nentailment\te f\t \nmaybe\tg\th\nneutral\tg\th\n"
    plan = plan_import(text.encode(), "snli.txt", ImportOptions(kind="nli"))
    assert plan.texts == [("g", "h", "neutral")]
    assert [(row.line, row.reason.partition(":")[0]) for row in plan.rejected] == [
        (2, "People did not agree on a label"),
        (3, "Hypothesis is blank"),
        (4, "Label is none of entailment, neutral, contradiction, 0, 1, 2"),
    ]


def test_the_files_of_snli_are_recognised() -> None:
    header = (
        "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\t"
        "sentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\n"
    )
    row = "neutral\t( a )\t( b )\t(ROOT a)\t(ROOT b)\tA dog.\tA pet.\t1.jpg#4\t1.jpg#4r1n\tneutral\t\t\t\t\n"
    plan = plan_import((header + row * 2).encode(), "snli_1.0_train.txt", ImportOptions(kind="nli"))
    assert plan.texts == [("A dog.", "A pet.", "neutral")] * 2


def test_triplets_come_in_named_or_as_three_columns(workspace: Workspace, project: Project) -> None:
    bring_in(workspace, project, TRIPLETS, "triplets")
    bring_in(workspace, project, "one two\tthree four\tfive six\n", "triplets")
    rows = triplets.triplet_training_rows(workspace, project.id)
    assert [column[1] for column in rows.columns()] == [
        "It rains.",
        "Water falls.",
        "The sun shines.",
    ]
    assert [column[2] for column in rows.columns()] == ["one two", "three four", "five six"]
    assert triplets.count_triplets(workspace, project.id) == 3


def test_columns_can_be_named_in_any_order(workspace: Workspace, project: Project) -> None:
    text = "bad,far,near,score\nx y,a b,a c,1\nx z,a d,a e,2\nx u,a f,a g,3\n"
    bring_in(workspace, project, text, "triplets", columns=("far", "near", "0"))
    rows = triplets.triplet_training_rows(workspace, project.id)
    assert [column[0] for column in rows.columns()] == ["a b", "a c", "x y"]


def test_unrecognised_columns_are_asked_for_by_name() -> None:
    with pytest.raises(WorkbenchError, match="--columns PREMISE,HYPOTHESIS,LABEL"):
        plan_import(b"a\tb\tc\nd\te\tf\n", "x.tsv", ImportOptions(kind="nli"))


def test_nothing_is_sampled_from_nli_pairs_and_triplets(
    workspace: Workspace, project: Project
) -> None:
    before = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[1]
    bring_in(workspace, project, NLI, "nli")
    bring_in(workspace, project, TRIPLETS, "triplets")
    assert sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[1] == before


def test_an_import_taken_back_leaves_what_others_use(
    workspace: Workspace, project: Project
) -> None:
    n_before = count(workspace, "sentence")
    first = bring_in(workspace, project, NLI, "nli")
    second = bring_in(workspace, project, TRIPLETS, "triplets")
    assert gold.remove_import(workspace, first.run_id) == 4
    assert nli.nli_training_rows(workspace, project.id).texts == []
    # "Someone makes music." is in a triplet, too.
    assert len(triplets.triplet_training_rows(workspace, project.id)) == 2
    assert gold.remove_import(workspace, second.run_id) == 2
    assert count(workspace, "sentence") == n_before


def test_another_import_taken_back_leaves_their_sentences(
    workspace: Workspace, project: Project
) -> None:
    other = bring_in(workspace, project, "sentence\nA new one.\n", "sentences")
    bring_in(workspace, project, NLI, "nli")
    gold.remove_import(workspace, other.run_id)
    assert len(nli.nli_training_rows(workspace, project.id)) == 4


def test_they_go_with_their_project(workspace: Workspace, project: Project) -> None:
    bring_in(workspace, project, NLI, "nli")
    bring_in(workspace, project, TRIPLETS, "triplets")
    projects.delete_project(workspace, project.id)
    assert [count(workspace, table) for table in ("nli_pair", "triplet", "sentence")] == [0, 0, 0]


def test_the_same_file_does_not_come_in_twice(workspace: Workspace, project: Project) -> None:
    bring_in(workspace, project, NLI, "nli")
    with pytest.raises(WorkbenchError, match="already"):
        bring_in(workspace, project, NLI, "nli")


def test_many_rows_are_read_in_linear_time(workspace: Workspace, project: Project) -> None:
    words = ("entailment", "neutral", "contradiction")
    text = "premise\thypothesis\tlabel\n" + "".join(
        f"premise number {row // 3}\thypothesis number {row}\t{words[row % 3]}\n"
        for row in range(30_000)
    )
    begun = time.monotonic()
    bring_in(workspace, project, text, "nli")
    assert len(nli.nli_training_rows(workspace, project.id)) == 30_000
    bring_in(workspace, project, text + "premise\tlast\tneutral\n", "triplets")
    assert triplets.count_triplets(workspace, project.id) == 10_000
    assert time.monotonic() - begun < 30
