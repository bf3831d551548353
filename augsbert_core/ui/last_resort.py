"""The last resort: an error that no page has caught is told in a sentence, where there is one.

Streamlit would say that the app has encountered an error and no more: in pages, in the callbacks of their buttons, and in
the parts that are drawn by themselves.
"""

from collections.abc import Callable

import streamlit as st
from streamlit import error_util

from augsbert_core.storage.database import trouble_of
from augsbert_core.ui.widgets import as_text

PLACE = "show_uncaught_app_exception"
"""What Streamlit calls for each of them, after it has written the error to the log."""


def install() -> None:
    """From now on, uncaught errors are told; once is enough."""
    shown = getattr(error_util, PLACE, None)
    if shown is not None and not hasattr(shown, "is_ours"):
        setattr(error_util, PLACE, told_first(shown))


def told_first(otherwise: Callable[[BaseException], None]) -> Callable[[BaseException], None]:
    """A way to show an error: as a sentence about the disk, the database or what the user can mend; else `otherwise`."""

    def show(error: BaseException) -> None:
        if told := trouble_of(error):
            st.error(as_text(told), icon=":material/error:")
        else:
            otherwise(error)

    show.is_ours = True  # type: ignore[attr-defined]
    return show
