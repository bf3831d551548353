"""Settle pairs on which annotators disagree, by keyboard: the worst first, every score in view."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from augsbert_core import metrics
from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import level_labels
from augsbert_core.storage import annotations
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask
from augsbert_core.ui.identity import person
from augsbert_core.ui.pair_view import show_pair
from augsbert_core.ui.widgets import as_text, empty_state, user_errors


@dataclass
class Desk:
    """Where an adjudicator is. order: item ids, fixed while the view is open; log: what was set, newest last."""

    order: list[int]
    at: int = 0
    log: list[tuple[int, float | None]] = field(default_factory=list)

    def move(self, step: int) -> None:
        """To the next or the one before, never off the end."""
        self.at = min(max(self.at + step, 0), len(self.order) - 1)


def adjudication(
    workspace: Workspace, task: AnnotationTask, item_ids: Sequence[int], *, which: str
) -> None:
    """One pair after another with all its scores; a key settles it. item_ids: worst first. which: what they are."""
    key = f"adjudicate-{task.id}-{which}"
    desk: Desk | None = st.session_state.get(key)
    known = set(item_ids)
    if desk is None or set(desk.order) != known:
        # What was settled stays in its place; a pair that was scored meanwhile starts the list anew.
        desk = st.session_state[key] = Desk(list(item_ids))
    if not desk.order:
        empty_state("No pair is left to settle here: everyone agrees.")
        return
    _desk(workspace, task, key)


@st.fragment
def _desk(workspace: Workspace, task: AnnotationTask, key: str) -> None:
    desk: Desk = st.session_state[key]
    matrix = annotations.score_matrix(workspace, task.id)
    items = matrix.items.set_index("item_id")
    order = [item for item in desk.order if item in items.index]
    if not order:
        empty_state("The pairs of this task are gone.")
        return
    desk.order, desk.at = order, min(desk.at, len(order) - 1)
    item_id = order[desk.at]
    row = items.loc[item_id]
    place = int(np.flatnonzero(matrix.items["item_id"].to_numpy() == item_id)[0])
    scores = {
        name: float(own[place])
        for name, own in zip(matrix.annotators, np.asarray(matrix.scores), strict=True)
        if not np.isnan(own[place])
    }
    settled = items.loc[order, "adjudicated_score"].notna()
    n_settled = int(settled.sum())
    _head(workspace, task, desk, key, n_settled)
    _who(person(), scores)
    with st.container(border=True, key="adjudicate-card"):
        show_pair(str(row["sentence1"]), str(row["sentence2"]))
        now = _settled_score(matrix, item_id)
        st.html(ruler_html(scores, now, task.score_range, str(row["adjudicator"])))
        _keys(workspace, task, key, int(item_id), scores, now)
    st.caption(
        "A key settles the pair and shows the next. The scores of the annotators stay as they are; merging by "
        "“adjudicated” takes yours."
    )


def _who(name: str, scores: dict[str, float]) -> None:
    """Under which name pairs are settled, and a notice when it is that of someone who scored this one."""
    if name in scores:
        st.info(
            as_text(
                f"You settle as {name}, and {name} is one of the annotators of this pair. A third person should settle it."
            ),
            icon=":material/person_alert:",
        )
    else:
        st.caption(f":material/person: {as_text(f'You settle as {name}.')}")


def _head(workspace: Workspace, task: AnnotationTask, desk: Desk, key: str, n_settled: int) -> None:
    n_pairs = len(desk.order)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            n_settled / n_pairs, text=f"Pair {desk.at + 1} of {n_pairs} · {n_settled} settled"
        )
        for label, icon, step, shortcut, why in (
            ("Previous", "arrow_back", -1, "Left", "The pair before; moving settles nothing."),
            ("Next", "arrow_forward", 1, "Right", "The next pair; this one stays as it is."),
        ):
            st.button(
                label,
                icon=f":material/{icon}:",
                key=f"{key}-{label.lower()}",
                shortcut=shortcut,
                on_click=desk.move,
                args=(step,),
                disabled=not 0 <= desk.at + step < n_pairs,
                help=why,
            )
        st.button(
            "Undo",
            icon=":material/undo:",
            key=f"{key}-undo",
            shortcut="u",
            on_click=_undo,
            args=(workspace, task, key),
            disabled=not desk.log,
            help="Take back what you settled last in this window.",
        )


def _keys(
    workspace: Workspace,
    task: AnnotationTask,
    key: str,
    item_id: int,
    scores: dict[str, float],
    now: float | None,
) -> None:
    def settle(label: str, score: float | None, shortcut: str, name: str, is_now: bool) -> None:
        st.button(
            label,
            key=f"{key}-{name}",
            shortcut=shortcut,
            type="primary" if is_now else "secondary",
            on_click=_settle,
            args=(workspace, task, key, item_id, score),
        )

    with st.container(horizontal=True, gap="xsmall", key="adjudicate-levels"):
        labels = level_labels(task.scale, task.levels, task.score_range)
        for level, label in zip(task.levels, labels, strict=True):
            is_now = now is not None and abs(now - level.score) < 1e-9
            settle(as_text(label), level.score, level.key, f"level-{level.key}", is_now)
    with st.container(horizontal=True, gap="small"):
        if scores:
            mean = float(metrics.merge(np.array([[score] for score in scores.values()]))[0][0])
            is_now = now is not None and abs(now - mean) < 1e-9
            raw = task.score_range.to_raw(mean)
            settle(f"Take the mean, {raw:.2f}", mean, "k", "mean", is_now)
        if now is not None:
            settle("Leave it open", None, "Delete", "open", False)


def _settle(
    workspace: Workspace, task: AnnotationTask, key: str, item_id: int, score: float | None
) -> None:
    desk: Desk = st.session_state[key]
    with user_errors():
        matrix = annotations.score_matrix(workspace, task.id)
        before = _settled_score(matrix, item_id)
        annotations.adjudicate(workspace, item_id, score, person())
        desk.log.append((item_id, before))
        if score is not None:
            desk.move(1)


def _undo(workspace: Workspace, task: AnnotationTask, key: str) -> None:
    desk: Desk = st.session_state[key]
    if not desk.log:
        return
    item_id, before = desk.log[-1]
    with user_errors():
        annotations.adjudicate(workspace, item_id, before, person())
        desk.log.pop()
        if item_id in desk.order:
            desk.at = desk.order.index(item_id)


def _settled_score(matrix: annotations.ScoreMatrix, item_id: int) -> float | None:
    found = matrix.items.loc[matrix.items["item_id"] == item_id, "adjudicated_score"]
    return None if found.empty or found.isna().iloc[0] else float(found.iloc[0])


RULER_STYLE = """
<style>
.aug-ruler { position: relative; margin: 0.4rem 1.2rem 0.2rem; font-size: 0.86rem; }
.aug-ruler .line { position: relative; height: 2px; background: color-mix(in srgb, currentColor 25%, transparent); }
.aug-ruler .tick { position: absolute; top: 6px; transform: translateX(-50%); opacity: 0.65; }
.aug-ruler .row { position: relative; height: 1.55rem; }
.aug-ruler .who { position: absolute; bottom: 2px; transform: translateX(-50%); white-space: nowrap; padding: 0 0.5rem;
  border-radius: 0.7rem; background: color-mix(in srgb, #C4830F 22%, transparent);
  border: 1px solid #C4830F; line-height: 1.3rem; }
.aug-ruler .who.first { transform: none; }
.aug-ruler .who.last { transform: translateX(-100%); }
.aug-ruler .who.set { background: color-mix(in srgb, #2c8c86 26%, transparent); border-color: #2c8c86;
  font-weight: 600; }
.aug-ruler .foot { height: 1.7rem; }
</style>
"""


def ruler_html(
    scores: dict[str, float], settled: float | None, scale: ScoreRange, adjudicator: str = ""
) -> str:
    """Names at their scores along the scale, a row for each, and the settled score; names are escaped.

    scores: in [0, 1] by annotator. adjudicator: who settled it.
    """
    ordered = sorted(scores.items(), key=lambda entry: entry[1])
    marks = [(name, score, "") for name, score in ordered]
    if settled is not None:
        by = f"settled by {adjudicator}" if adjudicator else "settled"
        marks.append((by, settled, " set"))
    rows = "".join(
        f'<div class="row"><span class="who{kind}{_edge(score)}" style="left:{100 * score:.2f}%">'
        f"{html.escape(name)} · {scale.to_raw(score):.4g}</span></div>"
        for name, score, kind in marks
    )
    ticks = "".join(
        f'<span class="tick" style="left:{100 * part:.0f}%">{scale.to_raw(part):.4g}</span>'
        for part in np.linspace(0.0, 1.0, _n_ticks(scale)).tolist()
    )
    return (
        f'{RULER_STYLE}<div class="aug-ruler">{rows}<div class="line"></div>'
        f'<div class="foot" style="position:relative">{ticks}</div></div>'
    )


def _n_ticks(scale: ScoreRange) -> int:
    """A tick at every whole number of a short scale, else at every fifth."""
    span = scale.high - scale.low
    return int(span) + 1 if span == int(span) and 2 <= span <= 10 else 6


def _edge(score: float) -> str:
    """Marks near an end of the scale stay inside."""
    return " first" if score < 0.08 else " last" if score > 0.92 else ""
