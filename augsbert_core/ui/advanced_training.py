"""The inputs of the Train page for its loss, and for what few people need to change."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from augsbert_core.options import BiEncoderOptions
from augsbert_core.steps.recipes import stages_of, uses
from augsbert_core.storage.records import Project
from augsbert_core.ui.recipes import (
    gold_limit_input,
    keep,
    number,
    optimiser_inputs,
    patience_input,
    seed_inputs,
    whole,
)
from augsbert_core.ui.training_words import LOSS_WHY, LOSSES, POOLINGS

DEFAULTS = BiEncoderOptions()

SCHEDULES = {
    "warmup": "Warm up, then decay (paper)",
    "constant": "Constant",
}

SCALED = ("mnrl", "cosent", "angle")


def loss_inputs(page: str, project: Project, stage_losses: Sequence[str]) -> dict[str, Any]:
    """The loss and what it must know. stage_losses: the losses that stages name, if there are stages."""
    told: dict[str, Any] = {}
    losses = list(stage_losses)
    if not losses:
        chosen = st.selectbox(
            "Loss",
            list(LOSSES),
            format_func=LOSSES.__getitem__,
            help="What training is asked to get right. "
            + " ".join(f"**{LOSSES[name]}:** {why}" for name, why in LOSS_WHY.items()),
            **keep(page, project, "loss", DEFAULTS.loss),
        )
        told["loss"] = chosen or DEFAULTS.loss
        if told["loss"] != DEFAULTS.loss:
            st.caption(LOSS_WHY[told["loss"]])
        losses = [told["loss"]]
    columns = iter(st.columns(3) if set(losses) & {*SCALED, "triplet"} else ())
    if set(losses) & set(SCALED):
        with next(columns):
            told["scale"] = number(
                "Scale", 1.0, 200.0, 1.0,
                "Cosines are multiplied by this before the soft maximum: high values look at the hardest pairs only.",
                **keep(page, project, "scale", DEFAULTS.scale),
            )  # fmt: skip
    if set(losses) & {"mnrl", "triplet"}:
        told |= _ranking_inputs(page, project, next(columns), next(columns), "mnrl" in losses)
    return told


def _ranking_inputs(
    page: str, project: Project, left: Any, right: Any, may_choose: bool
) -> dict[str, Any]:
    with left:
        positive_from = number(
            "Positive from", 0.0, 1.0, 0.05,
            "A scored pair is a positive from this score on (0 to 1). Pairs between the two limits never enter.",
            **keep(page, project, "positive_from", DEFAULTS.positive_from),
        )  # fmt: skip
    with right:
        negative_below = number(
            "Negative below", 0.0, 1.0, 0.05,
            "A scored pair that shares a sentence with a positive is its hard negative below this score (0 to 1).",
            **keep(page, project, "negative_below", DEFAULTS.negative_below),
        )  # fmt: skip
    told: dict[str, Any] = {"positive_from": positive_from, "negative_below": negative_below}
    if may_choose:
        told["hard_negatives"] = st.checkbox(
            "Hard negatives",
            help="A third sentence in each row that the pair must win against: a low-scored partner of the same "
            "sentence, or an NLI contradiction. Positives without one are left out.",
            **keep(page, project, "hard_negatives", DEFAULTS.hard_negatives),
        )
    return told


def advanced_inputs(page: str, project: Project, options: BiEncoderOptions) -> dict[str, Any]:
    """All further options. options: what is known so far, which decides what can be asked."""
    told: dict[str, Any] = {}
    st.markdown("**Data**")
    told |= _data_inputs(page, project, options)
    st.markdown("**Model and optimiser**")
    told |= _optimiser_inputs(page, project)
    st.markdown("**Stopping and seeds**")
    return told | _stopping_inputs(page, project, options)


def _data_inputs(page: str, project: Project, options: BiEncoderOptions) -> dict[str, Any]:
    told: dict[str, Any] = {}
    left, middle, right = st.columns(3)
    if uses(options, "gold"):
        with left:
            told["gold_limit"] = gold_limit_input(page, project)
        with middle:
            told["gold_repeats"] = whole(
                "Gold repeats", 1, 100, 1,
                "How often each gold pair is in the training data, so that many silver pairs do not drown it.",
                **keep(page, project, "gold_repeats", 1),
            )  # fmt: skip
    mixed = any(stage.data == "gold+silver" for stage in stages_of(options))
    if mixed and options.silver_set_id is not None:
        with right:
            told["silver_weight"] = number(
                "Silver weight", 0.01, 10.0, 0.1,
                "How much a silver row counts in the loss; a gold row counts 1. Only the cosine loss knows weights.",
                **keep(page, project, "silver_weight", DEFAULTS.silver_weight),
            )  # fmt: skip
    told["symmetric"] = st.checkbox(
        "Both directions of each pair",
        help="Train on (A, B) and (B, A). For cosine-like losses this mostly adds volume, so compare at equal steps.",
        **keep(page, project, "symmetric", DEFAULTS.symmetric),
    )
    return told


def _optimiser_inputs(page: str, project: Project) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    with left:
        pooling = st.selectbox(
            "Pooling", list(POOLINGS), format_func=POOLINGS.__getitem__,
            help="How one vector is made of a sentence's tokens. Another pooling than the base's must be learnt anew.",
            **keep(page, project, "pooling", DEFAULTS.pooling),
        )  # fmt: skip
    with middle:
        schedule = st.selectbox(
            "Learning rate over time", list(SCHEDULES), format_func=SCHEDULES.__getitem__,
            help="Warm-up starts with small steps for the first part of training, then goes down to zero.",
            **keep(page, project, "schedule", DEFAULTS.schedule),
        )  # fmt: skip
    with right:
        max_steps = st.number_input(
            "Stop after steps", 1, placeholder="none",
            help="A fixed number of optimiser steps in place of epochs, for each stage that names neither.",
            **keep(page, project, "max_steps", None),
        )  # fmt: skip
    return {
        "pooling": pooling or DEFAULTS.pooling,
        "schedule": schedule or DEFAULTS.schedule,
        "max_steps": max_steps,
        **optimiser_inputs(page, project, DEFAULTS),
    }


def _stopping_inputs(page: str, project: Project, options: BiEncoderOptions) -> dict[str, Any]:
    told: dict[str, Any] = {}
    left, middle, right = st.columns(3)
    with left:
        told["patience"] = patience_input(page, project)
    n_stages = len(stages_of(options))
    if n_stages > 1:
        with middle:
            told["first_stage"] = whole(
                "Begin at stage", 1, n_stages, 1,
                "Leave out the stages before it, and start from the base model: for a base that has been through them.",
                **keep(page, project, "first_stage", 1),
            )  # fmt: skip
        return told
    return told | seed_inputs(page, project, middle, right)
