"""A class of 30 on one server: how long each click takes, what the server needs, whether everybody stays apart.

    python benchmarks/classroom.py [--students N] [--jobs N] [--askers N] [--pace X] [--home DIR] [--json FILE]

`augsbert app --classroom` is started on an empty folder. The students are light clients that speak Streamlit's own protocol
(`tests/light_browser.py`): each comes in by the door, types a sentence of their own, predicts and reveals the eight steps of Learn, and
thinks 5 to 20 s × --pace between two clicks. A teacher has the overview open. The first --askers press "Recompute here"; of
them, the first asks for two batches. A job is cancelled on the Jobs page once it has run for 10 s, so that all get their turn.

Printed: seconds from a click to the page drawn in full, by kind of action; memory and computing time of the server and its
workers; errors; whether more than --jobs ran at once or out of turn; whether any workspace holds what is not its student's.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.learn.lessons import LESSONS  # noqa: E402
from augsbert_core.steps.sample_project import SAMPLE_NAME  # noqa: E402
from augsbert_core.storage import class_turns, classroom, lessons, projects, queue  # noqa: E402
from augsbert_core.storage.class_database import Classroom, Seat  # noqa: E402
from tests.light_browser import Window  # noqa: E402

THINK = (5.0, 20.0)
COME_SECONDS = 20.0
"""Within so long everybody is at the door."""

JOB_SECONDS = 10.0
ASK_AT = ("labeler", "student")
"""The steps at which jobs are asked for: one each, and the first student's second one."""

LIVE = {"encoders": "reveal, both models timed", "sampling": "reveal, five samplers run"}


@dataclass
class Student:
    """One of the class. answers: what was predicted, by lesson."""

    name: str
    rng: np.random.Generator
    asks: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    sentence: str = ""


@dataclass
class Seen:
    """What a sampler of the machine saw. running: jobs at work at a moment, the most. started: seats in order."""

    running: int = 0
    waiting: int = 0
    started: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    server_mb: list[float] = field(default_factory=list)
    workers_mb: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)


class Lesson30:
    """The whole hour: its clock, its people, and what was measured."""

    def __init__(self, url: str, room: Classroom, arguments: argparse.Namespace) -> None:
        self.url, self.room = url, room
        self.pace, self.minutes, self.finished = arguments.pace, arguments.minutes, 0
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.seen = Seen()
        self.received = 0
        rng = np.random.default_rng(arguments.seed)
        self.students = [
            Student(
                f"Student {number:02d}",
                np.random.default_rng(rng.integers(2**32)),
                (number <= arguments.askers) + (number == 1 and arguments.askers > 0),
            )
            for number in range(1, arguments.students + 1)
        ]

    async def timed(self, kind: str, action: Awaitable[float]) -> None:
        self.seconds[kind].append(await action)

    async def think(self, student: Student) -> None:
        await asyncio.sleep(self.pace * float(student.rng.uniform(*THINK)))

    async def attend(self, student: Student) -> None:
        """Everything that one student does."""
        await asyncio.sleep(float(student.rng.uniform(0, COME_SECONDS)))
        async with Window(self.url) as window:
            try:
                await self._lessons(student, window)
            except (LookupError, TimeoutError, OSError) as error:
                self.errors.append(f"{student.name}: {type(error).__name__} {error}")
            finally:
                self.errors += [f"{student.name}: {text}" for text in window.errors]
                self.seconds["a part draws itself anew"] += window.redrawn
                self.received += window.received

    async def _lessons(self, student: Student, window: Window) -> None:
        await self.timed("the door opens", window.load())
        await self.think(student)
        window.fill("door-name", student.name)
        await self.timed("come in", window.click("Come in"))
        await self.think(student)
        await self.timed("code written down", window.click("code-kept"))
        await self.think(student)
        await self.timed("another page", window.go("learn"))
        await self.think(student)
        await self.timed("begin (makes the sample project)", window.click("learn-begin"))
        student.sentence = f"{student.name} is paying for groceries with a card."
        await self.think(student)
        await self.timed("write a sentence", window.write("learn-sentence1", student.sentence))
        jobs: list[asyncio.Task[None]] = []
        for lesson in LESSONS:
            await self.think(student)
            answer = str(student.rng.choice(list(lesson.choices)))
            student.answers[lesson.key] = answer
            await self.timed(
                "choose an answer",
                window.choose(f"learn-choice-{lesson.key}", lesson.choices[answer]),
            )
            await self.think(student)
            kind = LIVE.get(lesson.key, "reveal, from stored results")
            await self.timed(kind, window.click(f"learn-reveal-{lesson.key}"))
            if window.has("radio", f"learn-choice-{lesson.key}"):
                raise LookupError(f"{lesson.key} was not revealed")
            if lesson.key in ASK_AT[: student.asks]:
                name = {"labeler": "loop", "student": "seeds"}[lesson.key]
                await self.think(student)
                await self.timed("recompute here", window.click(f"learn-recompute-{name}"))
                self.seen.asked.append(student.name)
                if not jobs:
                    jobs.append(asyncio.create_task(self._watch_jobs(student, window.query)))
            await self.think(student)
            if lesson is not LESSONS[-1]:
                await self.timed("next step", window.click("learn-next"))
        await asyncio.gather(*jobs)

    async def _watch_jobs(self, student: Student, address: str) -> None:
        """A second window on the Jobs page, where this student cancels each job when it has run for a while."""
        workspace = seat_named(self.room, student.name).workspace(self.room)
        for _ in range(student.asks):
            job = None
            while job is None:
                await asyncio.sleep(0.5)
                found = queue.active_jobs(workspace)
                job = next((one for one in found if one.state == "running"), None)
            await asyncio.sleep(JOB_SECONDS)
            async with Window(self.url, "jobs", address) as window:
                await self.timed("open Jobs by its address", window.load())
                await self.timed("cancel a job", window.click(f"cancel-{job.id}"))
                while queue.get_job(workspace, job.id).state in queue.ACTIVE:
                    await asyncio.sleep(0.5)
                self.errors += [f"{student.name}, Jobs: {text}" for text in window.errors]
                self.seconds["a part draws itself anew"] += window.redrawn

    async def teach(self, code: str) -> None:
        """The overview, open all the time."""
        async with Window(self.url, "classroom") as window:
            await window.load()
            window.fill("door-teacher", code)
            await self.timed("the teacher comes in", window.click("Open the overview"))
            try:
                await asyncio.Event().wait()
            finally:
                self.errors += [f"Teacher: {text}" for text in window.errors]
                self.seconds["the teacher's overview draws itself anew"] += window.redrawn

    async def look(self, server: psutil.Process) -> None:
        """Four times a second: who works, and what it takes."""
        known: set[tuple[str, int]] = set()
        while True:
            running = waiting = 0
            for seat in class_turns.busy_seats(self.room):
                for job in queue.active_jobs(seat.workspace(self.room)):
                    running += job.state != "queued"
                    waiting += job.state == "queued"
                    if job.state != "queued" and (seat.name, job.id) not in known:
                        known.add((seat.name, job.id))
                        self.seen.started.append(seat.name)
            self.seen.running = max(self.seen.running, running)
            self.seen.waiting = max(self.seen.waiting, waiting)
            with suppress(psutil.Error):
                self.seen.server_mb.append(server.memory_info().rss / 1e6)
                self.seen.workers_mb.append(sum(map(memory_of, server.children(recursive=True))))
            self.seen.load.append(os.getloadavg()[0])
            await asyncio.sleep(0.25)

    async def hold(self, server: psutil.Process, code: str) -> None:
        """Have the lesson."""
        beside = [asyncio.create_task(self.look(server)), asyncio.create_task(self.teach(code))]
        people = [asyncio.create_task(self.attend(student)) for student in self.students]
        _, late = await asyncio.wait(people, timeout=60 * self.minutes)
        self.finished = len(people) - len(late)
        beside += late
        for result in await asyncio.gather(*(set(people) - late), return_exceptions=True):
            if isinstance(result, Exception):
                self.errors.append(f"in class: {result!r}")
        for task in beside:
            task.cancel()
        for result in await asyncio.gather(*beside, return_exceptions=True):
            if isinstance(result, Exception):
                self.errors.append(f"beside the class: {result!r}")


def workers_of(server: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(server).children(recursive=True))
    except psutil.Error:
        return []


def memory_of(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss / 1e6)
    except psutil.Error:
        return 0.0


def students_of(room: Classroom) -> list[Seat]:
    return [seat for seat in classroom.list_seats(room) if not seat.is_teacher]


def seat_named(room: Classroom, name: str) -> Seat:
    return next(seat for seat in students_of(room) if seat.name == name)


def strangers(room: Classroom, students: list[Student], *, all_done: bool) -> list[str]:
    """What lies in a workspace and is not its student's, or is missing there.

    all_done: otherwise some have an answer chosen that was not revealed yet.
    """
    wrong = []
    seats = {seat.name: seat for seat in students_of(room)}
    for student in students:
        if student.name not in seats or not student.answers:
            continue
        workspace = seats[student.name].workspace(room)
        kept = lessons.everyones_progress(workspace)
        given = {(student.name, *one) for one in student.answers.items()}
        found = {(one.person, one.lesson, one.answer) for one in kept}
        if not found <= given or len(given - found) > (not all_done):
            wrong.append(f"{student.name}: other answers than were given")
        pairs = [one.details["pair"][0] for one in kept if one.lesson == "encoders"]
        if pairs and pairs != [student.sentence]:
            wrong.append(f"{student.name}: another sentence, {pairs}")
        if [project.name for project in projects.list_projects(workspace)] != [SAMPLE_NAME]:
            wrong.append(f"{student.name}: other projects than the sample")
        if len(queue.list_jobs(workspace)) > student.asks:
            wrong.append(f"{student.name}: other jobs than were asked for")
    return wrong


def out_of_turn(room: Classroom) -> list[str]:
    """Starts that passed over somebody: one who waited, and whose last start was longer ago.

    Of those who have not started any job yet, whoever asked first is next. Times are stored to the second.
    """
    asked = [
        (seat.number, seat.name, job.created_at, job.started_at or "")
        for seat in students_of(room)
        if seat.workspace(room).database.is_file()
        for job in queue.list_jobs(seat.workspace(room))
    ]

    def turn(number: int, since: str, moment: str) -> tuple[str, str, int]:
        own = [started for seat, _, _, started in asked if seat == number and "" < started < moment]
        return max(own, default=""), since, number

    return [
        f"{name} started before {other}, at {moment}"
        for number, name, came, moment in asked
        for waiting, other, since, started in asked
        if moment and since < moment and not "" < started <= moment
        and turn(waiting, since, moment) < turn(number, came, moment)
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--askers", type=int, default=10)
    parser.add_argument("--pace", type=float, default=0.5, help="1: 5 to 20 s between clicks")
    parser.add_argument("--minutes", type=float, default=15.0, help="the lesson ends then")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--home", type=Path, help="an empty folder for the class, kept")
    parser.add_argument("--json", type=Path, help="where the figures are written, too")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # the server goes with it
    with tempfile.TemporaryDirectory() as temporary:
        found = measure(arguments.home or Path(temporary), arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))
    if found["wrong"]:
        sys.exit("\n".join(found["wrong"]))


def measure(home: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Start the server, hold the lesson, print the table; returns the figures."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home.mkdir(parents=True, exist_ok=True)
    log = home / "server.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [
                *(
                    sys.executable,
                    "-m",
                    "augsbert_core.cli",
                    "--home",
                    str(home),
                    "app",
                    "--classroom",
                ),
                *("--jobs", str(arguments.jobs), "--port", str(port)),
            ],
            cwd=ROOT,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        code = wait_for(lambda: re.search(r"Teacher code: (\S+)", log.read_text()))[1]
        wait_for(lambda: re.search("server started", log.read_text()))
        server = psutil.Process(process.pid)
        wait_until_idle(server)  # it reads the pages' modules and the models of the first step
        before_mb, before_cpu = memory_of(server), sum(server.cpu_times()[:2])
        hour = Lesson30(f"http://localhost:{port}", Classroom(home), arguments)
        begun = time.perf_counter()
        asyncio.run(hour.hold(server, code))
        taken = time.perf_counter() - begun
        return report(
            hour,
            minutes=taken / 60,
            before_mb=before_mb,
            cpu=sum(server.cpu_times()[:2]) - before_cpu,
            tracebacks=log.read_text().count("Traceback"),
            most=arguments.jobs,
        )
    finally:
        workers = workers_of(process.pid)  # jobs at work go on without their server, but not here
        process.terminate()
        process.wait()
        for worker in workers:
            with suppress(psutil.Error):
                worker.kill()


def wait_for(look: Callable[[], re.Match[str] | None], seconds: float = 120.0) -> re.Match[str]:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(0.2)
    raise RuntimeError("the server did not start")


def wait_until_idle(server: psutil.Process, seconds: float = 120.0) -> None:
    """A teacher starts the server some minutes before the class comes."""
    until = time.monotonic() + seconds
    quiet = 0
    while quiet < 3 and time.monotonic() < until:
        quiet = quiet + 1 if server.cpu_percent(1.0) < 5 else 0


def report(
    hour: Lesson30, *, minutes: float, before_mb: float, cpu: float, tracebacks: int, most: int
) -> dict[str, Any]:
    seen = hour.seen
    actions = {
        kind: {
            "n": len(taken),
            "median": round(statistics.median(taken), 2),
            "p95": round(float(np.percentile(taken, 95)), 2),
            "worst": round(max(taken), 2),
        }
        for kind, taken in hour.seconds.items()
        if taken
    }
    wrong = strangers(hour.room, hour.students, all_done=hour.finished == len(hour.students))
    late = out_of_turn(hour.room)
    if seen.running > most:
        wrong.append(f"{seen.running} jobs at once")
    if len(seen.started) != len(seen.asked):
        wrong.append(f"{len(seen.asked)} jobs asked for, {len(seen.started)} started")
    wrong += hour.errors + [f"{tracebacks} tracebacks in the server's log"] * bool(tracebacks)
    print(
        f"{'seconds from a click to the page in full':<44}{'n':>6}{'median':>9}{'95 %':>9}{'worst':>9}"
    )
    for kind, one in actions.items():
        print(f"{kind:<44}{one['n']:>6}{one['median']:>9.2f}{one['p95']:>9.2f}{one['worst']:>9.2f}")
    clicks = sum(one["n"] for kind, one in actions.items() if "anew" not in kind)
    load = seen.load or [0.0]
    figures = {
        "minutes": round(minutes, 1),
        "students who finished all steps": hour.finished,
        "clicks": clicks,
        "clicks per second": round(clicks / minutes / 60, 2),
        "server, MB before": round(before_mb),
        "server, MB peak": round(max(seen.server_mb)),
        "server, MB at the end": round(seen.server_mb[-1]),
        "workers, MB peak": round(max(seen.workers_mb)),
        "server, CPU seconds": round(cpu),
        "sent to all, MB": round(hour.received / 1e6),
        "jobs at once, most": seen.running,
        "jobs waiting, most": seen.waiting,
        "jobs started": len(seen.started),
        "starts out of turn": len(late),
        "load average, median and most": [round(statistics.median(load), 1), round(max(load), 1)],
    }
    for name, value in figures.items():
        print(f"{name:<44}{value}")
    print(
        "\n".join(late + wrong)
        or "no errors; every workspace holds its own student's answers and jobs alone"
    )
    return {"actions": actions, "figures": figures, "late": late, "wrong": wrong}


if __name__ == "__main__":
    main()
