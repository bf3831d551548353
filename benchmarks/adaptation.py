"""Domain adaptation (paper, section 3.2) on STS Benchmark: image captions as source, news as target.

    python benchmarks/adaptation.py --home DIR [--data DIR] [--gold 1000] [--num-runs 3] [--steps 500]

Source: --gold caption pairs of the train file with the caption pairs of dev. Target: --gold news pairs of the train
file, whose scores only the in-domain students see, and the news pairs of test; no dev pairs, as a new domain has
none, so every student on target data keeps its last checkpoint. The source's labeler scores BM25 pairs of the
target's sentences, and the student learns from these silver pairs alone. In the end
`augsbert --home DIR compare --project "STS-B news" --markdown` prints the table. About half an hour on two cores.
"""

import argparse
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core import jobs  # noqa: E402
from augsbert_core.options import BiEncoderOptions, ImportOptions  # noqa: E402
from augsbert_core.steps.import_data import import_file  # noqa: E402
from augsbert_core.steps.plans import domain_adaptation  # noqa: E402
from augsbert_core.storage import projects  # noqa: E402
from augsbert_core.storage.database import Workspace, open_workspace  # noqa: E402
from augsbert_core.storage.records import Project  # noqa: E402

SEED = 42


def make_project(
    workspace: Workspace, data: Path, genre: str, splits: tuple[str, ...], n_gold: int
) -> Project:
    """The pairs of one genre, `n_gold` of the train file by a seeded shuffle; found again when it is there."""
    name = f"STS-B {genre}"
    for project in projects.list_projects(workspace):
        if project.name == name:
            return project
    made = projects.create_project(workspace, name)
    for split in splits:
        lines = (data / f"sts-{split}.tsv").read_text(encoding="utf-8").splitlines()
        lines = [line for line in lines if line.startswith(f"main-{genre}\t")]
        random.Random(SEED).shuffle(lines)
        chosen = lines[:n_gold] if split == "train" else lines
        content = ("\n".join(chosen) + "\n").encode()
        told = ImportOptions(score_range=(0.0, 5.0), split=split)
        import_file(workspace, made.id, content, f"{genre}-{split}.tsv", told)
    return projects.get_project(workspace, made.id)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "stsb")
    parser.add_argument("--gold", type=int, default=1000)
    parser.add_argument("--num-runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=500)
    asked = parser.parse_args()
    if not asked.data.is_dir():
        sys.exit(f"The STS Benchmark files are not at {asked.data}; name their folder with --data.")
    workspace = open_workspace(asked.home)
    source = make_project(workspace, asked.data, "captions", ("train", "dev"), asked.gold)
    target = make_project(workspace, asked.data, "news", ("train", "test"), asked.gold)
    plan = domain_adaptation(
        workspace,
        source,
        target,
        bi=BiEncoderOptions(layers=2, learning_rate=1e-4, max_steps=asked.steps, seed=SEED),
        num_runs=asked.num_runs,
    )
    jobs.run_in_foreground(workspace, target.id, "batch", plan)


if __name__ == "__main__":
    main()
