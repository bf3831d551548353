"""The Try page, and the panels for rerankers, mined negatives and copies of gold on other pages."""

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.models import catalog
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    NegativesOptions,
    RerankOptions,
)
from augsbert_core.steps import try_it
from augsbert_core.steps.try_it import Shelf
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from tests.pages.seeding import button, finished_run, open_page, queued, shown_text
from tests.tiny import tiny_bert, tiny_cross_encoder

WORDS = ["a cat dog sofa couch boy girl guitar piano field sleeps runs plays on the"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny bi-encoder, another one, and a tiny cross-encoder."""
    folder = tmp_path_factory.mktemp("models")
    tiny_bert(folder / "bi", WORDS)
    tiny_bert(folder / "other", WORDS, seed=5)
    tiny_cross_encoder(folder / "cross", WORDS)
    return folder


@pytest.fixture(autouse=True)
def bundled(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The untrained base is a tiny model, too, and nothing is left over from other tests."""
    bundled = tiny_bundled(models)
    monkeypatch.setattr(catalog, "_bundled_folder", lambda: bundled)
    monkeypatch.setattr(try_it, "_models", Shelf(try_it.MOST_MODELS))
    monkeypatch.setattr(try_it, "_embeddings", Shelf(try_it.MOST_CORPORA))


def tiny_bundled(models: Path) -> Path:
    return models / "other"


def trained(workspace: Workspace, project: Project, step: str, folder: Path) -> str:
    """A finished run whose model lies in a folder."""
    options = BiEncoderOptions() if step == "train-bi-encoder" else CrossEncoderOptions()
    run_id = finished_run(workspace, project, step, options, dev_score=0.7)
    target = workspace.run_folder(run_id) / "model"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(folder)
    runs.update_run(workspace, run_id, model_path=str(target.relative_to(workspace.home)))
    return f"run:{run_id}"


@pytest.fixture
def student(workspace: Workspace, project: Project, models: Path) -> str:
    return trained(workspace, project, "train-bi-encoder", models / "bi")


@pytest.fixture
def labeler(workspace: Workspace, project: Project, models: Path) -> str:
    return trained(workspace, project, "train-cross-encoder", models / "cross")


def fill(page: AppTest, **texts: str) -> None:
    for label, text in texts.items():
        box = next(box for box in page.text_input if box.label == label.replace("_", " "))
        box.set_value(text)


def test_a_kept_thing_is_made_once_and_the_oldest_goes_first() -> None:
    made: list[str] = []
    shelf: Shelf[str] = Shelf(2)

    def get(key: str) -> str:
        def make() -> str:
            time.sleep(0.01)
            made.append(key)
            return key.upper()

        return shelf.get(key, make)

    threads = [threading.Thread(target=get, args=("a",)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["a"]
    assert [get("b"), get("a"), get("c"), get("a")] == ["B", "A", "C", "A"]
    assert made == ["a", "b", "c"]
    assert "b" not in shelf
    assert len(shelf) == 2


def test_a_thing_that_could_not_be_made_is_tried_again() -> None:
    shelf: Shelf[int] = Shelf(2)
    with pytest.raises(ZeroDivisionError):
        shelf.get("a", lambda: 1 // 0)
    assert shelf.get("a", lambda: 1) == 1


def test_a_search_finds_the_sentence_itself_first_and_keeps_the_embeddings(
    workspace: Workspace, project: Project, student: str, labeler: str
) -> None:
    query = "A boy plays the guitar."
    found = try_it.search(workspace, project, student, query, top=3)
    assert found.hits[0].text == query
    assert found.hits[0].cosine == pytest.approx(1, abs=1e-5)
    assert found.corpus_seconds > 0
    again = try_it.search(workspace, project, student, query, top=3, rerank=labeler)
    assert again.corpus_seconds == 0
    assert {hit.text for hit in again.hits} == {hit.text for hit in found.hits}
    scores = [hit.reranked or 0.0 for hit in again.hits]
    assert scores == sorted(scores, reverse=True)
    # Test sentences are not looked at.
    assert found.n_sentences == 7


def test_a_model_trained_anew_in_the_same_folder_is_loaded_anew(
    workspace: Workspace, project: Project, models: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    tiny_bert(folder, WORDS)
    ask = (workspace, project, [f"model:{folder}"], "a cat", "a dog")
    first = try_it.score_pair(*ask)[0].raw
    time.sleep(0.01)
    tiny_bert(folder, WORDS, seed=9)
    assert try_it.score_pair(*ask)[0].raw != first


def test_scores_are_raw_and_between_0_and_1(
    workspace: Workspace, project: Project, student: str, labeler: str
) -> None:
    cosine, logit = try_it.score_pair(workspace, project, [student, labeler], "a cat", "a dog")
    assert cosine.score == pytest.approx(max(cosine.raw, 0.0))
    assert logit.score == pytest.approx(1 / (1 + np.exp(-logit.raw)), abs=1e-6)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda w, p: try_it.score_pair(w, p, ["jaccard"], "a", "b"), "no single model"),
        (lambda w, p: try_it.score_pair(w, p, [], "a", " "), "Type two sentences"),
        (lambda w, p: try_it.search(w, p, "model:x", " "), "Type a query"),
        (lambda w, p: try_it.search(w, p, "cross:x", "a"), "a bi-encoder is needed"),
        (lambda w, p: try_it.search(w, p, "model:x", "a", top=0), "Give 1 to 1000"),
    ],
)
def test_what_cannot_be_tried_is_refused(ask, words: str, workspace, project) -> None:
    with pytest.raises(WorkbenchError, match=words):
        ask(workspace, project)


def test_the_untrained_base_can_be_tried_before_anything_is_trained(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("try", project)
    assert "Nothing is trained yet" in shown_text(page)
    fill(page, Sentence_1="A cat sleeps.", Sentence_2="A *dog* runs.")
    button(page, "Score").click().run()
    assert len(page.metric) == 1
    assert "Untrained" in page.metric[0].label
    assert "no calibrated score" in shown_text(page)


def test_three_models_stand_side_by_side(
    workspace: Workspace, project: Project, student: str, labeler: str, models: Path
) -> None:
    silver = BiEncoderOptions(silver_set_id=1)
    run_id = finished_run(workspace, project, "train-bi-encoder", silver)
    path = runs.get_run(workspace, int(student.partition(":")[2])).model_path
    runs.update_run(workspace, run_id, model_path=path)
    page = open_page("try", project)
    fill(page, Sentence_1="A cat sleeps.", Sentence_2="A dog runs.")
    button(page, "Score").click().run()
    assert not page.error
    runs_shown = [found.label.split(" ")[1] for found in page.metric]
    assert runs_shown == [str(run_id), student.partition(":")[2], labeler.partition(":")[2]]


def test_two_models_search_side_by_side_with_times(
    workspace: Workspace, project: Project, student: str, labeler: str
) -> None:
    page = open_page("try", project)
    fill(page, Query="A boy plays the guitar.")
    next(box for box in page.selectbox if box.label == "Rerank by").set_value(labeler)
    button(page, "Search").click().run()
    assert not page.error
    assert len(page.dataframe) == 2
    for found in page.dataframe:
        assert len(found.value) == 7
        assert "A boy plays the guitar." in set(found.value["Sentence"])
    assert "query embedded in" in shown_text(page)
    assert "reranked in" in shown_text(page)


def test_an_empty_sentence_is_an_error_in_words(project: Project) -> None:
    page = open_page("try", project)
    button(page, "Score").click().run()
    assert "Type two sentences" in page.error[0].value


def test_a_project_without_sentences_says_where_to_get_them(workspace: Workspace) -> None:
    page = open_page("try", create_project(workspace, "New"))
    assert "no sentences to search yet" in shown_text(page)


RERANK_PAGE = """
from augsbert_core import ui
from augsbert_core.ui.retrieval_panel import rerank_panel

bench = ui.open_bench()
rerank_panel(bench, ui.need_project(bench))
"""


def opened(name: str, project: Project, panel: str) -> AppTest:
    """A page with one of its expanders open."""
    page = open_page(name, project)
    page.session_state[panel] = True
    page.run()
    assert not page.exception
    return page


def test_gold_can_be_copied_from_the_sample_page(workspace: Workspace, project: Project) -> None:
    page = opened("sample", project, "augment-panel")
    model = next(box for box in page.selectbox if box.label == "Masked language model")
    assert model.value == "google-bert/bert-base-uncased"
    button(page, "Make copies").click().run()
    assert not page.exception
    [(step, told)] = queued(workspace, project)
    assert (step, json.loads(told)["share"]) == ("augment", 0.15)


def test_negatives_are_mined_from_the_sample_page_and_offered(
    workspace: Workspace, project: Project, labeler: str
) -> None:
    page = opened("sample", project, "negatives-panel")
    box = next(box for box in page.number_input if box.label == "Negatives per positive")
    box.set_value(13).run()
    assert "13 negatives per positive are many" in page.warning[0].value
    button(page, "Mine negatives").click().run()
    assert not page.exception
    [(step, told)] = queued(workspace, project)
    told = json.loads(told)
    assert (step, told["labeler"], told["per_positive"]) == ("mine-negatives", labeler, 13)
    assert (told["positive_from"], told["negative_below"]) == (0.7, 0.5)


def test_mined_negatives_can_be_downloaded(workspace: Workspace, project: Project) -> None:
    jobs.run_in_foreground(
        workspace, project.id, "mine-negatives", NegativesOptions(positive_from=0.6)
    )
    page = opened("sample", project, "negatives-panel")
    assert "queries" in shown_text(page)
    assert {found.label for found in page.get("download_button")} >= {
        "JSON lines, one per query",
        "CSV, one row per positive",
    }


def test_rerankers_are_judged_on_the_compare_page(
    workspace: Workspace, project: Project, labeler: str
) -> None:
    rows = [
        {"target": "bm25", "kind": "first stage", "ndcg": 0.5, "ndcg_low": 0.4, "ndcg_high": 0.6,
         "mrr": 0.5, "recall": 0.8},
        {"target": labeler, "kind": "reranker", "ndcg": 0.6, "ndcg_low": 0.5, "ndcg_high": 0.7,
         "difference": 0.1, "difference_low": 0.05, "difference_high": 0.15, "mrr": 0.6},
    ]  # fmt: skip
    finished_run(
        workspace, project, "rerank", RerankOptions((labeler,)), rows=rows, n_queries=2,
        notices=["Recall is that of the first stage."], data_hash="old",
    )  # fmt: skip
    page = AppTest.from_string(RERANK_PAGE, default_timeout=60)
    page.query_params["project"] = str(project.id)
    page.session_state["rerank-panel"] = True
    page.run()
    assert not page.exception
    table = next(found.value for found in page.dataframe if "nDCG@10" in found.value)
    assert table["nDCG@10"].tolist() == [50.0, 60.0]
    assert "Recall is that of the first stage" in shown_text(page)
    assert "gold pairs have changed" in " ".join(found.value for found in page.warning)
    button(page, "Judge").click().run()
    assert not page.exception
    assert queued(workspace, project)[-1][0] == "rerank"
