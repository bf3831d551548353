"""Rows without a split are dealt to train, dev and test in five ways; see also test_repeats.py for "auto"."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.leaks import find_leaks
from augsbert_core.importing.pair_rows import NO_SPLIT, GoldRow, PairRows
from augsbert_core.importing.splitting import (
    block_size,
    deal,
    deal_evenly,
    row_components,
    split_rows,
)
from augsbert_core.options import ImportOptions
from augsbert_core.options.importing import SPLIT_WAYS
from augsbert_core.pairs import SPLITS, sentence_key, text_pair_key


def rows_of(pairs, scores=None, groups=None, splits=None):
    return PairRows.of(
        [
            GoldRow(
                at,
                first,
                second,
                scores[at] if scores is not None else 0.5,
                scores[at] if scores is not None else 0.5,
                splits[at] if splits else "",
                groups[at] if groups else "",
            )
            for at, (first, second) in enumerate(pairs)
        ]
    )


def apart(n):
    """So many pairs that share no sentence."""
    return [(f"a{at}", f"b{at}") for at in range(n)]


def split(rows, way, ratios=(80, 10, 10), seed=0, **more):
    done, notes = split_rows(rows, ImportOptions(split_way=way, ratios=ratios, seed=seed, **more))
    return done, " ".join(notes)


def shares(rows):
    return {
        name: count
        for name, count in zip(SPLITS, np.bincount(rows.splits, minlength=3), strict=True)
        if count
    }


# --- what every way keeps ---------------------------------------------------------------------------

words = st.sampled_from(["a", "b", "b ", "c", "d", "e", "f", "g", "h", "i", "j", "k"])
some_rows = st.lists(
    st.tuples(
        words, words, st.integers(0, 10), st.sampled_from("xyz"), st.sampled_from(["", "", *SPLITS])
    ),
    min_size=1,
    max_size=30,
).map(
    lambda cells: [
        GoldRow(at, first, second, score, score / 10, there, group)
        for at, (first, second, score, group, there) in enumerate(cells)
    ]
)
some_ratios = st.tuples(*[st.integers(0, 9)] * 3).filter(any)
SOLID = {"pairs": lambda row: [text_pair_key(row.sentence1, row.sentence2)],
         "stratified": lambda row: [text_pair_key(row.sentence1, row.sentence2)],
         "components": lambda row: [sentence_key(row.sentence1), sentence_key(row.sentence2)],
         "groups": lambda row: [row.group]}  # fmt: skip
"""What must not be in two splits."""


@given(some_rows, st.sampled_from(SPLIT_WAYS), some_ratios, st.integers(0, 3))
def test_only_rows_without_a_split_are_dealt_and_all_of_them_are(rows, way, ratios, seed):
    columns = PairRows.of(rows)
    options = ImportOptions(split_way=way, ratios=ratios, seed=seed)
    try:
        done, notes = split_rows(columns, options)
    except WorkbenchError:
        assert way == "groups"
        return
    for before, after in zip(rows, done, strict=True):
        assert after.split == before.split if before.split else after.split in SPLITS
    assert split_rows(columns, options)[0] == done
    assert bool(notes) == any(not row.split for row in rows)


@given(some_rows, st.sampled_from(sorted(SOLID)), some_ratios)
def test_what_belongs_together_stays_together(rows, way, ratios):
    bare = PairRows.of(
        [GoldRow(r.line, r.sentence1, r.sentence2, r.raw_score, r.score, "", r.group) for r in rows]
    )
    try:
        done, _ = split(bare, way, ratios)
    except WorkbenchError:
        assert way == "groups"
        assert len({row.group for row in rows}) < sum(ratio > 0 for ratio in ratios)
        return
    homes = {}
    for row in done:
        assert ratios[SPLITS.index(row.split)] > 0
        for key in SOLID[way](row):
            assert homes.setdefault(key, row.split) == row.split
    wanted = sum(ratio > 0 for ratio in ratios)
    units = row_components(bare) if way == "components" else bare.pairs
    n_units = len({row.group for row in rows}) if way == "groups" else len(set(units.tolist()))
    assert len(set(homes.values())) == min(wanted, n_units)


@given(some_rows, st.sampled_from(["pairs", "stratified", "components"]))
def test_rows_follow_those_that_have_a_split_already(rows, way):
    columns = PairRows.of(rows)
    done, note = split(columns, way)
    units = (row_components(columns) if way == "components" else columns.pairs).tolist()
    given_splits = defaultdict(Counter)
    for unit, row in zip(units, rows, strict=True):
        if row.split:
            given_splits[unit][row.split] += 1
    torn = 0
    for unit, before, after in zip(units, rows, done, strict=True):
        votes = given_splits[unit]
        if not before.split and votes:
            assert after.split == max(SPLITS, key=lambda name: votes[name])
            torn += len(votes) > 1
    assert (f"{torn:,} of the rows without a split belong with rows" in note) == (torn > 0)


def test_one_split_for_all_and_splits_of_the_file_need_no_dealing():
    rows = rows_of(apart(3), splits=["dev", "", "test"])
    done, notes = split_rows(rows, ImportOptions(split="train", split_way="groups"))
    assert (shares(done), notes) == ({"train": 3}, [])
    whole = rows_of(apart(2), splits=["dev", "test"])
    assert split_rows(whole, ImportOptions(ratios=(0, 0, 0))) == (whole, [])


def test_what_is_no_split_or_no_way_is_named():
    rows = rows_of(apart(1))
    with pytest.raises(WorkbenchError, match="'valid' is not a split; choose train, dev or test"):
        split_rows(rows, ImportOptions(split="valid"))
    with pytest.raises(
        WorkbenchError, match="'fair' is none of auto, components, pairs, stratified"
    ):
        split_rows(rows, ImportOptions(split_way="fair"))


@pytest.mark.parametrize("way", ["auto", "components", "pairs", "stratified"])
def test_another_seed_deals_in_another_way(way):
    rows = rows_of(apart(100), scores=[at / 100 for at in range(100)])
    one, two = split(rows, way, seed=1)[0], split(rows, way, seed=2)[0]
    assert shares(one) == shares(two) == {"train": 80, "dev": 10, "test": 10}
    assert one != two


# --- components -------------------------------------------------------------------------------------


def test_components_hold_all_sentences_that_hang_together():
    rows = rows_of([("a", "b"), ("c", "d"), ("b", "e"), ("f", "f"), ("e ", "g")])
    assert row_components(rows).tolist() == [0, 1, 0, 2, 0]


def test_a_component_too_large_for_the_ratios_stays_whole_and_the_note_says_so():
    rows = rows_of([("hub", f"s{at}") for at in range(97)] + apart(3))
    done, note = split(rows, "components", (50, 25, 25))
    assert shares(done) == {"train": 97, "dev": 2, "test": 1}
    assert find_leaks(done) == []
    assert "train 97 %, dev 2 %, test 1 % of 100 rows (50:25:25 was asked for)" in note
    assert "97 of 100 rows are linked by shared sentences and stay in one split" in note
    assert 'split by "pairs" and leave out the rows that leak "sentences"' in note


def test_components_that_meet_the_ratios_need_no_advice():
    done, note = split(rows_of(apart(50)), "components")
    assert shares(done) == {"train": 40, "dev": 5, "test": 5}
    assert note == (
        "Split at random so that no sentence is in two splits: train 80 %, dev 10 %, test 10 % of 50 rows "
        "(80:10:10 was asked for)."
    )


def test_rows_that_share_sentences_with_held_out_rows_are_held_out_with_them():
    given_splits = ["test", *[""] * 20]
    done, note = split(
        rows_of([("a", "b"), ("b", "c"), ("c", "d"), *apart(18)], splits=given_splits), "components"
    )
    assert [row.split for row in done][:3] == ["test"] * 3
    assert find_leaks(done) == []
    assert "no sentence is in two splits" in note


def test_a_component_that_the_file_has_torn_goes_where_most_of_it_is():
    rows = rows_of(
        [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")], splits=["train", "dev", "dev", ""]
    )
    done, note = split(rows, "components")
    assert done[3].split == "dev"
    assert "no sentence is in two splits" not in note
    assert "1 of the rows without a split belong with rows that the file puts in several" in note


# --- pairs and stratified ---------------------------------------------------------------------------


def test_pairs_share_sentences_across_splits_but_never_a_pair():
    rows = rows_of([("hub", f"s{at % 50}") for at in range(100)])
    done, note = split(rows, "pairs", (60, 20, 20))
    assert shares(done) == {"train": 60, "dev": 20, "test": 20}
    assert all(leak.pairs == 0 and leak.sentences == 1 for leak in find_leaks(done))
    assert "A sentence can be in two splits" in note


def test_labels_are_as_frequent_in_every_split():
    rows = rows_of(apart(500), scores=[1.0 if at % 5 == 0 else 0.0 for at in range(500)])
    done, note = split(rows, "stratified")
    assert shares(done) == {"train": 400, "dev": 50, "test": 50}
    positive = Counter(row.split for row in done if row.score == 1)
    assert positive["train"] == pytest.approx(80, abs=2)
    assert positive["dev"] == pytest.approx(10, abs=1)
    assert positive["test"] == pytest.approx(10, abs=1)
    assert "mean score from 0 to 1: train 0.20, dev 0.2" in note


def test_repeats_of_a_pair_are_placed_by_their_mean_score():
    pairs = apart(10) * 2
    scores = [at / 10 for at in range(10)] + [1 - at / 10 for at in range(10)]
    done, _ = split(rows_of(pairs, scores=scores), "stratified", (50, 25, 25))
    assert [row.split for row in done][:10] == [row.split for row in done][10:]


@given(some_ratios, st.integers(20, 60), st.integers(0, 99), st.data())
def test_every_tenth_of_the_scores_is_dealt_by_ratio(ratios, n_blocks, seed, data):
    size = block_size(ratios)
    n_values = 10 * size * n_blocks
    values = np.random.default_rng(seed).choice(data.draw(st.sampled_from([2, 6, 10**9])), n_values)
    dealt = deal_evenly(values, ratios, np.random.default_rng(seed))
    by_value = np.argsort(values, kind="stable")
    for split_at, ratio in enumerate(ratios):
        share = ratio / sum(ratios)
        assert abs((dealt == split_at).sum() - share * n_values) <= 1
        if len(set(values.tolist())) == n_values:
            for tenth in np.split(by_value, 10):
                assert abs((dealt[tenth] == split_at).mean() - share) <= 1 / size


@given(st.lists(st.integers(0, 5), max_size=40), some_ratios, st.integers(0, 9))
def test_every_value_and_every_number_of_values_can_be_dealt_evenly(values, ratios, seed):
    dealt = deal_evenly(np.array(values, dtype=float), ratios, np.random.default_rng(seed))
    counts = np.bincount(dealt, minlength=3)
    assert counts.sum() == len(values)
    wanted = [at for at in range(3) if ratios[at] > 0]
    assert (
        np.count_nonzero(counts)
        == np.count_nonzero(counts[wanted])
        == min(len(wanted), len(values))
    )
    if len(values) >= block_size(ratios):
        for at in range(3):
            assert abs(counts[at] - len(values) * ratios[at] / sum(ratios)) <= 1


@pytest.mark.parametrize(
    ("ratios", "size"),
    [((80, 10, 10), 10), ((90, 0, 10), 10), ((1, 1, 1), 3), ((98, 1, 1), 100), ((0, 0, 5), 1)],
)
def test_a_block_has_one_value_for_every_split(ratios, size):
    assert block_size(ratios) == size


def test_ratios_that_are_no_whole_numbers_are_dealt_to_the_row():
    dealt = deal_evenly(np.arange(10.0), (0.7, 0.1, 0.2), np.random.default_rng(0))
    assert np.bincount(dealt).tolist() == [7, 1, 2]


# --- groups -----------------------------------------------------------------------------------------

TOPICS = ["news"] * 60 + ["forum"] * 20 + ["travel=food"] * 10 + [""] * 10


def homes_of(rows):
    homes = defaultdict(set)
    for row in rows:
        homes[row.group].add(row.split)
    return {group: "/".join(sorted(splits)) for group, splits in homes.items()}


def test_groups_stay_whole_and_are_dealt_by_ratio():
    done, note = split(rows_of(apart(100), groups=TOPICS), "groups")
    homes = homes_of(done)
    assert homes["news"] == homes["forum"] == "train"
    assert {homes["travel=food"], homes[""]} == {"dev", "test"}
    assert "train has news, forum" in note
    assert "(none)" in note
    assert "train 80 %, dev 10 %, test 10 % of 100 rows" in note


def test_some_groups_can_be_told_where_to_go():
    rows = rows_of(apart(100), groups=TOPICS)
    done, _ = split(
        rows, "groups", group_splits=("forum=test", "travel=food=dev", " (none) = Train ")
    )
    assert homes_of(done) == {"news": "train", "forum": "test", "travel=food": "dev", "": "train"}


def test_when_all_groups_are_told_the_ratios_ask_for_nothing():
    rows = rows_of(apart(4), groups=["a", "b", "a", "b"])
    done, _ = split(rows, "groups", group_splits=("a=test", "b=train"))
    assert homes_of(done) == {"a": "test", "b": "train"}


def test_a_group_follows_its_rows_that_have_a_split():
    rows = rows_of(apart(5), groups=list("aabcd"), splits=["test", "", "", "", ""])
    done, _ = split(rows, "groups")
    assert homes_of(done)["a"] == "test"
    assert set(homes_of(done).values()) == {"train", "dev", "test"}


@pytest.mark.parametrize(
    ("group_splits", "message"),
    [
        (("sport=dev",), r"no group 'sport'. The groups are: news, forum, travel=food, \(none\)"),
        (("news",), "'news' does not say where a group goes"),
        (("news=valid",), "'news=valid' does not say where a group goes.*travel=test"),
        (("news=dev", "news=test"), "Group 'news' is to be in dev and in test. Choose one"),
    ],
)
def test_group_splits_that_cannot_be_are_named(group_splits, message):
    rows = rows_of(apart(100), groups=TOPICS)
    with pytest.raises(WorkbenchError, match=message):
        split(rows, "groups", group_splits=group_splits)


def test_too_few_groups_are_a_user_error_with_a_remedy():
    rows = rows_of(apart(4), groups=["a", "a", "b", "b"])
    with pytest.raises(
        WorkbenchError, match=r"too few groups for train and dev and test: only a, b.*80:0:20"
    ):
        split(rows, "groups")
    assert set(homes_of(split(rows, "groups", (80, 0, 20))[0]).values()) == {"train", "test"}
    with pytest.raises(WorkbenchError, match="No row has a group"):
        split(rows_of(apart(4)), "groups")


# --- dealing ----------------------------------------------------------------------------------------


def slowly_dealt(sizes, ratios, rng, fixed):
    """Group by group, each to the split that it fills least."""
    total = sum(sizes)
    targets = [total * ratio / sum(ratios) for ratio in ratios]
    dealt = list(fixed)
    filled = [sum(s for s, home in zip(sizes, fixed, strict=True) if home == at) for at in range(3)]
    shuffled = rng.permutation(len(sizes)).tolist()
    for group in sorted(shuffled, key=lambda group: -sizes[group]):
        if dealt[group] == NO_SPLIT:
            dealt[group] = min(
                (at for at in range(3) if targets[at] > 0),
                key=lambda at: (filled[at] + sizes[group]) / targets[at],
            )
            filled[dealt[group]] += sizes[group]
    return dealt


@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.sampled_from([NO_SPLIT, NO_SPLIT, 0, 1, 2])), max_size=40
    ),
    some_ratios,
    st.integers(0, 9),
)
def test_groups_are_dealt_as_one_by_one(cells, ratios, seed):
    sizes = [size for size, _ in cells]
    fixed = [home for _, home in cells]
    dealt, _ = deal(
        np.array(sizes, dtype=np.int64),
        ratios,
        np.random.default_rng(seed),
        np.array(fixed, dtype=np.int64),
    )
    wanted = slowly_dealt(sizes, ratios, np.random.default_rng(seed), fixed)
    unmet = [at for at in range(3) if ratios[at] > 0 and at not in wanted]
    # Groups that were moved so that every split has one are the only difference.
    moved = [(was, now) for was, now in zip(wanted, dealt.tolist(), strict=True) if was != now]
    assert len(moved) <= len(unmet)
    assert all(now in unmet for _, now in moved)
    assert all(home in (NO_SPLIT, now) for home, now in zip(fixed, dealt.tolist(), strict=True))


def test_it_is_told_whether_the_ratios_are_met():
    sizes = np.array([50, 25, 25])
    assert deal(sizes, (50, 25, 25), np.random.default_rng(0))[1]
    assert not deal(sizes, (80, 10, 10), np.random.default_rng(0))[1]


def test_the_smallest_groups_are_moved_to_splits_that_got_none():
    dealt, _ = deal(np.array([30, 1, 3, 2]), (98, 1, 1), np.random.default_rng(0))
    assert dealt.tolist() == [0, 1, 0, 2]
