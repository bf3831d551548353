"""Numbers that people type for runs and sets."""

from pathlib import Path

import pytest

from augsbert_core.cli import main
from augsbert_core.cli.silver import model_name
from augsbert_core.errors import WorkbenchError
from augsbert_core.steps.models import run_model, run_number
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("3", "run:3"),
        ("03", "run:3"),
        ("run:003", "run:3"),
        ("000", "run:0"),
        ("9" * 5000, "run:" + "9" * 5000),
        ("a/model-2", "a/model-2"),
        ("²", "²"),
        ("run:x", "run:x"),
    ],
)
def test_a_run_has_one_name_however_it_is_typed(given: str, name: str) -> None:
    assert model_name(given) == name


def test_numbers_are_read_from_names_of_runs_only() -> None:
    names = ("run:7", "run:007", "model:7", "run:", "run:²", "7")
    assert [run_number(name) for name in names] == [7, 7, None, None, None, None]


@pytest.mark.parametrize("number", [10**6, 2**62, 2**63, 10**400, "9" * 5000])
def test_a_number_that_no_run_has(workspace: Workspace, project: Project, number: object) -> None:
    with pytest.raises(WorkbenchError, match=r"^There is no run \d+.{,120}$"):
        run_model(workspace, project, f"run:{number}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["sample", "--exclude-silver", 2**63],
        ["sample", "--k1", 11],
        ["sample", "--b", 1.5],
        ["keep", "--silver", 1, "--c", 0],
        ["keep", "--silver", 2**63],
        ["sample-stratified", "--labeler", 1, "--c", 0],
    ],
)
def test_values_out_of_range_are_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[object]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--home", str(tmp_path), *map(str, arguments), "--project", "P"])
    assert ended.value.code == 2
    assert "Invalid value for " in (said := capsys.readouterr().err)
    assert "is not in the" in said or "than or equal to" in said
