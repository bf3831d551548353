"""The fair opponent of an AugSBERT run."""

from augsbert_core.options import BiEncoderOptions, from_json
from augsbert_core.steps.recipes import gold_only_twin
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace


def equal_step_options(workspace: Workspace, run_id: int) -> BiEncoderOptions:
    """The gold-only twin of a finished AugSBERT run: same recipe, as many optimiser steps, no silver.

    With seed optimisation both sides may choose among as many seeds: a baseline of one would flatter silver.
    """
    run = runs.get_run(workspace, run_id)
    options = from_json(BiEncoderOptions, run.options)
    stages = run.metrics.get("stages") or []
    steps = [int(stage["n_steps"]) for stage in stages] or [int(run.metrics["n_steps"])]
    return gold_only_twin(options, steps)
