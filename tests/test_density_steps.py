"""Sampling with a bi-encoder, previewing, labelling without repeating passes, and keeping by a rule."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    KeepOptions,
    LabelOptions,
    PreviewOptions,
    SampleOptions,
)
from augsbert_core.pairs import pair_codes
from augsbert_core.steps.keep import divergence, plan_keep, score_density
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import candidates, gold, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.known_scores import count_known_scores
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import SilverScores, silver_scores
from tests.tiny import tiny_bert, tiny_cross_encoder


@pytest.fixture
def project(workspace: Workspace) -> Project:
    return open_sample_project(workspace)


class Loop:
    """Carries out steps of one project in this process."""

    def __init__(self, workspace: Workspace, project: Project, folder: Path) -> None:
        self.workspace, self.project, self.folder = workspace, project, folder

    def __call__(self, step: str, options: Any) -> dict[str, Any]:
        return jobs.run_in_foreground(self.workspace, self.project.id, step, options)

    def labeler(self) -> str:
        base = tiny_bert(self.folder / "base")
        trained = self("train-cross-encoder", CrossEncoderOptions(base=base, max_steps=2))
        return f"run:{trained['run_id']}"

    def pool(self, n_pairs: int = 600) -> int:
        """A labelled random pool."""
        chosen = self("sample", SampleOptions(strategy="kde", n_pairs=n_pairs))
        labelled = self("label", LabelOptions(chosen["candidate_set_id"], self.labeler()))
        return int(labelled["silver_set_id"])


@pytest.fixture
def loop(workspace: Workspace, project: Project, tmp_path: Path) -> Loop:
    return Loop(workspace, project, tmp_path)


def codes_of(workspace: Workspace, set_id: int) -> set[int]:
    return set(silver_scores(workspace, set_id).codes.tolist())


def test_semantic_sampling_uses_the_bi_encoder_that_was_named(loop: Loop) -> None:
    base = tiny_bert(loop.folder / "bi")
    trained = loop("train-bi-encoder", BiEncoderOptions(base=base, layers=1, max_steps=2))
    options = SampleOptions(strategy="semantic", top_k=2, encoder=f"run:{trained['run_id']}")
    found = loop("sample", options)
    again = loop("sample", options)
    assert found["n_candidates"] == again["n_candidates"] >= found["corpus_size"]
    assert any("xact" in notice for notice in found["notices"])
    shared = candidates.shared_candidates(loop.workspace, again["candidate_set_id"])
    assert shared[found["candidate_set_id"]] == found["n_candidates"]


def test_the_union_keeps_both_ranks(loop: Loop) -> None:
    base = tiny_bert(loop.folder / "bi")
    found = loop("sample", SampleOptions(strategy="bm25+semantic", top_k=2, encoder=base))
    page = candidates.candidate_page(loop.workspace, found["candidate_set_id"], limit=10_000)
    by_words, by_meaning = page["bm25_rank"].notna(), page["semantic_rank"].notna()
    assert (by_words | by_meaning).all()
    assert (by_words & ~by_meaning).any()
    assert (~by_words & by_meaning).any()
    assert (page["rank"] == page[["bm25_rank", "semantic_rank"]].min(axis=1)).all()


def test_an_encoder_must_be_a_bi_encoder_of_the_project(loop: Loop) -> None:
    with pytest.raises(WorkbenchError, match="one of step train-bi-encoder is needed"):
        loop("sample", SampleOptions(strategy="semantic", encoder=loop.labeler()))


def test_pairs_of_a_silver_set_are_left_out_when_asked(loop: Loop) -> None:
    labeler = loop.labeler()
    first = loop("sample", SampleOptions(top_k=1))
    known = loop("label", LabelOptions(first["candidate_set_id"], labeler))["silver_set_id"]
    more = loop("sample", SampleOptions(top_k=2, exclude_silver_sets=(known,)))
    assert not candidates.shared_candidates(loop.workspace, more["candidate_set_id"])
    with pytest.raises(
        WorkbenchError, match="Silver set 999, whose pairs should be left out, does not"
    ):
        loop("sample", SampleOptions(exclude_silver_sets=(999,)))


def test_a_larger_top_k_costs_only_its_new_pairs(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    labeler = loop.labeler()
    small = loop("sample", SampleOptions(top_k=2))
    large = loop("sample", SampleOptions(top_k=4))
    before = loop("label", LabelOptions(small["candidate_set_id"], labeler))
    known = count_known_scores(loop.workspace, large["candidate_set_id"], labeler)
    assert known == small["n_candidates"]
    after = loop("label", LabelOptions(large["candidate_set_id"], labeler))
    assert before["n_reused"] == 0
    assert after["n_reused"] == small["n_candidates"]
    assert after["n_scored"] == large["n_candidates"]

    old = silver_scores(loop.workspace, before["silver_set_id"])
    new = silver_scores(loop.workspace, after["silver_set_id"])
    taken_over = dict(zip(new.codes.tolist(), new.scores.tolist(), strict=True))
    assert [taken_over[code] for code in old.codes.tolist()] == old.scores.tolist()

    # All pairs are known now, so the labeler is not even loaded.
    monkeypatch.setattr("augsbert_core.models.labeling.load_labeler", None)
    again = loop("label", LabelOptions(large["candidate_set_id"], labeler))
    assert again["n_reused"] == again["n_scored"]


def test_another_labelers_scores_are_never_taken_over(loop: Loop) -> None:
    chosen = loop("sample", SampleOptions(top_k=1))
    loop("label", LabelOptions(chosen["candidate_set_id"], loop.labeler()))
    other = tiny_cross_encoder(loop.folder / "other")
    assert loop("label", LabelOptions(chosen["candidate_set_id"], other))["n_reused"] == 0
    assert loop("label", LabelOptions(chosen["candidate_set_id"], other))["n_reused"] == 0


def test_a_preview_scores_a_few_pairs_and_makes_no_silver_set(loop: Loop) -> None:
    chosen = loop("sample", SampleOptions(top_k=3))
    labeler = loop.labeler()
    told = PreviewOptions(chosen["candidate_set_id"], labeler, n_pairs=50)
    found = loop("preview", told)
    assert len(found["scores"]) == found["n_previewed"] == 50
    assert all(0 <= score <= 1 for score in found["scores"])
    assert found["pairs_per_second"] > 0
    assert loop("preview", told)["scores"] == found["scores"]
    assert not silver_sets.list_silver_sets(loop.workspace, loop.project.id)


def test_kde_keeps_some_of_the_pool_as_a_set_that_can_train(loop: Loop) -> None:
    pool_id = loop.pool()
    kept = loop("keep", KeepOptions(pool_id, c=1.0, seed=1))
    found = silver_sets.get_silver_set(loop.workspace, kept["silver_set_id"])
    assert 0 < found.n_pairs == kept["n_kept"] < kept["n_pool"] == 600
    assert (found.pool_set_id, found.rule, found.passes) == (pool_id, "kde", 600)
    assert found.is_complete
    assert codes_of(loop.workspace, found.id) < codes_of(loop.workspace, pool_id)

    fewer = loop("keep", KeepOptions(pool_id, c=0.3, seed=1))
    assert codes_of(loop.workspace, fewer["silver_set_id"]) < codes_of(loop.workspace, found.id)
    gold_codes = pair_codes(*gold.gold_pair_ids(loop.workspace, loop.project.id))
    assert not codes_of(loop.workspace, pool_id) & set(gold_codes.tolist())

    base = tiny_bert(loop.folder / "student")
    student = loop(
        "train-bi-encoder",
        BiEncoderOptions(base=base, layers=1, max_steps=2, silver_set_id=found.id),
    )
    assert (student["n_silver"], student["passes"]) == (found.n_pairs, 600)


def test_ranks_cut_a_set_down_to_a_smaller_top_k(loop: Loop) -> None:
    chosen = loop("sample", SampleOptions(top_k=4))
    labelled = loop("label", LabelOptions(chosen["candidate_set_id"], loop.labeler()))
    kept = loop("keep", KeepOptions(labelled["silver_set_id"], rule="top-k", max_rank=2))
    smaller = loop("sample", SampleOptions(top_k=2))
    assert kept["n_kept"] == smaller["n_candidates"]
    with pytest.raises(WorkbenchError, match="largest rank"):
        loop("keep", KeepOptions(labelled["silver_set_id"], rule="top-k"))


def test_what_a_rule_lacks_is_said_before_a_job_is_queued(loop: Loop) -> None:
    chosen = loop("sample", SampleOptions(strategy="kde", n_pairs=50))
    other = tiny_cross_encoder(loop.folder / "other")  # no run of the project: no threshold
    pool_id = loop("label", LabelOptions(chosen["candidate_set_id"], other))["silver_set_id"]
    before = len(runs.list_runs(loop.workspace, loop.project.id, state=None))
    for options, message in (
        (KeepOptions(pool_id, c=0.0), "c is 0"),
        (KeepOptions(pool_id, c=2.0), "c is 2"),
        (KeepOptions(pool_id, rule="best"), "no rule 'best'"),
        (KeepOptions(pool_id, rule="classification"), "no decision threshold"),
        (KeepOptions(pool_id, rule="top-k"), "largest rank"),
        (KeepOptions(pool_id, rule="top-k", max_rank=0), "largest rank"),
        (
            KeepOptions(pool_id, rule="top-k", max_rank=3),
            f"Silver set {pool_id} has no ranks: only BM25 and semantic sampling order neighbours",
        ),
    ):
        with pytest.raises(WorkbenchError, match=message):
            jobs.enqueue(loop.workspace, loop.project.id, "keep", options)
    assert len(runs.list_runs(loop.workspace, loop.project.id, state=None)) == before


@pytest.mark.parametrize("rule", ["robust", "scott"])
def test_the_realised_kl_scatters_around_the_expected_one(rule: str) -> None:
    """A bandwidth by rule for the few kept pairs would put all ten seeds on one side of it."""
    rng = np.random.default_rng(0)
    gold_scores, pool = rng.beta(2, 2, 3000), pool_of(rng.beta(1.2, 5, 40_000).tolist())
    kls, expected, own = [], [], []
    for seed in range(10):
        told = KeepOptions(1, c=1.0, seed=seed, bandwidth_rule=rule)
        plan = plan_keep(gold_scores, pool, told)
        assert plan.kl is not None
        assert plan.expected is not None
        kls.append(plan.kl)
        expected.append(plan.expected.kl)
        alone = score_density(pool.scores[plan.mask], told, plan.grid)
        own.append(divergence(plan.gold, alone, plan.grid) or 0.0)
    assert min(kls) < expected[0] < max(kls)
    assert max(own) < expected[0]
    assert np.mean(kls) == pytest.approx(expected[0], abs=np.std(kls))


def pool_of(scores: list[float]) -> SilverScores:
    numbers = np.arange(len(scores), dtype=np.int64)
    return SilverScores(
        ids=numbers + 1,
        codes=pair_codes(numbers, numbers + 1),
        scores=np.array(scores),
        ranks=np.ones(len(scores), dtype=np.int32),
    )


def test_the_rule_for_classes_keeps_every_positive_and_negatives_at_the_gold_ratio() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(0.7, 1.0, 50), rng.uniform(0.0, 0.5, 1000)])
    gold_scores = np.array([1.0] * 20 + [0.0] * 80)
    options = KeepOptions(1, rule="classification")
    plan = plan_keep(gold_scores, pool_of(scores.tolist()), options, labeler_threshold=0.6)
    assert plan.mask[:50].all()
    assert plan.n_kept == 250  # 50 positives are a fifth of it, as in gold
    with pytest.raises(WorkbenchError, match="no decision threshold"):
        plan_keep(gold_scores, pool_of(scores.tolist()), options)


@pytest.mark.parametrize("scores", [[], [0.4], [0.3] * 40, [0.0, 1.0] * 20])
def test_scores_without_a_density_keep_a_plan_possible(scores: list[float]) -> None:
    plan = plan_keep(np.array([0.2, 0.5, 0.9]), pool_of(scores), KeepOptions(1))
    assert len(plan.mask) == len(scores)
    assert plan.kl is None or plan.kl >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (KeepOptions(1, rule="best"), "no rule 'best'"),
        (KeepOptions(1, c=0.0), "c is 0"),
        (KeepOptions(1, c=1.5), "c is 1.5"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(options: KeepOptions, message: str) -> None:
    with pytest.raises(WorkbenchError, match=message):
        plan_keep(np.array([0.2, 0.5]), pool_of([0.1, 0.9]), options)


def test_without_gold_there_is_nothing_to_match() -> None:
    with pytest.raises(WorkbenchError, match="no gold training pairs to match"):
        plan_keep(np.array([]), pool_of([0.1, 0.9]), KeepOptions(1))


def test_a_pool_must_be_complete_and_of_the_project(loop: Loop) -> None:
    with pytest.raises(WorkbenchError, match="no silver set 77"):
        loop("keep", KeepOptions(77))
