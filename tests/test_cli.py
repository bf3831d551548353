"""The command line: what programs can rely on, and what people see."""

import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augsbert_core import bundle, jobs, processes
from augsbert_core.cli import app_command, main
from augsbert_core.models import bi_encoder, cross_encoder, evaluation, labeling
from augsbert_core.models.training import TrainingResult
from augsbert_core.options import SampleOptions, to_json
from augsbert_core.pairs import ScoredPairs
from augsbert_core.storage import projects, queue, runs
from augsbert_core.storage.database import Workspace, open_workspace
from tests.conftest import GOLD_CSV, STSB


class Terminal:
    """Runs commands in one workspace, in this process, as a shell would."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.home, self._capture = home, capture

    def __call__(self, *arguments: object, home: Path | None = None) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        self._capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["--home", str(home or self.home), *map(str, arguments)])
        said = self._capture.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    def json(self, *arguments: object) -> dict[str, Any]:
        """The JSON result of a command that must succeed and say nothing else."""
        code, out, err = self(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)


@pytest.fixture
def augsbert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path / "home", capsys)


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text(GOLD_CSV, encoding="utf-8")
    return path


@pytest.fixture
def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that train at once and score pairs by the length of their first sentence."""

    def fit(
        train: ScoredPairs, dev: Any, options: Any, folder: Path, **_how: Any
    ) -> TrainingResult:
        (folder / "model").mkdir(parents=True)
        steps = options.max_steps or len(train)
        return TrainingResult(0.5, "spearman", None, steps, 1.0, 10.0, steps, "cpu")

    def lengths(sentences: list[str]) -> np.ndarray:
        return np.array([len(sentence) / 100 for sentence in sentences])

    def batches(
        _labeler: Any, sentences1: list[str], _sentences2: list[str], **_how: Any
    ) -> Iterator[labeling.ScoredBatch]:
        scores = lengths(sentences1)
        yield labeling.ScoredBatch(np.arange(len(scores)), scores, scores)

    monkeypatch.setattr(cross_encoder, "train_cross_encoder", fit)
    monkeypatch.setattr(bi_encoder, "train_bi_encoder", fit)
    monkeypatch.setattr(labeling, "load_labeler", lambda *_arguments: None)
    monkeypatch.setattr(labeling, "score_batches", batches)
    monkeypatch.setattr(
        evaluation, "score_pairs", lambda _kind, _location, pairs, **_how: lengths(pairs[0])
    )


def imported(augsbert: Terminal, gold_file: Path, *extra: object) -> dict[str, Any]:
    return augsbert.json("import", gold_file, "--project", "P", "--score-range", "0:5", *extra)


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from augsbert_core.cli import main\n"
        "try:\n    main(['--help'])\nfinally:\n"
        "    print(sorted({'torch', 'streamlit', 'pandas', 'numpy', 'sqlite_utils'} & set(sys.modules)))"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    shown = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=processes.worker_environment(),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert shown.stdout.splitlines()[-1] == "[]"
    assert "import" in shown.stdout
    # Processor time, about 0.35 s: the clock would measure how busy the machine is.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


def test_importing_reports_every_row(augsbert: Terminal, gold_file: Path) -> None:
    gold_file.write_text(GOLD_CSV + "Too much.,Too much indeed.,7,train\n", encoding="utf-8")
    result = imported(augsbert, gold_file)
    assert (result["rows_read"], result["pairs_kept"], result["rejected"]) == (12, 11, 1)
    assert result["rejected_rows"][0]["line"] == 13
    assert result["splits"] == {"train": 5, "dev": 3, "test": 3}

    listed = augsbert.json("projects")["projects"]
    assert [(row["name"], row["task"], row["train"]) for row in listed] == [("P", "regression", 5)]


def test_a_second_file_takes_the_score_range_of_the_project(
    augsbert: Terminal, gold_file: Path
) -> None:
    imported(augsbert, gold_file, "--split", "train")
    gold_file.write_text("She sings.,He sings.,2.5\nShe runs.,He swims.,1\n", encoding="utf-8")
    result = augsbert.json("import", gold_file, "--project", "p", "--split", "test")
    assert result["splits"] == {"test": 2}


def test_columns_ratios_and_limits_are_obeyed(augsbert: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    rows = [f"{number % 2}\tquestion {number}\tanswer {number}" for number in range(60)]
    path.write_text("\n".join(rows), encoding="utf-8")
    told = ("--columns", "1,2,0", "--task", "classification", "--ratios", "50:25:25", "--limit", 40)
    result = augsbert.json("import", path, "-p", "Questions", *told)
    assert (result["rows_read"], result["pairs_kept"]) == (40, 40)
    assert result["splits"] == {"train": 20, "dev": 10, "test": 10}
    assert augsbert.json("projects")["projects"][0]["task"] == "classification"


def test_a_score_range_is_never_guessed_silently(augsbert: Terminal, gold_file: Path) -> None:
    code, out, err = augsbert("import", gold_file, "--project", "P")
    assert (code, out) == (1, "")
    assert "--score-range 0:5" in err
    # The project that was made for the file went with it.
    assert augsbert.json("projects")["projects"] == []


def test_user_errors_are_one_line_and_usage_errors_are_exit_code_2(
    augsbert: Terminal, gold_file: Path, tmp_path: Path
) -> None:
    imported(augsbert, gold_file)
    for wrong in (
        ("import", tmp_path / "absent.csv", "-p", "P"),
        ("sample", "-p", "No such project"),
        ("evaluate", "-p", "P", "--run", 99),
        ("label", "-p", "P", "--candidates", 99, "--labeler", 1),
        ("jobs", "cancel", 99),
        ("rename", "-p", "P", ""),
        ("backup", gold_file),
    ):
        code, out, err = augsbert(*wrong)
        lines = [line for line in err.splitlines() if not re.match(r".*: +\d+% ", line)]
        assert (code, out, len(lines)) == (1, "", 1), wrong
    for wrong in (
        ("sample",),
        ("sample", "-p", "P", "--strategy", "guess"),
        ("import", gold_file, "-p", "P", "--ratios", "some:to:each"),
        ("import", gold_file, "-p", "P", "--score-range", "five"),
        ("import", gold_file, "-p", "P", "--kind", "quadruplets"),
        ("evaluate", "-p", "P"),
        ("evaluate", "-p", "P", "--run", 1, "--model", "jaccard"),
        ("evaluate", "-p", "P", "--model", "jaccard", "--layers", 2),
        ("no-such-command",),
    ):
        assert augsbert(*wrong)[0] == 2, wrong


def test_a_file_that_is_no_workspace_is_a_user_error(augsbert: Terminal, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "workbench.db").write_text("not a database " * 100)
    code, _, err = augsbert("projects", home=tmp_path / "other")
    assert code == 1
    assert "cannot be used" in err


@pytest.mark.usefixtures("small_models")
def test_the_whole_loop_gives_the_keys_that_programs_rely_on(
    augsbert: Terminal, gold_file: Path
) -> None:
    imported(augsbert, gold_file)
    chosen = augsbert.json("sample", "-p", "P", "--strategy", "random", "--n-pairs", 4)
    assert chosen["n_candidates"] == 4
    labeler = augsbert.json("train", "cross-encoder", "-p", "P", "--epochs", 1, "--seed", 7)
    assert labeler["dev_score"] == 0.5
    silver = augsbert.json(
        "label",
        "-p",
        "P",
        "--candidates",
        chosen["candidate_set_id"],
        "--labeler",
        labeler["run_id"],
    )
    assert silver["n_scored"] == 4
    assert silver["seconds"] >= 0
    lower = augsbert.json("train", "bi-encoder", "-p", "P", "--layers", 2, "--seed", 7)
    ours = augsbert.json(
        *("train", "bi-encoder", "-p", "P", "--silver", silver["silver_set_id"]),
        *("--layers", 2, "--seed", 7),
    )
    twin = augsbert.json("train", "bi-encoder", "-p", "P", "--equal-steps", ours["run_id"])
    assert (lower["n_silver"], ours["n_silver"], twin["n_silver"]) == (0, 4, 0)
    assert twin["n_steps"] == ours["n_steps"] > lower["n_steps"]

    one = augsbert.json("evaluate", "-p", "P", "--run", ours["run_id"], "--split", "dev")
    assert (one["split"], one["metric"], one["target"]) == (
        "dev",
        "spearman",
        f"run:{ours['run_id']}",
    )
    assert {"run_id", "value", "low", "high"} <= set(one)

    compared = augsbert.json("compare", "-p", "P")
    assert (compared["split"], compared["metric"]) == ("test", "spearman")
    kinds = {row["kind"] for row in compared["rows"]}
    assert {"jaccard", "gold-only", "augsbert", "gold-only, equal steps", "cross-encoder"} <= kinds
    for row in compared["rows"]:
        assert {"name", "kind", "metric", "value", "n_silver"} <= set(row)
        assert row["seed"] is None or type(row["seed"]) is int
    assert compared["verdict"]

    code, out, _ = augsbert("compare", "-p", "P")
    assert code == 0
    assert "Spearman×100" in out
    assert compared["verdict"] in out


@pytest.mark.usefixtures("small_models")
def test_undefined_scores_are_null_for_programs_and_named_for_people(
    augsbert: Terminal, gold_file: Path
) -> None:
    # Two test pairs are too few for a correlation.
    lines = [line for line in GOLD_CSV.splitlines() if not line.startswith("She drives")]
    gold_file.write_text("\n".join(lines), encoding="utf-8")
    imported(augsbert, gold_file)
    assert augsbert.json("evaluate", "-p", "P", "--model", "jaccard")["value"] is None
    assert "spearman undefined" in augsbert("evaluate", "-p", "P", "--model", "jaccard")[1]
    assert {row["value"] for row in augsbert.json("compare", "-p", "P")["rows"]} == {None}
    assert "undefined" in augsbert("compare", "-p", "P")[1]


@pytest.mark.usefixtures("small_models")
def test_the_project_says_how_many_layers_a_student_keeps(
    augsbert: Terminal, gold_file: Path
) -> None:
    workspace = open_workspace(augsbert.home)
    projects.create_project(workspace, "P", student_layers=2)
    imported(augsbert, gold_file)
    for arguments, layers in (((), 2), (("--layers", 3), 3), (("--layers", 0), None)):
        run_id = augsbert.json("train", "bi-encoder", "-p", "P", *arguments)["run_id"]
        assert json.loads(runs.get_run(workspace, run_id).options)["layers"] == layers


@pytest.mark.usefixtures("small_models")
def test_the_demo_runs_the_loop_and_prints_the_comparison(augsbert: Terminal) -> None:
    result = augsbert.json("demo")
    kinds = [row["kind"] for row in result["rows"]]
    assert {"untrained", "jaccard", "gold-only", "augsbert", "cross-encoder"} <= set(kinds)
    assert (
        result["steps"]["augsbert"]["n_silver"] == result["steps"]["sample"]["n_candidates"] > 500
    )
    assert (
        result["steps"]["gold-only, equal steps"]["n_steps"]
        == (result["steps"]["augsbert"]["n_steps"])
    )
    assert result["verdict"]
    layered = [row for row in result["rows"] if row["target"].endswith("@layers=2")]
    assert len(layered) == 1


def test_projects_are_renamed_deleted_and_backed_up(
    augsbert: Terminal, gold_file: Path, tmp_path: Path
) -> None:
    imported(augsbert, gold_file)
    assert augsbert("rename", "-p", "P", "Better name")[0] == 0
    copy = tmp_path / "copy" / "workbench.db"
    copy.parent.mkdir()
    assert augsbert("backup", copy)[0] == 0
    assert augsbert("delete", "-p", "better NAME", "--yes")[0] == 0
    assert augsbert.json("projects")["projects"] == []

    kept = projects.list_projects(open_workspace(copy.parent))
    assert [project.name for project in kept] == ["Better name"]


def _job(workspace: Workspace) -> int:
    """A job that was killed while it sampled."""
    project = projects.list_projects(workspace)[0]
    run_id = runs.add_run(workspace, project.id, "sample", "s", to_json(SampleOptions()), 42)
    job_id = queue.add_job(workspace, project.id, run_id, "sample", jobs.NO_DEVICE)
    queue.finish_job(
        workspace, job_id, "interrupted", message="Interrupted", error="It was killed."
    )
    return job_id


def test_jobs_are_listed_shown_resumed_and_removed(augsbert: Terminal, gold_file: Path) -> None:
    imported(augsbert, gold_file)
    job_id = _job(open_workspace(augsbert.home))
    [listed] = augsbert.json("jobs")["jobs"]
    assert (listed["id"], listed["project"], listed["state"]) == (job_id, "P", "interrupted")
    assert "It was killed." in augsbert("jobs")[1]
    assert "It was killed." in augsbert("jobs", "show", job_id)[1]

    # In the background, by a worker of the real kind, with the real step.
    resumed = augsbert.json("jobs", "resume", job_id)
    assert (resumed["state"], resumed["attempt"], resumed["error"]) == ("done", 1, None)
    assert f"Job {job_id}, sample" in augsbert.json("jobs", "show", job_id)["log"]
    assert augsbert("jobs", "resume", job_id)[0] == 1
    assert augsbert("jobs", "remove", job_id)[0] == 1

    other = _job(open_workspace(augsbert.home))
    assert augsbert("jobs", "remove", other)[0] == 0
    assert [job["id"] for job in augsbert.json("jobs", "--project", "P")["jobs"]] == [job_id]


SLOW_SAMPLING = """
import sys, time
from dataclasses import replace
from augsbert_core import steps
from augsbert_core.cli import main
from augsbert_core.progress import stop_if

def slow(context, options):
    for second in range(600):
        context.report(second / 600, f"Second {second}")
        stop_if(context.should_stop)
        time.sleep(0.1)

steps.STEPS["sample"] = replace(steps.STEPS["sample"], function=slow)
main(sys.argv[1:])
"""


def test_ctrl_c_cancels_cleanly(augsbert: Terminal, gold_file: Path) -> None:
    imported(augsbert, gold_file)
    command = subprocess.Popen(
        [sys.executable, "-c", SLOW_SAMPLING, "--home", str(augsbert.home), "sample", "-p", "P"],
        stderr=subprocess.PIPE,
        text=True,
        env=processes.worker_environment(),
    )
    assert command.stderr is not None
    assert "Second 0" in command.stderr.readline()
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=20)
    assert command.returncode == 130
    assert "augsbert jobs resume" in said
    assert "Traceback" not in said
    assert augsbert.json("jobs")["jobs"][0]["state"] == "cancelled"


def test_the_app_starts_in_its_own_folder_with_this_workspace(
    augsbert: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    def become(_program: str, command: list[str], environment: dict[str, str]) -> None:
        started.extend([Path.cwd(), command, environment["AUGSBERT_HOME"]])
        raise SystemExit(0)

    monkeypatch.chdir(bundle.root())
    monkeypatch.setattr(app_command.os, "execve", become)
    assert augsbert("app", "--port", 8599)[0] == 0
    folder, command, home = started
    assert folder == bundle.root()
    assert str(bundle.root() / "app.py") in command
    assert command[-1] == "8599"
    assert home == str(augsbert.home.resolve())


def test_every_command_explains_itself(augsbert: Terminal) -> None:
    commands = [
        "import", "projects", "rename", "delete", "backup", "sample", "train cross-encoder",
        "train bi-encoder", "label", "evaluate", "compare", "jobs", "jobs cancel", "jobs resume",
        "jobs show", "jobs remove", "demo", "app",
    ]  # fmt: skip
    for command in commands:
        code, out, _ = augsbert(*command.split(), "--help")
        assert code == 0
        assert "Usage" in out
    assert "130" in augsbert("--help")[1]
    assert augsbert("--version")[1].startswith("augsbert ")


@pytest.mark.skipif(not STSB.is_dir(), reason="the STS Benchmark files are not here")
def test_the_sts_benchmark_comes_in_whole(augsbert: Terminal) -> None:
    for split, rows in (("train", 5749), ("dev", 1500), ("test", 1379)):
        result = augsbert.json(
            *("import", STSB / f"sts-{split}.tsv", "-p", "STS-B"),
            *("--score-range", "0:5", "--split", split),
        )
        assert (result["rows_read"], result["pairs_kept"], result["rejected"]) == (rows, rows, 0)


def test_broken_pipes_are_no_error(augsbert: Terminal, gold_file: Path) -> None:
    imported(augsbert, gold_file)
    shell = subprocess.run(
        f'"{sys.executable}" -m augsbert_core.cli --home "{augsbert.home}" projects --json | true',
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env=processes.worker_environment(),
    )
    assert "Traceback" not in shell.stderr


def test_imports_are_listed_and_taken_back(augsbert: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("sentence1,sentence2,score\na,b,1\nc,d,2\n,e,3\n", encoding="utf-8")
    augsbert.json("import", file, "-p", "Mine", "--score-range", "0:5")
    (listed,) = augsbert.json("imports", "-p", "Mine")["imports"]
    assert (listed["file"], listed["kept"], listed["rejected"]) == ("pairs.csv", 2, 1)
    code, _, err = augsbert("import", file, "-p", "Mine", "--score-range", "0:5")
    assert code == 1
    assert f"remove-import {listed['run_id']}" in err
    assert "pairs.csv" in augsbert("imports", "-p", "Mine")[1]
    assert augsbert("remove-import", listed["run_id"], "--yes")[0] == 0
    assert augsbert.json("imports", "-p", "Mine")["imports"] == []
    assert augsbert("remove-import", listed["run_id"], "--yes")[0] == 1
