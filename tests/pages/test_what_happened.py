"""The question below results: closed at first, answered with the numbers of the page, user text shown as text."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from augsbert_core.options import BiEncoderOptions
from augsbert_core.steps.compare import Comparison
from augsbert_core.steps.keep import KeepPlan
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.compare_view import explained as explained_table
from augsbert_core.ui.experiment_results import explained as explained_experiment
from augsbert_core.ui.keep_numbers import short_share
from augsbert_core.ui.student_result import newest_and_twin
from augsbert_core.ui.what_happened import LABEL
from tests.pages.seeding import finished_run


def ask() -> None:
    from augsbert_core.ui.what_happened import what_happened

    what_happened(["A group named *bold* :smile:.", "It has 3 pairs."], "one")
    what_happened([], "nothing")


def test_sentences_are_a_closed_list_of_plain_text() -> None:
    app = AppTest.from_function(ask).run()
    assert [found.label for found in app.expander] == [LABEL]
    assert not app.expander[0].proto.expanded
    text = app.expander[0].markdown[0].value
    assert text.startswith("- A group named \\*bold\\* :\u2060smile:")
    assert text.count("\n- ") == 1


def student(workspace: Workspace, project: Project, n_silver: int, **told: object) -> int:
    options = replace(BiEncoderOptions(silver_set_id=1 if n_silver else None), **told)
    return finished_run(
        workspace, project, "train-bi-encoder", options,
        dev_score=0.7, n_gold=5, n_silver=n_silver, n_steps=6,
    )  # fmt: skip


def test_a_student_is_explained_beside_its_gold_only_twin_whichever_came_last(
    workspace: Workspace, project: Project
) -> None:
    other_size = student(workspace, project, 0, layers=2)
    silver = student(workspace, project, 9)
    twin = student(workspace, project, 0)
    runs = [get_run(workspace, one) for one in (twin, silver, other_size)]
    assert [run and run.id for run in newest_and_twin(runs)] == [silver, twin]
    assert [run and run.id for run in newest_and_twin([runs[1], runs[0]])] == [silver, twin]
    assert [run and run.id for run in newest_and_twin([runs[1], runs[2]])] == [silver, None]
    assert [run and run.id for run in newest_and_twin([runs[2]])] == [other_size, None]


def row(name: str, kind: str, value: float | None, **more: object) -> dict[str, Any]:
    return {
        "name": name, "kind": kind, "value": value, "comparable": True, "runs": [1], "base": "b",
        "layers": 2, "reference": None, "difference": None, "difference_low": None,
        "difference_high": None, **more,
    }  # fmt: skip


def test_the_compare_page_takes_the_newest_student_its_reference_and_its_own_untrained_size() -> (
    None
):
    against = {"reference": "Gold", "difference_low": -0.01, "difference_high": 0.05}
    rows = [
        row("Untrained", "untrained", 0.6),
        row("Untrained whole", "untrained", 0.9, layers=None),
        row("Gold", "gold-only, equal steps", 0.68),
        row("Old", "augsbert", 0.5, runs=[3], difference=-0.18, **against),
        row("New", "augsbert", 0.70, runs=[7], difference=0.02, **against),
        row("Labeler", "cross-encoder", 0.76),
    ]
    table = Comparison("test", "spearman", 321, pd.DataFrame(), ())
    said = " ".join(explained_table(table, rows))
    assert "silver has closed 25 % of that" in said
    assert "Before any training" not in said
    bounds = explained_table(table, rows[:3] + rows[5:])
    assert bounds[1].endswith("8.0 points at most.")


def group(name: str, mean: float | None, n_steps: int | None = 9) -> dict[str, Any]:
    return {"group": name, "n": 1, "dev_score": mean, "dev_score_sd": None, "n_steps": n_steps}


def test_an_experiment_holds_silver_against_gold_alone_and_a_sweep_its_best_two() -> None:
    trial = [
        group("Cross-encoder", 0.9),
        group("Gold-only, equal steps", 0.7),
        group("AugSBERT", 0.6),
    ]
    sweep = [group("a", 0.5), group("b", 0.7), group("c", 0.6), group("Jaccard", 0.8, None)]
    first, *_ = explained_experiment({"kind": "will-silver-help", "groups": trial}, "dev_score")
    second, *_ = explained_experiment({"kind": "sweep", "groups": sweep}, "dev_score")
    assert first == "On dev, “AugSBERT” is 10.0 points below “Gold-only, equal steps”."
    assert second == "On dev, “b” is 10.0 points above “c”."
    assert explained_experiment({"kind": "sweep", "groups": sweep[:1]}, "dev_score") == ()


def test_the_share_of_gold_where_the_pool_runs_out() -> None:
    grid = np.linspace(0, 1, 4)
    plan = KeepPlan(
        mask=np.ones(2, bool), grid=grid, gold=np.array([1.0, 1.0, 1.0, 1.0]),
        pool=np.array([0.1, 2.0, 2.0, 0.4]), kept=None, expected=None, kl=None, pool_kl=None, bandwidth=0.1,
    )  # fmt: skip
    assert short_share(plan, 1.0) == 0.5
    assert short_share(plan, 0.2) == 0.25
    assert short_share(replace(plan, gold=np.zeros(4)), 1.0) is None
