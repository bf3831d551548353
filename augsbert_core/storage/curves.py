"""The curves of a run on their way into the database."""

import math
import threading
from collections.abc import Mapping

from augsbert_core.storage.database import Workspace
from augsbert_core.storage.runs import add_metrics


class Curves:
    """Points of a run's curves, taken at once and written later, so that a report never waits for the database."""

    def __init__(self, workspace: Workspace, run_id: int) -> None:
        self._workspace, self._run_id = workspace, run_id
        self._points: list[tuple[str, int, float]] = []
        self._step = 0
        self._lock = threading.Lock()

    def add(self, metrics: Mapping[str, float] | None, step: int | None) -> None:
        """Take the points of one report; without a step they follow the ones before.

        Points that are not finite are left out: a curve cannot show them.
        """
        if not metrics:
            return
        with self._lock:
            self._step = self._step + 1 if step is None else step
            self._points += [
                (name, self._step, float(value))
                for name, value in metrics.items()
                if math.isfinite(value)
            ]

    def write(self) -> None:
        """Write what was taken. Where the database fails, the points stay for the next time."""
        with self._lock:
            points = list(self._points)
        if points:
            add_metrics(self._workspace, self._run_id, points)
            with self._lock:
                del self._points[: len(points)]
