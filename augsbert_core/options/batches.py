"""What a batch of runs can be told."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PlannedRun:
    """One run of a batch. key: its name within the batch.

    options: of its step, as JSON; a text "{KEY.FIELD}" in it stands for that field of the result of the
    earlier run KEY, for example "run:{labeler.run_id}" or "{silver.silver_set_id}".
    """

    key: str
    step: str
    options: str


@dataclass(frozen=True)
class BatchOptions:
    """Several runs as one job, carried out in order. kind: a name in `steps.plans.PLANS`."""

    kind: str = "custom"
    title: str = ""
    runs: tuple[PlannedRun, ...] = field(default=(), metadata={"of": PlannedRun})
    seed: int = 42
    device: str = "auto"
