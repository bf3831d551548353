"""What runs, strategies and rules are called, from what a step is told."""

from typing import Any

from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    KeepOptions,
    LabelOptions,
    PreviewOptions,
    SampleOptions,
    StratifiedOptions,
)
from augsbert_core.sampling import STRATEGY_NAMES


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
            return strategy_label(options.strategy, options)
        case StratifiedOptions():
            return f"{STRATEGY_NAMES['stratified-kde']}: {options.n_keep:,} pairs wanted"
        case PreviewOptions():
            return f"Preview of {options.n_pairs:,} labels for candidate set {options.candidate_set_id}"
        case KeepOptions():
            return f"{rule_label(options)} of silver set {options.silver_set_id}"
        case LabelOptions():
            labeler = options.labeler.replace("run:", "run ")
            return f"Labels for candidate set {options.candidate_set_id} by {model_label(labeler)}"
        case EvaluateOptions():
            return f"Evaluation on {options.split}"
        case _:
            return step


def strategy_label(strategy: str, options: SampleOptions) -> str:
    """A strategy with the parameter that matters, "BM25 top-5"."""
    if strategy == "uploaded":
        return "Uploaded pairs"
    return STRATEGY_NAMES.get(strategy, strategy).replace("top-k", f"top-{options.top_k}")


def rule_label(options: KeepOptions) -> str:
    """A rule for keeping pairs with its parameter, "KDE, c = 0.5"."""
    if options.rule == "kde":
        return f"KDE, c = {options.c:.3g}"
    if options.rule == "classification":
        return "Positives and matched negatives"
    return f"Rank up to {options.max_rank}"


def model_label(name: str) -> str:
    """The last part of a model name or folder, for people."""
    return name.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1] or name
