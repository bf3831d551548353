"""The recipe of a cross-encoder: what it learns from, how, and for how long."""

from dataclasses import fields
from typing import Any

import streamlit as st

from augsbert_core.options import CrossEncoderOptions
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.recipes import (
    BASES,
    base_input,
    common_inputs,
    fill,
    gold_limit_input,
    keep,
    number,
    optimiser_inputs,
    patience_input,
    seed_inputs,
    whole,
)
from augsbert_core.ui.silver_choice import corrections_input, silver_choice_inputs
from augsbert_core.ui.silver_filters import set_title
from augsbert_core.ui.students import complete_sets

PAGE = "cross"
DEFAULTS = CrossEncoderOptions()

LEFT_ALONE = (
    "seed", "device", "silver_set_id", "use_gold", "gold_limit", "negatives", "silver_scores", "keep_rejected",
    "promote", "corrections_of",
)  # fmt: skip
USUAL = {
    field.name: getattr(DEFAULTS, field.name)
    for field in fields(CrossEncoderOptions)
    if field.name not in LEFT_ALONE
}
PAPER = USUAL | {
    "base": BASES[1],
    "batch_size": 16,
    "learning_rate": 1e-5,
    "warm_start": "off",
}

LOSSES = {
    "bce": "Cross-entropy (paper)",
    "mse": "Squared error",
    "ranknet": "RankNet, pairwise",
    "lambda": "LambdaLoss, listwise",
    "listnet": "ListNet, listwise",
}
LOSS_WHY = {
    "bce": "the score is a soft label, as in the paper.",
    "mse": "the sigmoid is brought to the score; outliers count more.",
    "ranknet": "of two candidates of a query the better one must win.",
    "lambda": "as RankNet, weighed by what a swap costs in nDCG.",
    "listnet": "all candidates of a query at once, as one distribution.",
}
RANKING = ("ranknet", "lambda", "listnet")

WARM_STARTS = {"auto": "Automatic", "on": "On", "off": "Off"}


def presets(project: Project) -> None:
    """Two buttons that fill the inputs."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Recipe**", width="stretch")
        st.button(
            "Paper's recipe",
            icon=":material/article:",
            on_click=fill,
            args=(PAGE, project, PAPER),
            help="BERT-base with learning rate 1e-5, batch 16 and no warm start (paper §5). BERT-base is "
            "downloaded, and so small a rate needs thousands of gold pairs or many epochs.",
        )
        st.button(
            "Our default",
            icon=":material/restart_alt:",
            on_click=fill,
            args=(PAGE, project, USUAL),
            help="The small bundled model with a higher learning rate and more epochs: "
            "quick on a CPU and better on few gold pairs.",
        )


def recipe_inputs(
    bench: Bench, project: Project, classes: tuple[int, int], *, has_gold: bool
) -> CrossEncoderOptions:
    """All inputs but those about negatives. classes: (negatives, positives) of the training gold."""
    told = _data_inputs(bench, project, has_gold=has_gold)
    told["base"] = base_input(PAGE, project, DEFAULTS.base)
    told |= common_inputs(PAGE, project, DEFAULTS)
    told |= _warm_start_inputs(project)
    with st.expander("Advanced", icon=":material/tune:"):
        st.markdown("**Loss and model**")
        told |= _model_inputs(project, classes, told)
        st.markdown("**Optimiser and data**")
        told |= _optimiser_inputs(project, told)
        st.markdown("**Stopping and seeds**")
        told |= _stopping_inputs(project)
    return CrossEncoderOptions(**told)


def _data_inputs(bench: Bench, project: Project, *, has_gold: bool) -> dict[str, Any]:
    """Gold for a labeler; with or from a silver set for a student that reads pairs."""
    complete = complete_sets(bench, project)
    if not complete:
        return {}
    choices: list[tuple[str, int | None]] = [("gold", None)] if has_gold else []
    choices += [("both", number) for number in complete] if has_gold else []
    choices += [("silver", number) for number in complete]
    titles = {"both": "Gold + {}", "silver": "Silver alone: {}"}
    kept = keep(PAGE, project, "data", choices[0])
    if st.session_state[kept["key"]] not in choices:
        st.session_state[kept["key"]] = choices[0]
    kind, number = st.selectbox(
        "Training data",
        choices,
        format_func=lambda choice: (
            "Gold pairs (a labeler)"
            if choice[1] is None
            else titles[choice[0]].format(_lower_first(set_title(complete[choice[1]])))
        ),
        help="A labeler learns from gold. On silver, a cross-encoder is a student that reads pairs: a smaller one "
        "for reranking, or one of another base, taught by the labeler of that set.",
        **kept,
    )
    told = {"silver_set_id": number, "use_gold": kind != "silver"}
    told |= silver_choice_inputs(bench, PAGE, project, number, may_promote=kind == "both")
    if kind != "silver":
        told["corrections_of"] = corrections_input(bench, PAGE, project, complete)
    return told


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _warm_start_inputs(project: Project) -> dict[str, Any]:
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        chosen = st.segmented_control(
            "Warm start",
            list(WARM_STARTS),
            format_func=WARM_STARTS.__getitem__,
            required=True,
            help="Before gold, learn the base encoder's own cosines over BM25 and random pairs of your sentences "
            "(after Trans-Encoder): the new head learns to read two sentences together, for free. It needs a "
            "sentence encoder as base; automatic does it with fewer than 3,000 pairs to train on.",
            **keep(PAGE, project, "warm_start", DEFAULTS.warm_start),
        )
    told: dict[str, Any] = {"warm_start": chosen or DEFAULTS.warm_start}
    if chosen != "off":
        with right:
            told["warm_start_pairs"] = whole(
                "Warm start pairs", 100, 1_000_000, 500,
                "Half are BM25 neighbours, half are random; none is a gold pair. One pass over them.",
                **keep(PAGE, project, "warm_start_pairs", DEFAULTS.warm_start_pairs),
            )  # fmt: skip
    return told


def _model_inputs(
    project: Project, classes: tuple[int, int], told: dict[str, Any]
) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    with left:
        loss = st.selectbox(
            "Loss",
            list(LOSSES),
            format_func=LOSSES.__getitem__,
            help="What training is asked to get right. "
            + " ".join(f"**{LOSSES[name]}:** {why}" for name, why in LOSS_WHY.items())
            + " The last three need a first sentence with several candidates, and their score is no gold score.",
            **keep(PAGE, project, "loss", DEFAULTS.loss),
        )
    with middle:
        hidden = st.number_input(
            "Hidden units", 1, 8192, step=100, placeholder="none",
            help="A hidden layer in the head: tanh units between the encoder and the one output; empty is a linear "
            "head. The paper tuned 200 and 400.",
            **keep(PAGE, project, "hidden", None),
        )  # fmt: skip
    with right:
        layers = st.number_input(
            "Layers kept", 1, 48, placeholder="all",
            help="Keep only the first transformer layers: faster, and weaker as a judge. Empty keeps all.",
            **keep(PAGE, project, "layers", None),
        )  # fmt: skip
    both = st.checkbox(
        "Both orders of each pair",
        help="Train on (A, B) and (B, A): twice the rows, and a score that depends less on the order.",
        **keep(PAGE, project, "both_orders", DEFAULTS.both_orders),
    )
    found = {"loss": loss or DEFAULTS.loss, "hidden": hidden, "layers": layers, "both_orders": both}
    if project.task == "classification" and classes[1] and loss == "bce":
        found["pos_weight"] = _pos_weight_input(project, classes, told)
    return found


def _pos_weight_input(project: Project, classes: tuple[int, int], told: dict[str, Any]) -> bool:
    """Whether positives weigh more, with the weight that the rows give."""
    silver = told.get("silver_set_id") is not None
    n_negatives, n_positives = classes
    ratio = f"{n_negatives:,} ÷ {n_positives:,} = {n_negatives / n_positives:.2f}"
    if not n_negatives:
        ratio = "negatives made ÷ positives"
    wanted = st.checkbox(
        f"Weigh positives: {ratio}",
        disabled=silver,
        help="pos_weight of the cross-entropy: a rare class counts as much as the common one, in gold alone, since "
        "silver scores have no classes. It shifts scores up; the threshold found on dev follows.",
        **keep(PAGE, project, "pos_weight", DEFAULTS.pos_weight),
    )
    return wanted and not silver


def _optimiser_inputs(project: Project, told: dict[str, Any]) -> dict[str, Any]:
    found = optimiser_inputs(PAGE, project, DEFAULTS)
    left, middle, right = st.columns(3)
    with left:
        found["max_steps"] = st.number_input(
            "Stop after steps", 1, placeholder="none",
            help="A fixed number of optimiser steps in place of epochs.",
            **keep(PAGE, project, "max_steps", None),
        )  # fmt: skip
    if told.get("use_gold", True):
        with middle:
            found["gold_limit"] = gold_limit_input(PAGE, project)
        if told.get("silver_set_id") is not None:
            with right:
                found["silver_weight"] = number(
                    "Silver weight", 0.01, 10.0, 0.1,
                    "How much a silver row counts in the loss; a gold row counts 1.",
                    **keep(PAGE, project, "silver_weight", DEFAULTS.silver_weight),
                )  # fmt: skip
    return found


def _stopping_inputs(project: Project) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    with left:
        patience = patience_input(PAGE, project)
    return {"patience": patience, **seed_inputs(PAGE, project, middle, right)}
