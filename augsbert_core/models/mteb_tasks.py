"""Tasks of the Massive Text Embedding Benchmark, for those who have installed it."""

import importlib
import importlib.util
from collections.abc import Sequence

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder


def check_mteb() -> None:
    """WorkbenchError when the package is not installed."""
    if importlib.util.find_spec("mteb") is None:
        raise WorkbenchError(
            'MTEB is not installed. Install it with: pip install "augsbert-workbench[mteb]". '
            "Its tasks are downloaded from the Hugging Face hub."
        )


def mteb_scores(location: str, tasks: Sequence[str], device: str) -> dict[str, float]:
    """The main score of a bi-encoder on each task, in [0, 1], by the task's name."""
    check_mteb()
    # The package is optional, so no checker or installer sees it here.
    mteb = importlib.import_module("mteb")
    model = load_bi_encoder(location, device)
    found = mteb.evaluate(model, mteb.get_tasks(tasks=list(tasks)))
    return {result.task_name: float(result.get_score()) for result in found.task_results}
