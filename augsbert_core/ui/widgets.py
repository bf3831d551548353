"""Small widgets that look and behave alike on every page."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from augsbert_core.errors import WorkbenchError
from augsbert_core.progress import Report
from augsbert_core.storage.records import Project

WORD_JOINER = "\u2060"
"""Invisible, never breaks a line: keeps ":smile:", links and arrows from being turned into something."""

READING_WIDTH = 820
"""Pixels; longer lines of prose are hard to read."""

PAGES = {
    "start": ("Start", ":material/home:"),
    "learn": ("Learn", ":material/school:"),
    "gold": ("Gold", ":material/verified:"),
    "annotate": ("Annotate", ":material/edit_note:"),
    "cross_encoder": ("Cross-encoder", ":material/compare_arrows:"),
    "sample": ("Sample", ":material/casino:"),
    "silver": ("Silver", ":material/auto_awesome:"),
    "train": ("Train", ":material/model_training:"),
    "compare": ("Compare", ":material/leaderboard:"),
    "try": ("Try", ":material/search:"),
    "experiments": ("Experiments", ":material/science:"),
    "jobs": ("Jobs", ":material/pending_actions:"),
    "classroom": ("Classroom", ":material/groups:"),
}
"""Page file → (title, icon), in the order of the loop; the last is there in a class only."""


def as_text(text: str) -> str:
    """User text, escaped so that Markdown, HTML, links and emoji codes in it are shown, not obeyed.

    For places where only Markdown can be written (labels, errors, toasts); use st.text elsewhere.
    """
    text = " ".join(text.split())
    text = re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$&\"'^=])", r"\\\1", text)
    text = re.sub(r"(?i)\bwww(?=\\\.)", "www" + WORD_JOINER, text)
    return re.sub(r"(:(?=\S)|@|\\-|\\<|\\=)", rf"\1{WORD_JOINER}", text)


@contextmanager
def user_errors() -> Iterator[None]:
    """Show a `WorkbenchError` as one sentence instead of a traceback; the page goes on below it."""
    try:
        yield
    except WorkbenchError as error:
        st.error(as_text(str(error)), icon=":material/error:")


def flash(message: str, icon: str = ":material/check_circle:") -> None:
    """Show a toast on the next run of a page; survives st.rerun and a change of page."""
    st.session_state.setdefault("flashes", []).append((message, icon))


def show_flashes() -> None:
    """Show what `flash` has kept."""
    for message, icon in st.session_state.pop("flashes", []):
        st.toast(as_text(message), icon=icon)


def page_header(title: str, why: str) -> None:
    """The title of a page and, in two sentences, what its step does and why."""
    st.set_page_config(page_title=f"{title} · AugSBERT Workbench")
    st.title(title, anchor=False)
    with st.container(width=READING_WIDTH):
        st.markdown(why)


def page_link(
    page: str, label: str | None = None, *, icon: str | None = None, stretch: bool = False
) -> None:
    """A link to a page of the loop ("gold", "train", ...) that keeps the open project."""
    title, page_icon = PAGES[page]
    text, icon = label or title, page_icon if icon is None else icon
    try:
        st.page_link(
            f"pages/{page}.py",
            label=text,
            icon=icon,
            width="stretch" if stretch else "content",
            query_params=dict(st.query_params),
        )
    except StreamlitAPIException:
        # The page was started on its own, without app.py: a plain link reaches the other one.
        st.markdown(f"{icon} [{text}]({page})")


def empty_state(
    text: str,
    page: str | None = None,
    label: str | None = None,
    *,
    also: Sequence[tuple[str, str]] = (),
) -> Any:
    """Say what belongs here and what to do next, with a link to the page where it is done.

    also: other ways, as (page, label). Returns the place below the text, for a button of the page itself.
    """
    with st.container(border=True, key=f"empty-{abs(hash(text)) % 10**8}"):
        st.space("small")
        with st.container(horizontal_alignment="center", gap="xsmall"):
            with st.container(width=READING_WIDTH):
                st.markdown(
                    f":material/inbox: {text}" if page is None else text, text_alignment="center"
                )
            place = st.container(
                horizontal=True, horizontal_alignment="center", vertical_alignment="center"
            )
            with place:
                if page is not None:
                    page_link(page, label)
                for other, words in also:
                    page_link(other, words)
        st.space("small")
    return place


def score_text(project: Project, unit: float) -> str:
    """A score in [0, 1] as people of this project write it: on the raw scale, two decimals."""
    return f"{project.score_range.to_raw(unit):.2f}"


def table_pager(total: int, key: str, page_size: int = 100) -> int:
    """A pager for a table of `total` rows; returns the offset of the chosen page."""
    pages = max(1, -(-total // page_size))
    if pages == 1:
        st.caption(f"{total:,} row{'' if total == 1 else 's'}")
        return 0
    with st.container(horizontal=True, vertical_alignment="center"):
        # A pager whose number of pages shrinks keeps its old buttons: a new number is a new pager.
        page = st.pagination(pages, key=f"{key}-{pages}")
        first = (page - 1) * page_size
        st.caption(f"Rows {first + 1:,}–{min(total, first + page_size):,} of {total:,}")
    return first


def duration_text(seconds: float) -> str:
    """Seconds in words: "45 s", "3 min 20 s", "2 h 05 min"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def about_text(seconds: float) -> str:
    """An estimated time in words; above ten minutes it is no more exact than a minute."""
    minutes = round(seconds / 60)
    return f"{minutes} min" if 10 <= minutes < 60 else duration_text(seconds)


def time_text(stored: str | None) -> str:
    """A stored UTC moment in the reader's local time, "12 Mar 2025, 14:05"; empty for None."""
    if not stored:
        return ""
    return datetime.fromisoformat(stored).astimezone().strftime("%d %b %Y, %H:%M")


def bar_report(bar: Any) -> Report:
    """A report that a progress bar on the page shows. bar: what `st.progress` returned."""

    def report(
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        bar.progress(fraction, text=as_text(message))

    return report


def bar_for_long_work() -> Report:
    """A report whose bar appears when the work takes more than one step; for callbacks, above the page."""
    begun: list[Report] = []

    def report(
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        if not begun:
            if fraction >= 1.0:
                return
            begun.append(bar_report(st.progress(0.0)))
        begun[0](min(fraction, 1.0), message)

    return report
