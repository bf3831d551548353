"""A class on one machine: seats, codes and tokens, and jobs that take turns."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from augsbert_core import classroom as fair
from augsbert_core import jobs, processes, serve
from augsbert_core.cli import app as cli
from augsbert_core.cli import app_command
from augsbert_core.errors import WorkbenchError
from augsbert_core.fence import FENCE
from augsbert_core.models.catalog import resolve_model
from augsbert_core.options import BUNDLED_MODEL
from augsbert_core.steps import learn
from augsbert_core.storage import class_progress, class_turns, classroom, lessons, projects, queue
from augsbert_core.storage.class_database import Busy, Classroom, classroom_of
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.idle_connections import IDLE
from augsbert_core.ui.door import IN_CLASS
from tests import fake_steps
from tests.fake_steps import CountOptions
from tests.jobs.waiting import wait_until

LONG = CountOptions(target=2000, pause=0.05)


@pytest.fixture
def room(tmp_path: Path) -> Classroom:
    return classroom.open_classroom(tmp_path / "home")


def sit(room: Classroom, name: str) -> Workspace:
    """A new student's workspace."""
    token, _ = classroom.take_seat(room, name)
    seat = classroom.seat_of(room, token)
    assert seat is not None
    return open_workspace(seat.workspace(room).home)


# --- the door --------------------------------------------------------------------------------------


def test_a_name_gives_a_seat_with_a_folder_that_nobody_can_guess(room: Classroom) -> None:
    ada = sit(room, "  Ada\n Lovelace ")
    bob = sit(room, "../../etc")
    assert [seat.name for seat in classroom.list_seats(room)] == ["../../etc", "Ada Lovelace"]
    for number, workspace in ((1, ada), (2, bob)):
        assert workspace.home.parent == room.desks
        plain, _, secret = workspace.home.name.partition("-")
        assert plain == str(number)
        assert len(bytes.fromhex(secret)) == 8
        assert classroom_of(workspace) == room
    assert classroom_of(open_workspace(room.home)) is None


@pytest.mark.parametrize("again", ["Ada", "ADA", " ada ", "Ａｄａ"])
def test_a_name_is_taken_once(room: Classroom, again: str) -> None:
    classroom.take_seat(room, "Ada")
    assert classroom.is_taken(room, again)
    with pytest.raises(WorkbenchError, match="here already"):
        classroom.take_seat(room, again)


@pytest.mark.parametrize("name", ["", "  \n ", "\u202e\u200b", "teacher"])
def test_what_is_no_name_gets_no_seat(room: Classroom, name: str) -> None:
    with pytest.raises(WorkbenchError):
        classroom.take_seat(room, name)
    assert classroom.list_seats(room) == []


def test_a_seat_is_picked_up_with_its_code_alone(room: Classroom) -> None:
    token, code = classroom.take_seat(room, "Ada")
    other, other_code = classroom.take_seat(room, "Bob")
    assert len(code) == 4
    again = classroom.pick_up_seat(room, "ada", f" {code} ")
    assert again != token
    assert classroom.seat_of(room, again) == classroom.seat_of(room, token)
    assert classroom.seat_of(room, other) != classroom.seat_of(room, token)
    if other_code != code:
        with pytest.raises(WorkbenchError, match="4 more tries"):
            classroom.pick_up_seat(room, "Ada", other_code)
    with pytest.raises(WorkbenchError, match="Nobody"):
        classroom.pick_up_seat(room, "Eve", code)


def test_wrong_codes_lock_a_seat_until_the_teacher_gives_a_new_one(room: Classroom) -> None:
    token, code = classroom.take_seat(room, "Ada")
    for _ in range(classroom.TRIES):
        with pytest.raises(WorkbenchError):
            classroom.pick_up_seat(room, "Ada", "no")
    with pytest.raises(WorkbenchError, match="10 minutes"):
        classroom.pick_up_seat(room, "Ada", code)
    (seat,) = classroom.list_seats(room)
    fresh = classroom.new_code(room, seat.number)
    assert classroom.seat_of(room, token) is None, "the new code closes pages that were open"
    assert classroom.seat_of(room, classroom.pick_up_seat(room, "Ada", fresh)) is not None


def test_codes_and_tokens_are_stored_as_hashes_only(room: Classroom) -> None:
    teacher = classroom.begin_teaching(room, None)
    token, code = classroom.take_seat(room, "Ada")
    sitting = classroom.sit_as_teacher(room, teacher)
    stored = b"".join(path.read_bytes() for path in room.home.glob("class.db*"))
    assert b"Ada" in stored
    for secret in (token, sitting, teacher, teacher.replace("-", "")):
        assert secret.encode() not in stored
    with closing(sqlite3.connect(room.database)) as db:
        stored_codes = [
            row[0] for row in db.execute("SELECT code FROM seat WHERE code IS NOT NULL")
        ]
    assert len(stored_codes) == 1
    assert code not in stored_codes[0].split("$")


def test_a_token_that_nobody_was_given_opens_nothing(room: Classroom) -> None:
    token, _ = classroom.take_seat(room, "Ada")
    for guess in ("", "1", "Ada", token[:-1], token.swapcase(), "\ud800"):
        assert classroom.seat_of(room, guess) is None
    classroom.leave_seat(room, token)
    assert classroom.seat_of(room, token) is None


def test_the_class_is_full_at_last(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "MOST_SEATS", 2)
    classroom.sit_as_teacher(room, classroom.begin_teaching(room, None))
    classroom.take_seat(room, "Ada")
    classroom.take_seat(room, "Bob")
    with pytest.raises(WorkbenchError, match="full"):
        classroom.take_seat(room, "Eve")


# --- the teacher -----------------------------------------------------------------------------------


def test_the_teacher_code_of_the_last_start_opens_the_teachers_seat(room: Classroom) -> None:
    before = classroom.sit_as_teacher(room, classroom.begin_teaching(room, 3))
    code = classroom.begin_teaching(room, 2)
    assert classroom.seat_of(room, before) is None
    token = classroom.sit_as_teacher(room, f" {code.upper()} ")
    seat = classroom.seat_of(room, token)
    assert seat is not None
    assert seat.is_teacher
    assert classroom.most_jobs(room) == 2


def test_wrong_teacher_codes_do_not_keep_the_teacher_out(room: Classroom) -> None:
    code = classroom.begin_teaching(room, None)
    for _ in range(40):
        with pytest.raises(WorkbenchError, match="not the teacher code"):
            classroom.sit_as_teacher(room, "aaaa-aaaa")
    assert classroom.seat_of(room, classroom.sit_as_teacher(room, code)) is not None


def test_the_next_class_begins_empty_and_the_old_one_is_kept(room: Classroom) -> None:
    teacher = classroom.sit_as_teacher(room, classroom.begin_teaching(room, None))
    ada = sit(room, "Ada")
    projects.create_project(ada, "Hers")
    student, _ = classroom.take_seat(room, "Bob")
    with pytest.raises(WorkbenchError, match="Only the teacher"):
        classroom.begin_next_class(room, student)

    fresh = classroom.begin_next_class(room, teacher)
    assert classroom.seat_of(room, student) is None
    assert classroom.seat_of(room, teacher) is None
    new_seat = classroom.seat_of(room, fresh)
    assert new_seat is not None
    assert new_seat.is_teacher
    assert [seat.is_teacher for seat in classroom.list_seats(room)] == [True]

    (archived,) = room.home.glob("class-1-*/*/workbench.db")
    assert archived.parent.name == ada.home.name
    kept = Workspace(archived.parent)
    assert [project.name for project in projects.list_projects(kept)] == ["Hers"]
    assert classroom_of(kept) is None
    assert sit(room, "Ada").home.name != ada.home.name


def test_the_overview_counts_predictions_and_escapes_names(room: Classroom) -> None:
    for name, answer in (
        ("=HYPERLINK(1)", "bm25"),
        ("Bob", "bm25"),
        ("Eve", "random"),
        ("Zoe", ""),
    ):
        lessons.reveal_lesson(sit(room, name), name, "strategies", answer, {})
    sit(room, "Idle")
    classroom.sit_as_teacher(room, classroom.begin_teaching(room, None))

    students = class_progress.class_progress(room)
    assert [student.seat.name for student in students] == [
        "=HYPERLINK(1)",
        "Bob",
        "Eve",
        "Idle",
        "Zoe",
    ]
    assert class_progress.predictions(students) == {"strategies": {"bm25": 2, "random": 1}}
    assert [class_progress.n_revealed(student) for student in students] == [1, 1, 1, 0, 1]
    lines = class_progress.overview_csv(students, ["strategies"]).decode("utf-8-sig").splitlines()
    assert lines[0].endswith("lessons done,running,waiting,strategies")
    assert lines[1].startswith("'=HYPERLINK(1),")
    assert lines[4].endswith("0,0,0,")
    assert lines[5].endswith("1,0,0,skipped")


# --- the command -----------------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Run `augsbert app` without becoming the server; returns what was printed and how the server would start."""

    def started(*words: str) -> tuple[Any, list[str], dict[str, str]]:
        became: list[Any] = []

        def become(_program: str, command: list[str], environment: dict[str, str]) -> None:
            became.extend([command, environment])
            raise SystemExit(0)

        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(app_command.os, "execve", become)
        result = CliRunner().invoke(cli, ["--home", str(tmp_path / "home"), "app", *words])
        return result, *(became or [[], {}])

    return started


def test_the_command_prints_addresses_and_a_code_that_opens_the_class(
    started: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_TOKEN", "the teacher's own")
    result, command, environment = started("--classroom", "--jobs", "3", "--port", "8599")
    assert result.exit_code == 0
    assert "Students: http://localhost:8599" in result.output
    assert "Only this computer reaches the server" in result.output
    assert "Warning" not in result.output
    assert command[command.index("--server.address") + 1] == "localhost"
    assert environment["AUGSBERT_CLASSROOM"] == "1"
    assert "HF_TOKEN" not in environment
    room = Classroom(tmp_path / "home")
    assert environment[FENCE] == str(room.desks)
    assert classroom.most_jobs(room) == 3
    code = re.search(r"Teacher code: (\S+)", result.output)
    assert code is not None
    assert classroom.sit_as_teacher(room, code[1])


def test_listening_for_others_warns_in_plain_words(started: Callable[..., Any]) -> None:
    result, command, environment = started("--address", "0.0.0.0")  # noqa: S104
    assert command[command.index("--server.address") + 1] == "0.0.0.0"  # noqa: S104
    assert "no password" in result.output
    assert "AUGSBERT_CLASSROOM" not in environment
    result, _, environment = started("--classroom", "--address", "192.0.2.7")
    assert "take a seat in the class" in result.output
    assert "Students: http://192.0.2.7:8501" in result.output


def test_a_limit_of_jobs_needs_a_class(started: Callable[..., Any]) -> None:
    result, command, _ = started("--jobs", "2")
    assert (result.exit_code, command) == (2, [])


# --- folders ---------------------------------------------------------------------------------------


def test_in_class_no_typed_folder_opens_a_model(
    room: Classroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine, others = sit(room, "Ada"), sit(room, "Bob")
    for workspace in (mine, others):
        folder = workspace.run_folder(1)
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_text("")
    assert resolve_model(str(others.run_folder(1))).source == "folder"
    monkeypatch.setenv(FENCE, str(mine.home))
    assert resolve_model(str(mine.run_folder(1))).source == "folder"
    (mine.home / "link").symlink_to(others.home)
    climbing = mine.home / ".." / others.home.name / "models" / "run-1"
    for path in (others.run_folder(1), climbing, mine.home / "link" / "models" / "run-1"):
        with pytest.raises(WorkbenchError, match="folders: closed"):
            resolve_model(str(path))
    bundled = resolve_model(BUNDLED_MODEL)
    assert resolve_model(bundled.location).location == bundled.location, "shared models stay open"


# --- turns -----------------------------------------------------------------------------------------


@pytest.fixture
def turns(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> Iterator[Classroom]:
    """A class whose jobs count numbers, one at a time in all."""
    monkeypatch.setitem(sys.modules, "augsbert_core.steps", sys.modules.get("augsbert_core.steps"))
    fake_steps.fake_package()
    monkeypatch.setattr(processes, "WORKER_COMMAND", fake_steps.worker_command())
    classroom.begin_teaching(room, 1)
    yield room
    classroom.set_closing(room, True)
    for desk in fair.jobs_of_class(room):
        for job in desk.running:
            processes.end(job)


class Student:
    """A seat with a project, and the jobs that are asked for there."""

    def __init__(self, room: Classroom, name: str) -> None:
        self.workspace = sit(room, name)
        self.project = projects.create_project(self.workspace, "Numbers")

    def ask(self, options: CountOptions) -> queue.Job:
        return jobs.enqueue(self.workspace, self.project.id, "count", options)

    def state(self, job: queue.Job) -> str:
        return queue.get_job(self.workspace, job.id).state

    def times(self, job: queue.Job) -> tuple[float, float]:
        lines = (self.workspace.run_folder(job.run_id) / "numbers.txt").read_text().splitlines()
        return float(lines[0].split()[1]), float(lines[-1].split()[1])


def test_students_take_turns_without_anybody_watching(turns: Classroom) -> None:
    ada, bob, eve = (Student(turns, name) for name in ("Ada", "Bob", "Eve"))
    options = CountOptions(target=2, pause=0.2)
    classroom.set_closing(turns, True)
    asked = [(ada, ada.ask(replace(options, seed=seed))) for seed in range(3)]
    asked += [(bob, bob.ask(options)), (eve, eve.ask(options))]
    before = fair.jobs_before(turns)
    assert [before[who.workspace.home.name, job.id] for who, job in asked] == [0, 3, 4, 1, 2]

    classroom.set_closing(turns, False)
    jobs.tend(eve.workspace)
    wait_until(lambda: all(who.state(job) == "done" for who, job in asked))
    order = sorted(asked, key=lambda one: one[0].times(one[1]))
    assert [who for who, _ in order] == [ada, bob, eve, ada, ada]
    for (who, job), (next_one, next_job) in pairwise(order):
        assert who.times(job)[1] <= next_one.times(next_job)[0]


def test_many_processes_never_start_more_than_the_limit(turns: Classroom) -> None:
    classroom.begin_teaching(turns, 2)
    students = [Student(turns, name) for name in ("Ada", "Bob", "Eve", "Zoe")]
    classroom.set_closing(turns, True)
    asked = [(who, who.ask(CountOptions(target=8, pause=0.1))) for who in students]
    assert {who.state(job) for who, job in asked} == {"queued"}
    classroom.set_closing(turns, False)
    program = (
        "import sys, time\nsys.path.insert(0, '.')\nfrom pathlib import Path\n"
        "from tests import fake_steps\nfake_steps.fake_package()\n"
        "from augsbert_core import jobs, processes\n"
        "from augsbert_core.storage.database import Workspace\n"
        "processes.WORKER_COMMAND = fake_steps.worker_command()\n"
        "while True: jobs.tend(Workspace(Path(sys.argv[1]))); time.sleep(0.01)\n"
    )
    tenders = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(who.workspace.home)],
            cwd=Path(__file__).parent.parent,
            env=processes.worker_environment(),
        )
        for who in students[:3]
    ]
    most = 0
    try:

        def all_done() -> bool:
            nonlocal most
            running = [who.state(job) == "running" for who, job in asked]
            most = max(most, sum(running))
            return all(who.state(job) == "done" for who, job in asked)

        wait_until(all_done)
    finally:
        for tender in tenders:
            tender.kill()
            tender.wait()
    moments = sorted({moment for who, job in asked for moment in who.times(job)})
    spans = [who.times(job) for who, job in asked]
    assert most == 2
    assert max(sum(begin <= at <= end for begin, end in spans) for at in moments) <= 2


def test_a_killed_worker_frees_its_place(turns: Classroom) -> None:
    ada, bob = Student(turns, "Ada"), Student(turns, "Bob")
    hers, his = ada.ask(LONG), bob.ask(replace(LONG, target=1))
    assert (ada.state(hers), bob.state(his)) == ("running", "queued")
    os.kill(queue.get_job(ada.workspace, hers.id).pid or 0, signal.SIGKILL)

    def tended() -> str:
        jobs.tend(bob.workspace)
        return bob.state(his)

    wait_until(lambda: tended() == "done")
    assert ada.state(hers) == "interrupted"


def test_a_killed_process_does_not_keep_the_turn(turns: Classroom) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom augsbert_core.storage import class_database, class_turns\n"
        "with class_turns.turn(class_database.Classroom(Path(sys.argv[1]))):\n"
        "    print('mine', flush=True); time.sleep(600)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(turns.home)],
        env=processes.worker_environment(),
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(Busy), class_turns.turn(turns, patience=0.1):
        pass
    holder.kill()
    holder.wait()
    with class_turns.turn(turns, patience=30) as turn:
        assert turn.most_jobs == 1


@pytest.mark.parametrize("harm", ["gone", "emptied"])
def test_a_lost_class_keeps_its_workspaces_and_the_next_one_begins_beside_them(
    room: Classroom, harm: str
) -> None:
    ada, bob = sit(room, "Ada"), sit(room, "Bob")
    projects.create_project(ada, "Hers")
    (room.desks / "notes").mkdir()  # no workspace: none of our business
    for path in room.home.glob("class.db*"):
        path.unlink()
    if harm == "emptied":
        room.database.touch()

    said: list[str] = []
    again = classroom.open_classroom(room.home, said.append)
    (lost,) = room.home.glob("class-lost-*")
    assert {path.name for path in lost.iterdir()} == {ada.home.name, bob.home.name}
    assert [found.name for found in projects.list_projects(Workspace(lost / ada.home.name))] == [
        "Hers"
    ]
    assert "2 workspaces" in said[0]
    assert str(lost) in said[0]

    cid = sit(again, "Cid")
    classroom.open_classroom(room.home, said.append)
    assert len(said) == 1, "nothing is moved again"
    assert {path.name for path in room.desks.iterdir()} == {cid.home.name, "notes"}


def test_a_damaged_class_is_not_begun_anew(room: Classroom) -> None:
    ada = sit(room, "Ada")
    for path in room.home.glob("class.db-*"):
        path.unlink()
    room.database.write_bytes(b"garbage!" * 600)
    with pytest.raises(WorkbenchError, match=r"put a backup of class\.db in its place"):
        classroom.open_classroom(room.home)
    assert ada.database.is_file()
    assert room.database.read_bytes() == b"garbage!" * 600


def test_workers_of_a_class_step_back_behind_the_server(turns: Classroom) -> None:
    ada = Student(turns, "Ada")
    hers = ada.ask(LONG)
    worker = psutil.Process(queue.get_job(ada.workspace, hers.id).pid)
    behind = min(psutil.Process().nice() + processes.NICENESS, 19)
    wait_until(lambda: worker.nice() == behind)


def test_the_overview_counts_jobs_and_knows_half_made_workspaces(turns: Classroom) -> None:
    ada, bob = Student(turns, "Ada"), Student(turns, "Bob")
    ada.ask(LONG)
    bob.ask(LONG)
    token, _ = classroom.take_seat(turns, "Eve")
    eve = classroom.seat_of(turns, token)
    assert eve is not None
    eve.workspace(turns).home.mkdir()
    eve.workspace(turns).database.touch()  # Eve's browser is just opening it
    found = class_progress.class_progress(turns)
    assert [(one.running, one.waiting) for one in found] == [(1, 0), (0, 1), (0, 0)]
    assert not found[2].answers


def test_the_server_of_a_class_has_the_models_ready_and_keeps_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready: list[str] = []
    monkeypatch.setattr(learn, "get_ready", lambda: ready.append("both models"))
    monkeypatch.setattr(IDLE, "keep", lambda: ready.append("connections"))
    monkeypatch.delenv(IN_CLASS, raising=False)
    serve.expect_a_class()
    assert not ready
    monkeypatch.setenv(IN_CLASS, "1")
    serve.expect_a_class()
    assert ready == ["connections", "both models"]


def test_a_worker_that_finds_no_free_place_leaves(turns: Classroom) -> None:
    ada, bob = Student(turns, "Ada"), Student(turns, "Bob")
    ada.ask(LONG)
    his = bob.ask(LONG)
    own = processes.this_process()
    assert not fair.claim(turns, bob.workspace, his.id, own)
    surplus = subprocess.run(
        [*processes.WORKER_COMMAND, "--home", str(bob.workspace.home), str(his.id)],
        env=processes.worker_environment(),
        timeout=60,
        check=False,
    )
    assert surplus.returncode == 0
    assert bob.state(his) == "queued"


def test_with_one_job_per_device_each_device_has_its_own_line(turns: Classroom) -> None:
    classroom.begin_teaching(turns, None)
    ada, bob = Student(turns, "Ada"), Student(turns, "Bob")
    on_device = jobs.enqueue(
        ada.workspace, ada.project.id, "count-on-device", replace(LONG, device="cpu")
    )
    short = bob.ask(LONG)
    assert (ada.state(on_device), bob.state(short)) == ("running", "running")
    waiting = jobs.enqueue(
        bob.workspace, bob.project.id, "count-on-device", replace(LONG, device="cpu")
    )
    assert bob.state(waiting) == "queued"
    assert fair.jobs_before(turns) == {(bob.workspace.home.name, waiting.id): 1}


def test_before_the_next_group_all_jobs_stop(turns: Classroom) -> None:
    ada, bob = Student(turns, "Ada"), Student(turns, "Bob")
    hers, his = ada.ask(LONG), bob.ask(LONG)
    until = time.monotonic() + 60
    while jobs.stop_class(turns):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert (ada.state(hers), bob.state(his)) == ("cancelled", "cancelled")
    with pytest.raises(WorkbenchError, match="about to end"):
        classroom.take_seat(turns, "Late")
    late = bob.ask(replace(LONG, seed=1))
    assert bob.state(late) == "queued", "nothing starts any more"
