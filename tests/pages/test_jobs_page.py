"""Jobs: the table, one job in detail, and what can be done with it."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import CrossEncoderOptions, SampleOptions
from augsbert_core.storage import queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.ui.job_panel import progress_text
from augsbert_core.ui.widgets import as_text, duration_text
from tests.pages.conftest import Loop, add_job, words_on

OpenPage = Callable[..., AppTest]
TRAIN = "train-cross-encoder"


def test_without_jobs_the_page_says_how_to_start_one(open_page: OpenPage, project: Project) -> None:
    app = open_page("jobs")
    assert not app.exception
    assert "No jobs yet" in words_on(app)


def test_all_jobs_are_listed_newest_first(open_page: OpenPage, loop: Loop) -> None:
    app = open_page("jobs")
    assert not app.exception
    table = app.dataframe[0].value
    assert list(table["job"]) == [5, 4, 3, 2, 1]
    assert set(table["project"]) == {"Tiny"}
    assert list(table["step"])[-1] == "train-cross-encoder"


def test_another_job_can_be_picked(open_page: OpenPage, loop: Loop) -> None:
    app = open_page("jobs")
    app.selectbox(key="picked-job").set_value(1).run()
    assert "dev Spearman × 100: 81.0" in words_on(app).replace("\\", "")


def test_a_failed_job_shows_one_sentence_and_hides_the_traceback(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    add_job(
        workspace, project, TRAIN, CrossEncoderOptions(), "failed",
        error="The model <b>x</b> was not found.", details="Traceback: line 1",
    )  # fmt: skip
    app = open_page("jobs")
    assert not app.exception
    assert as_text("The model <b>x</b> was not found.") == app.error[0].value
    traceback = next(found for found in app.expander if found.label == "Traceback")
    assert traceback.code[0].value == "Traceback: line 1"
    assert not traceback.proto.expanded


def test_a_running_job_can_be_cancelled(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    job = add_job(workspace, project, TRAIN, CrossEncoderOptions(), "running")
    app = open_page("jobs")

    app.button(key=f"cancel-{job.id}").click().run()
    assert queue.get_job(workspace, job.id).state == "cancelling"


def test_a_waiting_job_is_cancelled_at_once(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    job = add_job(workspace, project, "sample", SampleOptions(), "queued")
    open_page("jobs").button(key=f"cancel-{job.id}").click().run()
    assert queue.get_job(workspace, job.id).state == "cancelled"


@pytest.mark.parametrize("state", ["interrupted", "failed", "cancelled"])
def test_a_job_without_a_result_can_be_resumed(
    open_page: OpenPage, workspace: Workspace, project: Project, state: str
) -> None:
    job = add_job(workspace, project, TRAIN, CrossEncoderOptions(), state)
    app = open_page("jobs")
    app.button(key=f"resume-{job.id}").click().run()
    assert not app.exception
    assert queue.get_job(workspace, job.id).state == "queued"


def test_a_job_without_a_result_can_be_removed(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    job = add_job(workspace, project, TRAIN, CrossEncoderOptions(), "interrupted")
    app = open_page("jobs")
    app.button(key=f"remove-now-{job.id}").click().run()
    assert not app.exception
    assert queue.list_jobs(workspace) == []
    assert "No jobs yet" in words_on(app)


def test_a_done_job_can_be_neither_resumed_nor_removed(open_page: OpenPage, loop: Loop) -> None:
    keys = {button.key for button in open_page("jobs").button}
    assert not {key for key in keys if key and key.startswith(("resume-", "remove-", "cancel-"))}


def test_the_message_and_progress_of_a_running_job_are_shown(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    job = add_job(workspace, project, TRAIN, CrossEncoderOptions(), "running")
    queue.set_progress(workspace, job.id, 0.25, "Step 40 of 160")
    app = open_page("jobs")
    assert app.dataframe[0].value["progress"].iloc[0] == 0.25
    assert app.progress[0].value == 25
    assert "Step 40 of 160" in app.progress[0].text


def test_a_waiting_job_says_which_job_of_which_project_it_waits_for(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    elsewhere = create_project(workspace, "Other *task*")
    holds = add_job(
        workspace, elsewhere, TRAIN, CrossEncoderOptions(), "running", name="Labeler, seed 1"
    )
    job = add_job(workspace, project, "sample", SampleOptions(), "queued", name="Top 3")
    later = add_job(workspace, project, TRAIN, CrossEncoderOptions(), "queued", name="Last")

    bench = SimpleNamespace(workspace=workspace)
    told = f"Waiting for job {holds.id}, Labeler, seed 1, of the project Other *task*"
    assert progress_text(bench, job) == told
    assert progress_text(bench, later) == f"{told}, and 1 more"
    app = open_page("jobs", project=project.id)
    app.selectbox(key="picked-job").set_value(job.id).run()
    assert not app.exception
    assert as_text(told) in app.progress[0].text

    queue.finish_job(workspace, holds.id, "done", message="Done")
    assert progress_text(bench, later) == f"Waiting for job {job.id}, Top 3"
    assert progress_text(bench, job) == "Waiting for its turn · 0%"


def test_a_job_waits_neither_for_other_devices_nor_for_those_that_it_shares_one_with(
    workspace: Workspace, project: Project
) -> None:
    def add(device: str, *, shared: bool = False) -> queue.Job:
        run_id = runs.add_run(workspace, project.id, TRAIN, "a run", "{}", 1)
        job_id = queue.add_job(workspace, project.id, run_id, TRAIN, device, shared=shared)
        return queue.get_job(workspace, job_id)

    def ahead(job: queue.Job) -> list[int]:
        return [other.id for other in queue.jobs_ahead(workspace, job)]

    one, elsewhere, two = add("cuda:0", shared=True), add("cuda:1"), add("cuda:0", shared=True)
    alone = add("cuda:0")
    assert ahead(one) == ahead(elsewhere) == ahead(two) == []
    assert ahead(alone) == [one.id, two.id]
    assert {job.id for job in queue.startable_jobs(workspace)} == {one.id, elsewhere.id, two.id}
    assert queue.claim_job(workspace, two.id, host="h", pid=1, pid_started=1.0)
    assert ahead(alone) == [two.id, one.id], "whoever holds the device comes first"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59, "59 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations_are_words(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize("mark", ["*a*", "<b>", "[a](b)", "$x$", "`c`", "# h", "~~s~~", "> q"])
def test_user_text_loses_its_powers(mark: str) -> None:
    escaped = as_text(mark)
    assert escaped.replace("\\", "").replace("\u2060", "") == mark
    assert escaped != mark
