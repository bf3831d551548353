"""The Annotate page without a browser: tasks are made, pairs scored, taken back, and looked at again."""

import html
import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core import bundle
from augsbert_core.options import TaskOptions, to_json
from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import SCALES, scale_levels
from augsbert_core.storage import annotation_tasks, annotations, projects, queue, runs
from augsbert_core.storage.annotation_tasks import ItemRows, create_task
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.sentences import sampling_corpus
from augsbert_core.ui import annotate_form, annotate_keys
from augsbert_core.ui.annotate_keys import KeyGuard
from augsbert_core.ui.annotate_views import pace_text
from augsbert_core.ui.pair_view import pair_html
from tests.pages.seeding import button, candidate_set, shown_text, silver_set

ME = "ann"


@pytest.fixture(autouse=True)
def _nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys count at once: tests read faster than people."""
    for name in ("QUIET_SECONDS", "REPEAT_SECONDS"):
        monkeypatch.setattr(annotate_keys, name, 0.0)


def task_of(
    workspace: Workspace,
    project: Project,
    n_pairs: int = 4,
    suggestion: float = 0.62,
    **told: object,
) -> int:
    """A task with pairs of the project's own sentences."""
    options = TaskOptions(name="My task", **told)  # type: ignore[arg-type]
    run_id = runs.add_run(workspace, project.id, "annotate", "annotate", to_json(options), 42)
    ids, _ = sampling_corpus(workspace, project.id, use_unlabelled=True)
    first, second = (side[:n_pairs] for side in np.triu_indices(len(ids), k=1))
    items = ItemRows(
        ids[first],
        ids[second],
        suggestions=np.full(len(first), suggestion),
        reasons=[f"labeler says {number}" for number in range(len(first))],
        strata=np.zeros(len(first), dtype=np.int64),
        stratum_sizes=np.full(len(first), len(first)),
    )
    levels = scale_levels(options.scale, options.levels)
    return create_task(workspace, project.id, run_id, options, levels, items)


def open_annotate(project: Project, annotator: str = ME, **query: object) -> AppTest:
    """The page as a person with this name opens it, in a window of its own."""
    page = AppTest.from_file(str(bundle.root() / "pages" / "annotate.py"), default_timeout=60)
    page.query_params.update({"project": str(project.id), "annotator": annotator})
    page.query_params.update({name: str(value) for name, value in query.items()})
    page.run()
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> None:
    """Press the button with this label, which is what its key does."""
    button(page, label).click().run()
    assert not page.exception


def plain(text: str) -> str:
    """Without what keeps Markdown from being obeyed."""
    return text.replace("\\", "")


def scores(workspace: Workspace, task_id: int, annotator: str = ME) -> list[float]:
    matrix = annotations.score_matrix(workspace, task_id)
    if annotator not in matrix.annotators:
        return []
    row = matrix.scores[matrix.annotators.index(annotator)]
    return [round(float(score), 6) for score in row[~np.isnan(row)]]


def pair_on(page: AppTest) -> str:
    """The HTML of the pair."""
    return next(
        str(found.proto.body) for found in page.get("html") if "aug-pair" in str(found.proto.body)
    )


def test_without_tasks_the_way_from_unlabelled_sentences_is_shown(
    workspace: Workspace,
) -> None:
    empty = projects.create_project(
        workspace, "Empty", task="regression", score_range=ScoreRange(0, 1)
    )
    page = open_annotate(empty)
    words = shown_text(page)
    steps = ["Import sentences", "Sample pairs", "Annotate", "Train"]
    assert [words.index(f"**{step}**") for step in steps] == sorted(
        words.index(f"**{step}**") for step in steps
    )
    assert "no pairs to score yet" in words


def test_scores_are_saved_one_by_one_and_the_next_pair_comes(
    workspace: Workspace, project: Project
) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    first = pair_on(page)
    press(page, "3\\.5")
    assert scores(workspace, task_id) == [0.7]
    assert pair_on(page) != first
    press(page, "0")
    assert scores(workspace, task_id) == [0.7, 0.0]
    assert "**2** done · **2** left" in str([bar.proto.text for bar in page.get("progress")])


def test_every_level_is_a_button_with_its_key(workspace: Workspace, project: Project) -> None:
    page = open_annotate(project, task=task_of(workspace, project))
    keys = {
        found.proto.shortcut for found in page.button if found.key.startswith("annotate-level-")
    }
    assert keys == {level.key for level in SCALES["0-5"][1]}
    others = {found.label: found.proto.shortcut for found in page.button if found.proto.shortcut}
    assert {name: others[name] for name in ("Skip", "Flag", "Undo", "Back", "Next", "Help")} == {
        "Skip": "s", "Flag": "f", "Undo": "u", "Back": "left", "Next": "right", "Help": "h",
    }  # fmt: skip


def test_skip_flag_and_undo(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    first = pair_on(page)
    press(page, "Flag")
    assert "flagged" in shown_text(page)
    assert pair_on(page) == first
    press(page, "Skip")
    assert pair_on(page) != first
    done = annotations.progress(workspace, task_id, ME)
    assert (done.done, done.skipped, done.flagged) == (0, 1, 1)
    press(page, "Undo")
    assert pair_on(page) == first
    press(page, "Undo")
    assert "flagged" not in shown_text(page)
    press(page, "Undo")
    assert "nothing to undo" in shown_text(page)


def test_arrows_look_back_and_a_new_score_replaces_the_old(
    workspace: Workspace, project: Project
) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    first = pair_on(page)
    press(page, "1")
    press(page, "Back")
    assert pair_on(page) == first
    assert "You gave **1**" in shown_text(page)
    press(page, "4\\.5")
    assert scores(workspace, task_id) == [0.9]
    press(page, "Back")
    press(page, "Back")
    assert "no pair before this one" in shown_text(page)


def test_what_the_model_says_is_hidden_until_asked_for_and_recorded(
    workspace: Workspace, project: Project
) -> None:
    task_id = task_of(workspace, project, queue="disagreement", source="silver")
    page = open_annotate(project, task=task_id)
    assert "3.10" not in shown_text(page)
    assert "labeler says" not in shown_text(page)  # the reason would give it away
    assert "labeler and bi-encoder differ most" in shown_text(page)
    press(page, "Suggestion")
    assert "The model says **3\\.10**" in shown_text(page)
    assert "labeler says 0" in shown_text(page)
    press(page, "2")
    assert "The model says" not in shown_text(page)
    press(page, "2")
    matrix = annotations.score_matrix(workspace, task_id)
    assert matrix.seen[0].tolist() == [True, False, False, False]


def test_help_shows_all_keys(workspace: Workspace, project: Project) -> None:
    page = open_annotate(project, task=task_of(workspace, project))

    def helps() -> list[str]:
        return [
            str(found.proto.body)
            for found in page.get("html")
            if "aug-keys" in str(found.proto.body)
        ]

    assert not helps()
    press(page, "Help")
    assert all(
        f">{key}<" in helps()[0] for key in ("0", "Q", "5", "S", "F", "U", "H", "M", "←", "→")
    )
    press(page, "Help")
    assert not helps()


def test_texts_are_shown_as_text() -> None:
    shown = pair_html(
        "<b>bold</b> :smile: **x**", "<script>alert(1)</script> & y", labels=("<i>", "2")
    )
    assert not {"<b>", "<script>", "<i>"} & set(re.findall(r"<\w+>", shown))
    words = html.unescape(re.sub(r"<[^>]*>", "", shown))
    assert words.startswith("<i><b>bold</b> :smile: **x**2<script>alert(1)</script> & y")


def test_of_sentences_that_share_little_the_shared_words_are_marked() -> None:
    def marks(first: str, second: str) -> list[str]:
        return re.findall(r"<mark[^>]*>([^<]*)</mark>", pair_html(first, second))

    assert [one.strip() for one in marks("A cat sat here.", "A dog sat here.")] == ["cat", "dog"]
    unlike = "Two kids play football in the park.", "Prices of crude oil rose the most today."
    assert [one.strip() for one in marks(*unlike)] == ["the", "the"]
    assert "few words that both" in pair_html(*unlike)
    assert "few words that both" not in pair_html("A cat sat here.", "A dog sat here.")
    assert marks("One thing.", "Another matter.") == []


def test_a_finished_task_says_what_comes_next(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project, 2)
    page = open_annotate(project, task=task_id)
    press(page, "1")
    press(page, "2")
    assert "you have scored 2 pairs" in shown_text(page)
    press(page, "Back")
    assert "You gave **2**" in shown_text(page)
    press(page, "Next")
    press(page, "Agreement, and merge to gold")
    assert page.session_state["annotate-view"] == "agreement"


def test_two_people_have_their_own_queue(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project, 2)
    mine = open_annotate(project, task=task_id)
    theirs = open_annotate(project, "ben", task=task_id)
    assert pair_on(mine) != pair_on(theirs)
    press(mine, "1")
    press(theirs, "5")
    assert (scores(workspace, task_id), scores(workspace, task_id, "ben")) == ([0.2], [1.0])
    press(mine, "Undo")
    assert scores(workspace, task_id, "ben") == [1.0]


def test_a_key_that_comes_too_soon_is_for_the_pair_before(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    monkeypatch.setattr(annotate_keys, "QUIET_SECONDS", 1e6)
    press(page, "1")
    assert scores(workspace, task_id) == []
    assert "Key ignored: the pair had only just appeared" in shown_text(page)
    monkeypatch.setattr(annotate_keys, "QUIET_SECONDS", 0.0)
    press(page, "2")
    assert scores(workspace, task_id) == [0.4]
    assert "Key ignored" not in shown_text(page)


def test_a_key_that_is_held_down_scores_one_pair(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    monkeypatch.setattr(annotate_keys, "REPEAT_SECONDS", 1e6)
    for _ in range(3):
        press(page, "1")
    assert scores(workspace, task_id) == [0.2]
    assert "held down" in shown_text(page)
    press(page, "2")  # another key was pressed anew
    assert scores(workspace, task_id) == [0.2, 0.4]
    press(page, "Undo")
    press(page, "Undo")
    assert scores(workspace, task_id) == [0.2]


def test_which_keys_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    guard = KeyGuard()

    def counts(key: str, now: float) -> bool:
        if refused := guard.refusal(key, now):
            guard.drawn(now + 0.05)
            assert refused
            return False
        guard.new_pair()
        guard.drawn(now + 0.05)
        return True

    assert not counts("1", 9.0)  # nothing is drawn yet
    guard.drawn(9.0)
    assert counts("2", 9.22)
    assert not counts("3", 9.3)  # 0.05 s after the next pair
    assert counts("4", 9.43)  # a wait that is not begun anew by the key that was ignored
    assert not counts("4", 9.43 + 0.66)  # the same one, as X11 repeats it first
    assert not any(counts("4", 10.09 + 0.033 * n) for n in range(1, 60))  # and from then on
    assert counts("4", 13.0)  # pressed anew
    assert counts("5", 13.25)


def test_undo_says_what_it_took_back(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    press(page, "3\\.5")
    press(page, "Skip")
    press(page, "Undo")
    assert "Undone: the skip on" in plain(shown_text(page))
    press(page, "Undo")
    assert "Undone: the score 3.5 on" in plain(shown_text(page))


def test_without_a_score_of_a_model_nothing_is_recorded_as_seen(
    workspace: Workspace, project: Project
) -> None:
    task_id = task_of(workspace, project, suggestion=float("nan"))
    page = open_annotate(project, task=task_id)
    assert button(page, "Suggestion").disabled
    item = annotations.next_item(workspace, task_id, ME)
    assert item is not None
    annotations.save(workspace, task_id, item.id, ME, score=0.5, suggestion_seen=True)
    assert not annotations.score_matrix(workspace, task_id).seen.any()


def test_a_finished_audit_leads_to_its_figures(workspace: Workspace, project: Project) -> None:
    chosen = silver_set(workspace, project)
    told = {"purpose": "audit", "source": "silver", "queue": "score-strata"}
    task_id = task_of(workspace, project, 1, silver_set_id=chosen, **told)
    page = open_annotate(project, task=task_id)
    press(page, "1")
    assert "figures of the audit" in shown_text(page)
    labels = [found.label for found in page.button]
    assert "Agreement, and merge to gold" not in labels
    assert "Agreement" in labels


def test_the_pace_agrees_with_itself() -> None:
    assert pace_text(1782.0, "pair") == "1,782 pairs an hour (2.0 s each)"


def test_a_task_that_was_closed_in_another_window(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    annotation_tasks.close_task(workspace, task_id)
    press(page, "1")
    assert "closed" in shown_text(page)
    assert scores(workspace, task_id) == []


def test_a_task_that_was_deleted_in_another_window(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id)
    annotation_tasks.delete_task(workspace, task_id)
    press(page, "1")
    assert f"Annotation task {task_id} does not exist" in plain(page.toast[0].value)
    assert "From unlabelled sentences" in shown_text(page)


def test_a_link_to_a_task_that_is_gone_opens_another(
    workspace: Workspace, project: Project
) -> None:
    task_of(workspace, project)
    page = open_annotate(project, task=999)
    assert "Task 999 is not in this project" in shown_text(page)
    assert pair_on(page)


def test_the_same_name_in_two_windows_scores_no_pair_twice(
    workspace: Workspace, project: Project
) -> None:
    task_id = task_of(workspace, project)
    one, other = open_annotate(project, task=task_id), open_annotate(project, task=task_id)
    assert pair_on(one) == pair_on(other)
    press(one, "1")
    press(other, "5")  # the same pair again, as this window still shows it: refused
    assert scores(workspace, task_id) == [0.2]
    assert "in another window" in shown_text(other)
    assert pair_on(one) == pair_on(other)


# --- set up ---------------------------------------------------------------------------------------------


def test_a_task_that_needs_no_model_is_made_at_once_and_opened(
    workspace: Workspace, project: Project
) -> None:
    candidate_set(workspace, project)
    page = open_annotate(project)
    press(page, "Make the task")
    (task,) = annotation_tasks.list_tasks(workspace, project.id)
    assert (task.source, task.queue, task.n_items, task.scale) == ("candidates", "random", 6, "0-5")
    assert any("lowered from 100 to 6" in plain(toast.value) for toast in page.toast)
    assert "lowered from 100 to 6" in shown_text(open_annotate(project, view="setup"))
    assert pair_on(page)
    assert page.query_params["task"] == str(task.id)


def test_a_task_with_words_of_its_own(workspace: Workspace, project: Project) -> None:
    candidate_set(workspace, project)
    page = open_annotate(project)
    next(found for found in page.get("button_group")).set_value("custom").run()
    press(page, "Make the task")
    (task,) = annotation_tasks.list_tasks(workspace, project.id)
    assert [(level.label, level.score) for level in task.levels] == [
        ("different", 0.0), ("related", 0.5), ("same meaning", 1.0),
    ]  # fmt: skip


def test_a_task_that_needs_a_model_is_a_job(workspace: Workspace, project: Project) -> None:
    candidate_set(workspace, project)
    page = open_annotate(project)
    next(box for box in page.selectbox if box.label.startswith("Which pairs")).select(
        "density-gap"
    ).run()
    press(page, "Make the task")
    (job,) = queue.list_jobs(workspace, project.id)[:1]
    assert (job.step, job.state) == ("annotate", "queued")
    told = json.loads(runs.get_run(workspace, job.run_id).options)
    assert told["queue"] == "density-gap"


def test_queues_are_those_of_the_source(workspace: Workspace, project: Project) -> None:
    silver_set(workspace, project)
    page = open_annotate(project)

    def queues() -> list[str]:
        return next(box for box in page.selectbox if box.label.startswith("Which pairs")).options

    assert "Disagreement" not in queues()
    next(box for box in page.selectbox if box.label == "Pairs from").select("silver").run()
    assert {"Disagreement", "Order gap"} <= set(queues())


def test_a_best_worst_task(workspace: Workspace, project: Project) -> None:
    candidate_set(workspace, project)
    page = open_annotate(project)
    next(box for box in page.selectbox if box.label == "What people do").select("best-worst").run()
    assert next(found for found in page.slider if found.label == "Tuples per pair").value == 4.0
    assert "6 pairs make **15 tuples** of four" in shown_text(page)
    press(page, "Make the task")
    (task,) = annotation_tasks.list_tasks(workspace, project.id)
    assert (task.kind, task.n_tuples) == ("best-worst", 15)  # all fours of six


def test_the_size_of_a_best_worst_task_in_words() -> None:
    said = annotate_form.tuples_text(12, 4.0)
    assert "**48 tuples**" in said
    assert "met in about 16 of them: **12 min 00 s**" in said
    assert "needs 4 pairs" in annotate_form.tuples_text(3, 4.0)


def test_the_guideline_is_saved_and_shown_beside_the_pair(
    workspace: Workspace, project: Project
) -> None:
    task_id = task_of(workspace, project)
    page = open_annotate(project, task=task_id, view="setup")
    next(area for area in page.text_area).set_value("**5** means equal").run()
    assert projects.get_project(workspace, project.id).guideline == "**5** means equal"
    assert "**5** means equal" in shown_text(open_annotate(project, task=task_id))


def test_a_guideline_that_was_changed_elsewhere_is_not_overwritten(
    workspace: Workspace, project: Project
) -> None:
    page = open_annotate(project, task=task_of(workspace, project), view="setup")
    projects.set_guideline(workspace, project.id, "theirs")
    next(area for area in page.text_area).set_value("mine").run()
    assert projects.get_project(workspace, project.id).guideline == "theirs"
    assert next(area for area in page.text_area).value == "theirs"
    assert "mine" in [code.value for code in page.code]
    page.button(key="guideline-panel-mine").click().run()
    assert projects.get_project(workspace, project.id).guideline == "mine"
    assert not page.code


def test_a_guideline_shows_no_picture(workspace: Workspace, project: Project) -> None:
    task_id = task_of(workspace, project)
    projects.set_guideline(workspace, project.id, "See ![p](http://127.0.0.1/p.png)")
    for view in ("setup", "work"):
        page = open_annotate(project, task=task_id, view=view)
        shown = [block.value for block in page.markdown if "p.png" in block.value]
        assert shown
        assert not any("![" in value for value in shown)


def test_an_audit_is_blind_from_beginning_to_end(workspace: Workspace, project: Project) -> None:
    chosen = silver_set(workspace, project)
    task_id = task_of(
        workspace,
        project,
        purpose="audit",
        source="silver",
        silver_set_id=chosen,
        queue="score-strata",
    )
    page = open_annotate(project, task=task_id)
    assert "Suggestion" not in [found.label for found in page.button]
    assert "labeler says" not in plain(shown_text(page))
    assert "0.62" not in shown_text(page)
    press(page, "Help")
    assert "what the model says" not in shown_text(page)
    press(page, "3\\.5")
    assert scores(workspace, task_id) == [0.7]
