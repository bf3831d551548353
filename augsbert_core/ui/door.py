"""The door of a class: a name gives a seat, and a seat a workspace of its own. Without a class nothing of this is there."""

import os
import time
from pathlib import Path

import streamlit as st

from augsbert_core import classroom as fair
from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import classroom
from augsbert_core.storage.class_database import Classroom, Seat
from augsbert_core.storage.database import Workspace, default_home
from augsbert_core.storage.records import Job
from augsbert_core.ui import identity
from augsbert_core.ui.widgets import as_text, page_link, user_errors

IN_CLASS = "AUGSBERT_CLASSROOM"
"""The environment variable that `augsbert app --classroom` sets for the server."""

TOKEN = "seat"  # noqa: S105 (a key, not a password)
"""The key of the seat's token, in the session and in the address of the page."""

CODE = "class-code"
TOLD = "class-told"
KNOWN = "door-known"
"""The name that was typed, when somebody has it."""

SEEN_SECONDS = 30.0
PLACES_SECONDS = 2.0
DOOR_WIDTH = 520
BIG_CODE = ".st-key-code code { font-size: 2.5rem; }"


def in_class() -> bool:
    """Whether this server serves a class."""
    return bool(os.environ.get(IN_CLASS))


def enter(*, for_teacher: bool = False) -> Workspace:
    """The workspace of whoever sits at this session; a newcomer sees the door, and the page ends there.

    for_teacher: the door of the teacher's page, which asks for the teacher code first. Without a class it is the one that the environment names. WorkbenchError: the class cannot be opened.
    """
    if not in_class():
        return Workspace(default_home())
    room = _room(str(default_home()))
    seat = seat_here(room)
    if seat is None:
        _door(room, for_teacher=for_teacher)
        st.stop()
    _show_code(seat)
    _note_presence(room, seat)
    st.query_params[TOKEN] = st.session_state[TOKEN]
    st.session_state.setdefault(identity.KEY, seat.name)
    return seat.workspace(room)


def room_here() -> Classroom | None:
    """The class of this server, None without one."""
    return _room(str(default_home())) if in_class() else None


def seat_here(room: Classroom) -> Seat | None:
    """The seat of this session: of its own token, or at first of the one in the address of the page."""
    own = st.session_state.get(TOKEN)
    seat = classroom.seat_of(room, own or st.query_params.get(TOKEN, ""))
    if seat is None:
        if own:  # given up: a new class, a new code. Nothing of the old seat stays in the session.
            st.session_state.clear()
            st.session_state[TOLD] = "This seat is no longer yours. Type your name to come in."
        st.query_params.pop(TOKEN, None)
        return None
    st.session_state[TOKEN] = own or st.query_params[TOKEN]
    return seat


def check_seat(workspace: Workspace) -> None:
    """In a class: draw the whole page anew, which shows the door, when the seat of this workspace was given up.

    Parts of a page that are drawn by themselves do not come by the door.
    """
    room = room_here()
    if room is None:
        return
    seat = seat_here(room)
    if seat is None or seat.workspace(room) != workspace:
        st.rerun()


def is_teacher() -> bool:
    """Whether the teacher of a class sits at this session; False when the class cannot be read, which pages tell."""
    try:
        room = room_here()
        seat = seat_here(room) if room else None
    except WorkbenchError:
        return False
    return seat is not None and seat.is_teacher


def may_teach() -> bool:
    """Whether notes for teachers and a reset belong here: to the teacher of a class, and to everybody without one."""
    return not in_class() or is_teacher()


def sit_down(token: str, code: str = "") -> None:
    """Begin at a seat with an empty session, and draw the page anew. code: shown once, to be written down."""
    st.session_state.clear()
    st.session_state[TOKEN] = token
    st.query_params[TOKEN] = token
    if code:
        st.session_state[CODE] = code
    st.rerun()


def seat_panel() -> None:
    """Who sits here, a new code, and the way out, in the sidebar; nothing without a class."""
    room = room_here()
    seat = seat_here(room) if room else None
    if room is None or seat is None:
        return
    with st.sidebar.popover(
        as_text(seat.name),
        icon=":material/chair:",
        width="stretch",
        help="Your seat in this class: your code, and the way out.",
    ):
        if seat.is_teacher:
            page_link("classroom", "The class")
        else:
            st.caption(
                "Your work is kept in the class under your name. The address of this page opens it: do not pass it on."
            )
            if st.button("New code", icon=":material/key:", help="The old code opens it no more."):
                with user_errors():
                    code = classroom.new_code(room, seat.number, keep=st.session_state[TOKEN])
                    st.session_state[CODE] = code
                    st.rerun()
        if st.button("Leave", icon=":material/logout:", help="Your work stays; come back by name."):
            classroom.leave_seat(room, st.session_state[TOKEN])
            st.session_state.clear()
            st.query_params.clear()
            st.rerun()


def class_wait(workspace: Workspace, job: Job) -> str:
    """For a waiting job in a class: how many jobs come before it; "" otherwise."""
    room = room_here()
    if room is None or job.state != "queued":
        return ""
    if classroom.is_closing(room):
        return "The class is about to end: no more jobs start"
    before = _places(str(room.home)).get((workspace.home.name, job.id))
    if before is None:
        return ""
    return (
        "Yours is next" if not before else f"{before} job{'s' if before != 1 else ''} before yours"
    )


@st.cache_data(ttl=PLACES_SECONDS, show_spinner=False)
def _places(home: str) -> dict[tuple[str, int], int]:
    return fair.jobs_before(_room(home))


@st.cache_resource(show_spinner=False)
def _room(home: str) -> Classroom:
    return classroom.open_classroom(Path(home))


@st.cache_resource(show_spinner=False)
def _seen(home: str) -> dict[int, float]:
    return {}


def _note_presence(room: Classroom, seat: Seat) -> None:
    seen = _seen(str(room.home))
    if time.monotonic() - seen.get(seat.number, -SEEN_SECONDS) >= SEEN_SECONDS:
        seen[seat.number] = time.monotonic()
        classroom.mark_seen(room, seat.number)


def _door(room: Classroom, *, for_teacher: bool) -> None:
    st.set_page_config(page_title="Come in · AugSBERT Workbench")
    with (
        st.container(horizontal_alignment="center"),
        st.container(width=DOOR_WIDTH, border=True, key="door"),
    ):
        st.title("Come in", anchor=False)
        if told := st.session_state.get(TOLD):
            st.info(told, icon=":material/info:")
        if for_teacher:
            st.markdown(
                "This is the teacher’s page. Type the teacher code; students come in by the address without “/classroom”."
            )
            teacher_form(room)
            with st.expander("I am a student", icon=":material/chair:", expanded=_is_known()):
                _students_way(room)
        else:
            _students_way(room)
            with st.expander("I teach this class", icon=":material/school:"):
                teacher_form(room)


def _is_known() -> bool:
    return st.session_state.get(KNOWN) is not None


def _students_way(room: Classroom) -> None:
    if _is_known():
        _ask_code(room, st.session_state[KNOWN])
    else:
        _ask_name(room)


def _ask_name(room: Classroom) -> None:
    st.markdown(
        "Type your name. You get a workspace of your own; nobody else in the class sees it."
    )
    with st.form("door-name-form", border=False):
        name = st.text_input(
            "Your name",
            key="door-name",
            max_chars=classroom.LONGEST_NAME,
            help="As your teacher sees it in the overview; a first name will do.",
        )
        if st.form_submit_button(
            "Come in",
            type="primary",
            icon=":material/login:",
            help="A new name gets a workspace and a code; a name that is known is asked for its code.",
        ):
            with user_errors():
                if classroom.is_taken(room, name):
                    st.session_state[KNOWN] = classroom.clean_name(name)
                    st.rerun()
                sit_down(*classroom.take_seat(room, name))


def _ask_code(room: Classroom, name: str) -> None:
    st.markdown(
        f"**{as_text(name)}** has a seat already. If that is you, type the four digits you got at your first visit; "
        "if not, go back and add something to your name."
    )
    with st.form("door-code-form", border=False):
        code = st.text_input(
            "Your code",
            key="door-code",
            type="password",
            max_chars=12,
            help="The four digits of your first visit; your teacher can give you new ones.",
        )
        if st.form_submit_button(
            "Go on with my work",
            type="primary",
            icon=":material/login:",
            help="Opens your workspace as you left it, on any computer of the class.",
        ):
            with user_errors():
                sit_down(classroom.pick_up_seat(room, name, code))
    if st.button(
        "Another name",
        icon=":material/arrow_back:",
        type="tertiary",
        help="Back to the question for a name, if this seat is not yours.",
    ):
        del st.session_state[KNOWN]
        st.rerun()


def teacher_form(room: Classroom) -> None:
    """Ask for the teacher code and sit down as teacher."""
    with st.form("teacher-code", border=False):
        code = st.text_input(
            "Teacher code",
            key="door-teacher",
            type="password",
            help="Printed on the console when the class was started.",
        )
        if st.form_submit_button(
            "Open the overview", help="Who is here, how far each one is, and whose jobs run."
        ):
            with user_errors():
                sit_down(classroom.sit_as_teacher(room, code))


def _show_code(seat: Seat) -> None:
    """The code of a new seat, until it is written down."""
    code = st.session_state.get(CODE)
    if code is None:
        return
    with (
        st.container(horizontal_alignment="center"),
        st.container(width=DOOR_WIDTH, border=True, key="code"),
    ):
        st.title("Your code", anchor=False)
        st.markdown(f"Write it down, {as_text(seat.name)}:")
        st.html(f"<style>{BIG_CODE}</style>")
        st.code(code, language=None)
        st.markdown(
            "With your name it opens your work on another day or another computer. It is not shown again."
        )
        # At the other side of the box: the second click of a double one on “Come in” must not hide the code.
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button(
                "I have written it down",
                type="primary",
                key="code-kept",
                help="Hides the code for good.",
            ):
                del st.session_state[CODE]
                st.rerun()
    st.stop()
