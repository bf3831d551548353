"""The loop as a checklist: what is done, what comes next, and where."""

from collections.abc import Collection
from dataclasses import dataclass, fields

import streamlit as st

from augsbert_core.explain.phrases import many
from augsbert_core.storage.projects import ProjectCounts
from augsbert_core.ui.widgets import page_link

ICONS = {
    "done": ":green[:material/check_circle:]",
    "busy": ":primary[:material/progress_activity:]",
    "next": ":primary[:material/arrow_circle_right:]",
    "later": ":gray[:material/radio_button_unchecked:]",
    "optional": ":gray[:material/visibility:]",
}

NOTHING = ProjectCounts(*[0] * len(fields(ProjectCounts)))
"""The counts of a project that is still empty."""


@dataclass(frozen=True)
class Item:
    """One step of the loop. state: done, busy, next, later or optional; counts: what there is so far."""

    title: str
    what: str
    page: str
    state: str
    counts: str


def checklist(counts: ProjectCounts, busy_steps: Collection[str] = ()) -> list[Item]:
    """The steps of the loop with their state; the first one that is not done comes next.

    busy_steps: steps that have a job at work or waiting. Looking at silver is never compulsory.
    """
    c = counts
    evaluated = f"{many(c.evaluations, 'measurement')}" if c.evaluations else ""
    rows = [
        (
            "Gold pairs",
            "Sentence pairs that people have scored, split into train, dev and test.",
            "gold",
            "import",
            bool(c.train and c.dev and c.test),
            _gold_counts(c),
        ),
        (
            "Cross-encoder",
            "Learn from the gold pairs to score any pair: slow, but a good judge.",
            "cross_encoder",
            "train-cross-encoder",
            c.cross_encoders > 0,
            f"{c.cross_encoders} trained" if c.cross_encoders else "",
        ),
        (
            "Candidates",
            "Choose new sentence pairs that are worth a score.",
            "sample",
            "sample",
            c.candidate_sets > 0,
            many(c.candidate_sets, "candidate set") if c.candidate_sets else "",
        ),
        (
            "Silver labels",
            "Let the cross-encoder score the candidates.",
            "silver",
            "label",
            c.silver_sets > 0,
            f"{many(c.silver_sets, 'silver set')}, {c.silver_pairs:,} pairs"
            if c.silver_pairs
            else "",
        ),
        (
            "Inspect",
            "Compare silver with gold scores, and correct pairs that are clearly wrong.",
            "silver",
            "",
            c.corrections > 0,
            many(c.corrections, "correction") if c.corrections else "",
        ),
        (
            "Bi-encoder",
            "Train the fast model on gold and silver, and once on gold alone.",
            "train",
            "train-bi-encoder",
            c.augmented_bi_encoders > 0,
            f"{c.bi_encoders} trained, {c.augmented_bi_encoders} with silver"
            if c.bi_encoders
            else "",
        ),
        (
            "Compare",
            "Measure all models on the same test pairs, with intervals.",
            "compare",
            "evaluate",
            c.evaluations > 0,
            evaluated,
        ),
    ]
    items: list[Item] = []
    next_is_known = False
    for title, what, page, step, done, text in rows:
        if step and step in busy_steps:
            state = "busy"
            next_is_known = True
        elif done:
            state = "done"
        elif not step:
            state = "optional"
        elif not next_is_known:
            state, next_is_known = "next", True
        else:
            state = "later"
        items.append(Item(title, what, page, state, text))
    return items


def _gold_counts(counts: ProjectCounts) -> str:
    if not counts.gold:
        return ""
    missing = [split for split in ("train", "dev", "test") if not getattr(counts, split)]
    text = f"{counts.train:,} train · {counts.dev:,} dev · {counts.test:,} test"
    return text + (f" · no {' and no '.join(missing)} pairs yet" if missing else "")


def show_checklist(items: list[Item], *, links: bool = True) -> None:
    """The checklist as rows: state, what the step is for, what there is, and a link to its page."""
    with st.container(border=True, gap="xsmall", key="checklist"):
        for number, item in enumerate(items, start=1):
            key = "checklist-next" if item.state == "next" else f"checklist-{number}"
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", key=key):
                st.markdown(ICONS[item.state], width=28)
                st.markdown(_words(number, item), width="stretch")
                if links:
                    with st.container(width=150):
                        page_link(item.page)


def _words(number: int, item: Item) -> str:
    title = f"**{number}. {item.title}**"
    if item.state == "busy":
        title += " :primary-badge[at work]"
    if item.state == "next":
        title += " :primary-badge[next]"
    if item.state == "optional":
        title += " :gray-badge[optional]"
    if item.counts:
        title += f" :small[:gray[· {item.counts}]]"
    return f"{title}  \n:small[:gray[{item.what}]]"
