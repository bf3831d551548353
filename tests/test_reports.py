"""Reports of parts within a whole, curves on their way to the database, and small files."""

from pathlib import Path

import pytest

from augsbert_core.files import write_whole
from augsbert_core.progress import stretch
from augsbert_core.storage import runs
from augsbert_core.storage.curves import Curves
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def test_a_part_reports_within_the_whole() -> None:
    told: list[tuple] = []
    part = stretch(
        lambda *said: told.append(said), 0.5, 1.0, title="Stage 2", note="slow", offset=40
    )
    part(0.5, "Step 10", {"loss": 0.2}, 10)
    assert told == [(0.75, "Stage 2 · Step 10 · slow", {"loss": 0.2}, 50)]


def test_curves_can_be_collected_in_place_of_being_shown() -> None:
    told: list[tuple] = []
    points: list[tuple[int, dict[str, float]]] = []
    part = stretch(lambda *said: told.append(said), 0.0, 1.0, points=points)
    part(0.5, "Step 10", {"loss": 0.2}, 10)
    assert told == [(0.5, "Step 10")]
    assert points == [(10, {"loss": 0.2})]


def test_points_that_could_not_be_written_are_written_the_next_time(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = runs.add_run(workspace, project.id, "sample", "a run", "{}", 42)
    curves = Curves(workspace, run_id)
    curves.add({"loss": 0.5, "dev_score": float("nan")}, 3)
    with monkeypatch.context() as patched:
        patched.setattr("augsbert_core.storage.curves.add_metrics", _fail)
        with pytest.raises(OSError, match="locked"):
            curves.write()
    curves.add({"loss": 0.4}, None)  # the step after the one before
    curves.write()
    stored = runs.read_metrics(workspace, run_id)
    assert {name: steps.tolist() for name, (steps, _) in stored.items()} == {"loss": [3, 4]}


def _fail(*_told: object) -> None:
    raise OSError("locked")


def test_a_small_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    write_whole(path, "é")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert [found.name for found in tmp_path.iterdir()] == ["facts.json"]
