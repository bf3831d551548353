"""What the newest student has brought, beside the one that learnt from gold alone for as many steps."""

from collections.abc import Sequence
from typing import Any

from augsbert_core import explain
from augsbert_core.options import BiEncoderOptions, from_json
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.what_happened import what_happened


def explain_newest(bench: Bench, project: Project, trained: Sequence[Run]) -> None:
    """The newest of the trained students in plain sentences. trained: newest first."""
    run, twin = newest_and_twin(trained)
    checked = next(iter(list_runs(bench.workspace, project.id, "gate")), None)
    found: dict[str, Any] = checked.metrics if checked else {}
    best: dict[str, Any] = next(iter(found.get("rows") or []), {})
    what_happened(
        explain.student(
            run=run.id,
            n_gold=_count(run, "n_gold"),
            n_silver=_count(run, "n_silver"),
            dev_score=run.metrics.get("dev_score"),
            twin=twin.id if twin else None,
            twin_score=twin.metrics.get("dev_score") if twin else None,
            gate_verdict=str(found.get("verdict") or ""),
            gate_difference=best.get("difference"),
        ),
        "student",
    )


def newest_and_twin(trained: Sequence[Run]) -> tuple[Run, Run | None]:
    """The newest run and the gold-only one of as many steps, None where there is none.

    A twin that was trained last stands for the run with silver before it.
    """
    newest = trained[0]
    if not _count(newest, "n_silver"):
        partner = next(
            (run for run in trained[1:] if _count(run, "n_silver") and _are_alike(run, newest)),
            None,
        )
        return (newest, None) if partner is None else (partner, newest)
    return newest, next(
        (run for run in trained[1:] if not _count(run, "n_silver") and _are_alike(run, newest)),
        None,
    )


def _are_alike(first: Run, second: Run) -> bool:
    """Whether two runs trained the same base for as many steps, measured by the same dev score."""
    ours, theirs = (from_json(BiEncoderOptions, run.options) for run in (first, second))
    return (
        (ours.base, ours.layers) == (theirs.base, theirs.layers)
        and _count(first, "n_steps") == _count(second, "n_steps") > 0
        and first.metrics.get("metric") == second.metrics.get("metric")
    )


def _count(run: Run, name: str) -> int:
    return int(run.metrics.get(name) or 0)
