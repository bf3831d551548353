"""The steps of the loop: each reads the store, computes, and writes the store.

A step is called with a `StepContext` and its options and returns a JSON-able result. Called again for
the same run after a crash, it continues from what is on disk and in the store.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    LabelOptions,
    SampleOptions,
)
from augsbert_core.sampling import STRATEGY_NAMES
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.evaluate import check_evaluation, evaluate
from augsbert_core.steps.label import check_labelling, label
from augsbert_core.steps.sample import check_sampling, sample
from augsbert_core.steps.train import check_training, train_bi_encoder, train_cross_encoder
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

__all__ = ["STEPS", "Step", "StepContext", "describe"]


@dataclass(frozen=True)
class Step:
    """One entry of the loop.

    check: raises WorkbenchError for what can be known to be wrong before a job is queued.
    uses_device: it takes the CPU or GPU for long, so jobs of this kind queue up.
    """

    title: str
    options_class: type
    function: Callable[[StepContext, Any], dict[str, Any]]
    check: Callable[[Workspace, Project, Any], object]
    uses_device: bool


STEPS: dict[str, Step] = {
    "train-cross-encoder": Step(
        "Train cross-encoder", CrossEncoderOptions, train_cross_encoder, check_training, True
    ),
    "sample": Step("Sample candidates", SampleOptions, sample, check_sampling, False),
    "label": Step("Label candidates", LabelOptions, label, check_labelling, True),
    "train-bi-encoder": Step(
        "Train bi-encoder", BiEncoderOptions, train_bi_encoder, check_training, True
    ),
    "evaluate": Step("Evaluate models", EvaluateOptions, evaluate, check_evaluation, True),
}


def describe(step: str, options: Any) -> str:
    """A short name for a run, from what the step is told."""
    match options:
        case CrossEncoderOptions():
            return f"Cross-encoder from {model_label(options.base)}"
        case BiEncoderOptions():
            layers = f", {options.layers} layers" if options.layers else ""
            data = (
                f"gold + silver set {options.silver_set_id}"
                if options.silver_set_id
                else "gold only"
            )
            steps = f", {options.max_steps} steps" if options.max_steps else ""
            return f"Bi-encoder from {model_label(options.base)}{layers}: {data}{steps}"
        case SampleOptions():
            strategy = STRATEGY_NAMES.get(options.strategy, options.strategy)
            size = f" {options.top_k}" if options.strategy == "bm25" else ""
            return f"{strategy}{size}"
        case LabelOptions():
            labeler = options.labeler.replace("run:", "run ")
            return f"Labels for candidate set {options.candidate_set_id} by {model_label(labeler)}"
        case EvaluateOptions():
            return f"Evaluation on {options.split}"
        case _:
            return STEPS[step].title


def model_label(name: str) -> str:
    """The last part of a model name or folder, for people."""
    return name.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1] or name
