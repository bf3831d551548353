"""Cross-encoders judged as rerankers on a fixed candidate list."""

from dataclasses import replace

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import CrossEncoderOptions, ImportOptions, RerankOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.rerank import candidate_lists, check_reranking, collect, judge, reordered
from augsbert_core.steps.retrieval import nearest
from augsbert_core.storage import projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import finished_run
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_pairs

TINY = tiny_pairs(60, 5)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("base") / "model")


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """A project whose test split has words that BM25 can find."""
    made = projects.create_project(workspace, "Rank")
    lines = [
        f"{a},{b},{score:.4f}"
        for a, b, score in zip(TINY.sentences1, TINY.sentences2, TINY.scores, strict=True)
    ]
    data = ("sentence1,sentence2,score\n" + "\n".join(lines)).encode()
    import_file(
        workspace, made.id, data, "x.csv", ImportOptions(score_range=(0.0, 1.0), split="test")
    )
    return projects.get_project(workspace, made.id)


@pytest.fixture
def labeler(workspace: Workspace, project: Project, base: str) -> str:
    """A finished cross-encoder run with a model folder."""
    told = CrossEncoderOptions(base=base)
    run_id = finished_run(workspace, project, "train-cross-encoder", told)
    target = workspace.run_folder(run_id) / "model"
    target.parent.mkdir(parents=True)
    tiny_cross_encoder(target)
    runs.update_run(workspace, run_id, model_path=str(target.relative_to(workspace.home)))
    return f"run:{run_id}"


def test_a_pair_judges_both_of_its_sentences_and_repeats_count_with_their_mean() -> None:
    pairs = ScoredPairs(
        ["a", "b", "a", "c", "e"], ["b", "a", "c", "d", "e"], np.array([0.9, 0.7, 0.2, 0.1, 1.0])
    )
    found = collect(pairs, relevant_from=0.75)
    assert [found.texts[query] for query in found.queries] == ["a", "b"]
    a, b, c = (found.texts.index(text) for text in "abc")
    assert found.gains[0] == {b: pytest.approx(0.8), c: pytest.approx(0.2)}
    assert found.gains[1] == {a: pytest.approx(0.8)}


def test_a_new_order_changes_places_never_the_candidates() -> None:
    lists = [np.array([4, 2, 9]), np.array([], dtype=int), np.array([1, 0])]
    changed = reordered(lists, np.array([0.1, 0.9, 0.9, 0.5, 0.5]))
    assert [part.tolist() for part in changed] == [[2, 9, 4], [], [1, 0]]


def test_the_right_order_is_worth_one() -> None:
    found = collect(ScoredPairs(["q"] * 3, ["x", "y", "z"], np.array([0.2, 1.0, 0.6])), 0.7)
    places = {text: found.texts.index(text) for text in "xyz"}
    best = judge(found, [np.array([places["y"], places["z"], places["x"]])], 0.7)
    worst = judge(found, [np.array([places["x"], places["z"], places["y"]])], 0.7)
    assert best.ndcg.tolist() == [1.0]
    assert (best.reciprocal[0], worst.reciprocal[0]) == (1.0, pytest.approx(1 / 3))
    assert worst.ndcg[0] < 1


def test_the_query_is_no_candidate_of_its_own(workspace: Workspace, project: Project) -> None:
    texts = list(dict.fromkeys(TINY.sentences1))
    near = nearest(workspace, project, "bm25", texts, 5)
    lists = candidate_lists(near, range(len(texts)))
    assert all(query not in listed.tolist() for query, listed in enumerate(lists))
    assert max(map(len, lists)) == 5


def test_rerankers_are_compared_with_the_first_stage_and_an_untrained_head(
    workspace: Workspace, project: Project, base: str, labeler: str
) -> None:
    options = RerankOptions(
        (labeler,), first_stage="bm25", depth=8, relevant_from=0.3, device="cpu"
    )
    found = jobs.run_in_foreground(workspace, project.id, "rerank", options)
    rows = {row["kind"]: row for row in found["rows"]}
    assert list(rows) == ["first stage", "reranker", "untrained"]
    assert rows["first stage"]["difference"] is None
    assert 0 < rows["first stage"]["recall"] <= 1
    for kind in ("reranker", "untrained"):
        row = rows[kind]
        assert row["recall"] is None
        assert row["ndcg_low"] <= row["ndcg"] <= row["ndcg_high"]
        assert row["difference"] == pytest.approx(row["ndcg"] - rows["first stage"]["ndcg"])
        assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert rows["untrained"]["target"] == f"model:{base}"
    assert found["n_reranked"] <= 8 * found["n_queries"]
    assert any("count as irrelevant" in note for note in found["notices"])
    assert any("Recall is that of the first stage" in note for note in found["notices"])
    again = jobs.run_in_foreground(workspace, project.id, "rerank", options)
    for one, other in zip(found["rows"], again["rows"], strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}


def test_a_frozen_bi_encoder_can_be_the_first_stage(
    workspace: Workspace, project: Project, base: str, labeler: str
) -> None:
    options = RerankOptions(
        (labeler,), first_stage=f"model:{base}", depth=4, relevant_from=0.3, device="cpu"
    )
    found = jobs.run_in_foreground(workspace, project.id, "rerank", options)
    assert found["n_reranked"] == 4 * found["n_queries"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rerankers": ()}, "no cross-encoder to judge"),
        ({"rerankers": ("bm25",)}, "is no cross-encoder"),
        ({"first_stage": "jaccard"}, "is no bi-encoder"),
        ({"depth": 0}, "Depth is 0"),
        ({"relevant_from": 1.1}, "no query with a right answer"),
        ({"split": "all"}, "is not a split"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    workspace: Workspace, project: Project, wrong: dict, words: str
) -> None:
    options = replace(RerankOptions(("model:x",), relevant_from=0.3), **wrong)
    with pytest.raises(WorkbenchError, match=words):
        check_reranking(workspace, project, options)
