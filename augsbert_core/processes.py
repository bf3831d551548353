"""Processes that carry out jobs: who is alive, how a worker starts, how one is ended."""

import contextlib
import os
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

import psutil

from augsbert_core.storage.records import Job

WORKER_COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "augsbert_core.jobs")
"""-P: a stray random.py in the folder where the app was started must not shadow the real module."""

SAME_START_SECONDS = 2.0
"""Two readings of one process's start time differ by less than this, unless the clock was set."""

FRESH_SECONDS = 15.0
"""A heartbeat younger than this comes from a living worker, whatever its start time reads as."""

FOREIGN_SECONDS = 120.0
"""A job of another host, whose processes cannot be seen, counts as dead after this much silence."""

TERMINATE_SECONDS = 3.0
"""How long an unresponsive worker has between SIGTERM and SIGKILL."""

NICENESS = 10
"""By how much a worker of a class steps back; the pages of the class then answer while jobs compute."""

_children: list[subprocess.Popen] = []
_children_lock = threading.Lock()


class ProcessId(TypedDict):
    """What tells one process from every other: a pid alone is used again after its owner has died."""

    host: str
    pid: int
    pid_started: float


def this_process() -> ProcessId:
    """The identity of the process that asks."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "pid_started": start_time(os.getpid()),
    }


def start_time(pid: int) -> float:
    """When a process began, in seconds since 1970; 0 when it is gone already."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return 0.0


def is_alive(job: Job) -> bool:
    """True while the process that the job names is at work.

    A zombie is dead. A pid whose start time differs belongs to a stranger, unless the heartbeat is
    fresh: then the clock was set (a virtual machine that slept), not the pid used again.
    """
    silence = seconds_since(job.heartbeat or job.created_at)
    if job.host != socket.gethostname():
        return silence < FOREIGN_SECONDS
    process = _process(job)
    if process is None:
        return False
    return _is_same(process, job) or silence < FRESH_SECONDS


def seconds_since(moment: str) -> float:
    """Seconds since a moment as the database stores it."""
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


def start_worker(arguments: list[str], log: Path) -> int:
    """Start a worker that outlives this process and its terminal; returns its pid.

    OSError: the system could not start a process or open the log.
    """
    with log.open("ab") as stream:
        child = subprocess.Popen(
            [*WORKER_COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=worker_environment(),
            start_new_session=True,
        )
    with _children_lock:
        _children.append(child)
    return child.pid


def give_way() -> None:
    """Let other programs of this machine compute first: for workers beside a server that many people wait for."""
    with contextlib.suppress(OSError, psutil.Error):
        own = psutil.Process()
        if os.name == "posix":
            own.nice(min(own.nice() + NICENESS, 19))
        else:
            own.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)


def reap() -> None:
    """Let go of workers of ours that have ended, so that they do not stay behind as zombies."""
    with _children_lock:
        _children[:] = [child for child in _children if child.poll() is None]


def end(job: Job) -> None:
    """End the job's process and its children: SIGTERM, a short wait, then SIGKILL."""
    process = _process(job)
    if job.host != socket.gethostname() or process is None or not is_alive(job):
        return
    family = [process, *_descendants(process)]
    # The worker first: helpers that die under it would look like a failure of the step.
    _quietly(process.terminate)
    _, stubborn = psutil.wait_procs(family, timeout=TERMINATE_SECONDS)
    for member in stubborn:
        _quietly(member.kill)
    psutil.wait_procs(stubborn, timeout=TERMINATE_SECONDS)


def _process(job: Job) -> psutil.Process | None:
    if job.pid is None:
        return None
    try:
        process = psutil.Process(job.pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process
    except psutil.Error:
        return None


def _is_same(process: psutil.Process, job: Job) -> bool:
    try:
        return abs(process.create_time() - (job.pid_started or 0.0)) < SAME_START_SECONDS
    except psutil.Error:
        return False


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _quietly(signal: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.Error):
        signal()


def worker_environment() -> dict[str, str]:
    """The worker finds the package where this process found it, also when it is not installed."""
    root = str(Path(__file__).resolve().parent.parent)
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if root not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        paths = [root, environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment
