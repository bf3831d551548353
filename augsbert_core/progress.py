"""The two callables through which every long step talks to whoever runs it."""

from collections.abc import Callable
from typing import Protocol

from augsbert_core.errors import Stopped


class Report(Protocol):
    """Tell how far a step has come.

    fraction: 0 to 1. message: one line for the user. metrics: values for the live curves, by name
    ("loss", "dev_score", "learning_rate"), taken at optimiser step `step`.
    """

    def __call__(
        self,
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None: ...


ShouldStop = Callable[[], bool]


def silent(
    fraction: float,
    message: str,
    metrics: dict[str, float] | None = None,
    step: int | None = None,
) -> None:
    """A `Report` that says nothing."""


def never() -> bool:
    """A `ShouldStop` that never stops."""
    return False


def stop_if(should_stop: ShouldStop) -> None:
    """Raise `Stopped` when the user has asked to stop."""
    if should_stop():
        raise Stopped


def stretch(
    report: Report,
    low: float,
    high: float,
    *,
    title: str = "",
    note: str = "",
    offset: int = 0,
    points: list[tuple[int, dict[str, float]]] | None = None,
) -> Report:
    """A report whose 0 to 1 is the part from low to high of the given one.

    title, note: before and after each message. offset: added to each step. points: collects the curves in place
    of showing them (curves of several seeds would lie over each other).
    """

    def reported(
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        at = None if step is None else step + offset
        text = " · ".join(part for part in (title, message, note) if part)
        share = low + (high - low) * fraction
        if points is None:
            report(share, text, metrics, at)
            return
        if metrics and at is not None:
            points.append((at, dict(metrics)))
        report(share, text)

    return reported
