"""Gold of one class is refused with an offer, and negatives can be made for it."""

from dataclasses import replace

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, ImportOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.negatives import (
    check_one_class,
    only_class,
    plan_negatives,
    with_negatives,
)
from augsbert_core.storage import gold, projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

QUESTIONS = [
    ("How do I cook rice?", "What is the way to cook rice?"),
    ("Where is the train station?", "How do I find the train station?"),
    ("Who wrote this old song?", "Which writer made this old song?"),
    ("Why is the sky blue?", "What makes the sky blue?"),
    ("When does the shop open?", "At what time does the shop open?"),
    ("How old is the earth?", "What is the age of the earth?"),
]
DEV = [
    ("How do birds fly?", "What lets birds fly?"),
    ("Where do fish sleep?", "In which place do fish sleep?"),
    ("Is gold a metal?", "Does gold count as a metal?"),
    ("How do planes fly?", "What lets planes stay up?"),
    ("Where do bears sleep?", "In which den do bears rest?"),
    ("Is silver a metal?", "Does silver count as an element?"),
]
RANDOM = CrossEncoderOptions(negatives="random", negatives_per_positive=2.0)
MINED = replace(RANDOM, negatives="mined", negatives_per_positive=1.0)


def duplicates(workspace: Workspace, label: int = 1, extra: str = "") -> Project:
    """A project of question pairs that all have one label."""
    made = projects.create_project(workspace, f"Questions {label} {extra}")
    lines = ["sentence1,sentence2,label,split"]
    for split, pairs in {"train": QUESTIONS, "dev": DEV}.items():
        lines += [f'"{a}","{b}",{label},{split}' for a, b in pairs]
    text = "\n".join([*lines, extra]).encode()
    options = ImportOptions(task="classification", score_range=(0.0, 1.0))
    import_file(workspace, made.id, text, "questions.csv", options)
    return projects.get_project(workspace, made.id)


def splits(workspace: Workspace, project: Project) -> tuple[ScoredPairs, ScoredPairs]:
    return tuple(gold.scored_pairs(workspace, project.id, split) for split in ("train", "dev"))


def texts(pairs: ScoredPairs) -> list[frozenset[str]]:
    return [frozenset(pair) for pair in zip(pairs.sentences1, pairs.sentences2, strict=True)]


@pytest.fixture
def questions(workspace: Workspace) -> Project:
    return duplicates(workspace)


def test_one_class_is_told_from_two():
    assert only_class(np.array([1.0, 1.0])) == 1
    assert only_class(np.array([0.0])) == 0
    assert only_class(np.array([0.0, 1.0])) is None
    assert only_class(np.zeros(0)) is None


def test_positives_alone_are_refused_with_the_reason_and_an_offer(workspace, questions):
    train, _ = splits(workspace, questions)
    with pytest.raises(WorkbenchError, match="only learns to say yes") as error:
        check_one_class(questions, CrossEncoderOptions(), train)
    assert "same label" in str(error.value)
    assert "--negatives random or --negatives mined" in str(error.value)
    check_one_class(questions, RANDOM, train)


def test_a_student_is_refused_without_an_offer(workspace, questions):
    train, _ = splits(workspace, questions)
    with pytest.raises(WorkbenchError, match="same label") as error:
        check_one_class(questions, BiEncoderOptions(), train)
    assert "--negatives" not in str(error.value)


def test_negatives_alone_are_refused_whatever_is_asked_for(workspace):
    project = duplicates(workspace, label=0)
    train, _ = splits(workspace, project)
    with pytest.raises(WorkbenchError, match="only learns to say no"):
        check_one_class(project, RANDOM, train)


def test_graded_scores_and_two_classes_are_no_matter(workspace, project, questions):
    train, _ = splits(workspace, questions)
    check_one_class(project, CrossEncoderOptions(), train)
    two = replace(train, scores=np.array([0.0, 1, 1, 1, 1, 1]))
    check_one_class(questions, CrossEncoderOptions(), two)


def test_an_unknown_kind_of_negatives_is_refused(workspace, questions):
    train, _ = splits(workspace, questions)
    with pytest.raises(WorkbenchError, match="Choose one of none, random, mined"):
        check_one_class(questions, replace(RANDOM, negatives="hard"), train)


@pytest.mark.parametrize(("options", "n_train", "n_dev"), [(RANDOM, 12, 12), (MINED, 6, 6)])
def test_negatives_are_new_pairs_of_the_splits_own_sentences(
    options, n_train, n_dev, workspace, questions
):
    train, dev = splits(workspace, questions)
    more, more_dev, facts = with_negatives(workspace, questions, options, train, dev)
    assert facts == {
        "negatives": options.negatives,
        "n_negatives": n_train,
        "n_dev_negatives": n_dev,
    }
    for before, after, added in ((train, more, n_train), (dev, more_dev, n_dev)):
        assert texts(after)[: len(before)] == texts(before)
        new = texts(after)[len(before) :]
        assert len(set(new)) == len(new) == added
        assert not set(new) & set(texts(before))
        assert set().union(*new) <= {*before.sentences1, *before.sentences2}
        assert after.scores.tolist() == [1.0] * len(before) + [0.0] * added


def test_mined_negatives_share_words(workspace, questions):
    train, dev = splits(workspace, questions)
    more, _, _ = with_negatives(workspace, questions, MINED, train, dev)
    for first, second in zip(more.sentences1[6:], more.sentences2[6:], strict=True):
        assert set(first.lower().split()) & set(second.lower().split())


def test_the_seed_draws_the_negatives(workspace, questions):
    train, dev = splits(workspace, questions)

    def drawn(seed: int) -> list[frozenset[str]]:
        return texts(
            with_negatives(workspace, questions, replace(RANDOM, seed=seed), train, dev)[0]
        )

    assert drawn(1) == drawn(1) != drawn(2)


def test_the_plan_says_what_will_be_done(workspace, questions):
    plan = plan_negatives(workspace, questions, RANDOM)
    assert plan is not None
    assert (plan.n_positives, plan.n_negatives, plan.n_rows, plan.ratio) == (6, 12, 18, 2.0)
    assert (plan.n_dev_positives, plan.n_dev_negatives) == (6, 12)
    few = plan_negatives(workspace, questions, replace(RANDOM, negatives_per_positive=500))
    assert few is not None
    assert few.n_negatives == 60  # 12 sentences make 66 pairs, and 6 of them are gold
    train, dev = splits(workspace, questions)
    told = replace(RANDOM, negatives_per_positive=500)
    assert with_negatives(workspace, questions, told, train, dev)[2]["n_negatives"] == 60
    assert plan_negatives(workspace, questions, replace(RANDOM, gold_limit=4)).n_negatives == 8


def test_gold_of_two_classes_needs_no_plan_and_stays_as_it_is(workspace):
    project = duplicates(workspace, extra='"Is it late?","Where do cats live?",0,train')
    train, dev = splits(workspace, project)
    assert plan_negatives(workspace, project, RANDOM) is None
    same, more_dev, facts = with_negatives(workspace, project, RANDOM, train, dev)
    assert same is train
    assert facts == {"negatives": "random", "n_negatives": 0, "n_dev_negatives": 12}
    assert len(more_dev) == 18  # dev alone has one class


def test_nothing_is_added_unless_it_is_asked_for(workspace, project):
    train, dev = splits(workspace, project)
    same, same_dev, facts = with_negatives(workspace, project, RANDOM, train, dev)
    assert (same, same_dev) == (train, dev)
    assert facts["negatives"] == "none"


def test_dev_gets_random_negatives_when_no_two_of_its_sentences_share_a_word(workspace, questions):
    train, _ = splits(workspace, questions)
    apart = ScoredPairs(["one cat", "two dogs"], ["three birds", "four fish"], np.ones(2))
    _, dev, facts = with_negatives(workspace, questions, MINED, train, apart)
    assert facts["n_dev_negatives"] == len(dev) - 2 == 2
    assert "random ones" in facts["negatives_note"]
