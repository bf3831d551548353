"""Set up annotation: a new task, the tasks there are, the guideline; and where to begin with nothing."""

import streamlit as st

from augsbert_core.explain.phrases import many
from augsbert_core.storage.projects import ProjectCounts
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.annotate_form import new_task
from augsbert_core.ui.annotate_guideline import guideline_panel
from augsbert_core.ui.annotate_tasks import task_rows
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.checklist import ICONS
from augsbert_core.ui.job_panel import job_panel
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.widgets import page_link


def setup_view(
    bench: Bench, project: Project, tasks: list[AnnotationTask], counts: ProjectCounts
) -> None:
    """Everything that is decided before people score."""
    if needs_a_look(bench, "annotate"):
        job_panel(bench, ["annotate"])
    if tasks:
        st.subheader("Tasks", anchor=False)
        task_rows(bench, project, tasks)
    st.subheader("New task", anchor=False)
    with st.container(border=True):
        new_task(bench, project, counts)
    st.subheader("Guideline", anchor=False)
    guideline_panel(bench, project)


def first_steps(counts: ProjectCounts) -> None:
    """From unlabelled sentences to a trained model: what is done, and the page of each step."""
    has_text = counts.unlabelled_sentences > 0 or counts.gold > 0
    has_pairs = counts.candidate_sets > 0 or counts.silver_sets > 0 or counts.gold > 0
    told = [
        (
            "Import sentences",
            "Unlabelled text is enough; or upload pairs without scores.",
            "sample",
            "Import",
            has_text,
            many(counts.unlabelled_sentences, "unlabelled sentence")
            if counts.unlabelled_sentences
            else "",
        ),
        (
            "Sample pairs",
            "BM25, semantic search or stratified by cosine find pairs that are worth a score.",
            "sample",
            "Sample",
            has_pairs,
            many(counts.candidate_sets, "candidate set") if counts.candidate_sets else "",
        ),
        (
            "Annotate",
            "Make a task below, and score its pairs with the keyboard.",
            None,
            "",
            False,
            "",
        ),
        (
            "Train",
            "Merge the scores to gold, then train a cross-encoder and a bi-encoder on them.",
            "cross_encoder",
            "Cross-encoder",
            False,
            "",
        ),
    ]
    coming = True
    with st.container(border=True, key="annotate-first-steps"):
        st.markdown("**From unlabelled sentences to a model**")
        for title, what, page, link, is_done, count in told:
            state = "done" if is_done else "next" if coming else "later"
            coming = coming and is_done
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                tail = f" :small[:gray[{count}]]" if count else ""
                st.markdown(f"{ICONS[state]} **{title}** {what}{tail}", width="stretch")
                if page is not None:
                    page_link(page, link)
