"""Does the search for label errors find them? Real gold with planted errors, against chance and untrained cosines.

    python benchmarks/label_errors.py --home DIR [--data DIR] [--gold 1000] [--share 0.05] [--seed 42] [--json]

Some pairs of the STS Benchmark's train file, a share of which gets the score of another pair, one point of five or more
away. The step `label-errors` ranks all of them as a user would have it, with its defaults and the bundled model. Printed:
how many of the first 5 % and 10 % were planted, and the area under the ROC curve, with what chance gives. Beside it, two
rankings that cost nothing: the distance of the gold score from the untrained model's cosine, and from word overlap, both
recalibrated in the same way. STS-B has wrong scores of its own, which count as misses here: the shares are lower bounds.

The job goes on in the background: stopped and called again, the script finds it and goes on fold by fold. About half an
hour on two busy cores; begin it with `nice -n 10` beside other work.
"""

import argparse
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core import jobs, metrics  # noqa: E402
from augsbert_core.calibration import cross_calibrated  # noqa: E402
from augsbert_core.options import (  # noqa: E402
    BUNDLED_MODEL,
    ImportOptions,
    LabelErrorsOptions,
    to_json,
)
from augsbert_core.steps.import_data import import_file  # noqa: E402
from augsbert_core.steps.label_errors import ranked_errors  # noqa: E402
from augsbert_core.storage import projects, queue, runs  # noqa: E402
from augsbert_core.storage.database import Workspace, open_workspace  # noqa: E402
from augsbert_core.storage.records import Run  # noqa: E402

PROJECT, STEP = "STS-B with errors", "label-errors"
MOST, LEAST_SHIFT = 5.0, 1.0
PARTS = (0.05, 0.10)
RESAMPLES = 10_000
CHECK_SECONDS = 5.0


@dataclass(frozen=True)
class Planted:
    """A pair as it is imported. shift: planted score minus true score, 0 when it was left alone."""

    sentence1: str
    sentence2: str
    score: float
    shift: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "stsb")
    parser.add_argument("--gold", type=int, default=1000)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        sys.exit(f"The STS Benchmark files are not at {asked.data}; name their folder with --data.")
    planted = plant(asked.data / "sts-train.tsv", asked.gold, asked.share, asked.seed)
    workspace, project_id = open_project(asked.home, planted)
    run = search(workspace, project_id, LabelErrorsOptions(seed=asked.seed))
    result = evaluate(workspace, run, planted)
    if asked.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    best = result["rankings"]["label-errors"]
    if best["auc_interval"][0] <= 0.5:
        sys.exit("The search finds planted errors no better than chance.")


def plant(path: Path, n_pairs: int, share: float, seed: int) -> list[Planted]:
    """Distinct pairs of the file in a seeded order, a share of them with the score of another pair."""
    found: dict[frozenset[str], tuple[str, str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        *_, score, first, second = line.split("\t")[:7]
        found.setdefault(frozenset((first, second)), (first, second, float(score)))
    rng = random.Random(seed)
    pairs = rng.sample(list(found.values()), min(n_pairs, len(found)))
    wrong = set(rng.sample(range(len(pairs)), round(share * len(pairs))))
    made = []
    for place, (first, second, true) in enumerate(pairs):
        others = [one[2] for one in pairs if abs(one[2] - true) >= LEAST_SHIFT]
        score = rng.choice(others) if place in wrong else true
        made.append(Planted(first, second, score, score - true))
    return made


def open_project(home: Path, planted: list[Planted]) -> tuple[Workspace, int]:
    """The project with these pairs as gold training pairs, made unless it is there."""
    workspace = open_workspace(home)
    for project in projects.list_projects(workspace):
        if project.name == PROJECT:
            return workspace, project.id
    made = projects.create_project(workspace, PROJECT)
    lines = [f"{one.sentence1}\t{one.sentence2}\t{one.score}" for one in planted]
    content = "\n".join(["sentence1\tsentence2\tscore", *lines]).encode()
    told = ImportOptions(score_range=(0.0, MOST), split="train")
    import_file(workspace, made.id, content, "planted.tsv", told)
    return workspace, made.id


def search(workspace: Workspace, project_id: int, options: LabelErrorsOptions) -> Run:
    """The finished run of the step: found again, gone on with, or begun."""
    jobs.tend(workspace)
    known = next(
        (
            job
            for job in queue.list_jobs(workspace, project_id)
            if job.step == STEP and runs.get_run(workspace, job.run_id).options == to_json(options)
        ),
        None,
    )
    if known is None:
        known = jobs.enqueue(workspace, project_id, STEP, options)
    elif known.state not in (*queue.ACTIVE, "done"):
        known = jobs.resume(workspace, known.id)
    said = ""
    while (job := queue.get_job(workspace, known.id)).state in queue.ACTIVE:
        if job.message != said:
            said = job.message
            print(f"{100 * job.progress:3.0f} %  {said}", file=sys.stderr, flush=True)
        time.sleep(CHECK_SECONDS)
        jobs.tend(workspace)
    if job.state != "done":
        sys.exit(f"The job is {job.state}: {job.error or job.message}. Call again to go on.")
    return runs.get_run(workspace, job.run_id)


def evaluate(workspace: Workspace, run: Run, planted: list[Planted]) -> dict:
    """How far up planted errors stand in each ranking."""
    found = ranked_errors(workspace, run)
    imported = [planted[line - 2] for line in found["source_line"]]  # line 1 names the columns
    given = np.array([one.score / MOST for one in imported])
    if len(found) != len(planted) or not np.allclose(found["gold_score"], given):
        sys.exit(f"{planted_text(planted)} are not what --home holds: give an empty folder.")
    shift = np.array([one.shift for one in imported])
    rankings = {"label-errors": found["gap"].to_numpy(), **free_rankings(found, run.seed)}
    n_wrong = int(np.count_nonzero(shift))
    return {
        "n_pairs": len(found),
        "n_planted": n_wrong,
        "seconds": run.metrics["seconds"],
        "n_steps": run.metrics["n_steps"],
        "spearman": run.metrics["spearman"],
        "chance": {f"{part:.0%}": chance(len(found), n_wrong, part) for part in PARTS},
        "rankings": {name: figures(doubt, shift) for name, doubt in rankings.items()},
        "by_shift": by_shift(rankings["label-errors"], shift),
    }


def planted_text(planted: list[Planted]) -> str:
    return f"{len(planted):,} pairs with {sum(one.shift != 0 for one in planted)} planted errors"


def free_rankings(found: pd.DataFrame, seed: int) -> dict[str, np.ndarray]:
    """Doubts without any training: how far gold is from a recalibrated cosine, and from recalibrated word overlap."""
    from augsbert_core.models.catalog import load_bi_encoder
    from augsbert_core.models.inference import pair_cosines

    firsts, seconds = found["sentence1"].tolist(), found["sentence2"].tolist()
    gold = found["gold_score"].to_numpy(dtype=np.float64)
    cosines = pair_cosines(load_bi_encoder(BUNDLED_MODEL, "cpu"), firsts, seconds)
    said = {"untrained cosine": cosines, "word overlap": metrics.jaccard(firsts, seconds)}
    return {
        name: np.abs(gold - cross_calibrated(numbers, gold, seed=seed))
        for name, numbers in said.items()
    }


def figures(doubt: np.ndarray, shift: np.ndarray) -> dict:
    """Precision and recall of the first parts of the list, and the AUC with a 95 % bootstrap interval."""
    order = np.argsort(-doubt, kind="stable")
    wrong = shift != 0
    hits = {part: int(wrong[order[: round(part * len(doubt))]].sum()) for part in PARTS}
    rng = np.random.default_rng(0)
    beaten = beats(doubt, wrong)
    pick = rng.integers(0, len(beaten), (RESAMPLES, len(beaten)))
    low, high = np.quantile(beaten[pick].mean(axis=1), [0.025, 0.975])
    return {
        "precision": {f"{part:.0%}": n / round(part * len(doubt)) for part, n in hits.items()},
        "recall": {f"{part:.0%}": n / int(wrong.sum()) for part, n in hits.items()},
        "auc": float(beaten.mean()),
        "auc_interval": [float(low), float(high)],
    }


def beats(doubt: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """For each planted error the share of other pairs that are doubted less; ties count half. Its mean is the AUC."""
    others = np.sort(doubt[~wrong])
    below = np.searchsorted(others, doubt[wrong], side="left")
    up_to = np.searchsorted(others, doubt[wrong], side="right")
    return (below + up_to) / 2 / len(others)


def by_shift(doubt: np.ndarray, shift: np.ndarray) -> list[dict]:
    """Of planted errors of one size (points of five): how many stand in the first 10 %, and how far up."""
    first = np.zeros(len(doubt), dtype=bool)
    first[np.argsort(-doubt, kind="stable")[: round(PARTS[-1] * len(doubt))]] = True
    beaten = beats(doubt, shift != 0)
    sizes, found = np.abs(shift[shift != 0]), first[shift != 0]
    rows = []
    for low, high in ((1, 2), (2, 3), (3, MOST + 1)):
        some = (sizes >= low - 1e-9) & (sizes < high - 1e-9)
        if some.any():
            rows.append(
                {
                    "from": low,
                    "to": min(high, MOST),
                    "n": int(some.sum()),
                    "found": int(found[some].sum()),
                    "auc": float(beaten[some].mean()),
                }
            )
    return rows


def chance(n_pairs: int, n_wrong: int, part: float) -> dict:
    """The precision that drawing pairs at random gives: mean, and what 97.5 % of draws stay under."""
    from scipy.stats import hypergeom

    drawn = round(part * n_pairs)
    return {
        "mean": n_wrong / n_pairs,
        "high": float(hypergeom(n_pairs, n_wrong, drawn).ppf(0.975)) / drawn,
    }


def show(result: dict) -> None:
    print(
        f"{result['n_pairs']:,} pairs, {result['n_planted']} planted errors; {result['n_steps']:,} steps in"
        f" {result['seconds']:.0f} s; out-of-fold Spearman with gold {result['spearman']:.3f}"
    )
    print("ranking             precision at 5 %  at 10 %  recall at 10 %  AUC (95 % interval)")
    for name, row in result["rankings"].items():
        low, high = row["auc_interval"]
        print(
            f"{name:<18}  {row['precision']['5%']:>16.0%}  {row['precision']['10%']:>7.0%}"
            f"  {row['recall']['10%']:>14.0%}  {row['auc']:.3f} ({low:.3f} to {high:.3f})"
        )
    small, large = result["chance"]["5%"], result["chance"]["10%"]
    print(
        f"{'chance':<18}  {small['mean']:>16.0%}  {large['mean']:>7.0%}  {PARTS[-1]:>14.0%}  0.500"
        f"   (97.5 % of draws up to {small['high']:.0%} and {large['high']:.0%})"
    )
    for row in result["by_shift"]:
        print(
            f"planted {row['from']:g} to {row['to']:g} points away: {row['found']} of {row['n']} in the first 10 %,"
            f" AUC {row['auc']:.3f}"
        )


if __name__ == "__main__":
    main()
