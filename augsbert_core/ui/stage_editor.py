"""The stages of a recipe in a table, and the whole recipe as a TOML file."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, Stage
from augsbert_core.steps.recipe_checks import check_shape
from augsbert_core.steps.recipes import from_toml, left_out, to_toml
from augsbert_core.storage.records import Project
from augsbert_core.ui.training_words import DATA, LOSSES
from augsbert_core.ui.widgets import as_text, flash

COLUMNS = {
    "order": "Order", "data": "Data", "loss": "Loss", "epochs": "Epochs", "max_steps": "Steps",
    "learning_rate": "Learning rate", "batch_size": "Batch size", "schedule": "Schedule",
    "warmup_ratio": "Warm-up", "weight_decay": "Weight decay", "scale": "Scale",
}  # fmt: skip
"""Field of a stage → column of the table; the order is the table's own."""

WHOLE = ("epochs", "max_steps", "batch_size")


def frame_of(stages: Sequence[Stage]) -> pd.DataFrame:
    """Stages as the rows of a table, numbered from 1; what a stage leaves to the run is empty."""
    rows = [
        {"order": number, **{name: getattr(stage, name) for name in COLUMNS if name != "order"}}
        for number, stage in enumerate(stages, 1)
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = [name for name in COLUMNS if name not in ("data", "loss", "schedule")]
    return frame.astype(dict.fromkeys(numbers, "Float64")).rename(columns=COLUMNS)


def stages_of_frame(frame: pd.DataFrame) -> tuple[Stage, ...]:
    """The stages in an edited table, in the order of their numbers; rows without a number come last.

    WorkbenchError: a stage says no data or loss, or a number is out of range.
    """
    names = {title: name for name, title in COLUMNS.items()}
    rows = [
        {names[str(title)]: value for title, value in row.items()}
        for row in frame.to_dict(orient="records")
    ]
    rows.sort(key=lambda row: math.inf if _is_empty(row["order"]) else float(row["order"]))
    return tuple(_stage(number, row) for number, row in enumerate(rows, 1))


def _stage(number: int, row: dict[str, Any]) -> Stage:
    told = {name: value for name, value in row.items() if name != "order" and not _is_empty(value)}
    for name in ("data", "loss"):
        if name not in told:
            raise WorkbenchError(
                f"Stage {number} has no {name}. Choose one, or take the row out of the table."
            )
    for name in WHOLE:
        if name in told:
            told[name] = int(told[name])
            if told[name] < 1:
                raise WorkbenchError(
                    f"Stage {number}, {COLUMNS[name]}: {told[name]} is too small. Give 1 or more."
                )
    for name in ("learning_rate", "warmup_ratio", "weight_decay", "scale"):
        if name in told:
            told[name] = float(told[name])
    return Stage(**told)


def _is_empty(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def set_stages(page: str, project: Project, stages: Sequence[Stage]) -> None:
    """Put stages into the editor, or none; for the callbacks of presets and files."""
    st.session_state[f"{page}-{project.id}-staged"] = bool(stages)
    if stages:
        _replace(page, project, stages)


def _replace(page: str, project: Project, stages: Sequence[Stage]) -> None:
    # The editor's own result must never become its base (it would revert every second edit), so a new
    # base gets a new editor.
    st.session_state[f"{page}-{project.id}-stage-base"] = tuple(stages)
    version = f"{page}-{project.id}-stage-version"
    st.session_state[version] = st.session_state.get(version, 0) + 1


def stage_table(page: str, project: Project, begin_with: Sequence[Stage]) -> tuple[Stage, ...]:
    """Edit the stages; returns () while training in stages is off. begin_with: the first table's rows.

    WorkbenchError: the table holds no recipe.
    """
    staged = st.toggle(
        "Train in stages",
        key=f"{page}-{project.id}-staged",
        persist_state="session",
        on_change=_replace,
        args=(page, project, begin_with),
        help="An ordered list of trainings of one model, each with its own data and loss. Off, the inputs above "
        "are the only stage.",
    )
    if not staged:
        return ()
    base = st.session_state.setdefault(f"{page}-{project.id}-stage-base", tuple(begin_with))
    version = st.session_state.setdefault(f"{page}-{project.id}-stage-version", 0)
    edited = st.data_editor(
        frame_of(base),
        num_rows="dynamic",
        hide_index=True,
        column_config=_column_config(),
        key=f"{page}-{project.id}-stages-{version}",
        alt="Training stages, can be edited",
    )
    st.caption(
        "Empty cells take the run's own value. Change the numbers under Order to reorder, use the last row to "
        "add a stage, and tick rows to delete them."
    )
    stages = stages_of_frame(edited)
    if not stages:
        raise WorkbenchError("The recipe has no stage. Add one, or switch stages off.")
    return stages


def _column_config() -> dict[str, Any]:
    config = st.column_config
    optional = "Empty: the run's own."
    return {
        "Order": config.NumberColumn(width=85, help="Stages are trained in this order."),
        "Data": config.SelectboxColumn(
            options=list(DATA), required=True, default="gold", width=100,
            help="What the stage trains on. Silver is the set chosen above.",
        ),
        "Loss": config.SelectboxColumn(
            options=list(LOSSES), required=True, default="cosine", width=100,
            help="What the stage is asked to get right.",
        ),
        "Epochs": config.NumberColumn(min_value=1, step=1, width=90, help=optional),
        "Steps": config.NumberColumn(
            min_value=1, step=1, width=70, help="A fixed number of optimiser steps. " + optional
        ),
        "Learning rate": config.NumberColumn(
            min_value=0.0, max_value=1.0, format="%.0e", width=120, help=optional
        ),
        "Batch size": config.NumberColumn(min_value=1, step=1, width=105, help=optional),
        "Schedule": config.SelectboxColumn(
            options=["warmup", "constant"], width=90, help=optional
        ),
        "Warm-up": config.NumberColumn(min_value=0.0, max_value=1.0, width=75, help=optional),
        "Weight decay": config.NumberColumn(min_value=0.0, width=90, help=optional),
        "Scale": config.NumberColumn(
            min_value=0.0, width=60, help="For mnrl, cosent and angle. " + optional
        ),
    }  # fmt: skip


def recipe_file(
    page: str, project: Project, options: BiEncoderOptions, take: Callable[[BiEncoderOptions], None]
) -> None:
    """The recipe as TOML: read, edit, download, upload. take: puts options into the page's inputs."""
    text = to_toml(options)
    error_key = f"{page}-{project.id}-toml-error"
    # A text area keeps what was typed; with the options in its name it follows them.
    key = f"{page}-{project.id}-toml-{abs(hash(text))}"
    with st.form(f"{page}-{project.id}-toml-form", border=False):
        st.text_area(
            "Recipe as TOML",
            value=text,
            height=300,
            key=key,
            help="All options of this training. Keys that are left out have their default.",
        )
        st.form_submit_button(
            "Use this text",
            icon=":material/check:",
            on_click=_take_text,
            args=(error_key, take, key),
            help="Put the values of the text into the inputs above.",
        )
    st.download_button(
        "Download",
        text,
        file_name="recipe.toml",
        mime="application/toml",
        icon=":material/download:",
        help="The recipe as a file, also for `augsbert train bi-encoder --recipe recipe.toml`.",
        on_click="ignore",
    )
    upload_key = f"{page}-{project.id}-toml-upload"
    st.file_uploader(
        "Upload a recipe",
        type=["toml"],
        key=upload_key,
        on_change=_take_file,
        args=(error_key, take, upload_key),
        help="A TOML file that was downloaded here or written by hand.",
    )
    if error := st.session_state.get(error_key):
        st.error(as_text(error), icon=":material/error:")


def _take_text(error_key: str, take: Callable[[BiEncoderOptions], None], key: str) -> None:
    take_recipe(error_key, take, str(st.session_state[key]))


def _take_file(error_key: str, take: Callable[[BiEncoderOptions], None], key: str) -> None:
    found = st.session_state[key]
    if found is None:
        return
    try:
        text = found.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        st.session_state[error_key] = f"{found.name} is not text in UTF-8. Save it as UTF-8."
        return
    take_recipe(error_key, take, text)


def take_recipe(error_key: str, take: Callable[[BiEncoderOptions], None], text: str) -> None:
    """Put the options of a TOML text into the inputs; a text that cannot be read leaves them as they are."""
    st.session_state.pop(error_key, None)
    try:
        if not text.strip():
            raise WorkbenchError("The recipe is empty.")
        found = from_toml(text)
        check_shape(found)
        take(found)
        if unnamed := left_out(text):
            flash(
                f"{len(unnamed)} options that the recipe does not name have their defaults now",
                ":material/info:",
            )
    except WorkbenchError as error:
        st.session_state[error_key] = str(error)
