"""The step `sample-stratified` with tiny models: a pool in rounds, a kept set, and going on after a kill."""

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.cli.silver import kept_line
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import (
    ImportOptions,
    KeepOptions,
    LabelOptions,
    SampleOptions,
    StratifiedOptions,
    from_json,
    to_json,
)
from augsbert_core.pairs import pair_codes
from augsbert_core.steps import StepContext, stratified
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.steps.stratified import sample_stratified
from augsbert_core.steps.stratified_limits import max_passes, pilot_pairs, shortfall_notices
from augsbert_core.storage import candidates, gold, projects, queue, runs, sentences, silver_sets
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.records import Job, Project
from augsbert_core.storage.silver_bins import silver_scores
from tests.tiny import WORDS, tiny_bert, tiny_cross_encoder

needs_sigkill = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def sample(workspace: Workspace) -> Project:
    return open_sample_project(workspace)


@pytest.fixture
def options(tmp_path: Path) -> StratifiedOptions:
    return StratifiedOptions(
        labeler=tiny_cross_encoder(tmp_path / "labeler"),
        encoder=tiny_bert(tmp_path / "encoder"),
        n_keep=150,
        pilot=60,
        rounds=2,
        max_passes=600,
    )


def context_of(workspace: Workspace, project: Project, options: StratifiedOptions) -> StepContext:
    run_id = runs.add_run(
        workspace, project.id, "sample-stratified", "Stratified", to_json(options), options.seed
    )
    return StepContext(workspace, project, runs.get_run(workspace, run_id))


def rounds_of(workspace: Workspace, pool_id: int) -> dict[int, int]:
    """Pair code → round."""
    pool = silver_scores(workspace, pool_id)
    return dict(zip(pool.codes.tolist(), pool.ranks.tolist(), strict=True))


def test_a_pool_is_scored_in_rounds_and_a_silver_set_kept_of_it(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    result = jobs.run_in_foreground(workspace, sample.id, "sample-stratified", options)
    pool = silver_sets.get_silver_set(workspace, result["pool_set_id"])
    kept = silver_sets.get_silver_set(workspace, result["silver_set_id"])
    chosen = candidates.get_candidate_set(workspace, result["candidate_set_id"])
    assert chosen.strategy == "stratified-kde"
    assert pool.n_pairs == chosen.n_pairs == result["n_passes"] <= 600
    assert kept.n_pairs == result["n_kept"] <= options.n_keep
    assert (kept.pool_set_id, kept.rule, kept.passes) == (pool.id, "kde", pool.n_pairs)
    assert pool.is_complete
    assert kept.is_complete
    assert 0 < result["c"] <= 1
    assert 0 <= result["kl"] < result["pool_kl"] + 0.5
    assert sum(result["pairs_per_bin"]) > pool.n_pairs

    rounds = rounds_of(workspace, pool.id)
    assert set(rounds.values()) == set(range(1, result["rounds"] + 1))
    assert list(rounds.values()).count(1) == options.pilot
    gold_codes = pair_codes(*gold.gold_pair_ids(workspace, sample.id))
    assert not np.isin(list(rounds), gold_codes).any()
    corpus, _ = sentences.sampling_corpus(workspace, sample.id, use_unlabelled=False)
    ids = {code >> 31 for code in rounds} | {code & (2**31 - 1) for code in rounds}
    assert ids <= set(corpus.tolist())
    with reading(workspace) as db:
        cosines = [row[0] for row in db.execute("SELECT sampler_score FROM silver_pair")]
    assert min(cosines) < max(cosines) <= 1.0001


def test_the_kept_set_is_what_the_step_keep_makes_of_the_same_options(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    result = jobs.run_in_foreground(workspace, sample.id, "sample-stratified", options)
    kept = silver_sets.get_silver_set(workspace, result["silver_set_id"])
    keep_run = runs.get_run(workspace, kept.run_id)
    assert (keep_run.step, keep_run.state) == ("keep", "done")
    again = jobs.run_in_foreground(
        workspace, sample.id, "keep", from_json(KeepOptions, keep_run.options)
    )
    assert again["silver_set_id"] != kept.id
    first, second = (silver_scores(workspace, i) for i in (kept.id, again["silver_set_id"]))
    assert np.array_equal(first.codes, second.codes)
    assert again["kl"] == pytest.approx(result["kl"])


def test_done_twice_for_one_run_the_first_sets_stand(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    context = context_of(workspace, sample, options)
    first = sample_stratified(context, options)
    again = sample_stratified(context, options)
    ids = ("candidate_set_id", "pool_set_id", "silver_set_id", "n_passes", "n_kept", "kl")
    assert {name: first[name] for name in ids} == {name: again[name] for name in ids}
    assert len(silver_sets.list_silver_sets(workspace, sample.id)) == 2


def test_stopped_anywhere_it_goes_on_and_ends_like_an_uninterrupted_run(
    workspace: Workspace,
    sample: Project,
    options: StratifiedOptions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped again and again after a batch or two, without embedding anything twice."""
    embedded = []
    embed_texts = stratified.embed_texts
    monkeypatch.setattr(
        stratified, "embed_texts", lambda *a, **k: embedded.append(1) or embed_texts(*a, **k)
    )
    options = replace(options, batch_size=16)
    whole = sample_stratified(context_of(workspace, sample, options), options)
    context = context_of(workspace, sample, options)
    stops = 0
    while True:
        asked = iter(range(2))
        path = context.folder / "strata.npz"

        def should_stop(path=path, asked=asked) -> bool:
            return path.exists() and next(asked, None) is None

        try:
            result = sample_stratified(replace(context, should_stop=should_stop), options)
            break
        except Stopped:
            stops += 1
            assert stops < 60
    assert stops >= 3
    assert len(embedded) == 2
    assert rounds_of(workspace, result["pool_set_id"]) == rounds_of(workspace, whole["pool_set_id"])
    kept = [silver_scores(workspace, r["silver_set_id"]).codes for r in (result, whole)]
    assert np.array_equal(*kept)
    assert (result["n_passes"], result["kl"]) == (whole["n_passes"], pytest.approx(whole["kl"]))


def wait_until(is_true: Callable[[], bool], seconds: float = 120) -> None:
    for _ in range(int(seconds * 20)):
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError(f"not in {seconds} s")


@needs_sigkill
def test_killed_it_loses_no_score_and_goes_on(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    options = replace(options, batch_size=1, n_keep=3000, pilot=1500, max_passes=2000)
    job: Job = jobs.enqueue(workspace, sample.id, "sample-stratified", options)

    def n_scored() -> int:
        return sum(made.n_pairs for made in silver_sets.list_silver_sets(workspace, sample.id))

    wait_until(lambda: n_scored() > 0)
    os.kill(queue.get_job(workspace, job.id).pid or 0, signal.SIGKILL)

    def is_found_dead() -> bool:
        jobs.tend(workspace)
        return queue.get_job(workspace, job.id).state == "interrupted"

    wait_until(is_found_dead)
    scored = n_scored()
    assert 0 < scored < 2000, "the kill came too late to show anything"
    jobs.resume(workspace, job.id)
    wait_until(lambda: queue.get_job(workspace, job.id).state not in queue.ACTIVE)
    ended = queue.get_job(workspace, job.id)
    assert ended.state == "done", (ended.error, ended.details)
    result = runs.get_run(workspace, job.run_id).metrics
    pool = silver_sets.get_silver_set(workspace, result["pool_set_id"])
    assert max(1500, scored) <= pool.n_pairs == result["n_passes"] <= 2000
    assert pool.n_pairs > scored, "something was left to do"
    assert len(rounds_of(workspace, pool.id)) == pool.n_pairs


def test_max_passes_is_never_exceeded_and_said(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    options = replace(options, n_keep=400, max_passes=130)
    result = sample_stratified(context_of(workspace, sample, options), options)
    assert result["n_passes"] == 130
    assert result["n_kept"] < 400
    assert any("not 400" in notice for notice in result["notices"])
    assert result["least_passes"] == 400


def test_a_rule_that_keeps_nothing_leaves_a_pool_to_keep_from(
    workspace: Workspace, options: StratifiedOptions, tmp_path: Path
) -> None:
    """Three training sentences have three pairs, two of which are gold."""
    made = projects.create_project(workspace, "Three")
    a, b, c = (" ".join(WORDS[i : i + 3]) for i in (0, 5, 10))
    content = f"sentence1,sentence2,score,split\n{a},{b},0.4,train\n{b},{c},0.6,train\n"
    import_file(
        workspace, made.id, content.encode(), "gold.csv", ImportOptions(score_range=(0.0, 1.0))
    )
    project = projects.get_project(workspace, made.id)
    result = jobs.run_in_foreground(workspace, project.id, "sample-stratified", options)
    (pool,) = silver_sets.list_silver_sets(workspace, project.id)
    assert (result["silver_set_id"], result["n_kept"], result["kl"]) == (None, 0, None)
    assert any("keeps none of the 1 scored pairs" in notice for notice in result["notices"])
    assert f"silver set {pool.id}" in kept_line(result, result["n_passes"])
    assert (pool.id, pool.n_pairs, pool.is_complete) == (result["pool_set_id"], 1, True)
    told = KeepOptions(pool.id, rule="classification", threshold=0.0)
    kept = jobs.run_in_foreground(workspace, project.id, "keep", told)
    assert kept["n_kept"] == 1


def test_without_max_passes_the_limit_is_stated_and_a_tiny_c_does_not_lift_it(
    options: StratifiedOptions,
) -> None:
    free = replace(options, max_passes=None)
    assert max_passes(replace(free, n_keep=2000)) == 20_000
    assert max_passes(replace(free, n_keep=1000, c=0.1)) == 100_000
    assert max_passes(replace(free, n_keep=1000, c=0.001)) == 100_000
    assert max_passes(replace(free, n_keep=50_000, c=0.5)) == 200_000
    assert max_passes(replace(free, n_keep=300_000)) == 300_000
    assert max_passes(options) == 600
    (told,) = shortfall_notices(replace(free, n_keep=2000), 1500, 20_000)
    assert "stops at 20,000 passes" in told
    assert not shortfall_notices(free, 150, 400)


def test_a_pilot_is_at_most_half_of_what_is_wanted(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    assert pilot_pairs(replace(options, n_keep=300, pilot=500)) == 150
    assert pilot_pairs(replace(options, n_keep=2000, pilot=500)) == 500
    assert pilot_pairs(replace(options, n_keep=10, pilot=500)) == 50
    options = replace(options, pilot=500)
    result = sample_stratified(context_of(workspace, sample, options), options)
    assert list(rounds_of(workspace, result["pool_set_id"]).values()).count(1) == 75
    assert any("The pilot has 75 pairs, not 500" in notice for notice in result["notices"])


def test_an_interrupted_run_goes_on_without_the_set_that_it_left_out(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    chosen = jobs.run_in_foreground(workspace, sample.id, "sample", SampleOptions(top_k=1))
    told = LabelOptions(chosen["candidate_set_id"], options.labeler)
    known = jobs.run_in_foreground(workspace, sample.id, "label", told)["silver_set_id"]
    left_out = silver_scores(workspace, known).codes
    options = replace(options, exclude_silver_sets=(known,))
    context = context_of(workspace, sample, options)
    path = context.folder / "strata.npz"
    with pytest.raises(Stopped):
        sample_stratified(replace(context, should_stop=path.exists), options)
    silver_sets.delete_silver_set(workspace, known)
    with pytest.raises(WorkbenchError, match=f"Silver set {known}, whose pairs should be left out"):
        stratified.check_stratified(workspace, sample, options)
    result = sample_stratified(context, options)
    pool = silver_scores(workspace, result["pool_set_id"])
    assert len(pool)
    assert not np.isin(pool.codes, left_out).any()


def test_a_pool_is_complete_when_all_is_scored_and_nobody_is_at_it(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    context = context_of(workspace, sample, options)
    found = sample_stratified(context, options)["pool_set_id"]
    # Between two rounds all candidates are scored as well.
    assert not silver_sets.get_silver_set(workspace, found).is_complete
    with pytest.raises(WorkbenchError, match="still at work"):
        jobs.run_in_foreground(workspace, sample.id, "keep", KeepOptions(found))
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'failed' WHERE id = ?", [context.run.id])
    pool = silver_sets.get_silver_set(workspace, found)
    assert pool.is_complete
    assert not replace(pool, n_pairs=pool.n_pairs - 1).is_complete
    assert not replace(pool, n_pairs=0, n_candidates=0).is_complete
    assert not replace(pool, rule="kde").is_complete
    assert jobs.run_in_foreground(workspace, sample.id, "keep", KeepOptions(found))["n_kept"]


def test_without_what_it_needs_it_says_what_is_missing(
    workspace: Workspace, sample: Project, options: StratifiedOptions
) -> None:
    empty = projects.create_project(workspace, "Empty")
    empty = projects.get_project(workspace, empty.id)
    with pytest.raises(WorkbenchError, match="no gold training pairs"):
        stratified.check_stratified(workspace, empty, options)
    for wrong, match in (
        ({"c": 0.0}, "c is 0"),
        ({"c": 0.0009}, "from 0.001 to 1"),
        ({"c": float("nan")}, "c is nan"),
        ({"c": 1.5}, "c is 1.5"),
        ({"n_keep": 0}, "n_keep is 0"),
        ({"pilot": -1}, "pilot is -1"),
        ({"max_passes": 0}, "max_passes is 0"),
        ({"labeler": "run:999"}, "999"),
        ({"encoder": "run:999"}, "999"),
        ({"exclude_silver_sets": (77,)}, "Silver set 77, whose pairs should be left out, does not"),
    ):
        with pytest.raises(WorkbenchError, match=match):
            stratified.check_stratified(workspace, sample, replace(options, **wrong))


def test_one_gold_pair_of_one_sentence_is_too_little(
    workspace: Workspace, options: StratifiedOptions
) -> None:
    made = projects.create_project(workspace, "One")
    content = b"sentence1,sentence2,score,split\na cat,a cat,1,train\n"
    import_file(
        workspace, made.id, content, "gold.csv",
        ImportOptions(score_range=(0.0, 1.0), task="regression"),
    )  # fmt: skip
    with pytest.raises(WorkbenchError, match="fewer than two sentences"):
        stratified.check_stratified(workspace, projects.get_project(workspace, made.id), options)
