"""Going through silver pairs one by one, in the order of the filter: where one is, and which pair comes next.

The pairs of one page are held; at its end the store is asked again, since decisions may have taken pairs out of the
filter and moved others up.
"""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from augsbert_core.storage import silver_pages
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.silver_filters import SilverFilter

WALK = "silver-walk"
PAGE_ROWS = 50
"""As on a page of the table, so that a pair opened there is in the same place."""

PAGES_AROUND = 10
"""On so many pages before and after, a pair is looked for."""


@dataclass
class Walk:
    """A page of filtered pairs, and which of them is open. page: as `silver_page` gives it, decisions written in.

    counts: pairs of each status that pass the rest of the filter, decisions counted in.
    """

    signature: tuple
    offset: int
    page: pd.DataFrame
    at: int
    total: int
    counts: dict[str, int]

    @property
    def pair_id(self) -> int:
        """The open pair."""
        return int(self.page["id"].iloc[self.at])

    @property
    def place(self) -> int:
        """The place of the open pair in the filtered order, from 1."""
        return self.offset + self.at + 1

    def note(
        self, pair_id: int, correction: float | None, status: str, *, passes: bool = True
    ) -> None:
        """Write a decision into the page on the screen. passes: the pair still has a score within the filter."""
        row = self.page["id"] == pair_id
        for before in self.page.loc[row, "status"]:
            self.counts[before] -= 1
            self.counts[status] += passes
        self.page.loc[row, "status"] = status
        self.page.loc[row, "correction"] = correction
        final = self.page.loc[row, "score"] if correction is None else correction
        self.page.loc[row, "final_score"] = final


@dataclass(frozen=True)
class Path:
    """Which pairs are gone through, and in which order."""

    workspace: Workspace
    set_id: int
    chosen: SilverFilter
    sort: str

    @property
    def signature(self) -> tuple:
        return (str(self.workspace.home), self.set_id, self.chosen, self.sort)

    def page(self, offset: int) -> pd.DataFrame:
        return silver_pages.silver_page(
            self.workspace,
            self.set_id,
            self.chosen,
            sort=self.sort,
            offset=offset,
            limit=PAGE_ROWS,
        )


def present_walk(path: Path) -> Walk | None:
    """Where one is on a path, its beginning at first; None when it has no pairs."""
    walk: Walk | None = st.session_state.get(WALK)
    if walk is None or walk.signature != path.signature:
        return start_at(path, 0)
    if not len(walk.page):
        return start_at(path, walk.offset, walk.at)
    return walk


def start_at(path: Path, offset: int, at: int = 0) -> Walk | None:
    """Open a pair by its place in the filtered order; the last one when there are not so many."""
    total = silver_pages.count_silver(path.workspace, path.set_id, path.chosen)
    if not total:
        st.session_state.pop(WALK, None)
        return None
    if offset >= total:
        offset = (total - 1) // PAGE_ROWS * PAGE_ROWS
        at = total - 1 - offset
    page = path.page(offset)
    counts = silver_pages.count_statuses(path.workspace, path.set_id, path.chosen)
    walk = Walk(path.signature, offset, page, min(at, len(page) - 1), total, counts)
    st.session_state[WALK] = walk
    return walk


def reload_walk() -> None:
    """Read the page anew at the next run and stay in the same place."""
    walk: Walk | None = st.session_state.get(WALK)
    if walk is not None:
        walk.page = walk.page.iloc[:0]


def go_to(path: Path, pair_id: int) -> bool:
    """Open a pair, looked for on the page on the screen and on those around it; False where it is not there."""
    walk = present_walk(path)
    if walk is None:
        return False
    here = walk.offset
    for away in range(PAGES_AROUND + 1):
        for offset in dict.fromkeys((here - away * PAGE_ROWS, here + away * PAGE_ROWS)):
            if not 0 <= offset < walk.total:
                continue
            page = walk.page if offset == here else path.page(offset)
            places = [at for at, one in enumerate(page.get("id", ())) if one == pair_id]
            if places:
                start_at(path, offset, places[0])
                return True
    return False


def step(path: Path, by: int) -> bool:
    """Move to the next pair (by 1) or the one before (by -1); False at the end of the path."""
    walk = present_walk(path)
    if walk is None:
        return False
    at = walk.at + by
    if 0 <= at < len(walk.page):
        walk.at = at
        return True
    if by > 0:
        return _next_page(path, walk)
    if walk.offset == 0:
        return False
    start_at(path, max(walk.offset - PAGE_ROWS, 0), PAGE_ROWS - 1)
    return True


def _next_page(path: Path, walk: Walk) -> bool:
    """Pairs that have moved up onto this page come first, then the next page."""
    seen = set(walk.page["id"])
    fresh = path.page(walk.offset)
    unseen = [place for place, pair_id in enumerate(fresh.get("id", ())) if pair_id not in seen]
    known = [place for place, pair_id in enumerate(fresh.get("id", ())) if pair_id in seen]
    after = [place for place in unseen if not known or place > known[-1]]
    if after:
        start_at(path, walk.offset, after[0])
        return True
    total = silver_pages.count_silver(path.workspace, path.set_id, path.chosen)
    if walk.offset + PAGE_ROWS >= total:
        return False
    start_at(path, walk.offset + PAGE_ROWS)
    return True
