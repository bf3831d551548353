"""The silver table: filters, orders, pages, counts and text, against reading every pair."""

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import (
    edits,
    projects,
    reviews,
    runs,
    sentences,
    silver_bins,
    silver_columns,
    silver_orders,
    silver_pages,
    silver_sets,
    silver_student,
)
from augsbert_core.storage.database import Workspace, open_workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES
from augsbert_core.storage.silver_pages import SORTS, SilverFilter
from augsbert_core.words import tokenize
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
    sort=st.sampled_from(list(ORDERS)),
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


TEXTS = [
    "A man plays the guitar.",
    "A MAN plays a guitar, a guitar!",
    "Two dogs run.",
    "dogs",
    "",
    "?!",
    "École ouverte à Paris",
    "l'école FERMÉE",
    "猫が魚を食べる",
    "猫",
    "100 % sure_about this",
    "one two three four five six seven eight nine ten eleven",
    "The man runs.",
    "İstanbul Straße",
]


Varied = tuple[Workspace, int, list[dict]]


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Varied:
    """Pairs of many kinds of sentences, with doubts, decisions of two people, and a student's scores for most."""
    workspace = open_workspace(tmp_path_factory.mktemp("varied"))
    project = projects.create_project(workspace, "Varied")
    record = runs.ImportRecord("s.txt", "{}", 1, "hash")
    sentences.add_unlabelled_sentences(workspace, project.id, TEXTS, record=record, metrics={})
    ids = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[0]
    set_id = silver_set(workspace, project, candidate_set(workspace, project, ids, 91, ranks=5))
    rng = np.random.default_rng(4)
    waiting = silver_sets.unscored_pairs(workspace, set_id)
    rows = [
        (*pair, rank if rank < 5 else None, None, score, score, *doubts)
        for pair, (rank, _), score, doubts in zip(
            waiting.ids,
            waiting.origin,
            (rng.integers(0, 17, 91) / 16).tolist(),
            [
                (float(a), None) if a < 0.7 else (None, float(b))
                for a, b in rng.random((91, 2)).round(1)
            ],
            strict=True,
        )
    ]
    silver_sets.add_silver_scores(workspace, set_id, rows[60:])
    silver_sets.add_silver_scores(workspace, set_id, rows[:60])
    pairs = sorted(all_pairs(workspace, set_id), key=lambda pair: pair["id"])
    for number, pair in enumerate(pairs[::3]):
        status = STATUSES[number % len(STATUSES)]
        correction = number / 32 if status in ("corrected", "flagged") else None
        actor = ("ann", "ben")[number % 2]
        reviews.review_silver_pair(
            workspace, pair["id"], correction=correction, status=status, actor=actor
        )
    edits.undo(workspace, edits.Scope.silver(set_id), "ann")
    scored_by(workspace, project, set_id, rng.random(80).round(2).astype(np.float32))
    return workspace, set_id, facts(workspace, set_id)


def scored_by(
    workspace: Workspace, project: Project, set_id: int, scores: np.ndarray, model: str = "model:b"
) -> None:
    """A student's scores of the pairs of a set in the order of their ids."""
    run_id = runs.add_run(workspace, project.id, "student-scores", "s", "{}", 1)
    silver_student.save_scores(workspace, set_id, model, run_id, scores)


def facts(workspace: Workspace, set_id: int) -> list[dict]:
    """Every pair with its texts and all that filters look at, worked out one by one."""
    with reading(workspace) as db:
        texts = dict(map(tuple, db.execute("SELECT id, text FROM sentence")))
        (blob,) = db.execute("SELECT scores FROM silver_student").fetchone()
        edited = db.execute(
            "SELECT pair_id, actor FROM edit_change JOIN edit ON edit.id = edit_id WHERE state = 'applied'"
        ).fetchall()
    pairs = sorted(all_pairs(workspace, set_id), key=lambda pair: pair["id"])
    students = np.frombuffer(blob, dtype=np.float32).astype(float).tolist()
    for number, pair in enumerate(pairs):
        pair["texts"] = [texts[pair["sentence1_id"]], texts[pair["sentence2_id"]]]
        one, other = tokenize(pair["texts"])
        both = set(one) | set(other)
        pair["words"] = max(len(one), len(other))
        pair["overlap"] = len(set(one) & set(other)) / len(both) if both else 0.0
        pair["student"] = students[number] if number < len(students) else None
        pair["apart"] = None if pair["student"] is None else abs(pair["score"] - pair["student"])
        pair["edited_by"] = {actor for pair_id, actor in edited if pair_id == pair["id"]}
    return pairs


def passes_all(pair: dict, chosen: SilverFilter) -> bool:
    """What a filter means, with all its bounds."""
    text = chosen.text.strip().lower()
    return (
        passes(pair, chosen)
        and any(text in one.lower() for one in pair["texts"])
        and (not chosen.edited_by or chosen.edited_by in pair["edited_by"])
        and all(
            low is None or (pair[name] is not None and pair[name] >= low - 1e-9)
            for name, low in (
                ("words", chosen.min_words),
                ("overlap", chosen.min_overlap),
                ("order_gap", chosen.min_gap),
                ("label_spread", chosen.min_spread),
                ("apart", chosen.min_disagreement),
            )
        )
        and (chosen.max_words is None or pair["words"] <= chosen.max_words)
        and (chosen.max_overlap is None or pair["overlap"] <= chosen.max_overlap + 1e-9)
    )


def known_first(name: str, sign: int) -> Callable[[dict], tuple]:
    """By a number, pairs without it last; ties in the order of sampling."""
    return lambda pair: (
        pair[name] is None,
        sign * (pair[name] or 0),
        pair["sentence1_id"],
        pair["sentence2_id"],
    )


ALL_ORDERS = ORDERS | {
    "Longest first": known_first("words", -1),
    "Shortest first": known_first("words", 1),
    "Least word overlap": known_first("overlap", 1),
    "Most word overlap": known_first("overlap", -1),
    "Largest order gap": known_first("order_gap", -1),
    "Largest spread": known_first("label_spread", -1),
    "Largest disagreement": known_first("apart", -1),
}
SHARE = st.none() | st.integers(0, 10).map(lambda tenth: tenth / 10)
LENGTH = st.none() | st.integers(0, 12)
FILTERS = st.builds(
    SilverFilter,
    low=st.sampled_from([0.0, 0.25, 0.4]),
    high=st.sampled_from([0.75, 1.0]),
    statuses=st.lists(st.sampled_from(STATUSES), unique=True).map(tuple),
    min_rank=st.none() | st.integers(0, 5),
    max_rank=st.none() | st.integers(0, 5),
    text=st.sampled_from(["", "a", "man", "ÉCOLE", "猫", "が魚を", "%", "e_a", "i̇", "x", " dogs "]),
    min_words=LENGTH,
    max_words=LENGTH,
    min_overlap=SHARE,
    max_overlap=SHARE,
    min_gap=SHARE,
    min_spread=SHARE,
    min_disagreement=SHARE,
    edited_by=st.sampled_from(["", "", "ann", "ben", "nobody"]),
)


def only(names: set[str], chosen: SilverFilter) -> SilverFilter:
    """The filter with these bounds alone: of many at once hardly any pair passes all."""
    return SilverFilter(**{name: getattr(chosen, name) for name in names})


@given(
    chosen=FILTERS,
    names=st.sets(st.sampled_from([one.name for one in fields(SilverFilter)]), max_size=3),
    sort=st.sampled_from(list(SORTS)),
    limit=st.sampled_from([13, 30]),
    by_columns=st.booleans(),
)
@settings(max_examples=200)
def test_every_filter_and_order_agrees_with_reading_every_pair(
    varied: Varied,
    chosen: SilverFilter,
    names: set[str],
    sort: str,
    limit: int,
    by_columns: bool,
) -> None:
    """by_columns: plain filters, too, go by the columns of the set in place of the indexes of the database."""
    workspace, set_id, pairs = varied
    chosen = only(names, chosen)
    wanted = sorted((pair for pair in pairs if passes_all(pair, chosen)), key=ALL_ORDERS[sort])
    assert silver_pages.count_silver(workspace, set_id, chosen) == len(wanted)
    ids = silver_pages.filtered_ids(workspace, set_id, chosen)
    assert ids.dtype == np.int64
    assert ids.tolist() == sorted(pair["id"] for pair in wanted)
    shown: list[dict] = []
    with pytest.MonkeyPatch.context() as patch:
        if by_columns:
            patch.setattr(silver_pages, "PLAIN_SORTS", {})
        for offset in range(0, len(wanted) + limit, limit):
            page = silver_pages.silver_page(
                workspace, set_id, chosen, sort=sort, offset=offset, limit=limit
            )
            shown += page.to_dict("records")
    assert [pair["id"] for pair in shown] == [pair["id"] for pair in wanted]
    for row, pair in zip(shown, wanted, strict=True):
        assert [row["sentence1"], row["sentence2"]] == pair["texts"]
        assert row["words"] == pair["words"]
        assert row["overlap"] == pytest.approx(pair["overlap"])
        assert (
            pd.isna(row["student"])
            if pair["student"] is None
            else row["student"] == pytest.approx(pair["student"])
        )


def test_the_orders_on_offer_are_those_that_are_tested() -> None:
    assert list(SORTS) == list(ALL_ORDERS) == list(silver_orders.ORDERS)


def test_a_decision_counts_at_the_next_look(workspace: Workspace, project: Project) -> None:
    """... although the columns of the set are still at hand."""
    set_id = sixty_pairs(workspace, project)
    long_ones = SilverFilter(low=0.99, min_words=2)
    assert silver_pages.count_silver(workspace, set_id, long_ones) == 0
    pair = all_pairs(workspace, set_id)[0]
    reviews.review_silver_pair(
        workspace, pair["id"], correction=1.0, status="corrected", actor="ann"
    )
    page = silver_pages.silver_page(workspace, set_id, long_ones)
    assert page["id"].tolist() == [pair["id"]]
    by_ann = SilverFilter(edited_by="ann")
    assert silver_pages.filtered_ids(workspace, set_id, by_ann).tolist() == [pair["id"]]
    edits.undo(workspace, edits.Scope.silver(set_id), "ann")
    assert silver_pages.count_silver(workspace, set_id, long_ones) == 0
    assert silver_pages.count_silver(workspace, set_id, by_ann) == 0


def test_a_text_is_found_in_both_sentences_in_every_script(
    varied: Varied,
) -> None:
    workspace, set_id, _ = varied
    for text, n_sentences in (
        ("école", 2),
        ("STRASSE", 0),
        ("straße", 1),
        ("猫", 2),
        ("%", 1),
        (" MAN ", 3),
    ):
        others = len(TEXTS) - n_sentences
        n_pairs = (len(TEXTS) * (len(TEXTS) - 1) - others * (others - 1)) // 2
        assert silver_pages.count_silver(workspace, set_id, SilverFilter(text=text)) == n_pairs


def test_everything_about_one_pair(varied: Varied) -> None:
    workspace, set_id, pairs = varied
    for pair in pairs:
        detail = silver_pages.silver_detail(workspace, pair["id"])
        assert detail.set_id == set_id
        assert [detail.sentence1, detail.sentence2] == pair["texts"]
        assert (detail.labeler, detail.strategy, detail.student_model) == (
            "run:1",
            "bm25",
            "model:b",
        )
        for name in (
            "score",
            "raw_score",
            "correction",
            "final_score",
            "status",
            "rank",
            "order_gap",
            "label_spread",
            "words",
        ):
            assert getattr(detail, name) == pair[name], name
        assert detail.overlap == pytest.approx(pair["overlap"])
        assert detail.student == pytest.approx(pair["student"])
        assert detail.bm25_rank is None
    with pytest.raises(WorkbenchError, match="no silver pair 99999"):
        silver_pages.silver_detail(workspace, 99_999)


def test_without_a_student_nothing_disagrees(labelled: int, workspace: Workspace) -> None:
    chosen = SilverFilter(min_disagreement=0.0)
    assert silver_pages.count_silver(workspace, labelled, chosen) == 0
    page = silver_pages.silver_page(
        workspace, labelled, SilverFilter(), sort="Largest disagreement"
    )
    assert len(page) == 60
    assert page["student"].isna().all()
    assert silver_columns.student_of(workspace, labelled) is None


def test_the_newest_student_is_the_one_that_is_held_against_the_labeler(
    labelled: int, workspace: Workspace, project: Project
) -> None:
    for model, score in (("model:a", 0.25), ("run:7", 0.75)):
        scored_by(workspace, project, labelled, np.full(60, score, dtype=np.float32), model)
        chosen = silver_columns.student_of(workspace, labelled)
        assert chosen is not None
        assert (chosen.model, chosen.n_pairs) == (model, 60)
        page = silver_pages.silver_page(workspace, labelled, SilverFilter(), limit=3)
        assert page["student"].tolist() == [score] * 3


def test_a_set_that_is_not_there_has_no_pairs(workspace: Workspace) -> None:
    for chosen in (SilverFilter(), SilverFilter(min_words=1), SilverFilter(text="dog")):
        assert silver_pages.count_silver(workspace, 77, chosen) == 0
        assert len(silver_pages.silver_page(workspace, 77, chosen, sort="Longest first")) == 0
