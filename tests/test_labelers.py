"""Any scorer as a labeler: how it is named, what it may take over, and the gate that judges it beforehand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import Difference
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    GateOptions,
    ImportOptions,
    LabelOptions,
    PreviewOptions,
    SampleOptions,
)
from augsbert_core.steps.gate import gate_cells, gate_sentence
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.labelers import (
    gold_only_student,
    recommended_labeler,
    scorers_at_hand,
)
from augsbert_core.steps.models import labeler_members, normal_labeler, passes_per_pair
from augsbert_core.storage import evaluations, gold, projects, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.known_scores import copy_known_scores, count_known_scores
from augsbert_core.storage.records import Project
from tests.pages.seeding import finished_run
from tests.silver_pairs import all_pairs, candidate_set, corpus, kept_of, silver_set
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_pairs

N_DEV = 120


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """60 training pairs and 120 dev pairs of tiny sentences."""
    made = projects.create_project(workspace, "Tiny", student_layers=1)
    pairs = tiny_pairs(60 + N_DEV, 3)
    lines = [
        f"{first} {number},{second},{score:.4f},{'train' if number < 60 else 'dev'}"
        for number, (first, second, score) in enumerate(
            zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True)
        )
    ]
    text = "\n".join(["sentence1,sentence2,score,split", *lines])
    import_file(workspace, made.id, text.encode(), "g.csv", ImportOptions(score_range=(0.0, 1.0)))
    return projects.get_project(workspace, made.id)


@pytest.fixture
def trained(workspace: Workspace, project: Project) -> Callable[..., int]:
    """Make a finished training run, its model in the folder `at` of the models folder."""

    def trained(kind: str, dev_score: float, at: str = "none", **told: object) -> int:
        options = CrossEncoderOptions if kind == "cross" else BiEncoderOptions
        run_id = finished_run(
            workspace,
            project,
            "train-cross-encoder" if kind == "cross" else "train-bi-encoder",
            options(**told),
            dev_score=dev_score,
        )
        runs.update_run(workspace, run_id, model_path=f"models/{at}")
        return run_id

    return trained


# --- names and costs -------------------------------------------------------------------------------


def test_the_members_of_a_labeler_are_put_in_one_order(tmp_path: Path) -> None:
    assert normal_labeler("run:12 + run:3") == normal_labeler("3 + 12") == "run:3 + run:12"
    assert normal_labeler("org/model + run:3") == "run:3 + org/model"
    assert normal_labeler("a+b") == "a+b"
    folder = tmp_path / "mine + yours"
    folder.mkdir()
    assert normal_labeler(str(folder)) == str(folder)
    for wrong in ("", "run:3 + ", "run:3 + run:3"):
        with pytest.raises(WorkbenchError, match="is not a labeler"):
            normal_labeler(wrong)


def test_a_run_that_is_no_scorer_is_refused(workspace: Workspace, project: Project) -> None:
    run_id = finished_run(workspace, project, "sample", SampleOptions())
    with pytest.raises(WorkbenchError, match=f"Run {run_id} is of step sample; a labeler is"):
        labeler_members(workspace, project, f"run:{run_id}")


def test_passes_are_cross_encoders_times_orders(
    workspace: Workspace, project: Project, trained: Callable[..., int]
) -> None:
    first, second, encoder = trained("cross", 0.7), trained("cross", 0.7), trained("bi", 0.8)
    members = labeler_members(workspace, project, f"{first} + {second} + {encoder}")
    assert [member.kind for member in members] == ["cross_encoder", "cross_encoder", "bi_encoder"]
    assert passes_per_pair(members) == 2
    assert passes_per_pair(members, both_orders=True) == 4
    assert passes_per_pair(members[2:], both_orders=True) == 0


# --- what a set may take over ----------------------------------------------------------------------


def test_scores_are_taken_over_only_from_the_same_use_of_the_same_labeler(
    workspace: Workspace, project: Project
) -> None:
    chosen = candidate_set(workspace, project, corpus(workspace, project, 8), 10)
    both = {"labeler": "run:1 + run:2", "both_orders": True}
    known = silver_set(workspace, project, chosen, **both)
    waiting = silver_sets.unscored_pairs(workspace, known)
    rows = [
        (*pair, *origin, 0.5, 0.5, 0.125, 0.25)
        for pair, origin in zip(waiting.ids, waiting.origin, strict=True)
    ]
    silver_sets.add_silver_scores(workspace, known, rows)

    def count(labeler: str, both_orders: bool, calibration: str | None = None) -> int:
        return count_known_scores(
            workspace, chosen, labeler, both_orders=both_orders, calibration_hash=calibration
        )

    assert count("run:1 + run:2", True) == 10
    assert count("run:1 + run:2", False) == 0
    assert count("run:1", True) == 0
    assert count("run:1 + run:2", True, "other gold") == 0
    again = silver_set(workspace, project, chosen, **both)
    assert copy_known_scores(workspace, again) == 10
    assert {(p["order_gap"], p["label_spread"]) for p in all_pairs(workspace, again)} == {
        (0.125, 0.25)
    }
    other = silver_set(workspace, project, chosen, labeler="run:1 + run:2")
    assert copy_known_scores(workspace, other) == 0


def test_scores_of_a_name_are_never_taken_over(workspace: Workspace, project: Project) -> None:
    chosen = candidate_set(workspace, project, corpus(workspace, project, 8), 10)
    labeler = "run:1 + org/model"
    known = silver_set(workspace, project, chosen, labeler=labeler)
    waiting = silver_sets.unscored_pairs(workspace, known, 1)
    silver_sets.add_silver_scores(workspace, known, [(*waiting.ids[0], None, None, 0.5, 0.5)])
    assert count_known_scores(workspace, chosen, labeler) == 0


# --- labelling -------------------------------------------------------------------------------------


def test_a_mean_labels_in_both_orders_and_says_how_unsure_it_is(
    workspace: Workspace, project: Project, trained: Callable[..., int]
) -> None:
    words = [*gold.scored_pairs(workspace, project.id, "train").sentences1]
    tiny_cross_encoder(workspace.models / "cross", words)
    tiny_bert(workspace.models / "bi", words)
    cross, encoder = trained("cross", 0.7, "cross"), trained("bi", 0.8, "bi")
    chosen = candidate_set(workspace, project, corpus(workspace, project, 8), 12)

    def label(labeler: str, **told: object) -> dict:
        options = LabelOptions(chosen, labeler, **told)
        return jobs.run_in_foreground(workspace, project.id, "label", options)

    found = label(f"run:{encoder} + run:{cross}", both_orders=True)
    assert found["labeler"] == f"run:{cross} + run:{encoder}"
    assert (found["n_passes"], found["passes_per_pair"]) == (24, 2)
    assert found["calibration"] == [{"member": f"run:{encoder}", "split": "dev", "n_pairs": N_DEV}]
    pairs = all_pairs(workspace, found["silver_set_id"])
    assert all(pair["order_gap"] is not None and pair["label_spread"] > 0 for pair in pairs)
    assert silver_sets.get_silver_set(workspace, found["silver_set_id"]).passes == 24
    kept = kept_of(workspace, project, found["silver_set_id"], [pairs[3]["id"]])
    [copied] = all_pairs(workspace, kept)
    assert copied["order_gap"] == pairs[3]["order_gap"]
    assert copied["label_spread"] == pairs[3]["label_spread"]
    assert silver_sets.get_silver_set(workspace, kept).passes == 24

    again = label(f"run:{cross} + run:{encoder}", both_orders=True)
    assert (again["n_reused"], again["n_passes"]) == (12, 0)
    alone = label(f"run:{encoder}")
    assert (alone["n_reused"], alone["passes_per_pair"]) == (0, 0)
    assert all(pair["order_gap"] is None for pair in all_pairs(workspace, alone["silver_set_id"]))


def test_a_look_at_a_labeler_needs_no_candidates(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    labeler = tiny_cross_encoder(tmp_path / "elsewhere")
    found = jobs.run_in_foreground(workspace, project.id, "preview", PreviewOptions(None, labeler))
    assert found["facts"][0]["activation"] == "Sigmoid"
    assert found["gold"]["n_pairs"] == 32
    assert 0 <= found["gold"]["score"]["min"] <= found["gold"]["score"]["max"] <= 1
    assert -1 <= found["gold"]["spearman"] <= 1
    assert "scores" not in found


# --- at hand ---------------------------------------------------------------------------------------


def test_all_trained_scorers_are_at_hand_and_the_mean_of_the_best_two(
    workspace: Workspace, project: Project, trained: Callable[..., int]
) -> None:
    weak, strong = trained("cross", 0.7), trained("cross", 0.8)
    encoder = trained("bi", 0.75)
    trained("bi", 0.99, "deleted")
    found = {one.labeler: one.kind for one in scorers_at_hand(workspace, project)}
    assert found == {
        f"run:{strong}": "cross_encoder",
        f"run:{weak}": "cross_encoder",
        f"run:{encoder}": "bi_encoder",
        f"run:{strong} + run:{encoder}": "average",
    }


def test_the_student_to_beat_is_gold_only_and_of_the_projects_size(
    workspace: Workspace, project: Project, trained: Callable[..., int]
) -> None:
    assert gold_only_student(workspace, project) is None
    full = trained("bi", 0.9)
    assert gold_only_student(workspace, project).id == full
    own = trained("bi", 0.7, layers=1)
    trained("bi", 0.8, layers=1, silver_set_id=1)
    trained("bi", 0.8, layers=1, gold_limit=10)
    trained("bi", 0.6, layers=1)
    assert gold_only_student(workspace, project).id == own


# --- the gate --------------------------------------------------------------------------------------


def measured(
    workspace: Workspace,
    project: Project,
    target: str,
    noise: float,
    seed: int,
    metric: str = "spearman",
    threshold: float | None = None,
) -> None:
    """An evaluation on dev whose predictions are gold with noise."""
    pairs = gold.scored_pairs(workspace, project.id, "dev")
    evaluations.add_evaluation(
        workspace,
        project.id,
        finished_run(workspace, project, "evaluate", GateOptions()),
        target=target,
        target_run_id=None,
        split="dev",
        metric=metric,
        value=1.0 - noise,
        interval=(0.0, 1.0),
        threshold=threshold,
        seconds=1.0,
        data_hash=gold.data_hash(pairs),
        predictions=pairs.scores + np.random.default_rng(seed).normal(0, noise, len(pairs)),
    )


def test_the_gate_recommends_the_best_scorer_and_computes_nothing_anew(
    workspace: Workspace, project: Project, trained: Callable[..., int]
) -> None:
    good, poor = trained("cross", 0.7), trained("cross", 0.8)
    student = trained("bi", 0.6, layers=1)
    base = BiEncoderOptions().base
    for number, (target, noise) in enumerate(
        {
            f"run:{good}": 0.02,
            f"run:{poor}": 0.9,
            f"run:{student}": 0.1,
            f"model:{base}@layers=1": 0.4,
        }.items()
    ):
        measured(workspace, project, target, noise, number)

    found = jobs.run_in_foreground(workspace, project.id, "gate", GateOptions())

    assert found["recommended"] == f"run:{good}"
    assert found["student"]["target"] == f"run:{student}"
    assert found["untrained"]["target"] == f"model:{base}@layers=1"
    verdicts = {row["labeler"]: row["verdict"] for row in found["rows"]}
    assert verdicts[f"run:{good}"] == "better"
    assert verdicts[f"run:{poor}"] == "not better"
    assert f"run:{good} + run:{student}" in verdicts  # the best two, the student included
    assert f"run:{student}" not in verdicts
    first = found["rows"][0]
    assert 0 < first["difference_low"] < first["difference"] < first["difference_high"]
    assert "silver labels may help" in found["sentence"]
    assert "best of 3 labelers, picked on the same dev pairs" in found["sentence"]
    assert "picked" not in first["sentence"]
    alone = GateOptions(labelers=(f"run:{good}",))
    assert "picked" not in jobs.run_in_foreground(workspace, project.id, "gate", alone)["sentence"]
    assert any("flatter" in note for note in found["notes"])
    assert recommended_labeler(workspace, project) == f"run:{good}"
    cells = gate_cells(found)
    assert [row["scorer"] for row in cells[-2:]] == [
        f"Gold-only student (run {student})",
        "Untrained (all-MiniLM-L6-v2, 1 layer)",
    ]


def test_a_gate_without_a_student_still_ranks(
    workspace: Workspace, project: Project, trained: Callable[..., int]
) -> None:
    labeler = trained("cross", 0.7)
    measured(workspace, project, f"run:{labeler}", 0.1, 1)
    measured(workspace, project, f"model:{BiEncoderOptions().base}@layers=1", 0.5, 2)
    found = jobs.run_in_foreground(workspace, project.id, "gate", GateOptions())
    assert (found["student"], found["verdict"]) == (None, "no student")
    assert "Train one on gold alone" in found["sentence"]


def test_with_two_classes_the_gate_looks_at_f1_on_dev(workspace: Workspace) -> None:
    text = "\n".join(
        ["sentence1,sentence2,score,split"]
        + [f"a {n},b {n},{n % 2},{'train' if n < 40 else 'dev'}" for n in range(140)]
    )
    questions = projects.create_project(workspace, "Questions")
    told = ImportOptions(score_range=(0.0, 1.0))
    import_file(workspace, questions.id, text.encode(), "q.csv", told)
    questions = projects.get_project(workspace, questions.id)
    run_id = finished_run(
        workspace, questions, "train-cross-encoder", CrossEncoderOptions(), dev_score=0.9
    )
    measured(workspace, questions, f"run:{run_id}", 0.1, 1, metric="f1", threshold=0.5)
    base = f"model:{BiEncoderOptions().base}"
    measured(workspace, questions, base, 0.4, 2, metric="f1", threshold=0.5)
    found = jobs.run_in_foreground(workspace, questions.id, "gate", GateOptions())
    assert (found["metric"], found["recommended"]) == ("f1", f"run:{run_id}")
    with pytest.raises(WorkbenchError, match="looks at the dev split"):
        jobs.run_in_foreground(workspace, questions.id, "gate", GateOptions(split="test"))


def test_without_a_labeler_there_is_nothing_to_judge(
    workspace: Workspace, project: Project
) -> None:
    with pytest.raises(WorkbenchError, match="no labeler at hand"):
        jobs.run_in_foreground(workspace, project.id, "gate", GateOptions())


@pytest.mark.parametrize(
    ("apart", "verdict", "words"),
    [
        (Difference(0.021, 0.004, 0.04, 0.01), "better",
         r"better than the gold-only student on dev by 2.1 points \(95 % interval \+0.4 to \+4.0\): silver labels may"),
        (Difference(-0.03, -0.05, -0.01, 0.01), "not better",
         r"not better than the gold-only student on dev \(-3.0 points.*its silver labels are unlikely to help"),
        (Difference(0.01, -0.01, 0.03, 0.4), "unclear", r"cannot be told apart with 300 dev pairs \(\+1.0 points"),
        (None, "unclear", "a score is undefined on the 300 dev pairs"),
    ],
)  # fmt: skip
def test_the_sentence_of_the_gate_is_plain(
    apart: Difference | None, verdict: str, words: str
) -> None:
    import re

    found, sentence = gate_sentence("run:3", apart, split="dev", n_pairs=300)
    assert found == verdict
    assert sentence.startswith("This labeler (run 3)")
    assert re.search(words, sentence)


def test_an_average_that_holds_the_student_is_spelled_out() -> None:
    apart = Difference(0.021, 0.004, 0.04, 0.01)
    told = {"split": "dev", "n_pairs": 300, "student": "run:2"}
    _, sentence = gate_sentence("run:2 + run:3", apart, **told)
    assert sentence.startswith(
        "The mean of run 3 and run 2 (the gold-only student itself) is better"
    )
    _, sentence = gate_sentence("run:3 + run:4", apart, **told)
    assert sentence.startswith("This labeler (run 3 + run 4) is better")
