"""Waiting for what other processes do."""

import time
from collections.abc import Callable

from augsbert_core.storage import queue
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Job

PATIENCE = 30.0
"""Seconds until a test gives up waiting; a busy machine starts a worker in a few."""


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def wait_for(workspace: Workspace, job: Job, *states: str) -> Job:
    """The job, as soon as it is in one of the states; nobody tends the queue meanwhile."""
    wait_until(lambda: queue.get_job(workspace, job.id).state in states)
    return queue.get_job(workspace, job.id)
