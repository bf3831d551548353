"""Which strategy helps? STS Benchmark with 1,000 gold pairs: every strategy, several seeds, two students.

    python benchmarks/strategies.py --home DIR [--data DIR] [--gold 1000] [--seeds 42 43 44] [--steps 500]

One labeler (seed 42, the default recipe) labels every strategy's pairs once; the students are trained anew with
each seed, all for as many optimiser steps, gold-only ones included. The small student keeps 2 layers; the full one
is trained on gold alone and on gold + BM25, with two seeds and half as many steps. Hours on two cores.

What is done is found again, so a second call goes on, and `--part 1/2` and `--part 2/2` in two processes share the
students once `--prepare` has made the silver sets. In the end `augsbert --home DIR compare --project STS-B
--markdown` prints the table.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core import jobs  # noqa: E402
from augsbert_core.options import (  # noqa: E402
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    ImportOptions,
    KeepOptions,
    LabelOptions,
    SampleOptions,
    StratifiedOptions,
    from_json,
)
from augsbert_core.steps.import_data import import_file  # noqa: E402
from augsbert_core.storage import projects, runs  # noqa: E402
from augsbert_core.storage.database import Workspace, open_workspace  # noqa: E402
from augsbert_core.storage.records import Run  # noqa: E402

PROJECT, SEED = "STS-B", 42
POOL = 20_000


@dataclass(frozen=True)
class Study:
    """A workspace with the STS-B project, and what has been done in it."""

    workspace: Workspace
    project_id: int

    def done(self, step: str, options: Any) -> Run | None:
        """The finished run that was told exactly this, if there is one."""
        for run in runs.list_runs(self.workspace, self.project_id, step):
            if from_json(type(options), run.options) == options:
                return run
        return None

    def carry_out(self, step: str, options: Any) -> dict[str, Any]:
        """The result of a step: found again, or made now."""
        known = self.done(step, options)
        if known is None:
            print(f"{step}: {options}", flush=True)
            jobs.run_in_foreground(self.workspace, self.project_id, step, options)
            known = self.done(step, options)
        if known is None:
            sys.exit(f"{step} has left no finished run.")
        return {**known.metrics, "run_id": known.id}


def open_study(home: Path, data: Path, n_gold: int) -> Study:
    """The project with the first rows of a seeded shuffle of the train file, the whole dev and test files."""
    workspace = open_workspace(home)
    for project in projects.list_projects(workspace):
        if project.name == PROJECT:
            return Study(workspace, project.id)
    made = projects.create_project(workspace, PROJECT)
    lines = (data / "sts-train.tsv").read_text(encoding="utf-8").splitlines()
    random.Random(SEED).shuffle(lines)
    contents = {"train": "\n".join(lines[:n_gold]).encode() + b"\n"}
    for split in ("dev", "test"):
        contents[split] = (data / f"sts-{split}.tsv").read_bytes()
    for split, content in contents.items():
        told = ImportOptions(score_range=(0.0, 5.0), split=split)
        import_file(workspace, made.id, content, f"sts-{split}.tsv", told)
    return Study(workspace, made.id)


def make_silver(study: Study) -> dict[str, int]:
    """Strategy → silver set: neighbours by BM25, cosine and both, random pairs, and both kinds of KDE."""
    labeler = study.carry_out("train-cross-encoder", CrossEncoderOptions(seed=SEED))
    name = f"run:{labeler['run_id']}"
    found = {}
    n_bm25 = 0
    for told in (
        SampleOptions("bm25"),
        SampleOptions("semantic"),
        SampleOptions("bm25+semantic"),
        SampleOptions("random"),
        SampleOptions("kde", n_pairs=POOL),
    ):
        if told.strategy == "random":
            told = replace(told, n_pairs=n_bm25)
        sampled = study.carry_out("sample", told)
        if told.strategy == "bm25":
            n_bm25 = sampled["n_candidates"]
        label = LabelOptions(candidate_set_id=sampled["candidate_set_id"], labeler=name)
        found[told.strategy] = study.carry_out("label", label)["silver_set_id"]
    kept = study.carry_out("keep", KeepOptions(silver_set_id=found["kde"]))
    found["kde"] = kept["silver_set_id"]
    drawn = study.carry_out("sample-stratified", StratifiedOptions(labeler=name, n_keep=n_bm25))
    keeping = runs.get_run(study.workspace, drawn["keep_run_id"])
    found["stratified-kde"] = keeping.metrics["silver_set_id"]
    return found


def students(silver: dict[str, int], seeds: list[int], steps: int) -> Iterator[BiEncoderOptions]:
    """Every student of the study, those that answer the main question first."""
    small = BiEncoderOptions(layers=2, learning_rate=1e-4, max_steps=steps)
    for seed in seeds:
        for set_id in (None, *silver.values()):
            yield replace(small, silver_set_id=set_id, seed=seed)
    full = BiEncoderOptions(learning_rate=2e-5, max_steps=steps // 2)
    for seed in seeds[:2]:
        for set_id in (None, silver["bm25"]):
            yield replace(full, silver_set_id=set_id, seed=seed)
    for seed in seeds:
        yield replace(small, max_steps=None, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "stsb")
    parser.add_argument("--gold", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--prepare", action="store_true", help="stop after the silver sets")
    parser.add_argument("--part", default="1/1", help="train only every n-th student, as in 1/2")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        sys.exit(f"The STS Benchmark files are not at {asked.data}; name their folder with --data.")
    study = open_study(asked.home, asked.data, asked.gold)
    silver = make_silver(study)
    if asked.prepare:
        return
    number, parts = map(int, asked.part.split("/"))
    for place, options in enumerate(students(silver, asked.seeds, asked.steps)):
        if place % parts == number - 1:
            study.carry_out("train-bi-encoder", options)
    if parts == 1:
        jobs.run_in_foreground(
            study.workspace, study.project_id, "evaluate", EvaluateOptions(split="test")
        )


if __name__ == "__main__":
    main()
