"""Classroom: who has come how far, what was predicted, and the way to the next group; for the teacher."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.ui.class_overview import class_jobs, new_codes, next_group, overview
from augsbert_core.ui.door import room_here, seat_here, teacher_form

bench = ui.open_bench(for_teacher=True)
ui.page_header(
    "Classroom",
    "Who is here and how far everybody has come. Predictions are shown in numbers; what students do in their "
    "workspaces stays theirs.",
)

room = room_here()
seat = seat_here(room) if room else None
if room is None or seat is None:
    ui.empty_state(
        "There is no class on this server. `augsbert app --classroom` starts one: everybody types a name and gets a "
        "workspace of their own, and the teacher sees here how far everybody has come. Alone, the same eight steps wait "
        "on the Learn page.",
        page="learn",
        label="Go to Learn",
    )
    st.stop()
if not seat.is_teacher:
    st.info("This page is the teacher's.", icon=":material/lock:")
    teacher_form(room)
    st.stop()

overview(room)
class_jobs(room)
st.subheader("Help and reset", anchor=False)
new_codes(room)
next_group(room)
