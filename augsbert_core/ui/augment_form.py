"""The NLPAug baseline on the Sample page: gold pairs copied with words replaced."""

import streamlit as st

from augsbert_core.options import AugmentOptions
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.recipes import device_input, keep, whole
from augsbert_core.ui.widgets import page_link

PAGE = "augment"
MODELS = ("google-bert/bert-base-uncased", "distilbert/distilroberta-base")
DEFAULTS = AugmentOptions()


def augment_form(bench: Bench, project: Project) -> None:
    """An expander with everything needed to make such copies; they become a silver set."""
    panel = st.expander(
        "Copy gold pairs with words replaced (NLPAug)",
        icon=":material/find_replace:",
        key=f"{PAGE}-panel",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        st.markdown(
            "Plain data augmentation, which the paper compares with: a masked language model puts other words "
            "into gold training pairs, and the copies keep their scores. They become a silver set that no labeler "
            "made, to train on and compare like any other."
        )
        options = _inputs(project)
        if st.button(
            "Make copies",
            type="primary",
            icon=":material/content_copy:",
            help="Queues the job; its silver set then stands on the Silver page like any other.",
        ):
            launch(bench, "augment", options)
        if needs_a_look(bench, "augment"):
            job_panel(bench, ["augment"])
        page_link("silver", "Look at the silver sets")


def _inputs(project: Project) -> AugmentOptions:
    left, middle, right = st.columns(3)
    with left:
        model = st.selectbox(
            "Masked language model",
            MODELS,
            accept_new_options=True,
            help="A name on the Hugging Face hub or a folder on this computer. The bundled MiniLM cannot do this: "
            "it has no head that predicts words.",
            **keep(PAGE, project, "model", DEFAULTS.model),
        )
        per_pair = whole(
            "Copies of each pair", 1, 20, 1, "Each copy has other words replaced.",
            **keep(PAGE, project, "per-pair", DEFAULTS.per_pair),
        )  # fmt: skip
    with middle:
        share = st.slider(
            "Words replaced, %",
            5,
            50,
            step=5,
            help="Of each sentence, at least one word.",
            **keep(PAGE, project, "share", round(100 * DEFAULTS.share)),
        )
        top = whole(
            "Best words to draw from", 1, 1000, 5,
            "Few give likely words, many give variety, and more that change the meaning.",
            **keep(PAGE, project, "top", DEFAULTS.top),
        )  # fmt: skip
    with right:
        seed = whole(
            "Seed", 0, 2**31 - 1, 1, "Which words are replaced, and by which.",
            **keep(PAGE, project, "seed", DEFAULTS.seed),
        )  # fmt: skip
        device = device_input(PAGE, project)
    return AugmentOptions(
        model=(model or DEFAULTS.model).strip(),
        per_pair=per_pair,
        share=share / 100,
        top=top,
        seed=seed,
        device=device,
    )
