"""What came out of a batch: one row per model, and mean ± standard deviation over the seeds of a group."""

import json
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

from augsbert_core.exporting.files import to_csv
from augsbert_core.files import write_whole
from augsbert_core.options import BatchOptions, EvaluateOptions, PlannedRun, from_json
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.names import model_label
from augsbert_core.storage import batches, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.plain import plain
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Run

TRAINING = ("train-cross-encoder", "train-bi-encoder")

SCORES = ("dev_score", "test_score", "auc05")
"""What is averaged over seeds. test_score, auc05: of the batch's own measurements on the test split."""

FACTS = ("n_gold", "n_silver", "passes", "n_steps", "seconds")

NOT_COMPARED = ("seed", "device")

COLUMNS = (
    "row", "group", "key", "run_id", "seed", *SCORES, "test_low", "test_high", "metric", *FACTS, "differs",
)  # fmt: skip

FLATTERS = (
    "The best of {n} settings on dev flatters itself: some of its lead is luck on these dev pairs. "
    "Train it again with other seeds and judge it on the test split."
)


def summary(workspace: Workspace, run_id: int, options: BatchOptions) -> dict[str, Any]:
    """The results so far of a batch's run: rows, groups, the best group of a sweep, and notes."""
    found = {str(child.child_key): child for child in batches.children(workspace, run_id)}
    done = [
        (planned, found[planned.key])
        for planned in options.runs
        if planned.key in found and found[planned.key].state == "done"
    ]
    measured = _measured(workspace, done)
    rows = [
        _row(planned, child, measured.pop(f"run:{child.id}", None))
        for planned, child in done
        if planned.step in TRAINING
    ]
    trained = {planned.key: child for planned, child in done}
    for known in options.known:
        target = f"run:{known.run_id}"
        trained[target] = runs.get_run(workspace, known.run_id)
        stand_in = PlannedRun(target, trained[target].step, "{}", known.group)
        rows.append(_row(stand_in, trained[target], measured.pop(target, None)))
    _add_differences(rows, trained)
    rows += [_measured_row(target, one) for target, one in measured.items()]
    groups = _groups(rows)
    notes = list(options.notes)
    best = None
    if options.kind == "sweep":
        scored = [group for group in groups if group["dev_score"] is not None]
        best = max(scored, key=lambda group: group["dev_score"])["group"] if scored else None
        notes += [FLATTERS.format(n=len(scored))] if len(scored) > 1 else []
    if rows and all(row["dev_score"] is None for row in rows if row["run_id"] is not None):
        notes.append(_no_dev_text(workspace, run_id))
    return plain(
        {
            "kind": options.kind,
            "title": options.title,
            "n_planned": len(options.runs),
            "n_done": len(done),
            "rows": rows,
            "groups": groups,
            "best": best,
            "notes": notes,
        }
    )


def _no_dev_text(workspace: Workspace, run_id: int) -> str:
    n_dev = count_project(workspace, runs.get_run(workspace, run_id).project_id).dev
    if not n_dev:
        return "Without dev pairs no checkpoint was chosen: the last one was kept."
    pairs = "1 dev pair" if n_dev == 1 else f"{n_dev:,} dev pairs"
    return (
        f"With {pairs} the dev score is undefined, so no checkpoint was chosen: the last one was kept. Put more pairs "
        "of different scores into dev."
    )


def save_summary(context: StepContext, options: BatchOptions) -> dict[str, Any]:
    """Write summary.json and summary.csv into the batch's folder and the summary into its metrics."""
    found = summary(context.workspace, context.run.id, options)
    write_whole(context.folder / "summary.json", json.dumps(found, indent=2))
    write_whole(context.folder / "summary.csv", summary_csv(found))
    runs.update_run(context.workspace, context.run.id, metrics={"summary": found})
    return found


def summary_csv(found: dict[str, Any]) -> bytes:
    """The rows of a summary, and after each group its mean and standard deviation, for a spreadsheet."""
    lines: list[Sequence[object]] = []
    for group in found["groups"]:
        members = [row for row in found["rows"] if row["group"] == group["group"]]
        lines += [_line({**row, "row": "run"}) for row in members]
        lines.append(_line({**group, "row": f"mean of {group['n']}"}))
        if group["n"] > 1:
            spread = {name: group[f"{name}_sd"] for name in SCORES}
            lines.append(_line({"row": "standard deviation", "group": group["group"], **spread}))
    return to_csv(COLUMNS, lines)


def mean_and_deviation(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """The mean, and the standard deviation with n - 1 in the divisor; None of too few values."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None, stdev(known) if len(known) > 1 else None


def _line(row: dict[str, Any]) -> list[object]:
    shown = row | {"differs": ", ".join(f"{k} = {v}" for k, v in row.get("differs", {}).items())}
    return [shown.get(name) for name in COLUMNS]


def _measured(
    workspace: Workspace, done: Sequence[tuple[PlannedRun, Run]]
) -> dict[str, dict[str, Any]]:
    """What the batch measured on the test split: target → the newest evaluation."""
    found: dict[str, dict[str, Any]] = {}
    for planned, child in done:
        if planned.step != "evaluate":
            continue
        options = from_json(EvaluateOptions, child.options)
        if options.split != "test":
            continue
        for one in runs.list_evaluations(workspace, child.project_id, options.split):
            if one["target"] in options.targets:
                found[one["target"]] = one
    return found


def _row(planned: PlannedRun, child: Run, measured: dict[str, Any] | None) -> dict[str, Any]:
    facts = child.metrics
    return {
        "group": planned.group or planned.key,
        "key": planned.key,
        "run_id": child.id,
        "seed": child.seed,
        "dev_score": facts.get("dev_score"),
        **_test_scores(measured),
        "metric": facts.get("metric"),
        **{name: facts.get(name) for name in FACTS},
        "differs": {},
    }


def _measured_row(target: str, measured: dict[str, Any]) -> dict[str, Any]:
    """A row for what was measured but not trained here: an untrained model, word overlap, another run."""
    kind, _, name = target.partition(":")
    group = {"model": f"Untrained {model_label(name)}", "run": f"Run {name}"}.get(kind, "Jaccard")
    return {
        "group": group,
        "key": target,
        "run_id": measured["target_run_id"],
        "seed": None,
        "dev_score": None,
        **_test_scores(measured),
        "metric": measured["metric"],
        **dict.fromkeys(FACTS),
        "differs": {},
    }


def _test_scores(measured: dict[str, Any] | None) -> dict[str, Any]:
    if measured is None:
        return dict.fromkeys(("test_score", "test_low", "test_high", "auc05"))
    details = measured.get("details") or {}
    details = json.loads(details) if isinstance(details, str) else details
    return {
        "test_score": measured["value"],
        "test_low": measured["low"],
        "test_high": measured["high"],
        "auc05": details.get("auc05"),
    }


def _add_differences(rows: list[dict[str, Any]], children: dict[str, Run]) -> None:
    """Note at each row the options in which the models of its step are not all alike."""
    for step in TRAINING:
        told = {
            row["key"]: json.loads(children[row["key"]].options)
            for row in rows
            if children[row["key"]].step == step
        }
        names = {
            name
            for options in told.values()
            for name in options
            if name not in NOT_COMPARED
            and len({json.dumps(other.get(name)) for other in told.values()}) > 1
        }
        for row in rows:
            if row["key"] in told:
                row["differs"] = {name: told[row["key"]].get(name) for name in sorted(names)}


def _groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups = []
    for name in dict.fromkeys(row["group"] for row in rows):
        members = [row for row in rows if row["group"] == name]
        group: dict[str, Any] = {"group": name, "n": len(members), "metric": members[0]["metric"]}
        for score in SCORES:
            group[score], group[f"{score}_sd"] = mean_and_deviation(row[score] for row in members)
        for fact in FACTS:
            group[fact], _ = mean_and_deviation(row[fact] for row in members)
        groups.append(group)
    return groups
