"""Carry out one job in this process: call its step, pass on progress, heed the wish to stop, close it."""

import os
import platform
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any

from augsbert_core import __version__
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import from_json
from augsbert_core.progress import Report, silent
from augsbert_core.storage import projects, queue, runs
from augsbert_core.storage.curves import Curves
from augsbert_core.storage.database import Workspace, WorkspaceFull, is_no_room
from augsbert_core.storage.plain import plain
from augsbert_core.storage.records import Job

BEAT_SECONDS = 2.0
"""How often a worker says that it lives and looks whether someone wants it to stop."""

WRITE_SECONDS = 0.5
"""Progress is written at most this often, however often the step reports."""

OUT_OF_MEMORY = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",
)

DISK_FULL = f"{WorkspaceFull()} Then resume the job: it goes on where it stopped."

LOOK_SECONDS = 0.2
"""How often a step's question whether to stop looks for the file that says so."""


def stop_file(workspace: Workspace, job_id: int) -> Path:
    """A file that asks a job to stop: it reaches a worker that is writing, when nobody else can write."""
    return workspace.logs / f"job-{job_id}.stop"


class Pulse:
    """The line between a running step and its job row.

    A thread of its own writes progress and the heartbeat and reads the wish to stop, so `report` and
    `should_stop` never wait for the database.
    """

    def __init__(self, workspace: Workspace, job: Job, listener: Report = silent) -> None:
        self.interrupted = False
        self.wanted = False
        """Whether the file that asks to stop was seen."""
        self._workspace, self._job, self._listener = workspace, job, listener
        self._stop = False
        self._lock = threading.Lock()
        self._progress: tuple[float, str] | None = None
        self._curves = Curves(workspace, job.run_id)
        self._ended = threading.Event()
        self._stop_file = stop_file(workspace, job.id)
        self._stop_file.unlink(missing_ok=True)  # of an earlier attempt
        self._looked = 0.0
        self._thread = threading.Thread(target=self._beat_on, name="pulse", daemon=True)

    def __enter__(self) -> "Pulse":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()
        self._write()
        self.wanted = self.wanted or self._stop_file.exists()
        self._stop_file.unlink(missing_ok=True)

    def report(
        self,
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        """The step's `Report`."""
        with self._lock:
            self._progress = (fraction, message)
        self._curves.add(metrics, step)
        self._listener(fraction, message, metrics, step)

    def should_stop(self) -> bool:
        """The step's `ShouldStop`: a flag in memory, and now and then a look at a file."""
        if not self._stop and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            self._stop = self.wanted = self._stop_file.exists()
        return self._stop

    def stop(self, *, interrupted: bool = False) -> None:
        """Ask the step to stop. A plain flag, safe to set inside a signal handler."""
        self.interrupted = self.interrupted or interrupted
        self._stop = True

    def _beat_on(self) -> None:
        next_beat = 0.0
        while not self._ended.wait(WRITE_SECONDS):
            try:
                self._write()
                if time.monotonic() >= next_beat:
                    next_beat = time.monotonic() + BEAT_SECONDS
                    # Anything but running: cancelled, or declared dead by another process.
                    if queue.beat(self._workspace, self._job.id) != "running":
                        self._stop = True
            except Exception:  # noqa: BLE001
                # A full disk or a locked database may mend; the step goes on, the next beat tries again.
                traceback.print_exc()

    def _write(self) -> None:
        with self._lock:
            progress, self._progress = self._progress, None
        if progress is not None and not self._stop:
            queue.set_progress(self._workspace, self._job.id, *progress)
        self._curves.write()


def carry_out(
    workspace: Workspace, job: Job, listener: Report = silent, *, at_terminal: bool = False
) -> dict[str, Any]:
    """Call the job's step in this process, close the job and its run, and return the step's result.

    What the step raises is recorded and raised again. at_terminal: the first Ctrl-C asks the step to
    stop, the second stops it at once.
    """
    pulse = Pulse(workspace, job, listener)
    try:
        with pulse, _signals(pulse, at_terminal=at_terminal):
            result = plain(_call_step(workspace, job, pulse))
        runs.update_run(workspace, job.run_id, metrics=result)
    except BaseException as error:
        _close_after(workspace, job, error, interrupted=pulse.interrupted and not pulse.wanted)
        raise
    queue.finish_job(workspace, job.id, "done", message="Done")
    return result


def _call_step(workspace: Workspace, job: Job, pulse: Pulse) -> dict[str, Any]:
    # Inside the function: steps import numerics, which a page that only watches jobs does not need.
    from augsbert_core.steps import STEPS, StepContext

    step = STEPS[job.step]
    options: Any = from_json(step.options_class, runs.get_run(workspace, job.run_id).options)
    uses_device = step.uses_device(options)
    device = job.device if uses_device else "cpu"
    runs.update_run(
        workspace, job.run_id, device=device if uses_device else None, versions=versions()
    )
    context = StepContext(
        workspace=workspace,
        project=projects.get_project(workspace, job.project_id),
        run=runs.get_run(workspace, job.run_id),
        device=device,
        report=pulse.report,
        should_stop=pulse.should_stop,
    )
    return step.function(context, options)


def _close_after(
    workspace: Workspace, job: Job, error: BaseException, *, interrupted: bool
) -> None:
    """Record how a job ended that did not end well."""
    if isinstance(error, (Stopped, KeyboardInterrupt)):
        # Whoever cancels gets a cancelled job, even when it took a signal to stop it.
        wanted = queue.get_job(workspace, job.id).state == "cancelling"
        state = "interrupted" if interrupted and not wanted else "cancelled"
        message = "Stopped by the system" if state == "interrupted" else "Cancelled"
        queue.finish_job(workspace, job.id, state, message=f"{message}; resume to go on from here")
        return
    details = None if isinstance(error, WorkbenchError) else traceback.format_exc()
    queue.finish_job(
        workspace, job.id, "failed", message="Failed", error=explain(error), details=details
    )


def explain(error: BaseException) -> str:
    """One sentence for the user about what went wrong, with the remedy where there is one.

    Notes that were added to the error on its way say where it happened, and come first.
    """
    return " ".join([*getattr(error, "__notes__", []), _explain(error)])


def _explain(error: BaseException) -> str:
    if isinstance(error, WorkspaceFull):
        return DISK_FULL
    if isinstance(error, WorkbenchError):
        return str(error)
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or any(words in text.lower() for words in OUT_OF_MEMORY):
        return (
            "The device ran out of memory. Choose a smaller batch size or maximum length, a smaller "
            "base model, or the CPU, then start again."
        )
    if is_no_room(error) or "no space left" in text.lower():
        return DISK_FULL
    cause = f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
    return f"The step ended with an unexpected error ({cause})."


def versions() -> dict[str, str]:
    """What a result may depend on, read without importing any of it."""
    found = {"augsbert": __version__, "python": platform.python_version()}
    for package in ("torch", "sentence-transformers", "transformers"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@contextmanager
def _signals(pulse: Pulse, *, at_terminal: bool) -> Iterator[None]:
    """Turn SIGTERM and Ctrl-C into the wish to stop, so that the step can save what it has done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_terminate(_number: int, _frame: FrameType | None) -> None:
        pulse.stop(interrupted=True)

    def on_ctrl_c(_number: int, _frame: FrameType | None) -> None:
        if pulse.should_stop():
            raise KeyboardInterrupt
        pulse.stop()
        # os.write: print is not safe inside a signal handler.
        os.write(2, b"\nStopping at the next safe point. Ctrl-C again stops at once.\n")

    before = signal.signal(signal.SIGTERM, on_terminate)
    before_ctrl_c = signal.signal(signal.SIGINT, on_ctrl_c if at_terminal else on_terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, before_ctrl_c)
