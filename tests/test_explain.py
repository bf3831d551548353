"""Explanations of results: exact sentences for usual numbers, and no nonsense for unusual ones."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core import explain
from augsbert_core.explain import phrases
from augsbert_core.pairs import ScoreRange

STS = ScoreRange(0.0, 5.0)


# --- gold and imports -------------------------------------------------------------------------------


def test_gold_pairs_say_how_finely_test_measures() -> None:
    found = explain.gold_pairs(
        n_train=483, n_test=321, high_share=0.52, middle="2.5", task="regression"
    )
    assert found == (
        "Of the 483 training pairs, 52 % are scored 2.5 or more; silver pairs are later held against this spread.",
        "With 321 test pairs, a Spearman × 100 of 75 has a 95 % interval of about ± 5.5 points; models measured on the "
        "same pairs can be told apart somewhat better.",
        "None of this shows whether the scores are right; the tab Label errors looks for slips.",
        "Next, train a cross-encoder on them, and let the gate say whether it is better than a student trained on gold "
        "alone.",
    )


def test_one_sided_gold_is_called_so() -> None:
    high, *_ = explain.gold_pairs(
        n_train=40, n_test=0, high_share=0.95, middle="0.5", task="classification"
    )
    low, *_ = explain.gold_pairs(
        n_train=40, n_test=0, high_share=0.05, middle="0.5", task="classification"
    )
    assert high.endswith(
        "models see hardly any unlike pairs, which random sampling would bring in."
    )
    assert low.endswith("models see hardly any similar pairs, which BM25 or semantic search find.")


@pytest.mark.parametrize(
    ("task", "n_test", "pairs"),
    [("regression", 1, "1 pair"), ("regression", 3, "3 pairs"), ("classification", 2, "2 pairs")],
)
def test_a_handful_of_test_pairs_measures_nothing(task: str, n_test: int, pairs: str) -> None:
    _, measured, *_ = explain.gold_pairs(
        n_train=9, n_test=n_test, high_share=0.5, middle="0.5", task=task
    )
    assert measured == f"The test split has {pairs}, too few to measure on."


def test_an_interval_is_named_from_the_first_that_there_is() -> None:
    _, order, *_ = explain.gold_pairs(
        n_train=9, n_test=4, high_share=0.5, middle="0.5", task="regression"
    )
    _, shares, *_ = explain.gold_pairs(
        n_train=9, n_test=3, high_share=0.5, middle="0.5", task="classification"
    )
    assert "interval of about ±" in order
    assert "interval of up to ±" in shares


def test_scores_that_are_all_the_same_teach_nothing() -> None:
    first, *_, last = explain.gold_pairs(
        n_train=12, n_test=40, high_share=1.0, middle="2.5", task="regression", all_alike=True
    )
    assert first == (
        "The 12 training pairs all have the same score, so nothing can be learnt from them: a model that gives every "
        "pair that score makes no mistake."
    )
    assert last == "Next, import pairs of different scores into the training split."
    one, *_ = explain.gold_pairs(
        n_train=1, n_test=40, high_share=1.0, middle="2.5", task="regression"
    )
    assert one == "There is 1 training pair: nothing can be learnt from a single score."


def test_classes_are_measured_as_shares() -> None:
    _, measured, *_ = explain.gold_pairs(
        n_train=9, n_test=100, high_share=0.5, middle="0.5", task="classification"
    )
    assert measured.startswith(
        "With 100 test pairs, a share such as accuracy has a 95 % interval of up to ± 9.8 points"
    )


def test_an_import_with_many_rejected_rows_was_likely_read_wrongly() -> None:
    assert explain.imported(kind="pairs", n_read=100, n_kept=80, n_rejected=18, n_others=2) == (
        "80 rows came in as gold pairs: scored by people, such pairs train models, choose checkpoints and measure the "
        "end result.",
        "18 % of the rows were rejected. Where many share one reason, a wrong column, scale or separator is likelier "
        "than bad data: import again and overrule it.",
        "2 further rows did not come in as told: merged as repeats, left out as leaks, or not in the subsample.",
        "The report tells how the files were read, not whether the scores are right: the tab Label errors looks for "
        "slips.",
    )


def test_an_import_of_nothing_says_what_to_try() -> None:
    first, second = explain.imported(kind="pairs", n_read=7, n_kept=0, n_rejected=7)
    assert first == "None of the 7 rows came in, so the project is as it was before."
    assert "import again" in second


# --- training ---------------------------------------------------------------------------------------


def test_a_labeler_that_was_best_in_the_middle() -> None:
    assert explain.labeler(
        metric="spearman",
        dev_score=0.7266,
        n_dev=160,
        curve=[(12, 0.63), (50, 0.7266), (124, 0.7096)],
        n_steps=124,
        best_step=50,
    ) == (
        "On the dev pairs its order and people's agree with a Spearman × 100 of 72.7: 100 is the same order, 0 none in "
        "common.",
        "With 160 dev pairs its 95 % interval is about ± 8.4 points, and as the best of 3 checkpoints on these very "
        "pairs it flatters; the test split is for the end.",
        "It was best at step 50 of 124 and ended 1.7 points lower: longer training would not help, more gold pairs "
        "would.",
        "Whether its labels can teach is not to be seen here: the gate below compares it with a student trained on gold "
        "alone.",
    )


def test_a_labeler_that_was_still_rising_may_train_longer() -> None:
    told = explain.labeler(
        metric="f1",
        dev_score=0.8,
        n_dev=50,
        curve=[(5, 0.7), (10, 0.8)],
        n_steps=10,
        best_step=10,
    )
    assert told[0].startswith("On the dev pairs its F1 × 100 is 80.0")
    assert told[2] == "It was best at the very end, after 10 steps: more epochs may help."


def test_a_labeler_without_a_dev_score() -> None:
    first, _ = explain.labeler(
        metric="spearman", dev_score=math.nan, n_dev=2, curve=[], n_steps=4, best_step=4
    )
    assert first.startswith("This run has no dev score")


def test_a_gate_that_finds_nothing_to_teach_says_that_augsbert_will_hardly_help() -> None:
    assert explain.gate(
        verdict="not better",
        n_pairs=160,
        split="dev",
        difference=-0.04,
        low=-0.08,
        high=-0.01,
        labeler_score=0.64,
        untrained_score=0.72,
    ) == (
        "A student learns from silver pairs at most what the labeler knows and gold alone does not teach.",
        "Here the best labeler is 4.0 points below that student, and at the high end of the interval 1.0 points "
        "below it: there is nothing to teach, so AugSBERT will hardly help.",
        "The untrained base scores 72.0 on these pairs, more than the best labeler with 64.0: so few gold pairs have "
        "spoilt more than they taught.",
        "What can change it: more gold pairs, a larger base for the labeler, the best of several seeds, or a smaller "
        "student, to which even this labeler has something to teach.",
    )


def test_a_gate_that_cannot_tell_says_how_many_pairs_would() -> None:
    _, middle, _ = explain.gate(
        verdict="unclear",
        n_pairs=100,
        split="dev",
        difference=0.02,
        low=-0.02,
        high=0.06,
        labeler_score=0.7,
        untrained_score=None,
    )
    assert middle == (
        "Here the interval reaches from -2.0 to 6.0 points: the labeler may know more, or nothing more. To be sure of "
        "such a difference takes about 400 dev pairs."
    )


def test_a_gate_without_a_student() -> None:
    found = explain.gate(
        verdict="no student",
        n_pairs=10,
        split="dev",
        difference=None,
        low=None,
        high=None,
        labeler_score=None,
        untrained_score=None,
    )
    assert len(found) == 2
    assert "train one on the Train page" in found[1]


def test_a_student_that_silver_did_not_help_names_the_labeler_as_the_reason() -> None:
    assert explain.student(
        run=9,
        n_gold=483,
        n_silver=3290,
        dev_score=0.6542,
        twin=10,
        twin_score=0.6808,
        gate_verdict="not better",
        gate_difference=-0.012,
    ) == (
        "On dev, run 9 with 3,290 silver pairs is 2.7 points below run 10, which took as many steps on gold alone.",
        "These are single seeds, on the pairs that chose the checkpoints: only Compare, on test and with an interval, "
        "can say whether silver helped.",
        "A likely reason: when last checked, no labeler was better than a gold-only student (1.2 points below it on "
        "dev), so its labels had nothing to teach.",
    )


@pytest.mark.parametrize(
    ("verdict", "score", "said"),
    [
        ("not better", 0.8, "Be careful"),
        ("better", 0.8, "If test agrees"),
        ("better", 0.5, "so look at the pairs"),
        ("unclear", 0.5, "could not be told apart"),
        ("", 0.5, "is for the gate"),
    ],
)
def test_what_to_make_of_a_student_depends_on_the_gate(
    verdict: str, score: float, said: str
) -> None:
    found = explain.student(
        run=2, n_gold=5, n_silver=6, dev_score=score, twin=3, twin_score=0.6, gate_verdict=verdict
    )
    assert said in found[-1]


def test_a_student_without_a_twin_proves_nothing() -> None:
    found = explain.student(run=7, n_gold=5, n_silver=6, dev_score=0.7)
    assert found[0] == (
        "Run 7 has learnt from 6 silver pairs and 5 gold ones, and no run on gold alone has taken as many steps."
    )
    assert "cannot be put down to silver" in found[1]


def test_a_student_of_gold_alone_is_the_lower_bound() -> None:
    first, *_ = explain.student(run=8, n_gold=483, n_silver=0, dev_score=0.678)
    assert first.startswith("Run 8 has learnt from 483 gold pairs alone: it is the lower bound")


def test_seeds_spread_and_where_trials_can_stop() -> None:
    assert explain.seed_study(
        fractions=[0.1, 0.2, 1.0],
        spearman=[0.3, 0.9, 1.0],
        regret=[0.01, 0.004, 0.0],
        finals=[0.681, 0.7, 0.69],
    ) == (
        "With the same recipe and the same pairs, 3 seeds ended between 68.1 and 70.0, 1.9 points apart: a smaller "
        "difference between two single runs may be luck.",
        "At 20 % of the steps their order already is much like the final one (Spearman 0.90), and going on with the "
        "leader would have cost 0.4 points: trials can stop there.",
        "3 seeds tell this roughly: see how wide the bands are.",
        "It holds for this recipe on these dev pairs; another recipe needs a study of its own.",
    )


def test_seeds_whose_order_comes_late() -> None:
    _, early, *_ = explain.seed_study(
        fractions=[0.2, 1.0], spearman=[0.1, 1.0], regret=[0.02, 0.0], finals=[0.6, 0.7]
    )
    assert early.endswith(
        "(Spearman 0.10): stopping trials early hardly picks the right seed here."
    )


# --- candidates and labels --------------------------------------------------------------------------


def test_candidates_say_what_their_strategy_prefers() -> None:
    assert explain.candidates(
        strategy="bm25", n_pairs=3290, corpus_size=966, gold_left_out=304
    ) == (
        "966 sentences can make 466,095 pairs; 3,290 of them, 0.7 %, were chosen.",
        "BM25 pairs each sentence with those that share its rarer words: similar pairs are far commoner than by chance, "
        "and paraphrases in other words are missed.",
        "It would have chosen 304 gold pairs too, which people have scored already: it looks where people looked.",
        "None has a score yet, so whether the choice was good is not known: a preview of a few labels shows how the "
        "scores will lie, at a small part of the cost.",
    )


def test_random_candidates_quote_the_paper() -> None:
    found = explain.candidates(strategy="random", n_pairs=10, corpus_size=100, is_labelled=True)
    assert "62.05 against 72.07 (table 5)" in found[1]
    assert found[-1] == "How their scores lie beside gold, the Silver page shows."


def test_labels_are_beliefs_and_the_gate_says_what_they_are_worth() -> None:
    assert explain.labels(
        silver_set=1,
        n_pairs=3290,
        n_candidates=3290,
        passes=3290,
        metric="spearman",
        dev_score=0.7266,
        gate_verdict="not better",
        gate_difference=-0.01,
    ) == (
        "3,290 candidate pairs became silver pairs in set 1, at the cost of 3,290 passes.",
        "A silver score is what the labeler believes, and may be wrong. On dev, where people's scores are known, it "
        "reached a Spearman × 100 of 72.7.",
        "The gate found this labeler no better than a gold-only student, 1.0 points below it on dev: do not expect these "
        "pairs to help.",
        "Next, compare their density with gold on the Silver page, and audit some: people score them blind.",
    )


def test_a_labelling_that_is_not_done() -> None:
    first, second, third, _ = explain.labels(
        silver_set=2, n_pairs=1, n_candidates=4, passes=1, metric="f1", dev_score=None
    )
    assert first == (
        "1 candidate pair became a silver pair in set 2, at the cost of 1 pass; 3 still wait for a score."
    )
    assert second.endswith("No dev score says how far it can be trusted.")
    assert "has not been checked" in third


# --- densities --------------------------------------------------------------------------------------


def test_thirds_of_scores() -> None:
    scores, counts = np.array([0.0, 0.34, 0.5, 1.0]), np.array([2, 1, 1, 4])
    assert explain.thirds(scores, counts) == (0.25, 0.25, 0.5)
    assert explain.thirds(np.array([]), np.array([])) is None


def test_silver_that_lacks_similar_pairs() -> None:
    assert explain.silver_density(
        n_silver=3290, gold=(0.3, 0.36, 0.34), silver=(0.6, 0.31, 0.09), scale=STS
    ) == (
        "What silver lacks most is in the upper third of the scale (3.33 to 5): 9 % against 34 % of gold; what it "
        "has most in excess is in the lower third of the scale (0 to 1.67): 60 % against 30 %.",
        "More similar pairs come from BM25 or semantic search. What is too much, Keep takes away.",
        "A student that sees the scale so unevenly learns little where pairs are missing, which is why the paper matches "
        "densities (§3.1).",
        "The curves do not show whether the scores are right: a labeler may follow gold's density and still be wrong "
        "pair by pair. An audit shows that.",
    )


def test_a_labeler_that_says_the_same_of_all_pairs_is_found_out() -> None:
    first, remedy, *_ = explain.silver_density(
        n_silver=60, gold=(0.62, 0.31, 0.07), silver=(0.0, 1.0, 0.0), scale=STS
    )
    assert first.endswith("(1.67 to 3.33): 100 % against 31 %.")
    assert remedy.startswith("Nearly all silver scores lie in one third")


def test_a_gap_that_so_few_pairs_may_have_by_chance_is_called_so() -> None:
    first, *_ = explain.silver_density(
        n_silver=60, gold=(0.3, 0.36, 0.34), silver=(0.4, 0.36, 0.24), scale=STS
    )
    assert first.endswith("With 60 silver pairs this may be chance.")


def test_neighbours_that_are_not_similar_point_to_the_labeler() -> None:
    _, remedy, *_ = explain.silver_density(
        n_silver=3290,
        gold=(0.3, 0.36, 0.34),
        silver=(0.6, 0.31, 0.09),
        scale=STS,
        strategy="bm25",
    )
    assert remedy.startswith("These pairs are nearest neighbours already")


def test_silver_that_follows_gold_and_is_small() -> None:
    first, *_ = explain.silver_density(
        n_silver=60, gold=(0.3, 0.36, 0.34), silver=(0.32, 0.35, 0.33), scale=STS
    )
    assert first == (
        "Silver covers the scale much as gold does: in each third of it, the shares of pairs differ by less than 5 %. "
        "With 60 silver pairs this may be chance."
    )


def test_keeping_by_density_says_where_the_pool_runs_out() -> None:
    assert explain.kept_by_density(n_kept=800, n_pool=1000, kl=0.05, pool_kl=0.31, short=0.22) == (
        "The 200 pairs that would go are those of which the pool has too many: without them KL(gold‖set) falls from "
        "0.310 to 0.050.",
        "On 22 % of gold's density the pool has too few pairs even so: all of them stay, and gaps remain. A larger pool, "
        "or a smaller c, closes them.",
        "Scores alone decide who stays, so wrong labels stay wrong, and a smaller set also teaches less.",
        "Whether it pays, Compare tells: train on the pool and on the kept set, for as many steps.",
    )


def test_keeping_that_brings_nothing_closer_is_advised_against() -> None:
    first, *_ = explain.kept_by_density(n_kept=900, n_pool=1000, kl=0.4, pool_kl=0.3, short=0.0)
    assert first.endswith("KL 0.300 before and 0.400 after: with this c rather keep all of it.")
    nothing, _ = explain.kept_by_density(n_kept=0, n_pool=9, kl=None, pool_kl=None, short=None)
    assert nothing.startswith("None of the 9 pairs would stay")


def test_keeping_by_class() -> None:
    met, _ = explain.kept_by_class(n_kept=100, positives=40, gold_share=0.41, threshold="0.6")
    missed, _ = explain.kept_by_class(n_kept=100, positives=70, gold_share=0.41, threshold="0.6")
    none, _ = explain.kept_by_class(n_kept=100, positives=0, gold_share=0.41, threshold="0.6")
    assert met.startswith("Of the kept pairs, 40 % are positives, as in gold with 41 %")
    assert missed.startswith("Of the kept pairs, 70 % are positives, and 41 % of gold")
    assert none.startswith("No pair reaches 0.6")


def test_a_larger_top_k_brings_less_similar_pairs() -> None:
    assert explain.top_k(
        rows=[(3, 1900, 0.3), (5, 3290, 0.26), (9, 5400, 0.22)], gold_high=0.41, middle="2.5"
    ) == (
        "From k = 3 to k = 9 the set grows from 1,900 to 5,400 pairs, and the share at 2.5 or more goes from 30 % to "
        "22 %: less similar ones come in.",
        "Gold has 41 % there; k = 3 comes closest with 30 %.",
        "Every further pair has cost a pass of the labeler; whether it is worth one, only two students tell, trained on "
        "a small and a large k for as many steps.",
    )


def test_one_silver_set_has_nothing_beside_it() -> None:
    first, _ = explain.strategies(n_sets=1, scored=[(1, 0.7, 10)])
    assert first == "There is one silver set so far, and nothing to weigh it against."


def test_strategies_weigh_score_against_cost() -> None:
    first, *_ = explain.strategies(n_sets=3, scored=[(1, 0.721, 9000), (2, 0.717, 3290)])
    assert first == (
        "Set 1 has the highest score, 72.1 for 9,000 passes; set 2, the cheapest, has 71.7 for 3,290."
    )
    waiting, _ = explain.strategies(n_sets=3, scored=[(1, math.nan, 9000), (2, 0.717, 3290)])
    assert waiting.startswith("Of 3 silver sets, 1 has a student measured on test")


# --- comparing --------------------------------------------------------------------------------------


def compared(**changed: object) -> tuple[str, ...]:
    told = {
        "split": "test",
        "n_pairs": 321,
        "difference": 0.02,
        "low": -0.01,
        "high": 0.05,
        "silver_score": 0.70,
        "gold_score": 0.68,
        "labeler_score": 0.76,
        "untrained_score": 0.6,
        **changed,
    }
    return explain.compared(**told)  # type: ignore[arg-type]


def test_a_gain_is_held_against_what_there_was_to_gain() -> None:
    assert compared() == (
        "Between gold alone, 68.0, and the best cross-encoder, 76.0, lie 8.0 points; silver has closed 25 % of that.",
        "With 321 test pairs this difference is certain to about ± 3.0 points, other seeds aside; ± 1 point would take "
        "about 2,900 pairs.",
        "No clear difference is no proof that there is none: more seeds and more pairs to measure on would tell. "
        "Another strategy, or more silver, may make it larger.",
    )


def test_a_labeler_no_better_than_gold_alone_explains_why_silver_does_not_help() -> None:
    found = compared(labeler_score=0.67, difference=-0.01, low=-0.03, high=0.0)
    assert found[0] == (
        "The best cross-encoder scores 67.0 on these pairs, no more than gold alone with 68.0: its labels had nothing "
        "to teach, and that is where AugSBERT does not help."
    )
    assert found[-1].startswith("What can change it: a better labeler")


def test_silver_that_hurts_although_there_was_something_to_teach() -> None:
    found = compared(
        difference=-0.04, low=-0.06, high=-0.02, silver_score=0.64, untrained_score=0.66
    )
    assert found[0].endswith(
        "there was something to teach, but these silver pairs did not bring it over."
    )
    assert found[2].startswith(
        "Before any training the student scored 66.0, more than now with 64.0"
    )
    assert found[3].startswith("Look for the cause on the Silver page")


def test_a_table_without_silver_shows_the_bounds() -> None:
    found = compared(difference=None, silver_score=None)
    assert found[1] == (
        "Silver can bring a student from gold alone, 68.0, towards the best cross-encoder, 76.0: 8.0 points at most."
    )


def test_two_groups_are_held_against_the_luck_of_seeds() -> None:
    found = explain.two_groups(
        first=explain.Group("AugSBERT", 4, 0.70, 0.01),
        second=explain.Group("Gold-only, equal steps", 4, 0.68, 0.01),
        split="test",
    )
    assert found[:2] == (
        "On test, “AugSBERT” is 2.0 points above “Gold-only, equal steps”.",
        "With 4 and 4 seeds, luck alone moves such a difference by about ± 1.4 points, so this one is more than that.",
    )
    one_seed = explain.two_groups(
        first=explain.Group("A", 1, 0.70), second=explain.Group("B", 1, 0.68), split="dev"
    )
    assert one_seed[1].startswith("With one seed on a side")
    assert one_seed[2].startswith("Dev chose the checkpoints")


def test_a_learning_curve_says_what_silver_adds_where() -> None:
    assert explain.learning_curve(
        points=[
            ("Gold-only", 50, 0.5),
            ("AugSBERT", 50, 0.56),
            ("Gold-only", 400, 0.7),
            ("AugSBERT", 400, 0.69),
        ],
        split="test",
        with_silver="AugSBERT",
        without="Gold-only",
    ) == (
        "From 50 to 400 gold pairs, gold alone gains 20.0 points on test: more scores by people still pay.",
        "With 50 gold pairs, silver is 6.0 points above gold alone, with 400 it is 1.0 points below it: it does most "
        "where gold is scarce.",
        "A curve of single seeds jumps: trust its course, not single points.",
    )


def test_reranking_cannot_bring_in_what_was_not_found() -> None:
    found = explain.reranked(
        n_queries=80, depth=10, recall=0.62, difference=0.03, low=0.01, high=0.05
    )
    assert found[:2] == (
        "The first stage has 62 % of the relevant sentences among its 10 candidates; a reranker only puts these in order, "
        "and cannot bring in the rest.",
        "The best cross-encoder improves their order by 3.0 points of nDCG over 80 queries: the pass per candidate buys "
        "something.",
    )


# --- people -----------------------------------------------------------------------------------------


def test_label_errors_are_doubts() -> None:
    assert explain.label_errors(
        folds=5, n_scored=964, spearman=0.71, n_listed=500, n_looked=20
    ) == (
        "Each of the 964 gold pairs was scored by models that had not seen it, 5 folds in all; over all pairs, their "
        "order and gold's agree with a Spearman × 100 of 71.0.",
        "A place high up in the list is a doubt, no proof: a hard pair, a rare topic or a weak model stands there beside "
        "real slips.",
        "You have looked at 20, 480 wait: go on from the top, and stop when slips become rare.",
    )


def test_an_audit_speaks_for_the_whole_set() -> None:
    assert explain.audit(
        n_scored=50,
        n_pairs=3290,
        mae=explain.Estimate(0.12, 0.1, 0.14),
        bias=explain.Estimate(0.04, 0.01, 0.07),
        rank=explain.Estimate(0.71, 0.5, 0.9),
        scale=STS,
    ) == (
        "Judging by 50 pairs, in the whole set of 3,290 a silver score is 0.60 points away from people on average, 12 % "
        "of the scale; part of that is people's own disagreement, which one person's scores cannot show.",
        "It scores too high on the whole, by 0.20 points, and that is more than chance.",
        "Its order of pairs and people's agree with 0.71: a bias leaves that as it is, and a student measured by Spearman "
        "suffers from wrong order, not from a shift.",
        "Next, correct the largest differences and retrain the labeler with them; what it then says of these same pairs "
        "proves nothing, a new audit does.",
    )


def test_an_audit_of_few_pairs_leaves_the_order_open() -> None:
    found = explain.audit(
        n_scored=5,
        n_pairs=3290,
        mae=explain.Estimate(0.12),
        bias=explain.Estimate(0.04, -0.01, 0.07),
        rank=explain.Estimate(0.05, -0.4, 0.5),
        scale=STS,
    )
    assert found[1] == (
        "It is not clearly too high or too low on the whole: the interval of its bias holds 0."
    )
    assert found[2].startswith("Whether it puts pairs in the order that people would is open")


def test_agreement_is_a_ceiling() -> None:
    assert explain.agreement(
        n_annotators=3, n_shared=40, alpha=0.8, low=0.6, high=0.9, spearman=0.81
    ) == (
        "Two people's orders of these pairs agree with a Spearman × 100 of 81.0: even a model without a fault would agree "
        "with one of them to about 90.0 only, as the rest is that person's noise.",
        "Where all 3 scored a pair, their mean is more reliable than one of them: about 0.92 where single scores have "
        "0.80 (Spearman-Brown), which is why gold takes the mean.",
        "From 40 shared pairs α is known only to lie between 0.60 and 0.90: score more pairs twice.",
        "Agreement does not show that people are right: all may misread the guideline alike. Talk about the worst pairs "
        "before you merge into gold.",
    )


def test_best_worst_scores_hold_among_their_pairs() -> None:
    found = explain.best_worst(n_judges=2, n_pairs=40, reliability=0.66)
    assert found[0] == (
        "Nobody gave a score: 2 judges only picked the most and the least similar of four, and from that 40 pairs get "
        "their place in an order."
    )
    assert "agree to 0.66" in found[1]
    assert "is not known" in explain.best_worst(n_judges=1, n_pairs=1, reliability=None)[1]


def test_a_relabelling_counts_where_training_has_not_looked() -> None:
    assert explain.relabelled(
        word="closer",
        mean_change=0.05,
        scale=STS,
        n_fair=30,
        is_audited=True,
        towards=9,
        away=1,
    ) == (
        "On average a score moved by 0.25 points, 5 % of the scale. A change is no improvement yet: another seed alone "
        "moves scores too.",
        "That 9 of 10 corrected pairs moved towards people is to be expected where training has seen them.",
        "What counts are the 30 pairs that no training has seen, drawn at random by the audit.",
        "Next, train a student on the new set and hold it against the old one's on Compare.",
    )


def test_a_tried_pair_shows_how_models_work() -> None:
    first, *_ = explain.tried_pair(
        scores=[("bi_encoder", 0.8), ("bi_encoder", 0.7), ("cross_encoder", 0.3)], scale=STS
    )
    assert first == (
        "Bi-encoder and cross-encoder are far apart, the bi-encoder higher: 4.00 and 1.50 on 0 to 5."
    )


def test_a_search_says_what_a_cross_encoder_alone_would_take() -> None:
    found = explain.searched(
        n_sentences=10_000, n_hits=10, search_seconds=0.012, rerank_seconds=0.5
    )
    assert found[:2] == (
        "10,000 sentences had their vectors ready, so that one query took 12 ms of search.",
        "The cross-encoder read only the 10 hits; at that pace all sentences would take about 8 min, for every query "
        "anew.",
    )


# --- phrases ----------------------------------------------------------------------------------------


def test_phrases() -> None:
    assert [phrases.share(value) for value in (0.0, 0.0004, 0.007, 0.41, 1.0)] == [
        "0 %",
        "less than 0.1 %",
        "0.7 %",
        "41 %",
        "100 %",
    ]
    assert [phrases.apart(value) for value in (0.025, -0.025, 0.0001)] == [
        "2.5 points above",
        "2.5 points below",
        "level with",
    ]
    assert phrases.hundred(-0.0001) == "0.0"
    assert [phrases.number(value) for value in (-0.001, -1.5, 0.666)] == ["0.00", "-1.50", "0.67"]
    assert [phrases.two_digits(value) for value in (0.2, 87.4, 2889)] == [1, 87, 2900]
    assert phrases.pairs_for(0.04, 100, 0.02) == 400
    assert phrases.reach(0.75, 3) is None
    assert phrases.reach(0.0, 103) == pytest.approx(math.tanh(0.196))
    assert phrases.known(math.inf) is None
    assert phrases.metric_name(None) == "Score × 100"


# --- properties -------------------------------------------------------------------------------------

COUNTS = st.integers(0, 2_000_000)
SOME = st.integers(1, 50)
UNIT = st.floats(0, 1)
SIGNED = st.floats(-1, 1)
ODD = st.sampled_from([None, math.nan, math.inf, -math.inf])
MAYBE = SIGNED | ODD
SHARES = st.tuples(UNIT, UNIT, UNIT) | st.none()
VERDICTS = st.sampled_from(["better", "not better", "unclear", "no student", ""])
SCALES = st.sampled_from([STS, ScoreRange(-1.0, 1.0), ScoreRange(0.0, 100.0)])
METRICS = st.sampled_from(["spearman", "f1", ""])
ESTIMATES = st.builds(explain.Estimate, MAYBE, MAYBE, MAYBE)
GROUPS = st.builds(explain.Group, st.just("A model"), SOME, MAYBE, UNIT | ODD)

ASKED: dict[str, tuple[Callable[..., tuple[str, ...]], dict[str, st.SearchStrategy[object]]]] = {
    "gold_pairs": (
        explain.gold_pairs,
        {"n_train": COUNTS, "n_test": COUNTS, "high_share": UNIT | ODD, "middle": st.just("2.5"),
         "task": st.sampled_from(["regression", "classification"]), "all_alike": st.booleans()},
    ),
    "imported": (
        explain.imported,
        {"kind": st.sampled_from(["pairs", "sentences", "unlabelled-pairs", "nli", "triplets", "else"]),
         "n_read": COUNTS, "n_kept": COUNTS, "n_rejected": COUNTS, "n_others": COUNTS},
    ),
    "labeler": (
        explain.labeler,
        {"metric": METRICS, "dev_score": MAYBE, "n_dev": COUNTS, "n_steps": COUNTS, "best_step": COUNTS,
         "curve": st.lists(st.tuples(COUNTS, st.floats(-1, 1) | st.just(math.nan)), max_size=3)},
    ),
    "gate": (
        explain.gate,
        {"verdict": VERDICTS, "n_pairs": COUNTS, "split": st.just("dev"), "difference": MAYBE, "low": MAYBE,
         "high": MAYBE, "labeler_score": MAYBE, "untrained_score": MAYBE},
    ),
    "student": (
        explain.student,
        {"run": COUNTS, "n_gold": COUNTS, "n_silver": COUNTS, "dev_score": MAYBE, "twin": SOME | st.none(),
         "twin_score": MAYBE, "gate_verdict": VERDICTS, "gate_difference": MAYBE},
    ),
    "seed_study": (
        explain.seed_study,
        {"fractions": st.just([0.2, 0.5, 1.0]), "spearman": st.lists(MAYBE, max_size=3),
         "regret": st.lists(UNIT, max_size=3), "finals": st.lists(MAYBE, max_size=12)},
    ),
    "candidates": (
        explain.candidates,
        {"strategy": st.sampled_from(["bm25", "random", "kde", "from a file"]), "n_pairs": COUNTS,
         "corpus_size": COUNTS, "gold_left_out": COUNTS | st.none(), "is_labelled": st.booleans()},
    ),
    "labels": (
        explain.labels,
        {"silver_set": SOME, "n_pairs": COUNTS, "n_candidates": COUNTS, "passes": COUNTS, "metric": METRICS,
         "dev_score": MAYBE, "gate_verdict": VERDICTS, "gate_difference": MAYBE},
    ),
    "silver_density": (
        explain.silver_density,
        {"n_silver": COUNTS, "gold": SHARES, "silver": SHARES, "scale": SCALES,
         "strategy": st.sampled_from(["", "bm25", "random"])},
    ),
    "kept_by_density": (
        explain.kept_by_density,
        {"n_kept": COUNTS, "n_pool": COUNTS, "kl": MAYBE, "pool_kl": MAYBE, "short": UNIT | ODD},
    ),
    "kept_by_class": (
        explain.kept_by_class,
        {"n_kept": COUNTS, "positives": COUNTS, "gold_share": UNIT, "threshold": st.just("0.6")},
    ),
    "top_k": (
        explain.top_k,
        {"rows": st.lists(st.tuples(SOME, COUNTS, UNIT | ODD), max_size=4), "gold_high": UNIT | ODD,
         "middle": st.just("2.5")},
    ),
    "strategies": (
        explain.strategies,
        {"n_sets": COUNTS, "scored": st.lists(st.tuples(SOME, SIGNED | st.just(math.nan), COUNTS), max_size=4)},
    ),
    "compared": (
        explain.compared,
        {"split": st.just("test"), "n_pairs": COUNTS, "difference": MAYBE, "low": MAYBE, "high": MAYBE,
         "silver_score": MAYBE, "gold_score": MAYBE, "labeler_score": MAYBE, "untrained_score": MAYBE},
    ),
    "two_groups": (explain.two_groups, {"first": GROUPS, "second": GROUPS, "split": st.just("dev")}),
    "learning_curve": (
        explain.learning_curve,
        {"points": st.lists(st.tuples(st.sampled_from(["Gold-only", "AugSBERT"]), SOME, SIGNED), max_size=9),
         "split": st.just("dev"), "with_silver": st.just("AugSBERT"), "without": st.just("Gold-only")},
    ),
    "reranked": (
        explain.reranked,
        {"n_queries": COUNTS, "depth": SOME, "recall": UNIT | ODD, "difference": MAYBE, "low": MAYBE, "high": MAYBE},
    ),
    "label_errors": (
        explain.label_errors,
        {"folds": SOME, "n_scored": COUNTS, "spearman": MAYBE, "n_listed": COUNTS, "n_looked": COUNTS},
    ),
    "audit": (
        explain.audit,
        {"n_scored": COUNTS, "n_pairs": COUNTS, "mae": ESTIMATES, "bias": ESTIMATES, "rank": ESTIMATES, "scale": SCALES,
         "is_census": st.booleans()},
    ),
    "agreement": (
        explain.agreement,
        {"n_annotators": COUNTS, "n_shared": COUNTS, "alpha": MAYBE, "low": MAYBE, "high": MAYBE, "spearman": MAYBE},
    ),
    "best_worst": (
        explain.best_worst, {"n_judges": COUNTS, "n_pairs": COUNTS, "reliability": MAYBE},
    ),
    "relabelled": (
        explain.relabelled,
        {"word": st.sampled_from(["closer", "farther", "unclear", "unknown"]), "mean_change": UNIT | ODD,
         "scale": SCALES, "n_fair": COUNTS, "is_audited": st.booleans(), "towards": COUNTS, "away": COUNTS},
    ),
    "tried_pair": (
        explain.tried_pair,
        {"scores": st.lists(st.tuples(st.sampled_from(["bi_encoder", "cross_encoder"]), UNIT), max_size=4),
         "scale": SCALES},
    ),
    "searched": (
        explain.searched,
        {"n_sentences": COUNTS, "n_hits": COUNTS, "search_seconds": st.floats(0, 9) | st.just(math.nan),
         "rerank_seconds": st.floats(0, 900) | st.just(math.nan)},
    ),
}  # fmt: skip
"""Every explanation, with what it may be asked."""


def test_every_explanation_is_asked_below() -> None:
    others = {"Estimate", "Group", "thirds"}
    assert set(ASKED) == set(explain.__all__) - others


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_odd_numbers_give_two_to_four_whole_sentences(name: str, data: st.DataObject) -> None:
    function, asked = ASKED[name]
    found = function(**{key: data.draw(values, key) for key, values in asked.items()})
    assert 2 <= len(found) <= 4
    for sentence in found:
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith((".", "?"))
        assert not re.search(
            r"\b(nan|inf|None)\b", sentence.replace("None of", "").replace("None has", "")
        )
        assert "  " not in sentence
        assert not re.search(r"-0(\.0+)?(?![\d.])", sentence)


BAD_GRAMMAR = (
    r"(?<![\d.,-])1 (?!(?:is|was|has|waits|comes|pass)\b)[a-z-]+s\b",
    r"(?<![\d.,-])1 (?!is|was|has|waits)[a-z-]+ (?:pair|one|row|sentence|quer[a-z]*|seed|step)s\b",
    r"(?<![\d.,-])1 (?:[a-z]+ )?(?:pair|row|sentence|hit|set|query) (?:are|were|have|get|wait)\b",
    r"\b[Aa] (?:F1|[aei]|o(?!ne))",
    r"\b[Aa]n (?!F1|NLI)[^aeiou\W]",
)
"""A plural after 1, a verb that does not agree with it, the other article."""

FEW = st.integers(0, 2)


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_one_of_a_thing_is_told_in_the_singular(name: str, data: st.DataObject) -> None:
    function, asked = ASKED[name]
    drawn = {
        key: data.draw(FEW if values in (COUNTS, SOME) else values, key)
        for key, values in asked.items()
    }
    for sentence in function(**drawn):
        for pattern in BAD_GRAMMAR:
            assert not re.search(pattern, sentence), sentence


def test_the_rules_of_grammar_find_what_was_wrong_before() -> None:
    for wrong in (
        "It reached a F1 × 100.",
        "at the cost of 1 passes",
        "With 1 gold pairs, silver is",
        "1 pair were",
    ):
        assert any(re.search(pattern, wrong) for pattern in BAD_GRAMMAR), wrong
    assert phrases.with_article("F1 × 100") == "an F1 × 100"
    assert phrases.with_article("Spearman × 100") == "a Spearman × 100"
    assert [phrases.many(n, "pass") for n in (1, 2)] == ["1 pass", "2 passes"]


NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def numbers(sentences: tuple[str, ...]) -> set[str]:
    """The numbers in a text, as they are written."""
    return {found.rstrip(".,") for found in NUMBER.findall(" ".join(sentences))}


@given(n_pairs=st.integers(1, 10**6), passes=st.integers(0, 10**6), score=UNIT, gap=SIGNED)
def test_labels_name_the_given_numbers_and_no_other(
    n_pairs: int, passes: int, score: float, gap: float
) -> None:
    found = explain.labels(
        silver_set=3, n_pairs=n_pairs, n_candidates=n_pairs, passes=passes, metric="spearman",
        dev_score=score, gate_verdict="better", gate_difference=gap,
    )  # fmt: skip
    given_ones = {"3", f"{n_pairs:,}", f"{passes:,}", "100", f"{100 * score:.1f}"}
    assert numbers(found) >= given_ones
    assert numbers(found) - given_ones <= {f"{abs(100 * gap):.1f}"}


@given(
    gold=UNIT, teacher=UNIT, gain=SIGNED, half=st.floats(0.0, 0.2), n_pairs=st.integers(10, 10**5)
)
def test_a_comparison_names_the_given_scores(
    gold: float, teacher: float, gain: float, half: float, n_pairs: int
) -> None:
    found = explain.compared(
        split="test", n_pairs=n_pairs, difference=gain, low=gain - half, high=gain + half,
        silver_score=gold + gain, gold_score=gold, labeler_score=teacher, untrained_score=None,
    )  # fmt: skip
    told = numbers(found)
    assert told >= {f"{100 * gold:.1f}", f"{100 * teacher:.1f}", f"{n_pairs:,}"}
    assert f"± {100 * half:.1f} points" in found[1] or half > 0.19
    assert ("AugSBERT does not help" in found[0]) == (phrases.shown(teacher) <= phrases.shown(gold))


@given(corpus=st.integers(2, 10**6), share=st.floats(0.01, 1))
def test_candidates_name_the_given_numbers(corpus: int, share: float) -> None:
    possible = corpus * (corpus - 1) // 2
    n_pairs = max(1, int(share * possible))
    found = explain.candidates(strategy="semantic", n_pairs=n_pairs, corpus_size=corpus)
    assert {f"{corpus:,}", f"{possible:,}", f"{n_pairs:,}"} <= numbers(found)


@given(low=UNIT, middle=UNIT, high=UNIT, other=UNIT)
def test_silver_density_names_thirds_as_they_are(
    low: float, middle: float, high: float, other: float
) -> None:
    gold = (low / 3, middle / 3, 1 - (low + middle) / 3)
    silver = (other / 2, 1 - (other + high) / 2, high / 2)
    found = explain.silver_density(n_silver=500, gold=gold, silver=silver, scale=STS)
    shown = set(re.findall(r"(?:less than 0\.1|[\d.]+) %", " ".join(found)))
    assert shown <= {phrases.share(value) for value in (*gold, *silver, 0.05)}
