"""A class shares one machine: so many jobs at once, and whoever has waited longest since their last start comes first.

All of it happens inside one write transaction of the class database: it orders the processes that tend, and the lock
ends with its process, even by `kill -9`.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from augsbert_core import processes
from augsbert_core.storage import class_turns, classroom, queue
from augsbert_core.storage.class_database import Busy, Classroom, Seat, classroom_of
from augsbert_core.storage.class_turns import Turn
from augsbert_core.storage.database import Workspace, WorkspaceBusy
from augsbert_core.storage.records import Job

__all__ = [
    "Classroom",
    "Desk",
    "addresses",
    "claim",
    "classroom_of",
    "jobs_before",
    "jobs_of_class",
    "tend",
]

ALL = "all"
"""The one lane of a class whose jobs are counted whatever their device is."""

CloseDead = Callable[[Workspace, list[Job]], None]
Start = Callable[[Workspace, Job], None]


@dataclass
class Desk:
    """What one student has in the queue. ready: may start as far as the student's own jobs go, oldest first."""

    seat: Seat
    workspace: Workspace
    active: list[Job] = field(default_factory=list)
    ready: list[Job] = field(default_factory=list)

    @property
    def running(self) -> list[Job]:
        return [job for job in self.active if job.state != "queued"]

    @property
    def waiting(self) -> list[Job]:
        return [job for job in self.active if job.state == "queued"]


def tend(
    room: Classroom, workspace: Workspace, close_dead: CloseDead, start: Start, patience: float
) -> None:
    """Close what dead processes have left and start what can start, in the whole class.

    close_dead: closes those among a workspace's active jobs that nobody carries out. start: starts and claims one.
    patience: when another process tends for longer than so many seconds, nothing is done.
    """
    if queue.active_jobs(workspace):
        _note(room, workspace)
    if not class_turns.busy_seats(room):
        return
    with suppress(Busy), class_turns.turn(room, patience) as turn:
        desks = []
        for seat in turn.seats:
            desk = _desk(room, seat, close_dead)
            if desk.active:
                desks.append(desk)
            else:
                turn.idle(seat)
        for desk, job in _line(turn, desks):
            if job.in_foreground:  # its own process claims it
                continue
            with suppress(WorkspaceBusy):  # one student's long write is not everybody's trouble
                start(desk.workspace, job)
            turn.started(desk.seat)


def claim(room: Classroom, workspace: Workspace, job_id: int, own: processes.ProcessId) -> bool:
    """Take a queued job for a process if it is the job's turn in the class; True when it is ours."""
    _note(room, workspace)
    with class_turns.turn(room) as turn:
        desks = [_desk(room, seat) for seat in turn.seats]
        for desk, job in _line(turn, desks):
            if desk.workspace == workspace and job.id == job_id:
                is_ours = queue.claim_job(workspace, job_id, **own)
                if is_ours:
                    turn.started(desk.seat)
                return is_ours
    return False


def jobs_before(room: Classroom) -> dict[tuple[str, int], int]:
    """For every waiting job, by folder and id: how many jobs of the class run or start before it."""
    desks = jobs_of_class(room)
    per_device = classroom.most_jobs(room) is None
    running: dict[str, int] = {}
    for desk in desks:
        for job in desk.running:
            lane = _lane(job, per_device)
            running[lane] = running.get(lane, 0) + 1
    before = {}
    for desk, job in _in_turn([(desk, desk.waiting) for desk in desks]):
        lane = _lane(job, per_device)
        before[desk.seat.folder, job.id] = running.get(lane, 0)
        running[lane] = running.get(lane, 0) + 1
    return before


def jobs_of_class(room: Classroom) -> list[Desk]:
    """The jobs of everybody who has any that run or wait, whoever starts next first."""
    return [_desk(room, seat) for seat in class_turns.busy_seats(room)]


def addresses() -> list[str]:
    """The addresses of this machine in its networks (IPv4), without those that only it can reach."""
    found = [
        entry.address
        for entries in psutil.net_if_addrs().values()
        for entry in entries
        if entry.family == socket.AF_INET and not entry.address.startswith(("127.", "169.254."))
    ]
    return sorted(set(found))


def _note(room: Classroom, workspace: Workspace) -> None:
    folder = workspace.home.name
    if all(seat.folder != folder for seat in class_turns.busy_seats(room)):
        class_turns.mark_busy(room, folder)


def _desk(room: Classroom, seat: Seat, close_dead: CloseDead | None = None) -> Desk:
    workspace = seat.workspace(room)
    if not workspace.database.is_file():
        return Desk(seat, workspace)
    active = queue.active_jobs(workspace)
    if active and close_dead is not None:
        close_dead(workspace, active)
        active = queue.active_jobs(workspace)
    ready = queue.startable_jobs(workspace) if active else []
    return Desk(seat, workspace, active, ready)


def _line(turn: Turn, desks: list[Desk]) -> list[tuple[Desk, Job]]:
    """The jobs that have a place now, in the order of their turns."""
    if turn.closing:
        return []
    per_device = turn.most_jobs is None
    most = turn.most_jobs or 1
    taken: dict[str, int] = {}
    for desk in desks:
        for job in desk.running:
            lane = _lane(job, per_device)
            taken[lane] = taken.get(lane, 0) + 1
    chosen = []
    for desk, job in _in_turn([(desk, desk.ready) for desk in desks]):
        lane = _lane(job, per_device)
        if taken.get(lane, 0) < most:
            taken[lane] = taken.get(lane, 0) + 1
            chosen.append((desk, job))
    return chosen


def _in_turn(desks: list[tuple[Desk, list[Job]]]) -> list[tuple[Desk, Job]]:
    """One job of each desk, then the next one of each; desks come by who has waited longest since their last start.

    Of those who have not started anything yet, whoever asked first.
    """
    rounds = [
        (number, desk.seat.last_turn, job.created_at, desk.seat.number, desk, job)
        for desk, listed in desks
        for number, job in enumerate(listed)
    ]
    rounds.sort(key=lambda found: found[:4])
    return [(found[4], found[5]) for found in rounds]


def _lane(job: Job, per_device: bool) -> str:
    return job.device if per_device else ALL
