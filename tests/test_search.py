"""Top-k search by cosine: exact against plain numpy, approximate against exact, and what both leave out."""

import sys

import numpy as np
import pytest

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models import search
from augsbert_core.models.search import ann_neighbours, bound_search, embed_texts, exact_neighbours
from tests.tiny import tiny_bert, tiny_texts


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("encoder"))


def unit_rows(n, dimensions=16, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def plain_neighbours(embeddings, top_k, excluded=((), ())):
    """What the search should find, the slow way."""
    cosines = embeddings.astype(np.float64) @ embeddings.T.astype(np.float64)
    np.fill_diagonal(cosines, -np.inf)
    cosines[excluded] = cosines[excluded[::-1]] = -np.inf
    best = np.argsort(-cosines, axis=1)[:, :top_k]
    return best, np.take_along_axis(cosines, best, axis=1)


@pytest.mark.parametrize("cells", [1402, 1 << 24])
@pytest.mark.parametrize("top_k", [1, 5])
def test_exact_search_finds_what_sorting_all_cosines_finds(cells, top_k):
    embeddings = unit_rows(701)
    best, cosines = plain_neighbours(embeddings, top_k)
    found = exact_neighbours(embeddings, top_k, cells=cells)
    assert found.query.tolist() == np.repeat(np.arange(701), top_k).tolist()
    assert np.array_equal(found.neighbour.reshape(-1, top_k), best)
    assert np.array_equal(found.rank.reshape(-1, top_k)[0], np.arange(1, top_k + 1))
    np.testing.assert_allclose(found.score.reshape(-1, top_k), cosines, atol=1e-6)
    assert found.notices == ["Exact search: all 701 sentences were compared with each other."]


def test_excluded_pairs_use_up_no_rank_and_are_counted():
    embeddings = unit_rows(60)
    best, _ = plain_neighbours(embeddings, 59)
    near = (0, best[0, 0])  # among the top 3 of sentence 0
    far = next((7, j) for j in best[7, ::-1] if 7 not in best[j, :10])
    excluded = (np.array([near[0], far[0]]), np.array([near[1], far[1]]))
    for order in (excluded, excluded[::-1]):
        found = exact_neighbours(embeddings, 3, excluded=order)
        assert found.neighbour[found.query == 0].tolist() == best[0, 1:4].tolist()
        assert (found.query == near[1]).sum() == 3
        assert found.excluded_hit.tolist() == [True, False]
        assert found.excluded_hits == 1


def test_opposite_sentences_are_neighbours_when_there_are_no_nearer_ones():
    embeddings = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    found = exact_neighbours(embeddings, 1)
    assert found.neighbour.tolist() == [1, 0]
    assert found.score.tolist() == [-1, -1]


def test_ties_go_by_key_and_not_by_place():
    embeddings = np.repeat(unit_rows(3), 20, axis=0)  # every sentence has 19 equals
    keys = np.random.default_rng(1).permutation(60).astype(np.uint64)
    found = exact_neighbours(embeddings, 4, tie_keys=keys)
    equals = np.setdiff1d(np.arange(20), [5])
    assert (
        found.neighbour[found.query == 5].tolist()
        == equals[np.argsort(keys[:20][equals])][:4].tolist()
    )
    shuffle = np.random.default_rng(2).permutation(60)
    again = exact_neighbours(embeddings[shuffle], 4, tie_keys=keys[shuffle])
    pairs = set(zip(found.query.tolist(), found.neighbour.tolist(), strict=True))
    assert pairs == set(
        zip(shuffle[again.query].tolist(), shuffle[again.neighbour].tolist(), strict=True)
    )


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_small_corpora_have_as_many_neighbours_as_there_are(n):
    found = exact_neighbours(unit_rows(n), 10)
    assert len(found.query) == n * max(n - 1, 0)
    assert (found.query != found.neighbour).all()


def test_a_part_of_the_queries_can_be_asked():
    embeddings = unit_rows(50)
    whole = exact_neighbours(embeddings, 2)
    part = exact_neighbours(embeddings, 2, queries=np.array([3, 40]))
    assert part.query.tolist() == [3, 3, 40, 40]
    apart = (np.array([10]), np.array([20]))
    assert (
        exact_neighbours(embeddings, 99, queries=np.array([3]), excluded=apart).excluded_hits == 0
    )
    assert part.neighbour.tolist() == whole.neighbour[np.isin(whole.query, [3, 40])].tolist()


def test_search_stops_between_blocks():
    reports = []
    with pytest.raises(Stopped):
        exact_neighbours(
            unit_rows(100),
            2,
            cells=1000,
            report=lambda fraction, message: reports.append((fraction, message)),
            should_stop=lambda: len(reports) >= 2,
        )
    assert reports == [
        (0.1, "Compared 10 of 100 sentences"),
        (0.2, "Compared 20 of 100 sentences"),
    ]


def test_approximate_search_says_what_it_finds():
    pytest.importorskip("faiss")
    embeddings = unit_rows(2000, dimensions=4)
    excluded = (np.array([0, 5]), np.array([1, 9]))
    found = ann_neighbours(embeddings, 5, excluded=excluded)
    exact = exact_neighbours(embeddings, 5, excluded=excluded)
    assert (found.query != found.neighbour).all()
    pairs = set(zip(found.query.tolist(), found.neighbour.tolist(), strict=True))
    assert not pairs & {(0, 1), (1, 0), (5, 9), (9, 5)}
    is_found = [
        pair in pairs for pair in zip(exact.query.tolist(), exact.neighbour.tolist(), strict=True)
    ]
    assert np.mean(is_found) > 0.9
    assert len(found.notices) == 1
    told = float(found.notices[0].split("finds ")[1].split(" %")[0]) / 100
    assert told == pytest.approx(np.mean(is_found), abs=0.02)  # told from 500 of the 2,000
    assert found.notices[0].endswith("(500 sentences checked).")
    again = ann_neighbours(embeddings, 5, excluded=excluded)
    assert np.array_equal(again.neighbour, found.neighbour)


def test_approximate_search_through_all_lists_is_exact():
    pytest.importorskip("faiss")
    embeddings = unit_rows(400)
    found = ann_neighbours(embeddings, 3, probes=1000)
    assert np.array_equal(found.neighbour, exact_neighbours(embeddings, 3).neighbour)
    assert "finds 100.0 % of the exact neighbours (400 sentences" in found.notices[0]


def test_without_faiss_the_extra_is_named_before_anything_is_computed(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(WorkbenchError, match=r'pip install "augsbert-workbench\[ann\]"'):
        bound_search(model, "cpu", "ann")
    monkeypatch.setattr(search, "MOST_EXACT", 3)
    monkeypatch.setattr(search, "embed_texts", None)
    with pytest.raises(WorkbenchError, match="augsbert-workbench"):
        bound_search(model, "cpu", "auto")(tiny_texts(4), 1)


def test_auto_is_exact_up_to_a_size_and_says_which_it_was(model, monkeypatch):
    pytest.importorskip("faiss")
    texts = list(dict.fromkeys(tiny_texts(150)))
    assert bound_search(model, "cpu")(texts, 2).notices[0].startswith("Exact search")
    assert bound_search(model, "cpu", "ann")(texts, 2).notices[0].startswith("Approximate search")
    monkeypatch.setattr(search, "MOST_EXACT", 100)
    assert bound_search(model, "cpu")(texts, 2).notices[0].startswith("Approximate search")
    assert bound_search(model, "cpu", "exact")(texts, 2).notices[0].startswith("Exact search")


def test_an_unknown_search_is_refused(model):
    with pytest.raises(WorkbenchError, match="no search 'fast'"):
        bound_search(model, "cpu", "fast")


def test_embeddings_have_unit_length_and_are_the_models_own(model):
    from sentence_transformers import SentenceTransformer

    texts = tiny_texts(20)
    fractions = []
    embeddings = embed_texts(
        model, texts, "cpu", report=lambda fraction, message: fractions.append(fraction)
    )
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-6)
    own = SentenceTransformer(model).encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embeddings, own, atol=1e-6)
    assert fractions[0] == 0
    assert fractions[-1] == 1


def test_embeddings_that_are_not_finite_are_refused(model, monkeypatch):
    monkeypatch.setattr(
        search, "embed_rows", lambda *_, **__: np.array([[1.0], [np.nan]], dtype=np.float32)
    )
    with pytest.raises(WorkbenchError, match="for 1 of 2 sentences, first for 'second'"):
        embed_texts(model, ["first", "second"], "cpu")
