"""Deciding on many silver pairs from the command line, taking it back, and the log of who did what."""

import json
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from augsbert_core.cli import reviewing
from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import reviews, silver_bins
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.silver_pairs import all_pairs, recounted, sixty_pairs, stored_bins


@pytest.fixture
def silver_set(workspace: Workspace, project: Project) -> int:
    """Sixty pairs, scored 0, 1/64, 2/64 … of the scale 0 to 5."""
    return sixty_pairs(workspace, project)


def command(workspace: Workspace, *words: object, told: str | None = None) -> Result:
    """The outcome of `augsbert`, with this typed at its question."""
    app = typer.Typer()
    reviewing.register(app)

    @app.callback()
    def home(context: typer.Context) -> None:
        context.obj = workspace.home

    return CliRunner().invoke(app, [str(word) for word in words], input=told)


def statuses(workspace: Workspace, set_id: int) -> dict[str, int]:
    """How many pairs have which status, those of none left out."""
    counts = silver_bins.silver_status_counts(workspace, set_id)
    return {status: number for status, number in counts.items() if number}


def test_reject_what_scores_low_and_take_it_back(workspace: Workspace, silver_set: int) -> None:
    low = ("review", silver_set, "--status", "rejected", "--max-score", "2.5")
    told = command(workspace, *low, "--dry-run")
    assert "33 pairs" in told.stdout
    assert statuses(workspace, silver_set) == {"unreviewed": 60}

    assert "33 pairs rejected" in command(workspace, *low, "--yes", "--actor", "Ada").stdout
    assert statuses(workspace, silver_set) == {"unreviewed": 27, "rejected": 33}
    assert stored_bins(workspace) == recounted(workspace)

    undone = command(workspace, "undo-review", silver_set, "--actor", "Ada")
    assert undone.stdout == "Undone on 33 pairs: rejected: score 0 to 2.5\n"
    assert statuses(workspace, silver_set) == {"unreviewed": 60}
    again = command(workspace, "redo-review", silver_set, "--actor", "Ada")
    assert again.stdout.startswith("Redone on 33 pairs")
    assert statuses(workspace, silver_set) == {"unreviewed": 27, "rejected": 33}
    assert stored_bins(workspace) == recounted(workspace)


def test_it_asks_before_it_changes_anything(workspace: Workspace, silver_set: int) -> None:
    everything = ("review", silver_set, "--status", "accepted")
    refused = command(workspace, *everything, told="n\n")
    assert isinstance(refused.exception, WorkbenchError)
    assert "Nothing was changed" in str(refused.exception)
    assert statuses(workspace, silver_set) == {"unreviewed": 60}
    assert command(workspace, *everything, told="y\n").exit_code == 0
    assert statuses(workspace, silver_set) == {"accepted": 60}


def test_filters_go_together(workspace: Workspace, silver_set: int) -> None:
    first = all_pairs(workspace, silver_set)[0]
    reviews.review_silver_pair(workspace, first["id"], status="flagged", actor="Ben")
    told = command(
        workspace, "review", silver_set, "--status", "accepted", "--with-status", "flagged", "--with-status",
        "corrected", "--min-rank", "1", "--max-rank", "1", "--text", "sentence 0", "--yes", "--json",
    )  # fmt: skip
    assert json.loads(told.stdout) == {"silver_set_id": silver_set, "n_found": 1, "n_changed": 1}
    assert statuses(workspace, silver_set) == {"unreviewed": 59, "accepted": 1}


def test_rescale_on_the_scale_of_the_project(workspace: Workspace, silver_set: int) -> None:
    told = command(workspace, "review", silver_set, "--rescale", "1:4", "--yes")
    assert "60 pairs rescaled to 1:4" in told.stdout
    scores = [pair["final_score"] for pair in all_pairs(workspace, silver_set)]
    assert scores == pytest.approx([0.2 + 0.6 * number / 64 for number in range(60)])
    assert statuses(workspace, silver_set) == {"corrected": 60}


def test_what_someone_else_has_changed_stays(workspace: Workspace, silver_set: int) -> None:
    command(workspace, "review", silver_set, "--status", "rejected", "--yes", "--actor", "Ada")
    first = all_pairs(workspace, silver_set)[0]
    reviews.review_silver_pair(workspace, first["id"], status="accepted", actor="Ben")
    refused = command(workspace, "undo-review", silver_set, "--actor", "Ada")
    assert isinstance(refused.exception, WorkbenchError)
    assert "Ben has changed 1 of the 60 pairs" in str(refused.exception)
    assert statuses(workspace, silver_set) == {"rejected": 59, "accepted": 1}
    done = command(workspace, "undo-review", silver_set, "--actor", "Ada", "--leave-changed")
    assert "59 pairs; 1 pair stays as decided by Ben" in done.stdout
    assert statuses(workspace, silver_set) == {"unreviewed": 59, "accepted": 1}


def test_the_log_names_who_did_what(workspace: Workspace, silver_set: int) -> None:
    assert "Nobody" in command(workspace, "review-log", silver_set).stdout
    nothing = command(workspace, "undo-review", silver_set, "--actor", "Ada")
    assert nothing.stdout == f"Ada has nothing to undo in silver set {silver_set}.\n"
    for name in ("Ada", "Ben"):
        command(workspace, "review", silver_set, "--status", "flagged", "--max-rank", "1", "--yes", "--actor", name)  # fmt: skip
    command(workspace, "review", silver_set, "--status", "accepted", "--yes", "--actor", "Ben")
    command(workspace, "undo-review", silver_set, "--actor", "Ben")

    def told(*more: str) -> list[tuple[Any, ...]]:
        found = json.loads(command(workspace, "review-log", silver_set, "--json", *more).stdout)
        return [
            (row["actor"], row["kind"], row["state"], row["n_changes"]) for row in found["edits"]
        ]

    assert told() == [
        ("Ben", "undo", "logged", 60),
        ("Ben", "bulk-review", "undone", 60),
        ("Ada", "bulk-review", "applied", 20),
    ]
    assert told("--actor", "Ada") == [("Ada", "bulk-review", "applied", 20)]
    table = command(workspace, "review-log", silver_set, "--last", "1").stdout
    assert "undo" in table
    assert "accepted: all pairs" in table
    assert "2 earlier rows" in table


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--status", "accepted", "--rescale", "1:2"], "one of --status and --rescale"),
        ([], "one of --status and --rescale"),
        (["--status", "corrected"], "corrected"),
        (["--status", "accepted", "--with-status", "odd"], "'odd' is none of unreviewed"),
        (["--rescale", "0:9"], "not on the project's scale"),
        (["--status", "accepted", "--min-score", "7"], "not on the project's scale"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    workspace: Workspace, silver_set: int, words: list[str], why: str
) -> None:
    refused = command(workspace, "review", silver_set, *words, "--yes")
    assert refused.exit_code == 2
    assert why in " ".join(refused.output.replace("│", " ").split())
    assert statuses(workspace, silver_set) == {"unreviewed": 60}


def test_a_set_that_is_not_there(workspace: Workspace) -> None:
    for words in (
        ["review", 9, "--status", "accepted"],
        ["undo-review", 9],
        ["redo-review", 9],
        ["review-log", 9],
    ):
        refused = command(workspace, *words)
        assert isinstance(refused.exception, WorkbenchError), words
        assert "ilver set 9" in str(refused.exception)


def test_a_name_is_the_same_however_it_is_spaced(workspace: Workspace, silver_set: int) -> None:
    command(
        workspace,
        "review",
        silver_set,
        "--status",
        "rejected",
        "--yes",
        "--actor",
        " A\x00da\u202e  B.",
    )
    undone = command(workspace, "undo-review", silver_set, "--actor", "Ada B.")
    assert undone.stdout.startswith("Undone on 60 pairs")
    long = command(
        workspace, "review", silver_set, "--status", "flagged", "--yes", "--actor", "x" * 201
    )
    assert "1 to 200 characters" in str(long.exception)
    assert statuses(workspace, silver_set) == {"unreviewed": 60}
