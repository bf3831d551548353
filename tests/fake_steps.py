"""Small steps for the tests of jobs, and a worker that knows them.

`python tests/fake_steps.py --home DIR JOB` is `python -m augsbert_core.jobs` with these steps in place of
the real ones, which would load numerics that the tests of the queue do not need.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import augsbert_core
from augsbert_core.errors import WorkbenchError
from augsbert_core.progress import stop_if


@dataclass(frozen=True)
class CountOptions:
    """Count to `target`, one number per `pause` seconds, then end as `ending` says."""

    target: int = 3
    pause: float = 0.0
    ending: str = "well"
    device: str = "cpu"
    seed: int = 0


def count(context: Any, options: CountOptions) -> dict[str, Any]:
    """Write the numbers to a file of the run; killed and called again, go on after the last one."""
    path = context.folder / "numbers.txt"
    done = len(path.read_text().splitlines()) if path.exists() else 0
    for number in range(done + 1, options.target + 1):
        if options.ending != "stubborn":
            stop_if(context.should_stop)
        time.sleep(options.pause)
        with path.open("a") as stream:
            stream.write(f"{number} {time.time()}\n")
        context.report(
            number / options.target, f"Counted to {number}", {"loss": 1 / number}, number
        )
    print("counted", flush=True)
    ENDINGS[options.ending]()
    return {"counted": options.target, "resumed_at": done, "undefined": float("nan")}


def _user_error() -> None:
    raise WorkbenchError("There are no gold pairs. Import some first.")


def _bug() -> None:
    raise KeyError("no such column")


def _out_of_memory() -> None:
    raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB.")


def _accept(workspace: object, project: object, options: object) -> None:
    """A check that finds nothing wrong."""


ENDINGS = {
    "well": lambda: None,
    "stubborn": lambda: None,
    "user error": _user_error,
    "bug": _bug,
    "out of memory": _out_of_memory,
}


def fake_package() -> ModuleType:
    """A stand-in for `augsbert_core.steps` that holds the fake steps only."""
    package = ModuleType("augsbert_core.steps")
    package.__path__ = [str(Path(augsbert_core.__file__).parent / "steps")]
    sys.modules["augsbert_core.steps"] = package
    from augsbert_core.options import BatchOptions
    from augsbert_core.steps.batch import batch, batch_uses_device, check_batch
    from augsbert_core.steps.context import StepContext

    @dataclass(frozen=True)
    class Step:
        title: str
        options_class: type
        function: Any
        uses_device: Any
        check: Any = _accept

    package.STEPS = {  # type: ignore[attr-defined]
        "count": Step("Count", CountOptions, count, lambda options: False),
        "count-on-device": Step("Count on a device", CountOptions, count, lambda options: True),
        "batch": Step("Batch of runs", BatchOptions, batch, batch_uses_device, check_batch),
    }
    package.StepContext = StepContext  # type: ignore[attr-defined]
    package.describe = (  # type: ignore[attr-defined]
        lambda step, options: step if step == "batch" else f"{step} to {options.target}"
    )
    return package


def worker_command() -> tuple[str, ...]:
    """The command that starts a worker with these steps."""
    return (sys.executable, __file__)


if __name__ == "__main__":
    fake_package()
    from augsbert_core import jobs, processes

    processes.WORKER_COMMAND = worker_command()
    sys.exit(jobs.main())
