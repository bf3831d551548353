"""Make the results that the guided demo ships: run its recipe for real and write small JSON files.

    python benchmarks/learn_results.py [--home DIR] [--out sample_data/precomputed] [--only NAME]

A home whose batch is done is read, not run again. Without --home a temporary one is used. On two idle cores about ten
minutes for the loop, three for adaptation, ten for the curve over training sizes and five for the seeds. The files
hold scores, counts and table rows, no models.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core import jobs  # noqa: E402
from augsbert_core.steps import learn_recipe as recipe  # noqa: E402
from augsbert_core.steps import learn_results as results  # noqa: E402
from augsbert_core.storage.database import Workspace, open_workspace  # noqa: E402

NAMES = tuple(results.RESULTS)


def tell(
    fraction: float,
    message: str,
    metrics: dict[str, float] | None = None,
    step: int | None = None,
) -> None:
    """One line per report, over the last one."""
    print(f"\r{fraction:4.0%} {message[:100]:100}", end="", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "sample_data" / "precomputed")
    parser.add_argument("--only", choices=NAMES)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(asked.home or Path(folder))
        for name in NAMES:
            if asked.only in (None, name):
                _make(workspace, name)
        print()
        for name, found in results.results_to_ship(workspace).items():
            path = results.write_shipped(asked.out, name, found)
            print(f"{path}: {path.stat().st_size / 1024:.0f} KiB")


def _make(workspace: Workspace, name: str) -> None:
    """Run one plan of the recipe, unless it is done in this workspace."""
    project, plan = recipe.plan_for(workspace, name)
    batch = results.newest_batch(workspace, project, name)
    if batch is None or batch.state != "done":
        jobs.run_in_foreground(workspace, project.id, "batch", plan, report=tell)


if __name__ == "__main__":
    main()
