"""A class in the browser, without one: the door, a workspace for each, and the teacher's overview."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import SampleOptions
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import class_turns, classroom, lessons, projects, queue
from augsbert_core.storage.class_database import Classroom, Seat
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.ui.import_sources import read_dataset
from augsbert_core.ui.widgets import as_text
from tests.pages.conftest import add_job, words_on

OpenPage = Callable[..., AppTest]


@pytest.fixture
def room(home: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    monkeypatch.setenv("AUGSBERT_CLASSROOM", "1")
    return classroom.open_classroom(home)


def come_in(open_page: OpenPage, name: str, page: str = "start") -> AppTest:
    app = open_page(page)
    app.text_input(key="door-name").set_value(name)
    return press(app, "Come in")


def press(app: AppTest, label: str) -> AppTest:
    app = next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def token_of(app: AppTest) -> str:
    found = app.query_params["seat"]
    return found if isinstance(found, str) else str(found[0])


def seat_at(room: Classroom, app: AppTest) -> Seat:
    seat = classroom.seat_of(room, token_of(app))
    assert seat is not None
    return seat


def seated(room: Classroom, name: str) -> tuple[str, Workspace]:
    """A student's token and workspace, without the door."""
    token, _ = classroom.take_seat(room, name)
    seat = classroom.seat_of(room, token)
    assert seat is not None
    return token, open_workspace(seat.workspace(room).home)


def as_teacher(room: Classroom) -> str:
    return classroom.sit_as_teacher(room, classroom.begin_teaching(room, None))


def test_without_a_class_nothing_of_it_shows(open_page: OpenPage, home: Path) -> None:
    app = open_page("start")
    assert not app.exception
    assert "Come in" not in words_on(app)
    assert not app.sidebar.button
    assert "seat" not in app.query_params
    assert not (home / "class.db").exists()
    assert "There is no class" in words_on(open_page("classroom"))


@pytest.mark.parametrize("page", ["start", "gold", "jobs", "classroom"])
def test_every_page_begins_at_the_door(open_page: OpenPage, room: Classroom, page: str) -> None:
    for query in ({}, {"seat": "1"}, {"seat": "guess", "project": 1}):
        app = open_page(page, **query)
        assert not app.exception
        assert [title.value for title in app.title] == ["Come in"]


def test_a_newcomer_gets_a_code_and_then_an_empty_workspace(
    open_page: OpenPage, room: Classroom
) -> None:
    app = come_in(open_page, "Ada")
    code = app.code[0].value
    assert len(code) == 4
    app = press(app, "I have written it down")
    assert "No project yet" in words_on(app)
    assert app.session_state["annotator"] == "Ada"
    assert (seat_at(room, app).workspace(room).home / "workbench.db").is_file()

    again = come_in(open_page, "ada")
    assert "has a seat already" in words_on(again)
    again.text_input(key="door-code").set_value("nothing")
    again = press(again, "Go on with my work")
    assert "not the code" in again.error[0].value
    again.text_input(key="door-code").set_value(code)
    again = press(again, "Go on with my work")
    assert seat_at(room, again) == seat_at(room, app)
    assert token_of(again) != token_of(app)


def test_a_refresh_keeps_the_seat_and_shows_nobody_elses_work(
    open_page: OpenPage, room: Classroom
) -> None:
    hers, ada = seated(room, "Ada")
    his, bob = seated(room, "Bob")
    secret = projects.create_project(ada, "Secret of Ada")
    projects.create_project(bob, "Of Bob")
    add_job(ada, secret, "sample", SampleOptions(), "failed", error="Her error.")

    assert "Secret of Ada" in words_on(open_page("start", seat=hers))
    app = open_page("start", seat=his, project=secret.id)
    assert "Of Bob" in words_on(app)
    assert "Secret" not in words_on(app)
    jobs_page = words_on(open_page("jobs", seat=his, project=secret.id))
    assert "No jobs yet" in jobs_page
    assert "Her error" not in jobs_page


def test_leaving_forgets_everything_of_the_session(open_page: OpenPage, room: Classroom) -> None:
    token, workspace = seated(room, "Ada")
    projects.create_project(workspace, "Hers")
    app = open_page("start", seat=token)
    app = press(app, "Leave")
    assert [title.value for title in app.title] == ["Come in"]
    assert "seat" not in app.query_params
    assert "project_id" not in app.session_state
    assert classroom.seat_of(room, token) is None


def test_a_waiting_job_says_how_many_come_before_it(open_page: OpenPage, room: Classroom) -> None:
    token, ada = seated(room, "Ada")
    _, bob = seated(room, "Bob")
    for workspace, state in ((bob, "running"), (ada, "queued")):
        project = projects.create_project(workspace, "P")
        add_job(workspace, project, "sample", SampleOptions(), state)
        class_turns.mark_busy(room, workspace.home.name)
    app = open_page("jobs", seat=token)
    assert not app.exception
    told = "\n".join(bar.proto.text for bar in app.get("progress"))
    assert told == as_text("Waiting for its turn · 1 job before yours"), "whose it is, is not said"


def test_a_student_cannot_open_the_overview(open_page: OpenPage, room: Classroom) -> None:
    token, _ = seated(room, "Ada")
    app = open_page("classroom", seat=token)
    assert "This page is the teacher's" in words_on(app)
    assert not app.dataframe
    app.text_input(key="door-teacher").set_value("guess")
    app = press(app, "Open the overview")
    assert "not the teacher code" in app.error[0].value


def test_the_teachers_address_asks_for_the_teacher_code_first(
    open_page: OpenPage, room: Classroom
) -> None:
    app = open_page("classroom")
    assert app.text_input[0].key == "door-teacher"
    assert [one.label for one in app.expander] == ["I am a student"]
    app = come_in(open_page, "Ada", "classroom")
    assert len(app.code[0].value) == 4, "a student who came by this address gets in, too"
    app = open_page("start")
    assert app.text_input[0].key == "door-name"
    assert [one.label for one in app.expander] == ["I teach this class"]


def test_notes_and_reset_of_learn_are_the_teachers(open_page: OpenPage, room: Classroom) -> None:
    token, ada = seated(room, "Ada")
    open_sample_project(ada)
    hers = open_page("learn", seat=token, notes="1")
    assert "For the teacher" not in words_on(hers)
    assert not hers.toggle
    assert not any(button.label == "Forget them" for button in hers.button)
    teacher = as_teacher(room)
    seat = classroom.seat_of(room, teacher)
    assert seat is not None
    open_sample_project(open_workspace(seat.workspace(room).home))
    theirs = open_page("learn", seat=teacher, notes="1")
    assert "For the teacher" in words_on(theirs)
    assert any(button.label == "Forget them" for button in theirs.button)


def test_the_teacher_sees_who_is_here_and_what_was_predicted(
    open_page: OpenPage, room: Classroom
) -> None:
    from augsbert_core.learn.lessons import LESSONS

    lesson = LESSONS[0]
    answer = next(iter(lesson.choices))
    for name in ("Ada", "Bob <b>"):
        _, workspace = seated(room, name)
        lessons.reveal_lesson(workspace, name, lesson.key, answer, {"right": answer})
    code = classroom.begin_teaching(room, None)

    app = open_page("classroom")
    app.text_input(key="door-teacher").set_value(code)
    app = press(app, "Open the overview")
    table = app.dataframe[0].value
    assert list(table["student"]) == ["Ada", "Bob <b>"]
    assert list(table["done"]) == [1, 1]
    assert list(table["here"]) == [True, True]
    bars = [bar.proto.text for bar in app.get("progress")]
    assert bars[0].startswith("✓")
    assert bars[0].endswith("2 of 2")
    assert not bars[1].startswith("✓")
    assert "2 of 2 predicted" in words_on(app)


def test_the_teacher_gives_a_new_code(open_page: OpenPage, room: Classroom) -> None:
    token, _ = seated(room, "Ada")
    app = press(open_page("classroom", seat=as_teacher(room)), "Make a new code")
    assert classroom.seat_of(room, token) is None
    assert classroom.pick_up_seat(room, "Ada", app.code[0].value)
    thrown_out = open_page("start", seat=token)
    assert [title.value for title in thrown_out.title] == ["Come in"]


def test_reset_begins_the_next_class_and_stops_jobs(open_page: OpenPage, room: Classroom) -> None:
    token, ada = seated(room, "Ada")
    project = projects.create_project(ada, "Hers")
    add_job(ada, project, "sample", SampleOptions(), "queued")
    class_turns.mark_busy(room, ada.home.name)
    app = open_page("classroom", seat=as_teacher(room))
    assert app.button(key="class-next").disabled
    app.checkbox(key="class-sure").check().run()
    app = press(app, "Begin the next class")
    assert "Nobody is here yet" in words_on(app)
    assert seat_at(room, app).is_teacher
    (archived,) = room.home.glob(f"class-1-*/{ada.home.name}")
    (job,) = queue.list_jobs(Workspace(archived))
    assert job.state == "cancelled"
    assert [title.value for title in open_page("start", seat=token).title] == ["Come in"]


def test_in_class_no_folder_of_the_machine_is_imported(
    room: Classroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from augsbert_core.errors import WorkbenchError
    from augsbert_core.fence import FENCE

    monkeypatch.setenv(FENCE, str(room.desks))
    with pytest.raises(WorkbenchError, match="no folder"):
        read_dataset(str(tmp_path), "")


@pytest.mark.parametrize("page", ["start", "learn", "classroom"])
@pytest.mark.parametrize("harm", ["damaged", "emptied", "gone"])
def test_a_class_that_cannot_be_read_is_a_sentence_on_every_page(
    open_page: OpenPage, room: Classroom, page: str, harm: str
) -> None:
    token, _ = seated(room, "Ada")
    assert not open_page(page, seat=token).exception
    for path in room.home.glob("class.db-*"):
        path.unlink()
    if harm == "gone":
        room.database.unlink()
    else:
        room.database.write_bytes(b"garbage!" * 600 if harm == "damaged" else b"")
    for query in ({"seat": token}, {}):  # whoever sits, and a newcomer
        app = open_page(page, **query)
        assert not app.exception
        (told,) = [error.value for error in app.error]
        assert "The class cannot be read" in told
        assert "put a backup of" in told
    assert room.database.exists() == (harm != "gone"), "no empty file takes its place"
