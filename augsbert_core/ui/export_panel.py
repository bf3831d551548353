"""Take a trained model out of the workbench, push it to a hub, or do its run again."""

import os
from functools import partial

import pandas as pd
import streamlit as st

from augsbert_core.cards import model_card
from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import entry_bytes, size_text
from augsbert_core.options import PushOptions
from augsbert_core.steps import export
from augsbert_core.steps.card_facts import model_facts
from augsbert_core.steps.export_data import export_gold
from augsbert_core.steps.reproduce import reproduce_options
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.downloads import made_file
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.widgets import as_text, user_errors

LARGE = 1_000_000_000
"""From so many bytes on, the command line is the better way: the browser's copy is held in memory."""


def export_panel(bench: Bench, run: Run) -> None:
    """All that can be done with a trained model besides using it: download, push, reproduce."""
    try:
        files = export.model_files(bench.workspace, run.id)
    except WorkbenchError as error:
        st.caption(as_text(str(error)))
        return
    n_bytes = sum(path.stat().st_size for path in files.values())
    with st.container(horizontal=True, key=f"export-{run.id}"):
        _model_button(bench.workspace, run, n_bytes)
        _recipe_buttons(bench.workspace, run)
        _gold_button(bench.workspace, run)
        if st.button(
            "Reproduce",
            icon=":material/repeat:",
            key=f"reproduce-{run.id}",
            help="Trains again with the same options and seed, as a new run, and says in what the two differ.",
        ):
            launch(bench, "reproduce", reproduce_options(bench.workspace, run.id))
        _push_popover(bench.workspace, run)
    _card_preview(bench.workspace, run)
    if needs_a_look(bench, "reproduce"):
        job_panel(bench, ["reproduce"])
    for done in reproductions(bench, run)[:1]:
        st.info(as_text(str(done.metrics["sentence"])), icon=":material/repeat:")


def reproductions(bench: Bench, run: Run) -> list[Run]:
    """The finished reproductions of a run, newest first."""
    done = list_runs(bench.workspace, run.project_id, "reproduce")
    return [one for one in done if one.metrics.get("reproduced_run_id") == run.id]


def _model_button(workspace: Workspace, run: Run, n_bytes: int) -> None:
    name = f"model-run-{run.id}.zip"
    way = f"`augsbert export model --run {run.id} --output FOLDER` writes the same to a folder."
    st.download_button(
        "Model (.zip)",
        partial(made_file, partial(export.export_model, workspace, run.id), name),
        file_name=name,
        mime="application/zip",
        icon=":material/folder_zip:",
        on_click="ignore",
        key=f"export-model-{run.id}",
        help=f"{size_text(n_bytes)}, with a model card; packed when you press. {way}",
    )
    if n_bytes >= LARGE:
        st.caption(f"{size_text(n_bytes)} is much for a browser. {way}")


def _recipe_buttons(workspace: Workspace, run: Run) -> None:
    st.download_button(
        "Recipe (.toml)",
        partial(export.recipe_text, workspace, run.id),
        file_name=f"recipe-run-{run.id}.toml",
        mime="application/toml",
        icon=":material/receipt_long:",
        on_click="ignore",
        key=f"export-recipe-{run.id}",
        help="All options of this training.",
    )
    refusal = export.script_refusal(run)
    needs_module = export.script_files(run) > 1
    name = f"train-run-{run.id}.zip" if needs_module else f"train-run-{run.id}.py"
    st.download_button(
        "Script (.zip)" if needs_module else "Script (.py)",
        partial(_script, workspace, run.id, name),
        file_name=name,
        mime="application/zip" if needs_module else "text/x-python",
        icon=":material/code:",
        on_click="ignore",
        key=f"export-script-{run.id}",
        disabled=refusal is not None,
        help=refusal
        or "Trains the same recipe with sentence-transformers alone, from files of gold and silver pairs.",
    )


def _script(workspace: Workspace, run_id: int, name: str) -> bytes:
    if name.endswith(".zip"):
        return made_file(partial(export.export_script, workspace, run_id), name)
    return entry_bytes(export.script_entries(workspace, run_id)[0])


def _gold_button(workspace: Workspace, run: Run) -> None:
    st.download_button(
        "Gold (.jsonl)",
        partial(made_file, partial(export_gold, workspace, run.project_id), "gold.jsonl"),
        file_name="gold.jsonl",
        mime="application/jsonl",
        icon=":material/verified:",
        on_click="ignore",
        key=f"export-gold-{run.id}",
        help="The project's gold pairs with their splits, as the script reads them.",
    )


def _card_preview(workspace: Workspace, run: Run) -> None:
    card = st.expander(
        "Model card", icon=":material/article:", key=f"export-card-{run.id}", on_change="rerun"
    )
    if card.open:
        card.code(model_card(model_facts(workspace, run.id)), language="markdown", height=420)


# --- hub -------------------------------------------------------------------------------------------


def _push_popover(workspace: Workspace, run: Run) -> None:
    popover = st.popover(
        "Push to a hub",
        icon=":material/cloud_upload:",
        key=f"push-{run.id}",
        on_change="rerun",
        help="Share this model with its card on the Hugging Face hub; nothing is sent before you press Push.",
    )
    if not popover.open:
        return
    with popover:
        files = export.push_files(workspace, run.id)
        if run.metrics.get("pushed_to"):
            st.caption(f"Pushed to {as_text(str(run.metrics['pushed_to']))} before.")
        total = size_text(sum(size for _, size in files))
        st.caption(f"These {len(files)} files, {total}, would be uploaded:")
        st.dataframe(
            pd.DataFrame({"File": [name for name, _ in files],
                          "Size": [size_text(size) for _, size in files]}),
            hide_index=True,
            height=150,
            alt="Files that would be sent",
        )  # fmt: skip
        _push_form(workspace, run)


def _push_form(workspace: Workspace, run: Run) -> None:
    """Inputs that are cleared when sent: the token is in no widget afterwards, and stored nowhere."""
    from_environment = os.environ.get("HF_TOKEN", "")
    with st.form(f"push-form-{run.id}", clear_on_submit=True, border=False):
        repo = st.text_input(
            "Repository",
            placeholder="owner/name",
            key=f"push-repo-{run.id}",
            help="Your account or organisation, a slash, and a name; it is made if there is none.",
        )
        token = st.text_input(
            "Token with write access",
            type="password",
            autocomplete="off",
            placeholder="HF_TOKEN is set" if from_environment else "hf_…",
            help="Used for this upload alone and stored nowhere. Without one, HF_TOKEN is taken.",
            key=f"push-token-{run.id}",
        )
        private = st.checkbox(
            "Private repository",
            value=True,
            key=f"push-private-{run.id}",
            help="Visible to you and your organisation only; a public one that is there already is refused.",
        )
        sure = st.checkbox(
            "Yes, upload these files to this repository",
            key=f"push-sure-{run.id}",
            help="The weights, and a card that holds counts, options and scores, never a sentence of yours.",
        )
        sent = st.form_submit_button(
            "Push",
            type="primary",
            icon=":material/cloud_upload:",
            help="Uploads all of it as one commit while you wait.",
        )
    if not sent:
        return
    if not sure:
        st.warning("Nothing was sent: tick the box that says yes.", icon=":material/info:")
        return
    with user_errors(), st.spinner("Uploading …"):
        options = PushOptions(run_id=run.id, repo=repo.strip(), private=private)
        address = export.push_model(workspace, options, token or from_environment)
        st.success(f"Pushed to {as_text(address)}", icon=":material/check_circle:")
