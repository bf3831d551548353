"""The agreement report of a task against published examples and slow, obvious computations."""

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from augsbert_core.cli import main
from augsbert_core.scales import Level
from augsbert_core.steps.agreement import agreement
from augsbert_core.storage import annotations
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.records import Project
from tests.annotated import NONE, add_task, give, item_ids, made_up_pairs
from tests.test_agreement import FOURTEEN_RATERS, OBSERVERS

WORDS = tuple(Level(word, place / 4, str(place + 1)) for place, word in enumerate("abcde"))


def test_the_published_four_observers_as_a_task(workspace: Workspace, project: Project) -> None:
    """Krippendorff (2011), section C: values 1 to 5 on a scale of five words."""
    task = add_task(workspace, project, made_up_pairs(12), scale="custom", levels=WORDS, n_scores=4)
    table = {
        f"observer {number}": [None if np.isnan(value) else (value - 1) / 4 for value in own]
        for number, own in enumerate(OBSERVERS, 1)
    }
    give(workspace, task, table)
    report = agreement(workspace, task.id)
    assert report.alpha_interval.value == pytest.approx(0.849, abs=5e-4)
    assert report.alpha_nominal.value == pytest.approx(0.743, abs=5e-4)
    assert report.alpha_interval.n_pairs == 11  # the last pair has one score
    low, high = report.alpha_interval.interval or (0.0, 0.0)
    assert low < 0.849 < high
    assert agreement(workspace, task.id).alpha_interval.interval == (low, high)  # a fixed seed
    assert [person.n_scores for person in report.annotators] == [9, 11, 10, 11]
    assert report.n_scored == 12
    assert report.n_shared == 11
    assert "well enough" in report.reading


def test_the_published_fourteen_raters_as_a_task(workspace: Workspace, project: Project) -> None:
    """Fleiss (1971): κ 0.210 over ten subjects and five categories, everyone having scored every pair."""
    task = add_task(
        workspace, project, made_up_pairs(10), scale="custom", levels=WORDS, n_scores=14
    )
    votes = [np.repeat(np.arange(5), counts) / 4 for counts in FOURTEEN_RATERS]
    give(workspace, task, {f"r{n:02d}": [pair[n] for pair in votes] for n in range(14)})
    report = agreement(workspace, task.id)
    assert report.fleiss.value == pytest.approx(0.210, abs=5e-4)
    assert report.fleiss.n_pairs == 10


def test_twos_equal_other_implementations(workspace: Workspace, project: Project) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 11, 30)
    noisy = {
        name: (np.clip(truth + rng.integers(-2, 3, 30), 0, 10) / 2).tolist()
        for name in ("Ann", "Bea", "Cleo")
    }
    noisy["Ann"][4] = noisy["Cleo"][7] = NONE
    task = add_task(workspace, project, made_up_pairs(30), n_scores=3)
    give(workspace, task, noisy)
    report = agreement(workspace, task.id)
    correlations = []
    for two, (first, second) in zip(report.twos, combinations(noisy, 2), strict=True):
        assert (two.first, two.second) == (first, second)
        both = [
            (int(2 * a), int(2 * b))
            for a, b in zip(noisy[first], noisy[second], strict=True)
            if a is not None and b is not None
        ]
        a, b = zip(*both, strict=True)
        assert two.n_shared == len(both)
        assert two.kappa == pytest.approx(cohen_kappa_score(a, b, labels=range(11)))
        assert two.weighted == pytest.approx(
            cohen_kappa_score(a, b, labels=range(11), weights="quadratic")
        )
        assert two.spearman == pytest.approx(spearmanr(a, b).statistic)
        assert two.mean_apart == pytest.approx(np.mean(np.abs(np.subtract(a, b))) / 10)
        correlations.append(spearmanr(a, b).statistic)
    assert report.mean_spearman.value == pytest.approx(np.mean(correlations))


def test_bias_and_spread_of_each_person(workspace: Workspace, project: Project) -> None:
    task = add_task(workspace, project, made_up_pairs(3), n_scores=2)
    give(workspace, task, {"Ann": [1, 2, 3], "Bea": [2, 3, 5]})
    ann, bea = agreement(workspace, task.id).annotators
    assert ann.bias == pytest.approx(-4 / 3 / 5)
    assert bea.bias == pytest.approx(4 / 3 / 5)
    assert ann.spread == pytest.approx(np.std([-1, -1, -2], ddof=1) / 5)
    assert ann.mean == pytest.approx(2 / 5)


def test_worst_pairs_come_first_and_those_that_agree_not_at_all(
    workspace: Workspace, project: Project
) -> None:
    task = add_task(workspace, project, made_up_pairs(4), n_scores=2)
    give(workspace, task, {"Ann": [1, 2, 3, 4], "Bea": [1, 5, 3.5, NONE]})
    annotations.save(workspace, task.id, item_ids(workspace, task)[3], "Ann", action="flag")
    report = agreement(workspace, task.id)
    assert report.worst == (1, 2)
    assert report.flagged == (3,)
    assert report.items["width"].tolist()[1] == pytest.approx(0.6)
    assert report.items["mean"].tolist()[1] == pytest.approx(0.7)


def test_scores_given_after_the_suggestion_are_counted(
    workspace: Workspace, project: Project
) -> None:
    task = add_task(workspace, project, made_up_pairs(4), n_scores=2, suggestions=np.full(4, 0.5))
    give(workspace, task, {"Ann": [1, 2, 3, 4], "Bea": [1, 2, 3, 4]}, seen=["Bea"])
    report = agreement(workspace, task.id)
    assert report.share_seen == 0.5
    assert "4 of 8 scores (50%)" in report.anchoring
    assert "Bea 4" in report.anchoring


def test_nothing_can_have_been_seen_where_a_pair_has_no_suggestion(
    workspace: Workspace, project: Project
) -> None:
    half = np.array([0.5, 0.5, np.nan, np.nan])
    task = add_task(workspace, project, made_up_pairs(4), n_scores=2, suggestions=half)
    give(workspace, task, {"Ann": [1, 2, 3, 4], "Bea": [1, 2, 3, 4]})
    with writing(workspace) as db:  # as an archive of an earlier version has it
        db.execute("UPDATE annotation SET suggestion_seen = 1 WHERE annotator = 'Bea'")
    report = agreement(workspace, task.id)
    assert "2 of 8 scores (25%)" in report.anchoring


def test_every_measure_has_an_interval(workspace: Workspace, project: Project) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 11, 40)
    scores = {
        name: (np.clip(truth + rng.integers(-2, 3, 40), 0, 10) / 2).tolist()
        for name in ("Ann", "Bea", "Cleo")
    }
    task = add_task(workspace, project, made_up_pairs(40), n_scores=3)
    give(workspace, task, scores)
    report = agreement(workspace, task.id)
    for figure in (report.fleiss, report.mean_spearman, report.mean_apart):
        assert figure.value is not None
        assert figure.interval is not None
        assert figure.interval[0] < figure.value < figure.interval[1]
    assert report.mean_apart.value == pytest.approx(
        np.mean([two.mean_apart for two in report.twos])
    )
    # The bootstrap by hand: draw pairs, correlate each two anew.
    table = np.array(list(scores.values()))
    again = []
    for _ in range(300):
        drawn = table[:, rng.integers(0, 40, 40)]
        again.append(np.mean([spearmanr(a, b).statistic for a, b in combinations(drawn, 2)]))
    low, high = report.mean_spearman.interval or (0.0, 0.0)
    assert (low, high) == pytest.approx(tuple(np.quantile(again, [0.025, 0.975])), abs=0.03)


def test_the_command_gives_the_scale_of_the_page(
    workspace: Workspace, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    task = add_task(workspace, project, made_up_pairs(4), n_scores=2)
    give(workspace, task, {"Ann": [1, 2, 3, 5], "Bea": [2, 3, 5, 5]})
    command = ["--home", str(workspace.home), "annotate", "agreement", str(task.id)]
    with pytest.raises(SystemExit):
        main(command)
    printed = capsys.readouterr().out
    assert "Bias, on 0–5" in printed
    assert "-1.00" in printed
    assert "+1.00" in printed
    low, high = agreement(workspace, task.id).alpha_interval.interval or (0.0, 0.0)
    assert f"[{low:.3f}, {high:.3f}] on 4 pairs" in printed
    with pytest.raises(SystemExit):
        main([*command, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert [one["bias"] for one in told["annotators"]] == pytest.approx([-1, 1])
    assert told["figures"]["Mean distance"]["value"] == pytest.approx(1)


def test_without_suggestions_there_is_no_warning(workspace: Workspace, project: Project) -> None:
    task = add_task(workspace, project, made_up_pairs(2), n_scores=2)
    give(workspace, task, {"Ann": [1, 2], "Bea": [1, 2]})
    report = agreement(workspace, task.id)
    assert report.share_seen == 0.0
    assert not report.anchoring


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({}, "Nobody has scored"),
        ({"Ann": [1, 2, 3]}, "Only one person"),
        ({"Ann": [1, 2, NONE], "Bea": [NONE, NONE, 3]}, "No pair has scores of two"),
        ({"Ann": [2, 2, 2], "Bea": [2, 2, 2]}, "without variation"),
    ],
)
def test_what_is_undefined_says_why(
    workspace: Workspace, project: Project, scores: dict[str, list[float | None]], reason: str
) -> None:
    task = add_task(workspace, project, made_up_pairs(3), n_scores=2)
    give(workspace, task, scores)
    report = agreement(workspace, task.id)
    for figure in (report.alpha_interval, report.alpha_nominal, report.fleiss):
        assert figure.value is None
        assert figure.interval is None
        assert figure.reason
    assert reason in report.alpha_interval.reason
    assert report.reading == report.alpha_interval.reason
    assert report.mean_spearman.value is None
    assert report.mean_spearman.reason


def test_two_common_pairs_are_too_few_for_a_rank_correlation(
    workspace: Workspace, project: Project
) -> None:
    task = add_task(workspace, project, made_up_pairs(2), n_scores=2)
    give(workspace, task, {"Ann": [1, 2], "Bea": [1, 3]})
    report = agreement(workspace, task.id)
    assert report.alpha_interval.value is not None
    assert report.mean_spearman.reason.startswith("Only 2 pairs")


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ([1, 2, 3, 4, 5, 0], "well enough"),
        ([2, 2, 3, 5, 4, 1.5], "tentative"),
        ([3, 5, 1, 1.5, 4, 1], "too low"),
        ([5, 0, 1, 2, 0, 4], "no better than by chance"),
    ],
)
def test_the_report_says_how_to_read_alpha(
    workspace: Workspace, project: Project, others: list[float], says: str
) -> None:
    task = add_task(workspace, project, made_up_pairs(6), n_scores=2)
    give(workspace, task, {"Ann": [1, 2, 3, 4, 5, 0], "Bea": others})
    report = agreement(workspace, task.id)
    assert says in report.reading, report.alpha_interval
    assert "0.667" in report.reading


def test_binary_scores_have_no_weighted_kappa(workspace: Workspace, project: Project) -> None:
    task = add_task(workspace, project, made_up_pairs(4), scale="binary", n_scores=2)
    give(workspace, task, {"Ann": [0, 1, 0, 1], "Bea": [0, 1, 1, 1]})
    (two,) = agreement(workspace, task.id).twos
    assert two.kappa == pytest.approx(cohen_kappa_score([0, 1, 0, 1], [0, 1, 1, 1]))
    assert two.weighted is None
