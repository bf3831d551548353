"""What taking things out of the workbench, and doing a run again, can be told."""

from dataclasses import dataclass

AGAIN = "again"
"""The key of the run that a reproduction carries out. It takes no score over from earlier runs."""


@dataclass(frozen=True)
class PushOptions:
    """Where a trained model is pushed to. repo: "owner/name" on the hub.

    There is no token among the options: options are stored and shown, and a token must be neither.
    """

    run_id: int
    repo: str
    private: bool = True


@dataclass(frozen=True)
class ReproduceOptions:
    """Which run is carried out again, with its own options and seed.

    seed: of nothing; the run's own is used.
    """

    run_id: int
    seed: int = 42
    device: str = "auto"
