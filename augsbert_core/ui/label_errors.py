"""Likely label errors in gold: start the search, and go through what it found, one key for each pair."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BUNDLED_MODEL, LabelErrorsOptions
from augsbert_core.scales import Level, level_labels, offered_scales, scale_levels
from augsbert_core.steps.label_errors import FEW_PAIRS, FEWEST_PAIRS, HOW_RANKED, ranked_errors
from augsbert_core.storage import edits, gold_edits, out_of_fold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.edit_panel import edit_buttons, edit_log_panel, overwritten_notice
from augsbert_core.ui.identity import name_button
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.notices import Refused
from augsbert_core.ui.pair_view import show_pair
from augsbert_core.ui.recipes import base_input, device_input, keep, learning_rate_input, whole
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, empty_state, score_text, time_text

PAGE = "label-errors"
PLACE = "label-errors-place"
NOTICE = "label-errors-notice"

MOST_SHOWN = 500
"""Beyond so many pairs the gold score is hardly ever the one that is wrong."""

PAGE_ROWS = 10

SPLIT_WARNINGS = {
    "dev": "A dev pair: models were chosen by its score.",
    "test": "A test pair: with another score, results measured before are those of other data. Measure again.",
}

Go = Callable[[int], None]


def label_errors_panel(bench: Bench, project: Project) -> None:
    """What the search does, a form that starts it, its job, and what the last one found."""
    counts = count_project(bench.workspace, project.id)
    st.markdown(
        "People make slips. Cross-encoders are trained on parts of the gold pairs and score the part that they have not "
        "seen; where they contradict a score most, look again."
    )
    if counts.train < FEWEST_PAIRS:
        empty_state(
            f"The search needs {FEWEST_PAIRS} gold training pairs or more; there are {counts.train:,}. Import or "
            "annotate some.",
            "annotate",
            "Score pairs by hand",
            also=[("gold", "Import gold pairs")],
        )
        return
    if counts.train < FEW_PAIRS:
        st.warning(
            f"With {counts.train:,} training pairs the models are weak: mostly they are wrong, and not gold. "
            f"From {FEW_PAIRS} on, the list is worth reading.",
            icon=":material/warning:",
        )
    newest = out_of_fold.newest_search(bench.workspace, project.id)
    with st.expander("Look for label errors", icon=":material/troubleshoot:", expanded=not newest):
        _form(bench, project)
    if needs_a_look(bench, "label-errors"):
        job_panel(bench, ["label-errors"])
    if newest is not None:
        results(bench.workspace, project, newest.id)
        edit_log_panel(bench.workspace, edits.Scope.gold(project.id), "gold-edits")


def _form(bench: Bench, project: Project) -> None:
    usual = LabelErrorsOptions()
    with st.form("label-errors-form", border=False):
        left, middle, right = st.columns(3)
        with left:
            folds = whole(
                "Folds", 2, 20, 1,
                "So many models are trained, each on all parts of the training pairs but one. More folds take longer, "
                "and each model knows more.",
                **keep(PAGE, project, "folds", usual.folds),
            )  # fmt: skip
            epochs = whole(
                "Epochs", 1, 100, 1, "Passes over the training pairs of each model. With many, models learn wrong "
                "scores of similar pairs by heart.",
                **keep(PAGE, project, "epochs", usual.epochs),
            )  # fmt: skip
        with middle:
            base = base_input(PAGE, project, BUNDLED_MODEL)
            device = device_input(PAGE, project)
        with right:
            rate = learning_rate_input(PAGE, project, usual.learning_rate)
            batch_size = whole(
                "Batch size", 1, 1024, 8, "Pairs per optimiser step.",
                **keep(PAGE, project, "batch_size", usual.batch_size),
            )  # fmt: skip
        start = st.form_submit_button(
            "Start the search", type="primary", icon=":material/search:",
            help="Queues one job that trains a cross-encoder per part; gold stays as it is.",
        )  # fmt: skip
    if start:
        options = LabelErrorsOptions(
            folds=folds, base=base, epochs=epochs, batch_size=batch_size, learning_rate=rate,
            device=device,
        )  # fmt: skip
        launch(bench, "label-errors", options)


@st.cache_data(max_entries=4, show_spinner=False)
def _ranking(home: str, run_id: int) -> pd.DataFrame:
    """The most doubtful pairs of a finished search: it does not change any more."""
    workspace = Workspace(Path(home))
    return ranked_errors(workspace, get_run(workspace, run_id)).head(MOST_SHOWN)


@st.fragment
def results(workspace: Workspace, project: Project, run_id: int) -> None:
    """The ranked pairs, one of them open; only this part is drawn again after a key."""
    run = get_run(workspace, run_id)
    found = _ranking(str(workspace.home), run_id)
    now = out_of_fold.present_scores(workspace, found["gold_pair_id"].tolist())
    found = found[found["gold_pair_id"].isin(list(now))].reset_index(drop=True)
    if found.empty:
        empty_state("The gold pairs of the last search are gone. Start another one.")
        return
    looked = gold_edits.looked_at(workspace, project.id, run.created_at)
    is_open = ~found["gold_pair_id"].isin(list(looked))
    place = _place(run_id, is_open)
    _about(run, len(found), int(is_open.sum()))
    actor = name_button()

    def go(to: int) -> None:
        st.session_state[PLACE] = (run_id, min(max(to, 0), len(found) - 1))

    def tell(text: str) -> None:
        st.session_state[NOTICE] = text

    row = found.iloc[[place]].to_dict("records")[0]
    seen = now[int(row["gold_pair_id"])]
    with st.container(border=True, key="label-errors-pair"):
        show_pair(row["sentence1"], row["sentence2"])
        _scores(project, row, place, seen, is_done=not is_open[place])
        _keys(workspace, project, row, seen, actor, tell, lambda: go(_next(is_open, place)))
        _moves(workspace, project, place, actor, tell, go)
    overwritten_notice(workspace, edits.Scope.gold(project.id), actor, tell)
    _notice()
    _table(project, found, now, is_open, place, run_id, go)


def _place(run_id: int, is_open: pd.Series) -> int:
    """The place of the pair on the screen: where the user is, else the first that nobody has looked at."""
    kept_run, place = st.session_state.get(PLACE, (None, 0))
    if kept_run == run_id and 0 <= place < len(is_open):
        return int(place)
    return int(is_open.to_numpy().argmax())


def _next(is_open: pd.Series, place: int) -> int:
    """The next place after this one that nobody has looked at, else the one after."""
    later = is_open.index[is_open.to_numpy() & (is_open.index > place)]
    return int(later[0]) if len(later) else place + 1


def _about(run: Run, n_found: int, n_open: int) -> None:
    told = run.metrics
    folds = f"{told.get('folds', '?')} folds"
    spearman = told.get("spearman")
    agrees = "" if spearman is None else f" · Spearman with gold × 100: {100 * spearman:.1f}"
    st.markdown(
        f"**{n_open:,} of the {n_found:,} most doubtful pairs** are not looked at yet.  \n"
        f":small[:gray[{as_text(time_text(run.created_at))} · {folds}, {told.get('n_scored', 0):,} pairs "
        f"scored{agrees}]]"
    )
    for notice in told.get("notices", []):
        st.caption(f":material/info: {as_text(notice)}")
    with st.expander("How pairs are ranked", icon=":material/help:"):
        st.markdown(HOW_RANKED)
    what_happened(
        explain.label_errors(
            folds=int(told.get("folds") or 0),
            n_scored=int(told.get("n_scored") or 0),
            spearman=spearman,
            n_listed=n_found,
            n_looked=n_found - n_open,
        ),
        "label-errors",
    )


def _scores(
    project: Project, row: Mapping[Any, Any], place: int, seen: tuple[float, str], *, is_done: bool
) -> None:
    raw, label = seen
    given = f"{raw:g}" + (f" ({label})" if label else "")
    parts = [
        f"**{place + 1}.** Gold **{as_text(given)}**",
        f"models expect **{as_text(score_text(project, row['expected']))}**",
        as_text(f"{row['split']} · {row['source_file']}, line {row['source_line']}"),
    ]
    if is_done:
        parts.append(":green[:material/check: looked at]")
    st.markdown(" · ".join(parts))
    if row["split"] in SPLIT_WARNINGS:
        st.caption(f":material/warning: {SPLIT_WARNINGS[row['split']]}")


def fixing_levels(project: Project) -> list[tuple[Level, str, float]]:
    """The levels of the project's own scale: level, what people read, and the raw score."""
    scale = offered_scales(project.task, project.score_range, has_gold=True)[0]
    levels = scale_levels(scale)
    labels = level_labels(scale, levels, project.score_range)
    return [
        (level, label, round(project.score_range.to_raw(level.score), 9))
        for level, label in zip(levels, labels, strict=True)
    ]


def _keys(
    workspace: Workspace,
    project: Project,
    row: Mapping[Any, Any],
    seen: tuple[float, str],
    actor: str,
    tell: Callable[[str], None],
    onward: Callable[[], None],
) -> None:
    """A button and a key for every level, and K to keep the score."""
    pair_id = int(row["gold_pair_id"])

    def fix(raw: float) -> None:
        try:
            gold_edits.set_gold_score(workspace, pair_id, raw, actor=actor, seen=seen)
        except WorkbenchError as error:
            tell(Refused(error))
            return
        tell(f"Gold score {seen[0]:g} → {raw:g}" if raw != seen[0] else f"{raw:g} confirmed")
        onward()

    def keep_it() -> None:
        try:
            gold_edits.keep_gold_score(workspace, pair_id, actor=actor)
        except WorkbenchError as error:
            tell(Refused(error))
            return
        tell(f"{seen[0]:g} kept")
        onward()

    with st.container(horizontal=True, gap="xsmall", key="label-errors-levels"):
        for level, label, raw in fixing_levels(project):
            st.button(
                as_text(label),
                key=f"fix-{level.key}",
                shortcut=level.key,
                type="secondary" if raw != seen[0] else "primary",
                on_click=fix,
                args=(raw,),
            )
        st.button(
            "Keep", key="fix-keep", shortcut="k", on_click=keep_it,
            help="The gold score is right. The pair counts as looked at.",
        )  # fmt: skip


def _moves(
    workspace: Workspace,
    project: Project,
    place: int,
    actor: str,
    tell: Callable[[str], None],
    go: Go,
) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Back", key="fix-back", shortcut="left", on_click=go, args=(place - 1,),
            help="The suspect before; moving decides nothing.",
        )  # fmt: skip
        st.button(
            "Next", key="fix-next", shortcut="right", on_click=go, args=(place + 1,),
            help="The next suspect; this one stays open.",
        )  # fmt: skip
        edit_buttons(workspace, edits.Scope.gold(project.id), actor, tell, keys=True)


def _notice() -> None:
    text = st.session_state.get(NOTICE)
    if isinstance(text, Refused):
        st.warning(as_text(text), icon=":material/block:")
    elif text:
        st.caption(f":material/check: {as_text(text)}")
    else:
        st.caption(
            ":material/keyboard: The key on a score sets it, K keeps the gold score, arrows move, U takes back."
        )


def _table(
    project: Project,
    found: pd.DataFrame,
    now: dict[int, tuple[float, str]],
    is_open: pd.Series,
    place: int,
    run_id: int,
    go: Go,
) -> None:
    """The pairs around the open one; a click opens another."""
    start = place // PAGE_ROWS * PAGE_ROWS
    page = found.iloc[start : start + PAGE_ROWS]
    low, high = project.score_range.low, project.score_range.high
    span = high - low
    rows = pd.DataFrame(
        {
            "Rank": page.index + 1,
            "Gold": [now[int(number)][0] for number in page["gold_pair_id"]],
            "Expected": low + span * page["expected"],
            "Apart": span * page["gap"],
            "Sentence 1": page["sentence1"],
            "Sentence 2": page["sentence2"],
            "Split": page["split"],
            "Looked at": ["" if waits else "✓" for waits in is_open[page.index]],
        }
    )
    # The number of the open pair is part of the key: a row that was clicked is not selected for ever.
    event = st.dataframe(
        rows,
        hide_index=True,
        height="content",
        key=f"label-errors-{run_id}-{place}",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            **{
                name: st.column_config.NumberColumn(format="%.2f", width=80)
                for name in ("Gold", "Expected", "Apart")
            },
            "Rank": st.column_config.NumberColumn(width=60),
            "Looked at": st.column_config.TextColumn(width=80),
        },
        alt="Gold pairs that may be scored wrongly",
    )
    chosen: Sequence[int] = event["selection"]["rows"] if event else []
    if chosen and start + chosen[0] != place:
        go(start + chosen[0])
        st.rerun(scope="fragment")
