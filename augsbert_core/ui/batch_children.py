"""The runs of a batch, live: what is done, what is at work, and the curves of one of them."""

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import charts
from augsbert_core.options import BatchOptions, PlannedRun, from_json
from augsbert_core.steps import STEPS
from augsbert_core.storage.batches import children
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import list_projects
from augsbert_core.storage.records import Run
from augsbert_core.storage.runs import read_metrics
from augsbert_core.ui.figures import draw
from augsbert_core.ui.widgets import duration_text

STATE_WORDS = {
    "started": "▶ Running",
    "done": "✓ Done",
    "failed": "✕ Failed",
    "cancelled": "○ Cancelled",
    "interrupted": "! Interrupted",
}
WAITING = "◷ Waiting"

MOST_ROWS = 9
"""A longer table scrolls."""


def show_curves(workspace: Workspace, run_id: int) -> None:
    """The curves of a run, as soon as one has two points."""
    curves = read_metrics(workspace, run_id)
    if any(len(steps) > 1 for steps, _ in curves.values()):
        draw(
            charts.curves_figure(curves),
            key=f"curves-{run_id}",
            alt="What the run has reported along its steps",
        )


def batch_children(workspace: Workspace, batch: Run) -> None:
    """All runs of a batch in a table; the curves of the one that is marked in it, else of the one at work."""
    planned = from_json(BatchOptions, batch.options).runs
    begun = {str(child.child_key): child for child in children(workspace, batch.id)}
    names = {project.id: project.name for project in list_projects(workspace)}
    chosen: Any = st.dataframe(
        children_frame(planned, begun, batch.project_id, names),
        hide_index=True,
        key=f"children-{batch.id}",
        on_select="rerun",
        selection_mode="single-row",
        height="content" if len(planned) <= MOST_ROWS else 36 * (MOST_ROWS + 1),
        column_config={
            "State": st.column_config.TextColumn(width=105),
            "Run": st.column_config.NumberColumn(format="%d", width=50),
            "Dev": st.column_config.NumberColumn("Dev × 100", format="%.1f", width=80),
            "Time": st.column_config.TextColumn(width=85),
            "Seed": st.column_config.NumberColumn(format="%d", width=60),
        },
        placeholder="",
        alt="Runs of this batch",
    )
    rows = chosen["selection"]["rows"]
    shown = begun.get(planned[rows[0]].key) if rows and rows[0] < len(planned) else None
    at_work = next((child for child in begun.values() if child.state == "started"), None)
    if child := shown or at_work:
        show_curves(workspace, child.id)
    if not rows and len(begun) > 1:
        st.caption("Mark a row to see the curves of that run.")


def children_frame(
    planned: tuple[PlannedRun, ...],
    begun: dict[str, Run],
    project_id: int,
    project_names: dict[int, str],
) -> pd.DataFrame:
    """One row per planned run: state, step, group, run, seed, dev score, time; project when there are several."""
    frame = pd.DataFrame([_child_row(one, begun.get(one.key)) for one in planned])
    owners = [one.project_id or project_id for one in planned]
    if len(set(owners)) > 1:
        frame.insert(3, "Project", [project_names.get(owner, "") for owner in owners])
    return frame


def _child_row(planned: PlannedRun, child: Run | None) -> dict[str, Any]:
    step = STEPS.get(planned.step)
    score = child.metrics.get("dev_score") if child else None
    return {
        "State": STATE_WORDS[child.state] if child else WAITING,
        "Step": step.title if step else planned.step,
        "What": planned.group or planned.key,
        "Run": child.id if child else None,
        "Seed": child.seed if child else None,
        "Dev": None if score is None else 100 * float(score),
        "Time": _time(child) if child else "",
    }


def _time(child: Run) -> str:
    """What the run measured itself; while it is at work, and for short steps, the time since it began."""
    measured = child.metrics.get("seconds")
    if child.state == "done" and measured:
        return duration_text(float(measured))
    if child.state not in ("started", "done"):
        return ""
    end = datetime.fromisoformat(child.finished_at) if child.finished_at else datetime.now(UTC)
    return duration_text((end - datetime.fromisoformat(child.created_at)).total_seconds())
