"""Make the results that the guided demo ships: run its recipe for real and write small JSON files.

    python benchmarks/learn_results.py [--home DIR] [--out sample_data/precomputed] [--only loop|adaptation]

A home whose batch is done is read, not run again. Without --home a temporary one is used. About ten minutes on two
cores for the loop and three for adaptation. The files hold scores, counts and table rows, no models.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core import jobs  # noqa: E402
from augsbert_core.steps import learn_recipe as recipe  # noqa: E402
from augsbert_core.steps.sample_project import open_sample_project  # noqa: E402
from augsbert_core.storage import runs  # noqa: E402
from augsbert_core.storage.database import open_workspace  # noqa: E402


def tell(fraction: float, message: str, *_: object) -> None:
    """One line per report, over the last one."""
    print(f"\r{fraction:4.0%} {message[:100]:100}", end="", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "sample_data" / "precomputed")
    parser.add_argument("--only", choices=("loop", "adaptation"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(asked.home or Path(folder))
        if asked.only != "adaptation":
            project = open_sample_project(workspace)
            if not _is_done(workspace, project.id):
                jobs.run_in_foreground(
                    workspace, project.id, "batch", recipe.loop_plan(), report=tell
                )
        if asked.only != "loop":
            source, target = recipe.adaptation_projects(workspace)
            if not _is_done(workspace, target.id):
                plan = recipe.adaptation_plan(workspace, source, target)
                jobs.run_in_foreground(workspace, target.id, "batch", plan, report=tell)
        print()
        from augsbert_core.steps import learn_results as learn

        for name, found in learn.results_to_ship(workspace).items():
            path = learn.write_shipped(asked.out, name, found)
            print(f"{path}: {path.stat().st_size / 1024:.0f} KiB")


def _is_done(workspace: object, project_id: int) -> bool:
    return any(run.state == "done" for run in runs.list_runs(workspace, project_id, "batch"))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
