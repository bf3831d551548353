"""The silver table: filters, orders, pages, counts and text, against reading every pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.storage import (
    projects,
    reviews,
    runs,
    sentences,
    silver_bins,
    silver_pages,
    silver_sets,
    silver_text,
)
from augsbert_core.storage.database import Workspace, open_workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES
from augsbert_core.storage.silver_pages import SORTS, SilverFilter
from tests.silver_pairs import all_pairs, candidate_set, corpus, label, silver_set, sixty_pairs


@pytest.fixture
def labelled(workspace: Workspace, project: Project) -> int:
    return sixty_pairs(workspace, project)


def passes(pair: dict, chosen: SilverFilter) -> bool:
    """What a filter means, pair by pair."""
    rank = pair["rank"]
    return (
        chosen.low - 1e-9 <= pair["final_score"] <= chosen.high + 1e-9
        and (not chosen.statuses or pair["status"] in chosen.statuses)
        and (chosen.min_rank is None or (rank is not None and rank >= chosen.min_rank))
        and (chosen.max_rank is None or (rank is not None and rank <= chosen.max_rank))
    )


ORDERS = {
    "Score, high to low": lambda pair: (-pair["final_score"], -pair["sentence1_id"], -pair["sentence2_id"]),
    "Score, low to high": lambda pair: (pair["final_score"], pair["sentence1_id"], pair["sentence2_id"]),
    "Sampler rank": lambda pair: (
        pair["rank"] is None,
        pair["rank"] or 0,
        -pair["final_score"],
        -pair["sentence1_id"],
        -pair["sentence2_id"],
    ),
    "Order of sampling": lambda pair: (pair["sentence1_id"], pair["sentence2_id"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, int]:
    """190 pairs, many with the same score, some on bin edges, some without a rank, some reviewed."""
    workspace = open_workspace(tmp_path_factory.mktemp("mixed"))
    project = projects.create_project(workspace, "Mixed")
    candidate_id = candidate_set(workspace, project, corpus(workspace, project, 20), 190, ranks=7)
    set_id = silver_set(workspace, project, candidate_id)
    rng = np.random.default_rng(3)
    label(workspace, set_id, (rng.integers(0, 33, 190) / 32).tolist())
    with writing(workspace) as db:
        db.execute("UPDATE silver_pair SET rank = NULL WHERE sentence1_id % 5 = 0")
        db.execute("DELETE FROM silver_bin")
        silver_bins.count_in(
            db, set_id, [tuple(row) for row in db.execute(silver_sets.RECOUNT_SQL, [set_id])]
        )
    for number, pair in enumerate(all_pairs(workspace, set_id)[::4]):
        status = STATUSES[number % len(STATUSES)]
        correction = number / 64 if status == "corrected" else None
        reviews.review_silver_pair(
            workspace, pair["id"], correction=correction, status=status, actor="ann"
        )
    return workspace, set_id


BOUND = st.one_of(st.integers(0, 32).map(lambda edge: edge / 32), st.floats(0, 1))


@given(
    bounds=st.tuples(BOUND, BOUND).map(sorted),
    statuses=st.lists(st.sampled_from(STATUSES), unique=True).map(tuple),
    ranks=st.tuples(st.none() | st.integers(0, 8), st.none() | st.integers(0, 8)),
    sort=st.sampled_from(list(SORTS)),
)
@settings(max_examples=150)
def test_pages_and_counts_agree_with_reading_every_pair(
    mixed: tuple[Workspace, int], bounds: list[float], statuses: tuple, ranks: tuple, sort: str
) -> None:
    workspace, set_id = mixed
    chosen = SilverFilter(*bounds, statuses, min_rank=ranks[0], max_rank=ranks[1])
    wanted = sorted(
        (pair for pair in all_pairs(workspace, set_id) if passes(pair, chosen)), key=ORDERS[sort]
    )
    assert silver_pages.count_silver(workspace, set_id, chosen) == len(wanted)
    shown = []
    for offset in range(0, len(wanted) + 1, 40):
        page = silver_pages.silver_page(
            workspace, set_id, chosen, sort=sort, offset=offset, limit=40
        )
        shown += [int(row["id"]) for row in page.to_dict("records")]
    assert shown == [pair["id"] for pair in wanted]


@given(edges=st.tuples(st.integers(0, SCORE_BINS), st.integers(0, SCORE_BINS)).map(sorted))
def test_a_range_between_bin_edges_holds_exactly_those_bins(
    mixed: tuple[Workspace, int], edges: list[int]
) -> None:
    """... and the pairs that lie on its upper edge, since both bounds are inclusive."""
    workspace, set_id = mixed
    low, high = edges
    counts = silver_bins.silver_score_counts(workspace, set_id)
    on_edge = sum(
        pair["final_score"] == high / SCORE_BINS < 1 and pair["status"] != "rejected"
        for pair in all_pairs(workspace, set_id)
    )
    statuses = tuple(status for status in STATUSES if status != "rejected")
    chosen = SilverFilter(low / SCORE_BINS, high / SCORE_BINS, statuses)
    top = counts[-1] if low == high == SCORE_BINS else counts[low:high].sum()
    at_top = sum(
        pair["final_score"] == 1.0 and pair["status"] != "rejected"
        for pair in all_pairs(workspace, set_id)
    )
    expected = at_top if low == high == SCORE_BINS else top + on_edge
    assert silver_pages.count_silver(workspace, set_id, chosen) == expected


def test_text_is_looked_for_in_both_sentences(labelled: int, workspace: Workspace) -> None:
    """A rare text is looked up by its sentences, a common one reads all pairs: both find the same."""
    for text, matches in (
        ("sentence 1", lambda pair: "sentence 1" in pair["sentence1"] + pair["sentence2"]),
        (" SENTENCE 19", lambda pair: "sentence 19" in pair["sentence1"] + pair["sentence2"]),
        ("e", lambda pair: True),
        ("%", lambda pair: False),
    ):
        everything = silver_pages.silver_page(workspace, labelled, SilverFilter(low=0.1))
        wanted = [pair["id"] for pair in everything.to_dict("records") if matches(pair)]
        chosen = SilverFilter(low=0.1, text=text)
        found = silver_pages.silver_page(workspace, labelled, chosen).to_dict("records")
        assert [pair["id"] for pair in found] == wanted
        assert silver_pages.count_silver(workspace, labelled, chosen) == len(wanted)


def test_text_ignores_case_in_every_script(workspace: Workspace, project: Project) -> None:
    record = runs.ImportRecord("s.txt", "{}", 1, "hash")
    texts = ["ÉCOLE ouverte", "école fermée", "Straße"]
    sentences.add_unlabelled_sentences(workspace, project.id, texts, record=record, metrics={})
    ids = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[0][-3:]
    set_id = silver_set(workspace, project, candidate_set(workspace, project, ids, 3))
    label(workspace, set_id, [0.1, 0.2, 0.3])
    assert silver_pages.count_silver(workspace, set_id, SilverFilter(text="école")) == 3
    assert silver_pages.count_silver(workspace, set_id, SilverFilter(text="STRASSE")) == 0
    assert silver_pages.count_silver(workspace, set_id, SilverFilter(text="straße")) == 2


@given(
    text=st.sampled_from(["sentence 1", "sentence 19", "E", "nce 7", "_", "none"]),
    bounds=st.tuples(BOUND, BOUND).map(sorted),
    statuses=st.lists(st.sampled_from(STATUSES), unique=True).map(tuple),
    max_rank=st.none() | st.integers(0, 8),
    sort=st.sampled_from(list(SORTS)),
    few=st.sampled_from([0, 50_000]),
    many=st.sampled_from([0.0, 2.0]),
)
@settings(max_examples=150)
def test_every_way_to_search_a_text_finds_the_same(
    mixed: tuple[Workspace, int],
    text: str,
    bounds: list[float],
    statuses: tuple,
    max_rank: int | None,
    sort: str,
    few: int,
    many: float,
) -> None:
    """few, many: as if the set were so large, or so many sentences were found, that another way is quicker."""
    workspace, set_id = mixed
    with reading(workspace) as db:
        found = {
            row[0] for row in db.execute("SELECT id, text FROM sentence") if text.lower() in row[1]
        }
    chosen = SilverFilter(*bounds, statuses, max_rank=max_rank, text=text)
    wanted = sorted(
        (
            pair
            for pair in all_pairs(workspace, set_id)
            if passes(pair, chosen) and found & {pair["sentence1_id"], pair["sentence2_id"]}
        ),
        key=ORDERS[sort],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silver_text, "FEW_PAIRS", few)
        patch.setattr(silver_text, "MANY", many)
        assert silver_pages.count_silver(workspace, set_id, chosen) == len(wanted)
        shown = []
        for offset in range(0, len(wanted) + 1, 40):
            page = silver_pages.silver_page(
                workspace, set_id, chosen, sort=sort, offset=offset, limit=40
            )
            shown += [int(row["id"]) for row in page.to_dict("records")]
    assert shown == [pair["id"] for pair in wanted]
