"""What a batch of runs can be told."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PlannedRun:
    """One run of a batch. key: its name within the batch.

    options: of its step, as JSON; a text "{KEY.FIELD}" in it stands for that field of the result of the
    earlier run KEY, for example "run:{labeler.run_id}" or "{silver.silver_set_id}".
    group: runs of one group differ in their seed alone, and the summary averages over them.
    project_id: None is the project of the batch.
    """

    key: str
    step: str
    options: str
    group: str = ""
    project_id: int | None = None


@dataclass(frozen=True)
class KnownRun:
    """A finished run, maybe of another project, that stands among the results in its group."""

    run_id: int
    group: str


@dataclass(frozen=True)
class BatchOptions:
    """Several runs as one job, carried out in order. kind: a name in `steps.plans.PLANS`.

    known: finished runs that are measured or used beside the planned ones. notes: what a reader of the results must know, such as which part of the plan was left out and why.
    """

    kind: str = "custom"
    title: str = ""
    runs: tuple[PlannedRun, ...] = field(default=(), metadata={"of": PlannedRun})
    known: tuple[KnownRun, ...] = field(default=(), metadata={"of": KnownRun})
    notes: tuple[str, ...] = ()
    seed: int = 42
    device: str = "auto"


@dataclass(frozen=True)
class DrawOptions:
    """Which candidates are drawn into a smaller set: n_pairs of a candidate set, at random."""

    candidate_set_id: int
    n_pairs: int = 1000
    seed: int = 42
