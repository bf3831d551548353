"""Training recipes: the inputs shared by the Cross-encoder and Train pages, and the tables of their runs.

The inputs are not in a form on purpose: changing one starts nothing, but the number of optimiser steps
beside them follows at once.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core.models.devices import available_devices
from augsbert_core.options import BUNDLED_MODEL, BiEncoderOptions, CrossEncoderOptions, from_json
from augsbert_core.steps import model_label
from augsbert_core.steps.names import data_label
from augsbert_core.steps.recipes import stages_of
from augsbert_core.storage.records import Project, Run
from augsbert_core.ui.widgets import duration_text, time_text

BASES = (
    BUNDLED_MODEL,
    "google-bert/bert-base-uncased",
    "distilbert/distilroberta-base",
    "FacebookAI/xlm-roberta-base",
)
"""Offered as base models; the first needs no download, any other name or folder can be typed."""

SEED_STOP = BiEncoderOptions().seed_stop
"""The paper's; both kinds of encoder take it."""

METRIC_NAMES = {"spearman": "Spearman", "f1": "F1"}

DEVICE_NAMES = {"auto": "Best there is", "cpu": "CPU", "mps": "Apple GPU (mps)"}


def optimiser_steps(
    n_pairs: int, *, batch_size: int, epochs: int, max_steps: int | None = None
) -> int:
    """How many times the weights will change: batches per epoch times epochs, or the given limit."""
    return max_steps or math.ceil(n_pairs / batch_size) * epochs


def keep(page: str, project: Project, name: str, default: Any) -> dict[str, Any]:
    """Arguments that let an input remember its value across pages, per project."""
    key = f"{page}-{project.id}-{name}"
    st.session_state.setdefault(key, default)
    return {"key": key, "persist_state": "session"}


def fill(page: str, project: Project, values: Mapping[str, Any]) -> None:
    """Put values into the inputs of a page; for the callback of a button."""
    for name, value in values.items():
        st.session_state[f"{page}-{project.id}-{name}"] = value


def base_input(page: str, project: Project, default: str) -> str:
    """Choose or type a base model."""
    base = st.selectbox(
        "Base model",
        BASES,
        accept_new_options=True,
        help="The pretrained weights to start from: a name on the Hugging Face hub or a folder on this "
        "computer. all-MiniLM-L6-v2 comes with the workbench and needs no download.",
        **keep(page, project, "base", default),
    )
    return (base or default).strip()


def device_input(page: str, project: Project) -> str:
    """Choose where to compute."""
    devices = available_devices()
    return st.selectbox(
        "Device",
        ["auto", *devices],
        format_func=lambda name: (
            f"Automatic ({devices[0]})" if name == "auto" else DEVICE_NAMES.get(name, name)
        ),
        help="Automatic takes a GPU when there is one. Jobs on the same device wait for each other.",
        **keep(page, project, "device", "auto"),
    )


def whole(label: str, low: int, high: int, step: int, help_text: str, **kept: Any) -> int:
    """A whole number within limits."""
    return int(st.number_input(label, low, high, step=step, help=help_text, **kept) or low)


def number(label: str, low: float, high: float, step: float, help_text: str, **kept: Any) -> float:
    """A number within limits."""
    value = st.number_input(label, low, high, step=step, format="%g", help=help_text, **kept)
    return low if value is None else float(value)


def learning_rate_input(page: str, project: Project, default: float) -> float:
    """The step size of the optimiser."""
    kept = keep(page, project, "learning_rate", default)
    # A recipe from a file may bring any rate.
    chosen = st.session_state[kept["key"]]
    rates = sorted({5e-6, 1e-5, 2e-5, 3e-5, 5e-5, 1e-4, 2e-4, default, chosen})
    return st.select_slider(
        "Learning rate",
        rates,
        format_func=rate_text,
        help="How far the weights move at each step: too low learns little, too high forgets what the base knows.",
        **kept,
    )


def common_inputs(
    page: str, project: Project, defaults: CrossEncoderOptions | BiEncoderOptions
) -> dict[str, Any]:
    """The inputs that both recipes have, in two rows."""
    left, middle, right = st.columns(3)
    with left:
        epochs = whole(
            "Epochs", 1, 100, 1, "How many times training goes through all pairs.",
            **keep(page, project, "epochs", defaults.epochs),
        )  # fmt: skip
    with middle:
        batch_size = whole(
            "Batch size", 1, 512, 8, "Pairs per optimiser step. The paper used 16.",
            **keep(page, project, "batch_size", defaults.batch_size),
        )  # fmt: skip
    with right:
        rate = learning_rate_input(page, project, defaults.learning_rate)
    with left:
        max_length = whole(
            "Longest input, tokens", 16, 512, 16, "Longer texts are cut off. Short is fast.",
            **keep(page, project, "max_length", defaults.max_length),
        )  # fmt: skip
    with middle:
        seed = whole(
            "Seed", 0, 2**31 - 1, 1,
            "Chance is fixed by this number: the same seed on the same machine gives the same model. "
            "On small gold sets the seed alone can move the score by points (paper §3.1).",
            **keep(page, project, "seed", defaults.seed),
        )  # fmt: skip
    with right:
        device = device_input(page, project)
    return {
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": rate,
        "max_length": max_length,
        "seed": seed,
        "device": device,
    }


def optimiser_inputs(
    page: str, project: Project, defaults: CrossEncoderOptions | BiEncoderOptions
) -> dict[str, Any]:
    """What the optimiser does over time, and how often it is saved, in one row."""
    left, middle, right = st.columns(3)
    with left:
        warmup = number(
            "Warm-up share", 0.0, 1.0, 0.05,
            "The part of the steps during which the learning rate rises; not for a constant rate.",
            **keep(page, project, "warmup_ratio", defaults.warmup_ratio),
        )  # fmt: skip
    with middle:
        decay = number(
            "Weight decay", 0.0, 1.0, 0.01, "How strongly weights are drawn towards zero.",
            **keep(page, project, "weight_decay", defaults.weight_decay),
        )  # fmt: skip
    with right:
        seconds = number(
            "Checkpoint, seconds", 1.0, 3600.0, 10.0,
            "How often one is written. An interrupted run loses at most so much work; each checkpoint costs a moment "
            "and room on the disk.",
            **keep(page, project, "checkpoint_seconds", defaults.checkpoint_seconds),
        )  # fmt: skip
    return {"warmup_ratio": warmup, "weight_decay": decay, "checkpoint_seconds": seconds}


def gold_limit_input(page: str, project: Project) -> int | None:
    """How many gold pairs are trained on; None for all."""
    return st.number_input(
        "Gold pairs at most", 1, placeholder="all",
        help="Only so many gold pairs, drawn with the seed: how a learning curve is made.",
        **keep(page, project, "gold_limit", None),
    )  # fmt: skip


def patience_input(page: str, project: Project) -> int:
    """When training stops early; 0 never."""
    return whole(
        "Early stopping", 0, 50, 1,
        "Stop after so many dev scores in a row without a better one; 0 trains to the end. The best "
        "checkpoint is kept either way.",
        **keep(page, project, "patience", 0),
    )  # fmt: skip


def seed_inputs(page: str, project: Project, middle: Any, right: Any) -> dict[str, Any]:
    """Seed optimisation: how many seeds, in one column, and where they are compared, in the other."""
    with middle:
        seeds = whole(
            "Seeds to try", 1, 20, 1,
            "Seed optimisation (paper §3.1): so many seeds begin, all stop early, and the best on dev is trained to "
            "the end. The paper took 5; 1 tries none.",
            **keep(page, project, "seeds", 1),
        )  # fmt: skip
    told: dict[str, Any] = {"seeds": seeds}
    if seeds > 1:
        with right:
            told["seed_stop"] = number(
                "Compare seeds after", 0.05, 0.95, 0.05,
                "The share of the steps after which the seeds are compared. The paper took 0.2; a seed study (Train "
                "page) tells what your data allow.",
                **keep(page, project, "seed_stop", SEED_STOP),
            )  # fmt: skip
    return told


def score_100(run: Run, key: str = "dev_score") -> float | None:
    """A stored score times 100; None when the run has none."""
    value = run.metrics.get(key)
    return None if value is None else 100 * float(value)


def runs_table(runs: Sequence[Run], options_class: type) -> None:
    """Finished training runs with what they were told and what came out, newest first."""
    rows = [_run_row(run, from_json(options_class, run.options)) for run in runs]
    metrics = {str(run.metrics.get("metric", "")) for run in runs}
    metric = METRIC_NAMES.get(metrics.pop(), "Score") if len(metrics) == 1 else "Score"
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        placeholder="undefined",
        column_config={
            "Run": st.column_config.NumberColumn(format="%d", width=50),
            "Base": st.column_config.TextColumn(width=150),
            "Layers": st.column_config.TextColumn(width=60),
            "Data": st.column_config.TextColumn(width=140),
            "Loss": st.column_config.TextColumn(width=90),
            "Dev": st.column_config.NumberColumn(
                f"Dev {metric} × 100",
                format="%.1f",
                width=130,
                help="The score of the kept checkpoint on the dev split, times 100.",
            ),
            "Gold": count_column("Gold pairs trained on."),
            "Silver": count_column("Silver pairs trained on."),
            "Steps": count_column("Optimiser steps."),
            "Time": st.column_config.TextColumn(width=90),
            "Seed": st.column_config.NumberColumn(format="%d", width=60),
        },
        alt="Training runs",
    )


def count_column(help_text: str) -> Any:
    """A narrow column of whole numbers with thousands separated."""
    return st.column_config.NumberColumn(format="localized", width=65, help=help_text)


def _run_row(run: Run, options: CrossEncoderOptions | BiEncoderOptions) -> dict[str, Any]:
    row: dict[str, Any] = {"Run": run.id, "Base": model_label(options.base)}
    if isinstance(options, BiEncoderOptions):
        row["Layers"] = str(options.layers or "all")
        row["Data"] = data_label(options).replace("silver set", "silver")
        row["Loss"] = " → ".join(dict.fromkeys(stage.loss for stage in stages_of(options)))
    row |= {"Dev": score_100(run), "Gold": run.metrics.get("n_gold")}
    if isinstance(options, BiEncoderOptions):
        row["Silver"] = run.metrics.get("n_silver")
    return row | {
        "Steps": run.metrics.get("n_steps"),
        "Time": duration_text(float(run.metrics.get("seconds") or 0.0)),
        "Seed": run.seed,
        "Learning rate": rate_text(options.learning_rate),
        "Device": run.device or "",
        "Finished": time_text(run.finished_at),
    }


def rate_text(rate: float) -> str:
    """A learning rate as people write it, "2e-5" or "2.5e-5"."""
    return re.sub(r"\.?0*e([+-])0*(\d)", r"e\1\2", f"{rate:.3e}")
