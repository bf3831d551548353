"""The gold pairs whose words are most like those of a pair."""

import numpy as np
import pytest

from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.nearest_gold import NearGold, WordIndex, nearest_gold
from augsbert_core.storage import gold, gold_edits, gold_texts
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.gold import remove_import
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.words import tokenize


def test_the_pair_itself_is_the_nearest_in_either_order(
    workspace: Workspace, project: Project
) -> None:
    pair = ("A boy plays the guitar.", "A girl plays the piano.")
    for one, other in (pair, pair[::-1]):
        found = nearest_gold(workspace, project, one, other)
        assert found[0] == NearGold(*pair, raw_score=2.0, similarity=pytest.approx(1.0))
    assert found[1].sentence2 == "A boy is playing an instrument."
    assert [one.similarity for one in found] == sorted(
        (one.similarity for one in found), reverse=True
    )


def test_training_pairs_alone_are_found_and_those_without_a_common_word_are_not(
    workspace: Workspace, project: Project
) -> None:
    train = set(gold.scored_pairs(workspace, project.id, "train").sentences1)
    found = nearest_gold(workspace, project, "The train came", "rain")
    assert found
    assert {one.sentence1 for one in found} <= train, "dev and test scores stay unseen"
    assert nearest_gold(workspace, project, "Zebra", "quagga") == []
    assert nearest_gold(workspace, project, "", "?!") == []
    assert len(nearest_gold(workspace, project, "A the", "the", top=2)) == 2


def test_similarities_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(30)]
    sides = [[" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(50)] for _ in range(2)]
    texts = gold_texts.GoldTexts(list(range(50)), *sides)
    vectorizer = TfidfVectorizer(tokenizer=lambda text: tokenize([text])[0], token_pattern=None)
    known = vectorizer.fit_transform([f"{a} {b}" for a, b in zip(*sides, strict=True)])
    wanted = known @ vectorizer.transform(["w1 w2 w2 w7"]).T
    from collections import Counter

    found = WordIndex(texts).similarities(Counter(["w1", "w2", "w2", "w7"]))
    assert found == pytest.approx(wanted.toarray().ravel())


def test_gold_that_changes_is_seen_at_once(workspace: Workspace, project: Project) -> None:
    pair = ("A boy plays the guitar.", "A girl plays the piano.")
    assert nearest_gold(workspace, project, *pair, top=1)[0].raw_score == 2.0
    with reading(workspace) as db:
        (number,) = db.execute("SELECT id FROM gold_pair WHERE raw_score = 2").fetchone()
    gold_edits.set_gold_score(workspace, number, 1.0, actor="ann")
    assert nearest_gold(workspace, project, *pair, top=1)[0].raw_score == 1.0
    more = b"sentence1,sentence2,score\nA zebra grazes.,A quagga grazes.,3\n"
    options = ImportOptions(score_range=(0.0, 5.0))
    run_id = import_file(workspace, project.id, more, "more.csv", options).run_id
    assert nearest_gold(workspace, project, "Zebra", "quagga")[0].raw_score == 3.0
    remove_import(workspace, run_id)
    assert nearest_gold(workspace, project, "Zebra", "quagga") == []


def test_a_project_without_gold_has_none(workspace: Workspace) -> None:
    assert nearest_gold(workspace, create_project(workspace, "Empty"), "a", "b") == []
