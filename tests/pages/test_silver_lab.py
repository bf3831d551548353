"""The lab on the Silver page: densities over each other, strategies side by side, and figures to take away."""

import csv
import io

import numpy as np
import pytest

from augsbert_core.options import KeepOptions
from augsbert_core.steps import spreads as score_spreads
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.ui.downloads import figure_csv, figure_html, file_stem
from tests.pages.lab_seeding import (
    figure,
    kept_set,
    lab_project,
    low_scores,
    names,
    no_job_waits,
    numbers,
    scored_set,
    table,
    view,
)
from tests.pages.seeding import measure, metric, open_page, shown_text, student


@pytest.fixture
def lab(workspace: Workspace) -> Project:
    return lab_project(workspace)


# Densities


def test_silver_sets_and_golds_of_other_projects_are_laid_over_each_other(
    workspace: Workspace, lab: Project
) -> None:
    other = lab_project(workspace, "Zero <b>to</b> one", scale=(0.0, 1.0))
    first = scored_set(workspace, lab, low_scores())
    second = scored_set(workspace, lab, 1 - low_scores())
    page = open_page("silver", lab)
    assert names(page) == ["Gold (train)", f"Silver set {second} (Random pairs)"]

    page.multiselect(key=f"density-{lab.id}-sets-{second}").set_value([first]).run()
    page.multiselect(key=f"density-{lab.id}-golds").set_value([other.id]).run()
    assert names(page)[2:] == [
        f"Silver set {first} (Random pairs)",
        "Gold of Zero &lt;b&gt;to&lt;/b&gt; one",
    ]
    foreign = figure(page)["data"][3]
    assert foreign["line"]["dash"] == "dash"
    rows = table(page)
    assert rows["Pairs"].tolist() == [120, 3000, 3000, 120]
    assert rows["KL"].tolist()[3] == pytest.approx(0.0, abs=1e-3), "same spread on another scale"
    assert rows["Wasserstein"].tolist()[2] == pytest.approx(5 * 0.25, abs=0.05)
    assert rows["Passes"].tolist()[1:3] == [3000, 3000]
    assert "grid of 257 points, densities raised to at least 10⁻⁶" in shown_text(page)


def test_the_bandwidth_slider_changes_the_figure_and_starts_nothing(
    workspace: Workspace, lab: Project
) -> None:
    scored_set(workspace, lab, low_scores())
    page = open_page("silver", lab)
    before = figure(page)["data"][1]["y"]
    page.select_slider(key=f"density-{lab.id}-bandwidth").set_value(0.3).run()
    assert page.selectbox(key=f"density-{lab.id}-rule").value == "number"
    assert figure(page)["data"][1]["y"] != before
    assert "bandwidth 0.3 of the scale" in shown_text(page)

    page.selectbox(key=f"density-{lab.id}-rule").set_value("scott").run()
    assert page.select_slider(key=f"density-{lab.id}-bandwidth").value != 0.3
    assert no_job_waits(workspace)


def test_histogram_and_rug_are_drawn_when_asked_for(workspace: Workspace, lab: Project) -> None:
    scored_set(workspace, lab, low_scores())
    page = open_page("silver", lab)
    page.button_group(key=f"density-{lab.id}-drawing").set_value(["histogram", "rug"]).run()
    kinds = [(trace["type"], trace.get("mode")) for trace in figure(page)["data"]]
    assert kinds.count(("bar", None)) == 2
    assert kinds.count(("scatter", "markers")) == 2


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        (np.full(50, 0.5), "all 50 scores are the same"),
        (np.array([0.3]), "a single pair has no density"),
        (np.tile([0.01, 0.99], 20), "take only two values"),
    ],
)
def test_scores_without_a_density_are_spikes_and_gold_stays_a_curve(
    workspace: Workspace, lab: Project, scores: np.ndarray, note: str
) -> None:
    scored_set(workspace, lab, scores)
    page = open_page("silver", lab)
    assert note in shown_text(page)
    gold_curve, spikes = figure(page)["data"]
    assert gold_curve["fill"] == "tozeroy"
    assert spikes["mode"] == "markers"
    assert metric(page, "KL(gold‖silver)") == "–"


def test_zero_one_gold_is_spikes_beside_a_silver_density(workspace: Workspace) -> None:
    project = lab_project(workspace, "Classes", scores=[0, 1, 0], scale=(0.0, 1.0))
    scored_set(workspace, project, low_scores())
    page = open_page("silver", project)
    assert "take only two values" in shown_text(page)
    spikes = next(trace for trace in figure(page)["data"] if trace["mode"] == "markers")
    assert numbers(spikes["y"]).round().tolist() == [67, 33]


def test_equal_spreads_have_no_distance_and_a_million_pairs_stay_quick() -> None:
    settings = KeepOptions(silver_set_id=0)
    base = score_spreads.gold_spread("Gold", np.linspace(0.001, 0.999, 2000), settings)
    silver = score_spreads.spread(
        "Silver", "#4F8FC0", score_spreads.bin_centres(512), np.full(512, 2000.0), settings
    )
    found = score_spreads.distances(base, silver)
    assert silver.n == 1_024_000
    assert silver.high_share == 0.5
    assert found.kl == pytest.approx(0.0, abs=1e-3)
    assert found.wasserstein == pytest.approx(0.0, abs=2e-3)
    assert found.ks == pytest.approx(0.0, abs=2e-3)


# Strategies


def test_strategies_stand_side_by_side_with_the_score_they_led_to(
    workspace: Workspace, lab: Project
) -> None:
    ranked = scored_set(workspace, lab, low_scores(900), strategy="bm25", top_k=9)
    pool = scored_set(workspace, lab, low_scores())
    kept = kept_set(workspace, lab, KeepOptions(pool, c=0.1))
    older, newer = (
        student(workspace, lab, n_steps=30, silver_set_id=ranked, seed=seed) for seed in (1, 2)
    )
    measure(workspace, lab, f"run:{older}", 0.5)
    measure(workspace, lab, f"run:{newer}", 0.7)
    measure(workspace, lab, f"run:{student(workspace, lab, n_steps=30, max_steps=30)}", 0.6)

    page = view(open_page("silver", lab), lab, "strategies")
    rows = table(page).astype(object).where(table(page).notna(), None).to_dict("records")
    by_set = {row["Set"]: row for row in rows}
    assert list(by_set) == [kept, pool, ranked, None]
    assert by_set[ranked]["Strategy"] == "BM25 top-9"
    assert by_set[ranked]["Score"] == pytest.approx(70.0)
    assert by_set[ranked]["Interval"] == "60.0 – 80.0"
    assert by_set[kept]["Strategy"] == "Random pairs, seed 42 → KDE, c = 0.1"
    assert by_set[kept]["Passes"] == 3000 > by_set[kept]["Pairs"]
    assert by_set[kept]["Seconds"] == by_set[pool]["Seconds"] == 12.0
    assert by_set[kept]["KL"] < by_set[pool]["KL"]
    assert by_set[kept]["Score"] is None
    assert (by_set[None]["Strategy"], by_set[None]["Score"]) == ("Gold only, equal steps", 60.0)


def test_without_trained_models_the_table_says_how_scores_come(
    workspace: Workspace, lab: Project
) -> None:
    scored_set(workspace, lab, low_scores(900))
    page = view(open_page("silver", lab), lab, "strategies")
    assert "No bi-encoder trained on these sets has been measured yet" in shown_text(page)


# Downloads


def test_a_figure_is_downloaded_as_one_file_and_its_points_as_csv() -> None:
    from augsbert_core import charts
    from augsbert_core.pairs import ScoreRange

    grid = np.linspace(0, 1, 5)
    nothing = np.array([])
    drawn = charts.Curve("=a<b>", charts.COLORS["gold"], nothing, nothing, np.ones(5))
    made = charts.overlay_figure(grid, [drawn], ScoreRange(0, 5))
    text = figure_html(made, "a <figure>").decode()
    assert "<title>a &lt;figure&gt;</title>" in text
    assert "cdn.plot.ly" not in text.split("Plotly.newPlot")[-1]
    assert 'src="http' not in text
    rows = list(csv.DictReader(io.StringIO(figure_csv(made).decode("utf-8-sig"))))
    assert [float(row["x"]) for row in rows] == [0, 1.25, 2.5, 3.75, 5]
    assert {row["curve"] for row in rows} == {"'=a<b>"}, "no formula for a spreadsheet"
    assert {row["measure"] for row in rows} == {"Density"}


@pytest.mark.parametrize(
    ("name", "stem"), [("a/b: c", "a-b-c"), ("../..", "figure"), ("Größe 5", "Größe-5")]
)
def test_file_names_hold_nothing_that_a_file_system_dislikes(name: str, stem: str) -> None:
    assert file_stem(name) == stem
