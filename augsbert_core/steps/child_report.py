"""What the runs of a batch report: progress goes to the batch, curves to the run."""

import threading
import traceback

from augsbert_core.progress import Report
from augsbert_core.storage.curves import Curves
from augsbert_core.storage.database import Workspace

WRITE_SECONDS = 0.5
"""Points are written at most this often, by a thread of their own: a report never waits for the database."""


class ChildReport:
    """The `Report` of one run of a batch. Use it as a context: its end writes the last points.

    low, high: the part of the batch's progress that is this run's. title: before its messages.
    reached: where the batch stood before; what it shows never falls back.
    """

    def __init__(
        self,
        workspace: Workspace,
        run_id: int,
        parent: Report,
        *,
        low: float,
        high: float,
        title: str,
        reached: float = 0.0,
    ) -> None:
        self._parent = parent
        self._low, self._high, self._title = low, high, title
        self._share = min(max(reached, low), high)
        self._curves = Curves(workspace, run_id)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write_on, name="curves", daemon=True)

    def __enter__(self) -> "ChildReport":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()
        self._curves.write()

    def __call__(
        self,
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        self._curves.add(metrics, step)
        share = self._low + (self._high - self._low) * min(max(fraction, 0.0), 1.0)
        self._share = max(self._share, share)
        self._parent(self._share, f"{self._title}: {message}")

    def _write_on(self) -> None:
        while not self._ended.wait(WRITE_SECONDS):
            try:
                self._curves.write()
            except Exception:  # noqa: BLE001
                # A locked database may mend: the points stay, the next write tries again.
                traceback.print_exc()
