"""The teacher's overview of a class: students, predictions, jobs, new codes, and the next group."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from augsbert_core import jobs
from augsbert_core.learn.lessons import LESSONS, Lesson
from augsbert_core.storage import classroom
from augsbert_core.storage.class_database import Classroom
from augsbert_core.storage.class_progress import (
    StudentProgress,
    class_progress,
    n_revealed,
    overview_csv,
    predictions,
)
from augsbert_core.ui.door import TOKEN, seat_here, sit_down
from augsbert_core.ui.widgets import as_text, empty_state, time_text, user_errors

LOOK_SECONDS = 5.0
STOP_SECONDS = 2.0
SKIPPED = "skipped"


@st.fragment(run_every=LOOK_SECONDS)
def overview(room: Classroom) -> None:
    """Students and predictions, drawn anew every few seconds."""
    if not _is_teachers(room):
        st.rerun()
    students = class_progress(room)
    if not students:
        empty_state(
            "Nobody is here yet. Give the address of this server to the class: whoever types a name there gets a "
            "workspace and stands here with the steps done, predictions and jobs."
        )
        return
    _numbers(students)
    st.dataframe(
        students_frame(students),
        hide_index=True,
        key="class-students",
        column_config={
            "student": st.column_config.TextColumn("Student", width=190),
            "here": st.column_config.CheckboxColumn("Here", width=55),
            "done": st.column_config.ProgressColumn(
                "Lessons", format="%d", min_value=0, max_value=len(LESSONS), width=120
            ),
            "last": st.column_config.TextColumn("Last lesson", width=210),
            "running": st.column_config.NumberColumn("Running", width=70),
            "waiting": st.column_config.NumberColumn("Waiting", width=70),
            "seen": st.column_config.TextColumn("Last seen", width=150),
        },
        alt="Students of the class",
    )
    st.download_button(
        "Overview as CSV",
        lambda: overview_csv(class_progress(room), [lesson.key for lesson in LESSONS]),
        file_name="class.csv",
        mime="text/csv",
        icon=":material/download:",
        key="class-csv",
        on_click="ignore",
        help="A row per student, a column per question. Names are in it: keep it where only you read it.",
    )
    st.subheader("Predictions", anchor=False)
    found = predictions(students)
    for lesson in LESSONS:
        _question(
            lesson, found.get(lesson.key, Counter()), right_choices(students, lesson), len(students)
        )
    if not found:
        st.caption("Nobody has predicted anything on the Learn page yet.")


def _numbers(students: Sequence[StudentProgress]) -> None:
    cells = st.columns(4)
    here = sum(student.is_here for student in students)
    cells[0].metric("Students here", f"{here} of {len(students)}")
    cells[1].metric("Finished all lessons", sum(n_revealed(s) >= len(LESSONS) for s in students))
    cells[2].metric("Jobs running", sum(student.running for student in students))
    cells[3].metric("Jobs waiting", sum(student.waiting for student in students))


def students_frame(students: Sequence[StudentProgress]) -> pd.DataFrame:
    """One row per student: name, presence, lessons done, the last lesson, jobs, and when last seen."""
    titles = {lesson.key: lesson.title for lesson in LESSONS}
    return pd.DataFrame(
        [
            {
                "student": student.seat.name,
                "here": student.is_here,
                "done": n_revealed(student),
                "last": titles.get(student.answers[-1].lesson, "") if student.answers else "",
                "running": student.running,
                "waiting": student.waiting,
                "seen": time_text(student.seat.seen_at),
            }
            for student in students
        ]
    )


def right_choices(students: Sequence[StudentProgress], lesson: Lesson) -> set[str]:
    """The choices that were right for somebody; of times that were measured there may be two."""
    return {
        str(one.details["right"])
        for student in students
        for one in student.answers
        if one.lesson == lesson.key and one.details.get("right")
    }


def _question(lesson: Lesson, chosen: Counter[str], right: set[str], n_students: int) -> None:
    total = sum(chosen.values())
    if not total:
        return
    number = LESSONS.index(lesson) + 1
    st.markdown(f"**{number}. {as_text(lesson.title)}** · {as_text(lesson.question)}")
    st.caption(f"{total} of {n_students} predicted; ✓ marks what was found.")
    known = dict(lesson.choices) | {key: key for key in chosen if key not in lesson.choices}
    for key, text in known.items():
        share = chosen[key] / total
        mark = "✓ " if key in right else ""
        st.progress(share, text=as_text(f"{mark}{text}: {chosen[key]} of {total}"))


def class_jobs(room: Classroom) -> None:
    """How jobs are shared out in this class, in one sentence."""
    most = classroom.most_jobs(room)
    limit = "One job per device runs" if most is None else f"{most} jobs of the class run"
    st.caption(
        f"{limit} at a time; next comes whoever has waited longest since their last start. "
        "`augsbert app --classroom --jobs N` changes how many."
    )


def new_codes(room: Classroom) -> None:
    """Give a student a new code, who has forgotten it or whose seat somebody else has opened."""
    names = {seat.number: seat.name for seat in classroom.list_seats(room) if not seat.is_teacher}
    if not names:
        return
    with st.popover(
        "New code for a student",
        icon=":material/key:",
        help="For someone who has forgotten it, or whose seat somebody else has opened.",
    ):
        st.caption("The old code, and every page that is open at this seat, stop working.")
        number = st.selectbox(
            "Student",
            list(names),
            format_func=names.__getitem__,
            key="class-code-for",
            help="Whose seat gets the new code; the work at it stays.",
        )
        if st.button(
            "Make a new code",
            key="class-new-code",
            help="Shows four digits once, and closes every page that is open at this seat.",
        ):
            with user_errors():
                code = classroom.new_code(room, number)
                st.code(code, language=None)
                st.caption(f"Tell it to {as_text(names[number])} alone; it is not shown again.")


def next_group(room: Classroom) -> None:
    """Reset for the next group, after a confirmation; running jobs are stopped first."""
    if classroom.is_closing(room):
        _closing(room)
        return
    with st.popover(
        "Reset for the next group",
        icon=":material/restart_alt:",
        help="Ends this class after asking once more; the work of the group is kept.",
    ):
        st.markdown(
            "Everybody starts anew at the door. The workspaces of this class are kept in a folder beside it; nothing is "
            "deleted. Jobs that run are stopped."
        )
        sure = st.checkbox(
            "This group is done",
            key="class-sure",
            help="A check against a slip of the mouse while students are still at work.",
        )
        if st.button(
            "Begin the next class",
            type="primary",
            disabled=not sure,
            key="class-next",
            help="Stops all jobs, puts the workspaces away, and asks everybody for a name at the door.",
        ):
            _stop_and_begin(room)
            st.rerun()


@st.fragment(run_every=STOP_SECONDS)
def _closing(room: Classroom) -> None:
    """While jobs are stopping: look again until all have, then begin the next class."""
    if not _is_teachers(room):
        st.rerun()
    if st.button(
        "Do not reset after all",
        key="class-go-on",
        icon=":material/undo:",
        help="The class goes on; jobs that were stopped can be resumed by their owners on the Jobs page.",
    ):
        classroom.set_closing(room, False)
        st.rerun()
    left = _stop_and_begin(room)
    st.info(
        f"The class is about to end: {left} job{'s' if left != 1 else ''} still stopping.",
        icon=":material/hourglass_empty:",
    )


def _stop_and_begin(room: Classroom) -> int:
    """Stop all jobs and begin the next class; returns how many jobs are still at work."""
    left = jobs.stop_class(room)
    if not left:
        with user_errors():
            sit_down(classroom.begin_next_class(room, st.session_state[TOKEN]))
    return left


def _is_teachers(room: Classroom) -> bool:
    seat = seat_here(room)
    return seat is not None and seat.is_teacher
