"""The Cross-encoder page: a recipe, its cost, and the labelers trained so far."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import Tokenizer, models, pre_tokenizers

from augsbert_core.options import CrossEncoderOptions, ImportOptions, from_json
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project, get_project
from augsbert_core.storage.records import Project
from augsbert_core.ui import recipes
from tests.pages.seeding import (
    button,
    finished_run,
    labeler,
    metric,
    open_page,
    queued,
    shown_text,
    silver_set,
)


def test_without_a_project_the_page_points_to_start(workspace: Workspace) -> None:
    page = open_page("cross_encoder", None)
    assert "There is no project yet" in shown_text(page)
    assert not page.metric


def test_without_gold_pairs_the_page_points_to_the_import(workspace: Workspace) -> None:
    page = open_page("cross_encoder", create_project(workspace, "New"))
    assert "no gold pairs to train on yet" in shown_text(page)
    assert not page.button


def test_the_steps_follow_the_recipe_at_once(workspace: Workspace, project: Project) -> None:
    page = open_page("cross_encoder", project)
    assert metric(page, "Gold pairs to train on") == "5"
    assert metric(page, "Dev pairs") == "3"

    page.number_input(key=f"cross-{project.id}-batch_size").set_value(2)
    page.number_input(key=f"cross-{project.id}-epochs").set_value(4).run()

    assert metric(page, "Optimiser steps") == "12"  # 5 pairs make 3 batches of 2


def test_the_papers_recipe_is_one_click_and_what_is_shown_is_queued(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("cross_encoder", project)
    button(page, "Paper's recipe").click().run()
    page.number_input(key=f"cross-{project.id}-seed").set_value(7)
    button(page, "Train the cross-encoder").click().run()

    assert not page.exception
    [(step, told)] = queued(workspace, project)
    options = json.loads(told)
    assert step == "train-cross-encoder"
    assert options["learning_rate"] == 1e-5
    assert options["batch_size"] == 16
    assert options["base"] == "google-bert/bert-base-uncased"
    assert options["seed"] == 7


def test_trained_labelers_are_listed_with_their_scores(
    workspace: Workspace, project: Project
) -> None:
    run_id = labeler(workspace, project)
    page = open_page("cross_encoder", project)
    [row] = page.dataframe[0].value.to_dict("records")
    assert (row["Run"], row["Seed"], row["Steps"]) == (run_id, 42, 6)
    assert row["Dev"] == pytest.approx(77.6)
    assert row["Time"] == "1 min 01 s"


def box(page: AppTest, project: Project, name: str, kind: str = "number_input") -> Any:
    """An input of the recipe by its name among the options."""
    return getattr(page, kind)(key=f"cross-{project.id}-{name}")


def page_with_bases(monkeypatch: pytest.MonkeyPatch, project: Project, *bases: str) -> AppTest:
    """The page with these bases on its list: AppTest cannot type one as people can."""
    monkeypatch.setattr(recipes, "BASES", (*recipes.BASES, *bases))
    return open_page("cross_encoder", project)


def choose_base(page: AppTest, project: Project, base: str) -> None:
    box(page, project, "base", "selectbox").set_value(base).run()
    assert not page.exception


def model_folder(folder: Path, *, pools: bool = False, by_letter: bool = False) -> str:
    """What can be seen of a model without loading it: its modules and its tokenizer."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    if pools:
        names = ("base.modules.Transformer", "sentence_transformer.modules.Pooling")
        modules = [
            {"type": f"sentence_transformers.{name}", "path": f"{n}"}
            for n, name in enumerate(names)
        ]
        (folder / "modules.json").write_text(json.dumps(modules))
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    split = pre_tokenizers.Split("", "isolated") if by_letter else pre_tokenizers.Whitespace()
    tokenizer.pre_tokenizer = split
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


def classes(workspace: Workspace, *labels: tuple[int, str]) -> Project:
    """A project of question pairs with these labels and splits."""
    made = create_project(workspace, "Questions")
    lines = ["a,b,label,split"]
    lines += [
        f"how does thing {n} work,what makes thing {n} work,{label},{split}"
        for n, (label, split) in enumerate(labels)
    ]
    options = ImportOptions(task="classification", score_range=(0.0, 1.0))
    import_file(workspace, made.id, "\n".join(lines).encode(), "questions.csv", options)
    return get_project(workspace, made.id)


def test_every_advanced_option_reaches_the_run(workspace: Workspace, project: Project) -> None:
    page = open_page("cross_encoder", project)
    told = {
        "hidden": 200,
        "layers": 2,
        "patience": 3,
        "seeds": 5,
        "warmup_ratio": 0.2,
        "weight_decay": 0.05,
        "max_steps": 40,
        "gold_limit": 4,
        "warm_start_pairs": 600,
        "checkpoint_seconds": 10.0,
    }
    for name, value in told.items():
        box(page, project, name).set_value(value)
    box(page, project, "loss", "selectbox").set_value("mse")
    box(page, project, "both_orders", "checkbox").set_value(True)
    page.run()
    box(page, project, "seed_stop").set_value(0.3).run()
    assert "5 seeds begin, one ends: 2.2 times the work of one" in shown_text(page)
    button(page, "Train the cross-encoder").click().run()

    [(_, queued_options)] = queued(workspace, project)
    options = json.loads(queued_options)
    more = {"loss": "mse", "both_orders": True, "seed_stop": 0.3, "warm_start": "auto"}
    assert {name: options[name] for name in told | more} == told | more


def test_the_default_recipe_undoes_everything_but_the_seed(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("cross_encoder", project)
    box(page, project, "hidden").set_value(400)
    box(page, project, "both_orders", "checkbox").set_value(True)
    box(page, project, "seed").set_value(7).run()
    button(page, "Our default").click().run()
    button(page, "Train the cross-encoder").click().run()
    [(_, told)] = queued(workspace, project)
    assert from_json(CrossEncoderOptions, told) == CrossEncoderOptions(seed=7)


def test_the_warm_start_says_when_it_applies(
    workspace: Workspace, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, encoder = model_folder(tmp_path / "bare"), model_folder(tmp_path / "encoder", pools=True)
    page = page_with_bases(monkeypatch, project, bare, encoder, "no/such-model")
    choose_base(page, project, encoder)
    assert "cosines of 4,000 pairs of your sentences come first, as 5 are fewer" in shown_text(page)
    assert next(m.delta for m in page.metric if m.label == "Optimiser steps") == "+ 250 warm start"

    choose_base(page, project, bare)
    assert "the base is no sentence encoder" in shown_text(page)
    choose_base(page, project, "no/such-model")
    assert "shows once it is downloaded" in shown_text(page)
    box(page, project, "warm_start", "segmented_control").set_value("off").run()
    assert "learns from the training pairs alone" in shown_text(page)
    assert not any(i.label == "Warm start pairs" for i in page.number_input)


def test_pairs_that_are_too_long_are_announced(
    workspace: Workspace, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = model_folder(tmp_path / "words")
    letters = model_folder(tmp_path / "letters", by_letter=True)
    page = page_with_bases(monkeypatch, project, words, letters)
    box(page, project, "max_length").set_value(16)
    choose_base(page, project, words)
    assert "are longer than" not in shown_text(page)
    choose_base(page, project, letters)
    assert "100.0% of the training pairs are longer than the 16 tokens" in shown_text(page)


def test_a_folder_that_is_no_model_is_named_and_the_page_goes_on(
    workspace: Workspace, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_with_bases(monkeypatch, project, str(tmp_path))
    choose_base(page, project, str(tmp_path))
    assert "is not a model folder" in shown_text(page)
    assert button(page, "Train the cross-encoder")


def test_positives_alone_get_an_offer_of_negatives(workspace: Workspace) -> None:
    project = classes(workspace, *[(1, "train")] * 6, *[(1, "dev")] * 4)
    page = open_page("cross_encoder", project)
    assert "All 6 gold pairs are positives" in shown_text(page)
    assert button(page, "Train the cross-encoder").disabled

    box(page, project, "negatives", "segmented_control").set_value("random")
    box(page, project, "negatives_per_positive").set_value(2.0).run()
    assert "6 positives + 12 negatives = 18 rows" in shown_text(page)
    assert "2 to 1, made of 12 training sentences" in shown_text(page)
    assert "The 4 dev pairs get 8 negatives of their own" in shown_text(page)
    assert metric(page, "Positives") == "33%"
    assert metric(page, "Optimiser steps") == "8"  # 18 rows make 2 batches, 4 times
    button(page, "Train the cross-encoder").click().run()
    [(_, told)] = queued(workspace, project)
    options = from_json(CrossEncoderOptions, told)
    assert (options.negatives, options.negatives_per_positive) == ("random", 2.0)


def test_negatives_alone_cannot_be_helped(workspace: Workspace) -> None:
    page = open_page("cross_encoder", classes(workspace, *[(0, "train")] * 3))
    assert "All gold training pairs are negatives" in shown_text(page)
    assert button(page, "Train the cross-encoder").disabled


def test_two_classes_show_the_weight_of_positives(workspace: Workspace) -> None:
    project = classes(workspace, *[(0, "train")] * 3, *[(1, "train")] * 2)
    page = open_page("cross_encoder", project)
    assert metric(page, "Positives") == "40%"
    weigh = box(page, project, "pos_weight", "checkbox")
    assert weigh.label == "Weigh positives: 3 ÷ 2 = 1.50"
    weigh.set_value(True).run()
    button(page, "Train the cross-encoder").click().run()
    [(_, told)] = queued(workspace, project)
    assert json.loads(told)["pos_weight"] is True


def test_a_ranking_loss_says_what_it_finds_in_gold(workspace: Workspace, project: Project) -> None:
    page = open_page("cross_encoder", project)
    box(page, project, "loss", "selectbox").set_value("listnet").run()
    # "A cat sleeps" and "A boy plays" have two candidates each, "Two dogs run" has one.
    assert "2 queries with 4 candidates; 1 of 5 rows order nothing" in shown_text(page)
    assert "not on the scale of your gold scores" in shown_text(page)
    other = classes(workspace, (1, "train"), (0, "train"))
    page = open_page("cross_encoder", other)
    box(page, other, "loss", "selectbox").set_value("ranknet").run()
    assert "your gold has none" in shown_text(page)


def test_a_student_can_read_pairs_too(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    page = open_page("cross_encoder", project)
    data = box(page, project, "data", "selectbox")
    assert [label.partition(":")[0] for label in data.options][::2] == [
        "Gold pairs (a labeler)",
        "Silver alone",
    ]
    data.select_index(2).run()
    assert metric(page, "Pairs to train on") == "6"
    button(page, "Train the cross-encoder").click().run()
    [(_, told)] = queued(workspace, project)
    options = from_json(CrossEncoderOptions, told)
    assert (options.silver_set_id, options.use_gold) == (set_id, False)


def test_a_closer_look_tells_what_to_mind(workspace: Workspace, project: Project) -> None:
    finished_run(
        workspace,
        project,
        "train-cross-encoder",
        CrossEncoderOptions(hidden=200, loss="listnet"),
        dev_score=0.7,
        warm_start_pairs=4000,
        truncated_share=0.125,
        notes=["12.5% of the training pairs are longer than the 128 tokens."],
    )
    page = open_page("cross_encoder", project)
    shown = shown_text(page).replace("\\", "").replace("\u2060", "")
    assert "warm start on 4,000 pairs · 200 hidden units · loss listnet" in shown
    assert "12.5% of the pairs were cut off" in shown
    assert "longer than the 128 tokens" in shown
