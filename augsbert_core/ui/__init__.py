"""What every page shares: the open bench, live jobs, and widgets that look alike everywhere."""

from augsbert_core.ui.bench import (
    Bench,
    need_project,
    open_bench,
    open_project,
    tell_missing_models,
)
from augsbert_core.ui.door import in_class, is_teacher
from augsbert_core.ui.job_panel import job_details, job_panel, launch
from augsbert_core.ui.style import FAVICON, SIDEBAR_WIDTH
from augsbert_core.ui.widgets import (
    as_text,
    duration_text,
    empty_state,
    flash,
    page_header,
    page_link,
    score_text,
    table_pager,
    time_text,
    user_errors,
)

__all__ = [
    "FAVICON",
    "SIDEBAR_WIDTH",
    "Bench",
    "as_text",
    "duration_text",
    "empty_state",
    "flash",
    "in_class",
    "is_teacher",
    "job_details",
    "job_panel",
    "launch",
    "need_project",
    "open_bench",
    "open_project",
    "page_header",
    "page_link",
    "score_text",
    "table_pager",
    "tell_missing_models",
    "time_text",
    "user_errors",
]
