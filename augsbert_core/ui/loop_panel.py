"""Close the loop: the labeler learns from people's decisions, labels again, and the change is shown."""

from collections.abc import Sequence

import streamlit as st

from augsbert_core import explain
from augsbert_core.charts.relabelled import relabelled_figure
from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.options import LabelOptions, from_json
from augsbert_core.steps.audit import scaled_text
from augsbert_core.steps.plans import retrain
from augsbert_core.steps.plans.estimate import estimated_seconds
from augsbert_core.steps.plans.retrain import (
    Retraining,
    labeler_options,
    plan_words,
    retraining,
    unplanned_text,
)
from augsbert_core.steps.relabelled import (
    Relabelled,
    change_page,
    outcome,
    people_text,
    relabelled,
    summary_text,
)
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.queue import list_jobs
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.figures import draw
from augsbert_core.ui.job_panel import batch_kind, job_panel, launch
from augsbert_core.ui.silver_filters import short_title
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, duration_text, page_link, table_pager, user_errors

KIND = "retrain"
PAGE_SIZE = 50


def loop_panel(bench: Bench, project: Project, found: SilverSet, sets: Sequence[SilverSet]) -> None:
    """Retrain with the decisions on a silver set, and see what changed against an earlier one."""
    busy = _needs_a_look(bench, project)
    with st.expander("Close the loop", icon=":material/cycle:", expanded=busy):
        _retrain(bench, project, found)
        if busy:
            job_panel(bench, ["batch"], batches=KIND)
        others = [other for other in sets if other.id != found.id]
        if others:
            _change(bench, project, found, others)


def _needs_a_look(bench: Bench, project: Project) -> bool:
    """As `last_job.needs_a_look`, of the retrainings alone."""
    jobs = [job for job in list_jobs(bench.workspace, project.id) if batch_kind(bench, job) == KIND]
    return bool(jobs) and jobs[0].state != "done"


def _retrain(bench: Bench, project: Project, found: SilverSet) -> None:
    st.markdown("**Retrain the labeler with the corrections**")
    try:
        start = retraining(bench.workspace, project, found.id)
        epochs, with_student = _choices(found, start)
        plan = retrain(bench.workspace, project, found.id, epochs=epochs, with_student=with_student)
    except WorkbenchError as error:
        st.caption(as_text(str(error)))
        return
    words = plan_words(start, epochs=epochs, with_student=with_student)
    st.markdown("\n".join(f"{number}. {as_text(text)}" for number, text in enumerate(words, 1)))
    if missing := unplanned_text(start, with_student=with_student):
        st.caption(as_text(missing))
    seconds = estimated_seconds(bench.workspace, project, plan)
    with st.container(horizontal=True, vertical_alignment="center"):
        started = st.button(
            "Retrain and relabel",
            type="primary",
            icon=":material/cycle:",
            key=f"retrain-{found.id}",
            disabled=not found.is_complete,
            help="One job in the background; it goes on with the browser closed.",
        )
        st.caption(
            f"{many(len(plan.runs), 'run')}, about {duration_text(seconds)}."
            if seconds is not None
            else f"{many(len(plan.runs), 'run')}; nothing like them was measured before, so there is no estimate."
        )
    if started:
        launch(bench, "batch", plan)


def _choices(found: SilverSet, start: Retraining) -> tuple[int | None, bool]:
    """For how many epochs the labeler trains (None: as before), and whether a student is trained."""
    told = labeler_options(start)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        epochs = st.number_input(
            "Epochs of the labeler",
            1,
            1000,
            told.epochs if told.max_steps is None else None,
            placeholder="as before",
            key=f"retrain-epochs-{found.id}",
            width=200,
            help="Once through all training pairs is an epoch. Fewer are faster; dev chooses among them.",
        )
        with_student = st.toggle(
            "Train the student again",
            value=start.student is not None,
            key=f"retrain-student-{found.id}",
            disabled=start.student is None,
            help="Without it, the labelers alone are compared, and it takes less time."
            if start.student is not None
            else "No student has been trained on this set.",
        )
    same = told.max_steps is None and epochs == told.epochs
    return None if same or epochs is None else int(epochs), with_student or start.student is None


def _change(bench: Bench, project: Project, found: SilverSet, others: Sequence[SilverSet]) -> None:
    st.markdown("**What changed**")
    by_id = {other.id: other for other in others}
    before = decided_on(bench.workspace, found)
    usual = before if before in by_id else others[0].id
    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = st.selectbox(
            "Compared with",
            list(by_id),
            index=list(by_id).index(usual),
            format_func=lambda number: short_title(by_id[number]),
            key=f"relabelled-{found.id}",
            help="Another labelling of the same pairs. Scores are compared on the pairs that both sets have.",
        )
        wanted = st.toggle(
            "Show the change per pair",
            value=before is not None and before in by_id and found.n_pairs <= 50_000,
            key=f"relabelled-on-{found.id}",
            help="A million pairs take some seconds.",
        )
    if not wanted or other is None:
        return
    old, new = sorted((found, by_id[other]), key=lambda each: each.id)
    with user_errors():
        result = _relabelled(
            bench.workspace, str(bench.workspace.home), (old.id, new.id), (old.revision, new.revision),
            _marks(bench.workspace, project),
        )  # fmt: skip
        _show(bench, result)


def decided_on(workspace: Workspace, found: SilverSet) -> int | None:
    """The silver set whose decisions a set has taken over, None for none."""
    run = get_run(workspace, found.run_id)
    return from_json(LabelOptions, run.options).decisions_from if run.step == "label" else None


def _marks(workspace: Workspace, project: Project) -> tuple[object, ...]:
    """What changes when people score audits."""
    from augsbert_core.storage.annotation_tasks import list_tasks

    return tuple((task.id, task.n_answers) for task in list_tasks(workspace, project.id))


@st.cache_data(max_entries=4, show_spinner="Comparing both labels of each pair …")
def _relabelled(
    _workspace: Workspace,
    home: str,
    set_ids: tuple[int, int],
    revisions: tuple[int, int],
    marks: tuple[object, ...],
) -> Relabelled:
    """home, revisions, marks: tell whether the pairs and what people say about them are the same."""
    return relabelled(_workspace, *set_ids)


def _show(bench: Bench, found: Relabelled) -> None:
    word, sentences = outcome(found)
    text, icon = as_text(sentences), ":material/compare_arrows:"
    if word == "closer":
        st.success(text, icon=":material/trending_up:")
    elif word == "farther":
        st.error(text, icon=":material/trending_down:")
    elif word == "unclear":
        st.warning(text, icon=":material/trending_flat:")
    else:
        st.info(text, icon=icon)
    st.caption(as_text(summary_text(found)))
    before, after = found.dev_scores
    if before is not None and after is not None:
        st.caption(
            f"Labelers on the dev pairs × 100: set {found.old_set_id} {100 * before:.1f}, set {found.new_set_id} "
            f"{100 * after:.1f}. Dev chose the checkpoints, so both flatter."
        )
    left, right = st.columns(2, gap="medium")
    shared = found.shared
    with left:
        draw(
            relabelled_figure(shared.old, shared.new, found.human, found.score_range),
            key=f"relabelled-{found.old_set_id}-{found.new_set_id}",
            alt="New score of each pair against its old one",
        )
        st.caption(f"Mean change {scaled_text(found.mean_change, found.score_range)}.")
    with right:
        _table(bench, found)
    fair = found.audited or found.corrections
    what_happened(
        explain.relabelled(
            word=word,
            mean_change=found.mean_change.value,
            scale=found.score_range,
            n_fair=fair.n if fair else 0,
            is_audited=found.audited is not None,
            towards=found.towards,
            away=found.away,
        ),
        "relabelled",
    )
    page_link("compare", "Compare the models trained on both")


def _table(bench: Bench, found: Relabelled) -> None:
    key = f"changes-{found.old_set_id}-{found.new_set_id}"
    offset = table_pager(found.n_pairs, key, PAGE_SIZE)
    page = change_page(bench.workspace, found, offset=offset, limit=PAGE_SIZE)
    low, span = found.score_range.low, found.score_range.high - found.score_range.low
    page["human"] = [
        people_text(human, basis, old, found.score_range)
        for human, basis, old in zip(page["human"], page["basis"], page["old"], strict=True)
    ]
    page = page.drop(columns="basis")
    for name in ("old", "new"):
        page[name] = low + span * page[name]
    page["change"] = span * page["change"]
    numbers = {"old": "Old", "new": "New", "change": "Change"}
    st.dataframe(
        page,
        hide_index=True,
        height=380,
        placeholder="",
        column_config={
            "sentence1": "Sentence 1",
            "sentence2": "Sentence 2",
            **{
                name: st.column_config.NumberColumn(
                    title, format="%+.2f" if name == "change" else "%.2f", width=70
                )
                for name, title in numbers.items()
            },
            "human": st.column_config.TextColumn(
                "People",
                width=115,
                help="People's score. “Accepted at” is the old labeler's own: people let it stand.",
            ),
            "used": st.column_config.CheckboxColumn(
                "Trained on",
                width=80,
                help="A labeler has learnt from this pair, or gold holds it.",
            ),
            "moved": st.column_config.TextColumn(
                "Moved",
                width=75,
                help="Towards people's score, or away from it; "
                "empty for accepted pairs, of which only the old score is known.",
            ),
        },
        alt="Pairs whose score changed",
    )
