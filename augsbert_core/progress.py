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


def stretch(report: Report, low: float, high: float) -> Report:
    """A report whose 0 to 1 is the part from low to high of the given one."""

    def reported(
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        report(low + (high - low) * fraction, message, metrics, step)

    return reported
