"""What the guided demo's recipe has found so far, as plain values: the same for shipped results and for live ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core import bundle
from augsbert_core.errors import WorkbenchError
from augsbert_core.files import write_whole
from augsbert_core.options import BatchOptions, KeepOptions, from_json
from augsbert_core.steps import learn_figures as figures
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps import learn_shapes as shapes
from augsbert_core.steps.compare import comparison, grouped
from augsbert_core.steps.sample_project import SAMPLE_NAME
from augsbert_core.steps.spreads import bin_centres, distances, gold_spread, spread
from augsbert_core.steps.try_it import score_pair
from augsbert_core.steps.verdict import paired_interval
from augsbert_core.storage import batches, gold, projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.plain import plain
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.silver_bins import silver_score_counts, silver_scores
from augsbert_core.storage.silver_pages import silver_detail

EXAMPLE = (
    "A woman is paying for her groceries with a credit card.",
    "Someone settles the bill at the supermarket without cash.",
)
"""The pair that both models score in the first step."""

JUDGED = (0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95)
"""The BM25 pairs that people score themselves lie at these quantiles of the labeler's scores."""

BESIDE_FULL = ("untrained-full", "gold-full", "student-full", "labeler-full")
"""Rows that are shown, and held against gold-only training, beside the full student; the others beside the small one."""

ROW_FIELDS = (
    "name", "kind", "value", "low", "high", "difference", "difference_low", "difference_high", "p",
    "reference", "equal_steps", "n_gold", "n_silver", "n_steps", "layers", "comparable",
)  # fmt: skip


def newest_batch(workspace: Workspace, project: Project, name: str = "loop") -> Run | None:
    """The newest run of one of the guided demo's batches in a project, finished or not. name: of `RESULTS`."""
    title = recipe.TITLES.get(name)
    for run in runs.list_runs(workspace, project.id, "batch", state=None):
        told = from_json(BatchOptions, run.options)
        if told.title == title if title else told.kind == "domain-adaptation":
            return run
    return None


def children_done(workspace: Workspace, batch: Run) -> dict[str, Run]:
    """The finished runs of a batch by key."""
    return {
        str(run.child_key): run
        for run in batches.children(workspace, batch.id)
        if run.state == "done"
    }


def loop_results(workspace: Workspace, project: Project, batch: Run) -> dict[str, Any]:
    """What the loop's batch has found so far; parts whose runs are not done yet are missing."""
    done = children_done(workspace, batch)
    found: dict[str, Any] = {"made": _made(batch, done)}
    if "labeler" in done:
        found["labeler"] = _labeler(workspace, done["labeler"])
    strategies = {}
    for name in recipe.STRATEGIES:
        if _strategy_runs(name) <= done.keys():
            strategies[name] = _strategy(workspace, project, done, name)
    if strategies:
        found["strategies"] = strategies
    if "pool-kde" in done:
        found["pool"] = _bins(workspace, done["pool-kde"])
    if "silver-bm25" in done:
        found["judged"] = _judged(workspace, done["silver-bm25"])
    for key in ("gold-small", "gold-full"):
        if f"gate-{key}" in done:
            found.setdefault("gates", {})[key] = _gate(done[f"gate-{key}"])
    if "measured" in done:
        found["rows"] = _rows(workspace, project, {run.id: key for key, run in done.items()})
    return found


def adaptation_results(workspace: Workspace, target: Project, batch: Run) -> dict[str, Any]:
    """What the batch of the new domain has found: the rows of its compare table once it is measured."""
    done = children_done(workspace, batch)
    found: dict[str, Any] = {"made": _made(batch, done)}
    if "measured" in done:
        keys = {run.id: key for key, run in done.items()}
        found["rows"] = _rows(workspace, target, keys)
    return found


def curve_results(workspace: Workspace, project: Project, batch: Run) -> dict[str, Any]:
    """Scores against training size as far as the batch has come."""
    done = children_done(workspace, batch)
    return {"made": _made(batch, done), **figures.curve_parts(workspace, project, done)}


def seeds_results(workspace: Workspace, project: Project, batch: Run) -> dict[str, Any]:
    """Dev scores of several seeds as far as the batch has come."""
    done = children_done(workspace, batch)
    return {"made": _made(batch, done), **figures.seeds_parts(workspace, project, done)}


RESULTS: dict[str, Callable[[Workspace, Project, Run], dict[str, Any]]] = {
    "loop": loop_results,
    "adaptation": adaptation_results,
    "curve": curve_results,
    "seeds": seeds_results,
}
"""Name of shipped or live results → what reads them from a batch."""


def _made(batch: Run, done: dict[str, Run]) -> dict[str, Any]:
    first = next(iter(done.values()), batch)
    return {
        "date": batch.created_at[:10],
        "run_id": batch.id,
        "seed": batch.seed,
        "device": first.device or batch.device or "cpu",
        "versions": batch.versions or first.versions,
        "n_done": len(done),
        "n_runs": len(from_json(BatchOptions, batch.options).runs),
    }


def _labeler(workspace: Workspace, run: Run) -> dict[str, Any]:
    steps, values = runs.read_metrics(workspace, run.id).get(
        "dev_score", (np.empty(0), np.empty(0))
    )
    return {
        "run_id": run.id,
        "dev_score": run.metrics.get("dev_score"),
        "seconds": run.metrics.get("seconds"),
        "n_gold": run.metrics.get("n_gold"),
        "curve": [
            [int(step), round(float(value), 5)] for step, value in zip(steps, values, strict=True)
        ],
    }


def _bins(workspace: Workspace, run: Run) -> list[int]:
    return silver_score_counts(workspace, run.metrics["silver_set_id"]).astype(int).tolist()


def _strategy_runs(name: str) -> set[str]:
    """The runs that a strategy's numbers come from; one of them may be removed later, without the others."""
    return {f"candidates-{name}", f"silver-{name}"} | ({"pool-kde"} if name == "kde" else set())


def _strategy(
    workspace: Workspace, project: Project, done: dict[str, Run], name: str
) -> dict[str, Any]:
    candidates = done[f"candidates-{name}"].metrics
    labelled = done["pool-kde" if name == "kde" else f"silver-{name}"].metrics
    bins = _bins(workspace, done[f"silver-{name}"])
    return {
        "n_candidates": candidates["n_candidates"],
        "n_pairs": sum(bins),
        "passes": labelled.get("n_scored", sum(bins)),
        "bins": bins,
        **distances_to_gold(gold.gold_scores(workspace, project.id, ["train"]), bins),
    }


def distances_to_gold(gold_scores: np.ndarray, bins: list[int]) -> dict[str, float | None]:
    """How far silver lies from gold, as the Silver page takes it, from counts in equal bins.

    distance: Wasserstein, in shares of the scale. kl: KL(gold‖silver) in nats.
    """
    settings = KeepOptions(0)
    ours = gold_spread("Gold", gold_scores, settings)
    theirs = spread("Silver", "silver", bin_centres(len(bins)), np.array(bins), settings)
    found = distances(ours, theirs)
    return {"distance": found.wasserstein, "kl": found.kl}


def _judged(workspace: Workspace, run: Run) -> list[dict[str, Any]]:
    """A few pairs from everywhere on the scale, with the labeler's scores."""
    found = silver_scores(workspace, run.metrics["silver_set_id"])
    if not len(found.scores):
        return []
    order = np.argsort(found.scores, kind="stable")
    places = dict.fromkeys(order[int(share * (len(order) - 1))] for share in JUDGED)
    pairs = [silver_detail(workspace, int(found.ids[place])) for place in places]
    return [
        {"sentence1": pair.sentence1, "sentence2": pair.sentence2, "score": round(pair.score, 4)}
        for pair in pairs
    ]


def _gate(run: Run) -> dict[str, Any]:
    first = run.metrics["rows"][0]
    names = ("value", "low", "high", "difference", "difference_low", "difference_high", "verdict")
    student = run.metrics.get("student") or {}
    return {name: first.get(name) for name in names} | {
        "student": student.get("value"),
        "sentence": run.metrics.get("sentence"),
        "n_pairs": run.metrics.get("n_pairs"),
    }


def _rows(workspace: Workspace, project: Project, keys: dict[int, str]) -> list[dict[str, Any]]:
    """The compare table of the test split, cut down to the batch's own runs and the rows that need no training."""
    table = comparison(workspace, project.id, "test")
    rows, targets = [], {}
    for row in grouped(workspace, project.id, table, single=True).as_json():
        ours = [keys[run_id] for run_id in row["runs"] if run_id in keys]
        if row["runs"] and not ours and row["kind"] != "source only":
            continue
        key = ours[0] if ours else row["kind"]
        if row["kind"] == "untrained":
            key = "untrained-small" if row["layers"] else "untrained-full"
        rows.append({"key": key} | {name: row[name] for name in ROW_FIELDS})
        targets[key] = row["targets"][0]
    if "gold-full" in targets and "labeler" in targets:
        rows += [dict(row, key="labeler-full") for row in rows if row["key"] == "labeler"]
        targets["labeler-full"] = targets["labeler"]
    scores = gold.scored_pairs(workspace, project.id, "test").scores
    source = next((row["key"] for row in rows if row["kind"] == "source only"), None)
    for row in rows:
        twin = source or ("gold-full" if row["key"] in BESIDE_FULL else "gold-small")
        theirs = next((one for one in rows if one["key"] == twin), None)
        if row["equal_steps"] is None and theirs is not None:
            measured = [table.measured[targets[one["key"]]] for one in (row, theirs)]
            _hold_against(row, theirs, paired_interval(table.metric, scores, *measured))
    return rows


def _hold_against(
    row: dict[str, Any], theirs: dict[str, Any], interval: tuple[float, float] | None
) -> None:
    """Give a row that was not made to be compared, such as the untrained model's, the lower bound it stands beside."""
    row |= dict.fromkeys(("difference", "difference_low", "difference_high", "p", "reference"))
    if row is not theirs:
        low, high = interval or (None, None)
        difference = row["value"] - theirs["value"]
        row |= {"difference": difference, "difference_low": low, "difference_high": high}
        row["reference"] = theirs["name"]


def shipped(name: str) -> dict[str, Any] | None:
    """Results that were made with the recipe before: a name of `RESULTS`; None when none are shipped.

    WorkbenchError: the file is damaged, or of another version, so that its results cannot be shown.
    """
    path = bundle.root() / "sample_data" / "precomputed" / f"{name}.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise WorkbenchError(
            f"The shipped results {path} cannot be read ({error}). Install again."
        ) from error
    if wrong := shapes.wrong_in(name, found):
        raise WorkbenchError(
            f"The shipped results {path} cannot be read (wrong: {wrong}). Install again."
        )
    return dict(found)


def results_to_ship(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """The results of a workspace where plans of the recipe have run to their end, by file name."""
    found: dict[str, dict[str, Any]] = {}
    for name, read in RESULTS.items():
        place = recipe.TARGET_NAME if name == "adaptation" else SAMPLE_NAME
        project = projects.find_project(workspace, place)
        batch = newest_batch(workspace, project, name) if project else None
        if project is None or batch is None or batch.state != "done":
            continue
        found[name] = read(workspace, project, batch)
        if name == "loop":
            labeler = f"run:{found[name]['labeler']['run_id']}"
            (score,) = score_pair(workspace, project, [labeler], *EXAMPLE)
            found[name]["example"] = {"pair": list(EXAMPLE), "score": round(score.score, 4)}
    return found


def write_shipped(folder: Path, name: str, found: dict[str, Any]) -> Path:
    """Write one file of results; numbers that are not finite become null."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    text = json.dumps(plain(found), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write_whole(path, (text + "\n").encode())
    return path
